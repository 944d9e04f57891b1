// SPDX-License-Identifier: Apache-2.0
// The worker: npm run agent. Start as many as you like, and kill them as you like.
//
// Everything it knows of a run is in Cairn: the conversation as the model sees it is a checkpoint,
// what tools answered since then are the checkpoint's pending writes, what people decided are the
// results of awaited tools. So whoever claims the run next goes on from there, in any language.
import { Cairn, NotFound, type Run } from 'cairn-client';
import { AGENT, PROMPT, ensureAgent, ensureParticipant } from './conversation.js';
import { chooseModel, type Message, type Model, type ToolCall } from './model.js';
import { NEEDS_APPROVAL, TOOLS, use } from './tools.js';

const LEASE_MS = Number(process.env.CHAT_LEASE_MS ?? 15_000);
const MAX_TURNS = 20;

class GaveUp extends Error {}

interface Decision {
  approved: boolean;
  by: string;
  reason?: string;
}

const resultOf = (call: ToolCall, content: string): Message => ({
  role: 'tool', tool_call_id: call.id, content,
});

const isRisky = (call: ToolCall) => NEEDS_APPROVAL.has(call.function.name);

/**
 * One run, worked on turn by turn. The client sends the fencing token of the run's lease with every
 * write: a worker that was thought dead cannot write over its successor.
 */
class Conversation {
  private messages: Message[] = [];
  /** of this turn's tool calls, by their ids */
  private results = new Map<string, Message>();
  /** the newest checkpoint */
  private point: string | null = null;

  constructor(
    private readonly run: Run,
    private readonly cairn: Cairn,
    private readonly signal: AbortSignal,
    private readonly model: Model,
  ) {}

