/* SPDX-License-Identifier: Apache-2.0 */
#include "model/files/file_uploads.h"

#include "model/files/blob_doubts.h"
#include "model/files/blobs.h"
#include "model/files/file_uploads.sql.h"
#include "model/threads/threads.h"

/* --- Rows ------------------------------------------------------------------------------------ */

static void read_row(struct context *c, struct query *q, struct file_upload *out)
{
    file_upload_read(q, out);
    if (!str_is_none(out->sha256))
        out->sha256 = hex_encode(c->arena, out->sha256);
    struct str hash = row_bytes(q);
    out->is_hashed = hash.len == SHA256_LEN;
    if (out->is_hashed)
        memcpy(out->hash.bytes, hash.ptr, SHA256_LEN);
}

static enum error find(struct context *c, struct uuid thread_id, struct uuid id, bool *out_found,
    struct file_upload *out_upload)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_UPLOAD_GET);
    query_uuid(&q, thread_id, thread_id);
    query_uuid(&q, id, id);
    *out_found = query_next(&q);
    if (*out_found)
        read_row(c, &q, out_upload);
    return query_end(&q);
}

enum error file_upload_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct file_upload *out_upload)
{
    struct thread thread;
    bool found;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(find(c, thread_id, id, &found, out_upload));
    /* An expired upload no longer exists for clients, even before a sweep deletes it. */
    if (!found || out_upload->expires_at <= c->lease_now_us)
        return context_not_found(c, "upload", id);
    return OK;
}

enum error file_upload_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, struct page *page, struct file_upload *out_uploads)
{
    struct query q;
    struct thread thread;
    TRY(thread_get_head(c, thread_id, &thread));
    page_begin(c, &q, &SQL_FILE_UPLOAD_LIST, page);
    query_uuid(&q, thread_id, thread_id);
    query_uuid_if(&q, before, has_before, before);
    while (page_next(&q, page))
        read_row(c, &q, &out_uploads[page->count++]);
    return query_end(&q);
}

/* --- Beginning ------------------------------------------------------------------------------- */

static enum error decode_hash(struct context *c, struct str hex, struct str *out_bytes)
{
    *out_bytes = STR_NONE;
    if (str_is_none(hex))
        return OK;
    char *bytes = arena_alloc(c->arena, SHA256_LEN);
    if (!hex_decode(hex, bytes, SHA256_LEN))
        return problem_fault(
            c->problem, STR("/sha256"), "must be %d hexadecimal digits", 2 * SHA256_LEN);
    *out_bytes = (struct str){bytes, SHA256_LEN};
    return OK;
}

static enum error check_room(struct context *c, struct uuid thread_id)
{
    struct query q;
    int64_t count;
    context_query(c, &q, &SQL_FILE_UPLOAD_COUNT);
    query_uuid(&q, thread_id, thread_id);
    TRY(context_number(&q, &count));
    if (count >= FILE_UPLOADS_MAX)
        return problem_set(c->problem, ERR_CONFLICT,
            "the thread has %d unfinished uploads, the maximum: complete or delete one",
            FILE_UPLOADS_MAX);
    return OK;
}

/* The conditions for the upload to become the next version of the file. */
static enum error check_file(struct context *c, const struct file_upload *u)
{
    struct file_put put = {.thread_id = u->thread_id,
        .name = u->name,
        .content_type = u->content_type,
        .is_upload = true,
        .must_be_new = u->has_expected_version && u->expected_version == 0};
    c->has_match = false;
    if (u->has_expected_version && u->expected_version > 0)
        context_match_only(c, u->expected_version);
    return file_check_put(c, &put);
}

static int64_t end_of_life(const struct context *c)
{
    return c->lease_now_us + (int64_t)FILE_UPLOAD_LIFE_S * 1000000;
}

enum error file_upload_create(struct context *c, struct file_upload *upload)
{
    struct str hash;
    struct query q;
    TRY(check_file(c, upload));
    TRY(decode_hash(c, upload->sha256, &hash));
    TRY(check_room(c, upload->thread_id));
    upload->id = uuid_v7();
    upload->created_by = c->principal;
    upload->expires_at = end_of_life(c);
    context_query(c, &q, &SQL_FILE_UPLOAD_INSERT);
    file_upload_bind(&q, upload);
    query_bytes(&q, expected_sha256, hash);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return file_upload_get(c, upload->thread_id, upload->id, upload);
}

