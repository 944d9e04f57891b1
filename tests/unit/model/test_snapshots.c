/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots: a document is read back byte for byte, and costs only its changes. */
#include "fixture.h"

#include <pthread.h>

#include "base/json/json_write.h"
#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/checkpoints/snapshot_memory.h"
#include "model/checkpoints/snapshots.h"

static const struct uuid NO_BASE = UUID_NIL;

static struct snapshot put(
    struct fixture *f, struct uuid thread_id, struct uuid base_id, struct str document)
{
    struct snapshot s = {0};
    EXPECT_EQ(snapshot_put(begin(f), thread_id, base_id, document, &s), OK);
    commit(f);
    return s;
}

/* Reads what is stored, and then what the process remembers of it. */
static struct str get(struct fixture *f, struct uuid id)
{
    struct str document = STR(""), again = STR("");
    struct context *c = begin_reading(f);
    EXPECT_EQ(snapshot_get(c, id, &document), OK);
    EXPECT_EQ(snapshot_get(c, id, &again), OK);
    EXPECT_STR(again, document);
    commit(f);
    return document;
}

static enum error get_fails(struct fixture *f, struct uuid id)
{
    struct str document;
    enum error e = snapshot_get(begin_reading(f), id, &document);
    commit(f);
    return e;
}

static void drop(struct fixture *f, struct uuid id)
{
    EXPECT_EQ(snapshot_drop(begin(f), id), OK);
    commit(f);
}

static struct snapshot change(struct fixture *f, struct uuid thread_id, struct uuid base_id,
    const char *set, const char *append, const char *removed)
{
    const struct str name = removed != NULL ? str_of(removed) : STR_NONE;
    const struct snapshot_change wanted = {
        .set = set != NULL ? str_of(set) : STR_NONE,
        .append = append != NULL ? str_of(append) : STR_NONE,
        .remove = &name,
        .n_remove = removed != NULL,
    };
    struct snapshot s = {0};
    EXPECT_EQ(snapshot_change(begin(f), thread_id, base_id, &wanted, STR("/values"), &s), OK);
    commit(f);
    return s;
}

/* A message of a conversation, long enough to be an item. */
static struct str message(struct fixture *f, size_t i)
{
    return arena_printf(f->arena,
        "{\"role\":\"%s\",\"content\":\"Message %zu of a conversation that goes on for a while.\"}",
        i % 2 == 0 ? "user" : "assistant", i);
}

/* {"messages":[…],"step":n} with n messages. */
static struct str conversation(struct fixture *f, size_t n)
{
    struct json_text text;
    json_text_init(&text, 1024 * 1024);
    json_write_object(&text.w);
    json_write_name(&text.w, "messages");
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++)
        json_write_raw(&text.w, message(f, i));
    json_write_end(&text.w);
    json_write_name(&text.w, "step");
    json_write_u64(&text.w, n);
    json_write_end(&text.w);
    return json_text_take(&text, f->arena);
}

/* --- Round trips ---------------------------------------------------------------------------- */

#define LONG_TEXT "a text that is so long that it becomes an item of its own, sixty-four and more"

static const char *const DOCUMENTS[] = {
    "{}",
    "[]",
    "null",
    "0",
    "\"\"",
    "\"" LONG_TEXT "\"",
    "{\"a\":[]}",
    "{\"a\":[],\"b\":{},\"c\":[[]],\"d\":[{}]}",
    "[1,1,1,1]",
    "[\"" LONG_TEXT "\",\"" LONG_TEXT "\",\"" LONG_TEXT "\"]",
    "{\"z\":1,\"a\":2,\"m\":[\"" LONG_TEXT "\"]}",
    "{\"\\u0061\":1,\"\\ud83d\\ude00\":\"\xf0\x9f\x98\x80\",\"\":\"\\\"\\\\\\/\"}",
    "{\"huge\":123456789012345678901234567890.123e+400,\"tiny\":-0.0e-0,\"same\":1E2}",
    "[[[[[[[[[[\"" LONG_TEXT "\"]]]]]]]]]]",
    "{\"a\":{\"b\":{\"c\":[\"" LONG_TEXT "\","
    "\"" LONG_TEXT "\"]}}}",
    "\"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\"",
    "[true,false,null,\"" LONG_TEXT "\",1.0,[\"" LONG_TEXT "\"],{\"k\":\"" LONG_TEXT "\"}]",
};

