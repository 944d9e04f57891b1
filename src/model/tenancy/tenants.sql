-- SPDX-License-Identifier: Apache-2.0
-- types: id uuid, tenant_id uuid, before uuid, name text, now int, limit int, plan_tier text
-- types: settings json, max_bytes int, max_threads int, max_events_per_day int, max_streams int
-- types: max_connections int, max_requests_per_second int, max_concurrent_runs int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define tenant_members: id, name, plan_tier, settings, created_at, updated_at, version
-- define quota_columns: max_bytes, max_threads, max_events_per_day, max_streams, max_connections,
--   | max_requests_per_second, max_concurrent_runs
-- define tenant_columns: {{tenant_members}}, {{quota_columns}}

-- reads tenant_read: struct tenant from {{tenant_members}}
-- reads quota_limits_read: struct quota_limits from {{quota_columns}}
-- binds quota_limits_bind: struct quota_limits for tenant_update

-- name: tenant_insert
INSERT INTO tenants (id, name, created_at, updated_at)
VALUES (:id, :name, :now, :now)
ON CONFLICT DO NOTHING;

-- name: tenant_get
SELECT {{tenant_columns}} FROM tenants WHERE id = :id;

-- name: tenant_list
SELECT {{tenant_columns}} FROM tenants
WHERE id < {{before}}
ORDER BY id DESC LIMIT :limit;

-- name: tenant_update
UPDATE tenants SET name = :name, plan_tier = :plan_tier, max_bytes = :max_bytes,
    max_threads = :max_threads, max_events_per_day = :max_events_per_day,
    max_streams = :max_streams, max_connections = :max_connections,
    max_requests_per_second = :max_requests_per_second,
    max_concurrent_runs = :max_concurrent_runs, updated_at = :now, version = version + 1
WHERE id = :id AND NOT EXISTS
    (SELECT 1 FROM tenants AS other WHERE other.name = :name AND other.id <> :id);

-- name: tenant_set_settings
UPDATE tenants SET settings = :settings, updated_at = :now, version = version + 1
WHERE id = :tenant_id;

-- --- Slices of a deletion ---------------------------------------------------------------------

-- define some: {{sqlite: rowid IN (SELECT rowid}}{{postgres: ctid = ANY (ARRAY(SELECT ctid}}
-- define of_these: {{sqlite: )}}{{postgres: ))}}
-- define own: WHERE tenant_id = :tenant_id
-- define of_tenant: {{own}} LIMIT :limit{{of_these}}

-- name: tenant_delete_keys
DELETE FROM api_keys WHERE tenant_id = :tenant_id;

-- name: tenant_first_thread
SELECT id FROM threads WHERE tenant_id = :tenant_id ORDER BY id LIMIT 1;

-- A byte in the index of words takes about as long as 16 bytes in a row.
-- name: tenant_weigh_memory
{{sqlite:
SELECT size_bytes + coalesce((SELECT sum(length(v.bytes)) FROM store_vectors AS v
        WHERE v.tenant_id = store_items.tenant_id AND v.number = store_items.number), 0)
    + 16 * coalesce((SELECT length(CAST(f.words AS BLOB)) FROM store_words AS f
        WHERE f.rowid = store_items.number), 0)
FROM store_items {{own}} ORDER BY number LIMIT :limit;
}}

-- Before the items of the store themselves. PostgreSQL cascades.
-- name: tenant_delete_words
{{sqlite:
DELETE FROM store_words WHERE rowid IN (SELECT number FROM store_items
    WHERE tenant_id = :tenant_id ORDER BY number LIMIT :limit);
}}

-- name: tenant_delete_memory
DELETE FROM store_items WHERE {{some}} FROM store_items
    WHERE tenant_id = :tenant_id ORDER BY number LIMIT :limit{{of_these}};

-- name: tenant_weigh_storage
{{sqlite:
SELECT size_bytes
FROM agent_storage {{own}} ORDER BY agent_id, key LIMIT :limit;
}}

-- name: tenant_delete_storage
DELETE FROM agent_storage WHERE {{some}} FROM agent_storage {{own}}
    ORDER BY agent_id, key LIMIT :limit{{of_these}};

-- name: tenant_weigh_state_versions
{{sqlite:
SELECT size_bytes
FROM state_versions {{own}} ORDER BY state_id, version LIMIT :limit;
}}

-- name: tenant_delete_state_versions
DELETE FROM state_versions WHERE {{some}} FROM state_versions {{own}}
    ORDER BY state_id, version LIMIT :limit{{of_these}};

-- name: tenant_weigh_agent_versions
{{sqlite:
SELECT {{bytes_of: system_prompt}} + {{bytes_of: workflow_graph}} + {{bytes_of: memory_config}}
    + {{bytes_of: guardrail_config}} + {{bytes_of: llm_config}}
    + {{bytes_of: execution_config}} + {{bytes_of: tools}} + {{bytes_of: description}}
FROM agent_versions {{own}} ORDER BY agent_id, number LIMIT :limit;
}}