/* --- Going on -------------------------------------------------------------------------------- */

enum error file_upload_check_offset(
    struct context *c, const struct file_upload *upload, int64_t offset)
{
    if (offset == upload->offset_bytes)
        return OK;
    c->problem->extension =
        arena_printf(c->arena, "{\"offset_bytes\":%lld}", (long long)upload->offset_bytes);
    return problem_set(c->problem, ERR_CONFLICT, "the upload continues at offset %lld, not %lld",
        (long long)upload->offset_bytes, (long long)offset);
}

enum error file_upload_check_writer(struct context *c, const struct file_upload *upload)
{
    /* An upload that a service created is open to all who may write. */
    if (str_is_none(c->principal) || str_is_none(upload->created_by) ||
        str_eq(c->principal, upload->created_by))
        return OK;
    return problem_set(c->problem, ERR_FORBIDDEN,
        "only the principal that started the upload can continue, complete or delete it");
}

static int64_t end_of_lease(const struct context *c)
{
    return c->lease_now_us + (int64_t)FILE_UPLOAD_LEASE_S * 1000000;
}

static enum error lost(struct context *c)
{
    return problem_set(c->problem, ERR_CONFLICT,
        "another request is writing to the upload: read its progress before you continue");
}

/* Returns the reason why the lease was not given. */
static enum error refuse_lease(
    struct context *c, struct uuid thread_id, struct uuid id, int64_t offset)
{
    struct file_upload upload;
    TRY(file_upload_get(c, thread_id, id, &upload));
    TRY(file_upload_check_offset(c, &upload, offset));
    if (!upload.has_writer)
        return problem_set(
            c->problem, ERR_CONFLICT, "all bytes have been received: complete the upload");
    return problem_set(c->problem, ERR_CONFLICT,
        "another request is writing to the upload: try again when that request has ended, or in "
        "%lld seconds",
        (long long)((upload.writer_until - c->lease_now_us) / 1000000 + 1));
}

enum error file_upload_lease(
    struct context *c, struct uuid thread_id, struct uuid id, int64_t offset, struct uuid writer)
{
    struct query q;
    int64_t changed;
    context_query(c, &q, &SQL_FILE_UPLOAD_LEASE);
    query_uuid(&q, id, id);
    query_i64(&q, offset_bytes, offset);
    query_uuid(&q, writer, writer);
    query_i64(&q, writer_until, end_of_lease(c));
    query_i64(&q, lease_now, c->lease_now_us);
    /* If there is only one process, writers of earlier processes are dead. */
    query_uuid(&q, began, tx_is_shared(c->tx) ? UUID_NIL : tx_first_id(c->tx));
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? refuse_lease(c, thread_id, id, offset) : OK;
}

enum error file_upload_renew(struct context *c, struct uuid id, struct uuid writer)
{
    struct query q;
    int64_t changed;
    context_query(c, &q, &SQL_FILE_UPLOAD_RENEW);
    query_uuid(&q, id, id);
    query_uuid(&q, writer, writer);
    query_i64(&q, writer_until, end_of_lease(c));
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? lost(c) : OK;
}

enum error file_upload_release(struct context *c, struct uuid id, struct uuid writer)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_UPLOAD_RELEASE);
    query_uuid(&q, id, id);
    query_uuid(&q, writer, writer);
    return query_run(&q);
}

/* From here on the content has an id to which no request writes; the old id is removed. */
static enum error seal(struct context *c, const struct file_upload *upload, struct uuid sealed_id)
{
    struct query q;
    if (tx_engine(c->tx) == ENGINE_POSTGRES) {
        context_query(c, &q, &SQL_FILE_UPLOAD_SEAL);
        query_uuid(&q, id, upload->content_id);
        query_uuid(&q, content_id, sealed_id);
        TRY(query_run(&q));
    }
    return blob_doubt(c, upload->content_id);
}

