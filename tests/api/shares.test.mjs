// SPDX-License-Identifier: Apache-2.0
// Shares: links by which others take part in a thread, or get a copy of it.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  expectFault,
  expectProblem,
  expectStatus,
  onPostgres,
  startServer,
  withKey,
} from './lib/server.mjs';
import { followWs, readSse } from './lib/followers.mjs';

const newThread = async (client, body = {}, opts = {}) =>
  expectStatus(await client.post('/v1/threads', body, opts), 201);

const as = (name) => ({ headers: { 'Cairn-Principal': `user:${name}` } });

const share = async (client, thread, body = {}) => expectStatus(
  await client.post(`/v1/threads/${thread}/shares`, { kind: 'participate', ...body }), 201);

const redeem = (client, token, name, more = {}) =>
  client.post('/v1/shares/redeem', { token, ...more }, as(name));

const permissionOf = async (client, thread, name) => {
  const answer = await client.get(`/v1/threads/${thread}/participants/me`, as(name));
  return answer.status === 404 ? null : expectStatus(answer, 200).permission;
};

async function closed(t) {
  const server = await startServer(t);
  const admin = await withKey(server.open, ['operator']);
  return { server, admin };
}

test('a share is made, shown without its token, redeemed, counted and revoked', async (t) => {
  const { server, admin } = await closed(t);
  const { id: thread } = await newThread(admin);
  const made = await share(admin, thread, { label: 'for bob' });
  assert.match(made.token, /^cairn_share_[A-Za-z0-9_-]{64}$/);
  const { token, ...shown } = made;
  assert.deepEqual(shown, {
    id: made.id, thread_id: thread, kind: 'participate', permission: 'read', label: 'for bob',
    max_redemptions: null, expires_at: null, redemptions: 0, revoked_at: null, created_by: null,
    created_at: made.created_at, updated_at: made.created_at, version: 1,
  });
  const at = `/v1/threads/${thread}/shares/${made.id}`;
  assert.deepEqual(
    expectStatus(await admin.get(`/v1/threads/${thread}/shares/${made.id}`), 200), shown);
  assert.deepEqual(
    expectStatus(await admin.get(`/v1/threads/${thread}/shares`), 200).data, [shown]);

  const first = expectStatus(await redeem(admin, token, 'bob', { name: 'Bobby' }), 200);
  assert.deepEqual([first.thread_id, first.kind, first.permission, first.changed],
    [thread, 'participate', 'read', true]);
  assert.equal(expectStatus(
    await admin.get(`/v1/threads/${thread}/participants/me`, as('bob')), 200).name, 'Bobby');
  // Once more gives nothing more, and is not counted.
  assert.deepEqual(expectStatus(await redeem(admin, token, 'bob'), 200),
    { ...first, changed: false });
  const used = expectStatus(await admin.get(at), 200);
  assert.deepEqual([used.redemptions, used.version], [1, 2]);
  const { data } = expectStatus(
    await admin.get(`/v1/threads/${thread}/shares/${made.id}/redemptions`), 200);
  assert.deepEqual(data.map((r) => [r.principal, r.previous_permission, r.active]),
    [['user:bob', null, true]]);

  const revoked = expectStatus(
    await admin.del(`/v1/threads/${thread}/shares/${made.id}`), 200);
  assert.ok(revoked.revoked_at >= revoked.created_at);
  assert.deepEqual(expectStatus(await admin.del(at), 200), revoked);
  assert.equal(await permissionOf(admin, thread, 'bob'), null);
  expectProblem(await redeem(admin, token, 'bob'), 410, 'share_revoked');

  const audit = expectStatus(await admin.get('/v1/audit'), 200).data;
  assert.deepEqual(audit.reverse().map((r) => r.action).filter((a) => a.startsWith('share')),
    ['share.created', 'share.redeemed', 'share.revoked']);
  // The token is in no event, no audit record and no log, and not in the database.
  const random = token.slice(-43);
  assert.ok(!JSON.stringify(audit).includes(random));
  const events = await admin.get(`/v1/threads/${thread}/events`);
  assert.ok(!events.text.includes(random) && !server.stderr.includes(random));
});

