/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints data to stdout. A list is a table: aligned and cut to the width of the terminal, or, if
 * stdout is no terminal, separated by tabs, with exact times and without cuts. The first rows
 * determine the widths of the columns.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/state.h"
#include "cli/text.h"

enum { ROWS_MEASURED = 200, WIDTH_LEAST = 8, GAP = 2 };

static const char BOLD[] = "\033[1m", DIM[] = "\033[2m", RED[] = "\033[31m", GREEN[] = "\033[32m",
                  YELLOW[] = "\033[33m", PLAIN[] = "\033[0m";

/* --- Cells ---------------------------------------------------------------------------------- */

static struct str time_cell(struct cli *cli, struct str text)
{
    int64_t unix_us;
    if (!cli->terminal || !clock_parse(text, &unix_us))
        return text_clean(&cli->arena, text);
    return text_relative_time(&cli->arena, unix_us, clock_wall_us());
}

static struct str bytes_cell(struct cli *cli, struct json value)
{
    int64_t bytes;
    if (!cli->terminal || !json_to_i64(value, &bytes) || bytes < 0)
        return json_raw(value);
    return text_bytes(&cli->arena, (uint64_t)bytes);
}

/* "one,two" for a list of strings. */
static struct str list_cell(struct cli *cli, struct json list)
{
    struct json_iter it = json_iter(list);
    struct json item;
    struct str text = STR("");
    while (json_next(&it, NULL, &item)) {
        struct str part = json_type(item) == JSON_STRING ? json_string(&cli->arena, item)
                                                         : json_compact(&cli->arena, item);
        text = arena_printf(
            &cli->arena, "%.*s%s%.*s", STR_ARG(text), text.len > 0 ? "," : "", STR_ARG(part));
    }
    return text;
}

static struct str cell(struct cli *cli, const struct cli_column *column, struct json row)
{
    struct json value;
    if (!json_pointer(row, str_of(column->pointer), &value) || json_type(value) == JSON_NULL)
        return cli->terminal ? STR("-") : STR("");
    if (column->kind == COLUMN_BYTES)
        return bytes_cell(cli, value);
    if (column->kind == COLUMN_JSON)
        return text_clean(&cli->arena, json_compact(&cli->arena, value));
    if (json_type(value) == JSON_STRING) {
        struct str text = json_string(&cli->arena, value);
        return column->kind == COLUMN_TIME ? time_cell(cli, text) : text_clean(&cli->arena, text);
    }
    if (json_type(value) == JSON_ARRAY)
        return text_clean(&cli->arena, list_cell(cli, value));
    return text_clean(&cli->arena, json_compact(&cli->arena, value));
}

static const char *status_colour(struct str status)
{
    static const struct {
        const char *status, *colour;
    } colours[] = {
        {"completed", GREEN},
        {"active", GREEN},
        {"running", GREEN},
        {"ok", GREEN},
        {"final", GREEN},
        {"waiting_for_input", YELLOW},
        {"paused", YELLOW},
        {"warning", YELLOW},
        {"warn", YELLOW},
        {"failed", RED},
        {"error", RED},
        {"fail", RED},
        {"cancelled", DIM},
        {"queued", DIM},
    };
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        if (str_eq(status, str_of(colours[i].status)))
            return colours[i].colour;
    return "";
}

const char *cli_status_colour(const struct cli *cli, struct str status)
{
    return cli->colour ? status_colour(status) : "";
}

const char *cli_plain(const struct cli *cli)
{
    return cli->colour ? PLAIN : "";
}

static void print_coloured(struct cli *cli, const char *colour, struct str text)
{
    bool coloured = cli->colour && colour[0] != '\0';
    printf("%s%.*s%s", coloured ? colour : "", STR_ARG(text), coloured ? PLAIN : "");
}

void cli_print_status(struct cli *cli, struct str status)
{
    print_coloured(cli, status_colour(status), status);
}

/* --- Aligned tables ------------------------------------------------------------------------- */

static bool is_to_the_right(const struct cli_column *column)
{
    return column->kind == COLUMN_NUMBER || column->kind == COLUMN_BYTES;
}

static bool may_be_cut(const struct cli_column *column, bool ids)
{
    return ids ? column->kind == COLUMN_ID
               : column->kind == COLUMN_TEXT || column->kind == COLUMN_JSON;
}

static size_t sum_of(const size_t *widths, size_t n)
{
    size_t sum = GAP * (n - 1);
    for (size_t i = 0; i < n; i++)
        sum += widths[i];
    return sum;
}

/* Narrows the widest column that may be cut, step by step, until the row fits. Of ids the last one
 * is narrowed first: the first one identifies the row. */
