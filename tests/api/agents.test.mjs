// SPDX-License-Identifier: Apache-2.0
// Agents: create, read, list, patch, delete; names, pages; definitions, versions, links.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, uuid } from
  './lib/server.mjs';

const make = async (client, body) => expectStatus(await client.post('/v1/agents', body), 201);

test('agents', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('an agent has every member from the start, and is read back the same', async () => {
    const answer = await open.post('/v1/agents', { name: 'planner' });
    const { id, created_at: created, updated_at: updated, ...rest } = expectStatus(answer, 201);
    assert.deepEqual(rest, { name: 'planner', kind: 'agent', version: '1.0.0', status: 'created',
      is_active: true, description: null, metadata: {}, granted_to: null, revision: 1 });
    assert.equal(updated, created);
    assert.equal(answer.headers.get('ETag'), '"1"');
    assert.deepEqual(expectStatus(await open.get(`/v1/agents/${id}`), 200), answer.body);
    const same = await open.get(`/v1/agents/${id}`, { headers: { 'If-None-Match': '"1"' } });
    assert.equal(same.status, 304);
  });

  await t.test('a name is given once', async () => {
    const { id } = await make(open, { name: 'once' });
    const again = await open.post('/v1/agents', { name: 'once' });
    expectProblem(again, 409, 'conflict');
    assert.match(again.body.detail, /an agent with the name "once" already exists/);
    const other = await make(open, { name: 'twice' });
    expectProblem(await open.patch(`/v1/agents/${other.id}`, { name: 'once' }), 409, 'conflict');
    expectStatus(await open.patch(`/v1/agents/${id}`, { name: 'first' }), 200);
    expectStatus(await open.patch(`/v1/agents/${other.id}`, { name: 'once' }), 200);
  });

  await t.test('a patch changes what it names, once for a version', async () => {
    const made = await make(open, { name: 'patched', metadata: { a: 1, b: 2 } });
    const match = { headers: { 'If-Match': '"1"' } };
    const body = { description: 'plans', metadata: { a: null } };
    const after = expectStatus(await open.patch(`/v1/agents/${made.id}`, body, match), 200);
    assert.deepEqual([after.description, after.metadata, after.revision], ['plans', { b: 2 }, 2]);
    const stale = await open.patch(`/v1/agents/${made.id}`, body, match);
    expectProblem(stale, 412, 'stale_etag');
  });

  await t.test('bad input is refused with the field and the rule', async () => {
    for (const [body, pointer, rule] of [
      [{}, '/name', /must be given|missing|required/],
      [{ name: '' }, '/name', /1/],
      [{ name: 'x'.repeat(201) }, '/name', /200/],
      [{ name: 'x', metadata: [] }, '/metadata', /object/],
      [{ name: 'x', version: 2 }, '/version', /./],
    ])
      expectFault(await open.post('/v1/agents', body), 422, 'invalid_input', pointer, rule);
    const { id } = await make(open, { name: 'kept' });
    const nameless = await open.patch(`/v1/agents/${id}`, { name: null });
    expectFault(nameless, 422, 'invalid_input', '/name');
    assert.equal(expectStatus(await open.get(`/v1/agents/${id}`), 200).name, 'kept');
  });

  await t.test('they are listed newest first, in pages, and found by name', async () => {
    const all = [];
    for (let query = '', more = true; more;) {
      const page = expectStatus(await open.get(`/v1/agents?limit=2${query}`), 200);
      all.push(...page.data);
      more = page.has_more;
      query = `&cursor=${page.next_cursor}`;
    }
    assert.ok(all.length >= 5);
    assert.deepEqual(all.map((a) => a.id), all.map((a) => a.id).sort().reverse());
    const found = expectStatus(await open.get('/v1/agents?name=planner'), 200);
    assert.deepEqual(found.data.map((a) => a.name), ['planner']);
    expectProblem(await open.get('/v1/agents?cursor=x'), 400, 'invalid_cursor');
  });

  await t.test('a deleted one is gone, its name is free, and the audit log tells', async () => {
    const { id } = await make(open, { name: 'short-lived' });
    expectProblem(await open.del(`/v1/agents/${id}`, { headers: { 'If-Match': '"7"' } }), 412,
      'stale_etag');
    expectStatus(await open.del(`/v1/agents/${id}`), 204);
    expectProblem(await open.get(`/v1/agents/${id}`), 404, 'not_found');
    expectProblem(await open.del(`/v1/agents/${id}`), 404, 'not_found');
    await make(open, { name: 'short-lived' });
    const log = expectStatus(await open.get(`/v1/audit?object_id=${id}`), 200);
    assert.deepEqual(log.data.map((r) => r.action), ['agent.deleted', 'agent.created']);
    expectProblem(await open.get(`/v1/agents/${uuid()}`), 404, 'not_found');
  });
});

