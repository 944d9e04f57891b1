-- SPDX-License-Identifier: Apache-2.0
-- Messages of a thread, their earlier versions, and what finds them by their words.

CREATE TABLE messages (
    -- Of the event that told of it: rises in every thread, and is never given twice.
    event_id {{int}} NOT NULL {{sqlite: PRIMARY KEY}},
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- Of the same event: the order of the thread, and the cursor of its pages.
    seq {{int}} NOT NULL,
    id {{uuid}} NOT NULL,
    -- A participant of the thread; NULL: the service that holds the key.
    sender_id {{uuid}},
    -- 'user', 'assistant' or 'service'.
    sender_role TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    metadata {{json}} NOT NULL,
    filenames {{json}} NOT NULL,
    run_id {{uuid}},
    -- The message that it answers; of a command-response: the command.
    responds_to {{uuid}},
    -- Of a command: the participant that it is addressed to, its name and its arguments.
    addressed_to {{uuid}},
    command {{json}},
    has_debug {{bool}} NOT NULL,
    -- Whether message_words has its words; who inserts it otherwise leaves that to the sweep.
    is_searchable {{bool}} NOT NULL DEFAULT {{sqlite: 0}}{{postgres: false}},
    -- A tombstone: content and metadata are empty, the history has what they were.
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

-- What a message was before each edit, and before its deletion.
CREATE TABLE message_versions (
    tenant_id {{uuid}} NOT NULL,
    message_id {{uuid}} NOT NULL,
    version {{int}} NOT NULL,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    metadata {{json}} NOT NULL,
    filenames {{json}} NOT NULL,
    debug {{json}},
    -- When this version was written.
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, message_id, version),
    FOREIGN KEY (tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE
);

-- The words of a message, as src/base/words.h cuts them, and before them one word each for its
-- tenant and its thread. These begin with '#', which no word of a text does: so the index itself
-- keeps tenants and threads apart. On SQLite who deletes messages deletes their words.
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
-- Row-level security keeps writers in their tenant. It cannot keep readers there: @@ is not
-- leakproof, so PostgreSQL would look at every row rather than at the index. What is found is
-- shown by way of messages, which has it.
ALTER TABLE message_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_words FORCE ROW LEVEL SECURITY;
CREATE POLICY any_reader ON message_words FOR SELECT USING (true);
CREATE POLICY own_tenant ON message_words USING
    (coalesce(current_setting('cairn.tenant', true) IN (tenant_id::text, '*'), false));
SELECT fence_by_tenant(name) FROM unnest(ARRAY['messages', 'message_debug',
    'message_versions']) AS name;
}}
