// SPDX-License-Identifier: Apache-2.0
// Who talks where: the agent, and a thread with its participants.
import { Cairn, Conflict, type Participant, type Thread } from 'cairn-client';
import { SCRIPTED_MODEL } from './model.js';
import { TOOLS } from './tools.js';

export const AGENT = 'chat-agent';
export const PROMPT = 'You are a helpful assistant. Use the tools that you have. Be brief.';

/** The id of the agent. Whoever comes first makes it: a worker or a client. */
export async function ensureAgent(cairn: Cairn): Promise<string> {
  try {
    const tools = TOOLS.map((tool) => tool.function.name);
    const made = await cairn.agents.create({ name: AGENT, system_prompt: PROMPT, tools });
    // What a million tokens cost. From here on every run knows what it cost.
    await cairn.prices.put(SCRIPTED_MODEL, { provider: 'example', input: 1, output: 4 });
    return made.id;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const { data } = await cairn.agents.list({ name: AGENT });
    return data[0].id;
  }
}

/** The conversation of this name, which begins when it is first asked for. */
export function ensureConversation(cairn: Cairn, name: string): Promise<Thread> {
  return cairn.threads.byKey.ensure(`chat/${name}`, { title: name, run_policy: 'enqueue' });
}

export async function ensureParticipant(
  cairn: Cairn, threadId: string, principal: string, role: 'user' | 'assistant',
): Promise<Participant> {
  try {
    return await cairn.threads.participants.add(threadId, { principal, role });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error; // it takes part already
    const { data } = await cairn.threads.participants.list(threadId, { principal });
    return data[0];
  }
}
