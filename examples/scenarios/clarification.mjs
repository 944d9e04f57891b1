// SPDX-License-Identifier: Apache-2.0
// A turn with a clarification, by the workflow façade: a client asks, the engine asks back, the
// client answers, the engine reports progress and finishes. The answer of each call has all that its
// caller needs next.
import { call, report } from './cairn.mjs';

const started = await call('client', 'POST', '/workflow/start',
  { user_input: 'What did we decide?', ask_clarifications: true });
const { workflow_id, run_id } = started;

// The engine has the context, preferences and important steps from the answer.
await call('engine asks', 'PATCH', `/v1/runs/${run_id}`, {
  status: 'waiting_for_input',
  state: { phase: 'clarify', pending_input: { question: 'In which month?' } },
});
const resumed = await call('client answers', 'POST', `/workflow/input/${workflow_id}`,
  { input: 'March' });
await call('engine reports progress', 'POST', `/v1/threads/${workflow_id}/events`, {
  events: [
    { kind: 'progress', text: `Searching the decisions of ${resumed.run.input}`, run_id },
    { kind: 'progress', text: 'Found 2 of them', run_id },
  ],
});
// The answer, its place in the conversation, and the end of the run.
await call('engine finishes', 'PATCH', `/v1/runs/${run_id}`, {
  status: 'completed',
  content: 'To ship in May.',
  final_output: { answer: 'To ship in May.' },
  append: true,
  reply: true,
});
const shown = await call('client shows the answer', 'GET', `/workflow/${workflow_id}`);
report({ workflow_id, run_id, answer: shown.run.final_output.answer, context: shown.context });
