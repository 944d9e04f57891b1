/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How items are stored: as they are, or compressed, with a dictionary of the tenant where there is
 * one. The column `dictionary` says which. Dictionaries never change and never go while their
 * tenant is there; their prepared forms are shared by all threads of the process, the last few of
 * them, by what they hold.
 */
#ifndef MODEL_CHECKPOINTS_ITEM_BYTES_H
#define MODEL_CHECKPOINTS_ITEM_BYTES_H

#include "base/compress.h"
#include "base/hash.h"
#include "model/context.h"

/* In the column, beside the numbers of dictionaries, which begin with 1. The last two are for the
 * sweep to try with a dictionary. */
enum {
    ITEM_PLAIN = -3, /* compressed without one */
    ITEM_AS_IT_IS = -2,
    ITEM_AS_IT_IS_YET = -1,
    ITEM_PLAIN_YET = 0,
};

enum {
    DICTIONARY_MAX_BYTES = 112 * 1024,
    DICTIONARY_SAMPLE_BYTES = 512 * 1024,
    /* From when on a tenant gets a dictionary: as many items, or bytes in them. */
    DICTIONARY_FROM_ITEMS = 256,
    DICTIONARY_FROM_BYTES = 1024 * 1024,
};

/* What items are packed and unpacked with: a prepared dictionary, and memory to do it in. All zero
 * is one without a dictionary; what it holds is let go of by item_dictionary_release. */
struct item_dictionary {
    int64_t number; /* 0: there is none */
    const struct dictionary *prepared;
    struct compressor *compressor; /* NULL until it is needed */
};

/* The tenant's newest one. */
MUST_CHECK enum error item_dictionary_newest(
    struct context *c, struct arena *arena, struct item_dictionary *out_dictionary);
/* That one, which has this hash. ERR_DAMAGED when it has not, or is not there. */
MUST_CHECK enum error item_dictionary_get(struct context *c, struct arena *arena, int64_t number,
    struct str sha256, struct item_dictionary *out_dictionary);
void item_dictionary_release(struct item_dictionary *dictionary);

/* What to store of a text, and what to say in the column. */
struct str item_pack(struct arena *arena, struct str text, struct item_dictionary *dictionary,
    int level, int64_t *out_column);
/* The text of what is stored; false when it cannot be. */
MUST_CHECK bool item_unpack(struct arena *arena, struct str bytes, int64_t column, size_t size,
    struct item_dictionary *dictionary, struct str *out_text);

/* --- For the sweep -------------------------------------------------------------------------- */

/* A tenant after this one with items that were not yet looked at with a dictionary; nil: none. */
MUST_CHECK enum error item_next_to_pack(
    struct context *c, struct uuid after, struct uuid *out_tenant_id);
/* Some of the tenant's: makes a dictionary when there are enough items, and packs them with it. */
MUST_CHECK enum error item_pack_some(struct context *c, bool *out_more);

#endif
