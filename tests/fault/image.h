/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk after a power loss, made from the record of its calls (disk.h).
 *
 * The only assumptions about a disk:
 *   - fsync or fdatasync of a file makes its bytes and its size last, not its name.
 *   - fsync of a directory makes the names in it last, not the bytes of the files.
 *   - Unsynced data lasts or not, sector by sector (512 bytes): each holds one of the states
 *     that it had since the last sync, independently of its neighbours. That is a torn write, a
 * lost one, and any order between them. Sizes and names are kept or lost on their own.
 *   - A sector is written whole, and bytes that no write named are not harmed by one beside them
 *     (SQLite's SQLITE_IOCAP_POWERSAFE_OVERWRITE).
 *   - A rename happens whole or not at all.
 *   - After an fsync that failed the kernel takes the pages for clean: what they held is in no
 *     later sync either, unless it is written anew.
 *   - -shm is memory: nothing is left of it.
 */
#ifndef TESTS_FAULT_IMAGE_H
#define TESTS_FAULT_IMAGE_H

#include "disk.h"

/* X(name, words) */
#define IMAGE_POLICIES(X)                           \
    X(LOST, "all that was not synced is lost")      \
    X(KEPT, "all of it is kept")                    \
    X(TORN, "any sector of it is kept")             \
    X(REORDERED, "any write of it is kept, whole")  \
    X(NAMES_LOST, "bytes are kept, names are lost") \
    X(NAMES_KEPT, "names are kept, bytes are lost")

enum image_policy {
#define IMAGE_ENUM(name, words) IMAGE_##name,
    IMAGE_POLICIES(IMAGE_ENUM)
#undef IMAGE_ENUM
        IMAGE_POLICY_COUNT
};
extern const char *const image_policy_words[IMAGE_POLICY_COUNT];

struct image;

/* `ignores_syncs`: a disk that says that it has synced and has not. */
struct image *image_create(const struct disk_log *log, bool ignores_syncs);
void image_destroy(struct image *image);

/* Takes in the next operation of the record; false past the last. */
bool image_advance(struct image *image);
uint32_t image_position(const struct image *image);

/* Writes it into `root`, which is there and empty. */
void image_write(struct image *image, enum image_policy policy, uint64_t seed, const char *root);

#endif
