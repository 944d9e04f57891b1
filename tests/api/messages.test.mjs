// SPDX-License-Identifier: Apache-2.0
// Messages: send, page, edit, delete, search, commands; what is kept apart and who sees it.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  eventually, expectFault, expectProblem, expectSound, expectStatus, startServer, twoTenants, uuid,
} from './lib/server.mjs';

const MERGE = { type: 'application/merge-patch+json' };

const newThread = async (client) => expectStatus(await client.post('/v1/threads', {}), 201).id;
const send = async (client, thread, body) =>
  expectStatus(await client.post(`/v1/threads/${thread}/messages`, body), 201);
const refuse = async (client, thread, body, pointer, rule) =>
  expectFault(
    await client.post(`/v1/threads/${thread}/messages`, body), 422, 'invalid_input', pointer, rule);
const list = async (client, thread, query = '') =>
  expectStatus(await client.get(`/v1/threads/${thread}/messages?${query}`), 200);
const read = async (client, thread, id, query = '') =>
  expectStatus(await client.get(`/v1/threads/${thread}/messages/${id}?${query}`), 200);
const find = async (client, thread, q, more = '') =>
  expectStatus(
    await client.get(`/v1/threads/${thread}/messages/search?q=${encodeURIComponent(q)}${more}`),
    200,
  );
const found = async (client, thread, q) =>
  (await find(client, thread, q)).data.map((m) => m.content);
const events = async (client, thread, kind) =>
  expectStatus(await client.get(`/v1/threads/${thread}/events?limit=1000`), 200)
    .data.filter((e) => kind === undefined || e.kind === kind);

