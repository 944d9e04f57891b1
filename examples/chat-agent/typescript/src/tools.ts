// SPDX-License-Identifier: Apache-2.0
// The tools of the agent. Each is a function of its arguments and of the call.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Call {
  /** the same if the call is repeated */
  id: string;
  /** aborts when this worker loses the run or has to stop */
  signal: AbortSignal;
  /** shows progress to everyone who follows the conversation */
  report(text: string): Promise<void>;
}

type Arguments = Record<string, string>;
type Tool = (given: Arguments, call: Call) => Promise<string>;

/** Tools that a person must approve. */
export const NEEDS_APPROVAL = new Set(['send_mail']);

/** Returns the directory for notes and mail. */
async function desk(...folders: string[]): Promise<string> {
  const place = join(process.env.CHAT_DESK ?? 'desk', ...folders);
  await mkdir(place, { recursive: true });
  return place;
}

async function weather({ city }: Arguments): Promise<string> {
  const degrees = Buffer.from(city).reduce((sum, byte) => sum + byte, 0) % 35;
  return `${degrees} °C in ${city}`;
}

async function takeNote({ text }: Arguments): Promise<string> {
  await appendFile(join(await desk(), 'notes.txt'), `${text}\n`);
  return `noted: ${text}`;
}

/** A slow tool that reports its progress. */
async function research({ topic }: Arguments, call: Call): Promise<string> {
  const seconds = Number(process.env.CHAT_RESEARCH_SECONDS ?? 3);
  for (const source of [1, 2, 3]) {
    await call.report(`reading source ${source} of 3 about ${topic}`);
    await pause((seconds * 1000) / 3, undefined, { signal: call.signal });
  }
  return `three sources agree about ${topic}`;
}

/**
 * A worker may die after it has sent the mail and before it has stored the result. The id of the
 * call then prevents a second mail, like the idempotency key of a payment or mail service.
 */
async function sendMail({ to, body }: Arguments, call: Call): Promise<string> {
  await writeFile(join(await desk('outbox'), `${call.id}.json`), JSON.stringify({ to, body }));
  return `sent to ${to}`;
}

const FUNCTIONS: Record<string, Tool> = {
  weather, take_note: takeNote, research, send_mail: sendMail,
};

function declare(name: string, description: string, ...parameters: string[]) {
  const properties = Object.fromEntries(parameters.map((p) => [p, { type: 'string' }]));
  return {
    type: 'function',
    function: {
      name, description, parameters: { type: 'object', required: parameters, properties },
    },
  };
}

/** The declarations for the model. */
export const TOOLS = [
  declare('weather', 'The temperature in a city', 'city'),
  declare('take_note', 'Write something down', 'text'),
  declare('research', 'Read about a topic; takes a while', 'topic'),
  declare('send_mail', 'Send a mail; a person is asked first', 'to', 'body'),
];

/** Returns the arguments of the model, or throws the reason why they are invalid. */
function read(name: string, text: string): Arguments {
  const given = JSON.parse(text) as Arguments;
  const tool = TOOLS.find((t) => t.function.name === name);
  if (tool === undefined) throw new TypeError(`there is no tool ${name}`);
  for (const parameter of tool.function.parameters.required)
    if (typeof given[parameter] !== 'string') throw new TypeError(`${parameter} is missing`);
  return given;
}

/** Returns the tool's result for the model. An error is a result too: the model may retry. */
export async function use(name: string, text: string, call: Call): Promise<string> {
  let given: Arguments;
  try {
    given = read(name, text);
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
  return FUNCTIONS[name](given, call);
}
