/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/fsck.h"

#include "model/tenancy/audit.h"
#include "model/upkeep/fsck.sql.h"
#include "model/upkeep/fsck_walk.h"

enum { KEYS_A_PAGE = 200, ANSWERS_A_PAGE = 200, TENANTS_A_PAGE = 500 };

/* --- Shared by the walks -------------------------------------------------------------------- */

struct str fsck_object(struct fsck_walk *w, const char *what, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    return arena_printf(w->page, "%s %.*s", what, UUID_TEXT_LEN, text);
}

bool fsck_is_known(struct str word, const char *const *known)
{
    for (size_t i = 0; known[i] != NULL; i++)
        if (str_eq(word, str_of(known[i])))
            return true;
    return false;
}

bool fsck_json(
    struct fsck_walk *w, struct str object, const char *column, struct str text, struct json *out)
{
    struct json_doc *doc = ARENA_NEW(w->page, struct json_doc);
    struct json_error error;
    if (str_is_none(text))
        return false;
    if (!json_parse(w->page, text, doc, &error)) {
        fsck_found(w->fsck, "json", object, "%s is not valid JSON: %s, at byte %zu", column,
            error.rule, error.offset);
        return false;
    }
    *out = json_root(doc);
    return true;
}

void fsck_begin(struct fsck_walk *w, struct query *q, const struct sql_statement *statement)
{
    query_begin(q, w->c->tx, statement, w->page);
}

enum error fsck_step(struct fsck_walk *w, const char *stage, uint64_t done, uint64_t total)
{
    progress_report(w->fsck->progress, stage, done, total);
    if (!progress_is_cancelled(w->fsck->progress))
        return OK;
    return problem_set(w->c->problem, ERR_CANCELLED, "the check was cancelled");
}

enum error fsck_pages(struct fsck_walk *w, const char *stage, uint64_t total, fsck_page *read_page,
    uint64_t *out_rows)
{
    enum error e = OK;
    bool more = true;
    w->after_tenant = w->after_id = UUID_NIL;
    w->after_route = w->after_key = STR("");
    *out_rows = 0;
    while (e == OK && more) {
        struct arena page;
        size_t rows = 0;
        arena_init(&page, SIZE_MAX);
        w->page = &page;
        e = read_page(w, &rows, &more);
        w->page = NULL;
        arena_deinit(&page);
        *out_rows += rows;
        if (e == OK)
            e = fsck_step(w, stage, *out_rows, total);
    }
    return e;
}

/* --- Keys ----------------------------------------------------------------------------------- */

static void fsck_scopes(struct fsck_walk *w, struct str object, struct json scopes)
{
    struct json_iter it = json_iter(scopes);
    struct json scope;
    while (json_next(&it, NULL, &scope))
        if (json_type(scope) != JSON_STRING ||
            !fsck_is_known(json_string(w->page, scope), scope_names))
            fsck_found(
                w->fsck, "key-scopes", object, "unknown scope: %.*s", STR_ARG(json_raw(scope)));
}

static enum error read_keys(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_KEYS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, KEYS_A_PAGE);
    for (; query_next(&q); ++*out_rows) {
        struct json scopes;
        w->after_tenant = row_uuid(&q);
        w->after_id = row_uuid(&q);
        struct str object = fsck_object(w, "key", w->after_id);
        if (fsck_json(w, object, "scopes", row_text(&q), &scopes))
            fsck_scopes(w, object, scopes);
        if (row_bytes(&q).len != SHA256_LEN)
            fsck_found(w->fsck, "key-secret", object, "the hash of the secret is not a SHA-256");
    }
    *out_more = *out_rows == KEYS_A_PAGE;
    return query_end(&q);
}

/* --- Answers under idempotency keys --------------------------------------------------------- */

static void read_answer(struct fsck_walk *w, struct query *q)
{
    struct json headers;
    w->after_tenant = row_uuid(q);
    struct str route = row_text(q), key = row_text(q);
    struct str object =
        arena_printf(w->page, "idempotency key %.*s of %.*s", STR_ARG(key), STR_ARG(route));
    if (row_bytes(q).len != SHA256_LEN)
        fsck_found(w->fsck, "answer", object, "the hash of the request is not a SHA-256");
    int64_t status = row_i64(q);
    if (status < 100 || status > 599)
        fsck_found(
            w->fsck, "answer", object, "the status %lld is not an HTTP status", (long long)status);
    fsck_json(w, object, "headers", row_text(q), &headers);
    /* The copies outlive the page. */
    w->after_route = arena_str(w->c->arena, route);
    w->after_key = arena_str(w->c->arena, key);
}

