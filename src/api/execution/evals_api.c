/* SPDX-License-Identifier: Apache-2.0 */
/* Eval runs: results of evaluations of agents, runs and models. */
#include "api/handlers.h"
#include "model/execution/evals.h"

#define OF struct eval
static const struct field eval_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, name, IN_BODY | IN_READ, .min = 1, .max = EVAL_TEXT_MAX_BYTES),
    FIELD(STRING, eval_type, IN_BODY | IN_READ,
        "accuracy, performance, reliability, agent_as_judge or your own", .min = 1,
        .max = EVAL_TEXT_MAX_BYTES),
    FIELD(UUID_OR_NULL, agent_id, IN_BODY | IN_READ),
    FIELD(STRING_OR_NULL, agent_version, IN_BODY | IN_READ, .min = 1, .max = EVAL_TEXT_MAX_BYTES),
    FIELD(UUID_OR_NULL, run_id, IN_BODY | IN_READ, "evaluated run"),
    FIELD(STRING_OR_NULL, model, IN_BODY | IN_READ, "evaluated model", .min = 1,
        .max = EVAL_TEXT_MAX_BYTES),
    FIELD(STRING_OR_NULL, provider, IN_BODY | IN_READ, .min = 1, .max = EVAL_TEXT_MAX_BYTES),
    FIELD(STRING_OR_NULL, evaluated_name, IN_BODY | IN_READ, "display name of the evaluated object",
        .min = 1, .max = EVAL_TEXT_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, eval_input, IN_BODY | IN_READ, "lists omit eval_input and eval_data",
        .max = EVAL_DOCUMENT_MAX_BYTES, .hide_none = true),
    FIELD(OBJECT_OR_NONE, eval_data, IN_BODY | IN_READ, .max = EVAL_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(MONEY_OR_NULL, score, IN_BODY | IN_READ, "from 0 to 1", .max = EVAL_SCORE_MAX,
        .places = EVAL_SCORE_PLACES),
    FIELD(BOOL_OR_NULL, passed, IN_BODY | IN_READ),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ, .max = EVAL_METADATA_MAX_BYTES),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_eval = SCHEMA("Eval", struct eval, eval_fields, IN_READ);
const struct schema schema_eval_body = SCHEMA("EvalBody", struct eval, eval_fields, IN_BODY);
const struct schema schema_eval_patch = SCHEMA("EvalPatch", struct eval, eval_fields, IN_BODY);

struct evals_query {
    struct page_query page;
    struct str eval_type;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_run_id;
    struct uuid run_id;
};
#define OF struct evals_query
static const struct field evals_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, eval_type, IN_QUERY, .min = 1, .max = EVAL_TEXT_MAX_BYTES),
    FIELD(UUID_OR_NONE, agent_id, IN_QUERY),
    FIELD(UUID_OR_NONE, run_id, IN_QUERY),
};
#undef OF
const struct schema query_evals =
    SCHEMA("EvalsQuery", struct evals_query, evals_query_fields, IN_QUERY);

static enum error answer(struct call *call, const struct eval *eval)
{
    return call_answer(call, &schema_eval, eval, eval->version);
}

enum error handle_eval_create(struct call *call, struct context *c)
{
    struct eval eval = *(const struct eval *)call->request.input;
    TRY(eval_create(c, &eval));
    return answer(call, &eval);
}

enum error handle_eval_list(struct call *call, struct context *c)
{
    const struct evals_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct eval *evals = ARENA_ARRAY(call->arena, struct eval, page.limit);
    struct eval_filter filter = {.eval_type = q->eval_type,
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id,
        .has_run_id = q->has_run_id,
        .run_id = q->run_id};
    TRY(cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before));
    TRY(eval_list(c, &filter, &page, evals));
    return call_answer_page(call, &schema_eval, evals, &page, CURSOR_BY(struct eval, id));
}

enum error handle_eval_get(struct call *call, struct context *c)
{
    struct eval eval;
    TRY(eval_get(c, call->request.params[0], &eval));
    return answer(call, &eval);
}

enum error handle_eval_patch(struct call *call, struct context *c)
{
    struct eval before, after;
    TRY(eval_lock(c, call->request.params[0]));
    TRY(eval_get(c, call->request.params[0], &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    TRY(eval_update(c, &before, &after));
    return answer(call, &after);
}

enum error handle_eval_delete(struct call *call, struct context *c)
{
    TRY(eval_delete(c, call->request.params[0]));
    return call_answer_nothing(call);
}
