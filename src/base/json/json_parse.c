/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/json/json_keys.h"
#include "base/json/json_tape.h"
#include "base/utf8.h"

/* The nodes of a usual request body fit into this array on the stack and need no allocation. */
enum { FIRST_NODES = 128 };

struct parser {
    struct str text;
    const unsigned char *at;
    const unsigned char *end;
    struct json_node *nodes;
    size_t n_nodes;
    size_t cap_nodes;
    size_t max_nodes;
    size_t n_blanks; /* skipped so far; shows whether arrays and objects are compact */
    unsigned depth;
    unsigned max_depth;
    struct json_error error;
    struct arena scratch;
    struct json_node first_nodes[FIRST_NODES];
};

/* An array or object whose end has not been reached yet. */
struct container {
    size_t node;
    size_t n_blanks_before;
    size_t count;
};

static bool fail_at(struct parser *p, const unsigned char *where, const char *rule)
{
    p->error.offset = (size_t)(where - (const unsigned char *)p->text.ptr);
    p->error.rule = rule;
    return false;
}

static bool fail(struct parser *p, const char *rule)
{
    return fail_at(p, p->at, rule);
}

static uint32_t offset_of(const struct parser *p, const unsigned char *where)
{
    return (uint32_t)(where - (const unsigned char *)p->text.ptr);
}

static void skip_blanks(struct parser *p)
{
    const unsigned char *start = p->at;
    while (p->at < p->end && json_is_blank(*p->at))
        p->at++;
    p->n_blanks += (size_t)(p->at - start);
}

static bool is_next(const struct parser *p, unsigned char c)
{
    return p->at < p->end && *p->at == c;
}

static bool take(struct parser *p, unsigned char c)
{
    if (!is_next(p, c))
        return false;
    p->at++;
    return true;
}

static bool grow_tape(struct parser *p)
{
    if (p->n_nodes >= p->max_nodes)
        return fail(p, "the text has more values than a request may have");
    size_t cap = 2 * p->cap_nodes;
    struct json_node *old = p->nodes == p->first_nodes ? NULL : p->nodes;
    struct json_node *nodes = mem_realloc(old, cap * sizeof *nodes);
    if (old == NULL)
        memcpy(nodes, p->first_nodes, p->n_nodes * sizeof *nodes);
    p->nodes = nodes;
    p->cap_nodes = cap;
    return true;
}

static bool add_node(struct parser *p, struct json_node node)
{
    if (p->n_nodes == p->cap_nodes && !grow_tape(p))
        return false;
    p->nodes[p->n_nodes++] = node;
    return true;
}

/* The text from `start` up to here is a value without children. */
static bool add_leaf(struct parser *p, enum json_type type, const unsigned char *start, bool plain)
{
    return add_node(p, (struct json_node){
                           .start = offset_of(p, start),
                           .end = offset_of(p, p->at),
                           .next = (uint32_t)p->n_nodes + 1,
                           .type = type & 7,
                           .plain = plain,
                       });
}

static bool parse_word(struct parser *p, enum json_type type, struct str word)
{
    const unsigned char *start = p->at;
    if ((size_t)(p->end - start) < word.len || memcmp(start, word.ptr, word.len) != 0)
        return fail(p, "a word must be true, false or null");
    p->at += word.len;
    return add_leaf(p, type, start, true);
}

static bool skip_digits(struct parser *p)
{
    const unsigned char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return p->at > start;
}

static bool parse_number(struct parser *p)
{
    const unsigned char *start = p->at;
    take(p, '-');
    if (take(p, '0')) {
        if (skip_digits(p))
            return fail_at(p, start, "a number must not have leading zeros");
    } else if (!skip_digits(p)) {
        return fail(p, "a digit must follow the minus sign");
    }
    if (take(p, '.') && !skip_digits(p))
        return fail(p, "a digit must follow the decimal point");
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+'))
            take(p, '-');
        if (!skip_digits(p))
            return fail(p, "a digit must be in the exponent");
    }
    return add_leaf(p, JSON_NUMBER, start, true);
}

