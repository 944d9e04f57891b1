-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, secret_hash bytes, key_id uuid, principal text, path text
-- types: expires_at int, now int, limit int

-- binds ticket_bind: struct ticket for ticket_insert

-- name: ticket_insert
INSERT INTO tickets (tenant_id, id, secret_hash, key_id, principal, path, expires_at)
VALUES (:tenant_id, :id, :secret_hash, :key_id, :principal, :path, :expires_at);

-- name: ticket_count
SELECT count(*) FROM (SELECT 1 FROM tickets WHERE tenant_id = :tenant_id AND key_id = :key_id
    AND principal = :principal AND expires_at > :now LIMIT :limit) AS unused;

-- reads ticket_read: struct ticket from id, key_id, principal, path, expires_at
-- name: ticket_get
SELECT secret_hash, id, key_id, principal, path, expires_at FROM tickets
WHERE tenant_id = :tenant_id AND id = :id;

-- name: ticket_delete
DELETE FROM tickets WHERE tenant_id = :tenant_id AND id = :id;

-- name: ticket_expired
SELECT 1 FROM tickets WHERE expires_at <= :now LIMIT 1;

-- name: ticket_sweep
DELETE FROM tickets WHERE expires_at <= :now
AND {{sqlite: (tenant_id, id) IN (SELECT tenant_id, id}}
    {{postgres: ctid = ANY (ARRAY(SELECT ctid}}
    FROM tickets WHERE expires_at <= :now LIMIT :limit{{sqlite: )}}{{postgres: ))}};
