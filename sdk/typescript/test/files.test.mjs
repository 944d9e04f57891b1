// SPDX-License-Identifier: Apache-2.0
// Uploads and downloads of any size and kind, over connections that break.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { eventually, startServer, uuid } from '../../../tests/api/lib/server.mjs';
import * as C from 'cairn-client';
import { foreign, startProxy } from './lib/network.mjs';

const { Cairn } = C;
const MIB = 1024 * 1024;
const BIG = randomBytes(3 * MIB + 12_345);
const sha256 = (bytes, form = 'hex') => createHash('sha256').update(bytes).digest(form);

async function* pieces(bytes, size = 100_000) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

test('uploads and downloads', async (t) => {
  const server = await startServer(t);
  const proxy = await startProxy(t, server);
  const client = new Cairn({ baseUrl: server.url });
  const { id } = await client.threads.create({});
  const stored = async (name) =>
    Buffer.from(await (await client.threads.files.download(id, name)).bytes());

  await t.test('every kind of source arrives whole', async () => {
    const sources = {
      bytes: BIG,
      blob: new Blob([BIG], { type: 'application/x-blob' }),
      stream: new Blob([BIG]).stream(),
      generator: pieces(BIG),
      buffer: BIG.buffer.slice(BIG.byteOffset, BIG.byteOffset + BIG.length),
    };
    for (const [name, source] of Object.entries(sources)) {
      const file = await client.threads.files.upload(id, name, source);
      assert.equal(file.size_bytes, BIG.length, name);
      assert.equal(file.sha256, sha256(BIG), name);
    }
    assert.equal((await client.threads.files.get(id, 'blob')).content_type, 'application/x-blob');
    const text = await client.threads.files.upload(id, 'häßlich & schön/..txt', 'größer');
    assert.equal(text.content_type.split(';')[0], 'text/plain', 'guessed by the name');
    assert.equal((await stored('häßlich & schön/..txt')).toString(), 'größer');
  });

  await t.test(
    'a digest that is wrong is refused, and so is a thread that is not there',
    async () => {
      const contentDigest = `sha-256=:${sha256('other', 'base64')}:`;
      await assert.rejects(
        client.threads.files.upload(id, 'x', 'this', { contentDigest }),
        C.InvalidInput,
      );
      const nowhere = '00000000-0000-7000-8000-000000000000';
      for (const source of [BIG, new Blob([BIG]), pieces(BIG)])
        await assert.rejects(client.threads.files.upload(nowhere, 'x', source), C.NotFound);
    },
  );

  await t.test('what a source throws by itself is thrown', async () => {
    const failing = async function* () {
      yield 'some';
      throw new RangeError('no more');
    };
    await assert.rejects(client.threads.files.upload(id, 'x', failing()), /^RangeError: no more$/);
    const wrong = async function* () {
      yield 17;
    };
    await assert.rejects(client.threads.files.upload(id, 'x', wrong()), TypeError);
    await assert.rejects(client.threads.files.get(id, 'x'), C.NotFound);
  });

  await t.test('a source that is not read to its end is closed', async () => {
    let isClosed;
    async function* endless() {
      isClosed = false;
      try {
        for (;;) {
          await new Promise((soon) => setImmediate(soon));
          yield BIG.subarray(0, 10_000);
        }
      } finally {
        isClosed = true;
      }
    }
    const closed = () => eventually(() => isClosed);
    await assert.rejects(client.threads.files.upload(uuid(), 'a', endless()), C.NotFound);
    await closed();
    const signal = AbortSignal.timeout(50);
    await assert.rejects(client.threads.files.upload(id, 'a', endless(), { signal }), C.Aborted);
    await closed();
    await client.threads.files.uploadResumable(id, 'a', endless(), { size: 25_000 });
    await closed();
  });

  await t.test('a download comes as a stream with what is known of it', async () => {
    const download = await client.threads.files.download(id, 'bytes');
    assert.equal(download.size, BIG.length);
    assert.equal(download.etag, '"1"');
    assert.equal(download.digest, `sha-256=:${sha256(BIG, 'base64')}:`);
    assert.equal(download.contentType, 'application/octet-stream');
    const hash = createHash('sha256');
    for await (const chunk of download) hash.update(chunk);
    assert.equal(hash.digest('hex'), sha256(BIG));
    const part = await client.threads.files.download(
      id,
      'bytes',
      { version: 1 },
      { range: 'bytes=10-19' },
    );
    assert.equal(part.status, 206);
    assert.deepEqual(Buffer.from(await part.bytes()), BIG.subarray(10, 20));
    await client.threads.files.upload(id, 'doc.json', '{"a": [1]}');
    assert.deepEqual(await (await client.threads.files.download(id, 'doc.json')).json(), {
      a: [1],
    });
  });

  await t.test("a file's metadata goes by its revision", async () => {
    const { revision } = await client.threads.files.get(id, 'bytes');
    const changed = await client.threads.files.update(
      id,
      'bytes',
      { metadata: { a: 1 } },
      { ifMatch: revision },
    );
    const stale = client.threads.files.update(id, 'bytes', { metadata: {} }, { ifMatch: revision });
    await assert.rejects(stale, C.StaleEtag);
    const known = client.threads.files.get(id, 'bytes', { ifNoneMatch: changed.revision });
    await assert.rejects(known, C.NotModified);
  });

  await t.test('a diff comes as JSON or as text', async () => {
    for (const text of ['one\ntwo\n', 'one\n2\n'])
      await client.threads.files.upload(id, 'notes.txt', text);
    assert.equal((await client.threads.files.diff(id, 'notes.txt')).hunks.length, 1);
    assert.match(await client.threads.files.diff(id, 'notes.txt', { format: 'text' }), /^-two$/m);
  });

  await t.test('a download that is cut goes on where it was', async () => {
    proxy.cutDownloads(0.75 * MIB);
    proxy.connections = 0;
    const far = new Cairn({ baseUrl: proxy.url });
    const download = await far.threads.files.download(id, 'bytes');
    assert.equal(sha256(await download.bytes()), sha256(BIG));
    assert.ok(proxy.connections >= 4, `${proxy.connections} connections`);
    proxy.cutDownloads(Infinity);
  });

  await t.test('a file that has changed meanwhile is not mixed with what it was', async () => {
    await client.threads.files.upload(id, 'changing', BIG);
    proxy.cutDownloads(MIB);
    const far = new Cairn({ baseUrl: proxy.url });
    const download = await far.threads.files.download(id, 'changing');
    await client.threads.files.upload(id, 'changing', randomBytes(BIG.length));
    await assert.rejects(download.bytes(), C.ConnectionFailed);
    proxy.cutDownloads(Infinity);
  });

  await t.test('a download that the caller ends is aborted', async () => {
    const stop = new AbortController();
    const download = await client.threads.files.download(id, 'bytes', {}, { signal: stop.signal });
    const reader = download.body.getReader();
    await reader.read();
    stop.abort();
    await assert.rejects(
      (async () => {
        while (!(await reader.read()).done);
      })(),
      C.Aborted,
    );
  });

  await t.test('an archive goes out and comes in', async () => {
    const archive = await client.threads.export(id);
    const imported = await client.archives.importArchive(archive.body, { ids: 'remap' });
    assert.equal(imported.counts.threads, 1);
  });

  await t.test('what an agent stores is bytes with a type', async () => {
    const agent = await client.agents.create({ name: 'keeper' });
    await client.agents.storage.put(agent.id, 'a/b', '{"n": 1}', {
      contentType: 'application/json',
    });
    const item = await client.agents.storage.get(agent.id, 'a/b');
    assert.equal(item.contentType, 'application/json');
    assert.equal(item.size, 7, 'JSON is stored without blanks');
    assert.deepEqual(await item.json(), { n: 1 });
    // fetch asks for a compressed response, and decodes it.
    const value = JSON.stringify({ text: 'a'.repeat(5000) });
    await client.agents.storage.put(agent.id, 'a/b', value, { contentType: 'application/json' });
    const large = await client.agents.storage.get(agent.id, 'a/b');
    assert.equal(large.headers.get('Content-Encoding'), 'gzip');
    assert.deepEqual([large.size, await large.text()], [undefined, value]);
  });
});