test('messages of a thread', async (t) => {
  const server = await startServer(t);
  const { open } = server;

  await t.test('a message has every member from the start, with defaults', async () => {
    const thread = await newThread(open);
    const answer = await open.post(`/v1/threads/${thread}/messages`, { content: 'Hello' });
    const { id, created_at: created, updated_at: updated, ...rest } = expectStatus(answer, 201);
    assert.deepEqual(rest, {
      content: 'Hello', content_type: 'text/plain', metadata: {}, filenames: [],
      thread_id: thread, seq: 2, sender_id: null, sender_role: 'service', type: 'chat',
      run_id: null, responds_to: null, addressed_to: null, has_debug: false, responses: [],
      deleted_at: null, version: 1,
    });
    assert.equal(created, updated);
    assert.equal(answer.headers.get('ETag'), '"1"');
    assert.deepEqual(await read(open, thread, id), answer.body);
    const event = (await events(open, thread)).at(-1);
    assert.equal(event.kind, 'message.created');
    assert.equal(event.seq, 2);
    assert.deepEqual(event.payload, {
      message_id: id, type: 'chat', sender_id: null, sender_role: 'service', content: 'Hello',
      content_bytes: 5, content_type: 'text/plain', metadata: {}, filenames: [], has_debug: false,
      responds_to: null, version: 1,
    });
    const again = await open.get(`/v1/threads/${thread}/messages/${id}`,
      { headers: { 'If-None-Match': '"1"' } });
    assert.equal(again.status, 304);
  });

  await t.test('what breaks a rule is refused with its place, and changes nothing', async () => {
    const thread = await newThread(open);
    const other = await newThread(open);
    const run = expectStatus(await open.post(`/v1/threads/${other}/runs`, {}), 201).id;
    const theirs = await send(open, other, { content: 'x' });
    const content = 'x';
    await refuse(open, thread, {}, '/content', /must be given/);
    await refuse(open, thread, { content: 5 }, '/content', /string/);
    await refuse(open, thread, { content: 'x'.repeat(1024 * 1024 + 1) }, '/content', /1048576/);
    await refuse(open, thread, { content, type: 'shout' }, '/type', /one of/);
    await refuse(open, thread, { content, run_id: run }, '/run_id', /of this thread/);
    await refuse(open, thread, { content, sender_id: uuid() }, '/sender_id', /participant/);
    await refuse(open, thread, { content, responds_to: theirs.id }, '/responds_to', /this thread/);
    await refuse(open, thread, { content, addressed_to: uuid() }, '/addressed_to',
      /^is allowed only for a command$/);
    await refuse(open, thread, { content, content_type: 'bad' }, '/content_type', /media type/);
    await refuse(open, thread, { content: '/go', type: 'command', addressed_to: uuid() },
      '/addressed_to', /active participant/);
    await refuse(open, thread, { content, filenames: ['a.txt'] }, '/filenames/0', /file of this/);
    await refuse(open, thread, { content, filenames: [1] }, '/filenames/0', /string/);
    await refuse(open, thread, { content, metadata: { k: 'x'.repeat(100 * 1024) } },
      '/metadata', /102400 bytes/);
    await refuse(open, thread, { content, metadata: { debug: { k: 'x'.repeat(1024 * 1024) } } },
      '/metadata/debug', /1048576 bytes/);
    await refuse(open, thread, { content, type: 'command-response' }, '/responds_to', /command/);
    await refuse(open, thread, { messages: [{ content }, { content, type: 'x' }] },
      '/messages/1/type', /one of/);
    await refuse(open, thread, { messages: [{ content }, {}] }, '/messages/1/content', /given/);
    await refuse(open, thread, { messages: [{ content }, { content, metadata: { href: 1 } }] },
      '/messages/1/metadata/href', /string/);
    await refuse(open, thread, { content, messages: [{ content }] }, '/messages',
      /must be the only member/);
    await refuse(
      open, thread, { messages: Array(101).fill({ content }) }, '/messages', /100 items/);
    assert.deepEqual((await list(open, thread)).data, []);
    assert.equal((await events(open, thread)).length, 1);
  });

  await t.test('the members of the metadata that mean something are checked', async () => {
    const thread = await newThread(open);
    const bad = {
      '/metadata/attribution': [{ attribution: 1 }],
      '/metadata/href': ['javascript:alert(1)', 'JavaScript:x', ' javascript:x', 'java\tscript:x',
        'data:text/html,x', 'mailto:a@b', '', ':x', 'a b',
        'http:', 'http:///', 'https://?x'].map((href) => ({ href })),
      '/metadata/footer_items': [{ footer_items: 1 }, { footer_items: {} }],
      '/metadata/footer_items/1': [{ footer_items: ['a', 2] }],
      '/metadata/tool_calls': [{ tool_calls: {} }],
      '/metadata/tool_calls/0': [{ tool_calls: ['x'] }],
      '/metadata/tool_calls/0/id': [{ tool_calls: [{ name: 'n' }] }],
      '/metadata/tool_calls/0/name': [{ tool_calls: [{ id: 'i', name: '' }] }],
      '/metadata/tool_calls/0/arguments': [{ tool_calls: [{ id: 'i', name: 'n', arguments: [] }] }],
      '/metadata/tool_result': [{ tool_result: 'x' }],
      '/metadata/tool_result/tool_call_id': [{ tool_result: { content: 1 } }],
      '/metadata/tool_result/content': [{ tool_result: { tool_call_id: 'i' } }],
      '/metadata/debug': [{ debug: 'x' }],
    };
    for (const [pointer, cases] of Object.entries(bad))
      for (const metadata of cases)
        await refuse(open, thread, { content: 'x', metadata }, pointer);
    const metadata = {
      attribution: 'the archive', href: 'https://example.org/a?b#c', footer_items: ['a', 'b'],
      tool_calls: [{ id: '1', name: 'search', arguments: { q: 'x' }, extra: true }],
      tool_result: { tool_call_id: '1', content: null }, mine: [1],
    };
    assert.deepEqual((await send(open, thread, { content: '', metadata })).metadata, metadata);
    for (const href of ['/files/a', 'b', '?q', '#x', 'HTTP://a', './a:b'])
      await send(open, thread, { content: 'x', metadata: { href } });
  });

  await t.test('debug is kept apart, and shown only to who asks', async () => {
    const thread = await newThread(open);
    const debug = { trace: 'x'.repeat(200 * 1024) };
    const made = await send(open, thread, { content: 'x', metadata: { debug, a: 1 } });
    assert.deepEqual([made.metadata, made.has_debug], [{ a: 1 }, true]);
    assert.deepEqual((await read(open, thread, made.id)).metadata, { a: 1 });
    const asked = await read(open, thread, made.id, 'include=debug');
    assert.deepEqual(asked.metadata, { debug, a: 1 });
    assert.deepEqual((await list(open, thread)).data[0].metadata, { a: 1 });
    assert.deepEqual((await list(open, thread, 'include=debug')).data[0].metadata, { debug, a: 1 });
    const path = `/v1/threads/${thread}/messages/${made.id}`;
    assert.deepEqual(
      expectStatus(await open.get(`/v1/threads/${thread}/messages/${made.id}/debug`), 200),
      { message_id: made.id, debug });
    assert.ok(!JSON.stringify(await events(open, thread)).includes('trace'));
    const edited = expectStatus(await open.patch(path, { metadata: { a: 2 } }, MERGE), 200);
    assert.deepEqual([edited.metadata, edited.has_debug], [{ a: 2 }, true], 'an edit keeps it');
    const cleared = expectStatus(
      await open.patch(path, { metadata: { debug: null } }, MERGE), 200);
    assert.deepEqual([cleared.metadata, cleared.has_debug], [{ a: 2 }, false]);
    assert.deepEqual((await read(open, thread, made.id, 'include=debug')).metadata, { a: 2 });
    const versions = expectStatus(await open.get(`${path}/versions?include=debug`), 200).data;
    assert.deepEqual(versions.map((v) => v.metadata), [{ debug, a: 2 }, { debug, a: 1 }]);
  });

  await t.test('a large message is told by its beginning', async () => {
    const thread = await newThread(open);
    const content = `${'ж'.repeat(8191)}€${'x'.repeat(900_000)}`;
    const made = await send(open, thread, { content, metadata: { k: 'y'.repeat(90_000) } });
    assert.equal((await read(open, thread, made.id)).content, content);
    const { payload } = (await events(open, thread)).at(-1);
    assert.equal(payload.content, 'ж'.repeat(8191), 'no half character');
    assert.deepEqual([payload.content_truncated, payload.content_bytes, payload.metadata,
      payload.metadata_truncated], [true, Buffer.byteLength(content), {}, true]);
  });

  await t.test('many at once are created all or none, in their order', async () => {
    const thread = await newThread(open);
    const messages = ['a', 'b', 'c'].map((content) => ({ content }));
    const answer = await send(open, thread, { messages });
    assert.deepEqual([answer.count, answer.first_seq, answer.last_seq], [3, 2, 4]);
    const page = await list(open, thread, 'after=0');
    assert.deepEqual(page.data.map((m) => m.content), ['a', 'b', 'c']);
    assert.deepEqual(page.data.map((m) => m.id), answer.ids);
    const key = { headers: { 'Idempotency-Key': uuid() } };
    const once = await open.post(`/v1/threads/${thread}/messages`, { content: 'd' }, key);
    const twice = await open.post(`/v1/threads/${thread}/messages`, { content: 'd' }, key);
    assert.equal(once.text, twice.text);
    assert.equal((await list(open, thread)).data.length, 4);
  });

  await t.test('pages go either way and neither skip nor repeat while others append', async () => {
    const thread = await newThread(open);
    const sent = [];
    const add = async (n) => {
      for (let i = 0; i < n; i++) {
        sent.push((await send(open, thread, { content: `${sent.length}` })).id);
        if (i % 3 === 0) await open.post(`/v1/threads/${thread}/events`, { kind: 'progress' });
      }
    };
    await add(25);
    const before = [...sent];
    const first = await list(open, thread, 'limit=4');
    const seen = first.data.map((m) => m.id);
    let page = first;
    while (page.has_more) {
      await add(1);
      page = await list(open, thread, `limit=4&before=${page.next_cursor}`);
      seen.push(...page.data.map((m) => m.id));
    }
    assert.deepEqual(seen, before.toReversed());
    const news = [];
    page = first;
    do {
      page = await list(open, thread, `limit=2&after=${page.after_cursor}`);
      news.push(...page.data.map((m) => m.id));
    } while (page.has_more);
    assert.deepEqual([...before, ...news], sent);
    const back = await list(open, thread, `limit=200&before=${page.before_cursor}`);
    assert.deepEqual(back.data.map((m) => m.id).toReversed(), sent.slice(0, back.data.length));
    const middle = (await list(open, thread, 'after=0&limit=10')).data.at(-1).seq;
    const range = await list(open, thread, `after=0&before=${middle}`);
    assert.equal(range.data.length, 9);
    const none = await list(open, thread, 'before=0');
    assert.deepEqual([none.data, none.after_cursor], [[], '0']);
    for (const bad of ['before=x', 'after=-1', 'after=1.5', 'before='])
      expectProblem(
        await open.get(`/v1/threads/${thread}/messages?${bad}`), 400, 'invalid_cursor');
    assert.deepEqual((await list(open, thread, 'after=999999')).data, []);
  });

  await t.test('concurrent senders leave no gap and no double in either direction', async () => {
    const thread = await newThread(open);
    await Promise.all(Array.from({ length: 40 }, (_, i) =>
      send(open, thread, { content: `${i}` })));
    const up = (await list(open, thread, 'after=0')).data;
    assert.equal(new Set(up.map((m) => m.content)).size, 40);
    assert.deepEqual(up.map((m) => m.seq), Array.from({ length: 40 }, (_, i) => i + 2));
    const down = (await list(open, thread)).data;
    assert.deepEqual(down.toReversed(), up);
  });

  await t.test('lists are filtered by type and by run', async () => {
    const thread = await newThread(open);
    const run = expectStatus(await open.post(`/v1/threads/${thread}/runs`, {}), 201).id;
    await send(open, thread, { content: 'one', type: 'note' });
    await send(open, thread, { content: 'two', run_id: run });
    await send(open, thread, { content: 'three', type: 'note', run_id: run });
    const contents = async (query) => (await list(open, thread, query)).data.map((m) => m.content);
    assert.deepEqual(await contents('type=note'), ['three', 'one']);
    assert.deepEqual(await contents('type=note&after=0'), ['one', 'three']);
    assert.deepEqual(await contents(`run_id=${run}`), ['three', 'two']);
    assert.deepEqual(await contents(`run_id=${run}&after=0&type=note`), ['three']);
    assert.deepEqual(await contents(`sender_id=${uuid()}`), []);
    const told = (await events(open, thread, 'message.created')).map((e) => e.run_id);
    assert.deepEqual(told, [null, run, run]);
  });

  await t.test('an edit keeps the version before; two writers cannot miss each other', async () => {
    const thread = await newThread(open);
    const { id } = await send(open, thread, { content: 'first', metadata: { a: 1 } });
    const path = `/v1/threads/${thread}/messages/${id}`;
    const answer = await open.patch(
      `/v1/threads/${thread}/messages/${id}`, { content: 'second', metadata: { b: 2 } }, MERGE);
    const edited = expectStatus(answer, 200);
    assert.equal(answer.headers.get('ETag'), '"2"');
    assert.deepEqual([edited.content, edited.metadata, edited.version],
      ['second', { a: 1, b: 2 }, 2]);
    assert.deepEqual(await read(open, thread, id), edited);
    const stale = await open.patch(path, { content: 'lost' },
      { ...MERGE, headers: { 'If-Match': '"1"' } });
    expectProblem(stale, 412, 'stale_etag');
    expectStatus(await open.patch(path, { content: 'third' },
      { ...MERGE, headers: { 'If-Match': '"2"' } }), 200);
    for (const [body, pointer] of [[{ content: null }, '/content'], [{ type: 'log' }, '/type'],
      [{ metadata: { href: 'javascript:x' } }, '/metadata/href'],
      [{ filenames: ['none'] }, '/filenames/0']])
      expectFault(await open.patch(path, body, MERGE), 422, 'invalid_input', pointer);
    const versions = expectStatus(
      await open.get(`/v1/threads/${thread}/messages/${id}/versions`), 200);
    assert.deepEqual(versions.data.map((v) => [v.version, v.content, v.metadata]),
      [[2, 'second', { a: 1, b: 2 }], [1, 'first', { a: 1 }]]);
    const one = expectStatus(await open.get(`${path}/versions?limit=1`), 200);
    const next = expectStatus(
      await open.get(`${path}/versions?limit=1&cursor=${one.next_cursor}`), 200);
    assert.deepEqual([one.has_more, next.data[0].version, next.has_more], [true, 1, false]);
    const told = (await events(open, thread, 'message.updated')).map((e) =>
      [e.payload.message_id, e.payload.content, e.payload.version]);
    assert.deepEqual(told, [[id, 'second', 2], [id, 'third', 3]]);
  });

  await t.test('a deleted message leaves a tombstone in its place, and its history', async () => {
    const thread = await newThread(open);
    const { id, seq } = await send(open, thread,
      { content: 'secret words', metadata: { a: 1, debug: { d: 1 } } });
    const path = `/v1/threads/${thread}/messages/${id}`;
    expectProblem(await open.del(path, { headers: { 'If-Match': '"7"' } }), 412, 'stale_etag');
    expectStatus(await open.del(`/v1/threads/${thread}/messages/${id}`), 204);
    expectStatus(await open.del(path), 204);
    const stone = await read(open, thread, id, 'include=debug');
    assert.deepEqual(
      [stone.content, stone.metadata, stone.filenames, stone.has_debug, stone.seq, stone.version],
      ['', {}, [], false, seq, 2]);
    assert.ok(stone.deleted_at);
    assert.deepEqual((await list(open, thread)).data.map((m) => m.id), [id]);
    expectProblem(await open.patch(path, { content: 'back' }, MERGE), 409, 'conflict');
    const history = expectStatus(await open.get(`${path}/versions`), 200).data;
    assert.deepEqual(history.map((v) => v.content), ['secret words']);
    const told = await events(open, thread, 'message.deleted');
    assert.deepEqual(told.map((e) => e.payload.message_id), [id]);
    assert.ok(!JSON.stringify(told).includes('secret'));
    assert.deepEqual(await found(open, thread, 'secret'), []);
  });

  await t.test('commands are parsed, and their responses are linked', async () => {
    const thread = await newThread(open);
    const command = async (content) =>
      (await send(open, thread, { content, type: 'command' })).command;
    assert.deepEqual(await command('/go'), { name: 'go', arguments: [], options: {} });
    assert.deepEqual(
      await command('/find-it a "b c" key=v  other="x \\"y\\" \\\\" "k=v" \n=z 1=2'), {
        name: 'find-it', arguments: ['a', 'b c', 'k=v', '=z', '1=2'],
        options: { key: 'v', other: 'x "y" \\' },
      });
    for (const [content, rule] of [['go', /begin with/], ['/', /begin with/], ['/1x', /begin with/],
      ['/a.b', /begin with/], [`/${'a'.repeat(65)}`, /64/], ['/go "x', /byte 4/],
      ['/go a"b', /within/],
      ['/go "a"b', /blank/], ['/go k=1 k=2', /repeat/], [`/go ${'x '.repeat(101)}`, /100/],
      [`/go ${'x'.repeat(16384)}`, /16384 bytes/]])
      await refuse(open, thread, { content, type: 'command' }, '/content', rule);
    const asked = await send(open, thread, { content: '/sum a', type: 'command' });
    const chat = await send(open, thread, { content: 'hm' });
    await refuse(open, thread,
      { content: 'x', type: 'command-response', responds_to: chat.id }, '/responds_to', /command/);
    const answer = await send(open, thread,
      { content: '42', type: 'command-response', responds_to: asked.id });
    assert.equal(answer.responds_to, asked.id);
    const shown = await open.get(`/v1/threads/${thread}/messages/${asked.id}`,
      { headers: { 'If-None-Match': '"1"' } });
    assert.deepEqual(expectStatus(shown, 200).responses, [answer.id]);
    const told = (await events(open, thread, 'message.created')).map((e) => e.payload);
    assert.deepEqual(told.find((p) => p.message_id === asked.id).command,
      { name: 'sum', arguments: ['a'], options: {} });
    assert.equal(told.find((p) => p.message_id === asked.id).addressed_to, null);
    assert.equal(told.at(-1).responds_to, asked.id);
    const path = `/v1/threads/${thread}/messages/${asked.id}`;
    expectFault(await open.patch(path, { content: '/other' }, MERGE), 422, 'invalid_input',
      '/content', /delivered/);
    expectStatus(await open.patch(path, { metadata: { seen: true } }, MERGE), 200);
  });

  await t.test('search finds words, phrases and beginnings in many scripts', async () => {
    const thread = await newThread(open);
    const texts = ['The quick brown fox', 'Der Müller mahlt; die MÜHLE steht', 'Привет, мир!',
      '日本語のテキスト', '학교에서 배운다', 'state-of-the-art: foo_bar(42)', 'quick thinking'];
    await send(open, thread, { messages: texts.map((content) => ({ content })) });
    const cases = {
      'quick': [6, 0], 'QUICK fox': [0], '"quick brown"': [0], '"brown quick"': [], 'qui*': [6, 0],
      'quick -brown': [6], 'quick -"brown fox"': [6], 'müller': [1], 'Muller': [1], 'mühl*': [1],
      'привет': [2], 'ПРИВЕТ мир': [2], '日本': [3], 'テキスト': [3], '本日': [], '学校': [],
      '학교': [4], 'state-of-the-art': [5], 'foo_bar': [5], '42': [5], '"art foo"': [5],
      'AND': [], 'quick OR': [], 'quick AND fox': [], 'words:quick': [], 'NEAR(quick fox)': [],
      'quick)': [6, 0], "quick'|'brown": [0], "quick')": [6, 0],
      'quick + fox': [0], 'quick & fox | -- 🦊': [0], '- fox': [0], '"+" fox *': [0],
    };
    for (const [q, expected] of Object.entries(cases))
      assert.deepEqual(await found(open, thread, q), expected.map((i) => texts[i]), q);
    for (const [q, rule] of [['', /1 to 1000/], ['-quick', /required word/],
      ['***', /letter or a digit/], ['"open', /close every quote/], ['a*', /two letters/],
      ['+ 🦊', /letter or a digit/], ['x '.repeat(33), /at most 32/],
      ['x'.repeat(1001), /1 to 1000/]])
      expectFault(
        await open.get(`/v1/threads/${thread}/messages/search?q=${encodeURIComponent(q)}`),
        422, 'invalid_input', 'q', rule);
    expectFault(await open.get(`/v1/messages/search`), 422, 'invalid_input', 'q', /given/);
    const hit = (await find(open, thread, 'steht')).data[0];
    assert.match(hit.snippet, /steht/);
    const one = await find(open, thread, 'quick', '&limit=1');
    const two = await find(open, thread, 'quick', `&limit=1&cursor=${one.next_cursor}`);
    assert.deepEqual([one.has_more, one.data[0].content, two.has_more, two.data[0].content],
      [true, texts[6], false, texts[0]]);
  });

  await t.test('an edit is found by its new words alone', async () => {
    const thread = await newThread(open);
    const { id } = await send(open, thread, { content: 'alpha' });
    expectStatus(
      await open.patch(`/v1/threads/${thread}/messages/${id}`, { content: 'omega' }, MERGE), 200);
    assert.deepEqual(await found(open, thread, 'alpha'), []);
    assert.deepEqual(await found(open, thread, 'omega'), ['omega']);
  });

  await t.test('a snippet stands around the first word that was found', async () => {
    const thread = await newThread(open);
    await send(open, thread, { content: `${'ä'.repeat(500)} needle ${'ß'.repeat(500)}` });
    const [{ snippet }] = (await find(open, thread, 'needle')).data;
    assert.match(snippet, /^…ä+ needle ß+…$/);
    assert.ok(Buffer.byteLength(snippet) < 250);
  });

  await t.test('a thread takes its messages and their words with it', async () => {
    const thread = await newThread(open);
    const { id } = await send(open, thread, { content: 'vanishing', metadata: { debug: {} } });
    expectStatus(await open.del(`/v1/threads/${thread}`), 204);
    expectProblem(await open.get(`/v1/threads/${thread}/messages/${id}`), 404, 'not_found');
    expectProblem(await open.get(`/v1/threads/${thread}/messages`), 404, 'not_found');
    assert.deepEqual(
      expectStatus(await open.get(`/v1/messages/search?q=vanishing`), 200).data, []);
  });

  await t.test('a subscriber gets message.created, also after a reconnect', async () => {
    const thread = await newThread(open);
    const got = [];
    const source = open.sse(`/v1/threads/${thread}/events/stream`);
    t.after(() => source.close());
    source.onmessage = (m) => {
      const event = JSON.parse(m.data);
      if (event.kind === 'message.created') got.push(event.payload.content);
    };
    await send(open, thread, { content: 'before' });
    await eventually(() => got.length === 1);
    await server.restart();
    await send(open, thread, { content: 'after' });
    await eventually(() => got.length === 2, 'the second did not come');
    assert.deepEqual(got, ['before', 'after']);
    source.close();
  });

  await t.test('the database is sound with all of it', () => expectSound(server));
});

