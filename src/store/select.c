/* SPDX-License-Identifier: Apache-2.0 */
#include "store/select.h"

#include "base/json/json.h"

enum error select_take_columns(struct select *select, const char *(*name)(void *result, int i),
    void *result, int n, struct problem *problem)
{
    if (n > SELECT_MAX_COLUMNS)
        return problem_set(
            problem, ERR_INVALID, "the result has more than %d columns", SELECT_MAX_COLUMNS);
    select->columns = ARENA_ARRAY(select->arena, struct str, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        struct str column = arena_str(select->arena, str_of(name(result, i)));
        for (size_t k = 0; k < select->n_columns; k++)
            if (str_eq(select->columns[k], column))
                return problem_set(problem, ERR_INVALID,
                    "two columns have the name \"%.*s\": rename one with AS", STR_ARG(column));
        select->columns[select->n_columns++] = column;
    }
    select->rows = ARENA_ARRAY(select->arena, struct str, select->max_rows + 1);
    return OK;
}

enum error select_take_row(
    struct select *select, struct str row, struct problem *problem, bool *out_enough)
{
    *out_enough = select->n_rows == select->max_rows;
    if (*out_enough) {
        select->has_more = true;
        return OK;
    }
    select->bytes += row.len;
    if (select->bytes > SELECT_MAX_BYTES)
        return problem_set(problem, ERR_INVALID,
            "the result has more than %d MiB: select fewer rows or columns",
            SELECT_MAX_BYTES / 1024 / 1024);
    select->rows[select->n_rows++] = arena_str(select->arena, row);
    return OK;
}

bool select_is_reference(struct arena *arena, struct str text, struct uuid *out_id, bool *out_whole)
{
    struct json_doc doc;
    struct json_error error;
    struct json id, read;
    if (text.len == 0 || text.ptr[0] != '{' || !json_parse(arena, text, &doc, &error) ||
        !json_get(json_root(&doc), STR("snapshot_id"), &id) || json_type(id) != JSON_STRING ||
        !uuid_parse(json_string(arena, id), out_id))
        return false;
    *out_whole = json_get(json_root(&doc), STR("read"), &read) && json_type(read) == JSON_STRING &&
                 memmem(json_raw(read).ptr, json_raw(read).len, "/checkpoints/", 13) != NULL;
    return true;
}

static enum error check(const struct select *select, struct problem *problem)
{
    struct str text = str_trim_blanks(select->text);
    if (text.len == 0)
        return problem_set(problem, ERR_INVALID, "the statement is empty");
    if (text.len > SELECT_TEXT_MAX_BYTES)
        return problem_set(problem, ERR_INVALID, "the statement has more than %d KiB",
            SELECT_TEXT_MAX_BYTES / 1024);
    if (memchr(text.ptr, '\0', text.len) != NULL)
        return problem_set(problem, ERR_INVALID, "the statement contains U+0000");
    return OK;
}

enum error store_select(
    const struct store_config *config, struct select *select, struct problem *problem)
{
    TRY(check(select, problem));
    return config->engine == ENGINE_SQLITE ? sqlite_select(config, select, problem)
                                           : postgres_select(config, select, problem);
}
