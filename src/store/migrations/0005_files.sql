-- SPDX-License-Identifier: Apache-2.0
-- Files of a thread, their versions, their content, and uploads that are under way.

-- Content, once a tenant. `id` names the file in the data directory, or the rows of blob_chunks: it
-- is never used again, so whoever removes a blob that nothing refers to cannot meet a new one.
CREATE TABLE blobs (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    sha256 {{bytes}} NOT NULL,
    id {{uuid}} NOT NULL,
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);
CREATE UNIQUE INDEX blobs_by_id ON blobs (tenant_id, id);

-- Content that perhaps nothing refers to any more: each row is looked at, and the content removed
-- after the commit that takes its row in blobs away.
CREATE TABLE blob_doubts (
    tenant_id {{uuid}} NOT NULL,
    blob_id {{uuid}} NOT NULL,
    added_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, blob_id)
);
CREATE INDEX blob_doubts_by_age ON blob_doubts (added_at);

{{postgres:
-- Content that is kept in the database, in pieces.
CREATE TABLE blob_chunks (
    tenant_id uuid NOT NULL,
    blob_id uuid NOT NULL,
    n bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant_id, blob_id, n)
);
ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
-- For who looks for leftovers, in all tenants.
CREATE INDEX blob_chunks_first ON blob_chunks (blob_id) WHERE n = 0;
-- Content that was removed while somebody might read it: its chunks stay for a while.
CREATE TABLE blob_garbage (
    tenant_id uuid NOT NULL,
    blob_id uuid NOT NULL,
    -- Lease time.
    removed_at bigint NOT NULL,
    PRIMARY KEY (tenant_id, blob_id)
);
}}

CREATE TABLE files (
    tenant_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- In the order of its bytes, on both engines.
    name TEXT{{postgres:  COLLATE "C"}} NOT NULL,
    -- The number of the newest version that there ever was; numbers are not given twice.
    last_version {{int}} NOT NULL,
    -- The newest that is there.
    current_version {{int}} NOT NULL,
    metadata {{json}} NOT NULL,
    -- Counts every change, also of the metadata.
    revision {{int}} NOT NULL DEFAULT 1,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX files_by_name ON files (tenant_id, thread_id, name);

CREATE TABLE file_versions (
    tenant_id {{uuid}} NOT NULL,
    file_id {{uuid}} NOT NULL,
    version {{int}} NOT NULL,
    sha256 {{bytes}} NOT NULL,
    size_bytes {{int}} NOT NULL,
    content_type TEXT NOT NULL,
    -- The principal, NULL for the service that holds the key.
    created_by TEXT,
    created_at {{int}} NOT NULL,
    -- Where it was copied from; the source may be gone.
    source_thread_id {{uuid}},
    source_name TEXT,
    source_version {{int}},
    -- The version of this file that it brought back.
    restored_from {{int}},
    PRIMARY KEY (tenant_id, file_id, version),
    FOREIGN KEY (tenant_id, file_id) REFERENCES files (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, sha256) REFERENCES blobs (tenant_id, sha256)
);
CREATE INDEX file_versions_by_blob ON file_versions (tenant_id, sha256);

-- How far the versions of a deleted file had come: one of the same name counts on from there.
CREATE TABLE file_ends (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    name TEXT{{postgres:  COLLATE "C"}} NOT NULL,
    last_version {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id, name),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- Resumable uploads: what has arrived stands under `content_id` as a blob's content would. With the
-- last byte that becomes an id that nothing is ever appended to.
CREATE TABLE uploads (
    tenant_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    content_id {{uuid}} NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    -- Of all that is to come.
    size_bytes {{int}} NOT NULL,
    -- Of what is there.
    offset_bytes {{int}} NOT NULL,
    -- The version that the file must have when it is complete; NULL: any.
    expected_version {{int}},
    -- Of all of it, as the client says; NULL: it does not.
    expected_sha256 {{bytes}},
    -- Of all of it, as it was read when the last byte had come.
    sha256 {{bytes}},
    created_by TEXT,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    -- Lease time.
    expires_at {{int}} NOT NULL,
    -- The one request that may write now; lease time. NULL: none does.
    writer {{uuid}},
    writer_until {{int}},
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX uploads_by_expiry ON uploads (expires_at);
CREATE INDEX uploads_by_thread ON uploads (tenant_id, thread_id, id);
CREATE UNIQUE INDEX uploads_by_content ON uploads (tenant_id, content_id);

{{postgres:
SELECT fence_by_tenant(name) FROM unnest(ARRAY['blobs', 'blob_chunks', 'blob_garbage',
    'blob_doubts', 'files', 'file_versions', 'file_ends', 'uploads']) AS name;
}}
