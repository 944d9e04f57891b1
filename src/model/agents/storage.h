/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private storage: values that an agent stores under keys. A value is JSON, or bytes with a content
 * type. Only the agent and keys of the tenant can read it; no event and no log contains it. A write
 * may state the version that it replaces.
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
    struct str value; /* compact JSON; STR_NONE: the value is bytes, or the list omits it */
    struct str bytes;
    int64_t size_bytes;
    int64_t created_at;
    int64_t updated_at;
    int64_t version; /* 0: the item does not exist */
};

/* OK if bytes may have this content type, else a fault at `pointer`. */
MUST_CHECK enum error storage_check_type(struct context *c, struct str type, struct str pointer);

MUST_CHECK enum error storage_get(
    struct context *c, struct uuid agent_id, struct str key, struct storage_item *out_item);
/* Stores content_type and either value or bytes under the key, and sets the other members of
 * `item`. out_is_new: the key did not exist. ERR_STALE: the request has another version. */
MUST_CHECK enum error storage_put(
    struct context *c, struct uuid agent_id, struct storage_item *item, bool *out_is_new);
MUST_CHECK enum error storage_delete(struct context *c, struct uuid agent_id, struct str key);

struct storage_filter {
    struct str prefix; /* of the key; STR_NONE: no prefix */
    struct str after;  /* a key; STR_NONE: from the first */
    bool with_values;
};
/* In the order of the bytes of the keys. */
MUST_CHECK enum error storage_list(struct context *c, struct uuid agent_id,
    const struct storage_filter *filter, struct page *page, struct storage_item *out_items);

#endif
