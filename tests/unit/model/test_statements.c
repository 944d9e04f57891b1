/* SPDX-License-Identifier: Apache-2.0 */
/* Checks every named statement: it prepares, and it stays inside one tenant. */
#include <sqlite3.h>

#include "fixture.h"
#include "model/execution/runs.sql.h"
#include "model/tenancy/audit.sql.h"
#include "model/tenancy/keys.sql.h"
#include "model/tenancy/quotas.sql.h"
#include "model/threads/events.sql.h"
#include "model/threads/threads.sql.h"
#include "model/upkeep/fsck.sql.h"
#include "postgres.h"

/* Each has tenant_id as a column. */
static const char *const TENANT_TABLES[] = {"api_keys", "audit_log", "idempotency_keys", "threads",
    "thread_documents", "thread_metadata", "runs", "run_documents", "run_undo", "events",
    "event_garbage", "agents", "participants", "shares", "share_redemptions", "messages",
    "message_debug", "message_versions", "message_words", "blobs", "blob_chunks", "blob_garbage",
    "blob_doubts", "files", "file_versions", "file_ends", "uploads", "state_documents",
    "state_versions", "agent_storage", "agent_versions", "agent_activations", "agent_links",
    "run_phases", "turns", "item_dictionaries", "items", "snapshots", "snapshot_items",
    "snapshot_garbage", "snapshot_leftovers", "item_doubts", "checkpoints", "checkpoint_writes",
    "steps", "resumptions", "awaited_tools", "history_entries", "prices", "run_usage", "usage_days",
    "eval_runs", "notebook_records", "notebook_threads", "store_items", "store_vectors",
    "store_words", "tickets", "tenant_usage", "deletions", "imports", "import_objects",
    "run_attempts", "used_versions", "deleted_agents", "event_index"};

/* The tables that SQLite does not have, or has without the column. */
static bool is_of_postgres(const char *table)
{
    return strcmp(table, "blob_chunks") == 0 || strcmp(table, "blob_garbage") == 0 ||
           strcmp(table, "message_words") == 0 || strcmp(table, "store_words") == 0;
}

