/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tenants of keys that were used lately, so that the work of a request can be accounted to a
 * tenant before a job has authenticated it. Never a proof of identity: a revoked key is still known
 * here. Any thread may call these functions.
 */
#ifndef API_HTTP_KNOWN_KEYS_H
#define API_HTTP_KNOWN_KEYS_H

#include "base/str.h"
#include "base/uuid.h"

struct known_keys;
struct known_keys *known_keys_create(void);
void known_keys_destroy(struct known_keys *k);

/* Call it after the key has been authenticated. */
void known_keys_learn(struct known_keys *k, struct str secret, struct uuid tenant_id);
/* Returns false if the key is not known. */
MUST_CHECK bool known_keys_find(
    struct known_keys *k, struct str secret, struct uuid *out_tenant_id);

/* The flow of a tenant's jobs (store_job.flow). */
uint64_t tenant_flow(struct uuid tenant_id);

#endif
