-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, route text, key text, request_hash bytes, status int, headers json
-- types: body text, now int, oldest int, limit int

-- name: idempotency_get
SELECT request_hash, status, headers, body FROM idempotency_keys
WHERE tenant_id = :tenant_id AND route = :route AND key = :key AND created_at > :oldest;

-- Replaces only a response that has expired.
-- name: idempotency_put
INSERT INTO idempotency_keys (tenant_id, route, key, request_hash, status, headers, body,
    created_at)
VALUES (:tenant_id, :route, :key, :request_hash, :status, :headers, :body, :now)
ON CONFLICT (tenant_id, route, key) DO UPDATE SET request_hash = :request_hash, status = :status,
    headers = :headers, body = :body, created_at = :now
WHERE idempotency_keys.created_at <= :oldest;

-- name: idempotency_old
SELECT 1 FROM idempotency_keys WHERE created_at <= :oldest LIMIT 1;

-- define old: WHERE created_at <= :oldest

-- Slices of expired answers (tenancy/deletions.h).
-- name: idempotency_weigh
SELECT {{bytes_of: headers}} + {{bytes_of: body}} FROM idempotency_keys {{old}}
ORDER BY created_at LIMIT :limit;

-- name: idempotency_expire
DELETE FROM idempotency_keys {{old}}
    AND {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
        FROM idempotency_keys {{old}}
        ORDER BY created_at LIMIT :limit{{sqlite: )}}{{postgres: ))}};
