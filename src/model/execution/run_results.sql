-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, run_id uuid, messages_snapshot_id uuid, generated_files json, extras json

-- name: run_result_keep
UPDATE run_documents SET messages_snapshot_id = :messages_snapshot_id,
    generated_files = :generated_files, extras = :extras
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: run_result_of_child
SELECT messages_snapshot_id, generated_files, extras FROM run_documents
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- name: run_result_of_root
SELECT messages_snapshot_id, generated_files, extras, sequence_number FROM history_entries
WHERE tenant_id = :tenant_id AND run_id = :run_id;

-- The newest list that a step of the run has.
-- name: run_result_of_steps
SELECT messages_snapshot_id FROM steps
WHERE tenant_id = :tenant_id AND run_id = :run_id AND messages_snapshot_id IS NOT NULL
ORDER BY number DESC LIMIT 1;