TEST(a_document_comes_back_byte_for_byte)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (size_t i = 0; i < COUNT_OF(DOCUMENTS); i++) {
        struct snapshot s = put(&f, thread, NO_BASE, str_of(DOCUMENTS[i]));
        EXPECT_STR(get(&f, s.id), str_of(DOCUMENTS[i]));
        EXPECT_EQ(s.size_bytes, strlen(DOCUMENTS[i]));
    }
    fixture_end(&f);
}

TEST(a_document_on_any_other_as_its_base_comes_back_byte_for_byte)
{
    struct fixture f;
    struct snapshot bases[COUNT_OF(DOCUMENTS)];
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (size_t i = 0; i < COUNT_OF(DOCUMENTS); i++)
        bases[i] = put(&f, thread, NO_BASE, str_of(DOCUMENTS[i]));
    for (size_t i = 0; i < COUNT_OF(DOCUMENTS); i++)
        for (size_t k = 0; k < COUNT_OF(DOCUMENTS); k++) {
            struct snapshot s = {0};
            struct str document = STR("");
            struct context *c = begin(&f);
            EXPECT_EQ(snapshot_put(c, thread, bases[k].id, str_of(DOCUMENTS[i]), &s), OK);
            EXPECT_EQ(snapshot_get(c, s.id, &document), OK);
            EXPECT_STR(document, str_of(DOCUMENTS[i]));
            EXPECT(memcmp(&s.sha256, &bases[i].sha256, sizeof s.sha256) == 0);
            commit(&f);
        }
    fixture_end(&f);
}

/* Messages of one length, of which some differ from those of the base. */
static struct str edited(struct fixture *f, size_t n, size_t every)
{
    struct str text = conversation(f, n);
    size_t seen = 0;
    for (char *at = (char *)(uintptr_t)text.ptr; at < text.ptr + text.len; at++)
        if (*at == 'M' && ++seen % every == 0)
            *at = 'm';
    return text;
}

TEST(a_hash_that_is_known_from_the_base_is_that_of_the_text)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid base = put(&f, thread, NO_BASE, conversation(&f, 30)).id;
    for (size_t every = 1; every < 40; every += 3) {
        struct snapshot known = put(&f, thread, base, edited(&f, 40, every));
        snapshot_forget_all();
        struct snapshot hashed = put(&f, thread, base, edited(&f, 40, every));
        EXPECT(memcmp(&known.sha256, &hashed.sha256, sizeof known.sha256) == 0);
        EXPECT_STR(get(&f, known.id), edited(&f, 40, every));
        EXPECT_STR(get(&f, hashed.id), edited(&f, 40, every));
    }
    fixture_end(&f);
}

TEST(what_another_tenant_remembers_is_not_used)
{
    struct fixture f;
    struct str document;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid id = put(&f, thread, NO_BASE, conversation(&f, 3)).id;
    struct context *c = begin(&f);
    context_enter(c, uuid_v7());
    EXPECT_EQ(snapshot_get(c, id, &document), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(blanks_between_values_are_not_kept_and_those_in_strings_are)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct snapshot s =
        put(&f, thread, NO_BASE, STR(" { \"a\" : [ 1 , \" x  y \" ] ,\n \"b\":\t{ } } "));
    EXPECT_STR(get(&f, s.id), STR("{\"a\":[1,\" x  y \"],\"b\":{}}"));
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, STR("{\"a\":}"), &s), ERR_BAD_JSON);
    abandon(&f);
    fixture_end(&f);
}

TEST(arrays_and_objects_of_very_many_parts_come_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (size_t n = 19999; n <= 20001; n++) {
        struct buf text CLEANUP(buf_deinit);
        buf_init(&text, 4 * 1024 * 1024);
        buf_append(&text, STR("{\"list\":["));
        for (size_t i = 0; i < n; i++)
            buf_printf(&text, "%s%zu", i > 0 ? "," : "", i);
        buf_append(&text, STR("],\"end\":true}"));
        struct snapshot s = put(&f, thread, NO_BASE, buf_str(&text));
        EXPECT_STR(get(&f, s.id), buf_str(&text));
        struct snapshot more = change(&f, thread, s.id, NULL, "{\"list\":[\"x\"]}", NULL);
        text.len -= strlen("],\"end\":true}");
        buf_append(&text, STR(",\"x\"],\"end\":true}"));
        EXPECT_STR(get(&f, more.id), buf_str(&text));
        struct snapshot same = put(&f, thread, NO_BASE, buf_str(&text));
        EXPECT(memcmp(&same.sha256, &more.sha256, sizeof same.sha256) == 0);
    }
    fixture_end(&f);
}