/* The only statements that may look across tenants, and why. None of them answers a client. */
static const struct {
    const char *name;
    const char *why;
} ACROSS_TENANTS[] = {
    {"deletion_list", "the sweep continues the deletions of all tenants"},
    {"event_garbage_list", "the sweep removes what was pruned, of all tenants"},
    {"blob_orphans", "the sweep of content without rows; it then acts for each one's own tenant"},
    {"blob_discarded", "the same sweep"},
    {"blob_doubts_list", "the sweep; it then acts for each one's own tenant"},
    {"item_next_to_pack", "the sweep; it then acts for that tenant"},
    {"item_doubts_first", "the sweep; it then acts for that tenant"},
    {"snapshot_garbage_first", "the sweep; it then acts for the thread's own tenant"},
    {"snapshot_leftovers_due", "the sweep; it then acts for each snapshot's own tenant"},
    {"snapshot_rebase_due", "the sweep; it then acts for each snapshot's own tenant"},
    {"file_upload_expired", "the sweep; it then acts for each upload's own tenant"},
    {"deleted_agent_due", "the sweep; it then acts for each agent's own tenant"},
    {"key_any", "whether the server is open: is there any key at all?"},
    {"idempotency_old", "the sweep, by age alone"},
    {"idempotency_expire", "the sweep, by age alone"},
    {"idempotency_weigh", "the sweep, by age alone"},
    {"import_list_due", "the sweep; it then acts for each import's own tenant"},
    {"import_fail_all", "at the start of the only process, by time alone"},
    {"ticket_expired", "the sweep, by time alone"},
    {"ticket_sweep", "the sweep, by time alone"},
    {"run_lease_expired", "the sweep; it then acts for each run's own tenant"},
    {"run_overdue", "the sweep; it then acts for each run's own tenant"},
    {"run_tools_overdue", "the sweep; it then acts for each run's own tenant"},
    {"run_lease_renew_all", "at the start, for everybody who holds a lease"},
    {"sweep_newest_ids", "at the start, for the order of ids"},
    {"sweep_aged_threads", "the sweep; it then acts for each thread's own tenant"},
    {"event_tail", "those tenants, named in a list, that somebody listens to"},
    {"tail_revoked_keys", "the same tenants"},
    {"event_index_add", "it indexes the newest events, whose tenants it copies"},
    {"event_index_add_undamaged", "the same"},
    {"event_recent_bytes", "a counter, which reveals nothing but a number"},
    {"event_last_id", "event ids are one counter, which reveals nothing but a number"},
    {"participant_list_silent", "the sweep; it then acts for each thread's own tenant"},
    {"participant_bound_online", "at the start, for everybody who is online"},
    {"message_first_unsearchable", "the sweep; it then acts for the thread's own tenant"},
    {"memory_list_expired",
        "the sweep, in the order of expiry; it then selects the tenant's items"},
    {"memory_first_expired", "the sweep; it then acts for that tenant"},
    {"memory_first_unsearchable", "the sweep; it then acts for that tenant"},
    {"quota_uncounted", "at the start; it then counts for each tenant"},
    {"fsck_tenants", "cairn check"},
    {"fsck_store", "cairn check"},
    {"fsck_store_vectors", "cairn check"},
    {"fsck_threads", "cairn check, which looks at the whole database"},
    {"fsck_runs", "cairn check"},
    {"fsck_keys", "cairn check"},
    {"fsck_answers", "cairn check"},
    {"fsck_audited", "cairn check"},
    {"fsck_event_index", "cairn check"},
    {"fsck_file_versions", "cairn check"},
    {"fsck_snapshots", "cairn check"},
    {"fsck_items", "cairn check"},
    {"fsck_file_heads", "cairn check"},
    {"fsck_state_heads", "cairn check"},
    {"fsck_state_versions", "cairn check"},
    {"fsck_message_seqs", "cairn check"},
    {"fsck_message_versions", "cairn check"},
    {"fsck_message_senders", "cairn check"},
    {"fsck_participants", "cairn check"},
    {"fsck_share_counts", "cairn check"},
    {"fsck_shares", "cairn check"},
    {"fsck_storage", "cairn check"},
    {"fsck_step_numbers", "cairn check"},
    {"fsck_step_lifecycle", "cairn check"},
    {"fsck_run_attempts", "cairn check"},
    {"fsck_step_messages", "cairn check"},
    {"fsck_documents", "cairn check"},
    {"fsck_blobs", "cairn check"},
};

static bool may_cross(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(ACROSS_TENANTS); i++)
        if (strcmp(ACROSS_TENANTS[i].name, name) == 0)
            return true;
    return false;
}

static bool is_word_byte(char b)
{
    return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_';
}

static bool has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || !is_word_byte(at[-1])) && !is_word_byte(at[len]))
            return true;
    return false;
}

static const char *tenant_table_in(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(TENANT_TABLES); i++)
        if (has_word(text, TENANT_TABLES[i]))
            return TENANT_TABLES[i];
    return NULL;
}

static bool binds_tenant(const struct sql_statement *s)
{
    for (unsigned i = 0; i < s->n_params; i++)
        if (strcmp(s->params[i], "tenant_id") == 0)
            return true;
    return false;
}

TEST(statements_have_unique_names_and_know_their_place)
{
    for (unsigned i = 0; i < SQL_STATEMENT_COUNT; i++) {
        EXPECT_EQ(sql_statements[i]->index, i);
        for (unsigned k = 0; k < i; k++)
            EXPECT(strcmp(sql_statements[i]->name, sql_statements[k]->name) != 0);
    }
}

/* A statement for one engine only has no text for the other. */
static const char *text_of(const struct sql_statement *s, enum store_engine engine)
{
    return s->text[engine] != NULL ? s->text[engine] : "";
}

TEST(every_statement_has_a_text_in_the_engines_own_words)
{
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        const char *sqlite = text_of(s, ENGINE_SQLITE), *postgres = text_of(s, ENGINE_POSTGRES);
        EXPECT(*sqlite != '\0' || *postgres != '\0');
        EXPECT(strstr(sqlite, "{{") == NULL && strstr(postgres, "{{") == NULL);
        EXPECT(s->n_params == 0 || *sqlite == '\0' || strchr(sqlite, '?') != NULL);
        EXPECT(s->n_params == 0 || *postgres == '\0' || strchr(postgres, '$') != NULL);
        EXPECT(strchr(postgres, '?') == NULL);
    }
}

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

