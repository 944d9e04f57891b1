// SPDX-License-Identifier: Apache-2.0
// Every kind of failure has its own class and a message that suggests a remedy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { startServer, uuid } from '../../../tests/api/lib/server.mjs';
import * as C from 'cairn-client';
import { foreign, foreignTcp, closedUrl } from './lib/network.mjs';

const { Cairn } = C;

/** Asserts that it fails with exactly this class and a matching message; returns the error. */
async function fails(promise, Kind, ...rules) {
  const error = await Promise.resolve(promise).then(
    (value) => assert.fail(`it gave ${inspect(value)}`),
    (e) => e,
  );
  assert.equal(error.constructor, Kind, error.stack);
  assert.ok(error instanceof C.CairnError && error instanceof Error);
  assert.equal(error.name, Kind.name);
  for (const rule of rules) assert.match(error.message, rule);
  return error;
}

test('a server that refuses', async (t) => {
  const server = await startServer(t);
  const open = new Cairn({ baseUrl: server.url });
  const { secret } = await open.keys.create({ name: 'operator', scopes: ['operator'] });
  const client = new Cairn({ baseUrl: server.url, apiKey: `${secret}\n` });
  const thread = await client.threads.create({ title: 'one' });

  await t.test('input that breaks a rule names field and rule', async () => {
    const error = await fails(
      client.threads.create({ titel: 'x' }),
      C.InvalidInput,
      /^POST \/v1\/threads: .*\/titel is not a member/,
      /422 invalid_input, request [0-9a-f-]{36}/,
    );
    assert.deepEqual(error.errors, [
      { pointer: '/titel', detail: 'is not a member of ThreadBody' },
    ]);
    assert.equal(error.status, 422);
    assert.equal(error.retryable, false);
    assert.equal(error.problem.request_id, error.requestId);
    await fails(client.threads.list({ cursor: '%' }), C.InvalidInput);
    await fails(client.threads.events.follow(thread.id, { after: 99 }).next(), C.InvalidInput);
  });

  await t.test('what is not there is not found', async () => {
    const error = await fails(client.threads.get(uuid()), C.NotFound, /404 not_found/);
    assert.ok(error instanceof C.ApiError);
    await fails(client.threads.events.follow(uuid()).next(), C.NotFound);
    await fails(
      client.threads.events.follow(uuid(), { transport: 'websocket' }).next(),
      C.NotFound,
    );
  });

  await t.test('no key, a wrong key and a missing scope say what to give', async () => {
    await fails(open.threads.list(), C.Authentication, /apiKey/, /CAIRN_API_KEY/);
    const wrong = new Cairn({ baseUrl: server.url, apiKey: 'cairn_wrongwrongwrong' });
    for (const transport of ['sse', 'websocket'])
      await fails(wrong.events.follow({ transport }).next(), C.Authentication);
    const error = await fails(wrong.whoami(), C.Authentication, /401 unauthenticated/);
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /wrongwrong/);
    const reader = await client.keys.create({ name: 'reader', scopes: ['threads:read'] });
    const narrow = new Cairn({ baseUrl: server.url, apiKey: reader.secret });
    await fails(narrow.threads.create({}), C.PermissionDenied, /threads:write/, /403 forbidden/);
  });

  await t.test('conflicts are told apart', async () => {
    const run = await client.threads.runs.create(thread.id, {});
    await fails(client.threads.runs.create(thread.id, {}), C.RunActive, /`policy`/);
    const claimed = await client.runs.claim({ worker: 'w' });
    await fails(client.runs.update(run.id, { metadata: {} }), C.LeaseRequired, /fencingToken/);
    await fails(
      client.runs.update(run.id, { metadata: {} }, { fencingToken: claimed.fence - 1 }),
      C.LeaseLost,
    );
    await client.runs.update(run.id, { status: 'completed' }, { fencingToken: claimed.fence });
    const error = await fails(client.runs.pause(run.id), C.TransitionRefused, /allowed/);
    assert.deepEqual(error.allowed, []);
    assert.ok(error instanceof C.Conflict && error instanceof C.ApiError);
  });

  await t.test('versions are conditions', async () => {
    const now = await client.threads.get(thread.id);
    const { version } = await client.threads.update(
      thread.id,
      { title: 'two' },
      { ifMatch: now.version },
    );
    await fails(
      client.threads.update(thread.id, { title: 'x' }, { ifMatch: now.version }),
      C.StaleEtag,
    );
    await fails(client.threads.get(thread.id, { ifNoneMatch: version }), C.NotModified);
    await fails(client.threads.get(thread.id, { ifNoneMatch: `"${version}"` }), C.NotModified);
    await fails(client.threads.delete(thread.id, { ifMatch: version + 1 }), C.StaleEtag);
  });

  await t.test('an idempotency key stands for one request', async () => {
    const idempotencyKey = uuid();
    const made = await client.threads.create({ title: 'a' }, { idempotencyKey });
    assert.equal((await client.threads.create({ title: 'a' }, { idempotencyKey })).id, made.id);
    await fails(client.threads.create({ title: 'b' }, { idempotencyKey }), C.IdempotencyKeyReused);
  });

  await t.test('too many requests are told when to come again', async () => {
    const slow = await client.keys.create({
      name: 'slow',
      scopes: ['threads:read'],
      rate_limit_per_minute: 1,
    });
    const limited = new Cairn({ baseUrl: server.url, apiKey: slow.secret, maxRetries: 0 });
    await limited.threads.list();
    const error = await fails(limited.threads.list(), C.RateLimited, /retryAfter/);
    assert.ok(error.retryAfter >= 1 && error.retryable);
    // A caller with less time gets the error immediately.
    const began = Date.now();
    await fails(
      new Cairn({ baseUrl: server.url, apiKey: slow.secret, timeoutMs: 20_000 }).threads.list(),
      C.RateLimited,
    );
    assert.ok(Date.now() - began < 15_000);
  });

  await t.test('a body over the limit is told as that, though it is refused unread', async () => {
    const title = 'x'.repeat(8 * 1024 * 1024);
    const error = await fails(
      client.threads.create({ title }, { maxRetries: 0 }),
      C.TooLarge,
      /413 body_too_large, request [0-9a-f-]{36}/,
    );
    assert.equal(error.status, 413);
  });

  await t.test('what cannot be sent is refused before it is', async () => {
    for (const id of ['', '.', '..', undefined, null, {}, 1.5, '\ud800'])
      await assert.rejects(async () => client.threads.delete(id), TypeError);
    await assert.rejects(async () => client.threads.list({ q: '\ud800' }), TypeError);
    await assert.rejects(async () => client.threads.files.upload(thread.id, 'a', 17), TypeError);
    await assert.rejects(client.threads.create({}, { idempotencyKey: 'a\nb' }), TypeError);
    assert.equal((await client.threads.get(thread.id)).id, thread.id);
  });

  await t.test('a principal with a name of any script is understood', async () => {
    const hers = await client.threads.create({}, { principal: 'user:Søren 漢' });
    const client2 = client.withOptions({ principal: 'user:Søren 漢' });
    assert.deepEqual(
      (await client2.threads.list().toArray()).map((x) => x.id),
      [hers.id],
    );
    assert.equal((await client2.whoami()).principal, 'user:Søren 漢');
    for (const transport of ['sse', 'websocket']) {
      const [event] = [await client2.events.follow({ transport }).next()];
      assert.equal(event.value.thread_id, hers.id, transport);
    }
  });

  await t.test('no key is in anything that is shown', () => {
    for (const text of [
      inspect(client, { depth: 9, showHidden: true, customInspect: false }),
      JSON.stringify(client),
      String(client),
    ])
      assert.ok(!text.includes(secret), text);
  });
});

