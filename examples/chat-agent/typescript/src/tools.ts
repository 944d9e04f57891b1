// SPDX-License-Identifier: Apache-2.0
// What the agent can do. Each tool is a plain function of its arguments and of the call.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Call {
  /** the same whenever the call is made again */
  id: string;
  /** aborts when the run is another worker's, or this one is to stop */
  signal: AbortSignal;
  /** shows progress to whoever follows the conversation */
  tell(text: string): Promise<void>;
}

type Arguments = Record<string, string>;
type Tool = (given: Arguments, call: Call) => Promise<string>;

/** These wait until a person has said yes. */
export const NEEDS_APPROVAL = new Set(['send_mail']);

/** Where notes and mail go. */
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

/** Takes its time, and tells how far it is. */
async function research({ topic }: Arguments, call: Call): Promise<string> {
  const seconds = Number(process.env.CHAT_RESEARCH_SECONDS ?? 3);
  for (const source of [1, 2, 3]) {
    await call.tell(`reading source ${source} of 3 about ${topic}`);
    await pause((seconds * 1000) / 3, undefined, { signal: call.signal });
  }
  return `three sources agree about ${topic}`;
}

/**
 * A worker may die after the mail went out and before that was written down. The call's id goes
 * along, so that sending it again does nothing: what a payment or mail service calls an
 * idempotency key.
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

/** As the model is told of them. */
export const TOOLS = [
  declare('weather', 'The temperature in a city', 'city'),
  declare('take_note', 'Write something down', 'text'),
  declare('research', 'Read about a topic; takes a while', 'topic'),
  declare('send_mail', 'Send a mail; a person is asked first', 'to', 'body'),
];

/** The arguments that a model gave, or what is wrong with them. */
function read(name: string, text: string): Arguments {
  const given = JSON.parse(text) as Arguments;
  const tool = TOOLS.find((t) => t.function.name === name);
  if (tool === undefined) throw new TypeError(`there is no tool ${name}`);
  for (const parameter of tool.function.parameters.required)
    if (typeof given[parameter] !== 'string') throw new TypeError(`${parameter} is missing`);
  return given;
}

/** What the tool answers, for the model. A mistake is an answer too: the model may try again. */
export async function use(name: string, text: string, call: Call): Promise<string> {
  let given: Arguments;
  try {
    given = read(name, text);
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
  return FUNCTIONS[name](given, call);
}
