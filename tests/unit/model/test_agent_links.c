/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agent_links.h"

#include "fixture.h"

static struct uuid make(struct fixture *f, const char *kind, const char *name)
{
    struct agent agent = {.name = str_of(name), .kind = agent_kind_parse(str_of(kind))};
    EXPECT_EQ(agent_create(begin(f), &agent), OK);
    commit(f);
    return agent.id;
}

static enum error put(struct fixture *f, struct uuid parent, struct uuid child)
{
    struct agent_link link = {.parent_id = parent, .child_id = child};
    bool is_new;
    enum error e = agent_link_put(begin(f), &link, &is_new);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

static struct str fault(struct fixture *f)
{
    return f->problem.faults[0].detail;
}

TEST(a_link_has_a_role_and_a_place_and_keeps_what_is_left_out)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid team = make(&f, "team", "team"), a = make(&f, "agent", "a");
    struct uuid b = make(&f, "agent", "b");
    struct agent_link link = {.parent_id = team, .child_id = a}, list[2];
    bool is_new = false, more;
    size_t n;
    EXPECT_EQ(agent_link_put(begin(&f), &link, &is_new), OK);
    commit(&f);
    EXPECT(is_new);
    EXPECT_STR(link.role, STR("member"));
    EXPECT_EQ(link.position, 0);
    EXPECT_STR(link.metadata, STR("{}"));
    EXPECT_STR(link.child_name, STR("a"));
    EXPECT_EQ(put(&f, team, b), OK);
    link = (struct agent_link){.parent_id = team,
        .child_id = a,
        .role = STR("lead"),
        .has_position = true,
        .position = 7,
        .child_version = STR("1.0.0")};
    EXPECT_EQ(agent_link_put(begin(&f), &link, &is_new), OK);
    commit(&f);
    EXPECT(!is_new);
    EXPECT_EQ(link.revision, 2);
    struct agent_link_mark mark = {0};
    page = (struct page){.limit = 1};
    EXPECT_EQ(agent_link_list(begin_reading(&f), team, &mark, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT(more);
    EXPECT(uuid_eq(list[0].child_id, b));
    mark = (struct agent_link_mark){true, list[0].position, b};
    page = (struct page){.limit = 1};
    EXPECT_EQ(agent_link_list(begin_reading(&f), team, &mark, &page, list), OK);
    n = page.count;
    more = page.more;
    commit(&f);
    EXPECT(!more);
    EXPECT_EQ(n, 1);
    EXPECT_STR(list[0].role, STR("lead"));
    fixture_end(&f);
}

TEST(only_a_team_or_a_workflow_has_children_and_they_have_to_exist)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid team = make(&f, "team", "team"), a = make(&f, "agent", "a");
    EXPECT_EQ(put(&f, a, team), ERR_CONFLICT);
    EXPECT_EQ(put(&f, team, uuid_v7()), ERR_NOT_FOUND);
    struct agent_link link = {.parent_id = team, .child_id = a, .child_version = STR("2.0.0")};
    bool unused;
    EXPECT_EQ(agent_link_put(begin(&f), &link, &unused), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/child_version"));
    abandon(&f);
    link.child_version = STR_NONE;
    EXPECT_EQ(agent_link_put(begin_as(&f, other), &link, &unused), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_links"), 0);
    fixture_end(&f);
}

TEST(a_link_that_would_close_a_cycle_is_refused_with_the_way_round)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid a = make(&f, "team", "a"), b = make(&f, "team", "b"), c = make(&f, "team", "c");
    EXPECT_EQ(put(&f, a, a), ERR_INVALID);
    EXPECT_STR(fault(&f), STR("must not create a cycle: \"a\" > \"a\""));
    EXPECT_EQ(put(&f, a, b), OK);
    EXPECT_EQ(put(&f, b, c), OK);
    EXPECT_EQ(put(&f, a, c), OK); /* no cycle: two ways to one child */
    EXPECT_EQ(put(&f, c, a), ERR_INVALID);
    EXPECT_PART(fault(&f), "must not create a cycle: \"c\" > \"a\" > ");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_links"), 3);
    fixture_end(&f);
}

TEST(no_way_along_the_links_is_longer_than_16)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid chain[AGENT_LINK_DEPTH_MAX + 2];
    for (size_t i = 0; i < COUNT_OF(chain); i++)
        chain[i] = make(&f, "team", arena_cstr(f.arena, arena_printf(f.arena, "t%zu", i)));
    for (size_t i = 0; i < AGENT_LINK_DEPTH_MAX; i++)
        EXPECT_EQ(put(&f, chain[i], chain[i + 1]), OK);
    EXPECT_EQ(put(&f, chain[AGENT_LINK_DEPTH_MAX], chain[AGENT_LINK_DEPTH_MAX + 1]), ERR_INVALID);
    EXPECT_PART(fault(&f), "would create a chain of 17 links; the limit is 16");
    EXPECT_EQ(put(&f, chain[AGENT_LINK_DEPTH_MAX + 1], chain[0]), ERR_INVALID);
    EXPECT_EQ(put(&f, chain[AGENT_LINK_DEPTH_MAX + 1], chain[1]), OK);
    fixture_end(&f);
}

TEST(an_agent_has_at_most_256_children_and_those_of_others_do_not_count)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid teams[] = {make(&f, "team", "full"), make(&f, "team", "other")};
    struct uuid children[AGENT_CHILDREN_MAX + 1];
    struct context *c = begin(&f);
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        struct agent agent = {
            .name = arena_printf(f.arena, "child %zu", i), .kind = AGENT_KIND_AGENT};
        EXPECT_EQ(agent_create(c, &agent), OK);
        children[i] = agent.id;
    }
    commit(&f);
    EXPECT_EQ(put(&f, teams[1], children[0]), OK);
    c = begin(&f);
    for (size_t i = 0; i < AGENT_CHILDREN_MAX; i++) {
        struct agent_link link = {.parent_id = teams[0], .child_id = children[i]};
        bool is_new = false;
        EXPECT_EQ(agent_link_put(c, &link, &is_new), OK);
    }
    commit(&f);
    EXPECT_EQ(put(&f, teams[0], children[AGENT_CHILDREN_MAX]), ERR_CONFLICT);
    EXPECT_PART(f.problem.detail, "at most 256 children");
    EXPECT_EQ(put(&f, teams[0], children[0]), OK); /* a change of a link adds no child */
    EXPECT_EQ(put(&f, teams[1], children[AGENT_CHILDREN_MAX]), OK);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_links"), AGENT_CHILDREN_MAX + 2);
    fixture_end(&f);
}