test('participants send, edit and delete what is their own', async (t) => {
  const { open } = await startServer(t);
  const thread = await newThread(open);
  const join = async (principal, permission = 'read_write') =>
    expectStatus(await open.post(`/v1/threads/${thread}/participants`, { principal, permission }),
      201).id;
  const as = (name) => ({ headers: { 'Cairn-Principal': `user:${name}` } });
  const ann = await join('user:ann');
  const ben = await join('user:ben');
  const path = `/v1/threads/${thread}/messages`;
  const sent = expectStatus(await open.post(path, { content: 'by Ann' }, as('ann')), 201);
  assert.deepEqual([sent.sender_id, sent.sender_role], [ann, 'user']);
  expectProblem(await open.post(path, { content: 'x', sender_id: ben }, as('ann')), 403,
    'forbidden');
  const given = await send(open, thread, { content: 'for Ben', sender_id: ben });
  assert.deepEqual([given.sender_id, given.sender_role], [ben, 'user']);
  const contents = async (query) => (await list(open, thread, query)).data.map((m) => m.content);
  assert.deepEqual(await contents(`sender_id=${ben}`), ['for Ben']);

  const one = `${path}/${sent.id}`;
  expectProblem(await open.patch(one, { content: 'no' }, as('ben')), 403, 'forbidden');
  expectProblem(await open.del(one, as('ben')), 403, 'forbidden');
  expectProblem(await open.get(`${one}/versions`, as('ben')), 403, 'forbidden');
  expectStatus(await open.patch(one, { content: 'by Ann, again' }, as('ann')), 200);
  assert.equal(expectStatus(await open.get(`${one}/versions`, as('ann')), 200).data.length, 1);
  expectStatus(await open.get(one, as('ben')), 200);
  expectStatus(await open.del(one, as('ann')), 204);

  const command = await send(open, thread,
    { content: '/go', type: 'command', addressed_to: ben });
  assert.equal(command.addressed_to, ben);
  const told = (await events(open, thread, 'message.created')).at(-1).payload;
  assert.deepEqual([told.addressed_to, told.command.name], [ben, 'go']);
  expectStatus(await open.del(`/v1/threads/${thread}/participants/${ben}`), 200);
  await refuse(open, thread, { content: '/go', type: 'command', addressed_to: ben },
    '/addressed_to', /active/);

  // A search of all threads shows a principal those that it takes part in.
  const other = await newThread(open);
  await send(open, other, { content: 'for nobody' });
  const all = async (opts) => expectStatus(await open.get('/v1/messages/search?q=for', opts), 200)
    .data.map((m) => m.content);
  assert.deepEqual(await all(as('ann')), ['for Ben']);
  assert.deepEqual(await all(as('ben')), [], 'who has left finds nothing');
  assert.deepEqual(await all({}), ['for nobody', 'for Ben']);
});

