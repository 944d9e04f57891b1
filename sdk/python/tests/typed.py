# SPDX-License-Identifier: Apache-2.0
"""Code that a type checker must accept or reject; used by test_types.py. Never run.

A line with the comment `E: words` must be rejected with these words, every other line accepted.
"""
import asyncio
from datetime import datetime
from typing import List, Optional

import cairn
from cairn import types


def blocking(c: cairn.Cairn) -> None:
    thread: types.Thread = c.threads.create(title="x", metadata={"a": 1})
    title: Optional[str] = thread["title"]
    number: int = thread["title"]  # E: expression has type "Optional[str]", variable has type "int"
    print(title, number, thread["titel"])  # E: TypedDict "Thread" has no key "titel"
    c.threads.create(titel="x")  # E: Unexpected keyword argument "titel"
    c.threads.create(title=1)  # E: incompatible type "int"
    c.threads.update(thread["id"], title=None, if_match=thread["version"])
    c.threads.update(thread["id"], json_patch=[{"op": "remove", "path": "/title"}])
    c.threads.list(created_after=datetime.now(), status="active")
    c.threads.list(status="asleep")  # E: incompatible type "Literal['asleep']"
    for item in c.threads.list():
        print(item["id"])
    page: List[types.Thread] = c.threads.list().data
    one: types.Event = c.threads.events.append("t", kind="progress")
    many: types.EventsAppended = c.threads.events.append("t", events=[{"kind": "progress"}])
    wrong: types.Event = c.threads.events.append("t", events=[])  # E: type "EventsAppended"
    print(page, one, many, wrong)
    for event in c.threads.events.follow("t", after=3):
        print(event["seq"], event["nope"])  # E: TypedDict "Event" has no key "nope"
    claimed = c.runs.claim(worker="w")
    print(claimed["id"])  # E: Value of type "Optional[Run]" is not indexable
    c.runs.claim()  # E: Missing named argument "worker"
    with c.threads.files.download("t", "f") as download:
        data: bytes = download.read()
    c.threads.files.upload("t", "f", data)
    c.threads.files.upload("t", "f", 7)  # E: incompatible type "int"
    text: str = c.threads.files.diff("t", "f", format="text")
    difference: types.FileDiff = c.threads.files.diff("t", "f", from_=1)
    print(text, difference["from"])
    c.threads.delete("t", if_match=1).anything  # E: does not return a value


async def awaited(c: cairn.AsyncCairn) -> None:
    thread: types.Thread = await c.threads.create(title="x")
    other: types.Thread = c.threads.create(title="x")  # E: Coroutine
    async for item in c.threads.list():
        print(item["id"], item["nope"])  # E: TypedDict "Thread" has no key "nope"
    first = await c.threads.list(limit=1)
    print(first.data[0]["title"], thread, other)
    async for event in c.events.follow():
        print(event["kind"])
    async with c.threads.files.download("t", "f") as download:
        text: str = await download.read()  # E: expression has type "bytes"
    print(text)

    async def handle(job: cairn.AsyncJob) -> int:
        await job.client.runs.update(job.id, state={"n": 1})
        return 3
    await asyncio.wait_for(c.runs.work(handle), 3)
    await c.runs.work(lambda job: 3)  # E: incompatible