const GRAPH = {
  entry_point: 'plan',
  nodes: [{ name: 'plan', type: 'llm' }, { name: 'search', type: 'tool', config: { k: 1 } },
    { name: 'ask', type: 'human' }],
  edges: [{ from: 'plan', to: ['search', 'ask'], condition: 'state.score < 0.5 and not done' },
    { from: 'search', to: 'plan' }],
};
const DEFINITION = {
  system_prompt: { role: 'a planner', instructions: 'Plan.', examples: [{ input: 'a' }, 'b'] },
  workflow_graph: GRAPH,
  memory_config: { short_term: { max_tokens: 4000, strategy: 'hybrid' },
    long_term: { enabled: true, embedding_model: 'text-embedding-3-small' },
    procedural: { enabled: true, min_frequency: 3 } },
  guardrail_config: { input_rails: [{ type: 'pii', config: {} }, { type: 'injection' }],
    output_rails: [{ type: 'format', config: { strict: true } }],
    tool_rails: { max_calls_per_turn: 4, allowed_tools: ['search'] } },
  llm_config: { default_model: 'gpt-4o-mini', fallback_model: 'claude-3-haiku', temperature: 0.7,
    max_tokens: 1000 },
  execution_config: { max_turns: 9, checkpoint_frequency: 'on_change' },
  tools: ['search', { tool: 'shell', config_overrides: { cwd: '/' }, is_enabled: false }],
};

