/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a database to another: from SQLite to SQLite, and over PostgreSQL and back. */
#include <libpq-fe.h>
#include <stdatomic.h>

#include "faults.h"
#include "scratch.h"
#include "store/store.h"
#include "store/transfer_side.h"

/* --- Places --------------------------------------------------------------------------------- */

struct places {
    struct scratch a;
    struct scratch b;
    struct problem problem;
    struct transfer_config config;
    struct transfer_result result;
    char schema[48];
};

static void on_fatal(const char *what)
{
    fprintf(stderr, "fatal: %s\n", what);
    abort();
}

static struct store_config server_of(const struct transfer_place *place)
{
    return (struct store_config){.engine = place->engine,
        .data_dir = place->data_dir,
        .url = place->url,
        .replica_url = STR_NONE,
        .schema = place->schema,
        .writers = 1,
        .readers = 1,
        .on_fatal = on_fatal};
}

/* Opens it as a server does. */
static enum error serve(struct places *p, const struct transfer_place *place)
{
    const struct store_config config = server_of(place);
    struct store *store = NULL;
    problem_init(&p->problem, &p->a.arena);
    enum error e = store_open(&config, &p->problem, &store);
    if (e == OK)
        store_close(store);
    return e;
}

static struct transfer_place directory(const struct scratch *s)
{
    return (struct transfer_place){.engine = ENGINE_SQLITE, .data_dir = s->data_dir};
}

/* From the first directory, which has an empty database, to the second, where there is nothing. */
static void places_init(struct places *p)
{
    *p = (struct places){0};
    scratch_init(&p->a);
    scratch_init(&p->b);
    p->config = (struct transfer_config){
        .mode = TRANSFER_MOVE, .from = directory(&p->a), .to = directory(&p->b)};
    EXPECT_EQ(serve(p, &p->config.from), OK);
}

static void places_deinit(struct places *p)
{
    scratch_deinit(&p->b);
    scratch_deinit(&p->a);
}

static enum error transfer(struct places *p, struct progress *progress)
{
    problem_init(&p->problem, &p->a.arena);
    return transfer_run(&p->config, progress, &p->a.arena, &p->problem, &p->result);
}

static enum error transfer_in(struct places *p, enum transfer_mode mode)
{
    p->config.mode = mode;
    enum error e = transfer(p, NULL);
    p->config.mode = TRANSFER_MOVE;
    return e;
}

#define EXPECT_REFUSED(p, error, part)                                                         \
    do {                                                                                       \
        EXPECT_EQ(transfer(p, NULL), error);                                                   \
        if (!contains((p)->problem.detail, part))                                              \
            test_fail(                                                                         \
                __FILE__, __LINE__, "no \"%s\" in: %.*s", part, STR_ARG((p)->problem.detail)); \
    } while (0)

#define TENANT "x'018f00000000700080000000000000a1'"
#define THREAD "x'018f00000000700080000000000000b1'"

/* Something of everything that is hard to carry. */
static void fill(struct scratch *s, int64_t n_audit)
{
    scratch_exec(s,
        "INSERT INTO tenants (id, name, pruned_event_id, created_at, updated_at, version)"
        " VALUES (" TENANT ", 'Ünï ''\"\\', 7, 1, -1, 3);"
        "INSERT INTO threads (tenant_id, id, status, title, run_policy, prune_on_completion,"
        " last_seq, pruned_seq, pruned_event_id, created_at, updated_at, metadata)"
        " VALUES (" TENANT ", " THREAD ", 'idle', '', 'reject', 1, 3, 3, 7,"
        " 9223372036854775807, -9223372036854775808, '{\"a\" : 1e5,  \"a\\u0062\":[]}');"
        "INSERT INTO thread_documents VALUES (" TENANT ", " THREAD ", '{}', '[]',"
        " '\"' || hex(zeroblob(3000000)) || '\"');"
        "INSERT INTO thread_metadata VALUES (" TENANT ", 'b', 'B', " THREAD "),"
        " (" TENANT ", 'b', 'a', " THREAD "), (" TENANT ", 'é', '', " THREAD ");"
        "INSERT INTO idempotency_keys VALUES (" TENANT ", 'POST /x', 'Z', x'', 200, '{}', '', 5),"
        " (" TENANT ", 'POST /x', 'a', x'00ff', 200, '{}', 'body', 5);"
        "INSERT INTO events (id, tenant_id, thread_id, seq, kind, text, payload, created_at, marks)"
        " VALUES (40, " TENANT ", " THREAD ", 4, 'k', NULL, NULL, 1, 2),"
        " (42, " TENANT ", " THREAD ", 5, 'k', char(128512), 'null', 1, 0);"
        "UPDATE event_floor SET id = 7; UPDATE sqlite_sequence SET seq = 33");
    const char *audit = arena_cstr(&s->arena,
        arena_printf(&s->arena,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %lld)"
            "INSERT INTO audit_log SELECT " TENANT
            ", i, i, 'key', 'x', 'thread', 'o', 'r', '{}', randomblob(32) FROM n",
            (long long)n_audit));
    scratch_exec(s, audit);
}

