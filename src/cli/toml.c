/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/toml.h"

#include "base/buf.h"
#include "base/utf8.h"

struct key {
    struct str parts[TOML_MAX_DEPTH];
    size_t depth;
};

struct parser {
    struct arena *arena;
    struct str rest; /* of the text */
    unsigned line;
    struct key table;
    struct key *tables; /* that were opened */
    size_t n_tables;
    struct toml toml;
    struct str rule; /* why it failed */
};

/* --- Bytes ---------------------------------------------------------------------------------- */

static bool fail(struct parser *p, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->rule = arena_vprintf(p->arena, format, args);
    va_end(args);
    return false;
}

/* Returns the next byte, or 0 at the end; U+0000 itself is rejected before. */
static char peek(const struct parser *p)
{
    return p->rest.len > 0 ? p->rest.ptr[0] : '\0';
}

static void skip(struct parser *p, size_t n)
{
    p->rest = str_slice(p->rest, n, p->rest.len);
}

static bool take(struct parser *p, char byte)
{
    if (peek(p) != byte)
        return false;
    skip(p, 1);
    return true;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t')
        skip(p, 1);
}

/* The end of a line: blanks, a comment, LF or CR LF or the end of the file. */
static bool take_line_end(struct parser *p)
{
    skip_blanks(p);
    if (peek(p) == '#')
        skip(p, str_find(p->rest, '\n'));
    if (peek(p) == '\r' && p->rest.len > 1 && p->rest.ptr[1] == '\n')
        skip(p, 1);
    if (take(p, '\n')) {
        p->line++;
        return true;
    }
    if (p->rest.len == 0)
        return true;
    return fail(p, "there is text after the value");
}

/* Inside an array lines may end anywhere. */
static bool skip_space(struct parser *p)
{
    for (;;) {
        skip_blanks(p);
        if (peek(p) != '#' && peek(p) != '\r' && peek(p) != '\n')
            return true;
        if (!take_line_end(p))
            return false;
    }
}

/* --- Strings -------------------------------------------------------------------------------- */

static bool append_code_point(struct parser *p, size_t digits, struct buf *out)
{
    char bytes[UTF8_MAX_LEN];
    uint32_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        static const char hex[] = "0123456789abcdefABCDEF";
        const char *at = peek(p) == '\0' ? NULL : strchr(hex, peek(p));
        if (at == NULL)
            return fail(p, "\\u needs 4 hexadecimal digits, \\U 8");
        size_t digit = (size_t)(at - hex);
        value = value << 4 | (uint32_t)(digit > 15 ? digit - 6 : digit);
        skip(p, 1);
    }
    if (value == 0 || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return fail(p, "an escape names a character that does not exist");
    buf_append(out, (struct str){bytes, utf8_encode(value, bytes)});
    return true;
}

static bool take_escape(struct parser *p, struct buf *out)
{
    static const char letters[] = "btnfre\"\\", meanings[] = "\b\t\n\f\r\033\"\\";
    char letter = peek(p);
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);
    skip(p, 1);
    if (at != NULL)
        buf_append_byte(out, meanings[at - letters]);
    else if (letter == 'u' || letter == 'U')
        return append_code_point(p, letter == 'u' ? 4 : 8, out);
    else
        return fail(p, "a string has an unknown escape");
    return true;
}

/* After the opening quote, up to and with the closing one. */
static bool take_string(struct parser *p, char quote, struct str *out_text)
{
    struct buf text CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    if (p->rest.len > 1 && p->rest.ptr[0] == quote && p->rest.ptr[1] == quote)
        return fail(p, "strings of several lines are not supported");
    while (!take(p, quote)) {
        char byte = peek(p);
        if (byte == '\0' || byte == '\n')
            return fail(p, "a string does not end on its line");
        if (((unsigned char)byte < ' ' && byte != '\t') || byte == 0x7f)
            return fail(p, "a string contains a control character");
        skip(p, 1);
        if (byte == '\\' && quote == '"') {
            if (!take_escape(p, &text))
                return false;
        } else {
            buf_append_byte(&text, byte);
        }
    }
    *out_text = arena_str(p->arena, buf_str(&text));
    return true;
}

/* --- Keys ----------------------------------------------------------------------------------- */

static bool is_bare(char byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_' || byte == '-';
}

static bool take_key_part(struct parser *p, struct str *out_part)
{
    char first = peek(p);
    if (first == '"' || first == '\'') {
        skip(p, 1);
        return take_string(p, first, out_part);
    }
    size_t len = 0;
    while (len < p->rest.len && is_bare(p->rest.ptr[len]))
        len++;
    if (len == 0)
        return fail(p, "a key must be letters, digits, _ and -, or be quoted");
    *out_part = str_slice(p->rest, 0, len);
    skip(p, len);
    return true;
}

/* Adds the parts of a dotted key to `key`. */
static bool take_key(struct parser *p, struct key *key)
{
    do {
        if (key->depth == TOML_MAX_DEPTH)
            return fail(p, "keys are nested too deeply");
        skip_blanks(p);
        if (!take_key_part(p, &key->parts[key->depth++]))
            return false;
        skip_blanks(p);
    } while (take(p, '.'));
    return true;
}

/* Returns true if `path` is `key` or a part of it. */
static bool is_within(const struct str *path, size_t depth, const struct key *key)
{
    for (size_t i = 0; i < key->depth; i++)
        if (i >= depth || !str_eq(path[i], key->parts[i]))
            return false;
    return true;
}