test('a replayed answer has no token', async (t) => {
  const { admin } = await closed(t);
  const { id: thread } = await newThread(admin);
  const once = { headers: { 'Idempotency-Key': 'once' } };
  const send = () => admin.post(`/v1/threads/${thread}/shares`, { kind: 'copy' }, once);
  const first = expectStatus(await send(), 201);
  const again = await send();
  assert.equal(again.headers.get('Idempotency-Replayed'), 'true');
  assert.deepEqual(expectStatus(again, 201), { ...first, token: null });
});

test('what cannot be redeemed is told, and a wrong token is unknown', async (t) => {
  const { admin, server } = await closed(t);
  const { id: thread } = await newThread(admin);
  const good = await share(admin, thread, { max_redemptions: 1,
    expires_at: new Date(Date.now() + 3600_000).toISOString() });
  expectProblem(await admin.post('/v1/shares/redeem', { token: good.token }), 409, 'conflict');
  const flipped = good.token.slice(0, -1) + (good.token.endsWith('A') ? 'Q' : 'A');
  for (const token of [flipped, good.token.slice(0, -1), 'cairn_share_', 'x', `${good.token}A`])
    assert.equal(expectProblem(await redeem(admin, token, 'bob'), 404, 'not_found').detail,
      'no share has this token');
  expectStatus(await redeem(admin, good.token, 'bob'), 200);
  expectProblem(await redeem(admin, good.token, 'eve'), 409, 'share_used_up');
  expectStatus(await redeem(admin, good.token, 'bob'), 200);
  const brief = await share(admin, thread,
    { expires_at: new Date(Date.now() + 3600_000).toISOString() });
  server.sql('UPDATE shares SET expires_at = created_at + 1 WHERE expires_at IS NOT NULL');
  expectProblem(await redeem(admin, brief.token, 'eve'), 410, 'share_expired');
  assert.equal(await permissionOf(admin, thread, 'eve'), null);
  const post = (body) => admin.post(`/v1/threads/${thread}/shares`, body);
  expectFault(await post({ kind: 'participate', expires_at: '2020-01-01T00:00:00Z' }), 422,
    'invalid_input', '/expires_at', /future/);
  expectFault(await post({ kind: 'copy', permission: 'read' }), 422, 'invalid_input',
    '/permission');
  expectFault(await post({ kind: 'other' }), 422, 'invalid_input', '/kind');
  expectFault(await post({ kind: 'copy', max_redemptions: 0 }), 422, 'invalid_input',
    '/max_redemptions');
});

