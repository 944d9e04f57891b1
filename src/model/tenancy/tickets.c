/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/tickets.h"

#include "base/hash.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tickets.sql.h"

static const struct str PREFIX = {"cairn_ticket_", 13};

/* A client that creates tickets and does not use them is stopped. */
static enum error check_count(struct context *c, const struct ticket *ticket)
{
    struct query q;
    int64_t count;
    context_query(c, &q, &SQL_TICKET_COUNT);
    query_uuid(&q, key_id, ticket->key_id);
    query_text(&q, principal, ticket->principal);
    query_i64(&q, now, c->now_us);
    query_i64(&q, limit, TICKETS_MAX);
    TRY(context_number(&q, &count));
    if (count < TICKETS_MAX)
        return OK;
    return problem_set(c->problem, ERR_RATE_LIMITED,
        "the key has %d unused tickets for this principal, the maximum: use them or wait until "
        "they expire",
        TICKETS_MAX);
}

enum error ticket_create(struct context *c, int64_t ttl_s, struct ticket *ticket)
{
    struct query q;
    ticket->id = uuid_v7();
    ticket->key_id = c->actor == ACTOR_KEY ? c->key_id : UUID_NIL;
    ticket->principal = str_is_none(c->principal) ? STR("") : c->principal;
    ticket->expires_at = c->now_us + ttl_s * 1000000;
    TRY(check_count(c, ticket));
    ticket->ticket = key_secret_make(c->arena, PREFIX, c->tenant_id, ticket->id);
    struct sha256 hash = sha256_of(ticket->ticket);
    context_query(c, &q, &SQL_TICKET_INSERT);
    ticket_bind(&q, ticket);
    query_bytes(&q, secret_hash, (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    return query_run(&q);
}

bool ticket_is_well_formed(struct arena *arena, struct str ticket)
{
    struct uuid tenant_id, id;
    return key_secret_parse(arena, PREFIX, ticket, &tenant_id, &id);
}

enum error ticket_refuse(struct problem *problem)
{
    return problem_set(problem, ERR_UNAUTHENTICATED,
        "the ticket is unknown, used or expired, or was created for another path");
}

enum error ticket_check(
    struct context *c, struct str ticket, struct str path, struct ticket *out_ticket)
{
    struct sha256 hash = sha256_of(ticket);
    struct uuid tenant_id, id;
    struct str stored = STR_NONE;
    struct query q;
    if (!key_secret_parse(c->arena, PREFIX, ticket, &tenant_id, &id))
        return ticket_refuse(c->problem);
    context_enter(c, tenant_id);
    context_query(c, &q, &SQL_TICKET_GET);
    query_uuid(&q, id, id);
    if (query_next(&q)) {
        stored = row_bytes(&q);
        ticket_read(&q, out_ticket);
    }
    TRY(query_end(&q));
    bool is_right = stored.len == SHA256_LEN &&
                    bytes_eq_secret(stored.ptr, hash.bytes, SHA256_LEN) &&
                    out_ticket->expires_at > c->now_us && str_eq(out_ticket->path, path);
    return is_right ? OK : ticket_refuse(c->problem);
}

enum error ticket_use(struct context *c, struct uuid id)
{
    struct query q;
    int64_t deleted = 0;
    context_query(c, &q, &SQL_TICKET_DELETE);
    query_uuid(&q, id, id);
    TRY(query_run_counted(&q, &deleted));
    return deleted == 1 ? OK : ticket_refuse(c->problem);
}

/* --- The sweep ------------------------------------------------------------------------------ */

enum error ticket_any_expired(struct context *c, int64_t now_us, bool *out_any)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TICKET_EXPIRED, c->arena);
    query_i64(&q, now, now_us);
    *out_any = query_next(&q);
    return query_end(&q);
}

enum error ticket_sweep(struct context *c, int64_t now_us, size_t limit, bool *out_more)
{
    struct query q;
    int64_t deleted = 0;
    query_begin(&q, c->tx, &SQL_TICKET_SWEEP, c->arena);
    query_i64(&q, now, now_us);
    query_i64(&q, limit, (int64_t)limit);
    TRY(query_run_counted(&q, &deleted));
    *out_more = deleted == (int64_t)limit;
    return OK;
}