test('bytes that are not those that were stored end in DataDamaged', async (t) => {
  const url = await foreign(t, (_, answer) => {
    answer.writeHead(200, {
      'Cairn-Version': C.VERSION,
      'Repr-Digest': `sha-256=:${sha256('right', 'base64')}:`,
    });
    answer.end('wrong');
  });
  const download = await new Cairn({ baseUrl: url }).threads.files.download('t', 'f');
  await assert.rejects(download.bytes(), C.DataDamaged);
});

test('the hash of browsers is that of Node', async () => {
  const { sha256: own } = await import('../dist/sha256.js');
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 70_001]) {
    const bytes = BIG.subarray(0, size);
    const hash = own();
    for (let i = 0, step = 1; i < size; i += step, step = ((step * 7) % 151) + 1)
      hash.update(bytes.subarray(i, Math.min(i + step, size)));
    assert.equal(hash.digest(), sha256(bytes, 'base64'), `${size} bytes`);
  }
});

test('an upload in pieces', async (t) => {
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url });
  const { id } = await client.threads.create({});
  const sources = {
    bytes: () => BIG,
    blob: () => new Blob([BIG]),
    generator: () => pieces(BIG, 77_777),
  };

  for (const [name, source] of Object.entries(sources))
    await t.test(`goes on after the server was killed: ${name}`, async () => {
      let kills = 0;
      let restarted = Promise.resolve();
      const restart = async () => {
        await server.kill();
        await server.start();
      };
      const file = await client.threads.files.uploadResumable(id, name, source(), {
        size: BIG.length,
        sha256: sha256(BIG),
        pieceBytes: MIB / 2,
        expectedVersion: 0,
        contentType: 'application/x-big',
        onProgress: ({ offset_bytes }) => {
          if (offset_bytes >= (kills + 1) * MIB && kills < 2) {
            kills++;
            restarted = restart();
          }
        },
      });
      await restarted;
      assert.equal(kills, 2);
      assert.equal(file.version, 1);
      assert.equal(file.sha256, sha256(BIG));
      assert.equal(file.content_type, 'application/x-big');
    });

  await t.test('goes on in another process', async () => {
    let upload;
    const stop = new AbortController();
    const options = {
      pieceBytes: MIB / 2,
      onProgress: (u) => {
        upload = u;
        if (u.offset_bytes >= MIB) stop.abort();
      },
    };
    await assert.rejects(
      client.threads.files.uploadResumable(id, 'later', BIG, { ...options, signal: stop.signal }),
      C.Aborted,
    );
    const sent = [];
    const file = await client.threads.files.uploadResumable(id, 'later', pieces(BIG), {
      pieceBytes: MIB / 2,
      size: BIG.length,
      uploadId: upload.id,
      onProgress: (u) => sent.push(u.offset_bytes),
    });
    assert.ok(sent[0] >= MIB, `it began at ${sent[0]}`);
    assert.equal(file.sha256, sha256(BIG));
  });

  await t.test('small, empty and wrong ones', async () => {
    assert.equal((await client.threads.files.uploadResumable(id, 'empty', '')).size_bytes, 0);
    assert.equal((await client.threads.files.uploadResumable(id, 'small', 'ä')).size_bytes, 2);
    await assert.rejects(client.threads.files.uploadResumable(id, 's', pieces(BIG)), TypeError);
    await assert.rejects(
      client.threads.files.uploadResumable(id, 's', pieces(Buffer.from('abc')), { size: 5 }),
      /ended after 3 of 5/,
    );
    await assert.rejects(
      client.threads.files.uploadResumable(id, 's', 'abc', { sha256: sha256('abd') }),
      (e) => e instanceof C.Conflict && /SHA-256/.test(e.message),
    );
    await assert.rejects(
      client.threads.files.uploadResumable(id, 'small', 'x', { expectedVersion: 0 }),
      C.ApiError,
    );
  });
});
