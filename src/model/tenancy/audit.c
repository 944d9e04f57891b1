/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/audit.h"

#include "base/json/json_write.h"
#include "model/integrity.h"
#include "model/tenancy/audit.sql.h"

enum { WALK_PAGE = 500 };

static void read_row(struct query *q, struct audit_record *out, struct str *out_hash)
{
    audit_read(q, out);
    *out_hash = out->hash;
    out->hash = hex_encode(q->arena, out->hash);
}

/* Writes the hashed bytes: the previous hash, then the record as a JSON array. The form must never
 * change. */
static struct sha256 chain_hash(
    struct uuid tenant_id, struct str previous, const struct audit_record *r)
{
    struct buf text;
    buf_init(&text, 1024 * 1024);
    struct json_writer w;
    json_writer_init(&w, &text);
    json_write_array(&w);
    json_write_i64(&w, r->seq);
    json_write_i64(&w, r->at);
    json_write_string(&w, r->actor);
    json_write_string(&w, r->action);
    json_write_string(&w, r->object_type);
    json_write_string(&w, r->object_id);
    json_write_string(&w, r->request_id);
    json_write_string(&w, r->detail);
    json_write_end(&w);
    struct sha256_state *state = sha256_create();
    sha256_add(state, (struct str){(const char *)tenant_id.bytes, sizeof tenant_id.bytes});
    sha256_add(state, previous);
    sha256_add(state, buf_str(&text));
    buf_deinit(&text);
    return sha256_finish(state);
}

static struct str actor_text(struct context *c)
{
    char id[UUID_TEXT_LEN];
    switch (c->actor) {
    case ACTOR_KEY:
        uuid_format(c->key_id, id);
        if (!str_is_none(c->principal))
            return arena_printf(
                c->arena, "key:%.*s for %.*s", UUID_TEXT_LEN, id, STR_ARG(c->principal));
        return arena_printf(c->arena, "key:%.*s", UUID_TEXT_LEN, id);
    case ACTOR_SYSTEM:
        return STR("system");
    case ACTOR_OPEN:
        break;
    }
    if (!str_is_none(c->principal))
        return arena_printf(c->arena, "open for %.*s", STR_ARG(c->principal));
    return STR("open");
}

static bool is_known(const char *action)
{
#define AUDIT_ACTION(word) word,
    static const char *const words[] = {AUDIT_ACTIONS(AUDIT_ACTION)};
#undef AUDIT_ACTION
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(action, words[i]) == 0)
            return true;
    return false;
}

enum error audit_record(struct context *c, const char *action, const char *object_type,
    struct uuid object_id, struct str detail)
{
    struct str previous = STR("");
    int64_t seq = 0;
    struct query q;
    assert(is_known(action));
    TRY(context_lock_tenant(c));
    context_query(c, &q, &SQL_AUDIT_LAST);
    while (query_next(&q)) {
        seq = row_i64(&q);
        previous = row_bytes(&q);
    }
    TRY(query_end(&q));
    char id[UUID_TEXT_LEN];
    uuid_format(object_id, id);
    struct audit_record r = {.seq = seq + 1,
        .at = c->now_us,
        .actor = actor_text(c),
        .action = str_of(action),
        .object_type = str_of(object_type),
        .object_id = arena_str(c->arena, (struct str){id, sizeof id}),
        .request_id = c->request_id,
        .detail = str_is_none(detail) ? STR("{}") : detail};
    struct sha256 hash = chain_hash(c->tenant_id, previous, &r);
    r.hash = (struct str){(const char *)hash.bytes, sizeof hash.bytes};
    context_query(c, &q, &SQL_AUDIT_INSERT);
    audit_bind(&q, &r);
    return query_run(&q);
}

/* The first record has no previous hash; every other one must have one. */
static enum error check_row(
    struct context *c, const struct audit_record *r, struct str hash, struct str before)
{
    bool is_first = r->seq == 1, is_linked = is_first || before.len == SHA256_LEN;
    struct sha256 found = chain_hash(c->tenant_id, is_first ? STR("") : before, r);
    if (integrity_holds(c, hash, &found) && is_linked)
        return OK;
    return integrity_lost(c, "the audit record %lld, or the one before it,", (long long)r->seq);
}

enum error audit_list(struct context *c, const struct audit_filter *filter, struct page *page,
    struct audit_record *out_records)
{
    struct query q;
    enum error damage = OK;
    page_begin(c, &q, &SQL_AUDIT_LIST, page);
    query_i64_if(&q, before, filter->has_before, filter->before);
    query_text(&q, action, filter->action);
    query_text(&q, object_id, filter->object_id);
    while (damage == OK && page_next(&q, page)) {
        struct str hash;
        struct audit_record *r = &out_records[page->count++];
        read_row(&q, r, &hash);
        damage = check_row(c, r, hash, row_bytes(&q));
    }
    TRY(query_end(&q));
    return damage;
}

/* Checks one page of records; its memory is in `page`. */
static enum error verify_page(struct context *c, struct arena *page, int64_t *after,
    struct sha256 *previous, struct audit_verdict *verdict, bool *out_more)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_AUDIT_WALK, page);
    query_uuid(&q, tenant_id, c->tenant_id);
    query_i64(&q, after, *after);
    query_i64(&q, limit, WALK_PAGE);
    *out_more = false;
    while (verdict->intact && query_next(&q)) {
        struct audit_record r;
        struct str stored;
        read_row(&q, &r, &stored);
        struct str before = {(const char *)previous->bytes, *after == 0 ? 0 : SHA256_LEN};
        struct sha256 expected = chain_hash(c->tenant_id, before, &r);
        verdict->intact = r.seq == *after + 1 && integrity_holds(c, stored, &expected);
        if (!verdict->intact) {
            verdict->first_broken = r.seq == *after + 1 ? r.seq : *after + 1;
            break;
        }
        *after = r.seq;
        *previous = expected;
        verdict->records++;
        *out_more = true;
    }
    return query_end(&q);
}

enum error audit_verify(struct context *c, struct audit_verdict *out_verdict)
{
    struct sha256 previous = {{0}};
    int64_t after = 0;
    bool more = true;
    enum error e = OK;
    *out_verdict = (struct audit_verdict){.intact = true};
    while (e == OK && more && out_verdict->intact) {
        struct arena page;
        arena_init(&page, SIZE_MAX);
        e = verify_page(c, &page, &after, &previous, out_verdict, &more);
        arena_deinit(&page);
    }
    struct str head = {(const char *)previous.bytes, after == 0 ? 0 : SHA256_LEN};
    out_verdict->head = hex_encode(c->arena, head);
    return e;
}