  /**
   * The answer, or undefined when a person is asked: then the run comes back to the queue with what
   * that one said. What comes next follows from the last message alone.
   */
  async goOn(): Promise<string | undefined> {
    await this.load();
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const last = this.messages[this.messages.length - 1];
      if (last.role !== 'assistant') await this.askModel();
      else if (!last.tool_calls) return this.answer(last.content ?? '');
      else if (!(await this.useTools(last.tool_calls))) return undefined;
    }
    throw new GaveUp(`no answer after ${MAX_TURNS} turns`);
  }

  // --- What is kept ---------------------------------------------------------------------------

  private async load(): Promise<void> {
    const question: Message = { role: 'user', content: this.run.user_input ?? '' };
    const latest = await this.latest();
    if (latest === null) return this.keep([{ role: 'system', content: PROMPT }, question]);
    this.point = latest.id;
    this.messages = latest.channel_values?.messages as Message[];
    for (const { task_id, value } of latest.pending_writes ?? [])
      this.results.set(task_id, value as Message);
    if (latest.run_id !== this.run.id) await this.keep([...this.leftOpen(), question]);
  }

  private async latest() {
    try {
      return await this.cairn.threads.checkpoints.latest(this.run.thread_id);
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  /** An earlier run ended in the middle of a turn. Models insist on a result of every call. */
  private leftOpen(): Message[] {
    const last = this.messages[this.messages.length - 1];
    const calls = last.role === 'assistant' ? (last.tool_calls ?? []) : [];
    return calls.map((call) => this.results.get(call.id) ?? resultOf(call, 'not done'));
  }

  /** A checkpoint on top of the last one. It costs what is new, however long the talk is. */
  private async keep(added: Message[]): Promise<void> {
    const state = this.point === null
      ? { channel_values: { messages: added } }
      : { changes: { append: { messages: added } } };
    const made = await this.cairn.threads.checkpoints.put(
      this.run.thread_id, { run_id: this.run.id, expected_latest: this.point, ...state });
    this.point = made.id;
    this.results.clear();
    this.messages.push(...added);
  }

  /** At once, beside the checkpoint: the tool is not used again, whatever happens next. */
  private async keepResult(call: ToolCall, text: string): Promise<void> {
    const value = resultOf(call, text);
    this.results.set(call.id, value);
    await this.cairn.threads.checkpoints.writes.put(
      this.run.thread_id,
      this.point!,
      { task_id: call.id, writes: [{ channel: 'messages', value }] },
    );
  }

  private async logStep(action_type: string, started: number, more: object): Promise<void> {
    const duration_ms = Math.round(performance.now() - started);
    const step_number = this.messages.length;
    await this.cairn.runs.steps.append(
      this.run.id, { action_type, step_number, duration_ms, ...more });
  }

  private async tell(text: string): Promise<void> {
    const event = { kind: 'progress', text, run_id: this.run.id };
    await this.cairn.threads.events.append(this.run.thread_id, event);
  }

  // --- What is done ---------------------------------------------------------------------------

  private async askModel(): Promise<void> {
    const started = performance.now();
    const { message, model, provider, usage } = await this.model(this.messages, TOOLS);
    // Ids of our own: some endpoints begin with call_0 in every answer.
    for (const [i, call] of (message.tool_calls ?? []).entries())
      call.id = `call_${this.messages.length}_${i}`;
    // First what it cost, for that is spent; then what it said.
    await this.logStep('api_response_received', started, { model, provider, usage });
    await this.keep([message]);
  }

  /** Whether the turn is over: not while a person has to say yes or no. */
  private async useTools(calls: ToolCall[]): Promise<boolean> {
    const todo = calls.filter((call) => !this.results.has(call.id));
    for (const call of todo.filter((c) => !isRisky(c))) await this.useTool(call);
    const risky = todo.filter(isRisky);
    if (risky.length > 0 && !(await this.decided(risky))) return false;
    await this.keep(calls.map((call) => this.results.get(call.id)!));
    return true;
  }

  private async decided(risky: ToolCall[]): Promise<boolean> {
    const said = new Map<string, Decision>();
    for await (const tool of this.cairn.runs.tools.list(this.run.id))
      said.set(tool.tool_use_id, tool.content as unknown as Decision);
    const unasked = risky.filter((call) => !said.has(call.id));
    if (unasked.length > 0) {
      await this.askPerson(unasked);
      return false;
    }
    for (const call of risky) {
      const { approved, by, reason } = said.get(call.id)!;
      if (approved) await this.useTool(call);
      else await this.keepResult(call, `refused by ${by}: ${reason || 'no reason given'}`);
    }
    return true;
  }

  private async askPerson(calls: ToolCall[]): Promise<void> {
    const tools = calls.map((call) => ({
      tool_use_id: call.id,
      name: call.function.name,
      side: 'frontend' as const,
      input: { arguments: call.function.arguments },
    }));
    await this.cairn.runs.tools.ask(this.run.id, { tools });
  }

  private async useTool(call: ToolCall): Promise<void> {
    this.signal.throwIfAborted();
    const { name, arguments: given } = call.function;
    await this.tell(`${name} ${given}`);
    const started = performance.now();
    const output = await use(name, given, {
      id: `${this.run.id}-${call.id}`,
      signal: this.signal,
      tell: (text) => this.tell(text),
    });
    await this.keepResult(call, output);
    const outcome = output.startsWith('error:') ? 'error' : 'success';
    await this.logStep('tool_execution', started,
      { tool_name: name, tool_use_id: call.id, outcome, action_data: { output } });
  }

  private async answer(content: string): Promise<string> {
    const { thread_id, id, agent_id } = this.run;
    const me = await ensureParticipant(this.cairn, thread_id, `agent:${agent_id}`, 'assistant');
    // The key makes it one message, also when a worker dies right after it.
    await this.cairn.threads.messages.create(
      thread_id,
      { content, sender_id: me.id, run_id: id },
      { idempotencyKey: `answer-${id}` },
    );
    return content;
  }
}

const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort());

const cairn = new Cairn();
const model = chooseModel();
await ensureAgent(cairn);
console.error(`${process.pid} works for ${AGENT}`);
// Claims runs one by one and keeps their leases. What goOn answers completes the run, what it
// throws fails it; one that waits for a person is left alone.
await cairn.runs.work(
  {
    agent: AGENT,
    lease_ms: LEASE_MS,
    signal: stop.signal,
    onError: (error, run) => console.error(`${run?.id ?? 'claim'}: ${String(error)}`),
  },
  (run, { client, signal }) => new Conversation(run, client, signal, model).goOn(),
);