TEST(a_document_past_the_limits_is_refused_and_nothing_is_stored)
{
    struct fixture f;
    struct snapshot s;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, 2 * SNAPSHOT_MAX_BYTES);
    buf_append_byte(&text, '"');
    memset(buf_reserve(&text, SNAPSHOT_MAX_BYTES), 'x', SNAPSHOT_MAX_BYTES);
    buf_advance(&text, SNAPSHOT_MAX_BYTES - 2);
    buf_append_byte(&text, '"');
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, buf_str(&text), &s), OK);
    abandon(&f);
    text.ptr[text.len - 1] = 'x';
    buf_append_byte(&text, '"');
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, buf_str(&text), &s), ERR_INVALID);
    abandon(&f);
    EXPECT_PART(told(&f), "8388609 bytes");
    buf_reset(&text);
    for (size_t i = 0; i < 6; i++) {
        buf_printf(&text, "%s\"%zu\":[0", i > 0 ? "," : "{", i);
        for (size_t k = 1; k < 18000; k++)
            buf_append(&text, STR(",0"));
        buf_append_byte(&text, ']');
    }
    buf_append_byte(&text, '}');
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, buf_str(&text), &s), ERR_INVALID);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items"), 0);
    fixture_end(&f);
}

/* --- Storage costs -------------------------------------------------------------------------- */

TEST(each_message_of_a_growing_conversation_is_stored_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), base = NO_BASE;
    struct uuid ids[150];
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        base = ids[i] = put(&f, thread, base, conversation(&f, i + 1)).id;
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items"), COUNT_OF(ids));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots WHERE base_id IS NULL"), 3);
    EXPECT_EQ(sql_i64(&f, "SELECT max(depth) FROM snapshots"), SNAPSHOT_DEPTH_MAX - 1);
    EXPECT(sql_i64(&f, "SELECT max(length(manifest)) FROM snapshots WHERE depth > 0") < 64);
    for (size_t i = 0; i < COUNT_OF(ids); i += 7)
        EXPECT_STR(get(&f, ids[i]), conversation(&f, i + 1));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshot_items"), 150 + 64 + 128);
    fixture_end(&f);
}

/* {"kept":…,"numbers":[…]} of which all numbers are others each time. */
static struct str restless(struct fixture *f, size_t turn)
{
    struct json_text text;
    json_text_init(&text, 1024 * 1024);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "kept", STR(LONG_TEXT));
    json_write_name(&text.w, "numbers");
    json_write_array(&text.w);
    for (size_t i = 0; i < 2000; i++)
        json_write_u64(&text.w, 1000000000000 + turn * 2000 + i);
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, f->arena);
}

TEST(what_changes_all_over_each_time_is_read_from_a_few_manifests)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), base = NO_BASE;
    for (size_t i = 0; i < 20; i++)
        base = put(&f, thread, base, restless(&f, i)).id;
    EXPECT_STR(get(&f, base), restless(&f, 19));
    EXPECT_EQ(sql_i64(&f, "SELECT max(depth) FROM snapshots"), 3);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots WHERE base_id IS NULL"), 5);
    fixture_end(&f);
}

TEST(another_thread_of_the_tenant_shares_items_and_another_tenant_does_not)
{
    struct fixture f;
    struct snapshot s;
    fixture_begin(&f);
    struct uuid one = make_thread(&f), two = make_thread(&f);
    put(&f, one, NO_BASE, conversation(&f, 5));
    put(&f, two, NO_BASE, conversation(&f, 5));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items"), 5);
    struct uuid tenant = make_tenant(&f, "other");
    struct thread thread = {0};
    struct context *c = begin_as(&f, tenant);
    EXPECT_EQ(thread_create(c, &thread), OK);
    EXPECT_EQ(snapshot_put(c, thread.id, NO_BASE, conversation(&f, 5), &s), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items"), 10);
    EXPECT_EQ(get_fails(&f, s.id), ERR_NOT_FOUND);
    fixture_end(&f);
}

/* --- Changes -------------------------------------------------------------------------------- */

TEST(a_change_gives_the_same_document_and_hash_as_the_whole)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct snapshot by_parts = put(&f, thread, NO_BASE, conversation(&f, 1));
    struct snapshot whole = by_parts;
    for (size_t i = 1; i < 70; i++) {
        struct str append = arena_printf(f.arena, "{\"messages\":[%.*s]}", STR_ARG(message(&f, i)));
        struct str set = arena_printf(f.arena, "{\"step\":%zu}", i + 1);
        by_parts = change(
            &f, thread, by_parts.id, arena_cstr(f.arena, set), arena_cstr(f.arena, append), NULL);
        whole = put(&f, thread, whole.id, conversation(&f, i + 1));
        EXPECT(memcmp(&by_parts.sha256, &whole.sha256, sizeof whole.sha256) == 0);
        EXPECT_EQ(by_parts.size_bytes, whole.size_bytes);
    }
    EXPECT_STR(get(&f, by_parts.id), conversation(&f, 70));
    fixture_end(&f);
}

