/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agent_versions.h"

#include "base/json/json_patch.h"
#include "fixture.h"

static struct uuid make(struct fixture *f, const char *kind, const char *name)
{
    struct agent agent = {
        .name = str_of(name), .kind = agent_kind_parse(str_of(kind)), .is_active = true};
    struct graph_node *node = ARENA_NEW(f->arena, struct graph_node);
    *node = (struct graph_node){.name = STR("n"), .type = NODE_LLM};
    struct agent_definition definition = {.has_graph = strcmp(kind, "workflow") == 0,
        .graph = {.entry_point = STR("n"), .nodes = {.items = node, .count = 1}}};
    EXPECT_EQ(agent_create_defined(begin(f), &agent, &definition), OK);
    commit(f);
    return agent.id;
}

static enum error add(
    struct fixture *f, struct uuid id, struct agent_version_draft draft, struct agent_version *out)
{
    return agent_version_create(begin(f), id, &draft, out);
}

static struct agent get(struct fixture *f, struct uuid id)
{
    struct agent agent;
    EXPECT_EQ(agent_get(begin_reading(f), id, &agent), OK);
    commit(f);
    return agent;
}

static struct agent_version version_of(struct fixture *f, struct uuid id, const char *name)
{
    struct agent_version version = {0};
    EXPECT_EQ(agent_version_get(begin_reading(f), id, str_of(name), &version), OK);
    commit(f);
    return version;
}

TEST(a_new_agent_has_the_version_1_0_0_with_every_default)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner");
    struct agent agent = get(&f, id);
    EXPECT_STR(agent.version, STR("1.0.0"));
    EXPECT_EQ(agent.status, AGENT_CREATED);
    EXPECT_EQ(agent.kind, AGENT_KIND_AGENT);
    EXPECT(agent.is_active);
    struct agent_version v = version_of(&f, id, "1.0.0");
    EXPECT(v.is_active);
    EXPECT(!v.has_used_at);
    EXPECT_STR(
        v.parts[PART_SYSTEM_PROMPT], STR("{\"role\":null,\"instructions\":null,\"examples\":[]}"));
    EXPECT(str_is_none(v.parts[PART_WORKFLOW_GRAPH]));
    EXPECT_STR(v.parts[PART_MEMORY_CONFIG],
        STR("{\"short_term\":{\"max_tokens\":8000,\"strategy\":\"fifo\"},"
            "\"long_term\":{\"enabled\":false,\"embedding_model\":null,\"top_k\":5},"
            "\"procedural\":{\"enabled\":false,\"min_frequency\":null}}"));
    EXPECT_STR(v.parts[PART_GUARDRAIL_CONFIG],
        STR("{\"input_rails\":[],\"output_rails\":[],"
            "\"tool_rails\":{\"max_calls_per_turn\":null,\"allowed_tools\":\"all\"}}"));
    EXPECT_STR(v.parts[PART_EXECUTION_CONFIG],
        STR("{\"max_turns\":25,\"timeout_seconds\":60,\"checkpoint_frequency\":\"every_turn\"}"));
    EXPECT_STR(v.parts[PART_TOOLS], STR("[]"));
    fixture_end(&f);
}

TEST(what_is_kept_of_a_definition_can_be_read_back_and_kept_again)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "workflow", "flow");
    struct agent_version v = version_of(&f, id, "active");
    struct agent_definition definition;
    struct str again[AGENT_PARTS] = {{0}};
    struct context *c = begin_reading(&f);
    EXPECT_EQ(agent_definition_read(c, v.parts, &definition), OK);
    EXPECT_EQ(agent_definition_complete(c, &definition, ALL_AGENT_PARTS, again), OK);
    commit(&f);
    for (int i = 0; i < AGENT_PARTS; i++)
        EXPECT_STR(again[i], v.parts[i]);
    fixture_end(&f);
}

TEST(a_new_version_is_greater_than_all_and_keeps_what_is_left_out)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner");
    struct agent_version v;
    struct agent_version_draft tools = {.version = STR("1.1.0-rc.1"),
        .parts = 1 << PART_TOOLS,
        .definition = {.tools = STR("[\"search\",{\"tool\":\"sh\",\"is_enabled\":false}]")}};
    EXPECT_EQ(add(&f, id, tools, &v), OK);
    commit(&f);
    EXPECT_STR(v.parts[PART_TOOLS],
        STR("[{\"tool\":\"search\",\"config_overrides\":{},\"is_enabled\":true},"
            "{\"tool\":\"sh\",\"config_overrides\":{},\"is_enabled\":false}]"));
    struct agent_version_draft llm = {.bump = SEMVER_MINOR,
        .parts = 1 << PART_LLM_CONFIG,
        .definition = {.has_llm = true, .llm = {.temperature = STR("2.0")}}};
    EXPECT_EQ(add(&f, id, llm, &v), OK);
    commit(&f);
    EXPECT_STR(v.version, STR("1.1.0"));
    EXPECT_EQ(v.number, 3);
    EXPECT(!v.is_active);
    EXPECT_PART(v.parts[PART_TOOLS], "search");
    EXPECT_PART(v.parts[PART_LLM_CONFIG], "\"temperature\":2.0");
    static const char *const refused[] = {
        "1.1.0", "1.0.9", "1.1.0-rc.2", "1.1.0+b", "1.2", "v2.0.0"};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        EXPECT_EQ(add(&f, id, (struct agent_version_draft){.version = str_of(refused[i])}, &v),
            ERR_INVALID);
        EXPECT_STR(f.problem.faults[0].pointer, STR("/version"));
        abandon(&f);
    }
    EXPECT_EQ(add(&f, id, (struct agent_version_draft){0}, &v), ERR_INVALID);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_versions"), 3);
    fixture_end(&f);
}

