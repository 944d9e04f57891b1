-- SPDX-License-Identifier: Apache-2.0
-- The execution record: the definition of an agent, its actions, and the data to resume or rewind
-- it.
--
-- Money is in whole picodollars (10^-12 of the currency), so a price per token and every sum are
-- exact. The nil id stands for "none" where a column is part of a key.

-- --- Agents ---------------------------------------------------------------------------------

-- 'agent', 'team' or 'workflow'.
ALTER TABLE agents ADD COLUMN kind TEXT NOT NULL DEFAULT 'agent';
-- An inactive agent starts no runs.
ALTER TABLE agents ADD COLUMN is_active {{bool}} NOT NULL DEFAULT true;
-- The version that new runs get; NULL: the agent has no definition.
ALTER TABLE agents ADD COLUMN active_version TEXT;

CREATE TABLE agent_versions (
    tenant_id {{uuid}} NOT NULL,
    agent_id {{uuid}} NOT NULL,
    -- The order of creation.
    number {{int}} NOT NULL,
    -- Semantic: "1.2.0".
    version TEXT NOT NULL,
    system_prompt {{json}} NOT NULL,
    workflow_graph {{json}},
    memory_config {{json}} NOT NULL,
    guardrail_config {{json}} NOT NULL,
    llm_config {{json}} NOT NULL,
    execution_config {{json}} NOT NULL,
    -- Bindings: [{"tool", "config_overrides", "is_enabled"}].
    tools {{json}} NOT NULL,
    description TEXT,
    created_by TEXT,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    -- The start of the first run of this version; from then on the version never changes.
    used_at {{int}},
    revision {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, agent_id, number),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX agent_versions_by_version ON agent_versions (tenant_id, agent_id, version);

-- The activations of versions with their times; a rollback activates the previous one.
CREATE TABLE agent_activations (
    tenant_id {{uuid}} NOT NULL,
    agent_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL,
    version TEXT NOT NULL,
    activated_by TEXT,
    activated_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, number),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE agent_links (
    tenant_id {{uuid}} NOT NULL,
    parent_id {{uuid}} NOT NULL,
    child_id {{uuid}} NOT NULL,
    role TEXT NOT NULL,
    position {{int}} NOT NULL,
    -- The version of the child; NULL: its active version.
    child_version TEXT,
    metadata {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, parent_id, child_id),
    FOREIGN KEY (tenant_id, parent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, child_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX agent_links_by_child ON agent_links (tenant_id, child_id);

-- --- Runs -----------------------------------------------------------------------------------

-- The agent and the agent version of the run; workers still claim the run by the name in `agent`.
ALTER TABLE runs ADD COLUMN agent_id {{uuid}};
ALTER TABLE runs ADD COLUMN agent_version TEXT;
-- The phase in the state machine of an instance, in addition to the status; NULL: older than
-- phases.
ALTER TABLE runs ADD COLUMN phase TEXT;
-- The number of phase changes; 0: the worker does not use phases.
ALTER TABLE runs ADD COLUMN phase_changes {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN model TEXT;
ALTER TABLE runs ADD COLUMN provider TEXT;
ALTER TABLE runs ADD COLUMN stop_reason TEXT;
-- The run and the checkpoint that the run was replayed from.
ALTER TABLE runs ADD COLUMN forked_from_run_id {{uuid}};
ALTER TABLE runs ADD COLUMN forked_from_checkpoint_id {{uuid}};
-- The number of turns and steps ever started, which is the number of the last one.
ALTER TABLE runs ADD COLUMN turn_count {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN step_count {{int}} NOT NULL DEFAULT 0;
-- The usage of the run itself, and of the run with its descendants (total_).
ALTER TABLE runs ADD COLUMN llm_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN output_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cache_creation_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cache_read_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cost_pico {{int}} NOT NULL DEFAULT 0;
-- Calls of models without a price; their cost is not included in the sums.
ALTER TABLE runs ADD COLUMN unpriced_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_llm_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_output_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cache_creation_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cache_read_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cost_pico {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_unpriced_calls {{int}} NOT NULL DEFAULT 0;
CREATE INDEX runs_by_agent ON runs (tenant_id, agent_id, id) WHERE agent_id IS NOT NULL;

-- The complete request of the run: a message with attachments, or an instruction to a team member.
ALTER TABLE run_documents ADD COLUMN request {{json}};
ALTER TABLE run_documents ADD COLUMN content TEXT;
ALTER TABLE run_documents ADD COLUMN content_type TEXT;
ALTER TABLE run_documents ADD COLUMN citations {{json}};
ALTER TABLE run_documents ADD COLUMN metrics {{json}};

-- Every change of phase.
CREATE TABLE run_phases (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL,
    from_phase TEXT NOT NULL,
    to_phase TEXT NOT NULL,
    trigger TEXT NOT NULL,
    detail {{json}},
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, run_id, number),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE turns (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    -- 1, 2, 3 within the run.
    number {{int}} NOT NULL,
    id {{uuid}} NOT NULL,
    -- A message, or the results of tools.
    input {{json}} NOT NULL,
    output {{json}},
    -- 'running', 'complete', 'awaiting_tool', 'awaiting_human', 'failed' or 'cancelled'.
    status TEXT NOT NULL,
    llm_calls {{int}} NOT NULL DEFAULT 0,
    tokens_in {{int}} NOT NULL DEFAULT 0,
    tokens_out {{int}} NOT NULL DEFAULT 0,
    cost_pico {{int}} NOT NULL DEFAULT 0,
    unpriced_calls {{int}} NOT NULL DEFAULT 0,
    latency_ms {{int}},
    checkpoint_id {{uuid}},
    created_at {{int}} NOT NULL,
    finished_at {{int}},
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, run_id, number),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX turns_by_id ON turns (tenant_id, id);

-- --- Values that are stored once --------------------------------------------------------------

-- A dictionary for the compression of items.
CREATE TABLE item_dictionaries (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    number {{int}} NOT NULL,
    bytes {{bytes}} NOT NULL,
    sha256 {{bytes}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

-- Pieces of JSON, each stored once in its tenant: a message, a member of a state.
CREATE TABLE items (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- The hash of the bytes before compression.
    sha256 {{bytes}} NOT NULL,
    -- The size before compression.
    size_bytes {{int}} NOT NULL,
    -- n > 0: zstd with dictionary n; -2: uncompressed; -3: zstd. Not yet tried with a dictionary:
    -- -1: uncompressed; 0: zstd.
    dictionary {{int}} NOT NULL,
    bytes {{bytes}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);
-- The items that the sweep still has to compress.
CREATE INDEX items_to_compress ON items (tenant_id, sha256) WHERE dictionary IN (-1, 0);
{{postgres: ALTER TABLE items ALTER COLUMN bytes SET STORAGE EXTERNAL;}}

-- A JSON document of a thread at one moment. Its manifest names all items, or only the changes
-- since another snapshot of the same thread. The rows outlive the thread: its deletion adds a row
-- to snapshot_garbage, and the sweep deletes the snapshots and the items that they refer to.
CREATE TABLE snapshots (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- NULL: the manifest is whole.
    base_id {{uuid}},
    -- The maximum number of snapshots between this one and a whole manifest.
    depth {{int}} NOT NULL,
    manifest {{bytes}} NOT NULL,
    -- The hash of the whole manifest, and so of the document, because the manifest has the hashes
    -- of its items.
    sha256 {{bytes}} NOT NULL,
    -- The size of the document in compact form, as clients receive it.
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    -- Only snapshots that have this one as their base refer to it.
    dropped_at {{int}},
    -- The base was dropped: at this time the manifest is made whole, so that the base can be
    -- deleted.
    rebase_at {{int}},
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX snapshots_by_thread ON snapshots (tenant_id, thread_id, id);
CREATE INDEX snapshots_by_base ON snapshots (tenant_id, base_id) WHERE base_id IS NOT NULL;
CREATE INDEX snapshots_to_rebase ON snapshots (rebase_at) WHERE rebase_at IS NOT NULL;

-- Deleted threads whose snapshots are not deleted yet.
CREATE TABLE snapshot_garbage (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    thread_id {{uuid}} NOT NULL,
    added_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id)
);

-- The items named by the manifest of a snapshot, without those of its base.
CREATE TABLE snapshot_items (
    tenant_id {{uuid}} NOT NULL,
    snapshot_id {{uuid}} NOT NULL,
    sha256 {{bytes}} NOT NULL,
    PRIMARY KEY (tenant_id, snapshot_id, sha256),
    FOREIGN KEY (tenant_id, snapshot_id) REFERENCES snapshots (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, sha256) REFERENCES items (tenant_id, sha256)
);
CREATE INDEX snapshot_items_by_item ON snapshot_items (tenant_id, sha256);

-- Items that may be unreferenced.
CREATE TABLE item_doubts (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    sha256 {{bytes}} NOT NULL,
    added_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);

-- --- Checkpoints ----------------------------------------------------------------------------

CREATE TABLE checkpoints (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- '' for the outermost graph, "child:id" for one inside it.
    namespace TEXT {{postgres: COLLATE "C"}} NOT NULL,
    id {{uuid}} NOT NULL,
    parent_id {{uuid}},
    run_id {{uuid}},
    -- 1, 2, 3 within the thread, across namespaces: the order in which they were stored.
    sequence_num {{int}} NOT NULL,
    -- The snapshot of the channel values.
    snapshot_id {{uuid}} NOT NULL,
    channel_versions {{json}} NOT NULL,
    versions_seen {{json}} NOT NULL,
    pending_sends {{json}} NOT NULL,
    metadata {{json}} NOT NULL,
    -- The node of the graph, for lists.
    node TEXT,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id, namespace, id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX checkpoints_by_sequence ON checkpoints (tenant_id, thread_id, sequence_num);
CREATE INDEX checkpoints_by_namespace
    ON checkpoints (tenant_id, thread_id, namespace, sequence_num);
CREATE INDEX checkpoints_by_run ON checkpoints (tenant_id, run_id, sequence_num)
    WHERE run_id IS NOT NULL;
CREATE INDEX checkpoints_by_parent ON checkpoints (tenant_id, thread_id, namespace, parent_id);
CREATE INDEX checkpoints_by_snapshot ON checkpoints (tenant_id, snapshot_id);

-- The writes of tasks for the next checkpoint; the first write at a position wins. Writes may be
-- stored before their checkpoint.
CREATE TABLE checkpoint_writes (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    namespace TEXT {{postgres: COLLATE "C"}} NOT NULL,
    checkpoint_id {{uuid}} NOT NULL,
    task_id TEXT {{postgres: COLLATE "C"}} NOT NULL,
    position {{int}} NOT NULL,
    task_path TEXT NOT NULL,
    channel TEXT NOT NULL,
    value {{json}} NOT NULL,
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id, namespace, checkpoint_id, task_id, position),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- --- Steps ----------------------------------------------------------------------------------

-- The steps of a run that an engine logs. A log_id is never reused, even if the newest steps were
-- deleted: SQLite stores the greatest one.
{{postgres: CREATE SEQUENCE step_ids;}}
CREATE TABLE steps (
    {{sqlite: log_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,}}
    {{postgres: log_id bigint NOT NULL DEFAULT nextval('step_ids'),}}
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    -- 1, 2, 3 within the run: the order in which they were appended.
    number {{int}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    agent_id {{uuid}},
    turn_id {{uuid}},
    -- The time of the step according to the engine.
    at {{int}} NOT NULL,
    -- 0 before the loop, then the iteration.
    step_number {{int}},
    action_type TEXT NOT NULL,
    action_data {{json}} NOT NULL,
    messages_snapshot_id {{uuid}},
    messages_count {{int}},
    estimated_tokens {{int}},
    duration_ms {{int}},
    -- For a call of a tool.
    tool_name TEXT,
    tool_use_id TEXT,
    -- 'success' or 'error', where the action has an outcome.
    outcome TEXT,
    -- For a call of a model.
    model TEXT,
    provider TEXT,
    input_tokens {{int}},
    output_tokens {{int}},
    cache_creation_input_tokens {{int}},
    cache_read_input_tokens {{int}},
    -- NULL: the call has no price.
    cost_pico {{int}},
    price_version {{int}},
    created_at {{int}} NOT NULL,
    {{postgres: PRIMARY KEY (tenant_id, run_id, number),}}
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);
{{sqlite: CREATE UNIQUE INDEX steps_by_run ON steps (tenant_id, run_id, number);}}
CREATE UNIQUE INDEX steps_by_id ON steps (tenant_id, log_id);
-- Lists across runs show the newest first; each filter has its own index.
CREATE INDEX steps_by_time ON steps (tenant_id, at, log_id);
CREATE INDEX steps_by_type ON steps (tenant_id, action_type, at, log_id);
CREATE INDEX steps_by_thread ON steps (tenant_id, thread_id, at, log_id);
CREATE INDEX steps_by_agent ON steps (tenant_id, agent_id, at, log_id) WHERE agent_id IS NOT NULL;
CREATE INDEX steps_by_tool ON steps (tenant_id, tool_name, at, log_id)
    WHERE tool_name IS NOT NULL;
CREATE INDEX steps_by_model ON steps (tenant_id, model, at, log_id) WHERE model IS NOT NULL;
CREATE INDEX steps_of_errors ON steps (tenant_id, outcome, at, log_id) WHERE outcome = 'error';
-- The base of the next snapshot of a run.
CREATE INDEX steps_by_snapshot ON steps (tenant_id, run_id, number)
    WHERE messages_snapshot_id IS NOT NULL;
{{sqlite: INSERT INTO sqlite_sequence (name, seq) VALUES ('steps', 0);}}

-- --- Resumption, awaited tools, history -------------------------------------------------------

-- The data that an engine needs to continue a thread.
CREATE TABLE resumptions (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    agent_id {{uuid}},
    system_prompt TEXT NOT NULL,
    model TEXT NOT NULL,
    max_steps {{int}} NOT NULL,
    thinking_tokens {{int}} NOT NULL,
    max_tokens {{int}} NOT NULL,
    container_id TEXT,
    -- The compacted messages; NULL: none yet.
    messages_snapshot_id {{uuid}},
    tool_schemas {{json}} NOT NULL,
    server_tools {{json}} NOT NULL,
    beta_headers {{json}} NOT NULL,
    api_kwargs {{json}} NOT NULL,
    formatter TEXT,
    stream_meta_history_and_tool_results {{bool}} NOT NULL,
    compactor_type TEXT,
    memory_store_type TEXT,
    file_registry {{json}} NOT NULL,
    extras {{json}} NOT NULL,
    max_retries {{int}} NOT NULL,
    base_delay_ms {{int}} NOT NULL,
    last_known_input_tokens {{int}} NOT NULL DEFAULT 0,
    last_known_output_tokens {{int}} NOT NULL DEFAULT 0,
    current_step {{int}} NOT NULL DEFAULT 0,
    -- For an interrupted run: the conversation that its history entry will have.
    history_snapshot_id {{uuid}},
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, thread_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- Tools whose results a run awaits. The rows remain when the results have arrived.
CREATE TABLE awaited_tools (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    tool_use_id TEXT {{postgres: COLLATE "C"}} NOT NULL,
    -- The order in which the tools were requested; each pause has a number of its own.
    pause {{int}} NOT NULL,
    position {{int}} NOT NULL,
    -- Where the tool runs: 'frontend' or 'backend'.
    side TEXT NOT NULL,
    name TEXT NOT NULL,
    input {{json}} NOT NULL,
    result {{json}},
    is_error {{bool}},
    created_at {{int}} NOT NULL,
    result_at {{int}},
    result_by TEXT,
    PRIMARY KEY (tenant_id, run_id, tool_use_id),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX awaited_tools_open ON awaited_tools (tenant_id, run_id) WHERE result_at IS NULL;

-- One entry for each finished run of a thread that has no parent.
CREATE TABLE history_entries (
    tenant_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- 1, 2, 3 within the thread.
    sequence_number {{int}} NOT NULL,
    id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    agent_id {{uuid}},
    started_at {{int}} NOT NULL,
    completed_at {{int}} NOT NULL,
    user_message TEXT NOT NULL,
    final_response TEXT,
    -- The complete conversation of the run, not compacted; NULL: the engine did not provide it.
    messages_snapshot_id {{uuid}},
    stop_reason TEXT,
    total_steps {{int}} NOT NULL,
    input_tokens {{int}} NOT NULL,
    output_tokens {{int}} NOT NULL,
    cache_creation_input_tokens {{int}} NOT NULL,
    cache_read_input_tokens {{int}} NOT NULL,
    cost {{json}} NOT NULL,
    generated_files {{json}} NOT NULL,
    extras {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, thread_id, sequence_number),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX history_entries_by_id ON history_entries (tenant_id, id);
CREATE UNIQUE INDEX history_entries_by_run ON history_entries (tenant_id, run_id);
CREATE INDEX history_entries_by_start ON history_entries (tenant_id, started_at);

-- --- Prices, usage, evaluations -------------------------------------------------------------

-- Prices of models. Each version applies until the next one. Picodollars per token.
CREATE TABLE prices (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    model TEXT {{postgres: COLLATE "C"}} NOT NULL,
    version {{int}} NOT NULL,
    provider TEXT,
    currency TEXT NOT NULL,
    input_pico {{int}} NOT NULL,
    output_pico {{int}} NOT NULL,
    cache_write_pico {{int}} NOT NULL,
    cache_read_pico {{int}} NOT NULL,
    -- Above this number of input tokens, including cached ones, the long rates apply; NULL: never.
    long_context_tokens {{int}},
    long_input_pico {{int}},
    long_output_pico {{int}},
    long_cache_write_pico {{int}},
    long_cache_read_pico {{int}},
    -- The model has no price from this version on.
    deleted {{bool}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, model, version)
);

-- The usage of a run itself, and its cost, by model and price version.
CREATE TABLE run_usage (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    -- '' if unknown.
    model TEXT {{postgres: COLLATE "C"}} NOT NULL,
    provider TEXT {{postgres: COLLATE "C"}} NOT NULL,
    -- 0: there was no price.
    price_version {{int}} NOT NULL,
    llm_calls {{int}} NOT NULL,
    long_context_calls {{int}} NOT NULL,
    input_tokens {{int}} NOT NULL,
    output_tokens {{int}} NOT NULL,
    cache_creation_input_tokens {{int}} NOT NULL,
    cache_read_input_tokens {{int}} NOT NULL,
    input_cost_pico {{int}} NOT NULL,
    output_cost_pico {{int}} NOT NULL,
    cache_write_cost_pico {{int}} NOT NULL,
    cache_read_cost_pico {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, run_id, model, provider, price_version),
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);

-- Sums for each day (UTC, counted from 1970). Concurrent writers use different slots, so that they
-- do not wait for each other; readers add the slots up.
CREATE TABLE usage_days (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    day {{int}} NOT NULL,
    -- The nil id: runs without an agent.
    agent_id {{uuid}} NOT NULL,
    -- '' if unknown.
    model TEXT {{postgres: COLLATE "C"}} NOT NULL,
    provider TEXT {{postgres: COLLATE "C"}} NOT NULL,
    slot {{int}} NOT NULL,
    -- Runs are counted only under the model '', so that the sums of all models are correct.
    runs_started {{int}} NOT NULL DEFAULT 0,
    runs_completed {{int}} NOT NULL DEFAULT 0,
    runs_failed {{int}} NOT NULL DEFAULT 0,
    runs_cancelled {{int}} NOT NULL DEFAULT 0,
    llm_calls {{int}} NOT NULL DEFAULT 0,
    input_tokens {{int}} NOT NULL DEFAULT 0,
    output_tokens {{int}} NOT NULL DEFAULT 0,
    cache_creation_input_tokens {{int}} NOT NULL DEFAULT 0,
    cache_read_input_tokens {{int}} NOT NULL DEFAULT 0,
    cost_pico {{int}} NOT NULL DEFAULT 0,
    unpriced_calls {{int}} NOT NULL DEFAULT 0,
    updated_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, day, agent_id, model, provider, slot)
);

CREATE TABLE eval_runs (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    name TEXT NOT NULL,
    eval_type TEXT NOT NULL,
    agent_id {{uuid}},
    agent_version TEXT,
    -- The evaluated run, if there is one.
    run_id {{uuid}},
    model TEXT,
    provider TEXT,
    evaluated_name TEXT,
    eval_input {{json}} NOT NULL,
    eval_data {{json}} NOT NULL,
    -- Millionths: 1000000 is the maximum; NULL: the evaluation has no score.
    score_micro {{int}},
    passed {{bool}},
    metadata {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX eval_runs_by_agent ON eval_runs (tenant_id, agent_id, id) WHERE agent_id IS NOT NULL;
CREATE INDEX eval_runs_by_run ON eval_runs (tenant_id, run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX eval_runs_by_type ON eval_runs (tenant_id, eval_type, id);

-- --- Notebooks ------------------------------------------------------------------------------

CREATE TABLE notebook_records (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    -- 1, 2, 3 within the tenant, shown to users.
    number {{int}} NOT NULL,
    title TEXT NOT NULL,
    description TEXT,
    instructions TEXT,
    metadata {{json}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX notebook_records_by_number ON notebook_records (tenant_id, number);

-- A thread is in at most one notebook.
CREATE TABLE notebook_threads (
    tenant_id {{uuid}} NOT NULL,
    notebook_id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    number {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, notebook_id, thread_id),
    FOREIGN KEY (tenant_id, notebook_id)
        REFERENCES notebook_records (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX notebook_threads_by_thread ON notebook_threads (tenant_id, thread_id);
CREATE INDEX notebook_threads_in_order ON notebook_threads (tenant_id, notebook_id, number);
CREATE UNIQUE INDEX notebook_threads_by_number ON notebook_threads (tenant_id, number);

-- --- Memoria's view -------------------------------------------------------------------------

-- Kinds of events that only Cairn has are hidden from readers of Memoria.
{{sqlite:
DROP VIEW workflow_events;
CREATE VIEW workflow_events AS SELECT
    id,
    lower(substr(hex(thread_id), 1, 8) || '-' || substr(hex(thread_id), 9, 4)
        || '-' || substr(hex(thread_id), 13, 4) || '-' || substr(hex(thread_id), 17, 4)
        || '-' || substr(hex(thread_id), 21)) AS workflow_id,
    CASE WHEN run_id IS NOT NULL THEN
        lower(substr(hex(run_id), 1, 8) || '-' || substr(hex(run_id), 9, 4)
        || '-' || substr(hex(run_id), 13, 4) || '-' || substr(hex(run_id), 17, 4)
        || '-' || substr(hex(run_id), 21)) END AS run_id,
    CASE WHEN kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE kind END AS kind,
    text, payload,
    strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000000.0, 'unixepoch') AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq)
    AND (kind IN ('conversation.created', 'conversation.deleted')
        OR substr(kind, 1, instr(kind, '.')) NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.',
                'run.', 'turn.', 'steps.', 'checkpoint.', 'tool.', 'resumption.', 'history.'));
}}
{{postgres:
CREATE OR REPLACE VIEW workflow_events AS SELECT
    id, thread_id AS workflow_id, run_id,
    CASE WHEN kind IN ('conversation.created', 'conversation.deleted') THEN 'status'
        ELSE kind END AS kind,
    text, as_jsonb(payload) AS payload,
    to_timestamp(created_at / 1000000.0) AS created_at
FROM events WHERE NOT EXISTS (SELECT 1 FROM event_garbage AS g
    WHERE g.tenant_id = events.tenant_id AND g.thread_id = events.thread_id
        AND g.through_seq >= events.seq)
    AND (kind IN ('conversation.created', 'conversation.deleted')
        OR split_part(kind, '.', 1) || '.' NOT IN
            ('conversation.', 'participant.', 'message.', 'file.', 'assistant.',
                'run.', 'turn.', 'steps.', 'checkpoint.', 'tool.', 'resumption.', 'history.'));
}}

{{postgres:
SELECT fence_by_tenant(name) FROM unnest(ARRAY['agent_versions', 'agent_activations',
    'agent_links', 'run_phases', 'turns', 'item_dictionaries', 'items', 'snapshots',
    'snapshot_items', 'snapshot_garbage', 'item_doubts', 'checkpoints', 'checkpoint_writes',
    'steps', 'resumptions', 'awaited_tools', 'history_entries', 'prices', 'run_usage',
    'usage_days', 'eval_runs',
    'notebook_records', 'notebook_threads']) AS name;
}}
