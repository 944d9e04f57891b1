-- SPDX-License-Identifier: Apache-2.0
-- Tickets: each admits one stream or WebSocket of one path, once, for the key that created it.
CREATE TABLE tickets (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    secret_hash {{bytes}} NOT NULL,
    -- The nil id: created while no key existed.
    key_id {{uuid}} NOT NULL,
    -- Empty: the whole tenant.
    principal TEXT NOT NULL,
    path TEXT NOT NULL,
    expires_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- For the limit, which counts the unexpired tickets of one key and principal.
CREATE INDEX tickets_by_owner ON tickets (tenant_id, key_id, principal, expires_at);
CREATE INDEX tickets_by_expiry ON tickets (expires_at);
{{postgres: SELECT fence_by_tenant('tickets');}}
