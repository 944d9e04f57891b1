// SPDX-License-Identifier: Apache-2.0
// The clients of the chaos test: they work until they are stopped, and record the acknowledged
// writes.
//
// Writer      appends; sends again with the same idempotency key until it is acknowledged
// Starter     queues runs, the same way
// RunWorker   claims runs, keeps the lease, completes them
// Follower    a subscriber by SSE or WebSocket that reconnects with its cursor
import assert from 'node:assert/strict';
import { expectStatus, insist, pause, token, uuid } from './server.mjs';
import { followWs, readSse } from './followers.mjs';

const PATIENCE_MS = 8000;

class Actor {
  retried = 0;
  unknown = 0;
  stopped = false;

  constructor(client) {
    this.client = client;
  }

  stop() {
    this.stopped = true;
  }

  /** One attempt. Returns null if its outcome is unknown. */
  async try(send) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await send({ signal }).catch(() => null);
    if (answer === null || [502, 504].includes(answer.status) ||
        answer.body?.code === 'outcome_unknown') {
      this.unknown++;
      return null;
    }
    assert.notEqual(answer.status, 500, answer.text);
    return answer;
  }

  /** Sends the same again, with its key, until it is answered: also after stop(). */
  async insist(send) {
    const headers = { 'Idempotency-Key': uuid() };
    const { answer, tries } = await insist(() => this.try((opts) => send({ ...opts, headers })));
    this.retried += tries - 1;
    return answer;
  }
}

export class Writer extends Actor {
  acknowledged = new Map(); // text → event

  constructor(client, threadId) {
    super(client);
    this.threadId = threadId;
  }

  async work() {
    while (!this.stopped) {
      const text = `write ${uuid()}`;
      const answer = await this.insist((opts) => this.client.post(
        `/v1/threads/${this.threadId}/events`, { kind: 'progress', text }, opts));
      this.acknowledged.set(text, expectStatus(answer, 201));
      await pause(20);
    }
  }
}

export class Starter extends Actor {
  started = [];

  constructor(client, threadId) {
    super(client);
    this.threadId = threadId;
  }

  async work() {
    while (!this.stopped) {
      const answer = await this.insist((opts) => this.client.post(
        `/v1/threads/${this.threadId}/runs`, { policy: 'enqueue' }, opts));
      this.started.push(expectStatus(answer, 201).id);
      await pause(400);
    }
  }
}

export class RunWorker extends Actor {
  completed = [];
  lost = 0;

  constructor(client, number, leaseMs) {
    super(client);
    this.name = `worker ${number}`;
    this.leaseMs = leaseMs;
  }

  async work() {
    while (!this.stopped) {
      const claimed = await this.try((opts) => this.client.post('/v1/runs/claim?wait=1',
        { worker: this.name, lease_ms: this.leaseMs }, opts));
      if (claimed?.status === 200)
        await this.#carryOut(claimed.body);
      else
        await pause(50);
    }
  }

  async #carryOut(run) {
    for (let beat = 0; beat < 2; beat++) {
      await pause(this.leaseMs / 10);
      const kept = await this.try((opts) => this.client.post(`/v1/runs/${run.id}/heartbeat`,
        { lease_ms: this.leaseMs }, { ...opts, ...token(run) }));
      if (kept?.status === 409)
        return this.#lose(kept);
    }
    // A patch has no idempotency key: what is unknown is asked.
    for (let tries = 0; tries < 100; tries++) {
      const done = await this.try((opts) => this.client.patch(`/v1/runs/${run.id}`,
        { status: 'completed' }, { ...opts, ...token(run) }));
      if (done?.status === 409)
        return this.#lose(done);
      if (done !== null && done.status !== 503) {
        expectStatus(done, 200);
        this.completed.push(run.id);
        return undefined;
      }
      this.retried++;
      await pause(50);
    }
    return assert.fail('it never came through');
  }

  /** Another worker has the run, or our own request succeeded and its response was lost. */
  #lose(answer) {
    assert.equal(answer.body.code, 'lease_lost', answer.text);
    this.lost++;
  }
}

export class Follower {
  heard = [];
  reconnects = -1;
  stopped = false;
  #stream = null;

  constructor(client, kind, path) {
    this.client = client;
    this.kind = kind;
    this.path = path;
    this.threadId = /threads\/([^/]+)/.exec(path)?.[1];
    this.cursor = 0;
  }

  get count() {
    return this.heard.length;
  }

  get condition() {
    return `cursor ${this.cursor}, ${this.reconnects} reconnects, last said ` +
      `${this.#stream?.text?.slice(-200) ?? ''}`;
  }

  async follow() {
    while (!this.stopped) {
      this.reconnects++;
      const at = `${this.path}?after=${this.cursor}`;
      const stream = this.kind === 'ws' ? followWs(this.client, at) : readSse(this.client, at);
      this.#stream = stream;
      this.#take(stream);
      await stream.opened.then(() => stream.over, () => {});
      await pause(50);
    }
  }

  /** Everything that one connection says, as it says it. */
  #take(stream) {
    const hear = stream.hear.bind(stream);
    stream.over = new Promise((over) => {
      const end = stream.end.bind(stream);
      stream.end = (how) => { end(how); over(); };
    });
    stream.hear = (event) => {
      hear(event);
      this.heard.push(event);
      // A thread's cursor is the seq; the tenant's is the id of the SSE message, or the event's.
      this.cursor = this.kind === 'sse' ? stream.ids.at(-1)
        : (this.threadId === undefined ? event.id : event.seq);
    };
  }

  stop() {
    this.stopped = true;
    (this.#stream?.vanish ?? this.#stream?.close)?.call(this.#stream);
  }
}
