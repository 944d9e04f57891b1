// SPDX-License-Identifier: Apache-2.0
// The start of a run creates the message of the user, so that the messages are the conversation.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectFault, expectStatus, readAll, startServer } from './lib/server.mjs';

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201).id;
const messagesOf = async (client, thread) =>
  expectStatus(await client.get(`/v1/threads/${thread}/messages?after=0`), 200).data;
const start = async (client, thread, body) =>
  expectStatus(await client.post(`/v1/threads/${thread}/runs`, body), 201);

test('the message of a start', async (t) => {
  const { open } = await startServer(t);

  await t.test('is the input of the user, sent by the user and of the run', async () => {
    const thread = await newThread(open);
    const run = await start(open, thread, { user_input: 'Recommend books', dispatch: 'direct' });
    const [message, ...others] = await messagesOf(open, thread);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [message.content, message.type, message.sender_role, message.sender_id, message.run_id],
      ['Recommend books', 'chat', 'user', null, run.id]);
    const kinds = (await readAll(open, `/v1/threads/${thread}/events`)).map((e) => e.kind);
    assert.ok(kinds.indexOf('message.created') < kinds.indexOf('status'), kinds.join());
    const { data: [found] } = expectStatus(
      await open.get(`/v1/threads/${thread}/messages/search?q=books`), 200);
    assert.equal(found.id, message.id);
  });

  await t.test('is that of an agent\'s run, too', async () => {
    const { id } = expectStatus(await open.post('/v1/agents', { name: 'librarian' }), 201);
    const run = expectStatus(
      await open.post(`/v1/agents/${id}/runs`, { input: { message: 'For a girl of nine' } }), 201);
    const [message] = await messagesOf(open, run.thread_id);
    assert.deepEqual([message.content, message.run_id], ['For a girl of nine', run.id]);
    const quiet = expectStatus(await open.post(`/v1/agents/${id}/runs`,
      { input: { message: 'For a girl of nine' }, message: false }), 201);
    assert.deepEqual(await messagesOf(open, quiet.thread_id), []);
  });

  await t.test('is that of a workflow, too', async () => {
    const made = expectStatus(await open.post('/workflow/start', { user_input: 'Hello' }), 201);
    const [message] = await messagesOf(open, made.workflow_id);
    assert.deepEqual([message.content, message.run_id], ['Hello', made.run_id]);
  });

  await t.test('is created unless the request rejects it, and by default not for a child',
    async () => {
      const thread = await newThread(open);
      const parent = await start(open, thread,
        { user_input: 'quiet', message: false, dispatch: 'direct' });
      await start(open, thread, { user_input: 'instruction', parent_run_id: parent.id });
      assert.deepEqual(await messagesOf(open, thread), []);
      await start(open, thread, { user_input: 'told', message: true, parent_run_id: parent.id });
      assert.deepEqual((await messagesOf(open, thread)).map((m) => m.content), ['told']);
      const other = await newThread(open);
      await start(open, other, { dispatch: 'direct' });
      assert.deepEqual(await messagesOf(open, other), [], 'there is no input');
      expectFault(await open.post(`/v1/threads/${other}/runs`, { message: 'text' }), 422,
        'invalid_input', '/message', /true or false|bool/);
    });

  await t.test('a start that is rejected creates none', async () => {
    const thread = await newThread(open);
    await start(open, thread, { dispatch: 'direct' });
    assert.equal((await open.post(`/v1/threads/${thread}/runs`, { user_input: 'x' })).status, 409);
    assert.deepEqual(await messagesOf(open, thread), []);
  });

  await t.test('a principal sends it as itself', async () => {
    const anna = { headers: { 'Cairn-Principal': 'user:anna' } };
    const { id: thread } = expectStatus(await open.post('/v1/threads', {}, anna), 201);
    expectStatus(await open.post(`/v1/threads/${thread}/runs`, { user_input: 'Hi' }, anna), 201);
    const { data: [self] } = expectStatus(
      await open.get(`/v1/threads/${thread}/participants`), 200);
    const [message] = await messagesOf(open, thread);
    assert.deepEqual([message.sender_role, message.sender_id], ['user', self.id]);
  });
});
