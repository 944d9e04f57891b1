-- SPDX-License-Identifier: Apache-2.0
-- The plan, the settings and the quotas of a tenant. A quota that is NULL is not limited.
ALTER TABLE tenants ADD COLUMN plan_tier TEXT;
ALTER TABLE tenants ADD COLUMN settings {{json}} NOT NULL DEFAULT '{}';
ALTER TABLE tenants ADD COLUMN max_bytes {{int}};
ALTER TABLE tenants ADD COLUMN max_threads {{int}};
ALTER TABLE tenants ADD COLUMN max_events_per_day {{int}};
ALTER TABLE tenants ADD COLUMN max_streams {{int}};
ALTER TABLE tenants ADD COLUMN max_connections {{int}};
ALTER TABLE tenants ADD COLUMN max_requests_per_second {{int}};
ALTER TABLE tenants ADD COLUMN max_concurrent_runs {{int}};

-- The usage of a tenant. A row exists once something was counted. `threads` and `bytes` are NULL
-- until they are counted; `events` are those of `day` (days since 1970, UTC).
CREATE TABLE tenant_usage (
    tenant_id {{uuid}} NOT NULL PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    threads {{int}},
    bytes {{int}},
    bytes_counted_at {{int}},
    day {{int}} NOT NULL DEFAULT 0,
    events {{int}} NOT NULL DEFAULT 0
);
{{postgres: SELECT fence_by_tenant('tenant_usage');}}

{{sqlite: DROP VIEW tenant; CREATE}}{{postgres: CREATE OR REPLACE}} VIEW tenant AS SELECT
    {{show_id: id}} AS id, name, plan_tier,
    {{show_json: settings}} AS settings,
    {{show_time: created_at}} AS created_at
FROM tenants;
