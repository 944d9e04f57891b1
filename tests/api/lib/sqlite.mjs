// SQL on the server's own file, for tests that look under the hood or tamper with it. The server
// must be stopped for changes. python3 is everywhere that Cairn builds; the sqlite3 shell is not.
import { execFileSync } from 'node:child_process';

const SCRIPT = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
rows = db.execute(sys.argv[2]).fetchall()
db.commit()
print(json.dumps(rows, default=lambda b: b.hex()))
`;

/** Runs one statement and returns its rows; blobs come as hexadecimal text. */
export function sql(server, statement) {
  return JSON.parse(execFileSync('python3', ['-c', SCRIPT, server.database, statement]));
}
