/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A head is parsed in two passes. The first scans the received bytes without allocating and rejects
 * bytes that can no longer become a valid head, so that a client which ends its lines in a bare LF
 * is refused at once instead of at a deadline. The second runs when the empty line has arrived: it
 * copies the head into the arena and parses it.
 */
#include "net/http.h"

#include "net/http_bytes.h"

static enum http_parsed refuse(struct http_refusal *out_refusal, int status, const char *rule)
{
    *out_refusal = (struct http_refusal){status, rule};
    return HTTP_REFUSED;
}

enum { METHOD_BYTES_MAX = 32 };

struct request_line {
    struct str method;
    struct str target;
    struct str version;
};

static bool all_bytes_are(struct str s, enum http_byte class)
{
    for (size_t i = 0; i < s.len; i++)
        if (!http_byte_is(s.ptr[i], class))
            return false;
    return true;
}

/* --- The request line ----------------------------------------------------------------------- */

static bool split_request_line(struct str line, struct request_line *out)
{
    size_t first = str_find(line, ' ');
    struct str rest = str_slice(line, first + 1, line.len);
    size_t second = str_find(rest, ' ');
    if (first == line.len || second == rest.len)
        return false;
    out->method = str_slice(line, 0, first);
    out->target = str_slice(rest, 0, second);
    out->version = str_slice(rest, second + 1, rest.len);
    return true;
}

static bool is_version_number(struct str v)
{
    return v.len == 8 && str_starts_with(v, STR("HTTP/")) && v.ptr[5] >= '0' && v.ptr[5] <= '9' &&
           v.ptr[6] == '.' && v.ptr[7] >= '0' && v.ptr[7] <= '9';
}

static bool is_port(struct str s)
{
    uint64_t port;
    return str_to_u64(s, &port) && port <= UINT16_MAX;
}

static bool is_ipv6_literal(struct str s)
{
    if (s.len < 4 || s.ptr[s.len - 1] != ']')
        return false;
    for (size_t i = 1; i < s.len - 1; i++)
        if (hex_digit(s.ptr[i]) < 0 && s.ptr[i] != ':' && s.ptr[i] != '.')
            return false;
    return true;
}

static bool is_host(struct str host)
{
    bool bracketed = host.len > 0 && host.ptr[0] == '[';
    size_t name_end = bracketed ? str_find(host, ']') + 1 : str_find(host, ':');
    struct str name = str_slice(host, 0, name_end);
    struct str port = str_slice(host, name_end, host.len);
    if (bracketed ? !is_ipv6_literal(name) : name.len == 0 || !all_bytes_are(name, HTTP_HOST))
        return false;
    return port.len == 0 || (port.ptr[0] == ':' && is_port(str_slice(port, 1, port.len)));
}

/* The parts of a target. */
struct target {
    struct str authority; /* of an absolute URL; STR_NONE: the target has only the other part */
    struct str path_and_query;
};

static struct target split_target(struct str target)
{
    size_t start = str_eq_nocase(str_slice(target, 0, 7), STR("http://"))    ? 7
                   : str_eq_nocase(str_slice(target, 0, 8), STR("https://")) ? 8
                                                                             : 0;
    size_t end = start;
    while (start > 0 && end < target.len && target.ptr[end] != '/' && target.ptr[end] != '?')
        end++;
    return (struct target){
        start > 0 ? str_slice(target, start, end) : STR_NONE, str_slice(target, end, target.len)};
}

static const char *path_fault(struct str path_and_query)
{
    if (str_has_byte(path_and_query, '#'))
        return "the target must not contain a fragment";
    size_t mark = str_find(path_and_query, '?');
    if (!all_bytes_are(str_slice(path_and_query, 0, mark), HTTP_PATH) ||
        !all_bytes_are(str_slice(path_and_query, mark + 1, path_and_query.len), HTTP_QUERY))
        return "the target contains a character that must be percent-encoded";
    return NULL;
}

