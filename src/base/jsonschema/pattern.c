/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/pattern.h"

#include "base/jsonschema/pattern_program.h"
#include "base/utf8.h"

/* Ranges of a set that cost as much as one state. */
enum { RANGES_A_STATE = 16 };

/* --- The program ------------------------------------------------------------------------------ */

struct writer {
    struct arena *arena;
    struct pattern_state *states;
    size_t n_states;
    size_t cost; /* counts parts without states too, so that empty repetitions end */
};

static bool spend(struct writer *w, size_t cost)
{
    w->cost += cost;
    return w->cost <= PATTERN_MAX_STATES;
}

static uint32_t next_state(const struct writer *w)
{
    return (uint32_t)w->n_states;
}

static bool put(struct writer *w, struct pattern_state state)
{
    if (!spend(w, 1))
        return false;
    w->states[w->n_states++] = state;
    return true;
}

static bool put_node(struct writer *w, const struct pattern_node *node);

static bool put_set(struct writer *w, const struct pattern_node *node)
{
    if (!spend(w, node->set.count / RANGES_A_STATE))
        return false;
    struct pattern_set *set = ARENA_NEW(w->arena, struct pattern_set);
    size_t size = node->set.count * sizeof *node->set.ranges;
    struct pattern_range *ranges = arena_alloc(w->arena, size);
    if (size > 0)
        memcpy(ranges, node->set.ranges, size);
    *set = (struct pattern_set){ranges, node->set.count};
    return put(w, (struct pattern_state){.op = PATTERN_SET, .set = set});
}

static bool put_choice(struct writer *w, const struct pattern_node *node)
{
    const struct pattern_node *last = node->children;
    uint32_t jumps = PATTERN_NO_END; /* jumps to the end, chained through x until it is known */
    for (; last->next != NULL; last = last->next) {
        uint32_t split = next_state(w);
        if (!put(w, (struct pattern_state){.op = PATTERN_SPLIT, .x = split + 1}) ||
            !put_node(w, last))
            return false;
        uint32_t jump = next_state(w);
        if (!put(w, (struct pattern_state){.op = PATTERN_JUMP, .x = jumps}))
            return false;
        jumps = jump;
        w->states[split].y = next_state(w);
    }
    if (!put_node(w, last))
        return false;
    while (jumps != PATTERN_NO_END) {
        uint32_t before = w->states[jumps].x;
        w->states[jumps].x = next_state(w);
        jumps = before;
    }
    return true;
}

/* A loop around the child, or one optional occurrence of it. */
static bool put_optional(struct writer *w, const struct pattern_node *child, bool loops)
{
    uint32_t split = next_state(w);
    if (!put(w, (struct pattern_state){.op = PATTERN_SPLIT, .x = split + 1}) || !put_node(w, child))
        return false;
    if (loops && !put(w, (struct pattern_state){.op = PATTERN_JUMP, .x = split}))
        return false;
    w->states[split].y = next_state(w);
    return true;
}

static bool put_repeat(struct writer *w, const struct pattern_node *node)
{
    for (uint32_t i = 0; i < node->x; i++)
        if (!put_node(w, node->children))
            return false;
    if (node->y == PATTERN_NO_END)
        return put_optional(w, node->children, true);
    for (uint32_t i = node->x; i < node->y; i++)
        if (!put_optional(w, node->children, false))
            return false;
    return true;
}

static bool put_node(struct writer *w, const struct pattern_node *node)
{
    switch (node->kind) {
    case PATTERN_NODE_RANGE:
        return put(w, (struct pattern_state){.op = PATTERN_RANGE, .x = node->x, .y = node->y});
    case PATTERN_NODE_SET:
        return put_set(w, node);
    case PATTERN_NODE_ASSERT:
        return put(w, (struct pattern_state){.op = node->op});
    case PATTERN_NODE_CHOICE:
        return spend(w, 1) && put_choice(w, node);
    case PATTERN_NODE_REPEAT:
        return spend(w, 1) && put_repeat(w, node);
    case PATTERN_NODE_SEQUENCE:
        for (const struct pattern_node *child = node->children; child; child = child->next)
            if (!put_node(w, child))
                return false;
        return spend(w, 1);
    }
    return false;
}

bool pattern_compile(struct arena *arena, struct str text, struct pattern **out_pattern,
    struct pattern_error *out_error)
{
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct pattern_node *root = pattern_parse(&scratch, text, out_error);
    if (root == NULL)
        return false;
    struct writer w = {
        .arena = arena,
        .states = arena_alloc(&scratch, PATTERN_MAX_STATES * sizeof(struct pattern_state)),
    };
    if (!put_node(&w, root) || !put(&w, (struct pattern_state){.op = PATTERN_MATCH})) {
        *out_error = (struct pattern_error){0, "the pattern needs more than 4096 states", true};
        return false;
    }
    struct pattern *p = ARENA_NEW(arena, struct pattern);
    struct pattern_state *states = arena_alloc(arena, w.n_states * sizeof *states);
    memcpy(states, w.states, w.n_states * sizeof *states);
    *p = (struct pattern){.states = states, .n_states = w.n_states, .cost = w.cost};
    *out_pattern = p;
    return true;
}

