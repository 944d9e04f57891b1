/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VFS for the writer's connection that joins the writes of the write-ahead log. SQLite writes
 * each frame as a header of 24 bytes and a page; the kernel takes many frames at once for less than
 * half of the CPU. Private to src/store.
 *
 * The last bytes that SQLite wrote, a run without gaps, are in a buffer. They are written to the
 * file before it is synced, before one of them is read, and before its size is asked for or
 * changed. So the connection sees its own frames, and a sync includes every byte. No other
 * connection needs them earlier: SQLite publishes the frames of a transaction in the index of the
 * log after the sync (synchronous=FULL), and only the commit makes them visible.
 *
 * If the buffer cannot be written, the call that needs it fails as SQLite's own write would have,
 * and the transaction is rolled back. The buffer stays, so that nothing else can commit without it,
 * until a sync has failed, after which SQLite keeps nothing of the transaction.
 */
#ifndef STORE_SQLITE_LOG_H
#define STORE_SQLITE_LOG_H

/* Returns the name of the VFS, which is registered in front of the present default VFS. */
const char *sqlite_log_vfs(void);

#endif
