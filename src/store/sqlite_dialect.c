/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_dialect.h"

#include "base/buf.h"

/* "r" becomes "r.value", "::int" becomes "cairn_integer()". */
enum { MAX_GROWTH = 8 };

/* --- Tokens, as SQLite reads them ----------------------------------------------------------- */

enum kind { WORD, QUOTED_NAME, LITERAL, SYMBOL };

struct token {
    enum kind kind;
    struct str blanks; /* and comments before the token */
    struct str text;
    struct token *before;
    struct token *after;
};

struct rewrite {
    struct arena *arena;
    struct token *first;
    struct token *last;
    int tries;
    bool is_changed;
};

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of blanks and comments. An unfinished comment ends with the text. */
static size_t blanks_length(struct str s)
{
    size_t i = 0;
    while (i < s.len) {
        struct str rest = str_slice(s, i, s.len);
        if (strchr(" \t\n\f\r", s.ptr[i]) != NULL) {
            i++;
        } else if (str_starts_with(rest, STR("--"))) {
            i += str_find(rest, '\n');
        } else if (str_starts_with(rest, STR("/*"))) {
            const char *end = memmem(rest.ptr + 2, rest.len - 2, "*/", 2);
            i = end == NULL ? s.len : (size_t)(end - s.ptr) + 2;
        } else {
            break;
        }
    }
    return i;
}

/* The length of a text in quotes, which are doubled inside; 0 if it has no end. */
static size_t quoted_length(struct str s, char quote)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.ptr[i] != quote)
            continue;
        if (quote == ']' || i + 1 == s.len || s.ptr[i + 1] != quote)
            return i + 1;
        i++;
    }
    return 0;
}

/* Of a number, or of what SQLite reports as a wrong one. */
static size_t number_length(struct str s)
{
    bool is_hex = s.len > 1 && (s.ptr[1] | 0x20) == 'x';
    size_t i = 1;
    for (; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_sign = (c == '+' || c == '-') && (s.ptr[i - 1] | 0x20) == 'e' && !is_hex;
        if (!is_name_byte(c) && c != '.' && !is_sign)
            break;
    }
    return i;
}

static size_t symbol_length(struct str s)
{
    static const char *const symbols[] = {
        "->>", "->", "::", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>"};
    for (size_t i = 0; i < COUNT_OF(symbols); i++)
        if (str_starts_with(s, str_of(symbols[i])))
            return strlen(symbols[i]);
    return 1;
}

/* Returns the length of the token at the start of the text; 0: no token, or a parameter, which a
 * statement may not have. */
static size_t token_length(struct str s, enum kind *out_kind)
{
    char c = s.ptr[0];
    bool is_parameter = c == '?' || c == '@' || c == '#' || c == '$' ||
                        (c == ':' && s.len > 1 && is_name_byte(s.ptr[1]));
    *out_kind = SYMBOL;
    if (is_parameter)
        return 0;
    if (c == '\'' || ((c | 0x20) == 'x' && s.len > 1 && s.ptr[1] == '\'')) {
        size_t skipped = c != '\'';
        size_t length = quoted_length(str_slice(s, skipped, s.len), '\'');
        *out_kind = LITERAL;
        return length == 0 ? 0 : length + skipped;
    }
    if (c == '"' || c == '`' || c == '[') {
        *out_kind = QUOTED_NAME;
        return quoted_length(s, c == '[' ? ']' : c);
    }
    if (is_digit(c) || (c == '.' && s.len > 1 && is_digit(s.ptr[1]))) {
        *out_kind = LITERAL;
        return number_length(s);
    }
    if (!is_name_byte(c))
        return symbol_length(s);
    size_t length = 1;
    while (length < s.len && is_name_byte(s.ptr[length]))
        length++;
    *out_kind = WORD;
    return length;
}

/* Inserts a token after another one; NULL: at the start. */
static struct token *insert(
    struct rewrite *r, struct token *before, enum kind kind, struct str text)
{
    struct token *t = ARENA_NEW(r->arena, struct token);
    *t = (struct token){.kind = kind, .blanks = STR(""), .text = text, .before = before};
    t->after = before == NULL ? r->first : before->after;
    *(before == NULL ? &r->first : &before->after) = t;
    *(t->after == NULL ? &r->last : &t->after->before) = t;
    return t;
}

/* Makes the tokens from one to another one the first arguments of a call: its last token. */
static struct token *wrap(
    struct rewrite *r, struct token *first, struct token *last, const char *function)
{
    struct token *name = insert(r, first->before, WORD, str_of(function));
    name->blanks = first->blanks;
    first->blanks = STR("");
    insert(r, name, SYMBOL, STR("("));
    return insert(r, last, SYMBOL, STR(")"));
}

static void remove_token(struct rewrite *r, struct token *t)
{
    *(t->before == NULL ? &r->first : &t->before->after) = t->after;
    *(t->after == NULL ? &r->last : &t->after->before) = t->before;
}

/* Returns false if SQLite could not read the text. The blanks at its end are a token. */
static bool read_tokens(struct rewrite *r, struct str text)
{
    while (text.len > 0) {
        size_t blanks = blanks_length(text), length = 0;
        enum kind kind = SYMBOL;
        struct str rest = str_slice(text, blanks, text.len);
        if (rest.len > 0 && (length = token_length(rest, &kind)) == 0)
            return false;
        struct token *t = insert(r, r->last, kind, str_slice(rest, 0, length));
        t->blanks = str_slice(text, 0, blanks);
        text = str_slice(rest, length, rest.len);
    }
    return true;
}

/* --- Words ---------------------------------------------------------------------------------- */

static bool is_symbol(const struct token *t, const char *symbol)
{
    return t != NULL && t->kind == SYMBOL && str_eq(t->text, str_of(symbol));
}

static bool is_word(const struct token *t, const char *word)
{
    return t != NULL && t->kind == WORD && str_eq_nocase(t->text, str_of(word));
}

static bool is_one_of(const struct token *t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_word(t, *words))
            return true;
    return false;
}

