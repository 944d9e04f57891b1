// SPDX-License-Identifier: Apache-2.0
// The chat agents of examples/: they chat, use tools, ask a person, and are killed in between.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, cpSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { atEnd } from '../../tests/api/lib/ending.mjs';
import { expectStatus, onSqlite, startServer } from '../../tests/api/lib/server.mjs';
import { EXAMPLE, LANGUAGES, chatAgents } from './lib/chat.mjs';
import { SDK, run } from './lib/pages.mjs';

const other = (language) => LANGUAGES.find((l) => l !== language);
const short = { CHAT_LEASE_MS: '1000' };

async function begin(t) {
  const server = await startServer(t);
  return { server, chat: await chatAgents(t, server) };
}

/** Returns the thread of a conversation, its runs (oldest first) and its messages. */
async function look(server, name) {
  const key = encodeURIComponent(`chat/${name}`);
  const thread = expectStatus(await server.open.get(`/v1/threads/by-key/${key}`), 200);
  const at = `/v1/threads/${thread.id}`;
  const { data: runs } = expectStatus(await server.open.get(`${at}/runs`), 200);
  const { data: messages } = expectStatus(await server.open.get(`${at}/messages?after=0`), 200);
  return { thread, runs: runs.reverse(), messages };
}

// The tests mostly wait, and each has its own server.
describe('the chat agents', { concurrency: 3 }, () => {
  for (const language of LANGUAGES) {
    test(`a conversation with tools, in ${language}`, async (t) => {
      const { server, chat } = await begin(t);
      await chat.agent(language);
      const talk = chat.talk(language, 'trip');
      talk.say('weather in Oslo; note pack a coat');
      await talk.until(/\[completed: \d+ tokens, \$0\.0\d+\]/);
      talk.say('what did I say first?');
      const said = await talk.end();
      assert.match(said, /… weather \{"city": ?"Oslo"\}/);
      assert.match(said, /agent: Done: \d+ °C in Oslo; noted: pack a coat\.\n/);
      assert.match(said, /agent: You said: weather in Oslo; note pack a coat\n/);
      assert.deepEqual(chat.notes(), ['pack a coat']);

      const { runs, messages, thread } = await look(server, 'trip');
      assert.deepEqual(runs.map((r) => [r.status, r.usage.llm_calls, r.step_count]),
        [['completed', 2, 6], ['completed', 1, 3]]);
      assert.ok(runs[0].usage.cost_usd > 0);
      assert.deepEqual(
        messages.map((m) => m.sender_role), ['user', 'assistant', 'user', 'assistant']);
      const line = await server.open.get(`/v1/threads/${thread.id}/checkpoints`);
      assert.equal(expectStatus(line, 200).data.length, 6, 'one after each turn');

      const again = await chat.talk(other(language), 'trip').end();
      assert.equal(again.match(/^ann: /gm).length, 2, 'who comes back sees what was said, once');
      assert.equal(again.match(/^agent: /gm).length, 2);

      const bob = chat.talk(language, 'trip', 'bob');
      await bob.until(/^agent: You said: /m);
      const ann = chat.talk(other(language), 'trip');
      ann.say('note bring bob');
      await ann.end();
      await bob.until(/^ann: note bring bob$/m); // he follows live, and ann does not wait for him
      assert.equal((await bob.end()).match(/^ann: /gm).length, 3, 'others go by their own names');
    });

    test(`a dangerous tool waits for a person, in ${language}`, async (t) => {
      const { server, chat } = await begin(t);
      await chat.agent(language);
      const talk = chat.talk(language, 'mail');
      talk.say('mail bob@example.com: lunch?; note ask bob');
      const [, granted] = await talk.until(/send_mail waits for approval: .* yes (\S+)/);
      assert.deepEqual(chat.mails(), []);
      assert.match(await chat.approve(language),
        new RegExp(`${granted} send_mail \\{"to": ?"bob@example.com"`));
      await chat.approve(other(language), 'yes', granted);
      await talk.until(/Done: sent to bob@example.com; noted: ask bob\./);
      assert.deepEqual(chat.mails(), [{ to: 'bob@example.com', body: 'lunch?' }]);

      talk.say('mail boss@example.com: I quit');
      const [, refused] = await talk.until(new RegExp(`yes (?!${granted})(\\S+)`));
      await chat.approve(language, 'no', refused, 'sleep', 'on it');
      assert.match(await talk.end(), /Done: refused by \S+: sleep on it\./);
      assert.equal(chat.mails().length, 1);
      assert.deepEqual(chat.notes(), ['ask bob']);
      assert.equal(await chat.approve(language), '', 'nothing waits any more');
      const { runs } = await look(server, 'mail');
      assert.deepEqual(runs.map((r) => r.status), ['completed', 'completed']);
    });

    test(`a ${language} worker is killed, and one in ${other(language)} goes on`, async (t) => {
      const { server, chat } = await begin(t);
      const first = await chat.agent(language, { ...short, CHAT_RESEARCH_SECONDS: '60' });
      const talk = chat.talk(language, 'shop');
      talk.say('note milk; research cheese; note bread');
      await talk.until(/reading source 1/);
      await first.stop('SIGKILL');
      await chat.agent(other(language), short);
      await talk.until(/Done: noted: milk; three sources agree about cheese; noted: bread\./);
      talk.say('what did I say first?');
      assert.match(await talk.end(), /You said: note milk; research cheese; note bread/);
      assert.deepEqual(chat.notes(), ['milk', 'bread'], 'what was done is not done again');

      const { runs, messages } = await look(server, 'shop');
      assert.deepEqual(runs.map((r) => [r.status, r.usage.llm_calls]),
        [['completed', 2], ['completed', 1]], 'the model was not asked again');
      assert.equal(messages.filter((m) => m.sender_role === 'assistant').length, 2);
    });

    test(`a ${language} worker that is told to stop gives its run back at once`, async (t) => {
      const { chat } = await begin(t);
      const long = { CHAT_LEASE_MS: '3600000', CHAT_RESEARCH_SECONDS: '3600' };
      const first = await chat.agent(language, long);
      const talk = chat.talk(language, 'stop');
      talk.say('note salt; research pepper');
      await talk.until(/reading source 1/);
      assert.equal(await first.stop('SIGTERM'), 0, first.output);
      await chat.agent(language);
      assert.match(await talk.end(), /Done: noted: salt; three sources agree about pepper\./);
      assert.deepEqual(chat.notes(), ['salt']);
    });

    test(`the server dies under the ${language} agent, which goes on`, async (t) => {
      const { server, chat } = await begin(t);
      await chat.agent(language, { CHAT_RESEARCH_SECONDS: '1' });
      const talk = chat.talk(language, 'tea');
      talk.say('note tea; research kettles');
      await talk.until(/reading source 1/);
      await server.kill();
      await server.start();
      assert.match(await talk.end(), /Done: noted: tea; three sources agree about kettles\./);
      assert.equal(talk.output.match(/reading source/g).length, 3, 'each event is seen once');
      assert.deepEqual(chat.notes(), ['tea']);
    });

    test(`the ${language} agent asks an endpoint of OpenAI's kind`, async (t) => {
      const { server, chat } = await begin(t);
      const model = await startModel(t);
      await chat.agent(language, {
        OPENAI_BASE_URL: `${model.url}/v1/`, OPENAI_API_KEY: 'sk-test', OPENAI_MODEL: 'small',
      });
      const talk = chat.talk(language, 'far');
      talk.say('how warm is it in Rome?');
      await talk.until(/agent: It is \d+ °C in Rome\.\n/);
      await talk.until(/\[completed: 36 tokens, no price\]/);
      model.broken = true;
      talk.say('and now?');
      assert.match(await talk.end(), /\[failed the model answered 500: .*out of order.*: 0 tokens/);
      assert.equal(model.asked[0].authorization, 'Bearer sk-test');
      assert.deepEqual(model.asked[0].body.tools.map((tool) => tool.function.name),
        ['weather', 'take_note', 'research', 'send_mail']);
      assert.deepEqual(model.asked[1].body.messages.map((m) => m.role),
        ['system', 'user', 'assistant', 'tool']);
      const { runs } = await look(server, 'far');
      assert.deepEqual(runs.map((r) => r.status), ['completed', 'failed']);
    });
  }
});

/** A model behind HTTP that requests the weather once and then reports it. */
async function startModel(t) {
  const model = { asked: [], broken: false };
  const http = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text);
    model.asked.push({ authorization: request.headers.authorization, body });
    assert.equal(request.url, '/v1/chat/completions');
    response.statusCode = model.broken ? 500 : 200;
    response.end(JSON.stringify(model.broken ? { error: 'out of order' } : completion(body)));
  });
  await new Promise((done) => http.listen(0, '127.0.0.1', done));
  atEnd(t, () => new Promise((done) => {
    http.closeAllConnections();
    http.close(done);
  }));
  model.url = `http://127.0.0.1:${http.address().port}`;
  return model;
}

