/* SPDX-License-Identifier: Apache-2.0 */
/* On SQLite, all tenants wait for a slice: it deletes a limited number of bytes, whatever the rows
 * are. Pages of the database that become free measure it. */
#include "fixture.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/memory/memory_items.h"
#include "model/tenancy/deletions.h"
#include "model/tenancy/idempotency.h"
#include "model/threads/events.h"
#include "model/threads/messages.h"

enum { ROWS = 8, ROW_BYTES = 1024 * 1024, PAGE_BYTES = 4096 };

/* A slice may end with one row more than it should delete. */
enum { FREED_MAX = (SLICE_MAX_BYTES + ROW_BYTES + 64 * 1024) / PAGE_BYTES };

enum owner { OF_THREAD, OF_AGENT, OF_TENANT };

/* A table whose rows are deleted with their owner, and a column of it that may be large. */
struct large {
    enum owner owner;
    const char *table;
    const char *column;
};

static const struct large LARGE[] = {
    {OF_THREAD, "messages", "content"},
    {OF_THREAD, "message_versions", "content"},
    {OF_THREAD, "steps", "action_data"},
    {OF_THREAD, "history_entries", "final_response"},
    {OF_THREAD, "checkpoint_writes", "value"},
    {OF_THREAD, "checkpoints", "metadata"},
    {OF_THREAD, "state_versions", "data"},
    {OF_THREAD, "runs", "metadata"},
    {OF_THREAD, "turns", "output"},
    {OF_THREAD, "awaited_tools", "result"},
    {OF_THREAD, "run_attempts", "error"},
    {OF_THREAD, "run_phases", "detail"},
    {OF_THREAD, "participants", "metadata"},
    {OF_AGENT, "agent_storage", "value"},
    {OF_AGENT, "agent_versions", "system_prompt"},
    {OF_AGENT, "state_versions", "data"},
    {OF_TENANT, "messages", "content"},
    {OF_TENANT, "store_items", "value"},
    {OF_TENANT, "agent_storage", "value"},
    {OF_TENANT, "agent_versions", "system_prompt"},
    {OF_TENANT, "agents", "metadata"},
    {OF_TENANT, "used_versions", "system_prompt"},
    {OF_TENANT, "eval_runs", "eval_data"},
    {OF_TENANT, "notebook_records", "instructions"},
    {OF_TENANT, "idempotency_keys", "body"},
    {OF_TENANT, "snapshots", "manifest"},
    {OF_TENANT, "items", "bytes"},
};

/* The objects to which the rows belong. */
struct place {
    struct uuid tenant_id;
    struct uuid thread_id;
    struct uuid agent_id;
};

static struct place make_place(struct fixture *f)
{
    struct place p = {.tenant_id = make_tenant(f, "acme")};
    struct thread t = {.title = STR("large")};
    struct agent a = {.name = STR("large")};
    EXPECT_EQ(thread_create(begin_as(f, p.tenant_id), &t), OK);
    commit(f);
    EXPECT_EQ(agent_create(begin_as(f, p.tenant_id), &a), OK);
    commit(f);
    p.thread_id = t.id;
    p.agent_id = a.id;
    return p;
}

static struct str quoted(struct fixture *f, struct uuid id)
{
    struct str hex = hex_encode(f->arena, (struct str){(const char *)id.bytes, sizeof id.bytes});
    return arena_printf(f->arena, "x'%.*s'", STR_ARG(hex));
}

/* The value of a column of row `i`: the id of an owner, the large value, or any value. */
static struct str value_of(
    struct fixture *f, const struct large *large, const struct place *p, struct str column)
{
    const struct {
        struct str column, value;
    } known[] = {
        {STR("tenant_id"), quoted(f, p->tenant_id)},
        {STR("thread_id"), quoted(f, p->thread_id)},
        {STR("agent_id"), quoted(f, p->agent_id)},
        {str_of(large->column), STR("printf('%.*c', bytes, 'x')")},
        {STR("size_bytes"), STR("bytes")},
        {STR("run_id"), strcmp(large->table, "history_entries") == 0
                            ? STR("randomblob(16)")
                            : STR("(SELECT id FROM runs LIMIT 1)")},
        {STR("message_id"), STR("(SELECT id FROM messages LIMIT 1)")},
        {STR("state_id"), STR("(SELECT id FROM state_documents LIMIT 1)")},
        {STR("id"), STR("randomblob(16)")},
        {STR("event_id"), STR("i")},
        {STR("log_id"), STR("i")},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_eq(column, known[i].column))
            return known[i].value;
    return str_ends_with(column, STR("_id")) ? STR("randomblob(16)") : STR("i");
}

