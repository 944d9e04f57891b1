// SPDX-License-Identifier: Apache-2.0
// Agents, state documents, configuration and storage from the command line.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { startServer } from './lib/server.mjs';

test('agents and what belongs to them', async (t) => {
  const server = await startServer(t);
  const cli = newCli(t, server);
  const agent = await cli.json('agent', 'create', '--name', 'planner', '--json');

  await t.test('an agent has versions and a team has members', async () => {
    const team = await cli.json('agent', 'create', '--name', 'team', '--kind', 'team',
      '--instructions', 'Work together', '--tools', '["search"]', '--json');
    assert.deepEqual([team.kind, team.version], ['team', '1.0.0']);
    const made = await cli.json('agent', 'create-version', team.id, '--bump', 'minor', '--llm',
      '{"temperature":1}', '--json');
    assert.equal(made.system_prompt.instructions, 'Work together');
    await cli('agent', 'update-version', team.id, '1.1.0', '--execution', '{"max_turns":2}');
    const active = await cli.json('agent', 'activate', team.id, 'latest', '--json');
    assert.equal(active.version, '1.1.0');
    assert.deepEqual((await cli.rows('agent', 'versions', team.id)).map((row) => row[0]),
      ['1.1.0', '1.0.0']);
    const shown = await cli.json('agent', 'version', team.id, 'active', '--json');
    assert.equal(shown.execution_config.max_turns, 2);
    const diff = await cli.json('agent', 'diff', team.id, '1.0.0', '1.1.0', '--json');
    assert.deepEqual(diff.fields.map((f) => f.field), ['llm_config', 'execution_config']);
    assert.equal((await cli.json('agent', 'rollback', team.id, '--json')).version, '1.0.0');
    await cli('agent', 'link', team.id, agent.id, '--role', 'lead', '--position', '2');
    assert.equal((await cli.rows('agent', 'links', team.id))[0][0], agent.id);
    const tree = await cli.json('agent', 'tree', team.id, '--json');
    assert.deepEqual(tree.children.map((c) => [c.name, c.role]), [['planner', 'lead']]);
    await cli('agent', 'unlink', team.id, agent.id, '--yes');
    await cli('agent', 'update', team.id, '--active', 'false');
    const off = await cli.json('agent', 'get', team.id, '--json');
    assert.equal(off.status, 'inactive');
  });

  await t.test('an agent is listed, shown, changed, configured', async () => {
    const [row] = await cli.rows('agent', 'list', '--name', 'planner');
    assert.equal(row[0], agent.id);
    await cli('agent', 'update', agent.id, '--description', 'plans', '--if-match', '1');
    const shown = await cli.json('agent', 'get', agent.id, '--json');
    assert.deepEqual([shown.description, shown.revision], ['plans', 2]);
    for (const bad of ['x', '0', '-1', '"0"', '""', '"x"'])
      await cli.refused(2, /version, new or \*/, 'agent', 'update', agent.id, '--if-match', bad);
    await cli.refused(2, /if-match/, 'agent', 'configure', agent.id, '--data', '{}');
    await cli('agent', 'configure', agent.id, '--data', '{"model":"m"}', '--if-match', 'new');
    const config = await cli.json('agent', 'config', agent.id, '--json');
    assert.deepEqual([config.data, config.version], [{ model: 'm' }, 1]);
    await cli.refused(1, /has version 1/, 'agent', 'configure', agent.id, '--data', '{}',
      '--if-match', 'new');
  });

  await t.test('a document of each owner is written, read and deleted', async () => {
    const thread = await cli.json('thread', 'create', '--json');
    const owners = [['--agent', agent.id], ['--thread', thread.id],
      ['--agent', agent.id, '--thread', thread.id]];
    for (const owner of owners) {
      const state = (verb, ...words) => cli.json('state', verb, ...words, ...owner, '--json');
      const made = await state('set', 'my notes', '--data', '{"n":1}', '--if-match', 'new');
      const has = (option, id) => (owner.includes(option) ? id : null);
      assert.deepEqual([made.agent_id, made.thread_id],
        [has('--agent', agent.id), has('--thread', thread.id)]);
      await state('set', 'my notes', '--data', '{"n":2}', '--if-match', '1');
      assert.deepEqual((await state('get', 'my notes')).data, { n: 2 });
      const rows = await cli.rows('state', 'history', 'my notes', ...owner);
      assert.deepEqual(rows.map((r) => r[0]), ['2', '1']);
      assert.deepEqual((await cli.rows('state', 'list', ...owner)).map((r) => r[0]), ['my notes']);
      assert.equal((await cli('state', 'focus', 'my notes', ...owner)).code, 0);
      await cli.refused(1, /must be the object's ETag: "2"/, 'state', 'delete', 'my notes', '--yes',
        '--if-match', '1', ...owner);
      assert.equal(
        (await cli('state', 'delete', 'my notes', '--yes', '--if-match', '2', ...owner)).code, 0);
    }
    await cli.refused(2, /--thread or --agent is required/, 'state', 'list');
  });

  await t.test('the store is put into, searched, listed and deleted from', async () => {
    const put = ['store', 'put', 'users.42'];
    assert.equal((await cli(...put, 'food', '--value', '{"text":"likes pizza","n":1}')).code, 0);
    assert.equal((await cli(...put, 'drink', '--value', '{"text":"likes tea","n":2}', '--ttl', '60',
      '--if-match', 'new')).code, 0);
    await cli.refused(1, /has version 1/, ...put, 'food', '--value', '{}', '--if-match', 'new');
    await cli.refused(1, /label of 1/, 'store', 'put', 'a..b', 'k', '--value', '{}');
    assert.match((await cli('store', 'get', 'users.42', 'food', '--json')).stdout, /likes pizza/);
    const keys = async (...words) => (await cli.rows(...words)).map((r) => r[1]);
    assert.deepEqual(await keys('store', 'list', 'users'), ['drink', 'food']);
    assert.deepEqual(await keys('store', 'list', '--limit', '1'), ['drink']);
    assert.deepEqual(await keys('store', 'list', '--filter', '{"n":{"$lt":2}}'), ['food']);
    const found = await cli.rows('store', 'search', 'users', '-q', 'pizza or tea', '--all');
    assert.deepEqual(found.map((r) => r[2]).sort(), ['drink', 'food']);
    assert.deepEqual(await cli.rows('store', 'namespaces', '*', '--suffix', '42'),
      [['["users","42"]']]);
    assert.deepEqual(await cli.rows('store', 'namespaces', '--max-depth', '1'), [['["users"]']]);
    assert.equal((await cli.json('store', 'delete', 'users.42', 'food', '--dry-run')).key, 'food');
    assert.equal((await cli('store', 'delete', 'users.42', 'food', '--yes')).code, 0);
    await cli.refused(1, /key does not exist/, 'store', 'get', 'users.42', 'food');
  });

  await t.test('what is stored comes back as it is', async () => {
    assert.equal((await cli('storage', 'set', agent.id, 'a/b', '--value', '[1.0]')).code, 0);
    assert.equal((await cli('storage', 'get', agent.id, 'a/b')).stdout, '[1.0]');
    const file = join(server.dataDir, 'note.txt');
    writeFileSync(file, 'plain\n');
    await cli('storage', 'set', agent.id, 'note', '--file', file, '--type', 'text/plain',
      '--if-match', 'new');
    assert.equal((await cli('storage', 'get', agent.id, 'note')).stdout, 'plain\n');
    const rows = await cli.rows('storage', 'list', agent.id, '--prefix', 'n');
    assert.deepEqual(rows.map((r) => r.slice(0, 2)), [['note', 'text/plain']]);
    await cli.refused(2, /either --value or --file/, 'storage', 'set', agent.id, 'x');
    assert.equal((await cli('storage', 'delete', agent.id, 'note', '--yes')).code, 0);
    await cli.refused(1, /no stored value/, 'storage', 'get', agent.id, 'note');
    assert.equal((await cli('agent', 'delete', agent.id, '--yes')).code, 0);
  });
});
