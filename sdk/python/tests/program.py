# SPDX-License-Identifier: Apache-2.0
"""One program for servers and files: it receives a client and returns its observations."""
import asyncio
import itertools

import cairn


def run(client):
    told = []
    thread = client.threads.create(title="plan", metadata={"customer": "c-17"})["id"]
    for n in range(5):
        client.threads.create(title=f"other {n}")
    told.append([t["title"] for t in client.threads.list(limit=2)])
    told.append(client.threads.update(thread, title=None, if_match=1)["version"])
    told.append(client.threads.events.append(
        thread, events=[{"kind": "acme.note", "text": text} for text in "abc"]))
    with client.threads.events.follow(thread, kind="acme.note") as stream:
        told.append([e["text"] for e in itertools.islice(stream, 3)])
        told.append(stream.cursor)
    with client.events.follow(after=0, transport="websocket") as stream:
        told.append([e["kind"] for e in itertools.islice(stream, 9)])
    client.threads.files.upload(thread, "a b.txt", iter([b"one\n", b"two\n"]),
                                content_type="text/plain")
    with client.threads.files.download(thread, "a b.txt") as download:
        told.append((download.content_type, download.content_length, download.etag,
                     download.read()))
    client.threads.files.upload_resumable(thread, "big", b"x" * 300000, piece_bytes=100000)
    told.append([(f["name"], f["size_bytes"]) for f in client.threads.files.list(thread)])
    run_id = client.threads.runs.create(thread, user_input="6*7")["id"]
    told.append(client.runs.work(lambda job: 42, worker="w", max_runs=1))
    told.append(client.runs.wait(run_id)["final_output"])
    checkpoint = client.threads.checkpoints.put(thread, channel_values={"n": 1})["id"]
    told.append(client.threads.checkpoints.get(thread, checkpoint)["channel_values"])
    told += refusals(client, thread)
    client.threads.delete(thread)
    return told


def refusals(client, thread):
    told = []
    asks = (lambda: client.threads.get("01a1e330-59c2-79d3-ab9e-adcd134b3e17"),
            lambda: client.threads.create(title="x" * 2000),
            lambda: client.threads.update(thread, title="x", if_match=99),
            lambda: next(client.threads.events.follow(thread, after=10**9)),
            lambda: client.threads.list(limit=10**6))
    for ask in asks:
        try:
            ask()
        except cairn.ApiError as e:
            told.append((type(e).__name__, e.code, e.errors))
    return told


async def run_async(client):
    thread = (await client.threads.create(title="plan"))["id"]
    await asyncio.gather(*(
        client.threads.events.append(thread, kind="acme.note", text="x") for _ in range(10)))
    seen = []
    async for event in client.threads.events.follow(thread):
        seen.append(event["seq"])
        if len(seen) == 11:
            break
    async with client.threads.files.download(
            thread, (await client.threads.files.upload(thread, "f", b"bytes"))["name"]) as download:
        return [seen, await download.read(), [t["id"] == thread async for t in
                                              client.threads.list(title="plan", limit=1)][0]]