static void shrink(struct cli *cli, const struct cli_column *columns, size_t n, bool ids)
{
    size_t *widths = cli->table.widths;
    while (sum_of(widths, n) > cli->width) {
        size_t cut = n;
        for (size_t i = 0; i < n; i++)
            if (may_be_cut(&columns[i], ids) && widths[i] > WIDTH_LEAST &&
                (cut == n || ids || widths[i] > widths[cut]))
                cut = i;
        if (cut == n)
            return;
        widths[cut]--;
    }
}

static void settle_widths(struct cli *cli, const struct cli_column *columns, size_t n)
{
    struct table *t = &cli->table;
    t->widths = ARENA_ARRAY(&cli->arena, size_t, n);
    for (size_t i = 0; i < n; i++) {
        t->widths[i] = strlen(columns[i].title);
        for (size_t row = 0; row < t->n_rows; row++) {
            size_t wide = text_columns(t->rows[row][i]);
            t->widths[i] = wide > t->widths[i] ? wide : t->widths[i];
        }
    }
    shrink(cli, columns, n, false);
    shrink(cli, columns, n, true);
}

static void print_cell(struct cli *cli, const struct cli_column *column, const char *colour,
    struct str text, size_t width, bool last)
{
    struct str shown = text_cut(&cli->arena, text, width);
    size_t wide = text_columns(shown);
    int missing = (int)(wide < width ? width - wide : 0);
    if (is_to_the_right(column))
        printf("%*s", missing, "");
    print_coloured(cli, colour, shown);
    if (!last)
        printf("%*s", (is_to_the_right(column) ? 0 : missing) + GAP, "");
}

static void print_titles(struct cli *cli, const struct cli_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        print_cell(
            cli, &columns[i], BOLD, str_of(columns[i].title), cli->table.widths[i], i + 1 == n);
    putchar('\n');
}

static void print_cells(
    struct cli *cli, const struct cli_column *columns, size_t n, const struct str *cells)
{
    for (size_t i = 0; i < n; i++) {
        const char *colour = columns[i].kind == COLUMN_STATUS ? status_colour(cells[i])
                             : columns[i].kind == COLUMN_TIME ? DIM
                                                              : "";
        print_cell(cli, &columns[i], colour, cells[i], cli->table.widths[i], i + 1 == n);
    }
    putchar('\n');
}

static void print_waiting(struct cli *cli, const struct cli_column *columns, size_t n)
{
    struct table *t = &cli->table;
    settle_widths(cli, columns, n);
    print_titles(cli, columns, n);
    for (size_t row = 0; row < t->n_rows; row++)
        print_cells(cli, columns, n, t->rows[row]);
    t->begun = true;
}

