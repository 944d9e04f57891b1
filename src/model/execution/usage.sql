-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, id uuid, turn_id uuid, agent_id uuid, model text, provider text, day int
-- types: price_version int, long_context_calls int, input_tokens int, output_tokens int
-- types: cache_creation int, cache_read int, all_input int, input_cost int, output_cost int
-- types: cache_write_cost int, cache_read_cost int, cost int, cost_max int, unpriced int
-- types: started int, completed int, failed int, cancelled int, now int
-- types: from_day int, to_day int, by_day bool, by_model bool, by_provider bool, by_agent bool
-- types: after_day int, after_model text, after_provider text, after_agent uuid
-- types: has_after bool, since int, after uuid, limit int

-- The run and its ancestors, in this order.
-- name: usage_lineage
WITH RECURSIVE line (id, parent_run_id, agent_id, model, provider, total_cost_pico, depth) AS (
    SELECT id, parent_run_id, agent_id, model, provider, total_cost_pico, depth FROM runs
    WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL
    SELECT r.id, r.parent_run_id, r.agent_id, r.model, r.provider, r.total_cost_pico, r.depth
    FROM line CROSS JOIN runs AS r WHERE r.tenant_id = :tenant_id AND r.id = line.parent_run_id)
SELECT agent_id, model, provider, total_cost_pico FROM line ORDER BY depth DESC;

-- define add_to_total: total_llm_calls = total_llm_calls + 1,
--   | total_input_tokens = total_input_tokens + :input_tokens,
--   | total_output_tokens = total_output_tokens + :output_tokens,
--   | total_cache_creation_input_tokens = total_cache_creation_input_tokens + :cache_creation,
--   | total_cache_read_input_tokens = total_cache_read_input_tokens + :cache_read,
--   | total_cost_pico = total_cost_pico + :cost,
--   | total_unpriced_calls = total_unpriced_calls + :unpriced

-- name: usage_add_to_run
UPDATE runs SET llm_calls = llm_calls + 1, input_tokens = input_tokens + :input_tokens,
    output_tokens = output_tokens + :output_tokens,
    cache_creation_input_tokens = cache_creation_input_tokens + :cache_creation,
    cache_read_input_tokens = cache_read_input_tokens + :cache_read,
    cost_pico = cost_pico + :cost, unpriced_calls = unpriced_calls + :unpriced, {{add_to_total}}
WHERE tenant_id = :tenant_id AND id = :id;

-- name: usage_add_to_ancestors
UPDATE runs SET {{add_to_total}}
WHERE tenant_id = :tenant_id AND id IN (
    WITH RECURSIVE line (id) AS (
        SELECT parent_run_id FROM runs WHERE tenant_id = :tenant_id AND id = :id
        UNION ALL
        SELECT r.parent_run_id FROM line CROSS JOIN runs AS r
        WHERE r.tenant_id = :tenant_id AND r.id = line.id)
    SELECT id FROM line WHERE id IS NOT NULL);

-- name: usage_add_to_turn
UPDATE turns SET llm_calls = llm_calls + 1, tokens_in = tokens_in + :all_input,
    tokens_out = tokens_out + :output_tokens, cost_pico = cost_pico + :cost,
    unpriced_calls = unpriced_calls + :unpriced
WHERE tenant_id = :tenant_id AND run_id = :id AND id = :turn_id;

-- name: usage_add_to_model
INSERT INTO run_usage AS u (tenant_id, run_id, model, provider, price_version, llm_calls,
    long_context_calls, input_tokens, output_tokens, cache_creation_input_tokens,
    cache_read_input_tokens, input_cost_pico, output_cost_pico, cache_write_cost_pico,
    cache_read_cost_pico)
VALUES (:tenant_id, :id, :model, :provider, :price_version, 1, :long_context_calls, :input_tokens,
    :output_tokens, :cache_creation, :cache_read, :input_cost, :output_cost, :cache_write_cost,
    :cache_read_cost)
ON CONFLICT (tenant_id, run_id, model, provider, price_version) DO UPDATE SET
    llm_calls = u.llm_calls + 1,
    long_context_calls = u.long_context_calls + excluded.long_context_calls,
    input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cache_creation_input_tokens =
        u.cache_creation_input_tokens + excluded.cache_creation_input_tokens,
    cache_read_input_tokens = u.cache_read_input_tokens + excluded.cache_read_input_tokens,
    input_cost_pico = u.input_cost_pico + excluded.input_cost_pico,
    output_cost_pico = u.output_cost_pico + excluded.output_cost_pico,
    cache_write_cost_pico = u.cache_write_cost_pico + excluded.cache_write_cost_pico,
    cache_read_cost_pico = u.cache_read_cost_pico + excluded.cache_read_cost_pico;

-- Each connection writes to its own row, so concurrent writers do not wait for each other.
-- define slot: {{sqlite: 0}} {{postgres: pg_backend_pid() % 256}}

-- Changes nothing if the sum would exceed :cost_max.
-- name: usage_add_to_day
INSERT INTO usage_days AS u (tenant_id, day, agent_id, model, provider, slot, llm_calls,
    input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens, cost_pico,
    unpriced_calls, updated_at)
VALUES (:tenant_id, :day, :agent_id, :model, :provider, {{slot}}, 1, :input_tokens,
    :output_tokens, :cache_creation, :cache_read, :cost, :unpriced, :now)
ON CONFLICT (tenant_id, day, agent_id, model, provider, slot) DO UPDATE SET
    llm_calls = u.llm_calls + 1,
    input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens,
    cache_creation_input_tokens =
        u.cache_creation_input_tokens + excluded.cache_creation_input_tokens,
    cache_read_input_tokens = u.cache_read_input_tokens + excluded.cache_read_input_tokens,
    cost_pico = u.cost_pico + excluded.cost_pico,
    unpriced_calls = u.unpriced_calls + excluded.unpriced_calls,
    updated_at = excluded.updated_at
