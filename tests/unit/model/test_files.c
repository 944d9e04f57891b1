/* SPDX-License-Identifier: Apache-2.0 */
#include "file_fixture.h"

/* --- Versions --------------------------------------------------------------------------------- */

TEST(each_upload_under_a_name_makes_the_next_version_and_tells_of_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file first = put_file(&f, thread, "a.txt", "one");
    EXPECT_EQ(first.version, 1);
    EXPECT_EQ(first.size_bytes, 3);
    EXPECT_STR(
        first.sha256, STR("7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"));
    EXPECT_STR(first.metadata, STR("{}"));
    struct event e = last_event(&f, thread);
    EXPECT_STR(e.kind, STR("file.created"));
    EXPECT_STR(e.text, STR("a.txt, version 1"));
    EXPECT_STR(
        e.payload, STR("{\"name\":\"a.txt\",\"version\":1,\"size_bytes\":3,\"sha256\":"
                       "\"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\","
                       "\"content_type\":\"text/plain\",\"by\":null}"));
    struct file second = put_file(&f, thread, "a.txt", "two!");
    EXPECT_EQ(second.version, 2);
    EXPECT(uuid_eq(second.id, first.id));
    EXPECT_EQ(second.revision, 2);
    EXPECT_STR(last_event(&f, thread).kind, STR("file.updated"));
    EXPECT_EQ(get_version(&f, thread, "a.txt", 1).size_bytes, 3);
    EXPECT_EQ(get_version(&f, thread, "a.txt", 0).size_bytes, 4);
    fixture_end(&f);
}

TEST(the_same_bytes_are_stored_once_a_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "same");
    put_file(&f, thread, "b", "same");
    put_file(&f, make_thread(&f), "a", "same");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blobs"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM file_versions"), 3);
    fixture_end(&f);
}

TEST(a_version_that_was_read_before_somebody_elses_cannot_overwrite_it)
{
    struct fixture f;
    struct file file;
    bool created;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "1");
    put_file(&f, thread, "a", "2");
    struct context *c = begin(&f);
    struct file_put put = a_put(c, thread, "a", "3");
    context_match_only(c, 1);
    EXPECT_EQ(file_put(c, &put, &created, &file), ERR_STALE);
    EXPECT_PART(f.problem.detail, "\"2\"");
    context_match_only(c, 2);
    EXPECT_EQ(file_put(c, &put, &created, &file), OK);
    EXPECT_EQ(file.version, 3);
    EXPECT(!created);
    commit(&f);
    fixture_end(&f);
}

TEST(conditions_on_whether_a_file_is_there_hold)
{
    struct fixture f;
    struct file file;
    bool created;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "1");
    struct context *c = begin(&f);
    struct file_put put = a_put(c, thread, "a", "2");
    put.must_be_new = true;
    EXPECT_EQ(file_put(c, &put, &created, &file), ERR_STALE);
    put = a_put(c, thread, "none", "2");
    put.must_exist = true;
    EXPECT_EQ(file_put(c, &put, &created, &file), ERR_STALE);
    put.must_exist = false;
    context_match_only(c, 1);
    EXPECT_EQ(file_put(c, &put, &created, &file), ERR_STALE);
    c->has_match = false;
    put.must_be_new = true;
    EXPECT_EQ(file_put(c, &put, &created, &file), OK);
    EXPECT(created);
    commit(&f);
    fixture_end(&f);
}

TEST(numbers_of_versions_are_not_given_twice_also_when_the_file_was_deleted)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "1");
    put_file(&f, thread, "a", "2");
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("a"), 2), OK);
    commit(&f);
    EXPECT_EQ(get_file(&f, thread, "a").version, 1);
    EXPECT_EQ(put_file(&f, thread, "a", "3").version, 3);
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a")), OK);
    commit(&f);
    EXPECT_STR(last_event(&f, thread).kind, STR("file.deleted"));
    struct file again = put_file(&f, thread, "a", "4");
    EXPECT_EQ(again.version, 4);
    EXPECT_STR(last_event(&f, thread).kind, STR("file.created"));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM file_ends"), 0);
    fixture_end(&f);
}

