// SPDX-License-Identifier: Apache-2.0
// Rules of every route: methods, headers, Host and Origin.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { plain } from './lib/plain.mjs';
import { expectFault, expectProblem, expectStatus, startServer, twoTenants, uuid }
  from './lib/server.mjs';

test('an unknown path is 404 and an unknown method 405 with Allow', async (t) => {
  const { open } = await startServer(t);
  for (const path of [
    '/',
    '/v1',
    '/v2/threads',
    '/v1/threads/',
    '/v1//threads',
    '/V1/threads',
    '/v1/threads/x/y',
  ])
    expectProblem(await open.get(path), 404, 'no_route');
  const refused = await open.put('/v1/threads', {});
  assert.match(expectProblem(refused, 405, 'method_not_allowed').detail, /POST, GET, HEAD/);
  assert.equal(refused.headers.get('Allow'), 'POST, GET, HEAD');
  const one = await open.post(`/v1/threads/${uuid()}`, {});
  expectProblem(one, 405, 'method_not_allowed');
  assert.equal(one.headers.get('Allow'), 'GET, HEAD, PATCH, DELETE');
});

test('HEAD answers what GET answers, without the body', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const made = expectStatus(await open.post('/v1/threads', { title: 'x' }), 201);
  for (const path of [
    `/v1/threads/${made.id}`,
    '/v1/threads',
    '/healthz',
    '/openapi.json',
    `/v1/threads/${uuid()}`,
  ]) {
    const got = await open.get(path);
    const head = await open.head(path);
    assert.deepEqual([head.status, head.text], [got.status, ''], path);
    for (const name of ['ETag', 'Content-Type', 'Content-Length'])
      assert.equal(head.headers.get(name), got.headers.get(name), `${path} ${name}`);
  }
});

test('X-Request-Id is kept when it is plain, and made when it is not', async (t) => {
  const { open } = await startServer(t);
  const ask = (id) => open.get(`/v1/threads/${uuid()}`, { headers: { 'X-Request-Id': id } });
  const kept = await ask('req-42/a:b');
  assert.equal(kept.headers.get('X-Request-Id'), 'req-42/a:b');
  assert.equal(expectProblem(kept, 404, 'not_found').request_id, 'req-42/a:b');
  for (const bad of ['has blank', 'quo"te', 'x'.repeat(129), 'é']) {
    const answer = await ask(bad);
    assert.match(answer.headers.get('X-Request-Id'), /^[0-9a-f-]{36}$/);
    expectProblem(answer, 404, 'not_found');
  }
  const made = new Set();
  for (let i = 0; i < 5; i++) made.add((await open.get('/healthz')).headers.get('X-Request-Id'));
  assert.equal(made.size, 5);
});

test('traceparent is passed through', async (t) => {
  const { open } = await startServer(t);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  for (const path of ['/v1/threads', '/healthz', '/nowhere'])
    assert.equal(
      (await open.get(path, { headers: { traceparent } })).headers.get('traceparent'),
      traceparent,
    );
  assert.equal((await open.get('/v1/threads')).headers.get('traceparent'), null);
});

test('answers cannot be cached or sniffed', async (t) => {
  const { open } = await startServer(t);
  for (const path of ['/v1/threads', '/nowhere', '/healthz']) {
    const { headers } = await open.get(path);
    assert.equal(headers.get('Cache-Control'), 'no-store');
    assert.equal(headers.get('X-Content-Type-Options'), 'nosniff');
    assert.match(headers.get('Cairn-Version'), /^\d+\.\d+\.\d+$/);
  }
});

