// SPDX-License-Identifier: Apache-2.0
// An answer of every operation on checkpoints, for openapi.test.mjs.

async function answersOfRun(check, client, { thread, agent, run, checkpoint: id }) {
  const at = '/v1/runs/{run_id}';
  const list = await client.get(`/v1/runs/${run}/checkpoints?include=all`);
  check(`${at}/checkpoints`, 'get', list, 200);
  const one = await client.get(`/v1/runs/${run}/checkpoints/${id}`);
  check(`${at}/checkpoints/{checkpoint_id}`, 'get', one, 200);
  check(`${at}/recovery`, 'get', await client.get(`/v1/runs/${run}/recovery`), 200);
  check('/v1/threads/{thread_id}/recovery', 'get',
    await client.get(`/v1/threads/${thread}/recovery`), 200);
  const body = { checkpoint_id: id, policy: 'enqueue' };
  check(`${at}/replay`, 'post', await client.post(`/v1/runs/${run}/replay`, body), 201);
  const under = '/v1/agents/{agent_id}/runs/{run_id}';
  check(`${under}/checkpoints`, 'get',
    await client.get(`/v1/agents/${agent}/runs/${run}/checkpoints`), 200);
  check(`${under}/checkpoints/{checkpoint_id}`, 'get',
    await client.get(`/v1/agents/${agent}/runs/${run}/checkpoints/${id}`), 200);
  check(`${under}/recovery`, 'get',
    await client.get(`/v1/agents/${agent}/runs/${run}/recovery`), 200);
  check(`${under}/replay`, 'post',
    await client.post(`/v1/agents/${agent}/runs/${run}/replay`, body), 201);
}

/** `check` compares an answer with what the document says of it, and returns its body. */
export async function answersOfCheckpoints(check, client) {
  const at = '/v1/threads/{thread_id}/checkpoints';
  const thread = check('/v1/threads', 'post', await client.post('/v1/threads', {}), 201).id;
  const agent = check('/v1/agents', 'post',
    await client.post('/v1/agents', { name: 'checkpoints' }), 201).id;
  const run = check('/v1/threads/{thread_id}/runs', 'post',
    await client.post(`/v1/threads/${thread}/runs`, { agent_id: agent }), 201).id;
  const body = {
    id: '00000000-0000-4000-8000-000000000001', channel_values: { a: [1] }, run_id: run,
  };
  const { id } = check(at, 'post',
    await client.post(`/v1/threads/${thread}/checkpoints`, body), 201);
  check(at, 'post', await client.post(`/v1/threads/${thread}/checkpoints`, body), 200);
  check(at, 'get', await client.get(`/v1/threads/${thread}/checkpoints?include=all`), 200);
  check(`${at}/latest`, 'get', await client.get(`/v1/threads/${thread}/checkpoints/latest`), 200);
  const one = `${at}/{checkpoint_id}`;
  check(one, 'get', await client.get(`/v1/threads/${thread}/checkpoints/${id}`), 200);
  const writes = { task_id: 't', writes: [{ channel: 'a', value: 1 }] };
  check(`${one}/writes`, 'put',
    await client.put(`/v1/threads/${thread}/checkpoints/${id}/writes`, writes), 200);
  check(`${one}/writes`, 'get',
    await client.get(`/v1/threads/${thread}/checkpoints/${id}/writes`), 200);
  check(`${one}/deltas`, 'post',
    await client.post(`/v1/threads/${thread}/checkpoints/${id}/deltas`, { channels: ['a'] }), 200);
  check('/v1/checkpoints', 'get', await client.get('/v1/checkpoints?include=all'), 200);
  check(`${one}/diff/{other_id}`, 'get',
    await client.get(`/v1/threads/${thread}/checkpoints/${id}/diff/${id}`), 200);
  await answersOfRun(check, client, { thread, agent, run, checkpoint: id });
  check(`${at}/prune`, 'post',
    await client.post(`/v1/threads/${thread}/checkpoints/prune`, { keep_latest: 1 }), 200);
  check(`${at}/copy`, 'post',
    await client.post(`/v1/threads/${thread}/checkpoints/copy`, { to_thread_id: thread }), 200);
  check(at, 'delete', await client.del(`/v1/threads/${thread}/checkpoints`), 200);
}
