// SPDX-License-Identifier: Apache-2.0
// cairn file: bytes go through files and pipes, whole and unchanged.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { startServer } from './lib/server.mjs';

test('files on the command line', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const thread = (await cli.json('thread', 'create', '--json')).id;
  const other = (await cli.json('thread', 'create', '--json')).id;
  const at = (name) => join(cli.home, name);

  await t.test('put and get keep every byte, from a file and from a pipe', async () => {
    const bytes = randomBytes(1_500_000);
    writeFileSync(at('big.bin'), bytes);
    const put = await cli.json('file', 'put', thread, 'big.bin', '--json');
    assert.deepEqual([put.version, put.size_bytes, put.sha256],
      [1, bytes.length, createHash('sha256').update(bytes).digest('hex')]);
    await cli.ok('file', 'get', thread, 'big.bin', 'copy.bin');
    assert.ok(readFileSync(at('copy.bin')).equals(bytes));
    assert.ok(!existsSync(at('copy.bin.part')));
    await cli.refused(1, /exists; --yes/, 'file', 'get', thread, 'big.bin', 'copy.bin');
    await cli.ok('file', 'get', thread, 'big.bin', 'copy.bin', '--yes');
    const piped = await cli.with({ input: 'from a pipe\n' })
      .json('file', 'put', thread, '-', 'a b/ü.txt', '--json');
    assert.deepEqual([piped.name, piped.content_type], ['a b/ü.txt', 'text/plain']);
    assert.equal((await cli.ok('file', 'get', thread, 'a b/ü.txt')).stdout, 'from a pipe\n');
    writeFileSync(at('empty'), '');
    assert.equal((await cli.json('file', 'put', thread, 'empty', '--json')).size_bytes, 0);
  });

  await t.test('conditions, versions, differences, restore, copy, delete', async () => {
    for (const text of ['one\ntwo\n', 'one\n2\n'])
      await cli.with({ input: text }).ok('file', 'put', thread, '-', 'notes.txt');
    const put = cli.with({ input: 'x' });
    await put.refused(1, /"2"/, 'file', 'put', thread, '-', 'notes.txt', '--if-version', '1');
    await put.refused(1, /new file/, 'file', 'put', thread, '-', 'notes.txt', '--new');
    const diff = await cli.ok('file', 'diff', thread, 'notes.txt');
    assert.match(diff.stdout, /^--- notes.txt\tversion 1\n\+\+\+ notes.txt\tversion 2\n@@ /);
    assert.match(diff.stdout, /\n-two\n\+2\n$/);
    assert.equal((await cli.json('file', 'diff', thread, 'notes.txt', '--json')).added, 1);
    const back = await cli.json('file', 'restore', thread, 'notes.txt', '--version', '1', '--json');
    assert.equal(back.version, 3);
    assert.deepEqual(
      (await cli.rows('file', 'versions', thread, 'notes.txt')).map((row) => row[0]),
      ['3', '2', '1']);
    assert.equal((await cli.ok('file', 'get', thread, 'notes.txt', '--version', '2')).stdout,
      'one\n2\n');
    const copied = await cli.json('file', 'copy', thread, 'notes.txt', '--to', other, '--history',
      '--json');
    assert.deepEqual([copied.thread_id, copied.version], [other, 3]);
    assert.equal((await cli.json('file', 'info', other, 'notes.txt', '--json')).version, 3);
    await cli.ok('file', 'delete-version', other, 'notes.txt', '3', '--yes');
    await cli.ok('file', 'delete', other, 'notes.txt', '--yes');
    assert.deepEqual(await cli.jsonl('file', 'list', other, '--jsonl'), []);
    const names = (await cli.jsonl('file', 'list', thread, '--prefix', 'n', '--jsonl'))
      .map((file) => file.name);
    assert.deepEqual(names, ['notes.txt']);
  });

  await t.test('what cannot be done is told, and leaves nothing behind', async () => {
    await cli.refused(1, /no file/, 'file', 'get', thread, 'none', 'none.out');
    assert.ok(!existsSync(at('none.out')) && !existsSync(at('none.out.part')));
    await cli.refused(1, /cannot read/, 'file', 'put', thread, 'missing');
    await cli.refused(2, /NAME is required/, 'file', 'put', thread, '-');
    await cli.refused(1, /directory/, 'file', 'put', thread, '.', 'x');
  });
});
