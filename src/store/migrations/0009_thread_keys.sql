-- SPDX-License-Identifier: Apache-2.0
-- Support for checkpoint savers of other frameworks: threads under ids chosen by the user, and the
-- checkpoints of all threads in the order in which they were stored.

ALTER TABLE threads ADD COLUMN key TEXT {{postgres: COLLATE "C"}};
CREATE UNIQUE INDEX threads_by_key ON threads (tenant_id, key) WHERE key IS NOT NULL;

CREATE INDEX checkpoints_by_time ON checkpoints (tenant_id, created_at, thread_id, sequence_num);
