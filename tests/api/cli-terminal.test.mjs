// SPDX-License-Identifier: Apache-2.0
// Output on a terminal: tables that fit, times from now, colours, questions. Each test has a real
// terminal (a pseudo-terminal of script(1)).
import assert from 'node:assert/strict';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { expectStatus, startServer } from './lib/server.mjs';

const PLAIN = /\x1b\[\d+m/g;
const lines = (screen) => screen.replaceAll(PLAIN, '').split('\n').filter((line) => line !== '');
/** Columns of a line whose only wide characters are CJK. */
const widthOf = (line) => [...line].reduce((n, c) => n + (c >= '\u1100' && c !== '…' ? 2 : 1), 0);

test('a table has titles, fits the width, and tells times from now', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const title = 'A rather long title that will not fit on a narrow screen 世界世界世界世界';
  const made = await cli.json('thread', 'create', '--title', title, '--agent', 'pilot');
  await cli.json('thread', 'create', '--title', 'Short');
  for (const columns of [60, 80, 100, 200]) {
    const { screen, code } = await cli.terminal({ columns }, 'thread', 'list');
    assert.equal(code, 0);
    const [titles, ...rows] = lines(screen);
    assert.match(titles, /^ID +STATUS +TITLE +AGENT +EVENTS +UPDATED$/);
    assert.equal(rows.length, 2);
    for (const line of [titles, ...rows]) assert.ok(widthOf(line) <= columns, line);
    assert.match(rows[1], /(just now|\d+ s ago)$/);
    if (columns >= 80) assert.ok(rows[1].startsWith(`${made.id}  active  A `), rows[1]);
    assert.equal(rows[1].includes(title), columns === 200);
    assert.equal(rows[1].includes('…'), columns < 200);
    assert.match(rows[0], /  -  /, 'a missing agent is a dash');
  }
});

test('one thread is shown as pairs, with both forms of its times', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const made = await cli.json('thread', 'create', '--title', 'x');
  const { screen } = await cli.terminal({}, 'thread', 'get', made.id);
  const shown = lines(screen);
  assert.match(shown[0], new RegExp(`^ID +${made.id}$`));
  const created = new RegExp(`^CREATED +\\S.* {2}${made.created_at}$`, 'm');
  assert.match(screen.replaceAll(PLAIN, ''), created);
  const json = await cli.terminal({}, 'thread', 'get', made.id, '--json');
  assert.match(json.screen, /^\{\n {2}"id": ".*",\n/);
  assert.deepEqual(JSON.parse(json.screen), made);
  const list = await cli.terminal({}, 'thread', 'list', '--json');
  assert.equal(JSON.parse(list.screen).data[0].id, made.id);
  const api = await cli.terminal({}, 'api', 'GET', `/v1/threads/${made.id}`);
  assert.deepEqual(JSON.parse(api.screen), made);
});

test('colours are for terminals, unless told otherwise', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  await cli.json('thread', 'create');
  const coloured = async (env, ...args) =>
    (await cli.with({ env }).terminal({}, 'thread', 'list', ...args)).screen.includes('\x1b[');
  assert.equal(await coloured({}), true);
  assert.equal(await coloured({}, '--color', 'never'), false);
  assert.equal(await coloured({ NO_COLOR: '1' }), false);
  assert.equal(await coloured({ NO_COLOR: '1' }, '--color=always'), true);
  assert.equal(await coloured({ TERM: 'dumb' }), false);
  const piped = await cli.ok('thread', 'list');
  assert.ok(!piped.stdout.includes('\x1b'));
});

test('what comes from elsewhere cannot drive the terminal', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server).with({ env: { NO_COLOR: '1' } });
  const text = '\x1b[2J\x1b]0;owned\x07 \u009b31m \u202egnp.exe \x7f';
  const thread = expectStatus(await server.open.post('/v1/threads', { title: text }), 201);
  const path = `/v1/threads/${thread.id}/events`;
  expectStatus(await server.open.post(path, { kind: 'progress', text }), 201);
  for (const args of [
    ['thread', 'list'],
    ['thread', 'get', thread.id],
    ['thread', 'get', thread.id, '--json'],
    ['thread', 'list', '--jsonl'],
    ['event', 'list', thread.id],
    ['event', 'tail', thread.id],
    ['event', 'tail', thread.id, '--jsonl'],
  ]) {
    const { screen } = await cli.terminal({ columns: 300 }, ...args);
    assert.doesNotMatch(screen, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/, args.join(' '));
    assert.ok(screen.includes('owned'), screen);
  }
  const [row] = await cli.rows('thread', 'list');
  assert.equal(row[2], '\\e[2J\\e]0;owned\\u0007 \\u009b31m \\u202egnp.exe \\u007f');
  assert.equal((await cli.json('thread', 'get', thread.id)).title, text);
});

test('before something is destroyed, a terminal is asked', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  const there = async () => (await server.open.get(`/v1/threads/${id}`)).status === 200;
  for (const type of ['n\n', '\n', 'nonsense that is longer than any answer\n']) {
    const no = await cli.terminal({ type }, 'thread', 'delete', id);
    // Text typed ahead may be echoed in the middle of the question.
    assert.match(no.screen, /Delete the thread, its runs and its events\?[^]*\[y\/N\] /);
    assert.match(no.screen, /nothing was changed/);
    assert.equal(no.code, 1);
    assert.ok(await there());
  }
  const dry = await cli.terminal({}, 'thread', 'delete', id, '--dry-run');
  assert.doesNotMatch(dry.screen, /\[y\/N\]/);
  assert.ok(await there());
  const yes = await cli.terminal({ type: 'y\n' }, 'thread', 'delete', id);
  assert.match(yes.screen, /The thread is deleted\./);
  assert.equal(yes.code, 0);
  assert.ok(!(await there()));
});

test('a list that was cut says so', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  for (let i = 0; i < 3; i++) await cli.json('thread', 'create');
  const cut = await cli.terminal({}, 'thread', 'list', '--limit', '2');
  assert.match(cut.screen, /There are more: use --limit N or --all\./);
  const whole = await cli.terminal({}, 'thread', 'list', '--limit', '3');
  assert.doesNotMatch(whole.screen, /There are more/);
});

test('events on a terminal are a line each', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id } = await cli.json('thread', 'create');
  await cli.ok('event', 'append', id, '--kind', 'progress', '--text', 'x'.repeat(200));
  await cli.ok('event', 'append', id, '--kind', 'a.b', '--payload', '{"a":1}');
  const shown = lines((await cli.terminal({ columns: 80 }, 'event', 'tail', id)).screen);
  assert.match(shown[1], /^ +2 {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}progress {2}x+…$/);
  assert.equal([...shown[1]].length, 80);
  assert.match(shown[2], /Z {2}a\.b {7}\{"a":1\}$/);
  assert.equal(shown[3], 'cursor: 3 (--after 3 continues from here)');
});
