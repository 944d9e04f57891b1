// SPDX-License-Identifier: Apache-2.0
// The model takes messages and tools and returns one message, as in OpenAI's chat completions.
// Without OPENAI_BASE_URL the model is a deterministic script that needs no key.

export interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface Answer {
  message: { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] };
  model: string;
  provider: string;
  usage: { input_tokens: number; output_tokens: number };
}

export type Model = (messages: Message[], tools: unknown[]) => Promise<Answer>;

export class ModelFailed extends Error {}

export const SCRIPTED_MODEL = 'scripted-1';
const TIMEOUT_MS = 120_000;

export const chooseModel = (): Model => (process.env.OPENAI_BASE_URL ? endpoint : scripted);

// --- Any endpoint with OpenAI's chat completions API -----------------------------------------

interface Completion {
  model?: string;
  choices: { message: { content?: string | null; tool_calls?: ToolCall[] } }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number };
}

async function endpoint(messages: Message[], tools: unknown[]): Promise<Answer> {
  const model = process.env.OPENAI_MODEL ?? 'gpt-4o-mini';
  try {
    const completion = await post({ model, messages, tools });
    const said = completion.choices[0].message;
    return {
      message: {
        role: 'assistant',
        content: said.content ?? null,
        ...(said.tool_calls?.length ? { tool_calls: said.tool_calls } : {}),
      },
      model: completion.model ?? model,
      provider: 'openai',
      usage: {
        input_tokens: completion.usage?.prompt_tokens ?? 0,
        output_tokens: completion.usage?.completion_tokens ?? 0,
      },
    };
  } catch (error) {
    if (error instanceof ModelFailed) throw error;
    throw new ModelFailed(`the model did not answer: ${String(error)}`, { cause: error });
  }
}

async function post(body: unknown): Promise<Completion> {
  const base = process.env.OPENAI_BASE_URL?.replace(/\/+$/, '');
  const answer = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${process.env.OPENAI_API_KEY ?? ''}`,
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.ok) {
    const text = (await answer.text()).slice(0, 500);
    throw new ModelFailed(`the model answered ${answer.status}: ${text}`);
  }
  return (await answer.json()) as Completion;
}

// --- A script in place of a model --------------------------------------------------------------

// "note milk; research cheese; mail bob@example.com: hello; weather in Oslo"
const REQUESTS: [RegExp, string][] = [
  [/^weather in (?<city>.+)$/, 'weather'],
  [/^note (?<text>.+)$/, 'take_note'],
  [/^research (?<topic>.+)$/, 'research'],
  [/^mail (?<to>\S+): (?<body>.+)$/, 'send_mail'],
];

async function scripted(messages: Message[]): Promise<Answer> {
  const start = messages.findLastIndex((m) => m.role === 'user');
  const results = messages.slice(start).flatMap((m) => (m.role === 'tool' ? [m.content] : []));
  const calls = results.length > 0 ? [] : callsFor(messages[start].content ?? '');
  const message: Answer['message'] =
    calls.length > 0
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: say(messages, results) };
  return {
    message,
    model: SCRIPTED_MODEL,
    provider: 'example',
    usage: { input_tokens: words(messages), output_tokens: words([message]) },
  };
}

function callsFor(text: string): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of text.split(';'))
    for (const [pattern, name] of REQUESTS) {
      const found = pattern.exec(part.trim())?.groups;
      if (found) {
        const called = { name, arguments: JSON.stringify(found) };
        calls.push({ id: `call_${calls.length}`, type: 'function', function: called });
      }
    }
  return calls;
}

function say(messages: Message[], results: string[]): string {
  if (results.length > 0) return `Done: ${results.join('; ')}.`;
  const asked = messages.flatMap((m) => (m.role === 'user' ? [m.content] : []));
  if (asked.at(-1) === 'what did I say first?') return `You said: ${asked[0]}`;
  return `You said ${asked.length} things so far.`;
}

const words = (messages: unknown[]) => JSON.stringify(messages).split(/[\s,]+/).length;
