/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer over a buf. It writes compact text and adds the commas. Misuse (a value
 * without a key inside an object, an unbalanced end) is a programming error and asserts. If the buf
 * exceeds its maximum, buf.failed is set at the end.
 */
#ifndef BASE_JSON_JSON_WRITE_H
#define BASE_JSON_JSON_WRITE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/uuid.h"

enum { JSON_WRITE_MAX_DEPTH = JSON_MAX_DEPTH + 16 };

struct json_writer {
    struct buf *out;
    unsigned depth;
    bool after_key;
    /* For each level: whether it is an object, and whether it has content. */
    struct {
        bool object;
        bool used;
    } levels[JSON_WRITE_MAX_DEPTH];
};

void json_writer_init(struct json_writer *w, struct buf *out);

void json_write_object(struct json_writer *w);
void json_write_array(struct json_writer *w);
/* Ends the innermost open object or array. */
void json_write_end(struct json_writer *w);
void json_write_key(struct json_writer *w, struct str key);
/* A constant key that needs no escapes. */
void json_write_name(struct json_writer *w, const char *name);
/* json_write_name and json_write_string together. */
void json_write_text_member(struct json_writer *w, const char *name, struct str text);
/* The key of a parsed object in its written form. */
void json_write_key_value(struct json_writer *w, struct json key);

/* STR_NONE writes null. Bytes that are not UTF-8 are replaced by U+FFFD. */
void json_write_string(struct json_writer *w, struct str s);
void json_write_i64(struct json_writer *w, int64_t value);
void json_write_u64(struct json_writer *w, uint64_t value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);
void json_write_uuid(struct json_writer *w, struct uuid id);
/* Whole picodollars as an exact number of dollars, with as few decimals as possible. */
void json_write_money(struct json_writer *w, int64_t pico);
/* RFC 3339. */
void json_write_time(struct json_writer *w, int64_t unix_us);
/* A parsed value in compact form; strings and numbers keep their written form. */
void json_write_value(struct json_writer *w, struct json v);
/* Text that must be one compact JSON value; STR_NONE writes null. */
void json_write_raw(struct json_writer *w, struct str compact);

/*
 * A JSON text in the arena: write through `w`, then take the text.
 *   struct json_text text;
 *   json_text_init(&text, 4096);
 *   json_write_object(&text.w); …
 *   return json_text_take(&text, arena);
 */
struct json_text {
    struct buf buf;
    struct json_writer w;
};
void json_text_init(struct json_text *text, size_t max_bytes);
/* Copies the text into the arena and frees the buffer. Exceeding the maximum is a programming
 * error: the caller limits the content. */
struct str json_text_take(struct json_text *text, struct arena *arena);

/* The JSON string of a text, in the arena. */
struct str json_quote(struct arena *arena, struct str text);
/* The value in compact form, in the arena. */
struct str json_compact(struct arena *arena, struct json v);
/* The same, but a value that is compact in the text of its document is returned without a copy. */
struct str json_compact_part(struct arena *arena, struct json v);
/* The length of the compact form. */
size_t json_compact_len(struct json v);

#endif