TEST(members_are_replaced_in_place_added_at_the_end_and_removed)
{
    struct fixture f;
    struct str value;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct snapshot s = put(&f, thread, NO_BASE, STR("{\"a\":1,\"b\":[1],\"\\u0063\":3,\"d\":4}"));
    struct snapshot t =
        change(&f, thread, s.id, "{\"c\":[0],\"e\":{}}", "{\"b\":[2,3],\"new\":[1]}", "a");
    EXPECT_STR(get(&f, t.id), STR("{\"b\":[1,2,3],\"\\u0063\":[0],\"d\":4,\"e\":{},\"new\":[1]}"));
    EXPECT_STR(get(&f, s.id), STR("{\"a\":1,\"b\":[1],\"\\u0063\":3,\"d\":4}"));
    struct snapshot u = change(&f, thread, t.id, NULL, NULL, "not there");
    EXPECT(memcmp(&t.sha256, &u.sha256, sizeof t.sha256) == 0);
    struct context *c = begin_reading(&f);
    EXPECT_EQ(snapshot_get_member(c, u.id, STR("c"), &value), OK);
    EXPECT_STR(value, STR("[0]"));
    EXPECT_EQ(snapshot_get_member(c, u.id, STR("a"), &value), OK);
    EXPECT(str_is_none(value));
    commit(&f);
    fixture_end(&f);
}

static void expect_fault(struct fixture *f, struct uuid thread, struct uuid base,
    const struct snapshot_change *wanted, const char *pointer)
{
    struct snapshot unused;
    struct context *c = begin(f);
    EXPECT_EQ(snapshot_change(c, thread, base, wanted, STR("/values"), &unused), ERR_INVALID);
    EXPECT_EQ(c->problem->n_faults, 1);
    EXPECT_STR(c->problem->faults[0].pointer, str_of(pointer));
    abandon(f);
    told(f);
}

TEST(a_change_that_cannot_be_names_the_member)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid s = put(&f, thread, NO_BASE, STR("{\"a/b~\":1,\"l\":[]}")).id;
    const struct str removed[] = {STR("x"), STR("l")};
    expect_fault(&f, thread, s, &(struct snapshot_change){.append = STR("{\"a/b~\":[1]}")},
        "/values/append/a~1b~0");
    expect_fault(
        &f, thread, s, &(struct snapshot_change){.append = STR("{\"l\":1}")}, "/values/append/l");
    expect_fault(&f, thread, s,
        &(struct snapshot_change){.append = STR("{\"l\":[]}"), .set = STR("{\"l\":[]}")},
        "/values/append/l");
    expect_fault(&f, thread, s,
        &(struct snapshot_change){.set = STR("{\"l\":[]}"), .remove = removed, .n_remove = 2},
        "/values/remove/1");
    expect_fault(&f, thread, s, &(struct snapshot_change){.set = STR("[]")}, "/values/set");
    struct uuid list = put(&f, thread, NO_BASE, STR("[1]")).id;
    expect_fault(&f, thread, list, &(struct snapshot_change){.set = STR("{}")}, "/values");
    fixture_end(&f);
}