static const char *target_fault(const struct request_line *line)
{
    struct target target = split_target(line->target);
    if (str_eq(line->target, STR("*")))
        return str_eq(line->method, STR("OPTIONS")) ? NULL : "only OPTIONS may have the target '*'";
    if (str_is_none(target.authority) && (line->target.len == 0 || line->target.ptr[0] != '/'))
        return "the target must be a path that begins with '/', or an http or https URL";
    if (!str_is_none(target.authority) && !is_host(target.authority))
        return "the URL must have a name or an address, with an optional port, and no user";
    return path_fault(target.path_and_query);
}

static enum http_parsed check_request_line(struct str line, const struct http_limits *limits,
    struct request_line *out, struct http_refusal *out_refusal)
{
    if (!split_request_line(line, out))
        return refuse(out_refusal, 400, "the request line must be: method, target, version");
    if (out->method.len == 0 || out->method.len > METHOD_BYTES_MAX ||
        !all_bytes_are(out->method, HTTP_TOKEN))
        return refuse(out_refusal, 400, "the method must be a short token");
    if (!is_version_number(out->version))
        return refuse(out_refusal, 400, "the version must be HTTP/1.1 or HTTP/1.0");
    if (!str_eq(out->version, STR("HTTP/1.1")) && !str_eq(out->version, STR("HTTP/1.0")))
        return refuse(out_refusal, 505, "only HTTP/1.1 and HTTP/1.0 are supported");
    if (out->target.len > limits->target_bytes)
        return refuse(out_refusal, 414, "the target is too long");
    const char *fault = target_fault(out);
    if (fault != NULL)
        return refuse(out_refusal, 400, fault);
    return HTTP_DONE;
}

/* --- First pass ----------------------------------------------------------------------------- */

/* Returns the refusal of an unfinished line that must not grow any further, or HTTP_MORE. */
static enum http_parsed check_unfinished(struct str bytes, bool in_request_line,
    const struct http_limits *limits, struct http_refusal *out_refusal)
{
    size_t method_len = str_find(bytes, ' ');
    struct str target = str_slice(bytes, method_len + 1, bytes.len);
    if (in_request_line && method_len > METHOD_BYTES_MAX)
        return refuse(out_refusal, 400, "the method must be a short token");
    if (in_request_line && str_find(target, ' ') > limits->target_bytes)
        return refuse(out_refusal, 414, "the target is too long");
    if (bytes.len >= limits->head_bytes)
        return refuse(out_refusal, 431, "the head of the request is too large");
    return HTTP_MORE;
}

/* Finds the end of the line that starts at `start`, or returns HTTP_MORE. */
static enum http_parsed find_line_end(
    struct str bytes, size_t start, size_t *out_end, struct http_refusal *out_refusal)
{
    size_t at = start;
    while (at < bytes.len && http_byte_is(bytes.ptr[at], HTTP_FIELD))
        at++;
    if (at == bytes.len)
        return HTTP_MORE;
    if (bytes.ptr[at] == '\n')
        return refuse(out_refusal, 400, "a line must end in CR LF, not only in LF");
    if (bytes.ptr[at] != '\r')
        return refuse(out_refusal, 400, "the head must not contain control characters");
    if (at + 1 == bytes.len)
        return HTTP_MORE;
    if (bytes.ptr[at + 1] != '\n')
        return refuse(out_refusal, 400, "CR must be followed by LF");
    *out_end = at;
    return HTTP_DONE;
}

