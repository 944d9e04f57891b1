// SPDX-License-Identifier: Apache-2.0
// The terminal: npm run chat NAME [USER]. Sends each line of input to the conversation NAME.
//
// It follows the conversation live and shows each event once and in order, even if the connection
// or the server fails in between.
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { Cairn, type Event, type Participant } from 'cairn-client';
import { ensureAgent, ensureConversation, ensureParticipant } from './conversation.js';

const ENDS = new Set(['completed', 'failed', 'cancelled']);

class Terminal {
  /** callbacks for the end of a run, by the run's id */
  private readonly waiting = new Map<string, () => void>();
  private readonly ended = new Set<string>();
  /** by the ids of participants */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly cairn: Cairn,
    private readonly threadId: string,
    private readonly me: Participant,
  ) {}

  /** Prints all messages. Returns the number of the last one, where following starts. */
  async showHistory(): Promise<number> {
    let seen = 0;
    const said = this.cairn.threads.messages.list(this.threadId, { after: 0, type: 'chat' });
    for await (const message of said) {
      console.log(`${await this.nameOf(message)}: ${message.content}`);
      seen = message.seq;
    }
    return seen;
  }

  /** Reads the participants again when a new one sends a message. */
  private async nameOf(message: Record<string, any>): Promise<string> {
    if (message.sender_role !== 'user') return 'agent';
    if (!this.names.has(message.sender_id))
      for await (const one of this.cairn.threads.participants.list(this.threadId))
        this.names.set(one.id, one.name);
    return this.names.get(message.sender_id) ?? 'unknown';
  }

  async follow(after: number): Promise<void> {
    for await (const event of this.cairn.threads.events.follow(this.threadId, { after }))
      await this.show(event);
  }

  private async show(event: Event): Promise<void> {
    const payload = (event.payload ?? {}) as Record<string, any>;
    if (event.kind === 'message.created' && payload.sender_id !== this.me.id) {
      console.log(`${await this.nameOf(payload)}: ${payload.content}`);
    } else if (event.kind === 'progress') {
      console.log(`  … ${event.text}`);
    } else if (event.kind === 'tool.awaited') {
      for (const tool of payload.tools)
        console.log(`  ${tool.name} waits for approval: npm run approve yes ${event.run_id}`);
    } else if (event.run_id && ENDS.has(payload.to)) {
      await this.showEnd(event.run_id);
      this.ended.add(event.run_id);
      this.waiting.get(event.run_id)?.();
    }
  }

  private async showEnd(runId: string): Promise<void> {
    const { status, error, total_usage: usage } = await this.cairn.runs.get(runId);
    const tokens = usage.input_tokens + usage.output_tokens;
    const cost = usage.cost_usd === null ? 'no price' : `$${usage.cost_usd.toFixed(6)}`;
    const why = error ? ` ${(error as { message: string }).message}` : '';
    console.log(`  [${status}${why}: ${tokens} tokens, ${cost}]`);
  }

  async say(text: string): Promise<string> {
    const message = await this.cairn.threads.messages.create(
      this.threadId, { content: text, sender_id: this.me.id });
    const run = await this.cairn.agents.runs.create(await ensureAgent(this.cairn), {
      thread_id: this.threadId,
      input: { message: text },
      message: false,
      metadata: { message_id: message.id },
    });
    return run.run_id;
  }

  async end(runId: string): Promise<void> {
    if (!this.ended.has(runId))
      await new Promise<void>((done) => this.waiting.set(runId, done));
  }
}

const [name, user = userInfo().username] = process.argv.slice(2);
if (name === undefined) {
  console.error('npm run chat NAME [USER]');
  process.exit(1);
}
const cairn = new Cairn();
const thread = await ensureConversation(cairn, name);
const me = await ensureParticipant(cairn, thread.id, `user:${user}`, 'user');
const terminal = new Terminal(cairn, thread.id, me);
const following = terminal.follow(await terminal.showHistory());
following.catch((error: unknown) => {
  console.error(String(error));
  process.exit(1);
});
for await (const line of createInterface({ input: process.stdin }))
  if (line.trim() !== '') await terminal.end(await terminal.say(line.trim()));
process.exit(0);
