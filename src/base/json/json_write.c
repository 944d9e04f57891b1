/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"

#include "base/clock.h"
#include "base/json/json_tape.h"
#include "base/utf8.h"

void json_writer_init(struct json_writer *w, struct buf *out)
{
    w->out = out;
    w->depth = 0;
    w->after_key = false;
}

/* Writes the comma before a value or key, if one is needed. */
static void separate(struct json_writer *w)
{
    if (w->depth == 0)
        return;
    if (w->levels[w->depth - 1].used)
        buf_append_byte(w->out, ',');
    w->levels[w->depth - 1].used = true;
}

static void begin_value(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    assert(w->depth == 0 || !w->levels[w->depth - 1].object);
    separate(w);
}

static void open_level(struct json_writer *w, bool object)
{
    begin_value(w);
    assert(w->depth < JSON_WRITE_MAX_DEPTH);
    w->levels[w->depth].object = object;
    w->levels[w->depth].used = false;
    w->depth++;
    buf_append_byte(w->out, object ? '{' : '[');
}

void json_write_object(struct json_writer *w)
{
    open_level(w, true);
}

void json_write_array(struct json_writer *w)
{
    open_level(w, false);
}

void json_write_end(struct json_writer *w)
{
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    buf_append_byte(w->out, w->levels[w->depth].object ? '}' : ']');
}

static void append_escape(struct buf *out, unsigned char c)
{
    static const char short_forms[128] = {
        ['"'] = '"',
        ['\\'] = '\\',
        ['\b'] = 'b',
        ['\f'] = 'f',
        ['\n'] = 'n',
        ['\r'] = 'r',
        ['\t'] = 't',
    };
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', short_forms[c], '0', '0', digits[c >> 4], digits[c & 15]};
    if (escape[1] == '\0')
        escape[1] = 'u';
    buf_append(out, (struct str){escape, escape[1] == 'u' ? 6 : 2});
}

/* Returns the end of the run from `at` that is written unchanged: plain bytes and well-formed
 * UTF-8. */
static const unsigned char *skip_verbatim(const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        at = json_skip_plain(at, end);
        if (at == end || *at < 0x80)
            return at;
        size_t step = utf8_sequence(at, (size_t)(end - at));
        if (step == 0)
            return at;
        at += step;
    }
}

static void append_string(struct buf *out, struct str s)
{
    const unsigned char *at = (const unsigned char *)s.ptr, *end = at + s.len;
    buf_append_byte(out, '"');
    for (;;) {
        const unsigned char *stop = skip_verbatim(at, end);
        buf_append(out, (struct str){(const char *)at, (size_t)(stop - at)});
        if (stop == end)
            break;
        if (*stop < 0x80)
            append_escape(out, *stop);
        else
            buf_append(out, STR("\xef\xbf\xbd"));
        at = stop + 1;
    }
    buf_append_byte(out, '"');
}

void json_write_key(struct json_writer *w, struct str key)
{
    assert(w->depth > 0 && w->levels[w->depth - 1].object && !w->after_key);
    assert(!str_is_none(key));
    separate(w);
    append_string(w->out, key);
    buf_append_byte(w->out, ':');
    w->after_key = true;
}

void json_write_name(struct json_writer *w, const char *name)
{
    assert(w->depth > 0 && w->levels[w->depth - 1].object && !w->after_key);
    size_t len = strlen(name);
    separate(w);
    char *place = buf_reserve(w->out, len + 3);
    if (place != NULL) {
        place[0] = '"';
        memcpy(place + 1, name, len);
        memcpy(place + 1 + len, "\":", 2);
        buf_advance(w->out, len + 3);
    }
    w->after_key = true;
}

void json_write_text_member(struct json_writer *w, const char *name, struct str text)
{
    json_write_name(w, name);
    json_write_string(w, text);
}

void json_write_key_value(struct json_writer *w, struct json key)
{
    assert(w->depth > 0 && w->levels[w->depth - 1].object && !w->after_key);
    separate(w);
    buf_append(w->out, json_raw(key));
    buf_append_byte(w->out, ':');
    w->after_key = true;
}

void json_write_string(struct json_writer *w, struct str s)
{
    if (str_is_none(s)) {
        json_write_null(w);
        return;
    }
    begin_value(w);
    append_string(w->out, s);
}

void json_write_i64(struct json_writer *w, int64_t value)
{
    begin_value(w);
    buf_append_i64(w->out, value);
}

void json_write_u64(struct json_writer *w, uint64_t value)
{
    begin_value(w);
    buf_append_u64(w->out, value);
}

