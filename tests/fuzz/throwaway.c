/* SPDX-License-Identifier: Apache-2.0 */
#include "throwaway.h"

#include <ftw.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "lib/errand.h"
#include "lib/sweeper.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"
#include "model/upkeep/fsck.h"

static struct str make_root(struct arena *arena)
{
    const char *given = getenv("TMPDIR");
    const char *in = given != NULL ? given : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    struct str name = arena_printf(arena, "%s/cairn-fuzz-XXXXXX%c", in, '\0');
    FUZZ_CHECK(mkdtemp((char *)name.ptr) != NULL);
    return str_of(name.ptr);
}

void throwaway_open(struct throwaway *t)
{
    struct arena arena CLEANUP(arena_deinit);
    const struct cairn_options options = {.size = sizeof options, .readers = 1};
    char *why = NULL;
    arena_init(&arena, SIZE_MAX);
    struct str root = make_root(&arena);
    t->root = mem_zalloc(root.len + 1);
    memcpy(t->root, root.ptr, root.len);
    const char *where = arena_cstr(&arena, arena_printf(&arena, "sqlite:%s/data", t->root));
    t->cairn = cairn_open(where, &options, &why);
    FUZZ_CHECK(t->cairn != NULL);
    sweeper_stop(t->cairn->instance.sweeper);
    const char *file = arena_cstr(&arena, arena_printf(&arena, "%s/data/cairn.db", t->root));
    FUZZ_CHECK(sqlite3_open_v2(file, &t->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    sqlite3_busy_timeout(t->db, 60 * 1000);
}

/* --- Checks of the database ----------------------------------------------------------------- */

static void on_fatal(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check(const struct throwaway *t)
{
    struct arena arena CLEANUP(arena_deinit);
    struct problem problem;
    arena_init(&arena, SIZE_MAX);
    problem_init(&problem, &arena);
    const struct store_config config = {.engine = ENGINE_SQLITE,
        .data_dir = arena_printf(&arena, "%s/data", t->root),
        .url = STR_NONE,
        .replica_url = STR_NONE,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
        .on_fatal = on_fatal};
    struct fsck *found = ARENA_NEW(&arena, struct fsck);
    found->arena = &arena;
    FUZZ_CHECK(store_fsck(&config, model_fsck, found, &problem) == OK);
    for (size_t i = 0; i < found->n_findings; i++)
        fprintf(stderr, "%.*s: %.*s %.*s\n", STR_ARG(found->findings[i].rule),
            STR_ARG(found->findings[i].object), STR_ARG(found->findings[i].detail));
    FUZZ_CHECK(found->n_findings == 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    return remove(path);
}

void throwaway_close(struct throwaway *t)
{
    if (t->cairn == NULL)
        return;
    check(t);
    FUZZ_CHECK(sqlite3_close(t->db) == SQLITE_OK);
    cairn_close(t->cairn);
    t->cairn = NULL;
    FUZZ_CHECK(nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    mem_free(t->root);
}

/* --- While it is open ----------------------------------------------------------------------- */

void throwaway_sweep(struct throwaway *t)
{
    struct sweep_position start = {0};
    bool more;
    FUZZ_CHECK(sweep_at_once(t->cairn->instance.store, &start, &more) == OK);
}

void throwaway_age(struct throwaway *t)
{
    static const char sql[] = "BEGIN IMMEDIATE;"
                              "UPDATE runs SET lease_expires_at = lease_expires_at - 86400000000;"
                              "UPDATE api_keys SET expires_at = expires_at - 86400000000;"
                              "UPDATE events SET created_at = created_at - 86400000000;"
                              "UPDATE idempotency_keys SET created_at = created_at - 86400000000;"
                              "COMMIT";
    FUZZ_CHECK(sqlite3_exec(t->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

struct str throwaway_ask(struct throwaway *t, struct arena *arena, const char *sql, struct uuid id)
{
    sqlite3_stmt *stmt = NULL;
    FUZZ_CHECK(sqlite3_prepare_v2(t->db, sql, -1, &stmt, NULL) == SQLITE_OK);
    if (sqlite3_bind_parameter_count(stmt) > 0)
        sqlite3_bind_blob(stmt, 1, id.bytes, sizeof id.bytes, SQLITE_STATIC);
    FUZZ_CHECK(sqlite3_step(stmt) == SQLITE_ROW);
    struct str text = arena_str(arena, str_of((const char *)sqlite3_column_text(stmt, 0)));
    sqlite3_finalize(stmt);
    return text;
}

/* --- Answers -------------------------------------------------------------------------------- */

struct json answer_json(struct arena *arena, const cairn_answer *a)
{
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    struct json_error error;
    struct str body = STR_NONE;
    body.ptr = cairn_answer_body(a, &body.len);
    body = arena_str(arena, body);
    FUZZ_CHECK(json_parse(arena, body, doc, &error));
    return json_root(doc);
}

struct str json_text_of(struct arena *arena, struct json object, const char *member)
{
    struct json value;
    if (json_type(object) != JSON_OBJECT || !json_get(object, str_of(member), &value))
        return STR_NONE;
    if (json_type(value) == JSON_STRING)
        return json_string(arena, value);
    return json_type(value) == JSON_NUMBER ? json_raw(value) : STR_NONE;
}