test('the public routes answer without a key, and tell of nothing private', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  expectStatus(await alice.post('/v1/threads', { title: 'private' }), 201);
  const { version, ...health } = expectStatus(await server.open.get('/healthz'), 200);
  assert.deepEqual(health, { status: 'ok' });
  assert.deepEqual(expectStatus(await server.open.get('/readyz'), 200), {
    status: 'ready',
    version,
  });
  const metrics = await server.open.get('/metrics');
  assert.match(metrics.headers.get('Content-Type'), /^text\/plain; version=0\.0\.4/);
  assert.match(
    metrics.text,
    /^cairn_api_answers_total\{method="POST",route="\/v1\/threads",status="2xx"\} 1$/m,
  );
  assert.ok(!metrics.text.includes(alice.tenantId));
  for (const line of metrics.text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^}]*\})? [0-9.e+-]+)$/);
});

// --- Host and Origin -------------------------------------------------------------------------

test('a Host that is not this server is refused: a rebound name gets nothing', async (t) => {
  const server = await startServer(t, { args: ['--allow-host', 'cairn.example'] });
  for (const host of [
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil',
    '[::2]',
  ])
    assert.ok(
      [400, 403].includes((await plain(server, 'GET', '/v1/threads', { Host: host })).status),
      host,
    );
  expectProblem(
    await plain(server, 'GET', '/v1/threads', { Host: 'evil.example' }),
    403,
    'host_refused',
  );
  for (const host of [
    'localhost',
    `127.0.0.1:${server.port}`,
    'LOCALHOST:1',
    '[::1]:80',
    'cairn.example',
  ])
    expectStatus(await plain(server, 'GET', '/v1/threads', { Host: host }), 200);
});

test('a page of another origin may neither read nor write, unless it is listed', async (t) => {
  const server = await startServer(t, { args: ['--allow-origin', 'https://app.example'] });
  const from = (origin) => ({ headers: { Origin: origin } });
  for (const origin of [
    'https://evil.example',
    'null',
    'http://app.example',
    'https://app.example.evil',
  ]) {
    expectProblem(await server.open.post('/v1/threads', {}, from(origin)), 403, 'host_refused');
    const read = await server.open.get('/v1/threads', from(origin));
    expectProblem(read, 403, 'host_refused');
    assert.equal(read.headers.get('Access-Control-Allow-Origin'), null);
    expectStatus(await server.open.request('OPTIONS', '/v1/threads', from(origin)), 403);
  }
  assert.deepEqual(expectStatus(await server.open.get('/v1/threads'), 200).data, []);
  for (const origin of ['https://app.example', server.url]) {
    const made = await server.open.post('/v1/threads', {}, from(origin));
    expectStatus(made, 201);
    assert.equal(made.headers.get('Access-Control-Allow-Origin'), origin);
    assert.match(made.headers.get('Vary'), /Origin/);
    assert.match(made.headers.get('Access-Control-Expose-Headers'), /Cairn-Version, ETag/);
  }
});

test('a preflight of a listed origin is told what it may send', async (t) => {
  const server = await startServer(t, { args: ['--allow-origin', 'https://app.example'] });
  const first = expectStatus(
    await server.open.post('/v1/keys', { name: 'k', scopes: ['operator'] }),
    201,
  );
  const headers = {
    'Origin': 'https://app.example',
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'authorization,content-type,if-match',
  };
  const answer = await plain(server, 'OPTIONS', '/v1/threads', headers);
  expectStatus(answer, 204);
  assert.equal(answer.headers.get('Access-Control-Allow-Origin'), 'https://app.example');
  assert.match(answer.headers.get('Access-Control-Allow-Methods'), /PATCH/);
  const allowed = answer.headers.get('Access-Control-Allow-Headers').split(', ');
  const document = expectStatus(await server.client(first.secret).get('/openapi.json'), 200);
  const documented = Object.values(document.paths).flatMap((item) => Object.values(item))
    .flatMap((operation) => operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'header').map((parameter) => parameter.name);
  assert.ok(documented.length > 100);
  for (const name of ['Authorization', 'Content-Type', 'Content-Encoding', 'X-Request-Id',
    'If-Modified-Since', ...documented])
    assert.ok(allowed.includes(name), name);
  // A page that uploads in parts reads where it continues, and what it has made.
  const exposed = answer.headers.get('Access-Control-Expose-Headers').split(', ');
  for (const name of ['ETag', 'Location', 'Content-Encoding', 'Upload-Offset', 'Upload-Length',
    'Cairn-File-Version', 'Repr-Digest', 'Retry-After', 'Idempotency-Replayed'])
    assert.ok(exposed.includes(name), name);
  expectStatus(
    await server.client(first.secret).get('/v1/threads', { headers: { Origin: headers.Origin } }),
    200,
  );
});

