/* SPDX-License-Identifier: Apache-2.0 */
/* The store: items, their words, search within its bounds, expiry, and archives. */
#include <math.h>

#include "archive_files.h"
#include "base/alloc.h"
#include "model/memory/memory_search.h"
#include "model/memory/memory_vectors.h"

static struct memory_item put(
    struct fixture *f, struct uuid tenant, const char *ns, const char *key, const char *value)
{
    struct memory_item item = {.ns = str_of(ns), .key = str_of(key), .value = str_of(value)};
    bool is_new;
    EXPECT_EQ(memory_item_put(begin_as(f, tenant), &item, &is_new), OK);
    commit(f);
    return item;
}

static size_t count_found(
    struct fixture *f, struct uuid tenant, const char *query, const char *filter)
{
    struct memory_search search = {.at = STR(""),
        .prefix = STR(""),
        .query = query == NULL ? STR_NONE : str_of(query),
        .filter = filter == NULL ? STR_NONE : str_of(filter),
        .limit = MEMORY_SEARCH_MAX};
    struct memory_found found;
    EXPECT_EQ(memory_search(begin_as(f, tenant), &search, &found), OK);
    commit(f);
    return found.count;
}

/* The same without a filter, at the moment of the context. */
static size_t count_found_at(struct context *c, const char *query)
{
    struct memory_search search = {.at = STR(""),
        .prefix = STR(""),
        .query = query == NULL ? STR_NONE : str_of(query),
        .filter = STR_NONE,
        .limit = MEMORY_SEARCH_MAX};
    struct memory_found found = {0};
    EXPECT_EQ(memory_search(c, &search, &found), OK);
    return found.count;
}

TEST(labels_are_joined_and_split_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct str labels[] = {STR("users"), STR("42")}, ns;
    struct context *c = begin(&f);
    EXPECT_EQ(memory_join_namespace(c, (struct str_list){labels, 2}, STR("/n"), &ns), OK);
    EXPECT_STR(ns, STR("users.42."));
    struct str_list again = memory_split_namespace(c->arena, ns);
    EXPECT_EQ(again.count, 2);
    EXPECT_STR(again.items[1], STR("42"));
    EXPECT_EQ(memory_split_namespace(c->arena, STR("a..b")).count, 3);
    EXPECT_STR(memory_above_namespace(c->arena, ns), STR("users.42/"));
    labels[1] = STR("4.2");
    EXPECT_EQ(memory_join_namespace(c, (struct str_list){labels, 2}, STR("/n"), &ns), ERR_INVALID);
    EXPECT_STR(c->problem->faults[0].pointer, STR("/n/1"));
    abandon(&f);
    fixture_end(&f);
}

TEST(nothing_of_a_tenant_is_found_by_another_and_all_of_it_goes_with_the_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    put(&f, other, "a.", "k", "{\"text\":\"word\"}");
    put(&f, DEFAULT_TENANT_ID, "a.", "k", "{\"text\":\"word\"}");
    EXPECT_EQ(count_found(&f, other, "word", NULL), 1);
    EXPECT_EQ(count_found(&f, other, NULL, NULL), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_words"), 2);
    EXPECT_EQ(delete_tenant(begin(&f), other), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_items"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_words"), 1);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "word", NULL), 1);
    fixture_end(&f);
}

static struct str long_value(struct fixture *f, const char *word)
{
    CLEANUP(buf_deinit) struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_printf(&text, "{\"t\":\"%s", word);
    for (size_t i = 0; i < CONTEXT_WORDS_AT_ONCE; i++)
        buf_printf(&text, " w%zu", i);
    buf_append(&text, STR("\"}"));
    return arena_str(f->arena, buf_str(&text));
}

TEST(a_batch_indexes_a_limited_number_of_words_and_no_search_finds_a_replaced_value)
{
    struct fixture f;
    fixture_begin(&f);
    put(&f, DEFAULT_TENANT_ID, "a.", "third", "{\"t\":\"old\"}");
    struct memory_item items[] = {
        {.ns = STR("a."), .key = STR("first"), .value = long_value(&f, "new")},
        {.ns = STR("a."), .key = STR("second"), .value = long_value(&f, "new")},
        {.ns = STR("a."), .key = STR("third"), .value = long_value(&f, "new")},
    };
    struct context *c = begin(&f);
    bool is_new;
    for (size_t i = 0; i < COUNT_OF(items); i++)
        EXPECT_EQ(memory_item_put(c, &items[i], &is_new), OK);
    commit(&f);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "new", NULL), 1);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "old", NULL), 0);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, NULL, NULL), 3);
    struct sweep_position position = {0};
    struct sweep_report report;
    EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
    commit(&f);
    EXPECT(report.more);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "new", NULL), 2);
    EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
    commit(&f);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "new", NULL), 3);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "old", NULL), 0);
    fixture_end(&f);
}

