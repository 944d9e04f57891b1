/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a new step, and takes absent members from the data of its action. */
#include "base/json/json.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/step_parts.h"
#include "model/execution/steps.sql.h"
#include "model/threads/events.h"

ENUM_DEFINE(action_types, ACTION_TYPES);
ENUM_DEFINE(step_outcomes, STEP_OUTCOMES);

/* Types of applications have no traits. */
static unsigned traits_of(struct str type)
{
#define TRAITS(type, word, traits) [type] = traits,
    static const unsigned traits[] = {ACTION_TYPES(TRAITS)};
#undef TRAITS
    return traits[action_type_parse(type)];
}

/* Types of applications have the form of their kinds of events. */
static bool is_of_application(struct str type)
{
    return event_kind_is_known(type) && !event_kind_is_plain(type) && !event_kind_is_reserved(type);
}

bool step_type_is_known(struct str type)
{
    return action_type_parse(type) != ACTION_TYPE_NONE || is_of_application(type);
}

bool step_begins_llm_call(const struct step *step)
{
    return (traits_of(step->action_type) & ACTION_BEGINS_CALL) != 0;
}

bool step_ends_llm_call(const struct step *step)
{
    return (traits_of(step->action_type) & ACTION_ENDS_CALL) != 0;
}

static struct str under(struct context *c, struct str at, const char *member)
{
    return arena_printf(c->arena, "%.*s/%s", STR_ARG(at), member);
}

static enum error check_type(struct context *c, const struct step *step, struct str at)
{
    if (str_is_none(step->action_type))
        return problem_fault(c->problem, under(c, at, "action_type"), "is required");
    if (step_type_is_known(step->action_type))
        return OK;
    return problem_fault(c->problem, under(c, at, "action_type"),
        "must be a type of action such as tool_execution, or an application type such as acme.vote "
        "(lower-case parts joined by dots, at most %d bytes; the first part must not be reserved "
        "by Cairn)",
        EVENT_KIND_MAX_BYTES);
}

static enum error check_time(struct context *c, int64_t earliest, struct step *step, struct str at)
{
    if (!step->has_at)
        step->at = earliest > c->now_us ? earliest : c->now_us;
    step->has_at = true;
    if (step->at <= c->now_us + (int64_t)STEP_AHEAD_MAX_S * 1000000)
        return OK;
    return problem_fault(c->problem, under(c, at, "timestamp"), "must be at most a day from now");
}

static enum error check_turn(
    struct context *c, const struct run *run, const struct step *step, struct str at)
{
    struct query q;
    int64_t count;
    if (!step->has_turn_id)
        return OK;
    context_query(c, &q, &SQL_STEP_IS_TURN_OF_RUN);
    query_uuid(&q, turn_id, step->turn_id);
    query_uuid(&q, run_id, run->id);
    TRY(context_number(&q, &count));
    if (count == 0)
        return problem_fault(c->problem, under(c, at, "turn_id"), "must be a turn of this run");
    return OK;
}

