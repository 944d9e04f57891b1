/* SPDX-License-Identifier: Apache-2.0 */
/* An import commits in slices, and is undone completely if it does not reach its end. */
#include "archive_files.h"

#include "model/agents/agents.h"
#include "model/execution/evals.h"
#include "model/execution/prices.h"
#include "model/memory/memory_items.h"
#include "model/threads/notebooks.h"
#include "model/upkeep/archive_tables.h"
#include "model/upkeep/imports.h"

enum { MANY = 1200 }; /* rows: more than two slices */

/* An archive whose rows can be added. */
struct opened {
    struct archive *archive;
    struct str bytes;
    int fd;
};

static void open_archive(
    struct fixture *f, struct opened *o, struct uuid tenant, struct archive_subject subject)
{
    o->bytes = exported(f, tenant, subject);
    o->fd = new_file();
    o->archive = opened(&o->bytes);
    EXPECT_EQ(archive_verify(o->archive, &f->problem), OK);
    EXPECT_EQ(archive_spool_rows(o->archive, o->fd, &f->problem), OK);
    EXPECT_EQ(archive_stage(o->archive, f->store, DEFAULT_TENANT_ID, &f->problem), OK);
}

static void close_archive(struct opened *o)
{
    archive_destroy(o->archive);
    close(o->fd);
}

/* Returns whether there is more to add. */
static bool add_slice(struct fixture *f, struct opened *o, struct uuid tenant, enum archive_ids ids)
{
    bool more = false;
    EXPECT_EQ(archive_add(begin_as(f, tenant), o->archive, ids, &more), OK);
    commit(f);
    return more;
}

static void sweep(struct fixture *f)
{
    struct sweep_position position = {0};
    struct sweep_report report = {.more = true};
    for (int i = 0; report.more && i < 1000; i++) {
        EXPECT_EQ(model_sweep(begin(f), &position, &report), OK);
        commit(f);
    }
    EXPECT(!report.more);
}

static void fail(struct fixture *f, const struct opened *o, struct uuid tenant)
{
    EXPECT_EQ(import_fail(begin_as(f, tenant), archive_import_id(o->archive)), OK);
    commit(f);
    sweep(f);
}

static int64_t count_of(struct fixture *f, const char *table, struct uuid tenant)
{
    char text[UUID_TEXT_LEN];
    uuid_format(tenant, text);
    struct str hex = hex_encode(f->arena, (struct str){(char *)tenant.bytes, sizeof tenant.bytes});
    struct str sql =
        on_postgres()
            ? arena_printf(f->arena, "SELECT count(*) FROM %s WHERE tenant_id = '%.*s'::uuid",
                  table, UUID_TEXT_LEN, text)
            : arena_printf(f->arena, "SELECT count(*) FROM %s WHERE tenant_id = x'%.*s'", table,
                  STR_ARG(hex));
    return sql_i64(f, arena_cstr(f->arena, sql));
}

/* The rows of all archived tables. The log of a deleted thread ends with the event that says so. */
static void count_rows(struct fixture *f, struct uuid tenant, int64_t out[MEMBER_COUNT])
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        out[i] = i == MEMBER_EVENTS ? 0 : count_of(f, archive_members[i].tables[0], tenant);
}

static void expect_undone(struct fixture *f, struct uuid tenant, const int64_t before[MEMBER_COUNT])
{
    int64_t after[MEMBER_COUNT];
    count_rows(f, tenant, after);
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (after[i] != before[i])
            test_fail(__FILE__, __LINE__, "%s: %lld rows instead of %lld", archive_members[i].name,
                (long long)after[i], (long long)before[i]);
    EXPECT_EQ(count_of(f, "imports", tenant), 0);
    EXPECT_EQ(count_of(f, "import_objects", tenant), 0);
    EXPECT_EQ(count_of(f, "item_doubts", tenant), 0);
}

/* --- Slices --------------------------------------------------------------------------------- */

