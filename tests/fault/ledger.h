/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers that the script got from Cairn, in shared memory that outlives the process: which
 * step began, how it ended, and what holds since. `at` is how many operations the disk had seen by
 * then (vfs_position), so that for a power loss after N operations it is known what had been
 * acknowledged.
 *
 * A fact says what a GET answers. A step that begins puts in doubt the facts that it touches; when
 * it is acknowledged its own facts take their place; when it is refused they hold again; when its
 * outcome is unknown, or when it did not end, nothing is known of them.
 */
#ifndef TESTS_FAULT_LEDGER_H
#define TESTS_FAULT_LEDGER_H

#include <stdatomic.h>

#include "base/arena.h"

enum { LEDGER_MAX = 640, LEDGER_TARGET = 192, LEDGER_SECRET = 96, LEDGER_TEXT = 1600 };

enum ledger_kind {
    LEDGER_BEGIN,  /* text: the targets that it touches, by blanks; one may end in "*" */
    LEDGER_FACT,   /* status, target, secret, text: lines of POINTER=JSON */
    LEDGER_AGAIN,  /* a POST with an Idempotency-Key: target, secret; text: key, body, answer */
    LEDGER_KEY,    /* from here on calls need a key */
    LEDGER_BACKUP, /* target: a file that is there and can be restored */
    LEDGER_DONE,
    LEDGER_REFUSED,
    LEDGER_UNKNOWN,
};

struct ledger_entry {
    enum ledger_kind kind;
    uint32_t at;
    int status;
    char target[LEDGER_TARGET];
    char secret[LEDGER_SECRET];
    char text[LEDGER_TEXT];
};

struct ledger {
    atomic_uint n; /* that are whole */
    struct ledger_entry entries[LEDGER_MAX];
};

/* The entries of the ledger that hold at one moment. */
struct known {
    const struct ledger_entry *facts[LEDGER_MAX];
    size_t n_facts;
    const struct ledger_entry *again[LEDGER_MAX];
    size_t n_again;
    bool has_backup;
    bool needs_key; /* or may need one: its step had begun */
};

/* Returns an entry that readers do not see until ledger_publish. */
struct ledger_entry *ledger_draft(struct ledger *l, size_t index, enum ledger_kind kind);
void ledger_publish(struct ledger *l, size_t count, uint32_t at);
/* Copies, cut to what fits: that is a mistake in the script. */
void ledger_set(char *field, size_t size, struct str text);

/* As it was when the disk had seen so many operations. */
void ledger_know(const struct ledger *l, uint32_t position, struct known *out);

#endif
