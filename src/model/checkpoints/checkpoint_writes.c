/* SPDX-License-Identifier: Apache-2.0 */
/* The writes of finished tasks for the next checkpoint, while other tasks of the step still run. */
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"
#include "model/checkpoints/checkpoints.sql.h"

static void bind_place(
    struct query *q, struct uuid thread_id, struct str ns, struct uuid checkpoint_id)
{
    query_uuid(q, thread_id, thread_id);
    query_text(q, namespace, ns);
    query_uuid(q, id, checkpoint_id);
}

enum error checkpoint_list_writes(
    struct context *c, struct uuid thread_id, struct str ns, struct uuid id, struct str *out_writes)
{
    struct json_text text;
    struct query q;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    context_query(c, &q, &SQL_CHECKPOINT_WRITE_LIST);
    bind_place(&q, thread_id, ns, id);
    while (query_next(&q)) {
        json_write_object(&text.w);
        json_write_text_member(&text.w, "task_id", row_text(&q));
        json_write_name(&text.w, "index");
        json_write_i64(&text.w, row_i64(&q));
        json_write_text_member(&text.w, "task_path", row_text(&q));
        json_write_text_member(&text.w, "channel", row_text(&q));
        json_write_name(&text.w, "value");
        json_write_raw(&text.w, row_text(&q));
        json_write_end(&text.w);
    }
    json_write_end(&text.w);
    *out_writes = json_text_take(&text, c->arena);
    return query_end(&q);
}

/* --- Put ------------------------------------------------------------------------------------ */

/* The existing writes of a task. */
struct known {
    int64_t positions[CHECKPOINT_WRITES_MAX];
    int64_t sizes[CHECKPOINT_WRITES_MAX];
    size_t count;
    int64_t all_count; /* of all tasks */
    int64_t all_bytes;
};

static bool find_known(const struct known *known, int64_t position, size_t *out_at)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->positions[i] == position) {
            *out_at = i;
            return true;
        }
    return false;
}

static enum error read_known(struct context *c, const struct checkpoint *k,
    const struct checkpoint_task *task, struct known *known)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_WRITE_SUM);
    bind_place(&q, k->thread_id, k->ns, k->id);
    while (query_next(&q)) {
        known->all_count = row_i64(&q);
        known->all_bytes = row_i64(&q);
    }
    TRY(query_end(&q));
    context_query(c, &q, &SQL_CHECKPOINT_WRITE_OF_TASK);
    bind_place(&q, k->thread_id, k->ns, k->id);
    query_text(&q, task_id, task->task_id);
    while (known->count < CHECKPOINT_WRITES_MAX && query_next(&q)) {
        known->positions[known->count] = row_i64(&q);
        known->sizes[known->count++] = row_i64(&q);
    }
    return query_end(&q);
}

static enum error check_indexes(struct context *c, const struct checkpoint_write *writes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (writes[i].index == writes[k].index)
                return problem_fault(c->problem, arena_printf(c->arena, "/writes/%zu/index", i),
                    "must not be repeated: a task writes each index once");
    return OK;
}

/* A fencing token must be that of a lease on any run of the thread, because a run may continue from
 * the checkpoint of another run. Without a token the run of the checkpoint must not be leased. */
static enum error check_fence(struct context *c, const struct checkpoint *k)
{
    struct run run;
    if (c->has_fence)
        return run_check_thread_fence(c, k->thread_id);
    if (!k->has_run_id)
        return OK;
    TRY(run_get_head(c, k->run_id, &run));
    return run_check_fence(c, &run);
}

static enum error check_room(
    struct context *c, const struct known *known, const struct checkpoint_write *writes, size_t n)
{
    int64_t count = known->all_count, bytes = known->all_bytes;
    for (size_t i = 0; i < n; i++) {
        size_t at;
        bool is_known = find_known(known, writes[i].index, &at);
        if (is_known && writes[i].index >= 0)
            continue;
        count += !is_known;
        bytes += (int64_t)writes[i].value.len - (is_known ? known->sizes[at] : 0);
    }
    if (count > CHECKPOINT_WRITES_MAX)
        return problem_fault(c->problem, STR("/writes"),
            "must keep the checkpoint within %d writes; the checkpoint would have %lld",
            CHECKPOINT_WRITES_MAX, (long long)count);
    if (bytes > CHECKPOINT_WRITES_MAX_BYTES)
        return problem_fault(c->problem, STR("/writes"),
            "must keep the writes of the checkpoint within %d bytes; they would have %lld",
            CHECKPOINT_WRITES_MAX_BYTES, (long long)bytes);
    return OK;
}

static enum error write_one(struct context *c, const struct checkpoint *k,
    const struct checkpoint_task *task, const struct checkpoint_write *write, bool is_known)
{
    struct query q;
    context_query(c, &q, is_known ? &SQL_CHECKPOINT_WRITE_REPLACE : &SQL_CHECKPOINT_WRITE_INSERT);
    bind_place(&q, k->thread_id, k->ns, k->id);
    query_text(&q, task_id, task->task_id);
    query_i64(&q, position, write->index);
    query_text(&q, task_path, str_is_none(task->task_path) ? STR("") : task->task_path);
    query_text(&q, channel, write->channel);
    query_text(&q, value, write->value);
    query_i64(&q, size_bytes, (int64_t)write->value.len);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error find_checkpoint(struct context *c, const struct checkpoint *wanted,
    const struct checkpoint_task *task, struct checkpoint *out_checkpoint)
{
    struct thread thread;
    bool found = false;
    TRY(thread_get_head(c, wanted->thread_id, &thread));
    TRY(checkpoint_find(
        c, wanted->thread_id, wanted->ns, wanted->id, false, &found, out_checkpoint));
    if (found)
        return OK;
    if (!task->is_ahead)
        return context_not_found(c, "checkpoint", wanted->id);
    *out_checkpoint = *wanted;
    if (str_is_none(wanted->ns))
        out_checkpoint->ns = STR("");
    return OK;
}

enum error checkpoint_put_writes(struct context *c, const struct checkpoint *checkpoint,
    const struct checkpoint_task *task, const struct checkpoint_write *writes, size_t n,
    int64_t *out_written)
{
    struct known *known = ARENA_NEW(c->arena, struct known);
    struct checkpoint k;
    size_t at;
    TRY(find_checkpoint(c, checkpoint, task, &k));
    TRY(check_indexes(c, writes, n));
    TRY(check_fence(c, &k));
    TRY(read_known(c, &k, task, known));
    TRY(check_room(c, known, writes, n));
    *out_written = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_known = find_known(known, writes[i].index, &at);
        if (is_known && writes[i].index >= 0)
            continue;
        TRY(write_one(c, &k, task, &writes[i], is_known));
        ++*out_written;
    }
    return OK;
}
