/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that fails, under SQLite and under Cairn's own files alike. It replaces the system
 * calls: SQLite's by the overrides that its VFS has for tests (xSetSystemCall; fdatasync, which has
 * none, by a function of that name in this program), Cairn's by --wrap of the linker. SQLite's VFS
 * therefore runs completely, including its directory syncs and the errors that it ignores, and the
 * backup's renames are simulated as well as the database's pages.
 *
 * Only files below the root count. No call reaches the real disk's fsync: the record (disk.h)
 * defines which data is durable, not this machine.
 */
#ifndef TESTS_FAULT_VFS_H
#define TESTS_FAULT_VFS_H

#include <stdatomic.h>

#include "disk.h"

/* X(name, the calls that it hits, errno) */
#define VFS_FAULTS(X)          \
    X(IO, VFS_ANY, EIO)        \
    X(FULL, VFS_SPACE, ENOSPC) \
    X(SYNC, VFS_SYNC, EIO)     \
    X(LOCK, VFS_LOCK, ENOLCK)  \
    X(SHORT, VFS_READ | VFS_WRITE, 0) /* half of what was asked for is read or written */

enum vfs_call {
    VFS_READ = 1 << 0,
    VFS_WRITE = 1 << 1,
    VFS_SYNC = 1 << 2,
    VFS_SPACE = 1 << 3, /* what may need a block more */
    VFS_OTHER = 1 << 4, /* open, unlink, stat, mmap … */
    VFS_ANY = (1 << 5) - 1,
    VFS_LOCK = 1 << 5, /* is no I/O: SQLite takes any failure for a lock that another has */
};

enum vfs_fault {
    VFS_FAULT_NONE,
#define VFS_ENUM(name, calls, number) VFS_FAULT_##name,
    VFS_FAULTS(VFS_ENUM)
#undef VFS_ENUM
};

struct vfs_plan {
    enum vfs_fault fault;
    unsigned at; /* the first such call is 1 */
    bool is_sticky;
};

/* The report of a process that ran under a plan; in shared memory. */
struct vfs_outcome {
    atomic_uint n_calls; /* that the fault could have hit */
    atomic_bool has_fired;
    atomic_bool database_sync_failed; /* of the database or its log */
};

/* Once a process. `log` may be NULL: nothing is recorded. */
void vfs_install(const char *root, const struct vfs_plan *plan, struct vfs_outcome *outcome,
    struct disk_log *log);
/* How many operations the disk has seen. */
uint32_t vfs_position(void);

#endif
