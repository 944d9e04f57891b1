-- SPDX-License-Identifier: Apache-2.0
-- Files of a thread, their versions, their content, and unfinished uploads.

-- Each content, once per tenant. `id` names the file in the data directory, or the rows of
-- blob_chunks. It is never reused, so the deletion of an unreferenced blob cannot affect a new one.
CREATE TABLE blobs (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    sha256 {{bytes}} NOT NULL,
    id {{uuid}} NOT NULL,
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);
CREATE UNIQUE INDEX blobs_by_id ON blobs (tenant_id, id);

-- Content that may be unreferenced. The sweep checks each row, and deletes the content after the
-- commit that deletes its row in blobs.
CREATE TABLE blob_doubts (
    tenant_id {{uuid}} NOT NULL,
    blob_id {{uuid}} NOT NULL,
    added_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, blob_id)
);
CREATE INDEX blob_doubts_by_age ON blob_doubts (added_at);

{{postgres:
-- Content stored in the database, in chunks.
CREATE TABLE blob_chunks (
    tenant_id uuid NOT NULL,
    blob_id uuid NOT NULL,
    n bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant_id, blob_id, n)
);
ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
-- Finds leftovers in all tenants.
CREATE INDEX blob_chunks_first ON blob_chunks (blob_id) WHERE n = 0;
-- Content that was deleted while a client may still read it: its chunks are kept for a while.
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
    -- Sorted by bytes on both engines.
    name TEXT{{postgres:  COLLATE "C"}} NOT NULL,
    -- The number of the newest version that ever existed; numbers are never reused.
    last_version {{int}} NOT NULL,
    -- The newest existing version.
    current_version {{int}} NOT NULL,
    metadata {{json}} NOT NULL,
    -- Counts every change, including changes of the metadata.
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
    -- The principal; NULL: the service that owns the key.
    created_by TEXT,
    created_at {{int}} NOT NULL,
    -- The source of a copy, which may have been deleted.
    source_thread_id {{uuid}},
    source_name TEXT,
    source_version {{int}},
    -- The version of this file that was restored.
    restored_from {{int}},
    PRIMARY KEY (tenant_id, file_id, version),
    FOREIGN KEY (tenant_id, file_id) REFERENCES files (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, sha256) REFERENCES blobs (tenant_id, sha256)
);
CREATE INDEX file_versions_by_blob ON file_versions (tenant_id, sha256);

-- The last version number of a deleted file; a new file of the same name continues from it.
CREATE TABLE file_ends (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    name TEXT{{postgres:  COLLATE "C"}} NOT NULL,
    last_version {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id, name),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- Resumable uploads. The received bytes are stored under `content_id` like the content of a blob.
-- With the last byte they move to an id to which nothing is ever appended.
CREATE TABLE uploads (
    tenant_id {{uuid}} NOT NULL,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    content_id {{uuid}} NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    -- The size of the complete upload.
    size_bytes {{int}} NOT NULL,
    -- The number of bytes received.
    offset_bytes {{int}} NOT NULL,
    -- The version that the file must have when the upload is complete; NULL: any.
    expected_version {{int}},
    -- The hash of the complete upload, as announced by the client; NULL: not announced.
    expected_sha256 {{bytes}},
    -- The hash of the complete upload, computed after the last byte.
    sha256 {{bytes}},
    created_by TEXT,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    -- Lease time.
    expires_at {{int}} NOT NULL,
    -- The only request that may write now, and until when (lease time); NULL: there is none.
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
