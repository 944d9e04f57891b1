// SPDX-License-Identifier: Apache-2.0
// A bad network between a node and its database: a TCP proxy that knows enough of PostgreSQL's wire
// protocol to strike between two messages, in the middle of one, or exactly at a COMMIT.
//
//   const proxy = await startProxy(t, cluster.port);
//   await server.join({ db: cluster.url('cairn', 'cairn', { port: proxy.port }) });
//   proxy.cut();                    cuts every connection, both ways; accepts new ones
//   proxy.refuse(true);             rejects new connections
//   proxy.delay(50);                milliseconds, for every piece of data, both ways
//   proxy.hole(true);               nothing is read and nothing is closed; hole(false) continues
//   proxy.halve();                  half of the next message of a node, then the cut
//   const struck = proxy.atCommit('before');   of the next COMMIT of something new:
//     before   the cut, and the COMMIT never leaves
//     hold     the COMMIT never leaves, and the connection hangs: as if the node were frozen
//     stall    its first message leaves, the next does not, and the connection hangs
//     half     half of its message leaves, then the cut
//     after    the database commits; its answer is lost by a cut: the outcome is unknown
//     silence  the database commits; its answer is lost, and the connection hangs
//   await struck                    resolves once that has happened
//   proxy.strikes                   how many of these have happened
//
// A message of the node is a letter, a length and a body; before the start-up there is no letter,
// and the database answers a request for encryption with one byte. SQL is a simple query (Q)
// or parsed (P) under a name by which it is bound (B) later. Nodes also commit transactions that
// change nothing (reads, idle sweeps); only a transaction that has inserted rows is struck.
import assert from 'node:assert/strict';
import net from 'node:net';
import { atEnd } from './ending.mjs';

const CODES = { 80877103: 'encryption', 80877104: 'encryption', 80877102: 'cancel' };
const COMMIT = /(^|;)\s*(COMMIT|END)\s*;?\s*$/i;
const INSERT = /\bINSERT\s+INTO\b/i;

/** The statements that a node has sent on one connection. */
class Statements {
  #byName = new Map();
  #inserts = false;

  /** The SQL that a message of a node runs, or ''. */
  #sqlOf(message) {
    const text = (from) => message.toString('utf8', from, message.indexOf(0, from));
    const second = () => text(message.indexOf(0, 5) + 1);
    switch (String.fromCharCode(message[0])) {
      case 'Q':
        return text(5);
      case 'P': // a name, then the text
        this.#byName.set(text(5), second());
        return '';
      case 'B': // a portal, then the name
        return this.#byName.get(second()) ?? '';
      default:
        return '';
    }
  }

  /** Whether this message commits something new. */
  commits(message) {
    const sql = this.#sqlOf(message);
    this.#inserts ||= INSERT.test(sql);
    if (!COMMIT.test(sql))
      return false;
    const isNew = this.#inserts;
    this.#inserts = false;
    return isNew;
  }
}

/** Cuts a stream of bytes into messages; what is not whole yet waits. */
class Messages {
  #bytes = Buffer.alloc(0);

