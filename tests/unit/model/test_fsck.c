/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/steps.h"
#include "model/threads/event_index.h"
#include "model/upkeep/fsck.h"

static struct fsck *check_with(struct fixture *f, bool quick)
{
    struct fsck *fsck = ARENA_NEW(f->arena, struct fsck);
    fsck->arena = f->arena;
    fsck->quick = quick;
    fsck->files = on_postgres() ? NULL : "/nowhere";
    struct context *c = begin_reading(f);
    EXPECT_EQ(model_fsck(fsck, c->tx, &f->problem), OK);
    commit(f);
    return fsck;
}

/* Breaks something behind Cairn's back and expects exactly this finding, of this object. */
static void expect_found(
    struct fixture *f, const char *sql, const char *rule, const char *object, const char *detail)
{
    sql_exec(f, sql);
    struct fsck *fsck = check_with(f, false);
    EXPECT_EQ(fsck->n_findings, 1);
    if (fsck->n_findings == 0)
        return;
    EXPECT_STR(fsck->findings[0].rule, str_of(rule));
    EXPECT_PART(fsck->findings[0].object, object);
    EXPECT_PART(fsck->findings[0].detail, detail);
}

/* Some of everything: two tenants, threads with events, some pruned, runs in every status. */
static struct uuid fill(struct fixture *f)
{
    struct thread with_metadata = {
        .metadata = STR("{\"colour\":\"red\",\"n\":1.50,\"deep\":{\"a\":1},\"none\":null}")};
    struct uuid other = make_tenant(f, "other");
    EXPECT_EQ(thread_create(begin_as(f, other), &with_metadata), OK);
    commit(f);
    struct uuid thread = make_thread(f);
    add_events(f, thread, 130);
    int64_t pruned;
    EXPECT_EQ(event_prune(begin(f), thread, 20, &pruned), OK);
    commit(f);
    add_events(f, thread, 10);
    struct uuid idle = make_thread(f);
    EXPECT_EQ(event_prune(begin(f), idle, INT64_MAX, &pruned), OK);
    commit(f);
    make_claimed(f, thread);
    struct run waiting = make_run(f, make_thread(f), "direct");
    struct run child = {.dispatch = RUN_QUEUE, .has_parent_run_id = true};
    child.parent_run_id = waiting.id;
    EXPECT_EQ(run_start(begin(f), waiting.thread_id, RUN_POLICY_NONE, &child), OK);
    commit(f);
    struct run paused = make_run(f, make_thread(f), "direct");
    EXPECT_EQ(run_pause(begin(f), &paused), OK);
    commit(f);
    struct run cancelled = make_run(f, make_thread(f), "queue");
    EXPECT_EQ(run_cancel(begin(f), &cancelled, STR_NONE), OK);
    commit(f);
    struct uuid deleted = make_thread(f);
    EXPECT_EQ(delete_thread(begin(f), deleted), OK);
    commit(f);
    return thread;
}

TEST(what_cairn_has_written_breaks_no_rule)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    for (int quick = 0; quick < 2; quick++) {
        struct fsck *fsck = check_with(&f, quick != 0);
        for (size_t i = 0; i < fsck->n_findings; i++)
            test_fail(__FILE__, __LINE__, "%.*s: %.*s: %.*s", STR_ARG(fsck->findings[i].rule),
                STR_ARG(fsck->findings[i].object), STR_ARG(fsck->findings[i].detail));
        EXPECT(fsck->contents.rows > 100 || quick);
    }
    fixture_end(&f);
}

/* Edits a database of its own by hand, and expects this fault. */
static void expect_broken(const char *sql, const char *rule, const char *object, const char *detail)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    expect_found(&f, sql, rule, object, detail);
    fixture_end(&f);
}

TEST(a_missing_event_is_found_where_it_is_missing)
{
    expect_broken(
        "DELETE FROM events WHERE seq = 57", "events-gapless", "thread ", "event 57 is missing");
}