test('a header that has one meaning is not sent twice', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const ask = async (method, path, name, value) => {
    const answer = await plain(server, method, path, { [name]: [value, value] });
    expectFault(answer, 422, 'invalid_input', name, /^must not be repeated$/);
  };
  for (const [name, value] of [['Cairn-Fencing-Token', '1'], ['Idempotency-Key', 'k'],
    ['Last-Event-ID', '1'], ['Cairn-Principal', 'user:u'], ['Cairn-Consistency', 'strong']])
    await ask('GET', '/v1/threads', name, value);
  const digest = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';
  for (const name of ['Content-Digest', 'Repr-Digest'])
    await ask('PUT', `/v1/threads/${thread.id}/files/f`, name, digest);
  const twice = await plain(server, 'GET', '/v1/threads',
    { Authorization: ['Bearer x', 'Bearer x'] });
  expectProblem(twice, 401, 'unauthenticated');
  assert.match(twice.body.detail, /only once/);
});

test('Cairn-Consistency is strong or eventual, and documented where it counts', async (t) => {
  const { open } = await startServer(t);
  const thread = expectStatus(await open.post('/v1/threads', {}), 201);
  const ask = (path, value) => open.get(path, { headers: { 'Cairn-Consistency': value } });
  for (const path of ['/v1/threads', `/v1/threads/${thread.id}`, '/v1/events', '/v1/whoami']) {
    for (const value of ['strong', 'eventual'])
      expectStatus(await ask(path, value), 200);
    for (const value of ['', 'Eventual', 'weak', 'strong, eventual'])
      expectFault(await ask(path, value), 422, 'invalid_input', 'Cairn-Consistency',
        /^must be strong or eventual$/);
  }
  const { paths } = expectStatus(await open.get('/openapi.json'), 200);
  const never = Object.entries(paths).filter(([, item]) => item.get !== undefined &&
    !item.get.parameters?.some((p) => p.in === 'header' && p.name === 'Cairn-Consistency'));
  const ofThread = ['export', 'events', 'events/stream', 'events/ws', 'participants',
    'participants/me', 'participants/{participant_id}', 'recovery', 'resumption',
    'checkpoints/latest', 'shares', 'shares/{share_id}',
    'shares/{share_id}/redemptions', 'files/{name}', 'files/{name}/versions/{version}',
    'files/{name}/diff', 'uploads', 'uploads/{upload_id}'];
  // Reads that clients act upon at once, streams, and data that a replica does not have.
  assert.deepEqual(never.map(([path]) => path).sort(), [
    '/healthz', '/readyz', '/metrics', '/openapi.json', '/v1/whoami', '/v1/tenant', '/v1/keys',
    '/v1/keys/{key_id}', '/v1/agents/{agent_id}/export', '/v1/export', '/v1/events',
    '/v1/events/stream', '/v1/events/ws', '/workflow/{workflow_id}', '/workflow/ws/{workflow_id}',
    '/v1/runs/{run_id}/recovery',
    '/v1/agents/{agent_id}/runs/{run_id}/recovery',
    ...ofThread.map((rest) => `/v1/threads/{thread_id}/${rest}`)].sort());
});

