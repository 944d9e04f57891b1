/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/keys.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/keys.sql.h"
#include "model/threads/events.h"
#include "model/threads/participants.h"

enum { SECRET_RANDOM_BYTES = 32, SECRET_BYTES = 16 + 16 + SECRET_RANDOM_BYTES };

static const struct str SECRET_PREFIX = {"cairn_", 6};

static struct str encode_scopes(struct arena *arena, const struct str_list *scopes)
{
    struct json_text text;
    json_text_init(&text, 4096);
    json_write_array(&text.w);
    for (size_t i = 0; i < scopes->count; i++)
        json_write_string(&text.w, scopes->items[i]);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static struct str_list decode_scopes(struct arena *arena, struct str text)
{
    struct json_doc doc;
    struct json_error unused;
    struct str_list scopes = {0};
    if (!json_parse(arena, text, &doc, &unused))
        return scopes;
    scopes.items = ARENA_ARRAY(arena, struct str, json_count(json_root(&doc)));
    struct json_iter it = json_iter(json_root(&doc));
    struct json item;
    while (json_next(&it, NULL, &item))
        scopes.items[scopes.count++] = json_string(arena, item);
    return scopes;
}

static void read_row(struct query *q, struct api_key *out)
{
    key_read(q, out);
    out->scopes = decode_scopes(q->arena, row_text(q));
}

struct str key_secret_make(
    struct arena *arena, struct str prefix, struct uuid tenant_id, struct uuid id)
{
    char bytes[SECRET_BYTES];
    memcpy(bytes, tenant_id.bytes, 16);
    memcpy(bytes + 16, id.bytes, 16);
    random_bytes(bytes + 32, SECRET_RANDOM_BYTES);
    struct str text = base64url_encode(arena, (struct str){bytes, sizeof bytes});
    return arena_printf(arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(text));
}

bool key_secret_parse(struct arena *arena, struct str prefix, struct str secret,
    struct uuid *out_tenant_id, struct uuid *out_id)
{
    struct str bytes;
    if (!str_starts_with(secret, prefix) || secret.len > 128)
        return false;
    if (!base64url_decode(arena, str_slice(secret, prefix.len, secret.len), &bytes))
        return false;
    if (bytes.len != SECRET_BYTES)
        return false;
    memcpy(out_tenant_id->bytes, bytes.ptr, 16);
    memcpy(out_id->bytes, bytes.ptr + 16, 16);
    return true;
}

static unsigned scope_bits(const struct str_list *scopes)
{
    unsigned bits = 0;
    for (size_t i = 0; i < scopes->count; i++)
        bits |= scope_parse(scopes->items[i]);
    return bits;
}

/* --- Permission to create and revoke keys --------------------------------------------------- */

static enum error check_scopes(struct context *c, struct uuid tenant_id, const struct api_key *key)
{
    for (size_t i = 0; i < key->scopes.count; i++) {
        bool is_operator = scope_parse(key->scopes.items[i]) == SCOPE_OPERATOR;
        if (is_operator && !uuid_eq(tenant_id, DEFAULT_TENANT_ID))
            return problem_fault(c->problem, arena_printf(c->arena, "/scopes/%zu", i),
                "must not be operator: only keys of the default tenant can have this scope");
        if (is_operator && !(c->scopes & SCOPE_OPERATOR))
            return problem_set(
                c->problem, ERR_FORBIDDEN, "a key without the scope operator cannot grant it");
    }
    if (key->has_expires_at && key->expires_at <= c->now_us)
        return problem_fault(c->problem, STR("/expires_at"), "must be in the future");
    return OK;
}

/* A key that acts for a principal cannot manage keys or tenants. */
static enum error check_principal(struct context *c, const struct api_key *key)
{
    if (str_is_none(key->principal))
        return OK;
    for (size_t i = 0; i < key->scopes.count; i++)
        if (scope_parse(key->scopes.items[i]) & (SCOPE_ADMIN | SCOPE_OPERATOR))
            return problem_fault(c->problem, arena_printf(c->arena, "/scopes/%zu", i),
                "must not be given for a key with a principal: %.*s",
                STR_ARG(key->scopes.items[i]));
    return principal_check(c, key->principal, STR("/principal"));
}

/* A request without a key is allowed while no key exists. Another node may have created the first
 * key meanwhile: then this job runs again, and is rejected. */
static enum error check_still_open(struct context *c)
{
    bool any = false;
    if (!tx_is_shared(c->tx))
        return OK;
    enum error e = context_lock_tenant(c);
    tx_drop_memo(c->tx); /* read before the lock */
    if (e == OK)
        e = key_any(c, &any);
    return e == OK && any ? tx_run_again(c->tx) : e;
}

/* The first key ends access without a key. If it could not create keys, or expired, no other key
 * could ever be created. */
static enum error check_first(struct context *c, const struct api_key *key)
{
    if (c->actor != ACTOR_OPEN)
        return OK;
    TRY(check_still_open(c));
    if (!(scope_bits(&key->scopes) & SCOPE_OPERATOR))
        return problem_fault(c->problem, STR("/scopes"),
            "must include operator for the first key, which creates all others");
    if (key->has_expires_at)
        return problem_fault(c->problem, STR("/expires_at"),
            "must be absent for the first key, which creates all others");
    return OK;
}

static enum error another_holds(
    struct context *c, struct uuid except, unsigned scope, bool *out_holds)
{
    struct query q;
    context_query(c, &q, &SQL_KEY_LASTING_SCOPES);
    query_uuid(&q, except, except);
    *out_holds = false;
    while (!*out_holds && query_next(&q)) {
        struct str_list scopes = decode_scopes(c->arena, row_text(&q));
        *out_holds = (scopes_effective(scope_bits(&scopes)) & scope) != 0;
    }
    return query_end(&q);
}

static enum error check_revocable(struct context *c, const struct api_key *key)
{
    unsigned scopes = scope_bits(&key->scopes) & (SCOPE_OPERATOR | SCOPE_ADMIN);
    if ((scopes & SCOPE_OPERATOR) && !(c->scopes & SCOPE_OPERATOR))
        return problem_set(c->problem, ERR_FORBIDDEN,
            "a key without the scope operator cannot revoke a key that has it");
    if (scopes == 0)
        return OK;
    enum scope scope = scopes & SCOPE_OPERATOR ? SCOPE_OPERATOR : SCOPE_ADMIN;
    bool holds;
    TRY(another_holds(c, key->id, scope, &holds));
    if (holds)
        return OK;
    return problem_set(c->problem, ERR_CONFLICT,
        "this is the last key without an expiry that has the scope %s: create another one first",
        scope_name(scope));
}

/* --- Create, read, revoke ------------------------------------------------------------------- */

static struct str describe(struct arena *arena, const struct api_key *key)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("name"));
    json_write_string(&text.w, key->name);
    json_write_key(&text.w, STR("scopes"));
    json_write_raw(&text.w, encode_scopes(arena, &key->scopes));
    if (!str_is_none(key->principal)) {
        json_write_key(&text.w, STR("principal"));
        json_write_string(&text.w, key->principal);
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error insert(struct context *c, struct uuid tenant_id, const struct api_key *key)
{
    struct context theirs = *c;
    struct sha256 hash = sha256_of(key->secret);
    struct query q;
    context_enter(&theirs, tenant_id);
    context_query(&theirs, &q, &SQL_KEY_INSERT);
    key_bind(&q, key);
    query_bytes(&q, secret_hash, (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    query_text(&q, scopes, encode_scopes(c->arena, &key->scopes));
    query_i64(&q, now, c->now_us);
    enum error e = query_run(&q);
    context_enter(c, c->tenant_id);
    return e;
}

enum error key_create(struct context *c, struct uuid tenant_id, struct api_key *key)
{
    TRY(check_scopes(c, tenant_id, key));
    TRY(check_principal(c, key));
    TRY(check_first(c, key));
    key->id = uuid_v7();
    key->secret = key_secret_make(c->arena, SECRET_PREFIX, tenant_id, key->id);
    key->created_at = c->now_us;
    enum error e = insert(c, tenant_id, key);
    tx_drop_memo(c->tx);
    /* Streams that were opened without a key lose their access. */
    if (e == OK && c->actor == ACTOR_OPEN)
        event_publish_access_ended(c, tenant_id, UUID_NIL);
    return e == OK ? audit_record(c, "key.created", "key", key->id, describe(c->arena, key)) : e;
}

enum error key_get(struct context *c, struct uuid id, struct api_key *out_key)
{
    struct query q;
    context_query(c, &q, &SQL_KEY_GET);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_key);
    TRY(query_end(&q));
    return !found ? context_not_found(c, "key", id) : OK;
}

enum error key_list(struct context *c, bool has_before, struct uuid before, struct page *page,
    struct api_key *out_keys)
{
    struct query q;
    page_begin(c, &q, &SQL_KEY_LIST, page);
    query_uuid_if(&q, before, has_before, before);
    while (page_next(&q, page))
        read_row(&q, &out_keys[page->count++]);
    return query_end(&q);
}

enum error key_revoke(struct context *c, struct uuid id, struct api_key *out_key)
{
    struct api_key key;
    TRY(context_lock_tenant(c));
    TRY(key_get(c, id, &key));
    if (key.is_revoked) {
        *out_key = key;
        return OK;
    }
    TRY(check_revocable(c, &key));
    struct query q;
    context_query(c, &q, &SQL_KEY_REVOKE);
    query_uuid(&q, id, id);
    /* Other nodes find recently revoked keys by the clock of the database (tail.c). */
    query_i64(&q, now, tx_is_shared(c->tx) ? c->lease_now_us : c->now_us);
    enum error e = query_run(&q);
    tx_drop_memo(c->tx);
    if (e != OK)
        return e;
    TRY(audit_record(c, "key.revoked", "key", id, describe(c->arena, &key)));
    event_publish_access_ended(c, c->tenant_id, id);
    return key_get(c, id, out_key);
}

/* --- Authentication ------------------------------------------------------------------------- */

/* The keys that this transaction has read: most jobs of a batch have the same key. */
enum { MEMO_KEYS = 16 };

struct key_memo {
    struct arena arena;
    bool has_any;
    bool any;
    size_t count;
    struct {
        struct uuid tenant_id;
        struct uuid id;
        struct str hash; /* STR_NONE: the key does not exist */
        struct api_key key;
    } keys[MEMO_KEYS];
};

void key_memo_free(void *memo)
{
    struct key_memo *m = memo;
    arena_deinit(&m->arena);
    mem_free(m);
}

static struct key_memo *memo_of(struct context *c)
{
    void **memo = tx_memo(c->tx);
    if (*memo == NULL) {
        struct key_memo *m = MEM_NEW(struct key_memo);
        arena_init(&m->arena, SIZE_MAX);
        *memo = m;
    }
    return *memo;
}

enum error key_any(struct context *c, bool *out_any)
{
    struct key_memo *m = memo_of(c);
    if (!m->has_any) {
        struct query q;
        context_enter_system(c);
        query_begin(&q, c->tx, &SQL_KEY_ANY, c->arena);
        m->any = query_next(&q);
        enum error e = query_end(&q);
        context_enter(c, c->tenant_id);
        if (e != OK)
            return e;
        m->has_any = true;
    }
    *out_any = m->any;
    return OK;
}

/* Reads the stored hash and the other members of the context's key. */
static enum error find_secret(struct context *c, struct str *out_hash, struct api_key *out_key)
{
    struct key_memo *m = memo_of(c);
    size_t i = 0;
    while (i < m->count &&
           !(uuid_eq(m->keys[i].id, c->key_id) && uuid_eq(m->keys[i].tenant_id, c->tenant_id)))
        i++;
    if (i == m->count) {
        struct query q;
        if (i == MEMO_KEYS)
            i = m->count = 0;
        m->keys[i].tenant_id = c->tenant_id;
        m->keys[i].id = c->key_id;
        m->keys[i].hash = STR_NONE;
        query_begin(&q, c->tx, &SQL_KEY_SECRET, &m->arena);
        query_uuid(&q, tenant_id, c->tenant_id);
        query_uuid(&q, id, c->key_id);
        if (query_next(&q)) {
            m->keys[i].hash = row_bytes(&q);
            read_row(&q, &m->keys[i].key);
            key_quotas_read(&q, &m->keys[i].key.quotas);
        }
        TRY(query_end(&q));
        m->count = i + 1;
    }
    *out_hash = m->keys[i].hash;
    *out_key = m->keys[i].key;
    return OK;
}

static enum error judge(struct context *c, const struct api_key *key)
{
    if (key->is_revoked)
        return problem_set(c->problem, ERR_UNAUTHENTICATED, "the API key was revoked");
    if (key->has_expires_at && key->expires_at <= c->now_us)
        return problem_set(c->problem, ERR_KEY_EXPIRED, "the API key has expired");
    c->actor = ACTOR_KEY;
    c->scopes = scopes_effective(scope_bits(&key->scopes));
    c->principal = arena_str(c->arena, key->principal);
    c->quotas = key->quotas;
    return OK;
}

enum error key_authenticate(
    struct context *c, struct str secret, struct api_key *out_key, bool *out_known)
{
    struct str stored = STR_NONE;
    struct uuid tenant_id;
    *out_known = false;
    if (key_secret_parse(c->arena, SECRET_PREFIX, secret, &tenant_id, &c->key_id)) {
        context_enter(c, tenant_id);
        TRY(find_secret(c, &stored, out_key));
    }
    struct sha256 hash = sha256_of(secret);
    *out_known = stored.len == SHA256_LEN;
    if (*out_known && bytes_eq_secret(stored.ptr, hash.bytes, SHA256_LEN))
        return judge(c, out_key);
    return problem_set(c->problem, ERR_UNAUTHENTICATED, "the API key is unknown");
}

enum error key_enter(struct context *c, struct uuid key_id, struct api_key *out_key)
{
    struct str stored;
    c->key_id = key_id;
    TRY(find_secret(c, &stored, out_key));
    if (str_is_none(stored))
        return problem_set(c->problem, ERR_UNAUTHENTICATED, "the API key is unknown");
    return judge(c, out_key);
}
