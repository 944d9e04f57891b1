/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/tenancy/deletions.h"

/* --- Kinds ---------------------------------------------------------------------------------- */

TEST(progress_warning_and_application_kinds_are_accepted)
{
    static const char *const good[] = {"progress", "warning", "acme.tool_call", "a.b", "a.b.c.d",
        "x-1.y_2", "0.1",
        /* exactly 64 bytes */
        "acme.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "runs.x", "cairns.x",
        "my.cairn"};
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (event_check_kind(c, str_of(good[i]), STR("/kind")) != OK)
            test_fail(__FILE__, __LINE__, "\"%s\" was refused", good[i]);
    EXPECT_EQ(f.problem.n_faults, 0);
    commit(&f);
    fixture_end(&f);
}

TEST(other_kinds_are_refused_with_the_rule)
{
    static const char *const bad[] = {"", "progress2", "Progress", "tool_call", "acme.", ".acme",
        "acme..x", "acme.Tool", "acme.tool call", "acme/tool", "acm\xc3\xa9.x", "gap",
        /* 65 bytes */
        "acme.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (event_check_kind(c, str_of(bad[i]), STR("/events/3/kind")) != ERR_INVALID)
            test_fail(__FILE__, __LINE__, "\"%s\" was accepted", bad[i]);
        EXPECT_STR(f.problem.faults[0].pointer, STR("/events/3/kind"));
        EXPECT_PART(told(&f), "must be progress, warning, or an application kind");
    }
    commit(&f);
    fixture_end(&f);
}

TEST(kinds_that_report_a_status_are_refused_to_clients)
{
    static const char *const reserved[] = {"status", "error", "final"};
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        EXPECT_EQ(event_check_kind(c, str_of(reserved[i]), STR("/kind")), ERR_INVALID);
        EXPECT_PART(told(&f), "which only Cairn appends");
        EXPECT(event_kind_is_known(str_of(reserved[i])));
    }
    commit(&f);
    fixture_end(&f);
}

TEST(the_namespaces_in_which_cairn_speaks_are_refused_to_applications)
{
    static const char *const reserved[] = {"cairn.x", "thread.created", "run.status", "message.x",
        "participant.x", "file.x", "assistant.x", "conversation.x", "gap.x"};
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        EXPECT_EQ(event_check_kind(c, str_of(reserved[i]), STR("/kind")), ERR_INVALID);
        EXPECT_PART(told(&f), "is reserved by Cairn");
    }
    commit(&f);
    fixture_end(&f);
}

/* --- Append and read ------------------------------------------------------------------------ */

TEST(events_are_numbered_without_gaps_within_a_thread_and_by_commit_over_all)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, 3);
    add_events(&f, b, 2);
    add_events(&f, a, 1);
    EXPECT_EQ(thread_bounds(&f, a).last, 5);
    EXPECT_EQ(thread_bounds(&f, b).last, 3);
    EXPECT_EQ(tenant_bounds(&f).last, 8);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) = max(id) FROM events"), 1);
    fixture_end(&f);
}

/* On PostgreSQL ids may have gaps; test_nodes.c has the rest. */
SQLITE_ONLY(a_failed_append_leaves_no_gap_in_either_number)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct event event = {.kind = STR("progress")};
    EXPECT_EQ(event_append(begin(&f), id, &event, 1), OK);
    EXPECT_EQ(event.seq, 2);
    abandon(&f);
    add_events(&f, id, 1);
    EXPECT_EQ(thread_bounds(&f, id).last, 2);
    EXPECT_EQ(tenant_bounds(&f).last, 2);
    fixture_close(&f);
    fixture_open(&f);
    add_events(&f, id, 1);
    EXPECT_EQ(thread_bounds(&f, id).last, 3);
    EXPECT_EQ(tenant_bounds(&f).last, 3);
    fixture_end(&f);
}

/* Three kinds over two runs. */
static struct uuid make_varied(struct fixture *f, struct run *out_run)
{
    struct uuid id = make_thread(f);
    *out_run = make_run(f, id, "direct");
    struct event events[] = {{.kind = STR("progress"), .text = STR("hello")},
        {.kind = STR("acme.x"), .payload = STR("{\"a\":[1]}"), .has_run_id = true},
        {.kind = STR("progress"), .has_run_id = true}};
    events[1].run_id = events[2].run_id = out_run->id;
    EXPECT_EQ(event_append(begin(f), id, events, COUNT_OF(events)), OK);
    commit(f);
    return id;
}

