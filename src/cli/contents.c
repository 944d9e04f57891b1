/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/contents.h"

struct str contents_hex(struct arena *arena, const struct sha256 *hash)
{
    return hex_encode(arena, (struct str){(const char *)hash->bytes, SHA256_LEN});
}

void contents_write(struct json_writer *w, const struct contents *contents, struct arena *arena)
{
    json_write_key(w, STR("schema_version"));
    json_write_i64(w, contents->schema_version);
    json_write_key(w, STR("rows"));
    json_write_u64(w, contents->rows);
    json_write_key(w, STR("tables"));
    json_write_object(w);
    for (size_t i = 0; i < contents->n_tables; i++) {
        json_write_key(w, contents->tables[i].name);
        json_write_u64(w, contents->tables[i].rows);
    }
    json_write_end(w);
    json_write_key(w, STR("content_sha256"));
    json_write_string(w, contents->has_digest ? contents_hex(arena, &contents->digest) : STR_NONE);
}

static const struct cli_column columns[] = {
    {"FILE", "/file", COLUMN_TEXT},
    {"DATA", "/data", COLUMN_TEXT},
    {"SIZE", "/size_bytes", COLUMN_BYTES},
    {"SHA-256", "/sha256", COLUMN_ID},
    {"CONTENT", "/content_sha256", COLUMN_ID},
    {"SCHEMA", "/schema_version", COLUMN_NUMBER},
    {"THREADS", "/tables/threads", COLUMN_NUMBER},
    {"RUNS", "/tables/runs", COLUMN_NUMBER},
    {"EVENTS", "/tables/events", COLUMN_NUMBER},
    {"ROWS", "/rows", COLUMN_NUMBER},
    {"FILES", "/files/count", COLUMN_NUMBER},
    {"THEIR SIZE", "/files/size_bytes", COLUMN_BYTES},
    {"KEPT ASIDE", "/kept", COLUMN_TEXT},
};

void contents_print_report(
    struct cli *cli, struct str file, struct str data_dir, const struct backup_report *report)
{
    struct arena *arena = cli_arena(cli);
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("file"));
    json_write_string(&text.w, file);
    json_write_key(&text.w, STR("data"));
    json_write_string(&text.w, data_dir);
    json_write_key(&text.w, STR("size_bytes"));
    json_write_u64(&text.w, report->size_bytes);
    json_write_key(&text.w, STR("sha256"));
    json_write_string(&text.w, contents_hex(arena, &report->sha256));
    contents_write(&text.w, &report->contents, arena);
    json_write_key(&text.w, STR("files"));
    json_write_object(&text.w);
    json_write_key(&text.w, STR("count"));
    json_write_u64(&text.w, report->files.n_files);
    json_write_key(&text.w, STR("size_bytes"));
    json_write_u64(&text.w, report->files.n_bytes);
    json_write_end(&text.w);
    if (!str_is_none(report->kept)) {
        json_write_key(&text.w, STR("kept"));
        json_write_string(&text.w, report->kept);
    }
    json_write_end(&text.w);
    size_t n_columns = COUNT_OF(columns) - (str_is_none(report->kept) ? 1 : 0);
    cli_print_object(cli, columns, n_columns, cli_document(cli, &text));
}
