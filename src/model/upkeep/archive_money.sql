-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, from uuid, after_1 uuid, after_2 uuid, after_n int, after_text text
-- types: limit int, id uuid, run_id uuid, thread_id uuid, agent_id uuid, number int, model text
-- types: provider text, price_version int, llm_calls int, input_tokens int, output_tokens int
-- types: cache_creation_input_tokens int, cache_read_input_tokens int, version int, name text
-- types: agent_version text, metadata json, created_at int, updated_at int, title text
-- types: description text
-- types: long_context_calls int, input_cost_pico int, output_cost_pico int
-- types: cache_write_cost_pico int, cache_read_cost_pico int, currency text, input_pico int
-- types: output_pico int, cache_write_pico int, cache_read_pico int, long_context_tokens int
-- types: long_input_pico int, long_output_pico int, long_cache_write_pico int
-- types: long_cache_read_pico int, deleted bool, eval_type text, evaluated_name text
-- types: eval_input json, eval_data json, score_micro int, passed bool, instructions text
-- types: notebook_id uuid

-- Prices, usage, evals and notebooks in archives; see archive.sql.

-- define usage_number: (SELECT count(*) FROM run_usage AS o WHERE o.tenant_id = u.tenant_id
--   | AND o.run_id = u.run_id
--   | AND (o.model, o.provider, o.price_version) <= (u.model, u.provider, u.price_version))
-- define usage_fields: r.thread_id, u.run_id, {{usage_number}}, u.model, u.provider,
--   | u.price_version, u.llm_calls, u.long_context_calls, u.input_tokens, u.output_tokens,
--   | u.cache_creation_input_tokens, u.cache_read_input_tokens, u.input_cost_pico,
--   | u.output_cost_pico, u.cache_write_cost_pico, u.cache_read_cost_pico
-- define usage_tables: FROM runs AS r
--   | JOIN run_usage AS u ON u.tenant_id = r.tenant_id AND u.run_id = r.id
-- define usage_next: (r.thread_id, r.id) >= (:after_1, :after_2)
--   | AND (r.id <> :after_2 OR {{usage_number}} > :after_n)
--   | ORDER BY r.thread_id, r.id, u.model, u.provider, u.price_version LIMIT :limit

-- name: archive_run_usage_of_tenant
SELECT {{usage_fields}} {{usage_tables}} WHERE r.tenant_id = :tenant_id AND {{usage_next}};

-- name: archive_run_usage_of_thread
SELECT {{usage_fields}} {{usage_tables}}
WHERE r.tenant_id = :tenant_id AND r.thread_id = :from AND {{usage_next}};

-- name: archive_add_run_usage
INSERT INTO run_usage (tenant_id, run_id, model, provider, price_version, llm_calls,
    long_context_calls, input_tokens, output_tokens, cache_creation_input_tokens,
    cache_read_input_tokens, input_cost_pico, output_cost_pico, cache_write_cost_pico,
    cache_read_cost_pico)
VALUES (:tenant_id, :run_id, :model, :provider, :price_version, :llm_calls, :long_context_calls,
    :input_tokens, :output_tokens, :cache_creation_input_tokens, :cache_read_input_tokens,
    :input_cost_pico, :output_cost_pico, :cache_write_cost_pico, :cache_read_cost_pico);

-- name: archive_prices_of_tenant
SELECT p.model, p.version, p.provider, p.currency, p.input_pico, p.output_pico, p.cache_write_pico,
    p.cache_read_pico, p.long_context_tokens, p.long_input_pico, p.long_output_pico,
    p.long_cache_write_pico, p.long_cache_read_pico, p.deleted, p.created_at
FROM prices AS p
WHERE p.tenant_id = :tenant_id
    AND (p.model, p.version) > (coalesce(:after_text, ''), :after_n)
ORDER BY p.model, p.version LIMIT :limit;

