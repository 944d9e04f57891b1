/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/tickets.h"

#include "base/hash.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tickets.sql.h"

static const struct str PREFIX = {"cairn_ticket_", 13};

/* A client that creates tickets and does not use them is stopped. */
static enum error check_count(struct context *c)
{
    struct query q;
    int64_t count;
    context_query(c, &q, &SQL_TICKET_FORGET_EXPIRED);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_TICKET_COUNT);
    TRY(context_number(&q, &count));
    if (count < TICKETS_MAX)
        return OK;
    return problem_set(c->problem, ERR_RATE_LIMITED,
        "the tenant has %d unused tickets, the maximum: use them or wait until they expire",
        TICKETS_MAX);
}

enum error ticket_create(struct context *c, int64_t ttl_s, struct ticket *ticket)
{
    struct query q;
    TRY(check_count(c));
    ticket->id = uuid_v7();
    ticket->has_key_id = c->actor == ACTOR_KEY;
    ticket->key_id = c->key_id;
    ticket->principal = c->principal;
    ticket->expires_at = c->now_us + ttl_s * 1000000;
    ticket->ticket = key_secret_make(c->arena, PREFIX, c->tenant_id, ticket->id);
    struct sha256 hash = sha256_of(ticket->ticket);
    context_query(c, &q, &SQL_TICKET_INSERT);
    ticket_bind(&q, ticket);
    query_bytes(&q, secret_hash, (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    return query_run(&q);
}

/* One answer for every reason, so that a ticket cannot be examined. */
static enum error refuse(struct context *c)
{
    return problem_set(c->problem, ERR_UNAUTHENTICATED,
        "the ticket is unknown, used or expired, or was created for another path");
}

static enum error delete (struct context *c, struct uuid id) {
    struct query q; context_query(c, &q, &SQL_TICKET_DELETE); query_uuid(&q, id, id);
    return query_run(&q);
}

enum error ticket_redeem(
    struct context *c, struct str ticket, struct str path, struct ticket *out_ticket)
{
    struct sha256 hash = sha256_of(ticket);
    struct uuid tenant_id, id;
    struct str stored = STR_NONE;
    struct query q;
    if (!key_secret_parse(c->arena, PREFIX, ticket, &tenant_id, &id))
        return refuse(c);
    context_enter(c, tenant_id);
    context_query(c, &q, &SQL_TICKET_GET);
    query_uuid(&q, id, id);
    if (query_next(&q)) {
        stored = row_bytes(&q);
        ticket_read(&q, out_ticket);
    }
    TRY(query_end(&q));
    if (stored.len != SHA256_LEN || !bytes_eq_secret(stored.ptr, hash.bytes, SHA256_LEN) ||
        out_ticket->expires_at <= c->now_us || !str_eq(out_ticket->path, path))
        return refuse(c);
    return delete (c, id);
}
