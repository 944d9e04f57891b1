/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/messages.h"

#include "fixture.h"

static struct message make(struct fixture *f, struct uuid thread_id, const char *content)
{
    struct message m = {.content = str_of(content)};
    EXPECT_EQ(message_create(begin(f), thread_id, &m), OK);
    commit(f);
    return m;
}

static size_t count_found(struct fixture *f, struct uuid thread_id, const char *text)
{
    struct page page;
    struct message found[10];
    struct message_search search = {
        .text = str_of(text), .has_thread_id = true, .thread_id = thread_id, .before = INT64_MAX};
    size_t n = 0;
    page = (struct page){.limit = COUNT_OF(found)};
    EXPECT_EQ(message_search(begin_reading(f), &search, &page, found), OK);
    n = page.count;
    commit(f);
    return n;
}

static struct message_page page_of(
    struct fixture *f, const struct message_filter *filter, size_t limit)
{
    struct message_page page = {.messages = ARENA_ARRAY(f->arena, struct message, limit)};
    page.page.limit = limit;
    EXPECT_EQ(message_list(begin_reading(f), filter, &page), OK);
    commit(f);
    return page;
}

TEST(a_message_has_the_seq_of_the_event_that_tells_of_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    add_events(&f, thread, 3);
    struct message m = make(&f, thread, "hello");
    struct event e = last_event(&f, thread);
    EXPECT_STR(e.kind, STR("message.created"));
    EXPECT_EQ(m.seq, e.seq);
    EXPECT_EQ(m.event_id, e.id);
    EXPECT_EQ(m.seq, 5);
    fixture_end(&f);
}

TEST(a_message_that_is_refused_takes_no_number)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct message bad = {.content = STR("x"), .metadata = STR("{\"href\":\"javascript:x\"}")};
    EXPECT_EQ(message_create(begin(&f), thread, &bad), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/metadata/href"));
    abandon(&f);
    EXPECT_EQ(make(&f, thread, "next").seq, 2);
    fixture_end(&f);
}

TEST(a_message_to_a_thread_that_is_not_there_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    struct message m = {.content = STR("x")};
    EXPECT_EQ(message_create(begin(&f), uuid_v7(), &m), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(a_page_with_a_filter_looks_only_so_far_and_says_where_to_go_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct message first = make(&f, thread, "a");
    struct message_filter filter = {
        .thread_id = thread, .before = INT64_MAX, .newest_first = true, .type = MESSAGE_CHAT};
    struct message_page page = page_of(&f, &filter, 10);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(!page.page.more);
    /* A log much longer than one page looks at. */
    sql_exec(&f, "UPDATE threads SET last_seq = 50000");
    fixture_close(&f);
    fixture_open(&f);
    struct message last = make(&f, thread, "b");
    EXPECT_EQ(last.seq, 50001);
    page = page_of(&f, &filter, 10);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(page.page.more);
    EXPECT_EQ(page.first_seq, 50001 - MESSAGE_SCAN_MAX + 1);
    size_t pages = 1;
    for (; page.page.more; pages++) {
        filter.before = page.first_seq;
        page = page_of(&f, &filter, 10);
    }
    EXPECT_EQ(pages, 3);
    EXPECT(uuid_eq(page.messages[page.page.count - 1].id, first.id));
    filter =
        (struct message_filter){.thread_id = thread, .before = INT64_MAX, .newest_first = true};
    EXPECT_EQ(page_of(&f, &filter, 10).page.count, 2);
    fixture_end(&f);
}

TEST(a_page_with_a_filter_looks_at_as_many_messages_as_it_may)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    make(&f, thread, "a");
    for (int64_t length = MESSAGE_SCAN_MAX - 1; length <= MESSAGE_SCAN_MAX + 1; length++) {
        bool cut = length > MESSAGE_SCAN_MAX;
        sql_exec(&f, arena_cstr(f.arena, arena_printf(f.arena, "UPDATE threads SET last_seq = %lld",
                                             (long long)length)));
        fixture_close(&f);
        fixture_open(&f);
        struct message_filter filter = {
            .thread_id = thread, .before = INT64_MAX, .type = MESSAGE_CHAT};
        struct message_page page = page_of(&f, &filter, 10);
        EXPECT_EQ(page.page.more, cut);
        EXPECT_EQ(page.first_seq, 1);
        EXPECT_EQ(page.last_seq, cut ? MESSAGE_SCAN_MAX : length);
        filter.newest_first = true;
        page = page_of(&f, &filter, 10);
        EXPECT_EQ(page.page.more, cut);
        EXPECT_EQ(page.first_seq, cut ? 2 : 1);
        EXPECT_EQ(page.last_seq, length);
    }
    fixture_end(&f);
}

TEST(a_page_ends_before_it_is_too_large)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    char *large = arena_zalloc(f.arena, 1000001);
    memset(large, 'x', 1000000);
    for (size_t i = 0; i < 6; i++)
        make(&f, thread, large);
    struct message_filter filter = {.thread_id = thread, .before = INT64_MAX};
    struct message_page page = page_of(&f, &filter, 50);
    EXPECT_EQ(page.page.count, 5);
    EXPECT(page.page.more);
    filter.after = page.last_seq;
    page = page_of(&f, &filter, 50);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(!page.page.more);
    fixture_end(&f);
}

