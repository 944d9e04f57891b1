// SPDX-License-Identifier: Apache-2.0
// Subscribers: each collects the events of a stream, and lets a test wait for them.
//
//   const tail = followWs(client, `/v1/threads/${id}/events/ws`);
//   await tail.until((heard) => heard.length === 3);   // or: await tail.hears(3)
//   tail.heard                                         // events and gaps, in order of arrival
//   await tail.ended                                   // how it ended
//
// followWs   the package ws; ended: {code, reason}
// followOn   the same, and reconnects with its cursor whenever the server closes it with 1013 (try
//            again later) or rejects it with 503, as clients must when the database was unreachable
// followSse  the package eventsource, which reconnects by itself until .close()
// readSse    one SSE answer as bytes, which never reconnects; ended: {reason, cursor}, the data of
//            its `closed` event, or null when the connection just broke; .text is all of it
import assert from 'node:assert/strict';
import http from 'node:http';
import { eventually } from './server.mjs';

const DEADLINE_MS = 180_000; // only so that a test fails instead of hanging

class Follower {
  heard = [];
  closed = new Promise(() => {}); // how a stream ended that does not reconnect by itself
  #waiting = [];
  #ended = new Promise((done) => { this.end = done; });

  /** How it ended, once it has. */
  get ended() {
    return this.#inTime(this.#ended, 'the stream goes on');
  }

  hear(message) {
    this.heard.push(message);
    this.#settle();
  }

  #settle() {
    this.#waiting = this.#waiting.filter(({ isTrue, done }) => {
      const found = isTrue(this.heard);
      if (found)
        done(found);
      return !found;
    });
  }

  /** Resolves with what `isTrue` returns once that is true of what was heard. */
  until(isTrue, what = 'the stream did not say it') {
    const found = new Promise((done) => {
      this.#waiting.push({ isTrue, done });
      this.#settle();
    });
    const closed = this.closed.then((how) => assert.fail(
      `${what}: it was closed (${JSON.stringify(how)}) after ${this.describe()}`));
    return this.#inTime(Promise.race([found, closed]), what);
  }

  #inTime(promise, what) {
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new assert.AssertionError({
        message: `${what}: ${this.heard.length} heard, the last ${this.describe()}`,
      })), DEADLINE_MS);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  /** Waits for so many messages and gives them. */
  async hears(count) {
    await this.until((heard) => heard.length >= count, `fewer than ${count} messages`);
    return this.heard;
  }

  /** Waits for an event with this text and gives it. */
  async hearsText(text) {
    return this.until((heard) => heard.find((e) => e.text === text), `no event "${text}"`);
  }

  describe() {
    return JSON.stringify(this.heard.slice(-5));
  }
}

export function followWs(client, path, opts) {
  const follower = new Follower();
  const socket = client.ws(path, opts);
  follower.socket = socket;
  follower.opened = new Promise((done, fail) => {
    socket.on('open', done);
    socket.on('unexpected-response', (request, answer) => {
      const { statusCode: status } = answer;
      fail(Object.assign(new Error(`refused: ${status}`), { status }));
      request.destroy();
    });
    socket.on('error', fail);
  });
  follower.opened.catch(() => {});
  socket.on('message', (data) => follower.hear(JSON.parse(data)));
  follower.closed = new Promise((done) => {
    socket.on('close', (code, reason) => done({ code, reason: String(reason) }));
  });
  follower.closed.then((how) => follower.end(how));
  follower.say = (message) => socket.send(
    typeof message === 'string' ? message : JSON.stringify(message));
  follower.close = () => socket.close();
  /** Gone without a word, as when the network breaks. */
  follower.vanish = () => socket.terminate();
  return follower;
}

/** The cursor that the server gives when it closes a WebSocket: "unavailable cursor=7". */
const cursorOf = (reason) => /^\w+ cursor=(\S+)$/.exec(String(reason))?.[1];

export function followOn(client, path) {
  const follower = new Follower();
  const connect = (from) => {
    const socket = client.ws(`${path}?after=${from}`);
    let isRefused = false;
    socket.on('unexpected-response', (request, { statusCode }) => {
      isRefused = statusCode === 503;
      request.destroy();
    });
    socket.on('error', () => {}); // 'close' follows
    socket.on('message', (data) => follower.hear(JSON.parse(data)));
    socket.on('close', (code, reason) => {
      if (code === 1013 || isRefused)
        setTimeout(connect, 100, cursorOf(reason) ?? from);
      else
        follower.end({ code, reason: String(reason) });
    });
  };
  connect(0);
  return follower;
}

export function followSse(client, path, opts) {
  const follower = new Follower();
  const source = client.sse(path, opts);
  follower.source = source;
  follower.ids = [];
  const hear = (event) => {
    follower.ids.push(event.lastEventId);
    follower.hear(JSON.parse(event.data));
  };
  source.addEventListener('message', hear);
  source.addEventListener('gap', hear);
  source.addEventListener('closed', (event) => follower.end(JSON.parse(event.data)));
  follower.opened = new Promise((done) => source.addEventListener('open', done));
  follower.refused = new Promise((done) => source.addEventListener('error', (event) => {
    if (event.code !== undefined)
      done(event.code);
  }));
  follower.close = () => source.close();
  return follower;
}

/** One block of an SSE stream as {id, event, data}. */
function parseBlock(block) {
  const fields = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0)
      fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  return fields;
}

export function readSse(client, path, { headers = {} } = {}) {
  const follower = new Follower();
  const authorization = client.secret === null ? {} : { Authorization: `Bearer ${client.secret}` };
  const request = http.get(client.server.url + path, { headers: { ...authorization, ...headers } });
  follower.text = '';
  follower.ids = [];
  let rest = '';
  const take = (text) => {
    follower.text += text;
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks.map(parseBlock)) {
      if (block.event === 'closed')
        follower.goodbye = JSON.parse(block.data);
      else if (block.data !== undefined) {
        follower.ids.push(block.id);
        follower.hear(JSON.parse(block.data));
      }
    }
  };
  const finish = () => follower.end(follower.goodbye ?? null);
  follower.opened = new Promise((done, fail) => {
    request.on('error', (error) => { fail(error); finish(); });
    request.on('response', (answer) => {
      follower.status = answer.statusCode;
      follower.answer = answer;
      answer.setEncoding('utf8').on('data', take).on('error', finish).on('close', finish);
      done(answer);
    });
  });
  follower.opened.catch(() => {});
  follower.close = () => request.destroy();
  return follower;
}

/** How many streams and long polls the server has open. */
export async function subscribers(client) {
  const { text } = await client.get('/metrics');
  return Number(/^cairn_subscribers (\d+)$/m.exec(text)[1]);
}

/** Waits until the server has so many of them. */
export const untilSubscribers = (client, count) =>
  eventually(async () => await subscribers(client) === count, `never ${count} subscribers`);

/** Asserts that these are the events from..to of one thread, each once, in order. */
export function expectSeqs(events, from, to) {
  assert.deepEqual(events.map((e) => e.seq),
    Array.from({ length: to - from + 1 }, (_, i) => from + i));
}