static const uint64_t N_FILLED = 10;

static void expect_filled(struct scratch *s, uint64_t n_audit)
{
    EXPECT_EQ(scratch_i64(s, "SELECT count(*) FROM audit_log"), n_audit);
    EXPECT_EQ(scratch_i64(s, "SELECT last_seq FROM threads"), 5);
    EXPECT_EQ(scratch_i64(s, "SELECT id * 100 + seq FROM event_floor, sqlite_sequence"), 4233);
    EXPECT_EQ(scratch_i64(s, "SELECT length(important_steps) FROM thread_documents"), 6000002);
    EXPECT_STR(
        scratch_text(s, "SELECT metadata FROM threads"), STR("{\"a\" : 1e5,  \"a\\u0062\":[]}"));
    EXPECT_EQ(scratch_i64(s, "SELECT created_at FROM threads"), INT64_MAX);
    EXPECT_EQ(scratch_i64(s, "SELECT updated_at FROM threads"), INT64_MIN);
    EXPECT_EQ(
        scratch_i64(s, "SELECT count(*) FROM sqlite_schema WHERE name = 'cairn_transfer'"), 0);
}

/* --- The plan ------------------------------------------------------------------------------- */

static struct side *open_side(struct places *p, const struct transfer_place *place)
{
    bool is_sqlite = place->engine == ENGINE_SQLITE;
    struct side *side = is_sqlite ? sqlite_side_create() : postgres_side_create();
    side->name = "source";
    side->option = "--from";
    side->place = place;
    side->arena = &p->a.arena;
    side->problem = &p->problem;
    side->despite_sessions = true;
    EXPECT_EQ(side->ops->open(side), OK);
    EXPECT(side->is_open);
    return side;
}

static struct catalogue catalogue_of(struct places *p, const struct transfer_place *place)
{
    struct catalogue catalogue = {0};
    struct side *side = open_side(p, place);
    EXPECT_EQ(catalogue_read(side, &catalogue), OK);
    side->ops->close(side);
    return catalogue;
}

static size_t place_of(const struct transfer_plan *plan, const char *table)
{
    for (size_t i = 0; i < plan->n_tables; i++)
        if (strcmp(plan->tables[i].name, table) == 0)
            return i;
    return SIZE_MAX;
}

static void expect_whole(const struct catalogue *c, const struct transfer_plan *plan)
{
    for (size_t i = 0; i < c->n_tables; i++) {
        bool is_moved = place_of(plan, c->tables[i].name) != SIZE_MAX;
        if (is_moved == (plan_why_not_moved(c->tables[i].name) != NULL))
            test_fail(__FILE__, __LINE__, "%s must be moved or on the list of those that are not",
                c->tables[i].name);
    }
    EXPECT(c->n_parents >= 8);
    for (size_t i = 0; i < c->n_parents; i++)
        EXPECT(place_of(plan, c->parents[i].parent) < place_of(plan, c->parents[i].child));
}

TEST(every_table_is_moved_or_says_why_not_and_parents_come_first)
{
    struct places p;
    struct transfer_plan plan;
    places_init(&p);
    struct catalogue c = catalogue_of(&p, &p.config.from);
    EXPECT_EQ(plan_make(&c, &c, &p.a.arena, &p.problem, &plan), OK);
    expect_whole(&c, &plan);
    EXPECT(plan.n_tables >= 12);
    EXPECT(plan_why_not_moved("event_floor") != NULL);
    EXPECT(plan_why_not_moved("events") == NULL);
    places_deinit(&p);
}

TEST(the_statements_read_what_one_engine_keeps_elsewhere)
{
    struct places p;
    struct transfer_plan plan;
    places_init(&p);
    struct catalogue c = catalogue_of(&p, &p.config.from);
    EXPECT_EQ(plan_make(&c, &c, &p.a.arena, &p.problem, &plan), OK);
    struct side *side = open_side(&p, &p.config.from);
    const struct transfer_table *threads = &plan.tables[place_of(&plan, "threads")];
    EXPECT(contains(str_of(plan_select(side, threads, false)), "thread_last_seqs"));
    const struct transfer_table *events = &plan.tables[place_of(&plan, "events")];
    EXPECT(contains(str_of(plan_select(side, events, true)),
        "WHERE (t.\"tenant_id\", t.\"id\") > (?1, ?2) ORDER BY t.\"tenant_id\", t.\"id\""));
    side->ops->close(side);
    places_deinit(&p);
}