/* An expression may begin after one of these. */
static bool is_starter(const struct token *t)
{
    static const char *const words[] = {"SELECT", "DISTINCT", "ALL", "WHERE", "AND", "OR", "NOT",
        "BY", "HAVING", "ON", "WHEN", "THEN", "ELSE", "CASE", "BETWEEN", "LIKE", "LIMIT", "OFFSET",
        NULL};
    return is_one_of(t, words);
}

/* Words of the grammar that are neither names nor followed by an expression. */
static bool is_reserved(const struct token *t)
{
    static const char *const words[] = {"FROM", "AS", "END", "OVER", "FILTER", "EXISTS", "IN", "IS",
        "USING", "COLLATE", "ESCAPE", "INTERVAL", "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL",
        "OUTER", "NATURAL", "LATERAL", "ASC", "DESC", "NULLS", "UNION", "INTERSECT", "EXCEPT",
        "ORDER", "GROUP", "WINDOW", "PARTITION", "WITH", "VALUES", "GLOB", "ROWS", "RANGE", NULL};
    return is_one_of(t, words);
}

static bool is_set_operator(const struct token *t)
{
    static const char *const words[] = {"UNION", "INTERSECT", "EXCEPT", NULL};
    return is_one_of(t, words);
}

static bool is_name(const struct token *t)
{
    return t != NULL &&
           (t->kind == QUOTED_NAME || (t->kind == WORD && !is_starter(t) && !is_reserved(t)));
}

/* The parenthesis of the same pair, or NULL. */
static struct token *opening(struct token *closing)
{
    int depth = 0;
    for (struct token *t = closing; t != NULL; t = t->before) {
        depth += is_symbol(t, ")") - is_symbol(t, "(");
        if (depth == 0)
            return t;
    }
    return NULL;
}

static struct token *closing(struct token *opening)
{
    int depth = 0;
    for (struct token *t = opening; t != NULL; t = t->after) {
        depth += is_symbol(t, "(") - is_symbol(t, ")");
        if (depth == 0)
            return t;
    }
    return NULL;
}

/* Returns the first token of the operand that ends here: a literal, a name with its table, a call,
 * or an expression in parentheses. NULL: anything else. */
static struct token *operand_start(struct token *last)
{
    struct token *first = last;
    if (last == NULL)
        return NULL;
    if (is_symbol(last, ")")) {
        first = opening(last);
        if (first == NULL || is_reserved(first->before))
            return NULL;
        return is_name(first->before) ? first->before : first;
    }
    if (last->kind == LITERAL)
        return is_name(last->before) || is_reserved(last->before) ? NULL : last;
    if (!is_name(last))
        return NULL;
    while (is_symbol(first->before, ".") && is_name(first->before->before))
        first = first->before->before;
    return is_symbol(first->before, ".") ? NULL : first;
}

/* --- Casts: operand::type ------------------------------------------------------------------- */

