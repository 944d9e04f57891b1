/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the documents of the layout, with their known members in order. */
#include "base/json/json_write.h"
#include "cli/layout.h"
#include "cli/state.h"

struct layout_member {
    const char *name;
    const char *source; /* in the server's answer; NULL: the same */
    enum { ALWAYS, WHEN_THERE, WHEN_TRUE, LIST } shown;
};

static const struct layout_member config_members[] = {
    {"agent_uuid", "thread_id", ALWAYS},
    {"system_prompt", NULL, ALWAYS},
    {"model", NULL, ALWAYS},
    {"max_steps", NULL, ALWAYS},
    {"thinking_tokens", NULL, ALWAYS},
    {"max_tokens", NULL, ALWAYS},
    {"container_id", NULL, ALWAYS},
    {"messages", NULL, LIST},
    {"tool_schemas", NULL, LIST},
    {"tool_names", NULL, LIST},
    {"server_tools", NULL, LIST},
    {"beta_headers", NULL, LIST},
    {"api_kwargs", NULL, ALWAYS},
    {"formatter", NULL, ALWAYS},
    {"stream_meta_history_and_tool_results", NULL, ALWAYS},
    {"compactor_type", NULL, ALWAYS},
    {"memory_store_type", NULL, ALWAYS},
    {"file_registry", NULL, ALWAYS},
    {"max_retries", NULL, ALWAYS},
    {"base_delay", NULL, ALWAYS},
    {"last_known_input_tokens", NULL, ALWAYS},
    {"last_known_output_tokens", NULL, ALWAYS},
    {"pending_frontend_tools", NULL, LIST},
    {"pending_backend_results", NULL, LIST},
    {"awaiting_frontend_tools", NULL, ALWAYS},
    {"current_step", NULL, ALWAYS},
    {"conversation_history", NULL, LIST},
    {"title", NULL, ALWAYS},
    {"extras", NULL, ALWAYS},
    {"created_at", NULL, ALWAYS},
    {"updated_at", NULL, ALWAYS},
    {"last_run_at", NULL, ALWAYS},
    {"total_runs", NULL, ALWAYS},
};

static const struct layout_member entry_members[] = {
    {"conversation_id", NULL, ALWAYS},
    {"agent_uuid", "thread_id", ALWAYS},
    {"run_id", NULL, ALWAYS},
    {"started_at", NULL, ALWAYS},
    {"completed_at", NULL, ALWAYS},
    {"user_message", NULL, ALWAYS},
    {"final_response", NULL, ALWAYS},
    {"messages", NULL, LIST},
    {"stop_reason", NULL, ALWAYS},
    {"total_steps", NULL, ALWAYS},
    {"usage", NULL, ALWAYS},
    {"generated_files", NULL, LIST},
    {"cost", NULL, ALWAYS},
    {"extras", NULL, ALWAYS},
    {"sequence_number", NULL, ALWAYS},
    {"created_at", NULL, ALWAYS},
};

static const struct layout_member step_members[] = {
    {"log_id", NULL, ALWAYS},
    {"agent_uuid", "thread_id", ALWAYS},
    {"run_id", NULL, ALWAYS},
    {"timestamp", NULL, ALWAYS},
    {"step_number", NULL, WHEN_THERE},
    {"action_type", NULL, ALWAYS},
    {"action_data", NULL, ALWAYS},
    {"messages_snapshot", NULL, WHEN_THERE},
    {"messages_count", NULL, WHEN_THERE},
    {"estimated_tokens", NULL, WHEN_THERE},
    {"duration_ms", NULL, WHEN_THERE},
    {"lifecycle", NULL, WHEN_TRUE},
};

static struct str document(
    struct arena *arena, struct json source, const struct layout_member *members, size_t n)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    for (size_t i = 0; i < n; i++) {
        const char *from = members[i].source == NULL ? members[i].name : members[i].source;
        struct json value;
        bool there = json_get(source, str_of(from), &value) && json_type(value) != JSON_NULL;
        if ((!there && members[i].shown == WHEN_THERE) ||
            (members[i].shown == WHEN_TRUE && (!there || json_type(value) != JSON_TRUE)))
            continue;
        json_write_name(&text.w, members[i].name);
        if (there)
            json_write_value(&text.w, value);
        else
            json_write_raw(&text.w, members[i].shown == LIST ? STR("[]") : STR_NONE);
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static struct str pretty(struct arena *arena, struct str compact)
{
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    struct json_doc doc;
    struct json_error error;
    bool parsed = json_parse_deep(arena, compact, JSON_WRITE_MAX_DEPTH - 1, &doc, &error);
    assert(parsed);
    cli_append_pretty(&out, json_root(&doc));
    buf_append_byte(&out, '\n');
    return arena_str(arena, buf_str(&out));
}

struct str layout_config(struct arena *arena, struct json resumption)
{
    return pretty(arena, document(arena, resumption, config_members, COUNT_OF(config_members)));
}

struct str layout_entry(struct arena *arena, struct json entry)
{
    return pretty(arena, document(arena, entry, entry_members, COUNT_OF(entry_members)));
}

struct str layout_step(struct arena *arena, struct json step)
{
    struct str line = document(arena, step, step_members, COUNT_OF(step_members));
    return arena_printf(arena, "%.*s\n", STR_ARG(line));
}

struct str layout_index(struct arena *arena, int64_t last)
{
    return arena_printf(arena,
        "{\n  \"last_sequence\": %lld,\n  \"total_conversations\": %lld\n}\n", (long long)last,
        (long long)last);
}