/* Inserts rows of which the large column has so many bytes. Other columns have some value. */
static void fill(
    struct fixture *f, const struct large *large, const struct place *p, int rows, int bytes)
{
    struct str names = STR(""), values = STR("");
    struct str list = sql_text(f,
        arena_cstr(f->arena,
            arena_printf(f->arena,
                "SELECT group_concat(name, ' ') FROM pragma_table_info('%s') WHERE name = '%s' OR "
                "(\"notnull\" AND dflt_value IS NULL)",
                large->table, large->column)));
    struct str name;
    while (str_next_part(&list, ' ', &name)) {
        const char *comma = names.len > 0 ? ", " : "";
        struct str value = value_of(f, large, p, name);
        names = arena_printf(f->arena, "%.*s%s%.*s", STR_ARG(names), comma, STR_ARG(name));
        values = arena_printf(f->arena, "%.*s%s%.*s", STR_ARG(values), comma, STR_ARG(value));
    }
    struct str sql = arena_printf(f->arena,
        "WITH RECURSIVE n (i, bytes) AS (SELECT %d, %d UNION ALL "
        "SELECT i + 1, bytes FROM n WHERE i < %d) INSERT INTO %s (%.*s) SELECT %.*s FROM n",
        rows, bytes, 2 * rows - 1, large->table, STR_ARG(names), STR_ARG(values));
    sql_exec(f, arena_cstr(f->arena, sql));
}

static enum error delete_some(
    struct context *c, const struct large *large, const struct place *p, bool *out_more)
{
    return large->owner == OF_THREAD  ? thread_delete_some(c, p->thread_id, out_more)
           : large->owner == OF_AGENT ? agent_delete_some(c, p->agent_id, out_more)
                                      : tenant_delete_some(c, p->tenant_id, out_more);
}

static int64_t free_pages(struct fixture *f)
{
    return sql_i64(f, "PRAGMA freelist_count");
}

/* Deletes the owner of the rows, and checks how much each slice frees. */
static void delete_in_slices(struct fixture *f, const struct large *large, const struct place *p)
{
    int64_t before = free_pages(f), first = before;
    for (bool more = true; more;) {
        struct context *c = large->owner == OF_TENANT ? begin(f) : begin_as(f, p->tenant_id);
        EXPECT_EQ(delete_some(c, large, p, &more), OK);
        commit(f);
        int64_t now = free_pages(f);
        if (now - before > FREED_MAX)
            test_fail(__FILE__, __LINE__, "a slice of %s frees %lld pages", large->table,
                (long long)(now - before));
        before = now;
    }
    if (before - first < ROWS * (ROW_BYTES / PAGE_BYTES))
        test_fail(__FILE__, __LINE__, "%s has rows left", large->table);
}

/* Rows of which the others are part. */
static const struct large PARENTS[] = {
    {OF_THREAD, "runs", "worker"},
    {OF_THREAD, "messages", "type"},
    {OF_THREAD, "state_documents", "name"},
};

SQLITE_ONLY(a_slice_of_a_deletion_frees_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(LARGE); i++) {
        struct place p = make_place(&f);
        for (size_t k = 0; k < COUNT_OF(PARENTS); k++)
            fill(&f, &PARENTS[k], &p, 1, 1);
        fill(&f, &LARGE[i], &p, ROWS, ROW_BYTES);
        delete_in_slices(&f, &LARGE[i], &p);
        EXPECT_EQ(delete_tenant(begin(&f), p.tenant_id),
            LARGE[i].owner == OF_TENANT ? ERR_NOT_FOUND : OK);
        commit(&f);
    }
    fixture_end(&f);
}

