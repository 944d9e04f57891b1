// SPDX-License-Identifier: Apache-2.0
// The command line of cairn serve: what it refuses, it names.
import assert from 'node:assert/strict';
import test from 'node:test';
import { runCairn } from './lib/server.mjs';

/** Ends at once: what it is given is refused. */
const serve = (args, env = {}) => runCairn(['serve', ...args], { env });

const URL_RULE = 'must be a URL that begins with postgres:// or postgresql://';
const SCHEMA_RULE = 'must be a lower-case letter or _, then up to 62 of a-z, 0-9 and _';

test('a bad option is refused with its name and its rule', async () => {
  const bad = [
    [['--db', 'mysql://localhost/cairn'], '--db', URL_RULE],
    [['--db', 'host=localhost'], '--db', URL_RULE],
    [['--db', ''], '--db', URL_RULE],
    [['--db-replica', 'localhost'], '--db-replica', URL_RULE],
    [['--db-replica', 'postgres://localhost/x'], '--db-replica', 'requires --db'],
    [['--db-schema', ''], '--db-schema', SCHEMA_RULE],
    [['--db-schema', '1a'], '--db-schema', SCHEMA_RULE],
    [['--db-schema', 'Cairn'], '--db-schema', SCHEMA_RULE],
    [['--db-schema', 'a"b'], '--db-schema', SCHEMA_RULE],
    [['--db-schema', 'a-b'], '--db-schema', SCHEMA_RULE],
    [['--db-schema', 'a'.repeat(64)], '--db-schema', SCHEMA_RULE],
    [['--db-writers', '0'], '--db-writers', 'must be 1 to 64'],
    [['--db-writers', 'many'], '--db-writers', 'must be 1 to 64'],
    [['--readers', '65'], '--readers', 'must be 1 to 64'],
    [['--tls-cert', 'x'], '--tls-cert', 'and --tls-key require each other'],
    [['--nothing', 'x'], '--nothing', 'is not an option'],
    [['--data'], '--data', 'needs a value'],
  ];
  for (const [args, option, rule] of bad) {
    const { code, stderr } = await serve(args);
    assert.equal(code, 2, args.join(' '));
    assert.equal(stderr, `cairn serve: ${option} ${rule}; see cairn serve --help\n`);
  }
});

test('CAIRN_DB stands for --db, and what is wrong with it is told without it', async () => {
  const { code, stderr } = await serve([], { CAIRN_DB: 'mysql://user:hush-hush@localhost/cairn' });
  assert.equal(code, 2);
  assert.equal(stderr, `cairn serve: CAIRN_DB ${URL_RULE}; see cairn serve --help\n`);
});

test('the help names every option, and that it was asked for is no failure', async () => {
  const { code, stdout } = await serve(['--help']);
  assert.equal(code, 0);
  for (const name of ['--data', '--db ', '--db-schema', '--db-replica', '--db-writers', 'CAIRN_DB'])
    assert.ok(stdout.includes(name), name);
});

test('a database that cannot be reached is told without its password', async () => {
  const url = 'postgres://user:hush-hush@127.0.0.1:1/cairn?connect_timeout=2';
  for (const [args, env] of [
    [['--db', url], {}],
    [[], { CAIRN_DB: url }],
  ]) {
    const { code, stdout, stderr } = await serve(['--listen', '127.0.0.1:0', ...args], env);
    assert.equal(code, 1);
    assert.match(stderr, /^cairn: ./m);
    assert.ok(!(stdout + stderr).includes('hush-hush'), stderr);
  }
});
