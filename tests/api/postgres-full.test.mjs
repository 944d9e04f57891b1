// SPDX-License-Identifier: Apache-2.0
// A full database: acknowledged writes are present, reads continue, writes are rejected as
// retryable, and succeed as soon as there is space.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { atEnd } from './lib/ending.mjs';
import { eventually, expectStatus, onPostgres, startServer, uuid } from './lib/server.mjs';
import { expectSeqs, followWs } from './lib/followers.mjs';
import { giveToOwner, startCluster } from './lib/postgres.mjs';

const HERE = onPostgres('a tablespace that fills up');

/** A file system of this size at `directory`, or false where we may not mount one. */
function mountSmall(directory, size) {
  mkdirSync(directory);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory],
      { stdio: 'pipe' });
  } catch {
    return false;
  }
  giveToOwner(directory);
  return true;
}

test('a full database refuses writes and nothing else, until there is space', HERE, async (t) => {
  const cluster = await startCluster(t);
  const directory = join(cluster.directory, 'small');
  if (!mountSmall(directory, '24m'))
    return t.skip('no right to mount a small file system');
  atEnd(t, async () => {
    await cluster.stop('immediate');
    execFileSync('umount', [directory], { stdio: 'pipe' });
  });
  await cluster.sql(`CREATE TABLESPACE small LOCATION '${directory}'`);
  const db = await cluster.database('filled', 'TABLESPACE small');
  const server = await startServer(t, { db });
  const client = server.open;
  const thread = expectStatus(await client.post('/v1/threads', {}), 201);
  const stream = followWs(client, `/v1/threads/${thread.id}/events/ws`);
  // Random, or PostgreSQL would compress it away.
  const payload = () => Array.from({ length: 1500 }, uuid).join('');
  const acknowledged = [];
  let refused = null;
  for (let i = 0; i < 2000 && refused === null; i++) {
    const answer = await client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', text: `event ${i}`, payload: payload() });
    if (answer.status === 201)
      acknowledged.push(answer.body);
    else
      refused = answer;
  }
  assert.ok(refused !== null, 'it never was full');
  assert.ok(acknowledged.length > 20);
  assert.ok(refused.status === 507 || refused.status === 503, refused.text);
  assert.equal(refused.body.retryable, true);
  assert.match(refused.headers.get('Retry-After') ?? '', /^\d+$/);

  // Reads, old events and the streams continue.
  const { last_seq: last } = expectStatus(await client.get(`/v1/threads/${thread.id}`), 200);
  assert.equal(last, acknowledged.at(-1).seq);
  await stream.hears(last);
  assert.deepEqual(stream.heard.slice(1), acknowledged);
  expectStatus(await client.get('/healthz'), 200);

  execFileSync('mount', ['-o', 'remount,size=256m', directory], { stdio: 'pipe' });
  const back = await eventually(async () => {
    const answer = await client.post(`/v1/threads/${thread.id}/events`,
      { kind: 'progress', text: 'there is space', payload: payload() });
    return answer.status === 201 && answer.body;
  }, 'writes did not come back');
  await stream.hearsText('there is space');
  expectSeqs(stream.heard, 1, back.seq);
  await server.restart();
  const page = expectStatus(
    await client.get(`/v1/threads/${thread.id}/events?after=1&limit=10`), 200);
  assert.deepEqual(page.data, acknowledged.slice(0, page.data.length));
});
