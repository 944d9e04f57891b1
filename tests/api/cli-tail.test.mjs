// SPDX-License-Identifier: Apache-2.0
// Commands that keep running: tails without lost or doubled events, waits, Ctrl-C, closed pipes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { BINARY, eventually, expectStatus, startServer } from './lib/server.mjs';

const seqsOf = (running) => running.lines.map((line) => JSON.parse(line).seq);
const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1);

async function append(server, thread, text) {
  const path = `/v1/threads/${thread}/events`;
  return expectStatus(await server.open.post(path, { kind: 'progress', text }), 201);
}

/** Waits until so many lines are there. */
const hasLines = (running, n) =>
  eventually(
    () => running.lines.length >= n,
    () => `${running.lines.length} lines, not ${n}: ${running.stderr}`,
  );

test('a tail goes on over restarts and kills, and every event comes once', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const tails = [
    cli.start('event', 'tail', '-f', id, '--jsonl'),
    cli.start('event', 'tail', '--follow', '--jsonl'),
  ];
  let n = 1;
  for (const end of ['stop', 'kill', 'stop', 'kill']) {
    for (let i = 0; i < 20; i++) n = (await append(server, id, `${i}`)).seq;
    for (const tail of tails) await hasLines(tail, n);
    await server[end]();
    await server.start();
    n = (await append(server, id, 'after')).seq;
  }
  for (const tail of tails) {
    await hasLines(tail, n);
    const { code, stderr } = await tail.kill('SIGINT');
    assert.equal(code, 130);
    assert.deepEqual(seqsOf(tail), upTo(n));
    assert.match(stderr, /The connection was lost; trying again\./);
    assert.match(stderr, /^cursor: \d+ \(--after \d+ continues from here\)$/m);
  }
});

test('a tail stopped and started again from its cursor misses nothing', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const seen = [];
  let after = [];
  for (let round = 0; round < 5; round++) {
    const tail = cli.start('event', 'tail', id, '-f', '--jsonl', ...after);
    for (let i = 0; i < 7; i++) await append(server, id, `${round} ${i}`);
    await hasLines(tail, 1);
    const { code, stderr } = await tail.kill('SIGINT');
    assert.equal(code, 130);
    seen.push(...seqsOf(tail));
    after = ['--after', /^cursor: (\S+)/m.exec(stderr)[1]];
  }
  const rest = await cli.jsonl('event', 'tail', id, '--jsonl', ...after);
  seen.push(...rest.map(({ seq }) => seq));
  assert.deepEqual(seen, upTo(36));
});

test('a tail that is not followed prints what is there and ends', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const events = Array.from({ length: 1500 }, () => ({ kind: 'progress' }));
  for (const part of [events.slice(0, 1000), events.slice(1000)])
    expectStatus(await server.open.post(`/v1/threads/${id}/events`, { events: part }), 201);
  const end = await cli.ok('event', 'tail', id, '--jsonl');
  assert.equal(end.stdout.split('\n').length, 1502);
  assert.equal(end.stderr, 'cursor: 1501 (--after 1501 continues from here)\n');
  const whole = await cli.json('event', 'tail', '--json', '--after', '0');
  assert.equal(whole.data.length, 1501);
  const none = await cli.json('event', 'tail', id, '--json', '--kind', 'a.b');
  assert.deepEqual(none, { data: [] });
  assert.deepEqual(await cli.rows('event', 'tail', id, '--after', '1501'), []);
  await cli.refused(1, /newest event.*\(400 invalid_cursor\)/s, 'event', 'tail', id, '--after',
    '1502');
});

test('pruned events are told, not skipped in silence', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  for (let i = 0; i < 5; i++) await append(server, id, `${i}`);
  const pruned = await server.open.post(`/v1/threads/${id}/events/prune`, { through_seq: 3 });
  expectStatus(pruned, 200);
  const page = await cli('event', 'tail', id, '--jsonl', '--after', '1');
  assert.match(page.stderr, /^Events up to 3 were pruned; the remaining ones follow\.$/m);
  const seqs = page.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line).seq);
  assert.deepEqual(seqs, [4, 5, 6]);
  const tail = cli.start('event', 'tail', id, '--jsonl', '--after', '1', '-f');
  await hasLines(tail, 3);
  const { stderr } = await tail.kill();
  assert.match(stderr, /^Events up to 3 were pruned; the remaining ones follow\.$/m);
  assert.deepEqual(seqsOf(tail), [4, 5, 6]);
});

async function startDirect(server, cli) {
  const { id: thread } = await cli.json('thread', 'create');
  return { thread, run: await cli.json('run', 'start', thread, '--dispatch', 'direct') };
}

const finish = async (server, run, status) =>
  expectStatus(await server.open.patch(`/v1/runs/${run.id}`, { status }), 200);

