/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a thread: what is told of them in JSON. Their bytes: file_bytes_api.c. */
#include "api/files/files_api.h"

#include "api/resources.h"
#include "base/hash.h"

#define FILE_FIELD(member) offsetof(struct file, member)
static const struct field file_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = FILE_FIELD(id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(thread_id)},
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_READ_ONLY, .offset = FILE_FIELD(name)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(version),
        .summary = "the current one; the number of the ETag of its bytes"},
    {.name = "size_bytes",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(size_bytes)},
    {.name = "sha256",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(sha256),
        .summary = "of the bytes, in hexadecimal"},
    {.name = "content_type",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(content_type)},
    {.name = "created_by",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = FILE_FIELD(created_by),
        .summary = "the principal whose key brought this version; null for a key without one"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = FILE_FIELD(metadata),
        .max = FILE_METADATA_MAX_BYTES,
        .summary = "an object of your own"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(updated_at)},
    {.name = "revision",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FILE_FIELD(revision),
        .summary = "counts every change; the number of the ETag of this document"},
};
enum { FILE_METADATA_AT = 8 };
const struct schema schema_file = {
    "File", file_fields, COUNT_OF(file_fields), sizeof(struct file), 0};
const struct schema schema_file_patch = {
    "FilePatch", &file_fields[FILE_METADATA_AT], 1, sizeof(struct file), 0};

#define VERSION_FIELD(member) offsetof(struct file_version, member)
static const struct field version_fields[] = {
    {.name = "version", .kind = FIELD_INT, .offset = VERSION_FIELD(version)},
    {.name = "size_bytes", .kind = FIELD_INT, .offset = VERSION_FIELD(size_bytes)},
    {.name = "sha256", .kind = FIELD_STRING, .offset = VERSION_FIELD(sha256)},
    {.name = "content_type", .kind = FIELD_STRING, .offset = VERSION_FIELD(content_type)},
    {.name = "created_by",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(created_by)},
    {.name = "created_at", .kind = FIELD_TIME, .offset = VERSION_FIELD(created_at)},
    {.name = "source_thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(source_thread_id),
        .has_offset = VERSION_FIELD(has_source),
        .summary = "the thread that it was copied from"},
    {.name = "source_name",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(source_name)},
    {.name = "source_version",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(source_version),
        .has_offset = VERSION_FIELD(has_source)},
    {.name = "restored_from",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(restored_from),
        .has_offset = VERSION_FIELD(has_restored_from),
        .summary = "the version that it brought back"},
};
const struct schema schema_file_version = {
    "FileVersion", version_fields, COUNT_OF(version_fields), sizeof(struct file_version), 0};

struct files_query {
    struct page_query page;
    struct str prefix;
};
static const struct field files_query_fields[] = {
    {.name = "cursor",
        .kind = FIELD_STRING,
        .offset = offsetof(struct files_query, page.cursor),
        .max = 400, /* a name in base64 */
        .summary = "next_cursor of the page before"},
    {.name = "limit",
        .kind = FIELD_INT,
        .offset = offsetof(struct files_query, page.limit),
        .has_offset = offsetof(struct files_query, page.has_limit),
        .min = 1,
        .max = PAGE_MAX,
        .summary = "items a page, 50 unless told"},
    {.name = "prefix",
        .kind = FIELD_STRING,
        .offset = offsetof(struct files_query, prefix),
        .min = 1,
        .max = FILE_NAME_MAX_BYTES,
        .summary = "what the names begin with"},
};
const struct schema query_files = {
    "FilesQuery", files_query_fields, COUNT_OF(files_query_fields), sizeof(struct files_query), 0};

struct versions_query {
    struct page_query page;
};
static const struct field versions_query_fields[] = {PAGE_FIELDS(struct versions_query)};
const struct schema query_file_versions = {"FileVersionsQuery", versions_query_fields,
    COUNT_OF(versions_query_fields), sizeof(struct versions_query), 0};

struct restore_body {
    int64_t version;
};
static const struct field restore_fields[] = {
    {.name = "version",
        .kind = FIELD_INT,
        .offset = offsetof(struct restore_body, version),
        .min = 1,
        .summary = "the one to bring back"},
};
const struct schema schema_file_restore = {
    "FileRestore", restore_fields, 1, sizeof(struct restore_body), 0};

static const char *const if_exists_choices[] = {"refuse", "add_version", NULL};
struct copy_body {
    struct uuid thread_id;
    struct str name;
    bool has_version;
    int64_t version;
    bool has_history;
    bool history;
    struct str if_exists;
};
#define COPY_FIELD(member) offsetof(struct copy_body, member)
static const struct field copy_fields[] = {
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .offset = COPY_FIELD(thread_id),
        .summary = "where it goes"},
    {.name = "name",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = COPY_FIELD(name),
        .min = 1,
        .max = FILE_NAME_MAX_BYTES,
        .summary = "what it is called there; as here unless told"},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = COPY_FIELD(version),
        .has_offset = COPY_FIELD(has_version),
        .min = 1,
        .summary = "which one; the current one unless told"},
    {.name = "history",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = COPY_FIELD(history),
        .has_offset = COPY_FIELD(has_history),
        .summary = "the versions before it too"},
    {.name = "if_exists",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = COPY_FIELD(if_exists),
        .choices = if_exists_choices,
        .summary = "when there is a file of that name: refuse, unless told to add_version"},
};
const struct schema schema_file_copy = {
    "FileCopy", copy_fields, COUNT_OF(copy_fields), sizeof(struct copy_body), 0};