TEST(a_missing_event_is_found_by_a_quick_look_too)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    sql_exec(&f, "DELETE FROM events WHERE seq = 57");
    struct fsck *fsck = check_with(&f, true);
    EXPECT_EQ(fsck->n_findings, 1);
    EXPECT_STR(fsck->findings[0].rule, STR("events-gapless"));
    EXPECT_PART(fsck->findings[0].detail, "20 were pruned and the last is ");
    fixture_end(&f);
}

TEST(events_whose_ids_do_not_rise_are_found)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    if (!on_postgres()) /* the new id is that of a recent event */
        sql_exec(&f, "DELETE FROM event_index WHERE seq = 60");
    expect_found(&f, "UPDATE events SET id = (SELECT max(id) FROM events) + 1 WHERE seq = 60",
        "event-order", "event 61 of thread ", "is not greater than the previous id");
    fixture_end(&f);
}

SQLITE_ONLY(events_that_their_index_misses_are_found)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    add_events(&f, make_thread(&f), 2);
    EXPECT_EQ(event_index_recent(begin(&f)), OK);
    commit(&f);
    expect_found(&f, "DELETE FROM event_index WHERE id = (SELECT max(id) FROM event_index)",
        "events-indexed", "thread ", "the index of events is wrong at event ");
    fixture_end(&f);
}

TEST(a_status_that_nobody_knows_is_found)
{
    expect_broken("UPDATE threads SET status = 'odd' WHERE pruned_seq = 20", "thread-status",
        "thread ", "the status \"odd\" is unknown");
    expect_broken("UPDATE runs SET status = 'odd' WHERE status = 'queued'", "run-status", "run ",
        "the status \"odd\" is unknown");
    expect_broken("UPDATE threads SET run_policy = 'odd' WHERE pruned_seq = 20",
        "thread-run-policy", "thread ", "the run policy \"odd\" is unknown");
    expect_broken("UPDATE runs SET dispatch = 'odd' WHERE status = 'paused'", "run-dispatch",
        "run ", "the dispatch \"odd\" is unknown");
}

TEST(a_lease_without_a_worker_or_a_running_run_is_found)
{
    expect_broken("UPDATE runs SET worker = NULL WHERE worker IS NOT NULL", "run-lease", "run ",
        "a lease must have a worker, an end and a length");
    expect_broken("UPDATE runs SET worker = NULL, lease_ms = NULL, lease_expires_at = NULL "
                  "WHERE worker IS NOT NULL",
        "run-lease", "run ", "the run is running with dispatch queue and has no lease");
    expect_broken("UPDATE runs SET worker = 'w', lease_ms = 1, lease_expires_at = 1 "
                  "WHERE status = 'paused'",
        "run-lease", "run ", "the run is paused with dispatch direct and has a lease");
    expect_broken("UPDATE runs SET fence = 100000 WHERE worker IS NOT NULL", "run-fence", "run ",
        "the fencing token 100000 is greater than the last seq");
}

TEST(a_run_that_is_finished_and_is_not_is_found)
{
    expect_broken("UPDATE runs SET finished_at = NULL WHERE status = 'cancelled'", "run-finished",
        "run ", "the run is cancelled and has no finished_at");
    expect_broken("UPDATE runs SET paused_from = 'running' WHERE status = 'cancelled'",
        "run-status", "run ", "the run is cancelled, paused from \"running\"");
}

TEST(a_run_in_the_wrong_family_is_found)
{
    expect_broken("UPDATE runs SET depth = 3 WHERE parent_run_id IS NOT NULL", "run-parent", "run ",
        "the depth is 3, but must be 1");
    expect_broken("UPDATE runs SET parent_run_id = tenant_id WHERE parent_run_id IS NOT NULL",
        "run-parent", "run ", "the parent is not in the same thread");
    expect_broken("UPDATE threads SET most_recent_run_id = tenant_id "
                  "WHERE id = (SELECT thread_id FROM runs WHERE status = 'paused')",
        "thread-recent-run", "thread ", "the most recent run does not exist");
}

