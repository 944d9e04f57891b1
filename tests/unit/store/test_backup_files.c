/* SPDX-License-Identifier: Apache-2.0 */
/* Content in backups: the directory of files beside the database, and FILE.blobs. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "backup_steps.h"
#include "store/content.h"
#include "store/content_place.h"

static struct uuid TENANT = {{1, 2, 3}};

static void execute(struct fixture *f, const char *directory, const char *sql)
{
    sqlite3 *db = NULL;
    const char *path = cplace(f, directory);
    EXPECT_EQ(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, message);
    sqlite3_free(message);
    sqlite3_close(db);
}

static struct str hex(struct fixture *f, const void *bytes, size_t len)
{
    return hex_encode(&f->scratch.arena, (struct str){bytes, len});
}

/* Content with its row, beside the store that runs. */
static struct uuid add_file(struct fixture *f, struct str text)
{
    struct uuid id = uuid_v7();
    struct content_writer *w = NULL;
    struct content_info info;
    EXPECT_EQ(content_create(f->store, TENANT, id, &w), OK);
    EXPECT_EQ(content_append(w, text), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    content_keep(w);
    struct str sql = arena_printf(&f->scratch.arena,
        "INSERT OR IGNORE INTO tenants (id, name, created_at, updated_at) VALUES (x'%.*s', 't', 1,"
        " 1); INSERT INTO blobs VALUES (x'%.*s', x'%.*s', x'%.*s', %zu, 1)",
        STR_ARG(hex(f, &TENANT, sizeof TENANT)), STR_ARG(hex(f, &TENANT, sizeof TENANT)),
        STR_ARG(hex(f, info.sha256.bytes, SHA256_LEN)), STR_ARG(hex(f, &id, sizeof id)), text.len);
    execute(f, "data/cairn.db", arena_cstr(&f->scratch.arena, sql));
    return id;
}

static void forget_file(struct fixture *f, struct uuid id)
{
    struct str sql = arena_printf(
        &f->scratch.arena, "DELETE FROM blobs WHERE id = x'%.*s'", STR_ARG(hex(f, &id, sizeof id)));
    execute(f, "data/cairn.db", arena_cstr(&f->scratch.arena, sql));
}

static const char *path_of(struct fixture *f, const char *root, struct uuid id)
{
    const struct content_place place = content_place_of(TENANT, id);
    return arena_cstr(
        &f->scratch.arena, arena_printf(&f->scratch.arena, "%s/%s", root, place.file));
}

static bool has_file(struct fixture *f, const char *root, struct uuid id)
{
    return is_there(f, path_of(f, root, id));
}

TEST(a_backup_has_the_content_that_its_rows_name_and_a_restore_brings_it_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = add_file(&f, STR("one")), two = add_file(&f, STR(""));
    struct backup_report report = backup(&f, "copy.db");
    EXPECT_EQ(report.files.n_files, 2);
    EXPECT_EQ(report.files.n_bytes, 3);
    expect_text(&f, path_of(&f, "copy.db.blobs", one), "one");
    EXPECT(has_file(&f, "copy.db.blobs", two));
    struct restore what = plan(&f, "copy.db", "new");
    EXPECT_EQ(restore(&f, &what, NULL), OK);
    expect_text(&f, path_of(&f, "new/blobs", one), "one");
    EXPECT(has_file(&f, "new/blobs", two));
    fixture_end(&f);
}

TEST(a_backup_that_replaces_another_has_its_own_content_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = add_file(&f, STR("one")), two = add_file(&f, STR("two"));
    backup(&f, "copy.db");
    forget_file(&f, one);
    struct uuid three = add_file(&f, STR("three"));
    EXPECT_EQ(backup(&f, "copy.db").files.n_files, 2);
    EXPECT(!has_file(&f, "copy.db.blobs", one));
    EXPECT(has_file(&f, "copy.db.blobs", two) && has_file(&f, "copy.db.blobs", three));
    forget_file(&f, two);
    forget_file(&f, three);
    backup(&f, "copy.db");
    EXPECT(!is_there(&f, "copy.db.blobs"));
    fixture_end(&f);
}

TEST(content_that_is_damaged_is_not_backed_up_and_nothing_is_left)
{
    struct fixture f;
    fixture_begin(&f);
    add_file(&f, STR("one"));
    struct uuid two = add_file(&f, STR("two"));
    flip_byte(cplace(&f, path_of(&f, "data/blobs", two)), 0);
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_DAMAGED);
    expect_told(&f, "differs from the stored content");
    EXPECT(!is_there(&f, "copy.db") && !is_there(&f, "copy.db.blobs"));
    unlink(cplace(&f, path_of(&f, "data/blobs", two)));
    EXPECT_EQ(try_backup(&f, "copy.db"), ERR_DAMAGED);
    expect_told(&f, "does not exist");
    fixture_end(&f);
}