void json_write_money(struct json_writer *w, int64_t pico)
{
    enum { PLACES = 12 };
    const uint64_t unit = 1000000000000;
    uint64_t magnitude = pico < 0 ? ~(uint64_t)pico + 1 : (uint64_t)pico;
    uint64_t rest = magnitude % unit;
    char digits[PLACES];
    size_t n = PLACES;
    for (size_t i = PLACES; i > 0; i--, rest /= 10)
        digits[i - 1] = (char)('0' + rest % 10);
    while (n > 0 && digits[n - 1] == '0')
        n--;
    begin_value(w);
    buf_append(w->out, pico < 0 ? STR("-") : STR(""));
    buf_append_u64(w->out, magnitude / unit);
    buf_append(w->out, n > 0 ? STR(".") : STR(""));
    buf_append(w->out, (struct str){digits, n});
}

void json_write_bool(struct json_writer *w, bool value)
{
    begin_value(w);
    buf_append(w->out, value ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
    begin_value(w);
    buf_append(w->out, STR("null"));
}

/* Text that needs no escapes. */
static void write_plain(struct json_writer *w, struct str s)
{
    begin_value(w);
    buf_append_byte(w->out, '"');
    buf_append(w->out, s);
    buf_append_byte(w->out, '"');
}

void json_write_uuid(struct json_writer *w, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    write_plain(w, (struct str){text, sizeof text});
}

void json_write_time(struct json_writer *w, int64_t unix_us)
{
    char text[CLOCK_TEXT_LEN];
    clock_format(unix_us, text);
    write_plain(w, (struct str){text, sizeof text});
}

void json_write_raw(struct json_writer *w, struct str compact)
{
    begin_value(w);
    buf_append(w->out, str_is_none(compact) ? STR("null") : compact);
}

static bool is_compact(const struct json_node *node)
{
    return node->plain || node->type < JSON_ARRAY;
}

size_t json_compact_len(struct json v)
{
    const struct json_node *nodes = v.doc->nodes;
    if (is_compact(&nodes[v.at]))
        return nodes[v.at].end - nodes[v.at].start;
    size_t len = 0;
    for (uint32_t i = v.at; i < nodes[v.at].next;) {
        const struct json_node *node = &nodes[i];
        if (is_compact(node)) {
            len += node->end - node->start;
            i = node->next;
            continue;
        }
        /* Brackets, commas, colons; a container that is not compact may still be empty. */
        len += 2 + (node->count > 0 ? node->count - 1u : 0);
        len += node->type == JSON_OBJECT ? node->count : 0;
        i++;
    }
    return len;
}

static char *copy_without_blanks(char *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!json_is_blank((unsigned char)text.ptr[i]))
            *out++ = text.ptr[i];
    return out;
}

/* Compact parts are copied whole; only punctuation and blanks are between them. */
static void write_compact(char *out, struct json v)
{
    const struct json_node *nodes = v.doc->nodes;
    struct str text = v.doc->text;
    size_t at = nodes[v.at].start;
    for (uint32_t i = v.at; i < nodes[v.at].next;) {
        const struct json_node *node = &nodes[i];
        if (!is_compact(node)) {
            i++;
            continue;
        }
        out = copy_without_blanks(out, str_slice(text, at, node->start));
        memcpy(out, text.ptr + node->start, node->end - node->start);
        out += node->end - node->start;
        at = node->end;
        i = node->next;
    }
    copy_without_blanks(out, str_slice(text, at, nodes[v.at].end));
}

void json_write_value(struct json_writer *w, struct json v)
{
    begin_value(w);
    size_t len = json_compact_len(v);
    char *place = buf_reserve(w->out, len);
    if (place == NULL)
        return;
    write_compact(place, v);
    buf_advance(w->out, len);
}

struct str json_quote(struct arena *arena, struct str text)
{
    struct json_text quoted;
    json_text_init(&quoted, SIZE_MAX);
    json_write_string(&quoted.w, text);
    return json_text_take(&quoted, arena);
}

struct str json_compact(struct arena *arena, struct json v)
{
    size_t len = json_compact_len(v);
    char *text = arena_alloc(arena, len);
    write_compact(text, v);
    return (struct str){text, len};
}

struct str json_compact_part(struct arena *arena, struct json v)
{
    return is_compact(json_node(v)) ? json_raw(v) : json_compact(arena, v);
}

void json_text_init(struct json_text *text, size_t max_bytes)
{
    buf_init(&text->buf, max_bytes);
    json_writer_init(&text->w, &text->buf);
}

struct str json_text_take(struct json_text *text, struct arena *arena)
{
    assert(!text->buf.failed);
    struct str copy = arena_str(arena, buf_str(&text->buf));
    buf_deinit(&text->buf);
    return copy;
}
