// SPDX-License-Identifier: Apache-2.0
// The connection of the command line to the server: TLS, lost connections, busy and faulty servers;
// and notifications of the service manager.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { newCli } from './lib/cli.mjs';
import { atEnd } from './lib/ending.mjs';
import { eventually, expectStatus, startServer } from './lib/server.mjs';

const run = promisify(execFile);

async function listen(t, server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, () => new Promise((done) => {
    server.closeAllConnections?.();
    server.close(done);
  }));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Forwards to the server, but cuts the first `losses` connections when the response arrives. */
async function startLossy(t, server, losses) {
  let left = losses;
  const proxy = net.createServer((client) => {
    const upstream = net.connect(server.port, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      if (left > 0) {
        left--;
        client.resetAndDestroy();
        upstream.destroy();
      } else {
        client.write(bytes);
      }
    });
    upstream.on('end', () => client.end());
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
  });
  return listen(t, proxy);
}

test('an answer that was lost is asked for again, and nothing is done twice', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t).with({ env: { CAIRN_URL: await startLossy(t, server, 3) } });
  const made = await cli.json('thread', 'create', '--title', 'once');
  const { data } = expectStatus(await server.open.get('/v1/threads'), 200);
  assert.deepEqual(data.map(({ id }) => id), [made.id]);
});

test('after four losses it gives up', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t).with({ env: { CAIRN_URL: await startLossy(t, server, 4) } });
  await cli.refused(1, /the connection to the server was lost/, 'thread', 'list');
});

test('a secret that was lost is told, and the key can be revoked', async (t) => {
  const server = await startServer(t);
  const first = await newCli(t, server).json('key', 'create', '--name', 'a', '--scope', 'operator');
  const env = { CAIRN_URL: await startLossy(t, server, 1), CAIRN_API_KEY: first.secret };
  const end = await newCli(t).with({ env })('key', 'create', '--name', 'b', '--scope', 'runs:read');
  assert.equal(end.code, 1, end.stderr);
  assert.match(end.stderr, /the answer with its secret was lost; revoke the key/);
  assert.match(JSON.parse(end.stdout).id, /^[0-9a-f-]{36}$/);
});

test('what cannot be repeated safely is not sent again', async (t) => {
  const server = await startServer(t);
  const { id } = expectStatus(await server.open.post('/v1/threads'), 201);
  const cli = newCli(t).with({ env: { CAIRN_URL: await startLossy(t, server, 1) } });
  await cli.refused(1, /the connection to the server was lost/, 'api', 'PATCH',
    `/v1/threads/${id}`, '--body', '{"title": "x"}');
  assert.equal(expectStatus(await server.open.get(`/v1/threads/${id}`), 200).version, 2);
});

/** Answers in turn with what `answers` says, and keeps what it was asked. */
async function startScripted(t, answers) {
  const asked = [];
  const server = createHttpServer((request, answer) => {
    asked.push(request);
    const { status, headers = {}, body = '' } = answers[Math.min(asked.length, answers.length) - 1];
    answer.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    answer.end(body);
  });
  return { url: await listen(t, server), asked };
}

const EMPTY = { status: 200, body: '{"data":[],"has_more":false,"next_cursor":null}' };

test('a server that is busy is asked again, with the same Idempotency-Key', async (t) => {
  const busy = { status: 503, headers: { 'Retry-After': '1' } };
  const list = await startScripted(t, [busy, { status: 429 }, EMPTY]);
  const cli = newCli(t);
  const begun = Date.now();
  await cli.ok('thread', 'list', '--url', list.url);
  assert.ok(Date.now() - begun >= 1000, 'Retry-After is kept to');
  assert.equal(list.asked.length, 3);

  const post = await startScripted(t, [busy, { status: 201, body: '{"id":"x"}' }]);
  await cli.ok('thread', 'create', '--url', post.url);
  const keys = post.asked.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  await cli.ok('thread', 'create', '--url', post.url);
  assert.notEqual(post.asked[2].headers['idempotency-key'], keys[0]);
});

