// SPDX-License-Identifier: Apache-2.0
// Puts the checkpoints of a conversation with LangGraph's own savers, as a graph does: the whole
// list of messages after each turn. Then reads the latest checkpoint.
//   node checkpoints.mjs sqlite|postgres PLACE MESSAGES.json TURNS GETS
import { readFileSync } from 'node:fs';
import { uuid6 } from '@langchain/langgraph-checkpoint';

const [kind, place, file, turns, gets] = process.argv.slice(2);
const messages = JSON.parse(readFileSync(file, 'utf8'));
const aTurn = messages.length / Number(turns);

async function openSaver() {
  if (kind === 'sqlite') {
    const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
    return SqliteSaver.fromConnString(place);
  }
  const { PostgresSaver } = await import('@langchain/langgraph-checkpoint-postgres');
  const saver = PostgresSaver.fromConnString(place);
  await saver.setup();
  return saver;
}

const saver = await openSaver();
const thread = { thread_id: 'conversation', checkpoint_ns: '' };
let config = { configurable: { ...thread } };
const puts = [];
for (let turn = 1; turn <= Number(turns); turn++) {
  const checkpoint = {
    v: 4,
    id: uuid6(turn),
    ts: new Date(1.7e12 + turn * 1000).toISOString(),
    channel_values: { messages: messages.slice(0, turn * aTurn), step: turn },
    channel_versions: { messages: turn, step: turn },
    versions_seen: {},
  };
  const began = performance.now();
  config = await saver.put(config, checkpoint, { source: 'loop', step: turn, parents: {} },
    { messages: turn, step: turn });
  puts.push(performance.now() - began);
}
let got;
const began = performance.now();
for (let i = 0; i < Number(gets); i++)
  got = await saver.getTuple({ configurable: { ...thread } });
const get = (performance.now() - began) / Number(gets);
if (got.checkpoint.channel_values.messages.length !== messages.length)
  throw new Error('the latest checkpoint is incomplete');
if (kind === 'sqlite') {
  console.log(`synchronous ${saver.db.pragma('synchronous', { simple: true })}`);
  saver.db.close();
} else {
  await saver.end();
}
console.log(`get_us ${(get * 1000).toFixed(1)}`);
for (const [i, ms] of puts.entries())
  console.log(`put_${i} ${(ms * 1000).toFixed(1)}`);