static size_t list(struct fixture *f, const struct event_filter *filter, int64_t after,
    size_t limit, struct event *out, bool *out_more)
{
    struct page page = {.limit = limit};
    EXPECT_EQ(event_list(begin_reading(f), filter, after, &page, out), OK);
    commit(f);
    *out_more = page.more;
    return page.count;
}

TEST(events_are_read_after_a_cursor_and_by_run_and_kind)
{
    struct fixture f;
    fixture_begin(&f);
    struct run run;
    struct uuid id = make_varied(&f, &run);
    struct event e[10];
    bool more = true;
    struct event_filter filter = {.has_thread_id = true, .thread_id = id};
    EXPECT_EQ(list(&f, &filter, 2, 10, e, &more), 3);
    EXPECT(!more);
    EXPECT_EQ(e[0].seq, 3);
    EXPECT_STR(e[0].text, STR("hello"));
    EXPECT(str_is_none(e[0].payload));
    EXPECT(!e[0].has_run_id);
    EXPECT_STR(e[1].payload, STR("{\"a\":[1]}"));
    EXPECT(uuid_eq(e[1].run_id, run.id));
    EXPECT_EQ(list(&f, &filter, 0, 2, e, &more), 2);
    EXPECT(more);
    EXPECT_EQ(list(&f, &filter, 5, 2, e, &more), 0);
    filter.kind = STR("acme.x");
    EXPECT_EQ(list(&f, &filter, 0, 10, e, &more), 1);
    filter.kind = STR("progress");
    filter.has_run_id = true;
    filter.run_id = run.id;
    EXPECT_EQ(list(&f, &filter, 0, 10, e, &more), 1);
    filter.has_thread_id = false;
    filter.kind = STR_NONE;
    EXPECT_EQ(list(&f, &filter, 0, 10, e, &more), 3); /* with that of the run's start */
    fixture_end(&f);
}

TEST(a_page_ends_at_its_limit_of_bytes_too)
{
    enum { EVENTS = 40 };
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    char *text = arena_alloc(f.arena, EVENT_PAYLOAD_MAX_BYTES);
    memset(text, '1', EVENT_PAYLOAD_MAX_BYTES);
    struct event *events = ARENA_ARRAY(f.arena, struct event, EVENTS + 1), *e;
    for (size_t i = 0; i < EVENTS; i++)
        events[i] =
            (struct event){.kind = STR("progress"), .payload = {text, EVENT_PAYLOAD_MAX_BYTES}};
    EXPECT_EQ(event_append(begin(&f), id, events, EVENTS), OK);
    commit(&f);
    const struct event_filter filter = {.has_thread_id = true, .thread_id = id};
    e = ARENA_ARRAY(f.arena, struct event, EVENTS + 1);
    bool more = false;
    size_t n = list(&f, &filter, 0, EVENTS + 1, e, &more);
    EXPECT(more);
    EXPECT(n > 1 && (n - 2) * EVENT_PAYLOAD_MAX_BYTES <= EVENT_PAGE_MAX_BYTES);
    size_t seen = n;
    while (more) {
        n = list(&f, &filter, e[n - 1].seq, EVENTS + 1, e, &more);
        EXPECT_EQ(e[0].seq, seen + 1);
        seen += n;
    }
    EXPECT_EQ(seen, EVENTS + 1);
    fixture_end(&f);
}

TEST(the_bounds_of_an_unknown_thread_are_not_found)
{
    struct fixture f;
    fixture_begin(&f);
    const struct event_filter filter = {.has_thread_id = true};
    struct event_bounds bounds;
    EXPECT_EQ(event_bounds(begin_reading(&f), &filter, &bounds), ERR_NOT_FOUND);
    commit(&f);
    fixture_end(&f);
}

TEST(a_position_by_id_is_the_last_event_of_the_thread_at_or_before_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f); /* id 1 */
    add_events(&f, a, 1);            /* id 2 */
    struct uuid b = make_thread(&f); /* id 3 */
    add_events(&f, a, 1);            /* id 4 */
    static const int64_t expected[] = {0, 1, 2, 2, 3};
    struct context *c = begin_reading(&f);
    for (int64_t id = 0; id <= 4; id++) {
        int64_t seq = -1;
        EXPECT_EQ(event_seq_at_id(c, a, id, &seq), OK);
        EXPECT_EQ(seq, expected[id]);
    }
    int64_t seq = -1;
    EXPECT_EQ(event_seq_at_id(c, b, 2, &seq), OK);
    EXPECT_EQ(seq, 0);
    seq = -1;
    EXPECT_EQ(event_seq_at_id(c, a, 5, &seq), ERR_BAD_CURSOR); /* no client can have seen it */
    EXPECT_EQ(seq, -1);
    EXPECT_EQ(event_seq_at_id(c, UUID_NIL, 1, &seq), ERR_NOT_FOUND);
    commit(&f);
    fixture_end(&f);
}

