-- SPDX-License-Identifier: Apache-2.0
-- The execution record: what an agent is, what it did, and how to resume or rewind it.
--
-- Money is whole picodollars (10^-12 of the currency): a price per token is exact, and so is every
-- sum. The nil id stands for "none" where a column is part of a key.

-- --- Agents ---------------------------------------------------------------------------------

-- 'agent', 'team' or 'workflow'.
ALTER TABLE agents ADD COLUMN kind TEXT NOT NULL DEFAULT 'agent';
-- No run starts of an agent that is not.
ALTER TABLE agents ADD COLUMN is_active {{bool}} NOT NULL DEFAULT true;
-- The version that new runs get; NULL: it has no definition.
ALTER TABLE agents ADD COLUMN active_version TEXT;

CREATE TABLE agent_versions (
    tenant_id {{uuid}} NOT NULL,
    agent_id {{uuid}} NOT NULL,
    -- The order in which they were made.
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
    -- When the first run of it began: from then on it never changes.
    used_at {{int}},
    revision {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, agent_id, number),
    FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX agent_versions_by_version ON agent_versions (tenant_id, agent_id, version);

-- Which version was the active one, since when: what a rollback goes back to.
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
    -- The version of the child that is meant; NULL: its active one.
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

-- The agent, and the version of it, that the run is of; `agent` stays the name to claim it by.
ALTER TABLE runs ADD COLUMN agent_id {{uuid}};
ALTER TABLE runs ADD COLUMN agent_version TEXT;
-- Where it is in the state machine of an instance, beside its status; NULL: older than phases.
ALTER TABLE runs ADD COLUMN phase TEXT;
-- How often the phase changed; 0: whoever works on the run does not use phases.
ALTER TABLE runs ADD COLUMN phase_changes {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN model TEXT;
ALTER TABLE runs ADD COLUMN provider TEXT;
ALTER TABLE runs ADD COLUMN stop_reason TEXT;
-- Where it was replayed from.
ALTER TABLE runs ADD COLUMN forked_from_run_id {{uuid}};
ALTER TABLE runs ADD COLUMN forked_from_checkpoint_id {{uuid}};
-- How many turns and steps were ever begun: the next one's number.
ALTER TABLE runs ADD COLUMN turn_count {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN step_count {{int}} NOT NULL DEFAULT 0;
-- What the run used itself, and with its descendants (total_).
ALTER TABLE runs ADD COLUMN llm_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN output_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cache_creation_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cache_read_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cost_pico {{int}} NOT NULL DEFAULT 0;
-- Calls of models that had no price: their cost is in no sum.
ALTER TABLE runs ADD COLUMN unpriced_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_llm_calls {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_output_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cache_creation_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cache_read_input_tokens {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_cost_pico {{int}} NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN total_unpriced_calls {{int}} NOT NULL DEFAULT 0;
CREATE INDEX runs_by_agent ON runs (tenant_id, agent_id, id) WHERE agent_id IS NOT NULL;

-- What asked for the run, whole: a message with attachments, an instruction to a member of a team.
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

-- --- Values that are kept once --------------------------------------------------------------

-- A dictionary that items are compressed with.
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
    -- Of the bytes before compression.
    sha256 {{bytes}} NOT NULL,
    -- Before compression.
    size_bytes {{int}} NOT NULL,
    -- n > 0: zstd with dictionary n; -2: as it is; -3: zstd. Not yet looked at with a dictionary:
    -- -1: as it is; 0: zstd.
    dictionary {{int}} NOT NULL,
    bytes {{bytes}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, sha256)
);
-- What the sweep has yet to compress.
CREATE INDEX items_to_compress ON items (tenant_id, sha256) WHERE dictionary IN (-1, 0);
{{postgres: ALTER TABLE items ALTER COLUMN bytes SET STORAGE EXTERNAL;}}

-- A JSON document of a thread at one moment: its manifest names items, whole or as what changed
-- since another snapshot of the same thread. Rows outlive the thread, whose deletion notes it in
-- snapshot_garbage, until the sweep has looked at what they refer to.
CREATE TABLE snapshots (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    id {{uuid}} NOT NULL,
    thread_id {{uuid}} NOT NULL,
    -- NULL: the manifest is whole.
    base_id {{uuid}},
    -- At most so many others lie between this one and a whole manifest.
    depth {{int}} NOT NULL,
    manifest {{bytes}} NOT NULL,
    -- Of the manifest when it is whole, and so of the document, by the hashes of its items.
    sha256 {{bytes}} NOT NULL,
    -- Of the document as it is answered, compact.
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    -- Nothing refers to it any more but those that have it as their base.
    dropped_at {{int}},
    -- Its base was dropped: when its manifest becomes whole, so that the base can go.
    rebase_at {{int}},
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX snapshots_by_thread ON snapshots (tenant_id, thread_id, id);
CREATE INDEX snapshots_by_base ON snapshots (tenant_id, base_id) WHERE base_id IS NOT NULL;
CREATE INDEX snapshots_to_rebase ON snapshots (rebase_at) WHERE rebase_at IS NOT NULL;

-- Threads that are gone and whose snapshots are not, yet.
CREATE TABLE snapshot_garbage (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    thread_id {{uuid}} NOT NULL,
    added_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, thread_id)
);

-- The items that the manifest of a snapshot names: those that it has and its base has not.
CREATE TABLE snapshot_items (
    tenant_id {{uuid}} NOT NULL,
    snapshot_id {{uuid}} NOT NULL,
    sha256 {{bytes}} NOT NULL,
    PRIMARY KEY (tenant_id, snapshot_id, sha256),
    FOREIGN KEY (tenant_id, snapshot_id) REFERENCES snapshots (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, sha256) REFERENCES items (tenant_id, sha256)
);
CREATE INDEX snapshot_items_by_item ON snapshot_items (tenant_id, sha256);

-- Items that perhaps nothing refers to any more.
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
    -- 1, 2, 3 within the thread, whatever the namespace: the order in which they were put.
    sequence_num {{int}} NOT NULL,
    -- Of the channel values.
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

-- What tasks have written towards the checkpoint after this one; the first to write one wins. They
-- may come before the checkpoint itself.
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

-- What an engine logs of a run. A log_id is never given twice, also when the newest steps are gone:
-- SQLite remembers the greatest one.
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
    -- When it happened, as the engine says.
    at {{int}} NOT NULL,
    -- 0 before the loop, then the iteration.
    step_number {{int}},
    action_type TEXT NOT NULL,
    action_data {{json}} NOT NULL,
    messages_snapshot_id {{uuid}},
    messages_count {{int}},
    estimated_tokens {{int}},
    duration_ms {{int}},
    -- Of a call of a tool.
    tool_name TEXT,
    tool_use_id TEXT,
    -- 'success' or 'error', where the action has an outcome.
    outcome TEXT,
    -- Of a call of a model.
    model TEXT,
    provider TEXT,
    input_tokens {{int}},
    output_tokens {{int}},
    cache_creation_input_tokens {{int}},
    cache_read_input_tokens {{int}},
    -- NULL: it has no price.
    cost_pico {{int}},
    price_version {{int}},
    created_at {{int}} NOT NULL,
    {{postgres: PRIMARY KEY (tenant_id, run_id, number),}}
    FOREIGN KEY (tenant_id, run_id) REFERENCES runs (tenant_id, id) ON DELETE CASCADE
);
{{sqlite: CREATE UNIQUE INDEX steps_by_run ON steps (tenant_id, run_id, number);}}
CREATE UNIQUE INDEX steps_by_id ON steps (tenant_id, log_id);
-- Lists across runs go newest first, each filter by its own index.
CREATE INDEX steps_by_time ON steps (tenant_id, at, log_id);
CREATE INDEX steps_by_type ON steps (tenant_id, action_type, at, log_id);
CREATE INDEX steps_by_thread ON steps (tenant_id, thread_id, at, log_id);
CREATE INDEX steps_by_agent ON steps (tenant_id, agent_id, at, log_id) WHERE agent_id IS NOT NULL;
CREATE INDEX steps_by_tool ON steps (tenant_id, tool_name, at, log_id)
    WHERE tool_name IS NOT NULL;
CREATE INDEX steps_by_model ON steps (tenant_id, model, at, log_id) WHERE model IS NOT NULL;
CREATE INDEX steps_of_errors ON steps (tenant_id, outcome, at, log_id) WHERE outcome = 'error';
-- What the next snapshot of a run builds on.
CREATE INDEX steps_by_snapshot ON steps (tenant_id, run_id, number)
    WHERE messages_snapshot_id IS NOT NULL;
{{sqlite: INSERT INTO sqlite_sequence (name, seq) VALUES ('steps', 0);}}

-- --- Resumption, tools that are waited for, history -----------------------------------------

-- What an engine needs to go on with a thread where it stopped.
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
    -- Of the run that was interrupted, what its result will hold.
    history_snapshot_id {{uuid}},
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    version {{int}} NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, thread_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES threads (tenant_id, id) ON DELETE CASCADE
);

-- Tools whose results a run waits for. They stay when the results are in.
CREATE TABLE awaited_tools (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    tool_use_id TEXT {{postgres: COLLATE "C"}} NOT NULL,
    -- The order in which they were asked for; each pause has a number of its own.
    pause {{int}} NOT NULL,
    position {{int}} NOT NULL,
    -- Who runs it: 'frontend' or 'backend'.
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

-- One entry for each finished run of a thread that is nobody's child.
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
    -- The whole conversation of the run, not compacted; NULL: the engine did not say.
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

-- Of a model, each version as long as it was the newest. Picodollars for a token.
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
    -- Above so many tokens of input, what was cached included, the long rates count; NULL: never.
    long_context_tokens {{int}},
    long_input_pico {{int}},
    long_output_pico {{int}},
    long_cache_write_pico {{int}},
    long_cache_read_pico {{int}},
    -- It has no price from here on.
    deleted {{bool}} NOT NULL,
    created_at {{int}} NOT NULL,
    PRIMARY KEY (tenant_id, model, version)
);

-- What a run itself used of a model, and what that cost under each version of the model's price.
CREATE TABLE run_usage (
    tenant_id {{uuid}} NOT NULL,
    run_id {{uuid}} NOT NULL,
    -- '' where it is not known.
    model TEXT {{postgres: COLLATE "C"}} NOT NULL,
    provider TEXT {{postgres: COLLATE "C"}} NOT NULL,
    -- 0: it had no price.
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

-- Sums for each day (UTC, counted from 1970). Who writes at the same time writes to different
-- slots, so that nobody waits; who reads adds them up.
CREATE TABLE usage_days (
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    day {{int}} NOT NULL,
    -- The nil id: runs of no agent.
    agent_id {{uuid}} NOT NULL,
    -- '' where it is not known.
    model TEXT {{postgres: COLLATE "C"}} NOT NULL,
    provider TEXT {{postgres: COLLATE "C"}} NOT NULL,
    slot {{int}} NOT NULL,
    -- Runs are counted under the model '' alone, so that they can be added up.
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
    -- The run that was judged, if there is one.
    run_id {{uuid}},
    model TEXT,
    provider TEXT,
    evaluated_name TEXT,
    eval_input {{json}} NOT NULL,
    eval_data {{json}} NOT NULL,
    -- Millionths: 1000000 is all of what can be had; NULL: it is no matter of a score.
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
    -- 1, 2, 3 within the tenant, for people.
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

-- A thread is in one notebook at most.
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

-- Of what Cairn tells in words of its own, Memoria's readers hear nothing.
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
