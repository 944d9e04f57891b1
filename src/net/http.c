/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http.h"

#include "net/http_bytes.h"

#define NAME (HTTP_TOKEN | HTTP_FIELD | HTTP_PATH | HTTP_QUERY | HTTP_HOST)
/* Sub-delims are legal in a Host, but no name in use has them, so they are rejected. */
#define MARK (HTTP_TOKEN | HTTP_FIELD | HTTP_PATH | HTTP_QUERY)
#define PATH (HTTP_FIELD | HTTP_PATH | HTTP_QUERY)
#define QUERY (HTTP_FIELD | HTTP_QUERY)

const uint8_t http_byte_classes[256] = {
    ['\t'] = HTTP_FIELD,
    [' '] = HTTP_FIELD,
    ['0' ... '9'] = NAME,
    ['A' ... 'Z'] = NAME,
    ['a' ... 'z'] = NAME,
    ['!'] = MARK,
    ['$'] = MARK,
    ['%'] = NAME,
    ['&'] = MARK,
    ['\''] = MARK,
    ['*'] = MARK,
    ['+'] = MARK,
    ['-'] = NAME,
    ['.'] = NAME,
    ['_'] = NAME,
    ['~'] = NAME,
    ['('] = PATH,
    [')'] = PATH,
    [','] = PATH,
    [';'] = PATH,
    ['='] = PATH,
    ['/'] = PATH,
    [':'] = PATH,
    ['@'] = PATH,
    ['?'] = QUERY,
    ['['] = QUERY,
    [']'] = QUERY,
    ['{'] = QUERY,
    ['}'] = QUERY,
    ['\\'] = QUERY,
    ['^'] = QUERY | HTTP_TOKEN,
    ['`'] = QUERY | HTTP_TOKEN,
    ['|'] = QUERY | HTTP_TOKEN,
    ['#'] = HTTP_FIELD | HTTP_TOKEN,
    ['"'] = HTTP_FIELD,
    ['<'] = HTTP_FIELD,
    ['>'] = HTTP_FIELD,
    [0x80 ... 0xff] = HTTP_FIELD,
};

struct str http_header(const struct http_request *r, struct str name)
{
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eq_nocase(r->headers[i].name, name))
            return r->headers[i].value;
    return STR_NONE;
}

const struct http_limits http_default_limits = {
    .head_bytes = 32 * 1024, .target_bytes = 8 * 1024, .headers = 100, .body_bytes = 16 << 20};

size_t http_arena_budget(size_t body_limit_bytes)
{
    enum { BASE_BYTES = 16 << 20, BODY_FACTOR = 16 };
    assert(body_limit_bytes < SIZE_MAX / (2 * BODY_FACTOR));
    return BASE_BYTES + BODY_FACTOR * body_limit_bytes;
}

size_t http_header_count(const struct http_request *r, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < r->n_headers; i++)
        count += str_eq_nocase(r->headers[i].name, name);
    return count;
}

bool http_header_lists(const struct http_request *r, struct str name, struct str token)
{
    for (size_t i = 0; i < r->n_headers; i++) {
        if (!str_eq_nocase(r->headers[i].name, name))
            continue;
        struct str rest = r->headers[i].value, part;
        while (str_next_part(&rest, ',', &part))
            if (str_eq_nocase(str_trim_blanks(part), token))
                return true;
    }
    return false;
}

void http_clean_value(char *value, size_t len)
{
    /* Without a branch, so that the compiler processes many bytes at once. */
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)value[i];
        value[i] = (char)(byte < ' ' || byte == 0x7f ? ' ' : byte);
    }
}

const char *http_reason(int status)
{
    switch (status) {
#define REASON(code, text) \
    case code:             \
        return text;
        REASON(100, "Continue")
        REASON(101, "Switching Protocols")
        REASON(200, "OK")
        REASON(201, "Created")
        REASON(202, "Accepted")
        REASON(204, "No Content")
        REASON(206, "Partial Content")
        REASON(301, "Moved Permanently")
        REASON(302, "Found")
        REASON(303, "See Other")
        REASON(304, "Not Modified")
        REASON(307, "Temporary Redirect")
        REASON(308, "Permanent Redirect")
        REASON(400, "Bad Request")
        REASON(401, "Unauthorized")
        REASON(403, "Forbidden")
        REASON(404, "Not Found")
        REASON(405, "Method Not Allowed")
        REASON(406, "Not Acceptable")
        REASON(408, "Request Timeout")
        REASON(409, "Conflict")
        REASON(410, "Gone")
        REASON(411, "Length Required")
        REASON(412, "Precondition Failed")
        REASON(413, "Content Too Large")
        REASON(414, "URI Too Long")
        REASON(415, "Unsupported Media Type")
        REASON(416, "Range Not Satisfiable")
        REASON(417, "Expectation Failed")
        REASON(421, "Misdirected Request")
        REASON(422, "Unprocessable Content")
        REASON(423, "Locked")
        REASON(424, "Failed Dependency")
        REASON(425, "Too Early")
        REASON(426, "Upgrade Required")
        REASON(428, "Precondition Required")
        REASON(429, "Too Many Requests")
        REASON(431, "Request Header Fields Too Large")
        REASON(500, "Internal Server Error")
        REASON(501, "Not Implemented")
        REASON(502, "Bad Gateway")
        REASON(503, "Service Unavailable")
        REASON(504, "Gateway Timeout")
        REASON(505, "HTTP Version Not Supported")
        REASON(507, "Insufficient Storage")
#undef REASON
    default:
        return "";
    }
}

bool http_decode_percent(
    struct arena *arena, struct str encoded, bool query, struct str *out_decoded)
{
    char *text = arena_alloc(arena, encoded.len);
    size_t len = 0;
    for (size_t i = 0; i < encoded.len; i++) {
        char byte = encoded.ptr[i];
        if (byte == '%') {
            if (encoded.len - i < 3)
                return false;
            int high = hex_digit(encoded.ptr[i + 1]), low = hex_digit(encoded.ptr[i + 2]);
            if (high < 0 || low < 0)
                return false;
            byte = (char)(high << 4 | low);
            i += 2;
        } else if (byte == '+' && query) {
            byte = ' ';
        }
        if (byte == '\0')
            return false;
        text[len++] = byte;
    }
    struct str decoded = {text, len};
    if (!str_is_utf8(decoded))
        return false;
    *out_decoded = decoded;
    return true;
}

static bool is_unreserved(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

struct str http_encode_percent(struct arena *arena, struct str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(arena, 3 * text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i])) {
            out[len++] = text.ptr[i];
            continue;
        }
        out[len++] = '%';
        out[len++] = digits[byte >> 4];
        out[len++] = digits[byte & 15];
    }
    return (struct str){out, len};
}
