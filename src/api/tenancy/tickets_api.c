/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets, with which a browser opens a stream or a WebSocket without a key. */
#include "model/tenancy/tickets.h"

#include "api/handlers.h"

struct ticket_body {
    struct ticket ticket; /* the first member: rows of the ticket and of the body share a table */
    bool has_ttl_s;
    int64_t ttl_s;
};
#define OF struct ticket_body
static const struct field ticket_fields[] = {
    FIELD_OF(ticket, STRING, path, IN_BODY | IN_READ,
        "path of the stream or WebSocket, without a query: /v1/threads/{thread_id}/events/stream",
        .min = 1, .max = TICKET_PATH_MAX_BYTES),
    FIELD(INT_OR_NONE, ttl_s, IN_BODY, "seconds until the ticket expires; default: 30", .min = 1,
        .max = TICKET_TTL_MAX_S),
    FIELD_OF(ticket, STRING_OR_NULL, ticket, IN_CREATED,
        "value of the query parameter ticket; returned only once; null in a replayed answer",
        .once = true),
    FIELD_OF(ticket, TIME, expires_at, IN_READ),
};
#undef OF
const struct schema schema_ticket_create =
    SCHEMA("TicketCreate", struct ticket_body, ticket_fields, IN_BODY);
const struct schema schema_ticket_created =
    SCHEMA("TicketCreated", struct ticket_body, ticket_fields, IN_READ | IN_CREATED);

static bool is_stream(struct call *call, struct str path)
{
    const struct route *route;
    struct str params[ROUTE_MAX_PARAMS] = {{0}}, allow;
    struct uuid unused;
    if (route_find(call->arena, STR("GET"), path, &route, params, &allow) != ROUTE_FOUND ||
        !route_takes_ticket(route))
        return false;
    for (size_t i = 0; i < ROUTE_MAX_PARAMS && !str_is_none(params[i]); i++)
        if (!uuid_parse(params[i], &unused))
            return false;
    return true;
}

static enum error check_path(struct call *call, struct str path)
{
    if (is_stream(call, path))
        return OK;
    return problem_fault(
        &call->problem, STR("/path"), "must be the path of a stream or WebSocket, without a query");
}

enum error handle_ticket_create(struct call *call, struct context *c)
{
    const struct ticket_body *body = call->request.input;
    struct ticket_body created = {.ticket = {.path = body->ticket.path}};
    TRY(check_path(call, body->ticket.path));
    TRY(ticket_create(c, body->has_ttl_s ? body->ttl_s : TICKET_TTL_DEFAULT_S, &created.ticket));
    call_add_header(call, STR("Location"), created.ticket.path); /* what the ticket opens */
    return call_answer(call, &schema_ticket_created, &created, 0);
}