TEST(a_base_of_another_thread_is_none)
{
    struct fixture f;
    struct snapshot s;
    fixture_begin(&f);
    struct uuid one = make_thread(&f), two = make_thread(&f);
    struct uuid base = put(&f, one, NO_BASE, conversation(&f, 3)).id;
    EXPECT_EQ(snapshot_put(begin(&f), two, base, conversation(&f, 3), &s), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(snapshot_get_head(begin_reading(&f), base, &s), OK);
    commit(&f);
    EXPECT_EQ(s.size_bytes, conversation(&f, 3).len);
    EXPECT(uuid_eq(s.thread_id, one));
    fixture_end(&f);
}

/* --- Drops ---------------------------------------------------------------------------------- */

enum { FAMILY = 5 };

/* A root, two that fork from it, and one more on each. */
static void make_family(struct fixture *f, struct uuid thread, struct uuid *ids, struct str *texts)
{
    static const size_t parents[FAMILY] = {0, 0, 0, 1, 2};
    for (size_t i = 0; i < FAMILY; i++) {
        struct str last = message(f, 100 + i);
        struct str base = i == 0 ? STR("{\"m\":[]}") : texts[parents[i]];
        texts[i] = arena_printf(f->arena, "%.*s%s%.*s]}", (int)base.len - 2, base.ptr,
            i == 0 ? "" : ",", STR_ARG(last));
        ids[i] = put(f, thread, i == 0 ? NO_BASE : ids[parents[i]], texts[i]).id;
    }
}

static bool next_order(size_t *order)
{
    size_t i = FAMILY - 1, k = FAMILY - 1;
    while (i > 0 && order[i - 1] > order[i])
        i--;
    if (i == 0)
        return false;
    while (order[k] < order[i - 1])
        k--;
    size_t swapped = order[i - 1];
    order[i - 1] = order[k];
    order[k] = swapped;
    for (size_t a = i, b = FAMILY - 1; a < b; a++, b--) {
        swapped = order[a];
        order[a] = order[b];
        order[b] = swapped;
    }
    return true;
}

TEST(whatever_is_dropped_first_the_others_stay_whole)
{
    struct fixture f;
    size_t order[FAMILY] = {0, 1, 2, 3, 4};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    do {
        struct uuid ids[FAMILY];
        struct str texts[FAMILY], document;
        bool gone[FAMILY] = {false};
        make_family(&f, thread, ids, texts);
        struct context *c = begin(&f);
        for (size_t i = 0; i < FAMILY; i++) {
            EXPECT_EQ(snapshot_drop(c, ids[order[i]]), OK);
            gone[order[i]] = true;
            for (size_t k = 0; k < FAMILY; k++) {
                EXPECT_EQ(snapshot_get(c, ids[k], &document), gone[k] ? ERR_NOT_FOUND : OK);
                if (!gone[k])
                    EXPECT_STR(document, texts[k]);
            }
        }
        commit(&f);
    } while (next_order(order));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshot_items"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_doubts"), FAMILY);
    fixture_end(&f);
}

TEST(what_was_dropped_is_no_base_and_dropping_it_again_does_nothing)
{
    struct fixture f;
    struct snapshot s;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid one = put(&f, thread, NO_BASE, conversation(&f, 3)).id;
    struct uuid two = put(&f, thread, one, conversation(&f, 4)).id;
    drop(&f, one);
    drop(&f, one);
    EXPECT_EQ(snapshot_put(begin(&f), thread, one, conversation(&f, 5), &s), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_STR(get(&f, two), conversation(&f, 4));
    fixture_end(&f);
}

/* --- Collection ----------------------------------------------------------------------------- */

/* Several passes: what one drops, the next one doubts, and the one after that removes. */
static void sweep(struct fixture *f)
{
    for (int i = 0; i < 4; i++) {
        struct sweep_position position = {0};
        struct sweep_report report = {.more = true};
        while (report.more) {
            EXPECT_EQ(model_sweep(begin(f), &position, &report), OK);
            commit(f);
        }
    }
}

static void expect_rows(struct fixture *f, int64_t snapshots, int64_t items)
{
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM snapshots"), snapshots);
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM items"), items);
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM item_doubts"), 0);
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM snapshot_garbage"), 0);
}

TEST(items_go_with_the_last_snapshot_that_names_them)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = make_thread(&f), two = make_thread(&f);
    struct uuid of_one = put(&f, one, NO_BASE, conversation(&f, 6)).id;
    struct uuid of_two = put(&f, two, NO_BASE, conversation(&f, 4)).id;
    sweep(&f);
    expect_rows(&f, 2, 6);
    drop(&f, of_one);
    sweep(&f);
    expect_rows(&f, 1, 4);
    EXPECT_STR(get(&f, of_two), conversation(&f, 4));
    drop(&f, of_two);
    sweep(&f);
    expect_rows(&f, 0, 0);
    fixture_end(&f);
}