TEST(a_backup_whose_content_is_not_whole_is_refused_and_the_directory_stays)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = add_file(&f, STR("one"));
    backup(&f, "copy.db");
    flip_byte(cplace(&f, path_of(&f, "copy.db.blobs", one)), 2);
    struct restore what = plan(&f, "copy.db", "new");
    struct backup_report report;
    EXPECT_EQ(restore_try(&what, NULL, &f.problem, &report), ERR_DAMAGED);
    EXPECT_EQ(restore(&f, &what, NULL), ERR_DAMAGED);
    EXPECT(!is_there(&f, "new"));
    fixture_end(&f);
}

TEST(a_restore_keeps_the_content_of_the_database_of_before_with_it)
{
    struct fixture f;
    struct str kept = STR_NONE;
    fixture_begin(&f);
    struct uuid one = add_file(&f, STR("one"));
    backup(&f, "copy.db");
    struct uuid two = add_file(&f, STR("two"));
    forget_file(&f, one);
    fixture_close(&f);
    struct restore what = plan(&f, "copy.db", "data");
    what.replaces = true;
    EXPECT_EQ(restore(&f, &what, &kept), OK);
    EXPECT(has_file(&f, "data/blobs", one));
    /* It can be restored itself, in the same way. */
    struct restore back = {.file = kept, .sha256 = STR_NONE, .data_dir = place(&f, "again")};
    EXPECT_EQ(restore(&f, &back, NULL), OK);
    EXPECT(has_file(&f, "again/blobs", two) && !has_file(&f, "again/blobs", one));
    fixture_end(&f);
}

TEST(content_is_not_removed_while_somebody_has_the_hold)
{
    struct fixture f;
    int hold = -1;
    fixture_begin(&f);
    struct uuid one = add_file(&f, STR("one"));
    EXPECT_EQ(content_hold(cplace(&f, "data"), &f.problem, &hold), OK);
    forget_file(&f, one);
    EXPECT_EQ(content_remove(f.store, TENANT, one), OK);
    EXPECT(has_file(&f, "data/blobs", one));
    close(hold);
    EXPECT_EQ(content_remove(f.store, TENANT, one), OK);
    EXPECT(!has_file(&f, "data/blobs", one));
    fixture_end(&f);
}

TEST(uploads_under_way_are_no_part_of_a_backup)
{
    struct fixture f;
    fixture_begin(&f);
    add_file(&f, STR("one"));
    execute(&f, "data/cairn.db",
        "PRAGMA foreign_keys = OFF; INSERT INTO uploads (tenant_id, id, thread_id, content_id, "
        "name,"
        " content_type, size_bytes, offset_bytes, created_at, updated_at, expires_at)"
        " VALUES (x'00', x'01', x'02', x'01', 'a', 't', 5, 2, 1, 1, 1)");
    struct backup_report report = backup(&f, "copy.db");
    for (size_t i = 0; i < report.contents.n_tables; i++)
        if (str_eq(report.contents.tables[i].name, STR("uploads")))
            EXPECT_EQ(report.contents.tables[i].rows, 0);
    fixture_end(&f);
}
