/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A full disk.
 *
 *   ample   the reserve is there; nothing is checked
 *   tight   there is no reserve file: the free space of the disk and the database file
 *           replaces it, and is checked before each batch
 *   none    only jobs that say so (store_job.on_full) are run; the others are refused
 *
 * A write that finds the disk full gives the reserve up and leads to `none`. Room for the reserve
 * leads back to `ample`. So do deleted rows, but to `tight`: their pages stay in the file, where
 * new rows take them before the file grows.
 *
 * Every write goes to the WAL first, which can start over only after a checkpoint. So while
 * space is short there is one after each batch; unless it would make the database file grow by what
 * is left of the reserve.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/reserve.h"
#include "store/sqlite.h"

enum {
    PAGE_BYTES = 4096,
    LOOK_EVERY_US = 250 * 1000,
    LOOK_EVERY_MAX_US = 30 * 1000 * 1000,
    SOON_US =
        10 * 1000 *
        1000, /* if the disk is full again so soon, a limit applies that free space does not show */
    START_BYTES = 1024 * 1024,       /* needed to open SQLite's own files */
    WAL_BYTES = RESERVE_BYTES / 4,   /* needed for small changes */
    BATCH_BYTES = RESERVE_BYTES / 2, /* the most that a batch may need */
};

static enum space_state state_of(const struct sqlite_store *s)
{
    return (enum space_state)atomic_load(&s->space.state);
}

/* --- How much there is ---------------------------------------------------------------------- */

