/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input as a cursor, in every place where Cairn accepts one. The encoder writes an accepted
 * cursor byte for byte, so that each position has one name; ?after= and Last-Event-ID mean the
 * same; a route accepts a cursor that its decoder accepts and that is in its log; and the page
 * begins directly after the cursor and ends with a valid one.
 */
#include "api/threads/events_api.h"

#include "fuzz.h"
#include "throwaway.h"

/* Its creation is an event of a thread too. */
enum { LAST = 40, PRUNED = 10, LISTED = 3, MAX_ASKED_BYTES = 1000 };

static struct throwaway here;
static struct str thread_id;

/* --- Something to read ---------------------------------------------------------------------- */

static cairn_answer *call(
    struct arena *arena, const char *method, struct str target, struct str body)
{
    return cairn_call(here.cairn, method, arena_cstr(arena, target), NULL, body.ptr, body.len);
}

static struct str make(struct arena *arena, struct str target, struct str body)
{
    cairn_answer *a = call(arena, "POST", target, body);
    FUZZ_CHECK(cairn_answer_status(a) < 300);
    struct str id = json_text_of(arena, answer_json(arena, a), "id");
    cairn_answer_free(a);
    return id;
}

static void close_here(void)
{
    throwaway_close(&here);
}

static void open_here(struct arena *arena)
{
    static struct arena kept;
    throwaway_open(&here);
    arena_init(&kept, SIZE_MAX);
    for (size_t i = 0; i < LISTED; i++)
        thread_id = make(&kept, STR("/v1/threads"), STR(""));
    struct str events = arena_printf(arena, "/v1/threads/%.*s/events", STR_ARG(thread_id));
    for (size_t i = 1; i < LAST; i++)
        make(arena, events, STR("{\"kind\":\"progress\"}"));
    struct str prune = arena_printf(arena, "{\"through_seq\":%d}", PRUNED);
    make(arena, arena_printf(arena, "%.*s/prune", STR_ARG(events)), prune);
    atexit(close_here);
}

/* --- The decoders alone --------------------------------------------------------------------- */

/* A whole number from 0 as it is usually written. */
static bool is_number(struct str text, int64_t *out)
{
    int64_t value = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.ptr[i] - '0', &value))
            return false;
    *out = value;
    return text.len == 1 || (text.len > 1 && text.ptr[0] != '0');
}

static bool is_event_cursor(struct arena *arena, struct str text, bool tenant)
{
    struct event_cursor cursor;
    if (!event_cursor_parse(text, tenant, &cursor))
        return false;
    FUZZ_CHECK(cursor.position >= 0 && cursor.told_gap >= 0);
    FUZZ_CHECK(str_eq(event_cursor_text(arena, cursor), text));
    return true;
}

static bool is_list_cursor(struct arena *arena, struct str text)
{
    struct http_request request = {0};
    struct uuid id;
    bool has = false;
    struct call c;
    call_init(&c, NULL, arena, &request);
    enum error e = cursor_to_uuid(&c, text, &has, &id);
    FUZZ_CHECK(e == OK || e == ERR_BAD_CURSOR);
    FUZZ_CHECK(has == (e == OK));
    if (has)
        FUZZ_CHECK(str_eq(cursor_from_uuid(arena, id), text));
    call_deinit(&c);
    return has;
}

static bool is_number_cursor(struct arena *arena, struct str text)
{
    struct http_request request = {0};
    int64_t number = 0;
    struct call c;
    call_init(&c, NULL, arena, &request);
    enum error e = cursor_to_number(&c, text, &number);
    FUZZ_CHECK(e == OK || e == ERR_BAD_CURSOR);
    if (e == OK)
        FUZZ_CHECK(str_eq(cursor_from_number(arena, number), text));
    call_deinit(&c);
    return e == OK;
}

/* --- The routes ----------------------------------------------------------------------------- */

static struct str encoded(struct arena *arena, struct str text)
{
    struct buf out CLEANUP(buf_deinit);
    buf_init(&out, SIZE_MAX);
    for (size_t i = 0; i < text.len; i++)
        buf_printf(&out, "%%%02X", (unsigned char)text.ptr[i]);
    return arena_str(arena, buf_str(&out));
}

/* The status of a page after the cursor; the next page's cursor must be one too. */
static int read_page(struct arena *arena, const char *list, struct str cursor, struct json *out)
{
    struct str target = arena_printf(arena, "%s%.*s", list, STR_ARG(encoded(arena, cursor)));
    cairn_answer *a = call(arena, "GET", target, STR(""));
    int status = cairn_answer_status(a);
    *out = answer_json(arena, a);
    cairn_answer_free(a);
    return status;
}

