/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/event.h"

#include "cli/request.h"
#include "cli/tail.h"

static int run_tail(struct cli *cli);

const struct cli_column event_columns[] = {
    {"SEQ", "/seq", COLUMN_NUMBER},
    {"ID", "/id", COLUMN_NUMBER},
    {"AT", "/created_at", COLUMN_TIME},
    {"KIND", "/kind", COLUMN_STATUS},
    {"TEXT", "/text", COLUMN_TEXT},
    {"PAYLOAD", "/payload", COLUMN_JSON},
    {"THREAD", "/thread_id", COLUMN_TEXT},
};
static_assert(COUNT_OF(event_columns) == EVENT_COLUMNS, "EVENT_COLUMNS counts the rows");
static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_NUMBER},
    {"SEQ", "/seq", COLUMN_NUMBER},
    {"COUNT", "/count", COLUMN_NUMBER},
    {"FIRST SEQ", "/first_seq", COLUMN_NUMBER},
    {"LAST SEQ", "/last_seq", COLUMN_NUMBER},
    {"KIND", "/kind", COLUMN_STATUS},
    {"TEXT", "/text", COLUMN_TEXT},
    {"PAYLOAD", "/payload", COLUMN_JSON},
    {"RUN", "/run_id", COLUMN_ID},
    {"AT", "/created_at", COLUMN_TIME},
};

/* The filters and the cursor, of lists and of tails. */
#define FILTERS                                                                             \
    {.name = "after", .argument = "CURSOR", .help = "only what comes after this cursor"},   \
        {.name = "kind", .argument = "KIND", .goes = GOES_QUERY, .help = "only this kind"}, \
    {                                                                                       \
        .name = "run", .argument = "RUN", .goes = GOES_QUERY, .field = "run_id",            \
        .help = "only events of this run"                                                   \
    }

static const struct cli_option list_options[] = {FILTERS};
const struct command command_event_list = {.noun = "event",
    .verb = "list",
    .arguments = "[THREAD]",
    .summary = "list events, oldest first, of a thread or of all",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/events",
        .path_without = "/v1/events",
        .cursor = "after",
        .columns = event_columns,
        .n_columns = EVENT_COLUMNS}};

static const struct cli_option append_options[] = {
    {.name = "kind",
        .argument = "KIND",
        .goes = GOES_TEXT,
        .help = "progress, status, warning, error, final, or your own with a dot in it"},
    {.name = "text", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people"},
    {.name = "payload",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "for programs; @FILE reads it from a file"},
    {.name = "run",
        .argument = "RUN",
        .goes = GOES_TEXT,
        .field = "run_id",
        .help = "the run of this thread that it tells of"},
    {.name = "events",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "many events instead, an array; @FILE reads it from a file, @- from stdin"},
    {.name = "fence",
        .argument = "TOKEN",
        .goes = GOES_HEADER,
        .field = "Cairn-Fencing-Token",
        .help = "the fencing token of the worker's claim"},
};
const struct command command_event_append = {.noun = "event",
    .verb = "append",
    .arguments = "THREAD",
    .summary = "append an event to a thread, or many at once",
    .options = append_options,
    .n_options = COUNT_OF(append_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/events",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option tail_options[] = {
    {.name = "follow", .letter = 'f', .help = "go on with what comes, until Ctrl-C"},
    FILTERS,
};
const struct command command_event_tail = {.noun = "event",
    .verb = "tail",
    .arguments = "[THREAD]",
    .summary = "print events, of a thread or of all, and follow them",
    .details = TAIL_DETAILS,
    .options = tail_options,
    .n_options = COUNT_OF(tail_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .run = run_tail};

static int run_tail(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    struct tail tail CLEANUP(tail_deinit);
    int code = remote_open(cli, &remote);
    tail_init(&tail, cli, remote);
    if (code != EXIT_SUCCESS)
        return code;
    tail.one_thread = cli_argument_count(cli) > 0;
    tail.path = request_path(cli, tail.one_thread ? "/v1/threads/{THREAD}/events" : "/v1/events");
    tail.kind = cli_value(cli, "kind");
    tail.run_id = cli_value(cli, "run");
    return tail_run(&tail, cli_flag(cli, "follow"));
}
