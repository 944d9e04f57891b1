/* SPDX-License-Identifier: Apache-2.0 */
#include "base/condition.h"

/* The sort of a value, as far as the text shows it. */
enum sort {
    SORT_BOOLEAN, /* a comparison, or true and false */
    SORT_PATH,
    SORT_TEXT,
    SORT_NUMBER,
    SORT_NULL,
};

/* Recursive descent; `at` is the next byte, blanks before it are skipped. */
struct parser {
    struct str text;
    size_t at;
    unsigned depth;
    struct condition_error error;
};

static bool parse_or(struct parser *p, enum sort *out_sort);

static bool refuse(struct parser *p, size_t offset, const char *rule)
{
    p->error = (struct condition_error){offset, rule};
    return false;
}

/* --- Bytes and words ------------------------------------------------------------------------ */

static bool begins_name(char c)
{
    return is_letter(c) || c == '_';
}

static char peek(const struct parser *p)
{
    return p->at < p->text.len ? p->text.ptr[p->at] : '\0';
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r')
        p->at++;
}

static bool take(struct parser *p, char byte)
{
    if (peek(p) != byte || p->at == p->text.len)
        return false;
    p->at++;
    return true;
}

/* Returns the name that begins at `at`; empty if there is none. */
static struct str name_at(const struct parser *p, size_t at)
{
    size_t end = at;
    if (at < p->text.len && begins_name(p->text.ptr[at]))
        while (end < p->text.len && (begins_name(p->text.ptr[end]) || is_digit(p->text.ptr[end])))
            end++;
    return str_slice(p->text, at, end);
}

static bool take_word(struct parser *p, struct str word)
{
    skip_blanks(p);
    if (!str_eq(name_at(p, p->at), word))
        return false;
    p->at += word.len;
    return true;
}

static bool is_reserved(struct str name)
{
    static const char *const words[] = {
        "and", "or", "not", "in", "contains", "true", "false", "null"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_eq(name, str_of(words[i])))
            return true;
    return false;
}

/* --- Values --------------------------------------------------------------------------------- */

static bool take_escape(struct parser *p)
{
    size_t at = p->at - 1;
    char c = peek(p);
    if (p->at < p->text.len && memchr("\"'\\/bfnrt", c, 9) != NULL) {
        p->at++;
        return true;
    }
    if (!take(p, 'u'))
        return refuse(p, at, "\\ must be followed by \" ' \\ / b f n r t or uXXXX");
    for (int i = 0; i < 4; i++, p->at++)
        if (p->at == p->text.len || hex_digit(p->text.ptr[p->at]) < 0)
            return refuse(p, at, "\\u must be followed by four hexadecimal digits");
    return true;
}

static bool parse_string(struct parser *p)
{
    size_t start = p->at;
    char quote = p->text.ptr[p->at++];
    while (p->at < p->text.len) {
        char c = p->text.ptr[p->at++];
        if (c == quote)
            return true;
        if ((unsigned char)c < ' ')
            return refuse(p, p->at - 1, "a control character must be escaped");
        if (c == '\\' && !take_escape(p))
            return false;
    }
    return refuse(p, start, "the string does not end");
}

static size_t take_digits(struct parser *p)
{
    size_t start = p->at;
    while (is_digit(peek(p)))
        p->at++;
    return p->at - start;
}

static bool parse_number(struct parser *p)
{
    size_t start = p->at;
    (void)take(p, '-');
    bool zero = peek(p) == '0';
    size_t digits = take_digits(p);
    bool good = digits > 0 && (!zero || digits == 1);
    if (good && take(p, '.'))
        good = take_digits(p) > 0;
    if (good && (peek(p) == 'e' || peek(p) == 'E')) {
        p->at++;
        if (!take(p, '-'))
            (void)take(p, '+');
        good = take_digits(p) > 0;
    }
    if (!good || begins_name(peek(p)))
        return refuse(p, start, "the number is malformed");
    return true;
}

static bool parse_index(struct parser *p)
{
    size_t start = p->at - 1;
    skip_blanks(p);
    if (peek(p) == '"' || peek(p) == '\'') {
        if (!parse_string(p))
            return false;
    } else if (take_digits(p) == 0) {
        return refuse(p, p->at, "[ ] must contain an index or a string");
    }
    skip_blanks(p);
    return take(p, ']') ? true : refuse(p, start, "the [ is not closed");
}

static bool parse_path(struct parser *p)
{
    struct str name = name_at(p, p->at);
    if (is_reserved(name))
        return refuse(p, p->at, "a value is missing before this word");
    p->at += name.len;
    for (;;) {
        if (take(p, '[')) {
            if (!parse_index(p))
                return false;
        } else if (take(p, '.')) {
            name = name_at(p, p->at);
            if (name.len == 0)
                return refuse(p, p->at, "a name must follow the dot");
            p->at += name.len;
        } else {
            return true;
        }
    }
}

static bool parse_nested(struct parser *p, enum sort *out_sort)
{
    size_t start = p->at - 1;
    if (p->depth == CONDITION_MAX_DEPTH)
        return refuse(p, start, "the condition is nested too deeply");
    p->depth++;
    if (!parse_or(p, out_sort))
        return false;
    p->depth--;
    skip_blanks(p);
    return take(p, ')') ? true : refuse(p, start, "the ( is not closed");
}

