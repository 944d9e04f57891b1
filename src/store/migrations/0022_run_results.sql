-- SPDX-License-Identifier: Apache-2.0
-- The messages, files and extras that were reported with the end of a child run. Those of a run
-- without parent are in its history entry.
ALTER TABLE run_documents ADD COLUMN messages_snapshot_id {{uuid}};
ALTER TABLE run_documents ADD COLUMN generated_files {{json}};
ALTER TABLE run_documents ADD COLUMN extras {{json}};