TEST(a_statement_that_changes_rows_says_so)
{
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        const char *text =
            s->text[ENGINE_POSTGRES] != NULL ? s->text[ENGINE_POSTGRES] : s->text[ENGINE_SQLITE];
        if (s->writes == begins_with(text, "SELECT"))
            test_fail(__FILE__, __LINE__, "%s", s->name);
    }
}

TEST(every_statement_that_touches_a_table_of_tenants_binds_the_tenant)
{
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        for (int engine = 0; engine < ENGINE_COUNT; engine++) {
            const char *table = tenant_table_in(text_of(s, (enum store_engine)engine));
            if (table != NULL && !binds_tenant(s) && !may_cross(s->name))
                test_fail(
                    __FILE__, __LINE__, "%s uses %s and does not bind :tenant_id", s->name, table);
        }
    }
}

TEST(the_list_of_exceptions_names_no_statement_in_vain)
{
    for (size_t i = 0; i < COUNT_OF(ACROSS_TENANTS); i++) {
        bool exists = false;
        for (size_t k = 0; k < SQL_STATEMENT_COUNT; k++)
            exists = exists || strcmp(sql_statements[k]->name, ACROSS_TENANTS[i].name) == 0;
        if (!exists)
            test_fail(__FILE__, __LINE__, "there is no statement %s", ACROSS_TENANTS[i].name);
    }
}

/* --- On the real schema --------------------------------------------------------------------- */

static sqlite3 *open_schema(struct fixture *f)
{
    sqlite3 *db = NULL;
    fixture_begin(f);
    EXPECT_EQ(sqlite3_open(f->scratch.database, &db), SQLITE_OK);
    return db;
}

static void close_schema(struct fixture *f, sqlite3 *db)
{
    sqlite3_close(db);
    fixture_end(f);
}

SQLITE_ONLY(every_statement_prepares_on_sqlite_with_just_its_parameters)
{
    struct fixture f;
    sqlite3 *db = open_schema(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        sqlite3_stmt *stmt = NULL;
        const char *rest = "";
        if (s->text[ENGINE_SQLITE] == NULL)
            continue;
        if (sqlite3_prepare_v2(db, s->text[ENGINE_SQLITE], -1, &stmt, &rest) != SQLITE_OK)
            test_fail(__FILE__, __LINE__, "%s: %s", s->name, sqlite3_errmsg(db));
        /* Only PostgreSQL's text of a page has :max_bytes. */
        EXPECT_EQ(sqlite3_bind_parameter_count(stmt), s->n_params - (s->is_page ? 1 : 0));
        if (rest[strspn(rest, " \n;")] != '\0')
            test_fail(__FILE__, __LINE__, "%s is more than one statement", s->name);
        sqlite3_finalize(stmt);
    }
    close_schema(&f, db);
}

/* The index of words contains a word for the tenant, which confines its results; see messages and
 * the store. */
static bool goes_by_words(const struct sql_statement *s, const char *step)
{
    return strstr(step, " VIRTUAL TABLE INDEX ") != NULL ||
           (strcmp(s->name, "message_search") == 0 &&
               strcmp(step, "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)") == 0) ||
           (strcmp(s->name, "memory_word_find") == 0 &&
               strcmp(step, "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)") == 0);
}