/* A sorter would hold, or write to the disk, the whole table before the first row. */
TEST(sqlite_finds_each_table_in_the_order_of_its_key_by_an_index)
{
    struct places p;
    struct transfer_plan plan;
    places_init(&p);
    struct catalogue c = catalogue_of(&p, &p.config.from);
    EXPECT_EQ(plan_make(&c, &c, &p.a.arena, &p.problem, &plan), OK);
    struct side *side = open_side(&p, &p.config.from);
    for (size_t i = 0; i < plan.n_tables; i++) {
        const char *sql = arena_cstr(&p.a.arena, arena_printf(&p.a.arena, "EXPLAIN QUERY PLAN %s",
                                                     plan_select(side, &plan.tables[i], false)));
        struct transfer_value row[4];
        bool found = true;
        EXPECT_EQ(side->ops->ask(side, sql, NULL, NULL, 0), OK);
        while (side->ops->next(side, row, 4, &found) == OK && found)
            if (contains(row[3].bytes, "TEMP B-TREE"))
                test_fail(__FILE__, __LINE__, "%s is sorted", plan.tables[i].name);
    }
    side->ops->close(side);
    places_deinit(&p);
}

/* --- Moving --------------------------------------------------------------------------------- */

TEST(all_of_it_arrives_and_the_hashes_say_so)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 2500);
    EXPECT_EQ(transfer(&p, NULL), OK);
    EXPECT_EQ(p.result.rows, N_FILLED + 2500);
    EXPECT_EQ(p.result.moved, p.result.rows);
    EXPECT_EQ(p.result.last_event_id, 42);
    EXPECT(!p.result.is_resumed);
    expect_filled(&p.b, 2500);
    struct sha256 hash = p.result.hash;
    EXPECT_EQ(transfer_in(&p, TRANSFER_VERIFY), OK);
    EXPECT(memcmp(&hash, &p.result.hash, sizeof hash) == 0);
    EXPECT_EQ(p.result.moved, 0);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    places_deinit(&p);
}

TEST(an_empty_database_can_be_moved_too)
{
    struct places p;
    places_init(&p);
    EXPECT_EQ(transfer(&p, NULL), OK);
    EXPECT_EQ(p.result.rows, 0);
    EXPECT_EQ(transfer(&p, NULL), OK); /* what is there is still empty */
    places_deinit(&p);
}

TEST(a_dry_run_counts_and_leaves_nothing)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 5);
    EXPECT_EQ(transfer_in(&p, TRANSFER_DRY_RUN), OK);
    EXPECT_EQ(p.result.rows, N_FILLED + 5);
    EXPECT(p.result.must_be_created);
    EXPECT(access(arena_cstr(&p.b.arena, p.b.data_dir), F_OK) != 0);
    EXPECT_EQ(transfer(&p, NULL), OK);
    EXPECT_EQ(transfer_in(&p, TRANSFER_DRY_RUN), ERR_CONFLICT);
    EXPECT(contains(p.problem.detail, "already contains data"));
    places_deinit(&p);
}

/* Receives this many progress reports, then gives up. */
struct patience {
    struct progress progress;
    int left;
    uint64_t last_done;
};

static void count_report(
    struct progress *progress, const char *stage, uint64_t done, uint64_t total)
{
    struct patience *patience = CONTAINER_OF(progress, struct patience, progress);
    EXPECT(done <= total);
    patience->last_done = done;
    patience->left--;
}

static bool is_over(struct progress *progress)
{
    return CONTAINER_OF(progress, struct patience, progress)->left < 0;
}

/* Ends it again and again, each time a step later; answers how often. */
static int end_until_done(struct places *p, uint64_t *out_moved)
{
    *out_moved = 0;
    for (int n = 0;; n++) {
        struct patience patience = {{count_report, is_over}, n, 0};
        enum error e = transfer(p, &patience.progress);
        if (e == OK) {
            *out_moved = p->result.moved;
            return n;
        }
        EXPECT_EQ(e, ERR_CANCELLED);
        EXPECT_EQ(serve(p, &p->config.to), ERR_UNAVAILABLE);
        EXPECT(contains(p->problem.detail, "being filled by cairn migrate"));
        if (e != ERR_CANCELLED)
            return n;
    }
}

TEST(what_was_ended_at_any_step_goes_on_there)
{
    struct places p;
    uint64_t moved;
    places_init(&p);
    fill(&p.a, 3500);
    int ended = end_until_done(&p, &moved);
    EXPECT(ended > 12);
    EXPECT_EQ(moved, 0); /* the last time there was only the verification left */
    EXPECT(p.result.is_resumed);
    expect_filled(&p.b, 3500);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    places_deinit(&p);
}

static void begin_only(struct places *p)
{
    struct patience patience = {{count_report, is_over}, 1, 0};
    EXPECT_EQ(transfer(p, &patience.progress), ERR_CANCELLED);
}

/* The disk is full after more and more writes; what was there before is never lost. */
TEST(a_full_disk_ends_it_and_with_space_it_goes_on)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 3500);
    faults_install();
    int failures = 0;
    for (int writes = 0;; writes = writes * 2 + 1) {
        faults_allow_writes(writes);
        enum error e = transfer(&p, NULL);
        faults_clear();
        if (e == OK)
            break;
        failures++;
        EXPECT(e == ERR_STORAGE_FULL || e == ERR_UNAVAILABLE);
        EXPECT(p.problem.detail.len > 0);
    }
    EXPECT(failures > 5);
    expect_filled(&p.b, 3500);
    places_deinit(&p);
}