test('a share promotes and never demotes, and revoking takes back just what it gave', async (t) => {
  const { admin } = await closed(t);
  const { id: thread } = await newThread(admin);
  const invite = (principal, permission) =>
    admin.post(`/v1/threads/${thread}/participants`, { principal, permission });
  const permissions = async () => Object.fromEntries(await Promise.all(
    ['ann', 'bob', 'cat', 'dan'].map(async (n) => [n, await permissionOf(admin, thread, n)])));
  const ann = expectStatus(await invite('user:ann', 'read_write'), 201);
  expectStatus(await invite('user:bob', 'read'), 201);
  const reading = await share(admin, thread);
  const writing = await share(admin, thread, { permission: 'read_write' });
  for (const name of ['ann', 'bob', 'cat', 'dan'])
    expectStatus(await redeem(admin, reading.token, name), 200);
  assert.deepEqual(await permissions(),
    { ann: 'read_write', bob: 'read', cat: 'read', dan: 'read' });
  for (const name of ['bob', 'cat'])
    assert.equal(expectStatus(await redeem(admin, writing.token, name), 200).changed, true);
  // Dan is given by name what the link gave him too: it is his own from then on.
  const { participant_id: dan } = expectStatus(await redeem(admin, reading.token, 'dan'), 200);
  expectStatus(await admin.patch(`/v1/threads/${thread}/participants/${dan}`,
    { permission: 'read_write' }), 200);
  assert.deepEqual(await permissions(),
    { ann: 'read_write', bob: 'read_write', cat: 'read_write', dan: 'read_write' });

  // Cat joined by the first link, and has also redeemed the second.
  expectStatus(await admin.del(`/v1/threads/${thread}/shares/${reading.id}`), 200);
  assert.deepEqual(await permissions(),
    { ann: 'read_write', bob: 'read_write', cat: 'read_write', dan: 'read_write' });
  expectStatus(await admin.del(`/v1/threads/${thread}/shares/${writing.id}`), 200);
  assert.deepEqual(await permissions(),
    { ann: 'read_write', bob: 'read', cat: null, dan: 'read_write' });

  // A participant that left joins again by a link; a revocation restores no lowered permission.
  expectStatus(await admin.del(`/v1/threads/${thread}/participants/me`, as('ann')), 200);
  const back = await share(admin, thread, { permission: 'read_write' });
  assert.equal(
    expectStatus(await redeem(admin, back.token, 'ann'), 200).participant_id, ann.id);
  expectStatus(await redeem(admin, back.token, 'bob'), 200);
  expectStatus(await admin.patch(`/v1/threads/${thread}/participants/${ann.id}`,
    { permission: 'read' }), 200);
  assert.deepEqual(await permissions(),
    { ann: 'read', bob: 'read_write', cat: null, dan: 'read_write' });
  expectStatus(await admin.del(`/v1/threads/${thread}/shares/${back.id}`), 200);
  assert.deepEqual(await permissions(), { ann: null, bob: 'read', cat: null, dan: 'read_write' });
});

test('whom somebody removed comes back by name alone, not by any share', async (t) => {
  const { admin } = await closed(t);
  const { id: thread } = await newThread(admin, {}, as('alice'));
  const at = `/v1/threads/${thread}`;
  const shareBy = async (name, body) => expectStatus(await admin.post(`${at}/shares`,
    { kind: 'participate', permission: 'read_write', ...body }, as(name)), 201);
  const invitation = await shareBy('alice');
  const { participant_id: bob } = expectStatus(await redeem(admin, invitation.token, 'bob'), 200);
  const own = await shareBy('bob');
  const copies = await shareBy('bob', { kind: 'copy' });
  const shown = await shareBy('alice', { kind: 'copy' });
  expectStatus(await redeem(admin, own.token, 'carol'), 200);

  const removed = expectStatus(
    await admin.del(`${at}/participants/${bob}`, as('alice')), 200);
  assert.deepEqual([removed.active, removed.barred, removed.shares_revoked], [false, true, 2]);
  const { data: events } = expectStatus(await admin.get(`${at}/events?limit=100`), 200);
  const { payload: told } = events.filter((e) => e.payload?.participant_id === bob).at(-1);
  assert.deepEqual([told.changed, told.barred, told.shares_revoked],
    [['active', 'barred'], true, 2]);
  const { data: audit } = expectStatus(await admin.get('/v1/audit?limit=100'), 200);
  assert.deepEqual(audit.filter((a) => a.action === 'share.revoked').map((a) => a.object_id).sort(),
    [own.id, copies.id].sort());

  for (const made of [own, copies])
    expectProblem(await redeem(admin, made.token, 'bob'), 410, 'share_revoked');
  for (const made of [invitation, shown]) {
    const refused = await redeem(admin, made.token, 'bob');
    expectProblem(refused, 403, 'forbidden');
    assert.match(refused.body.detail, /user:bob was removed.*: a share cannot /);
  }
  assert.equal(await permissionOf(admin, thread, 'bob'), null);
  assert.equal(await permissionOf(admin, thread, 'carol'), 'read_write', 'who came by it stays');

  const back = expectStatus(await admin.post(`${at}/participants`,
    { principal: 'user:bob', permission: 'read' }, as('alice')), 201);
  assert.deepEqual([back.id, back.active, back.barred], [bob, true, false]);
  expectStatus(await redeem(admin, invitation.token, 'bob'), 200);
  assert.equal(await permissionOf(admin, thread, 'bob'), 'read_write');

  // Lowering a participant's permission takes access away as well.
  const lowered = expectStatus(
    await admin.patch(`${at}/participants/${bob}`, { permission: 'read' }, as('alice')), 200);
  assert.deepEqual([lowered.permission, lowered.barred], ['read', true]);
  expectProblem(await redeem(admin, invitation.token, 'bob'), 403, 'forbidden');
  assert.equal(await permissionOf(admin, thread, 'bob'), 'read');
  assert.equal(expectStatus(await admin.patch(`${at}/participants/${bob}`,
    { permission: 'read_write' }, as('alice')), 200).barred, false);

  // A participant that leaves may return by a share, unless it is removed afterwards.
  const left = expectStatus(await admin.del(`${at}/participants/me`, as('bob')), 200);
  assert.deepEqual([left.active, left.barred, 'shares_revoked' in left], [false, false, false]);
  expectStatus(await redeem(admin, invitation.token, 'bob'), 200);
  expectStatus(await admin.del(`${at}/participants/me`, as('bob')), 200);
  const after = expectStatus(await admin.del(`${at}/participants/${bob}`, as('alice')), 200);
  assert.equal(after.barred, true);
  expectProblem(await redeem(admin, invitation.token, 'bob'), 403, 'forbidden');
});