/* --- Delivery to subscribers ---------------------------------------------------------------- */

static void wake(struct hub_listener *listener)
{
}

/* On PostgreSQL by way of the tail. */
SQLITE_ONLY(subscribers_hear_the_event_as_it_was_stored)
{
    struct fixture f;
    fixture_begin(&f);
    struct hub_listener l;
    struct uuid id = make_thread(&f);
    hub_listener_init(&l, wake);
    atomic_store(&l.interest, 1);
    hub_add_listener(store_hub(f.store), &l);
    struct event event = {.kind = STR("acme.x"), .text = STR("hi"), .payload = STR("[1]")};
    EXPECT_EQ(event_append(begin(&f), id, &event, 1), OK);
    commit(&f);
    struct hub_delivery d = hub_collect(&l);
    EXPECT_EQ(d.n_items, 1);
    EXPECT_EQ(d.items[0]->type, ITEM_EVENT);
    EXPECT(uuid_eq(d.items[0]->tenant_id, DEFAULT_TENANT_ID));
    EXPECT(uuid_eq(d.items[0]->topic, id));
    const struct event *heard = &CONTAINER_OF(d.items[0], struct event_item, item)->event;
    EXPECT_EQ(heard->seq, 2);
    EXPECT_EQ(heard->id, 2);
    EXPECT_STR(heard->kind, STR("acme.x"));
    EXPECT_STR(heard->text, STR("hi"));
    EXPECT_STR(heard->payload, STR("[1]"));
    EXPECT(!heard->is_last);
    hub_delivery_deinit(&d);

    EXPECT_EQ(delete_thread(begin(&f), id), OK);
    commit(&f);
    d = hub_collect(&l);
    EXPECT_EQ(d.n_items, 1);
    EXPECT(CONTAINER_OF(d.items[0], struct event_item, item)->event.is_last);
    hub_delivery_deinit(&d);
    hub_remove_listener(store_hub(f.store), &l);
    hub_listener_deinit(&l);
    fixture_end(&f);
}

static enum error append_one(struct context *c, struct uuid thread_id)
{
    struct event event = {.kind = STR("progress"), .text = STR_NONE, .payload = STR_NONE};
    return event_append(c, thread_id, &event, 1);
}

