// SPDX-License-Identifier: Apache-2.0
// Streams: Server-Sent Events and WebSocket with the clients that people use; resumed, moved,
// revoked, overrun, drained; and the promise itself: every event exactly once, in order.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { eventually, expectProblem, expectStatus, pause, startServer, withKey }
  from './lib/server.mjs';
import { expectSeqs, followSse, followWs, readSse, untilSubscribers } from './lib/followers.mjs';

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

const append = async (client, id, text, payload) => expectStatus(
  await client.post(`/v1/threads/${id}/events`, { kind: 'progress', text, payload }), 201);

/** An operator's client and a key for reading; from then on the server is closed to others. */
async function closedServer(t) {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  return { server, admin };
}

test('an SSE stream carries the log, then what comes, with the cursor as its id', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  await append(client, thread.id, 'before', { n: 1 });
  const stream = readSse(client, `/v1/threads/${thread.id}/events/stream`);
  const { statusCode, headers } = await stream.opened;
  assert.equal(statusCode, 200);
  assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  await stream.hears(2);
  const sent = await append(client, thread.id, 'line\nbreak ☃', { n: 2 });
  await stream.hears(3);
  assert.deepEqual(stream.heard[2], sent);
  assert.deepEqual(stream.ids, ['1', '2', '3']);
  stream.close();
  await untilSubscribers(client, 0);
  const head = await client.head(`/v1/threads/${thread.id}/events/stream`);
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('Last-Event-ID goes before ?after, as a reconnecting browser needs it', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (const text of ['a', 'b', 'c'])
    await append(client, thread.id, text);
  const stream = readSse(client, `/v1/threads/${thread.id}/events/stream?after=1`,
    { headers: { 'Last-Event-ID': '3' } });
  expectSeqs(await stream.hears(1), 4, 4);
  stream.close();
});

test('an EventSource outlives its server: nothing missed, nothing twice', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  const source = followSse(client, `/v1/threads/${thread.id}/events/stream`);
  const tenant = followSse(client, '/v1/events/stream');
  await source.hears(1);
  for (let life = 0; life < 3; life++) {
    for (let i = 0; i < 20; i++)
      await append(client, thread.id, `life ${life}, event ${i}`);
    // Some are on their way when it dies; they may be in the log or not, but never half.
    const unsure = Array.from({ length: 10 }, (_, i) =>
      append(client, thread.id, `unsure ${life}, ${i}`).catch(() => null));
    await server.kill();
    await Promise.all(unsure);
    await server.start();
  }
  const last = await append(client, thread.id, 'the last');
  for (const stream of [source, tenant]) {
    await stream.hearsText('the last');
    expectSeqs(stream.heard, 1, last.seq);
  }
  const log = expectStatus(await client.get(`/v1/threads/${thread.id}/events?limit=1000`), 200);
  assert.deepEqual(source.heard, log.data);
});

test('a WebSocket resumes after a cursor, and goes where its client says', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (const text of ['a', 'b', 'c'])
    await append(client, thread.id, text);
  const tail = followWs(client, `/v1/threads/${thread.id}/events/ws?after=2`);
  expectSeqs(await tail.hears(2), 3, 4);
  tail.say({ after: '1' });
  await tail.hears(5);
  expectSeqs(tail.heard.slice(2), 2, 4);
  tail.say({ after: 3 });
  await tail.hears(6);
  expectSeqs(tail.heard.slice(5), 4, 4);
  await append(client, thread.id, 'live');
  await tail.hears(7);
  expectSeqs(tail.heard.slice(6), 5, 5);
  // Hasty clients: only the last word counts for where it ends up.
  for (let i = 0; i < 50; i++)
    tail.say({ after: i % 5 });
  await append(client, thread.id, 'end');
  await tail.until((heard) => heard.length > 8 && heard.at(-1).text === 'end');
  const again = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  expectSeqs(await again.hears(6), 1, 6);
});

