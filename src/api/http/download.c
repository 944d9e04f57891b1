/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/download.h"

#include <time.h>

#include "api/http/call.h"

/* --- Life ----------------------------------------------------------------------------------- */

void download_init(struct download *d)
{
    *d = (struct download){0};
}

void download_drop(struct download *d)
{
    content_close(d->spool);
    if (d->drop_fill != NULL)
        d->drop_fill(d->fill_data);
    download_init(d);
}

/* --- The head ------------------------------------------------------------------------------- */

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static struct str http_date(struct arena *arena, int64_t time_us)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm t;
    gmtime_r(&seconds, &t);
    return arena_printf(arena, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.tm_wday], t.tm_mday,
        months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

static bool is_attribute_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$&+-.^_`|~", c) != NULL);
}

/* RFC 6266: an ASCII name that every client understands, and the exact name. */
static struct str disposition(struct arena *arena, struct str name)
{
    struct buf out;
    buf_init(&out, 8 * 1024);
    buf_append(&out, STR("attachment; filename=\""));
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '%' && c != '/';
        if ((c & 0xc0) != 0x80) /* one '_' for each character */
            buf_append_byte(&out, plain ? c : '_');
    }
    buf_append(&out, STR("\"; filename*=UTF-8''"));
    for (size_t i = 0; i < name.len; i++) {
        if (is_attribute_byte(name.ptr[i]))
            buf_append_byte(&out, name.ptr[i]);
        else
            buf_printf(&out, "%%%02X", (unsigned)(unsigned char)name.ptr[i]);
    }
    struct str text = arena_str(arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

/* Cairn's tags contain no comma, so a list of them can be split at commas. */
static bool lists_tag(struct call *call, struct str name, struct str tag, bool weak_too)
{
    struct str weak = arena_printf(call->arena, "W/%.*s", STR_ARG(tag));
    return http_header_lists(call->request.http, name, STR("*")) ||
           http_header_lists(call->request.http, name, tag) ||
           (weak_too && http_header_lists(call->request.http, name, weak));
}

static bool is_given(const struct call *call, struct str name)
{
    return !str_is_none(http_header(call->request.http, name));
}

/* Returns true if the client has the bytes already. A date must equal the one that was sent. */
static bool is_fresh(struct call *call, const struct download_facts *facts, struct str date)
{
    if (is_given(call, STR("If-None-Match")))
        return !str_is_none(facts->etag) &&
               lists_tag(call, STR("If-None-Match"), facts->etag, true);
    return !str_is_none(date) &&
           str_eq(http_header(call->request.http, STR("If-Modified-Since")), date);
}

/* --- Ranges --------------------------------------------------------------------------------- */

enum range { RANGE_ALL, RANGE_PART, RANGE_NOWHERE };

/* A number of any length; one that is too large counts as the largest. */
static bool read_place(struct str digits, uint64_t *out_place)
{
    uint64_t place = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(place, 10, &place) ||
            __builtin_add_overflow(place, (uint64_t)(digits.ptr[i] - '0'), &place))
            place = UINT64_MAX;
    }
    *out_place = place;
    return true;
}

/* One range of bytes. Several ranges, and malformed ones, are answered with the whole. */
static enum range read_range(
    struct str value, uint64_t size, uint64_t *out_first, uint64_t *out_count)
{
    if (!str_eq_nocase(str_slice(value, 0, 6), STR("bytes=")) || str_has_byte(value, ','))
        return RANGE_ALL;
    value = str_slice(value, 6, value.len);
    size_t dash = str_find(value, '-');
    struct str from = str_slice(value, 0, dash), to = str_slice(value, dash + 1, value.len);
    uint64_t first = 0, last = 0;
    if (dash == value.len || (from.len > 0 && !read_place(from, &first)) ||
        (to.len > 0 && !read_place(to, &last)) || (from.len == 0 && to.len == 0))
        return RANGE_ALL;
    if (from.len == 0) { /* the last bytes */
        first = last < size ? size - last : 0;
        *out_first = first;
        *out_count = size - first;
        return last == 0 || size == 0 ? RANGE_NOWHERE : RANGE_PART;
    }
    if (to.len > 0 && last < first)
        return RANGE_ALL;
    if (first >= size)
        return RANGE_NOWHERE;
    if (to.len == 0 || last >= size)
        last = size - 1;
    *out_first = first;
    *out_count = last - first + 1;
    return RANGE_PART;
}

static bool may_be_part(struct call *call, const struct download_facts *facts, struct str date)
{
    struct str condition = http_header(call->request.http, STR("If-Range"));
    if (!str_eq(call->request.http->method, STR("GET")) || !is_given(call, STR("Range")) ||
        http_header_count(call->request.http, STR("Range")) > 1)
        return false;
    return str_is_none(condition) ||
           (!str_is_none(facts->etag) && str_eq(condition, facts->etag)) ||
           (!str_is_none(date) && str_eq(condition, date));
}

static enum error choose_range(
    struct call *call, const struct download_facts *facts, struct str date)
{
    struct download *d = &call->answer.download;
    unsigned long long size = d->size_bytes;
    if (!may_be_part(call, facts, date))
        return OK;
    switch (read_range(http_header(call->request.http, STR("Range")), size, &d->first, &d->count)) {
    case RANGE_ALL:
        break;
    case RANGE_PART:
        call->answer.status = 206;
        call_add_header(call, STR("Content-Range"),
            arena_printf(call->arena, "bytes %llu-%llu/%llu", (unsigned long long)d->first,
                (unsigned long long)(d->first + d->count - 1), size));
        break;
    case RANGE_NOWHERE:
        problem_set(&call->problem, ERR_RANGE, "Range must be within the %llu bytes", size);
        call_add_header(
            call, STR("Content-Range"), arena_printf(call->arena, "bytes */%llu", size));
        return ERR_RANGE;
    }
    return OK;
}

/* --- Answers -------------------------------------------------------------------------------- */

void call_mark_foreign(struct call *call, struct str file_name)
{
    call_add_header(call, STR("Content-Disposition"),
        str_is_none(file_name) ? STR("attachment") : disposition(call->arena, file_name));
    call_add_header(call, STR("Content-Security-Policy"), STR("sandbox"));
}

static void describe(struct call *call, const struct download_facts *facts, struct str date)
{
    const struct download *d = &call->answer.download;
    call->answer.is_bytes = true;
    call->answer.content_type = facts->content_type;
    call_mark_foreign(call, facts->file_name);
    if (d->has_sha256)
        call_add_header(call, STR("Repr-Digest"),
            arena_printf(call->arena, "sha-256=:%.*s:",
                STR_ARG(base64_encode(
                    call->arena, (struct str){(const char *)d->sha256.bytes, SHA256_LEN}))));
    if (!str_is_none(date))
        call_add_header(call, STR("Last-Modified"), date);
}

static enum error answer_bytes(struct call *call, const struct download_facts *facts)
{
    struct download *d = &call->answer.download;
    struct str date = STR_NONE;
    if (facts->last_modified_us > 0)
        date = http_date(call->arena, facts->last_modified_us);
    d->first = 0;
    d->count = d->size_bytes;
    if (!str_is_none(facts->etag)) {
        if (is_given(call, STR("If-Match")) &&
            !lists_tag(call, STR("If-Match"), facts->etag, false))
            return problem_set(&call->problem, ERR_STALE,
                "If-Match must be the object's ETag: %.*s", STR_ARG(facts->etag));
        call_add_header(call, STR("ETag"), facts->etag);
    }
    call_add_header(call, STR("Accept-Ranges"), STR("bytes"));
    if (is_fresh(call, facts, date)) {
        call->answer.status = 304;
        download_drop(d);
        return OK;
    }
    enum error e = choose_range(call, facts, date);
    if (e == OK)
        describe(call, facts, date);
    d->is_wanted = e == OK;
    return e;
}

enum error call_answer_blob(
    struct call *call, const struct blob *blob, const struct download_facts *facts)
{
    download_drop(&call->answer.download);
    call->answer.download.tenant_id = call->caller.tenant_id;
    call->answer.download.id = blob->id;
    call->answer.download.size_bytes = (uint64_t)blob->size_bytes;
    call->answer.download.has_sha256 = true;
    call->answer.download.sha256 = blob->sha256;
    return answer_bytes(call, facts);
}

enum error call_answer_spool(
    struct call *call, int fd, uint64_t size_bytes, const struct download_facts *facts)
{
    download_drop(&call->answer.download);
    call->answer.download.spool = content_open_spool(call->api->store, fd, size_bytes);
    call->answer.download.size_bytes = size_bytes;
    return answer_bytes(call, facts);
}

/* --- Reading -------------------------------------------------------------------------------- */

void download_reader_init(struct download_reader *r, struct call *call)
{
    struct download *d = &call->answer.download;
    *r = (struct download_reader){.store = call->api->store, .what = *d, .at = d->first};
    if (d->has_sha256 && d->first == 0 && d->count == d->size_bytes)
        r->hash = sha256_create();
    download_init(d);
}

void download_reader_deinit(struct download_reader *r)
{
    if (r->hash != NULL)
        (void)sha256_finish(r->hash);
    r->hash = NULL;
    content_close(r->content);
    r->content = NULL;
    download_drop(&r->what);
}

bool download_is_over(const struct download_reader *r)
{
    return r->at == r->what.first + r->what.count;
}

static enum error open_reader(struct download_reader *r)
{
    struct download *d = &r->what;
    if (d->spool == NULL)
        return content_open(r->store, d->tenant_id, d->id, d->size_bytes, &r->content);
    if (d->fill != NULL)
        TRY(d->fill(d->fill_data, r->store, d->tenant_id));
    r->content = d->spool;
    d->spool = NULL;
    return OK;
}

static bool is_as_stored(struct download_reader *r)
{
    struct sha256 found = sha256_finish(r->hash);
    r->hash = NULL;
    return memcmp(&found, &r->what.sha256, sizeof found) == 0;
}

enum error download_read(struct download_reader *r, char *place, size_t *out_size)
{
    uint64_t left = r->what.first + r->what.count - r->at;
    size_t room = left < CONTENT_PIECE_BYTES ? (size_t)left : CONTENT_PIECE_BYTES, size = 0;
    enum error e = r->content != NULL ? OK : open_reader(r);
    if (e == OK && room > 0)
        e = content_read(r->content, r->at, place, room, &size);
    if (e == OK && r->hash != NULL)
        sha256_add(r->hash, (struct str){place, size});
    r->at += size;
    if (e == OK && r->hash != NULL && download_is_over(r) && !is_as_stored(r))
        e = ERR_DAMAGED;
    if (e == ERR_DAMAGED)
        store_note_damage(r->store);
    if (e == OK)
        *out_size = size;
    return e;
}
