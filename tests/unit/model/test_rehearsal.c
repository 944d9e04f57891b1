/* SPDX-License-Identifier: Apache-2.0 */
/* Rehearsals: the expensive part of a large write runs before its WRITE job, and changes nothing
 * about the result. */
#include "fixture.h"

#include "base/json/json_write.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/checkpoints/snapshot_plan.h"
#include "model/rehearsal.h"

static const struct uuid NO_BASE = UUID_NIL;

/* {"list":[…]} with n texts, each of which is an item; `salt` makes them new. */
static struct str document(struct fixture *f, size_t n, int salt)
{
    struct json_text text;
    json_text_init(&text, 4 * 1024 * 1024);
    json_write_object(&text.w);
    json_write_name(&text.w, "list");
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++)
        json_write_string(&text.w,
            arena_printf(f->arena, "%d-%zu: %s", salt, i,
                "a text that is long enough to be an item of its own, with a number before it"));
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, f->arena);
}

/* One WRITE job. */
static enum error try_put(struct fixture *f, struct rehearsal *r, struct uuid thread,
    struct uuid base, struct str text, struct snapshot *out)
{
    struct context *c = begin(f);
    c->rehearsal = r;
    r->plan_is_used = false;
    return leave(f, snapshot_put(c, thread, base, text, out));
}

/* The WRITE job that wants a rehearsal, and the READ job that is one. */
static void rehearse(
    struct fixture *f, struct rehearsal *r, struct uuid thread, struct uuid base, struct str text)
{
    struct snapshot unused;
    EXPECT_EQ(try_put(f, r, thread, base, text, &unused), ERR_CANCELLED);
    EXPECT_EQ(r->stage, REHEARSAL_WANTED);
    rehearsal_begin(r);
    struct context *c = begin_reading(f);
    tx_rehearse(c->tx);
    c->rehearsal = r;
    EXPECT_EQ(leave(f, snapshot_put(c, thread, base, text, &unused)), ERR_CANCELLED);
    rehearsal_end(r);
    EXPECT_EQ(r->stage, REHEARSAL_NONE);
    EXPECT(r->plan != NULL);
}

static enum error store_slice(struct fixture *f, struct rehearsal *r)
{
    return leave(f, snapshot_plan_store_some(begin(f), r->plan));
}

/* Returns the number of slices. */
static int store_all(struct fixture *f, struct rehearsal *r)
{
    int n = 0;
    enum error e = OK;
    EXPECT(snapshot_plan_is_ahead(r->plan));
    do {
        e = store_slice(f, r);
        EXPECT_EQ(e, OK);
        n++;
    } while (snapshot_plan_needs_more(r->plan, e));
    return n;
}

static struct snapshot put_rehearsed(
    struct fixture *f, struct rehearsal *r, struct uuid thread, struct uuid base, struct str text)
{
    struct snapshot s = {0};
    EXPECT_EQ(try_put(f, r, thread, base, text, &s), OK);
    return s;
}

static void expect_document(struct fixture *f, struct uuid id, struct str text)
{
    struct str found = STR("");
    EXPECT_EQ(snapshot_get(begin_reading(f), id, &found), OK);
    commit(f);
    EXPECT_STR(found, text);
}

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

static int64_t count(struct fixture *f, const char *table)
{
    return sql_i64(
        f, arena_cstr(f->arena, arena_printf(f->arena, "SELECT count(*) FROM %s", table)));
}

/* --- Snapshots ------------------------------------------------------------------------------ */

SQLITE_ONLY(a_document_in_the_body_of_the_request_is_not_copied)
{
    struct fixture f;
    struct rehearsal copied = {0}, borrowed = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 2000, 1);
    rehearse(&f, &copied, thread, NO_BASE, text);
    borrowed.body = text;
    rehearse(&f, &borrowed, thread, NO_BASE, text);
    EXPECT_EQ(borrowed.counted_bytes + text.len, copied.counted_bytes);
    store_all(&f, &borrowed);
    expect_document(&f, put_rehearsed(&f, &borrowed, thread, NO_BASE, text).id, text);
    struct str other = arena_str(f.arena, text);
    EXPECT(rehearsal_has_text(&borrowed, str_slice(text, text.len - 1, text.len)));
    EXPECT(!rehearsal_has_text(&borrowed, other));
    EXPECT(!rehearsal_has_text(&borrowed, (struct str){text.ptr + 1, text.len}));
    EXPECT(!rehearsal_has_text(&borrowed, (struct str){text.ptr - 1, 1}));
    rehearsal_deinit(&copied);
    rehearsal_deinit(&borrowed);
    fixture_end(&f);
}