test('a WebSocket that says what makes no sense is closed with 1008', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  for (const message of ['hello', '', '{}', '[]', '{"after":-1}', '{"after":"x"}', '{"after":1.5}',
    '{"after":1,"more":2}', '{"cursor":1}', '{"after":1,"after":1}',
    Buffer.from('{"after":0}')]) {
    const socket = followWs(client, `/v1/threads/${thread.id}/events/ws`);
    await socket.hears(1);
    socket.socket.send(message);
    const { code, reason } = await socket.ended;
    assert.deepEqual([code, reason], [1008, 'bad_message cursor=1'], String(message));
  }
  const ahead = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  await ahead.hears(1);
  ahead.say({ after: 99 });
  const { code, reason } = await ahead.ended;
  assert.equal(code, 1008);
  assert.match(reason, /^cursor_ahead/);
  expectProblem(await client.get(`/v1/threads/${thread.id}/events/ws`), 426, 'upgrade_required');
});

test('a browser names its key as a subprotocol', async (t) => {
  const { server, admin } = await closedServer(t);
  const thread = await newThread(admin);
  const path = `/v1/threads/${thread.id}/events/ws`;
  const protocols = (secret) => ({ protocols: ['cairn.v1', `bearer.${secret}`] });
  const socket = followWs(server.open, path, protocols(admin.secret));
  await socket.hears(1);
  assert.equal(socket.socket.protocol, 'cairn.v1');
  await assert.rejects(
    followWs(server.open, path, protocols('cairn_wrong')).opened, { status: 401 });
  await assert.rejects(followWs(server.open, path).opened, { status: 401 });
  const blind = await withKey(admin, ['threads:read']);
  await assert.rejects(followWs(blind, path).opened, { status: 403 });
});

test('a silent stream has a heartbeat', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const stream = readSse(client, `/v1/threads/${thread.id}/events/stream`);
  await stream.hears(1);
  await eventually(() => stream.text.endsWith('\n: heartbeat\n\n'), 'no heartbeat in 30 seconds');
  await append(client, thread.id, 'after the silence');
  await stream.hears(2);
  stream.close();
});

test('a revoked key ends its streams and long polls, and no others', async (t) => {
  const { admin } = await closedServer(t);
  const thread = await newThread(admin);
  const key = await withKey(admin, ['events:read']);
  const other = await withKey(admin, ['events:read']);
  const ws = followWs(key, `/v1/threads/${thread.id}/events/ws`);
  const sse = readSse(key, '/v1/events/stream');
  const source = followSse(key, `/v1/threads/${thread.id}/events/stream`);
  const poll = key.get(`/v1/threads/${thread.id}/events?after=1&wait=60`);
  const others = [followWs(other, `/v1/threads/${thread.id}/events/ws`),
    followSse(other, '/v1/events/stream')];
  for (const stream of [ws, sse, source, ...others])
    await stream.hears(1);
  await untilSubscribers(admin, 6);
  expectStatus(await admin.del(`/v1/keys/${key.keyId}`), 200);
  const { code, reason } = await ws.ended;
  assert.deepEqual([code, reason], [1008, 'access_ended cursor=1']);
  assert.equal((await sse.ended).reason, 'access_ended');
  assert.equal(await source.refused, 401);
  expectProblem(await poll, 401, 'unauthenticated');
  await append(admin, thread.id, 'for the others');
  for (const stream of others)
    await stream.hearsText('for the others');
  assert.equal(ws.heard.length, 1);
});

test('a key revoked while its stream opens does not leave it open', async (t) => {
  const { admin } = await closedServer(t);
  const thread = await newThread(admin);
  for (let round = 0; round < 15; round++) {
    const key = await withKey(admin, ['events:read']);
    const opening = Array.from({ length: 4 },
      () => followWs(key, `/v1/threads/${thread.id}/events/ws`));
    const revoked = admin.del(`/v1/keys/${key.keyId}`);
    for (const stream of opening)
      await Promise.race([stream.ended, stream.opened.catch(() => {})]);
    expectStatus(await revoked, 200);
    await untilSubscribers(admin, 0);
  }
});

