// SPDX-License-Identifier: Apache-2.0
// Proxies between client and server: HAProxy before several nodes, PgBouncer before the database.
//
//   const front = await startHaproxy(t, nodes);   // front.client(secret): round robin, no retries
//   const url = await startPgbouncer(t, cluster); // transaction pooling
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';
import { eventually, startServer, Client } from './server.mjs';
import { asOwner, freePort, newDirectory } from './postgres.mjs';

/** Several nodes on one schema, the first of which owns the others. */
export async function startNodes(t, count, options = {}) {
  const nodes = [await startServer(t, options)];
  while (nodes.length < count)
    nodes.push(await nodes[0].join());
  return nodes;
}

const answers = (port) => new Promise((done) => {
  const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); done(true); });
  socket.on('error', () => done(false));
});

/** Runs a program until t ends; gives it once it answers on its port. */
async function startProgram(t, program, args, port, directory) {
  const [command, ...rest] = asOwner(program, args);
  const child = spawn(command, rest, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => { said += text; });
  const ended = new Promise((done) => child.on('close', done).on('error', (error) => {
    said += error.message;
    done();
  }));
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  await eventually(async () => {
    assert.equal(child.exitCode, null, `${program} has ended: ${said}`);
    return answers(port);
  }, `${program} does not answer`);
}

/** HAProxy in front of the nodes. Clients use the returned object like a server. */
export async function startHaproxy(t, nodes) {
  const directory = newDirectory();
  const port = await freePort();
  const servers = nodes.map((node, i) => `  server node${i} 127.0.0.1:${node.port} check`);
  writeFileSync(join(directory, 'haproxy.cfg'), `
global
  maxconn 2000
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout tunnel 1h
frontend cairn
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
  default-server inter 200 fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`);
  await startProgram(t, 'haproxy', ['-f', join(directory, 'haproxy.cfg')], port, directory);
  const front = { port, url: `http://127.0.0.1:${port}`, condition: 'behind HAProxy' };
  const clients = new Set();
  atEnd(t, () => clients.forEach((client) => client.close()));
  front.client = (secret = null) => {
    const client = new Client(front, secret);
    clients.add(client);
    return client;
  };
  return front;
}

/** PgBouncer before the database, in transaction mode; gives the URL of the way through it. */
export async function startPgbouncer(t, cluster) {
  const directory = newDirectory();
  const port = await freePort();
  writeFileSync(join(directory, 'users.txt'), '"cairn" ""\n');
  writeFileSync(join(directory, 'pgbouncer.ini'), `
[databases]
* = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users.txt')}
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
`);
  await startProgram(t, 'pgbouncer', [join(directory, 'pgbouncer.ini')], port, directory);
  return cluster.url('cairn', 'cairn', { port });
}
