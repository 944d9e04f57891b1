/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/agents/agents.h"
#include "model/agents/states.h"

static struct uuid make_agent(struct fixture *f, const char *name)
{
    struct agent agent = {.name = str_of(name)};
    EXPECT_EQ(agent_create(begin(f), &agent), OK);
    commit(f);
    return agent.id;
}

static void take_part(struct fixture *f, struct uuid agent_id)
{
    struct str sql = arena_printf(f->arena,
        "INSERT INTO participants (tenant_id, thread_id, id, role, principal, name, permission, "
        "active, metadata, created_at, updated_at) SELECT tenant_id, id, id, 'assistant', "
        "'%.*s', 'a', 'read_write', true, '{}', 0, 0 FROM threads",
        STR_ARG(agent_principal(f->arena, agent_id)));
    sql_exec(f, arena_cstr(f->arena, sql));
}

/* Overwrites the existing document, if any. */
static enum error put(struct context *c, const struct state_place *place, struct state *state)
{
    struct state before;
    enum error e = state_find(c, place, &before);
    return e == OK ? state_write(c, place, &before, state) : e;
}

static struct state write_data(struct fixture *f, const struct state_place *place, const char *data)
{
    struct state state = {.data = str_of(data)};
    EXPECT_EQ(put(begin(f), place, &state), OK);
    commit(f);
    return state;
}

static void delete_it(struct fixture *f, const struct state_place *place)
{
    struct state before;
    struct context *c = begin(f);
    EXPECT_EQ(state_get(c, place, &before), OK);
    EXPECT_EQ(state_delete(c, place, &before), OK);
    commit(f);
}

TEST(a_document_has_a_new_version_with_each_write_and_keeps_the_old_ones)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct state_place place = {.thread_id = make_thread(&f), .name = STR("notes")};
    EXPECT_EQ(write_data(&f, &place, "{\"n\":1}").version, 1);
    struct state second = write_data(&f, &place, "{\"n\":2}");
    EXPECT_EQ(second.version, 2);
    EXPECT_STR(second.data, STR("{\"n\":2}"));
    EXPECT(second.has_thread_id && !second.has_agent_id);
    struct state_version old, list[3];
    size_t n;
    bool more;
    struct context *c = begin_reading(&f);
    EXPECT_EQ(state_version_get(c, &place, 1, &old), OK);
    EXPECT_STR(old.data, STR("{\"n\":1}"));
    page = (struct page){.limit = 1};
    EXPECT_EQ(state_version_list(c, &place, 0, false, &page, list), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, 1);
    EXPECT(more);
    EXPECT_EQ(list[0].version, 2);
    EXPECT(str_is_none(list[0].data));
    page = (struct page){.limit = 3};
    EXPECT_EQ(state_version_list(c, &place, 2, true, &page, list), OK);
    n = page.count;
    more = page.more;
    EXPECT_EQ(n, 1);
    EXPECT(!more);
    EXPECT_STR(list[0].data, STR("{\"n\":1}"));
    EXPECT_EQ(state_version_get(c, &place, 3, &old), ERR_NOT_FOUND);
    commit(&f);
    fixture_end(&f);
}

TEST(the_three_owners_and_the_configuration_have_documents_of_the_same_name_apart)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a"), thread = make_thread(&f);
    const struct state_place places[] = {{.agent_id = agent, .name = STR("config")},
        {.thread_id = thread, .name = STR("config")},
        {.agent_id = agent, .thread_id = thread, .name = STR("config")},
        {.is_config = true, .agent_id = agent, .name = STR("config")}};
    for (size_t i = 0; i < COUNT_OF(places); i++)
        EXPECT_EQ(
            write_data(&f, &places[i], i % 2 == 0 ? "{\"even\":1}" : "{\"odd\":1}").version, 1);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct state state;
        EXPECT_EQ(state_get(begin_reading(&f), &places[i], &state), OK);
        commit(&f);
        EXPECT_STR(state.data, i % 2 == 0 ? STR("{\"even\":1}") : STR("{\"odd\":1}"));
    }
    fixture_end(&f);
}

TEST(a_write_has_to_say_which_version_it_has_seen)
{
    struct fixture f;
    fixture_begin(&f);
    const struct state none = {0}, third = {.version = 3, .last_version = 3};
    struct context *c = begin(&f);
    EXPECT_EQ(state_check_match(c, &none), ERR_PRECONDITION_NEEDED);
    EXPECT_EQ(state_check_match(c, &third), ERR_PRECONDITION_NEEDED);
    context_match_only(c, 3);
    EXPECT_EQ(state_check_match(c, &third), OK);
    EXPECT_EQ(state_check_match(c, &none), ERR_STALE);
    context_match_only(c, 2);
    EXPECT_EQ(state_check_match(c, &third), ERR_STALE);
    c->has_match = false;
    c->match_none = true;
    EXPECT_EQ(state_check_match(c, &third), ERR_STALE);
    EXPECT_EQ(state_check_match(c, &none), OK);
    c->match_none = false;
    c->match_any = true;
    EXPECT_EQ(state_check_match(c, &third), OK);
    EXPECT_EQ(state_check_match(c, &none), OK);
    abandon(&f);
    fixture_end(&f);
}