TEST(only_the_first_words_of_a_message_are_found)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct buf text;
    buf_init(&text, SIZE_MAX);
    for (size_t i = 0; i < MESSAGE_WORDS_MAX - 1; i++)
        buf_printf(&text, "w%zu ", i);
    buf_append(&text, STR("inside outside"));
    make(&f, thread, arena_cstr(f.arena, buf_str(&text)));
    buf_deinit(&text);
    EXPECT_EQ(count_found(&f, thread, "inside"), 1);
    EXPECT_EQ(count_found(&f, thread, "outside"), 0);
    EXPECT_EQ(count_found(&f, thread, "\"w15998 inside\""), 1);
    EXPECT_EQ(count_found(&f, thread, "\"w15997 inside\""), 0);
    fixture_end(&f);
}

/* As after cairn migrate and an import. */
TEST(messages_that_came_in_bulk_are_found_after_the_sweep)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (size_t i = 0; i < 3; i++)
        make(&f, thread, "needle");
    struct message gone = make(&f, thread, "needle");
    EXPECT_EQ(message_delete(begin(&f), &gone), OK);
    commit(&f);
    sql_exec(&f, on_postgres() ? "UPDATE messages SET is_searchable = false"
                               : "UPDATE messages SET is_searchable = 0");
    sql_exec(&f, "DELETE FROM message_words");
    EXPECT_EQ(count_found(&f, thread, "needle"), 0);
    struct sweep_position position = {0};
    struct sweep_report report;
    EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
    commit(&f);
    EXPECT_EQ(count_found(&f, thread, "needle"), 3);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM messages WHERE NOT is_searchable"), 0);
    fixture_end(&f);
}

/* Three of them have more words than a job indexes at once. */
static struct str long_text(struct fixture *f)
{
    CLEANUP(buf_deinit) struct buf text;
    buf_init(&text, SIZE_MAX);
    for (size_t i = 0; i < CONTEXT_WORDS_AT_ONCE / 2; i++)
        buf_printf(&text, "w%zu ", i);
    return arena_str(f->arena, buf_str(&text));
}

TEST(a_request_indexes_a_limited_number_of_words_and_a_sweep_does_too)
{
    enum { MESSAGES = 7, AT_ONCE = 2 };
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct message messages[MESSAGES] = {0};
    for (size_t i = 0; i < MESSAGES; i++)
        messages[i].content = long_text(&f);
    struct message_append append;
    struct context *c = begin(&f);
    EXPECT_EQ(message_append_begin(c, thread, messages, MESSAGES, STR("/m"), &append), OK);
    EXPECT_EQ(message_append_end(c, &append), OK);
    commit(&f);
    EXPECT_EQ(count_found(&f, thread, "w17"), AT_ONCE);
    struct sweep_position position = {0};
    struct sweep_report report = {.more = true};
    for (size_t found = AT_ONCE; report.more;) {
        EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
        commit(&f);
        found = found + AT_ONCE < MESSAGES ? found + AT_ONCE : MESSAGES;
        EXPECT_EQ(count_found(&f, thread, "w17"), found);
    }
    EXPECT_EQ(count_found(&f, thread, "w17"), MESSAGES);
    make(&f, thread, "w17");
    EXPECT_EQ(count_found(&f, thread, "w17"), MESSAGES + 1);
    fixture_end(&f);
}

TEST(no_word_is_left_of_a_deleted_thread_or_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), tenant = make_tenant(&f, "other");
    make(&f, thread, "secret");
    struct thread theirs = {0};
    struct message m = {.content = STR("secret")};
    struct context *c = begin_as(&f, tenant);
    EXPECT_EQ(thread_create(c, &theirs), OK);
    EXPECT_EQ(message_create(c, theirs.id, &m), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM message_words"), 2);
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM message_words"), 1);
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM message_words"), 0);
    fixture_end(&f);
}
