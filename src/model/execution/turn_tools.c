/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/turn_tools.h"

#include "base/clock.h"
#include "base/json/json_write.h"
#include "model/execution/run_rows.h"

/* --- Calls in an output --------------------------------------------------------------------- */

static enum error refuse(struct context *c, struct str at, const char *member, const char *rule)
{
    return problem_fault(
        c->problem, arena_printf(c->arena, "%.*s%s", STR_ARG(at), member), "%s", rule);
}

static bool has_member(struct json object, const char *name, struct json *out)
{
    return json_get(object, str_of(name), out) && json_type(*out) != JSON_NULL;
}

/* Chat Completions has name and arguments in the member `function`. */
static struct json holder_of(struct json call, const char **out_prefix)
{
    struct json function;
    bool nested = has_member(call, "function", &function) && json_type(function) == JSON_OBJECT;
    *out_prefix = nested ? "/function" : "";
    return nested ? function : call;
}

static enum error read_text(struct context *c, struct json call, struct str at, const char *prefix,
    const char *name, struct str *out_text)
{
    struct json member;
    struct str pointer = arena_printf(c->arena, "%.*s%s/%s", STR_ARG(at), prefix, name);
    if (!has_member(call, name, &member) || json_type(member) != JSON_STRING)
        return refuse(c, pointer, "", "must be given, as a string");
    *out_text = json_string(c->arena, member);
    return OK;
}

/* The input is an object, or the text of one. */
static enum error read_input(
    struct context *c, struct json call, struct str at, const char *prefix, struct str *out_input)
{
    struct json_doc doc;
    struct json_error bad;
    struct json input;
    const char *name = has_member(call, "input", &input) ? "input" : "arguments";
    *out_input = STR_NONE;
    if (!has_member(call, name, &input))
        return OK;
    struct str pointer = arena_printf(c->arena, "%.*s%s/%s", STR_ARG(at), prefix, name);
    if (json_type(input) == JSON_STRING) {
        if (!json_parse(c->arena, json_string(c->arena, input), &doc, &bad))
            return refuse(c, pointer, "", "must be an object, or the text of one");
        input = json_root(&doc);
    }
    if (json_type(input) != JSON_OBJECT)
        return refuse(c, pointer, "", "must be an object, or the text of one");
    *out_input = json_compact(c->arena, input);
    return out_input->len <= TOOL_INPUT_MAX_BYTES
               ? OK
               : problem_fault(
                     c->problem, pointer, "must have at most %d bytes", TOOL_INPUT_MAX_BYTES);
}

static enum error read_side(
    struct context *c, struct json call, struct str at, enum tool_side *out_side)
{
    struct json member;
    *out_side = TOOL_BACKEND;
    if (!has_member(call, "side", &member))
        return OK;
    *out_side = json_type(member) == JSON_STRING ? tool_side_parse(json_string(c->arena, member))
                                                 : TOOL_SIDE_NONE;
    return *out_side != TOOL_SIDE_NONE ? OK : refuse(c, at, "/side", "must be frontend or backend");
}

static enum error read_deadline(
    struct context *c, struct json call, struct str at, struct awaited_tool *tool)
{
    struct json member;
    tool->has_deadline = has_member(call, "deadline", &member);
    if (!tool->has_deadline)
        return OK;
    bool good = json_type(member) == JSON_STRING &&
                clock_parse(json_string(c->arena, member), &tool->deadline);
    return good ? OK : refuse(c, at, "/deadline", "must be a time as in RFC 3339");
}

static enum error read_call(
    struct context *c, struct json call, struct str at, struct awaited_tool *out_tool)
{
    const char *prefix;
    *out_tool = (struct awaited_tool){0};
    if (json_type(call) != JSON_OBJECT)
        return refuse(c, at, "", "must be an object");
    struct json holder = holder_of(call, &prefix);
    TRY(read_text(c, call, at, "", "id", &out_tool->tool_use_id));
    TRY(read_text(c, holder, at, prefix, "name", &out_tool->name));
    TRY(read_input(c, holder, at, prefix, &out_tool->input));
    TRY(read_side(c, call, at, &out_tool->side));
    return read_deadline(c, call, at, out_tool);
}