test('a header that may come once is refused when it comes twice', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const send = (lines) => rawRequest(server, [
    `DELETE /v1/threads/${thread.id} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines]);
  assert.match(await send(['If-Match: *', 'If-Match: "77"']), /^HTTP\/1.1 422 .*If-Match/s);
  assert.match(await send(['If-Match: "77", *']), /^HTTP\/1.1 422 .*If-Match/s);
  assert.match(await send([`If-Match: ${Array(65).fill('"1"')}`]), /^HTTP\/1.1 422 .*at most 64/s);
  const twice = ['Authorization: Bearer a', 'Authorization: Bearer b'];
  assert.match(await send(twice), /^HTTP\/1.1 401 /);
  expectStatus(await server.open.get(`/v1/threads/${thread.id}`), 200);
});

test('If-Match is a list of ETags, of reads too', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const path = `/v1/threads/${thread.id}`;
  const send = (method, match, body) =>
    server.open.request(method, path, { headers: { 'If-Match': match }, body });
  for (const stale of ['"2"', '"2", "3"', 'W/"1"', '1', '"1', '', '"r1"']) {
    expectProblem(await send('PATCH', stale, { title: 'x' }), 412, 'stale_etag');
    assert.match(expectProblem(await send('GET', stale), 412, 'stale_etag').detail, /ETag: "1"/);
  }
  for (const match of ['"1"', '"2", "1"', ' , "7","1" ,', '*'])
    expectStatus(await send('GET', match), 200);
  assert.equal(expectStatus(await send('PATCH', '"9", "1"', { title: 'x' }), 200).version, 2);
  // The lines of a repeated header are one list.
  const lines = (match) => rawRequest(server, [`GET ${path} HTTP/1.1`, 'Host: localhost',
    'Connection: close', ...match.map((value) => `If-Match: ${value}`)]);
  assert.match(await lines(['"1"', '"2"']), /^HTTP\/1.1 200 /);
  assert.match(await lines(['"1"', '"3"']), /^HTTP\/1.1 412 /);
  // A read that fulfils If-Match may still find that the client has the version.
  const both = { 'If-Match': '"2"', 'If-None-Match': '"2"' };
  expectStatus(await server.open.get(path, { headers: both }), 304);
  for (const elsewhere of ['/v1/threads', '/v1/whoami'])
    expectFault(await server.open.get(elsewhere, { headers: { 'If-Match': '"1"' } }), 422,
      'invalid_input', 'If-Match', /this route has no ETag/);
});

test('a target may be a URL, whose host replaces the header', async (t) => {
  const server = await startServer(t);
  const thread = expectStatus(await server.open.post('/v1/threads', {}), 201);
  const get = (target, host = 'localhost') => rawRequest(server,
    [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close']);
  const path = `/v1/threads/${thread.id}`;
  for (const origin of ['http://localhost', `HTTP://127.0.0.1:${server.port}`, 'https://[::1]:1'])
    assert.match(await get(origin + path), /^HTTP\/1.1 200 /, origin);
  assert.match(await get('http://localhost/v1/threads?limit=1', 'evil.example'),
    /^HTTP\/1.1 200 /);
  assert.match(await get(`http://evil.example${path}`), /^HTTP\/1.1 403 .*host_refused/s);
  assert.match(await get('http://localhost'), /^HTTP\/1.1 404 .*no_route/s);
  for (const bad of ['http://', `http://u:p@localhost${path}`, 'ftp://localhost/', 'localhost:80'])
    assert.match(await get(bad), /^HTTP\/1.1 400 /, bad);
  // The same request has the same Idempotency-Key in both forms.
  const post = (target) => rawRequest(server, [`POST ${target} HTTP/1.1`, 'Host: localhost',
    'Connection: close', 'Idempotency-Key: k', 'Content-Length: 0']);
  assert.match(await post('/v1/threads'), /^HTTP\/1.1 201 /);
  assert.match(await post('http://localhost/v1/threads'), /Idempotency-Replayed: true/);
});

test('checks by load balancers need no Host of this server', async (t) => {
  const server = await startServer(t);
  const send = (method, path, version, headers) => rawRequest(server,
    [`${method} ${path} HTTP/${version}`, ...headers, 'Connection: close']);
  for (const path of ['/healthz', '/readyz'])
    for (const [version, headers] of [['1.1', ['Host: 10.0.0.7']], ['1.1', ['Host: lb.internal']],
      ['1.0', ['Host: lb.internal']], ['1.0', []]])
      for (const method of ['GET', 'HEAD'])
        assert.match(await send(method, path, version, headers), /^HTTP\/1.1 200 /);
  for (const path of ['/v1/threads', '/metrics', '/openapi.json', '/nowhere']) {
    assert.match(await send('GET', path, '1.1', ['Host: lb.internal']), /^HTTP\/1.1 403 /);
    assert.match(await send('GET', path, '1.0', []), /^HTTP\/1.1 403 .*must have a Host/s);
  }
  assert.match(await send('GET', '/healthz', '1.1', []), /^HTTP\/1.1 400 /);
});

test('426 names the protocol and the version to upgrade to', async (t) => {
  const server = await startServer(t);
  const ask = (lines) => sendHead(server, lines, '', 'GET /v1/events/ws');
  const old = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 8',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
  for (const lines of [[], old, ['Connection: close']]) {
    const answer = await ask(lines);
    assert.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/);
    assert.match(answer, /\r\nUpgrade: websocket\r\n/);
    assert.match(answer, /\r\nConnection: Upgrade(, close)?\r\n/);
    assert.match(answer, /\r\nSec-WebSocket-Version: 13\r\n/);
    assert.equal(/Connection: .*close/.test(answer), lines[0] === 'Connection: close');
  }
});

