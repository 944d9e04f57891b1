// SPDX-License-Identifier: Apache-2.0
// Prices, what runs used and what that cost, sums by day, and eval runs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectProblem, expectStatus, startServer, uuid } from './lib/server.mjs';

/** One fault of bad input: where, and the whole rule. */
function expectRule(answer, pointer, rule) {
  const problem = expectFault(answer, 422, 'invalid_input', pointer);
  assert.equal(problem.errors.find((e) => e.pointer === pointer).detail, rule);
}

const SONNET = { input: 3, output: 15, cache_write: 3.75, cache_read: 0.3 };
const CALL = {
  model: 'claude-sonnet-4-5',
  provider: 'anthropic',
  input_tokens: 1900,
  output_tokens: 1300,
  cache_creation_input_tokens: 200,
  cache_read_input_tokens: 400,
};
const { model: _model, provider: _provider, ...TOKENS } = CALL;
const COST = {
  input_cost: 0.0057,
  output_cost: 0.0195,
  cache_write_cost: 0.00075,
  cache_read_cost: 0.00012,
  total_cost: 0.02607,
  total_input_tokens: 2500,
  total_output_tokens: 1300,
  total_cache_creation_tokens: 200,
  total_cache_read_tokens: 400,
  model_id: 'claude-sonnet-4-5',
  long_context_applied: false,
  currency: 'USD',
  price_version: 1,
  llm_calls: 1,
  unpriced_calls: 0,
};

async function startRun(client, body = {}) {
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  const path = `/v1/threads/${thread.id}/runs`;
  return expectStatus(await client.post(path, { dispatch: 'direct', ...body }), 201);
}

