/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API keys. A key's secret is "cairn_" and 86 characters: the tenant, the key's id and 256 random
 * bits. The database holds its SHA-256 alone; the secret is shown once, when the key is made.
 * Revoked keys stay in the list, so the audit log keeps its names and "no key was ever made" stays
 * false.
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
    struct str principal; /* for whom it acts; STR_NONE: for the whole tenant */
    struct str secret;    /* only from key_create */
};

/* Makes the key that `key` describes (name, scopes, limit, expiry) for a tenant and fills the rest.
 */
MUST_CHECK enum error key_create(struct context *c, struct uuid tenant_id, struct api_key *key);
MUST_CHECK enum error key_get(struct context *c, struct uuid id, struct api_key *out_key);
MUST_CHECK enum error key_list(struct context *c, bool has_before, struct uuid before,
    struct page *page, struct api_key *out_keys);
/* Not the last key that could make another: a tenant that locks itself out stays locked out. */
MUST_CHECK enum error key_revoke(struct context *c, struct uuid id, struct api_key *out_key);

/* Whether a key was ever made, for any tenant. */
MUST_CHECK enum error key_any(struct context *c, bool *out_any);
/*
 * Finds out who holds the secret, and makes the context act for that tenant with that key's scopes.
 * On failure out_known tells whether it named a real key (revoked, expired, wrong secret), which
 * then is context.tenant_id and context.key_id: worth an audit record.
 */
MUST_CHECK enum error key_authenticate(
    struct context *c, struct str secret, struct api_key *out_key, bool *out_known);

/* For store_config.free_memo: the keys that the jobs of one transaction have looked at. */
void key_memo_free(void *memo);

#endif
