/* SPDX-License-Identifier: Apache-2.0 */
#include "model/files/files.h"

#include "base/utf8.h"
#include "model/files/file_rows.h"
#include "model/files/files.sql.h"
#include "model/threads/threads.h"

/* --- Checks of input ------------------------------------------------------------------------- */

enum error file_check_name(struct context *c, struct str name, struct str pointer)
{
    if (name.len == 0 || name.len > FILE_NAME_MAX_BYTES)
        return problem_fault(
            c->problem, pointer, "must have 1 to %d bytes of UTF-8", FILE_NAME_MAX_BYTES);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return problem_fault(c->problem, pointer, "must not contain control characters");
    return str_is_utf8(name) ? OK : problem_fault(c->problem, pointer, "must be UTF-8");
}

/* RFC 9110, section 5.6.2. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char b = s.ptr[i];
        bool plain = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z');
        if (!plain && !str_has_byte(STR("!#$%&'*+-.^_`|~"), b))
            return false;
    }
    return s.len > 0;
}

bool file_type_is_valid(struct str type)
{
    struct str essence = str_trim_blanks(str_slice(type, 0, str_find(type, ';')));
    size_t slash = str_find(essence, '/');
    bool good = type.len <= FILE_TYPE_MAX_BYTES && is_token(str_slice(essence, 0, slash)) &&
                is_token(str_slice(essence, slash + 1, essence.len));
    for (size_t i = 0; i < type.len; i++)
        good = good && type.ptr[i] >= ' ' && type.ptr[i] <= '~';
    return good;
}

enum error file_check_type(struct context *c, struct str type, struct str pointer)
{
    return file_type_is_valid(type)
               ? OK
               : problem_fault(c->problem, pointer,
                     "must be a media type such as text/plain, of at most %d bytes",
                     FILE_TYPE_MAX_BYTES);
}

/* --- Rows ------------------------------------------------------------------------------------ */

void file_read_row(struct context *c, struct query *q, struct file *out)
{
    file_read(q, out);
    out->sha256 = hex_encode(c->arena, out->sha256);
}

static void read_version(struct context *c, struct query *q, struct file_version *out)
{
    file_version_read(q, out);
    if (out->sha256.len == SHA256_LEN)
        memcpy(out->hash.bytes, out->sha256.ptr, SHA256_LEN);
    out->sha256 = hex_encode(c->arena, out->sha256);
}

enum error file_exists(struct context *c, struct uuid thread_id, struct str name, bool *out_exists)
{
    struct query q;
    int64_t found;
    context_query(c, &q, &SQL_FILE_EXISTS);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, name, name);
    TRY(context_number(&q, &found));
    *out_exists = found > 0;
    return OK;
}

enum error file_missing(struct context *c, struct str name)
{
    return problem_set(c->problem, ERR_NOT_FOUND, "the thread has no file \"%.*s\"", STR_ARG(name));
}

enum error file_find(struct context *c, struct uuid thread_id, struct str name, bool *out_found,
    struct file *out_file)
{
    struct query q;
    context_query(c, &q, &SQL_FILE_GET);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, name, name);
    *out_found = query_next(&q);
    if (*out_found)
        file_read_row(c, &q, out_file);
    return query_end(&q);
}

/* Checks that the thread exists, and locks it in a WRITE job. */
enum error file_get(
    struct context *c, struct uuid thread_id, struct str name, struct file *out_file)
{
    struct thread thread;
    bool found;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(file_find(c, thread_id, name, &found, out_file));
    return !found ? file_missing(c, name) : OK;
}

enum error file_get_version(struct context *c, struct uuid thread_id, struct str name,
    int64_t version, struct file_version *out_version)
{
    struct query q;
    struct file file;
    TRY(file_get(c, thread_id, name, &file));
    context_query(c, &q, &SQL_FILE_VERSION_GET);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, name, name);
    query_i64_if(&q, version, version > 0, version);
    bool found = query_next(&q);
    if (found)
        read_version(c, &q, out_version);
    TRY(query_end(&q));
    if (!found)
        return problem_set(c->problem, ERR_NOT_FOUND, "the file \"%.*s\" has no version %lld",
            STR_ARG(name), (long long)version);
    return OK;
}

/* --- Lists ----------------------------------------------------------------------------------- */

/* Returns the last code point of a text, and its position in out_at. */
static uint32_t last_code_point(struct str text, size_t *out_at)
{
    size_t at = text.len - 1;
    while (at > 0 && ((unsigned char)text.ptr[at] & 0xc0) == 0x80)
        at--;
    unsigned char lead = (unsigned char)text.ptr[at];
    uint32_t point = lead < 0x80    ? lead
                     : lead >= 0xf0 ? lead & 7
                     : lead >= 0xe0 ? lead & 15
                                    : lead & 31;
    for (size_t i = at + 1; i < text.len; i++)
        point = point << 6 | ((unsigned char)text.ptr[i] & 0x3f);
    *out_at = at;
    return point;
}

/* Returns the least text that is greater than all texts with this prefix, or STR_NONE if there is
 * none. Bytewise order is the order of code points. */
static struct str end_of_prefix(struct arena *arena, struct str prefix)
{
    while (prefix.len > 0) {
        size_t at;
        uint32_t point = last_code_point(prefix, &at) + 1;
        if (point == 0xd800)
            point = 0xe000;
        prefix = str_slice(prefix, 0, at);
        if (point > 0x10ffff)
            continue;
        char *text = arena_alloc(arena, at + UTF8_MAX_LEN);
        if (at > 0)
            memcpy(text, prefix.ptr, at);
        return (struct str){text, at + utf8_encode(point, text + at)};
    }
    return STR_NONE;
}

enum error file_list(
    struct context *c, const struct file_filter *filter, struct page *page, struct file *out_files)
{
    struct query q;
    struct thread thread;
    TRY(thread_get_head(c, filter->thread_id, &thread));
    page_begin(c, &q, &SQL_FILE_LIST, page);
    query_uuid(&q, thread_id, filter->thread_id);
    query_text(&q, after, filter->after);
    query_text(&q, prefix, filter->prefix);
    query_text(&q, prefix_end, end_of_prefix(c->arena, filter->prefix));
    while (page_next(&q, page))
        file_read_row(c, &q, &out_files[page->count++]);
    return query_end(&q);
}

enum error file_list_versions(struct context *c, struct uuid thread_id, struct str name,
    int64_t before, struct page *page, struct file_version *out_versions)
{
    struct query q;
    struct file file;
    TRY(file_get(c, thread_id, name, &file));
    page_begin(c, &q, &SQL_FILE_VERSION_LIST, page);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, name, name);
    query_i64_if(&q, before, before > 0, before);
    while (page_next(&q, page))
        read_version(c, &q, &out_versions[page->count++]);
    return query_end(&q);
}
