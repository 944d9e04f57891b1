// SPDX-License-Identifier: Apache-2.0
// cairn participant, cairn share, and --as.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { startServer } from './lib/server.mjs';

test('participants are added, listed, changed and removed, and share links redeemed', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const { id: thread } = await cli.json('thread', 'create', '--title', 'shared');
  const alice = await cli.json('participant', 'add', thread, '--principal', 'user:alice',
    '--permission', 'read', '--name', 'Alice');
  assert.deepEqual([alice.name, alice.permission], ['Alice', 'read']);
  const changed = await cli.json('participant', 'update', thread, alice.id, '--status', 'here');
  assert.equal(changed.status, 'here');
  assert.equal((await cli.json('participant', 'update', thread, 'me', '--status', 'busy', '--as',
    'user:alice')).status, 'busy');
  await cli.refused(4, /permission read/, 'participant', 'update', thread, alice.id, '--as',
    'user:alice', '--permission', 'read_write');
  const rows = await cli.rows('participant', 'list', thread, '--active', 'true');
  assert.deepEqual(rows.map((row) => row.slice(1, 5)),
    [['user:alice', 'Alice', 'user', 'read']]);
  await cli.refused(1, /--yes is required/, 'participant', 'remove', thread, alice.id);
  assert.equal(
    (await cli.json('participant', 'remove', thread, alice.id, '--yes')).active, false);

  const share = await cli.json('share', 'create', thread, '--kind', 'participate',
    '--permission', 'read_write', '--max-redemptions', '2', '--label', 'team');
  const tokenFile = join(cli.home, 'token');
  writeFileSync(tokenFile, `${share.token}\n`);
  await cli.refused(2, /--token-file is required/, 'share', 'redeem', '--as', 'user:bob');
  const done = await cli.json('share', 'redeem', '--token-file', tokenFile, '--name', 'Bob', '--as',
    'user:bob');
  assert.deepEqual([done.thread_id, done.permission], [thread, 'read_write']);
  assert.equal((await cli.rows('thread', 'list', '--as', 'user:bob')).length, 1);
  assert.equal((await cli.rows('share', 'list', thread))[0][4], '1');
  assert.notEqual(
    (await cli.json('share', 'revoke', thread, share.id, '--yes')).revoked_at, null);
  assert.equal((await cli.rows('thread', 'list', '--as', 'user:bob')).length, 0);
  const key = await cli.json('key', 'create', '--name', 'first', '--scope', 'operator');
  assert.equal(key.principal, null);
});
