// SPDX-License-Identifier: Apache-2.0
// The client has every operation of the API, with the name from tools/sdk, and sends it to the
// correct route.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BINARY, startServer } from '../../../tests/api/lib/server.mjs';
import { Cairn, VERSION } from 'cairn-client';

const TOOLS = fileURLToPath(new URL('../../../tools/sdk', import.meta.url));
const NAMES = `
import json, sys
sys.path.insert(0, ${JSON.stringify(TOOLS)})
from operations import operations_of
print(json.dumps([
  [o.method, o.path, o.answer_kind, o.body_kind, len(o.path_parameters), *o.group, o.name]
  for o in operations_of(json.load(sys.stdin))]))`;

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Records every request and responds like Cairn, with an empty page. */
async function echo(t) {
  const seen = [];
  const server = createServer((request, answer) => {
    request.resume().on('end', () => {
      seen.push(`${request.method} ${request.url}`);
      answer.writeHead(200, { 'Cairn-Version': VERSION, 'Content-Type': 'application/json' });
      answer.end('{"data": [], "has_more": false, "next_cursor": null}');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.closeAllConnections() ?? server.close());
  return { seen, url: `http://127.0.0.1:${server.address().port}` };
}

test('the client has every operation of the API, and sends it to its route', async (t) => {
  const server = await startServer(t);
  const document = await new Cairn({ baseUrl: server.url }).openapi();
  const listed = JSON.parse(
    execFileSync('python3', ['-c', NAMES], { input: JSON.stringify(document), encoding: 'utf8' }),
  );
  const { seen, url } = await echo(t);
  const client = new Cairn({ baseUrl: url });
  assert.ok(listed.length > 150, `${listed.length} operations`);
  for (const [method, path, answer, body, parameters, ...words] of listed) {
    const names = words.map(camel);
    const resource = names.slice(0, -1).reduce((r, name) => r[name], client);
    if (answer === 'sse' || answer === 'websocket') {
      if (names[0] !== 'workflows')
        assert.equal(typeof resource.follow, 'function', names.join('.'));
      continue;
    }
    assert.equal(typeof resource[names.at(-1)], 'function', names.join('.'));
    const values = Array.from({ length: parameters }, (_, i) => `p${i}`);
    await resource[names.at(-1)](
      ...values,
      ...(body === 'none' ? [] : body === 'bytes' ? ['x'] : [{}]),
    );
    let i = 0;
    assert.equal(
      seen.at(-1),
      `${method} ${path.replace(/\{\w+\}/g, () => `p${i++}`)}`,
      names.join('.'),
    );
  }
});

test('the generated files are those of the API', () => {
  execFileSync('python3', [TOOLS, BINARY, '--check'], { encoding: 'utf8' });
});