TEST(a_deleted_document_is_gone_with_its_versions_and_its_numbers_are_not_given_again)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct state_place place = {.thread_id = make_thread(&f), .name = STR("notes")};
    write_data(&f, &place, "{\"n\":1}");
    write_data(&f, &place, "{\"n\":2}");
    delete_it(&f, &place);
    struct state state;
    struct state_version unused;
    struct state list[1];
    size_t n = 9;
    const struct state_filter filter = {0};
    struct context *c = begin_reading(&f);
    EXPECT_EQ(state_get(c, &place, &state), ERR_NOT_FOUND);
    EXPECT_EQ(state_version_get(c, &place, 1, &unused), ERR_NOT_FOUND);
    page = (struct page){.limit = 1};
    EXPECT_EQ(state_list(c, &place, &filter, &page, list), OK);
    n = page.count;
    EXPECT_EQ(n, 0);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_versions"), 0);
    state = write_data(&f, &place, "{\"n\":3}");
    EXPECT_EQ(state.version, 3);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_versions"), 1);
    fixture_end(&f);
}

TEST(documents_are_listed_by_the_bytes_of_their_names_in_pages)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    static const char *const names[] = {"b", "a", "\xc3\xa4", "B"};
    static const char *const sorted[] = {"B", "a", "b", "\xc3\xa4"};
    struct state_place place = {.thread_id = make_thread(&f)};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        place.name = str_of(names[i]);
        write_data(&f, &place, "{}");
    }
    struct state_filter filter = {.after = STR_NONE};
    struct context *c = begin_reading(&f);
    for (size_t i = 0; i < COUNT_OF(sorted); i++) {
        struct state list[1];
        size_t n;
        bool more;
        page = (struct page){.limit = 1};
        EXPECT_EQ(state_list(c, &place, &filter, &page, list), OK);
        n = page.count;
        more = page.more;
        EXPECT_EQ(n, 1);
        EXPECT_STR(list[0].name, str_of(sorted[i]));
        EXPECT(str_is_none(list[0].data));
        EXPECT_EQ(more, i + 1 < COUNT_OF(sorted));
        filter.after = list[0].name;
    }
    commit(&f);
    fixture_end(&f);
}

TEST(a_page_with_documents_ends_with_the_one_that_makes_it_larger_than_its_limit)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    enum { MIB = 1024 * 1024, PAGE_MIBS = PAGE_MAX_BYTES / MIB };
    char *digits = arena_alloc(f.arena, MIB);
    memset(digits, '1', MIB);
    digits[0] = '[';
    digits[MIB - 1] = ']';
    struct state_place place = {.thread_id = make_thread(&f)};
    struct context *c = begin(&f);
    for (int i = 0; i < PAGE_MIBS + 2; i++) {
        struct state state = {.data = {digits, MIB}};
        place.name = arena_printf(f.arena, "%d", i);
        EXPECT_EQ(put(c, &place, &state), OK);
    }
    commit(&f);
    struct state list[10];
    size_t n;
    bool more;
    struct state_filter filter = {.with_documents = true};
    page = (struct page){.limit = 10};
    EXPECT_EQ(state_list(begin_reading(&f), &place, &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, PAGE_MIBS + 1);
    EXPECT(more);
    place.name = STR("0");
    c = begin(&f);
    for (int i = 0; i < PAGE_MIBS + 1; i++) {
        struct state state = {.data = {digits, MIB}};
        EXPECT_EQ(put(c, &place, &state), OK);
    }
    commit(&f);
    struct state_version versions[10];
    page = (struct page){.limit = 10};
    EXPECT_EQ(state_version_list(begin_reading(&f), &place, 0, true, &page, versions), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, PAGE_MIBS + 1);
    EXPECT(more);
    fixture_end(&f);
}

TEST(an_event_tells_which_members_changed_and_never_their_values)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct state_place place = {.thread_id = thread, .name = STR("notes")};
    write_data(&f, &place, "{\"same\":1,\"other\":\"secret\",\"gone\":1}");
    struct event event = last_event(&f, thread);
    EXPECT_STR(event.kind, STR("assistant.state.created"));
    EXPECT(contains(event.payload, "\"name\":\"notes\",\"version\":1,\"agent_id\":null"));
    write_data(&f, &place, "{\"same\":1,\"other\":\"secrets\",\"new\":[]}");
    event = last_event(&f, thread);
    EXPECT_STR(event.kind, STR("assistant.state.updated"));
    EXPECT(contains(event.payload, "\"changed\":[\"data\"]"));
    EXPECT(contains(event.payload, "\"changed_members\":[\"other\",\"new\",\"gone\"]"));
    EXPECT(!contains(event.payload, "secret"));
    EXPECT_EQ(state_focus(begin(&f), &place), OK);
    commit(&f);
    EXPECT_STR(last_event(&f, thread).kind, STR("assistant.state.focus"));
    delete_it(&f, &place);
    EXPECT_STR(last_event(&f, thread).kind, STR("assistant.state.deleted"));
    fixture_end(&f);
}

