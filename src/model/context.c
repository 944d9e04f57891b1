/* SPDX-License-Identifier: Apache-2.0 */
#include "model/context.h"

#include "base/clock.h"
#include "model/execution/runs.sql.h"
#include "model/tenancy/tenants.sql.h"
#include "model/threads/threads.sql.h"

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

enum scope scope_parse(struct str name)
{
    unsigned value = enum_parse(scope_names, name);
    return value == 0 ? SCOPE_NONE : (enum scope)(1u << (value - 1));
}

enum scope scope_to_read(enum scope scope)
{
    struct str name = str_of(scope_name(scope));
    struct str object = str_slice(name, 0, str_find(name, ':'));
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++) {
        struct str other = str_of(scope_names[bit]);
        if (str_ends_with(other, STR(":read")) &&
            str_eq(str_slice(other, 0, str_find(other, ':')), object))
            return (enum scope)(1u << bit);
    }
    return scope;
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
        .principal = STR_NONE,
        .now_us = clock_wall_us(),
        .lease_now_us = tx != NULL ? tx_lease_now_us(tx) : clock_lease_us()};
}

void context_enter(struct context *c, struct uuid tenant_id)
{
    if (!uuid_eq(c->tenant_id, tenant_id)) {
        c->locked_thread = UUID_NIL;
        c->has_locked_tenant = false;
        c->quotas = (struct quota_limits){0};
    }
    c->tenant_id = tenant_id;
    if (c->tx != NULL)
        tx_enter_tenant(c->tx, tenant_id);
}

void context_enter_system(struct context *c)
{
    tx_enter_system(c->tx);
}

static enum error lock(struct context *c, const struct sql_statement *statement, struct uuid id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return query_run(&q);
}

bool context_may_index(const struct context *c)
{
    return c->indexed_words < CONTEXT_WORDS_AT_ONCE;
}

enum error context_lock_thread(struct context *c, struct uuid thread_id)
{
    if (!tx_is_shared(c->tx) || uuid_eq(c->locked_thread, thread_id))
        return OK;
    c->locked_thread = thread_id;
    return lock(c, &SQL_THREAD_LOCK, thread_id);
}

enum error context_lock_threads(struct context *c, struct uuid a, struct uuid b)
{
    bool in_order = uuid_cmp(a, b) <= 0;
    TRY(context_lock_thread(c, in_order ? a : b));
    return context_lock_thread(c, in_order ? b : a);
}

enum error context_lock_run(struct context *c, struct uuid run_id)
{
    if (!tx_is_shared(c->tx) || !uuid_is_nil(c->locked_thread))
        return OK;
    return lock(c, &SQL_RUN_LOCK, run_id);
}

enum error context_lock_tenant(struct context *c)
{
    if (!tx_is_shared(c->tx) || c->has_locked_tenant)
        return OK;
    c->has_locked_tenant = true;
    struct query q;
    context_query(c, &q, &SQL_TENANT_LOCK);
    return query_run(&q);
}

void context_query(struct context *c, struct query *q, const struct sql_statement *statement)
{
    query_begin(q, c->tx, statement, c->arena);
    query_uuid(q, tenant_id, c->tenant_id);
}

enum error context_owned_ids(struct query *q, struct owned_id *out_found, size_t *out_count)
{
    for (*out_count = 0; query_next(q); ++*out_count) {
        out_found[*out_count].tenant_id = row_uuid(q);
        out_found[*out_count].id = row_uuid(q);
    }
    return query_end(q);
}

int64_t context_due_now_us(const struct context *c)
{
    return tx_is_shared(c->tx) ? c->lease_now_us : c->now_us;
}

int64_t context_cautious_now_us(const struct context *c)
{
    return c->now_us < c->lease_now_us ? c->now_us : c->lease_now_us;
}

enum error context_number(struct query *q, int64_t *out_number)
{
    *out_number = 0;
    while (query_next(q))
        *out_number = row_i64(q);
    return query_end(q);
}

enum error context_not_found(struct context *c, const char *what, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    return problem_set(
        c->problem, ERR_NOT_FOUND, "the %s %.*s does not exist", what, UUID_TEXT_LEN, text);
}

void context_match_only(struct context *c, int64_t version)
{
    int64_t *versions = ARENA_NEW(c->arena, int64_t);
    *versions = version;
    c->has_match = true;
    c->match_versions = versions;
    c->n_match_versions = 1;
}

bool context_matches(const struct context *c, int64_t version)
{
    for (size_t i = 0; c->has_match && i < c->n_match_versions; i++)
        if (c->match_versions[i] == version)
            return true;
    return !c->has_match;
}

enum error context_check_match(struct context *c, int64_t version)
{
    if (context_matches(c, version))
        return OK;
    return problem_set(
        c->problem, ERR_STALE, "If-Match must be the object's ETag: \"%lld\"", (long long)version);
}
