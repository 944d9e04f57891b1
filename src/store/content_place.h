/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where content is in a directory: ROOT/<tenant>/<last byte of the id>/<id>, all in hexadecimal
 * digits; and the hold, which keeps content from being removed. Private to src/store.
 *
 * Who reads a snapshot of the database and then the content that it names, beside servers that
 * remove what no row knows any more, takes the hold before the snapshot: content is removed only
 * after the commit that took its row, and never while anybody has the hold. What stays for that
 * reason is a leftover, and swept later.
 */
#ifndef STORE_CONTENT_PLACE_H
#define STORE_CONTENT_PLACE_H

#include "base/problem.h"
#include "base/uuid.h"

#define CONTENT_ROOT_NAME "blobs"
#define CONTENT_HOLD_NAME "cairn.hold"

enum {
    CONTENT_HEX_LEN = 2 * sizeof(struct uuid),
    CONTENT_FAN_LEN = 2,
    /* Of what PostgreSQL keeps itself, each row of blob_chunks but the last. */
    CONTENT_CHUNK_BYTES = 512 * 1024,
};

struct content_place {
    char tenant[CONTENT_HEX_LEN + 1];
    char fan[CONTENT_HEX_LEN + 1 + CONTENT_FAN_LEN + 1];
    char file[CONTENT_HEX_LEN + 1 + CONTENT_FAN_LEN + 1 + CONTENT_HEX_LEN + 1];
};

struct content_place content_place_of(struct uuid tenant_id, struct uuid id);
/* Two digits a byte, and NUL. */
void content_name_write(char *text, const uint8_t *bytes, size_t n);
/* False when the name is not of these many bytes, in lower case. */
bool content_name_read(const char *name, uint8_t *out_bytes, size_t n);

/* Waits for whoever removes just now. Close out_fd to let go; it stays as it is where there is no
 * content at all. */
MUST_CHECK enum error content_hold(const char *directory, struct problem *problem, int *out_fd);
/* Of the directory in which ROOT is. -1: somebody has the hold, and nothing may be removed. Close
 * it after the removal. */
int content_take_unheld(int directory_fd);

#endif