test('who may only read sees neither shares nor who redeemed them', async (t) => {
  const { admin } = await closed(t);
  const { id: thread } = await newThread(admin, {}, as('alice'));
  const { id, token } = await share(admin, thread);
  expectStatus(await redeem(admin, token, 'bob'), 200);
  const shares = `/v1/threads/${thread}/shares`;
  for (const path of [shares, `${shares}/${id}`, `${shares}/${id}/redemptions`]) {
    expectProblem(await admin.get(path, as('bob')), 403, 'forbidden');
    expectProblem(await admin.get(path, as('stranger')), 404, 'not_found');
    expectStatus(await admin.get(path, as('alice')), 200);
  }
});

test('many who redeem at once are counted exactly', async (t) => {
  const { server, admin } = await closed(t);
  const other = server.db === null ? admin : (await server.join()).client(admin.secret);
  const { id: thread } = await newThread(admin);
  const made = await share(admin, thread, { max_redemptions: 5 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) =>
    redeem(i % 2 ? admin : other, made.token, `user${i % 10}`)));
  const won = new Set(answers.flatMap((a, i) => (a.status === 200 ? [i % 10] : [])));
  assert.equal(won.size, 5);
  for (const answer of answers.filter((a) => a.status !== 200))
    expectProblem(answer, 409, 'share_used_up');
  assert.equal(expectStatus(
    await admin.get(`/v1/threads/${thread}/shares/${made.id}`), 200).redemptions, 5);
});

async function expectStreamsEnd(admin, there) {
  const { id: thread } = await newThread(admin);
  const made = await share(admin, thread);
  expectStatus(await redeem(admin, made.token, 'bob'), 200);
  const ws = followWs(there, `/v1/threads/${thread}/events/ws`, as('bob'));
  const sse = readSse(there, `/v1/threads/${thread}/events/stream`, as('bob'));
  await Promise.all([ws.hears(3), sse.hears(3)]); // the third: bob is online
  expectStatus(await admin.del(`/v1/threads/${thread}/shares/${made.id}`), 200);
  expectStatus(await admin.post(`/v1/threads/${thread}/events`, { kind: 'progress' }), 201);
  assert.deepEqual(await ws.ended, { code: 1008, reason: 'access_ended cursor=3' });
  assert.deepEqual(await sse.ended, { reason: 'access_ended', cursor: '3' });
  assert.deepEqual([ws.heard.length, sse.heard.length], [3, 3]);
}

