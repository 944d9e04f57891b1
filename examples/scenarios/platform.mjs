// SPDX-License-Identifier: Apache-2.0
// A run of an agent platform: the agent puts a checkpoint and calls a tool in a turn; its process
// dies; another process recovers the state, continues with the result of the tool, and ends the
// run. Then the run is replayed from the checkpoint with a changed state.
import { call, prepare, report } from './cairn.mjs';

const { id: agent } = await prepare('POST', '/v1/agents', {
  name: `Librarian ${process.pid}`,
  system_prompt: { role: 'a librarian', instructions: 'Recommend books.' },
  llm_config: { default_model: 'large' },
});

const question = 'recommend books for a 9yo girl';
const { run_id, thread_id } = await call('client starts', 'POST', `/v1/agents/${agent}/runs`,
  { input: { message: question }, dispatch: 'direct' });
const run = `/v1/agents/${agent}/runs/${run_id}`;
const said = { role: 'user', content: question };
const checkpoint = await call('engine saves its state', 'POST',
  `/v1/threads/${thread_id}/checkpoints`, {
    run_id,
    node: 'agent',
    channel_values: { messages: [said], audience: '9yo' },
    channel_versions: { messages: 1, audience: 1 },
    pending_sends: [{ channel: 'tools', value: { tool: 'search', tool_use_id: 'toolu_1' } }],
  });
await call('engine ends a turn with a tool call', 'POST', `${run}/turns`, {
  input: { message: question },
  output: {
    message: 'Let me look.',
    tool_calls: [{ id: 'toolu_1', name: 'search', input: { age: 9 } }],
    status: 'awaiting_tool',
  },
  checkpoint_id: checkpoint.id,
  usage: { tokens_in: 1200, tokens_out: 80 },
});

// The process of the engine has died. Another one knows only the id of the run.
const recovered = await call('another engine recovers', 'GET', `${run}/recovery`);
const [send] = recovered.pending_sends;
await call('it continues with the result', 'POST', `${run}/turns`, {
  input: { tool_results: [{ tool_use_id: send.value.tool_use_id, content: 'Matilda' }] },
  output: { message: 'You could try Matilda.' },
  usage: { tokens_in: 1300, tokens_out: 20 },
});
await call('it ends the run', 'PATCH', `/v1/runs/${run_id}`,
  { status: 'completed', content: 'You could try Matilda.', reply: true });

// Time travel: the same question for another audience.
const { new_run_id } = await call('client replays', 'POST', `${run}/replay`, {
  checkpoint_id: checkpoint.id, modified_state: { audience: '12yo' }, dispatch: 'direct',
});
await call('engine ends the replay', 'PATCH', `/v1/runs/${new_run_id}`,
  { status: 'completed', content: 'You could try The Hobbit.', reply: true });
report({ thread_id, run_id, new_run_id, recovered: recovered.recovered_state });