test('an expired key ends its streams', async (t) => {
  const { admin } = await closedServer(t);
  const thread = await newThread(admin);
  const follow = async (ms) => {
    const key = await withKey(admin, ['events:read'],
      { expires_at: new Date(Date.now() + ms).toISOString() });
    const ws = followWs(key, `/v1/threads/${thread.id}/events/ws`);
    const sse = readSse(key, `/v1/threads/${thread.id}/events/stream`);
    await Promise.all([ws.opened, sse.opened]);
    assert.equal(sse.status, 200);
    await Promise.all([ws.hears(1), sse.hears(1)]);
    return { key, ws, sse };
  };
  // A slow machine may need longer to open them than the key is good for.
  const { key, ws, sse } = await follow(2000).catch(() => follow(8000)).catch(() => follow(60_000));
  const { code, reason } = await ws.ended;
  assert.deepEqual([code, reason], [1008, 'key_expired cursor=1']);
  assert.deepEqual(await sse.ended, { reason: 'key_expired', cursor: '1' });
  await assert.rejects(followWs(key, `/v1/threads/${thread.id}/events/ws`).opened, { status: 401 });
});

// --- Subscribers that do not read --------------------------------------------------------------

/** An SSE subscriber that reads nothing until it is woken. */
function sleepySse(t, server, path) {
  const socket = net.connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return {
    async wake() {
      let text = '';
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
      socket.resume();
      await eventually(() => text.endsWith('\r\n0\r\n\r\n') || socket.closed || socket.destroyed,
        'the stream did not end');
      const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((m) => Number(m[1]));
      const goodbye = /^event: closed\ndata: (.*)$/m.exec(text);
      return { ids, goodbye: goodbye === null ? null : JSON.parse(goodbye[1]) };
    },
  };
}

test('who does not read is closed with its cursor, and slows nobody', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  const awake = [followWs(client, `/v1/threads/${thread.id}/events/ws`),
    followSse(client, '/v1/events/stream')];
  const sse = sleepySse(t, server, `/v1/threads/${thread.id}/events/stream`);
  const ws = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  await Promise.all(awake.map((stream) => stream.hears(1)));
  await ws.hears(1);
  ws.socket.pause();
  await untilSubscribers(client, 4);
  // After the close, they can read the data sent before and the cursor to continue from. The server
  // keeps these for a while, so they read as soon as both are closed.
  const woken = untilSubscribers(client, 2).then(() => {
    ws.socket.resume();
    return sse.wake();
  });
  // Far more than the sockets hold. The other subscribers receive each event immediately.
  const payload = 'x'.repeat(100_000);
  let last = 1;
  while (last < 150) {
    last = (await append(client, thread.id, 'large', payload)).seq;
    await Promise.all(awake.map((stream) => stream.hears(last)));
  }
  const { ids, goodbye } = await woken;
  assert.equal(goodbye?.reason, 'slow_consumer');
  assert.deepEqual(ids, Array.from({ length: Number(goodbye.cursor) }, (_, i) => i + 1));
  const end = await ws.ended;
  assert.equal(end.code, 1013);
  assert.equal(end.reason, `slow_consumer cursor=${ws.heard.length}`);
  expectSeqs(ws.heard, 1, ws.heard.length);
  const again = followWs(client, `/v1/threads/${thread.id}/events/ws?after=${ws.heard.length}`);
  await again.hears(last - ws.heard.length);
  expectSeqs([...ws.heard, ...again.heard], 1, last);
  for (const stream of awake)
    expectSeqs(stream.heard, 1, last);
});

test('a burst larger than the bound closes nobody who reads', async (t) => {
  const { open: client } = await startServer(t);
  const thread = await newThread(client);
  const followers = [followWs(client, `/v1/threads/${thread.id}/events/ws`),
    readSse(client, `/v1/threads/${thread.id}/events/stream`), readSse(client, '/v1/events/stream'),
    followWs(client, `/workflow/ws/${thread.id}`)];
  for (const stream of followers)
    await stream.hears(1);
  const payload = 'x'.repeat(50_000);
  const events = Array.from({ length: 60 }, () => ({ kind: 'progress', payload }));
  for (let i = 0; i < 3; i++)
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events }), 201);
  for (const stream of followers) {
    const heard = await stream.hears(181);
    assert.deepEqual(heard.map((e) => e.id), Array.from({ length: 181 }, (_, i) => i + 1));
    stream.close();
  }
  assert.equal(followers[1].goodbye, undefined);
});