size_t pattern_states(const struct pattern *p)
{
    return p->cost;
}

/* --- The search ------------------------------------------------------------------------------- */

/* The states that wait for the next code point, each once. */
struct threads {
    uint32_t *waiting;
    size_t count;
};

struct search {
    const struct pattern *pattern;
    uint32_t *stack;   /* states still to be followed */
    uint64_t *seen_at; /* the turn in which a state was visited last */
    uint64_t turn;
    uint64_t steps;
    bool at_begin;
    bool at_end;
    bool at_edge; /* of a word */
    bool found;
};

static bool holds(const struct search *s, enum pattern_op op)
{
    switch (op) {
    case PATTERN_BEGIN:
        return s->at_begin;
    case PATTERN_END:
        return s->at_end;
    case PATTERN_EDGE:
        return s->at_edge;
    default:
        return !s->at_edge;
    }
}

static void push(struct search *s, size_t *n_stack, uint32_t state)
{
    if (s->seen_at[state] == s->turn)
        return;
    s->seen_at[state] = s->turn;
    s->stack[(*n_stack)++] = state;
}

/* Follows transitions that need no code point, to all states that wait for one. */
static void follow(struct search *s, struct threads *into, uint32_t from)
{
    size_t n_stack = 0;
    push(s, &n_stack, from);
    while (n_stack > 0 && !s->found) {
        uint32_t at = s->stack[--n_stack];
        const struct pattern_state *state = &s->pattern->states[at];
        s->steps++;
        switch (state->op) {
        case PATTERN_RANGE:
        case PATTERN_SET:
            into->waiting[into->count++] = at;
            break;
        case PATTERN_SPLIT:
            push(s, &n_stack, state->y);
            push(s, &n_stack, state->x);
            break;
        case PATTERN_JUMP:
            push(s, &n_stack, state->x);
            break;
        case PATTERN_MATCH:
            s->found = true;
            break;
        default:
            if (holds(s, state->op))
                push(s, &n_stack, at + 1);
        }
    }
}

static bool set_has(const struct pattern_set *set, uint32_t code_point)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code_point > set->ranges[middle].high)
            low = middle + 1;
        else if (code_point < set->ranges[middle].low)
            high = middle;
        else
            return true;
    }
    return false;
}

static bool accepts(const struct pattern_state *state, uint32_t code_point)
{
    if (state->op == PATTERN_RANGE)
        return code_point >= state->x && code_point <= state->y;
    return set_has(state->set, code_point);
}

static bool is_word(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Sets the position between two code points; the ends of the text count as no word. */
static void stand(struct search *s, struct str text, size_t at, bool after_word)
{
    bool before_word = at < text.len && is_word((unsigned char)text.ptr[at]);
    s->turn++;
    s->at_begin = at == 0;
    s->at_end = at == text.len;
    s->at_edge = before_word != after_word;
}

static void step(
    struct search *s, const struct threads *from, uint32_t code_point, struct threads *into)
{
    into->count = 0;
    for (size_t i = 0; i < from->count && !s->found; i++) {
        s->steps++;
        if (accepts(&s->pattern->states[from->waiting[i]], code_point))
            follow(s, into, from->waiting[i] + 1);
    }
}

static bool run(struct search *s, struct str text, uint64_t max_steps, struct threads sets[2])
{
    bool anchored = s->pattern->states[0].op == PATTERN_BEGIN;
    struct threads *now = &sets[0], *then = &sets[1];
    size_t at = 0;
    stand(s, text, 0, false);
    follow(s, now, 0);
    while (!s->found && at < text.len && (now->count > 0 || !anchored)) {
        const unsigned char *bytes = (const unsigned char *)text.ptr + at;
        size_t len = utf8_sequence(bytes, text.len - at);
        uint32_t code_point = len > 0 ? utf8_decode(bytes, len) : 0xfffd;
        at += len > 0 ? len : 1;
        stand(s, text, at, is_word(code_point));
        step(s, now, code_point, then);
        if (!s->found && !anchored)
            follow(s, then, 0);
        struct threads *swap = now;
        now = then;
        then = swap;
        if (++s->steps > max_steps)
            return false;
    }
    return true;
}

bool pattern_search(const struct pattern *p, struct str text, uint64_t *steps, bool *out_found)
{
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct threads sets[2] = {
        {.waiting = arena_alloc(&scratch, p->n_states * sizeof(uint32_t))},
        {.waiting = arena_alloc(&scratch, p->n_states * sizeof(uint32_t))},
    };
    struct search s = {
        .pattern = p,
        .stack = arena_alloc(&scratch, p->n_states * sizeof(uint32_t)),
        .seen_at = arena_zalloc(&scratch, p->n_states * sizeof(uint64_t)),
        .steps = p->n_states / RANGES_A_STATE,
    };
    bool done = run(&s, text, *steps, sets);
    *steps -= s.steps < *steps ? s.steps : *steps;
    *out_found = s.found;
    return done;
}
