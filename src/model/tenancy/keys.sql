-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, except uuid, before uuid, name text, secret_hash bytes
-- types: scopes json, rate_limit_per_minute int, expires_at int, now int, limit int, principal text

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define key_members: id, name, rate_limit_per_minute, expires_at, revoked_at, created_at,
--   | principal
-- define key_columns: {{key_members}}, scopes

-- define quota_columns: max_bytes, max_threads, max_events_per_day, max_streams, max_connections,
--   | max_requests_per_second, max_concurrent_runs

-- reads key_quotas_read: struct quota_limits from {{quota_columns}}
-- reads key_read: struct api_key from {{key_members}}
-- binds key_bind: struct api_key for key_insert

-- name: key_insert
INSERT INTO api_keys (tenant_id, id, name, secret_hash, scopes, rate_limit_per_minute, expires_at,
    created_at, principal)
VALUES (:tenant_id, :id, :name, :secret_hash, :scopes, :rate_limit_per_minute, :expires_at, :now,
    :principal);

-- name: key_get
SELECT {{key_columns}} FROM api_keys WHERE tenant_id = :tenant_id AND id = :id;

-- name: key_secret
SELECT secret_hash, {{key_columns}}, {{quota_columns}} FROM api_keys
JOIN (SELECT t.id AS owner_id, {{quota_columns}} FROM tenants AS t) AS quotas
    ON quotas.owner_id = api_keys.tenant_id
WHERE tenant_id = :tenant_id AND id = :id;

-- name: key_list
SELECT {{key_columns}} FROM api_keys
WHERE tenant_id = :tenant_id AND id < {{before}}
ORDER BY id DESC LIMIT :limit;

-- name: key_revoke
UPDATE api_keys SET revoked_at = :now
WHERE tenant_id = :tenant_id AND id = :id AND revoked_at IS NULL;

-- The scopes of all other keys that are neither revoked nor going to expire.
-- name: key_lasting_scopes
SELECT scopes FROM api_keys
WHERE tenant_id = :tenant_id AND id <> :except AND revoked_at IS NULL AND expires_at IS NULL;

-- name: key_any
SELECT 1 FROM api_keys LIMIT 1;
