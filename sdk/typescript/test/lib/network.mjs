// SPDX-License-Identifier: Apache-2.0
// Networks that misbehave, and servers that are no Cairn.
//
//   const proxy = await startProxy(t, server);    proxy.url leads to the server
//   proxy.loseAnswers(n)     the next n answers never come: the request is carried out, and its
//                            connection is cut when the server answers
//   proxy.cutDownloads(bytes)  each connection is cut once so much has come from the server
//   proxy.freeze() .thaw()   connections stay, and nothing passes
//   proxy.cut()              all connections, now
//   await nobody()           a URL where nothing listens
//   await foreign(t, (request, answer) => …)      the URL of an HTTP server of another kind
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';

const listening = (server) =>
  new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));

export async function foreign(t, answer) {
  const server = createHttpServer(answer);
  const port = await listening(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}`;
}

export async function foreignTcp(t, onSocket) {
  const server = createServer((socket) => onSocket(socket.on('error', () => {})));
  const port = await listening(server);
  t.after(() => server.close());
  return `http://127.0.0.1:${port}`;
}

/** An address at which nothing listens any more. */
export async function nobody() {
  const server = createServer();
  const port = await listening(server);
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

class Proxy {
  #target;
  #pairs = new Set();
  #toLose = 0;
  #cutAfter = Infinity;
  #isFrozen = false;
  connections = 0;
  lost = 0;

  constructor(target) {
    this.#target = target;
  }

  loseAnswers(n) {
    this.#toLose = n;
  }

  cutDownloads(bytes) {
    this.#cutAfter = bytes;
  }

  freeze() {
    this.#isFrozen = true;
    for (const [near, far] of this.#pairs) near.pause() && far.pause();
  }

  thaw() {
    this.#isFrozen = false;
    for (const [near, far] of this.#pairs) near.resume() && far.resume();
  }

  cut() {
    for (const [near, far] of this.#pairs) near.destroy() && far.destroy();
  }

  accept(near) {
    const far = connect(this.#target.port, '127.0.0.1');
    const pair = [near, far];
    this.#pairs.add(pair);
    this.connections++;
    const end = () => {
      near.destroy();
      far.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    near.on('data', (bytes) => far.write(bytes));
    let passed = 0;
    far.on('data', (bytes) => {
      if (this.#toLose > 0) {
        this.#toLose--;
        this.lost++;
        return end();
      }
      passed += bytes.length;
      near.write(bytes);
      return passed > this.#cutAfter ? near.end(end) : undefined;
    });
    if (this.#isFrozen) near.pause() && far.pause();
  }
}

export async function startProxy(t, server) {
  const proxy = new Proxy(server);
  const front = createServer((socket) => proxy.accept(socket));
  proxy.url = `http://127.0.0.1:${await listening(front)}`;
  t.after(() => {
    proxy.cut();
    front.close();
  });
  return proxy;
}
