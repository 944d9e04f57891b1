-- SPDX-License-Identifier: Apache-2.0
-- State documents and configuration with their versions, and the private storage of agents.

-- A document belongs to an agent, a thread, or an agent within a thread; the nil id stands for
-- none. `kind` is 'state' or 'config': the configuration of an agent is such a document too. The
-- content is in state_versions. The row of a deleted document remains, without versions, so that
-- its version numbers are never reused: an old If-Match cannot match a new document.
CREATE TABLE state_documents (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    kind TEXT NOT NULL,
    agent_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    name TEXT {{postgres: COLLATE "C"}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    deleted_at {{int}},
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX state_documents_by_name
    ON state_documents (tenant_id, agent_id, thread_id, kind, name);
CREATE INDEX state_documents_by_thread ON state_documents (tenant_id, thread_id, id);

-- Every version that ever existed, including the current one.
CREATE TABLE state_versions (
    tenant_id {{uuid}} NOT NULL,
    state_id {{uuid}} NOT NULL,
    version {{int}} NOT NULL,
    description TEXT,
    data {{json}} NOT NULL,
    json_schema {{json}},
    ui_schema {{json}},
    created_by TEXT,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, state_id, version),
    FOREIGN KEY (tenant_id, state_id) REFERENCES state_documents (tenant_id, id) ON DELETE CASCADE
);

-- Belongs to one agent; participants never see it. A row has either `value` or `bytes`.
CREATE TABLE agent_storage (
    tenant_id {{uuid}} NOT NULL,
    agent_id {{uuid}} NOT NULL,
    key TEXT {{postgres: COLLATE "C"}} NOT NULL,
    content_type TEXT NOT NULL,
    value {{json}},
    bytes {{bytes}},
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, agent_id, key),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);

{{postgres:
SELECT fence_by_tenant(name) FROM unnest(ARRAY['state_documents', 'state_versions',
    'agent_storage']) AS name;
}}