  add(bytes) {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** The next whole message, whose length is at the position `at`, or null. */
  next(at) {
    if (this.#bytes.length < at + 4)
      return null;
    return this.take(at + this.#bytes.readInt32BE(at));
  }

  take(size) {
    if (this.#bytes.length < size)
      return null;
    const message = this.#bytes.subarray(0, size);
    this.#bytes = this.#bytes.subarray(size);
    return message;
  }
}

/** One connection of a node, and ours to the database. */
class Link {
  #fromNode = new Messages();
  #fromDatabase = new Messages();
  #statements = new Statements();
  #started = false;
  #awaitsByte = false;
  #stall = null; // an order to hang before the next message
  #swallow = null; // what happens when the COMMIT that was let through is done

  constructor(proxy, node) {
    this.proxy = proxy;
    this.node = node;
    this.database = net.connect(proxy.target, '127.0.0.1');
    for (const socket of [node, this.database]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => this.cut());
    }
    node.on('data', (bytes) => { this.#fromNode.add(bytes); this.#forward(); });
    this.database.on('data', (bytes) => { this.#fromDatabase.add(bytes); this.#back(); });
    if (proxy.isHole)
      this.hold();
  }

  cut() {
    this.node.destroy();
    this.database.destroy();
    this.proxy.links.delete(this);
  }

  hold() {
    this.node.pause();
    this.database.pause();
  }

  release() {
    this.node.resume();
    this.database.resume();
  }

  #send(socket, bytes) {
    const { delayMs } = this.proxy;
    if (delayMs === 0)
      socket.write(bytes);
    else // one delay for all keeps their order
      setTimeout(() => socket.destroyed || socket.write(bytes), delayMs);
  }

  #forward() {
    for (;;) {
      const message = this.#fromNode.next(this.#started ? 1 : 0);
      if (message === null || this.node.destroyed)
        return;
      if (!this.#started) {
        const what = CODES[message.readInt32BE(4)] ?? 'start';
        this.#awaitsByte = what === 'encryption';
        this.#started = what === 'start';
      } else if (this.#strike(message)) {
        return;
      }
      this.#send(this.database, message);
    }
  }

  /** Does what was ordered for this message. True if the connection is gone. */
  #strike(message) {
    const half = () => {
      this.database.end(message.subarray(0, message.length >> 1));
      this.node.destroy();
    };
    if (this.proxy.halves > 0 && message.length > 5) {
      this.proxy.halves--;
      half();
      return true;
    }
    if (this.#stall !== null) {
      this.hold();
      this.#stall.done();
      return true;
    }
    if (!this.#statements.commits(message))
      return false;
    const order = this.proxy.orders.shift();
    if (order === undefined)
      return false;
    if (['before', 'half', 'hold'].includes(order.how)) {
      if (order.how === 'half')
        half();
      else if (order.how === 'hold')
        this.hold();
      else
        this.cut();
      order.done();
      return true;
    }
    if (order.how === 'stall')
      this.#stall = order;
    else
      this.#swallow = order;
    return false;
  }

  #back() {
    if (this.#awaitsByte) {
      const byte = this.#fromDatabase.take(1);
      if (byte === null)
        return;
      assert.equal(String(byte), 'N', 'the proxy cannot look into an encrypted connection');
      this.#awaitsByte = false;
      this.#send(this.node, byte);
    }
    for (;;) {
      const message = this.#fromDatabase.next(1);
      if (message === null || this.database.destroyed)
        return;
      if (this.#swallow === null) {
        this.#send(this.node, message);
      } else if (message[0] === 0x43 && message.toString('latin1', 5, 11) === 'COMMIT') {
        const { how, done } = this.#swallow;
        if (how === 'after')
          this.cut();
        else
          this.hold();
        done();
        return;
      } else if (message[0] === 0x43 && message.toString('latin1', 5, 13) === 'ROLLBACK') {
        // It was no commit after all: the order waits for the next one.
        this.proxy.orders.unshift(this.#swallow);
        this.#swallow = null;
        this.cut();
        return;
      }
    }
  }
}

class Proxy {
  links = new Set();
  orders = [];
  isHole = false;
  delayMs = 0;
  halves = 0;
  strikes = 0;
  #refuses = false;

  constructor(target) {
    this.target = target;
    this.listener = net.createServer((node) => {
      if (this.#refuses)
        node.destroy();
      else
        this.links.add(new Link(this, node));
    });
  }

  get port() {
    return this.listener.address().port;
  }

  cut() {
    for (const link of [...this.links])
      link.cut();
  }

  refuse(refuses) {
    this.#refuses = refuses;
  }

  delay(ms) {
    this.delayMs = ms;
  }

  hole(isHole) {
    this.isHole = isHole;
    for (const link of this.links)
      if (isHole)
        link.hold();
      else
        link.release();
  }

  halve() {
    this.halves++;
  }

  atCommit(how) {
    assert.ok(['before', 'half', 'hold', 'stall', 'after', 'silence'].includes(how), how);
    return new Promise((done) => this.orders.push({
      how,
      done: () => { this.strikes++; done(); },
    }));
  }

  close() {
    this.cut();
    return new Promise((done) => this.listener.close(done));
  }
}

/** A proxy to the database on a port of this machine, closed when t ends. */
export async function startProxy(t, target) {
  const proxy = new Proxy(target);
  await new Promise((done) => proxy.listener.listen(0, '127.0.0.1', done));
  atEnd(t, () => proxy.close());
  return proxy;
}