/* Numbers that are counted, and rows that were found in the tenant's own before. */
static bool is_found_before(const char *step)
{
    static const char *const steps[] = {
        "SCAN counted", "SCAN chain", "SCAN few", "SEARCH few", "SCAN slice", "SCAN family"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        is = is || strcmp(step, steps[i]) == 0;
    return is;
}

/* "SEARCH t USING INDEX x (tenant_id=? AND …)" keeps to the tenant, and so does its own row among
 * the tenants; any other way into a table looks at rows of others. */
static bool keeps_to_tenant(const char *step)
{
    bool enters = strncmp(step, "SEARCH ", 7) == 0 || strncmp(step, "SCAN ", 5) == 0;
    bool constant =
        strstr(step, "CONSTANT ROW") != NULL || strncmp(step, "SCAN (subquery", 14) == 0;
    bool own_row = strstr(step, "autoindex_tenants_1 (id=?)") != NULL;
    /* A recursive query reads its own rows so far as a table called walk. */
    bool walked = strcmp(step, "SCAN walk") == 0 || strcmp(step, "SEARCH walk") == 0;
    return !enters || constant || own_row || walked || strstr(step, "(tenant_id=?") != NULL;
}

/* "SCAN line", of rows that the statement itself has made: WITH RECURSIVE line, (SELECT …) AS line.
 */
static bool is_made_by(const struct sql_statement *s, struct fixture *f, const char *step)
{
    struct str name = str_of(step), word;
    if (strncmp(step, "SCAN ", 5) != 0)
        return false;
    str_next_part(&name, ' ', &word);
    const char *const text = s->text[ENGINE_SQLITE];
    struct str with = arena_printf(f->arena, "WITH RECURSIVE %.*s (", STR_ARG(name));
    struct str as = arena_printf(f->arena, ") AS %.*s\n", STR_ARG(name));
    return strstr(text, arena_cstr(f->arena, with)) != NULL ||
           strstr(text, arena_cstr(f->arena, as)) != NULL;
}

/* By numbers that were found among the rows of the tenant: slices delete rows found by a subquery,
 * and events of a thread are found by their index. The row of event_floor has no tenant. */
static bool goes_by_number(const struct sql_statement *s, const char *step)
{
    static const char *const ways[] = {"rowid IN (SELECT rowid", "event_index", "thread_events",
        "thread_last_seqs", "event_floor"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        is = is || strstr(s->text[ENGINE_SQLITE], ways[i]) != NULL;
    return is && strstr(step, " USING INTEGER PRIMARY KEY (rowid=?)") != NULL;
}

static void check_plan(sqlite3 *db, struct fixture *f, const struct sql_statement *s)
{
    sqlite3_stmt *stmt = NULL;
    struct str sql = arena_printf(f->arena, "EXPLAIN QUERY PLAN %s", s->text[ENGINE_SQLITE]);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        if (!keeps_to_tenant(step) && !goes_by_words(s, step) && !is_found_before(step) &&
            !is_made_by(s, f, step) && !goes_by_number(s, step))
            test_fail(__FILE__, __LINE__, "%s: %s", s->name, step);
    }
    sqlite3_finalize(stmt);
}

/* Without statistics, PostgreSQL joins "column IN (SELECT column … LIMIT n)" row by row. */
TEST(every_slice_on_postgres_deletes_rows_by_their_places)
{
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        const char *text = s->text[ENGINE_POSTGRES];
        if (text != NULL && strncmp(text, "DELETE ", 7) == 0 && statement_has_param(s, "limit") &&
            strstr(text, "ctid = ANY (ARRAY(SELECT ctid") == NULL)
            test_fail(__FILE__, __LINE__, "%s", s->name);
    }
}

SQLITE_ONLY(every_lookup_of_a_tenant_starts_at_its_own_rows)
{
    struct fixture f;
    sqlite3 *db = open_schema(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        if (tenant_table_in(text_of(s, ENGINE_SQLITE)) != NULL && !may_cross(s->name))
            check_plan(db, &f, s);
    }
    close_schema(&f, db);
}

/* The only statements that may read all rows that a tenant has in a table, and why. A prefix ends
 * in an asterisk. */