TEST(the_current_version_moves_to_the_newest_left_and_with_the_last_the_file_goes)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (int i = 0; i < 3; i++)
        put_file(&f, thread, "a", i == 0 ? "1" : i == 1 ? "22" : "333");
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("a"), 2), OK);
    commit(&f);
    EXPECT_EQ(get_file(&f, thread, "a").version, 3);
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("a"), 3), OK);
    commit(&f);
    EXPECT_EQ(get_file(&f, thread, "a").size_bytes, 1);
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("a"), 3), ERR_NOT_FOUND);
    EXPECT_PART(f.problem.detail, "no version 3");
    abandon(&f);
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("a"), 1), OK);
    commit(&f);
    EXPECT_EQ(file_get(begin_reading(&f), thread, STR("a"), &file), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_STR(last_event(&f, thread).kind, STR("file.deleted"));
    fixture_end(&f);
}

TEST(a_restored_version_is_a_new_one_with_the_old_content)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str old = put_file(&f, thread, "a", "old").sha256;
    put_file(&f, thread, "a", "newer");
    EXPECT_EQ(file_restore(begin(&f), thread, STR("a"), 7, &file), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(file_restore(begin(&f), thread, STR("a"), 1, &file), OK);
    commit(&f);
    EXPECT_EQ(file.version, 3);
    EXPECT_STR(file.sha256, old);
    struct file_version v = get_version(&f, thread, "a", 3);
    EXPECT(v.has_restored_from);
    EXPECT_EQ(v.restored_from, 1);
    EXPECT(!get_version(&f, thread, "a", 2).has_restored_from);
    fixture_end(&f);
}

TEST(metadata_has_a_revision_of_its_own_and_leaves_the_version)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file before = put_file(&f, thread, "a", "1");
    EXPECT_EQ(file_set_metadata(begin(&f), &before, STR("{\"k\":1}"), &file), OK);
    commit(&f);
    EXPECT_EQ(file.version, 1);
    EXPECT_EQ(file.revision, 2);
    EXPECT_STR(file.metadata, STR("{\"k\":1}"));
    EXPECT_STR(last_event(&f, thread).kind, STR("file.updated"));
    fixture_end(&f);
}

/* --- Names --------------------------------------------------------------------------------------
 */