static int64_t activations_of(struct fixture *f, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    struct str sql = arena_printf(f->arena,
        on_postgres() ? "SELECT count(*) FROM agent_activations WHERE agent_id = '%.*s'"
                      : "SELECT count(*) FROM agent_activations WHERE lower(hex(agent_id)) = "
                        "replace('%.*s', '-', '')",
        UUID_TEXT_LEN, text);
    return sql_i64(f, arena_cstr(f->arena, sql));
}

TEST(the_last_1000_activations_of_an_agent_are_kept_and_those_of_others_stay)
{
    struct fixture f;
    struct agent agent;
    struct agent_version version;
    fixture_begin(&f);
    struct uuid ids[] = {make(&f, "agent", "busy"), make(&f, "agent", "quiet")};
    const struct agent_version_draft second = {
        .version = STR("2.0.0"), .has_activate = true, .activate = true};
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        EXPECT_EQ(add(&f, ids[i], second, &version), OK);
        commit(&f);
        EXPECT_EQ(activations_of(&f, ids[i]), 2);
    }
    struct context *c = begin(&f);
    for (int i = 3; i <= AGENT_ACTIVATIONS_KEPT; i++)
        EXPECT_EQ(
            agent_version_activate(c, ids[0], i % 2 == 0 ? STR("2.0.0") : STR("1.0.0"), &agent),
            OK);
    commit(&f);
    EXPECT_EQ(activations_of(&f, ids[0]), AGENT_ACTIVATIONS_KEPT);
    EXPECT_EQ(agent_version_activate(begin(&f), ids[0], STR("1.0.0"), &agent), OK);
    commit(&f);
    EXPECT_EQ(activations_of(&f, ids[0]), AGENT_ACTIVATIONS_KEPT);
    EXPECT_EQ(sql_i64(&f, "SELECT min(number) FROM agent_activations WHERE number > 1"), 2);
    EXPECT_EQ(activations_of(&f, ids[1]), 2);
    EXPECT_EQ(agent_version_rollback(begin(&f), ids[1], &agent), OK);
    commit(&f);
    EXPECT_STR(agent.version, STR("1.0.0"));
    fixture_end(&f);
}

TEST(rollback_goes_back_step_by_step_to_what_was_active_before)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner");
    struct agent agent;
    struct agent_version v;
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(add(&f, id,
                      (struct agent_version_draft){
                          .bump = SEMVER_MAJOR, .has_activate = true, .activate = true},
                      &v),
            OK);
        commit(&f);
        EXPECT(v.is_active);
    }
    EXPECT_EQ(agent_version_activate(begin(&f), id, STR("3.0.0"), &agent), OK);
    commit(&f);
    EXPECT_EQ(agent.revision, 3);
    static const char *const back[] = {"2.0.0", "1.0.0"};
    for (size_t i = 0; i < COUNT_OF(back); i++) {
        EXPECT_EQ(agent_version_rollback(begin(&f), id, &agent), OK);
        commit(&f);
        EXPECT_STR(agent.version, str_of(back[i]));
    }
    EXPECT_EQ(agent_version_rollback(begin(&f), id, &agent), ERR_CONFLICT);
    EXPECT_PART(told(&f), "version 1.0.0 is the first active version");
    abandon(&f);
    EXPECT_STR(sql_text(&f, "SELECT action FROM audit_log ORDER BY seq DESC LIMIT 1"),
        STR("agent.rolled_back"));
    EXPECT_EQ(agent_version_activate(begin(&f), id, STR("9.9.9"), &agent), ERR_NOT_FOUND);
    abandon(&f);
    fixture_end(&f);
}

