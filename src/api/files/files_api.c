/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a thread, as JSON. file_bytes_api.c has their bytes. */
#include "api/files/files_api.h"

#include "api/handlers.h"
#include "base/hash.h"

#define OF struct file
static const struct field file_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(STRING, name, IN_READ),
    FIELD(INT, version, IN_READ, "current version; number in the ETag of the bytes"),
    FIELD(INT, size_bytes, IN_READ),
    FIELD(STRING, sha256, IN_READ, "SHA-256 of the bytes, in hexadecimal"),
    FIELD(STRING, content_type, IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ,
        "principal that wrote this version; null for a key without a principal"),
    FIELD(OBJECT_OR_NONE, metadata, IN_PATCH | IN_READ, "any JSON object",
        .max = FILE_METADATA_MAX_BYTES),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(
        INT, revision, IN_READ, "increases with every change; number in the ETag of this document"),
};
#undef OF
const struct schema schema_file = SCHEMA("File", struct file, file_fields, IN_READ);
const struct schema schema_file_patch = SCHEMA("FilePatch", struct file, file_fields, IN_PATCH);

#define OF struct file_version
static const struct field version_fields[] = {
    FIELD(INT, version, IN_READ),
    FIELD(INT, size_bytes, IN_READ),
    FIELD(STRING, sha256, IN_READ),
    FIELD(STRING, content_type, IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD_HAS(UUID_OR_NULL, "source_thread_id", source_thread_id, has_source, IN_READ,
        "thread from which the version was copied"),
    FIELD(STRING_OR_NULL, source_name, IN_READ),
    FIELD_HAS(INT_OR_NULL, "source_version", source_version, has_source, IN_READ),
    FIELD(INT_OR_NULL, restored_from, IN_READ, "version that was restored"),
};
#undef OF
const struct schema schema_file_version =
    SCHEMA("FileVersion", struct file_version, version_fields, IN_READ);

struct files_query {
    struct page_query page;
    struct str prefix;
};
#define OF struct files_query
static const struct field files_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, prefix, IN_QUERY, "prefix of the names", .min = 1,
        .max = FILE_NAME_MAX_BYTES),
};
#undef OF
const struct schema query_files =
    SCHEMA("FilesQuery", struct files_query, files_query_fields, IN_QUERY);

struct restore_body {
    int64_t version;
};
#define OF struct restore_body
static const struct field restore_fields[] = {
    FIELD(INT, version, IN_BODY, "version to restore", .min = 1),
};
#undef OF
const struct schema schema_file_restore =
    SCHEMA("FileRestore", struct restore_body, restore_fields, IN_BODY);

#define IF_EXISTS(X) X(IF_EXISTS_REFUSE, "refuse") X(IF_EXISTS_ADD_VERSION, "add_version")
ENUM_DECLARE(if_exists, IF_EXISTS_NONE, if_exists_words, IF_EXISTS);
ENUM_DEFINE(if_exists_words, IF_EXISTS);

struct copy_body {
    struct uuid thread_id;
    struct str name;
    bool has_version;
    int64_t version;
    bool has_history;
    bool history;
    enum if_exists if_exists;
};
#define OF struct copy_body
static const struct field copy_fields[] = {
    FIELD(UUID, thread_id, IN_BODY, "target thread"),
    FIELD(STRING_OR_NULL, name, IN_BODY, "name in the target thread; default: the same name",
        .min = 1, .max = FILE_NAME_MAX_BYTES),
    FIELD(INT_OR_NULL, version, IN_BODY, "version to copy; default: the current version", .min = 1),
    FIELD(BOOL_OR_NONE, history, IN_BODY, "copy the previous versions too"),
    FIELD(ENUM_OR_NONE, if_exists, IN_BODY,
        "if the target has a file of that name: refuse (default) or add_version",
        .choices = if_exists_words),
};
#undef OF
const struct schema schema_file_copy = SCHEMA("FileCopy", struct copy_body, copy_fields, IN_BODY);

/* --- Cursors ------------------------------------------------------------------------------- */

/* --- Handlers ------------------------------------------------------------------------------ */

enum error files_answer(struct call *call, const struct file *file, bool is_new)
{
    call->answer.status = is_new ? 201 : 200;
    return call_answer(call, &schema_file, file, file->version);
}

enum error handle_file_list(struct call *call, struct context *c)
{
    const struct files_query *q = call->request.query;
    struct file_filter filter = {.thread_id = call->request.params[0], .prefix = q->prefix};
    struct page page = page_of(&q->page);
    struct file *files = ARENA_ARRAY(call->arena, struct file, page.limit);
    TRY(cursor_to_text(call, q->page.cursor, &filter.after));
    TRY(file_list(c, &filter, &page, files));
    return call_answer_page(call, &schema_file, files, &page, CURSOR_BY(struct file, name));
}

enum error handle_file_info(struct call *call, struct context *c)
{
    struct file file;
    TRY(file_get(c, call->request.params[0], call->request.texts[1], &file));
    return call_answer(call, &schema_file, &file, file.revision);
}

static enum error check_revision(struct context *c, const struct file *file)
{
    if (context_matches(c, file->revision))
        return OK;
    return problem_set(c->problem, ERR_STALE,
        "If-Match must be the ETag of the file's info: \"r%lld\"", (long long)file->revision);
}

enum error handle_file_patch(struct call *call, struct context *c)
{
    struct file before, after;
    TRY(file_get(c, call->request.params[0], call->request.texts[1], &before));
    TRY(check_revision(c, &before));
    TRY(call_apply_patch(call, &before, &after));
    TRY(file_set_metadata(
        c, &before, str_is_none(after.metadata) ? STR("{}") : after.metadata, &after));
    return call_answer(call, &schema_file, &after, after.revision);
}

enum error handle_file_delete(struct call *call, struct context *c)
{
    TRY(file_delete(c, call->request.params[0], call->request.texts[1]));
    return call_answer_nothing(call);
}

enum error handle_file_versions(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct file_version *versions = ARENA_ARRAY(call->arena, struct file_version, page.limit);
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(file_list_versions(
        c, call->request.params[0], call->request.texts[1], before, &page, versions));
    return call_answer_page(
        call, &schema_file_version, versions, &page, CURSOR_BY(struct file_version, version));
}

enum error handle_file_version_delete(struct call *call, struct context *c)
{
    TRY(file_delete_version(
        c, call->request.params[0], call->request.texts[1], call->request.numbers[2]));
    return call_answer_nothing(call);
}

enum error handle_file_restore(struct call *call, struct context *c)
{
    const struct restore_body *body = call->request.input;
    struct file file;
    TRY(file_restore(c, call->request.params[0], call->request.texts[1], body->version, &file));
    return files_answer(call, &file, false);
}

enum error handle_file_copy(struct call *call, struct context *c)
{
    const struct copy_body *body = call->request.input;
    struct file_copy copy = {.from_thread_id = call->request.params[0],
        .from_name = call->request.texts[1],
        .version = body->has_version ? body->version : 0,
        .to_thread_id = body->thread_id,
        .to_name = str_is_none(body->name) ? call->request.texts[1] : body->name,
        .with_history = body->has_history && body->history,
        .may_exist = body->if_exists == IF_EXISTS_ADD_VERSION};
    struct file file;
    bool created;
    TRY(file_copy(c, &copy, &created, &file));
    return files_answer(call, &file, created);
}