/* --- Cursors ---------------------------------------------------------------------------------- */

static enum error bad_cursor(struct call *call)
{
    problem_fault(&call->problem, STR("cursor"), "must be a next_cursor of this list");
    return call->problem.code = ERR_BAD_CURSOR;
}

static struct str name_cursor(struct arena *arena, const void *item)
{
    return base64url_encode(arena, ((const struct file *)item)->name);
}

static enum error read_name_cursor(struct call *call, struct str cursor, struct str *out_name)
{
    *out_name = STR_NONE;
    if (str_is_none(cursor))
        return OK;
    bool good = base64url_decode(call->arena, cursor, out_name) && out_name->len > 0 &&
                str_is_utf8(*out_name) && !str_has_byte(*out_name, '\0');
    return good ? OK : bad_cursor(call);
}

static struct str version_cursor(struct arena *arena, const void *item)
{
    long long version = ((const struct file_version *)item)->version;
    return base64url_encode(arena, arena_printf(arena, "%lld", version));
}

static enum error read_version_cursor(struct call *call, struct str cursor, int64_t *out_version)
{
    struct str text;
    *out_version = 0;
    if (str_is_none(cursor))
        return OK;
    bool good = base64url_decode(call->arena, cursor, &text) && str_to_i64(text, out_version) &&
                *out_version > 0;
    return good ? OK : bad_cursor(call);
}

/* --- Handlers -------------------------------------------------------------------------------- */

void files_answer(struct call *call, const struct file *file, bool is_new)
{
    call->answer.status = is_new ? 201 : 200;
    call_answer(call, &schema_file, file, file->version);
}

enum error handle_file_list(struct call *call, struct context *c)
{
    const struct files_query *q = call->request.query;
    struct file_filter filter = {.thread_id = call->request.params[0], .prefix = q->prefix};
    size_t limit = page_limit(&q->page), count;
    struct file *files = ARENA_ARRAY(call->arena, struct file, limit);
    bool more;
    enum error e = read_name_cursor(call, q->page.cursor, &filter.after);
    if (e == OK)
        e = file_list(c, &filter, limit, files, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_file, files, count, more, name_cursor);
    return e;
}

enum error handle_file_info(struct call *call, struct context *c)
{
    struct file file;
    enum error e = file_get(c, call->request.params[0], call->request.texts[1], &file);
    if (e == OK)
        call_answer(call, &schema_file, &file, file.revision);
    return e;
}

static enum error check_revision(struct context *c, const struct file *file)
{
    if (!c->has_match || c->match_version == file->revision)
        return OK;
    return problem_set(c->problem, ERR_STALE,
        "If-Match must be the ETag of the file's info: \"r%lld\"", (long long)file->revision);
}

enum error handle_file_patch(struct call *call, struct context *c)
{
    struct file before, after;
    enum error e = file_get(c, call->request.params[0], call->request.texts[1], &before);
    if (e == OK)
        e = check_revision(c, &before);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = file_set_metadata(
            c, &before, str_is_none(after.metadata) ? STR("{}") : after.metadata, &after);
    if (e == OK)
        call_answer(call, &schema_file, &after, after.revision);
    return e;
}

enum error handle_file_delete(struct call *call, struct context *c)
{
    enum error e = file_delete(c, call->request.params[0], call->request.texts[1]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

enum error handle_file_versions(struct call *call, struct context *c)
{
    const struct versions_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct file_version *versions = ARENA_ARRAY(call->arena, struct file_version, limit);
    int64_t before;
    bool more;
    enum error e = read_version_cursor(call, q->page.cursor, &before);
    if (e == OK)
        e = file_list_versions(c, call->request.params[0], call->request.texts[1], before, limit,
            versions, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_file_version, versions, count, more, version_cursor);
    return e;
}

enum error handle_file_version_delete(struct call *call, struct context *c)
{
    enum error e = file_delete_version(
        c, call->request.params[0], call->request.texts[1], call->request.numbers[2]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

enum error handle_file_restore(struct call *call, struct context *c)
{
    const struct restore_body *body = call->request.input;
    struct file file;
    enum error e =
        file_restore(c, call->request.params[0], call->request.texts[1], body->version, &file);
    if (e == OK)
        files_answer(call, &file, false);
    return e;
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
        .may_exist = str_eq(body->if_exists, STR("add_version"))};
    struct file file;
    bool created;
    enum error e = file_copy(c, &copy, &created, &file);
    if (e == OK)
        files_answer(call, &file, created);
    return e;
}