WHERE u.cost_pico <= :cost_max - excluded.cost_pico;

-- The agent is that of the run.
-- name: usage_count_runs
INSERT INTO usage_days AS u (tenant_id, day, agent_id, model, provider, slot, runs_started,
    runs_completed, runs_failed, runs_cancelled, updated_at)
SELECT r.tenant_id, :day, coalesce(r.agent_id, :agent_id), '', '', {{slot}}, :started, :completed,
    :failed, :cancelled, :now
FROM runs AS r WHERE r.tenant_id = :tenant_id AND r.id = :id
ON CONFLICT (tenant_id, day, agent_id, model, provider, slot) DO UPDATE SET
    runs_started = u.runs_started + excluded.runs_started,
    runs_completed = u.runs_completed + excluded.runs_completed,
    runs_failed = u.runs_failed + excluded.runs_failed,
    runs_cancelled = u.runs_cancelled + excluded.runs_cancelled,
    updated_at = excluded.updated_at;

-- --- Queries ----------------------------------------------------------------------------------

-- define total: {{postgres: CAST(coalesce(sum(}} {{sqlite: (coalesce(sum(}}
-- define as_int: {{postgres: ), 0) AS bigint)}} {{sqlite: ), 0))}}

-- name: usage_of_tree
WITH RECURSIVE tree (id) AS (
    SELECT id FROM runs WHERE tenant_id = :tenant_id AND id = :id
    UNION ALL
    SELECT r.id FROM tree CROSS JOIN runs AS r
    WHERE r.tenant_id = :tenant_id AND r.parent_run_id = tree.id)
SELECT u.model, u.provider, u.price_version, {{total}} u.llm_calls {{as_int}},
    {{total}} u.long_context_calls {{as_int}}, {{total}} u.input_tokens {{as_int}},
    {{total}} u.output_tokens {{as_int}}, {{total}} u.cache_creation_input_tokens {{as_int}},
    {{total}} u.cache_read_input_tokens {{as_int}}, {{total}} u.input_cost_pico {{as_int}},
    {{total}} u.output_cost_pico {{as_int}}, {{total}} u.cache_write_cost_pico {{as_int}},
    {{total}} u.cache_read_cost_pico {{as_int}}
FROM tree CROSS JOIN run_usage AS u WHERE u.tenant_id = :tenant_id AND u.run_id = tree.id
GROUP BY u.model, u.provider, u.price_version
ORDER BY u.model, u.provider, u.price_version;

-- name: usage_currency
SELECT currency FROM prices WHERE tenant_id = :tenant_id
ORDER BY deleted, created_at DESC, model LIMIT 1;

-- Whole units and remainders are summed separately, so that no sum overflows.
-- define sums: {{total}} runs_started {{as_int}} AS runs_started,
--   | {{total}} runs_completed {{as_int}} AS runs_completed,
--   | {{total}} runs_failed {{as_int}} AS runs_failed,
--   | {{total}} runs_cancelled {{as_int}} AS runs_cancelled,
--   | {{total}} llm_calls {{as_int}} AS llm_calls,
--   | {{total}} input_tokens {{as_int}} AS input_tokens,
--   | {{total}} output_tokens {{as_int}} AS output_tokens,
--   | {{total}} cache_creation_input_tokens {{as_int}} AS cache_creation,
--   | {{total}} cache_read_input_tokens {{as_int}} AS cache_read,
--   | {{total}} cost_pico / 1000000000000 {{as_int}} AS cost_whole,
--   | {{total}} cost_pico % 1000000000000 {{as_int}} AS cost_rest,
--   | {{total}} unpriced_calls {{as_int}} AS unpriced
-- define of_days: FROM usage_days WHERE tenant_id = :tenant_id AND day >= :from_day
--   | AND day <= :to_day AND coalesce(model = :model, :model IS NULL)
--   | AND coalesce(provider = :provider, :provider IS NULL)
--   | AND coalesce(agent_id = :agent_id, :agent_id IS NULL)

-- name: usage_total
SELECT {{sums}} {{of_days}};

-- name: usage_report
SELECT * FROM (
    SELECT CASE WHEN :by_day THEN day ELSE 0 END AS the_day,
        CASE WHEN :by_model THEN model ELSE '' END AS the_model,
        CASE WHEN :by_provider THEN provider ELSE '' END AS the_provider,
        CASE WHEN :by_agent THEN agent_id ELSE :after_agent END AS the_agent, {{sums}}
    {{of_days}}
    GROUP BY 1, 2, 3, 4) AS grouped
WHERE NOT :has_after OR (the_day, the_model, the_provider, the_agent)
    > (:after_day, :after_model, :after_provider, :after_agent)
ORDER BY the_day, the_model, the_provider, the_agent LIMIT :limit;

-- define averaged: count(*) AS runs, {{total}} input_tokens {{as_int}} AS input_tokens,
--   | {{total}} output_tokens {{as_int}} AS output_tokens
--   | FROM history_entries WHERE tenant_id = :tenant_id AND started_at > :since

-- name: usage_average_of_threads
SELECT thread_id, {{averaged}} AND coalesce(thread_id > :after, :after IS NULL)
GROUP BY thread_id ORDER BY thread_id LIMIT :limit;

-- name: usage_average_of_agents
SELECT * FROM (SELECT coalesce(agent_id, :agent_id) AS the_agent, {{averaged}} GROUP BY 1) AS g
WHERE coalesce(the_agent > :after, :after IS NULL)
ORDER BY the_agent LIMIT :limit;
