-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, thread_id uuid, parent_run_id uuid, before uuid, depth int
-- types: status text, dispatch text, paused_from text, agent text, worker text, user_input text
-- types: ask_clarifications bool, metadata json, input json, state json, final_output json
-- types: error json, lease_expires_at int, lease_ms int, fence int, lease_now int, due_now int
-- types: started_at int, finished_at int, now int, limit int, agent_id uuid, agent_version text
-- types: phase text, phase_changes int, model text, provider text, stop_reason text
-- types: forked_from_run_id uuid, forked_from_checkpoint_id uuid, request json, content text
-- types: content_type text, citations json, metrics json, priority int, max_attempts int
-- types: backoff_initial_ms int, backoff_factor int, backoff_max_ms int, deadline int
-- types: not_before int, attempt_count int, failed_attempts int, retry_of_run_id uuid
-- types: tool_deadline int

-- define before: CASE WHEN :before IS NULL THEN {{last_uuid}} ELSE :before END
-- define run_before: r.id, r.thread_id, r.parent_run_id, r.depth, r.status, r.dispatch,
--   | r.paused_from, r.agent, r.ask_clarifications, r.agent_id, r.agent_version, r.phase,
--   | r.phase_changes, r.model, r.provider, r.stop_reason, r.forked_from_run_id,
--   | r.forked_from_checkpoint_id, r.turn_count, r.step_count, r.attempt_count,
--   | r.failed_attempts, r.tool_deadline, r.retry_of_run_id
-- define run_usage: r.llm_calls, r.input_tokens, r.output_tokens, r.cache_creation_input_tokens,
--   | r.cache_read_input_tokens, r.cost_pico, r.unpriced_calls
-- define run_schedule: r.priority, r.max_attempts, r.backoff_initial_ms, r.backoff_factor,
--   | r.backoff_max_ms, r.deadline, r.not_before
-- define run_sums: {{run_usage}}, r.total_llm_calls, r.total_input_tokens, r.total_output_tokens,
--   | r.total_cache_creation_input_tokens, r.total_cache_read_input_tokens, r.total_cost_pico,
--   | r.total_unpriced_calls, {{run_schedule}}
-- define run_after: r.worker, r.lease_expires_at, r.lease_ms, r.fence, r.started_at,
--   | r.finished_at, r.created_at, r.updated_at, r.version
-- define run_head: {{run_before}}, NULL AS user_input, NULL AS input, NULL AS state,
--   | NULL AS final_output, NULL AS request, NULL AS content, NULL AS content_type,
--   | NULL AS citations, NULL AS metrics, r.metadata, r.error, {{run_after}}, {{run_sums}}
-- define run_members: {{run_before}}, d.user_input, d.input, d.state, d.final_output, d.request,
--   | d.content, d.content_type, d.citations, d.metrics, r.metadata, r.error, {{run_after}}
-- define run_whole: {{run_members}}, {{run_sums}}
-- define run_light: {{run_before}}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
--   | NULL, {{run_after}}, {{run_sums}}
-- define with_documents: JOIN run_documents AS d ON d.tenant_id = r.tenant_id AND d.run_id = r.id
-- define unfinished: status NOT IN ({{FINAL_RUN_STATUSES}})

-- define run_conditions: r.id < {{before}}
--   | AND coalesce(r.thread_id = :thread_id, :thread_id IS NULL)
--   | AND coalesce(r.status = :status, :status IS NULL)
--   | AND coalesce(r.parent_run_id = :parent_run_id, :parent_run_id IS NULL)
--   | AND coalesce(r.phase = :phase, :phase IS NULL)
--   | AND coalesce(r.agent = :agent, :agent IS NULL)
--   | AND coalesce(r.agent_id = :agent_id, :agent_id IS NULL)
--   | ORDER BY r.id DESC LIMIT :limit
-- The condition of the index runs_by_phase.
-- define in_phase: r.tenant_id = :tenant_id AND r.phase = :phase
--   | AND r.phase NOT IN ({{PHASE_COMPLETED}}, {{PHASE_FAILED}}, {{PHASE_CANCELLED}})

-- reads run_read: struct run from {{run_members}}
-- reads run_usage_read: struct run_usage from {{run_usage}}
-- reads run_schedule_read: struct run_schedule from {{run_schedule}}
-- binds run_bind_insert: struct run for run_insert
-- binds run_bind_schedule: struct run_schedule for run_insert
-- binds run_bind_insert_documents: struct run for run_insert_documents
-- binds run_bind_update: struct run for run_update
-- binds run_bind_content: struct run for run_update_content
-- binds run_bind_documents: struct run for run_update_documents

-- name: run_insert
INSERT INTO runs (tenant_id, id, thread_id, parent_run_id, depth, status, dispatch, agent,
    agent_id, agent_version, phase, model, provider, forked_from_run_id,
    forked_from_checkpoint_id, ask_clarifications, metadata, started_at, created_at, updated_at,
    priority, max_attempts, backoff_initial_ms, backoff_factor, backoff_max_ms, deadline,
    not_before, retry_of_run_id)