test('prices and usage', async (t) => {
  const server = await startServer(t);
  const { open } = server;
  const tell = (run, body) => open.post(`/v1/runs/${run.id}/usage`, body);

  await t.test('a price is told as it was given, each change of it as a version', async () => {
    const first = await open.put('/v1/prices/claude-sonnet-4-5', SONNET);
    const { created_at: created, ...rest } = expectStatus(first, 201);
    assert.ok(created);
    assert.deepEqual(rest, {
      model: 'claude-sonnet-4-5',
      ...SONNET,
      long_context: null,
      provider: null,
      currency: 'USD',
      deleted: false,
      version: 1,
    });
    assert.equal(first.headers.get('ETag'), '"1"');
    assert.equal(
      expectStatus(await open.put('/v1/prices/claude-sonnet-4-5', SONNET), 200).version,
      1,
    );
    assert.match(
      (await open.get('/v1/prices/claude-sonnet-4-5')).text,
      /"cache_write":3\.75,"cache_read":0\.3,/,
    );
  });

  await t.test('rates of caches come from the rate of input unless they are given', async () => {
    const rates = { input: 0.15, output: 0.6 };
    const made = expectStatus(await open.put('/v1/prices/small', rates), 201);
    assert.deepEqual([made.cache_write, made.cache_read], [0.1875, 0.015]);
    const long = { above_tokens: 200000, input: 6, output: 22.5 };
    const body = { ...SONNET, provider: 'anthropic', long_context: long };
    const other = expectStatus(await open.put('/v1/prices/long', body), 201);
    assert.deepEqual(other.long_context, { ...long, cache_write: 7.5, cache_read: 0.6 });
  });

  await t.test('a price is rounded to 6 digits, as programs compute with floats', async () => {
    const long = { above_tokens: 9, input: 2 / 3, output: 1e-7 };
    const sent = { input: 0.1 + 0.2, output: 1.1 * 1.1, cache_write: 0.0000005,
      cache_read: 0.00000049, long_context: long };
    const made = expectStatus(await open.put('/v1/prices/floats', sent), 201);
    assert.deepEqual([made.input, made.output, made.cache_write, made.cache_read],
      [0.3, 1.21, 0.000001, 0]);
    assert.deepEqual([made.long_context.input, made.long_context.output], [0.666667, 0]);
    assert.deepEqual(expectStatus(await open.get('/v1/prices/floats'), 200), made);
    // The rates of caches are computed from the rounded rate of input.
    const odd = expectStatus(await open.put('/v1/prices/floats', { input: 1 / 3, output: 1 }), 200);
    assert.deepEqual([odd.input, odd.cache_write, odd.cache_read], [0.333333, 0.416667, 0.033334]);
    expectStatus(await open.del('/v1/prices/floats'), 204);
  });

  await t.test('a bad price names the member and the rule, and makes no version', async () => {
    const put = (body) => open.put('/v1/prices/small', body);
    expectRule(await put({ input: -1, output: 1 }), '/input', 'must be at least 0');
    expectRule(await put({ input: 1 }), '/output', 'must be given');
    expectRule(
      await put({ input: 1, output: 1, long_context: { above_tokens: 1, input: -1, output: 1 } }),
      '/long_context/input',
      'must be at least 0',
    );
    expectRule(
      await put({ input: 1, output: 1, currency: 'usd' }),
      '/currency',
      'must be three upper-case letters, such as USD',
    );
    const euro = await put({ input: 1, output: 1, currency: 'EUR' });
    expectProblem(euro, 422, 'invalid_input');
    assert.match(euro.text, /must be USD, the currency of the tenant's other prices/);
    assert.equal(expectStatus(await open.get('/v1/prices/small'), 200).version, 1);
    const stale = { headers: { 'If-Match': '"7"' } };
    expectProblem(await open.put('/v1/prices/small', SONNET, stale), 412, 'stale_etag');
  });

  await t.test("the seed's example costs what the seed says, to the last digit", async () => {
    const { total_cost: total, ...rest } = expectStatus(
      await open.post('/v1/costs', { model: 'claude-sonnet-4-5-20250929', usage: TOKENS }),
      200,
    );
    assert.equal(total, 0.02607);
    assert.equal(rest.model_id, 'claude-sonnet-4-5-20250929');
    const run = await startRun(open);
    const answer = await tell(run, CALL);
    assert.deepEqual(expectStatus(answer, 201), COST);
    assert.match(answer.text, /"cache_write_cost":0\.00075,"cache_read_cost":0\.00012,/);
    assert.match(answer.text, /"total_cost":0\.02607,/);
    const { models, total: sum } = expectStatus(await open.get(`/v1/runs/${run.id}/usage`), 200);
    const { price_version: _version, ...whole } = COST;
    assert.deepEqual(sum, whole);
    assert.deepEqual(
      models.map((m) => [m.model, m.provider, m.price_version, m.llm_calls]),
      [['claude-sonnet-4-5', 'anthropic', 1, 1]],
    );
  });

  await t.test('long input has the long-context rates for all of the call', async () => {
    const usage = { input_tokens: 200000, output_tokens: 1000 };
    const below = expectStatus(await open.post('/v1/costs', { model: 'long', usage }), 200);
    assert.deepEqual([below.long_context_applied, below.total_cost], [false, 0.615]);
    usage.cache_read_input_tokens = 1;
    const above = expectStatus(await open.post('/v1/costs', { model: 'long', usage }), 200);
    assert.deepEqual([above.long_context_applied, above.total_cost], [true, 1.2225006]);
  });

  await t.test('a cost is computed and never given; without a price there is none', async () => {
    const run = await startRun(open);
    for (const name of ['cost', 'cost_usd', 'total_cost'])
      expectRule(
        await tell(run, { ...CALL, [name]: 1 }),
        `/${name}`,
        'is set by Cairn and must not be sent',
      );
    expectRule(
      await open.post('/v1/costs', { model: 'unknown', usage: TOKENS }),
      '/model',
      'must have a price: set it with PUT /v1/prices/unknown',
    );
    const unpriced = expectStatus(await tell(run, { ...CALL, model: 'unknown' }), 201);
    assert.deepEqual(
      [unpriced.total_cost, unpriced.input_cost, unpriced.unpriced_calls, unpriced.currency],
      [null, null, 1, null],
    );
    expectStatus(await tell(run, CALL), 201);
    const { total } = expectStatus(await open.get(`/v1/runs/${run.id}/usage`), 200);
    const { total_cost: cost, priced_cost: priced, unpriced_calls: calls } = total;
    assert.deepEqual([cost, priced, calls], [null, 0.02607, 1]);
    assert.deepEqual([total.model_id, total.models], [null, ['claude-sonnet-4-5', 'unknown']]);
  });

  await t.test('what is wrong with a call is told, and nothing is counted', async () => {
    const run = await startRun(open);
    const negative = await tell(run, { ...CALL, input_tokens: -1 });
    expectRule(negative, '/input_tokens', 'must be at least 0');
    expectRule(
      await tell(run, { ...CALL, output_tokens: 1000000001 }),
      '/output_tokens',
      'must be at most 1000000000',
    );
    const elsewhere = await tell(run, { ...CALL, turn_id: uuid() });
    expectRule(elsewhere, '/turn_id', 'must be a turn of this run');
    const { total } = expectStatus(await open.get(`/v1/runs/${run.id}/usage`), 200);
    assert.deepEqual([total.llm_calls, total.total_cost], [0, 0]);
  });

  await t.test('a child adds to its parent; a leased run hears its worker alone', async () => {
    const parent = await startRun(open);
    const path = `/v1/threads/${parent.thread_id}/runs`;
    const child = expectStatus(
      await open.post(path, { dispatch: 'direct', parent_run_id: parent.id }),
      201,
    );
    expectStatus(await tell(child, CALL), 201);
    const { total } = expectStatus(await open.get(`/v1/runs/${parent.id}/usage`), 200);
    assert.equal(total.total_cost, 0.02607);
    const queued = await startRun(open, { dispatch: 'queue' });
    const claim = { worker: 'w', thread_id: queued.thread_id };
    const { fence } = expectStatus(await open.post('/v1/runs/claim', claim), 200);
    expectProblem(await tell(queued, CALL), 409, 'lease_required');
    const headers = { 'Cairn-Fencing-Token': String(fence) };
    expectStatus(await open.post(`/v1/runs/${queued.id}/usage`, CALL, { headers }), 201);
    const done = { status: 'completed' };
    expectStatus(await open.patch(`/v1/runs/${queued.id}`, done, { headers }), 200);
    // Engines flush late; the lease, and with it the token, has ended.
    expectStatus(await tell(queued, CALL), 201);
  });

  await t.test('days are summed by any combination, in pages, with totals of all', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const days = expectStatus(await open.get('/v1/usage'), 200);
    assert.equal(days.data.length, 1);
    assert.equal(days.data[0].day, today);
    assert.equal(days.to, today);
    assert.equal(days.currency, 'USD');
    assert.deepEqual(
      [days.totals.llm_calls, days.totals.unpriced_calls, days.totals.cost_usd],
      [6, 1, 0.13035],
    );
    assert.equal(days.totals.runs_completed, 1);
    assert.ok(days.totals.runs_started >= 6);
    const groups = [];
    let cursor = '';
    do {
      const query = `group_by=day,model,provider,agent&limit=1${cursor}`;
      const page = expectStatus(await open.get(`/v1/usage?${query}`), 200);
      groups.push(...page.data);
      assert.deepEqual(page.totals, days.totals);
      cursor = page.has_more ? `&cursor=${page.next_cursor}` : '';
    } while (cursor !== '');
    assert.deepEqual(
      groups.map((g) => [g.model, g.llm_calls]),
      [['', 0], ['claude-sonnet-4-5', 5], ['unknown', 1]],
    );
    const one = expectStatus(await open.get('/v1/usage?model=unknown&group_by=agent'), 200);
    assert.equal(one.data[0].unpriced_calls, 1);
    assert.equal(one.data[0].agent_id, '00000000-0000-0000-0000-000000000000');
    expectStatus(await open.get('/v1/usage?from=2020-01-01&to=2020-01-31'), 200);
    expectRule(
      await open.get('/v1/usage?group_by=hour'),
      'group_by',
      'must list any of day, model, provider and agent, separated by commas',
    );
    expectRule(
      await open.get('/v1/usage?from=2026-02-30'),
      'from',
      'must be a date from 1970 onwards, such as 2026-01-31',
    );
    expectRule(
      await open.get('/v1/usage?from=2026-02-02&to=2026-02-01'),
      'from',
      'must not be after `to`',
    );
    expectProblem(await open.get('/v1/usage?cursor=eA'), 400, 'invalid_cursor');
    const noText = Buffer.from(`1:${uuid()}:1:\xff\xfe`, 'latin1').toString('base64url');
    const parted = Buffer.from(`1:${uuid()}:1:é`).toString('base64url');
    expectProblem(await open.get(`/v1/usage?cursor=${parted}`), 400, 'invalid_cursor');
    for (const list of ['usage', 'prices']) {
      expectProblem(await open.get(`/v1/${list}?cursor=${noText}`), 400, 'invalid_cursor');
    }
  });

  await t.test('averages are there, of threads and of agents', async () => {
    const path = '/v1/usage/averages';
    for (const query of ['days=7', 'days=30&group_by=agent'])
      assert.ok(expectStatus(await open.get(`${path}?${query}`), 200).data.length >= 1);
    const none = await open.get(`${path}?days=0`);
    expectRule(none, 'days', 'must be an integer from 1 to 366');
  });

  await t.test('a deleted price is gone for new calls, and its versions stay', async () => {
    expectStatus(await open.del('/v1/prices/small'), 204);
    expectProblem(await open.get('/v1/prices/small'), 404, 'not_found');
    expectProblem(await open.del('/v1/prices/small'), 404, 'not_found');
    const versions = expectStatus(await open.get('/v1/prices/small/versions?limit=1'), 200);
    assert.deepEqual([versions.data[0].version, versions.data[0].deleted], [2, true]);
    const older = `/v1/prices/small/versions?cursor=${versions.next_cursor}`;
    assert.equal(expectStatus(await open.get(older), 200).data[0].version, 1);
    const names = expectStatus(await open.get('/v1/prices'), 200).data.map((p) => p.model);
    assert.deepEqual(names, ['claude-sonnet-4-5', 'long']);
    const page = expectStatus(await open.get('/v1/prices?limit=1'), 200);
    assert.deepEqual([page.data[0].model, page.has_more], ['claude-sonnet-4-5', true]);
    expectProblem(await open.get('/v1/prices/never/versions'), 404, 'not_found');
  });
});

