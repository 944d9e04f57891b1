/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/answer.h"

void header_add(struct header_list *list, struct str name, struct str value)
{
    assert(list->count < ANSWER_MAX_HEADERS);
    if (!str_is_none(value))
        list->items[list->count++] = (struct http_header){name, value};
}

void header_add_common(struct header_list *list, const struct call *call)
{
    header_add(list, STR("Cairn-Version"), STR(CAIRN_VERSION));
    header_add(list, STR("X-Request-Id"), call->request.id);
    header_add(list, STR("traceparent"), http_header(call->request.http, STR("traceparent")));
    header_add(list, STR("Cache-Control"), STR("no-store"));
    header_add(list, STR("X-Content-Type-Options"), STR("nosniff"));
}

void header_add_of_call(struct header_list *list, const struct call *call)
{
    if (call->answer.body.len > 0 || call->answer.is_bytes)
        header_add(list, STR("Content-Type"), call->answer.content_type);
    for (size_t i = 0; i < call->answer.n_headers; i++)
        header_add(list, call->answer.headers[i].name, call->answer.headers[i].value);
}

const struct http_header refusal_headers[REFUSAL_HEADER_COUNT] = {
    {{"Cairn-Version", sizeof "Cairn-Version" - 1}, {CAIRN_VERSION, sizeof CAIRN_VERSION - 1}},
    {{"Content-Type", sizeof "Content-Type" - 1},
        {"application/problem+json", sizeof "application/problem+json" - 1}},
};

static enum error refusal_code(int status)
{
    switch (status) {
    case 408:
        return ERR_TIMEOUT;
    case 413:
        return ERR_TOO_LARGE;
    case 503:
        return ERR_UNAVAILABLE;
    default:
        return ERR_BAD_REQUEST;
    }
}

struct str refusal_document(struct arena *arena, const struct http_refusal *refusal)
{
    struct problem problem;
    problem_init(&problem, arena);
    problem_set(&problem, refusal_code(refusal->status), "%s", refusal->rule);
    char id[UUID_TEXT_LEN];
    uuid_format(uuid_v7(), id);
    return problem_document(arena, &problem, (struct str){id, sizeof id}, refusal->status);
}