TEST(a_deleted_thread_leaves_no_snapshot_and_no_item_of_its_own)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = make_thread(&f), two = make_thread(&f), base = NO_BASE;
    for (size_t i = 0; i < 100; i++)
        base = put(&f, one, base, conversation(&f, i + 1)).id;
    struct uuid stays = put(&f, two, NO_BASE, conversation(&f, 3)).id;
    EXPECT_EQ(delete_thread(begin(&f), one), OK);
    commit(&f);
    sweep(&f);
    expect_rows(&f, 1, 3);
    EXPECT_STR(get(&f, stays), conversation(&f, 3));
    fixture_end(&f);
}

TEST(a_deleted_tenant_leaves_nothing)
{
    struct fixture f;
    struct snapshot s;
    fixture_begin(&f);
    struct uuid tenant = make_tenant(&f, "other");
    struct thread thread = {0};
    struct context *c = begin_as(&f, tenant);
    EXPECT_EQ(thread_create(c, &thread), OK);
    EXPECT_EQ(snapshot_put(c, thread.id, NO_BASE, conversation(&f, 5), &s), OK);
    EXPECT_EQ(snapshot_put(c, thread.id, s.id, conversation(&f, 6), &s), OK);
    commit(&f);
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    sweep(&f);
    expect_rows(&f, 0, 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshot_items"), 0);
    fixture_end(&f);
}

TEST(what_was_dropped_goes_once_those_that_build_on_it_are_whole)
{
    struct fixture f;
    struct uuid ids[6];
    struct str texts[6];
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), base = NO_BASE;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        struct str list = conversation(&f, i + 30);
        texts[i] = arena_printf(f.arena, "%.*s,\"only\":%.*s}", (int)list.len - 1, list.ptr,
            STR_ARG(message(&f, 1000 + i)));
        base = ids[i] = put(&f, thread, base, texts[i]).id;
    }
    for (size_t i = 0; i < 4; i++)
        drop(&f, ids[i]);
    sweep(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots"), 6); /* for an hour */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots WHERE rebase_at IS NOT NULL"), 1);
    sql_exec(&f, "UPDATE snapshots SET rebase_at = 1 WHERE rebase_at IS NOT NULL");
    sweep(&f);
    expect_rows(&f, 2, 35 + 2);
    for (size_t i = 4; i < 6; i++)
        EXPECT_STR(get(&f, ids[i]), texts[i]);
    EXPECT_EQ(get_fails(&f, ids[3]), ERR_NOT_FOUND);
    fixture_end(&f);
}

TEST(a_job_of_the_sweep_takes_as_many_snapshots_as_their_size_allows)
{
    struct fixture f;
    struct owned_id due[8];
    size_t n;
    bool more;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (size_t i = 0; i < 4; i++)
        put(&f, thread, NO_BASE, restless(&f, i));
    sql_exec(&f, "UPDATE snapshots SET rebase_at = 1, size_bytes = 5000000");
    EXPECT_EQ(snapshot_list_rebase(begin(&f), COUNT_OF(due), due, &n), OK);
    commit(&f);
    EXPECT_EQ(n, 2);
    sql_exec(&f, on_postgres() ? "UPDATE snapshots SET rebase_at = NULL, "
                                 "manifest = decode(repeat('00', 10000), 'hex')"
                               : "UPDATE snapshots SET rebase_at = NULL, "
                                 "manifest = zeroblob(10000)");
    EXPECT_EQ(snapshot_collect_garbage(begin(&f), thread, &more), OK);
    commit(&f);
    EXPECT(more);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots"), 2);
    fixture_end(&f);
}

TEST(a_damaged_snapshot_keeps_what_it_builds_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid one = put(&f, thread, NO_BASE, conversation(&f, 3)).id;
    struct uuid two = put(&f, thread, one, conversation(&f, 4)).id;
    drop(&f, one);
    sql_exec(&f, "UPDATE snapshots SET rebase_at = 1, size_bytes = 7 WHERE base_id IS NOT NULL");
    sweep(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots"), 2);
    EXPECT_EQ(get_fails(&f, two), ERR_DAMAGED);
    fixture_end(&f);
}

/* --- Compression ---------------------------------------------------------------------------- */

TEST(a_long_item_is_compressed_at_once_and_a_short_one_is_not)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str list = conversation(&f, 40);
    struct str document = arena_printf(f.arena, "[%.*s,%.*s,\"%s\"]", STR_ARG(list),
        STR_ARG(message(&f, 0)), "ends with something that is not like anything before it, 0xf00");
    struct uuid id = put(&f, thread, NO_BASE, document).id;
    EXPECT_STR(get(&f, id), document);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary = 0"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary = -1"), 2);
    EXPECT(sql_i64(&f, "SELECT max(length(bytes)) FROM items") < 1024);
    sweep(&f); /* too few for a dictionary */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_dictionaries"), 0);
    fixture_end(&f);
}

