// SPDX-License-Identifier: Apache-2.0
// Content put under a stopped server on SQLite by hand: the file and its row.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sqliteRows } from './sql.mjs';

/** The path of the content in a directory of files. */
export const pathOf = (root, { tenant, id }) => join(root, 'blobs', tenant, id.slice(-2), id);

/** {tenant, id, sha256, bytes}, ids and hash in hexadecimal digits. */
export function addContent(dataDir, bytes) {
  const database = join(dataDir, 'cairn.db');
  const [{ tenant }] = sqliteRows(database,
    'SELECT lower(hex(id)) AS tenant FROM tenants ORDER BY id LIMIT 1', []);
  const id = `018f${randomBytes(14).toString('hex')}`;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const content = { tenant, id, sha256, bytes };
  mkdirSync(dirname(pathOf(dataDir, content)), { recursive: true, mode: 0o700 });
  writeFileSync(pathOf(dataDir, content), bytes);
  sqliteRows(database, `INSERT INTO blobs (tenant_id, sha256, id, size_bytes, created_at)
    VALUES (x'${tenant}', x'${sha256}', x'${id}', ${bytes.length}, 1)`, []);
  return content;
}

export const isThere = (root, content) => {
  try {
    return readFileSync(pathOf(root, content)).equals(content.bytes);
  } catch {
    return false;
  }
};
