/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private storage: what an agent keeps for itself, by key. A value is JSON, or bytes with a content
 * type. It is in no event, in no log, and shown to nobody but the agent and keys of its whole
 * tenant. A write may say which version it has seen; it need not.
 */
#ifndef MODEL_AGENTS_STORAGE_H
#define MODEL_AGENTS_STORAGE_H

#include "model/context.h"

enum {
    STORAGE_KEY_MAX_BYTES = 512,
    STORAGE_VALUE_MAX_BYTES = 4 * 1024 * 1024,
    STORAGE_TYPE_MAX_BYTES = 200,
};

struct storage_item {
    struct str key;
    struct str content_type;
    struct str value; /* compact JSON; STR_NONE: it is bytes, or the list left it out */
    struct str bytes;
    int64_t size_bytes;
    int64_t created_at;
    int64_t updated_at;
    int64_t version; /* 0: it is not there */
};

/* A fault at `pointer` unless bytes may have this type. */
MUST_CHECK enum error storage_check_type(struct context *c, struct str type, struct str pointer);

MUST_CHECK enum error storage_get(
    struct context *c, struct uuid agent_id, struct str key, struct storage_item *out_item);
/* Writes content_type and either value or bytes under the key; fills in the rest of `item`.
 * out_is_new: there was none. ERR_STALE when the request names another version. */
MUST_CHECK enum error storage_put(
    struct context *c, struct uuid agent_id, struct storage_item *item, bool *out_is_new);
MUST_CHECK enum error storage_delete(struct context *c, struct uuid agent_id, struct str key);

struct storage_filter {
    struct str prefix; /* of the key; STR_NONE: any */
    struct str after;  /* a key; STR_NONE: from the first */
    bool with_values;
};
/* By the bytes of the keys. A page ends at `limit` items or PAGE_MAX_BYTES. */
MUST_CHECK enum error storage_list(struct context *c, struct uuid agent_id,
    const struct storage_filter *filter, struct page *page, struct storage_item *out_items);

#endif