/* The engine may have named the tool before the end of the turn. */
static enum error is_awaited(
    struct context *c, const struct run *run, const struct awaited_tool *tool, bool *out_is)
{
    struct awaited_tool known;
    *out_is = false;
    if (!run_waits(run) || run->phase != PHASE_AWAITING_TOOL)
        return OK;
    TRY(awaited_tool_find(c, run->id, tool->tool_use_id, out_is, &known));
    *out_is = *out_is && !known.has_result_at;
    return OK;
}

enum error turn_tools_read(
    struct context *c, const struct run *run, struct str output, struct tool_pause *out_pause)
{
    const struct str pointer = STR("/output/tool_calls");
    struct json_doc doc;
    struct json_error bad;
    struct json calls, call;
    *out_pause = (struct tool_pause){.tools_at = pointer, .id_member = "id"};
    if (str_is_none(output))
        return OK;
    if (!json_parse(c->arena, output, &doc, &bad))
        return problem_set(c->problem, ERR_INTERNAL, "the output cannot be read");
    if (!has_member(json_root(&doc), "tool_calls", &calls))
        return OK;
    size_t n = json_type(calls) == JSON_ARRAY ? json_count(calls) : SIZE_MAX, index = 0;
    if (n > TOOLS_MAX)
        return problem_fault(
            c->problem, pointer, "must be an array of at most %d objects", TOOLS_MAX);
    out_pause->tools = ARENA_ARRAY(c->arena, struct awaited_tool, n + 1);
    struct json_iter it = json_iter(calls);
    for (; json_next(&it, NULL, &call); index++) {
        struct awaited_tool *tool = &out_pause->tools[out_pause->n_tools];
        bool known = false;
        TRY(read_call(c, call, arena_printf(c->arena, "%.*s/%zu", STR_ARG(pointer), index), tool));
        TRY(is_awaited(c, run, tool, &known));
        out_pause->n_tools += !known;
    }
    return out_pause->n_tools > 0 ? awaited_tools_check(c, run, out_pause) : OK;
}

bool turn_tools_named(struct arena *arena, struct str output)
{
    struct json_doc doc;
    struct json_error unused;
    struct json calls;
    return !str_is_none(output) && json_parse(arena, output, &doc, &unused) &&
           has_member(json_root(&doc), "tool_calls", &calls) && json_type(calls) == JSON_ARRAY &&
           json_count(calls) > 0;
}

/* --- Results in an input -------------------------------------------------------------------- */

/* Reads a result that turn_check_input has checked. */
static struct tool_result read_result(struct context *c, struct json result, size_t index)
{
    struct json member;
    struct tool_result out = {
        .at = arena_printf(c->arena, "/input/tool_results/%zu", index), .content = STR("null")};
    if (json_get(result, STR("tool_use_id"), &member))
        out.tool_use_id = json_string(c->arena, member);
    if (json_get(result, STR("content"), &member))
        out.content = json_compact(c->arena, member);
    out.is_error = json_get(result, STR("is_error"), &member) && json_type(member) == JSON_TRUE;
    return out;
}

enum error turn_tools_settle(struct context *c, struct run *run, bool works_on, struct str results)
{
    struct json_doc doc;
    struct json_error bad;
    struct json item;
    struct awaited_tool tool;
    struct tool_outcome unused;
    size_t n = 0, index = 0;
    if (str_is_none(results))
        return OK;
    if (!json_parse(c->arena, results, &doc, &bad))
        return problem_set(c->problem, ERR_INTERNAL, "the results cannot be read");
    struct tool_result *awaited =
        ARENA_ARRAY(c->arena, struct tool_result, json_count(json_root(&doc)));
    struct json_iter it = json_iter(json_root(&doc));
    for (; json_next(&it, NULL, &item); index++) {
        bool found = false;
        awaited[n] = read_result(c, item, index);
        TRY(awaited_tool_find(c, run->id, awaited[n].tool_use_id, &found, &tool));
        n += found && !tool.has_result_at;
    }
    return n > 0 ? awaited_tools_settle(c, run, works_on, awaited, n, &unused) : OK;
}
