// SPDX-License-Identifier: Apache-2.0
// A conversation of a workbench: a user invites an assistant and shares a file, the assistant keeps
// its state, answers and writes the next version of the file; a second user joins by a share link
// and loses the connection, and later reads the missed events.
import { call, prepare, report } from './cairn.mjs';

const { id: planner } = await prepare('POST', '/v1/agents',
  { name: `Planner ${process.pid}`, granted_to: ['user:*'] });
const ann = { 'Cairn-Principal': 'user:ann' };
const bob = { 'Cairn-Principal': 'user:bob' };
const assistant = { 'Cairn-Principal': `agent:${planner}` };
const text = { 'Content-Type': 'text/plain' };

const { id } = await call('Ann opens a conversation', 'POST', '/v1/threads', { title: 'Trip' }, ann);
const conversation = `/v1/threads/${id}`;
await call('Ann invites the assistant', 'POST', `${conversation}/participants`,
  { principal: `agent:${planner}`, role: 'assistant', name: 'Planner' }, ann);
await call('Ann uploads a file', 'PUT', `${conversation}/files/ideas.txt`, 'Norway\n',
  { ...text, ...ann });
await call('Ann asks', 'POST', `${conversation}/messages`,
  { content: 'Where could we go?', filenames: ['ideas.txt'] }, ann);

// A link that lets a second person take part. The token is shown once.
const { token } = await call('Ann shares the conversation', 'POST', `${conversation}/shares`,
  { kind: 'participate', permission: 'read_write' }, ann);
await call('Bob opens the link', 'POST', '/v1/shares/redeem', { token }, bob);
const { next_cursor: seen } = await call('Bob reads the events', 'GET', `${conversation}/events`,
  undefined, bob);

// Bob is offline from here on.
await call('the assistant keeps its state', 'PUT',
  `${conversation}/agents/${planner}/states/plan`,
  { data: { goal: 'fjords' }, json_schema: { properties: { goal: { type: 'string' } } } },
  { 'If-None-Match': '*', ...assistant });
await call('the assistant writes a version', 'PUT', `${conversation}/files/ideas.txt`,
  'Norway\nIceland\n', { ...text, ...assistant });
await call('the assistant answers', 'POST', `${conversation}/messages`,
  { content: 'To Norway or Iceland.', filenames: ['ideas.txt'] }, assistant);
const missed = await call('Bob is back and reads what he missed', 'GET',
  `${conversation}/events?after=${seen}`, undefined, bob);
report({ thread_id: id, agent_id: planner, missed: missed.data.map((event) => event.kind) });
