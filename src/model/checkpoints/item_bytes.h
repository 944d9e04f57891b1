/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored form of items: uncompressed, or compressed, with a dictionary of the tenant if there
 * is one. The column `dictionary` tells the form. Dictionaries never change and exist as long as
 * their tenant. All threads of the process share the prepared forms of the last few dictionaries,
 * which are found by their content.
 */
#ifndef MODEL_CHECKPOINTS_ITEM_BYTES_H
#define MODEL_CHECKPOINTS_ITEM_BYTES_H

#include "base/compress.h"
#include "base/hash.h"
#include "model/context.h"

/* Values of the column besides the numbers of dictionaries, which begin with 1. The sweep tries to
 * compress the last two with a dictionary. */
enum {
    ITEM_PLAIN = -3, /* compressed without a dictionary */
    ITEM_AS_IT_IS = -2,
    ITEM_AS_IT_IS_YET = -1,
    ITEM_PLAIN_YET = 0,
};

enum {
    DICTIONARY_MAX_BYTES = 112 * 1024,
    DICTIONARY_SAMPLE_BYTES = 512 * 1024,
    /* A tenant with so many items, or bytes of items, gets a dictionary. */
    DICTIONARY_FROM_ITEMS = 256,
    DICTIONARY_FROM_BYTES = 1024 * 1024,
};

/* A prepared dictionary and working memory, for item_pack and item_unpack. All zero means no
 * dictionary. item_dictionary_release frees the members. */
struct item_dictionary {
    int64_t number; /* 0: no dictionary */
    struct sha256 sha256;
    const struct dictionary *prepared;
    struct compressor *compressor; /* NULL until it is needed */
};

/* Returns the newest dictionary of the tenant. */
MUST_CHECK enum error item_dictionary_newest(
    struct context *c, struct arena *arena, struct item_dictionary *out_dictionary);
/* Returns the dictionary with this number. ERR_DAMAGED if it is missing or has another hash. */
MUST_CHECK enum error item_dictionary_get(struct context *c, struct arena *arena, int64_t number,
    struct str sha256, struct item_dictionary *out_dictionary);
/* Returns true if it still is the newest dictionary of the tenant, or none. Does not read it. */
MUST_CHECK enum error item_dictionary_is_newest(
    struct context *c, const struct item_dictionary *dictionary, bool *out_is);
void item_dictionary_release(struct item_dictionary *dictionary);

/* Returns the bytes to store for a text, and the value of the column. */
struct str item_pack(struct arena *arena, struct str text, struct item_dictionary *dictionary,
    int level, int64_t *out_column);
/* Returns the text of stored bytes, or false if they are damaged. */
MUST_CHECK bool item_unpack(struct arena *arena, struct str bytes, int64_t column, size_t size,
    struct item_dictionary *dictionary, struct str *out_text);
/* Writes the text to a place with room for `size` bytes. */
MUST_CHECK bool item_unpack_to(char *out_text, struct str bytes, int64_t column, size_t size,
    struct item_dictionary *dictionary);

/* --- For the sweep -------------------------------------------------------------------------- */

/* Returns the next tenant with items that were not yet tried with a dictionary; nil: none. */
MUST_CHECK enum error item_next_to_pack(
    struct context *c, struct uuid after, struct uuid *out_tenant_id);

/*
 * Packs some items of the tenant, or creates its dictionary when there are enough items. The work
 * has three parts, so that neither the writer nor a reader computes:
 *
 *     READ     item_packing_read      reads items, or samples for the dictionary
 *     no job   item_packing_compute   compresses them, or trains the dictionary
 *     WRITE    item_packing_store
 *
 * All zero is the initial state, and item_packing_deinit ends it. The parts may run in one job.
 * Each job may run more than once.
 */
struct item_packing {
    struct arena arena;
    struct item_dictionary dictionary; /* of the tenant, if it has one */
    struct unpacked_item *items;
    size_t n;
    struct str trained; /* a new dictionary, or STR_NONE */
    bool is_computed;   /* otherwise there is nothing to store */
};
MUST_CHECK enum error item_packing_read(struct context *c, struct item_packing *p);
void item_packing_compute(struct item_packing *p);
MUST_CHECK enum error item_packing_store(struct context *c, struct item_packing *p, bool *out_more);
void item_packing_deinit(struct item_packing *p);

#endif
