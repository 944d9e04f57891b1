/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

TEST(a_new_thread_is_active_with_empty_documents_and_one_event_that_tells_of_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = get_thread(&f, make_thread(&f));
    EXPECT_EQ(t.status, THREAD_ACTIVE);
    EXPECT_EQ(t.run_policy, RUN_POLICY_REJECT);
    EXPECT_STR(t.context, STR("{}"));
    EXPECT_STR(t.preferences, STR("{}"));
    EXPECT_STR(t.important_steps, STR("{}"));
    EXPECT_STR(t.metadata, STR("{}"));
    EXPECT(str_is_none(t.title));
    EXPECT(str_is_none(t.error));
    EXPECT(!t.has_most_recent_run_id);
    EXPECT(!t.prune_on_completion);
    EXPECT(!t.has_event_max_age_s);
    EXPECT_EQ(t.version, 1);
    EXPECT_EQ(t.last_seq, 1);
    EXPECT_EQ(t.pruned_seq, 0);
    struct event e = last_event(&f, t.id);
    EXPECT_STR(e.kind, STR("conversation.created"));
    EXPECT_STR(e.payload, STR("{\"change\":\"thread.created\",\"to\":\"active\"}"));
    fixture_end(&f);
}

TEST(a_thread_cannot_be_born_in_another_status)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = {.status = THREAD_PAUSED};
    EXPECT_EQ(thread_create(begin(&f), &t), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/status"));
    abandon(&f);
    fixture_end(&f);
}

/* Rows: from; columns: to; in the order of thread_statuses. */
static const bool ALLOWED[4][4] = {
    /* active paused cancelled error */
    {false, true, true, true},   /* active */
    {true, false, true, true},   /* paused */
    {true, false, false, false}, /* cancelled */
    {true, false, true, false},  /* error */
};

static void try_status(struct fixture *f, struct uuid id, size_t from, size_t to)
{
    struct str sql =
        arena_printf(f->arena, "UPDATE threads SET status = '%s'", thread_statuses[from]);
    sql_exec(f, arena_cstr(f->arena, sql));
    struct thread t = {0};
    struct context *c = begin(f);
    EXPECT_EQ(thread_get(c, id, &t), OK);
    enum error e = thread_set_status(c, &t, (enum thread_status)(to + 1));
    if (e != (ALLOWED[from][to] ? OK : ERR_TRANSITION))
        test_fail(
            __FILE__, __LINE__, "from %s to %s: %d", thread_statuses[from], thread_statuses[to], e);
    if (e != OK)
        EXPECT(contains(f->problem.extension, "\"allowed\":["));
    abandon(f);
}

TEST(a_threads_status_obeys_the_table_from_and_to_every_status)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    for (size_t from = 0; from < 4; from++)
        for (size_t to = 0; to < 4; to++)
            try_status(&f, id, from, to);
    EXPECT(thread_statuses[4] == NULL);
    fixture_end(&f);
}

TEST(a_change_of_status_is_told_in_the_same_transaction)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct thread t = {0};
    struct context *c = begin(&f);
    EXPECT_EQ(thread_get(c, id, &t), OK);
    EXPECT_EQ(thread_set_status(c, &t, THREAD_PAUSED), OK);
    EXPECT_EQ(t.last_seq, 2);
    abandon(&f);
    EXPECT_EQ(get_thread(&f, id).last_seq, 1);
    c = begin(&f);
    EXPECT_EQ(thread_get(c, id, &t), OK);
    EXPECT_EQ(thread_set_status(c, &t, THREAD_PAUSED), OK);
    commit(&f);
    EXPECT_STR(last_event(&f, id).payload,
        STR("{\"change\":\"thread.status\",\"from\":\"active\",\"to\":\"paused\"}"));
    EXPECT_EQ(get_thread(&f, id).version, 2);
    fixture_end(&f);
}

/* --- Update --------------------------------------------------------------------------------- */

static enum error set_context(
    struct fixture *f, struct context *c, struct uuid id, struct str document)
{
    struct thread before = {0};
    enum error e = thread_get(c, id, &before);
    struct thread after = before;
    after.context = document;
    return e == OK ? thread_update(c, &before, &after) : e;
}