TEST(a_tenant_with_many_items_gets_a_dictionary_and_they_shrink)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid one = put(&f, thread, NO_BASE, conversation(&f, 300)).id;
    int64_t before = sql_i64(&f, "SELECT sum(length(bytes)) FROM items");
    for (int i = 0; i < 3; i++)
        sweep(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_dictionaries"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary = 1"), 300);
    EXPECT(sql_i64(&f, "SELECT sum(length(bytes)) FROM items") * 2 < before);
    EXPECT_STR(get(&f, one), conversation(&f, 300));
    struct uuid two = put(&f, thread, one, conversation(&f, 310)).id;
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary = 1"), 310);
    EXPECT_STR(get(&f, two), conversation(&f, 310));
    sql_exec(&f, "UPDATE item_dictionaries SET sha256 = bytes");
    struct str document;
    EXPECT_EQ(snapshot_get(begin_reading(&f), two, &document), ERR_DAMAGED);
    commit(&f);
    EXPECT_PART(told(&f), "dictionary 1 of items");
    struct uuid three = put(&f, thread, NO_BASE, STR("[\"" LONG_TEXT "\"]")).id;
    EXPECT_STR(get(&f, three), STR("[\"" LONG_TEXT "\"]"));
    sweep(&f); /* which continues with all the rest */
    fixture_end(&f);
}

/* Reads and computes as the sweeper does, outside of the job that stores. */
static void prepare(struct fixture *f, struct item_packing *packing)
{
    EXPECT_EQ(item_packing_read(begin_reading(f), packing), OK);
    commit(f);
    item_packing_compute(packing);
}

static bool store(struct fixture *f, struct item_packing *packing)
{
    bool more;
    EXPECT_EQ(item_packing_store(begin(f), packing, &more), OK);
    commit(f);
    return more;
}

TEST(what_was_packed_ahead_is_stored_only_for_items_that_still_exist)
{
    struct item_packing train = {0}, pack = {0};
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid one = put(&f, thread, NO_BASE, conversation(&f, 300)).id;
    prepare(&f, &train);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_dictionaries"), 0);
    drop(&f, one);
    sweep(&f);
    EXPECT(!store(&f, &train));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_dictionaries"), 0);

    one = put(&f, thread, NO_BASE, conversation(&f, 300)).id;
    prepare(&f, &pack); /* while there is no dictionary */
    EXPECT(!store(&f, &train));
    EXPECT(!store(&f, &pack));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_dictionaries"), 1);
    prepare(&f, &pack);
    EXPECT(store(&f, &pack));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary = 1"), 128);
    EXPECT_STR(get(&f, one), conversation(&f, 300));

    prepare(&f, &pack);
    drop(&f, one);
    sweep(&f);
    EXPECT(store(&f, &pack));
    expect_rows(&f, 0, 0);
    item_packing_deinit(&train);
    item_packing_deinit(&pack);
    fixture_end(&f);
}

TEST(items_that_have_nothing_in_common_are_tried_once)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct json_text text;
    json_text_init(&text, 1024 * 1024);
    json_write_array(&text.w);
    for (size_t i = 0; i < 260; i++) {
        char random[48];
        random_bytes(random, sizeof random);
        json_write_string(&text.w, base64_encode(f.arena, (struct str){random, sizeof random}));
    }
    json_write_end(&text.w);
    struct str document = json_text_take(&text, f.arena);
    struct uuid id = put(&f, thread, NO_BASE, document).id;
    for (int i = 0; i < 3; i++)
        sweep(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items WHERE dictionary IN (-1, 0)"), 0);
    EXPECT_STR(get(&f, id), document);
    fixture_end(&f);
}

/* --- Two nodes ------------------------------------------------------------------------------ */

enum { RACES = 60 };

struct racer {
    struct fixture f;
    struct uuid thread;
    struct uuid last;
};