static const struct {
    const char *name;
    const char *why;
} WHOLE_TENANTS[] = {
    {"tenant_delete_*", "they delete all rows"},
    {"tenant_weigh_*", "they read the sizes of the rows that are deleted next"},
    {"fsck_*", "cairn check"},
    {"quota_*", "they count at the start of a counter, or read the one row of the tenant"},
    {"audit_last", "it reads one row at the end of the index"},
    {"tenant_last_event_id", "it reads one row at the end of the index"},
    {"tenant_first_thread", "it reads one row"},
    {"event_first_id", "it reads one row"},
    {"event_bounds_tenant", "it reads the ends of the index"},
    {"sweep_newest_ids", "it reads rows at the ends of indexes"},
    {"item_dictionary_newest", "it reads one row at the end of the index"},
    {"item_unpacked", "it reads a slice"},
    {"item_unpacked_count", "the index has only what is to be compressed"},
    {"item_doubts_slice", "it reads a slice"},
    {"blob_doubt_tenant", "it reads a slice"},
    {"import_unfinished", "the index has at most one row of a tenant"},
    {"run_next_queued", "as import_unfinished"},
    {"run_overdue", "as import_unfinished"},
    {"run_tools_overdue", "as import_unfinished"},
    {"archive_add_notebook*", "they read the greatest number"},
    {"notebook_insert", "it reads the greatest number"},
    {"notebook_session_insert", "it reads the greatest number"},
    {"archive_taken_price", "a tenant has few prices"},
    {"price_other_currency", "a tenant has few prices"},
    {"usage_currency", "a tenant has few prices"},
    {"key_lasting_scopes", "a tenant has few keys"},
    {"memory_next_unsearchable", "the index has only what is to be indexed"},
};

static bool may_read_tenant(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(WHOLE_TENANTS); i++) {
        const char *known = WHOLE_TENANTS[i].name;
        size_t len = strlen(known);
        if (strcmp(known, name) == 0 ||
            (known[len - 1] == '*' && strncmp(known, name, len - 1) == 0))
            return true;
    }
    return false;
}

SQLITE_ONLY(no_statement_reads_all_rows_of_a_tenant_to_find_a_few)
{
    struct fixture f;
    sqlite3 *db = open_schema(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        sqlite3_stmt *stmt = NULL;
        if (s->text[ENGINE_SQLITE] == NULL || may_read_tenant(s->name))
            continue;
        struct str sql = arena_printf(f.arena, "EXPLAIN QUERY PLAN %s", s->text[ENGINE_SQLITE]);
        EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(stmt, 3);
            if (strstr(step, "(tenant_id=?)") != NULL)
                test_fail(__FILE__, __LINE__, "%s: %s", s->name, step);
        }
        sqlite3_finalize(stmt);
    }
    close_schema(&f, db);
}

SQLITE_ONLY(running_runs_are_counted_by_an_index_of_statuses)
{
    struct fixture f;
    sqlite3 *db = open_schema(&f);
    sqlite3_stmt *stmt = NULL;
    struct str sql =
        arena_printf(f.arena, "EXPLAIN QUERY PLAN %s", SQL_QUOTA_RUNNING.text[ENGINE_SQLITE]);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    EXPECT_PART(str_of((const char *)sqlite3_column_text(stmt, 3)),
        "USING COVERING INDEX runs_by_status (tenant_id=? AND status=?)");
    sqlite3_finalize(stmt);
    close_schema(&f, db);
}

/* A statement on the view thread_events merges two searches in the order of seq; otherwise SQLite
 * reads the whole log of the thread, or of the tenant. */
static void check_merge(sqlite3 *db, struct fixture *f, const struct sql_statement *s)
{
    sqlite3_stmt *stmt = NULL;
    bool by_index = false;
    struct str sql = arena_printf(f->arena, "EXPLAIN QUERY PLAN %s", s->text[ENGINE_SQLITE]);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        by_index = by_index || strstr(step, "PRIMARY KEY (tenant_id=? AND thread_id=?") != NULL;
        if (begins_with(step, "CO-ROUTINE") || begins_with(step, "MATERIALIZE") ||
            strstr(step, "events_by_tenant (tenant_id=? AND id<") != NULL)
            test_fail(__FILE__, __LINE__, "%s: %s", s->name, step);
    }
    sqlite3_finalize(stmt);
    if (!by_index)
        test_fail(__FILE__, __LINE__, "%s does not begin with the index", s->name);
}

SQLITE_ONLY(every_statement_on_the_events_of_a_thread_merges_indexed_and_recent_ones)
{
    struct fixture f;
    sqlite3 *db = open_schema(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++)
        if (strstr(text_of(sql_statements[i], ENGINE_SQLITE), "thread_events") != NULL &&
            sql_statements[i] != &SQL_FSCK_THREAD_BOUNDS) /* counts all events of the thread */
            check_merge(db, &f, sql_statements[i]);
    close_schema(&f, db);
}

/* --- The pages of archives ------------------------------------------------------------------ */