SQLITE_ONLY(a_large_document_is_stored_in_slices_that_stay_hidden_until_the_last_job)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 2000, 1);
    rehearse(&f, &r, thread, NO_BASE, text);
    EXPECT_EQ(count(&f, "snapshots"), 0); /* a rehearsal writes nothing */
    EXPECT(store_all(&f, &r) >= 2000 / SNAPSHOT_PLAN_ITEMS_AT_ONCE);
    EXPECT_EQ(count(&f, "items"), 2000);
    EXPECT_EQ(count(&f, "snapshots WHERE dropped_at IS NULL"), 0);
    EXPECT_EQ(count(&f, "snapshot_leftovers"), 1);
    struct uuid id = put_rehearsed(&f, &r, thread, NO_BASE, text).id;
    EXPECT_EQ(count(&f, "snapshots WHERE dropped_at IS NULL"), 1);
    EXPECT_EQ(count(&f, "snapshot_leftovers"), 0);
    expect_document(&f, id, text);
    sweep(&f);
    expect_document(&f, id, text);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(a_document_with_few_items_is_stored_whole_by_the_last_job)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str base_text = document(&f, 1500, 1);
    struct snapshot base = {0};
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, base_text, &base), OK);
    commit(&f);
    struct str text = document(&f, 1501, 1); /* one item more */
    rehearse(&f, &r, thread, base.id, text);
    EXPECT(!snapshot_plan_needs_more(r.plan, OK));
    struct uuid id = put_rehearsed(&f, &r, thread, base.id, text).id;
    EXPECT_EQ(count(&f, "items"), 1501);
    EXPECT_EQ(count(&f, "snapshots WHERE base_id IS NOT NULL"), 1);
    expect_document(&f, id, text);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

/* The trigger compares four million pairs of numbers, for longer than a slice may take. */
static const char *const SLOW_SNAPSHOTS =
    "CREATE TABLE numbers AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 2000) SELECT i FROM n;"
    "CREATE TRIGGER slow AFTER INSERT ON snapshots BEGIN "
    "SELECT count(*) FROM numbers AS a, numbers AS b WHERE a.i + b.i = 0; END";

