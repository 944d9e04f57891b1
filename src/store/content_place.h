/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of content in a directory, ROOT/<tenant>/<last byte of the id>/<id>, all in
 * hexadecimal digits; and the hold, which prevents the removal of content. Private to src/store.
 *
 * A process that reads a snapshot of the database, and then the content that the snapshot refers
 * to, takes the hold before the snapshot. A server removes content only after it has committed the
 * deletion of the row, and never while a process has the hold. Content that stays for this reason
 * is swept later.
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
    /* In PostgreSQL, the size of each row of blob_chunks except the last. */
    CONTENT_CHUNK_BYTES = 512 * 1024,
};

struct content_place {
    char tenant[CONTENT_HEX_LEN + 1];
    char fan[CONTENT_HEX_LEN + 1 + CONTENT_FAN_LEN + 1];
    char file[CONTENT_HEX_LEN + 1 + CONTENT_FAN_LEN + 1 + CONTENT_HEX_LEN + 1];
};

struct content_place content_place_of(struct uuid tenant_id, struct uuid id);
/* Writes two digits per byte, and NUL. */
void content_name_write(char *text, const uint8_t *bytes, size_t n);
/* Returns false if the name does not encode this many bytes in lower case. */
bool content_name_read(const char *name, uint8_t *out_bytes, size_t n);

/* Waits until a removal in progress has ended. Close out_fd to release the hold; it is -1 if there
 * is no content at all. */
MUST_CHECK enum error content_hold(const char *directory, struct problem *problem, int *out_fd);
/* Takes the directory that contains ROOT. Returns -1 if a process has the hold, so that nothing may
 * be removed; otherwise a descriptor to close after the removal. */
int content_take_unheld(int directory_fd);

#endif
