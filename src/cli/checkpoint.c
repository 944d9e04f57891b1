/* Checkpoints: the state of a graph of agents after each step, and how to go back to one. */
#include "cli/cli.h"

static const char *const includes[] = {"values", "writes", "all", NULL};
static const char *const policies[] = {"reject", "enqueue", "interrupt", "rollback", NULL};
static const char *const dispatches[] = {"queue", "direct", NULL};

static const struct cli_column list_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NUMBER", "/sequence_num", COLUMN_NUMBER},
    {"NAMESPACE", "/namespace", COLUMN_TEXT},
    {"NODE", "/node", COLUMN_TEXT},
    {"PARENT", "/parent_id", COLUMN_ID},
    {"BYTES", "/size_bytes", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"NAMESPACE", "/namespace", COLUMN_TEXT},
    {"NUMBER", "/sequence_num", COLUMN_NUMBER},
    {"PARENT", "/parent_id", COLUMN_ID},
    {"RUN", "/run_id", COLUMN_ID},
    {"NODE", "/node", COLUMN_TEXT},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"VALUES", "/channel_values", COLUMN_JSON},
    {"VERSIONS", "/channel_versions", COLUMN_JSON},
    {"SENDS", "/pending_sends", COLUMN_JSON},
    {"WRITES", "/pending_writes", COLUMN_JSON},
    {"BYTES", "/size_bytes", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
};
static const struct cli_column diff_columns[] = {
    {"FROM", "/from_id", COLUMN_ID},
    {"TO", "/to_id", COLUMN_ID},
    {"CHANNELS", "/channels", COLUMN_JSON},
    {"PATCH", "/patch", COLUMN_JSON},
};
static const struct cli_column pruned_columns[] = {
    {"PRUNED", "/pruned", COLUMN_NUMBER},
    {"MORE", "/more", COLUMN_TEXT},
};
static const struct cli_column replayed_columns[] = {
    {"RUN", "/new_run_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"CHECKPOINT", "/checkpoint_id", COLUMN_ID},
};
static const struct cli_column recovery_columns[] = {
    {"CHECKPOINT", "/checkpoint_id", COLUMN_ID},
    {"RUN", "/run_id", COLUMN_ID},
    {"NODE", "/node", COLUMN_TEXT},
    {"STATE", "/recovered_state", COLUMN_JSON},
    {"SENDS", "/pending_sends", COLUMN_JSON},
    {"WRITES", "/pending_writes", COLUMN_JSON},
    {"SKIPPED", "/skipped", COLUMN_JSON},
    {"WARNINGS", "/warnings", COLUMN_JSON},
};

#define IN_NAMESPACE                                                           \
    {                                                                          \
        .name = "namespace", .argument = "NAME", .goes = GOES_QUERY,           \
        .help = "of a graph inside the outermost one, which has the name \"\"" \
    }

static const struct cli_option list_options[] = {
    IN_NAMESPACE,
    {.name = "run",
        .argument = "RUN",
        .goes = GOES_QUERY,
        .field = "run_id",
        .help = "only those of this run"},
    {.name = "before",
        .argument = "CHECKPOINT",
        .goes = GOES_QUERY,
        .help = "only those that were put before this one"},
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "values, writes or all, with --json"},
};
const struct command command_checkpoint_list = {.noun = "checkpoint",
    .verb = "list",
    .arguments = "THREAD",
    .summary = "list the checkpoints of a thread, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/checkpoints",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

static const struct cli_option place_options[] = {IN_NAMESPACE};
const struct command command_checkpoint_get = {.noun = "checkpoint",
    .verb = "get",
    .arguments = "THREAD CHECKPOINT",
    .summary = "show a checkpoint with its values and pending writes",
    .options = place_options,
    .n_options = COUNT_OF(place_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/checkpoints/{CHECKPOINT}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_checkpoint_latest = {.noun = "checkpoint",
    .verb = "latest",
    .arguments = "THREAD",
    .summary = "show the latest checkpoint of a namespace",
    .options = place_options,
    .n_options = COUNT_OF(place_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/checkpoints/latest",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option put_options[] = {
    {.name = "values",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "channel_values",
        .help = "all channels; @FILE reads it from a file"},
    {.name = "changes",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "or what differs from the parent: {\"set\", \"append\", \"remove\"}"},
    {.name = "versions",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "channel_versions",
        .help = "the version of each channel"},
    {.name = "id", .argument = "UUID", .goes = GOES_TEXT, .help = "a new one unless given"},
    {.name = "namespace",
        .argument = "NAME",
        .goes = GOES_TEXT,
        .help = "of a graph inside the outermost one"},
    {.name = "parent",
        .argument = "CHECKPOINT",
        .goes = GOES_TEXT,
        .field = "parent_id",
        .help = "the latest unless given"},
    {.name = "expected-latest",
        .argument = "CHECKPOINT",
        .goes = GOES_TEXT,
        .field = "expected_latest",
        .help = "refuse when the latest is another one"},
    {.name = "run",
        .argument = "RUN",
        .goes = GOES_TEXT,
        .field = "run_id",
        .help = "the run that has come so far"},
    {.name = "node", .argument = "NAME", .goes = GOES_TEXT, .help = "where in the graph"},
    {.name = "metadata", .argument = "JSON", .goes = GOES_JSON, .help = "an object of your own"},
};
const struct command command_checkpoint_put = {.noun = "checkpoint",
    .verb = "put",
    .arguments = "THREAD",
    .summary = "put a checkpoint",
    .options = put_options,
    .n_options = COUNT_OF(put_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/checkpoints",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_checkpoint_diff = {.noun = "checkpoint",
    .verb = "diff",
    .arguments = "THREAD FROM TO",
    .summary = "compare two checkpoints, channel by channel",
    .options = place_options,
    .n_options = COUNT_OF(place_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/checkpoints/{FROM}/diff/{TO}",
        .columns = diff_columns,
        .n_columns = COUNT_OF(diff_columns)}};

static const struct cli_option prune_options[] = {
    {.name = "keep",
        .argument = "N",
        .goes = GOES_NUMBER,
        .field = "keep_latest",
        .help = "how many stay in each namespace"},
    {.name = "older-than",
        .argument = "SECONDS",
        .goes = GOES_NUMBER,
        .field = "older_than_s",
        .help = "only those of this age"},
    {.name = "namespace", .argument = "NAME", .goes = GOES_TEXT, .help = "only this one"},
};
const struct command command_checkpoint_prune = {.noun = "checkpoint",
    .verb = "prune",
    .arguments = "THREAD",
    .summary = "remove the oldest checkpoints",
    .details = "The latest of each namespace always stays. One call removes 500; MORE tells "
               "whether there are others.",
    .options = prune_options,
    .n_options = COUNT_OF(prune_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/checkpoints/prune",
        .columns = pruned_columns,
        .n_columns = COUNT_OF(pruned_columns),
        .question = "Remove the oldest checkpoints for good?"}};

static const struct cli_option replay_options[] = {
    {.name = "checkpoint",
        .argument = "CHECKPOINT",
        .goes = GOES_TEXT,
        .field = "checkpoint_id",
        .required = true,
        .help = "where to go on from"},
    {.name = "state",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "modified_state",
        .help = "channels and the values that they begin with instead"},
    {.name = "policy",
        .argument = "POLICY",
        .choices = policies,
        .goes = GOES_TEXT,
        .help = "instead of the thread's: reject, enqueue, interrupt or rollback"},
    {.name = "dispatch",
        .argument = "HOW",
        .choices = dispatches,
        .goes = GOES_TEXT,
        .help = "queue: a worker claims it; direct: the caller works on it",
        .fallback = "queue"},
};
const struct command command_checkpoint_replay = {.noun = "checkpoint",
    .verb = "replay",
    .arguments = "RUN",
    .summary = "go on from a checkpoint of a run in a new run",
    .options = replay_options,
    .n_options = COUNT_OF(replay_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/runs/{RUN}/replay",
        .columns = replayed_columns,
        .n_columns = COUNT_OF(replayed_columns)}};

static const struct cli_option recover_options[] = {
    IN_NAMESPACE,
    {.name = "checkpoint",
        .argument = "CHECKPOINT",
        .goes = GOES_QUERY,
        .field = "checkpoint_id",
        .help = "this one, or an ancestor of it"},
};
const struct command command_checkpoint_recover = {.noun = "checkpoint",
    .verb = "recover",
    .arguments = "THREAD",
    .summary = "show the newest state that is intact",
    .options = recover_options,
    .n_options = COUNT_OF(recover_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/recovery",
        .columns = recovery_columns,
        .n_columns = COUNT_OF(recovery_columns)}};
