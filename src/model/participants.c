#include "model/participants.h"

#include "model/statements.h"

const char *const participant_roles[] = {"user", "assistant", NULL};
const char *const participant_permissions[] = {"read", "read_write", NULL};

static void read_row(struct context *c, struct query *q, struct participant *out)
{
    int64_t online_until;
    *out = (struct participant){0};
    out->id = row_uuid(q);
    out->thread_id = row_uuid(q);
    out->role = row_text(q);
    out->principal = row_text(q);
    out->name = row_text(q);
    out->image = row_text(q);
    out->status = row_text(q);
    out->permission = row_text(q);
    out->active = row_bool(q);
    out->online = row_i64_if(q, &online_until) && online_until > c->lease_now_us;
    out->metadata = row_text(q);
    out->created_at = row_i64(q);
    out->updated_at = row_i64(q);
    out->version = row_i64(q);
}

/* Reads and ends a query for at most one. */
static enum error read_one(
    struct context *c, struct query *q, bool *out_found, struct participant *out_participant)
{
    *out_found = query_next(q);
    if (*out_found)
        read_row(c, q, out_participant);
    return query_end(q);
}

enum error participant_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct participant *out_participant)
{
    struct query q;
    bool found;
    context_query(c, &q, &SQL_PARTICIPANT_GET);
    query_uuid(&q, "thread_id", thread_id);
    query_uuid(&q, "id", id);
    enum error e = read_one(c, &q, &found, out_participant);
    return e == OK && !found ? context_not_found(c, "participant", id) : e;
}

enum error participant_self(
    struct context *c, struct uuid thread_id, bool *out_found, struct participant *out_participant)
{
    struct query q;
    *out_found = false;
    if (str_is_none(c->principal))
        return OK;
    context_query(c, &q, &SQL_PARTICIPANT_BY_PRINCIPAL);
    query_uuid(&q, "thread_id", thread_id);
    query_text(&q, "principal", c->principal);
    return read_one(c, &q, out_found, out_participant);
}