TEST(an_event_names_at_most_64_members_and_counts_the_others)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct state_place place = {.thread_id = thread, .name = STR("notes")};
    struct buf text;
    buf_init(&text, 64 * 1024);
    buf_append(&text, STR("{\"m0\":0"));
    for (int i = 1; i < 70; i++)
        buf_append(&text, arena_printf(f.arena, ",\"m%d\":0", i));
    buf_append(&text, STR("}"));
    write_data(&f, &place, "{}");
    struct state state = {.data = buf_str(&text)};
    EXPECT_EQ(put(begin(&f), &place, &state), OK);
    commit(&f);
    EXPECT(contains(last_event(&f, thread).payload, "\"changed_members_untold\":6"));
    buf_deinit(&text);
    fixture_end(&f);
}

TEST(what_an_agent_has_outside_of_threads_is_told_in_those_it_takes_part_in)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a"), thread = make_thread(&f), other = make_thread(&f);
    take_part(&f, agent);
    struct uuid later = make_thread(&f);
    struct state_place place = {.agent_id = agent, .name = STR("plan")};
    write_data(&f, &place, "{}");
    EXPECT_STR(last_event(&f, thread).kind, STR("assistant.state.created"));
    EXPECT_STR(last_event(&f, other).kind, STR("assistant.state.created"));
    EXPECT_STR(last_event(&f, later).kind, STR("conversation.created"));
    place.is_config = true;
    place.name = STR("config");
    write_data(&f, &place, "{}");
    EXPECT(contains(last_event(&f, thread).payload, "\"name\":\"plan\""));
    EXPECT_STR(sql_text(&f, "SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"),
        STR("agent.configured"));
    fixture_end(&f);
}

TEST(documents_go_with_their_thread_and_with_their_agent)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = make_agent(&f, "a"), thread = make_thread(&f);
    const struct state_place places[] = {{.agent_id = agent, .name = STR("x")},
        {.thread_id = thread, .name = STR("x")},
        {.agent_id = agent, .thread_id = thread, .name = STR("x")}};
    for (size_t i = 0; i < COUNT_OF(places); i++)
        write_data(&f, &places[i], "{}");
    struct state unused;
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_documents"), 1);
    EXPECT_EQ(state_find(begin(&f), &places[1], &unused), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(delete_agent(begin(&f), agent), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_documents"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_versions"), 0);
    EXPECT_EQ(state_find(begin(&f), &places[0], &unused), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(data_satisfies_the_schema_it_is_written_with)
{
    struct fixture f;
    fixture_begin(&f);
    struct state_place place = {.thread_id = make_thread(&f), .name = STR("x")};
    const struct str schema = STR("{\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    struct state good = {.data = STR("{\"n\":1}"), .json_schema = schema};
    EXPECT_EQ(put(begin(&f), &place, &good), OK);
    commit(&f);
    struct state bad = {.data = STR("{\"n\":\"1\"}"), .json_schema = schema};
    EXPECT_EQ(put(begin(&f), &place, &bad), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/data/n"));
    abandon(&f);
    struct state none = {.data = STR("{}"), .json_schema = STR("{\"type\":\"thing\"}")};
    EXPECT_EQ(put(begin(&f), &place, &none), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/json_schema/type"));
    abandon(&f);
    struct state now;
    EXPECT_EQ(state_get(begin_reading(&f), &place, &now), OK);
    commit(&f);
    EXPECT_STR(now.data, STR("{\"n\":1}"));
    EXPECT_EQ(now.version, 1);
    fixture_end(&f);
}

TEST(a_name_has_1_to_200_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    char long_name[STATE_NAME_MAX_BYTES + 1];
    memset(long_name, 'x', sizeof long_name);
    struct state_place place = {.thread_id = make_thread(&f), .name = STR("")};
    struct state unused;
    EXPECT_EQ(state_find(begin(&f), &place, &unused), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("name"));
    abandon(&f);
    place.name = (struct str){long_name, sizeof long_name};
    EXPECT_EQ(state_find(begin(&f), &place, &unused), ERR_INVALID);
    abandon(&f);
    place.name.len--;
    EXPECT_EQ(state_find(begin(&f), &place, &unused), OK);
    abandon(&f);
    fixture_end(&f);
}

TEST(another_tenants_documents_are_not_there)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), agent = make_agent(&f, "a");
    const struct state_place place = {.agent_id = agent, .name = STR("x")};
    write_data(&f, &place, "{}");
    struct state unused;
    EXPECT_EQ(state_find(begin_as(&f, other), &place, &unused), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}
