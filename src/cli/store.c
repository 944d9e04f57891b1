/* SPDX-License-Identifier: Apache-2.0 */
/* The store: items under namespaces, which are written with a "." between their labels. */
#include "cli/cli.h"

#define ITEM "/v1/store/items?namespace={NAMESPACE}&key={KEY}"

static const struct cli_column columns[] = {
    {"NAMESPACE", "/namespace", COLUMN_JSON},
    {"KEY", "/key", COLUMN_ID},
    {"VERSION", "/version", COLUMN_NUMBER},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"EXPIRES", "/expires_at", COLUMN_TIME},
    {"VALUE", "/value", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
};
enum { LIST_COLUMNS = 6 };
static const struct cli_column found_columns[] = {
    {"SCORE", "/score", COLUMN_NUMBER},
    {"NAMESPACE", "/namespace", COLUMN_JSON},
    {"KEY", "/key", COLUMN_ID},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"VALUE", "/value", COLUMN_JSON},
};
static const struct cli_column name_columns[] = {{"NAMESPACE", "", COLUMN_JSON}};

#define FILTER_OPTION                                                           \
    {                                                                           \
        .name = "filter", .argument = "JSON", .goes = GOES_JSON,                \
        .help = "by member of the value: {\"kind\":\"note\",\"n\":{\"$gt\":1}}" \
    }

static const struct cli_option list_options[] = {FILTER_OPTION};
const struct command command_store_list = {.noun = "store",
    .verb = "list",
    .arguments = "[NAMESPACE]",
    .summary = "list items of the store, of all namespaces or under one, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/store/search",
        .members = "namespace_prefix.",
        .columns = columns,
        .n_columns = LIST_COLUMNS}};

const struct command command_store_get = {.noun = "store",
    .verb = "get",
    .arguments = "NAMESPACE KEY",
    .summary = "show an item of the store",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "GET", .path = ITEM, .columns = columns, .n_columns = COUNT_OF(columns)}};

static const struct cli_option put_options[] = {
    {.name = "value",
        .argument = "JSON",
        .goes = GOES_JSON,
        .required = true,
        .help = "a JSON object; @FILE reads it from a file"},
    {.name = "vectors",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "what finds it: [{\"path\":\"text\",\"values\":[0.1,…]}]; @FILE reads it"},
    {.name = "ttl",
        .argument = "SECONDS",
        .goes = GOES_NUMBER,
        .field = "ttl_s",
        .help = "how long it is there",
        .fallback = "for good"},
    {.name = "if-match",
        .argument = "VERSION, new or *",
        .goes = GOES_MATCH,
        .help = "only while this is its version; new: only when there is none"},
};
const struct command command_store_put = {.noun = "store",
    .verb = "put",
    .arguments = "NAMESPACE KEY",
    .summary = "put an item into the store, or another value under its key",
    .details = "A namespace is labels with a \".\" between them: users.42",
    .options = put_options,
    .n_options = COUNT_OF(put_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PUT",
        .path = "/v1/store/items",
        .members = "namespace. key",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option delete_options[] = {
    {.name = "if-match",
        .argument = "VERSION",
        .goes = GOES_MATCH,
        .help = "only while this is its version"},
};
const struct command command_store_delete = {.noun = "store",
    .verb = "delete",
    .arguments = "NAMESPACE KEY",
    .summary = "delete an item of the store",
    .options = delete_options,
    .n_options = COUNT_OF(delete_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = ITEM,
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the item?",
        .done = "The item is deleted."}};

static const struct cli_option search_options[] = {
    {.name = "query",
        .letter = 'q',
        .argument = "WORDS",
        .goes = GOES_TEXT,
        .help = "words, of which an item should have some"},
    {.name = "vector",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "numbers, which its vectors should be like; @FILE reads them"},
    FILTER_OPTION,
};
const struct command command_store_search = {.noun = "store",
    .verb = "search",
    .arguments = "[NAMESPACE]",
    .summary = "find items of the store by words or by a vector, the best first",
    .options = search_options,
    .n_options = COUNT_OF(search_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/store/search",
        .members = "namespace_prefix.",
        .columns = found_columns,
        .n_columns = COUNT_OF(found_columns)}};

static const struct cli_option names_options[] = {
    {.name = "suffix",
        .argument = "LABELS",
        .goes = GOES_LABELS,
        .help = "only those that end with these; * is any label"},
    {.name = "max-depth",
        .argument = "N",
        .goes = GOES_NUMBER,
        .field = "max_depth",
        .help = "cut to so many labels"},
};
const struct command command_store_namespaces = {.noun = "store",
    .verb = "namespaces",
    .arguments = "[PREFIX]",
    .summary = "list the namespaces of the store, sorted",
    .options = names_options,
    .n_options = COUNT_OF(names_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/store/namespaces",
        .members = "prefix.",
        .columns = name_columns,
        .n_columns = COUNT_OF(name_columns)}};
