/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's index of events by thread, which is written after the events. */
#include "fixture.h"
#include "model/threads/event_index.h"

static int64_t count_entries(struct fixture *f)
{
    return sql_i64(f, "SELECT count(*) FROM event_index");
}

static int64_t indexed_id(struct fixture *f)
{
    return sql_i64(f, "SELECT indexed_id FROM event_floor");
}

static void index_recent(struct fixture *f)
{
    EXPECT_EQ(event_index_recent(begin(f)), OK);
    commit(f);
}

/* Reads the whole log in pages, and expects every seq once, in order, from `first` to `last`. */
static void expect_log(struct fixture *f, struct uuid thread, int64_t first, int64_t last)
{
    enum { PAGE = 7 };
    const struct event_filter filter = {
        .has_thread_id = true, .thread_id = thread, .kind = STR_NONE};
    struct event events[PAGE];
    int64_t at = first - 1;
    bool more = true;
    struct context *c = begin_reading(f);
    while (more) {
        struct page page = {.limit = PAGE};
        EXPECT_EQ(event_list(c, &filter, at, &page, events), OK);
        for (size_t i = 0; i < page.count; i++)
            EXPECT_EQ(events[i].seq, ++at);
        more = page.more;
    }
    struct thread read;
    EXPECT_EQ(at, last);
    EXPECT_EQ(thread_get(c, thread, &read), OK);
    EXPECT_EQ(read.last_seq, last);
    commit(f);
    EXPECT_EQ(thread_bounds(f, thread).last, last);
}

SQLITE_ONLY(recent_events_are_read_like_those_of_the_index)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, 9);
    expect_log(&f, a, 1, 10);
    EXPECT_EQ(count_entries(&f), 0);
    index_recent(&f);
    EXPECT_EQ(count_entries(&f), 11);
    expect_log(&f, a, 1, 10);
    add_events(&f, a, 5);
    add_events(&f, b, 3);
    /* Some in the index, some recent, and a page that has both. */
    expect_log(&f, a, 1, 15);
    expect_log(&f, a, 8, 15);
    expect_log(&f, a, 13, 15);
    expect_log(&f, b, 1, 4);
    index_recent(&f);
    index_recent(&f);
    EXPECT_EQ(count_entries(&f), 19);
    EXPECT_EQ(indexed_id(&f), 19);
    expect_log(&f, a, 1, 15);
    fixture_end(&f);
}

SQLITE_ONLY(appends_index_the_events_before_them_when_many_are_recent)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, EVENT_RECENT_MAX - 3);
    EXPECT_EQ(count_entries(&f), 0);
    add_events(&f, b, 1);
    EXPECT_EQ(count_entries(&f), EVENT_RECENT_MAX);
    add_events(&f, b, 5);
    EXPECT_EQ(count_entries(&f), EVENT_RECENT_MAX);
    expect_log(&f, a, 1, EVENT_RECENT_MAX - 2);
    expect_log(&f, b, 1, 7);
    fixture_end(&f);
}

SQLITE_ONLY(large_events_are_indexed_sooner)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f);
    char *large = arena_alloc(f.arena, EVENT_PAYLOAD_MAX_BYTES);
    memset(large, '1', EVENT_PAYLOAD_MAX_BYTES);
    struct event event = {.kind = STR("progress"), .payload = {large, EVENT_PAYLOAD_MAX_BYTES}};
    int64_t n = EVENT_RECENT_MAX_BYTES / EVENT_PAYLOAD_MAX_BYTES;
    for (int64_t i = 0; i < n; i++) {
        EXPECT_EQ(count_entries(&f), 0);
        EXPECT_EQ(event_append(begin(&f), a, &event, 1), OK);
        commit(&f);
    }
    EXPECT_EQ(count_entries(&f), n + 1);
    EXPECT_EQ(event_append(begin(&f), a, &event, 1), OK);
    commit(&f);
    EXPECT_EQ(count_entries(&f), n + 1);
    fixture_end(&f);
}

