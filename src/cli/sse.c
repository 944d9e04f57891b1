/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sse.h"

enum { EVENT_MAX_BYTES = 4 * 1024 * 1024 };

void sse_init(struct sse *s)
{
    *s = (struct sse){.has_id = false};
    buf_init(&s->bytes, EVENT_MAX_BYTES);
    buf_init(&s->name, EVENT_MAX_BYTES);
    buf_init(&s->id, EVENT_MAX_BYTES);
    buf_init(&s->data, EVENT_MAX_BYTES);
}

void sse_deinit(struct sse *s)
{
    buf_deinit(&s->bytes);
    buf_deinit(&s->name);
    buf_deinit(&s->id);
    buf_deinit(&s->data);
}

static void begin_event(struct sse *s)
{
    buf_reset(&s->name);
    buf_reset(&s->id);
    buf_reset(&s->data);
    s->has_id = s->has_data = s->given = false;
}

void sse_reset(struct sse *s)
{
    buf_reset(&s->bytes);
    begin_event(s);
}

bool sse_feed(struct sse *s, struct str run)
{
    buf_append(&s->bytes, run);
    return !s->bytes.failed && !s->data.failed;
}

/* "field: value", the blank being optional; a line that begins with a colon is a comment. */
static void take_line(struct sse *s, struct str line)
{
    size_t colon = str_find(line, ':');
    struct str field = str_slice(line, 0, colon);
    struct str value = str_slice(line, colon + 1, line.len);
    if (value.len > 0 && value.ptr[0] == ' ')
        value = str_slice(value, 1, value.len);
    if (str_eq(field, STR("data"))) {
        if (s->has_data)
            buf_append_byte(&s->data, '\n');
        buf_append(&s->data, value);
        s->has_data = true;
    } else if (str_eq(field, STR("event"))) {
        buf_reset(&s->name);
        buf_append(&s->name, value);
    } else if (str_eq(field, STR("id")) && !str_has_byte(value, '\0')) {
        buf_reset(&s->id);
        buf_append(&s->id, value);
        s->has_id = true;
    }
}

bool sse_next(struct sse *s, struct sse_event *out_event)
{
    if (s->given)
        begin_event(s);
    for (;;) {
        struct str bytes = buf_str(&s->bytes);
        size_t end = str_find(bytes, '\n');
        if (end == bytes.len)
            return false;
        struct str line = str_slice(bytes, 0, end);
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        bool ends = line.len == 0 && s->has_data;
        if (line.len > 0)
            take_line(s, line);
        buf_consume(&s->bytes, end + 1);
        if (line.len == 0 && !ends)
            begin_event(s);
        if (ends) {
            *out_event = (struct sse_event){
                buf_str(&s->name), s->has_id ? buf_str(&s->id) : STR_NONE, buf_str(&s->data)};
            s->given = true;
            return true;
        }
    }
}
