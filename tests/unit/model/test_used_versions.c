/* SPDX-License-Identifier: Apache-2.0 */
/* Versions that runs used outlive their agent, as long as it has runs. */
#include "model/agents/used_versions.h"

#include "fixture.h"
#include "model/upkeep/imports.h"

static struct uuid make(struct fixture *f, const char *name)
{
    struct agent agent = {.name = str_of(name)};
    EXPECT_EQ(agent_create(begin(f), &agent), OK);
    commit(f);
    return agent.id;
}

/* Starts a run of the agent in a thread of its own, and ends it. */
static struct uuid use(struct fixture *f, struct uuid agent)
{
    struct uuid thread = make_thread(f);
    struct run run = {.has_agent_id = true, .agent_id = agent};
    EXPECT_EQ(run_start(begin(f), thread, RUN_POLICY_NONE, &run), OK);
    commit(f);
    EXPECT_EQ(run_cancel(begin(f), &run, STR("test")), OK);
    commit(f);
    return thread;
}

static enum error show(struct fixture *f, struct uuid agent)
{
    struct agent_version version;
    enum error e = agent_version_show(begin_reading(f), agent, STR("1.0.0"), &version);
    leave(f, e);
    return e;
}

static void drop(struct fixture *f, struct uuid agent)
{
    EXPECT_EQ(delete_agent(begin(f), agent), OK);
    commit(f);
}

/* As if an hour had passed since the last sweep. */
static void sweep_later(struct fixture *f)
{
    struct sweep_position position = {0};
    struct sweep_report report = {.more = true};
    sql_exec(f, "UPDATE deleted_agents SET check_at = 0");
    for (int passes = 0; report.more && passes < 20; passes++) {
        EXPECT_EQ(model_sweep(begin(f), &position, &report), OK);
        commit(f);
    }
}

TEST(a_used_version_remains_as_long_as_its_deleted_agent_has_runs)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = make(&f, "one"), other = make(&f, "other"), unused = make(&f, "unused");
    struct uuid thread = use(&f, one), second = use(&f, one);
    use(&f, other);
    drop(&f, one);
    drop(&f, other);
    drop(&f, unused);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM deleted_agents"), 2);
    for (int i = 0; i < 2; i++) {
        sweep_later(&f);
        EXPECT_EQ(show(&f, one), OK);
        EXPECT_EQ(delete_thread(begin(&f), i == 0 ? thread : second), OK);
        commit(&f);
    }
    sweep_later(&f);
    EXPECT_EQ(show(&f, one), ERR_NOT_FOUND);
    EXPECT_EQ(show(&f, other), OK);
    EXPECT_EQ(show(&f, unused), ERR_NOT_FOUND);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM used_versions"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM deleted_agents"), 1);
    fixture_end(&f);
}

TEST(the_sweep_leaves_an_agent_alone_for_an_hour)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = make(&f, "one"), thread = use(&f, one);
    drop(&f, one);
    sweep_later(&f);
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    struct sweep_position position = {0};
    struct sweep_report report;
    EXPECT_EQ(model_sweep(begin(&f), &position, &report), OK);
    commit(&f);
    EXPECT_EQ(show(&f, one), OK);
    fixture_end(&f);
}

TEST(the_sweep_waits_for_an_import_and_forgets_an_agent_that_it_brought_back)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid gone = make(&f, "gone"), back = make(&f, "back"), import = uuid_v7();
    struct uuid of_gone = use(&f, gone), of_back = use(&f, back);
    drop(&f, gone);
    EXPECT_EQ(delete_thread(begin(&f), of_gone), OK);
    commit(&f);
    EXPECT_EQ(delete_thread(begin(&f), of_back), OK);
    commit(&f);
    sql_exec(&f, "INSERT INTO deleted_agents (tenant_id, id, check_at)"
                 " SELECT tenant_id, id, 0 FROM agents WHERE name = 'back'");
    EXPECT_EQ(import_begin(begin(&f), import), OK);
    commit(&f);
    sweep_later(&f);
    EXPECT_EQ(show(&f, gone), OK);
    EXPECT_EQ(import_complete(begin(&f), import), OK);
    commit(&f);
    sweep_later(&f);
    EXPECT_EQ(show(&f, gone), ERR_NOT_FOUND);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM used_versions"), 1);
    EXPECT_EQ(show(&f, back), OK);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM deleted_agents"), 0);
    fixture_end(&f);
}

TEST(the_agent_replaces_a_version_that_an_import_added_under_its_id)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid one = make(&f, "one");
    sql_exec(&f, "INSERT INTO used_versions SELECT tenant_id, agent_id, version, number + 7,"
                 " '{\"instructions\":\"other\"}', workflow_graph, memory_config, guardrail_config,"
                 " llm_config, execution_config, tools, description, created_by, created_at,"
                 " updated_at, 1, revision FROM agent_versions");
    use(&f, one);
    drop(&f, one);
    struct agent_version version;
    EXPECT_EQ(agent_version_show(begin_reading(&f), one, STR("1.0.0"), &version), OK);
    commit(&f);
    EXPECT_EQ(version.number, 1);
    EXPECT_STR(version.parts[PART_SYSTEM_PROMPT],
        STR("{\"role\":null,\"instructions\":null,\"examples\":[]}"));
    EXPECT(version.used_at > 1);
    fixture_end(&f);
}