static enum error parse(struct context *c, struct str text, struct json_doc *out_doc)
{
    struct json_error unused;
    if (json_parse(c->arena, text, out_doc, &unused))
        return OK;
    return problem_set(
        c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
}

static enum error check_messages(struct context *c, struct step *step, struct str at)
{
    struct json_doc doc;
    struct json_iter it;
    struct json message;
    if (str_is_none(step->messages_snapshot))
        return OK;
    struct arena_mark mark = arena_mark(c->arena);
    TRY(parse(c, step->messages_snapshot, &doc));
    size_t count = json_count(json_root(&doc)), i = 0;
    if (count > SNAPSHOT_MAX_ITEMS)
        return problem_fault(c->problem, under(c, at, "messages_snapshot"),
            "must have at most %d items", SNAPSHOT_MAX_ITEMS);
    for (it = json_iter(json_root(&doc)); json_next(&it, NULL, &message); i++)
        if (json_type(message) != JSON_OBJECT)
            return problem_fault(c->problem,
                arena_printf(c->arena, "%.*s/messages_snapshot/%zu", STR_ARG(at), i),
                "must be an object, not %s", json_type_name(json_type(message)));
    arena_rewind(c->arena, mark);
    if (!step->has_messages_count)
        step->messages_count = (int64_t)count;
    step->has_messages_count = true;
    return OK;
}

/* --- Fields from the data ------------------------------------------------------------------- */

static void take_text(struct context *c, struct json data, const char *name, struct str *text)
{
    struct json value;
    if (!str_is_none(*text) || !json_get(data, str_of(name), &value) ||
        json_type(value) != JSON_STRING)
        return;
    struct str said = json_string(c->arena, value);
    if (said.len > 0 && said.len <= STEP_NAME_MAX_BYTES && !str_has_byte(said, '\0'))
        *text = said;
}

static enum error take_tokens(struct context *c, struct json usage, const char *name, struct str at,
    bool *has, int64_t *tokens)
{
    struct json value;
    if (!json_get(usage, str_of(name), &value) || json_type(value) == JSON_NULL)
        return OK;
    if (json_type(value) != JSON_NUMBER || !json_to_i64(value, tokens) || *tokens < 0 ||
        *tokens > STEP_COUNT_MAX)
        return problem_fault(c->problem,
            arena_printf(c->arena, "%.*s/action_data/usage/%s", STR_ARG(at), name),
            "must be an integer from 0 to %d", STEP_COUNT_MAX);
    *has = true;
    return OK;
}

static enum error take_usage(struct context *c, struct json data, struct step *step, struct str at)
{
    struct json usage;
    struct step_usage *u = &step->usage;
    if (step->has_usage || !json_get(data, STR("usage"), &usage) || json_type(usage) != JSON_OBJECT)
        return OK;
    TRY(take_tokens(c, usage, "input_tokens", at, &u->has_input_tokens, &u->input_tokens));
    TRY(take_tokens(c, usage, "output_tokens", at, &u->has_output_tokens, &u->output_tokens));
    TRY(take_tokens(c, usage, "cache_creation_input_tokens", at,
        &u->has_cache_creation_input_tokens, &u->cache_creation_input_tokens));
    TRY(take_tokens(c, usage, "cache_read_input_tokens", at, &u->has_cache_read_input_tokens,
        &u->cache_read_input_tokens));
    step->has_usage = true;
    return OK;
}

static bool says(struct json data, const char *name, enum json_type type)
{
    struct json value;
    return json_get(data, str_of(name), &value) && json_type(value) == type;
}

/* Tools report errors in several ways; without a report the outcome is a success. */
static bool tells_of_error(struct json data)
{
    struct json error;
    return says(data, "success", JSON_FALSE) || says(data, "is_error", JSON_TRUE) ||
           (json_get(data, STR("error"), &error) && json_type(error) != JSON_NULL &&
               json_type(error) != JSON_FALSE);
}

static void take_outcome(struct json data, struct step *step, unsigned traits)
{
    if (step->outcome != STEP_OUTCOME_NONE || (traits & (ACTION_GOOD | ACTION_BAD)) == 0)
        return;
    bool bad =
        (traits & ACTION_BAD) != 0 || ((traits & ACTION_OF_TOOL) != 0 && tells_of_error(data));
    step->outcome = bad ? STEP_ERROR : STEP_SUCCESS;
}

static enum error take_from_data(struct context *c, struct step *step, struct str at)
{
    struct json_doc doc;
    unsigned traits = traits_of(step->action_type);
    if (str_is_none(step->action_data))
        step->action_data = STR("{}");
    TRY(parse(c, step->action_data, &doc));
    struct json data = json_root(&doc);
    if ((traits & ACTION_OF_TOOL) != 0) {
        take_text(c, data, "tool_name", &step->tool_name);
        take_text(c, data, "tool_use_id", &step->tool_use_id);
    }
    if ((traits & (ACTION_BEGINS_CALL | ACTION_ENDS_CALL)) != 0) {
        take_text(c, data, "model", &step->model);
        take_text(c, data, "provider", &step->provider);
    }
    take_outcome(data, step, traits);
    return (traits & ACTION_ENDS_CALL) != 0 ? take_usage(c, data, step, at) : OK;
}

enum error step_check(
    struct context *c, const struct run *run, int64_t earliest, struct step *step, struct str at)
{
    TRY(check_type(c, step, at));
    TRY(check_time(c, earliest, step, at));
    TRY(check_turn(c, run, step, at));
    TRY(check_messages(c, step, at));
    return take_from_data(c, step, at);
}
