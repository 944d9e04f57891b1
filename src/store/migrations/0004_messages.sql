-- SPDX-License-Identifier: Apache-2.0
-- Messages of a thread, their earlier versions, and their search index.

CREATE TABLE messages (
    -- The id of the event of the message: increases within every thread, and is never reused.
    event_id {{int}} NOT NULL {{sqlite: PRIMARY KEY}},
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- The seq of the same event: the order within the thread, and the cursor of its pages.
    seq {{int}} NOT NULL,
    id {{uuid}} NOT NULL,
    -- A participant of the thread; NULL: the service that owns the key.
    sender_id {{uuid}},
    -- 'user', 'assistant' or 'service'.
    sender_role TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    metadata {{json}} NOT NULL,
    filenames {{json}} NOT NULL,
    run_id {{uuid}},
    -- The message that this one answers; for a command-response, the command.
    responds_to {{uuid}},
    -- For a command: the participant that it is addressed to, its name and its arguments.
    addressed_to {{uuid}},
    command {{json}},
    has_debug {{bool}} NOT NULL,
    -- True if message_words has the words of the message; otherwise the sweep adds them.
    is_searchable {{bool}} NOT NULL DEFAULT {{sqlite: 0}}{{postgres: false}},
    -- A tombstone: content and metadata are empty, and the history has the former values.
    deleted_at {{int}},
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    {{postgres: PRIMARY KEY (tenant_id, thread_id, seq),}}
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
{{sqlite: CREATE UNIQUE INDEX messages_by_thread ON messages (tenant_id, thread_id, seq);}}
CREATE UNIQUE INDEX messages_by_id ON messages (tenant_id, id);
CREATE INDEX messages_by_run ON messages (tenant_id, run_id, seq) WHERE run_id IS NOT NULL;
CREATE INDEX messages_by_responds_to ON messages (tenant_id, responds_to, seq)
    WHERE responds_to IS NOT NULL;
CREATE INDEX messages_not_searchable ON messages (tenant_id, thread_id, seq)
    WHERE NOT is_searchable;

CREATE TABLE message_debug (
    tenant_id {{uuid}} NOT NULL,
    message_id {{uuid}} NOT NULL,
    debug {{json}} NOT NULL,
    PRIMARY KEY (tenant_id, message_id),
    FOREIGN KEY (tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE
);

-- The content of a message before each edit and before its deletion.
CREATE TABLE message_versions (
    tenant_id {{uuid}} NOT NULL,
    message_id {{uuid}} NOT NULL,
    version {{int}} NOT NULL,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    metadata {{json}} NOT NULL,
    filenames {{json}} NOT NULL,
    debug {{json}},
    -- The time at which this version was written.
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, message_id, version),
    FOREIGN KEY (tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE
);

-- The words of a message, split as in src/base/words.h, preceded by one word each for its tenant
-- and its thread. Those two begin with '#', which no word of a text does, so the index itself
-- separates tenants and threads. On SQLite, the statement that deletes messages also deletes their
-- words.
{{sqlite:
CREATE VIRTUAL TABLE message_words USING fts5(words, columnsize=0,
    tokenize="ascii tokenchars '#'");
}}{{postgres:
CREATE TABLE message_words (
    tenant_id uuid NOT NULL,
    event_id bigint NOT NULL,
    thread_id uuid NOT NULL,
    message_id uuid NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (tenant_id, event_id),
    FOREIGN KEY (tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX message_words_by_message ON message_words (tenant_id, message_id);
CREATE INDEX message_words_by_words ON message_words USING gin (words);
-- Row-level security restricts writers to their tenant. It cannot restrict readers: @@ is not
-- leakproof, so PostgreSQL would scan all rows instead of the index. Results are read through
-- messages, which has row-level security.
ALTER TABLE message_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_words FORCE ROW LEVEL SECURITY;
CREATE POLICY any_reader ON message_words FOR SELECT USING (true);
CREATE POLICY own_tenant ON message_words USING
    (coalesce(current_setting('cairn.tenant', true) IN (tenant_id::text, '*'), false));
SELECT fence_by_tenant(name) FROM unnest(ARRAY['messages', 'message_debug',
    'message_versions']) AS name;
}}
