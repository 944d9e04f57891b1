// SPDX-License-Identifier: Apache-2.0
// Every rule of `cairn check`: two places of one tenant and one of another have rows of every sort;
// each edit of the file breaks one rule for one object, and the check reports that object alone. An
// edit that refers to another owner's row shows that the rule compares the owner.
import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fill } from './lib/places.mjs';
import { sqliteScript } from './lib/sql.mjs';
import { expectStatus, onSqlite, runCairn, startServer, twoTenants } from './lib/server.mjs';

const hex = (id) => `X'${id.replaceAll('-', '')}'`;

/** Edits of the first place: [SQL, rule, part of the object or finding]. */
const edits = (mine, other, foreign) => {
  const { thread, run, message } = mine;
  const inThread = `thread_id = ${hex(thread)}`;
  const sender = (place) =>
    `(SELECT id FROM participants WHERE thread_id = ${hex(place.thread)} LIMIT 1)`;
  const file = `(SELECT id FROM files WHERE ${inThread} AND name = 'file-0')`;
  const state = `(SELECT id FROM state_documents WHERE agent_id = ${hex(mine.agent)}
    AND thread_id = ${hex(thread)} AND name = 'state-0')`;
  const anEvent = `rowid = (SELECT max(rowid) FROM events WHERE ${inThread})`;
  const setThread = (change) => `UPDATE threads SET ${change} WHERE id = ${hex(thread)}`;
  const setRun = (change) => `UPDATE runs SET ${change} WHERE id = ${hex(run)}`;
  const setMessage = (change) => `UPDATE messages SET ${change} WHERE id = ${hex(message)}`;
  const setFile = (change) => `UPDATE files SET ${change} WHERE id = ${file}`;
  const setShare = (change) => `UPDATE shares SET ${change} WHERE id = ${hex(mine.share.id)}`;
  const setStorage = (change) =>
    `UPDATE agent_storage SET ${change} WHERE agent_id = ${hex(mine.agent)} AND key = 'item-0'`;
  const setStore = (change) => `UPDATE store_items SET ${change}
    WHERE key = 'item-0' AND namespace LIKE '%${thread}%'`;
  const setStep = (change) =>
    `UPDATE steps SET ${change} WHERE run_id = ${hex(run)} AND number = 2`;
  const setAttempt = (change, which = '= 2') =>
    `UPDATE run_attempts SET ${change} WHERE run_id = ${hex(run)} AND number ${which}`;
  return [
    [setThread("status = 'odd'"), 'thread-status', thread],
    [setThread("run_policy = 'odd'"), 'thread-run-policy', thread],
    [setThread(`most_recent_run_id = ${hex(other.run)}`), 'thread-recent-run', thread],
    [setThread(`most_recent_run_id = ${hex(foreign.run)}`), 'thread-recent-run', thread],
    [setThread("error = '{'"), 'json', thread],
    [setThread("metadata = '[]'"), 'thread-metadata', 'is not an object'],
    [`DELETE FROM thread_documents WHERE ${inThread}`, 'thread-documents', thread],
    [`UPDATE thread_documents SET context = '{' WHERE ${inThread}`, 'json', thread],
    [`UPDATE thread_documents SET preferences = '{' WHERE ${inThread}`, 'json', thread],
    [`UPDATE thread_documents SET important_steps = '{' WHERE ${inThread}`, 'json', thread],
    [`INSERT INTO thread_metadata (tenant_id, key, value, thread_id)
      SELECT tenant_id, 'a', 'b', id FROM threads WHERE id = ${hex(thread)}`, 'thread-metadata',
    'has 1 members, the metadata 0'],
    [`UPDATE events SET run_id = ${hex(other.run)} WHERE ${anEvent}`, 'event-run', thread],
    [`UPDATE events SET run_id = ${hex(foreign.run)} WHERE ${anEvent}`, 'event-run', thread],
    [`UPDATE events SET kind = '' WHERE ${anEvent}`, 'event-kind', thread],
    [`UPDATE events SET payload = '{' WHERE ${anEvent}`, 'json', thread],

    [setRun(`parent_run_id = ${hex(other.run)}, depth = 1`), 'run-parent', run],
    [setRun(`parent_run_id = ${hex(foreign.run)}, depth = 1`), 'run-parent', run],
    [setRun('depth = 1'), 'run-parent', 'the depth is 1, but must be 0'],
    [setRun('fence = 100000'), 'run-fence', run],
    [setRun('finished_at = 1'), 'run-finished', run],
    [setRun("metadata = '{'"), 'json', run],
    [setRun("error = '{'"), 'json', run],
    [`DELETE FROM run_documents WHERE run_id = ${hex(run)}`, 'run-documents', run],
    ...['input', 'state', 'final_output'].map((column) =>
      [`UPDATE run_documents SET ${column} = '{' WHERE run_id = ${hex(run)}`, 'json', run]),
    [setRun('step_count = step_count + 1'), 'step-numbers', run],
    [setStep('number = 0'), 'step-numbers', run],
    [setStep('number = 100'), 'step-numbers', run],
    [`UPDATE steps SET lifecycle = false WHERE run_id = ${hex(run)}`, 'step-numbers', run],
    [`UPDATE steps SET action_type = 'error' WHERE run_id = ${hex(run)} AND lifecycle`,
      'step-lifecycle', run],
    [`DELETE FROM steps WHERE run_id = ${hex(run)} AND number = 2`, 'step-numbers', run],
    [setRun('attempt_count = attempt_count + 1'), 'run-attempts', run],
    [setRun('failed_attempts = failed_attempts + 1'), 'run-attempts', run],
    [setAttempt("outcome = 'released'"), 'run-attempts', run],
    [setAttempt("outcome = 'odd'", '= 1'), 'run-attempts', run],
    [setAttempt('outcome = NULL', '= 1'), 'run-attempts', run],
    [setAttempt('ended_at = NULL', '= 1'), 'run-attempts', run],
    [setAttempt('number = 0'), 'run-attempts', run],
    [setAttempt('number = 10'), 'run-attempts', run],
    [`DELETE FROM run_attempts WHERE run_id = ${hex(run)} AND number = 1`, 'run-attempts', run],
    ...['=', '<>'].map((which) => [`DELETE FROM run_attempts WHERE run_id = ${hex(run)}
      AND number ${which} (SELECT attempt_count FROM runs WHERE id = ${hex(run)})`, 'run-attempts',
    run]),
    [setAttempt('ended_at = NULL', '> 2'), 'run-attempts', run],
    [setAttempt("error = '{'"), 'json', run],
    [setStep(`messages_snapshot_id = ${hex(other.run)}`), 'step-messages', run],
    [setStep(`messages_snapshot_id = (SELECT s.id FROM snapshots AS s JOIN threads AS t
      ON t.tenant_id = s.tenant_id WHERE t.id = ${hex(foreign.thread)} LIMIT 1)`),
    'step-messages', run],
    [setStep("action_data = '{'"), 'json', run],

    [`UPDATE file_versions SET size_bytes = size_bytes + 1 WHERE file_id = ${file}
      AND version = 1`, 'file-content', 'the content of version 1'],
    [`DELETE FROM file_versions WHERE file_id = ${file} AND version = 3`, 'file-versions',
      'version 3'],
    [`UPDATE file_versions SET version = 4 WHERE file_id = ${file} AND version = 1`,
      'file-versions', 'version 3'],
    [`UPDATE file_versions SET version = 0 WHERE file_id = ${file} AND version = 1`,
      'file-versions', 'version 3'],
    [setFile('last_version = 2'), 'file-versions', 'version 3'],
    [setFile("metadata = '{'"), 'json', '( 4)'],
    [`UPDATE state_documents SET deleted_at = 1 WHERE id = ${state}`, 'state-versions',
      'version 3 must exist'],
    [`DELETE FROM state_versions WHERE state_id = ${state} AND version = 3`, 'state-versions',
      'version 3 must exist'],
    [`UPDATE state_versions SET version = 4 WHERE state_id = ${state} AND version = 1`,
      'state-versions', 'version 4 is newer'],
    [`UPDATE state_versions SET version = 0 WHERE state_id = ${state} AND version = 1`,
      'state-versions', 'version 0 is newer'],
    ...['data', 'json_schema', 'ui_schema'].map((column) =>
      [`UPDATE state_versions SET ${column} = '{' WHERE state_id = ${state} AND version = 1`,
        'json', '( 5)']),

    [setMessage('seq = 0'), 'message-seq', message],
    [setMessage('seq = 100000'), 'message-seq', message],
    [setMessage(`sender_id = ${sender(other)}`), 'message-sender', message],
    [setMessage(`sender_id = ${sender(foreign)}`), 'message-sender', message],
    [setMessage(`sender_id = ${hex(thread)}`), 'message-sender', message],
    [setMessage('version = 2'), 'message-versions', 'version 2'],
    [`UPDATE message_versions SET version = 0 WHERE message_id = ${hex(message)} AND version = 1`,
      'message-versions', 'version 0'],
    ...['metadata', 'filenames', 'command'].map((column) =>
      [setMessage(`${column} = '{'`), 'json', message]),
    ...['metadata', 'filenames', 'debug'].map((column) => [`UPDATE message_versions
      SET ${column} = '{' WHERE message_id = ${hex(message)} AND version = 1`, 'json', message]),
    [`INSERT INTO message_debug (tenant_id, message_id, debug)
      SELECT tenant_id, id, '{' FROM messages WHERE id = ${hex(message)}`, 'json', message],
    ...["role = 'odd'", "permission = 'odd'"].map((change) => [
      `UPDATE participants SET ${change} WHERE id = ${hex(mine.participant)}`, 'participant',
      mine.participant]),
    [`UPDATE participants SET metadata = '{' WHERE id = ${hex(mine.participant)}`, 'json',
      mine.participant],
    [setShare('redemptions = 2'), 'share-redemptions', mine.share.id],
    [setShare("kind = 'odd'"), 'share', mine.share.id],
    [setShare("permission = 'odd'"), 'share', mine.share.id],
    [setShare('token_hash = zeroblob(31)'), 'share', mine.share.id],

    [`UPDATE agents SET metadata = '{' WHERE id = ${hex(mine.agent)}`, 'json', mine.agent],
    [setStorage('value = NULL'), 'storage', mine.agent],
    [setStorage('bytes = zeroblob(1)'), 'storage', mine.agent],
    [setStorage('value = NULL, bytes = zeroblob(1), size_bytes = 2'), 'storage', mine.agent],
    [setStorage("value = '{'"), 'json', mine.agent],
    [setStore('version = 0'), 'store', 'version 0'],
    [setStore("namespace = ''"), 'store', 'must have a namespace'],
    [setStore('size_bytes = size_bytes + 1'), 'store', 'the recorded size'],
    [setStore("value = '{', size_bytes = 1"), 'json', '( 8)'],

    [`UPDATE api_keys SET scopes = '["odd"]' WHERE id = ${hex(mine.key)}`, 'key-scopes', mine.key],
    [`UPDATE api_keys SET scopes = '[1]' WHERE id = ${hex(mine.key)}`, 'key-scopes', mine.key],
    [`UPDATE api_keys SET scopes = '[' WHERE id = ${hex(mine.key)}`, 'json', mine.key],
    [`UPDATE api_keys SET secret_hash = zeroblob(31) WHERE id = ${hex(mine.key)}`, 'key-secret',
      mine.key],
    ["UPDATE idempotency_keys SET request_hash = zeroblob(31) WHERE key = 'k1'", 'answer', 'k1'],
    ["UPDATE idempotency_keys SET status = 99 WHERE key = 'k1'", 'answer', 'k1'],
    ["UPDATE idempotency_keys SET status = 600 WHERE key = 'k1'", 'answer', 'k1'],
    ["UPDATE idempotency_keys SET headers = '{' WHERE key = 'k1'", 'json', 'k1'],
    ...['zeroblob(31), id, 1', 'zeroblob(32), id, -1'].map((values) => [
      `INSERT INTO blobs (tenant_id, sha256, id, size_bytes, created_at)
        SELECT tenant_id, ${values}, 1 FROM threads WHERE id = ${hex(thread)}`, 'content', thread]),
  ];
};

