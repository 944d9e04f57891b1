// SPDX-License-Identifier: Apache-2.0
// Places: a thread, an agent and a run of a tenant, with n rows of every sort that a list can show.
import { claim, expectStatus, token, uuid } from './server.mjs';

export const ANY = { headers: { 'If-Match': '*' } };
export const made = async (answer) => expectStatus(await answer, 201);
export const done = async (answer) => expectStatus(await answer, 200);

/** n results of an asynchronous function, one after the other, so that their order is known. */
async function times(n, act) {
  const results = [];
  for (let i = 0; i < n; i++) results.push(await act(i));
  return results;
}

// --- The rows ----------------------------------------------------------------------------------

async function fillAgent(client, place, n) {
  const team = { name: `team ${uuid()}`, kind: 'team' };
  place.agent = (await made(client.post('/v1/agents', team))).id;
  const { agent } = place;
  await times(n - 1, () => made(client.post(`/v1/agents/${agent}/versions`, { bump: 'patch' })));
  place.children = await times(n, async (i) => {
    const child = await made(client.post('/v1/agents', { name: `child ${i} ${uuid()}` }));
    await made(client.put(`/v1/agents/${agent}/links/${child.id}`, { role: `role ${i}` }));
    return child.id;
  });
  await times(n, async (i) => {
    const data = { data: { i } };
    expectStatus(await client.put(`/v1/agents/${agent}/config`, data, ANY), i ? 200 : 201);
    await made(client.put(`/v1/agents/${agent}/storage/item-${i}`, data));
  });
}

async function fillStates(client, place, n) {
  const { agent, thread } = place;
  await times(n, async (i) => {
    const document = { data: { i }, json_schema: { type: 'object' }, ui_schema: { order: ['i'] } };
    const write = async (path) => {
      await made(client.put(`${path}/state-${i}`, document, ANY));
      if (i > 0) await done(client.put(`${path}/state-0`, document, ANY));
    };
    await write(`/v1/agents/${agent}/states`);
    await write(`/v1/threads/${thread}/states`);
    await write(`/v1/threads/${thread}/agents/${agent}/states`);
  });
}

const MOVES = ['initializing', 'planning', 'executing', 'executing', 'executing', 'executing'];

/** n finished runs, and one with attempts, turns, phases, steps, tools, checkpoints and usage. */
async function fillRuns(client, place, n) {
  const { agent, thread } = place;
  const start = (body) =>
    made(client.post(`/v1/threads/${thread}/runs`,
      { agent_id: agent, dispatch: 'direct', ...body }));
  await times(n - 1, async (i) => {
    const run = await start({ user_input: `question ${i}`, message: false });
    await done(client.patch(`/v1/runs/${run.id}`, { status: 'completed', final_output: 'a' }));
  });
  place.run = (await start({ dispatch: 'queue' })).id;
  const { run } = place;
  const work = () => claim(client, { thread_id: thread, lease_ms: 3_600_000 });
  await times(n - 1, async (i) => done(client.post(`/v1/runs/${run}/release`,
    i % 2 === 0 ? {} : { error: { code: `error-${i}` } }, token(await work()))));
  const fence = token(await work());
  for (let i = 0; i < n; i++) {
    const model = `model-${i}`;
    await done(client.post(`/v1/runs/${run}/phase`, { to: MOVES[i] }, fence));
    const call = `call-${i}`;
    await made(client.post(`/v1/runs/${run}/steps`, { steps: [
      { action_type: 'api_call_started', step_number: i, action_data: { messages: [] } },
      { action_type: 'api_response_received', step_number: i, action_data: { model } },
      { action_type: 'tool_execution', step_number: i,
        action_data: { tool_name: 'search', tool_use_id: call } },
    ] }, fence));
    await made(client.post(`/v1/runs/${run}/usage`,
      { model, provider: 'p', input_tokens: 1 + i, output_tokens: 1 }, fence));
    const checkpoint = await made(client.post(`/v1/threads/${thread}/checkpoints`,
      { channel_values: { i }, run_id: run }, fence));
    place.checkpoint = checkpoint.id;
    const judged = await made(client.post('/v1/evals',
      { name: `eval ${i}`, eval_type: 'accuracy', run_id: run, agent_id: agent }));
    place.eval ??= judged.id;
    const turn = await made(client.post(`/v1/runs/${run}/turns`,
      { input: { message: `turn ${i}` }, status: 'complete' }, fence));
    place.turn = turn.turn_id;
  }
  const tools = Array.from({ length: n }, (_, i) =>
    ({ tool_use_id: `${run}-${i}`, name: 'x', side: 'frontend' }));
  await done(client.post(`/v1/runs/${run}/tools`, { tools }, fence));
}

