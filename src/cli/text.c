/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/text.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"

struct range {
    uint32_t first, last;
};

/* Combining marks, and characters that are not drawn. */
static const struct range zero_width[] = {
    {0x0300, 0x036f},
    {0x0483, 0x0489},
    {0x0591, 0x05bd},
    {0x0610, 0x061a},
    {0x064b, 0x065f},
    {0x0900, 0x0902},
    {0x093c, 0x093c},
    {0x0941, 0x0948},
    {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e},
    {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},
    {0x200b, 0x200d},
    {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},
    {0xe0100, 0xe01ef},
};
/* East Asian wide and fullwidth, and emoji. */
static const struct range double_width[] = {
    {0x1100, 0x115f},
    {0x231a, 0x231b},
    {0x23e9, 0x23ec},
    {0x2614, 0x2615},
    {0x26a1, 0x26a1},
    {0x2705, 0x2705},
    {0x270a, 0x270b},
    {0x2728, 0x2728},
    {0x274c, 0x274c},
    {0x2753, 0x2755},
    {0x2795, 0x2797},
    {0x2b50, 0x2b50},
    {0x2e80, 0x303e},
    {0x3041, 0x4dbf},
    {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},
    {0xac00, 0xd7a3},
    {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},
    {0xff01, 0xff60},
    {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff},
    {0x1fa70, 0x1faff},
    {0x20000, 0x3fffd},
};
/* Controls, and characters that change the direction or the lines of what follows. */
static const struct range unsafe[] = {
    {0x0000, 0x001f},
    {0x007f, 0x009f},
    {0x061c, 0x061c},
    {0x200e, 0x200f},
    {0x2028, 0x202e},
    {0x2066, 0x2069},
    {0xfff9, 0xfffb},
    {0xe0000, 0xe007f},
};

static bool is_in(const struct range *ranges, size_t n, uint32_t code_point)
{
    for (size_t i = 0; i < n && ranges[i].first <= code_point; i++)
        if (code_point <= ranges[i].last)
            return true;
    return false;
}

/* The code point of the sequence of `len` bytes. */
static uint32_t decode(const unsigned char *p, size_t len)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code_point = p[0] & lead_bits[len];
    for (size_t i = 1; i < len; i++)
        code_point = code_point << 6 | (p[i] & 0x3f);
    return code_point;
}

static void append_escape(struct buf *out, uint32_t code_point)
{
    static const char named[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', [0x1b] = 'e'};
    if (code_point < sizeof named && named[code_point] != 0)
        buf_printf(out, "\\%c", named[code_point]);
    else
        buf_printf(out, code_point > 0xffff ? "\\U%08x" : "\\u%04x", code_point);
}

struct str text_clean(struct arena *arena, struct str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < text.len;) {
        size_t len = utf8_sequence(p + i, text.len - i);
        if (len == 0)
            buf_append(&out, STR("\xef\xbf\xbd"));
        else if (is_in(unsafe, COUNT_OF(unsafe), decode(p + i, len)))
            append_escape(&out, decode(p + i, len));
        else
            buf_append(&out, str_slice(text, i, i + len));
        i += len == 0 ? 1 : len;
    }
    return arena_str(arena, buf_str(&out));
}

static size_t columns_at(struct str clean, size_t at, size_t *out_len)
{
    const unsigned char *p = (const unsigned char *)clean.ptr + at;
    size_t len = utf8_sequence(p, clean.len - at);
    *out_len = len == 0 ? 1 : len;
    uint32_t code_point = len == 0 ? 0xfffd : decode(p, len);
    if (is_in(zero_width, COUNT_OF(zero_width), code_point))
        return 0;
    return is_in(double_width, COUNT_OF(double_width), code_point) ? 2 : 1;
}

size_t text_columns(struct str clean)
{
    size_t columns = 0, len;
    for (size_t at = 0; at < clean.len; at += len)
        columns += columns_at(clean, at, &len);
    return columns;
}

struct str text_cut(struct arena *arena, struct str clean, size_t columns)
{
    if (clean.len <= columns || text_columns(clean) <= columns)
        return clean;
    size_t used = 0, at = 0, len;
    while (at < clean.len) {
        size_t wide = columns_at(clean, at, &len);
        if (used + wide + 1 > columns)
            break;
        used += wide;
        at += len;
    }
    return arena_printf(arena, "%.*s…", STR_ARG(str_slice(clean, 0, at)));
}

struct str text_relative_time(struct arena *arena, int64_t unix_us, int64_t now_us)
{
    static const struct {
        int64_t below_s, unit_s;
        const char *name;
    } units[] = {{60, 1, "s"}, {3600, 60, "m"}, {86400, 3600, "h"}, {60 * 86400, 86400, "d"}};
    char exact[CLOCK_TEXT_LEN];
    int64_t seconds = (now_us - unix_us) / 1000000;
    bool ahead = seconds < 0;
    int64_t distance = ahead ? -seconds : seconds;
    if (distance == 0)
        return STR("just now");
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (distance < units[i].below_s)
            return arena_printf(arena, "%s%lld %s%s", ahead ? "in " : "",
                (long long)(distance / units[i].unit_s), units[i].name, ahead ? "" : " ago");
    clock_format(unix_us, exact);
    return arena_str(arena, (struct str){exact, strlen("2026-01-31")});
}

struct str text_bytes(struct arena *arena, uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024)
        return arena_printf(arena, "%llu B", (unsigned long long)bytes);
    double amount = (double)bytes / 1024;
    size_t unit = 0;
    while (amount >= 1023.95 && unit + 1 < COUNT_OF(names)) {
        amount /= 1024;
        unit++;
    }
    return arena_printf(arena, "%.1f %s", amount, names[unit]);
}