/* These sort the rows of one page. */
static bool sorts_a_page(const struct sql_statement *s)
{
    /* The few recent events, which are merged with those of the index. */
    bool sorts_recent = strcmp(s->name, "archive_events_of_thread") == 0;
    return sorts_recent || strcmp(s->name, "archive_items_of_thread") == 0;
}

static bool is_page_of_archive(const struct sql_statement *s)
{
    bool has_limit = false;
    for (unsigned i = 0; i < s->n_params; i++)
        has_limit = has_limit || strcmp(s->params[i], "limit") == 0;
    return has_limit && begins_with(s->name, "archive_");
}

static void check_order(sqlite3 *db, struct fixture *f, const struct sql_statement *s)
{
    sqlite3_stmt *stmt = NULL;
    struct str sql = arena_printf(f->arena, "EXPLAIN QUERY PLAN %s", s->text[ENGINE_SQLITE]);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        bool sorts = strstr(step, "TEMP B-TREE") != NULL && !sorts_a_page(s);
        bool scans = strncmp(step, "SCAN ", 5) == 0 && strcmp(step, "SCAN few") != 0 &&
                     strcmp(step, "SCAN CONSTANT ROW") != 0;
        /* All rows of the tenant. */
        bool is_wide = strstr(step, "(tenant_id=?)") != NULL;
        if (sorts || scans || is_wide)
            test_fail(__FILE__, __LINE__, "%s: %s", s->name, step);
    }
    sqlite3_finalize(stmt);
}

SQLITE_ONLY(every_page_of_an_archive_follows_an_index)
{
    struct fixture f;
    size_t n = 0;
    sqlite3 *db = open_schema(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++)
        if (is_page_of_archive(sql_statements[i])) {
            check_order(db, &f, sql_statements[i]);
            n++;
        }
    EXPECT(n >= 68);
    close_schema(&f, db);
}

/* --- The same on PostgreSQL ----------------------------------------------------------------- */

static const char *const TYPE_NAMES[] = {[SQL_UUID] = "uuid",
    [SQL_INT] = "bigint",
    [SQL_BOOL] = "boolean",
    [SQL_TEXT] = "text",
    [SQL_JSON] = "json",
    [SQL_BYTES] = "bytea"};

static void prepare(PGconn *conn, struct fixture *f, const struct sql_statement *s)
{
    struct str types = STR("");
    for (unsigned i = 0; i < s->n_params; i++)
        types = arena_printf(f->arena, "%.*s%s%s%s", STR_ARG(types), i == 0 ? "(" : ", ",
            TYPE_NAMES[s->types[i]], i + 1 == s->n_params ? ")" : "");
    struct str text = arena_printf(
        f->arena, "PREPARE %s %.*s AS %s", s->name, STR_ARG(types), s->text[ENGINE_POSTGRES]);
    plain_exec(conn, arena_cstr(f->arena, text));
}

/* The plan that is made without knowing the parameters, in lines. */
static struct str generic_plan(PGconn *conn, struct fixture *f, const struct sql_statement *s)
{
    struct str values = STR("");
    for (unsigned i = 0; i < s->n_params; i++)
        values = arena_printf(f->arena, "%.*s%sNULL%s", STR_ARG(values), i == 0 ? "(" : ", ",
            i + 1 == s->n_params ? ")" : "");
    prepare(conn, f, s);
    struct str explain =
        arena_printf(f->arena, "EXPLAIN EXECUTE %s %.*s", s->name, STR_ARG(values));
    PGresult *result = PQexec(conn, arena_cstr(f->arena, explain));
    struct str plan = STR("");
    for (int i = 0; i < PQntuples(result); i++)
        plan = arena_printf(f->arena, "%.*s%s\n", STR_ARG(plan), PQgetvalue(result, i, 0));
    PQclear(result);
    return plan;
}

/* The planner prefers indexes. */
static PGconn *connect_to_plan(struct fixture *f)
{
    PGconn *conn = plain_connect(f->schema);
    plain_exec(conn, "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
                     "SET enable_bitmapscan = off; SET enable_sort = off");
    return conn;
}