test('the messages of one tenant are out of reach of another', async (t) => {
  const server = await startServer(t);
  const { alice, bob } = await twoTenants(server);
  const thread = await newThread(bob);
  const { id } = await send(bob, thread, { content: 'hidden treasure' });
  const mine = await newThread(alice);
  // Words like the index's own words of bob's thread find nothing, in a text and in a query.
  const hex = thread.replaceAll('-', '');
  await send(alice, mine, { content: `#t${hex} #o${hex} hidden chest` });
  const all = async (client, q) =>
    expectStatus(await client.get(`/v1/messages/search?q=${encodeURIComponent(q)}`), 200)
      .data.map((m) => m.content);
  assert.deepEqual(await all(alice, 'treasure'), []);
  assert.deepEqual(await all(alice, `#t${hex} treasure`), []);
  assert.deepEqual(await all(alice, 'hidden'), [`#t${hex} #o${hex} hidden chest`]);
  assert.deepEqual(await all(bob, 'hidden'), ['hidden treasure']);
  assert.deepEqual(await found(bob, thread, 'hidden'), ['hidden treasure']);
  for (const path of [`/v1/threads/${thread}/messages/${id}`, `/v1/threads/${mine}/messages/${id}`,
    `/v1/threads/${thread}/messages`, `/v1/threads/${thread}/messages/search?q=hidden`])
    expectProblem(await alice.get(path), 404, 'not_found');
  await refuse(alice, mine, { content: 'x', responds_to: id }, '/responds_to', /this thread/);
});
