/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a pattern and the rest a text of up to 63 code points. The automaton must give
 * the same result as a naive interpretation of the parsed pattern: the set of positions where a
 * match of a node can end, given the set of positions where it can begin, each a bit of a word.
 */
#include "base/jsonschema/pattern_program.h"
#include "base/utf8.h"
#include "fuzz.h"

enum { MAX_CODE_POINTS = 63, MAX_STEPS = 50 * 1000 * 1000, MAX_VISITS = 1000 * 1000 };

struct reading {
    uint32_t code_points[MAX_CODE_POINTS];
    size_t count;
    size_t visits; /* of nodes: repetitions of repetitions are given up */
};

static bool is_word_at(const struct reading *r, size_t at)
{
    uint32_t c = at < r->count ? r->code_points[at] : 0;
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static uint64_t places_of(const struct reading *r, enum pattern_op op)
{
    uint64_t places = 0;
    for (size_t at = 0; at <= r->count; at++) {
        bool edge = (at > 0 && is_word_at(r, at - 1)) != is_word_at(r, at);
        bool holds = op == PATTERN_BEGIN  ? at == 0
                     : op == PATTERN_END  ? at == r->count
                     : op == PATTERN_EDGE ? edge
                                          : !edge;
        places |= (uint64_t)holds << at;
    }
    return places;
}

static bool node_has(const struct pattern_node *node, uint32_t code_point)
{
    if (node->kind == PATTERN_NODE_RANGE)
        return code_point >= node->x && code_point <= node->y;
    for (size_t i = 0; i < node->set.count; i++)
        if (code_point >= node->set.ranges[i].low && code_point <= node->set.ranges[i].high)
            return true;
    return false;
}

static uint64_t ends(struct reading *r, const struct pattern_node *node, uint64_t begins);

static uint64_t repeat_ends(struct reading *r, const struct pattern_node *node, uint64_t begins)
{
    uint64_t at = begins;
    for (uint32_t i = 0; i < node->x; i++) {
        uint64_t next = ends(r, node->children, at);
        if (next == at)
            break;
        at = next;
    }
    uint64_t all = at;
    for (uint32_t i = node->x; i < node->y; i++) {
        at = ends(r, node->children, at);
        if ((at & ~all) == 0)
            break;
        all |= at;
    }
    return all;
}

static uint64_t ends(struct reading *r, const struct pattern_node *node, uint64_t begins)
{
    uint64_t result = 0;
    if (++r->visits > MAX_VISITS)
        return begins;
    switch (node->kind) {
    case PATTERN_NODE_RANGE:
    case PATTERN_NODE_SET:
        for (size_t at = 0; at < r->count; at++)
            if ((begins >> at & 1) != 0 && node_has(node, r->code_points[at]))
                result |= (uint64_t)1 << (at + 1);
        return result;
    case PATTERN_NODE_ASSERT:
        return begins & places_of(r, node->op);
    case PATTERN_NODE_REPEAT:
        return repeat_ends(r, node, begins);
    case PATTERN_NODE_CHOICE:
        for (const struct pattern_node *child = node->children; child; child = child->next)
            result |= ends(r, child, begins);
        return result;
    case PATTERN_NODE_SEQUENCE:
        for (const struct pattern_node *child = node->children; child; child = child->next)
            begins = ends(r, child, begins);
        return begins;
    }
    return 0;
}

static bool read_text(struct reading *r, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        const unsigned char *bytes = (const unsigned char *)text.ptr + at;
        size_t len = utf8_sequence(bytes, text.len - at);
        if (len == 0 || r->count == MAX_CODE_POINTS)
            return false;
        r->code_points[r->count++] = utf8_decode(bytes, len);
        at += len;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct str input = {(const char *)data, size};
    size_t line_end = str_find(input, '\n');
    struct str text = str_slice(input, line_end + 1, input.len);
    struct pattern *pattern;
    struct pattern_error error = {0};
    struct reading r = {.count = 0};
    arena_init(&arena, SIZE_MAX);
    if (size == 0 || line_end == size || !read_text(&r, text))
        return 0;
    if (!pattern_compile(&arena, str_slice(input, 0, line_end), &pattern, &error)) {
        FUZZ_CHECK(error.rule != NULL && error.offset <= line_end);
        return 0;
    }
    FUZZ_CHECK(pattern_states(pattern) <= PATTERN_MAX_STATES);
    struct pattern_node *root = pattern_parse(&arena, str_slice(input, 0, line_end), &error);
    uint64_t anywhere = ((uint64_t)1 << r.count << 1) - 1, steps = MAX_STEPS;
    bool meant = ends(&r, root, anywhere) != 0, found;
    FUZZ_CHECK(pattern_search(pattern, text, &steps, &found));
    /* No state is visited twice between two code points, and each once more at the next. */
    FUZZ_CHECK(MAX_STEPS - steps <= (r.count + 1) * (2 * pattern_states(pattern) + 2));
    FUZZ_CHECK(r.visits > MAX_VISITS || meant == found);
    return 0;
}
