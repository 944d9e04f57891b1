/* SPDX-License-Identifier: Apache-2.0 */
/* A page ends at its limit of bytes, after the same row on either engine. */
#include "fixture.h"
#include "model/execution/runs.sql.h"
#include "model/threads/events.sql.h"
#include "model/threads/threads.sql.h"

enum { MIB = 1024 * 1024, PAGE_MIBS = PAGE_MAX_BYTES / MIB };

/* A JSON number of many digits: all the same, or such that no compression helps. */
static struct str document(struct fixture *f, size_t size, bool random)
{
    char *text = arena_alloc(f->arena, size);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < size; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text[i] = (char)(random ? '1' + state % 9 : '1');
    }
    return (struct str){text, size};
}

/* Each is one MiB: the document, and what is empty besides. */
static void make_threads(struct fixture *f, size_t count, bool random)
{
    struct thread t = {.context = document(f, MIB - 6, random)};
    struct context *c = begin(f);
    for (size_t i = 0; i < count; i++) {
        struct thread one = t;
        EXPECT_EQ(thread_create(c, &one), OK);
    }
    commit(f);
}

static void make_runs(struct fixture *f, size_t count, bool random)
{
    struct str state = document(f, MIB - 2, random);
    for (size_t i = 0; i < count; i++) {
        struct uuid thread = make_thread(f);
        struct run run = {.dispatch = RUN_DIRECT, .state = state};
        EXPECT_EQ(run_start(begin(f), thread, RUN_POLICY_NONE, &run), OK);
        commit(f);
    }
}

static size_t list_threads(
    struct fixture *f, struct uuid before, size_t limit, struct thread *out, bool *out_more)
{
    const struct thread_filter filter = {
        .with_documents = true, .has_before = !uuid_is_nil(before), .before = before};
    struct page page = {.limit = limit};
    EXPECT_EQ(thread_list(begin_reading(f), &filter, &page, out), OK);
    commit(f);
    *out_more = page.more;
    return page.count;
}

TEST(a_page_of_threads_ends_with_the_one_that_makes_it_larger_than_its_limit)
{
    struct fixture f;
    struct thread list[10];
    bool more;
    fixture_begin(&f);
    make_threads(&f, PAGE_MIBS + 1, false);
    EXPECT_EQ(list_threads(&f, UUID_NIL, 10, list, &more), PAGE_MIBS + 1);
    EXPECT(!more);
    EXPECT_EQ(list_threads(&f, UUID_NIL, PAGE_MIBS + 1, list, &more), PAGE_MIBS + 1);
    EXPECT(!more);
    EXPECT_EQ(list_threads(&f, UUID_NIL, PAGE_MIBS, list, &more), PAGE_MIBS);
    EXPECT(more);
    make_threads(&f, PAGE_MIBS, true);
    EXPECT_EQ(list_threads(&f, UUID_NIL, 10, list, &more), PAGE_MIBS + 1);
    EXPECT(more);
    EXPECT_EQ(list[PAGE_MIBS].context.len, MIB - 6);
    EXPECT_EQ(list_threads(&f, list[PAGE_MIBS].id, 10, list, &more), PAGE_MIBS);
    EXPECT(!more);
    fixture_end(&f);
}

TEST(a_page_of_runs_ends_with_the_one_that_makes_it_larger_than_its_limit)
{
    struct page page;
    struct fixture f;
    struct run list[10];
    struct run_filter filter = {.with_documents = true};
    size_t n = 99;
    bool more;
    fixture_begin(&f);
    make_runs(&f, PAGE_MIBS + 2, true);
    struct context *c = begin_reading(&f);
    page = (struct page){.limit = 10};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, PAGE_MIBS + 1);
    EXPECT(more);
    filter.has_before = true;
    filter.before = list[0].id;
    page = (struct page){.limit = 10};
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, PAGE_MIBS + 1);
    EXPECT(!more);
    page = (struct page){.limit = 10};
    filter = (struct run_filter){0}; /* without their documents they are small */
    EXPECT_EQ(run_list(c, &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, PAGE_MIBS + 2);
    EXPECT(!more);
    commit(&f);
    fixture_end(&f);
}

/* --- Rows sent by the database -------------------------------------------------------------- */

/* PostgreSQL's whole answer is in memory before its first row is read. */
static size_t count_rows(
    struct fixture *f, const struct sql_statement *statement, struct uuid thread_id, int64_t bytes)
{
    struct query q;
    size_t count = 0;
    context_query(begin_reading(f), &q, statement);
    query_i64(&q, limit, 1000);
    query_i64(&q, max_bytes, bytes);
    if (!uuid_is_nil(thread_id))
        query_uuid(&q, thread_id, thread_id);
    if (statement == &SQL_EVENT_LIST || statement == &SQL_EVENT_LIST_TENANT) {
        query_i64(&q, after, 0);
        query_i64(&q, through, INT64_MAX);
    }
    while (query_next(&q))
        count++;
    EXPECT_EQ(query_end(&q), OK);
    commit(f);
    return count;
}

POSTGRES_ONLY(the_database_sends_no_more_than_a_page_of_documents_and_one_more)
{
    struct fixture f;
    fixture_begin(&f);
    for (int random = 0; random < 2; random++) {
        make_threads(&f, PAGE_MIBS + 4, random == 1);
        EXPECT_EQ(count_rows(&f, &SQL_THREAD_LIST_WHOLE, UUID_NIL, PAGE_MAX_BYTES), PAGE_MIBS + 2);
        make_runs(&f, PAGE_MIBS + 4, random == 1);
        EXPECT_EQ(count_rows(&f, &SQL_RUN_LIST_WHOLE, UUID_NIL, PAGE_MAX_BYTES), PAGE_MIBS + 2);
        EXPECT(count_rows(&f, &SQL_RUN_LIST, UUID_NIL, PAGE_MAX_BYTES) >= PAGE_MIBS + 4);
    }
    fixture_end(&f);
}

POSTGRES_ONLY(the_database_sends_no_more_than_a_page_of_events_and_one_more)
{
    enum { EVENTS = 30, BYTES = 100 * 1000 };
    struct fixture f;
    fixture_begin(&f);
    for (int random = 0; random < 2; random++) {
        struct uuid id = make_thread(&f);
        struct event events[EVENTS];
        for (size_t i = 0; i < EVENTS; i++)
            events[i] = (struct event){
                .kind = STR("progress"), .payload = document(&f, BYTES, random == 1)};
        EXPECT_EQ(event_append(begin(&f), id, events, EVENTS), OK);
        commit(&f);
        /* The first event reports the thread, and is small. */
        EXPECT_EQ(count_rows(&f, &SQL_EVENT_LIST, id, 3 * BYTES), 1 + 3 + 1);
        EXPECT_EQ(count_rows(&f, &SQL_EVENT_LIST_TENANT, UUID_NIL, 3 * BYTES), 1 + 3 + 1);
        EXPECT_EQ(count_rows(&f, &SQL_EVENT_LIST, id, INT64_MAX), EVENTS + 1);
    }
    fixture_end(&f);
}
