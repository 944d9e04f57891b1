/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include "base/utf8.h"
#include "base/words_table.h"

/* Scripts in which each character is a word. */
static const struct word_range SINGLES[] = {
    {0x0e00, 0x0eff},   /* Thai, Lao */
    {0x1000, 0x109f},   /* Burmese */
    {0x1780, 0x17ff},   /* Khmer */
    {0x2e80, 0x2fdf},   /* radicals */
    {0x3005, 0x3007},   /* iteration mark, closing mark, zero */
    {0x3040, 0x30ff},   /* Kana */
    {0x31f0, 0x31ff},   /* Kana extensions */
    {0x3400, 0x4dbf},   /* Han, extension A */
    {0x4e00, 0x9fff},   /* Han */
    {0xac00, 0xd7a3},   /* Hangul */
    {0xf900, 0xfaff},   /* Han, compatibility */
    {0xff66, 0xff9f},   /* Kana of half width */
    {0x1b000, 0x1b16f}, /* Kana supplements */
    {0x20000, 0x3ffff}, /* Han, further extensions */
};

static uint32_t code_point_at(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    case 3:
        return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    default:
        return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
    }
}

static bool is_in(const struct word_range *ranges, size_t n, uint32_t code_point)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && ranges[low].first <= code_point;
}

static bool is_of_word(uint32_t c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_in(word_ranges, word_range_count, c);
}

static const struct word_fold *fold_of(uint32_t code_point)
{
    size_t low = 0, high = word_fold_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (word_folds[middle].code_point < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < word_fold_count && word_folds[low].code_point == code_point;
    return found ? &word_folds[low] : NULL;
}

/* A word never ends inside a character: a character that does not fit is left out. */
static void add(struct words *w, const char *text, size_t len)
{
    if (len > WORD_MAX_BYTES - w->len)
        return;
    memcpy(w->word + w->len, text, len);
    w->len += len;
}

static void add_folded(struct words *w, uint32_t code_point, const char *text, size_t len)
{
    if (code_point < 0x80) {
        char lower = code_point >= 'A' && code_point <= 'Z' ? (char)(code_point + 32) : text[0];
        add(w, &lower, 1);
        return;
    }
    const struct word_fold *fold = fold_of(code_point);
    if (fold == NULL)
        add(w, text, len);
    else
        add(w, fold->text, fold->len);
}

void words_init(struct words *w, struct str text)
{
    w->text = text;
    w->at = w->start = w->len = 0;
}

bool words_next(struct words *w)
{
    w->len = 0;
    while (w->at < w->text.len) {
        const char *p = w->text.ptr + w->at;
        size_t len = utf8_sequence((const unsigned char *)p, w->text.len - w->at);
        uint32_t c = len > 0 ? code_point_at(p, len) : 0;
        bool of_word = is_of_word(c);
        bool single = of_word && c >= SINGLES[0].first && is_in(SINGLES, COUNT_OF(SINGLES), c);
        if (w->len > 0 && (!of_word || single))
            return true;
        if (w->len == 0)
            w->start = w->at;
        w->at += len > 0 ? len : 1;
        if (of_word)
            add_folded(w, c, p, len);
        if (single && w->len > 0)
            return true;
    }
    return w->len > 0;
}
