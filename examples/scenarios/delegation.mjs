// SPDX-License-Identifier: Apache-2.0
// A message to a team that delegates it to a member: the run of the team starts on the session with
// the user's message, the run of the member is recorded when it has ended, and the run of the team
// ends with its answer. Sessions and runs then are in the view agno_sessions.
import { call, prepare, report } from './cairn.mjs';

const suffix = process.pid;
const team = await prepare('POST', '/v1/agents', { name: `NotebookLM ${suffix}`, kind: 'team' });
const researcher = await prepare('POST', '/v1/agents', { name: `Researcher ${suffix}` });
const session = `session-${suffix}`;

const question = 'recommend books for a 9yo girl';
const leader = await call('team starts', 'POST', `/v1/agents/${team.id}/runs`,
  { thread_key: session, dispatch: 'direct', input: { message: question } });

const found = 'Matilda; Anne of Green Gables';
const member = await call('member reports', 'POST', `/v1/agents/${researcher.id}/runs`, {
  thread_id: leader.thread_id,
  parent_run_id: leader.run_id,
  input: { message: 'Find books for girls of 9 years' },
  status: 'completed',
  content: found,
  messages: [
    { role: 'user', content: 'Find books for girls of 9 years' },
    { role: 'assistant', content: found },
  ],
  usage: { model: 'small', input_tokens: 900, output_tokens: 120 },
});
const answer = `You could try: ${found}.`;
await call('team answers', 'PATCH', `/v1/runs/${leader.run_id}`, {
  status: 'completed',
  content: answer,
  messages: [{ role: 'user', content: question }, { role: 'assistant', content: answer }],
  usage: { model: 'large', input_tokens: 1500, output_tokens: 80 },
  append: true,
  reply: true,
});
report({ session, thread_id: leader.thread_id, run_id: leader.run_id, member_run_id: member.run_id });