SQLITE_ONLY(a_slice_whose_beginning_takes_all_its_time_stores_some_items_all_the_same)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 2000, 1);
    sql_exec(&f, SLOW_SNAPSHOTS);
    rehearse(&f, &r, thread, NO_BASE, text);
    EXPECT_EQ(store_slice(&f, &r), OK);
    EXPECT(count(&f, "items") > 0);
    EXPECT(snapshot_plan_needs_more(r.plan, OK));
    store_all(&f, &r);
    expect_document(&f, put_rehearsed(&f, &r, thread, NO_BASE, text).id, text);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(what_no_job_adopts_is_deleted_after_its_time_and_its_slices_end)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 2000, 1);
    rehearse(&f, &r, thread, NO_BASE, text);
    EXPECT_EQ(store_slice(&f, &r), OK);
    EXPECT(snapshot_plan_needs_more(r.plan, OK));
    sweep(&f);
    EXPECT_EQ(count(&f, "snapshots"), 1); /* its lease has not ended */
    sql_exec(&f, "UPDATE snapshot_leftovers SET due_at = 1");
    EXPECT_EQ(store_slice(&f, &r), ERR_CANCELLED);
    EXPECT(!snapshot_plan_needs_more(r.plan, ERR_CANCELLED));
    sweep(&f);
    EXPECT_EQ(count(&f, "snapshots"), 0);
    EXPECT_EQ(count(&f, "items"), 0);
    EXPECT_EQ(count(&f, "snapshot_leftovers"), 0);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(a_snapshot_that_the_sweep_may_delete_is_rehearsed_again_and_then_stored)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 1500, 1);
    rehearse(&f, &r, thread, NO_BASE, text);
    store_all(&f, &r);
    sql_exec(&f, "UPDATE snapshot_leftovers SET due_at = 1");
    rehearse(&f, &r, thread, NO_BASE, text);
    store_all(&f, &r);
    struct uuid id = put_rehearsed(&f, &r, thread, NO_BASE, text).id;
    sweep(&f);
    expect_document(&f, id, text);
    EXPECT_EQ(count(&f, "snapshots"), 1);
    EXPECT_EQ(count(&f, "items"), 1500);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(after_its_last_round_the_write_job_does_the_work)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 1000, 1);
    for (int i = 0; i < REHEARSAL_ROUNDS; i++) {
        rehearse(&f, &r, thread, NO_BASE, text);
        r.plan = NULL; /* as if the data had changed meanwhile */
    }
    struct uuid id = put_rehearsed(&f, &r, thread, NO_BASE, text).id;
    expect_document(&f, id, text);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(a_base_that_is_dropped_meanwhile_keeps_its_items_for_the_adopted_snapshot)
{
    struct fixture f;
    struct rehearsal r = {0};
    struct snapshot base = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, document(&f, 3000, 1), &base), OK);
    commit(&f);
    struct str old = document(&f, 3000, 1), more = document(&f, 1000, 2);
    /* {"list":[…],"more":[…]} */
    struct str text = arena_printf(
        f.arena, "%.*s,\"more\"%.*s", (int)old.len - 1, old.ptr, (int)more.len - 7, more.ptr + 7);
    rehearse(&f, &r, thread, base.id, text);
    EXPECT(store_all(&f, &r) > 1);
    EXPECT_EQ(snapshot_drop(begin(&f), base.id), OK);
    commit(&f);
    struct uuid id = put_rehearsed(&f, &r, thread, NO_BASE, text).id;
    sweep(&f);
    expect_document(&f, id, text);
    sql_exec(&f, "UPDATE snapshots SET rebase_at = 1 WHERE rebase_at IS NOT NULL");
    sweep(&f);
    expect_document(&f, id, text);
    EXPECT_EQ(count(&f, "snapshots"), 1);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(a_plan_on_a_base_that_was_dropped_before_its_first_slice_is_made_again)
{
    struct fixture f;
    struct rehearsal r = {0};
    struct snapshot base = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str text = document(&f, 1001, 1);
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, document(&f, 1000, 1), &base), OK);
    commit(&f);
    rehearse(&f, &r, thread, base.id, text);
    EXPECT(!snapshot_plan_needs_more(r.plan, OK));
    EXPECT_EQ(snapshot_drop(begin(&f), base.id), OK);
    commit(&f);
    rehearse(&f, &r, thread, NO_BASE, text);
    store_all(&f, &r);
    expect_document(&f, put_rehearsed(&f, &r, thread, NO_BASE, text).id, text);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

SQLITE_ONLY(a_thread_that_is_deleted_meanwhile_leaves_nothing)
{
    struct fixture f;
    struct rehearsal r = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    rehearse(&f, &r, thread, NO_BASE, document(&f, 2000, 1));
    EXPECT_EQ(store_slice(&f, &r), OK);
    EXPECT(snapshot_plan_needs_more(r.plan, OK));
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    sweep(&f);
    EXPECT_EQ(count(&f, "snapshots"), 0);
    EXPECT_EQ(count(&f, "items"), 0);
    EXPECT_EQ(store_slice(&f, &r), ERR_CANCELLED);
    rehearsal_deinit(&r);
    fixture_end(&f);
}

TEST(a_large_dropped_snapshot_is_deleted_in_slices)
{
    struct fixture f;
    struct snapshot s = {0};
    bool more = false;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    EXPECT_EQ(snapshot_put(begin(&f), thread, NO_BASE, document(&f, 2000, 1), &s), OK);
    commit(&f);
    EXPECT_EQ(snapshot_drop(begin(&f), s.id), OK);
    commit(&f);
    EXPECT_EQ(count(&f, "snapshot_leftovers"), 1);
    EXPECT_EQ(count(&f, "snapshot_items"), 2000);
    for (int jobs = 0; count(&f, "snapshots") > 0 && jobs < 2000; jobs++) {
        EXPECT_EQ(snapshot_collect_leftover(begin(&f), s.id, &more), OK);
        commit(&f);
    }
    EXPECT_EQ(count(&f, "snapshots"), 0);
    sweep(&f);
    EXPECT_EQ(count(&f, "items"), 0);
    fixture_end(&f);
}

