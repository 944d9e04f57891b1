// SPDX-License-Identifier: Apache-2.0
// The package itself: its files, its bundle for browsers, and its types.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { onSqlite, startServer } from '../../../tests/api/lib/server.mjs';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(HERE, '../node_modules/.bin/tsc');
const ONCE = onSqlite('no engine is in a package');

// The size of the whole client in a browser, minified and compressed, with some room to grow.
const MAX_GZIPPED_BYTES = 18 * 1024;
const MAX_ONE_CLASS_BYTES = 2 * 1024;

function bundle(source, platform = 'browser') {
  return buildSync({
    stdin: { contents: source, resolveDir: HERE },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform,
    target: 'es2022',
    metafile: true,
  });
}

test('a browser gets all of it, nothing of Node, and little in bytes', ONCE, async (t) => {
  const { outputFiles, metafile } = bundle('export * from "cairn-client";');
  const code = outputFiles[0].text;
  const inputs = Object.keys(metafile.inputs);
  assert.doesNotMatch(code, /["']node:/);
  assert.ok(!inputs.some((name) => /nodeSocket|frames|platform\/node/.test(name)), inputs.join());
  const bytes = gzipSync(code, { level: 9 }).length;
  t.diagnostic(`${code.length} bytes, ${bytes} gzipped`);
  assert.ok(bytes < MAX_GZIPPED_BYTES, `${bytes} bytes`);
  const node = bundle('export * from "cairn-client";', 'node');
  assert.match(node.outputFiles[0].text, /["']node:crypto["']/, 'Node gets its own');
});

test('who uses one class gets no more than that', ONCE, () => {
  const { outputFiles } = bundle('import { NotFound } from "cairn-client"; console.log(NotFound);');
  assert.ok(outputFiles[0].text.length < MAX_ONE_CLASS_BYTES, outputFiles[0].text);
});

test('what a browser gets works', ONCE, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'cairn-bundle-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'client.mjs');
  writeFileSync(file, bundle('export * from "cairn-client";').outputFiles[0].text);
  const { Cairn, NotFound } = await import(pathToFileURL(file));
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url });
  const { id } = await client.threads.create({ title: 'from a bundle' });
  for await (const event of client.threads.events.follow(id)) {
    assert.equal(event.seq, 1);
    break;
  }
  await client.threads.files.upload(id, 'a', new Blob(['x'.repeat(100_000)]));
  assert.equal((await (await client.threads.files.download(id, 'a')).text()).length, 100_000);
  const error = await client.threads.files.get(id, 'b').catch((e) => e);
  assert.ok(error instanceof NotFound);
  assert.equal(error.name, 'NotFound', 'also when names were made short');
});

test('the types refuse what the API would refuse', ONCE, () => {
  const flags = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--pretty',
    'false',
    '--types',
    'node',
  ];
  for (const lib of ['es2022,dom', 'es2022']) {
    const end = spawnSync(TSC, [...flags, '--lib', lib, 'test/types.ts'], {
      cwd: HERE,
      encoding: 'utf8',
    });
    assert.equal(end.stdout + end.stderr, '', `with ${lib}`);
    assert.equal(end.status, 0);
  }
});

test('the package holds what was built, and no more', ONCE, () => {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: HERE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const packed = JSON.parse(said);
  const { files } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
  const names = files.map((file) => file.path);
  for (const needed of [
    'package.json',
    'README.md',
    'LICENSE',
    'NOTICE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/platform/node.js',
    'dist/platform/web.js',
  ])
    assert.ok(names.includes(needed), `${needed} of ${names.join()}`);
  for (const name of names)
    assert.match(name, /^(package\.json|README\.md|LICENSE|NOTICE|dist\/[\w/]+\.(js|d\.ts))$/);
  const { version, dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
  assert.equal(dependencies, undefined);
  assert.match(
    readFileSync(join(HERE, 'src/version.ts'), 'utf8'),
    new RegExp(`VERSION = "${version}"`),
  );
});

test('CommonJS can require it', ONCE, () => {
  const said = execFileSync(
    process.execPath,
    ['-e', 'console.log(new (require("cairn-client").Cairn)().baseUrl)'],
    {
      cwd: HERE,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, CAIRN_URL: 'http://c:1' },
    },
  );
  assert.equal(said.trim(), 'http://c:1');
});