test('eval runs', async (t) => {
  const { open } = await startServer(t);
  const agent = expectStatus(await open.post('/v1/agents', { name: 'judged' }), 201);
  const run = await startRun(open);
  const make = async (body) =>
    expectStatus(await open.post('/v1/evals', { name: 'e', eval_type: 'accuracy', ...body }), 201);

  await t.test('an eval run is read back as it was given', async () => {
    const body = {
      agent_id: agent.id,
      agent_version: '1.2.0',
      run_id: run.id,
      model: 'claude-sonnet-4-5',
      provider: 'anthropic',
      evaluated_name: 'planner',
      eval_input: { question: 'q' },
      eval_data: { answer: 'a' },
      score: 0.875,
      passed: true,
      metadata: { by: 'ci' },
    };
    const made = await make(body);
    assert.deepEqual(made, { ...made, ...body, version: 1 });
    assert.deepEqual(expectStatus(await open.get(`/v1/evals/${made.id}`), 200), made);
    const [listed] = expectStatus(await open.get('/v1/evals'), 200).data;
    const { eval_input: _input, eval_data: _data, ...head } = made;
    assert.deepEqual(listed, head);
  });

  await t.test('a score is rounded to 6 digits, as programs compute with floats', async () => {
    for (const [sent, kept] of [[2 / 3, 0.666667], [0.1 + 0.2, 0.3], [1.0000000000000002, 1],
      [1e-17, 0], [-1e-17, 0]]) {
      const { id, score } = await make({ name: 'floats', eval_type: 'floats', score: sent });
      assert.equal(score, kept);
      const path = `/v1/evals/${id}`;
      assert.equal(expectStatus(await open.patch(path, { score: 1 / 3 }), 200).score, 0.333333);
      assert.equal(expectStatus(await open.get(path), 200).score, 0.333333);
      expectStatus(await open.del(path), 204);
    }
    for (const [sent, rule] of [['1e400', /at most 1$/], ['1.1', /at most 1$/],
      ['-1e400', /at least 0$/], ['-0.1', /at least 0$/]])
      expectFault(await open.post('/v1/evals', undefined,
        { raw: `{"name": "floats", "eval_type": "floats", "score": ${sent}}` }), 422,
      'invalid_input', '/score', rule);
  });

  await t.test('lists are filtered by agent, type and run', async () => {
    const other = await make({ eval_type: 'own' });
    const ids = async (query) =>
      expectStatus(await open.get(`/v1/evals?${query}`), 200).data.map((e) => e.id);
    assert.deepEqual(await ids('eval_type=own'), [other.id]);
    assert.equal((await ids(`agent_id=${agent.id}`)).length, 1);
    assert.equal((await ids(`run_id=${run.id}&eval_type=accuracy`)).length, 1);
    assert.equal((await ids(`run_id=${run.id}&eval_type=own`)).length, 0);
    assert.deepEqual(await ids('limit=1'), [other.id]);
  });

  await t.test('a patch changes what it names; null takes a score away', async () => {
    const made = await make({ score: 0.5, passed: false });
    const path = `/v1/evals/${made.id}`;
    const match = { headers: { 'If-Match': '"1"' } };
    const after = expectStatus(await open.patch(path, { score: null, passed: true }, match), 200);
    assert.deepEqual([after.score, after.passed, after.version], [null, true, 2]);
    expectProblem(await open.patch(path, { name: 'x' }, match), 412, 'stale_etag');
    expectStatus(await open.del(path), 204);
    expectProblem(await open.get(path), 404, 'not_found');
  });

  await t.test('what is wrong is named', async () => {
    const post = (body) => open.post('/v1/evals', { name: 'e', eval_type: 'own', ...body });
    expectRule(await post({ score: 1.1 }), '/score', 'must be at most 1');
    expectRule(await post({ score: 1.0000005 }), '/score', 'must be at most 1');
    expectRule(await post({ agent_id: uuid() }), '/agent_id', 'must be an agent of the tenant');
    expectRule(await post({ run_id: uuid() }), '/run_id', 'must be a run of the tenant');
    expectRule(await open.post('/v1/evals', { name: 'e' }), '/eval_type', 'must be given');
  });
});