static bool parse_value(struct parser *p, enum sort *out_sort)
{
    skip_blanks(p);
    char c = peek(p);
    if (c == '(') {
        p->at++;
        return parse_nested(p, out_sort);
    }
    if (c == '"' || c == '\'') {
        *out_sort = SORT_TEXT;
        return parse_string(p);
    }
    if (is_digit(c) || c == '-') {
        *out_sort = SORT_NUMBER;
        return parse_number(p);
    }
    *out_sort = SORT_BOOLEAN;
    if (take_word(p, STR("true")) || take_word(p, STR("false")))
        return true;
    *out_sort = SORT_NULL;
    if (take_word(p, STR("null")))
        return true;
    *out_sort = SORT_PATH;
    return begins_name(c) ? parse_path(p) : refuse(p, p->at, "a value is missing");
}

static bool parse_literal(struct parser *p)
{
    enum sort sort;
    skip_blanks(p);
    size_t start = p->at;
    if (peek(p) == '(')
        return refuse(p, start, "a list may contain only strings, numbers, true, false and null");
    if (!parse_value(p, &sort))
        return false;
    return sort != SORT_PATH
               ? true
               : refuse(p, start, "a list may contain only strings, numbers, true, false and null");
}

static bool parse_list(struct parser *p)
{
    size_t start = p->at - 1;
    skip_blanks(p);
    if (take(p, ']'))
        return true;
    for (;;) {
        if (!parse_literal(p))
            return false;
        skip_blanks(p);
        if (take(p, ']'))
            return true;
        if (!take(p, ','))
            return refuse(p, p->at < p->text.len ? p->at : start,
                "a comma or ] must follow an item of a list");
    }
}

/* --- Comparisons and what joins them -------------------------------------------------------- */

static bool parse_in(struct parser *p)
{
    enum sort sort;
    skip_blanks(p);
    size_t start = p->at;
    if (take(p, '['))
        return parse_list(p);
    if (!parse_value(p, &sort))
        return false;
    return sort == SORT_PATH ? true : refuse(p, start, "a list or a path must follow in");
}

/* Takes an operator of signs. `out_orders`: the operator compares by order. */
static bool take_operator(struct parser *p, bool *out_orders)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    skip_blanks(p);
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        struct str sign = str_of(signs[i]);
        if (str_starts_with(str_slice(p->text, p->at, p->text.len), sign)) {
            p->at += sign.len;
            *out_orders = i >= 2;
            return true;
        }
    }
    return false;
}

static bool has_order(enum sort sort)
{
    return sort != SORT_BOOLEAN && sort != SORT_NULL;
}

static bool parse_comparison(struct parser *p, size_t left_at, enum sort left, bool orders)
{
    enum sort right;
    skip_blanks(p);
    size_t right_at = p->at;
    if (!parse_value(p, &right))
        return false;
    if (orders && (!has_order(left) || !has_order(right)))
        return refuse(p, has_order(left) ? right_at : left_at,
            "true, false and null are neither greater nor less than another value");
    return true;
}

static bool parse_test(struct parser *p, enum sort *out_sort)
{
    enum sort left, unused;
    bool orders;
    skip_blanks(p);
    size_t start = p->at;
    if (!parse_value(p, &left))
        return false;
    *out_sort = SORT_BOOLEAN;
    if (take_operator(p, &orders))
        return parse_comparison(p, start, left, orders);
    if (take_word(p, STR("in")))
        return parse_in(p);
    if (take_word(p, STR("contains")))
        return parse_value(p, &unused);
    size_t end = p->at;
    if (take_word(p, STR("not")))
        return take_word(p, STR("in")) ? parse_in(p) : refuse(p, end, "in must follow not here");
    *out_sort = left;
    return true;
}

static bool decides(struct parser *p, size_t start, enum sort sort)
{
    return sort == SORT_BOOLEAN || sort == SORT_PATH
               ? true
               : refuse(
                     p, start, "a value alone is not a condition: compare it with another value");
}

static bool parse_not(struct parser *p, enum sort *out_sort)
{
    unsigned nots = 0;
    while (take_word(p, STR("not")))
        if (++nots > CONDITION_MAX_DEPTH)
            return refuse(p, p->at, "the condition is nested too deeply");
    skip_blanks(p);
    size_t start = p->at;
    if (!parse_test(p, out_sort))
        return false;
    if (nots == 0)
        return true;
    if (!decides(p, start, *out_sort))
        return false;
    *out_sort = SORT_BOOLEAN;
    return true;
}

static bool parse_joined(struct parser *p, struct str word,
    bool (*parse_part)(struct parser *p, enum sort *out_sort), enum sort *out_sort)
{
    skip_blanks(p);
    size_t start = p->at;
    if (!parse_part(p, out_sort))
        return false;
    while (take_word(p, word)) {
        if (!decides(p, start, *out_sort))
            return false;
        skip_blanks(p);
        start = p->at;
        if (!parse_part(p, out_sort) || !decides(p, start, *out_sort))
            return false;
        *out_sort = SORT_BOOLEAN;
    }
    return true;
}

static bool parse_and(struct parser *p, enum sort *out_sort)
{
    return parse_joined(p, STR("and"), parse_not, out_sort);
}

static bool parse_or(struct parser *p, enum sort *out_sort)
{
    return parse_joined(p, STR("or"), parse_and, out_sort);
}

static bool parse_whole(struct parser *p)
{
    enum sort sort;
    if (p->text.len > CONDITION_MAX_BYTES)
        return refuse(p, CONDITION_MAX_BYTES, "the condition is longer than 4096 bytes");
    skip_blanks(p);
    size_t start = p->at;
    if (!parse_or(p, &sort) || !decides(p, start, sort))
        return false;
    skip_blanks(p);
    return p->at == p->text.len
               ? true
               : refuse(p, p->at, "and, or, or a comparison must follow, or the end");
}

bool condition_check(struct str text, struct condition_error *out_error)
{
    struct parser p = {.text = text};
    if (parse_whole(&p))
        return true;
    *out_error = p.error;
    return false;
}