TEST(a_disk_that_does_not_keep_what_is_written_is_not_trusted)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 10);
    begin_only(&p);
    faults_install();
    faults_fail_syncs();
    EXPECT_REFUSED(&p, ERR_UNAVAILABLE, "start again with an empty target");
    faults_clear();
    EXPECT_EQ(serve(&p, &p.config.to), ERR_UNAVAILABLE);
    places_deinit(&p);
}

/* --- Refusals ------------------------------------------------------------------------------- */

TEST(a_target_with_data_is_refused_and_left_alone)
{
    struct places p;
    places_init(&p);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    scratch_exec(&p.b,
        "INSERT INTO tenants (id, name, pruned_event_id, created_at, updated_at, version)"
        " VALUES (" TENANT ", 'other', 0, 1, 1, 1)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "already contains data");
    scratch_exec(&p.b, "DELETE FROM tenants; UPDATE event_floor SET id = 1");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "has contained events");
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    places_deinit(&p);
}

/* Of SQLite alone. */
#define DROP_EVENT_INDEX                                                           \
    "DROP VIEW workflow_events; CREATE VIEW workflow_events AS SELECT 1;"          \
    "DROP VIEW thread_events; DROP VIEW thread_last_seqs; DROP TABLE event_index;" \
    "ALTER TABLE event_floor DROP COLUMN indexed_id;"                              \
    "CREATE UNIQUE INDEX events_by_thread ON events (tenant_id, thread_id, seq);"

/* As a database was before its eleventh migration. */
#define DROP_SIZE(table) "ALTER TABLE " table " DROP COLUMN size_bytes;"
#define DROP_OF_TENANT(column) "ALTER TABLE tenants DROP COLUMN " column ";"
#define QUOTAS                                                                              \
    "DROP VIEW IF EXISTS tenant; CREATE VIEW tenant AS SELECT id FROM tenants;DROP TABLE "  \
    "tenant_usage;" DROP_OF_TENANT("plan_tier") DROP_OF_TENANT("settings")                  \
        DROP_OF_TENANT("max_bytes") DROP_OF_TENANT("max_threads")                           \
            DROP_OF_TENANT("max_events_per_day") DROP_OF_TENANT("max_streams")              \
                DROP_OF_TENANT("max_connections") DROP_OF_TENANT("max_requests_per_second") \
                    DROP_OF_TENANT("max_concurrent_runs")
#define DROP_TRIGGERS(of_threads, of_blobs)                                            \
    "DROP TRIGGER threads_added" of_threads ";DROP TRIGGER threads_removed" of_threads \
    ";DROP TRIGGER blobs_added" of_blobs ";DROP TRIGGER blobs_removed" of_blobs ";"
#define DROP_OF_RUN(column) "ALTER TABLE runs DROP COLUMN " column ";"
#define ATTEMPTS                                                                            \
    "DROP TABLE run_attempts; DROP INDEX runs_by_claim; DROP INDEX runs_by_not_before;"     \
    "DROP INDEX runs_by_deadline;" DROP_OF_RUN("priority") DROP_OF_RUN("max_attempts")      \
        DROP_OF_RUN("backoff_initial_ms") DROP_OF_RUN("backoff_factor")                     \
            DROP_OF_RUN("backoff_max_ms") DROP_OF_RUN("deadline") DROP_OF_RUN("not_before") \
                DROP_OF_RUN("attempt_count") DROP_OF_RUN("failed_attempts")                 \
                    DROP_OF_RUN("retry_of_run_id")
#define TOOL_DEADLINES                                                         \
    "DROP INDEX runs_by_phase; DROP INDEX runs_by_tool_deadline;" DROP_OF_RUN( \
        "tool_deadline") "ALTER TABLE awaited_tools DROP COLUMN deadline;"     \
                         "ALTER TABLE awaited_tools DROP COLUMN turn_id;"
#define DROP_VIEW(name) "DROP VIEW IF EXISTS " name "; CREATE VIEW " name " AS SELECT 1;"
#define TEXTS                                                                                \
    DROP_VIEW("agno_sessions")                                                               \
    DROP_VIEW("notebook_sessions")                                                           \
    "DROP INDEX IF EXISTS threads_by_session; DROP INDEX IF EXISTS history_entries_by_time;" \
    "DROP INDEX IF EXISTS tenants_by_text; DROP INDEX IF EXISTS api_keys_by_text;"           \
    "DROP INDEX IF EXISTS threads_by_text; DROP INDEX IF EXISTS runs_by_text;"               \
    "DROP INDEX IF EXISTS runs_by_agent_text; DROP INDEX IF EXISTS agents_by_text;"          \
    "DROP INDEX IF EXISTS history_entries_by_text; DROP INDEX IF EXISTS "                    \
    "history_entries_by_run_text;"                                                           \
    "DROP INDEX IF EXISTS turns_by_text; DROP INDEX IF EXISTS checkpoints_by_text;"          \
    "DROP INDEX IF EXISTS checkpoints_by_run_text; DROP INDEX IF EXISTS eval_runs_by_text;"
#define EARLIER               \
    DROP_VIEW("agent_config") \
    "ALTER TABLE resumptions DROP COLUMN earlier_runs;"
