// SPDX-License-Identifier: Apache-2.0
// Crashes: a server that is killed at any moment has kept what it acknowledged, whole and in order.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Listener } from './lib/crash/listeners.mjs';
import { Scene } from './lib/crash/scene.mjs';
import { ENGINE, expectSound, expectStatus, onSqlite, pause, startServer }
  from './lib/server.mjs';

const CYCLES = Number(process.env.CAIRN_CRASH_CYCLES || (ENGINE === 'sqlite' ? 25 : 12));
// An actor takes the rarest of its ways about once in twenty steps.
const REHEARSAL_STEPS = 400;
const REHEARSAL = process.env.CAIRN_CRASH_REHEARSAL === 'no'
  ? { skip: 'CAIRN_CRASH_REHEARSAL=no' } : onSqlite('the routes are the same');

const newThread = async (client, body = {}) =>
  expectStatus(await client.post('/v1/threads', body), 201);

test('every route that writes has somebody who writes through it while the server is killed',
  REHEARSAL, async (t) => {
    const scene = await Scene.begin(t);
    await scene.rehearse(REHEARSAL_STEPS);
    assert.deepEqual(scene.untouched, [], 'an actor in lib/crash must write through it');
    await scene.check(true);
  });

test(`killed ${CYCLES} times under load, nothing acknowledged is lost and nothing doubled`,
  async (t) => {
    const say = (...figures) => t.diagnostic(`crash: ${figures.join('; ')}`);
    const began = Date.now();
    const scene = await Scene.begin(t);
    for (let cycle = 1; cycle <= CYCLES; cycle++)
      await scene.cycle(cycle);
    await scene.check(true);
    const { reconnects } = scene.actors.find((actor) => actor instanceof Listener);
    assert.ok(reconnects > 0, 'nobody came back');
    scene.end();
    await scene.server.stop();
    await expectSound(scene.server);
    say(`${ENGINE}: ${CYCLES} cycles`, `${scene.kills} kills`, `lost 0`, `doubled 0`,
      `${Math.round((Date.now() - began) / 1000)} s`);
    say(`${scene.acknowledged} writes acknowledged: ${[...scene.byResource].map(
      ([resource, times]) => `${resource} ${times}`).join(', ')}`);
    say(`POST sent again with its key ${scene.resent}`,
      `PATCH and DELETE looked up ${scene.unknown}`, `streams resumed ${reconnects}`);
  });

/** As if the server had never been. */
function forget(server) {
  if (ENGINE === 'postgres')
    server.sql(`DROP SCHEMA IF EXISTS ${server.schema} CASCADE`);
  for (const file of readdirSync(server.dataDir))
    rmSync(join(server.dataDir, file));
}

test('a server killed while it makes its database starts all the same', async (t) => {
  const server = await startServer(t);
  await server.stop();
  for (let i = 0; i < 10; i++) {
    if (i % 2 === 0)
      forget(server);
    const starting = server.start().catch(() => {});
    await pause(Math.random() * 40);
    await server.kill();
    await starting;
  }
  await server.start();
  await newThread(server.open);
});

const FILES = onSqlite('any number of nodes share a PostgreSQL');

test('a second server on the same directory is refused', FILES, async (t) => {
  const server = await startServer(t);
  const thread = await newThread(server.open);
  await assert.rejects(startServer(t, { args: ['--data', server.dataDir] }),
    /another cairn process is using the data directory/);
  expectStatus(await server.open.get(`/v1/threads/${thread.id}`), 200);
  await server.restart();
});

test('a database of a newer Cairn is refused and left as it is', async (t) => {
  const server = await startServer(t);
  await newThread(server.open);
  await server.stop();
  const [row] = server.rows('SELECT * FROM schema_versions LIMIT 1');
  const rest = Object.keys(row).filter((name) => name !== 'version').map((name) => `, ${name}`);
  server.sql(`INSERT INTO schema_versions (version${rest.join('')})
    SELECT 999${rest.join('')} FROM schema_versions WHERE version = ${row.version}`);
  await assert.rejects(server.start(), /newer/);
  assert.deepEqual(server.sql('SELECT count(*) FROM threads'), [[1]]);
  server.sql('DELETE FROM schema_versions WHERE version = 999');
  await server.start();
});

test('without a key nobody may listen beyond this machine', async (t) => {
  for (const listen of ['0.0.0.0:0', '[::]:0'])
    await assert.rejects(startServer(t, { args: ['--listen', listen] }), /no API key exists/);
});
