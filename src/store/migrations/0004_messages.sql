-- Messages of a thread, their earlier versions, and what finds them by their words.

CREATE TABLE messages (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- That of the event that told of it: the order of the thread, and the cursor of its pages.
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
    -- Of a command-response: the command.
    responds_to {{uuid}},
    -- Of a command: the participant that it is addressed to, its name and its arguments.
    addressed_to {{uuid}},
    command {{json}},
    has_debug {{bool}} NOT NULL,
    -- A tombstone: content and metadata are empty, the history has what they were.
    deleted_at {{int}},
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1
    {{postgres: , PRIMARY KEY (tenant_id, thread_id, seq)}},
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
{{sqlite: CREATE UNIQUE INDEX messages_by_thread ON messages (tenant_id, thread_id, seq);}}
CREATE UNIQUE INDEX messages_by_id ON messages (tenant_id, id);
CREATE INDEX messages_by_run ON messages (tenant_id, run_id, seq) WHERE run_id IS NOT NULL;

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

{{postgres:
SELECT fence_by_tenant(name) FROM unnest(ARRAY['messages', 'message_debug',
    'message_versions']) AS name;
}}
