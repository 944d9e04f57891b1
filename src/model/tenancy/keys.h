/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API keys. The secret of a key is "cairn_" and 86 characters: the tenant, the id of the key and
 * 256 random bits. The database has only its SHA-256; the secret is returned once, when the key is
 * created. The rows of revoked keys remain, because the audit log refers to them and because access
 * without a key ends for good with the first key.
 */
#ifndef MODEL_TENANCY_KEYS_H
#define MODEL_TENANCY_KEYS_H

#include "base/schema.h"
#include "model/context.h"

struct api_key {
    struct uuid id;
    struct str name;
    struct str_list scopes;
    bool has_rate_limit;
    int64_t rate_limit_per_minute;
    bool has_expires_at;
    int64_t expires_at;
    bool is_revoked;
    int64_t revoked_at;
    int64_t created_at;
    struct str principal;       /* the principal that it acts for; STR_NONE: the tenant */
    struct str secret;          /* only set by key_create */
    struct quota_limits quotas; /* of the tenant; only set by key_authenticate and key_enter */
};

/* Creates the key that `key` describes (name, scopes, principal, limit, expiry) for a tenant, and
 * sets its other members. */
MUST_CHECK enum error key_create(struct context *c, struct uuid tenant_id, struct api_key *key);
MUST_CHECK enum error key_get(struct context *c, struct uuid id, struct api_key *out_key);
MUST_CHECK enum error key_list(struct context *c, bool has_before, struct uuid before,
    struct page *page, struct api_key *out_keys);
/* Rejects the last key that can create keys, because the tenant would be locked out. */
MUST_CHECK enum error key_revoke(struct context *c, struct uuid id, struct api_key *out_key);

/* out_any is true if any tenant ever had a key. */
MUST_CHECK enum error key_any(struct context *c, bool *out_any);
/*
 * Finds the key of the secret, and sets the tenant, the key and the scopes of the context. On
 * failure out_known is true if the key exists, but is revoked, expired or has another secret:
 * context.tenant_id and context.key_id are set, and the caller writes an audit record.
 */
MUST_CHECK enum error key_authenticate(
    struct context *c, struct str secret, struct api_key *out_key, bool *out_known);

/* Sets the context to act for a key of its tenant, which a ticket names. ERR_UNAUTHENTICATED: the
 * key does not exist or was revoked. */
MUST_CHECK enum error key_enter(struct context *c, struct uuid key_id, struct api_key *out_key);

/* A secret: the prefix, and as text the tenant, the id of the object and 256 random bits. */
struct str key_secret_make(
    struct arena *arena, struct str prefix, struct uuid tenant_id, struct uuid id);
MUST_CHECK bool key_secret_parse(struct arena *arena, struct str prefix, struct str secret,
    struct uuid *out_tenant_id, struct uuid *out_id);

/* For store_config.free_memo: frees the keys that the jobs of a transaction have read. */
void key_memo_free(void *memo);

#endif
