/* SPDX-License-Identifier: Apache-2.0 */
/* Resumable uploads. */
#include "api/files/files_api.h"
#include "api/handlers.h"

#define OF struct file_upload
static const struct field upload_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(
        STRING, name, IN_BODY | IN_READ, "name of the file", .min = 1, .max = FILE_NAME_MAX_BYTES),
    FIELD(INT, size_bytes, IN_BODY | IN_READ, "size of the complete file", .min = 1,
        .max = FILE_UPLOAD_MAX_BYTES),
    FIELD(STRING_OR_NULL, content_type, IN_BODY | IN_READ, "default: derived from the name",
        .min = 1, .max = FILE_TYPE_MAX_BYTES),
    FIELD(INT_OR_NULL, expected_version, IN_BODY | IN_READ,
        "required version of the file when the upload is completed; 0: the file must not exist"),
    FIELD(STRING_OR_NULL, sha256, IN_BODY | IN_READ,
        "SHA-256 of the complete file in hexadecimal, compared with the received bytes",
        .min = 2 * SHA256_LEN, .max = 2 * SHA256_LEN),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(INT, offset_bytes, IN_READ, "number of received bytes: offset of the next part"),
    FIELD(STRING_OR_NULL, created_by, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(TIME, expires_at, IN_READ,
        "time at which an idle upload is deleted; postponed by every part"),
};
#undef OF
const struct schema schema_upload = SCHEMA("Upload", struct file_upload, upload_fields, IN_READ);
const struct schema schema_upload_create =
    SCHEMA("UploadCreate", struct file_upload, upload_fields, IN_BODY);

/* Lease time is not the time of day. */
static void tell_times(const struct context *c, struct file_upload *upload)
{
    upload->expires_at = c->now_us + (upload->expires_at - c->lease_now_us);
}

enum error uploads_answer(
    struct call *call, const struct context *c, const struct file_upload *upload)
{
    struct file_upload told = *upload;
    tell_times(c, &told);
    call_add_header(call, STR("Upload-Offset"),
        arena_printf(call->arena, "%lld", (long long)told.offset_bytes));
    call_add_header(
        call, STR("Upload-Length"), arena_printf(call->arena, "%lld", (long long)told.size_bytes));
    return call_answer(call, &schema_upload, &told, 0);
}

enum error handle_upload_create(struct call *call, struct context *c)
{
    struct file_upload upload = *(const struct file_upload *)call->request.input;
    if ((uint64_t)upload.size_bytes > call->api->upload_max_bytes)
        return problem_fault(c->problem, STR("/size_bytes"),
            "must be at most %llu, the size limit of the server",
            (unsigned long long)call->api->upload_max_bytes);
    upload.thread_id = call->request.params[0];
    upload.content_type = files_media_type(upload.content_type, upload.name, STR_NONE);
    TRY(file_upload_create(c, &upload));
    return uploads_answer(call, c, &upload);
}

enum error handle_upload_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct file_upload *uploads = ARENA_ARRAY(call->arena, struct file_upload, page.limit);
    struct uuid before = UUID_NIL;
    bool has_before;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(file_upload_list(c, call->request.params[0], has_before, before, &page, uploads));
    for (size_t i = 0; i < page.count; i++)
        tell_times(c, &uploads[i]);
    return call_answer_page(
        call, &schema_upload, uploads, &page, CURSOR_BY(struct file_upload, id));
}

enum error handle_upload_get(struct call *call, struct context *c)
{
    struct file_upload upload;
    TRY(file_upload_get(c, call->request.params[0], call->request.params[1], &upload));
    return uploads_answer(call, c, &upload);
}

enum error handle_upload_delete(struct call *call, struct context *c)
{
    TRY(file_upload_delete(c, call->request.params[0], call->request.params[1]));
    return call_answer_nothing(call);
}

/* --- Bytes --------------------------------------------------------------------------------- */

struct append_query {
    bool has_offset;
    int64_t offset;
};
#define OF struct append_query
static const struct field append_fields[] = {
    FIELD(INT_OR_NONE, offset, IN_QUERY,
        "offset of the bytes, for clients that cannot send the header Upload-Offset",
        .max = FILE_UPLOAD_MAX_BYTES),
};
#undef OF
const struct schema query_upload_append =
    SCHEMA("UploadAppendQuery", struct append_query, append_fields, IN_QUERY);

static enum error read_offset(struct call *call, int64_t *out_offset)
{
    const struct append_query *q = call->request.query;
    const struct str name = STR("Upload-Offset");
    struct str given = http_header(call->request.http, name);
    if (str_is_none(given) && !q->has_offset)
        return problem_fault(&call->problem, name, "must be given: the offset of the bytes");
    *out_offset = q->offset;
    if (str_is_none(given))
        return OK;
    if (http_header_count(call->request.http, name) > 1 || !str_to_i64(given, out_offset) ||
        *out_offset < 0)
        return problem_fault(&call->problem, name, "must be one integer of at least 0");
    if (q->has_offset && q->offset != *out_offset)
        return problem_fault(&call->problem, name, "must be the same as ?offset=");
    return OK;
}

enum error admit_upload_append(struct call *call, struct context *c)
{
    struct file_upload upload;
    int64_t offset;
    TRY(file_upload_get(c, call->request.params[0], call->request.params[1], &upload));
    TRY(file_upload_check_writer(c, &upload));
    TRY(read_offset(call, &offset));
    TRY(file_upload_check_offset(c, &upload, offset));
    call->upload.is_resumed = true;
    call->upload.upload_id = upload.id;
    call->upload.id = upload.content_id;
    call->upload.offset = (uint64_t)upload.offset_bytes;
    call->upload.max_bytes = (uint64_t)(upload.size_bytes - upload.offset_bytes);
    call->upload.whole_bytes = (uint64_t)upload.size_bytes;
    return OK;
}

enum error handle_upload_append(struct call *call, struct context *c)
{
    const struct intake *in = &call->upload;
    const struct file_upload_piece piece = {.writer = in->writer,
        .size_bytes = (int64_t)in->size_bytes,
        .is_whole = in->has_whole,
        .hash = in->whole,
        .sealed_id = in->sealed_id};
    struct file_upload upload;
    TRY(file_upload_get(c, call->request.params[0], call->request.params[1], &upload));
    TRY(file_upload_check_offset(c, &upload, (int64_t)in->offset));
    TRY(file_upload_advance(c, &upload, &piece));
    return uploads_answer(call, c, &upload);
}

enum error handle_upload_complete(struct call *call, struct context *c)
{
    struct file_upload upload;
    struct file file;
    bool created;
    TRY(file_upload_get(c, call->request.params[0], call->request.params[1], &upload));
    TRY(file_upload_complete(c, &upload, &created, &file));
    return files_answer(call, &file, created);
}
