/* SPDX-License-Identifier: Apache-2.0 */
/* The deletion of a thread, in slices (tenancy/deletions.h). */
#include "model/checkpoints/snapshots.h"
#include "model/files/blob_doubts.h"
#include "model/files/files.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/deletions.h"
#include "model/threads/messages.h"
#include "model/threads/thread_delete.sql.h"
#include "model/threads/threads.h"
#include "model/threads/threads.sql.h"

static enum error find_file(
    struct context *c, struct uuid thread_id, bool *out_found, struct uuid *out_id)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_FIRST_FILE);
    query_uuid(&q, thread_id, thread_id);
    *out_found = query_next(&q);
    if (*out_found)
        *out_id = row_uuid(&q);
    return query_end(&q);
}

static enum error delete_files(
    struct context *c, struct slice *s, struct uuid thread_id, bool *out_more)
{
    struct uuid file_id;
    TRY(find_file(c, thread_id, out_more, &file_id));
    while (*out_more && !slice_is_over(s)) {
        TRY(file_discard_some(c, file_id, SLICE_CHUNK_ROWS));
        s->rows_left -= SLICE_CHUNK_ROWS;
        TRY(find_file(c, thread_id, out_more, &file_id));
    }
    return OK;
}

static const struct slice_part OF_MESSAGES[] = {
    {.delete = &SQL_THREAD_DELETE_MESSAGE_VERSIONS, .weigh = &SQL_THREAD_WEIGH_MESSAGE_VERSIONS},
    {0},
};
static const struct slice_part OF_STATES[] = {
    {.delete = &SQL_THREAD_DELETE_STATE_VERSIONS, .weigh = &SQL_THREAD_WEIGH_STATE_VERSIONS},
    {0},
};
static const struct slice_part OF_RUNS[] = {
    {.delete = &SQL_THREAD_DELETE_TURNS, .weigh = &SQL_THREAD_WEIGH_TURNS},
    {.delete = &SQL_THREAD_DELETE_TOOLS, .weigh = &SQL_THREAD_WEIGH_TOOLS},
    {.delete = &SQL_THREAD_DELETE_ATTEMPTS, .weigh = &SQL_THREAD_WEIGH_ATTEMPTS},
    {.delete = &SQL_THREAD_DELETE_PHASES, .weigh = &SQL_THREAD_WEIGH_PHASES},
    {0},
};
static const struct slice_part OF_SHARES[] = {
    {.delete = &SQL_THREAD_DELETE_REDEMPTIONS},
    {0},
};

/* The rows of which a thread may have many, children first. */
static const struct slice_part PARTS[] = {
    {.delete = &SQL_THREAD_DELETE_MESSAGES,
        .before = &SQL_THREAD_DELETE_WORDS,
        .weigh = &SQL_THREAD_WEIGH_MESSAGES,
        .children = OF_MESSAGES},
    {.delete = &SQL_THREAD_DELETE_STEPS, .weigh = &SQL_THREAD_WEIGH_STEPS},
    {.delete = &SQL_THREAD_DELETE_HISTORY, .weigh = &SQL_THREAD_WEIGH_HISTORY},
    {.delete = &SQL_THREAD_DELETE_WRITES, .weigh = &SQL_THREAD_WEIGH_WRITES},
    {.delete = &SQL_THREAD_DELETE_CHECKPOINTS, .weigh = &SQL_THREAD_WEIGH_CHECKPOINTS},
    {.delete = &SQL_THREAD_DELETE_STATES, .children = OF_STATES},
    {.delete = &SQL_THREAD_DELETE_RUNS, .weigh = &SQL_THREAD_WEIGH_RUNS, .children = OF_RUNS},
    {.delete = &SQL_THREAD_DELETE_SHARES, .children = OF_SHARES},
    {.delete = &SQL_THREAD_DELETE_PARTICIPANTS, .weigh = &SQL_THREAD_WEIGH_PARTICIPANTS},
    {.delete = &SQL_THREAD_DELETE_FILE_ENDS},
};

static enum error delete_parts(
    struct context *c, struct slice *s, struct uuid thread_id, bool *out_more)
{
    *out_more = false;
    for (size_t i = 0; !*out_more && i < COUNT_OF(PARTS); i++)
        TRY(slice_delete(c, s, &PARTS[i], thread_id, out_more));
    return *out_more ? OK : delete_files(c, s, thread_id, out_more);
}

/* Deletes the thread, whose large parts are gone. */
static enum error delete_rest(struct context *c, struct uuid id)
{
    struct query q;
    TRY(blob_doubt_thread(c, id));
    TRY(snapshot_discard_thread(c, id));
    context_query(c, &q, &SQL_THREAD_DELETE);
    query_uuid(&q, id, id);
    event_forget_thread(c, id);
    TRY(query_run(&q));
    return deletion_end(c, id);
}

enum error thread_delete_some(struct context *c, struct uuid id, bool *out_more)
{
    struct thread thread;
    struct slice slice = slice_begin(SLICE_MIN_ROWS);
    int64_t pruned;
    bool begun;
    TRY(context_lock_thread(c, id));
    TRY(thread_get_head(c, id, &thread));
    TRY(deletion_find(c, id, &begun));
    if (!begun) {
        TRY(context_check_match(c, thread.version));
        TRY(audit_record(c, "thread.deleted", "thread", id, STR_NONE));
    }
    TRY(delete_parts(c, &slice, id, out_more));
    if (*out_more)
        return deletion_note(c, id);
    TRY(event_prune(c, id, INT64_MAX, &pruned));
    TRY(event_keep_pruned(c, id));
    TRY(thread_report_deletion(c, &thread));
    return delete_rest(c, id);
}

enum error thread_discard_some(struct context *c, struct slice *s, struct uuid id, bool *out_more)
{
    TRY(context_lock_thread(c, id));
    TRY(delete_parts(c, s, id, out_more));
    return *out_more ? OK : delete_rest(c, id);
}