/* Finds the end of the head and its request line. */
static enum http_parsed scan_head(struct str bytes, const struct http_limits *limits,
    struct request_line *out_line, size_t *out_len, struct http_refusal *out_refusal)
{
    size_t start = 0;
    for (size_t lines = 0;; lines++) {
        size_t end;
        enum http_parsed found = find_line_end(bytes, start, &end, out_refusal);
        if (found == HTTP_MORE)
            return check_unfinished(bytes, lines == 0, limits, out_refusal);
        if (found == HTTP_REFUSED)
            return found;
        struct str line = str_slice(bytes, start, end);
        start = end + 2;
        if (start > limits->head_bytes)
            return refuse(out_refusal, 431, "the head of the request is too large");
        if (lines == 0) {
            if (check_request_line(line, limits, out_line, out_refusal) == HTTP_REFUSED)
                return HTTP_REFUSED;
        } else if (line.len == 0) {
            *out_len = start;
            return HTTP_DONE;
        } else if (line.ptr[0] == ' ' || line.ptr[0] == '\t') {
            return refuse(out_refusal, 400, "a header line must not be folded");
        } else if (lines > limits->headers) {
            return refuse(out_refusal, 431, "there are too many headers");
        }
    }
}

/* --- Second pass ---------------------------------------------------------------------------- */

static bool split_header(struct str line, struct http_header *out)
{
    size_t colon = str_find(line, ':');
    out->name = str_slice(line, 0, colon);
    out->value = str_trim_blanks(str_slice(line, colon + 1, line.len));
    return colon < line.len && colon > 0 && all_bytes_are(out->name, HTTP_TOKEN);
}

/* `lines` has complete header lines, each with its CR LF, without the empty one. */
static enum http_parsed split_headers(
    struct arena *arena, struct str lines, struct http_request *r, struct http_refusal *out_refusal)
{
    size_t count = 0;
    for (size_t i = 0; i < lines.len; i++)
        count += lines.ptr[i] == '\n';
    r->headers = ARENA_ARRAY(arena, struct http_header, count);
    struct str line;
    while (lines.len > 0 && str_next_part(&lines, '\n', &line)) {
        line.len--;
        if (!split_header(line, &r->headers[r->n_headers++]))
            return refuse(out_refusal, 400, "a header must be a token, a colon and a value");
    }
    return HTTP_DONE;
}

/* The host of an absolute target replaces the header (RFC 9112 section 3.2.2). */
static enum http_parsed read_host(struct http_request *r, struct http_refusal *out_refusal)
{
    struct str host = http_header(r, STR("host"));
    size_t count = http_header_count(r, STR("host"));
    if (count > 1 || (count == 0 && r->minor > 0))
        return refuse(out_refusal, 400, "there must be exactly one Host");
    if (count == 1 && !is_host(host))
        return refuse(out_refusal, 400, "Host must be a name or an address, with an optional port");
    if (str_is_none(r->host))
        r->host = host;
    return HTTP_DONE;
}

static enum http_parsed read_framing(
    struct http_request *r, const struct http_limits *limits, struct http_refusal *out_refusal)
{
    size_t n_lengths = http_header_count(r, STR("content-length"));
    size_t n_codings = http_header_count(r, STR("transfer-encoding"));
    if (n_lengths + n_codings > 1)
        return refuse(out_refusal, 400,
            "a body must be framed by one Content-Length or one Transfer-Encoding");
    if (n_codings == 1) {
        if (r->minor == 0)
            return refuse(out_refusal, 400, "HTTP/1.0 has no Transfer-Encoding");
        if (!str_eq_nocase(http_header(r, STR("transfer-encoding")), STR("chunked")))
            return refuse(out_refusal, 501, "the only supported Transfer-Encoding is chunked");
        r->chunked = true;
    }
    if (n_lengths == 1) {
        if (!str_to_u64(http_header(r, STR("content-length")), &r->content_length))
            return refuse(out_refusal, 400, "Content-Length must be one decimal number");
        if (r->content_length > limits->body_bytes)
            return refuse(out_refusal, 413, "the body is larger than this server allows");
        r->has_length = true;
    }
    return HTTP_DONE;
}