-- name: tenant_delete_agent_versions
DELETE FROM agent_versions WHERE {{some}} FROM agent_versions {{own}}
    ORDER BY agent_id, number LIMIT :limit{{of_these}};

-- name: tenant_weigh_used_versions
{{sqlite:
SELECT {{bytes_of: system_prompt}} + {{bytes_of: workflow_graph}} + {{bytes_of: memory_config}}
    + {{bytes_of: guardrail_config}} + {{bytes_of: llm_config}}
    + {{bytes_of: execution_config}} + {{bytes_of: tools}} + {{bytes_of: description}}
FROM used_versions {{own}} ORDER BY agent_id, version LIMIT :limit;
}}

-- name: tenant_delete_used_versions
DELETE FROM used_versions WHERE {{some}} FROM used_versions {{own}}
    ORDER BY agent_id, version LIMIT :limit{{of_these}};

-- name: tenant_delete_deleted_agents
DELETE FROM deleted_agents WHERE {{some}} FROM deleted_agents {{of_tenant}};

-- name: tenant_delete_states
DELETE FROM state_documents WHERE {{some}} FROM state_documents {{of_tenant}};

-- name: tenant_delete_links
DELETE FROM agent_links WHERE {{some}} FROM agent_links {{of_tenant}};

-- name: tenant_delete_activations
DELETE FROM agent_activations WHERE {{some}} FROM agent_activations {{of_tenant}};

-- name: tenant_weigh_agents
{{sqlite: SELECT size_bytes FROM agents {{own}} ORDER BY id LIMIT :limit;}}

-- name: tenant_delete_agents
DELETE FROM agents WHERE {{some}} FROM agents {{own}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: tenant_delete_prices
DELETE FROM prices WHERE {{some}} FROM prices {{of_tenant}};

-- name: tenant_delete_tickets
DELETE FROM tickets WHERE {{some}} FROM tickets {{of_tenant}};

-- name: tenant_delete_doubts
DELETE FROM item_doubts WHERE {{some}} FROM item_doubts {{of_tenant}};

-- name: tenant_weigh_evals
{{sqlite:
SELECT {{bytes_of: eval_input}} + {{bytes_of: eval_data}} + {{bytes_of: metadata}}
FROM eval_runs {{own}} ORDER BY id LIMIT :limit;
}}

-- name: tenant_delete_evals
DELETE FROM eval_runs WHERE {{some}} FROM eval_runs {{own}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: tenant_weigh_notebooks
{{sqlite:
SELECT {{bytes_of: description}} + {{bytes_of: instructions}} + {{bytes_of: metadata}}
FROM notebook_records {{own}} ORDER BY id LIMIT :limit;
}}

-- name: tenant_delete_notebooks
DELETE FROM notebook_records WHERE {{some}} FROM notebook_records {{own}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: tenant_delete_import_objects
DELETE FROM import_objects WHERE {{some}} FROM import_objects {{of_tenant}};

-- name: tenant_delete_usage
DELETE FROM usage_days WHERE {{some}} FROM usage_days {{of_tenant}};

-- name: tenant_weigh_answers
{{sqlite:
SELECT {{bytes_of: headers}} + {{bytes_of: body}}
FROM idempotency_keys {{own}} ORDER BY route, key LIMIT :limit;
}}

-- name: tenant_delete_answers
DELETE FROM idempotency_keys WHERE {{some}} FROM idempotency_keys {{own}}
    ORDER BY route, key LIMIT :limit{{of_these}};

-- name: tenant_delete_snapshot_items
DELETE FROM snapshot_items WHERE {{some}} FROM snapshot_items {{of_tenant}};

-- name: tenant_weigh_snapshots
{{sqlite: SELECT length(manifest) FROM snapshots {{own}} ORDER BY id LIMIT :limit;}}

-- name: tenant_delete_snapshots
DELETE FROM snapshots WHERE {{some}} FROM snapshots {{own}}
    ORDER BY id LIMIT :limit{{of_these}};

-- name: tenant_weigh_items
{{sqlite: SELECT length(bytes) FROM items {{own}} ORDER BY sha256 LIMIT :limit;}}

-- name: tenant_delete_items
DELETE FROM items WHERE {{some}} FROM items {{own}}
    ORDER BY sha256 LIMIT :limit{{of_these}};

-- name: tenant_delete_blobs
DELETE FROM blobs WHERE {{some}} FROM blobs
    WHERE tenant_id = :tenant_id ORDER BY sha256 LIMIT :limit{{of_these}};

-- name: tenant_delete
DELETE FROM tenants WHERE id = :id;

-- The row of the tenant is the lock for its audit log, its keys, and decisions about the whole
-- tenant.
-- name: tenant_lock
{{postgres:
SELECT 1 FROM tenants WHERE id = :tenant_id FOR NO KEY UPDATE;
}}

-- name: tenant_last_event_id
SELECT coalesce(max(id), 0) FROM events WHERE tenant_id = :tenant_id;
