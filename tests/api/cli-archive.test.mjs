// SPDX-License-Identifier: Apache-2.0
// cairn export and cairn import.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { ids, unpack } from './lib/archive.mjs';
import { expectStatus, startServer, twoTenants, uuid } from './lib/server.mjs';

test('an archive goes through files and pipes', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = expectStatus(await alice.post('/v1/threads', { title: 'one' }), 201).id;
  const agent = expectStatus(await alice.post('/v1/agents', { name: 'helper' }), 201).id;
  const cli = newCli(t, server);
  const as = (client) => cli.with({ env: { CAIRN_API_KEY: client.secret } });
  const place = mkdtempSync(join(tmpdir(), 'cairn-archive-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const file = join(place, 'one.tar');
  const succeed = async (...args) => {
    const end = await as(alice)(...args);
    assert.equal(end.code, 0, end.stderr);
    return end;
  };

  await t.test('to a file that has its name when it is complete', async () => {
    const end = await succeed('export', 'thread', thread, '-o', file);
    assert.equal(end.stdout, '');
    assert.ok(!existsSync(`${file}.partial`));
    assert.equal(statSync(file).mode & 0o077, 0);
    const archive = readFileSync(file);
    assert.ok(archive.equals((await alice.get(`/v1/threads/${thread}/export`)).bytes));
  });

  await t.test('which it replaces only when told to', async () => {
    await as(alice).refused(1, /exists; --yes/, 'export', 'agent', agent, '-o', file);
    await succeed('export', 'agent', agent, '-o', file, '--yes');
    assert.equal(JSON.parse(unpack(readFileSync(file)).get('cairn.json')).what, 'agent');
  });

  await t.test('and into another tenant', async () => {
    const verdict = await as(bob).json('import', file, '--dry-run');
    assert.deepEqual([verdict.dry_run, verdict.counts.agents], [true, 1]);
    const made = await as(bob).json('import', file, '--ids', 'remap');
    assert.equal(made.objects[0].from, agent);
    expectStatus(await bob.get(`/v1/agents/${made.objects[0].to}`), 200);
    await as(bob).refused(1, /has the same name as/, 'import', file, '--ids', 'remap');
    const renamed = await as(bob).json('import', file, '--ids', 'remap', '--names', 'rename');
    assert.match(renamed.objects[0].renamed_to, / \(2\)$/);
    expectStatus(await bob.del(`/v1/agents/${renamed.objects[0].to}`), 204);
    await as(bob).refused(2, /--names is for archives/, 'import', '.', '--layout', 'files',
      '--names', 'rename');
    expectStatus(await bob.del(`/v1/agents/${made.objects[0].to}`), 204);
  });

  await t.test('by a pipe', async () => {
    const end = await succeed('export', 'tenant');
    const made = await as(bob).with({ input: end.stdout }).json('import', '-', '--ids', 'keep');
    assert.equal(made.what, 'tenant');
    assert.equal(made.counts.threads, 1);
    assert.equal(
      ids((await bob.get(`/v1/threads/${thread}`)).text),
      ids((await alice.get(`/v1/threads/${thread}`)).text),
    );
  });

  await t.test('unless something is wrong, which it says', async () => {
    await as(alice).refused(1, /no such|not_found|does not exist/i, 'export', 'thread', uuid());
    const missing = `${file}.none`;
    await as(bob).refused(1, /cannot read .*No such file/, 'import', missing);
    writeFileSync(file, 'hello '.repeat(1000));
    await as(bob).refused(1, /POSIX ustar/, 'import', file);
    const nowhere = ['export', 'thread', thread, '-o', '/nowhere/x.tar'];
    await as(alice).refused(1, /cannot write/, ...nowhere);
    await as(bob).refused(2, /MODE|keep/, 'import', file, '--ids', 'lose');
  });
});