#define USED \
    "DROP TABLE used_versions; DROP TABLE deleted_agents; DROP INDEX runs_unfinished_by_agent;"
#define LIFECYCLE           \
    DROP_VIEW("agent_runs") \
    "ALTER TABLE steps DROP COLUMN lifecycle;" DROP_OF_RUN("lifecycle_steps")
#define CALLS                                                                                      \
    DROP_VIEW("tool_call")                                                                         \
    "DROP INDEX IF EXISTS steps_by_tool_call_text; DROP INDEX IF EXISTS steps_by_llm_call_text;"   \
    "DROP INDEX IF EXISTS awaited_tools_by_text; DROP INDEX IF EXISTS checkpoints_by_parent_text;" \
    "DROP INDEX IF EXISTS turns_by_checkpoint_text; DROP INDEX IF EXISTS threads_by_run_text;"     \
    "DROP INDEX IF EXISTS checkpoints_by_id; DROP INDEX IF EXISTS checkpoints_by_parent_id;"       \
    "DROP INDEX IF EXISTS turns_by_checkpoint; DROP INDEX IF EXISTS threads_by_last_run;"
#define PAGES "CREATE INDEX checkpoints_by_snapshot ON checkpoints (tenant_id, snapshot_id);"
static const char OLDER[] =
    PAGES CALLS TOOL_DEADLINES LIFECYCLE EARLIER USED ATTEMPTS TEXTS DROP_SIZE("agents") DROP_SIZE(
        "threads") DROP_SIZE("thread_documents") DROP_SIZE("runs") DROP_SIZE("run_documents")
        DROP_SIZE("run_phases") DROP_SIZE("turns") DROP_SIZE("steps") DROP_SIZE("history_entries")
            DROP_SIZE("awaited_tools") DROP_SIZE("state_versions") DROP_SIZE("messages")
                DROP_SIZE("message_debug") DROP_SIZE("message_versions") DROP_SIZE(
                    "events") "DROP TABLE store_vectors; DROP INDEX threads_by_key;"
                              "ALTER TABLE threads DROP COLUMN key_owner;"
                              "ALTER TABLE agents DROP COLUMN granted_to;" QUOTAS
                              "CREATE UNIQUE INDEX threads_by_key ON threads (tenant_id, key);"
                              "DROP INDEX files_by_thread; DROP INDEX awaited_tools_by_pause;"
                              "DROP INDEX state_documents_by_agent; DROP TABLE tickets;"
                              "DROP TABLE deletions; DROP TABLE import_objects; DROP TABLE imports;"
                              "DROP TABLE snapshot_leftovers;"
                              "ALTER TABLE run_documents DROP COLUMN messages_snapshot_id;"
                              "ALTER TABLE run_documents DROP COLUMN generated_files;"
                              "ALTER TABLE run_documents DROP COLUMN extras;"
                              "DELETE FROM schema_versions WHERE version > 10";

TEST(an_older_target_with_data_is_refused_before_its_schema_is_touched)
{
    struct places p;
    places_init(&p);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    scratch_exec(&p.b, DROP_TRIGGERS("", "") DROP_EVENT_INDEX);
    scratch_exec(&p.b, OLDER);
    scratch_exec(&p.b,
        "INSERT INTO tenants (id, name, pruned_event_id, created_at, updated_at, version)"
        " VALUES (" TENANT ", 'other', 0, 1, 1, 1)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "already contains data");
    EXPECT_EQ(scratch_i64(&p.b, "SELECT max(version) FROM schema_versions"), 10);
    scratch_exec(&p.b, "DELETE FROM tenants");
    EXPECT_EQ(transfer(&p, NULL), OK);
    places_deinit(&p);
}

/* Writes to the source, like an unnoticed server would, as soon as the copy is compared. */
struct meddler {
    struct progress progress;
    struct places *places;
    void (*write)(struct places *p, const char *sql);
    const char *sql;
};

static void meddle(struct progress *progress, const char *stage, uint64_t done, uint64_t total)
{
    struct meddler *m = CONTAINER_OF(progress, struct meddler, progress);
    if (m->sql == NULL || strncmp(stage, "verifying", strlen("verifying")) != 0)
        return;
    m->write(m->places, m->sql);
    m->sql = NULL;
}

static bool never(struct progress *progress)
{
    return false;
}

static void expect_noticed(
    struct places *p, void (*write)(struct places *p, const char *sql), const char *sql)
{
    struct meddler m = {{meddle, never}, p, write, sql};
    EXPECT_EQ(transfer(p, &m.progress), ERR_CONFLICT);
    EXPECT(m.sql == NULL);
    if (!contains(p->problem.detail, "the source was written to") ||
        !contains(p->problem.detail, "remove the directory"))
        test_fail(__FILE__, __LINE__, "%s: %.*s", sql, STR_ARG(p->problem.detail));
    EXPECT_EQ(serve(p, &p->config.to), ERR_UNAVAILABLE);
}

static void write_to_file(struct places *p, const char *sql)
{
    scratch_exec(&p->a, sql);
}

TEST(a_source_that_is_written_to_meanwhile_is_noticed)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 10);
    /* Neither a count nor a version shows this change. */
    expect_noticed(&p, write_to_file, "UPDATE thread_documents SET context = '[1]'");
    EXPECT_EQ(transfer(&p, NULL), ERR_CONFLICT);
    scratch_deinit(&p.b);
    scratch_init(&p.b);
    p.config.to = directory(&p.b);
    EXPECT_EQ(transfer(&p, NULL), OK);
    EXPECT_STR(scratch_text(&p.b, "SELECT context FROM thread_documents"), STR("[1]"));
    places_deinit(&p);
}