static void check_list(struct arena *arena, const char *list, struct str cursor, bool good)
{
    struct json page, unused;
    int status = read_page(arena, list, cursor, &page);
    FUZZ_CHECK(good ? status == 200 : status == 400 || status == 422);
    struct str next = json_text_of(arena, page, "next_cursor");
    if (good && !str_is_none(next))
        FUZZ_CHECK(read_page(arena, list, next, &unused) == 200);
}

static int64_t seq_of(struct arena *arena, struct json event)
{
    int64_t seq;
    FUZZ_CHECK(str_to_i64(json_text_of(arena, event, "seq"), &seq));
    return seq;
}

static void check_thread(struct arena *arena, struct str cursor, bool good)
{
    struct json page, events, first;
    int64_t position = 0;
    struct str list =
        arena_printf(arena, "/v1/threads/%.*s/events?limit=2&after=", STR_ARG(thread_id));
    const char *target = arena_cstr(arena, list);
    int status = read_page(arena, target, cursor, &page);
    FUZZ_CHECK(good == is_number(cursor, &position));
    if (!good || position > LAST) {
        FUZZ_CHECK(status == 400 || status == 422);
        return;
    }
    FUZZ_CHECK(status == (position < PRUNED ? 410 : 200));
    if (status == 410) {
        struct str resume = json_text_of(arena, page, "resume_cursor");
        FUZZ_CHECK(read_page(arena, target, resume, &page) == 200);
        return;
    }
    FUZZ_CHECK(json_get(page, STR("data"), &events));
    if (json_at(events, 0, &first))
        FUZZ_CHECK(seq_of(arena, first) == position + 1);
    struct str next = json_text_of(arena, page, "next_cursor");
    FUZZ_CHECK(read_page(arena, target, next, &page) == 200);
}

/* --- Streams -------------------------------------------------------------------------------- */

/* Describes the first event of the stream; "refused" if the subscription was rejected. */
static struct str begin_stream(struct arena *arena, struct str target, const char *const *headers)
{
    const struct cairn_event *event = NULL;
    cairn_answer *refusal = NULL;
    cairn_subscription *s =
        cairn_subscribe(here.cairn, arena_cstr(arena, target), headers, &refusal);
    if (s == NULL) {
        int status = cairn_answer_status(refusal);
        FUZZ_CHECK(status == 400 || status == 422);
        cairn_answer_free(refusal);
        return STR("refused");
    }
    int kind = cairn_next(s, 0, &event);
    struct str begin = kind == CAIRN_TIMEOUT
                           ? STR("nothing")
                           : arena_printf(arena, "%d %s %s", kind, event->cursor, event->data);
    cairn_unsubscribe(s);
    return begin;
}

static bool can_be_header(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    return text.len > 0;
}

static void check_stream(struct arena *arena, struct str stream, struct str cursor)
{
    struct str header = arena_printf(arena, "Last-Event-ID: %.*s", STR_ARG(cursor));
    const char *const headers[] = {arena_cstr(arena, header), NULL};
    struct str after =
        arena_printf(arena, "%.*s?after=%.*s", STR_ARG(stream), STR_ARG(encoded(arena, cursor)));
    struct str by_query = begin_stream(arena, after, NULL);
    if (can_be_header(cursor))
        FUZZ_CHECK(str_eq(begin_stream(arena, stream, headers), by_query));
}

static void check_routes(struct arena *arena, struct str cursor, bool tenant, bool list)
{
    struct str own = arena_printf(arena, "/v1/threads/%.*s/events/stream", STR_ARG(thread_id));
    check_thread(arena, cursor, tenant && str_find(cursor, '~') == cursor.len);
    check_stream(arena, own, cursor);
    check_stream(arena, STR("/v1/events/stream"), cursor);
    check_list(arena, "/v1/threads?limit=1&cursor=", cursor, list);
    check_list(arena, "/v1/runs?limit=1&cursor=", cursor, list);
    check_list(arena, "/v1/keys?limit=1&cursor=", cursor, list);
    check_list(arena, "/v1/tenants?limit=1&cursor=", cursor, list);
    check_list(arena, "/v1/audit?limit=1&cursor=", cursor, is_number_cursor(arena, cursor));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena CLEANUP(arena_deinit);
    struct str text = {size > 0 ? (const char *)data : "", size};
    arena_init(&arena, SIZE_MAX);
    if (here.cairn == NULL)
        open_here(&arena);
    bool tenant = is_event_cursor(&arena, text, true);
    bool thread = is_event_cursor(&arena, text, false);
    FUZZ_CHECK(thread == (tenant && !str_has_byte(text, '~')));
    bool list = is_list_cursor(&arena, text);
    /* The database takes its time: it is asked about what is taken, and now and then of the rest,
     * as long as that fits into the target of a request. */
    if (tenant || list || (size % 16 == 0 && size <= MAX_ASKED_BYTES))
        check_routes(&arena, text, tenant, list);
    return 0;
}