test('definitions of agents', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('a definition is kept whole, and what it leaves out is filled in', async () => {
    const made = await make(open, { name: 'flow', kind: 'workflow', ...DEFINITION });
    assert.deepEqual([made.kind, made.version, made.status], ['workflow', '1.0.0', 'created']);
    const answer = await open.get(`/v1/agents/${made.id}/versions/1.0.0`);
    const { agent_id: agent, version, used_at: used, is_active: active, ...v } =
      expectStatus(answer, 200);
    assert.deepEqual([agent, version, used, active], [made.id, '1.0.0', null, true]);
    assert.deepEqual(v.system_prompt, DEFINITION.system_prompt);
    assert.deepEqual(v.workflow_graph.nodes[0], { name: 'plan', type: 'llm', config: {} });
    assert.deepEqual(v.workflow_graph.edges[1], { from: 'search', to: 'plan', condition: null });
    assert.equal(v.memory_config.long_term.top_k, 5);
    assert.deepEqual(v.guardrail_config.input_rails[1], { type: 'injection', config: {} });
    assert.deepEqual(v.llm_config, DEFINITION.llm_config);
    assert.deepEqual(v.execution_config,
      { max_turns: 9, timeout_seconds: 60, checkpoint_frequency: 'on_change' });
    assert.deepEqual(v.tools, [{ tool: 'search', config_overrides: {}, is_enabled: true },
      DEFINITION.tools[1]]);
    assert.equal(answer.headers.get('ETag'), '"1"');
    for (const alias of ['active', 'latest'])
      assert.deepEqual(
        expectStatus(await open.get(`/v1/agents/${made.id}/versions/${alias}`), 200), answer.body);
  });

  await t.test('text is the instructions of a system prompt', async () => {
    const { id } = await make(open, { name: 'brief', system_prompt: 'Be brief' });
    const v = expectStatus(await open.get(`/v1/agents/${id}/versions/active`), 200);
    assert.deepEqual(v.system_prompt, { role: null, instructions: 'Be brief', examples: [] });
    assert.equal(v.workflow_graph, null);
  });

  await t.test('what breaks a rule is refused with its place, and nothing is made', async () => {
    const graph = (change) => ({ workflow_graph: { ...GRAPH, ...change } });
    for (const [body, pointer, rule] of [
      [{ kind: 'robot' }, '/kind', /"agent", "team", "workflow"/],
      [{ kind: 'workflow' }, '/workflow_graph', /must be given/],
      [{ system_prompt: 5 }, '/system_prompt', /object or a string/],
      [{ system_prompt: { rôle: '' } }, '/system_prompt/rôle', /not a member/],
      [{ system_prompt: { examples: [1] } }, '/system_prompt/examples/0', /object or a string/],
      [{ memory_config: { short_term: { strategy: 'lifo' } } },
        '/memory_config/short_term/strategy', /"fifo", "summarize", "hybrid"/],
      [{ memory_config: { short_term: { max_tokens: 0 } } },
        '/memory_config/short_term/max_tokens', /at least 1/],
      [{ memory_config: { long_term: { top_k: 1.5 } } }, '/memory_config/long_term/top_k',
        /integer/],
      [{ memory_config: { medium: {} } }, '/memory_config/medium', /not a member/],
      [{ guardrail_config: { input_rails: [{ type: 'toxicity' }] } },
        '/guardrail_config/input_rails/0/type', /"pii", "injection", "topic"/],
      [{ guardrail_config: { output_rails: [{ config: {} }] } },
        '/guardrail_config/output_rails/0/type', /must be given/],
      [{ guardrail_config: { tool_rails: { allowed_tools: 'none' } } },
        '/guardrail_config/tool_rails/allowed_tools', /"all" or a list/],
      [{ llm_config: { temperature: 2.01 } }, '/llm_config/temperature', /from 0 to 2/],
      [{ llm_config: { temperature: '1' } }, '/llm_config/temperature', /from 0 to 2/],
      [{ execution_config: { checkpoint_frequency: 'never' } },
        '/execution_config/checkpoint_frequency', /"every_turn", "on_change", "manual"/],
      [{ execution_config: { timeout_seconds: -1 } }, '/execution_config/timeout_seconds', /1/],
      [{ tools: ['a', { tool: 'a' }] }, '/tools/1', /bound more than once/],
      [{ tools: [{ name: 'a' }] }, '/tools/0/name', /not a member/],
      [graph({ entry_point: 'x' }), '/workflow_graph/entry_point', /name of a node of the graph/],
      [graph({ nodes: [...GRAPH.nodes, GRAPH.nodes[0]] }), '/workflow_graph/nodes/3/name',
        /names of the other nodes: "plan"/],
      [graph({ nodes: [...GRAPH.nodes, { name: 'far', type: 'router' }] }),
        '/workflow_graph/nodes/3', /must be reachable from the entry point "plan": "far"/],
      [graph({ nodes: [{ name: 'plan', type: 'magic' }] }), '/workflow_graph/nodes/0/type',
        /"llm", "tool", "router", "human"/],
      [graph({ edges: [{ from: 'plan', to: ['search', 'ask', 'x'] }] }),
        '/workflow_graph/edges/0/to/2', /a node of the graph, not "x"/],
      [graph({ edges: [{ from: 'x', to: 'plan' }] }), '/workflow_graph/edges/0/from',
        /a node of the graph/],
      [graph({ edges: [{ ...GRAPH.edges[0], condition: 'a == ' }] }),
        '/workflow_graph/edges/0/condition', /at byte 5, a value is missing/],
    ])
      expectFault(await open.post('/v1/agents', { name: 'bad', ...body }), 422, 'invalid_input',
        pointer, rule);
    assert.deepEqual(expectStatus(await open.get('/v1/agents?name=bad'), 200).data, []);
  });

  await t.test('a version is made of the newest, changed, and compared', async () => {
    const { id } = await make(open, { name: 'versioned', ...DEFINITION });
    const path = `/v1/agents/${id}/versions`;
    const next = expectStatus(await open.post(`/v1/agents/${id}/versions`,
      { bump: 'minor', description: 'no graph', workflow_graph: null, tools: ['search'] }), 201);
    assert.deepEqual([next.version, next.number, next.is_active, next.description],
      ['1.1.0', 2, false, 'no graph']);
    assert.deepEqual([next.workflow_graph, next.system_prompt],
      [null, DEFINITION.system_prompt]);
    const patched = expectStatus(await open.patch(`/v1/agents/${id}/versions/${next.version}`,
      { execution_config: { max_turns: 3 }, description: null },
      { headers: { 'If-Match': '"1"' } }), 200);
    assert.deepEqual([patched.revision, patched.execution_config.max_turns,
      patched.execution_config.checkpoint_frequency, patched.description],
    [2, 3, 'on_change', null]);
    expectProblem(await open.patch(`${path}/1.1.0`, {}, { headers: { 'If-Match': '"1"' } }), 412,
      'stale_etag');
    const bad = await open.patch(`${path}/1.1.0`, { llm_config: { temperature: 3 } });
    expectFault(bad, 422, 'invalid_input', '/llm_config/temperature');
    const diff = expectStatus(
      await open.get(`/v1/agents/${id}/versions/${'1.0.0'}/diff/${next.version}`), 200);
    assert.deepEqual(diff.fields.map((f) => [f.field, f.change]),
      [['workflow_graph', 'removed'], ['execution_config', 'changed'], ['tools', 'changed']]);
    assert.deepEqual(diff.patch[1],
      { op: 'replace', path: '/execution_config/max_turns', value: 3 });
    for (const [body, pointer] of [[{ version: '1.1.0' }, '/version'], [{}, '/version'],
      [{ version: '2', bump: 'major' }, '/version'], [{ bump: 'huge' }, '/bump']])
      expectFault(await open.post(path, body), 422, 'invalid_input', pointer);
    expectProblem(await open.get(`${path}/7.0.0`), 404, 'not_found');
    const list = expectStatus(await open.get(`/v1/agents/${id}/versions?limit=1`), 200);
    assert.deepEqual([list.data.map((v) => v.version), list.has_more], [['1.1.0'], true]);
    assert.equal('system_prompt' in list.data[0], false);
    const rest = expectStatus(await open.get(`${path}?cursor=${list.next_cursor}`), 200);
    assert.deepEqual([rest.data.map((v) => v.version), rest.has_more], [['1.0.0'], false]);
  });

  await t.test('a version is activated and rolled back, and the audit log tells', async () => {
    const { id } = await make(open, { name: 'released' });
    expectProblem(await open.post(`/v1/agents/${id}/rollback`), 409, 'conflict');
    const version = '2.0.0-rc.1';
    expectStatus(await open.post(`/v1/agents/${id}/versions`, { version }), 201);
    const after = await open.post(`/v1/agents/${id}/versions/${version}/activate`);
    assert.deepEqual([expectStatus(after, 200).version, after.headers.get('ETag')],
      ['2.0.0-rc.1', '"2"']);
    const stale = { headers: { 'If-Match': '"1"' } };
    expectProblem(await open.post(`/v1/agents/${id}/rollback`, undefined, stale), 412,
      'stale_etag');
    const back = expectStatus(await open.post(`/v1/agents/${id}/rollback`), 200);
    assert.deepEqual([back.version, back.revision], ['1.0.0', 3]);
    expectProblem(await open.post(`/v1/agents/${id}/versions/8.0.0/activate`), 404, 'not_found');
    const log = expectStatus(await open.get(`/v1/audit?object_id=${id}`), 200);
    assert.deepEqual(log.data.map((r) => r.action),
      ['agent.rolled_back', 'agent.activated', 'agent.created']);
    assert.deepEqual(log.data[0].detail, { from: '2.0.0-rc.1', to: '1.0.0' });
  });

  await t.test('an agent is switched off and on', async () => {
    const { id } = await make(open, { name: 'switched', is_active: false });
    const get = async () => expectStatus(await open.get(`/v1/agents/${id}`), 200);
    assert.deepEqual([(await get()).is_active, (await get()).status], [false, 'inactive']);
    expectStatus(await open.patch(`/v1/agents/${id}`, { is_active: true }), 200);
    assert.equal((await get()).status, 'created');
    const found = expectStatus(await open.get('/v1/agents?kind=workflow'), 200);
    assert.deepEqual(found.data.map((a) => a.name), ['flow']);
  });
});

