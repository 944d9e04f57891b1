// SPDX-License-Identifier: Apache-2.0
// Programs in pages of the documentation. All blocks of one language in a page are one program that
// keeps the line numbers of the page: line 41 in a compiler message or a stack trace is line 41 of
// the page. The output of a block must match the block below it.
//
//   blocksOf(text)               [{kind, line, lines}]: the fenced blocks and their first lines
//   programOf(blocks, kind)      the program; it prints a mark after each block
//   expectPrinted(page, blocks, kind, output)
//   typeCheck(directory, names)  runs tsc --strict on files of a directory; throws its messages
//   run(command, args, options)  {code, stdout, stderr}
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectShown } from '../../../tests/api/lib/shown.mjs';

export const SDK = fileURLToPath(new URL('../..', import.meta.url));
const PAGE_TIMEOUT_MS = 180_000;
const END = '--- end of the block at line';
const SHOWS = new Set(['text', 'json']);

export function blocksOf(text) {
  const blocks = [];
  let open = null;
  for (const [i, line] of text.split('\n').entries()) {
    const fence = /^```(\w*)/.exec(line);
    if (!fence) open?.lines.push(line);
    else if (open === null) blocks.push((open = { kind: fence[1], line: i + 2, lines: [] }));
    else open = null;
  }
  assert.equal(open, null, `the block at line ${open?.line} is never closed`);
  return blocks;
}

const SAY = {
  ts: (text) => `;console.log(${JSON.stringify(text)});`,
  python: (text) => `print(${JSON.stringify(text)}, flush=True)`,
};

export function programOf(blocks, kind) {
  const lines = [];
  for (const block of blocks.filter((b) => b.kind === kind)) {
    while (lines.length < block.line - 1) lines.push('');
    lines.push(...block.lines, SAY[kind](`${END} ${block.line}`));
  }
  return `${lines.join('\n')}\n`;
}

/** Returns each block of this kind with the output shown below it: [block, shown]. */
function* shownBelow(blocks, kind) {
  for (const [i, block] of blocks.entries())
    if (block.kind === kind && SHOWS.has(blocks[i + 1]?.kind)) yield [block, blocks[i + 1]];
}

export function expectPrinted(page, blocks, kind, output) {
  const printed = new Map();
  let rest = output;
  for (const block of blocks.filter((b) => b.kind === kind)) {
    const mark = `${END} ${block.line}\n`;
    const end = rest.indexOf(mark);
    assert.notEqual(end, -1, `${page}:${block.line}: the block did not come to its end`);
    printed.set(block, rest.slice(0, end));
    rest = rest.slice(end + mark.length);
  }
  for (const [block, shown] of shownBelow(blocks, kind)) {
    const where = `${page}:${shown.line}`;
    const said = shown.lines.join('\n');
    if (shown.kind === 'json') expectJson(printed.get(block), said, where);
    else expectText(printed.get(block), said, where);
  }
}

/** "…" within a line matches anything, a line of "…" alone any lines. */
function expectText(actual, shown, where) {
  const pattern = shown
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/^…$/gm, '[^]*?')
    .replaceAll('…', '.*?');
  if (!new RegExp(`^${pattern}$`).test(actual.trim()))
    assert.fail(`${where}: the page shows\n${shown}\nand the block above it printed\n${actual}`);
}

function expectJson(actual, shown, where) {
  let document;
  try {
    document = JSON.parse(actual);
  } catch {
    assert.fail(`${where}: what the block above it printed is no JSON:\n${actual}`);
  }
  expectShown(document, JSON.parse(shown), where);
}

export function run(command, args, { env, cwd }) {
  return new Promise((done) => {
    const bounds = { timeout: PAGE_TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: 1 << 26 };
    execFile(command, args, { env, cwd, ...bounds }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }));
  });
}

const STRICT = [
  '--noEmit', '--strict', '--pretty', 'false', '--target', 'es2022', '--module', 'nodenext',
  '--lib', 'es2023,dom,dom.asynciterable', '--types', 'node', '--skipLibCheck',
];

/** The directory must use the node_modules of the SDK. */
export async function typeCheck(cwd, names) {
  const tsc = join(SDK, 'node_modules/.bin/tsc');
  const end = await run(tsc, [...STRICT, ...names], { cwd, env: process.env });
  assert.equal(end.code, 0, end.stdout + end.stderr);
}