/* Returns the value of the \uXXXX at `at`, or -1. */
static int32_t read_u_escape(const unsigned char *at, const unsigned char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    int32_t value = 0;
    for (int i = 2; i < 6; i++) {
        unsigned char c = at[i], letter = c | 0x20;
        if (c >= '0' && c <= '9')
            value = value * 16 + (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value * 16 + (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool skip_u_escape(struct parser *p)
{
    int32_t unit = read_u_escape(p->at, p->end);
    if (unit < 0)
        return fail(p, "four hexadecimal digits must follow \\u");
    /* JSON allows it, PostgreSQL's text does not: documents must work on both engines. */
    if (unit == 0)
        return fail(p, "\\u0000 is not allowed");
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return fail(p, "a low surrogate must follow a high one");
    if (unit >= 0xd800 && unit <= 0xdbff) {
        int32_t low = read_u_escape(p->at + 6, p->end);
        if (low < 0xdc00 || low > 0xdfff)
            return fail(p, "a low surrogate must follow the high one");
        p->at += 6;
    }
    p->at += 6;
    return true;
}

static bool skip_escape(struct parser *p)
{
    if (p->end - p->at < 2)
        return fail(p, "a string must end in a quotation mark");
    unsigned char c = p->at[1];
    if (c == 'u')
        return skip_u_escape(p);
    if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL)
        return fail(p, "a string must not contain this escape");
    p->at += 2;
    return true;
}

static bool skip_non_ascii(struct parser *p)
{
    do {
        size_t step = utf8_sequence(p->at, (size_t)(p->end - p->at));
        if (step == 0)
            return fail(p, "text must be valid UTF-8");
        p->at += step;
    } while (p->at < p->end && *p->at >= 0x80);
    return true;
}

static bool parse_string(struct parser *p)
{
    const unsigned char *start = p->at++;
    bool plain = true;
    for (;;) {
        p->at = json_skip_plain(p->at, p->end);
        if (p->at == p->end)
            return fail(p, "a string must end in a quotation mark");
        if (*p->at == '"')
            break;
        if (*p->at < 0x20)
            return fail(p, "a control character in a string must be escaped");
        plain = plain && *p->at != '\\';
        if (!(*p->at == '\\' ? skip_escape(p) : skip_non_ascii(p)))
            return false;
    }
    p->at++;
    return add_leaf(p, JSON_STRING, start, plain);
}

static bool open_container(struct parser *p, enum json_type type, struct container *out_open)
{
    if (p->depth == p->max_depth)
        return fail(p, "arrays and objects are nested too deeply");
    struct container open = {.node = p->n_nodes, .n_blanks_before = p->n_blanks};
    if (!add_node(p, (struct json_node){.start = offset_of(p, p->at), .type = type & 7}))
        return false;
    p->depth++;
    p->at++;
    skip_blanks(p);
    *out_open = open;
    return true;
}

static void close_container(struct parser *p, const struct container *open)
{
    struct json_node *node = &p->nodes[open->node];
    node->end = offset_of(p, p->at);
    node->next = (uint32_t)p->n_nodes;
    node->count = open->count & JSON_MAX_NODES;
    node->plain = p->n_blanks == open->n_blanks_before;
    p->depth--;
}

static bool parse_value(struct parser *p);

static bool parse_array(struct parser *p)
{
    struct container open;
    if (!open_container(p, JSON_ARRAY, &open))
        return false;
    if (!is_next(p, ']')) {
        do {
            skip_blanks(p);
            if (!parse_value(p))
                return false;
            open.count++;
            skip_blanks(p);
        } while (take(p, ','));
    }
    if (!take(p, ']'))
        return fail(p, "a comma or ] must follow an array item");
    close_container(p, &open);
    return true;
}

static bool parse_member(struct parser *p)
{
    skip_blanks(p);
    if (!is_next(p, '"'))
        return fail(p, "a member's name must be a string");
    if (!parse_string(p))
        return false;
    skip_blanks(p);
    if (!take(p, ':'))
        return fail(p, "a colon must follow a member's name");
    skip_blanks(p);
    return parse_value(p);
}

/* Few names hash to the same bit of a word, so most are known to be new without a comparison. */
static uint64_t name_bit(struct str name)
{
    if (name.len == 0)
        return 1;
    unsigned sum = (unsigned)name.len * 7 + (unsigned char)name.ptr[0] +
                   (unsigned char)name.ptr[name.len - 1] * 5u +
                   (unsigned char)name.ptr[name.len / 2] * 3u;
    return (uint64_t)1 << (sum % 64);
}

static bool is_among(struct str name, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

enum verdict { NO_DUPLICATE, DUPLICATE, UNDECIDED };

/* Decides usual objects, which have few members and no escapes in their names. */
static enum verdict find_duplicate_quickly(struct json object, struct json *out_key)
{
    struct str names[JSON_KEYS_WALKED];
    size_t count = 0;
    uint64_t seen = 0;
    if (json_node(object)->count > JSON_KEYS_WALKED)
        return UNDECIDED;
    for (uint32_t at = object.at + 1; at < json_node(object)->next;) {
        struct json key = {object.doc, at};
        if (!json_node(key)->plain)
            return UNDECIDED;
        struct str name = json_inner(key);
        uint64_t bit = name_bit(name);
        if ((seen & bit) != 0 && is_among(name, names, count)) {
            *out_key = key;
            return DUPLICATE;
        }
        seen |= bit;
        names[count++] = name;
        at = object.doc->nodes[at + 1].next;
    }
    return NO_DUPLICATE;
}

static bool check_names_differ(struct parser *p, size_t object_node)
{
    struct json_doc doc = {p->text, p->nodes, (uint32_t)p->n_nodes};
    struct json object = {&doc, (uint32_t)object_node}, key;
    enum verdict verdict = find_duplicate_quickly(object, &key);
    if (verdict == UNDECIDED) {
        verdict = json_keys_duplicate(&p->scratch, object, &key) ? DUPLICATE : NO_DUPLICATE;
        arena_clear(&p->scratch);
    }
    if (verdict == NO_DUPLICATE)
        return true;
    return fail_at(p, (const unsigned char *)json_raw(key).ptr,
        "an object must not have two members of the same name");
}

static bool parse_object(struct parser *p)
{
    struct container open;
    if (!open_container(p, JSON_OBJECT, &open))
        return false;
    if (!is_next(p, '}')) {
        do {
            if (!parse_member(p))
                return false;
            open.count++;
            skip_blanks(p);
        } while (take(p, ','));
    }
    if (!take(p, '}'))
        return fail(p, "a comma or } must follow an object's member");
    close_container(p, &open);
    return open.count < 2 || check_names_differ(p, open.node);
}

static bool parse_value(struct parser *p)
{
    if (p->at == p->end)
        return fail(p, "the text ends where a value must be");
    switch (*p->at) {
    case '{':
        return parse_object(p);
    case '[':
        return parse_array(p);
    case '"':
        return parse_string(p);
    case 't':
        return parse_word(p, JSON_TRUE, STR("true"));
    case 'f':
        return parse_word(p, JSON_FALSE, STR("false"));
    case 'n':
        return parse_word(p, JSON_NULL, STR("null"));
    default:
        if (*p->at != '-' && (*p->at < '0' || *p->at > '9'))
            return fail(p, "a value must be here");
        return parse_number(p);
    }
}

static bool parse_text(struct parser *p)
{
    if (p->text.len > UINT32_MAX)
        return fail(p, "the text is too long");
    if (str_starts_with(p->text, STR("\xef\xbb\xbf")))
        return fail(p, "a byte-order mark must not precede the value");
    skip_blanks(p);
    if (!parse_value(p))
        return false;
    skip_blanks(p);
    return p->at == p->end || fail(p, "nothing may follow the value");
}

static void parser_init(struct parser *p, struct arena *arena, struct str text)
{
    size_t left = arena_is_over(arena) ? 0 : arena->budget_bytes - arena->used_bytes;
    size_t affordable = left / sizeof(struct json_node);
    p->text = text;
    p->at = (const unsigned char *)text.ptr;
    p->end = p->at + text.len;
    p->nodes = p->first_nodes;
    p->n_nodes = 0;
    p->cap_nodes = FIRST_NODES;
    p->max_nodes = affordable < JSON_MAX_NODES ? affordable : JSON_MAX_NODES;
    p->n_blanks = 0;
    p->depth = 0;
    p->max_depth = JSON_MAX_DEPTH;
    arena_init(&p->scratch, SIZE_MAX);
}

static void parser_deinit(struct parser *p)
{
    if (p->nodes != p->first_nodes)
        mem_free(p->nodes);
    arena_deinit(&p->scratch);
}

bool json_parse(
    struct arena *arena, struct str text, struct json_doc *out_doc, struct json_error *out_error)
{
    return json_parse_deep(arena, text, JSON_MAX_DEPTH, out_doc, out_error);
}

bool json_parse_deep(struct arena *arena, struct str text, unsigned max_depth,
    struct json_doc *out_doc, struct json_error *out_error)
{
    CLEANUP(parser_deinit) struct parser p;
    parser_init(&p, arena, str_is_none(text) ? STR("") : text);
    p.max_depth = max_depth;
    bool good = parse_text(&p) && (p.n_nodes <= p.max_nodes ||
                                      fail(&p, "the text has more values than a request may have"));
    if (!good) {
        *out_error = p.error;
        return false;
    }
    size_t size = p.n_nodes * sizeof *p.nodes;
    struct json_node *nodes = arena_alloc(arena, size);
    memcpy(nodes, p.nodes, size);
    *out_doc = (struct json_doc){p.text, nodes, (uint32_t)p.n_nodes};
    return true;
}
