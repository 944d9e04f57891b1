-- SPDX-License-Identifier: Apache-2.0
-- Statements about the notes of the fixture, on SQLite.
-- types: tenant_id uuid, key uuid, number int, body text, text text, bytes bytes, id uuid
-- types: flag bool, size int

-- name: note_create
CREATE TABLE IF NOT EXISTS notes (tenant_id BLOB NOT NULL, key BLOB NOT NULL,
    number INTEGER NOT NULL, body TEXT, UNIQUE (tenant_id, key, number));

-- name: note_add
INSERT INTO notes (tenant_id, key, number, body) VALUES (:tenant_id, :key, :number, :body);

-- name: note_last
SELECT coalesce(max(number), 0) FROM notes WHERE tenant_id = :tenant_id AND key = :key;

-- name: note_count
SELECT count(*) FROM notes;

-- name: note_list
SELECT number FROM notes WHERE tenant_id = :tenant_id AND key = :key ORDER BY number;

-- name: note_rename
UPDATE notes SET body = :body;

-- name: note_add_large
INSERT INTO notes SELECT x'00', randomblob(16), 1, hex(randomblob(:size / 2));

-- name: note_remove
DELETE FROM notes WHERE tenant_id = :tenant_id AND key = :key AND number =
    (SELECT max(number) FROM notes WHERE tenant_id = :tenant_id AND key = :key);

-- name: values_echo
SELECT :text, coalesce(:bytes, :id), coalesce(:number, :flag) UNION ALL SELECT 'second', x'02', 2;

-- Long enough for the time limit of a read to be checked.
-- name: count_far
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
SELECT count(*) FROM n;

-- name: pragma_synchronous
PRAGMA synchronous;

-- name: pragma_journal
PRAGMA journal_mode;

-- name: pragma_foreign_keys
PRAGMA foreign_keys;

-- The limit is below the present number of pages: the database cannot grow.
-- name: pragma_no_space
PRAGMA max_page_count = 1;

-- name: pragma_space
PRAGMA max_page_count = 1000000;

-- name: broken_statement
SELECT 1 FROM no_such_table;

-- As if nothing had been counted.
-- name: note_none
SELECT 0 WHERE :tenant_id IS NOT NULL AND :key IS NOT NULL;