function completion({ model, messages }) {
  const last = messages.at(-1);
  const message = last.role === 'tool'
    ? { role: 'assistant', content: `It is ${last.content}.` }
    : { role: 'assistant', content: null, tool_calls: [{ id: 'call_0', type: 'function',
        function: { name: 'weather', arguments: '{"city": "Rome"}' } }] };
  return { model, choices: [{ message }], usage: { prompt_tokens: 12, completion_tokens: 6 } };
}

const ONCE = onSqlite('types know no engine');

test('the types of the TypeScript example are sound', ONCE, async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'cairn-chat-types-'));
  atEnd(t, () => rmSync(place, { recursive: true, force: true }));
  cpSync(join(EXAMPLE, 'typescript'), place, { recursive: true });
  rmSync(join(place, 'node_modules'), { recursive: true, force: true });
  symlinkSync(join(SDK, 'node_modules'), join(place, 'node_modules'));
  const tsc = join(SDK, 'node_modules/.bin/tsc');
  const end = await run(tsc, ['-p', place, '--noEmit'], { cwd: place, env: process.env });
  assert.equal(end.code, 0, end.stdout + end.stderr);
});

test('the types of the Python example are sound', ONCE, async () => {
  const env = { ...process.env, MYPYPATH: join(SDK, 'python/src') };
  const strict = ['--strict', '--python-version', '3.9', '--cache-dir', '/dev/null', '.'];
  const end = await run('mypy', strict, { cwd: join(EXAMPLE, 'python'), env });
  assert.equal(end.code, 0, end.stdout + end.stderr);
});
