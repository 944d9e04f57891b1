// SPDX-License-Identifier: Apache-2.0
// The worker: npm run agent. Start any number of workers, and kill them at any time.
//
// The state of a run is in Cairn only. The model's messages are a checkpoint, tool results since
// then are the checkpoint's pending writes, and human decisions are the results of awaited tools.
// The next worker that claims the run, in either language, continues from there.
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
 * Works on one run, turn by turn. The client sends the fencing token of the run's lease with every
 * write, so a worker that lost its lease cannot overwrite its successor's data.
 */
class Conversation {
  private messages: Message[] = [];
  /** results of this turn, by the id of the tool call */
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
   * Returns the answer, or undefined after asking a person: their decision puts the run back into
   * the queue. The last message alone determines the next action.
   */
  async work(): Promise<string | undefined> {
    await this.load();
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const last = this.messages[this.messages.length - 1];
      if (last.role !== 'assistant') await this.askModel();
      else if (!last.tool_calls) return this.answer(last.content ?? '');
      else if (!(await this.useTools(last.tool_calls))) return undefined;
    }
    throw new GaveUp(`no answer after ${MAX_TURNS} turns`);
  }

  // --- State ----------------------------------------------------------------------------------

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

  /**
   * Results for a turn that an earlier run did not finish: models require a result for every tool
   * call.
   */
  private leftOpen(): Message[] {
    const last = this.messages[this.messages.length - 1];
    const calls = last.role === 'assistant' ? (last.tool_calls ?? []) : [];
    return calls.map((call) => this.results.get(call.id) ?? resultOf(call, 'not done'));
  }

  /** Puts a checkpoint that appends the new messages; only these are sent and stored. */
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

  /** Stores the result at once, as a pending write, so that the tool is never called again. */
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

  private async report(text: string): Promise<void> {
    const event = { kind: 'progress', text, run_id: this.run.id };
    await this.cairn.threads.events.append(this.run.thread_id, event);
  }

  // --- Actions --------------------------------------------------------------------------------

  private async askModel(): Promise<void> {
    const started = performance.now();
    const { message, model, provider, usage } = await this.model(this.messages, TOOLS);
    // Assign unique ids: some endpoints start with call_0 in every response.
    for (const [i, call] of (message.tool_calls ?? []).entries())
      call.id = `call_${this.messages.length}_${i}`;
    // Record the cost first, because it is spent even if the next write fails.
    await this.logStep('api_response_received', started, { model, provider, usage });
    await this.keep([message]);
  }

  /** Returns false if the turn has to wait for a decision of a person. */
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
    await this.report(`${name} ${given}`);
    const started = performance.now();
    const output = await use(name, given, {
      id: `${this.run.id}-${call.id}`,
      signal: this.signal,
      report: (text) => this.report(text),
    });
    await this.keepResult(call, output);
    const outcome = output.startsWith('error:') ? 'error' : 'success';
    await this.logStep('tool_execution', started,
      { tool_name: name, tool_use_id: call.id, outcome, action_data: { output } });
  }

  private async answer(content: string): Promise<string> {
    const { thread_id, id, agent_id } = this.run;
    const me = await ensureParticipant(this.cairn, thread_id, `agent:${agent_id}`, 'assistant');
    // The key prevents a second message if this worker dies right after sending the first.
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
// Claims runs one by one and renews their leases. The result of work() completes the run, an
// exception fails it; undefined leaves a run that waits for a person unchanged.
await cairn.runs.work(
  {
    agent: AGENT,
    lease_ms: LEASE_MS,
    signal: stop.signal,
    onError: (error, run) => console.error(`${run?.id ?? 'claim'}: ${String(error)}`),
  },
  (run, { client, signal }) => new Conversation(run, client, signal, model).work(),
);
