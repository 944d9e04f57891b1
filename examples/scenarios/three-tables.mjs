// SPDX-License-Identifier: Apache-2.0
// A run of an engine that stores an agent in three tables: its configuration, its conversations and
// the log of its actions. The first run is stored when it has ended, with one call for each table;
// the second one while it works, so that it can be followed and resumed.
import { call, prepare, report } from './cairn.mjs';

const { id: agent } = await prepare('POST', '/v1/threads', { title: 'Charts' });
const config = `/v1/threads/${agent}/resumption`;
await prepare('PUT', config, { system_prompt: 'You draw charts.', model: 'm' },
  { 'If-None-Match': '*' });

const messages = (n) => [
  { role: 'user', content: `Create chart ${n}` },
  { role: 'assistant', content: `Here is chart ${n}.` },
];
const steps = (n) => [
  {
    action_type: 'api_response_received', step_number: 1, duration_ms: 1845,
    action_data: { stop_reason: 'tool_use', usage: { input_tokens: 450, output_tokens: 120 } },
  },
  {
    action_type: 'tool_execution', step_number: 1, duration_ms: 850,
    action_data: { tool_name: 'bash', tool_use_id: `toolu_${n}`, success: true },
  },
  {
    action_type: 'api_response_received', step_number: 2, duration_ms: 900,
    action_data: { stop_reason: 'end_turn', usage: { input_tokens: 600, output_tokens: 40 } },
  },
];
const end = (n) => ({
  status: 'completed',
  stop_reason: 'end_turn',
  content: `Here is chart ${n}.`,
  messages: messages(n),
  generated_files: [{ file_id: `file_${n}`, filename: 'chart.png' }],
  extras: { credits_used: 42 },
  reply: true,
});
const any = { 'If-Match': '*', 'Content-Type': 'application/merge-patch+json' };

// After its end: a row of conversation_history, the rows of agent_runs, the row of agent_config.
const first = await call('conversation_history', 'POST', `/v1/threads/${agent}/runs`,
  { dispatch: 'direct', user_input: 'Create chart 1', model: 'm', ...end(1) });
await call('agent_runs', 'POST', `/v1/runs/${first.id}/steps`, { steps: steps(1) });
await call('agent_config', 'PATCH', config,
  { messages: messages(1), last_known_input_tokens: 600, last_known_output_tokens: 40 }, any);

// While it works. Cairn logs the start and the end of both runs itself.
await call('engine loads agent_config', 'GET', config);
const second = await call('engine starts', 'POST', `/v1/threads/${agent}/runs`,
  { dispatch: 'direct', user_input: 'Create chart 2', model: 'm' });
await call('engine logs its steps', 'POST', `/v1/runs/${second.id}/steps`, { steps: steps(2) });
await call('engine finishes', 'PATCH', `/v1/runs/${second.id}`, end(2));
await call('engine saves agent_config', 'PATCH', config,
  { messages: messages(2), last_known_input_tokens: 600, last_known_output_tokens: 40 }, any);
report({ agent_uuid: agent, runs: [first.id, second.id] });
