-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, seq int, at int, actor text, action text, object_type text
-- types: object_id text, request_id text, detail json, hash bytes, before int, after int, limit int

-- define before: CASE WHEN :before IS NULL THEN 9223372036854775807 ELSE :before END
-- define audit_columns: seq, at, actor, action, object_type, object_id, request_id, detail, hash

-- reads audit_read: struct audit_record from {{audit_columns}}
-- binds audit_bind: struct audit_record for audit_insert

-- name: audit_last
SELECT seq, hash FROM audit_log WHERE tenant_id = :tenant_id ORDER BY seq DESC LIMIT 1;

-- name: audit_insert
INSERT INTO audit_log (tenant_id, seq, at, actor, action, object_type, object_id, request_id,
    detail, hash)
VALUES (:tenant_id, :seq, :at, :actor, :action, :object_type, :object_id, :request_id, :detail,
    :hash);

-- name: audit_list
SELECT {{audit_columns}},
    (SELECT last.hash FROM audit_log AS last
     WHERE last.tenant_id = :tenant_id AND last.seq = audit_log.seq - 1)
FROM audit_log
WHERE tenant_id = :tenant_id AND seq < {{before}}
    AND coalesce(action = :action, :action IS NULL)
    AND coalesce(object_id = :object_id, :object_id IS NULL)
ORDER BY seq DESC LIMIT :limit;

-- name: audit_walk
SELECT {{audit_columns}} FROM audit_log
WHERE tenant_id = :tenant_id AND seq > :after ORDER BY seq LIMIT :limit;