test('revoking a share ends the streams of those who came by it', async (t) => {
  const { admin } = await closed(t);
  await expectStreamsEnd(admin, admin);
});

test('revoking a share on one node ends the streams on another', onPostgres('several nodes'),
  async (t) => {
    const { server, admin } = await closed(t);
    await expectStreamsEnd(admin, (await server.join()).client(admin.secret));
  });

/** n calls, some at a time. */
async function calls(n, act) {
  for (let from = 0; from < n; from += 50)
    await Promise.all(Array.from({ length: Math.min(50, n - from) }, (_, i) => act(from + i)));
}

test('a copy has at most 1,000 objects of a kind, and 8 MiB of them', async (t) => {
  const { admin } = await closed(t);
  const messages = async (thread, i, content) => expectStatus(
    await admin.post(`/v1/threads/${thread}/messages`, { content }), 201);
  const put = async (thread, i, type, body) => expectStatus(
    await admin.put(`/v1/threads/${thread}/${type}/${i}`, body,
      { headers: { 'If-Match': '*' } }), 201);
  const file = async (thread, i, metadata) => {
    expectStatus(await admin.put(`/v1/threads/${thread}/files/${i}`, { i }), 201);
    if (metadata)
      expectStatus(await admin.patch(`/v1/threads/${thread}/files/${i}/info`, { metadata }), 200);
  };
  const removed = async (thread, i) => {
    await file(thread, i);
    expectStatus(await admin.del(`/v1/threads/${thread}/files/${i}`), 204);
  };
  const text = (bytes) => 'x'.repeat(bytes);
  const rules = (what) => new RegExp(`^the thread has more than 1000 ${what}, the maximum`);
  const bytes = (what) => new RegExp(`^the ${what} of the thread have more than 8388608 bytes`);
  // Metadata and filenames of a message, {} and [], count too, and the frame of a document.
  for (const [most, add, rule] of [
    [1000, (thread, i) => messages(thread, i, 'x'), rules('messages')],
    [1000, file, rules('files')],
    [1000, removed, rules('deleted files')],
    [1000, (thread, i) => put(thread, i, 'states', { data: {} }), rules('state documents')],
    [32, (thread, i) => messages(thread, i, text(2 ** 18 - 4)), bytes('messages')],
    [8, (thread, i) => put(thread, i, 'states', { data: { x: text(2 ** 20 - 8) } }),
      bytes('state documents')],
    [512, (thread, i) => file(thread, i, { x: text(2 ** 14 - 8) }), bytes('files')],
  ])
    await t.test(`${rule.source}`, async () => {
      const { id } = await newThread(admin);
      const made = await share(admin, id, { kind: 'copy' });
      await calls(most, (i) => add(id, i));
      const refused = async () => {
        const answer = await redeem(admin, made.token, 'carol');
        expectStatus(answer, 409);
        assert.match(answer.body.detail, rule);
      };
      const copy = expectStatus(await redeem(admin, made.token, 'bob'), 200).thread_id;
      await add(id, most);
      // Bob has a copy already; carol would need a new one.
      assert.equal(expectStatus(await redeem(admin, made.token, 'bob'), 200).thread_id, copy);
      await refused();
      const shares = await admin.get(`/v1/threads/${id}/shares`);
      assert.equal(expectStatus(shares, 200).data[0].redemptions, 1);
    });
});

