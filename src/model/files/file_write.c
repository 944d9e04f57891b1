/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "model/files/blob_doubts.h"
#include "model/files/file_rows.h"
#include "model/files/files.sql.h"
#include "model/threads/events.h"
#include "model/threads/threads.h"

/* --- Events ---------------------------------------------------------------------------------- */

static void write_number(struct json_writer *w, const char *name, int64_t number)
{
    json_write_name(w, name);
    json_write_i64(w, number);
}

enum error file_tell(
    struct context *c, enum event_kind kind, const struct file *file, const struct file_copy *copy)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    struct json_writer *w = &payload.w;
    json_write_object(w);
    json_write_text_member(w, "name", file->name);
    write_number(w, "version", file->version);
    write_number(w, "size_bytes", file->size_bytes);
    json_write_text_member(w, "sha256", file->sha256);
    json_write_text_member(w, "content_type", file->content_type);
    json_write_text_member(w, "by", c->principal);
    if (copy != NULL) {
        json_write_name(w, "source_thread_id");
        json_write_uuid(w, copy->from_thread_id);
        json_write_text_member(w, "source_name", copy->from_name);
        write_number(w, "source_version", copy->version);
    }
    json_write_end(w);
    struct event event = {.kind = event_kind_word(kind),
        .text = arena_printf(
            c->arena, "%.*s, version %lld", STR_ARG(file->name), (long long)file->version),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, file->thread_id, &event);
}

/* --- The next version ------------------------------------------------------------------------ */

enum error file_next_version(
    struct context *c, struct uuid thread_id, struct str name, int64_t *out_version)
{
    struct query q;
    int64_t last;
    context_query(c, &q, &SQL_FILE_LAST_VERSION);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, name, name);
    TRY(context_number(&q, &last));
    *out_version = last + 1;
    return OK;
}

static enum error insert_row(struct context *c, struct file_row *row)
{
    struct query q;
    row->id = uuid_v7();
    context_query(c, &q, &SQL_FILE_END_DROP);
    query_uuid(&q, thread_id, row->thread_id);
    query_text(&q, name, row->name);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_FILE_INSERT);
    query_uuid(&q, id, row->id);
    query_uuid(&q, thread_id, row->thread_id);
    query_text(&q, name, row->name);
    query_i64(&q, version, row->version);
    query_text(&q, metadata, row->metadata);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error file_write_row(struct context *c, struct file_row *row)
{
    struct query q;
    if (!row->has_id)
        return insert_row(c, row);
    context_query(c, &q, &SQL_FILE_ADVANCE);
    query_uuid(&q, id, row->id);
    query_i64(&q, version, row->version);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* The content of a put, or of another version of the same file. */
struct new_version {
    int64_t version;
    const struct file_put *put;
    int64_t restored_from; /* if put is NULL */
};

static enum error insert_version(
    struct context *c, struct uuid file_id, const struct new_version *v)
{
    const struct file_put *put = v->put;
    struct query q;
    context_query(c, &q, put != NULL ? &SQL_FILE_VERSION_INSERT : &SQL_FILE_VERSION_RESTORE);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, version, v->version);
    query_text(&q, created_by, c->principal);
    query_i64(&q, now, c->now_us);
    if (put != NULL) {
        query_bytes(&q, sha256, (struct str){(const char *)put->sha256.bytes, SHA256_LEN});
        query_i64(&q, size_bytes, put->size_bytes);
        query_text(&q, content_type, put->content_type);
    } else {
        query_i64(&q, restored_from, v->restored_from);
    }
    return query_run(&q);
}

/* Writes the row of the file, the version and the event. */
static enum error add_version(struct context *c, bool exists, const struct file *known,
    struct new_version *v, struct file *out_file)
{
    struct file_row row = {.has_id = exists,
        .id = known->id,
        .thread_id = known->thread_id,
        .name = known->name,
        .metadata = STR("{}")};
    bool found;
    TRY(file_next_version(c, row.thread_id, row.name, &v->version));
    row.version = v->version;
    TRY(file_write_row(c, &row));
    TRY(insert_version(c, row.id, v));
    TRY(file_find(c, row.thread_id, row.name, &found, out_file));
    return file_tell(c, exists ? EVENT_FILE_UPDATED : EVENT_FILE_CREATED, out_file, NULL);
}

/* The same as check_conditions, with the messages of an upload. */
static enum error check_expected_version(
    struct context *c, const struct file_put *put, bool exists, const struct file *file)
{
    if (exists && put->must_be_new)
        return problem_set(c->problem, ERR_STALE,
            "expected_version 0 requires a new file, but the file exists with version %lld",
            (long long)file->version);
    if (!exists && c->has_match)
        return problem_set(c->problem, ERR_STALE,
            "expected_version is %lld, but the file \"%.*s\" does not exist",
            (long long)c->match_versions[0], STR_ARG(put->name));
    if (exists && !context_matches(c, file->version))
        return problem_set(c->problem, ERR_STALE,
            "expected_version is %lld, but the file has version %lld",
            (long long)c->match_versions[0], (long long)file->version);
    return OK;
}