TEST(an_import_of_many_rows_commits_in_slices_between_which_others_write)
{
    struct fixture f;
    struct opened o;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), thread = make_thread(&f);
    add_events(&f, thread, MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    int n_others = 0;
    while (add_slice(&f, &o, other, ARCHIVE_IDS_KEEP)) {
        add_events(&f, thread, 1);
        n_others++;
    }
    EXPECT(n_others >= 2);
    EXPECT_STR(exported(&f, other, OF_TENANT), o.bytes);
    EXPECT_EQ(count_of(&f, "imports", other), 0);
    EXPECT_EQ(count_of(&f, "import_objects", other), 0);
    close_archive(&o);
    fixture_end(&f);
}

TEST(a_slice_that_was_not_committed_is_added_again_from_its_start)
{
    struct fixture f;
    struct opened o;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    bool more = true;
    add_events(&f, make_thread(&f), MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    for (int i = 0; more; i++) {
        EXPECT_EQ(archive_add(begin_as(&f, other), o.archive, ARCHIVE_IDS_KEEP, &more), OK);
        if (i % 3 == 0)
            commit(&f);
        else
            abandon(&f);
        more = more || i % 3 != 0;
    }
    EXPECT_STR(exported(&f, other, OF_TENANT), o.bytes);
    close_archive(&o);
    fixture_end(&f);
}

TEST(a_search_for_conflicts_continues_where_the_last_job_ended)
{
    struct fixture f;
    struct opened o;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    bool more = true;
    add_events(&f, make_thread(&f), MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    while (more) {
        EXPECT_EQ(
            archive_check(begin_reading_as(&f, other), o.archive, ARCHIVE_IDS_KEEP, &more), OK);
        commit(&f);
    }
    EXPECT_EQ(count_of(&f, "threads", other), 0);
    EXPECT_EQ(archive_check(begin_reading_as(&f, other), o.archive, ARCHIVE_IDS_KEEP, &more), OK);
    commit(&f);
    close_archive(&o);

    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    enum error e = archive_check(begin_reading(&f), o.archive, ARCHIVE_IDS_KEEP, &more);
    EXPECT_EQ(e, ERR_CONFLICT);
    commit(&f);
    close_archive(&o);
    fixture_end(&f);
}

TEST(a_tenant_has_one_import_at_a_time)
{
    struct fixture f;
    struct opened first, second;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), third = make_tenant(&f, "third");
    bool more = false;
    add_events(&f, make_thread(&f), MANY);
    open_archive(&f, &first, DEFAULT_TENANT_ID, OF_TENANT);
    open_archive(&f, &second, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT(add_slice(&f, &first, other, ARCHIVE_IDS_REMAP));
    enum error e = archive_add(begin_as(&f, other), second.archive, ARCHIVE_IDS_REMAP, &more);
    EXPECT_EQ(leave(&f, e), ERR_UNAVAILABLE);
    EXPECT(f.problem.retry_after_s > 0);
    EXPECT_PART(told(&f), "another import of this tenant is in progress");
    EXPECT(add_slice(&f, &second, third, ARCHIVE_IDS_REMAP));
    while (add_slice(&f, &first, other, ARCHIVE_IDS_REMAP))
        ;
    while (add_slice(&f, &second, third, ARCHIVE_IDS_REMAP))
        ;
    close_archive(&second);
    open_archive(&f, &second, DEFAULT_TENANT_ID, OF_TENANT);
    while (add_slice(&f, &second, other, ARCHIVE_IDS_REMAP))
        ;
    EXPECT_EQ(count_of(&f, "threads", other), 2);
    close_archive(&first);
    close_archive(&second);
    fixture_end(&f);
}

TEST(a_run_can_be_claimed_when_the_import_of_its_thread_is_complete)
{
    struct fixture f;
    struct opened o;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), thread = make_thread(&f);
    const struct run_claim claim = {.worker = STR("w"), .lease_ms = 1000, .agent = STR_NONE};
    struct run run;
    bool found = true;
    make_run(&f, thread, "queue");
    add_events(&f, thread, MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    while (add_slice(&f, &o, other, ARCHIVE_IDS_KEEP)) {
        EXPECT_EQ(run_claim(begin_as(&f, other), &claim, &run, &found), OK);
        commit(&f);
        EXPECT(!found);
    }
    EXPECT_EQ(run_claim(begin_as(&f, other), &claim, &run, &found), OK);
    commit(&f);
    EXPECT(found);
    close_archive(&o);
    fixture_end(&f);
}

/* --- Undo ----------------------------------------------------------------------------------- */

static void put_item(struct context *c, int number)
{
    char key[16];
    snprintf(key, sizeof key, "%06d", number);
    bool is_new;
    struct memory_item item = {
        .ns = STR("users.a."), .key = arena_str(c->arena, str_of(key)), .value = STR("{}")};
    EXPECT_EQ(memory_item_put(c, &item, &is_new), OK);
}

static void put_price(struct context *c, const char *model)
{
    struct price price = {.model = str_of(model), .currency = STR("USD"), .rates = {1, 2, 3, 4}};
    bool is_new;
    EXPECT_EQ(price_put(c, &price, &is_new), OK);
}

/* Objects of every kind. Those that come last in an archive are more than a slice has. */
static void furnish(struct fixture *f)
{
    struct agent agent = {.name = STR("helper"), .metadata = STR("{}")};
    struct notebook notebook = {.title = STR("n")};
    struct notebook_session session;
    struct eval eval = {.name = STR("e"), .eval_type = STR("t")};
    struct uuid thread = make_thread(f);
    make_run(f, thread, "queue");
    add_events(f, thread, 10);
    struct context *c = begin(f);
    EXPECT_EQ(agent_create(c, &agent), OK);
    EXPECT_EQ(eval_create(c, &eval), OK);
    EXPECT_EQ(notebook_create(c, &notebook), OK);
    EXPECT_EQ(notebook_add_session(c, notebook.id, UUID_NIL, &session), OK);
    put_price(c, "common");
    put_price(c, "new");
    for (int i = 0; i < MANY; i++)
        put_item(c, i);
    commit(f);
}

/* Something of the same kinds that stays. */
static void furnish_other(struct fixture *f, struct uuid tenant)
{
    struct agent agent = {.name = STR("own"), .metadata = STR("{}")};
    struct notebook notebook = {.title = STR("own")};
    struct context *c = begin_as(f, tenant);
    EXPECT_EQ(agent_create(c, &agent), OK);
    EXPECT_EQ(notebook_create(c, &notebook), OK);
    put_price(c, "common");
    put_item(c, MANY + 1);
    commit(f);
}

/* Adds slices until the archive's last member has been reached. */
static void add_most(struct fixture *f, struct opened *o, struct uuid tenant, enum archive_ids ids)
{
    while (count_of(f, "store_items", tenant) < 2)
        EXPECT(add_slice(f, o, tenant, ids));
    EXPECT(count_of(f, "store_items", tenant) < MANY);
    EXPECT_EQ(count_of(f, "prices", tenant), 2);
    EXPECT_EQ(count_of(f, "notebook_records", tenant), 2);
}

static void undo_with(
    enum archive_ids ids, void (*end)(struct fixture *, const struct opened *, struct uuid))
{
    struct fixture f;
    struct opened o;
    int64_t before[MEMBER_COUNT];
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    furnish(&f);
    furnish_other(&f, other);
    count_rows(&f, other, before);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    add_most(&f, &o, other, ids);
    end(&f, &o, other);
    expect_undone(&f, other, before);
    close_archive(&o);

    EXPECT_EQ(imported(&f, other, o.bytes, ids), OK);
    EXPECT_EQ(count_of(&f, "store_items", other), MANY + 1);
    EXPECT(count_of(&f, "import_objects", other) > 0);
    sweep(&f);
    EXPECT_EQ(count_of(&f, "store_items", other), MANY + 1);
    EXPECT_EQ(count_of(&f, "import_objects", other), 0);
    EXPECT_EQ(count_of(&f, "imports", other), 0);
    fixture_end(&f);
}

TEST(a_failed_import_is_undone_and_what_was_there_stays)
{
    undo_with(ARCHIVE_IDS_REMAP, fail);
    undo_with(ARCHIVE_IDS_KEEP, fail);
}

static void end_lease(struct fixture *f, const struct opened *o, struct uuid tenant)
{
    sweep(f);
    EXPECT_EQ(count_of(f, "imports", tenant), 1);
    sql_exec(f, "UPDATE imports SET lease_expires_at = 1");
    sweep(f);
}

TEST(an_import_that_nobody_continues_is_undone)
{
    undo_with(ARCHIVE_IDS_KEEP, end_lease);
}

static void restart(struct fixture *f, const struct opened *o, struct uuid tenant)
{
    fixture_close(f);
    fixture_open(f);
    sweep(f);
}

SQLITE_ONLY(an_import_that_was_in_progress_at_the_end_of_the_server_is_undone)
{
    struct fixture f;
    struct opened o;
    int64_t before[MEMBER_COUNT];
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    furnish(&f);
    count_rows(&f, other, before);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT(add_slice(&f, &o, other, ARCHIVE_IDS_KEEP));
    close_archive(&o);
    restart(&f, &o, other);
    expect_undone(&f, other, before);
    fixture_end(&f);
}

TEST(an_import_that_was_undone_does_not_continue)
{
    struct fixture f;
    struct opened o;
    bool more;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    furnish(&f);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT(add_slice(&f, &o, other, ARCHIVE_IDS_KEEP));
    EXPECT(add_slice(&f, &o, other, ARCHIVE_IDS_KEEP));
    EXPECT_EQ(import_fail(begin_as(&f, other), archive_import_id(o.archive)), OK);
    commit(&f);
    enum error e = archive_add(begin_as(&f, other), o.archive, ARCHIVE_IDS_KEEP, &more);
    EXPECT_EQ(leave(&f, e), ERR_UNAVAILABLE);
    EXPECT_PART(told(&f), "is undone: try again");
    close_archive(&o);
    fixture_end(&f);
}

/* The tenant sees the rows of an import in progress, and may change them. */
TEST(an_undo_passes_over_objects_that_the_tenant_has_deleted)
{
    struct fixture f;
    struct opened o;
    int64_t before[MEMBER_COUNT];
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), thread = make_thread(&f);
    count_rows(&f, other, before);
    add_events(&f, thread, MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT(add_slice(&f, &o, other, ARCHIVE_IDS_KEEP));
    EXPECT_EQ(delete_thread(begin_as(&f, other), thread), OK);
    commit(&f);
    fail(&f, &o, other);
    expect_undone(&f, other, before);
    close_archive(&o);
    fixture_end(&f);
}

/* An item of every tenant, to which nothing refers. */
#define ADD_ITEMS(hash)                                                                \
    "INSERT INTO items (tenant_id, sha256, size_bytes, dictionary, bytes, created_at)" \
    " SELECT id, " hash ", 1, -2, " hash ", 1 FROM tenants;"                           \
    "INSERT INTO item_doubts (tenant_id, sha256, added_at) SELECT id, " hash ", 1 FROM tenants"

TEST(no_item_is_collected_while_its_tenant_imports)
{
    struct fixture f;
    struct opened o;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    add_events(&f, make_thread(&f), MANY);
    open_archive(&f, &o, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT(add_slice(&f, &o, other, ARCHIVE_IDS_KEEP));
    sql_exec(&f,
        on_postgres() ? ADD_ITEMS("decode(repeat('00', 32), 'hex')") : ADD_ITEMS("zeroblob(32)"));
    sweep(&f);
    EXPECT_EQ(count_of(&f, "items", other), 1);
    EXPECT_EQ(count_of(&f, "items", DEFAULT_TENANT_ID), 0);
    while (add_slice(&f, &o, other, ARCHIVE_IDS_KEEP))
        ;
    sweep(&f);
    EXPECT_EQ(count_of(&f, "items", other), 0);
    close_archive(&o);
    fixture_end(&f);
}
