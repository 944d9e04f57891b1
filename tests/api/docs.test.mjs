// SPDX-License-Identifier: Apache-2.0
// Runs the examples of the documentation unchanged. All ```sh blocks of a page run in one shell, in
// order, against a server of their own. A ```json block directly below is the expected output of
// the last command: each member shown must have that value, and "…" matches any value.
// sdk/test/docs.test.mjs runs ```ts and ```python blocks.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BINARY, startServer } from './lib/server.mjs';
import { expectShown } from './lib/shown.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCS = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const PAGES = ['README.md', ...DOCS.map((name) => `docs/${name}`)];
const DOCUMENTED_ADDRESS = '127.0.0.1:7420';

function blocks(page) {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const found = text.matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...found].map(([, kind, body]) => ({ kind, body }));
}

/** Runs the scripts in one bash; answers what each printed. */
async function runShell(scripts, address) {
  const mark = '--- end of a block ---';
  const script = ['set -eu', ...scripts.map((s) => `${s}\necho; echo "${mark}"`)]
    .join('\n')
    .replaceAll(DOCUMENTED_ADDRESS, address);
  const env = { ...process.env, PATH: `${dirname(BINARY)}:${process.env.PATH}` };
  const shell = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  shell.stdout.on('data', (bytes) => (out += bytes));
  shell.stderr.on('data', (bytes) => (err += bytes));
  const code = await new Promise((done) => shell.on('close', done));
  assert.equal(code, 0, `the shell ended with ${code}: ${err}\n${out}`);
  return out.split(mark).map((part) => part.trim());
}

for (const page of PAGES) {
  const all = blocks(page);
  const scripts = all.filter((b) => b.kind === 'sh');
  if (scripts.length === 0) continue;
  test(`the examples of ${page} do what it says`, async (t) => {
    const server = await startServer(t);
    const printed = await runShell(scripts.map((b) => b.body), `127.0.0.1:${server.port}`);
    let ran = -1;
    for (const [i, block] of all.entries()) {
      if (block.kind === 'sh') ran++;
      else if (block.kind === 'json' && all[i - 1]?.kind === 'sh')
        expectShown(JSON.parse(printed[ran]), JSON.parse(block.body), `${page}, block ${ran}`);
    }
  });
}
