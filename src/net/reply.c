/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

static void put_digits(char *place, size_t n, int value)
{
    for (; n > 0; n--, value /= 10)
        place[n - 1] = (char)('0' + value % 10);
}

/* The date of HTTP, "Sun, 06 Nov 1994 08:49:37 GMT"; formatted once for each second. */
static struct str date_text(struct shard *shard)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != shard->date_s) {
        struct tm t;
        gmtime_r(&now, &t);
        memcpy(shard->date, days + 3 * t.tm_wday, 3);
        put_digits(shard->date + 5, 2, t.tm_mday);
        memcpy(shard->date + 8, months + 3 * t.tm_mon, 3);
        put_digits(shard->date + 12, 4, t.tm_year + 1900);
        put_digits(shard->date + 17, 2, t.tm_hour);
        put_digits(shard->date + 20, 2, t.tm_min);
        put_digits(shard->date + 23, 2, t.tm_sec);
        shard->date_s = now;
    }
    return (struct str){shard->date, DATE_LEN};
}

bool reply_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static bool is_the_layers(struct str name)
{
    return str_eq_nocase(name, STR("content-length")) || str_eq_nocase(name, STR("date")) ||
           str_eq_nocase(name, STR("transfer-encoding")) || str_eq_nocase(name, STR("connection"));
}

static void append_value(struct buf *out, struct str value)
{
    size_t start = out->len;
    buf_append(out, value);
    http_clean_value(out->ptr + start, out->len - start);
}

static void append_headers(struct buf *out, const struct http_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert(!is_the_layers(headers[i].name));
        append_value(out, headers[i].name);
        buf_append(out, STR(": "));
        append_value(out, headers[i].value);
        buf_append(out, STR("\r\n"));
    }
}

static void append_framing(struct buf *out, const struct reply_head *head)
{
    if (head->framing == FRAMED_BY_LENGTH) {
        buf_append(out, STR("Content-Length: "));
        buf_append_u64(out, head->length);
        buf_append(out, STR("\r\n"));
    } else if (head->framing == FRAMED_BY_CHUNKS) {
        buf_append(out, STR("Transfer-Encoding: chunked\r\n"));
    }
    if (head->status == 101)
        buf_append(out, STR("Upgrade: websocket\r\nConnection: Upgrade\r\n"));
    else if (head->status == 426)
        buf_append(out, head->keep_alive ? STR("Upgrade: websocket\r\nConnection: Upgrade\r\n"
                                               "Sec-WebSocket-Version: 13\r\n")
                                         : STR("Upgrade: websocket\r\nConnection: Upgrade, close"
                                               "\r\nSec-WebSocket-Version: 13\r\n"));
    else if (!head->keep_alive)
        buf_append(out, STR("Connection: close\r\n"));
    else if (head->minor == 0)
        buf_append(out, STR("Connection: keep-alive\r\n"));
}

struct str reply_head_text(struct shard *shard, const struct reply_head *head)
{
    struct buf *out = &shard->reply_head;
    buf_reset(out);
    buf_append(out, STR("HTTP/1.1 "));
    buf_append_u64(out, (uint64_t)head->status);
    buf_append_byte(out, ' ');
    buf_append(out, str_of(http_reason(head->status)));
    buf_append(out, STR("\r\nDate: "));
    buf_append(out, date_text(shard));
    buf_append(out, STR("\r\n"));
    append_framing(out, head);
    append_headers(out, head->headers, head->n_headers);
    if (head->may_retry)
        buf_append(out, STR("Retry-After: 1\r\n"));
    buf_append(out, STR("\r\n"));
    assert(!out->failed);
    return buf_str(out);
}