test("a run's tail ends with the run, also over a restart", async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { thread, run } = await startDirect(server, cli);
  const note = (text) => cli.ok('event', 'append', thread, '--kind', 'progress', '--run', run.id,
    '--text', text);
  await append(server, thread, 'of nobody');
  await note('one');
  const before = await cli.jsonl('run', 'tail', run.id, '--jsonl');
  assert.deepEqual(before.map(({ kind }) => kind), ['status', 'progress']);
  const tail = cli.start('run', 'tail', '-f', run.id.toUpperCase(), '--jsonl');
  await hasLines(tail, 2);
  await server.kill();
  await server.start();
  await note('two');
  await finish(server, run, 'completed');
  const { code } = await tail.ended;
  assert.equal(code, 0);
  assert.deepEqual(tail.lines.map((line) => JSON.parse(line).kind),
    ['status', 'progress', 'progress', 'run.phase', 'history.created', 'final']);
  const again = await cli.jsonl('run', 'tail', run.id.toUpperCase(), '-f', '--jsonl');
  assert.equal(again.length, 6, 'a run that has ended is shown and left');
});

test("a run that ends while its tail is cut off ends the tail", async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { thread, run } = await startDirect(server, cli);
  const tail = cli.start('run', 'tail', '-f', run.id, '--jsonl');
  await hasLines(tail, 1);
  tail.child.kill('SIGSTOP');
  await finish(server, run, 'cancelled');
  const pruned = await server.open.post(`/v1/threads/${thread}/events/prune`, { finished: true });
  expectStatus(pruned, 200);
  await server.restart();
  tail.child.kill('SIGCONT');
  assert.equal((await tail.ended).code, 0);
});

test('waiting for a run ends as the run does', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  for (const [status, code] of [['completed', 0], ['failed', 5], ['cancelled', 5]]) {
    const { run } = await startDirect(server, cli);
    const wait = cli.start('run', 'wait', run.id);
    await finish(server, run, status);
    const end = await wait.ended;
    assert.equal(end.code, code, end.stderr);
    assert.equal(JSON.parse(end.stdout).status, status);
    assert.equal((await cli('run', 'wait', run.id)).code, code, 'also when it has ended before');
  }
});

test('a wait outlasts a restart, says what the run waits for, and may give up', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { run } = await startDirect(server, cli);
  const said = await cli.refused(1, /has not ended within 1 seconds/, 'run', 'wait', run.id,
    '--timeout', '1');
  assert.doesNotMatch(said, /input/);
  const wait = cli.start('run', 'wait', run.id);
  await finish(server, run, 'waiting_for_input');
  await eventually(() => /The run waits for input: cairn run input /.test(wait.stderr));
  await server.kill();
  await server.start();
  await finish(server, run, 'running');
  await finish(server, run, 'completed');
  assert.equal((await wait.ended).code, 0);
});

test('Ctrl-C ends a wait with 130', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { run } = await startDirect(server, cli);
  for (const args of [['run', 'wait', run.id], ['run', 'claim', '--worker', 'w', '--wait', '60']]) {
    const running = cli.start(...args);
    const metrics = async () => (await server.open.get('/metrics')).text;
    const waits = async () => /^cairn_subscribers 1$/m.test(await metrics());
    await eventually(waits, 'no long poll came');
    const { code, stderr, stdout } = await running.kill('SIGINT');
    assert.equal(code, 130);
    assert.match(stderr, /interrupted$/m);
    assert.equal(stdout, '');
  }
});

test('a stream called as a route is printed as it comes, until Ctrl-C', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const stream = cli.start('api', 'GET', `/v1/threads/${id}/events/stream`, '-i');
  await eventually(() => /^HTTP\/1\.1 200 OK\n.*\n\n.*id: 1\n/s.test(stream.stdout));
  await append(server, id, 'live');
  await eventually(() => stream.stdout.includes('"text":"live"'));
  const { code, stderr } = await stream.kill('SIGINT');
  assert.equal(code, 130);
  assert.match(stderr, /interrupted$/m);
  const nobody = '018f0000-0000-7000-8000-000000000000';
  const missing = await cli('api', 'GET', `/v1/threads/${nobody}/events/stream`);
  assert.equal(missing.code, 1);
  assert.equal(JSON.parse(missing.stdout).code, 'not_found');
});

test('a tail whose server was never there ends at once', async (t) => {
  const cli = newCli(t);
  const env = { CAIRN_URL: 'http://127.0.0.1:1' };
  for (const args of [['event', 'tail', '-f'], ['run', 'wait', 'x'], ['run', 'tail', '-f', 'x']])
    await cli.with({ env }).refused(1, /cannot connect to 127\.0\.0\.1:1: Connection refused; is/,
      ...args);
});

test('a key that is revoked ends its tail with 4, a deleted thread with 1', async (t) => {
  const server = await startServer(t);
  const open = newCli(t, server);
  const first = await open.json('key', 'create', '--name', 'x', '--scope', 'operator');
  const cli = open.with({ env: { CAIRN_API_KEY: first.secret } });
  const second = await cli.json('key', 'create', '--name', 'y', '--scope', 'events:read');
  const { id } = await cli.json('thread', 'create');
  const reader = cli.with({ env: { CAIRN_API_KEY: second.secret } });
  const revoked = reader.start('event', 'tail', '-f', id, '--jsonl');
  const deleted = cli.start('event', 'tail', '-f', id, '--jsonl');
  await hasLines(revoked, 1);
  await hasLines(deleted, 1);
  await cli.ok('key', 'revoke', second.id, '--yes');
  assert.equal((await revoked.ended).code, 4);
  await cli.ok('thread', 'delete', id, '--yes');
  const end = await deleted.ended;
  assert.equal(end.code, 1);
  assert.match(end.stderr, /\(404 not_found\)/);
});