TEST(what_has_expired_is_gone_for_readers_before_the_sweep_removes_it)
{
    struct fixture f;
    struct memory_item item = {.ns = STR("a."), .key = STR("k"), .value = STR("{\"t\":\"word\"}")};
    struct sweep_position position = {0};
    struct sweep_report report;
    bool is_new;
    fixture_begin(&f);
    struct context *c = begin(&f);
    item.has_expires_at = true;
    item.expires_at = c->now_us + 1;
    EXPECT_EQ(memory_item_put(c, &item, &is_new), OK);
    EXPECT_EQ(count_found_at(c, "word"), 1);
    EXPECT_EQ(count_found_at(c, NULL), 1);
    EXPECT_EQ(memory_item_get(c, item.ns, item.key, &item), OK);
    c->now_us += 1;
    EXPECT_EQ(memory_item_get(c, item.ns, item.key, &item), ERR_NOT_FOUND);
    EXPECT_EQ(memory_item_delete(c, item.ns, item.key), ERR_NOT_FOUND);
    EXPECT_EQ(count_found_at(c, "word"), 0);
    EXPECT_EQ(count_found_at(c, NULL), 0);
    commit(&f);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "word", NULL), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_items"), 1);
    c = begin(&f);
    c->lease_now_us = c->now_us + 10;
    c->now_us += 10;
    EXPECT_EQ(model_sweep(c, &position, &report), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_items"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_words"), 0);
    fixture_end(&f);
}

/* So that looking at them all takes more than one request may. */
static void put_many(struct fixture *f, int64_t n)
{
    struct context *c = begin(f);
    bool is_new;
    for (int64_t i = 0; i < n; i++, c->now_us++) {
        struct memory_item item = {.ns = STR("many."),
            .key = arena_printf(f->arena, "k%lld", (long long)i),
            .value = arena_printf(f->arena, "{\"n\":%lld}", (long long)i)};
        EXPECT_EQ(memory_item_put(c, &item, &is_new), OK);
    }
    commit(f);
}

TEST(a_search_with_a_filter_stops_where_it_has_looked_at_enough_and_goes_on_from_there)
{
    struct fixture f;
    fixture_begin(&f);
    put_many(&f, 1);
    /* Adds copies of it directly, without the model. */
    sql_exec(&f, on_postgres()
                     ? "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) SELECT tenant_id, namespace, 'c' || g,"
                       " size_bytes, created_at, updated_at + g, true, value FROM store_items,"
                       " generate_series(1, 10200) AS g"
                     : "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) WITH RECURSIVE g(v) AS (SELECT 1 UNION"
                       " ALL SELECT v + 1 FROM g WHERE v < 10200) SELECT tenant_id, namespace,"
                       " 'c' || v, size_bytes, created_at, updated_at + v, 1, value"
                       " FROM store_items, g");
    sql_exec(&f, "UPDATE store_items SET value = '{\"n\":7}' WHERE key IN ('k0', 'c10000')");
    struct memory_search search = {
        .at = STR(""), .prefix = STR("many."), .filter = STR("{\"n\":7}"), .limit = 5, .offset = 1};
    struct memory_found found;
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), OK);
    commit(&f);
    EXPECT_EQ(found.count, 0);
    EXPECT(found.more);
    EXPECT_EQ(found.next.skip, 0);
    EXPECT_EQ(found.looked, MEMORY_LOOKS_MAX);
    /* In a batch, other searches may have used most of the limit of the request. */
    struct memory_search late = search;
    late.looks = MEMORY_LOOKS_LEAST;
    struct memory_found less;
    EXPECT_EQ(memory_search(begin_reading(&f), &late, &less), OK);
    commit(&f);
    EXPECT(less.more);
    EXPECT_EQ(less.looked, MEMORY_LOOKS_LEAST);
    search.from = found.next;
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), OK);
    commit(&f);
    EXPECT_EQ(found.count, 1);
    EXPECT_STR(found.items[0].key, STR("k0"));
    EXPECT(!found.more);
    fixture_end(&f);
}

