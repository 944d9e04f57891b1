/* SPDX-License-Identifier: Apache-2.0 */
/* Eval runs: what was found out about agents, runs and models. */
#include "api/resources.h"
#include "model/execution/evals.h"

#define EVAL_FIELD(member) offsetof(struct eval, member)
#define EVAL_TEXT(member, more, text)                                               \
    {                                                                               \
        .name = #member, .kind = FIELD_STRING, .flags = (more), .min = 1,           \
        .offset = EVAL_FIELD(member), .max = EVAL_TEXT_MAX_BYTES, .summary = (text) \
    }
enum { EVAL_BODY_FIELDS = 13, MAYBE = FIELD_OPTIONAL | FIELD_NULLABLE };
static const struct field eval_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = EVAL_FIELD(id)},
    EVAL_TEXT(name, 0, NULL),
    EVAL_TEXT(eval_type, 0, "accuracy, performance, reliability, agent_as_judge or your own"),
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = MAYBE,
        .offset = EVAL_FIELD(agent_id),
        .has_offset = EVAL_FIELD(has_agent_id)},
    EVAL_TEXT(agent_version, MAYBE, NULL),
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = MAYBE,
        .offset = EVAL_FIELD(run_id),
        .has_offset = EVAL_FIELD(has_run_id),
        .summary = "the run that was judged"},
    EVAL_TEXT(model, MAYBE, "that was evaluated"),
    EVAL_TEXT(provider, MAYBE, NULL),
    EVAL_TEXT(evaluated_name, MAYBE, "what was evaluated, for people"),
    {.name = "eval_input",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = EVAL_FIELD(eval_input),
        .max = EVAL_DOCUMENT_MAX_BYTES,
        .summary = "lists leave it and eval_data out"},
    {.name = "eval_data",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = EVAL_FIELD(eval_data),
        .max = EVAL_DOCUMENT_MAX_BYTES},
    {.name = "score",
        .kind = FIELD_MONEY,
        .flags = MAYBE,
        .offset = EVAL_FIELD(score),
        .has_offset = EVAL_FIELD(has_score),
        .max = EVAL_SCORE_MAX,
        .summary = "from 0 to 1, with up to 6 digits after the point"},
    {.name = "passed",
        .kind = FIELD_BOOL,
        .flags = MAYBE,
        .offset = EVAL_FIELD(passed),
        .has_offset = EVAL_FIELD(has_passed)},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = EVAL_FIELD(metadata),
        .max = EVAL_METADATA_MAX_BYTES},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = EVAL_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = EVAL_FIELD(updated_at)},
    {.name = "version", .kind = FIELD_INT, .flags = FIELD_READ_ONLY, .offset = EVAL_FIELD(version)},
};
const struct schema schema_eval = {
    "Eval", eval_fields, COUNT_OF(eval_fields), sizeof(struct eval), 0};
const struct schema schema_eval_body = {
    "EvalBody", &eval_fields[1], EVAL_BODY_FIELDS, sizeof(struct eval), 0};
const struct schema schema_eval_patch = {
    "EvalPatch", &eval_fields[1], EVAL_BODY_FIELDS, sizeof(struct eval), 0};

struct evals_query {
    struct page_query page;
    struct str eval_type;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_run_id;
    struct uuid run_id;
};
static const struct field evals_query_fields[] = {
    PAGE_FIELDS(struct evals_query),
    {.name = "eval_type",
        .kind = FIELD_STRING,
        .offset = offsetof(struct evals_query, eval_type),
        .min = 1,
        .max = EVAL_TEXT_MAX_BYTES},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct evals_query, agent_id),
        .has_offset = offsetof(struct evals_query, has_agent_id)},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct evals_query, run_id),
        .has_offset = offsetof(struct evals_query, has_run_id)},
};
const struct schema query_evals = {
    "EvalsQuery", evals_query_fields, COUNT_OF(evals_query_fields), sizeof(struct evals_query), 0};

static void answer(struct call *call, const struct eval *eval)
{
    call_answer(call, &schema_eval, eval, eval->version);
}

enum error handle_eval_create(struct call *call, struct context *c)
{
    struct eval eval = *(const struct eval *)call->request.input;
    enum error e = eval_create(c, &eval);
    if (e == OK)
        answer(call, &eval);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct eval *)item)->id);
}

enum error handle_eval_list(struct call *call, struct context *c)
{
    const struct evals_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct eval *evals = ARENA_ARRAY(call->arena, struct eval, limit);
    struct eval_filter filter = {.eval_type = q->eval_type,
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id,
        .has_run_id = q->has_run_id,
        .run_id = q->run_id};
    bool more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before);
    if (e == OK)
        e = eval_list(c, &filter, limit, evals, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_eval, evals, count, more, cursor_of);
    return e;
}

enum error handle_eval_get(struct call *call, struct context *c)
{
    struct eval eval;
    enum error e = eval_get(c, call->request.params[0], &eval);
    if (e == OK)
        answer(call, &eval);
    return e;
}

enum error handle_eval_patch(struct call *call, struct context *c)
{
    struct eval before, after;
    enum error e = eval_lock(c, call->request.params[0]);
    if (e == OK)
        e = eval_get(c, call->request.params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = eval_update(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_eval_delete(struct call *call, struct context *c)
{
    enum error e = eval_delete(c, call->request.params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
