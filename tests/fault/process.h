/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the script, or the check after it, in a separate process: SQLite and threads start afresh in
 * each process, and a process may die. Its results are in shared memory.
 */
#ifndef TESTS_FAULT_PROCESS_H
#define TESTS_FAULT_PROCESS_H

#include "ledger.h"
#include "memory.h"
#include "verdict.h"
#include "vfs.h"

struct stage {
    struct disk_log log;
    struct ledger ledger;
    struct vfs_outcome disk;
    struct memory_outcome memory;
    struct verdict verdict;
    char root[64];  /* where the script runs */
    char image[64]; /* where disks after a power loss are made */
};

struct plan {
    struct vfs_plan disk;
    struct memory_plan memory;
    bool is_recorded;
};

/* In shared memory, with two directories under /tmp. */
struct stage *stage_create(void);
void stage_destroy(struct stage *stage);
/* Empties one of them. */
void stage_clear(const char *root);

/* False: it found something wrong, or ended as it must not; the verdict has the words. When memory
 * is short, to abort by the one hook is allowed. */
bool process_script(struct stage *stage, const struct plan *plan);
/* Verifies that everything acknowledged by this position of the disk is there. */
bool process_verify(struct stage *stage, const char *root, uint32_t position);

#endif
