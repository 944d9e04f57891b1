#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of base/words.c from Unicode's own.

    gen_words.py OUT.c

Word characters are letters, numbers and marks. A character is folded to what it is searched as:
without case, compatibility forms as what they stand for, and without the diacritics of U+0300 to
U+036F. ASCII is left to the code, Hangul syllables stay whole.
"""
import sys
import unicodedata

FOLD_MAX_BYTES = 12


def is_word(code):
    return unicodedata.category(chr(code))[0] in "LNM"


def strip(text):
    return "".join(c for c in text if not 0x300 <= ord(c) <= 0x36F)


def fold(code):
    text = strip(unicodedata.normalize("NFKD", chr(code).casefold())).casefold()
    if any(not is_word(ord(c)) for c in text) or len(text.encode()) > FOLD_MAX_BYTES:
        return chr(code)
    return text


def ranges(codes):
    out = []
    for code in codes:
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def main():
    codes = [c for c in range(0x80, 0x110000) if not 0xD800 <= c <= 0xDFFF and is_word(c)]
    folds = [(c, fold(c)) for c in codes if not 0xAC00 <= c <= 0xD7A3]
    lines = ['#include "base/words_table.h"', "", "const struct word_range word_ranges[] = {"]
    spans = ranges(codes)
    lines += [f"    {{0x{first:x}, 0x{last:x}}}," for first, last in spans]
    lines += ["};", f"const size_t word_range_count = {len(spans)};", ""]
    changed = [(c, text.encode()) for c, text in folds if text != chr(c)]
    lines.append("const struct word_fold word_folds[] = {")
    for code, text in changed:
        quoted = "".join(f"\\x{byte:02x}" for byte in text)
        lines.append(f'    {{0x{code:x}, {len(text)}, "{quoted}"}},')
    lines += ["};", f"const size_t word_fold_count = {len(changed)};", ""]
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("\n".join(lines))


main()
