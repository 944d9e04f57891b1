-- SPDX-License-Identifier: Apache-2.0
-- Snapshots with many items that are stored or deleted in several transactions. They are marked as
-- dropped, and only some of their items may have references.
CREATE TABLE snapshot_leftovers (
    tenant_id {{uuid}} NOT NULL,
    snapshot_id {{uuid}} NOT NULL,
    -- The sweep deletes the snapshot after this time, by the clock of leases.
    due_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, snapshot_id),
    FOREIGN KEY (tenant_id, snapshot_id) REFERENCES snapshots (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX snapshot_leftovers_by_time ON snapshot_leftovers (due_at);
{{postgres: SELECT fence_by_tenant('snapshot_leftovers');}}
