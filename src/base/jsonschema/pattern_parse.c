/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/pattern_program.h"
#include "base/utf8.h"

/* The limits of one class, before adjacent ranges are joined. */
enum { MAX_RANGES = 16384, MAX_PROPERTIES = 64 };

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    unsigned depth;
    unsigned n_properties; /* each requires a scan of Unicode's table */
    struct pattern_error error;
};

static const struct pattern_range digit_ranges[] = {{'0', '9'}};
static const struct pattern_range word_ranges[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct pattern_range space_ranges[] = {{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0},
    {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f},
    {0x3000, 0x3000}, {0xfeff, 0xfeff}};
static const struct pattern_range line_end_ranges[] = {
    {'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

static bool fail(struct parser *p, const char *rule)
{
    if (p->error.rule == NULL)
        p->error = (struct pattern_error){p->at, rule, false};
    return false;
}

static bool refuse(struct parser *p, const char *rule)
{
    fail(p, rule);
    p->error.unsupported = true;
    return false;
}

static bool is_next(const struct parser *p, char c)
{
    return p->at < p->text.len && p->text.ptr[p->at] == c;
}

static bool take(struct parser *p, char c)
{
    if (!is_next(p, c))
        return false;
    p->at++;
    return true;
}

static bool take_text(struct parser *p, struct str text)
{
    if (!str_starts_with(str_slice(p->text, p->at, p->text.len), text))
        return false;
    p->at += text.len;
    return true;
}

static bool take_code_point(struct parser *p, uint32_t *out)
{
    const unsigned char *bytes = (const unsigned char *)p->text.ptr + p->at;
    size_t len = utf8_sequence(bytes, p->text.len - p->at);
    if (len == 0)
        return fail(p, "the pattern must be valid UTF-8");
    *out = utf8_decode(bytes, len);
    p->at += len;
    return true;
}

/* --- Escapes that stand for one code point ---------------------------------------------------- */

static bool take_hex(struct parser *p, size_t n_digits, uint32_t *out)
{
    uint32_t value = 0;
    for (size_t i = 0; i < n_digits; i++) {
        int digit = p->at + i < p->text.len ? hex_digit(p->text.ptr[p->at + i]) : -1;
        if (digit < 0)
            return fail(p, n_digits == 2 ? "two hexadecimal digits must follow \\x"
                                         : "four hexadecimal digits or {…} must follow \\u");
        value = value * 16 + (uint32_t)digit;
    }
    p->at += n_digits;
    *out = value;
    return true;
}

static bool take_braced_hex(struct parser *p, uint32_t *out)
{
    uint32_t value = 0;
    size_t start = p->at;
    while (p->at < p->text.len && hex_digit(p->text.ptr[p->at]) >= 0) {
        value = value * 16 + (uint32_t)hex_digit(p->text.ptr[p->at++]);
        if (value > CODE_POINT_MAX)
            return fail(p, "a code point must be at most 10FFFF");
    }
    if (p->at == start || !take(p, '}'))
        return fail(p, "hexadecimal digits and } must follow \\u{");
    *out = value;
    return true;
}

static bool take_u_escape(struct parser *p, uint32_t *out)
{
    if (take(p, '{'))
        return take_braced_hex(p, out);
    if (!take_hex(p, 4, out))
        return false;
    size_t before = p->at;
    uint32_t low;
    if (*out < 0xd800 || *out > 0xdbff || !take_text(p, STR("\\u")) || is_next(p, '{'))
        p->at = before;
    else if (!take_hex(p, 4, &low))
        return false;
    else if (low < 0xdc00 || low > 0xdfff)
        p->at = before;
    else
        *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool take_control(struct parser *p, uint32_t *out)
{
    if (p->at == p->text.len || !is_letter(p->text.ptr[p->at]))
        return fail(p, "a letter must follow \\c");
    *out = (uint32_t)p->text.ptr[p->at++] & 31;
    return true;
}

/* After the backslash. */
static bool take_escape(struct parser *p, bool in_class, uint32_t *out)
{
    static const char meanings[128] = {
        ['t'] = '\t', ['n'] = '\n', ['v'] = '\v', ['f'] = '\f', ['r'] = '\r'};
    if (p->at == p->text.len)
        return fail(p, "a character must follow the backslash");
    char c = p->text.ptr[p->at];
    if (!in_class && ((c >= '1' && c <= '9') || c == 'k'))
        return refuse(p, "backreferences are not supported");
    p->at++;
    if (c == 'x')
        return take_hex(p, 2, out);
    if (c == 'u')
        return take_u_escape(p, out);
    if (c == 'c')
        return take_control(p, out);
    bool syntax = c != '\0' && strchr("^$\\.*+?()[]{}|/", c) != NULL;
    if (syntax || (in_class && c == '-')) {
        *out = (uint32_t)c;
        return true;
    }
    if (in_class && c == 'b') {
        *out = '\b';
        return true;
    }
    bool followed = p->at < p->text.len && is_digit(p->text.ptr[p->at]);
    if (c == '0' && !followed) {
        *out = 0;
        return true;
    }
    p->at--;
    if ((c & 0x80) != 0 || meanings[c & 0x7f] == 0)
        return fail(p, "this escape is not defined");
    p->at++;
    *out = (uint32_t)meanings[c & 0x7f];
    return true;
}

/* --- Sets ------------------------------------------------------------------------------------- */

static bool take_property(struct parser *p, bool negated, struct pattern_ranges *r)
{
    if (++p->n_properties > MAX_PROPERTIES)
        return refuse(p, "a pattern must have at most 64 \\p");
    if (!take(p, '{'))
        return fail(p, "{ and a general category must follow \\p");
    size_t len = str_find(str_slice(p->text, p->at, p->text.len), '}');
    struct str name = str_slice(p->text, p->at, p->at + len);
    struct pattern_ranges property = {.arena = p->arena};
    if (p->at + len == p->text.len || !pattern_property(&property, name))
        return refuse(p, "\\p must name a general category such as L, Lu or Nd; other properties "
                         "are not supported");
    p->at += len + 1;
    struct pattern_set set = pattern_ranges_take(&property);
    if (negated)
        pattern_ranges_add_others(r, set);
    for (size_t i = 0; i < set.count && !negated; i++)
        pattern_ranges_add(r, set.ranges[i].low, set.ranges[i].high);
    return true;
}

enum taken { TAKEN, NOT_THERE, BROKEN };

/* \d \D \w \W \s \S \p{…} \P{…}, after the backslash. */
static enum taken take_set_escape(struct parser *p, struct pattern_ranges *r)
{
    static const struct {
        char letter;
        struct pattern_set set;
    } known[] = {
        {'d', {digit_ranges, COUNT_OF(digit_ranges)}},
        {'w', {word_ranges, COUNT_OF(word_ranges)}},
        {'s', {space_ranges, COUNT_OF(space_ranges)}},
    };
    if (p->at == p->text.len)
        return NOT_THERE;
    char letter = p->text.ptr[p->at];
    if (letter == 'p' || letter == 'P') {
        p->at++;
        return take_property(p, letter == 'P', r) ? TAKEN : BROKEN;
    }
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if ((letter | 0x20) != known[i].letter)
            continue;
        p->at++;
        if (letter != known[i].letter)
            pattern_ranges_add_others(r, known[i].set);
        for (size_t j = 0; j < known[i].set.count && letter == known[i].letter; j++)
            pattern_ranges_add(r, known[i].set.ranges[j].low, known[i].set.ranges[j].high);
        return TAKEN;
    }
    return NOT_THERE;
}

/* One code point of a class, or (`out_is_set`) a set that was added to the ranges. */
static bool take_class_atom(
    struct parser *p, struct pattern_ranges *r, uint32_t *out, bool *out_is_set)
{
    *out_is_set = false;
    if (p->at == p->text.len)
        return fail(p, "a class must end in ]");
    if (!take(p, '\\'))
        return take_code_point(p, out);
    enum taken set = take_set_escape(p, r);
    *out_is_set = set == TAKEN;
    return set == TAKEN || (set == NOT_THERE && take_escape(p, true, out));
}

static bool take_class_range(struct parser *p, struct pattern_ranges *r)
{
    uint32_t low = 0, high;
    bool low_is_set, high_is_set;
    if (!take_class_atom(p, r, &low, &low_is_set))
        return false;
    bool is_range = is_next(p, '-') && p->at + 1 < p->text.len && p->text.ptr[p->at + 1] != ']';
    high = low;
    if (is_range) {
        p->at++;
        if (!take_class_atom(p, r, &high, &high_is_set))
            return false;
        if (low_is_set || high_is_set)
            return fail(p, "a range in a class must have a character at each end");
        if (low > high)
            return fail(p, "a range in a class must be in ascending order");
    }
    if (!low_is_set)
        pattern_ranges_add(r, low, high);
    return r->count <= MAX_RANGES || refuse(p, "a class has too many ranges");
}

static struct pattern_node *new_node(struct parser *p, enum pattern_kind kind)
{
    struct pattern_node *node = ARENA_NEW(p->arena, struct pattern_node);
    node->kind = kind;
    return node;
}

static struct pattern_node *new_set(struct parser *p, struct pattern_ranges *r, bool negated)
{
    struct pattern_node *node = new_node(p, PATTERN_NODE_SET);
    node->set = pattern_ranges_take(r);
    if (negated) {
        struct pattern_ranges others = {.arena = p->arena};
        pattern_ranges_add_others(&others, node->set);
        node->set = pattern_ranges_take(&others);
    }
    return node;
}

/* After the [. */
static struct pattern_node *take_class(struct parser *p)
{
    bool negated = take(p, '^');
    struct pattern_ranges r = {.arena = p->arena};
    while (!take(p, ']'))
        if (!take_class_range(p, &r))
            return NULL;
    return new_set(p, &r, negated);
}

/* --- Terms ------------------------------------------------------------------------------------ */

static struct pattern_node *new_range(struct parser *p, uint32_t low, uint32_t high)
{
    struct pattern_node *node = new_node(p, PATTERN_NODE_RANGE);
    node->x = low;
    node->y = high;
    return node;
}

static struct pattern_node *new_assert(struct parser *p, enum pattern_op op)
{
    struct pattern_node *node = new_node(p, PATTERN_NODE_ASSERT);
    node->op = op;
    return node;
}

static struct pattern_node *take_choice(struct parser *p);

static bool take_group_name(struct parser *p)
{
    size_t start = p->at;
    while (p->at < p->text.len && (is_letter(p->text.ptr[p->at]) || is_digit(p->text.ptr[p->at]) ||
                                      is_next(p, '_') || is_next(p, '$')))
        p->at++;
    bool good = p->at > start && !is_digit(p->text.ptr[start]) && take(p, '>');
    return good || fail(p, "a group's name must have letters, digits, _ and $ and end in >");
}

/* After the (. */
static struct pattern_node *take_group(struct parser *p)
{
    bool ahead = take_text(p, STR("?=")) || take_text(p, STR("?!"));
    if (ahead || take_text(p, STR("?<=")) || take_text(p, STR("?<!"))) {
        refuse(p, "lookahead and lookbehind are not supported");
        return NULL;
    }
    if (take_text(p, STR("?<"))) {
        if (!take_group_name(p))
            return NULL;
    } else if (!take_text(p, STR("?:")) && is_next(p, '?')) {
        fail(p, "this kind of group is not defined");
        return NULL;
    }
    if (p->depth == PATTERN_MAX_NESTING) {
        refuse(p, "groups are nested too deeply");
        return NULL;
    }
    p->depth++;
    struct pattern_node *inner = take_choice(p);
    p->depth--;
    if (inner != NULL && !take(p, ')')) {
        fail(p, "a group must end in )");
        return NULL;
    }
    return inner;
}

/* After the backslash. */
static struct pattern_node *take_atom_escape(struct parser *p)
{
    struct pattern_ranges r = {.arena = p->arena};
    uint32_t code_point;
    if (take(p, 'b'))
        return new_assert(p, PATTERN_EDGE);
    if (take(p, 'B'))
        return new_assert(p, PATTERN_INNER);
    enum taken set = take_set_escape(p, &r);
    if (set == TAKEN)
        return new_set(p, &r, false);
    if (set == BROKEN || !take_escape(p, false, &code_point))
        return NULL;
    return new_range(p, code_point, code_point);
}

static struct pattern_node *take_any(struct parser *p)
{
    struct pattern_node *node = new_node(p, PATTERN_NODE_SET);
    struct pattern_ranges r = {.arena = p->arena};
    pattern_ranges_add_others(&r, (struct pattern_set){line_end_ranges, COUNT_OF(line_end_ranges)});
    node->set = pattern_ranges_take(&r);
    return node;
}

static struct pattern_node *take_atom(struct parser *p)
{
    uint32_t code_point;
    if (take(p, '^'))
        return new_assert(p, PATTERN_BEGIN);
    if (take(p, '$'))
        return new_assert(p, PATTERN_END);
    if (take(p, '('))
        return take_group(p);
    if (take(p, '['))
        return take_class(p);
    if (take(p, '.'))
        return take_any(p);
    if (take(p, '\\'))
        return take_atom_escape(p);
    if (is_next(p, '*') || is_next(p, '+') || is_next(p, '?') || is_next(p, '{'))
        fail(p, "a repetition must follow an expression");
    else if (is_next(p, ']') || is_next(p, '}'))
        fail(p, "an unmatched bracket or brace must be escaped");
    else if (take_code_point(p, &code_point))
        return new_range(p, code_point, code_point);
    return NULL;
}

static bool take_count(struct parser *p, uint32_t *out)
{
    size_t start = p->at;
    uint32_t value = 0;
    while (p->at < p->text.len && is_digit(p->text.ptr[p->at])) {
        value = value * 10 + (uint32_t)(p->text.ptr[p->at++] - '0');
        if (value > PATTERN_MAX_REPEAT)
            return refuse(p, "a repetition must be at most 1000 times");
    }
    *out = value;
    return p->at > start || fail(p, "a repetition must be {n}, {n,} or {n,m}");
}

/* After the {. */
static bool take_counts(struct parser *p, uint32_t *out_min, uint32_t *out_max)
{
    if (!take_count(p, out_min))
        return false;
    *out_max = *out_min;
    if (take(p, ',')) {
        *out_max = PATTERN_NO_END;
        if (!is_next(p, '}') && !take_count(p, out_max))
            return false;
    }
    if (!take(p, '}'))
        return fail(p, "a repetition must be {n}, {n,} or {n,m}");
    return *out_min <= *out_max ||
           fail(p, "the numbers of a repetition must be in ascending order");
}

static struct pattern_node *take_term(struct parser *p)
{
    struct pattern_node *atom = take_atom(p);
    uint32_t min = 0, max = PATTERN_NO_END;
    if (atom == NULL)
        return NULL;
    if (take(p, '+'))
        min = 1;
    else if (take(p, '?'))
        max = 1;
    else if (take(p, '{')) {
        if (!take_counts(p, &min, &max))
            return NULL;
    } else if (!take(p, '*'))
        return atom;
    take(p, '?'); /* a search that only reports a match need not distinguish lazy quantifiers */
    if (atom->kind == PATTERN_NODE_ASSERT) {
        fail(p, "an anchor must not be repeated");
        return NULL;
    }
    struct pattern_node *repeat = new_node(p, PATTERN_NODE_REPEAT);
    repeat->x = min;
    repeat->y = max;
    repeat->children = atom;
    return repeat;
}

static struct pattern_node *take_sequence(struct parser *p)
{
    struct pattern_node *sequence = new_node(p, PATTERN_NODE_SEQUENCE);
    struct pattern_node **end = &sequence->children;
    while (p->at < p->text.len && !is_next(p, '|') && !is_next(p, ')')) {
        *end = take_term(p);
        if (*end == NULL)
            return NULL;
        end = &(*end)->next;
    }
    return sequence;
}

static struct pattern_node *take_choice(struct parser *p)
{
    struct pattern_node *choice = new_node(p, PATTERN_NODE_CHOICE);
    struct pattern_node **end = &choice->children;
    do {
        *end = take_sequence(p);
        if (*end == NULL)
            return NULL;
        end = &(*end)->next;
    } while (take(p, '|'));
    return choice;
}

struct pattern_node *pattern_parse(
    struct arena *scratch, struct str text, struct pattern_error *out_error)
{
    struct parser p = {.arena = scratch, .text = text};
    struct pattern_node *root = NULL;
    if (text.len > PATTERN_MAX_BYTES)
        refuse(&p, "a pattern must have at most 4096 bytes");
    else
        root = take_choice(&p);
    if (root != NULL && p.at < text.len)
        fail(&p, "a ) must have a matching (");
    if (p.error.rule == NULL)
        return root;
    *out_error = p.error;
    return NULL;
}