TEST(nothing_can_be_appended_to_a_thread_that_is_gone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 2);
    EXPECT_EQ(delete_thread(begin(&f), id), OK);
    abandon(&f);
    add_events(&f, id, 1); /* it was not deleted after all */
    EXPECT_EQ(delete_thread(begin(&f), id), OK);
    commit(&f);
    EXPECT_EQ(append_one(begin(&f), id), ERR_NOT_FOUND);
    EXPECT_PART(told(&f), "does not exist");
    abandon(&f);
    EXPECT_EQ(append_one(begin(&f), UUID_NIL), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(nothing_can_be_appended_to_the_threads_of_a_tenant_that_is_gone)
{
    struct fixture f;
    struct thread thread = {0};
    fixture_begin(&f);
    struct uuid tenant = make_tenant(&f, "acme");
    EXPECT_EQ(thread_create(begin_as(&f, tenant), &thread), OK);
    EXPECT_EQ(append_one(&f.context, thread.id), OK);
    commit(&f);
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    EXPECT_EQ(append_one(begin_as(&f, tenant), thread.id), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

/* --- Prune ---------------------------------------------------------------------------------- */

static int64_t prune(struct fixture *f, struct uuid id, int64_t through)
{
    int64_t pruned = -1;
    EXPECT_EQ(event_prune(begin(f), id, through, &pruned), OK);
    commit(f);
    return pruned;
}

TEST(pruning_removes_a_prefix_and_remembers_how_far)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make_thread(&f), b = make_thread(&f);
    add_events(&f, a, 4); /* seq 2 to 5, id 3 to 6 */
    EXPECT_EQ(prune(&f, a, 3), 3);
    EXPECT_EQ(thread_bounds(&f, a).pruned, 3);
    EXPECT_EQ(thread_bounds(&f, a).last, 5);
    EXPECT_EQ(thread_bounds(&f, b).pruned, 0);
    EXPECT_EQ(tenant_bounds(&f).pruned, 4); /* the id of the last that went */
    EXPECT_EQ(tenant_bounds(&f).last, 6);
    EXPECT_EQ(prune(&f, a, 3), 0);
    EXPECT_EQ(prune(&f, a, 2), 0);
    EXPECT_EQ(thread_bounds(&f, a).pruned, 3); /* never decreases */
    EXPECT_EQ(prune(&f, b, 1), 1);
    EXPECT_EQ(tenant_bounds(&f).pruned, 4); /* b's went long before */
    EXPECT_EQ(get_thread(&f, a).pruned_seq, 3);
    fixture_end(&f);
}

TEST(pruning_past_the_end_prunes_to_the_end_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    EXPECT_EQ(prune(&f, id, INT64_MAX), 1);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 1);
    EXPECT_EQ(thread_bounds(&f, id).last, 1);
    fixture_end(&f);
}

TEST(numbers_are_never_used_again_after_everything_was_pruned)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 4);
    EXPECT_EQ(prune(&f, id, INT64_MAX), 5);
    fixture_close(&f);
    fixture_open(&f); /* the counters in memory are gone */
    EXPECT_EQ(thread_bounds(&f, id).last, 5);
    EXPECT_EQ(tenant_bounds(&f).last, 5);
    add_events(&f, id, 1);
    struct event e = last_event(&f, id);
    EXPECT_EQ(e.seq, 6);
    EXPECT_EQ(e.id, 6);
    EXPECT_EQ(prune(&f, id, INT64_MAX), 1);
    add_events(&f, id, 1); /* and with the counters in memory */
    EXPECT_EQ(last_event(&f, id).seq, 7);
    EXPECT_EQ(last_event(&f, id).id, 7);
    fixture_end(&f);
}

TEST(a_pruning_that_fails_changes_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    add_events(&f, id, 4);
    int64_t pruned = 0;
    EXPECT_EQ(event_prune(begin(&f), id, INT64_MAX, &pruned), OK);
    abandon(&f);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 0);
    EXPECT_EQ(tenant_bounds(&f).pruned, 0);
    EXPECT_EQ(last_event(&f, id).seq, 5);
    if (!on_postgres())
        EXPECT_EQ(sql_i64(&f, "SELECT id FROM event_floor"), 0);
    fixture_end(&f);
}

TEST(pruning_by_age_takes_what_is_older_and_nothing_else)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct event old = {.kind = STR("progress")}, young = old;
    struct context *c = begin(&f);
    c->now_us = 2000000000000000;
    EXPECT_EQ(event_append(c, id, &old, 1), OK);
    c->now_us++;
    EXPECT_EQ(event_append(c, id, &young, 1), OK);
    int64_t pruned = -1;
    EXPECT_EQ(event_prune_older(c, id, 2000000000000001, &pruned), OK);
    EXPECT_EQ(pruned, 2);
    EXPECT_EQ(event_prune_older(c, id, 2000000000000001, &pruned), OK);
    EXPECT_EQ(pruned, 0);
    commit(&f);
    EXPECT_EQ(last_event(&f, id).seq, young.seq);
    fixture_end(&f);
}

TEST(pruning_after_completion_stops_at_the_first_event_of_a_run_that_goes_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct run first = make_run(&f, id, "direct");
    struct run second = make_run(&f, id, "queue"); /* its event is the third */
    struct run after = first;
    after.status = RUN_COMPLETED;
    EXPECT_EQ(run_update(begin(&f), &first, &after), OK);
    commit(&f);
    int64_t pruned = -1;
    EXPECT_EQ(event_prune_finished(begin(&f), id, INT64_MAX, &pruned), OK);
    commit(&f);
    EXPECT_EQ(pruned, 2);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 2);
    EXPECT_EQ(run_cancel(begin(&f), &second, STR_NONE), OK);
    commit(&f);
    EXPECT_EQ(event_prune_finished(begin(&f), id, INT64_MAX, &pruned), OK);
    commit(&f);
    EXPECT_EQ(thread_bounds(&f, id).pruned, thread_bounds(&f, id).last);
    fixture_end(&f);
}

