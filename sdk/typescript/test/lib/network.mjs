// SPDX-License-Identifier: Apache-2.0
// Networks with faults, and servers other than Cairn.
//
//   const proxy = await startProxy(t, server);    proxy.url forwards to the server
//   proxy.loseAnswers(n)     loses the next n responses: the request is performed, and its
//                            connection is cut when the server responds
//   proxy.cutDownloads(bytes)  cuts each connection after this number of bytes from the server
//   proxy.freeze() .thaw()   connections stay open, and no data passes
//   proxy.cut()              cuts all connections now
//   await closedUrl()        returns a URL without a listener
//   await foreign(t, (request, answer) => …)      returns the URL of another HTTP server
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

/** Returns an address without a listener. */
export async function closedUrl() {
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
