// SPDX-License-Identifier: Apache-2.0
// The queries that the seeds print, word for word, and the one that seed 000 describes. They are
// written for PostgreSQL. On SQLite `cairn sql` runs them; other clients of SQLite need other forms
// of a few expressions (docs/sql.md).
import assert from 'node:assert/strict';
import { runCairn } from './server.mjs';

const QUERIES = {
  'one agent': `
SELECT * FROM agent_config WHERE agent_uuid = 'abc-123-def-456';`,
  'a page of the history': `
SELECT conversation_id, user_message, final_response, started_at, 
       generated_files, total_steps
FROM conversation_history
WHERE agent_uuid = 'abc-123-def-456'
ORDER BY sequence_number DESC
LIMIT 20 OFFSET 0;`,
  'one run': `
SELECT timestamp, step_number, action_type, action_data, duration_ms
FROM agent_runs
WHERE run_id = 'run-001'
ORDER BY timestamp ASC;`,
  'average tokens': `
SELECT agent_uuid, AVG(input_tokens + output_tokens) as avg_tokens
FROM conversation_history
WHERE started_at > NOW() - INTERVAL '7 days'
GROUP BY agent_uuid;`,
  errors: `
SELECT agent_uuid, run_id, timestamp, action_data
FROM agent_runs
WHERE action_type = 'error'
ORDER BY timestamp DESC
LIMIT 50;`,
  sessions: `
SELECT session_id, session_type, team_id, agent_id, created_at
FROM agno_sessions
ORDER BY created_at DESC;`,
  'runs in a session': `
SELECT jsonb_array_length(runs) as num_runs
FROM agno_sessions
WHERE session_id = 'your-session-id';`,
  'summary of a session': `
SELECT
  r->>'run_id' as run_id,
  r->>'team_id' as team_id,
  r->>'agent_id' as agent_id,
  r->>'status' as status,
  left(r->>'input', 80) as input_truncated,
  left(r->>'content', 100) as content_truncated,
  r->>'created_at' as created_at
FROM agno_sessions,
     jsonb_array_elements(runs) AS r
WHERE session_id = 'your-session-id'
ORDER BY (r->>'created_at')::bigint;`,
  'notebook of a session': `
SELECT n.title, ns.session_id, ns.created_at
FROM notebook_sessions ns
JOIN notebooks n ON n.id = ns.notebook_id
WHERE ns.session_id = 'your-session-id';`,
  // Seed 000: "queries by (workflow_id, id > cursor) and returns ordered results".
  'events after a cursor': `
SELECT * FROM workflow_events
WHERE workflow_id = 'workflow-id' AND id > 12
ORDER BY id;`,
};

/** The ids that the seeds use. */
const PLACES = { thread: 'abc-123-def-456', run: 'run-001', session: 'your-session-id',
  workflow: 'workflow-id' };

export const seedQueryNames = Object.keys(QUERIES);

/** A query of the seeds with these ids ({thread, run, session, workflow}). */
export function seedQuery(name, ids = {}) {
  let text = QUERIES[name].trim();
  for (const [place, id] of Object.entries(ids))
    text = text.replaceAll(`'${PLACES[place]}'`, `'${id}'`);
  return text.replace(/;$/, '');
}

/** The rows of a SELECT as `cairn sql` returns them. */
export async function cairnRows(server, statement, ...options) {
  const place = server.db === null
    ? ['--data', server.dataDir] : ['--db', server.db, '--db-schema', server.schema];
  const end = await runCairn(['sql', ...place, '--json', ...options, statement]);
  assert.equal(end.code, 0, `${statement}: ${end.stderr}`);
  return JSON.parse(end.stdout).data;
}

/** The rows of a query of the seeds: of psql, or of cairn sql on SQLite. */
export async function seedRows(server, name, ids = {}) {
  const query = seedQuery(name, ids);
  return server.db === null ? cairnRows(server, query) : server.rows(query);
}