/* Compares the conditions of the request with the current state of the file. */
static enum error check_conditions(
    struct context *c, const struct file_put *put, bool exists, const struct file *file)
{
    if (put->is_upload)
        return check_expected_version(c, put, exists, file);
    if (exists && put->must_be_new)
        return problem_set(c->problem, ERR_STALE,
            "If-None-Match: * requires a new file, but the file exists with the ETag \"%lld\"",
            (long long)file->version);
    if (!exists && (put->must_exist || c->has_match))
        return problem_set(c->problem, ERR_STALE,
            "If-Match requires an existing file, but \"%.*s\" does not exist", STR_ARG(put->name));
    return exists ? context_check_match(c, file->version) : OK;
}

static enum error look(
    struct context *c, const struct file_put *put, bool *out_exists, struct file *out_file)
{
    struct thread thread;
    *out_file = (struct file){.thread_id = put->thread_id, .name = put->name};
    TRY(thread_get_head(c, put->thread_id, &thread));
    TRY(file_check_name(c, put->name, put->is_upload ? STR("/name") : STR("name")));
    TRY(file_check_type(
        c, put->content_type, put->is_upload ? STR("/content_type") : STR("Content-Type")));
    TRY(file_find(c, put->thread_id, put->name, out_exists, out_file));
    return check_conditions(c, put, *out_exists, out_file);
}

enum error file_check_put(struct context *c, const struct file_put *put)
{
    struct file file;
    bool exists;
    return look(c, put, &exists, &file);
}

enum error file_put(
    struct context *c, const struct file_put *put, bool *out_created, struct file *out_file)
{
    struct file known;
    bool exists = false;
    TRY(look(c, put, &exists, &known));
    struct new_version v = {.put = put};
    *out_created = !exists;
    return add_version(c, exists, &known, &v, out_file);
}

enum error file_restore(struct context *c, struct uuid thread_id, struct str name, int64_t version,
    struct file *out_file)
{
    struct file known;
    struct file_version old;
    TRY(file_get(c, thread_id, name, &known));
    TRY(context_check_match(c, known.version));
    TRY(file_get_version(c, thread_id, name, version, &old));
    struct new_version v = {.restored_from = version};
    return add_version(c, true, &known, &v, out_file);
}

enum error file_set_metadata(
    struct context *c, const struct file *before, struct str metadata, struct file *out_file)
{
    struct query q;
    bool found;
    context_query(c, &q, &SQL_FILE_SET_METADATA);
    query_uuid(&q, id, before->id);
    query_text(&q, metadata, metadata);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    TRY(file_find(c, before->thread_id, before->name, &found, out_file));
    return file_tell(c, EVENT_FILE_UPDATED, out_file, NULL);
}

/* --- Deletion -------------------------------------------------------------------------------- */

static enum error run_on_file(
    struct context *c, const struct sql_statement *statement, struct uuid id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error delete_whole(struct context *c, const struct file *file)
{
    TRY(blob_doubt_file(c, file->id));
    TRY(run_on_file(c, &SQL_FILE_END_SAVE, file->id));
    TRY(run_on_file(c, &SQL_FILE_DELETE, file->id));
    return file_tell(c, EVENT_FILE_DELETED, file, NULL);
}

enum error file_delete(struct context *c, struct uuid thread_id, struct str name)
{
    struct file file;
    TRY(file_get(c, thread_id, name, &file));
    TRY(context_check_match(c, file.version));
    return delete_whole(c, &file);
}

static enum error newest_other(
    struct context *c, const struct file *file, int64_t version, int64_t *out_newest)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_VERSION_NEWEST_OTHER);
    query_uuid(&q, file_id, file->id);
    query_i64(&q, version, version);
    return context_number(&q, out_newest);
}

static enum error delete_one(
    struct context *c, const struct file *file, int64_t version, int64_t newest)
{
    struct query q;
    struct file after;
    bool found;
    TRY(blob_doubt_version(c, file->id, version));
    context_query(c, &q, &SQL_FILE_VERSION_DELETE);
    query_uuid(&q, file_id, file->id);
    query_i64(&q, version, version);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_FILE_SET_CURRENT);
    query_uuid(&q, id, file->id);
    query_i64(&q, version, newest);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    TRY(file_find(c, file->thread_id, file->name, &found, &after));
    return file_tell(c, EVENT_FILE_UPDATED, &after, NULL);
}

enum error file_delete_version(
    struct context *c, struct uuid thread_id, struct str name, int64_t version)
{
    struct file file;
    struct file_version gone;
    int64_t newest;
    TRY(file_get(c, thread_id, name, &file));
    TRY(context_check_match(c, file.version));
    TRY(file_get_version(c, thread_id, name, version, &gone));
    TRY(newest_other(c, &file, version, &newest));
    return newest == 0 ? delete_whole(c, &file) : delete_one(c, &file, version, newest);
}

static enum error discard_versions(
    struct context *c, struct uuid file_id, int64_t limit, int64_t *out_deleted)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_DISCARD_VERSIONS);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, limit, limit);
    return query_run_counted(&q, out_deleted);
}

enum error file_discard_some(struct context *c, struct uuid file_id, int64_t limit)
{
    int64_t deleted;
    TRY(blob_doubt_some(c, file_id, limit));
    TRY(discard_versions(c, file_id, limit, &deleted));
    if (deleted == limit)
        return OK;
    struct query q;
    context_query(c, &q, &SQL_FILE_DELETE);
    query_uuid(&q, id, file_id);
    return query_run(&q);
}