TEST(a_position_by_id_past_all_pruning_does_not_ask_for_what_was_seen)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f); /* id 1 */
    add_events(&f, id, 3);            /* ids 2 to 4 */
    EXPECT_EQ(prune(&f, id, 4), 4);
    make_thread(&f); /* id 5 */
    int64_t seq = -1;
    struct context *c = begin_reading(&f);
    EXPECT_EQ(event_seq_at_id(c, id, 5, &seq), OK);
    EXPECT_EQ(seq, 4);
    EXPECT_EQ(event_seq_at_id(c, id, 4, &seq), OK);
    EXPECT_EQ(seq, 4);
    EXPECT_EQ(event_seq_at_id(c, id, 2, &seq), OK); /* this one did miss something */
    EXPECT(seq < 4);
    commit(&f);
    fixture_end(&f);
}

TEST(an_event_passes_a_filter_by_its_run_and_kind)
{
    struct event_filter any = {0}, kind = {.kind = STR("final")},
                        run = {.has_run_id = true, .run_id = DEFAULT_TENANT_ID};
    struct event bare = {.kind = STR("progress")};
    struct event final = {.kind = STR("final"), .has_run_id = true, .run_id = DEFAULT_TENANT_ID};
    struct event other = {.kind = STR("final"), .has_run_id = true};
    EXPECT(event_is_wanted(&any, &bare) && event_is_wanted(&any, &final));
    EXPECT(!event_is_wanted(&kind, &bare) && event_is_wanted(&kind, &final));
    EXPECT(!event_is_wanted(&run, &bare) && event_is_wanted(&run, &final));
    EXPECT(!event_is_wanted(&run, &other));
}

TEST(events_of_another_tenant_cannot_be_read_or_pruned)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f), other = make_tenant(&f, "other");
    struct event e[2];
    const struct event_filter thread = {.has_thread_id = true, .thread_id = id}, tenant = {0};
    size_t n = 9;
    int64_t pruned = 7;
    struct context *c = begin_as(&f, other);
    page = (struct page){.limit = 2};
    EXPECT_EQ(event_list(c, &thread, 0, &page, e), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    page = (struct page){.limit = 2};
    EXPECT_EQ(event_list(c, &tenant, 0, &page, e), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    EXPECT_EQ(event_prune(c, id, 1, &pruned), ERR_NOT_FOUND);
    commit(&f);
    EXPECT_EQ(thread_bounds(&f, id).pruned, 0);
    fixture_end(&f);
}

TEST(what_was_pruned_is_gone_for_readers_at_once_and_from_the_tables_bit_by_bit)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    enum { MANY = 5000 };
    for (int i = 0; i < MANY / 1000; i++)
        add_events(&f, thread, 1000);
    int64_t pruned;
    EXPECT_EQ(event_prune(begin(&f), thread, MANY, &pruned), OK);
    EXPECT_EQ(pruned, MANY);
    commit(&f);
    EXPECT(sql_i64(&f, "SELECT count(*) FROM events") > 1);
    struct event events[8];
    size_t n = 9;
    bool more = true;
    const struct event_filter filter = {.has_thread_id = true, .thread_id = thread};
    page = (struct page){.limit = 8};
    EXPECT_EQ(event_list(begin_reading(&f), &filter, 0, &page, events), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, 1);
    EXPECT_EQ(events[0].seq, MANY + 1);
    commit(&f);
    for (int i = 0; more || i == 0; i++) {
        EXPECT_EQ(event_collect_garbage(begin(&f), thread, &more), OK);
        commit(&f);
        EXPECT(i <= MANY / SLICE_MIN_ROWS + 1);
    }
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM events"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM event_garbage"), 0);
    fixture_end(&f);
}

TEST(a_page_with_a_filter_examines_as_many_events_as_it_may)
{
    struct fixture f;
    fixture_begin(&f);
    const struct event_filter filters[] = {
        {.has_thread_id = true, .kind = STR("progress")},
        {.has_thread_id = true, .has_run_id = true},
        {.has_thread_id = true},
    };
    for (size_t i = 0; i < COUNT_OF(filters); i++)
        for (int64_t last = 6 + EVENT_SCAN_MAX; last <= 8 + EVENT_SCAN_MAX; last++) {
            bool cut = i < 2 && last > 7 + EVENT_SCAN_MAX;
            int64_t end = 0;
            EXPECT_EQ(event_scan_end(begin_reading(&f), &filters[i], 7, last, &end), OK);
            commit(&f);
            EXPECT_EQ(end, cut ? 7 + EVENT_SCAN_MAX : last);
        }
    fixture_end(&f);
}