test('a copy has what the thread had, and belongs to whoever redeemed the share', async (t) => {
  const { admin } = await closed(t);
  const source = await newThread(admin, { title: 'T', metadata: { k: 'v' }, context: { a: 1 } });
  const say = async (content, more = {}, opts = {}) => expectStatus(
    await admin.post(`/v1/threads/${source.id}/messages`, { content, ...more }, opts), 201);
  expectStatus(await admin.post(`/v1/threads/${source.id}/participants`,
    { principal: 'user:bob' }), 201);
  const question = await say('question', {}, as('bob'));
  const gone = await say('gone');
  expectStatus(await admin.del(`/v1/threads/${source.id}/messages/${gone.id}`), 204);
  await say('answer', { responds_to: question.id, metadata: { debug: { x: 1 } } });
  expectStatus(await admin.put(`/v1/threads/${source.id}/states/plan`, { data: { step: 1 } },
    { headers: { 'If-Match': '*' } }), 201);
  const file = `/v1/threads/${source.id}/files/notes.txt`;
  for (const raw of ['one', 'two'])
    expectStatus(await admin.put(file, undefined, { raw, type: 'text/plain' }),
      raw === 'one' ? 201 : 200);
  const made = await share(admin, source.id, { kind: 'copy' });
  const first = expectStatus(await redeem(admin, made.token, 'bob'), 200);
  assert.notEqual(first.thread_id, source.id);
  assert.deepEqual([first.kind, first.permission, first.changed], ['copy', 'read_write', true]);
  assert.deepEqual(expectStatus(await redeem(admin, made.token, 'bob'), 200),
    { ...first, changed: false });
  const eve = expectStatus(await redeem(admin, made.token, 'eve'), 200);
  assert.notEqual(eve.thread_id, first.thread_id);

  const copy = expectStatus(await admin.get(`/v1/threads/${first.thread_id}`, as('bob')), 200);
  assert.deepEqual([copy.title, copy.context, copy.metadata], ['T', { a: 1 },
    { k: 'v', copied_from: source.id, copied_by_share: made.id }]);
  const messages = async (thread, name) => expectStatus(
    await admin.get(`/v1/threads/${thread}/messages`, as(name)), 200).data;
  const mine = (await messages(first.thread_id, 'bob')).sort((a, b) => a.seq - b.seq);
  assert.deepEqual(mine.map((m) => [m.content, m.sender_role]),
    [['question', 'user'], ['answer', 'service']]);
  assert.deepEqual(mine.map((m) => m.sender_id), [first.participant_id, null]);
  assert.equal(mine[1].responds_to, mine[0].id);
  assert.notEqual(mine[0].id, question.id);
  assert.equal((await messages(eve.thread_id, 'eve')).find((m) => m.content === 'question')
    .sender_id, null);
  const state = expectStatus(
    await admin.get(`/v1/threads/${first.thread_id}/states/plan`, as('bob')), 200);
  assert.deepEqual([state.data, state.version], [{ step: 1 }, 1]);
  const notes = `/v1/threads/${first.thread_id}/files/notes.txt`;
  const copied = await admin.get(notes, as('bob'));
  assert.deepEqual([copied.status, copied.text], [200, 'two']);
  expectStatus(await admin.del(file), 204);
  assert.equal((await admin.get(notes, as('bob'))).text, 'two');
  const people = expectStatus(
    await admin.get(`/v1/threads/${first.thread_id}/participants`, as('bob')), 200).data;
  assert.deepEqual(people.map((p) => [p.principal, p.permission]), [['user:bob', 'read_write']]);
  // Later messages follow the copied ones.
  const later = expectStatus(await admin.post(`/v1/threads/${first.thread_id}/messages`,
    { content: 'later' }, as('bob')), 201);
  assert.ok(later.seq > mine[1].seq);
  const { data } = expectStatus(
    await admin.get(`/v1/threads/${first.thread_id}/events`, as('bob')), 200);
  assert.deepEqual(data.map((e) => e.kind),
    ['conversation.created', 'participant.created', 'message.created']);
  // A copy is one's own: revoking the share takes none back.
  expectStatus(await admin.del(`/v1/threads/${source.id}/shares/${made.id}`), 200);
  assert.equal(await permissionOf(admin, first.thread_id, 'bob'), 'read_write');
  expectProblem(await admin.get(`/v1/threads/${first.thread_id}`, as('eve')), 404, 'not_found');
});