async function fillThread(client, place, n) {
  const { thread } = place;
  await times(n, async (i) => {
    const member = { principal: `user:member-${i}` };
    place.participant = (await made(
      client.post(`/v1/threads/${thread}/participants`, member))).id;
    place.upload = (await made(
      client.post(`/v1/threads/${thread}/uploads`, { name: `up-${i}`, size_bytes: 1 }))).id;
    await made(client.put(`/v1/threads/${thread}/files/file-${i}`, { i }));
    if (i > 0) await done(client.put(`/v1/threads/${thread}/files/file-0`, { i }));
    const message = await made(client.post(`/v1/threads/${thread}/messages`,
      { content: `everybody says lantern ${i}` }));
    place.message ??= message.id;
    if (i > 0)
      await done(client.patch(`/v1/threads/${thread}/messages/${place.message}`,
        { content: `everybody says lantern again ${i}` }));
    const share = await made(client.post(`/v1/threads/${thread}/shares`, { kind: 'participate' }));
    place.share ??= share;
  });
  await times(n, (i) => done(client.post('/v1/shares/redeem', { token: place.share.token },
    { headers: { 'Cairn-Principal': `user:guest-${i}` } })));
}

async function fillTenant(client, place, n) {
  place.model = `priced-${uuid()}`;
  await times(n, async (i) => {
    const price = { input: 1 + i, output: 2 };
    expectStatus(await client.put(`/v1/prices/${place.model}`, price), i ? 200 : 201);
    await made(client.put(`/v1/prices/other-${uuid()}`, price));
    place.key = (await made(
      client.post('/v1/keys', { name: `key ${i}`, scopes: ['runs:read'] }))).id;
    const notebook = await made(client.post('/v1/notebooks', { title: `notebook ${i}` }));
    place.notebook ??= notebook.id;
    const session = await made(client.post('/v1/threads', { title: `session ${i}` }));
    await made(client.post(`/v1/notebooks/${place.notebook}/sessions`, { thread_id: session.id }));
    place.session = session.id;
    place.label = `label-${place.thread}`;
    await made(client.put('/v1/store/items',
      { namespace: [place.label], key: `item-${i}`, value: { i } }));
  });
}

/** A thread, an agent and a run with n rows of each sort. */
export async function fill(client, n) {
  const place = { client, thread: (await made(client.post('/v1/threads', {}))).id };
  await fillAgent(client, place, n);
  await fillStates(client, place, n);
  await fillRuns(client, place, n);
  await fillThread(client, place, n);
  await fillTenant(client, place, n);
  await made(client.put(`/v1/threads/${place.thread}/resumption`,
    { system_prompt: 'You help.', model: 'm', messages: [] }, ANY));
  return place;
}

/** The path of a route, with the ids of a place. */
export const pathOf = (path, place) => path.replace(/\{(\w+)\}/g, (_, name) => ({
  thread_id: place.thread, agent_id: place.agent, run_id: place.run, share_id: place.share.id,
  message_id: place.message, notebook_id: place.notebook, model: place.model,
  name: path.includes('/files/') ? 'file-0' : 'state-0',
})[name]);