test('a server that goes on refusing is told with its words', async (t) => {
  const problem = '{"code":"unavailable","detail":"the \\u001b[31mdatabase is away","status":503}';
  const headers = { 'Content-Type': 'application/problem+json' };
  const away = await startScripted(t, [{ status: 503, headers, body: problem }]);
  const cli = newCli(t);
  await cli.refused(1, /^cairn thread list: the \\e\[31mdatabase is away \(503 unavailable\)$/m,
    'thread', 'list', '--url', away.url);
  assert.equal(away.asked.length, 4);
  const odd = await startScripted(t, [{ status: 200, body: '[1' }]);
  await cli.refused(1, /answer is not a list/, 'thread', 'list', '--url', odd.url);
  await cli.refused(1, /answer is not JSON/, 'thread', 'get', 'x', '--url', odd.url);
  await cli.refused(1, /answer is not JSON/, 'run', 'tail', 'x', '--url', odd.url);
  const page = await startScripted(t, [{ status: 404, headers: { 'Content-Type': 'text/html' } }]);
  await cli.refused(1, /Not Found \(404\)$/m, 'thread', 'list', '--url', page.url);
});

test('what is no HTTP is told', async (t) => {
  const smtp = net.createServer((socket) => {
    socket.on('error', () => {}).resume();
    socket.end('220 mail.example.com ESMTP\r\n');
  });
  const cli = newCli(t);
  await cli.refused(1, /the answer is not HTTP: it does not begin with HTTP\/1\.1/, 'thread',
    'list', '--url', await listen(t, smtp));
  await cli.refused(1, /cannot connect to no-such-host\.invalid:80: /, 'thread', 'list', '--url',
    'http://no-such-host.invalid');
});

/** A server whose answers are functions of the response, one after another. */
async function startActing(t, acts) {
  const asked = [];
  const server = createHttpServer((request, answer) => {
    asked.push(request);
    acts[Math.min(asked.length, acts.length) - 1](answer);
  });
  return { url: await listen(t, server), asked };
}

const refusing = (status) => (answer) => answer.writeHead(status).end('<html>');
const saying = (document) => (answer) =>
  answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(document));
const streaming = (text, ends = false) => (answer) => {
  answer.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text);
  if (ends) answer.end();
};
const frame = (id) => `id: ${id}\ndata: {"id":${id},"seq":${id},"kind":"progress"}\n\n`;

test('a tail goes on past 64 MiB on one connection', async (t) => {
  const { url, asked } = await startActing(t, [(answer) => {
    answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const piece = `: ${'x'.repeat(1024 * 1024)}\n\n`;
    let left = 66;
    const go = () => {
      while (left-- > 0) if (!answer.write(piece)) return answer.once('drain', go);
      answer.write(frame(1));
    };
    go();
  }]);
  const tail = newCli(t).start('event', 'tail', '-f', '--jsonl', '--url', url);
  await eventually(() => tail.lines.length === 1, () => tail.stderr);
  assert.equal((await tail.kill('SIGINT')).code, 130);
  assert.equal(asked.length, 1);
});

test('an event that is too large ends a tail with a word about it', async (t) => {
  const { url } = await startActing(t, [streaming(`${frame(1)}data: ${'x'.repeat(5 << 20)}`)]);
  const end = await newCli(t)('event', 'tail', '-f', '--jsonl', '--url', url);
  assert.equal(end.code, 1);
  assert.match(end.stderr, /^cairn event tail: an event of the stream is too large\ncursor: 1 /);
});

test('a tail and a wait go on over what a proxy says while its server starts again', async (t) => {
  const stream = await startActing(t, [
    streaming(frame(1), true), refusing(502), refusing(504), streaming(frame(2)),
  ]);
  const cli = newCli(t);
  const tail = cli.start('event', 'tail', '-f', '--jsonl', '--url', stream.url);
  await eventually(() => tail.lines.length === 2, () => tail.stderr);
  assert.equal((await tail.kill('SIGINT')).code, 130);
  assert.deepEqual(tail.lines.map((line) => JSON.parse(line).id), [1, 2]);
  assert.match(stream.asked[3].url, /after=1$/);

  const started = { id: 'r', thread_id: 't', status: 'running' };
  const runs = await startActing(t, [
    saying(started), ...Array(5).fill(refusing(502)), saying({ ...started, status: 'completed' }),
  ]);
  await cli.ok('run', 'wait', 'r', '--url', runs.url);
  const never = await startActing(t, [refusing(502)]);
  await cli.refused(1, /Bad Gateway \(502\)$/m, 'event', 'tail', '-f', '--url', never.url);
  assert.equal(never.asked.length, 1);
});

test('a gateway without an answer is asked again, but only for what changes nothing', async (t) => {
  const cli = newCli(t);
  const list = await startScripted(t, [{ status: 502 }, { status: 504 }, EMPTY]);
  await cli.ok('thread', 'list', '--url', list.url);
  assert.equal(list.asked.length, 3);
  const post = await startScripted(t, [{ status: 502 }]);
  await cli.refused(1, /\(502\)$/m, 'thread', 'create', '--url', post.url);
  assert.equal(post.asked.length, 1);
});