TEST(a_stale_version_changes_no_thread)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct context *c = begin(&f);
    context_match_only(c, 9);
    EXPECT_EQ(set_context(&f, c, id, STR("{\"x\":1}")), ERR_STALE);
    EXPECT_EQ(delete_thread(c, id), ERR_STALE);
    commit(&f);
    EXPECT_STR(get_thread(&f, id).context, STR("{}"));
    c = begin(&f);
    context_match_only(c, 1);
    EXPECT_EQ(set_context(&f, c, id, STR("{\"x\":1}")), OK);
    commit(&f);
    EXPECT_STR(get_thread(&f, id).context, STR("{\"x\":1}"));
    EXPECT_EQ(get_thread(&f, id).version, 2);
    fixture_end(&f);
}

TEST(a_thread_of_another_tenant_looks_like_none)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f), other = make_tenant(&f, "other");
    struct thread t, list[2];
    struct thread_filter all = {0};
    size_t n = 9;
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(thread_get(c, id, &t), ERR_NOT_FOUND);
    EXPECT_EQ(delete_thread(c, id), ERR_NOT_FOUND);
    page = (struct page){.limit = 2};
    EXPECT_EQ(thread_list(c, &all, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    commit(&f);
    EXPECT_EQ(get_thread(&f, id).version, 1);
    fixture_end(&f);
}

/* --- Lists ---------------------------------------------------------------------------------- */

static struct uuid make_titled(struct fixture *f, struct str title, struct str metadata)
{
    struct thread t = {.title = title, .metadata = metadata, .agent = STR("planner")};
    EXPECT_EQ(thread_create(begin(f), &t), OK);
    commit(f);
    return t.id;
}

static size_t count_of(struct fixture *f, const struct thread_filter *filter)
{
    struct page page;
    struct thread list[10];
    size_t n = 99;
    page = (struct page){.limit = 10};
    EXPECT_EQ(thread_list(begin_reading(f), filter, &page, list), OK);
    n = page.count;
    commit(f);
    return n;
}

static size_t titled(struct fixture *f, struct str part)
{
    const struct thread_filter filter = {.title_part = part};
    return count_of(f, &filter);
}

TEST(a_title_is_found_by_any_part_of_it_and_wildcards_are_ordinary_characters)
{
    struct fixture f;
    fixture_begin(&f);
    make_titled(&f, STR("100% of Plans_A!"), STR_NONE);
    make_titled(&f, STR("1000 plans"), STR_NONE);
    make_thread(&f); /* without a title */
    EXPECT_EQ(titled(&f, STR("PLANS")), 2);
    EXPECT_EQ(titled(&f, STR("100%")), 1);
    EXPECT_EQ(titled(&f, STR("s_A")), 1);
    EXPECT_EQ(titled(&f, STR("A!")), 1);
    EXPECT_EQ(titled(&f, STR("%")), 1);
    EXPECT_EQ(titled(&f, STR("x")), 0);
    EXPECT_EQ(titled(&f, STR("")), 2);
    fixture_end(&f);
}

static size_t with_metadata(
    struct fixture *f, struct str k1, struct str v1, struct str k2, struct str v2)
{
    const struct thread_filter filter = {.metadata_keys = {k1, k2}, .metadata_values = {v1, v2}};
    return count_of(f, &filter);
}

TEST(threads_are_found_by_scalar_metadata_and_by_all_filters_together)
{
    struct fixture f;
    fixture_begin(&f);
    make_titled(&f, STR_NONE,
        STR("{\"project\":\"caf\\u00e9\",\"n\":1.50,\"ok\":true,\"none\":null,\"deep\":{\"a\":1}"
            "}"));
    make_titled(&f, STR_NONE, STR("{\"project\":\"caf\\u00e9\",\"n\":2}"));
    struct str none = STR_NONE;
    EXPECT_EQ(with_metadata(&f, STR("project"), STR("caf\xc3\xa9"), none, none), 2);
    EXPECT_EQ(with_metadata(&f, STR("project"), STR("caf\xc3\xa9"), STR("n"), STR("2")), 1);
    EXPECT_EQ(with_metadata(&f, STR("n"), STR("1.50"), none, none), 1);
    EXPECT_EQ(with_metadata(&f, STR("ok"), STR("true"), none, none), 1);
    EXPECT_EQ(with_metadata(&f, STR("none"), STR("null"), none, none), 1);
    EXPECT_EQ(with_metadata(&f, STR("deep"), STR("{\"a\":1}"), none, none), 0);
    EXPECT_EQ(with_metadata(&f, STR("project"), STR("cafe"), none, none), 0);
    fixture_end(&f);
}

TEST(changed_metadata_is_found_by_its_new_values_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_titled(&f, STR_NONE, STR("{\"a\":\"old\",\"b\":\"gone\"}"));
    struct thread before = get_thread(&f, id), after = before;
    after.metadata = STR("{\"a\":\"new\"}");
    EXPECT_EQ(thread_update(begin(&f), &before, &after), OK);
    commit(&f);
    struct str none = STR_NONE;
    EXPECT_EQ(with_metadata(&f, STR("a"), STR("new"), none, none), 1);
    EXPECT_EQ(with_metadata(&f, STR("a"), STR("old"), none, none), 0);
    EXPECT_EQ(with_metadata(&f, STR("b"), STR("gone"), none, none), 0);
    fixture_end(&f);
}

TEST(threads_are_listed_newest_first_without_documents_unless_asked)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid ids[3];
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ids[i] = make_thread(&f);
    struct thread list[2];
    size_t n = 0;
    struct thread_filter filter = {0};
    struct context *c = begin_reading(&f);
    page = (struct page){.limit = 2};
    EXPECT_EQ(thread_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 2);
    EXPECT(uuid_eq(list[0].id, ids[2]));
    EXPECT(str_is_none(list[0].context));
    filter =
        (struct thread_filter){.has_before = true, .before = list[1].id, .with_documents = true};
    page = (struct page){.limit = 2};
    EXPECT_EQ(thread_list(c, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 1);
    EXPECT(uuid_eq(list[0].id, ids[0]));
    EXPECT_STR(list[0].context, STR("{}"));
    commit(&f);
    fixture_end(&f);
}

TEST(threads_are_found_by_status_agent_and_time)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_titled(&f, STR("t"), STR_NONE);
    make_thread(&f);
    int64_t at = get_thread(&f, id).created_at;
    const struct thread_filter by_agent = {.agent = STR("planner")};
    const struct thread_filter by_status = {.status = THREAD_PAUSED};
    const struct thread_filter until = {.has_created_before = true, .created_before = at};
    const struct thread_filter from = {.has_created_after = true, .created_after = at};
    EXPECT_EQ(count_of(&f, &by_agent), 1);
    EXPECT_EQ(count_of(&f, &by_status), 0);
    EXPECT_EQ(count_of(&f, &until), 0);
    EXPECT_EQ(count_of(&f, &from), 2);
    fixture_end(&f);
}