static enum http_parsed read_expect(struct http_request *r, struct http_refusal *out_refusal)
{
    size_t count = http_header_count(r, STR("expect"));
    if (count == 0)
        return HTTP_DONE;
    if (count > 1 || !str_eq_nocase(http_header(r, STR("expect")), STR("100-continue")))
        return refuse(out_refusal, 417, "the only supported Expect is 100-continue");
    bool has_body = r->chunked || (r->has_length && r->content_length > 0);
    r->expects_continue = r->minor == 1 && has_body;
    return HTTP_DONE;
}

static void read_persistence(struct http_request *r)
{
    if (r->minor == 1)
        r->keep_alive = !http_header_lists(r, STR("connection"), STR("close"));
    else
        r->keep_alive = http_header_lists(r, STR("connection"), STR("keep-alive")) &&
                        !http_header_lists(r, STR("connection"), STR("close"));
}

/* A URL without a path means the whole server to OPTIONS, else the path "/". */
static struct str complete_path(
    struct arena *arena, const struct request_line *line, struct str path_and_query)
{
    if (path_and_query.len > 0 && path_and_query.ptr[0] != '?')
        return path_and_query;
    if (path_and_query.len == 0 && str_eq(line->method, STR("OPTIONS")))
        return STR("*");
    return arena_printf(arena, "/%.*s", STR_ARG(path_and_query));
}

static void read_request_line(
    struct arena *arena, struct http_request *r, const struct request_line *line)
{
    struct target target = split_target(line->target);
    struct str text = complete_path(arena, line, target.path_and_query);
    size_t mark = str_find(text, '?');
    r->method = line->method;
    r->minor = line->version.ptr[7] == '1';
    r->host = target.authority;
    r->target = text;
    r->path = str_slice(text, 0, mark);
    r->query = mark < text.len ? str_slice(text, mark + 1, text.len) : STR_NONE;
}

void http_head_salvage(struct arena *arena, struct str bytes, const struct http_limits *limits,
    struct http_request *out_request)
{
    struct http_request r = {0};
    struct str rest = arena_str(arena, str_slice(bytes, 0, limits->head_bytes)), line;
    size_t end = str_find(rest, '\n');
    r.headers = ARENA_ARRAY(arena, struct http_header, limits->headers);
    rest = str_slice(rest, end + 1, rest.len);
    while (r.n_headers < limits->headers && (end = str_find(rest, '\n')) < rest.len) {
        line = str_slice(rest, 0, end);
        rest = str_slice(rest, end + 1, rest.len);
        if (line.len < 2 || line.ptr[line.len - 1] != '\r')
            break;
        line.len--;
        if (!split_header(line, &r.headers[r.n_headers]) ||
            !all_bytes_are(r.headers[r.n_headers].value, HTTP_FIELD))
            break;
        r.n_headers++;
    }
    r.host = http_header(&r, STR("host"));
    *out_request = r;
}

enum http_parsed http_head_parse(struct arena *arena, struct str bytes,
    const struct http_limits *limits, struct http_request *out_request, size_t *out_used,
    struct http_refusal *out_refusal)
{
    struct request_line line;
    size_t len;
    enum http_parsed found = scan_head(bytes, limits, &line, &len, out_refusal);
    if (found != HTTP_DONE)
        return found;
    struct str head = arena_str(arena, str_slice(bytes, 0, len));
    split_request_line(str_slice(head, 0, str_find(head, '\r')), &line);
    struct http_request r = {0};
    read_request_line(arena, &r, &line);
    struct str headers = str_slice(head, str_find(head, '\n') + 1, head.len - 2);
    if (split_headers(arena, headers, &r, out_refusal) == HTTP_REFUSED ||
        read_framing(&r, limits, out_refusal) == HTTP_REFUSED ||
        read_host(&r, out_refusal) == HTTP_REFUSED || read_expect(&r, out_refusal) == HTTP_REFUSED)
        return HTTP_REFUSED;
    read_persistence(&r);
    *out_request = r;
    *out_used = len;
    return HTTP_DONE;
}
