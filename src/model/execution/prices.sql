-- SPDX-License-Identifier: Apache-2.0
-- types: tenant_id uuid, model text, after text, version int, before int, provider text
-- types: currency text, input int, output int, cache_write int, cache_read int
-- types: long_context_tokens int, long_input int, long_output int, long_cache_write int
-- types: long_cache_read int, deleted bool, now int, limit int

-- define price_columns: p.model, p.version, p.provider, p.currency, p.input_pico AS rates_input,
--   | p.output_pico AS rates_output, p.cache_write_pico AS rates_cache_write,
--   | p.cache_read_pico AS rates_cache_read, p.long_context_tokens,
--   | p.long_input_pico AS long_rates_input, p.long_output_pico AS long_rates_output,
--   | p.long_cache_write_pico AS long_rates_cache_write,
--   | p.long_cache_read_pico AS long_rates_cache_read, p.deleted, p.created_at
-- define is_newest: NOT EXISTS (SELECT 1 FROM prices AS newer WHERE newer.tenant_id = p.tenant_id
--   | AND newer.model = p.model AND newer.version > p.version)

-- reads price_read: struct price from {{price_columns}}

-- name: price_newest
SELECT {{price_columns}} FROM prices AS p
WHERE p.tenant_id = :tenant_id AND p.model = :model ORDER BY p.version DESC LIMIT 1;

-- name: price_list
SELECT {{price_columns}} FROM prices AS p
WHERE p.tenant_id = :tenant_id AND p.model > coalesce(:after, '') AND NOT p.deleted
    AND {{is_newest}}
ORDER BY p.model LIMIT :limit;

-- name: price_version_list
SELECT {{price_columns}} FROM prices AS p
WHERE p.tenant_id = :tenant_id AND p.model = :model AND p.version < :before
ORDER BY p.version DESC LIMIT :limit;

-- A model with a current price in another currency; after the first cost, also with a former one.
-- name: price_other_currency
SELECT p.model, p.currency FROM prices AS p
WHERE p.tenant_id = :tenant_id AND p.currency <> :currency
    AND ((p.model <> :model AND NOT p.deleted AND {{is_newest}})
        OR EXISTS (SELECT 1 FROM usage_days AS u
            WHERE u.tenant_id = :tenant_id AND u.cost_pico > 0))
LIMIT 1;

-- name: price_insert
INSERT INTO prices (tenant_id, model, version, provider, currency, input_pico, output_pico,
    cache_write_pico, cache_read_pico, long_context_tokens, long_input_pico, long_output_pico,
    long_cache_write_pico, long_cache_read_pico, deleted, created_at)
VALUES (:tenant_id, :model, :version, :provider, :currency, :input, :output, :cache_write,
    :cache_read, :long_context_tokens, :long_input, :long_output, :long_cache_write,
    :long_cache_read, :deleted, :now);
