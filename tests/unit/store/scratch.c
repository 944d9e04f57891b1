/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>

void scratch_init(struct scratch *s)
{
    char root[] = "/tmp/cairn-unit-XXXXXX";
    arena_init(&s->arena, SIZE_MAX);
    if (mkdtemp(root) == NULL) {
        perror("mkdtemp");
        abort();
    }
    s->root = arena_str(&s->arena, str_of(root));
    s->data_dir = arena_printf(&s->arena, "%s/data", root);
    s->database = arena_cstr(&s->arena, arena_printf(&s->arena, "%s/data/cairn.db", root));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    return remove(path);
}

void scratch_deinit(struct scratch *s)
{
    const char *root = arena_cstr(&s->arena, s->root);
    if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        test_fail(__FILE__, __LINE__, "%s could not be removed", root);
    arena_deinit(&s->arena);
}

bool scratch_has_file(struct scratch *s, const char *name)
{
    struct str path = arena_printf(&s->arena, "%.*s/%s", STR_ARG(s->data_dir), name);
    return access(arena_cstr(&s->arena, path), F_OK) == 0;
}

/* Runs the statements; `out_text` is the first column of the last row, as text. */
static void run(struct scratch *s, const char *sql, struct str *out_text)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(
        s->database, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_busy_timeout(db, 5000);
    while (rc == SQLITE_OK && *sql != '\0') {
        sqlite3_stmt *stmt = NULL;
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, &sql);
        while (rc == SQLITE_OK && stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW)
            *out_text = arena_str(&s->arena, str_of((const char *)sqlite3_column_text(stmt, 0)));
        if (stmt != NULL)
            rc = sqlite3_finalize(stmt);
    }
    if (rc != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

void scratch_exec(struct scratch *s, const char *sql)
{
    struct str unused = STR_NONE;
    run(s, sql, &unused);
}

struct str scratch_text(struct scratch *s, const char *sql)
{
    struct str text = STR_NONE;
    run(s, sql, &text);
    return text;
}

int64_t scratch_i64(struct scratch *s, const char *sql)
{
    int64_t number = INT64_MIN;
    if (!str_to_i64(scratch_text(s, sql), &number))
        test_fail(__FILE__, __LINE__, "%s: no number", sql);
    return number;
}