TEST(an_index_of_metadata_that_differs_is_found)
{
    expect_broken("DELETE FROM thread_metadata WHERE key = 'n'", "thread-metadata", "thread ",
        "the member \"n\" of the metadata is not in the index");
    expect_broken("INSERT INTO thread_metadata SELECT tenant_id, 'more', 'x', thread_id "
                  "FROM thread_metadata WHERE key = 'n'",
        "thread-metadata", "thread ",
        "the index of metadata filters has 4 members, the metadata 3");
    expect_broken("UPDATE thread_metadata SET value = '1.5' WHERE key = 'n'", "thread-metadata",
        "thread ", "the member \"n\" of the metadata");
}

TEST(documents_that_are_gone_are_found)
{
    expect_broken("DELETE FROM run_documents WHERE run_id = (SELECT id FROM runs "
                  "WHERE status = 'cancelled')",
        "run-documents", "run ", "the documents are missing");
    expect_broken("DELETE FROM thread_documents WHERE thread_id = (SELECT thread_id FROM runs "
                  "WHERE status = 'cancelled')",
        "thread-documents", "thread ", "the documents are missing");
}

/* PostgreSQL's columns refuse such text by themselves. */
SQLITE_ONLY(text_that_is_not_json_is_found)
{
    expect_broken("UPDATE run_documents SET state = '{' WHERE run_id = (SELECT id FROM runs "
                  "WHERE status = 'cancelled')",
        "json", "run ", "state is not valid JSON");
    expect_broken("UPDATE threads SET metadata = 'x' WHERE pruned_seq = 20", "json", "thread ",
        "metadata is not valid JSON");
    expect_broken("UPDATE events SET payload = '[1,]' WHERE seq = 70", "json",
        "event 70 of thread ", "payload is not valid JSON");
    expect_broken("DELETE FROM event_floor", "event-floor", "database", "must have one row");
}

TEST(a_changed_audit_log_is_found)
{
    expect_broken("UPDATE audit_log SET action = 'nothing.happened' WHERE seq = 2", "audit-chain",
        "tenant 018f0000-0000-7000-8000-000000000001", "record 2 is missing");
}