TEST(the_tree_shows_children_in_their_order_and_each_as_often_as_it_is_one)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid top = make(&f, "team", "top"), mid = make(&f, "team", "mid");
    struct uuid leaf = make(&f, "agent", "leaf");
    EXPECT_EQ(put(&f, top, leaf), OK);
    EXPECT_EQ(put(&f, top, mid), OK);
    EXPECT_EQ(put(&f, mid, leaf), OK);
    struct agent_tree tree;
    EXPECT_EQ(agent_tree(begin_reading(&f), top, &tree), OK);
    commit(&f);
    EXPECT(!tree.truncated);
    EXPECT_STR(tree.name, STR("top"));
    char leaf_id[UUID_TEXT_LEN], mid_id[UUID_TEXT_LEN];
    uuid_format(leaf, leaf_id);
    uuid_format(mid, mid_id);
    EXPECT_STR(tree.children,
        arena_printf(f.arena,
            "[{\"id\":\"%.36s\",\"name\":\"leaf\",\"kind\":\"agent\",\"version\":\"1.0.0\","
            "\"role\":\"member\",\"position\":0,\"children\":[]},"
            "{\"id\":\"%.36s\",\"name\":\"mid\",\"kind\":\"team\",\"version\":\"1.0.0\","
            "\"role\":\"member\",\"position\":1,\"children\":["
            "{\"id\":\"%.36s\",\"name\":\"leaf\",\"kind\":\"agent\",\"version\":\"1.0.0\","
            "\"role\":\"member\",\"position\":0,\"children\":[]}]}]",
            leaf_id, mid_id, leaf_id));
    fixture_end(&f);
}

TEST(a_link_goes_with_either_of_its_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid top = make(&f, "team", "top"), a = make(&f, "agent", "a");
    struct uuid b = make(&f, "agent", "b");
    EXPECT_EQ(put(&f, top, a), OK);
    EXPECT_EQ(put(&f, top, b), OK);
    EXPECT_EQ(delete_agent(begin(&f), a), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_links"), 1);
    EXPECT_EQ(agent_link_delete(begin(&f), top, a), ERR_NOT_FOUND);
    abandon(&f);
    EXPECT_EQ(agent_link_delete(begin(&f), top, b), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agent_links"), 0);
    fixture_end(&f);
}