TEST(namespaces_that_are_cut_are_told_once_however_many_are_below_and_are_not_walked_through)
{
    struct fixture f;
    fixture_begin(&f);
    struct memory_item other = {.ns = STR("other.x."), .key = STR("k"), .value = STR("{}")};
    bool is_new;
    put_many(&f, 1);
    EXPECT_EQ(memory_item_put(begin(&f), &other, &is_new), OK);
    commit(&f);
    sql_exec(&f, on_postgres()
                     ? "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) SELECT tenant_id, namespace || g || '.',"
                       " key, size_bytes, created_at, updated_at, true, value FROM store_items,"
                       " generate_series(1, 20200) AS g WHERE key = 'k0'"
                     : "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) WITH RECURSIVE g(v) AS (SELECT 1 UNION"
                       " ALL SELECT v + 1 FROM g WHERE v < 20200) SELECT tenant_id, namespace || v"
                       " || '.', key, size_bytes, created_at, updated_at, 1, value"
                       " FROM store_items, g WHERE key = 'k0'");
    struct memory_namespaces asked = {.at = STR(""), .max_depth = 1, .limit = 5, .after = STR_NONE};
    struct memory_namespaces_found found;
    EXPECT_EQ(memory_list_namespaces(begin_reading(&f), &asked, &found), OK);
    commit(&f);
    EXPECT_EQ(found.count, 2);
    EXPECT(!found.more);
    EXPECT_STR(found.items[0], STR("many."));
    EXPECT_STR(found.items[1], STR("other."));
    fixture_end(&f);
}

TEST(bytes_that_are_no_numbers_are_told_apart_and_their_cosine_comes_to_an_end)
{
    const float one[] = {1, 2}, none[] = {NAN, 1}, endless[] = {INFINITY, 1};
    EXPECT(memory_vector_is_sound((struct str){(const char *)one, sizeof one}));
    EXPECT(!memory_vector_is_sound((struct str){(const char *)one, sizeof one - 1}));
    EXPECT(!memory_vector_is_sound((struct str){(const char *)none, sizeof none}));
    EXPECT(!memory_vector_is_sound((struct str){(const char *)endless, sizeof endless}));
    double a = memory_cosine(one, none, 2), b = memory_cosine(endless, one, 2);
    EXPECT(a >= -1 && a <= 1 && b >= -1 && b <= 1);
    EXPECT(memory_cosine(one, one, 2) > 0.999);
}

TEST(a_page_of_large_values_ends_with_the_one_that_passes_its_bytes)
{
    struct fixture f;
    char *value = mem_alloc(1000 * 1000);
    fixture_begin(&f);
    memset(value, 'x', 1000 * 1000);
    memcpy(value, "{\"x\":\"", 6);
    memcpy(value + 1000 * 1000 - 3, "\"}", 3);
    for (int i = 0; i < 6; i++)
        put(&f, DEFAULT_TENANT_ID, "large.", arena_cstr(f.arena, arena_printf(f.arena, "%d", i)),
            value);
    struct memory_search search = {.at = STR(""), .prefix = STR("large."), .limit = 10};
    struct memory_found found;
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), OK);
    commit(&f);
    EXPECT_EQ(found.count, 5);
    EXPECT(found.more);
    search.from = found.next;
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), OK);
    commit(&f);
    EXPECT_EQ(found.count, 1);
    EXPECT_STR(found.items[0].key, STR("0"));
    EXPECT(!found.more);
    mem_free(value);
    fixture_end(&f);
}

TEST(a_value_with_more_words_than_count_is_found_by_its_first_ones)
{
    struct fixture f;
    struct buf value;
    fixture_begin(&f);
    buf_init(&value, MEMORY_VALUE_MAX_BYTES);
    buf_append(&value, STR("{\"first\":[\"earliest\",7,{\"deep\":\"nested\"}],\"rest\":\""));
    for (unsigned i = 0; i < 60000; i++)
        buf_printf(&value, "w%u ", i);
    buf_append(&value, STR("latest\"}"));
    buf_append_byte(&value, '\0');
    put(&f, DEFAULT_TENANT_ID, "a.", "k", value.ptr);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "earliest", NULL), 1);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "nested w15000", NULL), 1);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "latest", NULL), 0);
    EXPECT_EQ(count_found(&f, DEFAULT_TENANT_ID, "deep", NULL), 0);
    buf_deinit(&value);
    fixture_end(&f);
}

