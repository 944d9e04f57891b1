// SPDX-License-Identifier: Apache-2.0
// Agents: create, read, list, patch, delete; names, pages; definitions, versions, links.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, twoTenants, uuid, withKey } from
  './lib/server.mjs';

const GO = { input: { message: 'go' } };
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
    // The limit is that of the object after the patch, which no schema of the patch knows.
    const members = (from, count) => Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`m${from + i}`, 1]));
    const patch = (metadata) => open.patch(`/v1/agents/${made.id}`, { metadata });
    expectStatus(await patch(members(0, 255)), 200);
    expectFault(await patch(members(300, 1)), 422, 'invalid_input', '/metadata',
      /at most 256 members/);
    assert.equal(Object.keys(expectStatus(await open.get(`/v1/agents/${made.id}`), 200).metadata)
      .length, 256);
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

  await t.test('it is read by its name, and with its definition', async () => {
    const name = 'by name/ü';
    const made = await make(open, { name, llm_config: { default_model: 'm' }, tools: ['search'] });
    const at = `/v1/agents/by-name/${encodeURIComponent(name)}`;
    const answer = await open.get(`/v1/agents/by-name/${encodeURIComponent(name)}`);
    assert.deepEqual(expectStatus(answer, 200), made);
    assert.equal(answer.headers.get('ETag'), '"1"');
    const { agent_id: agent, ...version } =
      expectStatus(await open.get(`/v1/agents/${made.id}/versions/active`), 200);
    const definition = Object.fromEntries(['system_prompt', 'workflow_graph', 'memory_config',
      'guardrail_config', 'llm_config', 'execution_config', 'tools'].map((k) => [k, version[k]]));
    for (const path of [`/v1/agents/${agent}`, at]) {
      const whole = await open.get(`${path}?include=definition`);
      assert.deepEqual(expectStatus(whole, 200), { ...made, definition });
      assert.equal(whole.headers.get('ETag'), null);
      expectFault(await open.get(`${path}?include=versions`), 422, 'invalid_input', 'include');
    }
    expectProblem(await open.get('/v1/agents/by-name/nobody'), 404, 'not_found');
    const as = (id) => ({ headers: { 'Cairn-Principal': `agent:${id}` } });
    assert.deepEqual(expectStatus(await open.get(`${at}?include=definition`, as(made.id)), 200),
      { ...made, definition });
    expectProblem(await open.get(at, as(uuid())), 404, 'not_found');
    // A word of the routes below an agent is a name like any other.
    const odd = await make(open, { name: 'versions' });
    assert.equal(expectStatus(await open.get('/v1/agents/by-name/versions'), 200).id, odd.id);
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

  await t.test('one with unfinished runs stays', async () => {
    const [one, other] = [await make(open, { name: 'busy' }), await make(open, { name: 'idle' })];
    const runs = [];
    for (let n = 0; n < 3; n++)
      runs.push(expectStatus(await open.post(`/v1/agents/${one.id}/runs`, GO), 201).run_id);
    for (const [n, run] of runs.entries()) {
      const refused = await open.del(`/v1/agents/${one.id}`);
      expectProblem(refused, 409, 'conflict');
      assert.match(refused.body.detail, new RegExp(`the run (${runs.slice(n).join('|')}) of the ` +
        'agent is not finished: finish or cancel its runs first'));
      assert.equal(expectStatus(await open.get(`/v1/agents/${one.id}`), 200).is_active, true);
      const answer = n === 1 ? await open.post(`/v1/runs/${run}/cancel`)
        : await open.patch(`/v1/runs/${run}`, { status: n === 0 ? 'cancelled' : 'failed' });
      expectStatus(answer, 200);
    }
    expectStatus(await open.del(`/v1/agents/${one.id}`), 204);
    expectStatus(await open.del(`/v1/agents/${other.id}`), 204);
  });

  await t.test('the versions that its runs used remain', async () => {
    const use = async (agent, version) => {
      const { run_id: id } = expectStatus(await open.post(`/v1/agents/${agent}/runs`,
        { ...GO, agent_version: version }), 201);
      return expectStatus(await open.patch(`/v1/runs/${id}`, { status: 'cancelled' }), 200);
    };
    const [one, other] = [await make(open, { name: 'used', llm_config: { temperature: 0 } }),
      await make(open, { name: 'unused' })];
    for (const temperature of [0.25, 0.5, 0.75, 1])
      expectStatus(await open.post(`/v1/agents/${one.id}/versions`,
        { bump: 'minor', llm_config: { temperature } }), 201);
    const used = ['1.0.0', '1.1.0', '1.2.0', '1.4.0'];
    const runs = [];
    for (const version of used)
      runs.push(await use(one.id, version));
    await use(one.id, '1.1.0');
    const at = (agent, version) => `/v1/agents/${agent}/versions/${version}`;
    const before = [];
    for (const version of used)
      before.push(expectStatus(await open.get(at(one.id, version)), 200));
    for (const { id } of [one, other])
      expectStatus(await open.del(`/v1/agents/${id}`), 204);

    for (const [n, version] of used.entries()) {
      const answer = await open.get(at(one.id, version));
      assert.deepEqual(expectStatus(answer, 200), { ...before[n], is_active: false });
      assert.equal(expectStatus(await open.get(`/v1/runs/${runs[n].id}`), 200).agent_version,
        version);
    }
    const list = [];
    for (let query = '', more = true; more;) {
      const page = expectStatus(await open.get(`/v1/agents/${one.id}/versions?limit=2${query}`),
        200);
      list.push(...page.data);
      more = page.has_more;
      query = `&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(list.map((v) => v.version), used.toReversed());
    for (const [agent, version] of [[one.id, '1.3.0'], [one.id, 'active'], [other.id, '1.0.0']])
      expectProblem(await open.get(at(agent, version)), 404, 'not_found');
    expectProblem(await open.get(`/v1/agents/${other.id}/versions`), 404, 'not_found');
    expectProblem(await open.get(`/v1/agents/${one.id}`), 404, 'not_found');
    for (const answer of [await open.patch(at(one.id, '1.0.0'), { description: 'x' }),
      await open.post(`${at(one.id, '1.0.0')}/activate`),
      await open.post(`/v1/agents/${one.id}/runs`, { ...GO, agent_version: '1.0.0' })])
      expectProblem(answer, 404, 'not_found');
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
    assert.equal(answer.headers.get('ETag'), '"1-gzip"', 'fetch accepts gzip');
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

  await t.test('parts of a version are merged member by member, and null resets', async () => {
    const { id } = await make(open, { name: 'merged', ...DEFINITION });
    const add = async (body) =>
      expectStatus(await open.post(`/v1/agents/${id}/versions`, { bump: 'patch', ...body }), 201);
    const first = await add({ llm_config: { temperature: 0.1 },
      system_prompt: { instructions: 'Plan well.' }, workflow_graph: { edges: [GRAPH.edges[0]] },
      memory_config: { short_term: { strategy: null }, long_term: null } });
    assert.deepEqual(first.llm_config, { ...DEFINITION.llm_config, temperature: 0.1 });
    assert.deepEqual(first.system_prompt,
      { ...DEFINITION.system_prompt, instructions: 'Plan well.' });
    assert.deepEqual([first.workflow_graph.entry_point, first.workflow_graph.nodes.length,
      first.workflow_graph.edges.length], ['plan', 3, 1]);
    assert.deepEqual(first.memory_config, {
      short_term: { max_tokens: 4000, strategy: 'fifo' },
      long_term: { enabled: false, embedding_model: null, top_k: 5 },
      procedural: { enabled: true, min_frequency: 3 } });
    const second = await add({ llm_config: null, tools: ['search'], execution_config: {} });
    assert.deepEqual(Object.values(second.llm_config), [null, null, null, null]);
    assert.deepEqual(second.tools.map((tool) => tool.tool), ['search']);
    assert.deepEqual(second.execution_config, first.execution_config);
    for (const [body, pointer] of [[{ llm_config: { temperature: 3 } }, '/llm_config/temperature'],
      [{ llm_config: { heat: 1 } }, '/llm_config/heat'], [{ bump: 'huge' }, '/bump'],
      [{ description: 'x'.repeat(16385) }, '/description'],
      [{ bump: null, version: `1.9.0-${'x'.repeat(128)}` }, '/version'],
      [{ workflow_graph: { entry_point: null } }, '/workflow_graph/entry_point']])
      expectFault(await open.post(`/v1/agents/${id}/versions`, { bump: 'patch', ...body }), 422,
        'invalid_input', pointer);
    const latest = expectStatus(await open.get(`/v1/agents/${id}/versions/latest`), 200);
    assert.deepEqual(latest, second);
    const large = { bump: 'patch', system_prompt: { instructions: 'x'.repeat(120_000) } };
    const key = { headers: { 'Idempotency-Key': uuid() } };
    const third = expectStatus(await open.post(`/v1/agents/${id}/versions`, large, key), 201);
    assert.deepEqual([third.number, third.system_prompt.role], [4, 'a planner']);
    assert.deepEqual(
      expectStatus(await open.post(`/v1/agents/${id}/versions`, large, key), 201), third);
  });

  await t.test('a version that was read is sent as a new one', async () => {
    const { id } = await make(open, { name: 'sent again', ...DEFINITION });
    const path = `/v1/agents/${id}/versions`;
    const first = expectStatus(await open.get(`${path}/1.0.0`), 200);
    expectFault(await open.post(path, first), 422, 'invalid_input', '/version',
      /greater than the newest version/);
    const body = { ...first, bump: 'minor', activate: true, tools: ['search'] };
    const key = { headers: { 'Idempotency-Key': uuid() } };
    const second = expectStatus(await open.post(path, body, key), 201);
    assert.deepEqual([second.version, second.number, second.tools.map((tool) => tool.tool)],
      ['1.1.0', 2, ['search']]);
    assert.deepEqual(second.llm_config, first.llm_config);
    assert.deepEqual(expectStatus(await open.post(path, body, key), 201), second,
      'the first one is no longer active, but the request is replayed');
    // An older one, as it is now, and the newest without its number.
    const older = expectStatus(await open.get(`${path}/1.0.0`), 200);
    const third = expectStatus(await open.post(path, { ...older, version: '2.0.0' }), 201);
    assert.deepEqual([third.number, third.tools], [3, first.tools]);
    expectStatus(await open.post(path, { agent_id: id, is_active: false, bump: 'patch' }), 201);

    const read = expectStatus(await open.get(`${path}/latest`), 200);
    for (const [member, value, at = member] of [['number', 3, 'created_at'], ['number', 9],
      ['number', '4'], ['number', -1], ['is_active', true], ['agent_id', uuid()],
      ['created_by', 'user:x'], ['used_at', 'now'], ['revision', 7], ['created_at', null]])
      expectFault(await open.post(path, { ...read, [member]: value, bump: 'patch' }), 422,
        'invalid_input', `/${at}`, /set by Cairn/);
    expectFault(await open.post(path, { ...read, bump: 'patch', version: '9.0.0' }), 422,
      'invalid_input', '/version');
    expectFault(await open.post(path, { ...read, bump: 'patch', other: 1 }), 422,
      'invalid_input', '/other');
    expectStatus(await open.post(path, { ...read, bump: 'patch' }), 201);
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
    const off = await make(open, { name: 'off', is_active: false });
    const list = async (query) =>
      expectStatus(await open.get(`/v1/agents?limit=200&${query}`), 200).data.map((a) => a.name);
    assert.deepEqual(await list('is_active=false'), ['off']);
    assert.deepEqual(await list('is_active=false&kind=workflow'), []);
    const active = await list('is_active=true');
    assert.deepEqual([active.includes('switched'), active.includes(off.name)], [true, false]);
    assert.equal(active.length + 1, (await list('')).length);
    expectStatus(await open.get('/v1/agents?is_active=maybe'), 422);
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

test('only a key that may read sends a version as it was read', async (t) => {
  const { alice } = await twoTenants(await startServer(t));
  const { id } = await make(alice, { name: 'guarded' });
  const path = `/v1/agents/${id}/versions`;
  const body = { ...expectStatus(await alice.get(`${path}/active`), 200), bump: 'patch' };
  const writer = await withKey(alice, ['agents:write']);
  expectProblem(await writer.post(path, body), 403, 'forbidden');
  expectProblem(await writer.post(path, { bump: 'patch', number: 1 }), 403, 'forbidden');
  expectStatus(await writer.post(path, { bump: 'patch' }), 201);
  const both = await withKey(alice, ['agents:write', 'agents:read']);
  expectStatus(await both.post(path, body), 201);
});
