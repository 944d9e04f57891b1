-- SPDX-License-Identifier: Apache-2.0
-- Fewer pages for each checkpoint: no statement uses the first index, and a checkpoint without a
-- run needs no entry in the second one.
DROP INDEX checkpoints_by_snapshot;
{{sqlite:
DROP INDEX checkpoints_by_run_text;
CREATE INDEX checkpoints_by_run_text ON checkpoints ({{show_id: run_id}})
    WHERE {{show_id: run_id}} IS NOT NULL;
}}