test('links of agents', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const lead = await make(open, { name: 'lead', kind: 'team' });
  const sub = await make(open, { name: 'sub', kind: 'team' });
  const writer = await make(open, { name: 'writer' });

  await t.test('a team has members with roles, in their order, and as a tree', async () => {
    expectStatus(await open.put(`/v1/agents/${lead.id}/links/${writer.id}`,
      { role: 'author', position: 5, metadata: { a: 1 } }), 201);
    const made = expectStatus(await open.put(`/v1/agents/${lead.id}/links/${sub.id}`, {}), 201);
    assert.deepEqual([made.role, made.position, made.child_name, made.child_kind, made.revision],
      ['member', 6, 'sub', 'team', 1]);
    expectStatus(await open.put(`/v1/agents/${sub.id}/links/${writer.id}`,
      { child_version: '1.0.0' }), 201);
    const moved = await open.put(`/v1/agents/${lead.id}/links/${sub.id}`, { position: 0 },
      { headers: { 'If-Match': '"1"' } });
    assert.deepEqual([expectStatus(moved, 200).position, moved.body.role], [0, 'member']);
    const page = expectStatus(await open.get(`/v1/agents/${lead.id}/links?limit=1`), 200);
    assert.deepEqual([page.data[0].child_id, page.has_more], [sub.id, true]);
    const next = `/v1/agents/${lead.id}/links?cursor=${page.next_cursor}`;
    assert.deepEqual(expectStatus(await open.get(next), 200).data.map((l) => l.metadata),
      [{ a: 1 }]);
    const tree = expectStatus(await open.get(`/v1/agents/${lead.id}/tree`), 200);
    assert.deepEqual([tree.name, tree.role, tree.truncated], ['lead', null, false]);
    const shape = (node) => [node.name, node.role, node.children.map(shape)];
    assert.deepEqual(tree.children.map(shape),
      [['sub', 'member', [['writer', 'member', []]]], ['writer', 'author', []]]);
  });

  await t.test('no cycle, no children of a mere agent, no version that is not there', async () => {
    expectFault(await open.put(`/v1/agents/${sub.id}/links/${lead.id}`, {}), 422, 'invalid_input',
      'child_id', /must not create a cycle: "sub" > "lead" > "sub"/);
    expectProblem(await open.put(`/v1/agents/${writer.id}/links/${sub.id}`, {}), 409, 'conflict');
    expectFault(await open.put(`/v1/agents/${lead.id}/links/${writer.id}`,
      { child_version: '4.0.0' }), 422, 'invalid_input', '/child_version');
    expectProblem(await open.put(`/v1/agents/${lead.id}/links/${uuid()}`, {}), 404, 'not_found');
  });

  await t.test('two that would close a cycle together do not both get in', async () => {
    const [a, b] = [await make(open, { name: 'ring a', kind: 'team' }),
      await make(open, { name: 'ring b', kind: 'team' })];
    const answers = await Promise.all([open.put(`/v1/agents/${a.id}/links/${b.id}`, {}),
      open.put(`/v1/agents/${b.id}/links/${a.id}`, {})]);
    assert.deepEqual(answers.map((r) => r.status).sort(), [201, 422]);
  });

  await t.test('a link that is taken away is gone', async () => {
    expectStatus(await open.get(`/v1/agents/${lead.id}/links/${sub.id}`), 200);
    expectStatus(await open.del(`/v1/agents/${lead.id}/links/${sub.id}`), 204);
    expectProblem(await open.get(`/v1/agents/${lead.id}/links/${sub.id}`), 404, 'not_found');
    expectStatus(await open.del(`/v1/agents/${writer.id}`), 204);
    assert.deepEqual(expectStatus(await open.get(`/v1/agents/${lead.id}/tree`), 200).children, []);
  });
});