/* As a damaged file may have them. The server continues, and `cairn check` reports the event. */
SQLITE_ONLY(two_events_with_one_seq_stop_nobody)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, 3);
    sql_exec(&f, "UPDATE events SET seq = 2 WHERE seq = 3");
    add_events(&f, b, 1);
    index_recent(&f);
    EXPECT_EQ(count_entries(&f), 5);
    EXPECT_EQ(store_stats(f.store).damaged, 1);
    add_events(&f, a, 1);
    add_events(&f, b, 1);
    index_recent(&f);
    expect_log(&f, b, 1, 3);
    fixture_end(&f);
}

SQLITE_ONLY(an_index_that_was_rolled_back_is_written_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f);
    add_events(&f, a, 4);
    EXPECT_EQ(event_index_recent(begin(&f)), OK);
    abandon(&f);
    EXPECT_EQ(count_entries(&f), 0);
    EXPECT_EQ(indexed_id(&f), 0);
    /* The failed job had settled the counters. */
    struct uuid b = make_thread(&f);
    add_events(&f, a, 1);
    expect_log(&f, a, 1, 6);
    expect_log(&f, b, 1, 1);
    index_recent(&f);
    EXPECT_EQ(count_entries(&f), 7);
    expect_log(&f, a, 1, 6);
    fixture_end(&f);
}

/* The writer has lost its counters, and loads them with or without recent events. */
SQLITE_ONLY(a_restart_continues_the_log_wherever_its_end_is)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, 2);
    index_recent(&f);
    add_events(&f, b, 2);
    fixture_close(&f);
    fixture_open(&f);
    add_events(&f, a, 1);
    add_events(&f, b, 1);
    expect_log(&f, a, 1, 4);
    expect_log(&f, b, 1, 4);
    index_recent(&f);
    fixture_close(&f);
    fixture_open(&f);
    index_recent(&f);
    add_events(&f, b, 1);
    add_events(&f, a, 1);
    expect_log(&f, a, 1, 5);
    expect_log(&f, b, 1, 5);
    fixture_end(&f);
}

SQLITE_ONLY(recent_events_are_pruned_with_their_entries)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    int64_t pruned;
    add_events(&f, a, 5);
    index_recent(&f);
    add_events(&f, a, 5);
    add_events(&f, b, 5);
    EXPECT_EQ(event_prune(begin(&f), a, 8, &pruned), OK);
    commit(&f);
    EXPECT_EQ(pruned, 8);
    expect_log(&f, a, 9, 11);
    expect_log(&f, b, 1, 6);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 9);
    EXPECT_EQ(count_entries(&f), 9);
    EXPECT_EQ(delete_thread(begin(&f), a), OK);
    commit(&f);
    collect_garbage(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events WHERE id NOT IN "
                          "(SELECT id FROM event_index)"),
        1); /* that the thread was deleted */
    expect_log(&f, b, 1, 6);
    fixture_end(&f);
}

SQLITE_ONLY(the_events_of_a_deleted_tenant_leave_no_entries)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid theirs = make_tenant(&f, "theirs"), mine = make_thread(&f);
    struct thread thread = {.metadata = STR("{}")};
    EXPECT_EQ(thread_create(begin_as(&f, theirs), &thread), OK);
    commit(&f);
    index_recent(&f);
    struct event event = {.kind = STR("progress")};
    EXPECT_EQ(event_append(begin_as(&f, theirs), thread.id, &event, 1), OK);
    commit(&f);
    EXPECT_EQ(delete_tenant(begin(&f), theirs), OK);
    commit(&f);
    collect_garbage(&f);
    index_recent(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 1);
    EXPECT_EQ(count_entries(&f), 1);
    expect_log(&f, mine, 1, 1);
    fixture_end(&f);
}

SQLITE_ONLY(ids_that_the_index_has_passed_are_not_given_to_later_events)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f);
    bool has_id;
    int64_t id;
    EXPECT_EQ(event_take_id(begin(&f), &has_id, &id), OK);
    EXPECT_EQ(event_index_recent(&f.context), OK);
    commit(&f);
    EXPECT_EQ(indexed_id(&f), id);
    fixture_close(&f);
    fixture_open(&f);
    add_events(&f, a, 1);
    EXPECT_EQ(last_event(&f, a).id, id + 1);
    expect_log(&f, a, 1, 2);
    fixture_end(&f);
}