TEST(two_sources_are_never_mixed)
{
    struct places p;
    struct scratch other;
    places_init(&p);
    fill(&p.a, 10);
    begin_only(&p);
    scratch_init(&other);
    p.config.from = directory(&other);
    EXPECT_EQ(serve(&p, &p.config.from), OK);
    fill(&other, 11);
    EXPECT_REFUSED(&p, ERR_CONFLICT, "filled from another source");
    p.config.from = directory(&p.a);
    scratch_exec(&p.a, "UPDATE threads SET version = version + 1");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "the source has changed");
    scratch_deinit(&other);
    places_deinit(&p);
}

TEST(a_half_filled_database_is_no_source)
{
    struct places p;
    struct scratch third;
    places_init(&p);
    fill(&p.a, 10);
    begin_only(&p);
    scratch_init(&third);
    p.config.from = directory(&p.b);
    p.config.to = directory(&third);
    EXPECT_REFUSED(&p, ERR_CONFLICT, "finish that first");
    scratch_deinit(&third);
    places_deinit(&p);
}

TEST(what_is_no_database_of_cairn_is_no_source)
{
    struct places p;
    places_init(&p);
    p.config.from.data_dir = STR("/nonexistent/cairn");
    EXPECT_REFUSED(&p, ERR_NOT_FOUND, "/nonexistent/cairn");
    p.config.from = directory(&p.a);
    scratch_exec(&p.a, "DROP TABLE schema_versions");
    EXPECT_REFUSED(&p, ERR_NOT_FOUND, "is not a Cairn database");
    places_deinit(&p);
}

TEST(another_version_of_the_schema_is_refused_on_either_side)
{
    struct places p;
    places_init(&p);
    scratch_exec(&p.a, "INSERT INTO schema_versions VALUES (999, 'x', 'x', 1)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "the source has schema version 999");
    scratch_exec(&p.a, "DELETE FROM schema_versions WHERE version > 1");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "start this cairn on it once");
    places_deinit(&p);
    places_init(&p);
    fill(&p.a, 10);
    begin_only(&p);
    scratch_exec(&p.b, "DELETE FROM schema_versions WHERE version > 1");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "finish with the version of cairn that began");
    places_deinit(&p);
}

TEST(a_table_or_column_of_one_side_only_is_named)
{
    struct places p;
    places_init(&p);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    scratch_exec(&p.a, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "the table notes exists only in the source");
    scratch_exec(&p.b, "CREATE TABLE notes (id INTEGER PRIMARY KEY, more TEXT)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "the column notes.more exists only in the target");
    scratch_exec(&p.a, "ALTER TABLE notes ADD COLUMN more BLOB");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "notes.more has a type");
    scratch_exec(&p.a, "DROP TABLE notes; CREATE TABLE notes (id INTEGER, more TEXT PRIMARY KEY)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "different primary keys");
    scratch_exec(&p.a, "DROP TABLE notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, more TEXT)");
    EXPECT_EQ(transfer(&p, NULL), OK);
    places_deinit(&p);
}

TEST(a_value_of_another_type_than_its_column_is_named)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 1);
    scratch_exec(&p.a, "UPDATE events SET created_at = 'yesterday' WHERE id = 42");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "events.created_at");
    places_deinit(&p);
}

TEST(a_changed_row_is_found_and_named)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 2500);
    EXPECT_EQ(transfer(&p, NULL), OK);
    scratch_exec(&p.b, "UPDATE audit_log SET actor = 'kez' WHERE seq = 1777");
    EXPECT_EQ(transfer_in(&p, TRANSFER_VERIFY), ERR_CONFLICT);
    EXPECT(contains(p.problem.detail,
        "audit_log (first at tenant_id 018f0000-0000-7000-8000-0000000000a1, seq 1777)"));
    scratch_exec(&p.b, "UPDATE audit_log SET actor = 'key'; UPDATE sqlite_sequence SET seq = 32;"
                       "DELETE FROM events WHERE id = 42; UPDATE event_floor SET id = 41");
    EXPECT_EQ(transfer_in(&p, TRANSFER_VERIFY), ERR_CONFLICT);
    EXPECT(!contains(p.problem.detail, "audit_log") && contains(p.problem.detail, "id 42)"));
    EXPECT(contains(p.problem.detail, "the last event id (41 instead of 42)"));
    EXPECT(contains(p.problem.detail, "the last log_id (32 instead of 33)"));
    places_deinit(&p);
}