/* Without rows the planner chooses any index. Of these rows one in a hundred is unfinished. */
static const char MANY_RUNS[] =
    "INSERT INTO runs (tenant_id, id, thread_id, depth, status, dispatch, "
    "ask_clarifications, created_at, updated_at, metadata) SELECT tenant_id, gen_random_uuid(), "
    "threads.id, 0, CASE WHEN n % 100 = 0 THEN 'running' ELSE 'completed' END, 'queue', false, 0, "
    "0, '{}' FROM threads, generate_series(1, 5000) AS n; ANALYZE runs";

POSTGRES_ONLY(running_runs_are_counted_without_finished_runs)
{
    struct fixture f;
    fixture_begin(&f);
    make_thread(&f);
    sql_exec(&f, MANY_RUNS);
    PGconn *conn = connect_to_plan(&f);
    struct str plan = generic_plan(conn, &f, &SQL_QUOTA_RUNNING);
    EXPECT(contains(plan, "runs_by_status") || contains(plan, "runs_unfinished"));
    PQfinish(conn);
    fixture_end(&f);
}

POSTGRES_ONLY(every_lookup_of_a_tenant_goes_by_an_index_behind_row_level_security_too)
{
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = connect_to_plan(&f);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        if (tenant_table_in(text_of(s, ENGINE_POSTGRES)) == NULL || may_cross(s->name))
            continue;
        struct str plan = generic_plan(conn, &f, s);
        if (plan.len == 0 || contains(plan, "Seq Scan on"))
            test_fail(__FILE__, __LINE__, "%s:\n%.*s", s->name, STR_ARG(plan));
    }
    PQfinish(conn);
    fixture_end(&f);
}

/* PostgreSQL sorts the rows of each parent, which are no more than the rows of a page. */
static bool is_bounded(const struct sql_statement *s, struct str line)
{
    return contains(line, "Incremental Sort") &&
           strstr(s->text[ENGINE_POSTGRES], "LATERAL (") != NULL;
}

POSTGRES_ONLY(every_page_of_an_archive_follows_an_index_on_postgresql)
{
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = connect_to_plan(&f);
    /* The plans must not depend on the sizes that earlier tests gave the tables. */
    plain_exec(conn, "TRUNCATE tenants CASCADE");
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        if (!is_page_of_archive(s))
            continue;
        struct str plan = generic_plan(conn, &f, s), rest = plan, line;
        while (str_next_part(&rest, '\n', &line))
            if ((contains(line, "Sort  (") && !is_bounded(s, line) && !sorts_a_page(s)) ||
                contains(line, "Seq Scan on"))
                test_fail(__FILE__, __LINE__, "%s:\n%.*s", s->name, STR_ARG(plan));
    }
    PQfinish(conn);
    fixture_end(&f);
}

/* bool, bytea, bigint, integer, text, json, void, uuid: the types that the store can read. A sum of
 * bigints would be numeric, and its bytes would be read as another number. The columns that end a
 * page are not read. */
static bool is_read(PGresult *columns, int i)
{
    static const Oid types[] = {16, 17, 20, 23, 25, 114, 2278, 2950};
    static const char *const unread[] = {"bytes", "stored", "before_last"};
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (PQftype(columns, i) == types[k])
            return true;
    for (size_t k = 0; k < COUNT_OF(unread); k++)
        if (strcmp(PQfname(columns, i), unread[k]) == 0)
            return true;
    return false;
}

POSTGRES_ONLY(every_column_that_a_statement_answers_has_a_type_that_can_be_read)
{
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = plain_connect(f.schema);
    for (size_t i = 0; i < SQL_STATEMENT_COUNT; i++) {
        const struct sql_statement *s = sql_statements[i];
        if (s->text[ENGINE_POSTGRES] == NULL)
            continue;
        prepare(conn, &f, s);
        PGresult *columns = PQdescribePrepared(conn, s->name);
        EXPECT_EQ(PQresultStatus(columns), PGRES_COMMAND_OK);
        for (int k = 0; k < PQnfields(columns); k++)
            if (!is_read(columns, k))
                test_fail(__FILE__, __LINE__, "%s: column %d (%s) has the type %u", s->name, k,
                    PQfname(columns, k), PQftype(columns, k));
        PQclear(columns);
    }
    PQfinish(conn);
    fixture_end(&f);
}

/* Row-level security keeps out of an index what it does not know to be harmless: a page would be
 * found by reading all that lies before it. */
