/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of files, in and out. */
#include "api/files/files_api.h"
#include "api/handlers.h"
#include "model/files/blobs.h"

/* --- Upload -------------------------------------------------------------------------------- */

/* Reads the properties of the file from the request, without the bytes. */
static enum error read_put(struct call *call, struct context *c, struct file_put *out_put)
{
    const struct str none_match = STR("If-None-Match");
    struct str given = http_header(call->request.http, STR("Content-Type"));
    struct str condition = http_header(call->request.http, none_match);
    *out_put = (struct file_put){.thread_id = call->request.params[0],
        .name = call->request.texts[1],
        .content_type = files_media_type(given, call->request.texts[1], call->upload.head),
        .must_be_new = !str_is_none(condition),
        .must_exist = str_eq(http_header(call->request.http, STR("If-Match")), STR("*"))};
    if (!str_is_none(condition) && !str_eq(condition, STR("*")))
        return problem_fault(
            c->problem, none_match, "must be *: only creating a new file can be required");
    return OK;
}

enum error admit_file_put(struct call *call, struct context *c)
{
    struct file_put put;
    TRY(read_put(call, c, &put));
    return file_check_put(c, &put);
}

enum error handle_file_put(struct call *call, struct context *c)
{
    struct blob stored, brought = intake_blob(&call->upload);
    struct file_put put;
    struct file file;
    bool created;
    TRY(read_put(call, c, &put));
    TRY(file_check_put(c, &put));
    TRY(blob_adopt(c, &brought, &stored));
    TRY(blob_mend(c, call->api->store, &brought, &stored));
    put.sha256 = stored.sha256;
    put.size_bytes = stored.size_bytes;
    TRY(file_put(c, &put, &created, &file));
    return files_answer(call, &file, created);
}

/* --- Download ------------------------------------------------------------------------------ */

struct get_query {
    bool has_version;
    int64_t version;
};
#define OF struct get_query
static const struct field get_fields[] = {
    FIELD(INT_OR_NONE, version, IN_QUERY, "default: the newest version", .min = 1),
};
#undef OF
const struct schema query_file_get = SCHEMA("FileQuery", struct get_query, get_fields, IN_QUERY);

static enum error answer_version(struct call *call, struct context *c, int64_t version)
{
    struct file_version v;
    TRY(file_get_version(c, call->request.params[0], call->request.texts[1], version, &v));
    call_add_header(
        call, STR("Cairn-File-Version"), arena_printf(call->arena, "%lld", (long long)v.version));
    struct blob blob = {.id = v.blob_id, .sha256 = v.hash, .size_bytes = v.size_bytes};
    struct download_facts facts = {.content_type = v.content_type,
        .file_name = call->request.texts[1],
        .etag = arena_printf(call->arena, "\"%lld\"", (long long)v.version),
        .last_modified_us = v.created_at};
    return call_answer_blob(call, &blob, &facts);
}

enum error handle_file_get(struct call *call, struct context *c)
{
    const struct get_query *q = call->request.query;
    return answer_version(call, c, q->has_version ? q->version : 0);
}

enum error handle_file_version_get(struct call *call, struct context *c)
{
    return answer_version(call, c, call->request.numbers[2]);
}
