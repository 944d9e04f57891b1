/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/history.h"

#include "fixture.h"
#include "model/execution/history_context.h"
#include "model/execution/history_text.h"
#include "model/execution/resumptions.h"

static void finish(struct fixture *f, struct run run, const char *status)
{
    struct run before, after;
    struct context *c = begin(f);
    EXPECT_EQ(run_get(c, run.id, &before), OK);
    after = before;
    after.status = run_status_parse(str_of(status));
    EXPECT_EQ(run_update(c, &before, &after), OK);
    commit(f);
}

static struct history_entry entry_of(struct fixture *f, struct uuid thread_id, int64_t number)
{
    struct history_entry entry = {0};
    EXPECT_EQ(history_get(begin_reading(f), thread_id, number, true, &entry), OK);
    commit(f);
    return entry;
}

static struct resumption make_resumption(struct fixture *f, struct uuid thread_id)
{
    struct resumption before, after = {.system_prompt = STR("You help."), .model = STR("m")};
    struct context *c = begin(f);
    EXPECT_EQ(resumption_find(c, thread_id, false, &before), OK);
    EXPECT_EQ(resumption_write(c, &before, &after), OK);
    commit(f);
    return after;
}

static void append(struct fixture *f, struct uuid thread_id, const char *messages)
{
    struct resumption r;
    const struct resumption_append add = {
        .messages = str_of(messages), .conversation_history = str_of(messages)};
    struct context *c = begin(f);
    EXPECT_EQ(resumption_get(c, thread_id, false, &r), OK);
    EXPECT_EQ(resumption_append(c, &r, &add), OK);
    commit(f);
}

TEST(what_a_run_said_is_found_in_its_output)
{
    struct arena arena;
    arena_init(&arena, 1024 * 1024);
    EXPECT_STR(history_text_of_output(&arena, STR("\"a\\nb\"")), STR("a\nb"));
    EXPECT_STR(history_text_of_output(&arena, STR("{\"n\":1,\"answer\":\"42\"}")), STR("42"));
    EXPECT_STR(history_text_of_output(&arena, STR("{\"message\":\"m\",\"text\":\"t\"}")), STR("t"));
    EXPECT(str_is_none(history_text_of_output(&arena, STR("{\"text\":5}"))));
    EXPECT(str_is_none(history_text_of_output(&arena, STR("[1]"))));
    EXPECT(str_is_none(history_text_of_output(&arena, STR_NONE)));
    arena_deinit(&arena);
}

TEST(what_a_model_said_last_is_found_in_its_messages)
{
    struct arena arena;
    arena_init(&arena, 1024 * 1024);
    EXPECT_STR(history_text_of_messages(&arena, STR("[{\"role\":\"assistant\",\"content\":\"one\"},"
                                                    "{\"role\":\"user\",\"content\":\"two\"}]")),
        STR("one"));
    EXPECT_STR(history_text_of_messages(&arena,
                   STR("[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                       "{\"type\":\"tool_use\",\"id\":\"x\"},{\"type\":\"text\",\"text\":\"b\"}]},"
                       "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"}]}]")),
        STR("a\nb"));
    EXPECT(str_is_none(
        history_text_of_messages(&arena, STR("[{\"role\":\"user\",\"content\":\"x\"}]"))));
    EXPECT(str_is_none(history_text_of_messages(&arena, STR("[]"))));
    arena_deinit(&arena);
}

TEST(a_message_is_a_token_for_every_four_bytes_begun_and_four)
{
    EXPECT_EQ(history_tokens(0), 4);
    EXPECT_EQ(history_tokens(1), 5);
    EXPECT_EQ(history_tokens(4), 5);
    EXPECT_EQ(history_tokens(5), 6);
}

TEST(an_end_that_is_rolled_back_leaves_no_entry_and_no_gap)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), before, after;
    struct context *c = begin(&f);
    EXPECT_EQ(run_get(c, run.id, &before), OK);
    after = before;
    after.status = RUN_COMPLETED;
    EXPECT_EQ(run_update(c, &before, &after), OK);
    abandon(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM history_entries"), 0);
    finish(&f, run, "failed");
    finish(&f, make_run(&f, thread, "direct"), "completed");
    EXPECT_STR(entry_of(&f, thread, 1).status, STR("failed"));
    EXPECT_STR(entry_of(&f, thread, 2).status, STR("completed"));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM history_entries"), 2);
    fixture_end(&f);
}