static const struct cast {
    const char *type;
    const char *second; /* word of the name of the type */
    const char *function;
    const char *more; /* inside of the call */
} casts[] = {
    {"bigint", NULL, "cairn_bigint", ""},
    {"int8", NULL, "cairn_bigint", ""},
    {"integer", NULL, "cairn_integer", ""},
    {"int", NULL, "cairn_integer", ""},
    {"int4", NULL, "cairn_integer", ""},
    {"smallint", NULL, "cairn_smallint", ""},
    {"int2", NULL, "cairn_smallint", ""},
    {"double", "precision", "cairn_float", ""},
    {"float8", NULL, "cairn_float", ""},
    {"float", NULL, "cairn_float", ""},
    {"numeric", NULL, "cairn_float", ""},
    {"text", NULL, "CAST", " AS TEXT"},
    {"varchar", NULL, "CAST", " AS TEXT"},
    {"jsonb", NULL, "json", ""},
    {"json", NULL, "json", ""},
    {"uuid", NULL, "lower", ""},
    {"date", NULL, "date", ""},
};

/* Types with a modifier or of arrays are not known: varchar(9), int[]. */
static const struct cast *find_cast(const struct token *type)
{
    for (size_t i = 0; i < COUNT_OF(casts); i++) {
        const struct token *last = type;
        if (!is_word(type, casts[i].type))
            continue;
        if (casts[i].second != NULL && !is_word(last = type->after, casts[i].second))
            return NULL;
        const struct token *next = last->after;
        return is_symbol(next, "(") || (next != NULL && next->kind == QUOTED_NAME) ? NULL
                                                                                   : &casts[i];
    }
    return NULL;
}

static struct token *rewrite_cast(struct rewrite *r, struct token *colons)
{
    const struct cast *cast = find_cast(colons->after);
    struct token *start = operand_start(colons->before);
    if (cast == NULL || start == NULL)
        return colons;
    remove_token(r, colons->after);
    if (cast->second != NULL)
        remove_token(r, colons->after);
    colons->kind = WORD;
    colons->blanks = STR("");
    colons->text = str_of(cast->more);
    r->is_changed = true;
    return wrap(r, start, colons, cast->function);
}

/* --- Intervals: time - INTERVAL '7 days' ----------------------------------------------------- */

/* A comparison or the beginning of an expression; no other operator, whose operand the time would
 * be. */
static bool may_precede_time(const struct token *t)
{
    static const char *const symbols[] = {"(", ",", "<", ">", "<=", ">=", "=", "<>", "!="};
    for (size_t i = 0; i < COUNT_OF(symbols); i++)
        if (is_symbol(t, symbols[i]))
            return true;
    return is_starter(t);
}

static struct token *rewrite_interval(struct rewrite *r, struct token *word)
{
    struct token *sign = word->before, *length = word->after, *time = NULL;
    struct interval unused;
    if ((is_symbol(sign, "-") || is_symbol(sign, "+")) && length != NULL &&
        length->kind == LITERAL && length->text.ptr[0] == '\'' &&
        interval_parse(str_slice(length->text, 1, length->text.len - 1), &unused))
        time = operand_start(sign->before);
    const struct token *next = length == NULL ? NULL : length->after;
    if (time == NULL || !may_precede_time(time->before) || is_symbol(next, "*") ||
        is_symbol(next, "/") || is_symbol(next, "::"))
        return word;
    sign->blanks = STR("");
    sign->text = is_symbol(sign, "-") ? STR(", -1,") : STR(", 1,");
    remove_token(r, word);
    r->is_changed = true;
    return wrap(r, time, length, "cairn_add");
}

/* --- jsonb_array_elements(list) AS alias ----------------------------------------------------- */

