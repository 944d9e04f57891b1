-- SPDX-License-Identifier: Apache-2.0
-- The store: items of agents under hierarchical namespaces.

CREATE TABLE store_items (
    -- Identifies the words of an item. The value has no meaning: on PostgreSQL it is random, so
    -- that writers do not wait for a counter and a migration of items does not have to set one.
    {{sqlite: number INTEGER PRIMARY KEY NOT NULL,}}
    {{postgres: number bigint NOT NULL DEFAULT
        ('x' || substr(md5(gen_random_uuid()::text), 1, 15))::bit(60)::bigint,}}
    tenant_id {{uuid}} NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    -- Each label is followed by '.', which no label contains: "users.42.". All items under a prefix
    -- are therefore one range.
    namespace TEXT {{postgres: COLLATE "C"}} NOT NULL,
    key TEXT {{postgres: COLLATE "C"}} NOT NULL,
    size_bytes {{int}} NOT NULL,
    created_at {{int}} NOT NULL,
    updated_at {{int}} NOT NULL,
    -- After this time the item is invisible; the sweep deletes it.
    expires_at {{int}},
    version {{int}} NOT NULL DEFAULT 1,
    -- True if store_words has the words of the item; otherwise the sweep adds them.
    is_searchable {{bool}} NOT NULL DEFAULT {{sqlite: 0}}{{postgres: false}},
    value {{json}} NOT NULL
    {{postgres: , PRIMARY KEY (tenant_id, number)}}
);
{{sqlite: CREATE UNIQUE INDEX store_items_by_number ON store_items (tenant_id, number);}}
CREATE UNIQUE INDEX store_items_by_key ON store_items (tenant_id, namespace, key);
CREATE INDEX store_items_by_time ON store_items (tenant_id, namespace, updated_at, number);
CREATE INDEX store_items_by_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX store_items_not_searchable ON store_items (tenant_id, number) WHERE NOT is_searchable;

-- The words of an item, each once, split as in src/base/words.h, and one word for each prefix of
-- its namespace. The latter begin with '#', which no word of a text does, and include the tenant,
-- so the index itself separates tenants and namespaces. On SQLite, the statement that deletes items
-- also deletes their words.
{{sqlite:
CREATE VIRTUAL TABLE store_words USING fts5(words, columnsize=0, detail=none,
    tokenize="ascii tokenchars '#'");
}}{{postgres:
CREATE TABLE store_words (
    tenant_id uuid NOT NULL,
    number bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (tenant_id, number),
    FOREIGN KEY (tenant_id, number) REFERENCES store_items (tenant_id, number) ON DELETE CASCADE
);
CREATE INDEX store_words_by_words ON store_words USING gin (words);
-- As for message_words, row-level security restricts writers to their tenant, but not readers:
-- results are read through store_items, which has row-level security.
ALTER TABLE store_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE store_words FORCE ROW LEVEL SECURITY;
CREATE POLICY any_reader ON store_words FOR SELECT USING (true);
CREATE POLICY own_tenant ON store_words USING
    (coalesce(current_setting('cairn.tenant', true) IN (tenant_id::text, '*'), false));
SELECT fence_by_tenant('store_items');
}}