static void table_row(
    struct cli *cli, const struct cli_column *columns, size_t n, const struct str *cells)
{
    struct table *t = &cli->table;
    if (t->widths != NULL) {
        print_cells(cli, columns, n, cells);
        return;
    }
    if (t->rows == NULL)
        t->rows = ARENA_ARRAY(&cli->arena, struct str *, ROWS_MEASURED);
    t->rows[t->n_rows] = ARENA_ARRAY(&cli->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        t->rows[t->n_rows][i] = arena_str(&cli->arena, cells[i]);
    t->n_rows++;
    if (t->n_rows == ROWS_MEASURED)
        print_waiting(cli, columns, n);
}

static void tabs_row(const struct str *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%.*s%c", STR_ARG(cells[i]), i + 1 == n ? '\n' : '\t');
}

/* --- JSON ----------------------------------------------------------------------------------- */

/* JSON can contain unescaped control characters above ASCII, which a terminal would execute. */
static void append_safe(struct buf *out, struct str raw)
{
    const unsigned char *p = (const unsigned char *)raw.ptr;
    for (size_t i = 0; i < raw.len; i++) {
        if (p[i] == 0x7f)
            buf_append(out, STR("\\u007f"));
        else if (p[i] == 0xc2 && i + 1 < raw.len && p[i + 1] < 0xa0)
            buf_printf(out, "\\u%04x", (unsigned)p[++i]);
        else
            buf_append_byte(out, raw.ptr[i]);
    }
}

static void indent(struct buf *out, unsigned depth)
{
    buf_append_byte(out, '\n');
    for (unsigned i = 0; i < depth; i++)
        buf_append(out, STR("  "));
}

static void append_pretty(struct buf *out, struct json value, unsigned depth)
{
    bool object = json_type(value) == JSON_OBJECT;
    if ((!object && json_type(value) != JSON_ARRAY) || json_count(value) == 0) {
        append_safe(out, json_raw(value));
        return;
    }
    struct json_iter it = json_iter(value);
    struct json key, item;
    bool first = true;
    buf_append_byte(out, object ? '{' : '[');
    while (json_next(&it, &key, &item)) {
        if (!first)
            buf_append_byte(out, ',');
        first = false;
        indent(out, depth + 1);
        if (object) {
            append_safe(out, json_raw(key));
            buf_append(out, STR(": "));
        }
        append_pretty(out, item, depth + 1);
    }
    indent(out, depth);
    buf_append_byte(out, object ? '}' : ']');
}

void cli_append_pretty(struct buf *out, struct json value)
{
    append_pretty(out, value, 0);
}

/* Indented for people, on one line for programs. */
static void print_json(struct cli *cli, struct json value, bool one_line)
{
    struct buf out CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    if (cli->terminal && !one_line) {
        append_pretty(&out, value, 0);
    } else if (cli->terminal) {
        append_safe(&out, json_compact(&cli->arena, value));
    } else {
        struct json_writer w;
        json_writer_init(&w, &out);
        json_write_value(&w, value);
    }
    fwrite(out.ptr, 1, out.len, stdout);
}

/* --- For commands --------------------------------------------------------------------------- */

static void print_pairs(
    struct cli *cli, const struct cli_column *columns, size_t n, struct json object)
{
    size_t widest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(columns[i].title);
        widest = len > widest ? len : widest;
    }
    for (size_t i = 0; i < n; i++) {
        struct str text = cell(cli, &columns[i], object);
        struct json value;
        if (!json_pointer(object, str_of(columns[i].pointer), &value))
            continue; /* the answer does not have all members of its schema */
        print_coloured(cli, BOLD, str_of(columns[i].title));
        printf("%*s", (int)(widest - strlen(columns[i].title)) + GAP, "");
        print_coloured(cli, columns[i].kind == COLUMN_STATUS ? status_colour(text) : "", text);
        if (columns[i].kind == COLUMN_TIME && json_type(value) == JSON_STRING) {
            struct str exact = text_clean(&cli->arena, json_string(&cli->arena, value));
            fputs("  ", stdout);
            print_coloured(cli, DIM, exact);
        }
        putchar('\n');
    }
}

void cli_print_json(struct cli *cli, struct json value)
{
    print_json(cli, value, cli->format == FORMAT_JSONL);
    putchar('\n');
}

struct json cli_document(struct cli *cli, struct json_text *text)
{
    struct json_doc *doc = ARENA_NEW(&cli->arena, struct json_doc);
    struct json_error error;
    bool parsed = json_parse(&cli->arena, json_text_take(text, &cli->arena), doc, &error);
    assert(parsed);
    return json_root(doc);
}

void cli_print_object(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json object)
{
    cli_clear_bar(cli);
    if (cli->format == FORMAT_TABLE && cli->terminal) {
        print_pairs(cli, columns, n_columns, object);
        return;
    }
    cli_print_json(cli, object);
}

void cli_print_row(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json row)
{
    cli_clear_bar(cli);
    struct arena_mark mark = arena_mark(&cli->arena);
    bool waits = cli->format == FORMAT_TABLE && cli->terminal && cli->table.widths == NULL;
    if (cli->format != FORMAT_TABLE) {
        if (cli->format == FORMAT_JSON)
            printf("%s%s", cli->table.begun ? "," : "{\"data\":[", cli->terminal ? "\n" : "");
        print_json(cli, row, true);
        if (cli->format == FORMAT_JSONL)
            putchar('\n');
        cli->table.begun = true;
    } else {
        struct str *cells = ARENA_ARRAY(&cli->arena, struct str, n_columns);
        for (size_t i = 0; i < n_columns; i++)
            cells[i] = cell(cli, &columns[i], row);
        if (cli->terminal)
            table_row(cli, columns, n_columns, cells);
        else
            tabs_row(cells, n_columns);
    }
    if (!waits)
        arena_rewind(&cli->arena, mark);
}

void cli_print_page_members(struct cli *cli, struct str members)
{
    cli->table.page_members = members;
}

void cli_print_end(struct cli *cli, const struct cli_column *columns, size_t n_columns)
{
    struct table *t = &cli->table;
    if (cli->format == FORMAT_JSON) {
        printf("%s]%.*s}\n", t->begun ? "" : "{\"data\":[", STR_ARG(t->page_members));
    } else if (cli->format == FORMAT_TABLE && cli->terminal && t->widths == NULL) {
        print_waiting(cli, columns, n_columns);
    }
    *t = (struct table){0};
}
