-- define audit_columns: seq, at, actor, action, object_type, object_id, request_id, detail, hash

-- name: audit_last
SELECT seq, hash FROM audit_log WHERE tenant_id = :tenant_id ORDER BY seq DESC LIMIT 1;

-- name: audit_insert
INSERT INTO audit_log (tenant_id, seq, at, actor, action, object_type, object_id, request_id,
    detail, hash)
VALUES (:tenant_id, :seq, :at, :actor, :action, :object_type, :object_id, :request_id, :detail,
    :hash);

-- name: audit_list
SELECT {{audit_columns}} FROM audit_log
WHERE tenant_id = :tenant_id AND (:before IS NULL OR seq < :before)
    AND (:action IS NULL OR action = :action)
    AND (:object_id IS NULL OR object_id = :object_id)
ORDER BY seq DESC LIMIT :limit;

-- name: audit_walk
SELECT {{audit_columns}} FROM audit_log
WHERE tenant_id = :tenant_id AND seq > :after ORDER BY seq LIMIT :limit;
