-- SPDX-License-Identifier: Apache-2.0
-- An import commits in slices. Until its last slice is committed, these rows say how it is undone.
CREATE TABLE imports (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    -- The number of committed slices.
    slices {{int}} NOT NULL,
    -- Each slice renews the lease. After this time, by the clock of leases, the import is undone.
    lease_expires_at {{int}} NOT NULL,
    started_at {{int}} NOT NULL,
    -- The last slice is committed: the sweep only deletes these rows.
    completed_at {{int}},
    -- The import is being undone.
    failed_at {{int}},
    PRIMARY KEY (tenant_id, id)
);
-- One import of a tenant at a time.
CREATE UNIQUE INDEX imports_unfinished ON imports (tenant_id) WHERE completed_at IS NULL;

-- The objects that an import has created; the rows below them are deleted with them.
CREATE TABLE import_objects (
    tenant_id {{uuid}} NOT NULL,
    import_id {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    -- The nil id: the object is identified by the other columns.
    id {{uuid}} NOT NULL,
    -- The model of a price, or the namespace of an item of the store.
    name TEXT NOT NULL,
    -- The key of an item of the store.
    key TEXT NOT NULL,
    -- The version of a price.
    number {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, import_id, kind, id, name, key, number),
    FOREIGN KEY (tenant_id, import_id) REFERENCES imports (tenant_id, id) ON DELETE CASCADE
);
{{postgres: SELECT fence_by_tenant(name) FROM unnest(ARRAY['imports', 'import_objects']) AS name;}}