TEST(a_changed_audit_log_is_found_also_of_a_tenant_that_is_gone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid gone = make_tenant(&f, "gone");
    EXPECT_EQ(audit_record(begin_as(&f, gone), "thread.deleted", "thing", gone, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(delete_tenant(begin(&f), gone), OK);
    commit(&f);
    EXPECT_EQ(check_with(&f, false)->n_findings, 0);
    expect_found(&f, "UPDATE audit_log SET actor = 'nobody' WHERE action = 'thread.deleted'",
        "audit-chain", "tenant ", "record 1 is missing");
    fixture_end(&f);
}

/* --- References between rows ------------------------------------------------------------------ */

/* 32 bytes, in the words of the engine. */
static const char *some_hash(void)
{
    return on_postgres() ? "decode(repeat('5a', 32), 'hex')" : "zeroblob(32)";
}

static const char *inserts(struct fixture *f, const char *what, const char *values)
{
    return arena_cstr(
        f->arena, arena_printf(f->arena,
                      "INSERT INTO %s SELECT %s FROM threads WHERE pruned_seq = 20", what, values));
}

#define OF_FILE                                                                                   \
    "files (tenant_id, id, thread_id, name, last_version, current_version, metadata, created_at," \
    " updated_at)"
#define OF_STATE                                                                               \
    "state_documents (tenant_id, id, kind, agent_id, thread_id, name, created_at, updated_at," \
    " version)"
#define OF_SHARE                                                                               \
    "shares (tenant_id, id, thread_id, kind, permission, token_hash, redemptions, created_at," \
    " updated_at)"
#define OF_BLOB "blobs (tenant_id, sha256, id, size_bytes, created_at)"

TEST(files_states_and_shares_whose_parts_are_missing_are_found)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    sql_exec(&f, inserts(&f, OF_FILE, "tenant_id, id, id, 'a', 1, 1, '{}', 1, 1"));
    sql_exec(&f, inserts(&f, OF_STATE, "tenant_id, id, 'state', id, id, 'a', 1, 1, 3"));
    struct str share =
        arena_printf(f.arena, "tenant_id, id, id, 'participate', 'read', %s, 2, 1, 1", some_hash());
    sql_exec(&f, inserts(&f, OF_SHARE, arena_cstr(f.arena, share)));
    struct fsck *fsck = check_with(&f, true);
    EXPECT_EQ(fsck->n_findings, 3);
    EXPECT_STR(fsck->findings[0].rule, STR("file-versions"));
    EXPECT_PART(fsck->findings[0].detail, "version 1, the current one, is missing");
    EXPECT_STR(fsck->findings[1].rule, STR("state-versions"));
    EXPECT_PART(fsck->findings[1].detail, "version 3 must exist");
    EXPECT_STR(fsck->findings[2].rule, STR("share-redemptions"));
    EXPECT_PART(fsck->findings[2].detail, "the object counts 2 redemptions");
    fixture_end(&f);
}

TEST(steps_that_are_missing_or_have_lost_their_messages_are_found)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct step steps[3] = {{.action_type = STR("memory_retrieval")},
        {.action_type = STR("compaction"), .messages_snapshot = STR("[{}]")},
        {.action_type = STR("tool_execution")}};
    EXPECT_EQ(run_get_head(begin(&f), run.id, &run), OK);
    EXPECT_EQ(step_append(&f.context, &run, steps, 3, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(check_with(&f, false)->n_findings, 0);
    sql_exec(&f, "DELETE FROM snapshots; DELETE FROM steps WHERE number = 2");
    struct fsck *fsck = check_with(&f, true);
    EXPECT_EQ(fsck->n_findings, 2);
    EXPECT_STR(fsck->findings[0].rule, STR("step-numbers"));
    EXPECT_PART(fsck->findings[0].detail, "the object counts 4 steps");
    EXPECT_STR(fsck->findings[1].rule, STR("step-messages"));
    EXPECT_PART(fsck->findings[1].detail, "the messages of step 3 are missing");
    fixture_end(&f);
}

TEST(a_step_of_cairn_that_contradicts_its_run_is_found)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run = make_run(&f, make_thread(&f), "direct");
    struct run ended = run;
    ended.status = RUN_FAILED;
    ended.error = STR("{\"code\":\"x\"}");
    EXPECT_EQ(run_update(begin(&f), &run, &ended), OK);
    commit(&f);
    EXPECT_EQ(check_with(&f, false)->n_findings, 0);
    expect_found(&f, "UPDATE steps SET action_type = 'run_completed' WHERE number = 2",
        "step-lifecycle", "run ", "Cairn's step 2 does not agree with the status of the run");
    expect_found(&f, "UPDATE steps SET action_type = 'error', lifecycle = false WHERE number = 2",
        "step-numbers", "run ", "the object counts 2 steps");
    fixture_end(&f);
}

TEST(content_that_is_not_there_is_found)
{
    struct fixture f;
    fixture_begin(&f);
    fill(&f);
    struct str blob = arena_printf(f.arena, "tenant_id, %s, id, 5, 1", some_hash());
    sql_exec(&f, inserts(&f, OF_BLOB, arena_cstr(f.arena, blob)));
    struct fsck *fsck = check_with(&f, false);
    EXPECT_EQ(fsck->n_findings, 1);
    EXPECT_STR(fsck->findings[0].rule, STR("content"));
    EXPECT_STR(fsck->findings[0].detail, STR("it does not exist"));
    fixture_end(&f);
}

TEST(more_findings_than_there_is_room_for_are_counted)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    add_events(&f, thread, 300);
    /* The first id is the greatest: all the others are smaller than the one before. */
    sql_exec(&f, "UPDATE events SET id = -id");
    if (!on_postgres())
        sql_exec(&f, "UPDATE event_floor SET indexed_id = -1000000");
    struct fsck *fsck = check_with(&f, false);
    EXPECT_EQ(fsck->n_findings, FSCK_MAX_FINDINGS);
    EXPECT_EQ(fsck->n_findings + fsck->n_untold, 301);
    fixture_end(&f);
}