/* --- Values --------------------------------------------------------------------------------- */

static bool take_strings(struct parser *p, struct toml_entry *e)
{
    size_t room = 0;
    e->kind = TOML_STRINGS;
    for (;;) {
        if (!skip_space(p))
            return false;
        if (take(p, ']'))
            return true;
        char quote = peek(p);
        if (quote != '"' && quote != '\'')
            return fail(p, "an array must contain strings");
        skip(p, 1);
        if (e->n_items == room) {
            struct str *grown = ARENA_ARRAY(p->arena, struct str, room * 2 + 8);
            if (room > 0)
                memcpy(grown, e->items, room * sizeof(struct str));
            e->items = grown;
            room = room * 2 + 8;
        }
        if (!take_string(p, quote, &e->items[e->n_items++]) || !skip_space(p))
            return false;
        if (!take(p, ',') && peek(p) != ']')
            return fail(p, "a comma or ] must follow an array's item");
    }
}

static bool take_word(struct parser *p, struct toml_entry *e)
{
    size_t len = 0;
    int64_t number;
    while (len < p->rest.len && (is_bare(p->rest.ptr[len]) || p->rest.ptr[len] == '.' ||
                                    p->rest.ptr[len] == '+' || p->rest.ptr[len] == ':'))
        len++;
    struct str word = str_slice(p->rest, 0, len);
    skip(p, len);
    e->text = word;
    e->kind = TOML_BOOLEAN;
    if (str_eq(word, STR("true")) || str_eq(word, STR("false")))
        return true;
    e->kind = TOML_INTEGER;
    if (str_to_i64(word, &number))
        return true;
    return fail(p, "a value must be a string in quotes, a whole number, true, false or an array");
}

static bool take_value(struct parser *p, struct toml_entry *e)
{
    char first = peek(p);
    if (first == '"' || first == '\'') {
        skip(p, 1);
        e->kind = TOML_STRING;
        return take_string(p, first, &e->text);
    }
    if (take(p, '['))
        return take_strings(p, e);
    if (first == '{')
        return fail(p, "inline tables are not supported; write [table]");
    return take_word(p, e);
}

/* --- Lines ---------------------------------------------------------------------------------- */

static bool check_is_new(struct parser *p, const struct toml_entry *e)
{
    struct key key = {.depth = e->depth};
    memcpy(key.parts, e->path, sizeof key.parts);
    for (size_t i = 0; i < p->toml.n_entries; i++) {
        const struct toml_entry *old = &p->toml.entries[i];
        struct key old_key = {.depth = old->depth};
        memcpy(old_key.parts, old->path, sizeof old_key.parts);
        if (is_within(old->path, old->depth, &key) || is_within(e->path, e->depth, &old_key))
            return fail(p, "the key exists already, in line %u", old->line);
    }
    return true;
}

static bool take_entry(struct parser *p)
{
    struct toml_entry entry = {.line = p->line};
    struct key key = p->table;
    if (!take_key(p, &key))
        return false;
    if (!take(p, '='))
        return fail(p, "a key must be followed by = and a value");
    memcpy(entry.path, key.parts, sizeof entry.path);
    entry.depth = key.depth;
    skip_blanks(p);
    if (!check_is_new(p, &entry) || !take_value(p, &entry))
        return false;
    if (p->toml.n_entries == TOML_MAX_ENTRIES)
        return fail(p, "there are more than %d keys", TOML_MAX_ENTRIES);
    p->toml.entries[p->toml.n_entries++] = entry;
    return take_line_end(p);
}

static bool take_table(struct parser *p)
{
    struct key key = {0};
    if (peek(p) == '[')
        return fail(p, "arrays of tables are not supported");
    if (!take_key(p, &key))
        return false;
    if (!take(p, ']'))
        return fail(p, "a table's name must be followed by ]");
    for (size_t i = 0; i < p->n_tables; i++)
        if (p->tables[i].depth == key.depth &&
            is_within(p->tables[i].parts, p->tables[i].depth, &key))
            return fail(p, "the table exists already");
    if (p->n_tables == TOML_MAX_ENTRIES)
        return fail(p, "there are more than %d tables", TOML_MAX_ENTRIES);
    p->tables[p->n_tables++] = key;
    p->table = key;
    return take_line_end(p);
}

static bool take_line(struct parser *p)
{
    skip_blanks(p);
    if (take(p, '['))
        return take_table(p);
    if (peek(p) == '#' || peek(p) == '\r' || peek(p) == '\n')
        return take_line_end(p);
    return p->rest.len == 0 || take_entry(p);
}

bool toml_parse(
    struct arena *arena, struct str text, struct toml *out_toml, struct toml_error *out_error)
{
    struct parser p = {.arena = arena, .rest = text, .line = 1};
    bool fine = str_is_utf8(text) && !str_has_byte(text, '\0');
    if (!fine)
        fail(&p, "the file is not UTF-8 text");
    p.toml.entries = ARENA_ARRAY(arena, struct toml_entry, TOML_MAX_ENTRIES);
    p.tables = ARENA_ARRAY(arena, struct key, TOML_MAX_ENTRIES);
    while (fine && p.rest.len > 0)
        fine = take_line(&p);
    if (!fine) {
        *out_error = (struct toml_error){p.line, p.rule};
        return false;
    }
    *out_toml = p.toml;
    return true;
}