/* --- Delete --------------------------------------------------------------------------------- */

TEST(a_deleted_thread_takes_runs_and_events_and_one_event_tells_the_tenant)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct run run = make_run(&f, id, "direct");
    add_events(&f, id, 5);
    int64_t last_id = tenant_bounds(&f).last;
    int64_t last_seq = get_thread(&f, id).last_seq;
    struct context *c = begin(&f);
    EXPECT_EQ(delete_thread(c, id), OK);
    commit(&f);

    struct event events[3];
    const struct event_filter tenant = {0};
    size_t n = 0;
    struct run gone;
    struct thread thread;
    c = begin_reading(&f);
    EXPECT_EQ(run_get(c, run.id, &gone), ERR_NOT_FOUND);
    EXPECT_EQ(thread_get(c, id, &thread), ERR_NOT_FOUND);
    page = (struct page){.limit = 3};
    EXPECT_EQ(event_list(c, &tenant, 0, &page, events), OK);
    n = page.count;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(events[0].id, last_id + 1);
    EXPECT_EQ(events[0].seq, last_seq + 1);
    EXPECT(uuid_eq(events[0].thread_id, id));
    EXPECT_STR(events[0].payload, STR("{\"change\":\"thread.deleted\",\"from\":\"active\"}"));
    EXPECT_EQ(tenant_bounds(&f).pruned, last_id);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM audit_log WHERE action = 'thread.deleted'"), 1);
    fixture_end(&f);
}

/* --- Undo ----------------------------------------------------------------------------------- */