test('each broken rule is reported for the object that breaks it, and for no other',
  onSqlite('edits the file'), async (t) => {
    const server = await startServer(t);
    const { alice, bob } = await twoTenants(server);
    const places = [await fill(alice, 3), await fill(alice, 3), await fill(bob, 3)];
    for (const key of ['k1', 'k2'])
      expectStatus(await alice.post('/v1/threads', {}, { headers: { 'Idempotency-Key': key } }),
        201);
    // The columns that may be NULL have values too.
    const messages = `/v1/threads/${places[0].thread}/messages`;
    expectStatus(await alice.post(messages, { type: 'command', content: '/help me' }), 201);
    const told = expectStatus(await alice.post(messages,
      { content: 'x', metadata: { debug: { a: 1 } } }), 201);
    expectStatus(await alice.patch(`${messages}/${told.id}`, { content: 'y' }), 200);
    await server.stop();
    const at = (name) => join(server.dataDir, name);
    const list = edits(...places);
    renameSync(at('cairn.db'), at('kept.db'));
    list.forEach((_, i) => copyFileSync(at('kept.db'), at(`${i}.db`)));
    sqliteScript(':memory:', list.flatMap(([statement], i) =>
      [`ATTACH '${at(`${i}.db`)}' AS copy`, statement, 'DETACH copy']));
    const check = async (name) => {
      renameSync(at(name), at('cairn.db'));
      const end = await runCairn(['check', '--data', server.dataDir, '--json']);
      return JSON.parse(end.stdout).findings;
    };
    assert.deepEqual(await check('kept.db'), []);
    for (const [i, [statement, rule, part]] of list.entries()) {
      const findings = await check(`${i}.db`);
      const found = `${statement}: ${JSON.stringify(findings)}`;
      assert.deepEqual(findings.map((f) => f.rule), [rule], found);
      assert.ok(found.slice(statement.length).includes(part), found);
    }
  });