test('a reader that has seen enough ends it quietly', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const events = Array.from({ length: 1000 }, () => ({ kind: 'progress', text: 'x'.repeat(100) }));
  for (let i = 0; i < 3; i++)
    expectStatus(await server.open.post(`/v1/threads/${id}/events`, { events }), 201);
  const line = `"${BINARY}" event list --all | head -1; echo "\${PIPESTATUS[0]}"`;
  const shell = spawn('bash', ['-c', line], {
    cwd: join(cli.home),
    env: { ...process.env, HOME: cli.home, CAIRN_URL: server.url },
  });
  let out = '';
  let err = '';
  shell.stdout.on('data', (bytes) => (out += bytes));
  shell.stderr.on('data', (bytes) => (err += bytes));
  await new Promise((done) => shell.on('close', done));
  assert.match(out, /^1\t.*\n141\n$/, 'ended by SIGPIPE');
  assert.equal(err, '');
  const full = `"${BINARY}" thread list > /dev/full`;
  const failed = spawn('bash', ['-c', full], { env: { ...process.env, CAIRN_URL: server.url } });
  let said = '';
  failed.stderr.on('data', (bytes) => (said += bytes));
  assert.equal(await new Promise((done) => failed.on('close', done)), 1);
  assert.equal(said, 'cairn thread list: the output could not be written\n');
});

/** Runs a line of bash in which $CAIRN is the binary: its code and what it said. */
async function inShell(cli, server, line) {
  const shell = spawn('bash', ['-c', line], {
    cwd: cli.home,
    env: { ...process.env, HOME: cli.home, CAIRN_URL: server?.url ?? '', CAIRN: BINARY },
    timeout: 180_000,
  });
  let stderr = '';
  shell.stderr.on('data', (bytes) => (stderr += bytes));
  return { code: await new Promise((done) => shell.on('close', done)), stderr };
}

test('a tail that cannot write ends, and its cursor stays before what was lost', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  await append(server, id, 'lost');
  for (const follow of ['', '-f']) {
    const line = `"$CAIRN" event tail ${follow} ${id} --after 1 --jsonl >/dev/full`;
    const { code, stderr } = await inShell(cli, server, line);
    assert.equal(code, 1);
    assert.equal(stderr, 'cairn event tail: the output could not be written\n' +
      'cursor: 1 (--after 1 continues from here)\n');
  }
  const stream = `"$CAIRN" api GET /v1/threads/${id}/events/stream >/dev/full`;
  assert.deepEqual(await inShell(cli, server, stream), {
    code: 1,
    stderr: 'cairn api: the output could not be written\n',
  });
});

test('help and version that cannot be written are failures', async (t) => {
  const cli = newCli(t);
  for (const words of ['--version', '--help', 'thread --help', 'thread list --help']) {
    const { code, stderr } = await inShell(cli, null, `"$CAIRN" ${words} >/dev/full`);
    assert.equal(code, 1, words);
    assert.match(stderr, /^cairn.*: the output could not be written\n$/, words);
  }
});

test('a descriptor that came closed is not taken for another', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  await cli.ok('thread', 'create');
  for (const closed of ['<&- >&-', '>&-', '<&- >&- 3>&-']) {
    const { code, stderr } = await inShell(cli, server, `"$CAIRN" thread list ${closed}`);
    assert.equal(code, 1, closed);
    assert.equal(stderr, 'cairn thread list: the output could not be written\n');
  }
  assert.equal((await inShell(cli, server, '"$CAIRN" thread list <&- >&- 2>&-')).code, 1);
  const body = await inShell(cli, server, '"$CAIRN" api POST /v1/threads --body-file - <&-');
  assert.equal(body.code, 1);
});

test('a wait gives up in time although the server hangs', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { run } = await startDirect(server, cli);
  const waits = async () => /^cairn_subscribers 1$/m.test((await server.open.get('/metrics')).text);
  // The long poll must come in its time: on a slow machine it gets more.
  for (let isFrozen = false, seconds = 3; !isFrozen; seconds *= 3) {
    const wait = cli.start('run', 'wait', run.id, '--timeout', `${seconds}`);
    let hasEnded = false;
    wait.ended.then(() => { hasEnded = true; });
    await eventually(async () => hasEnded || waits(), 'no long poll came');
    isFrozen = !hasEnded;
    if (isFrozen)
      server.freeze();
    const { code, stderr } = await wait.ended;
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`has not ended within ${seconds} seconds$`, 'm'));
  }
  await cli.refused(1, /the server did not answer in time$/m, 'run', 'wait', run.id, '--timeout',
    '1');
  server.thaw();
});