/* Returns whether the function at the token is a table of a FROM clause. */
static bool is_table(const struct token *function)
{
    static const char *const clauses[] = {
        "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "BY", NULL};
    static const char *const joins[] = {"FROM", "JOIN", "LATERAL", NULL};
    int depth = 0;
    if (is_one_of(function->before, joins))
        return true;
    if (!is_symbol(function->before, ","))
        return false;
    for (const struct token *t = function->before; t != NULL && depth >= 0; t = t->before) {
        depth += is_symbol(t, ")") - is_symbol(t, "(");
        if (depth == 0 && is_one_of(t, clauses))
            return is_word(t, "FROM");
    }
    return false;
}

/* Moves to the first or to the last token of the SELECT that has the function. */
static struct token *select_end(struct token *function, bool forwards)
{
    int depth = 0;
    struct token *end = function;
    for (struct token *t = function; t != NULL; t = forwards ? t->after : t->before) {
        depth += is_symbol(t, forwards ? "(" : ")") - is_symbol(t, forwards ? ")" : "(");
        if (depth < 0 || (depth == 0 && (is_set_operator(t) || is_symbol(t, ";"))))
            break;
        end = t;
    }
    return end;
}

enum use { NO_USE, USE, UNCLEAR };

/* How a word that is the alias is used: as a value, or as something that this file cannot know. */
static enum use use_of(const struct token *t)
{
    const struct token *before = t->before;
    if (is_symbol(before, ".") || is_symbol(t->after, ".") || is_symbol(t->after, "("))
        return NO_USE;
    bool is_value =
        is_starter(before) || (before != NULL && before->kind == SYMBOL && !is_symbol(before, ")"));
    return is_value ? USE : UNCLEAR;
}

/* In PostgreSQL the alias is the element itself; in SQLite it is a row of json_each. In the
 * function's own argument the word is a column, which PostgreSQL then reads everywhere. */
static bool rewrite_alias(
    struct rewrite *r, struct token *function, struct token *close, struct token *alias)
{
    struct token *end = select_end(function, true)->after;
    bool is_inside = false, has_use = false, has_own_use = false;
    for (int pass = 0; pass < 2; pass++) {
        for (struct token *t = select_end(function, false); t != end; t = t->after) {
            is_inside = t == function || (is_inside && t != close);
            if (t == alias || t->kind != WORD || !str_eq_nocase(t->text, alias->text))
                continue;
            enum use use = use_of(t);
            if (use == UNCLEAR)
                return false;
            has_own_use |= is_inside && (use == USE || is_symbol(t->before, "."));
            has_use |= !is_inside && use == USE;
            if (use == USE && !is_inside && pass == 1) {
                t = insert(r, t, SYMBOL, STR("."));
                t = insert(r, t, WORD, STR("value"));
            }
        }
        if (has_use && has_own_use)
            return false;
    }
    return true;
}

static struct token *rewrite_elements(struct rewrite *r, struct token *function)
{
    struct token *close = is_symbol(function->after, "(") ? closing(function->after) : NULL;
    if (close == NULL || !is_table(function))
        return function;
    struct token *alias = is_word(close->after, "AS") ? close->after->after : close->after;
    bool has_alias = is_name(alias);
    if (has_alias &&
        (alias->kind != WORD || is_symbol(alias->after, "(") || is_word(alias->after, "WITH") ||
            !rewrite_alias(r, function, close, alias)))
        return function;
    if (is_word(close->after, "WITH"))
        return function;
    if (is_word(function->before, "LATERAL"))
        remove_token(r, function->before);
    function->text = STR("json_each");
    if (function->after->after != close)
        wrap(r, function->after->after, close->before, "cairn_list");
    r->is_changed = true;
    return function;
}

/* --- The statement -------------------------------------------------------------------------- */

/* SQLite does not take the words of joins for names of functions. */
static struct token *rewrite_left(struct rewrite *r, struct token *name)
{
    if (is_symbol(name->after, "(")) {
        name->text = is_word(name, "left") ? STR("\"left\"") : STR("\"right\"");
        name->kind = QUOTED_NAME;
        r->is_changed = true;
    }
    return name;
}

/* Returns the token after which the rewriter continues. */
static struct token *rewrite_at(struct rewrite *r, struct token *t)
{
    static const char *const elements[] = {"jsonb_array_elements", "json_array_elements",
        "jsonb_array_elements_text", "json_array_elements_text", NULL};
    static const char *const ends[] = {"left", "right", NULL};
    r->tries++;
    if (is_symbol(t, "::"))
        return rewrite_cast(r, t);
    if (is_word(t, "INTERVAL"))
        return rewrite_interval(r, t);
    if (is_one_of(t, elements))
        return rewrite_elements(r, t);
    if (is_one_of(t, ends))
        return rewrite_left(r, t);
    r->tries--;
    return t;
}

struct str sqlite_dialect_rewrite(struct arena *arena, struct str text)
{
    struct rewrite r = {.arena = arena};
    struct buf out CLEANUP(buf_deinit);
    buf_init(&out, MAX_GROWTH * text.len + 1);
    if (!read_tokens(&r, text))
        return text;
    for (struct token *t = r.first; t != NULL && r.tries < SQLITE_DIALECT_MAX_TRIES; t = t->after)
        t = rewrite_at(&r, t);
    for (const struct token *t = r.first; t != NULL; t = t->after) {
        buf_append(&out, t->blanks);
        buf_append(&out, t->text);
    }
    return r.is_changed && !out.failed ? arena_str(arena, buf_str(&out)) : text;
}
