#include "model/context.h"

#include "base/clock.h"

const char *const scope_names[SCOPE_COUNT + 1] = {
#define SCOPE_NAME(name, text) [name##_BIT] = text,
    SCOPE_TABLE(SCOPE_NAME)
#undef SCOPE_NAME
};

const char *scope_name(enum scope scope)
{
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++)
        if ((unsigned)scope == 1u << bit)
            return scope_names[bit];
    return "none";
}

unsigned scopes_effective(unsigned scopes)
{
    if (scopes & SCOPE_OPERATOR)
        return (1u << SCOPE_COUNT) - 1;
    if (scopes & SCOPE_ADMIN)
        return ((1u << SCOPE_COUNT) - 1) & ~(unsigned)SCOPE_OPERATOR;
    return scopes;
}

const struct uuid DEFAULT_TENANT_ID = {
    {0x01, 0x8f, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x01}};

void context_init(struct context *c, struct arena *arena, struct problem *problem, struct tx *tx)
{
    *c = (struct context){.arena = arena,
        .problem = problem,
        .tx = tx,
        .request_id = STR(""),
        .now_us = clock_wall_us(),
        .lease_now_us = clock_lease_us()};
}

void context_query(struct context *c, struct query *q, const struct sql_statement *statement)
{
    query_begin(q, c->tx, statement, c->arena);
    query_uuid(q, "tenant_id", c->tenant_id);
}

enum error context_not_found(struct context *c, const char *what, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    return problem_set(c->problem, ERR_NOT_FOUND, "there is no %s %.*s", what, UUID_TEXT_LEN, text);
}

enum error context_check_match(struct context *c, int64_t version)
{
    if (!c->has_match || c->match_version == version)
        return OK;
    return problem_set(
        c->problem, ERR_STALE, "If-Match must be the object's ETag: \"%lld\"", (long long)version);
}