/* Refers to the same items, and to none of them, again and again. */
static void *put_and_drop(void *data)
{
    struct racer *r = data;
    for (size_t i = 0; i < RACES; i++) {
        struct uuid before = r->last;
        r->last = put(&r->f, r->thread, NO_BASE, conversation(&r->f, 3 + i % 3)).id;
        if (i > 0)
            drop(&r->f, before);
        if (i % 4 == 0 && i < RACES - 1) {
            drop(&r->f, r->last);
            r->last = put(&r->f, r->thread, NO_BASE, conversation(&r->f, 2)).id;
        }
    }
    return NULL;
}

static void *settle(void *data)
{
    struct racer *r = data;
    bool more;
    for (size_t i = 0; i < RACES * 2; i++) {
        EXPECT_EQ(item_settle(begin(&r->f), &more), OK);
        commit(&r->f);
    }
    return NULL;
}

POSTGRES_ONLY(what_one_node_collects_another_never_misses)
{
    static struct racer racers[3];
    void *(*const works[])(void *) = {put_and_drop, put_and_drop, settle};
    pthread_t threads[COUNT_OF(works)];
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(works); i++) {
        racers[i] = (struct racer){.thread = make_thread(&f)};
        fixture_join(&racers[i].f, &f);
    }
    for (size_t i = 0; i < COUNT_OF(works); i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, works[i], &racers[i]), 0);
    for (size_t i = 0; i < COUNT_OF(works); i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2; i++)
        EXPECT_STR(get(&f, racers[i].last), conversation(&f, 3 + (RACES - 1) % 3));
    sweep(&f);
    expect_rows(&f, 2, 5);
    for (size_t i = COUNT_OF(works); i-- > 0;)
        fixture_end(&racers[i].f);
    fixture_end(&f);
}

/* --- Damage --------------------------------------------------------------------------------- */

static void expect_damaged(struct fixture *f, struct uuid id, const char *what)
{
    EXPECT_EQ(get_fails(f, id), ERR_DAMAGED);
    EXPECT_PART(told(f), what);
}

static const char *bytes_literal(struct fixture *f, struct str hex)
{
    return arena_cstr(
        f->arena, arena_printf(f->arena, "%s%.*s'", on_postgres() ? "'\\x" : "x'", STR_ARG(hex)));
}

/* Each hexadecimal digit changed in turn. */
static void flip_digits(
    struct fixture *f, const char *table, const char *column, struct uuid id, const char *what)
{
    struct str from = arena_printf(f->arena, "FROM %s", table);
    struct str hex = sql_hex(f, column, arena_cstr(f->arena, from));
    for (size_t i = 0; i <= hex.len; i++) {
        char *digits = arena_alloc(f->arena, hex.len);
        memcpy(digits, hex.ptr, hex.len);
        if (i < hex.len)
            digits[i] = digits[i] == '0' ? '1' : '0';
        sql_exec(
            f, arena_cstr(f->arena, arena_printf(f->arena, "UPDATE %s SET %s = %s", table, column,
                                        bytes_literal(f, (struct str){digits, hex.len}))));
        if (i < hex.len)
            expect_damaged(f, id, what);
    }
    EXPECT_STR(get(f, id), conversation(f, 1));
}

TEST(a_bit_that_changed_in_an_item_or_a_manifest_is_never_shown)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid id = put(&f, thread, NO_BASE, conversation(&f, 1)).id;
    flip_digits(&f, "snapshots", "manifest", id, "snapshot");
    flip_digits(&f, "snapshots", "sha256", id, "snapshot");
    flip_digits(&f, "items", "bytes", id, "item");
    EXPECT(store_stats(f.store).damaged > 100);
    fixture_end(&f);
}

TEST(an_item_that_is_gone_is_damage_and_comes_back_with_the_next_whole_put)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid id = put(&f, thread, NO_BASE, conversation(&f, 3)).id;
    sql_exec(&f, "DELETE FROM snapshot_items");
    sql_exec(&f, "DELETE FROM items");
    expect_damaged(&f, id, "the item with the SHA-256");
    put(&f, thread, NO_BASE, conversation(&f, 3));
    EXPECT_STR(get(&f, id), conversation(&f, 3));
    sql_exec(&f, "UPDATE snapshots SET size_bytes = size_bytes + 1");
    expect_damaged(&f, id, "the manifest of snapshot");
    struct uuid next = put(&f, thread, id, conversation(&f, 4)).id;
    EXPECT_STR(get(&f, next), conversation(&f, 4));
    fixture_end(&f);
}