/* A word takes longer to delete from the index than a byte of a row. */
SQLITE_ONLY(a_slice_of_a_deletion_drops_a_limited_number_of_words)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct buf text;
    buf_init(&text, ROW_BYTES);
    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "word%d ", i);
    struct message m = {.content = buf_str(&text)};
    for (int i = 0; i < ROWS; i++) {
        struct message copy = m;
        EXPECT_EQ(message_create(begin(&f), thread, &copy), OK);
        commit(&f);
    }
    buf_deinit(&text);
    int64_t left = ROWS;
    for (bool more = true; more;) {
        EXPECT_EQ(thread_delete_some(begin(&f), thread, &more), OK);
        commit(&f);
        int64_t now = sql_i64(&f, "SELECT count(*) FROM message_words");
        EXPECT(left - now <= 2);
        left = now;
    }
    EXPECT_EQ(left, 0);
    fixture_end(&f);
}

/* --- Slices of the sweep ---------------------------------------------------------------------- */

enum { KIB = 1024, LARGE_BYTES = 128 * KIB, LARGE_ROWS = 48 };

/* A slice ends behind the chunk with which it has deleted enough. */
enum { LARGE_A_SLICE = (SLICE_MAX_BYTES + SLICE_CHUNK_BYTES) / LARGE_BYTES };

/* An expression for a text of so many bytes. */
static struct str large_text(struct fixture *f, int bytes)
{
    return arena_printf(
        f->arena, on_postgres() ? "repeat('x', %d)" : "printf('%%.*c', %d, 'x')", bytes);
}

static void enlarge(struct fixture *f, const char *table, const char *column)
{
    struct str sql = arena_printf(
        f->arena, "UPDATE %s SET %s = %.*s", table, column, STR_ARG(large_text(f, LARGE_BYTES)));
    sql_exec(f, arena_cstr(f->arena, sql));
}

/* Runs slices until the table has only `kept` rows, and checks how many rows each one deletes. */
static void sweep_in_slices(struct fixture *f, const char *table, int64_t kept, int64_t most,
    enum error (*sweep)(struct context *c, struct uuid id), struct uuid id)
{
    const char *count =
        arena_cstr(f->arena, arena_printf(f->arena, "SELECT count(*) FROM %s", table));
    int64_t before = sql_i64(f, count);
    while (before > kept) {
        EXPECT_EQ(sweep(begin(f), id), OK);
        commit(f);
        int64_t now = sql_i64(f, count);
        if (now == before || before - now > most)
            test_fail(__FILE__, __LINE__, "a slice of %s deletes %lld rows", table,
                (long long)(before - now));
        before = now;
    }
    EXPECT_EQ(before, kept);
}

static enum error sweep_events(struct context *c, struct uuid thread)
{
    bool more;
    return event_collect_garbage(c, thread, &more);
}

TEST(a_slice_of_pruned_events_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    int64_t pruned = 0;
    add_events(&f, thread, LARGE_ROWS);
    enlarge(&f, "events", "text");
    EXPECT_EQ(event_prune(begin(&f), thread, LARGE_ROWS, &pruned), OK);
    commit(&f);
    EXPECT_EQ(pruned, LARGE_ROWS);
    EXPECT(sql_i64(&f, "SELECT count(*) FROM events") > LARGE_ROWS - LARGE_A_SLICE);
    sweep_in_slices(&f, "events", 1, LARGE_A_SLICE, sweep_events, thread);
    fixture_end(&f);
}

static enum error clear_events(struct context *c, struct uuid thread)
{
    bool more;
    return event_clear_some(c, thread, &more);
}

TEST(a_slice_of_what_a_thread_has_left_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    add_events(&f, thread, LARGE_ROWS);
    enlarge(&f, "events", "text");
    sweep_in_slices(&f, "events", 0, LARGE_A_SLICE, clear_events, thread);
    fixture_end(&f);
}

TEST(a_slice_of_the_events_of_a_deleted_tenant_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    add_events(&f, thread, LARGE_ROWS);
    enlarge(&f, "events", "text");
    EXPECT_EQ(event_discard_tenant(begin(&f), DEFAULT_TENANT_ID, INT64_MAX), OK);
    commit(&f);
    EXPECT(sql_i64(&f, "SELECT count(*) FROM events") > LARGE_ROWS - LARGE_A_SLICE);
    sweep_in_slices(&f, "events", 0, LARGE_A_SLICE, sweep_events, UUID_NIL);
    fixture_end(&f);
}

static enum error sweep_answers(struct context *c, struct uuid id)
{
    bool more;
    (void)id;
    context_enter_system(c);
    c->lease_now_us += (int64_t)2 * IDEMPOTENCY_HOURS * 3600 * 1000000;
    return idempotency_sweep(c, &more);
}

