/* SPDX-License-Identifier: Apache-2.0 */
#include "base/semver.h"

ENUM_DEFINE(semver_bumps, SEMVER_BUMPS);

#include <inttypes.h>

static bool is_identifier_byte(char c)
{
    return is_digit(c) || is_letter(c) || c == '-';
}

static bool is_number(struct str identifier)
{
    for (size_t i = 0; i < identifier.len; i++)
        if (!is_digit(identifier.ptr[i]))
            return false;
    return true;
}

/* Identifiers separated by dots; those of a pre-release have no leading zeros. */
static bool are_identifiers(struct str text, bool zeros_count)
{
    struct str part;
    while (str_next_part(&text, '.', &part)) {
        if (part.len == 0)
            return false;
        for (size_t i = 0; i < part.len; i++)
            if (!is_identifier_byte(part.ptr[i]))
                return false;
        if (zeros_count && part.len > 1 && part.ptr[0] == '0' && is_number(part))
            return false;
    }
    return true;
}

/* Removes the first `separator` and the text after it, and returns that text; STR_NONE if there is
 * none. */
static struct str cut_behind(struct str *text, char separator)
{
    size_t at = str_find(*text, separator);
    if (at == text->len)
        return STR_NONE;
    struct str behind = str_slice(*text, at + 1, text->len);
    *text = str_slice(*text, 0, at);
    return behind;
}

bool semver_parse(struct str text, struct semver *out_version)
{
    struct semver v = {0};
    struct str major, minor, patch;
    if (text.len == 0 || text.len > SEMVER_MAX_BYTES)
        return false;
    v.build = cut_behind(&text, '+');
    v.pre = cut_behind(&text, '-');
    if (!str_is_none(v.build) && (v.build.len == 0 || !are_identifiers(v.build, false)))
        return false;
    if (!str_is_none(v.pre) && (v.pre.len == 0 || !are_identifiers(v.pre, true)))
        return false;
    if (!str_next_part(&text, '.', &major) || !str_next_part(&text, '.', &minor) ||
        !str_next_part(&text, '.', &patch) || !str_is_none(text))
        return false;
    if (!str_to_u64(major, &v.major) || !str_to_u64(minor, &v.minor) ||
        !str_to_u64(patch, &v.patch))
        return false;
    *out_version = v;
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_identifiers(struct str a, struct str b)
{
    bool a_is_number = is_number(a), b_is_number = is_number(b);
    if (a_is_number != b_is_number)
        return a_is_number ? -1 : 1;
    if (a_is_number && a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return str_cmp(a, b);
}

/* A release is greater than its pre-releases. */
static int compare_pre(struct str a, struct str b)
{
    struct str part_a, part_b;
    if (str_is_none(a) || str_is_none(b))
        return (int)str_is_none(a) - (int)str_is_none(b);
    for (;;) {
        bool has_a = str_next_part(&a, '.', &part_a), has_b = str_next_part(&b, '.', &part_b);
        if (!has_a || !has_b)
            return (int)has_a - (int)has_b;
        int order = compare_identifiers(part_a, part_b);
        if (order != 0)
            return order;
    }
}

int semver_compare(const struct semver *a, const struct semver *b)
{
    int order = compare_numbers(a->major, b->major);
    if (order == 0)
        order = compare_numbers(a->minor, b->minor);
    if (order == 0)
        order = compare_numbers(a->patch, b->patch);
    return order != 0 ? order : compare_pre(a->pre, b->pre);
}

bool semver_bump(const struct semver *from, enum semver_bump bump, struct semver *out_next)
{
    struct semver next = {from->major, from->minor, from->patch, STR_NONE, STR_NONE};
    bool is_pre = !str_is_none(from->pre);
    uint64_t *number = bump == SEMVER_MAJOR   ? &next.major
                       : bump == SEMVER_MINOR ? &next.minor
                                              : &next.patch;
    bool is_reached = is_pre && (bump == SEMVER_PATCH || next.patch == 0) &&
                      (bump != SEMVER_MAJOR || next.minor == 0);
    if (!is_reached) {
        if (*number == UINT64_MAX)
            return false;
        (*number)++;
        if (bump != SEMVER_PATCH)
            next.patch = 0;
        if (bump == SEMVER_MAJOR)
            next.minor = 0;
    }
    *out_next = next;
    return true;
}

struct str semver_format(struct arena *arena, const struct semver *version)
{
    return arena_printf(arena, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 "%s%.*s%s%.*s", version->major,
        version->minor, version->patch, str_is_none(version->pre) ? "" : "-", STR_ARG(version->pre),
        str_is_none(version->build) ? "" : "+", STR_ARG(version->build));
}
