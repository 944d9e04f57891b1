/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_answer.h"

#include "net/http_bytes.h"

static enum http_parsed refuse(const char **out_rule, const char *rule)
{
    *out_rule = rule;
    return HTTP_REFUSED;
}

/* "HTTP/1.1 200 OK"; the reason may be empty or missing, with its blank. */
static bool read_status_line(struct str line, struct http_answer *a)
{
    const char *p = line.ptr;
    if (line.len < strlen("HTTP/1.1 200") || !str_starts_with(line, STR("HTTP/1.")) ||
        (p[7] != '0' && p[7] != '1') || p[8] != ' ' || !is_digit(p[9]) || !is_digit(p[10]) ||
        !is_digit(p[11]) || (line.len > 12 && p[12] != ' '))
        return false;
    a->minor = p[7] == '1';
    a->status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    a->reason = str_slice(line, 13, line.len);
    return a->status >= 100 && a->status <= 599;
}

static bool read_header(struct str line, struct http_header *out)
{
    size_t colon = str_find(line, ':');
    if (colon == 0 || colon == line.len)
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!http_byte_is(line.ptr[i], HTTP_TOKEN))
            return false;
    out->name = str_slice(line, 0, colon);
    out->value = str_trim_blanks(str_slice(line, colon + 1, line.len));
    return true;
}

static size_t count_headers(const struct http_answer *a, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < a->n_headers; i++)
        count += str_eq_nocase(a->headers[i].name, name);
    return count;
}

static const char *read_framing(struct http_answer *a)
{
    size_t n_lengths = count_headers(a, STR("content-length"));
    size_t n_codings = count_headers(a, STR("transfer-encoding"));
    struct str connection = http_answer_header(a, STR("connection"));
    if (n_lengths + n_codings > 1)
        return "it is framed in two ways";
    a->chunked = n_codings == 1;
    if (a->chunked &&
        !str_eq_nocase(http_answer_header(a, STR("transfer-encoding")), STR("chunked")))
        return "its Transfer-Encoding is not chunked";
    a->has_length = n_lengths == 1;
    if (a->has_length &&
        !str_to_u64(http_answer_header(a, STR("content-length")), &a->content_length))
        return "its Content-Length is not a number";
    a->keep_alive = a->minor == 1 && !str_eq_nocase(connection, STR("close")) &&
                    (a->has_length || a->chunked || a->status == 204 || a->status == 304);
    return NULL;
}

/* Returns the length of the head with its empty line; 0 if it is incomplete. */
static size_t find_end(struct str bytes)
{
    for (size_t i = 0; i + 4 <= bytes.len; i++)
        if (memcmp(bytes.ptr + i, "\r\n\r\n", 4) == 0)
            return i + 4;
    return 0;
}

static const char *read_lines(struct arena *arena, struct str head, struct http_answer *a)
{
    struct str line;
    a->headers = ARENA_ARRAY(arena, struct http_header, head.len / 4 + 1);
    for (bool first = true; str_next_part(&head, '\n', &line); first = false) {
        if (line.len == 0 || line.ptr[--line.len] != '\r')
            return "a line of its head does not end in CR LF";
        if (line.len == 0)
            break;
        for (size_t i = 0; i < line.len; i++)
            if (!http_byte_is(line.ptr[i], HTTP_FIELD))
                return "its head contains control characters";
        if (first ? !read_status_line(line, a) : !read_header(line, &a->headers[a->n_headers++]))
            return first ? "it does not begin with HTTP/1.1" : "one of its headers is malformed";
    }
    return a->status == 0 ? "it does not begin with HTTP/1.1" : NULL;
}

enum http_parsed http_answer_parse(struct arena *arena, struct str bytes, size_t max_bytes,
    struct http_answer *out_answer, size_t *out_used, const char **out_rule)
{
    struct str begin = str_slice(STR("HTTP/1."), 0, bytes.len);
    if (!str_starts_with(bytes, begin))
        return refuse(out_rule, "it does not begin with HTTP/1.1");
    size_t end = find_end(bytes);
    if (end > max_bytes || (end == 0 && bytes.len >= max_bytes))
        return refuse(out_rule, "its head is too large");
    if (end == 0)
        return HTTP_MORE;
    struct http_answer a = {0};
    const char *rule = read_lines(arena, arena_str(arena, str_slice(bytes, 0, end)), &a);
    if (rule == NULL)
        rule = read_framing(&a);
    if (rule != NULL)
        return refuse(out_rule, rule);
    *out_answer = a;
    *out_used = end;
    return HTTP_DONE;
}

struct str http_answer_header(const struct http_answer *answer, struct str name)
{
    for (size_t i = 0; i < answer->n_headers; i++)
        if (str_eq_nocase(answer->headers[i].name, name))
            return answer->headers[i].value;
    return STR_NONE;
}