/* --- Results -------------------------------------------------------------------------------- */

TEST(a_result_is_found_by_equal_inputs_only)
{
    struct rehearsal r = {0};
    struct context c = {.rehearsal = &r};
    struct str result = STR("");
    rehearsal_begin(&r);
    rehearsal_keep(&c, REHEARSED_PATCH, STR("a"), STR("b"), STR("c"));
    EXPECT(rehearsal_find(&c, REHEARSED_PATCH, STR("a"), STR("b"), &result));
    EXPECT_STR(result, STR("c"));
    EXPECT(!rehearsal_find(&c, REHEARSED_STATE, STR("a"), STR("b"), &result));
    EXPECT(!rehearsal_find(&c, REHEARSED_PATCH, STR("a2"), STR("b"), &result));
    EXPECT(!rehearsal_find(&c, REHEARSED_PATCH, STR("a"), STR("b2"), &result));
    rehearsal_end(&r);
    EXPECT_EQ(r.stage, REHEARSAL_NONE);
    EXPECT(rehearsal_find(&c, REHEARSED_PATCH, STR("a"), STR("b"), &result));
    rehearsal_keep(&c, REHEARSED_PATCH, STR("x"), STR("y"), STR("z")); /* not in a rehearsal */
    EXPECT(!rehearsal_find(&c, REHEARSED_PATCH, STR("x"), STR("y"), &result));
    rehearsal_begin(&r); /* forgets */
    EXPECT(!rehearsal_find(&c, REHEARSED_PATCH, STR("a"), STR("b"), &result));
    rehearsal_deinit(&r);
}

TEST(only_large_work_is_rehearsed_and_not_again_if_nothing_could_be_kept)
{
    struct rehearsal r = {0};
    struct context c = {.rehearsal = &r}, none = {0};
    EXPECT_EQ(rehearsal_first(&none, REHEARSAL_FROM_BYTES), OK);
    EXPECT_EQ(rehearsal_first(&c, REHEARSAL_FROM_BYTES - 1), OK);
    EXPECT_EQ(rehearsal_first(&c, REHEARSAL_FROM_BYTES), ERR_CANCELLED);
    rehearsal_begin(&r);
    EXPECT_EQ(rehearsal_first(&c, REHEARSAL_FROM_BYTES), OK);
    rehearsal_end(&r); /* with nothing */
    EXPECT_EQ(rehearsal_first(&c, REHEARSAL_FROM_BYTES), OK);
    rehearsal_deinit(&r);
}

TEST(the_memory_of_rehearsals_is_limited_for_a_call_and_for_all)
{
    enum { CALLS = REHEARSAL_ALL_MAX_BYTES / REHEARSAL_MAX_BYTES };
    struct rehearsal calls[CALLS] = {0}, last = {0};
    EXPECT(!rehearsal_reserve(&last, REHEARSAL_MAX_BYTES + 1));
    for (size_t i = 0; i < CALLS; i++) {
        EXPECT(rehearsal_reserve(&calls[i], REHEARSAL_MAX_BYTES));
        EXPECT(!rehearsal_reserve(&calls[i], 1));
    }
    size_t rest = REHEARSAL_ALL_MAX_BYTES - CALLS * (size_t)REHEARSAL_MAX_BYTES;
    EXPECT(!rehearsal_reserve(&last, rest + 1));
    EXPECT(rehearsal_reserve(&last, rest));
    rehearsal_deinit(&last);
    rehearsal_deinit(&calls[0]);
    EXPECT(rehearsal_reserve(&last, REHEARSAL_MAX_BYTES));
    rehearsal_deinit(&last);
    for (size_t i = 1; i < CALLS; i++)
        rehearsal_deinit(&calls[i]);
}
