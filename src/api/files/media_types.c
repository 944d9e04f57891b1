/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses the media type of a file that was sent without one. */
#include "api/files/files_api.h"

/* By the end of the name, in lower case. */
static const struct {
    const char *extension;
    const char *type;
} EXTENSIONS[] = {
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/x-c"},
    {"conf", "text/plain"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"diff", "text/x-diff"},
    {"doc", "application/msword"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"go", "text/x-go"},
    {"gz", "application/gzip"},
    {"h", "text/x-c"},
    {"heic", "image/heic"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ics", "text/calendar"},
    {"ipynb", "application/x-ipynb+json"},
    {"java", "text/x-java"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"log", "text/plain"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"parquet", "application/vnd.apache.parquet"},
    {"patch", "text/x-diff"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"rs", "text/x-rust"},
    {"rtf", "application/rtf"},
    {"sh", "application/x-sh"},
    {"sql", "application/sql"},
    {"sqlite", "application/vnd.sqlite3"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"ts", "text/x-typescript"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

/* By the first bytes. */
static const struct {
    struct str magic;
    const char *type;
} MAGIC[] = {
    {{"\x89PNG\r\n\x1a\n", 8}, "image/png"},
    {{"\xff\xd8\xff", 3}, "image/jpeg"},
    {{"GIF8", 4}, "image/gif"},
    {{"%PDF-", 5}, "application/pdf"},
    {{"PK\x03\x04", 4}, "application/zip"},
    {{"\x1f\x8b", 2}, "application/gzip"},
    {{"\x28\xb5\x2f\xfd", 4}, "application/zstd"},
    {{"\xfd"
      "7zXZ\0",
         6},
        "application/x-xz"},
    {{"BZh", 3}, "application/x-bzip2"},
    {{"7z\xbc\xaf\x27\x1c", 6}, "application/x-7z-compressed"},
    {{"OggS", 4}, "audio/ogg"},
    {{"fLaC", 4}, "audio/flac"},
    {{"ID3", 3}, "audio/mpeg"},
    {{"\0asm", 4}, "application/wasm"},
    {{"SQLite format 3\0", 16}, "application/vnd.sqlite3"},
    {{"PAR1", 4}, "application/vnd.apache.parquet"},
};

static const char *by_extension(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(EXTENSIONS); i++) {
        struct str extension = str_of(EXTENSIONS[i].extension);
        if (name.len <= extension.len || name.ptr[name.len - extension.len - 1] != '.')
            continue;
        if (str_eq_nocase(str_slice(name, name.len - extension.len, name.len), extension))
            return EXTENSIONS[i].type;
    }
    return NULL;
}

static const char *by_magic(struct str head)
{
    for (size_t i = 0; i < COUNT_OF(MAGIC); i++)
        if (str_starts_with(head, MAGIC[i].magic))
            return MAGIC[i].type;
    return NULL;
}

struct str files_media_type(struct str given, struct str name, struct str head)
{
    const struct str unknown = STR("application/octet-stream");
    if (!str_is_none(given) && !str_eq_nocase(given, unknown))
        return given;
    const char *type = by_extension(name);
    if (type == NULL)
        type = by_magic(head);
    return type != NULL ? str_of(type) : unknown;
}
