/* SPDX-License-Identifier: Apache-2.0 */
#include "model/files/file_rows.h"
#include "model/files/files.sql.h"
#include "model/threads/participants.h"
#include "model/threads/threads.h"

static enum error count_versions(
    struct context *c, struct uuid file_id, int64_t version, int64_t *out_count)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_VERSION_COUNT);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, version, version);
    TRY(context_number(&q, out_count));
    if (*out_count > FILE_COPY_MAX_VERSIONS)
        return problem_fault(c->problem, STR("/history"),
            "is limited to %d versions, but the file has %lld", FILE_COPY_MAX_VERSIONS,
            (long long)*out_count);
    return OK;
}

static enum error insert_versions(struct context *c, const struct file_copy *copy,
    const struct file *from, struct uuid file_id, int64_t first)
{
    struct query q;
    context_query(c, &q, copy->with_history ? &SQL_FILE_VERSION_COPY_ALL : &SQL_FILE_VERSION_COPY);
    query_uuid(&q, file_id, file_id);
    query_uuid(&q, source_id, from->id);
    query_i64(&q, version, copy->version);
    query_i64(&q, first, first);
    query_uuid(&q, source_thread_id, copy->from_thread_id);
    query_text(&q, source_name, copy->from_name);
    if (!copy->with_history) {
        query_text(&q, created_by, c->principal);
        query_i64(&q, now, c->now_us);
    }
    return query_run(&q);
}

static enum error check_target(
    struct context *c, const struct file_copy *copy, bool *out_exists, struct file *out_known)
{
    struct thread thread;
    *out_known = (struct file){0};
    TRY(file_check_name(c, copy->to_name, STR("/name")));
    TRY(thread_get_head(c, copy->to_thread_id, &thread));
    TRY(file_find(c, copy->to_thread_id, copy->to_name, out_exists, out_known));
    if (!*out_exists)
        return OK;
    if (!copy->may_exist)
        return problem_set(c->problem, ERR_CONFLICT,
            "the thread already has a file \"%.*s\" at version %lld: send \"if_exists\": "
            "\"add_version\" to add a version",
            STR_ARG(copy->to_name), (long long)out_known->version);
    return OK;
}

/* Adds the versions, with the next numbers of the target, and the row of the file. */
static enum error write_copy(struct context *c, const struct file_copy *copy,
    const struct file *from, const struct file *known, bool exists)
{
    struct file_row row = {.has_id = exists,
        .id = known->id,
        .thread_id = copy->to_thread_id,
        .name = copy->to_name,
        .metadata = from->metadata};
    int64_t first = 0, count = 1;
    TRY(file_next_version(c, row.thread_id, row.name, &first));
    if (copy->with_history)
        TRY(count_versions(c, from->id, copy->version, &count));
    row.version = first + count - 1;
    TRY(file_write_row(c, &row));
    return insert_versions(c, copy, from, row.id, first);
}

enum error file_copy(
    struct context *c, const struct file_copy *copy, bool *out_created, struct file *out_file)
{
    struct file_copy told = *copy;
    struct file from, known;
    struct file_version version;
    bool exists = false, found;
    TRY(context_lock_threads(c, copy->from_thread_id, copy->to_thread_id));
    TRY(participant_check_access(c, copy->to_thread_id, true));
    TRY(file_get(c, copy->from_thread_id, copy->from_name, &from));
    TRY(context_check_match(c, from.version));
    TRY(file_get_version(c, copy->from_thread_id, copy->from_name, copy->version, &version));
    TRY(check_target(c, copy, &exists, &known));
    told.version = version.version;
    TRY(write_copy(c, &told, &from, &known, exists));
    TRY(file_find(c, copy->to_thread_id, copy->to_name, &found, out_file));
    *out_created = !exists;
    return file_tell(c, exists ? EVENT_FILE_UPDATED : EVENT_FILE_CREATED, out_file, &told);
}
