// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document of a server has no errors and no warnings for two linters. Their settings
// are redocly.yaml and .spectral.yaml, which name the rules that do not apply, with reasons.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { expectStatus, startServer } from '../api/lib/server.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cairn-openapi-'));
const file = join(folder, 'openapi.json');
after(() => rmSync(folder, { recursive: true, force: true }));

before(async (t) => {
  const server = await startServer(t);
  const document = expectStatus(await server.open.get('/openapi.json'), 200);
  writeFileSync(file, JSON.stringify(document, null, 1));
});

/** Runs a program of node_modules: {code, output}. Nothing is reported to its authors. */
function lint(program, args) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((done) => {
    execFile(join(HERE, 'node_modules', '.bin', program), ['lint', file, ...args],
      { cwd: HERE, env, maxBuffer: 1 << 28, timeout: 300_000 },
      (error, stdout, stderr) => done({ code: error?.code ?? 0, output: stdout + stderr }));
  });
}

test('redocly finds nothing', async () => {
  const { code, output } = await lint('redocly', ['--config=redocly.yaml']);
  assert.equal(code, 0, output);
  assert.match(output, /Your API description is valid/);
  assert.doesNotMatch(output, /You have \d+ warning/, output);
});

test('spectral finds nothing', async () => {
  const { code, output } = await lint('spectral',
    ['--ruleset=.spectral.yaml', '--fail-severity=hint']);
  assert.equal(code, 0, output);
  assert.match(output, /No results with a severity of 'hint' or higher found/);
});

test('both find an error that is made', async () => {
  const text = readFileSync(file, 'utf8');
  const document = JSON.parse(text);
  delete document.servers;
  document.components.schemas.Thread.properties.broken = { type: 'array' };
  writeFileSync(file, JSON.stringify(document));
  const ends = await Promise.all([
    lint('redocly', ['--config=redocly.yaml']), lint('spectral', ['--ruleset=.spectral.yaml'])]);
  writeFileSync(file, text);
  for (const { code, output } of ends) assert.notEqual(code, 0, output);
});