static const struct sql_statement SLOW = {
    .index = 0, .name = "slow", .text = {[ENGINE_POSTGRES] = "SELECT 1 FROM pg_sleep(13)"}};
static const struct sql_statement *const SLOW_ALONE[] = {&SLOW};

static enum error wait_long(struct fsck *fsck, struct tx *tx, struct problem *problem)
{
    struct query q;
    query_begin(&q, tx, &SLOW, fsck->arena);
    fsck_count(fsck, "slow", query_next(&q) ? 1 : 0);
    return query_end(&q);
}

static void on_fatal(const char *what)
{
    test_fail(__FILE__, __LINE__, "fatal: %s", what);
}

/* Longer than the database gives a server's statement, and a server the database. */
POSTGRES_ONLY(a_check_waits_for_a_statement_as_long_as_it_takes)
{
    struct fixture f;
    fixture_begin(&f);
    const struct store_config config = {.engine = ENGINE_POSTGRES,
        .url = str_of(getenv("CAIRN_TEST_POSTGRES")),
        .replica_url = STR_NONE,
        .schema = str_of(f.schema),
        .statements = SLOW_ALONE,
        .n_statements = COUNT_OF(SLOW_ALONE),
        .on_fatal = on_fatal};
    struct fsck *fsck = ARENA_NEW(f.arena, struct fsck);
    fsck->arena = f.arena;
    EXPECT_EQ(store_fsck(&config, wait_long, fsck, &f.problem), OK);
    EXPECT_EQ(fsck->contents.rows, 1);
    fixture_end(&f);
}

/* --- Snapshots ------------------------------------------------------------------------------ */

#define LONG_TEXT "a text that is so long that it becomes an item of its own, sixty-four and more"

static void fill_snapshots(struct fixture *f)
{
    struct uuid thread = make_thread(f), base = UUID_NIL;
    struct context *c = begin(f);
    for (int i = 0; i < 70; i++) {
        struct snapshot s = {0};
        struct str document = arena_printf(f->arena,
            "{\"m\":[\"" LONG_TEXT "\",\"%d " LONG_TEXT "\",\"" LONG_TEXT "\"]}",
            i % 66); /* more items than a page has */
        EXPECT_EQ(snapshot_put(c, thread, base, document, &s), OK);
        base = s.id;
    }
    commit(f);
}

static const char *change_item(struct fixture *f, const char *change, const char *order)
{
    return arena_printf(f->arena,
        "UPDATE items SET size_bytes = size_bytes %s"
        " WHERE sha256 = (SELECT sha256 FROM items ORDER BY sha256 %s LIMIT 1)",
        change, order)
        .ptr;
}

TEST(snapshots_and_items_that_are_whole_are_not_found_fault_with_and_others_are)
{
    struct fixture f;
    fixture_begin(&f);
    fill_snapshots(&f);
    EXPECT_EQ(check_with(&f, false)->n_findings, 0);
    for (int last = 0; last < 2; last++) {
        const char *order = last ? "DESC" : "ASC";
        expect_found(
            &f, change_item(&f, "+ 1", order), "item", "item ", "differs from what was stored");
        EXPECT_EQ(check_with(&f, true)->n_findings, 0); /* which reads no item */
        sql_exec(&f, change_item(&f, "- 1", order));
    }
    expect_found(&f,
        "UPDATE snapshots SET size_bytes = size_bytes + 1"
        " WHERE id = (SELECT id FROM snapshots ORDER BY id DESC LIMIT 1)",
        "snapshot", "snapshot ", "differs from what was stored");
    sql_exec(&f, "UPDATE snapshots SET size_bytes = size_bytes - 1"
                 " WHERE id = (SELECT id FROM snapshots ORDER BY id DESC LIMIT 1)");
    expect_found(&f,
        "DELETE FROM snapshot_items"
        " WHERE snapshot_id = (SELECT id FROM snapshots ORDER BY id DESC LIMIT 1)",
        "snapshot", "snapshot ", "the references differ");
    fixture_end(&f);
}
