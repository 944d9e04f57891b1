// SPDX-License-Identifier: Apache-2.0
// A worker in a process of its own, for tests that stop it with SIGSTOP: claims a run, then repeats
// every write of a worker, even after errors. Each line of its output is one round: the statuses of
// the responses, and the codes of the rejections.
//
//   node stopped-worker.mjs URL THREAD LEASE_MS
const [url, threadId, leaseMs] = process.argv.slice(2);

async function send(method, path, body, fence) {
  const answer = await fetch(url + path, {
    method,
    body: body && JSON.stringify(body),
    headers: {
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(fence ? { 'Cairn-Fencing-Token': String(fence) } : {}),
    },
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
}

const { body: run } = await send('POST', '/v1/runs/claim',
  { worker: 'sleeper', thread_id: threadId, lease_ms: Number(leaseMs) });
const WRITES = [
  ['POST', `/v1/runs/${run.id}/heartbeat`, { lease_ms: Number(leaseMs) }],
  ['POST', `/v1/threads/${threadId}/events`, { kind: 'progress', run_id: run.id }],
  ['POST', `/v1/threads/${threadId}/events`, { events: [{ kind: 'progress' }] }],
  ['PATCH', `/v1/runs/${run.id}`, { state: { by: 'sleeper' } }],
  ['PATCH', `/v1/threads/${threadId}`, { context: { by: 'sleeper' } }],
];
// Once it has lost the run it tries to be done with it too.
const LAST = [
  ['POST', `/v1/runs/${run.id}/release`],
  ['PATCH', `/v1/runs/${run.id}`, { status: 'completed', final_output: 'mine' }],
];
for (let lost = false; ; await new Promise((done) => setTimeout(done, 20))) {
  const answers = [];
  for (const [method, path, body] of lost ? [...WRITES, ...LAST] : WRITES)
    answers.push(await send(method, path, body, run.fence));
  lost = answers.some((answer) => answer.status === 409);
  console.log(JSON.stringify({ fence: run.fence, run: run.id,
    statuses: answers.map((answer) => answer.status),
    codes: answers.map((answer) => answer.body?.code) }));
}