TEST(the_history_of_a_run_moves_to_its_entry_when_it_ends)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    make_resumption(&f, thread);
    struct run run = make_run(&f, thread, "direct");
    append(&f, thread, "[{\"role\":\"user\",\"content\":\"hi\"}]");
    append(&f, thread, "[{\"role\":\"assistant\",\"content\":\"hello\"}]");
    finish(&f, run, "completed");
    struct history_entry entry = entry_of(&f, thread, 1);
    EXPECT_STR(entry.messages, STR("[{\"role\":\"user\",\"content\":\"hi\"},"
                                   "{\"role\":\"assistant\",\"content\":\"hello\"}]"));
    EXPECT_STR(entry.final_response, STR("hello"));
    struct resumption r;
    EXPECT_EQ(resumption_get(begin_reading(&f), thread, true, &r), OK);
    commit(&f);
    EXPECT_STR(r.conversation_history, STR("[]"));
    EXPECT_STR(r.messages, entry.messages);
    EXPECT_EQ(r.version, 4);
    fixture_end(&f);
}

TEST(a_run_ends_also_when_the_messages_that_are_kept_for_it_are_damaged)
{
    struct fixture f;
    struct history_entry entry = {0};
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    make_resumption(&f, thread);
    struct run run = make_run(&f, thread, "direct");
    append(&f, thread, "[{\"role\":\"assistant\",\"content\":\"hello\"}]");
    sql_exec(&f, "UPDATE snapshots SET size_bytes = 7");
    finish(&f, run, "completed");
    EXPECT_EQ(history_get(begin_reading(&f), thread, 1, false, &entry), OK);
    commit(&f);
    EXPECT(str_is_none(entry.final_response));
    EXPECT_EQ(history_get(begin_reading(&f), thread, 1, true, &entry), ERR_DAMAGED);
    commit(&f);
    fixture_end(&f);
}

TEST(a_prompt_and_a_model_that_are_left_out_come_from_the_agent_of_the_newest_run)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    make_run(&f, thread, "direct");
    const char *same = on_postgres() ? "gen_random_uuid()" : "randomblob(16)";
    sql_exec(
        &f, arena_cstr(f.arena,
                arena_printf(f.arena,
                    "INSERT INTO agents (tenant_id, id, name, metadata, created_at, updated_at)"
                    " SELECT id, %s, 'a', '{}', 1, 1 FROM tenants",
                    same)));
    sql_exec(&f, "INSERT INTO agent_versions (tenant_id, agent_id, number, version, system_prompt,"
                 " memory_config, guardrail_config, llm_config, execution_config, tools,"
                 " created_at, updated_at) SELECT tenant_id, id, 1, '1.0.0',"
                 " '{\"role\":\"A clerk\",\"instructions\":\"File it.\"}', '{}', '{}',"
                 " '{\"default_model\":\"gpt-4o-mini\"}', '{}', '[]', 1, 1 FROM agents");
    sql_exec(&f, "UPDATE runs SET agent_id = (SELECT id FROM agents), agent_version = '1.0.0'");
    struct resumption before, after = {0};
    struct context *c = begin(&f);
    EXPECT_EQ(resumption_find(c, thread, false, &before), OK);
    EXPECT_EQ(resumption_write(c, &before, &after), OK);
    commit(&f);
    EXPECT_STR(after.system_prompt, STR("A clerk\n\nFile it."));
    EXPECT_STR(after.model, STR("gpt-4o-mini"));
    EXPECT(after.has_agent_id);
    sql_exec(&f, "UPDATE runs SET agent_version = '2.0.0'");
    struct resumption bare = {.model = STR("m")};
    EXPECT_EQ(resumption_write(begin(&f), &after, &bare), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/system_prompt"));
    abandon(&f);
    fixture_end(&f);
}