TEST(a_slice_of_expired_answers_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    const struct stored_answer answer = {.status = 201, .headers = STR("{}"), .body = STR("{}")};
    struct context *c = begin(&f);
    for (int i = 0; i < LARGE_ROWS; i++) {
        struct str key = arena_printf(f.arena, "key-%d", i);
        EXPECT_EQ(idempotency_store(c, STR("POST /a"), key, sha256_of(key), &answer), OK);
    }
    commit(&f);
    enlarge(&f, "idempotency_keys", "body");
    sweep_in_slices(&f, "idempotency_keys", 0, LARGE_A_SLICE, sweep_answers, UUID_NIL);
    fixture_end(&f);
}

static enum error sweep_expired(struct context *c, struct uuid id)
{
    (void)id;
    return memory_expire_some(c, c->now_us + 1000000);
}

static void put_expiring(struct fixture *f, int rows, struct str value)
{
    for (int i = 0; i < rows; i++) {
        bool is_new;
        struct context *c = begin(f);
        struct memory_item item = {.ns = STR("a."),
            .key = arena_printf(f->arena, "key-%d", i),
            .value = value,
            .has_expires_at = true,
            .expires_at = c->now_us + 1};
        EXPECT_EQ(memory_item_put(c, &item, &is_new), OK);
        commit(f);
    }
}

TEST(a_slice_of_expired_items_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    put_expiring(&f, LARGE_ROWS, STR("{}"));
    sql_exec(&f, arena_cstr(f.arena,
                     arena_printf(f.arena, "UPDATE store_items SET size_bytes = %d", LARGE_BYTES)));
    sweep_in_slices(&f, "store_items", 0, LARGE_A_SLICE, sweep_expired, UUID_NIL);
    fixture_end(&f);
}

SQLITE_ONLY(a_slice_of_expired_items_drops_a_limited_number_of_words)
{
    struct fixture f;
    fixture_begin(&f);
    struct buf text;
    buf_init(&text, ROW_BYTES);
    buf_append(&text, STR("{\"t\":\""));
    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "word%d ", i);
    buf_append(&text, STR("\"}"));
    put_expiring(&f, ROWS, buf_str(&text));
    buf_deinit(&text);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_words"), ROWS);
    sweep_in_slices(&f, "store_items", 0, 2, sweep_expired, UUID_NIL);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM store_words"), 0);
    fixture_end(&f);
}

/* Inserts large items that no snapshot refers to, and a doubt about each. */
static void add_doubtful(struct fixture *f, int rows)
{
    struct str item = arena_printf(f->arena,
        on_postgres() ? "sha256(convert_to(CAST(i AS text), 'UTF8')), %d, -2, "
                        "convert_to(repeat('x', %d), 'UTF8'), 0"
                      : "randomblob(32), %d, -2, zeroblob(%d), 0",
        LARGE_BYTES, LARGE_BYTES);
    sql_exec(f, arena_cstr(f->arena, arena_printf(f->arena,
                                         "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                         "FROM n WHERE i < %d) INSERT INTO items (tenant_id, "
                                         "sha256, size_bytes, dictionary, bytes, created_at) "
                                         "SELECT id, %.*s FROM tenants, n",
                                         rows, STR_ARG(item))));
    sql_exec(f, "INSERT INTO item_doubts (tenant_id, sha256, added_at) "
                "SELECT tenant_id, sha256, 0 FROM items");
}

static enum error settle_items(struct context *c, struct uuid id)
{
    bool more;
    (void)id;
    return item_settle(c, &more);
}

TEST(a_slice_of_unused_items_deletes_a_limited_number_of_bytes)
{
    struct fixture f;
    bool more = false;
    fixture_begin(&f);
    add_doubtful(&f, LARGE_ROWS);
    EXPECT_EQ(item_settle(begin(&f), &more), OK);
    commit(&f);
    EXPECT(more);
    EXPECT(sql_i64(&f, "SELECT count(*) FROM items") >= LARGE_ROWS - LARGE_A_SLICE);
    sweep_in_slices(&f, "items", 0, LARGE_A_SLICE, settle_items, UUID_NIL);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM item_doubts"), 0);
    EXPECT_EQ(item_settle(begin(&f), &more), OK);
    commit(&f);
    EXPECT(!more);
    fixture_end(&f);
}