static enum error read_answers(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct query q;
    struct str route = arena_str(w->page, w->after_route), key = arena_str(w->page, w->after_key);
    arena_clear(w->c->arena);
    fsck_begin(w, &q, &SQL_FSCK_ANSWERS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_text(&q, route, route);
    query_text(&q, key, key);
    query_i64(&q, limit, ANSWERS_A_PAGE);
    for (; query_next(&q); ++*out_rows)
        read_answer(w, &q);
    *out_more = *out_rows == ANSWERS_A_PAGE;
    return query_end(&q);
}

/* --- Tenants and their audit log ------------------------------------------------------------ */

static void check_counter(struct fsck_walk *w, const char *quota, int64_t excess)
{
    if (excess != 0)
        fsck_found(w->fsck, "tenant-usage", fsck_object(w, "tenant", w->after_id),
            "the counter of the quota %s differs from the stored objects by %lld: remove the "
            "quota and set it again",
            quota, (long long)excess);
}

static enum error read_tenants(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_TENANTS);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, TENANTS_A_PAGE);
    for (; query_next(&q); ++*out_rows) {
        w->after_id = row_uuid(&q);
        check_counter(w, "threads", row_i64(&q));
        check_counter(w, "bytes", row_i64(&q));
    }
    *out_more = *out_rows == TENANTS_A_PAGE;
    return query_end(&q);
}

/* A page is the chain of one tenant. */
static enum error read_audited(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct query q;
    struct audit_verdict verdict = {0};
    context_enter_system(w->c);
    fsck_begin(w, &q, &SQL_FSCK_AUDITED);
    query_uuid(&q, after_tenant, w->after_tenant);
    *out_more = query_next(&q);
    if (*out_more)
        w->after_tenant = row_uuid(&q);
    enum error e = query_end(&q);
    if (e != OK || !*out_more)
        return e;
    context_enter(w->c, w->after_tenant);
    e = audit_verify(w->c, &verdict);
    *out_rows = (size_t)verdict.records;
    if (e == OK && !verdict.intact)
        fsck_found(w->fsck, "audit-chain", fsck_object(w, "tenant", w->after_tenant),
            "record %lld is missing or was changed", (long long)verdict.first_broken);
    context_enter_system(w->c);
    return e;
}

/* --- All of it ------------------------------------------------------------------------------ */

static enum error fsck_floor(struct fsck_walk *w)
{
    struct query q;
    int64_t rows = 1;
    query_begin(&q, w->c->tx, &SQL_FSCK_FLOOR, w->c->arena);
    TRY(context_number(&q, &rows));
    if (rows != 1)
        fsck_found(w->fsck, "event-floor", STR("database"),
            "event_floor must have one row, but has %lld", (long long)rows);
    return OK;
}

static const struct {
    const char *table;
    const char *stage;
    fsck_page *read_page;
} WALKS[] = {
    {"tenants", "checking tenants", read_tenants},
    {"api_keys", "checking keys", read_keys},
    {"audit_log", "checking the audit log", read_audited},
    {"threads", "checking threads", fsck_read_threads},
    {"runs", "checking runs", fsck_read_runs},
    {"idempotency_keys", "checking answers", read_answers},
    {"blobs", "checking the content of files", fsck_read_blobs},
    {"snapshots", "checking snapshots", fsck_read_snapshots},
    {"items", "checking items", fsck_read_items},
};

/* The number of rows if the engine has already counted them, else 0: counting would read the whole
 * table once more. */
static uint64_t total_of(const struct contents *contents, const char *table)
{
    for (size_t i = 0; i < contents->n_tables; i++)
        if (str_eq(contents->tables[i].name, str_of(table)))
            return contents->tables[i].rows;
    return 0;
}

static enum error walk_all(struct fsck_walk *w)
{
    bool has_counts = w->fsck->contents.n_tables > 0;
    for (size_t i = 0; i < COUNT_OF(WALKS); i++) {
        uint64_t rows = 0;
        uint64_t total = total_of(&w->fsck->contents, WALKS[i].table);
        TRY(fsck_pages(w, WALKS[i].stage, total, WALKS[i].read_page, &rows));
        if (!has_counts)
            fsck_count(w->fsck, WALKS[i].table, rows);
    }
    if (!has_counts && !w->fsck->quick)
        fsck_count(w->fsck, "events", w->n_events);
    return OK;
}

enum error model_fsck(struct fsck *fsck, struct tx *tx, struct problem *problem)
{
    struct arena arena CLEANUP(arena_deinit);
    struct context c;
    arena_init(&arena, SIZE_MAX);
    context_init(&c, &arena, problem, tx);
    c.actor = ACTOR_SYSTEM;
    context_enter_system(&c);
    struct fsck_walk w = {.fsck = fsck, .c = &c};
    TRY(walk_all(&w));
    TRY(fsck_relations(&w));
    return fsck_floor(&w);
}
