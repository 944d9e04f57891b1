/* SPDX-License-Identifier: Apache-2.0 */
#include "base/enum.h"

struct str enum_word(const char *const *words, unsigned value)
{
    if (value == 0)
        return STR_NONE;
    for (unsigned i = 0; i < value; i++)
        assert(words[i] != NULL);
    return str_of(words[value - 1]);
}

unsigned enum_parse(const char *const *words, struct str text)
{
    for (unsigned i = 0; words[i] != NULL; i++)
        if (str_eq(str_of(words[i]), text))
            return i + 1;
    return 0;
}

const char *const *enum_words_of(struct arena *arena, const char *const *words, unsigned set)
{
    unsigned count = 0, n = 0;
    while (words[count] != NULL)
        count++;
    const char **list = ARENA_ARRAY(arena, const char *, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (enum_has(set, i + 1))
            list[n++] = words[i];
    return list;
}