/* A run that is resumed verifies what the earlier one wrote, too. */
TEST(a_row_that_changed_between_two_runs_keeps_the_mark)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 2500);
    struct patience patience = {{count_report, is_over}, 3, 0};
    EXPECT_EQ(transfer(&p, &patience.progress), ERR_CANCELLED);
    EXPECT(scratch_i64(&p.b, "SELECT count(*) FROM audit_log") >= 1000);
    scratch_exec(&p.b, "UPDATE audit_log SET hash = x'00' WHERE seq = 5");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "seq 5)");
    EXPECT_EQ(serve(&p, &p.config.to), ERR_UNAVAILABLE);
    places_deinit(&p);
}

/* --- PostgreSQL ----------------------------------------------------------------------------- */

static struct transfer_place schema_of(struct places *p)
{
    static atomic_uint serial;
    if (p->schema[0] == '\0')
        snprintf(p->schema, sizeof p->schema, "move_%d_%u", getpid(), atomic_fetch_add(&serial, 1));
    p->config.despite_sessions = true; /* other tests serve other schemas */
    return (struct transfer_place){.engine = ENGINE_POSTGRES,
        .url = str_of(getenv("CAIRN_TEST_POSTGRES")),
        .schema = str_of(p->schema)};
}

static void beside(struct places *p, const char *sql)
{
    PGconn *conn = PQconnectdb(getenv("CAIRN_TEST_POSTGRES"));
    const char *whole = arena_cstr(&p->a.arena,
        arena_printf(&p->a.arena,
            "SET client_min_messages = warning; SET search_path = %s; SET cairn.tenant = '*'; %s",
            p->schema, sql));
    PGresult *r = PQexec(conn, whole);
    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQresultErrorMessage(r));
    PQclear(r);
    PQfinish(conn);
}

static void drop_schema(struct places *p)
{
    beside(
        p, arena_cstr(&p->a.arena, arena_printf(&p->a.arena, "DROP SCHEMA %s CASCADE", p->schema)));
}

POSTGRES_TEST(both_engines_have_the_same_tables_and_columns)
{
    struct places p;
    struct transfer_plan there, back;
    places_init(&p);
    p.config.to = schema_of(&p);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    struct catalogue sqlite = catalogue_of(&p, &p.config.from);
    struct catalogue postgres = catalogue_of(&p, &p.config.to);
    EXPECT_EQ(plan_make(&sqlite, &postgres, &p.a.arena, &p.problem, &there), OK);
    EXPECT_EQ(plan_make(&postgres, &sqlite, &p.a.arena, &p.problem, &back), OK);
    expect_whole(&sqlite, &there);
    expect_whole(&postgres, &there);
    EXPECT_EQ(there.n_tables, back.n_tables);
    drop_schema(&p);
    places_deinit(&p);
}

POSTGRES_TEST(all_of_it_goes_to_postgresql_and_back_with_the_same_hash)
{
    struct places p;
    uint64_t moved;
    places_init(&p);
    fill(&p.a, 2500);
    p.config.to = schema_of(&p);
    EXPECT(end_until_done(&p, &moved) > 12);
    struct sha256 hash = p.result.hash;
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    p.config.from = p.config.to;
    p.config.to = directory(&p.b);
    EXPECT(end_until_done(&p, &moved) > 12);
    EXPECT(memcmp(&hash, &p.result.hash, sizeof hash) == 0);
    expect_filled(&p.b, 2500);
    drop_schema(&p);
    places_deinit(&p);
}

POSTGRES_TEST(what_postgresql_keeps_with_the_threads_reaches_the_tenant_on_sqlite)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 1);
    p.config.to = schema_of(&p);
    EXPECT_EQ(transfer(&p, NULL), OK);
    beside(&p, "UPDATE threads SET pruned_event_id = 41; SELECT setval('event_ids', 99)");
    p.config.from = p.config.to;
    p.config.to = directory(&p.b);
    EXPECT_EQ(transfer(&p, NULL), OK);
    EXPECT_EQ(scratch_i64(&p.b, "SELECT pruned_event_id FROM tenants"), 41);
    EXPECT_EQ(scratch_i64(&p.b, "SELECT id FROM event_floor"), 99);
    EXPECT_EQ(p.result.last_event_id, 99);
    drop_schema(&p);
    places_deinit(&p);
}

POSTGRES_TEST(a_value_that_postgresql_cannot_hold_is_named)
{
    struct places p;
    places_init(&p);
    fill(&p.a, 1);
    scratch_exec(&p.a, "UPDATE threads SET most_recent_run_id = x'01'");
    p.config.to = schema_of(&p);
    EXPECT_REFUSED(&p, ERR_CONFLICT, "threads.most_recent_run_id");
    scratch_exec(&p.a, "UPDATE threads SET most_recent_run_id = NULL, title = char(0)");
    EXPECT_REFUSED(&p, ERR_UNAVAILABLE, "threads");
    scratch_exec(&p.a, "UPDATE threads SET title = ''");
    EXPECT_EQ(transfer(&p, NULL), OK);
    drop_schema(&p);
    places_deinit(&p);
}