VALUES (:tenant_id, :id, :thread_id, :parent_run_id, :depth, :status, :dispatch, :agent,
    :agent_id, :agent_version, :phase, :model, :provider, :forked_from_run_id,
    :forked_from_checkpoint_id, :ask_clarifications, :metadata, :started_at, :now, :now,
    :priority, :max_attempts, :backoff_initial_ms, :backoff_factor, :backoff_max_ms, :deadline,
    :not_before, :retry_of_run_id);

-- name: run_insert_documents
INSERT INTO run_documents (tenant_id, run_id, user_input, state, request)
VALUES (:tenant_id, :id, :user_input, :state, :request);

-- The thread of a run never changes, so the run's id is enough to lock the thread.
-- name: run_lock
{{postgres:
SELECT 1 FROM threads WHERE tenant_id = :tenant_id AND id = (SELECT r.thread_id FROM runs AS r
    WHERE r.tenant_id = :tenant_id AND r.id = :id) FOR NO KEY UPDATE;
}}

-- name: run_get
SELECT {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND r.id = :id;

-- name: run_get_head
SELECT {{run_head}} FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.id = :id;

-- Lists have no documents unless the client requests them, and use the index of the narrowest
-- filter.
-- name: run_list
-- page: id DESC
SELECT r.size_bytes, {{run_head}}
FROM runs AS r WHERE r.tenant_id = :tenant_id AND {{run_conditions}};

-- name: run_list_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND {{run_conditions}};

-- name: run_list_of_parent
-- page: id DESC
SELECT r.size_bytes, {{run_head}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.parent_run_id = :parent_run_id AND {{run_conditions}};

-- name: run_list_of_parent_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND r.parent_run_id = :parent_run_id AND {{run_conditions}};

-- name: run_list_of_thread
-- page: id DESC
SELECT r.size_bytes, {{run_head}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id AND {{run_conditions}};

-- name: run_list_of_thread_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id AND {{run_conditions}};

-- name: run_list_of_phase
-- page: id DESC
SELECT r.size_bytes, {{run_head}} FROM runs AS r WHERE {{in_phase}} AND {{run_conditions}};

-- name: run_list_of_phase_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE {{in_phase}} AND {{run_conditions}};

-- name: run_list_of_agent
-- page: id DESC
SELECT r.size_bytes, {{run_head}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.agent_id = :agent_id AND {{run_conditions}};

-- name: run_list_of_agent_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND r.agent_id = :agent_id AND {{run_conditions}};

-- name: run_list_of_status
-- page: id DESC
SELECT r.size_bytes, {{run_head}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.status = :status AND {{run_conditions}};

-- name: run_list_of_status_whole
-- page: id DESC
SELECT r.size_bytes + d.size_bytes AS size_bytes, {{run_whole}} FROM runs AS r {{with_documents}}
WHERE r.tenant_id = :tenant_id AND r.status = :status AND {{run_conditions}};

-- The unfinished runs of a thread, oldest first.
-- name: run_list_unfinished
SELECT {{run_light}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id AND r.{{unfinished}}
ORDER BY r.id;

-- name: run_count_unfinished
SELECT count(*) FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id AND r.{{unfinished}};

-- name: run_list_active_children
SELECT {{run_light}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.parent_run_id = :parent_run_id AND r.{{unfinished}}
ORDER BY r.id;

-- The run and all its descendants. The recursion stops after :limit rows.
-- name: run_list_family
WITH RECURSIVE family AS (
    SELECT {{run_light}} FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.id = :id
    UNION ALL
    SELECT {{run_light}} FROM family
    JOIN runs AS r ON r.tenant_id = :tenant_id AND r.parent_run_id = family.id
)
SELECT * FROM family LIMIT :limit;

-- name: run_update
UPDATE runs SET status = :status, paused_from = :paused_from, phase = :phase,
    phase_changes = :phase_changes, worker = :worker,
    lease_expires_at = :lease_expires_at, lease_ms = :lease_ms, fence = :fence,
    started_at = :started_at, finished_at = :finished_at, not_before = :not_before,
    attempt_count = :attempt_count, failed_attempts = :failed_attempts,
    tool_deadline = :tool_deadline, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: run_update_content
UPDATE runs SET metadata = :metadata, error = :error, model = :model, provider = :provider,
    stop_reason = :stop_reason
WHERE tenant_id = :tenant_id AND id = :id;

-- name: run_set_error
UPDATE runs SET error = :error WHERE tenant_id = :tenant_id AND id = :id;

-- name: run_update_documents
UPDATE run_documents SET input = :input, state = :state, final_output = :final_output,
    content = :content, content_type = :content_type, citations = :citations, metrics = :metrics
WHERE tenant_id = :tenant_id AND run_id = :id;

-- A heartbeat does not change the version of the run.
-- name: run_hold
UPDATE runs SET lease_expires_at = :lease_expires_at, lease_ms = :lease_ms
WHERE tenant_id = :tenant_id AND id = :id;

-- The run is neither part of an unfinished import nor being deleted with its thread.
-- define settled: NOT EXISTS (SELECT 1 FROM imports AS i JOIN import_objects AS b
--   | ON b.tenant_id = i.tenant_id AND b.import_id = i.id AND b.kind = {{IMPORT_THREAD}}
--   | AND b.id = r.thread_id WHERE i.tenant_id = r.tenant_id AND i.completed_at IS NULL)
--   | AND NOT EXISTS (SELECT 1 FROM deletions AS d
--   | WHERE d.tenant_id = r.tenant_id AND d.id = r.thread_id)

-- By age, in which a point of priority counts as a minute. The index runs_by_claim has the same
-- expression.
-- define claim_order: ({{greatest}}(r.created_at, coalesce(r.not_before, r.created_at))
--   | - 60000000 * r.priority)

-- define next_queued: FROM runs AS r
--   | JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id
--   | WHERE r.tenant_id = :tenant_id AND r.status = {{RUN_QUEUED}} AND r.dispatch = {{RUN_QUEUE}}
--   | AND t.status = {{THREAD_ACTIVE}}
--   | AND coalesce(r.agent = :agent, :agent IS NULL)
--   | AND coalesce(r.agent_id = :agent_id, :agent_id IS NULL)
--   | AND coalesce(r.thread_id = :thread_id, :thread_id IS NULL)
--   | AND (r.parent_run_id IS NOT NULL OR NOT EXISTS (SELECT 1 FROM runs AS o
--   | WHERE o.tenant_id = r.tenant_id AND o.thread_id = r.thread_id AND o.{{unfinished}}
--   | AND o.parent_run_id IS NULL AND o.id <> r.id
--   | AND (o.id < r.id OR o.status NOT IN ({{RUN_QUEUED}}, {{RUN_PAUSED}}))))
--   | AND (r.not_before IS NULL OR r.not_before <= :due_now)
--   | AND (r.deadline IS NULL OR r.deadline > :due_now)
--   | AND {{settled}}
--   | ORDER BY {{claim_order}}, r.id LIMIT 1

-- The first queued run of an active thread that is due and that no other run blocks.
-- name: run_next_queued
SELECT {{run_head}} {{next_queued}};

-- Locks the thread of such a run; threads locked by other transactions are skipped.
-- name: run_next_queued_thread
{{postgres:
SELECT r.thread_id {{next_queued}} FOR NO KEY UPDATE OF t SKIP LOCKED;
}}

-- The time at which the next of the queued runs that have to wait is due.
-- name: run_next_due
SELECT r.not_before FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.status = {{RUN_QUEUED}}
    AND r.not_before > :due_now ORDER BY r.not_before LIMIT 1;

-- name: run_by_fence
SELECT {{run_head}} FROM runs AS r
WHERE r.tenant_id = :tenant_id AND r.thread_id = :thread_id AND r.{{unfinished}}
    AND r.fence = :fence;

-- Skips runs whose thread is locked; a later pass handles them, so they do not delay other runs.
-- name: run_lease_expired
SELECT r.tenant_id, r.id FROM runs AS r
{{postgres: JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id}}
WHERE r.lease_expires_at <= :lease_now ORDER BY r.lease_expires_at LIMIT :limit
{{postgres: FOR NO KEY UPDATE OF t SKIP LOCKED}};

-- name: run_overdue
SELECT r.tenant_id, r.id FROM runs AS r
{{postgres: JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id}}
WHERE r.deadline <= :due_now AND r.{{unfinished}} AND {{settled}}
ORDER BY r.deadline LIMIT :limit
{{postgres: FOR NO KEY UPDATE OF t SKIP LOCKED}};

-- name: run_tools_overdue
SELECT r.tenant_id, r.id FROM runs AS r
{{postgres: JOIN threads AS t ON t.tenant_id = r.tenant_id AND t.id = r.thread_id}}
WHERE r.tool_deadline <= :due_now AND r.status IN ({{RUN_WAITING}}, {{RUN_PAUSED}}) AND {{settled}}
ORDER BY r.tool_deadline LIMIT :limit
{{postgres: FOR NO KEY UPDATE OF t SKIP LOCKED}};

-- After a restart of a single server, every worker gets its full lease again, because the downtime
-- was not its fault. With several nodes there was no downtime.
-- name: run_lease_renew_all
{{sqlite:
UPDATE runs SET lease_expires_at = :lease_now + lease_ms * 1000 WHERE lease_expires_at IS NOT NULL;
}}