test('unknown chunk extensions are accepted up to a limit', async (t) => {
  const server = await startServer(t);
  const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
  const { alice } = await twoTenants(server);
  const key = `Authorization: Bearer ${alice.secret}`;
  const send = (extension) => sendHead(server, [key, ...chunked],
    `2;${extension}\r\n{}\r\n0;last="a;b"\r\n\r\n`);
  assert.match(await send('signature=abc;x'), /^HTTP\/1\.1 201 /);
  assert.match(await send('x'.repeat(4000)), /^HTTP\/1\.1 201 /);
  assert.match(await send('x'.repeat(5000)), /^HTTP\/1\.1 431 .*chunk extensions/s);
  assert.match(await send('='), /^HTTP\/1\.1 400 .*chunk extension/s);
  assert.equal(expectStatus(await alice.get('/v1/threads'), 200).data.length, 2);
});

test('a key without Bearer is reported as such, and never shown', async (t) => {
  const server = await startServer(t, { args: ['--log-level', 'debug'] });
  const { alice } = await twoTenants(server);
  const ask = async (value) => {
    const answer = await plain(server, 'GET', '/v1/threads', { Authorization: value });
    return expectProblem(answer, 401, 'unauthenticated').detail;
  };
  const bare = await ask(alice.secret);
  assert.match(bare, /must follow the word Bearer.*Authorization: Bearer cairn_…/);
  for (const other of [`Token ${alice.secret}`, `Basic ${btoa(`x:${alice.secret}`)}`, 'Bearer', ''])
    assert.match(await ask(other), /must be the word Bearer and an API key/);
  assert.match(await ask(`Bearer ${alice.secret}x`), /unknown/);
  expectStatus(await plain(server, 'GET', '/v1/threads',
    { Authorization: `bearer ${alice.secret}` }), 200);
  await server.stop();
  assert.ok(!server.stderr.includes(alice.secret.slice(10)), 'the key is in the log');
});