POSTGRES_ONLY(a_page_begins_where_the_one_before_ended)
{
    static const struct {
        const struct sql_statement *statement;
        const char *condition;
    } pages[] = {{&SQL_EVENT_LIST, "(seq > "}, {&SQL_EVENT_LIST_TENANT, "(id > "},
        {&SQL_THREAD_LIST, "(id < CASE"}, {&SQL_THREAD_LIST_BY_METADATA, "(thread_id < CASE"},
        {&SQL_RUN_LIST, "(id < CASE"}, {&SQL_RUN_LIST_OF_THREAD, "(id < CASE"},
        {&SQL_RUN_LIST_OF_STATUS, "(id < CASE"}, {&SQL_AUDIT_LIST, "(seq < CASE"},
        {&SQL_KEY_LIST, "(id < CASE"}};
    struct fixture f;
    fixture_begin(&f);
    PGconn *conn = connect_to_plan(&f);
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        struct str rest = generic_plan(conn, &f, pages[i].statement), line;
        bool found = false;
        while (str_next_part(&rest, '\n', &line))
            found = found || (contains(line, "Index Cond:") && contains(line, pages[i].condition));
        if (!found)
            test_fail(__FILE__, __LINE__, "%s", pages[i].statement->name);
    }
    PQfinish(conn);
    fixture_end(&f);
}

SQLITE_ONLY(every_table_leads_its_key_with_the_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(TENANT_TABLES); i++) {
        if (is_of_postgres(TENANT_TABLES[i]))
            continue;
        struct str sql = arena_printf(f.arena,
            "SELECT count(*) > 0 FROM pragma_index_list('%s') AS l, pragma_index_info(l.name) AS c "
            "WHERE (l.\"unique\" OR l.name = 'events_by_tenant') AND c.seqno = 0 "
            "AND c.name = 'tenant_id'",
            TENANT_TABLES[i]);
        if (sql_i64(&f, arena_cstr(f.arena, sql)) != 1)
            test_fail(__FILE__, __LINE__, "%s has no key of its tenant", TENANT_TABLES[i]);
    }
    /* And no table is missing from the list. */
    EXPECT_EQ(sql_i64(&f, "SELECT count(DISTINCT t.name) FROM sqlite_schema AS t, "
                          "pragma_table_info(t.name) AS c "
                          "WHERE t.type = 'table' AND c.name = 'tenant_id'"),
        COUNT_OF(TENANT_TABLES) - 4);
    fixture_end(&f);
}

/* --- The views of the seed ------------------------------------------------------------------ */

TEST(the_memoria_views_show_threads_runs_and_events_in_the_seeds_columns)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct");
    char thread_text[UUID_TEXT_LEN], run_text[UUID_TEXT_LEN];
    uuid_format(thread, thread_text);
    uuid_format(run.id, run_text);
    struct str thread_id = {thread_text, sizeof thread_text}, run_id = {run_text, sizeof run_text};
    EXPECT_STR(sql_text(&f, "SELECT id FROM workflows"), thread_id);
    EXPECT_STR(sql_text(&f, "SELECT most_recent_run_id FROM workflows"), run_id);
    EXPECT_STR(sql_text(&f, "SELECT id FROM workflow_runs"), run_id);
    EXPECT_STR(sql_text(&f, "SELECT workflow_id FROM workflow_runs"), thread_id);
    EXPECT_STR(sql_text(&f, "SELECT workflow_id FROM workflow_events"), thread_id);
    EXPECT_STR(sql_text(&f, "SELECT run_id FROM workflow_events WHERE id = 2"), run_id);
    EXPECT_EQ(sql_i64(&f, "SELECT run_id IS NULL FROM workflow_events WHERE id = 1"), 1);
    sql_exec(&f, "SELECT id, status, context, preferences, important_steps,"
                 "most_recent_run_id, error, created_at, updated_at FROM workflows;"
                 "SELECT id, workflow_id, status, user_input, ask_clarifications, state,"
                 "final_output, error, created_at, updated_at FROM workflow_runs;"
                 "SELECT id, workflow_id, run_id, kind, text, payload, created_at "
                 "FROM workflow_events");
    fixture_end(&f);
}
