/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"
#include "cli/state.h"
#include "test.h"

TEST(documents_for_people_are_indented_by_two_blanks_a_level)
{
    static const char *const list[][2] = {
        {"1", "1"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[1]", "[\n  1\n]"},
        {"[1,[2,3]]", "[\n  1,\n  [\n    2,\n    3\n  ]\n]"},
        {"{\"a\":{\"b\":[{}],\"c\":\"d\"},\"e\":null}",
            "{\n  \"a\": {\n    \"b\": [\n      {}\n    ],\n    \"c\": \"d\"\n  },\n  \"e\": "
            "null\n}"},
    };
    for (size_t i = 0; i < COUNT_OF(list); i++) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct buf out CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
        struct json_doc doc;
        struct json_error error;
        EXPECT(json_parse(&arena, str_of(list[i][0]), &doc, &error));
        cli_append_pretty(&out, json_root(&doc));
        EXPECT_STR(buf_str(&out), str_of(list[i][1]));
    }
}

/* --- Tables ----------------------------------------------------------------------------------- */

static const struct cli_column COLUMNS[] = {
    {"TEXT", "/text", COLUMN_TEXT},
    {"TIME", "/time", COLUMN_TIME},
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"JSON", "/json", COLUMN_JSON},
    {"BYTES", "/bytes", COLUMN_BYTES},
    {"ID", "/id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
};
enum { N_COLUMNS = COUNT_OF(COLUMNS), WIDE = 200 };

static const char *const ROWS[] = {
    "{\"text\":\"a long text\",\"time\":\"2001-02-03T04:05:06Z\",\"number\":1234567,"
    "\"json\":{\"a\":1},\"bytes\":1536,\"id\":\"0123456789\",\"status\":\"failed\"}",
    "{\"text\":[\"a\",2],\"time\":null,\"number\":7,\"json\":[\"b\"],\"bytes\":1,"
    "\"id\":\"x\",\"status\":\"ok\"}",
    "{\"text\":true,\"bytes\":-1}",
};

/* Prints the rows as a list and returns what reached standard output. */
static struct str printed(struct arena *arena, struct cli *cli, size_t n_rows)
{
    char path[] = "/tmp/cairn-test-print-XXXXXX";
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), file = mkstemp(path);
    unlink(path);
    dup2(file, STDOUT_FILENO);
    for (size_t i = 0; i < n_rows; i++) {
        struct json_doc doc;
        struct json_error error;
        EXPECT(json_parse(arena, str_of(ROWS[i]), &doc, &error));
        cli_print_row(cli, COLUMNS, N_COLUMNS, json_root(&doc));
    }
    cli_print_end(cli, COLUMNS, N_COLUMNS);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    size_t len = (size_t)lseek(file, 0, SEEK_END);
    char *text = arena_alloc(arena, len);
    EXPECT_EQ(pread(file, text, len, 0), len);
    close(file);
    return (struct str){text, len};
}

static struct str table_of(struct arena *arena, struct cli cli)
{
    struct str text;
    cli.arena = ARENA_INIT(SIZE_MAX);
    text = printed(arena, &cli, COUNT_OF(ROWS));
    arena_deinit(&cli.arena);
    return text;
}

TEST(each_kind_of_column_is_aligned_in_its_way)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    EXPECT_STR(table_of(&arena, (struct cli){.terminal = true, .width = WIDE}),
        STR("TEXT         TIME         NUMBER  JSON       BYTES  ID          STATUS\n"
            "a long text  2001-02-03  1234567  {\"a\":1}  1.5 KiB  0123456789  failed\n"
            "a,2          -                 7  [\"b\"]        1 B  x           ok\n"
            "true         -                 -  -             -1  -           -\n"));
}

TEST(a_table_that_no_terminal_shows_has_tabs_and_exact_values)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    EXPECT_STR(table_of(&arena, (struct cli){.width = 10}),
        STR("a long text\t2001-02-03T04:05:06Z\t1234567\t{\"a\":1}\t1536\t0123456789\tfailed\n"
            "a,2\t\t7\t[\"b\"]\t1\tx\tok\n"
            "true\t\t\t\t-1\t\t\n"));
}

TEST(only_texts_and_documents_and_then_ids_are_cut_to_fit)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    EXPECT_STR(table_of(&arena, (struct cli){.terminal = true, .width = 66}),
        STR("TEXT      TIME         NUMBER  JSON       BYTES  ID         STATUS\n"
            "a long …  2001-02-03  1234567  {\"a\":1}  1.5 KiB  01234567…  failed\n"
            "a,2       -                 7  [\"b\"]        1 B  x          ok\n"
            "true      -                 -  -             -1  -          -\n"));
}