test('an address where no Cairn is', async (t) => {
  const quick = (baseUrl, more) =>
    new Cairn({ baseUrl, apiKey: 'cairn_secret', maxRetries: 1, ...more });

  await t.test('nothing listens', async () => {
    const url = await closedUrl();
    const error = await fails(
      quick(url).health(),
      C.ConnectionFailed,
      /refuses connections/,
      /cairn serve/,
    );
    assert.ok(error.message.startsWith(`GET /healthz: ${url} `), error.message);
    assert.ok(!inspect(error, { depth: 9 }).includes('cairn_secret'));
    for (const transport of ['sse', 'websocket'])
      await fails(
        quick(url).events.follow({ transport }).next(),
        C.ConnectionFailed,
        /refuses connections/,
      );
  });

  await t.test('a page of something else shows its first line', async () => {
    const url = await foreign(t, (_, answer) => {
      answer
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end('\n<!doctype html>\n<h1>Sign in</h1>');
    });
    await fails(
      quick(url).threads.list(),
      C.NotCairn,
      /returned 200/,
      /<!doctype html>/,
      /baseUrl/,
    );
    await fails(quick(url).threads.events.follow(uuid()).next(), C.NotCairn);
    await fails(
      quick(url).threads.events.follow(uuid(), { transport: 'websocket' }).next(),
      C.NotCairn,
    );
  });

  await t.test('another API, also one that answers with JSON or an error', async () => {
    const url = await foreign(t, (request, answer) => {
      answer
        .writeHead(request.method === 'GET' ? 200 : 404, { 'Content-Type': 'application/json' })
        .end('{"data": []}');
    });
    await fails(quick(url).threads.list(), C.NotCairn, /\{\\"data\\": \[\]\}/);
    await fails(quick(url).threads.create({}), C.NotCairn, /returned 404/);
  });

  await t.test('a redirect names where to go', async () => {
    const url = await foreign(t, (_, answer) =>
      answer.writeHead(301, { Location: 'https://example.org/' }).end(),
    );
    await fails(quick(url).threads.create({}), C.NotCairn, /redirects to https:\/\/example\.org\//);
  });

  await t.test('a server that speaks no HTTP', async () => {
    const url = await foreignTcp(t, (socket) => socket.end('-ERR unknown command\r\n'));
    await fails(quick(url).health(), C.NotCairn, /does not speak HTTP/);
  });

  await t.test('a proxy whose server is away is tried again', async () => {
    let asked = 0;
    const url = await foreign(t, (_, answer) => {
      asked++;
      answer
        .writeHead(503, { 'Content-Type': 'text/html' })
        .end('<h1>503 Service Unavailable</h1>');
    });
    await fails(quick(url).health(), C.Unavailable, /503 Service Unavailable/);
    assert.equal(asked, 2);
  });

  await t.test('a port that fetch never asks', async () => {
    const refused = new Cairn({ baseUrl: 'http://127.0.0.1:9' });
    await fails(refused.threads.create(), C.ConnectionFailed, /port that fetch blocks/);
  });

  await t.test('a client shows where it leads', () => {
    const client = new Cairn({ baseUrl: 'http://127.0.0.1:7420', apiKey: 'cairn_secret' });
    assert.equal(inspect(client), 'Cairn at http://127.0.0.1:7420');
    assert.equal(inspect(client.threads.files), 'ThreadsFilesResource at http://127.0.0.1:7420');
  });

  await t.test('a name that nobody knows', async () => {
    const asked = quick('http://no-such-host.invalid').health();
    await fails(asked, C.ConnectionFailed, /no-such-host\.invalid/);
  });

  await t.test('an address that is none is refused at once', () => {
    for (const [baseUrl, rule] of [
      ['localhost:7420', /http:\/\//],
      ['not a url', /must be a URL/],
      ['http://me:pass@host', /user or a password/],
      ['http://host/v1', /without \/v1/],
      ['http://host/?a=b', /query/],
      ['', /must be a URL/],
    ])
      assert.throws(
        () => new Cairn({ baseUrl }),
        (e) => e instanceof C.CairnError && rule.test(e.message) && !/pass@/.test(e.message),
        baseUrl,
      );
    for (const apiKey of ['ключ', 'a b', ''])
      assert.throws(
        () => new Cairn({ apiKey }),
        (e) => e instanceof C.CairnError && /apiKey/.test(e.message),
      );
    assert.equal(new Cairn({ baseUrl: 'http://host:1/cairn/' }).baseUrl, 'http://host:1/cairn');
  });

  await t.test('the environment says where the server is', () => {
    process.env.CAIRN_URL = 'http://elsewhere:99';
    try {
      assert.equal(new Cairn().baseUrl, 'http://elsewhere:99');
    } finally {
      delete process.env.CAIRN_URL;
    }
    assert.equal(new Cairn().baseUrl, 'http://127.0.0.1:7420');
  });
});

test('a server of another version', async (t) => {
  const cairn = (version, status = 200, body = {}) =>
    foreign(t, (_, answer) => {
      answer.writeHead(status, { 'Cairn-Version': version, 'Content-Type': 'application/json' });
      answer.end(JSON.stringify(body));
    });
  const [major, minor] = C.VERSION.split('.').map(Number);

  await t.test('a newer major version: upgrade the client', async () => {
    const error = await fails(
      new Cairn({ baseUrl: await cairn(`${major + 1}.0.0`) }).health(),
      C.VersionMismatch,
      /Upgrade cairn-client/,
    );
    assert.equal(error.serverVersion, `${major + 1}.0.0`);
  });

  await t.test('a route that an older server does not have: upgrade the server', async () => {
    const problem = {
      code: 'no_route',
      detail: 'there is no /v1/new',
      status: 404,
      request_id: 'r',
      retryable: false,
    };
    const older = await cairn(
      `${major}.${minor}.0-rc1`.replace(`${minor}.0`, minor > 0 ? `${minor - 1}.9` : '0.0'),
      404,
      problem,
    );
    await fails(new Cairn({ baseUrl: older }).health(), C.VersionMismatch, /Upgrade the server/);
    await fails(
      new Cairn({ baseUrl: await cairn(C.VERSION, 404, problem) }).health(),
      C.NotFound,
      /baseUrl/,
    );
  });

  await t.test('codes that it does not know are taken by their status', async () => {
    const kinds = [
      [400, C.InvalidInput],
      [404, C.NotFound],
      [409, C.Conflict],
      [410, C.Gone],
      [418, C.InvalidInput],
      [500, C.InternalError],
      [507, C.StorageFull],
      [503, C.Unavailable],
    ];
    for (const [status, Kind] of kinds) {
      const problem = {
        code: 'of_the_future',
        detail: 'who knows',
        status,
        request_id: 'r',
        retryable: false,
      };
      const client = new Cairn({ baseUrl: await cairn(C.VERSION, status, problem), maxRetries: 0 });
      await fails(client.health(), Kind, /who knows/, /of_the_future/);
    }
  });
});

test('what the caller ends', async (t) => {
  const silent = await foreign(t, () => {});

  await t.test('a signal ends a request', async () => {
    const stop = new AbortController();
    const asked = new Cairn({ baseUrl: silent }).health({ signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 20);
    const error = await fails(asked, C.Aborted, /GET \/healthz/);
    assert.equal(error.cause.message, 'enough');
    await fails(new Cairn({ baseUrl: silent }).health({ signal: stop.signal }), C.Aborted);
  });

  await t.test('a signal ends the pause between two tries', async () => {
    const stop = new AbortController();
    const asked = new Cairn({ baseUrl: await closedUrl(), maxRetries: 99 }).health({
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(), 50);
    await fails(asked, C.Aborted);
  });

  await t.test('time runs out, for a try and for all of them', async () => {
    const client = new Cairn({ baseUrl: silent });
    await fails(client.health({ tryTimeoutMs: 20, maxRetries: 1 }), C.TimedOut, /timeoutMs/);
    const began = Date.now();
    await fails(client.health({ timeoutMs: 50 }), C.TimedOut);
    assert.ok(Date.now() - began < 5000);
    // The request may have been performed.
    const error = await fails(client.threads.create({}, { timeoutMs: 50 }), C.OutcomeUnknown);
    assert.equal(error.cause.constructor, C.TimedOut);
  });

  await t.test('a key that cannot be had leaves no clock behind', async () => {
    const clocks = () => process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length;
    const apiKey = () => Promise.reject(new Error('the vault is shut'));
    const client = new Cairn({ baseUrl: silent, apiKey });
    const before = clocks();
    for (const transport of ['sse', 'websocket'])
      await assert.rejects(client.events.follow({ transport }).next(), /vault is shut/);
    assert.equal(clocks(), before);
  });

  await t.test('no listener is left on a signal that lives long', async () => {
    const { getEventListeners } = await import('node:events');
    const server = await startServer(t);
    const client = new Cairn({ baseUrl: server.url });
    const { signal } = new AbortController();
    const thread = await client.threads.create({}, { signal });
    await client.threads.files.upload(thread.id, 'a', 'x', { signal });
    await (await client.threads.files.download(thread.id, 'a', undefined, { signal })).text();
    for (const transport of ['sse', 'websocket'])
      for await (const _ of client.threads.events.follow(thread.id, { signal, transport })) break;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});