TEST(a_version_that_a_run_uses_never_changes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner");
    struct str used = STR_NONE;
    struct agent_version before = version_of(&f, id, "1.0.0"), after;
    const struct agent_definition prompt = {.system_prompt = STR("\"Be brief\"")};
    EXPECT_EQ(agent_version_update(begin(&f), &before, &prompt, STR("note"), &after), OK);
    commit(&f);
    EXPECT_EQ(after.revision, 2);
    EXPECT_PART(after.parts[PART_SYSTEM_PROMPT], "\"instructions\":\"Be brief\"");
    EXPECT_EQ(agent_use_version(begin(&f), id, STR_NONE, &used), OK);
    commit(&f);
    EXPECT_STR(used, STR("1.0.0"));
    EXPECT_EQ(get(&f, id).status, AGENT_ACTIVE);
    int64_t first_used = version_of(&f, id, "1.0.0").used_at;
    EXPECT_EQ(agent_use_version(begin(&f), id, STR("1.0.0"), &used), OK);
    commit(&f);
    EXPECT_EQ(version_of(&f, id, "1.0.0").used_at, first_used);
    /* As it was read before the run began, and as it is now. */
    EXPECT_EQ(agent_version_update(begin(&f), &after, &prompt, STR_NONE, &after), ERR_CONFLICT);
    abandon(&f);
    before = version_of(&f, id, "1.0.0");
    EXPECT_EQ(agent_version_update(begin(&f), &before, &prompt, STR_NONE, &after), ERR_CONFLICT);
    EXPECT_PART(told(&f), "version 1.0.0 is used by runs");
    abandon(&f);
    fixture_end(&f);
}

TEST(no_run_begins_of_an_inactive_agent_or_an_unknown_version)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner"), other = make_tenant(&f, "other");
    struct str used = STR_NONE;
    EXPECT_EQ(agent_use_version(begin(&f), id, STR("2.0.0"), &used), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/agent_version"));
    abandon(&f);
    EXPECT_EQ(agent_use_version(begin_as(&f, other), id, STR_NONE, &used), ERR_NOT_FOUND);
    abandon(&f);
    struct agent before = get(&f, id), after = before;
    after.is_active = false;
    EXPECT_EQ(agent_update(begin(&f), &before, &after), OK);
    commit(&f);
    EXPECT_EQ(after.status, AGENT_INACTIVE);
    EXPECT_EQ(agent_use_version(begin(&f), id, STR_NONE, &used), ERR_CONFLICT);
    abandon(&f);
    EXPECT(str_is_none(used));
    fixture_end(&f);
}

TEST(an_agent_from_before_there_were_definitions_runs_without_one)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "old");
    struct str used = STR("?");
    struct agent_version v;
    sql_exec(&f, "DELETE FROM agent_versions");
    sql_exec(&f, "DELETE FROM agent_activations");
    sql_exec(&f, "UPDATE agents SET active_version = NULL");
    EXPECT(str_is_none(get(&f, id).version));
    EXPECT_EQ(agent_use_version(begin(&f), id, STR_NONE, &used), OK);
    commit(&f);
    EXPECT(str_is_none(used));
    EXPECT_EQ(add(&f, id, (struct agent_version_draft){.version = STR("0.1.0")}, &v), OK);
    commit(&f);
    EXPECT_PART(v.parts[PART_EXECUTION_CONFIG], "\"max_turns\":25");
    fixture_end(&f);
}

TEST(the_difference_of_two_versions_is_a_patch_and_names_the_parts)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "workflow", "flow");
    struct agent_version v;
    struct agent_diff diff;
    EXPECT_EQ(add(&f, id,
                  (struct agent_version_draft){.bump = SEMVER_PATCH,
                      .parts = 1 << PART_TOOLS | 1 << PART_EXECUTION_CONFIG,
                      .definition = {.tools = STR("[\"search\"]"),
                          .has_execution = true,
                          .execution = {.has_max_turns = true, .max_turns = 3}}},
                  &v),
        OK);
    commit(&f);
    EXPECT_EQ(agent_version_diff(begin_reading(&f), id, STR("1.0.0"), STR("latest"), &diff), OK);
    commit(&f);
    EXPECT_STR(diff.to, STR("1.0.1"));
    const struct agent_diff_field *fields = diff.fields.items;
    EXPECT_EQ(diff.fields.count, 2);
    EXPECT_STR(fields[0].field, STR("execution_config"));
    EXPECT_STR(fields[1].change, STR("changed"));
    EXPECT_STR(diff.patch,
        STR("[{\"op\":\"replace\",\"path\":\"/execution_config/max_turns\",\"value\":3},"
            "{\"op\":\"add\",\"path\":\"/tools/0\",\"value\":{\"tool\":\"search\","
            "\"config_overrides\":{},\"is_enabled\":true}}]"));
    fixture_end(&f);
}

TEST(a_workflow_has_a_graph)
{
    struct fixture f;
    fixture_begin(&f);
    struct agent agent = {.name = STR("flow"), .kind = AGENT_KIND_WORKFLOW, .is_active = true};
    const struct agent_definition nothing = {0};
    EXPECT_EQ(agent_create_defined(begin(&f), &agent, &nothing), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/workflow_graph"));
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agents"), 0);
    fixture_end(&f);
}

TEST(with_an_agent_go_its_versions_and_activations)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = make(&f, "agent", "planner");
    EXPECT_EQ(delete_agent(begin(&f), id), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_versions"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_activations"), 0);
    fixture_end(&f);
}
