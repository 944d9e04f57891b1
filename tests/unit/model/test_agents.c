/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "model/agents/agents.h"

static struct agent make(struct fixture *f, struct str name)
{
    struct agent agent = {.name = name};
    EXPECT_EQ(agent_create(begin(f), &agent), OK);
    commit(f);
    return agent;
}

TEST(a_new_agent_has_empty_metadata_and_an_audit_record)
{
    struct fixture f;
    fixture_begin(&f);
    struct agent made = make(&f, STR("planner")), read = {0};
    EXPECT_EQ(agent_get(begin_reading(&f), made.id, &read), OK);
    commit(&f);
    EXPECT_STR(read.name, STR("planner"));
    EXPECT(str_is_none(read.description));
    EXPECT_STR(read.metadata, STR("{}"));
    EXPECT_EQ(read.revision, 1);
    EXPECT_STR(sql_text(&f, "SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"),
        STR("agent.created"));
    fixture_end(&f);
}

TEST(a_name_is_given_once_in_a_tenant_and_again_in_another)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    make(&f, STR("planner"));
    struct agent writer = make(&f, STR("writer")), again = {.name = STR("planner")}, after = writer;
    EXPECT_EQ(agent_create(begin(&f), &again), ERR_CONFLICT);
    EXPECT_STR(told(&f), STR("an agent with the name \"planner\" already exists"));
    abandon(&f);
    after.name = STR("planner");
    EXPECT_EQ(agent_update(begin(&f), &writer, &after), ERR_CONFLICT);
    abandon(&f);
    after.name = STR("editor");
    EXPECT_EQ(agent_update(begin(&f), &writer, &after), OK);
    commit(&f);
    EXPECT_EQ(after.revision, 2);
    EXPECT_EQ(agent_create(begin_as(&f, other), &again), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(an_agent_is_there_for_its_own_tenant_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct agent agent = make(&f, STR("planner")), unused;
    bool exists = false;
    EXPECT_EQ(agent_exists(begin(&f), agent.id, &exists), OK);
    commit(&f);
    EXPECT(exists);
    EXPECT_EQ(agent_exists(begin_as(&f, other), agent.id, &exists), OK);
    commit(&f);
    EXPECT(!exists);
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(agent_get(c, agent.id, &unused), ERR_NOT_FOUND);
    EXPECT_EQ(agent_require(c, agent.id), ERR_NOT_FOUND);
    EXPECT_EQ(delete_agent(c, agent.id), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(metadata_has_at_most_256_members)
{
    struct fixture f;
    fixture_begin(&f);
    struct buf text;
    buf_init(&text, 64 * 1024);
    buf_append(&text, STR("{\"0\":0"));
    for (int i = 1; i < 257; i++)
        buf_append(&text, arena_printf(f.arena, ",\"%d\":0", i));
    buf_append(&text, STR("}"));
    struct agent agent = {.name = STR("planner"), .metadata = buf_str(&text)};
    EXPECT_EQ(agent_create(begin(&f), &agent), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/metadata"));
    abandon(&f);
    buf_deinit(&text);
    fixture_end(&f);
}

TEST(agents_are_listed_newest_first_in_pages_and_by_name)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct agent first = make(&f, STR("first")), second = make(&f, STR("second")), list[3];
    struct agent_filter filter = {0};
    size_t n;
    bool more;
    page = (struct page){.limit = 1};
    EXPECT_EQ(agent_list(begin_reading(&f), &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(more);
    EXPECT(uuid_eq(list[0].id, second.id));
    filter = (struct agent_filter){.has_before = true, .before = second.id};
    page = (struct page){.limit = 1};
    EXPECT_EQ(agent_list(begin_reading(&f), &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(!more);
    EXPECT(uuid_eq(list[0].id, first.id));
    filter = (struct agent_filter){.name = STR("second")};
    page = (struct page){.limit = 3};
    EXPECT_EQ(agent_list(begin_reading(&f), &filter, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(uuid_eq(list[0].id, second.id));
    fixture_end(&f);
}

static void take_part(struct fixture *f, struct uuid thread_id, struct uuid agent_id, bool active)
{
    char id[UUID_TEXT_LEN];
    uuid_format(agent_id, id);
    struct str sql = arena_printf(f->arena,
        "INSERT INTO participants (tenant_id, thread_id, id, role, principal, name, permission, "
        "active, metadata, created_at, updated_at) SELECT tenant_id, id, id, 'assistant', "
        "'agent:%.*s', 'a', 'read_write', %s, '{}', 0, 0 FROM threads",
        UUID_TEXT_LEN, id, active ? "true" : "false");
    sql_exec(f, arena_cstr(f->arena, sql));
}

TEST(an_agent_that_takes_part_in_a_thread_cannot_be_deleted_before_it_has_left)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct agent agent = make(&f, STR("planner"));
    take_part(&f, thread, agent.id, true);
    EXPECT_EQ(delete_agent(begin(&f), agent.id), ERR_CONFLICT);
    abandon(&f);
    sql_exec(&f, "UPDATE participants SET active = false");
    EXPECT_EQ(delete_agent(begin(&f), agent.id), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agents"), 0);
    EXPECT_STR(sql_text(&f, "SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"),
        STR("agent.deleted"));
    fixture_end(&f);
}

TEST(a_stale_version_changes_and_deletes_no_agent)
{
    struct fixture f;
    fixture_begin(&f);
    struct agent agent = make(&f, STR("planner")), after = agent;
    struct context *c = begin(&f);
    context_match_only(c, 9);
    EXPECT_EQ(agent_update(c, &agent, &after), ERR_STALE);
    EXPECT_EQ(delete_agent(c, agent.id), ERR_STALE);
    abandon(&f);
    fixture_end(&f);
}

TEST(what_the_tenant_decides_no_principal_does)
{
    struct fixture f;
    fixture_begin(&f);
    struct agent agent = make(&f, STR("planner"));
    struct context *c = begin_reading(&f);
    EXPECT_EQ(agent_allow_tenant(c), OK);
    c->principal = agent_principal(f.arena, agent.id);
    EXPECT_EQ(agent_allow_tenant(c), ERR_FORBIDDEN);
    c->principal = STR("user:ann");
    EXPECT_EQ(agent_allow_tenant(c), ERR_FORBIDDEN);
    commit(&f);
    fixture_end(&f);
}