test('a page can read what is refused before it is a request', async (t) => {
  const origin = 'https://app.example';
  const server = await startServer(t, { args: ['--allow-origin', origin] });
  const start = ['GET / HTTP/1.1', 'Host: localhost'];
  const json = ['POST /v1/threads HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
  const refused = [
    [400, ['GET /< HTTP/1.1', 'Host: localhost']],
    [400, ['GET / HTTP/1.1']],
    [413, [...json, 'Content-Length: 99999999']],
    [413, ['GET /healthz HTTP/1.1', 'Host: localhost', 'Content-Length: 2000']],
    [414, [`GET /${'x'.repeat(9000)} HTTP/1.1`, 'Host: localhost']],
    [417, [...json, 'Expect: x', 'Content-Length: 2']],
    [501, [...json, 'Transfer-Encoding: gzip']],
    [505, ['GET / HTTP/3.0', 'Host: localhost']],
    [403, ['GET / HTTP/1.1', 'Host: evil.example']],
  ];
  const check = (answer, status, allowed, id) => {
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    assert.equal(answer.includes(`\r\nAccess-Control-Allow-Origin: ${allowed}\r\n`),
      allowed !== null, answer);
    if (allowed !== null) assert.match(answer, /\r\nVary: Origin\r\n/);
    assert.ok(answer.includes(`\r\nX-Request-Id: ${id}`), answer);
    assert.match(answer, new RegExp(`"request_id":"${id}`));
  };
  for (const [status, [line, ...rest]] of refused) {
    const send = (from) =>
      rawRequest(server, [line, `Origin: ${from}`, 'X-Request-Id: req-7', 'Connection: close',
        ...rest]);
    check(await send(origin), status, origin, 'req-7');
    // The server has understood these requests, so the origin itself is refused.
    const isRequest = [403, 413].includes(status);
    check(await send('https://evil.example'), isRequest ? 403 : status, null, 'req-7');
  }
  const big = `X: ${'x'.repeat(40_000)}`;
  check(await rawRequest(server, [...start, `Origin: ${origin}`, big]), 431, origin, '');
  // An Origin after the fault is not read.
  check(await rawRequest(server, [...start, 'X : y', `Origin: ${origin}`]), 400, null, '');
});

test('what is refused before it is a request names the version, too', async (t) => {
  const server = await startServer(t);
  const huge = ['POST /v1/threads HTTP/1.1', 'Host: localhost', 'Connection: close',
    'Content-Type: application/json', 'Content-Length: 99999999'];
  for (const [status, lines] of [[400, ['GET / HTTP/1.1', 'Host : localhost']], [413, huge]])
    assert.match(await rawRequest(server, lines),
      new RegExp(`^HTTP/1.1 ${status} .*Cairn-Version: [\\d.]+\r\n.*problem\\+json`, 's'));
});

/** Sends these header lines unchanged, and reads the whole response. */
function rawRequest(server, lines) {
  return new Promise((done, fail) => {
    const socket = net.connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes) => (text += bytes));
    socket.on('error', fail);
    socket.on('close', () => done(text));
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });
}

/** Sends only the head of a request; resolves with the first bytes of the answer, or with null. */
function sendHead(server, lines, rest = '', start = 'POST /v1/threads') {
  return new Promise((done, fail) => {
    const socket = net.connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\r\n\r\n')) {
        socket.destroy();
        done(text);
      }
    });
    socket.on('error', fail);
    socket.on('close', () => done(text));
    const head = [`${start} HTTP/1.1`, 'Host: localhost', ...lines];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    if (rest !== '') socket.write(rest);
  });
}