test('a server cannot drive the terminal with a cursor, a gap or a header', async (t) => {
  const cli = newCli(t);
  const { url } = await startActing(t, [streaming(
    `event: gap\ndata: {"pruned_through":"\u009b31m"}\n\n${frame(5)}` +
      'id: 6\u001b]0;x\u0007\ndata: {"id":6,"kind":"progress"}\n\n' +
      'event: closed\ndata: {"cursor":"7\\u001b[31m"}\n\n',
  )]);
  const tail = cli.start('event', 'tail', '-f', '--jsonl', '--url', url);
  await eventually(() => tail.lines.length === 2, () => tail.stderr);
  const { stderr } = await tail.kill('SIGINT');
  assert.match(stderr, /^cursor: 5 \(--after 5 continues from here\)$/m);
  assert.match(stderr, /^Events up to "\\u009b31m" were pruned/m);
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);

  const headed = await startScripted(t, [{ status: 200, headers: { 'X-Odd': 'a\u009b31m' } }]);
  const { screen } = await cli.terminal({}, 'api', 'GET', '/x', '-i', '--url', headed.url);
  assert.match(screen, /^X-Odd: a\ufffd31m$/m);
});

async function makeCertificate(folder, name, subject) {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-days', '2', '-subj', '/CN=cairn-test', '-addext', `subjectAltName=${subject}`],
    ...['-keyout', files.key, '-out', files.cert],
  ]);
  return files;
}

test('over TLS the certificate is checked', async (t) => {
  const cli = newCli(t);
  const good = await makeCertificate(cli.home, 'good', 'IP:127.0.0.1,DNS:localhost');
  const other = await makeCertificate(cli.home, 'other', 'DNS:elsewhere.example');
  const start = async ({ cert, key }) => {
    const plain = await startServer(t); // on a port of its own, which the next one takes over
    const port = plain.port;
    await plain.stop();
    const child = cli.start('serve', '--listen', `127.0.0.1:${port}`, '--data', `data-${port}`,
      '--tls-cert', cert, '--tls-key', key);
    await eventually(() => child.stdout.includes('listens on https://'));
    return port;
  };
  const port = await start(good);
  for (const host of ['127.0.0.1', 'localhost']) {
    const url = `https://${host}:${port}`;
    const made = await cli.json('thread', 'create', '--url', url, '--ca-file', good.cert);
    const env = { CAIRN_CA_FILE: good.cert, CAIRN_URL: url };
    assert.deepEqual(await cli.with({ env }).json('thread', 'get', made.id), made);
    const rows = await cli.with({ env }).rows('event', 'list');
    assert.ok(rows.length > 0);
    await cli.refused(1, /self-signed certificate|unable to get local issuer/, 'thread', 'list',
      '--url', url);
    await cli.refused(1, /self-signed certificate|unable to get local issuer/, 'thread', 'list',
      '--url', url, '--ca-file', other.cert);
  }
  const wrong = await start(other);
  await cli.refused(1, /IP address mismatch/, 'thread', 'list', '--ca-file', other.cert, '--url',
    `https://127.0.0.1:${wrong}`);
  await cli.refused(1, /hostname mismatch/, 'thread', 'list', '--url', `https://localhost:${wrong}`,
    '--ca-file', other.cert);
  await cli.refused(1, /the server ended the connection|not HTTP|was lost/, 'thread', 'list',
    '--url', `http://127.0.0.1:${port}`);
  await cli.refused(2, /cannot use the CA file nowhere: No such file/, 'thread', 'list', '--url',
    `https://127.0.0.1:${port}`, '--ca-file', 'nowhere');

  const env = { CAIRN_CA_FILE: good.cert, CAIRN_URL: `https://localhost:${port}` };
  const tail = cli.with({ env }).start('event', 'tail', '-f', '--jsonl');
  await eventually(() => tail.lines.length >= 2);
  await cli.with({ env }).ok('thread', 'create', '--title', 'live');
  await eventually(() => tail.lines.length >= 3);
  assert.equal((await tail.kill('SIGINT')).code, 130);
});

const MANAGER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(s.recv(4096).decode(), flush=True)
`;

test('the service manager is told when the server is ready and when it stops', async (t) => {
  const cli = newCli(t);
  const path = join(cli.home, 'notify');
  const manager = spawn('python3', ['-c', MANAGER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(t, () => manager.kill());
  let told = '';
  manager.stdout.setEncoding('utf8').on('data', (text) => (told += text));
  await eventually(() => told === 'bound\n');
  const server = await startServer(t, { env: { NOTIFY_SOCKET: path } });
  await eventually(() => told === 'bound\nREADY=1\n', () => told);
  await server.stop();
  await eventually(() => told === 'bound\nREADY=1\nSTOPPING=1\n', () => told);
});
