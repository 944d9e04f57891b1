// SPDX-License-Identifier: Apache-2.0
// Stores conversations with one of LangGraph's savers, as a graph does: in each turn, the write of a
// task, then a checkpoint with the whole list of messages. Then reads the latest checkpoint.
//   node savers.mjs cairn|sqlite|sqlite-full|postgres PLACE MESSAGES.json TURNS GETS THREADS
// Prints put_N, write_N and get_N in microseconds, and the settings for durability. A short
// conversation at the start, which is not counted, warms the program up.
import { readFileSync } from 'node:fs';
import { uuid6 } from '@langchain/langgraph-checkpoint';

const [kind, place, file, ...counts] = process.argv.slice(2);
const [turns, gets, threads] = counts.map(Number);
const messages = JSON.parse(readFileSync(file, 'utf8')).slice(0, turns * 2);

async function openSqlite() {
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
  const saver = SqliteSaver.fromConnString(place);
  saver.setup();
  if (kind === 'sqlite-full')
    saver.db.pragma('synchronous = FULL');
  return [saver, () => {
    console.log(`synchronous ${saver.db.pragma('synchronous', { simple: true })}`);
    console.log(`wal ${Number(saver.db.pragma('journal_mode', { simple: true }) === 'wal')}`);
    saver.db.close();
  }];
}

async function openPostgres() {
  const { PostgresSaver } = await import('@langchain/langgraph-checkpoint-postgres');
  const saver = PostgresSaver.fromConnString(place);
  await saver.setup();
  return [saver, () => saver.end()];
}

async function openCairn() {
  const { CairnSaver } = await import('../../sdk/langgraph/dist/index.js');
  return [new CairnSaver({ client: { baseUrl: place } }), () => {}];
}

const open = { cairn: openCairn, postgres: openPostgres }[kind] ?? openSqlite;
const [saver, close] = await open();
const took = { put: [], write: [], get: [] };

async function timed(what, work) {
  const began = performance.now();
  const result = await work();
  took[what].push(performance.now() - began);
  return result;
}

async function converse(thread_id, length = turns) {
  let config = { configurable: { thread_id, checkpoint_ns: '' } };
  for (let turn = 1; turn <= length; turn++) {
    const checkpoint = {
      v: 4,
      id: uuid6(turn),
      ts: new Date(1.7e12 + turn * 1000).toISOString(),
      channel_values: { messages: messages.slice(0, turn * 2), step: turn },
      channel_versions: { messages: turn, step: turn },
      versions_seen: { agent: { messages: turn - 1 } },
    };
    if (turn > 1) {
      const writes = [['messages', messages.slice(turn * 2 - 2, turn * 2)]];
      await timed('write', () => saver.putWrites(config, writes, `task-${turn}`));
    }
    const metadata = { source: 'loop', step: turn, parents: {} };
    const versions = { messages: turn, step: turn };
    config = await timed('put', () => saver.put(config, checkpoint, metadata, versions));
  }
}

const WARM_TURNS = 5;
await converse('warm-up', WARM_TURNS);
for (const times of Object.values(took))
  times.length = 0;

const names = Array.from({ length: threads }, (_, i) => `conversation-${i}`);
const began = performance.now();
await Promise.all(names.map((name) => converse(name)));
console.log(`all_us ${((performance.now() - began) * 1000).toFixed(0)}`);
for (let i = 0; i < gets; i++) {
  const config = { configurable: { thread_id: names[i % threads], checkpoint_ns: '' } };
  const { checkpoint } = await timed('get', () => saver.getTuple(config));
  if (JSON.stringify(checkpoint.channel_values.messages) !== JSON.stringify(messages))
    throw new Error('the latest checkpoint differs from the one that was put');
}
await close();
for (const [what, times] of Object.entries(took))
  for (const [i, ms] of times.entries())
    console.log(`${what}_${i} ${(ms * 1000).toFixed(1)}`);