test('a long history is sent as fast as it is taken, whoever is slow', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  const payload = 'x'.repeat(50_000);
  const events = Array.from({ length: 60 }, () => ({ kind: 'progress', payload }));
  for (let i = 0; i < 3; i++)
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events }), 201);
  const slow = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  await slow.opened;
  slow.socket.pause();
  const quick = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  await quick.hears(181);
  // The slow client reads the events of the meantime from history, and stays connected.
  for (let i = 0; i < 3; i++)
    await append(client, thread.id, 'meanwhile');
  await quick.hears(184);
  slow.socket.resume();
  await slow.hears(184);
  for (const stream of [slow, quick])
    expectSeqs(stream.heard, 1, 184);
});

// --- The end of the server ---------------------------------------------------------------------

test('SIGTERM ends every stream with its cursor, and the process with 0', async (t) => {
  // The server does not wait for the grace time: notified clients disconnect.
  const server = await startServer(t, { args: ['--drain-seconds', '3600'] });
  const client = server.open;
  const thread = await newThread(client);
  await append(client, thread.id, 'one');
  const sse = Array.from({ length: 5 },
    () => readSse(client, `/v1/threads/${thread.id}/events/stream`));
  const tenant = readSse(client, '/v1/events/stream');
  const ws = Array.from({ length: 5 },
    () => followWs(client, `/v1/threads/${thread.id}/events/ws`));
  for (const stream of [...sse, tenant, ...ws])
    await stream.hears(2);
  await server.stop();
  for (const stream of [...sse, tenant])
    assert.deepEqual(await stream.ended, { reason: 'shutting_down', cursor: '2' });
  for (const stream of ws) {
    const { code, reason } = await stream.ended;
    assert.deepEqual([code, reason], [1001, 'shutting_down cursor=2']);
  }
  assert.equal(server.stderr.includes('Assertion'), false);
});

test('a server that stops under load keeps all that it answered', async (t) => {
  const server = await startServer(t);
  const client = server.open;
  const thread = await newThread(client);
  for (let round = 0; round < 3; round++) {
    const acknowledged = [];
    let stopping = false;
    const writers = Array.from({ length: 8 }, async (_, w) => {
      for (let i = 0; !stopping; i++)
        try {
          acknowledged.push((await append(client, thread.id, `${round}/${w}/${i}`)).seq);
        } catch {
          return;
        }
    });
    const streams = Array.from({ length: 8 },
      () => followWs(client, `/v1/threads/${thread.id}/events/ws`));
    await eventually(() => acknowledged.length > 50);
    await server.stop();
    stopping = true;
    await Promise.all([...writers, ...streams.map((s) => s.ended)]);
    await server.start();
    const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
    assert.ok(Math.max(...acknowledged) <= last);
    assert.equal(new Set(acknowledged).size, acknowledged.length);
  }
});

test('a server told to stop at once cuts everybody off, and still ends well', async (t) => {
  const server = await startServer(t, { args: ['--drain-seconds', '0', '--loops', '2'] });
  const client = server.open;
  const thread = await newThread(client);
  const payload = 'x'.repeat(50_000);
  const events = Array.from({ length: 60 }, () => ({ kind: 'progress', payload }));
  for (let i = 0; i < 4; i++)
    expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events }), 201);
  // Large pages keep the readers busy: many a job is under way when its client is cut off.
  let pages = 0;
  const readers = Array.from({ length: 40 }, async () => {
    for (let broken = false; !broken; pages++)
      await client.get(`/v1/threads/${thread.id}/events?limit=1000`)
        .catch(() => { broken = true; });
  });
  const streams = Array.from({ length: 40 },
    () => followWs(client, `/v1/threads/${thread.id}/events/ws`));
  await eventually(() => pages > 20);
  await server.stop();
  await Promise.all([...readers, ...streams.map((stream) => stream.ended)]);
});

