-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, secret_hash bytes, key_id uuid, principal text, path text
-- types: expires_at int, now int

-- binds ticket_bind: struct ticket for ticket_insert

-- name: ticket_insert
INSERT INTO tickets (tenant_id, id, secret_hash, key_id, principal, path, expires_at)
VALUES (:tenant_id, :id, :secret_hash, :key_id, :principal, :path, :expires_at);

-- name: ticket_forget_expired
DELETE FROM tickets WHERE tenant_id = :tenant_id AND expires_at <= :now;

-- name: ticket_count
SELECT count(*) FROM tickets WHERE tenant_id = :tenant_id;

-- reads ticket_read: struct ticket from id, key_id, principal, path, expires_at
-- name: ticket_get
SELECT secret_hash, id, key_id, principal, path, expires_at FROM tickets
WHERE tenant_id = :tenant_id AND id = :id {{postgres: FOR UPDATE}};

-- name: ticket_delete
DELETE FROM tickets WHERE tenant_id = :tenant_id AND id = :id;
