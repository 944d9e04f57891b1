// SPDX-License-Identifier: Apache-2.0
// Creates the agent, the thread and its participants if they do not exist.
import { Cairn, Conflict, type Participant, type Thread } from 'cairn-client';
import { SCRIPTED_MODEL } from './model.js';
import { TOOLS } from './tools.js';

export const AGENT = 'chat-agent';
export const PROMPT = 'You are a helpful assistant. Use the tools that you have. Be brief.';

/** Returns the id of the agent. The first worker or client creates it. */
export async function ensureAgent(cairn: Cairn): Promise<string> {
  try {
    const tools = TOOLS.map((tool) => tool.function.name);
    const made = await cairn.agents.create({ name: AGENT, system_prompt: PROMPT, tools });
    // The price of a million tokens. From now on Cairn computes the cost of every run.
    await cairn.prices.put(SCRIPTED_MODEL, { provider: 'example', input: 1, output: 4 });
    return made.id;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const { data } = await cairn.agents.list({ name: AGENT });
    return data[0].id;
  }
}

/** Returns the conversation with this name, and creates it on first use. */
export function ensureConversation(cairn: Cairn, name: string): Promise<Thread> {
  return cairn.threads.byKey.ensure(`chat/${name}`, { title: name, run_policy: 'enqueue' });
}

export async function ensureParticipant(
  cairn: Cairn, threadId: string, principal: string, role: 'user' | 'assistant',
): Promise<Participant> {
  try {
    return await cairn.threads.participants.add(threadId, { principal, role });
  } catch (error) {
    if (!(error instanceof Conflict)) throw error; // already a participant
    const { data } = await cairn.threads.participants.list(threadId, { principal });
    return data[0];
  }
}