-- Another one under the same name and number, or one in another currency.
-- name: archive_taken_price
SELECT p.tenant_id FROM prices AS p WHERE p.tenant_id = :tenant_id AND (p.currency <> :currency
    OR (p.model = :model AND p.version = :version AND NOT (p.deleted = :deleted
        AND p.input_pico = :input_pico AND p.output_pico = :output_pico
        AND p.cache_write_pico = :cache_write_pico AND p.cache_read_pico = :cache_read_pico
        AND coalesce(p.long_context_tokens, -1) = coalesce(:long_context_tokens, -1)
        AND coalesce(p.long_input_pico, -1) = coalesce(:long_input_pico, -1)
        AND coalesce(p.long_output_pico, -1) = coalesce(:long_output_pico, -1)
        AND coalesce(p.long_cache_write_pico, -1) = coalesce(:long_cache_write_pico, -1)
        AND coalesce(p.long_cache_read_pico, -1) = coalesce(:long_cache_read_pico, -1))))
LIMIT 1;

-- The same price may be there.
-- name: archive_add_price
INSERT INTO prices (tenant_id, model, version, provider, currency, input_pico, output_pico,
    cache_write_pico, cache_read_pico, long_context_tokens, long_input_pico, long_output_pico,
    long_cache_write_pico, long_cache_read_pico, deleted, created_at)
VALUES (:tenant_id, :model, :version, :provider, :currency, :input_pico, :output_pico,
    :cache_write_pico, :cache_read_pico, :long_context_tokens, :long_input_pico, :long_output_pico,
    :long_cache_write_pico, :long_cache_read_pico, :deleted, :created_at)
ON CONFLICT (tenant_id, model, version) DO NOTHING;

-- name: archive_evals_of_tenant
SELECT v.id, v.name, v.eval_type, v.agent_id, v.agent_version, v.run_id, v.model, v.provider,
    v.evaluated_name, v.eval_input, v.eval_data, v.score_micro, v.passed, v.metadata,
    v.created_at, v.updated_at, v.version
FROM eval_runs AS v WHERE v.tenant_id = :tenant_id AND v.id > :after_1
ORDER BY v.id LIMIT :limit;

-- name: archive_taken_eval
SELECT id FROM eval_runs WHERE tenant_id = :tenant_id AND id = :id;

-- name: archive_add_eval
INSERT INTO eval_runs (tenant_id, id, name, eval_type, agent_id, agent_version, run_id, model,
    provider, evaluated_name, eval_input, eval_data, score_micro, passed, metadata, created_at,
    updated_at, version)
VALUES (:tenant_id, :id, :name, :eval_type, :agent_id, :agent_version, :run_id, :model, :provider,
    :evaluated_name, :eval_input, :eval_data, :score_micro, :passed, :metadata, :created_at,
    :updated_at, :version);

-- name: archive_notebooks_of_tenant
SELECT n.number, n.id, n.title, n.description, n.instructions, n.metadata, n.created_at,
    n.updated_at, n.version
FROM notebook_records AS n WHERE n.tenant_id = :tenant_id AND n.number > :after_n
ORDER BY n.number LIMIT :limit;

-- name: archive_taken_notebook
SELECT id FROM notebook_records WHERE tenant_id = :tenant_id AND id = :id;

-- Numbers rise, as they do in the archive: they stay unless there are others here.
-- define greater: {{sqlite: max}}{{postgres: greatest}}

-- name: archive_add_notebook
INSERT INTO notebook_records (tenant_id, id, number, title, description, instructions, metadata,
    created_at, updated_at, version)
SELECT :tenant_id, :id, {{greater}}(:number, (SELECT coalesce(max(o.number), 0) + 1
        FROM notebook_records AS o WHERE o.tenant_id = :tenant_id)),
    :title, :description, :instructions, :metadata, :created_at, :updated_at, :version;

-- name: archive_notebook_threads_of_tenant
SELECT l.number, l.notebook_id, l.thread_id, l.created_at FROM notebook_threads AS l
WHERE l.tenant_id = :tenant_id AND l.number > :after_n ORDER BY l.number LIMIT :limit;

-- name: archive_add_notebook_thread
INSERT INTO notebook_threads (tenant_id, notebook_id, thread_id, number, created_at)
SELECT :tenant_id, :notebook_id, :thread_id, {{greater}}(:number,
        (SELECT coalesce(max(o.number), 0) + 1
        FROM notebook_threads AS o WHERE o.tenant_id = :tenant_id)), :created_at;
