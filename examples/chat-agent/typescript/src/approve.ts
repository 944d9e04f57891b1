// SPDX-License-Identifier: Apache-2.0
// Lists or decides pending approvals: npm run approve [yes RUN | no RUN [REASON]]
import { userInfo } from 'node:os';
import { Cairn } from 'cairn-client';
import { AGENT } from './conversation.js';

const USAGE = 'npm run approve [yes RUN | no RUN [REASON]]';

async function show(cairn: Cairn): Promise<void> {
  for await (const run of cairn.runs.list({ status: 'waiting_for_input', agent: AGENT }))
    for await (const tool of cairn.runs.tools.list(run.id, { open: true })) {
      const { arguments: given } = tool.input as { arguments: string };
      console.log(`${run.id} ${tool.name} ${given}`);
    }
}

/** If two people decide, the first decision counts. */
async function decide(
  cairn: Cairn, runId: string, approved: boolean, reason: string,
): Promise<void> {
  const content = { approved, by: userInfo().username, reason };
  const waiting = await cairn.runs.tools.list(runId, { open: true });
  const results = waiting.data.map(({ tool_use_id }) => ({ tool_use_id, content }));
  if (results.length === 0) throw new Error(`run ${runId} is not waiting for approval`);
  await cairn.runs.tools.answer(runId, { results });
}

const [verb, runId, ...reason] = process.argv.slice(2);
const cairn = new Cairn();
try {
  if (verb === undefined) await show(cairn);
  else if (!runId || !['yes', 'no'].includes(verb)) throw new Error(USAGE);
  else await decide(cairn, runId, verb === 'yes', reason.join(' '));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