// --- The promise -------------------------------------------------------------------------------

const WRITERS = 8;
const EVENTS_A_WRITER = 60;
const SUBSCRIBERS = 64;

/** Records the position of a subscriber, and rejects any event that is not the next. */
class Witness {
  seen = [];

  constructor(last) {
    this.last = last;
  }

  get cursor() {
    return this.seen.length;
  }

  get isDone() {
    return this.cursor === this.last;
  }

  take(event) {
    assert.equal(event.seq, this.cursor + 1, 'missed, doubled or out of order');
    this.seen.push(event);
  }
}

/** Takes up to `count` more events from a stream, then breaks it off. */
const takeFrom = (stream, witness, count, breakOff) => new Promise((done, fail) => {
  let left = count;
  stream.hear = (event) => {
    if (left === 0)
      return;
    try {
      witness.take(event);
    } catch (error) {
      fail(error);
    }
    if (--left === 0 || witness.isDone) {
      left = 0;
      breakOff();
      done();
    }
  };
});

/** The ways to listen, each from the witness's cursor on and for so many events. */
const WAYS = [
  (client, id, witness, count) => {
    const source = followSse(client, `/v1/threads/${id}/events/stream?after=${witness.cursor}`);
    return takeFrom(source, witness, count, source.close);
  },
  (client, id, witness, count) => {
    const socket = followWs(client, `/v1/threads/${id}/events/ws?after=${witness.cursor}`);
    return takeFrom(socket, witness, count, socket.vanish);
  },
  async (client, id, witness, count) => {
    const { data } = expectStatus(await client.get(
      `/v1/threads/${id}/events?after=${witness.cursor}&wait=20&limit=${count}`), 200);
    data.forEach((event) => witness.take(event));
  },
];

test('8 writers, 64 subscribers that come and go: each event exactly once, in order', async (t) => {
  const { open: client } = await startServer(t, { args: ['--loops', '2'] });
  const thread = await newThread(client);
  const last = 1 + WRITERS * EVENTS_A_WRITER;
  const upTo = (n) => 1 + Math.floor(Math.random() * n);
  const write = async (writer) => {
    for (let n = 0; n < EVENTS_A_WRITER;) {
      const size = Math.min(upTo(3), EVENTS_A_WRITER - n);
      const events = Array.from({ length: size }, (_, i) =>
        ({ kind: 'progress', payload: { writer, n: n + i } }));
      expectStatus(await client.post(`/v1/threads/${thread.id}/events`, { events }), 201);
      n += size;
      await pause(upTo(20));
    }
  };
  const subscribe = async (_, i) => {
    const listen = WAYS[i % WAYS.length];
    const witness = new Witness(last);
    while (!witness.isDone)
      await listen(client, thread.id, witness, upTo(60));
    return witness.seen;
  };
  const witnesses = Array.from({ length: SUBSCRIBERS }, subscribe);
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)));
  const [first, ...others] = await Promise.all(witnesses);
  expectSeqs(first, 1, last);
  for (const seen of others)
    assert.deepEqual(seen, first);
  for (let writer = 0; writer < WRITERS; writer++)
    assert.deepEqual(
      first.filter((e) => e.payload.writer === writer).map((e) => e.payload.n),
      Array.from({ length: EVENTS_A_WRITER }, (_, n) => n));
});

test('who listened without a key is sent away when the first key is made', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const tail = followWs(server.open, `/v1/threads/${thread.id}/events/ws`);
  await tail.hears(1);
  expectStatus(
    await server.open.post('/v1/keys', { name: 'first', scopes: ['operator'] }), 201);
  const { code, reason } = await tail.ended;
  assert.equal(code, 1008);
  assert.match(reason, /access_ended/);
});
