// SPDX-License-Identifier: Apache-2.0
// Runs the programs of the documentation: all ```ts or ```python blocks of a page are one program
// with its own server. TypeScript is type-checked with --strict first. A ```text or ```json
// block directly below shows the output of the block; "…" matches anything. Pages use
// http://127.0.0.1:7420 as the address of the server.
import assert from 'node:assert/strict';
import {
  mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { transformSync } from 'esbuild';
import { SHARED_LIBRARY } from '../../tests/api/lib/drive.mjs';
import { onSqlite, startServer } from '../../tests/api/lib/server.mjs';
import { SDK, blocksOf, expectPrinted, programOf, run, typeCheck } from './lib/pages.mjs';

// Other tests compare the engines; a page runs once.
const ONCE = onSqlite('what a page says is said of no engine');
const ROOT = dirname(SDK.replace(/\/$/, ''));
const DOCUMENTED_ADDRESS = 'http://127.0.0.1:7420';
const RUN_ELSEWHERE = new Set(['docs/embed.md']); // tests/api/embed.test.mjs

const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)]
  .filter((page) => page.endsWith('.md') && !RUN_ELSEWHERE.has(page))
  .map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }));

const scratch = mkdtempSync(join(tmpdir(), 'cairn-pages-'));
symlinkSync(join(SDK, 'node_modules'), join(scratch, 'node_modules'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const ENVIRONMENT = {
  ...process.env,
  PYTHONPATH: join(SDK, 'python/src'),
  PYTHONDONTWRITEBYTECODE: '1',
  LD_LIBRARY_PATH: dirname(SHARED_LIBRARY),
  NO_COLOR: '1',
};
delete ENVIRONMENT.CAIRN_API_KEY;
delete ENVIRONMENT.NODE_TEST_CONTEXT;

const sourceName = (page) => `${basename(page, '.md')}.mts`;
const programsIn = (kind) =>
  pages
    .map(({ page, text }) => ({ page, blocks: blocksOf(text) }))
    .filter(({ blocks }) => blocks.some((b) => b.kind === kind));

/** Replaces the name of the generated file with that of its page. */
const named = (text, file, page) =>
  text.replaceAll(join(scratch, file), page).replaceAll(file, page);

/** Removes the types without changing line numbers. */
function javascriptOf(source, file) {
  const { code } = transformSync(source, {
    loader: 'ts', format: 'esm', target: 'es2022', sourcemap: 'inline', sourcefile: file,
  });
  return code;
}

const COMMANDS = {
  ts: (page, source) => {
    const file = sourceName(page).replace('.mts', '.mjs');
    writeFileSync(join(scratch, file), javascriptOf(source, sourceName(page)));
    return ['node', '--enable-source-maps', join(scratch, file)];
  },
  python: (page, source) => {
    const file = `${basename(page, '.md')}.py`;
    writeFileSync(join(scratch, file), source);
    return ['python3', '-W', 'error', join(scratch, file)];
  },
};

async function runPage(page, blocks, kind, url = DOCUMENTED_ADDRESS) {
  const source = programOf(blocks, kind).replaceAll(DOCUMENTED_ADDRESS, url);
  const [command, ...args] = COMMANDS[kind](page, source);
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-page-'));
  try {
    const end = await run(command, args, { cwd, env: { ...ENVIRONMENT, CAIRN_URL: url } });
    const file = kind === 'ts' ? sourceName(page) : `${basename(page, '.md')}.py`;
    const said = named(end.stderr, file, page);
    assert.equal(end.code, 0, `${page} ended with ${end.code}: ${said}\n${end.stdout}`);
    expectPrinted(page, blocks, kind, end.stdout);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function checkTypes(programs) {
  for (const { page, blocks } of programs)
    writeFileSync(join(scratch, sourceName(page)), programOf(blocks, 'ts'));
  try {
    await typeCheck(scratch, programs.map(({ page }) => sourceName(page)));
  } catch (error) {
    let said = error.message;
    for (const { page } of programs) said = named(said, sourceName(page), page);
    throw new Error(said);
  }
}

// --- The pages -------------------------------------------------------------------------------

const typescript = programsIn('ts');
if (typescript.length > 0)
  test('the TypeScript of the documentation has sound types', ONCE, () => checkTypes(typescript));

for (const kind of ['ts', 'python'])
  for (const { page, blocks } of programsIn(kind))
    test(`the ${kind} blocks of ${page} do what it says`, ONCE, async (t) => {
      const server = await startServer(t);
      await runPage(page, blocks, kind, server.url);
    });

// --- The runner itself -----------------------------------------------------------------------

const fence = (kind, ...lines) => ['```' + kind, ...lines, '```'].join('\n');
const pageOf = (...parts) => blocksOf(parts.join('\n\n'));

for (const [kind, print, fail] of [
  ['ts', 'const n: number = 41;\nconsole.log("n is", n + 1)', 'throw new Error("no such luck")'],
  ['python', 'n = 41\nprint("n is", n + 1)', 'raise ValueError("no such luck")'],
]) {
  const first = fence(kind, ...print.split('\n'));

  test(`a ${kind} block sees the blocks before it, and prints what the page shows`, ONCE, () =>
    runPage('x.md', pageOf('# Title', first, fence('text', 'n is …'),
      fence(kind, kind === 'ts' ? 'console.log(JSON.stringify({n, m: [1]}))'
        : 'import json; print(json.dumps({"n": n, "m": [1]}))'),
      fence('json', '{"n": 41, "m": ["…"]}')), kind));

  test(`a ${kind} block that prints something else is named by page and line`, ONCE, () =>
    assert.rejects(runPage('x.md', pageOf(first, fence('text', 'n is 43')), kind),
      /x\.md:7: the page shows\nn is 43\nand the block above it printed\nn is 42/));

  test(`a ${kind} block that throws is named by page and line`, ONCE, () =>
    assert.rejects(runPage('x.md', pageOf(first, fence(kind, fail)), kind),
      /x\.md(:7|", line 7)[^]*no such luck/));
}

test('a wrong type in a page is named by page and line', ONCE, () =>
  assert.rejects(
    checkTypes([{ page: 'x.md', blocks: pageOf(fence('ts', 'const n: number = "41";')) }]),
    /x\.md\(2,7\): error TS2322/));

test('a page with a block that is never closed is refused', ONCE, () =>
  assert.throws(() => pageOf('```ts', 'const n = 1'), /the block at line 2 is never closed/));