test('a large body is read only after its key has been checked', async (t) => {
  const server = await startServer(t);
  const { alice } = await twoTenants(server);
  const json = 'Content-Type: application/json';
  const large = ['Content-Length: 65537', 'Content-Length: 4000000', 'Transfer-Encoding: chunked'];
  for (const length of large) {
    // No byte of the body is ever sent: the answer does not wait for it.
    assert.match(await sendHead(server, [json, length]), /^HTTP\/1\.1 401 /);
    const wrong = `Authorization: Bearer ${alice.secret.slice(0, -1)}x`;
    assert.match(await sendHead(server, [json, length, wrong]), /^HTTP\/1\.1 401 /);
  }
  // Routes without a key do not collect a body.
  for (const path of ['/healthz', '/readyz', '/metrics'])
    assert.match(await sendHead(server, ['Content-Length: 4000000'], '', `GET ${path}`),
      /^HTTP\/1\.1 413 /);
  const unused = (size) =>
    sendHead(server, [`Content-Length: ${size}`], ' '.repeat(size), 'GET /healthz');
  assert.match(await unused(1024), /^HTTP\/1\.1 400 /);
  assert.match(await unused(1025), /^HTTP\/1\.1 413 /);
  // Faults of the path are reported, and nothing is acknowledged.
  const known = `Authorization: Bearer ${alice.secret}`;
  for (const line of ['PATCH /v1/threads/not-a-uuid', 'POST /v1/threads/x/events',
    'DELETE /v1/threads/x'])
    assert.match(await sendHead(server, [json, known, 'Transfer-Encoding: chunked'],
      '2\r\n{}\r\n0\r\n\r\n', line), /^HTTP\/1\.1 4(04|22) /, line);
  const title = 'x'.repeat(100);
  const body = JSON.stringify({ title, metadata: { text: 'y'.repeat(70_000) } });
  const key = `Authorization: Bearer ${alice.secret}`;
  assert.match(await sendHead(server, [json, key, `Content-Length: ${body.length}`], body),
    /^HTTP\/1\.1 201 /);
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  assert.match(await sendHead(server, [json, key, 'Transfer-Encoding: chunked'], chunk),
    /^HTTP\/1\.1 201 /);
  assert.match(await sendHead(server, [json, key, 'Expect: 100-continue', 'Content-Length: 65537']),
    /^HTTP\/1\.1 100 /);
  assert.equal(expectStatus(await alice.get('/v1/threads'), 200).data.length, 2);
});

test('Location leads to what was created, for any name, and is replayed', async (t) => {
  const { open } = await startServer(t);
  const follow = async (answer, status = 200) =>
    expectStatus(await open.get(answer.headers.get('Location')), status);

  const once = { headers: { 'Idempotency-Key': 'a' } };
  const made = await open.post('/v1/threads', { title: 'a' }, once);
  assert.equal(made.headers.get('Location'), `/v1/threads/${made.body.id}`);
  const again = await open.post('/v1/threads', { title: 'a' }, once);
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  assert.equal(again.headers.get('Location'), made.headers.get('Location'));
  const key = 'a/b?c&d=é %.';
  const put = await open.put('/v1/store/items', { namespace: ['x y', 'é&'], key, value: {} });
  expectStatus(put, 201);
  assert.deepEqual((await follow(put)).key, key);
  const path = `/v1/threads/${made.body.id}/files`;
  const file = await open.put(`${path}/a.txt`, undefined,
    { raw: 'text', type: 'text/plain' });
  expectStatus(file, 201);
  assert.equal(file.headers.get('Location'), `${path}/a.txt`);
  const copy = await open.post(`${path}/a.txt/copy`,
    { thread_id: made.body.id, name: 'ü #1.txt' });
  expectStatus(copy, 201);
  assert.equal(copy.headers.get('Location'), `${path}/%C3%BC%20%231.txt`);
  assert.equal((await open.get(copy.headers.get('Location'))).text, 'text');
  // A batch belongs to a list, and a replaced object is not created.
  const batch = await open.post(`/v1/threads/${made.body.id}/messages`,
    { messages: [{ content: 'a' }, { content: 'b' }] });
  assert.equal(batch.headers.get('Location'), `/v1/threads/${made.body.id}/messages`);
  assert.equal((await follow(batch)).data.length, 2);
  const replaced = await open.put('/v1/store/items', { namespace: ['n'], key: 'k', value: {} });
  const twice = await open.put('/v1/store/items', { namespace: ['n'], key: 'k', value: {} });
  assert.deepEqual([replaced.status, twice.status], [201, 200]);
  assert.equal(twice.headers.get('Location'), null);
});
