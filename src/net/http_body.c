/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunked framing, a byte at a time outside of the payload:
 *
 *   SIZE ─CR─► SIZE_LF ─LF─► DATA ─end─► DATA_CR ─► DATA_LF ─► SIZE …
 *    │            └ size 0 ─► LINE ─CR─► END_LF ─► OVER
 *    │                         └ name ─:─► VALUE ─CR─► LINE_LF ─► LINE
 *    ├ blank ─► BLANK ─;─┐
 *    └ ; ────────────────┴─► MARK ─name─► EXTENSION ─CR─► SIZE_LF
 *
 * Chunk extensions are dropped, and limited by the payload: a client must not send much more
 * framing than data. Trailers are checked like headers and dropped.
 */
#include "net/http.h"

#include "net/http_bytes.h"

enum {
    LENGTH, /* not chunked: `left` bytes of payload are missing */
    SIZE,
    BLANK, /* after the size; only an extension may follow */
    MARK,  /* after ';'; the name of the extension follows */
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE,
    NAME,
    VALUE,
    LINE_LF,
    END_LF,
    OVER
};

enum { SIZE_DIGITS_MAX = 16, TRAILER_BYTES_MAX = 4096, EXTENSION_BYTES = 4096 };

void http_body_init(struct http_body *b, const struct http_request *r, uint64_t limit_bytes)
{
    *b = (struct http_body){
        .chunked = r->chunked,
        .left = r->has_length && !r->chunked ? r->content_length : 0,
        .limit = limit_bytes,
        .state = r->chunked ? SIZE : LENGTH,
    };
}

static enum http_parsed refuse(struct http_refusal *out_refusal, int status, const char *rule)
{
    *out_refusal = (struct http_refusal){status, rule};
    return HTTP_REFUSED;
}

static const char *const RULE_LIMIT = "the body is larger than this route allows";

/* Processes one byte of the line with a chunk's size. */
static const char *take_size(struct http_body *b, char byte)
{
    int digit = hex_digit(byte);
    if (digit >= 0) {
        if (b->line_bytes++ == SIZE_DIGITS_MAX)
            return "a chunk size has too many digits";
        b->left = b->left << 4 | (unsigned)digit;
        return NULL;
    }
    bool is_blank = byte == ' ' || byte == '\t';
    if (b->line_bytes == 0 || (byte != '\r' && byte != ';' && !is_blank))
        return "a chunk size must consist of hexadecimal digits";
    b->line_bytes = 0;
    b->state = byte == '\r' ? SIZE_LF : is_blank ? BLANK : MARK;
    return NULL;
}

/* Processes one byte of `;name=value` after a chunk's size. */
static const char *take_extension(struct http_body *b, char byte)
{
    bool is_blank = byte == ' ' || byte == '\t';
    if (b->state == BLANK && byte == ';')
        b->state = MARK;
    else if (b->state == MARK && http_byte_is(byte, HTTP_TOKEN))
        b->state = EXTENSION;
    else if (b->state == EXTENSION && byte == '\r')
        b->state = SIZE_LF;
    else if (!is_blank && (b->state != EXTENSION || !http_byte_is(byte, HTTP_FIELD)))
        return "a chunk extension must be a semicolon, a name and an optional value";
    return NULL;
}

static const char *take_trailer(struct http_body *b, char byte)
{
    switch (b->state) {
    case LINE:
        if (byte == '\r')
            b->state = END_LF;
        else if (http_byte_is(byte, HTTP_TOKEN))
            b->state = NAME;
        else
            return "a trailer must begin with a name";
        return NULL;
    case NAME:
        if (byte == ':')
            b->state = VALUE;
        else if (!http_byte_is(byte, HTTP_TOKEN))
            return "a trailer's name must be a token followed by a colon";
        return NULL;
    default:
        if (byte == '\r')
            b->state = LINE_LF;
        else if (!http_byte_is(byte, HTTP_FIELD))
            return "a trailer must not contain control characters";
        return NULL;
    }
}

static const char *take_line_end(struct http_body *b, char byte)
{
    if (byte != (b->state == DATA_CR ? '\r' : '\n'))
        return "a line of the chunked body must end in CR LF";
    switch (b->state) {
    case SIZE_LF:
        b->state = b->left > 0 ? DATA : LINE;
        break;
    case DATA_CR:
        b->state = DATA_LF;
        break;
    case DATA_LF:
        b->state = SIZE;
        break;
    case LINE_LF:
        b->state = LINE;
        break;
    default:
        b->state = OVER;
    }
    return NULL;
}

/* Processes the framing up to the next payload. */
static enum http_parsed take_framing(
    struct http_body *b, struct str bytes, size_t *out_used, struct http_refusal *out_refusal)
{
    size_t at = 0;
    for (; at < bytes.len && b->state != DATA && b->state != OVER; at++) {
        const char *rule;
        if (b->state == SIZE)
            rule = take_size(b, bytes.ptr[at]);
        else if (b->state == BLANK || b->state == MARK || b->state == EXTENSION)
            rule = take_extension(b, bytes.ptr[at]);
        else if (b->state == LINE || b->state == NAME || b->state == VALUE)
            rule = take_trailer(b, bytes.ptr[at]);
        else
            rule = take_line_end(b, bytes.ptr[at]);
        if (rule != NULL)
            return refuse(out_refusal, 400, rule);
        if (b->state >= LINE && b->state < OVER && b->line_bytes++ == TRAILER_BYTES_MAX)
            return refuse(out_refusal, 431, "the trailers are too large");
        if (b->state >= BLANK && b->state <= EXTENSION &&
            b->extension_bytes++ >= EXTENSION_BYTES + b->seen)
            return refuse(out_refusal, 431, "the chunk extensions are too large");
    }
    if (b->state == DATA && b->left > b->limit - b->seen)
        return refuse(out_refusal, 413, RULE_LIMIT);
    *out_used = at;
    return HTTP_MORE;
}

static struct str take_payload(struct http_body *b, struct str bytes)
{
    struct str run = bytes;
    if (run.len > b->left)
        run.len = (size_t)b->left;
    b->left -= run.len;
    b->seen += run.len;
    return run;
}

enum http_parsed http_body_feed(struct http_body *b, struct str bytes, struct str *out_run,
    size_t *out_used, struct http_refusal *out_refusal)
{
    if (!b->chunked) {
        if (b->left > b->limit - b->seen)
            return refuse(out_refusal, 413, RULE_LIMIT);
        *out_run = take_payload(b, bytes);
        *out_used = out_run->len;
        return b->left == 0 ? HTTP_DONE : HTTP_MORE;
    }
    size_t framing;
    if (take_framing(b, bytes, &framing, out_refusal) == HTTP_REFUSED)
        return HTTP_REFUSED;
    *out_run = STR("");
    if (b->state == DATA) {
        *out_run = take_payload(b, str_slice(bytes, framing, bytes.len));
        if (b->left == 0)
            b->state = DATA_CR;
    }
    *out_used = framing + out_run->len;
    return b->state == OVER ? HTTP_DONE : HTTP_MORE;
}