POSTGRES_TEST(a_schema_of_postgresql_goes_to_another_one)
{
    struct places p, q;
    places_init(&p);
    places_init(&q);
    fill(&p.a, 1500);
    p.config.to = schema_of(&p);
    EXPECT_EQ(transfer(&p, NULL), OK);
    q.config.from = p.config.to;
    q.config.to = schema_of(&q);
    EXPECT_EQ(transfer(&q, NULL), OK);
    EXPECT(memcmp(&p.result.hash, &q.result.hash, sizeof p.result.hash) == 0);
    beside(&q, "UPDATE audit_log SET actor = 'kez' WHERE seq = 77");
    EXPECT_EQ(transfer_in(&q, TRANSFER_VERIFY), ERR_CONFLICT);
    EXPECT(contains(q.problem.detail, "seq 77)"));
    drop_schema(&q);
    drop_schema(&p);
    places_deinit(&q);
    places_deinit(&p);
}

POSTGRES_TEST(a_schema_that_is_written_to_meanwhile_is_noticed)
{
    static const char *const WRITES[] = {
        "UPDATE thread_documents SET context = '[1]'",
        "UPDATE idempotency_keys SET body = body WHERE key = 'a'",
        "UPDATE threads SET title = 'x'",
        "DELETE FROM audit_log WHERE seq = 3",
        "UPDATE thread_metadata SET value = 'C' WHERE value = 'B'",
        "SELECT nextval('event_ids')",
    };
    struct places p;
    places_init(&p);
    fill(&p.a, 10);
    p.config.to = schema_of(&p);
    EXPECT_EQ(transfer(&p, NULL), OK);
    p.config.from = p.config.to;
    for (size_t i = 0; i < COUNT_OF(WRITES); i++) {
        p.config.to = directory(&p.b);
        expect_noticed(&p, beside, WRITES[i]);
        /* A second run would read another source than the first. */
        EXPECT_REFUSED(&p, ERR_CONFLICT, "the source has changed");
        scratch_deinit(&p.b);
        scratch_init(&p.b);
    }
    p.config.to = directory(&p.b);
    EXPECT_EQ(transfer(&p, NULL), OK);
    drop_schema(&p);
    places_deinit(&p);
}

POSTGRES_TEST(an_older_schema_with_data_is_refused_before_it_is_touched)
{
    struct places p;
    places_init(&p);
    p.config.to = schema_of(&p);
    EXPECT_EQ(serve(&p, &p.config.to), OK);
    beside(&p, DROP_TRIGGERS(" ON threads", " ON blobs"));
    beside(&p, "DROP FUNCTION count_threads; DROP FUNCTION count_blobs;");
    /* With the function go the views. */
    beside(&p, "DROP FUNCTION cairn_tenants CASCADE; DROP FUNCTION manifest_number;"
               "DROP FUNCTION manifest_messages; DROP FUNCTION cairn_document;"
               "ALTER TABLE threads DROP COLUMN session_id, DROP COLUMN keyed_id_text;"
               "ALTER TABLE awaited_tools DROP COLUMN call_id;"
               "ALTER TABLE agents DROP COLUMN id_text;"
               "ALTER TABLE eval_runs DROP COLUMN id_text;"
               "ALTER TABLE history_entries DROP COLUMN started_time");
    beside(&p, OLDER);
    beside(&p, "DROP VIEW agent_config, agent_runs, agno_sessions, notebook_sessions, tenant,"
               " tool_call");
    beside(&p, "INSERT INTO tenants (id, name, created_at, updated_at)"
               " VALUES ('018f0000-0000-7000-8000-0000000000a1', 'other', 1, 1)");
    EXPECT_REFUSED(&p, ERR_CONFLICT, "already contains data");
    beside(&p, "DO $$ BEGIN ASSERT (SELECT max(version) FROM schema_versions) = 10; END $$");
    beside(&p, "DELETE FROM tenants");
    EXPECT_EQ(transfer(&p, NULL), OK);
    drop_schema(&p);
    places_deinit(&p);
}

/* Regardless of the names of its sessions and the operator's other options. */
POSTGRES_TEST(a_schema_that_is_served_is_refused_without_a_look_at_names)
{
    struct places p;
    struct store *store = NULL;
    places_init(&p);
    fill(&p.a, 1);
    p.config.to = schema_of(&p);
    EXPECT_EQ(transfer(&p, NULL), OK);
    p.config.from = p.config.to;
    p.config.to = directory(&p.b);
    EXPECT(p.config.despite_sessions);
    const struct store_config config = server_of(&p.config.from);
    EXPECT_EQ(store_open(&config, &p.problem, &store), OK);
    EXPECT_REFUSED(&p, ERR_CONFLICT, "served");
    /* Servers share it. */
    EXPECT_EQ(serve(&p, &p.config.from), OK);
    store_close(store);
    EXPECT_EQ(transfer(&p, NULL), OK);
    drop_schema(&p);
    places_deinit(&p);
}
