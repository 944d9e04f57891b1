// SPDX-License-Identifier: Apache-2.0
// SQL beside the server, for tests that look under the hood or tamper with it; the same on both
// engines. On SQLite the server must be stopped for changes. See Server.sql and Server.rows.
//
// python3 is everywhere that Cairn builds; the sqlite3 shell is not. PostgreSQL has psql.
import { execFileSync } from 'node:child_process';
import { psqlSync } from './postgres.mjs';

const SCRIPT = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=30)
cursor = db.execute(sys.argv[2], json.loads(sys.argv[3]))
names = [column[0] for column in cursor.description or []]
rows = [dict(zip(names, row)) for row in cursor.fetchall()]
db.commit()
print(json.dumps(rows, default=lambda b: b.hex()))
`;

/** Rows of the SQLite file as objects; blobs are hexadecimal text. */
export function sqliteRows(file, statement, params) {
  return JSON.parse(execFileSync('python3',
    ['-c', SCRIPT, file, statement, JSON.stringify(params)]));
}

/** Statements that answer nothing, one after the other. */
export function sqliteScript(file, statements) {
  execFileSync('python3', ['-c', `import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=10)
db.executescript(sys.argv[2])`, file, statements.join(';\n')]);
}

/** The number of instructions of its virtual machine that SQLite needs for a query. */
export function sqliteSteps(file, query) {
  return Number(execFileSync('python3', ['-c', `import sqlite3, sys
db, n = sqlite3.connect(sys.argv[1]), [0]
def count():
    n[0] += 1
db.execute('SELECT count(*) FROM sqlite_schema').fetchall() # reads the schema
db.set_progress_handler(count, 1)
db.execute(sys.argv[2]).fetchall()
print(n[0])`, file, query]));
}

/** Converts bytea to hexadecimal text, like blobs. */
const plain = (value) =>
  typeof value === 'string' && /^\\x([0-9a-f]{2})*$/.test(value) ? value.slice(2) : value;

/**
 * Rows of a schema in PostgreSQL as objects. Row-level security is forced, also for the owner: this
 * session names every tenant.
 */
export function postgresRows({ url, schema }, statement, params, tenant = '*') {
  let n = 0;
  const named = params.length === 0 // ? may be an operator then
    ? statement : statement.replace(/\?/g, () => `:'p${++n}'`);
  const variables = Object.fromEntries(params.map((value, i) => [`p${i + 1}`, value]));
  const asks = /^\s*(SELECT|WITH|SHOW)\b/i.test(statement);
  const session = `SET search_path = ${schema}; SET cairn.tenant = '${tenant}';`;
  const text = asks ? `SELECT row_to_json(q) FROM (${named}) AS q` : named;
  return psqlSync(url, `${session} ${text};`, variables)
    .split('\n').filter((line) => asks && line !== '').map((line) => Object.fromEntries(
      Object.entries(JSON.parse(line)).map(([name, value]) => [name, plain(value)])));
}
