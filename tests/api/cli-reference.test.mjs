// SPDX-License-Identifier: Apache-2.0
// docs/cli.md has every command and every option that `cairn help` shows, and no others. After a
// change of commands, CAIRN_WRITE_REFERENCE=1 writes that section of the page again.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCairn } from './lib/server.mjs';

const PAGE = join(fileURLToPath(new URL('../..', import.meta.url)), 'docs/cli.md');
const TITLE = '## All commands and options';

async function help(...words) {
  const { code, stdout } = await runCairn([...words, '--help']);
  assert.equal(code, 0, words.join(' '));
  return stdout;
}

/** The words of every command: ["serve"], ["thread", "list"] … */
async function allCommands() {
  const { stdout } = await runCairn(['help']);
  const commands = [];
  for (const [, noun] of stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)) {
    const usage = await help(noun);
    // A noun with verbs describes the verbs instead of options.
    const verbs = [...usage.matchAll(/^ {2}([a-z][a-z-]*)(?: {2,}.*)?$/gm)].map(([, verb]) => verb);
    if (/^usage: cairn \S+ VERB/.test(usage)) commands.push(...verbs.map((verb) => [noun, verb]));
    else commands.push([noun]);
  }
  return commands;
}

/** The help of a command: its usage, and its options as "--limit N". */
async function describe(words) {
  const text = await help(...words);
  const [, usage] = text.match(/^usage: cairn (.*)$/m);
  const options = [...text.slice(text.indexOf('\noptions:\n'))
    .matchAll(/^ {2}((?:-\w, )?--.*?)(?: {2,}.*)?$/gm)];
  return { usage: usage.replace(' [OPTION]…', ''), options: options.map(([, option]) => option) };
}

const inAll = (commands) => commands[0].options.filter(
  (option) => commands.every((command) => command.options.includes(option)));

const row = (name, options) =>
  `| ${name} | ${options.map((option) => `\`${option}\``).join(' ') || 'none'} |`;

// Commands that share options, by an option that only these have.
const GROUPS = [['every command', '-h, --help'], ['every command that sends requests', '--url URL'],
  ['every command that prints data', '--jsonl']];

/** The rows of the page; options that all commands of a group have are in rows of their own. */
function rowsOf(commands) {
  const rows = [];
  const own = new Map(commands.map((command) => [command, command.options]));
  for (const [name, mark] of GROUPS) {
    const group = commands.filter(({ options }) => options.includes(mark));
    const shared = inAll(group).filter((option) => own.get(group[0]).includes(option));
    rows.push(row(name, shared));
    for (const command of group)
      own.set(command, own.get(command).filter((option) => !shared.includes(option)));
  }
  const usage = (command) => `\`${command.usage.replaceAll('|', '\\|')}\``;
  return [...rows, ...commands.map((command) => row(usage(command), own.get(command)))];
}

test('docs/cli.md has the commands and options that help shows, and no others', async () => {
  const commands = [];
  for (const words of await allCommands()) commands.push(await describe(words));
  assert.ok(commands.length > 150, `${commands.length} commands`);
  assert.ok(commands.flatMap(({ options }) => options).length > 1500);
  const shown = rowsOf(commands);
  const page = readFileSync(PAGE, 'utf8');
  const begin = page.indexOf(TITLE);
  assert.ok(begin > 0, `the section "${TITLE}"`);
  const lines = page.slice(begin).split('\n');
  const first = lines.findIndex((line) => line.startsWith('|---')) + 1;
  const end = lines.findIndex((line, i) => i >= first && !line.startsWith('|'));
  const written = lines.slice(first, end);
  if (process.env.CAIRN_WRITE_REFERENCE)
    writeFileSync(PAGE, page.slice(0, begin) +
      [...lines.slice(0, first), ...shown, ...lines.slice(end)].join('\n'));
  else
    assert.deepEqual(
      { missing: shown.filter((line) => !written.includes(line)),
        unknown: written.filter((line) => !shown.includes(line)) },
      { missing: [], unknown: [] },
      'the commands differ: run this file with CAIRN_WRITE_REFERENCE=1');
});