static uint64_t pragma_number(struct sqlite_store *s, const char *pragma)
{
    sqlite3_stmt *stmt = NULL;
    uint64_t number = 0;
    if (sqlite3_prepare_v2(s->writer.db, pragma, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        number = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return number;
}

static uint64_t free_bytes(const struct sqlite_store *s)
{
    return reserve_free_bytes(s->directory_fd);
}

static uint64_t file_bytes(const struct sqlite_store *s, const char *name)
{
    struct stat st;
    return fstatat(s->directory_fd, name, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
}

/* The bytes that the WAL can take: all of its file, once everything in it has been moved. */
static uint64_t log_bytes(const struct sqlite_store *s)
{
    bool starts_over = s->wal_is_moved && s->wal_pages_tried >= s->wal_pages;
    return free_bytes(s) + (starts_over ? file_bytes(s, "cairn.db-wal") : 0);
}

bool space_is_short(const struct sqlite_store *s)
{
    return state_of(s) != SPACE_AMPLE;
}

bool space_may_checkpoint(struct sqlite_store *s)
{
    if (!space_is_short(s))
        return true;
    uint64_t grows_to = pragma_number(s, "PRAGMA page_count") * PAGE_BYTES;
    uint64_t now = file_bytes(s, "cairn.db");
    return grows_to <= now || grows_to - now + WAL_BYTES <= free_bytes(s);
}

/* --- The states ----------------------------------------------------------------------------- */

static void tell(const struct sqlite_store *s, enum space_state from, enum space_state to)
{
    struct log_field where = LOG_STR("data", s->base.config.data_dir);
    struct log_field left = LOG_I64("free_bytes", (int64_t)free_bytes(s));
    if (to == SPACE_NONE)
        LOG(LOG_ERROR, "the disk is full: only writes that free space or keep a lease are accepted",
            where, left);
    else if (to == SPACE_AMPLE)
        LOG(LOG_WARN, "space is available again: all writes are accepted", where, left);
    else if (from == SPACE_NONE)
        LOG(LOG_WARN, "space is available again inside the database: all writes are accepted",
            where, left);
    else
        LOG(LOG_WARN, "cannot create the reserve for a full disk", where, left,
            LOG_I64("needed_bytes", RESERVE_BYTES + RESERVE_SPARE_BYTES),
            LOG_STR("why", str_of(strerror(s->space.why))));
}

/* If SQLite overwrites deleted rows, that needs as much space in the WAL as it frees in the
 * database, so it is on only while space is ample. */
static void set_overwriting(struct sqlite_store *s, enum space_state to)
{
    if (s->space.overwrites)
        sqlite3_exec(s->writer.db,
            to == SPACE_AMPLE ? "PRAGMA secure_delete = ON" : "PRAGMA secure_delete = FAST", NULL,
            NULL, NULL);
}

static void become(struct sqlite_store *s, enum space_state to)
{
    enum space_state from = state_of(s);
    if (from == to)
        return;
    atomic_store(&s->space.state, to);
    atomic_store(&s->base.is_full, to == SPACE_NONE);
    set_overwriting(s, to);
    if (from == SPACE_NONE)
        s->space.resumed_us = clock_steady_us();
    tell(s, from, to);
}

/* Free space that cannot be taken, because of a quota for example, is none. */
static bool make_reserve(struct sqlite_store *s)
{
    struct space *space = &s->space;
    enum reserve_made made = reserve_make(s->directory_fd);
    space->why = made == RESERVE_IMPOSSIBLE ? errno : ENOSPC;
    space->is_limited =
        made == RESERVE_NO_ROOM && free_bytes(s) >= RESERVE_BYTES + RESERVE_SPARE_BYTES;
    space->next_look_us = clock_steady_us() + LOOK_EVERY_US;
    return made == RESERVE_MADE;
}

static enum space_state judge(struct sqlite_store *s, enum space_state from)
{
    if (clock_steady_us() >= s->space.next_look_us && make_reserve(s))
        return SPACE_AMPLE;
    uint64_t inside = pragma_number(s, "PRAGMA freelist_count") * PAGE_BYTES;
    uint64_t room = inside + (s->space.is_limited ? 0 : free_bytes(s));
    /* A write detects a limit that free space does not show. */
    if (from == SPACE_TIGHT)
        return s->space.is_limited || room >= RESERVE_BYTES ? SPACE_TIGHT : SPACE_NONE;
    bool is_impossible = s->space.why != 0 && s->space.why != ENOSPC;
    if (is_impossible && free_bytes(s) >= RESERVE_BYTES + RESERVE_SPARE_BYTES)
        return SPACE_TIGHT;
    bool fits = inside >= RESERVE_BYTES + RESERVE_SPARE_BYTES && log_bytes(s) >= BATCH_BYTES;
    return fits ? SPACE_TIGHT : SPACE_NONE;
}

/* If free space cannot be used, for example because of a limit on file size, the attempts become
 * less frequent. */
static void met_full(struct sqlite_store *s)
{
    struct space *space = &s->space;
    int64_t now_us = clock_steady_us();
    bool again = space->resumed_us > 0 && now_us - space->resumed_us < SOON_US;
    int64_t longer_us = space->wait_us == 0 ? LOOK_EVERY_US : space->wait_us * 2;
    space->wait_us = !again ? 0 : longer_us < LOOK_EVERY_MAX_US ? longer_us : LOOK_EVERY_MAX_US;
    reserve_give_up(s->directory_fd);
    become(s, SPACE_NONE);
    space->next_look_us = now_us + space->wait_us;
}

/* --- Jobs ----------------------------------------------------------------------------------- */

static bool is_admitted(const struct sqlite_store *s, const struct store_job *job)
{
    switch (job->on_full) {
    case STORE_ON_FULL_REFUSED:
        return false;
    case STORE_ON_FULL_KEEPS:
        return log_bytes(s) >= WAL_BYTES;
    case STORE_ON_FULL_FREES:
        break;
    }
    return true;
}

struct store_job *space_admit(struct sqlite_store *s, struct store_job *batch)
{
    if (!space_is_short(s))
        return batch;
    if (state_of(s) == SPACE_TIGHT || clock_steady_us() >= s->space.next_look_us)
        become(s, judge(s, state_of(s)));
    if (state_of(s) != SPACE_NONE)
        return batch;
    struct store_job *admitted = NULL, **end = &admitted;
    for (struct store_job *job = batch, *next; job != NULL; job = next) {
        next = job->next;
        if (is_admitted(s, job)) {
            *end = job;
            end = &job->next;
        } else {
            atomic_fetch_add(&s->n_writes, 1);
            job_queue_end_one(&s->writes, job);
            job->done(job, ERR_STORAGE_FULL);
        }
    }
    *end = NULL;
    return admitted;
}

struct store_job *space_take_again(struct sqlite_store *s, struct store_job **batch)
{
    struct store_job *again = NULL, **end = &again;
    bool was_full = state_of(s) == SPACE_NONE, is_full = false;
    for (const struct store_job *job = *batch; job != NULL; job = job->next)
        is_full = is_full || job->result == ERR_STORAGE_FULL;
    if (!is_full)
        return NULL;
    met_full(s);
    for (struct store_job **at = batch; !was_full && *at != NULL;) {
        struct store_job *job = *at;
        if (job->result != ERR_STORAGE_FULL || job->on_full == STORE_ON_FULL_REFUSED) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        *end = job;
        end = &job->next;
    }
    *end = NULL;
    return again;
}

void space_checkpoint_failed(struct sqlite_store *s, enum error e)
{
    if (e == ERR_STORAGE_FULL && state_of(s) != SPACE_NONE)
        met_full(s);
}

/* --- The start ------------------------------------------------------------------------------ */

void space_before_connecting(struct sqlite_store *s)
{
    s->space.starts_full = free_bytes(s) < START_BYTES;
    s->space.starts_without = s->space.starts_full || !reserve_is_whole(s->directory_fd);
    if (s->space.starts_full)
        reserve_give_up(s->directory_fd);
}

void space_after_connecting(struct sqlite_store *s)
{
    s->space.overwrites = pragma_number(s, "PRAGMA secure_delete") == 1;
    if (s->space.starts_without)
        become(s, judge(s, s->space.starts_full ? SPACE_NONE : SPACE_TIGHT));
}