TEST(any_text_without_control_characters_is_a_name)
{
    struct fixture f;
    fixture_begin(&f);
    static const char *const good[] = {"../x", "/etc/passwd", ".", "..", "a b", "ü/ß.txt", "CON",
        "%2e%2e", "a\\b", "\"quoted\"", "名前"};
    struct uuid thread = make_thread(&f);
    for (size_t i = 0; i < COUNT_OF(good); i++)
        EXPECT_STR(put_file(&f, thread, good[i], "x").name, str_of(good[i]));
    struct context *c = begin(&f);
    static const char *const bad[] = {"", "a\nb", "\x7f", "\xff\xfe"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        EXPECT_EQ(file_check_name(c, str_of(bad[i]), STR("name")), ERR_INVALID);
    char longest[FILE_NAME_MAX_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    EXPECT_EQ(file_check_name(c, (struct str){longest, FILE_NAME_MAX_BYTES}, STR("name")), OK);
    EXPECT_EQ(file_check_name(c, (struct str){longest, sizeof longest}, STR("name")), ERR_INVALID);
    abandon(&f);
    fixture_end(&f);
}

TEST(a_media_type_has_the_form_of_one)
{
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin(&f);
    static const char *const good[] = {"text/plain", "text/plain; charset=utf-8",
        "application/vnd.x+json", "image/svg+xml;a=\"b c\""};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        EXPECT_EQ(file_check_type(c, str_of(good[i]), STR("t")), OK);
    static const char *const bad[] = {"", "text", "text/", "/plain", "a b/c", "text/plain\r\nX: y",
        "text/pl\xc3\xa4in", "text/a/b"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        EXPECT_EQ(file_check_type(c, str_of(bad[i]), STR("t")), ERR_INVALID);
    abandon(&f);
    fixture_end(&f);
}

/* --- Lists --------------------------------------------------------------------------------------
 */

static void expect_names(
    struct fixture *f, const struct file_filter *filter, size_t limit, const char *expected)
{
    struct page page;
    struct file files[16];
    size_t count = 0;
    bool more = false;
    struct str names = STR("");
    page = (struct page){.limit = limit};
    EXPECT_EQ(file_list(begin_reading(f), filter, &page, files), OK);
    count = page.count;
    more = page.more;
    abandon(f);
    for (size_t i = 0; i < count; i++)
        names = arena_printf(
            f->arena, "%.*s%s%.*s", STR_ARG(names), i > 0 ? " " : "", STR_ARG(files[i].name));
    EXPECT_STR(
        arena_printf(f->arena, "%.*s%s", STR_ARG(names), more ? " …" : ""), str_of(expected));
}

TEST(files_are_listed_by_the_bytes_of_their_names_from_a_prefix_and_a_cursor_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    static const char *const names[] = {"b", "a/2", "B", "a/1", "ä", "a", "a0", "\xf4\x8f\xbf\xbf",
        "a\xed\x9f\xbfz", "a\xee\x80\x80"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        put_file(&f, thread, names[i], "x");
    put_file(&f, make_thread(&f), "c", "x");
    struct file_filter all = {.thread_id = thread, .prefix = STR_NONE, .after = STR_NONE};
    expect_names(&f, &all, 4, "B a a/1 a/2 …");
    all.after = STR("a/2");
    expect_names(&f, &all, 16, "a0 a\xed\x9f\xbfz a\xee\x80\x80 b ä \xf4\x8f\xbf\xbf");
    struct file_filter some = {.thread_id = thread, .prefix = STR("a/"), .after = STR_NONE};
    expect_names(&f, &some, 16, "a/1 a/2");
    expect_names(&f, &some, 1, "a/1 …");
    some.after = STR("a/1");
    expect_names(&f, &some, 1, "a/2");
    some = (struct file_filter){.thread_id = thread, .prefix = STR("ä"), .after = STR_NONE};
    expect_names(&f, &some, 16, "ä");
    some.prefix = STR("a\xed\x9f\xbf"); /* the next code point is a surrogate */
    expect_names(&f, &some, 16, "a\xed\x9f\xbfz");
    some.prefix = STR("\xf4\x8f\xbf\xbf"); /* there is no next code point */
    expect_names(&f, &some, 16, "\xf4\x8f\xbf\xbf");
    fixture_end(&f);
}

TEST(versions_are_listed_newest_first)
{
    struct page page;
    struct fixture f;
    struct file_version v[3];
    size_t count;
    bool more;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (int i = 0; i < 5; i++)
        put_file(&f, thread, "a", i % 2 == 0 ? "even" : "odd");
    page = (struct page){.limit = 3};
    EXPECT_EQ(file_list_versions(begin_reading(&f), thread, STR("a"), 0, &page, v), OK);
    count = page.count;
    more = page.more;
    abandon(&f);
    EXPECT_EQ(count, 3);
    EXPECT(more);
    EXPECT_EQ(v[0].version, 5);
    EXPECT_EQ(v[2].version, 3);
    page = (struct page){.limit = 3};
    EXPECT_EQ(file_list_versions(begin_reading(&f), thread, STR("a"), 3, &page, v), OK);
    count = page.count;
    more = page.more;
    abandon(&f);
    EXPECT_EQ(count, 2);
    EXPECT(!more);
    EXPECT_EQ(v[1].version, 1);
    fixture_end(&f);
}

/* --- Copies
 * --------------------------------------------------------------------------------------- */

static enum error copy_file(struct fixture *f, const struct file_copy *copy, struct file *out)
{
    bool created;
    return leave(f, file_copy(begin(f), copy, &created, out));
}

TEST(a_copy_is_a_new_file_that_knows_where_it_came_from)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid from = make_thread(&f), to = make_thread(&f);
    put_file(&f, from, "a", "1");
    put_file(&f, from, "a", "2");
    struct file_copy copy = {
        .from_thread_id = from, .from_name = STR("a"), .to_thread_id = to, .to_name = STR("b")};
    EXPECT_EQ(copy_file(&f, &copy, &file), OK);
    EXPECT_EQ(file.version, 1);
    struct file_version v = get_version(&f, to, "b", 1);
    EXPECT(v.has_source);
    EXPECT(uuid_eq(v.source_thread_id, from));
    EXPECT_STR(v.source_name, STR("a"));
    EXPECT_EQ(v.source_version, 2);
    EXPECT_PART(last_event(&f, to).payload, "\"source_version\":2");
    EXPECT_EQ(copy_file(&f, &copy, &file), ERR_CONFLICT);
    copy.may_exist = true;
    copy.version = 1;
    EXPECT_EQ(copy_file(&f, &copy, &file), OK);
    EXPECT_EQ(file.version, 2);
    EXPECT_EQ(get_version(&f, to, "b", 2).source_version, 1);
    EXPECT_EQ(file_delete(begin(&f), from, STR("a")), OK);
    commit(&f);
    EXPECT_EQ(get_version(&f, to, "b", 1).source_version, 2); /* provenance outlives the source */
    fixture_end(&f);
}

TEST(a_copy_with_history_has_every_version_with_its_author_and_time)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid from = make_thread(&f), to = make_thread(&f);
    for (int i = 0; i < 4; i++)
        put_file(&f, from, "a", i % 2 == 0 ? "even" : "odd");
    EXPECT_EQ(file_delete_version(begin(&f), from, STR("a"), 2), OK);
    commit(&f);
    sql_exec(&f, "UPDATE file_versions SET created_by = 'user:ann', created_at = 7");
    struct file_copy copy = {.from_thread_id = from,
        .from_name = STR("a"),
        .to_thread_id = to,
        .to_name = STR("a"),
        .with_history = true};
    EXPECT_EQ(copy_file(&f, &copy, &file), OK);
    EXPECT_EQ(file.version, 3);
    EXPECT_EQ(get_version(&f, to, "a", 1).source_version, 1);
    struct file_version v = get_version(&f, to, "a", 2);
    EXPECT_EQ(v.source_version, 3);
    EXPECT_STR(v.created_by, STR("user:ann"));
    EXPECT_EQ(v.created_at, 7);
    EXPECT_EQ(get_version(&f, to, "a", 3).source_version, 4);
    EXPECT_EQ(put_file(&f, to, "a", "next").version, 4);
    fixture_end(&f);
}

TEST(a_copy_within_a_thread_needs_another_name_or_adds_to_the_file_itself)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "1");
    struct file_copy copy = {.from_thread_id = thread,
        .from_name = STR("a"),
        .to_thread_id = thread,
        .to_name = STR("a"),
        .with_history = true};
    EXPECT_EQ(copy_file(&f, &copy, &file), ERR_CONFLICT);
    copy.may_exist = true;
    EXPECT_EQ(copy_file(&f, &copy, &file), OK);
    EXPECT_EQ(file.version, 2);
    copy.to_name = STR("b");
    EXPECT_EQ(copy_file(&f, &copy, &file), OK);
    EXPECT_EQ(file.version, 2);
    copy.to_thread_id = uuid_v7();
    EXPECT_EQ(copy_file(&f, &copy, &file), ERR_NOT_FOUND);
    fixture_end(&f);
}