TEST(a_search_by_vector_is_refused_where_there_are_more_than_it_compares)
{
    struct fixture f;
    fixture_begin(&f);
    put_many(&f, 1);
    /* 16 vectors each of 3,126 items, which is 16 more than 50,000. */
    sql_exec(&f, on_postgres()
                     ? "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) SELECT tenant_id, namespace, 'c' || g,"
                       " size_bytes, created_at, updated_at, true, value FROM store_items,"
                       " generate_series(1, 3125) AS g"
                     : "INSERT INTO store_items (tenant_id, namespace, key, size_bytes, created_at,"
                       " updated_at, is_searchable, value) WITH RECURSIVE g(v) AS (SELECT 1 UNION"
                       " ALL SELECT v + 1 FROM g WHERE v < 3125) SELECT tenant_id, namespace,"
                       " 'c' || v, size_bytes, created_at, updated_at, 1, value"
                       " FROM store_items, g");
    sql_exec(&f, on_postgres()
                     ? "INSERT INTO store_vectors SELECT tenant_id, number, g, 'p', 1,"
                       " '\\x0000803f'::bytea FROM store_items, generate_series(1, 16) AS g"
                     : "INSERT INTO store_vectors WITH RECURSIVE g(v) AS (SELECT 1 UNION ALL"
                       " SELECT v + 1 FROM g WHERE v < 16) SELECT tenant_id, number, v, 'p', 1,"
                       " x'0000803f' FROM store_items, g");
    struct memory_search search = {
        .at = STR(""), .prefix = STR("many."), .vector = STR("[-2]"), .limit = 1};
    struct memory_found found;
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/namespace_prefix"));
    abandon(&f);
    sql_exec(&f, "DELETE FROM store_items WHERE key = 'k0'");
    EXPECT_EQ(memory_search(begin_reading(&f), &search, &found), OK);
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.items[0].score, -(int64_t)MEMORY_SCORE_UNIT);
    commit(&f);
    fixture_end(&f);
}

TEST(items_go_with_their_tenant_to_the_very_same_bytes_and_are_found_again)
{
    struct fixture f;
    struct sweep_position position = {0};
    struct sweep_report report;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    for (int i = 0; i < 40; i++)
        put(&f, DEFAULT_TENANT_ID, i % 2 == 0 ? "a.b." : "a-b.",
            arena_cstr(f.arena, arena_printf(f.arena, "\xc3\xa4%d", i)), "{\"text\":\"word\"}");
    struct memory_vector_bytes vectors[2] = {{.path = STR("a")}, {.path = STR("")}};
    struct context *c = begin(&f);
    struct memory_item item = {.ns = STR("a."), .key = STR("k"), .value = STR("{}")};
    bool is_new;
    EXPECT_EQ(memory_vector_encode(c, STR("[1,2.5]"), STR("/v"), &vectors[0]), OK);
    EXPECT_EQ(memory_vector_encode(c, STR("[-1,1e-9]"), STR("/v"), &vectors[1]), OK);
    for (int i = 0; i < 100; i++) {
        item.key = arena_printf(f.arena, "v%d", i);
        item.vectors = vectors;
        item.n_vectors = 2;
        EXPECT_EQ(memory_item_put(c, &item, &is_new), OK);
    }
    commit(&f);
    struct str first = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_KEEP), OK);
    EXPECT_STR(exported(&f, other, OF_TENANT), first);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_REMAP), ERR_CONFLICT);
    EXPECT_EQ(count_found(&f, other, "word", NULL), 0);
    do {
        EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
        commit(&f);
    } while (report.more);
    EXPECT_EQ(count_found(&f, other, "word", NULL), 40);
    EXPECT_EQ(count_found(&f, other, NULL, "{\"text\":\"word\"}"), 40);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_vectors WHERE dimensions = 2"), 400);
    fixture_end(&f);
}