static enum error record(
    struct context *c, const struct file_upload *upload, const struct file_upload_piece *piece)
{
    struct str hash = {(const char *)piece->hash.bytes, SHA256_LEN};
    struct query q;
    int64_t changed;
    context_query(c, &q, &SQL_FILE_UPLOAD_ADVANCE);
    query_uuid(&q, id, upload->id);
    query_uuid(&q, writer, piece->writer);
    query_i64(&q, offset_bytes, piece->size_bytes);
    query_bytes(&q, sha256, piece->is_whole ? hash : STR_NONE);
    query_uuid(&q, content_id, piece->is_whole ? piece->sealed_id : upload->content_id);
    query_i64(&q, now, c->now_us);
    query_i64(&q, expires_at, end_of_life(c));
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? lost(c) : OK;
}

enum error file_upload_advance(
    struct context *c, struct file_upload *upload, const struct file_upload_piece *piece)
{
    if (piece->size_bytes > upload->size_bytes)
        return problem_set(c->problem, ERR_TOO_LARGE,
            "the upload is declared with %lld bytes, but would have %lld",
            (long long)upload->size_bytes, (long long)piece->size_bytes);
    TRY(record(c, upload, piece));
    if (piece->is_whole)
        TRY(seal(c, upload, piece->sealed_id));
    return file_upload_get(c, upload->thread_id, upload->id, upload);
}

/* --- The end --------------------------------------------------------------------------------- */

static enum error drop(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_UPLOAD_DELETE);
    query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error check_whole(struct context *c, const struct file_upload *u)
{
    if (u->offset_bytes < u->size_bytes || !u->is_hashed) {
        c->problem->extension =
            arena_printf(c->arena, "{\"offset_bytes\":%lld}", (long long)u->offset_bytes);
        return problem_set(c->problem, ERR_CONFLICT, "only %lld of %lld bytes have been received",
            (long long)u->offset_bytes, (long long)u->size_bytes);
    }
    struct str hash = hex_encode(c->arena, (struct str){(const char *)u->hash.bytes, SHA256_LEN});
    if (!str_is_none(u->sha256) && !str_eq(u->sha256, hash))
        return problem_set(c->problem, ERR_CONFLICT,
            "the received bytes have the SHA-256 %.*s, not the declared one: delete the upload",
            STR_ARG(hash));
    return OK;
}

enum error file_upload_complete(
    struct context *c, struct file_upload *u, bool *out_created, struct file *out_file)
{
    struct blob stored,
        brought = {.id = u->content_id, .sha256 = u->hash, .size_bytes = u->size_bytes};
    TRY(file_upload_check_writer(c, u));
    TRY(check_whole(c, u));
    TRY(check_file(c, u));
    TRY(drop(c, u->id));
    TRY(blob_adopt(c, &brought, &stored));
    if (!uuid_eq(stored.id, u->content_id))
        TRY(blob_doubt(c, u->content_id));
    struct file_put put = {.thread_id = u->thread_id,
        .name = u->name,
        .sha256 = u->hash,
        .size_bytes = u->size_bytes,
        .content_type = u->content_type,
        .is_upload = true,
        .must_be_new = u->has_expected_version && u->expected_version == 0};
    return file_put(c, &put, out_created, out_file);
}

enum error file_upload_delete(struct context *c, struct uuid thread_id, struct uuid id)
{
    struct file_upload upload;
    TRY(file_upload_get(c, thread_id, id, &upload));
    TRY(file_upload_check_writer(c, &upload));
    TRY(drop(c, id));
    return blob_doubt(c, upload.content_id);
}

enum error file_upload_list_expired(
    struct context *c, size_t limit, struct owned_id *out_uploads, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_FILE_UPLOAD_EXPIRED, c->arena);
    query_i64(&q, lease_now, c->lease_now_us);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_uploads, out_count);
}

enum error file_upload_expire(struct context *c, struct uuid id)
{
    struct query q;
    struct uuid thread_id = UUID_NIL;
    struct file_upload upload;
    bool found = false;
    context_query(c, &q, &SQL_FILE_UPLOAD_THREAD);
    query_uuid(&q, id, id);
    while (query_next(&q)) {
        thread_id = row_uuid(&q);
        found = true;
    }
    TRY(query_end(&q));
    if (!found)
        return OK;
    TRY(context_lock_thread(c, thread_id));
    TRY(find(c, thread_id, id, &found, &upload));
    if (!found || upload.expires_at > c->lease_now_us)
        return OK;
    TRY(drop(c, id));
    return blob_doubt(c, upload.content_id);
}
