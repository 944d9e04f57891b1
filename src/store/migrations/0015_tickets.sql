-- SPDX-License-Identifier: Apache-2.0
-- Tickets: each admits one stream or WebSocket of one path, once, for the key that created it.
CREATE TABLE tickets (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    secret_hash {{bytes}} NOT NULL,
    -- NULL: created while no key existed.
    key_id {{uuid}},
    principal TEXT,
    path TEXT NOT NULL,
    expires_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX tickets_by_expiry ON tickets (tenant_id, expires_at);
{{postgres: SELECT fence_by_tenant('tickets');}}