TEST(undo_restores_the_documents_as_they_were_before_the_run_first_changed_them)
{
    struct fixture f;
    fixture_begin(&f);
    struct thread t = {.context = STR("{\"v\":0}"),
        .preferences = STR("{\"p\":0}"),
        .important_steps = STR("[]"),
        .metadata = STR("{\"m\":\"zero\"}")};
    EXPECT_EQ(thread_create(begin(&f), &t), OK);
    commit(&f);
    struct run run = make_run(&f, t.id, "direct");
    for (int round = 1; round <= 2; round++) {
        struct thread before = get_thread(&f, t.id), after = before;
        after.context = arena_printf(f.arena, "{\"v\":%d}", round);
        after.preferences = STR("{}");
        after.important_steps = STR("[1]");
        after.metadata = arena_printf(f.arena, "{\"m\":\"round%d\"}", round);
        EXPECT_EQ(thread_update(begin(&f), &before, &after), OK);
        commit(&f);
    }
    EXPECT_EQ(thread_undo_run(begin(&f), t.id, run.id), OK);
    commit(&f);
    struct thread restored = get_thread(&f, t.id);
    EXPECT_STR(restored.context, t.context);
    EXPECT_STR(restored.preferences, t.preferences);
    EXPECT_STR(restored.important_steps, t.important_steps);
    EXPECT_STR(restored.metadata, t.metadata);
    struct str none = STR_NONE;
    EXPECT_EQ(with_metadata(&f, STR("m"), STR("zero"), none, none), 1);
    EXPECT_EQ(with_metadata(&f, STR("m"), STR("round2"), none, none), 0);
    EXPECT_STR(last_event(&f, t.id).payload, STR("{\"change\":\"thread.rolled_back\"}"));
    fixture_end(&f);
}

TEST(without_a_changed_document_there_is_nothing_to_undo)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make_thread(&f);
    struct run run = make_run(&f, id, "direct");
    int64_t last = get_thread(&f, id).last_seq;
    EXPECT_EQ(thread_undo_run(begin(&f), id, run.id), OK);
    commit(&f);
    EXPECT_EQ(get_thread(&f, id).last_seq, last);
    fixture_end(&f);
}

/* --- Keys ----------------------------------------------------------------------------------- */

static struct uuid make_keyed(struct fixture *f, struct str key)
{
    struct thread t = {.key = key};
    EXPECT_EQ(thread_create(begin(f), &t), OK);
    commit(f);
    return t.id;
}

TEST(a_key_belongs_to_one_thread_of_the_tenant_and_is_free_again_when_that_is_gone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid first = make_keyed(&f, STR("k"));
    struct thread second = {.key = STR("k")};
    EXPECT_EQ(thread_create(begin(&f), &second), ERR_CONFLICT);
    char text[UUID_TEXT_LEN];
    uuid_format(first, text);
    EXPECT_STR(f.problem.extension,
        arena_printf(f.arena, "{\"thread_id\":\"%.*s\"}", UUID_TEXT_LEN, text));
    abandon(&f);
    EXPECT_EQ(delete_thread(begin(&f), first), OK);
    commit(&f);
    EXPECT(!uuid_eq(make_keyed(&f, STR("k")), first));
    fixture_end(&f);
}

TEST(a_thread_takes_a_key_that_is_free_and_no_other)
{
    struct fixture f;
    fixture_begin(&f);
    make_keyed(&f, STR("taken"));
    struct thread before, after;
    struct uuid id = make_thread(&f);
    struct context *c = begin(&f);
    EXPECT_EQ(thread_get(c, id, &before), OK);
    after = before;
    after.key = STR("taken");
    EXPECT_EQ(thread_update(c, &before, &after), ERR_CONFLICT);
    abandon(&f);
    c = begin(&f);
    EXPECT_EQ(thread_get(c, id, &before), OK);
    after = before;
    after.key = STR("free");
    EXPECT_EQ(thread_update(c, &before, &after), OK);
    commit(&f);
    struct thread found;
    EXPECT_EQ(thread_get_by_key(begin(&f), STR("free"), &found), OK);
    EXPECT(uuid_eq(found.id, id));
    EXPECT_EQ(thread_get_by_key(&f.context, STR("absent"), &found), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(to_ensure_a_thread_makes_it_once)
{
    struct fixture f;
    fixture_begin(&f);
    bool is_new = false;
    struct thread first = {.key = STR("k"), .title = STR("one")};
    EXPECT_EQ(thread_ensure(begin(&f), &first, &is_new), OK);
    EXPECT(is_new);
    commit(&f);
    struct thread second = {.key = STR("k"), .title = STR("two")};
    EXPECT_EQ(thread_ensure(begin(&f), &second, &is_new), OK);
    EXPECT(!is_new);
    EXPECT(uuid_eq(second.id, first.id));
    EXPECT_STR(second.title, STR("one"));
    abandon(&f);
    fixture_end(&f);
}
