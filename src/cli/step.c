/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: what an engine logs of a run. */
#include <errno.h>

#include "base/buf.h"
#include "base/json/json_write.h"
#include "cli/cli.h"
#include "cli/request.h"

enum {
    LINES_A_BATCH = 1000,
    BYTES_A_BATCH = 4 * 1024 * 1024, /* one line more may be in it */
    LINE_MAX_BYTES = 12 * 1024 * 1024,
};

static int run_append(struct cli *cli);

static const char *const outcomes[] = {"success", "error", NULL};
static const char *const includes[] = {"messages", NULL};

static const struct cli_column list_columns[] = {
    {"RUN", "/run_id", COLUMN_ID},
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"AT", "/timestamp", COLUMN_TIME},
    {"STEP", "/step_number", COLUMN_NUMBER},
    {"ACTION", "/action_type", COLUMN_TEXT},
    {"OUTCOME", "/outcome", COLUMN_STATUS},
    {"MS", "/duration_ms", COLUMN_NUMBER},
    {"DATA", "/action_data", COLUMN_JSON},
};
static const struct cli_column columns[] = {
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"COUNT", "/count", COLUMN_NUMBER},
    {"FIRST", "/first", COLUMN_NUMBER},
    {"LAST", "/last", COLUMN_NUMBER},
    {"LOG ID", "/log_id", COLUMN_NUMBER},
    {"RUN", "/run_id", COLUMN_ID},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"AGENT", "/agent_id", COLUMN_ID},
    {"TURN", "/turn_id", COLUMN_ID},
    {"AT", "/timestamp", COLUMN_TIME},
    {"STEP", "/step_number", COLUMN_NUMBER},
    {"ACTION", "/action_type", COLUMN_TEXT},
    {"OUTCOME", "/outcome", COLUMN_STATUS},
    {"DATA", "/action_data", COLUMN_JSON},
    {"MESSAGES", "/messages_snapshot", COLUMN_JSON},
    {"MESSAGES COUNT", "/messages_count", COLUMN_NUMBER},
    {"ESTIMATED TOKENS", "/estimated_tokens", COLUMN_NUMBER},
    {"MS", "/duration_ms", COLUMN_NUMBER},
    {"TOOL", "/tool_name", COLUMN_TEXT},
    {"TOOL USE", "/tool_use_id", COLUMN_TEXT},
    {"MODEL", "/model", COLUMN_TEXT},
    {"PROVIDER", "/provider", COLUMN_TEXT},
    {"USAGE", "/usage", COLUMN_JSON},
    {"COST (USD)", "/cost_usd", COLUMN_NUMBER},
    {"PRICE VERSION", "/price_version", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
};

static const struct cli_option list_options[] = {
    {.name = "type",
        .argument = "TYPE",
        .goes = GOES_QUERY,
        .field = "action_type",
        .help = "only this type of action: tool_execution, error …"},
    {.name = "step",
        .argument = "NUMBER",
        .goes = GOES_QUERY,
        .field = "step_number",
        .help = "only this iteration of the run"},
    {.name = "from", .argument = "TIME", .goes = GOES_QUERY, .help = "at this time or later"},
    {.name = "to", .argument = "TIME", .goes = GOES_QUERY, .help = "before this time"},
    {.name = "outcome",
        .argument = "OUTCOME",
        .choices = outcomes,
        .goes = GOES_QUERY,
        .help = "of all runs: only what ended so"},
    {.name = "tool",
        .argument = "NAME",
        .goes = GOES_QUERY,
        .field = "tool_name",
        .help = "of all runs: only calls of this tool"},
    {.name = "model",
        .argument = "MODEL",
        .goes = GOES_QUERY,
        .help = "of all runs: only calls of this model"},
    {.name = "agent",
        .argument = "AGENT",
        .goes = GOES_QUERY,
        .field = "agent_id",
        .help = "of all runs: only those of this agent"},
    {.name = "thread",
        .argument = "THREAD",
        .goes = GOES_QUERY,
        .field = "thread_id",
        .help = "of all runs: only those of this thread"},
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "messages: the lists of messages too, with --json"},
};
const struct command command_step_list = {.noun = "step",
    .verb = "list",
    .arguments = "[RUN]",
    .summary = "list the steps of a run, oldest first, or of all runs, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/steps",
        .path_without = "/v1/steps",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_step_get = {.noun = "step",
    .verb = "get",
    .arguments = "RUN NUMBER",
    .summary = "show a step with its messages",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/steps/{NUMBER}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option append_options[] = {
    {.name = "type",
        .argument = "TYPE",
        .goes = GOES_TEXT,
        .field = "action_type",
        .help = "run_started, tool_execution …, or your own with a dot in it"},
    {.name = "data",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "action_data",
        .help = "what there is to say of the action; @FILE reads it from a file"},
    {.name = "step",
        .argument = "NUMBER",
        .goes = GOES_NUMBER,
        .field = "step_number",
        .help = "the iteration of the run; 0 before the first"},
    {.name = "duration-ms",
        .argument = "MS",
        .goes = GOES_NUMBER,
        .field = "duration_ms",
        .help = "how long it took"},
    {.name = "outcome",
        .argument = "OUTCOME",
        .choices = outcomes,
        .goes = GOES_TEXT,
        .help = "how it ended"},
    {.name = "messages",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "messages_snapshot",
        .help = "the messages at this point, an array; @FILE reads it from a file"},
    {.name = "fence",
        .argument = "TOKEN",
        .goes = GOES_HEADER,
        .field = "Cairn-Fencing-Token",
        .help = "the fencing token of the worker's claim"},
};
const struct command command_step_append = {.noun = "step",
    .verb = "append",
    .arguments = "RUN [FILE]",
    .summary = "append a step to a run, or a log of them",
    .details = "With FILE (- is stdin), each line of it is a step, a JSON object; they are sent\n"
               "in batches, of which each is appended as a whole or not at all.\n",
    .options = append_options,
    .n_options = COUNT_OF(append_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .run = run_append,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/runs/{RUN}/steps",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

/* --- A log, in batches ----------------------------------------------------------------------- */

struct feed {
    struct cli *cli;
    struct remote *remote;
    struct remote_request request;
    struct buf batch; /* {"steps":[… */
    long long n_batch;
    long long n_lines; /* read, blank ones too */
    long long first_line;
    long long n_appended;
    int64_t first;
    int64_t last;
};

static int64_t number_in(struct json answer, const char *member)
{
    struct json value;
    int64_t number;
    bool found = json_get(answer, str_of(member), &value) && json_to_i64(value, &number);
    return found ? number : 0;
}

static int send_batch(struct feed *f)
{
    struct remote_answer answer;
    if (f->n_batch == 0)
        return EXIT_SUCCESS;
    buf_append(&f->batch, STR("]}"));
    f->request.body = buf_str(&f->batch);
    int code = remote_ask(f->remote, &f->request, &answer);
    if (code != EXIT_SUCCESS) {
        cli_note(f->cli, "nothing of lines %lld to %lld was appended; the %lld steps before were",
            f->first_line, f->n_lines, f->n_appended);
        return code;
    }
    if (f->n_appended == 0)
        f->first = number_in(answer.json, "first");
    f->last = number_in(answer.json, "last");
    f->n_appended += f->n_batch;
    f->n_batch = 0;
    buf_reset(&f->batch);
    return EXIT_SUCCESS;
}

static int add_line(struct feed *f, struct str line)
{
    struct arena scratch;
    struct json_doc doc;
    struct json_error error;
    arena_init(&scratch, SIZE_MAX);
    bool good = line.len <= LINE_MAX_BYTES && json_parse(&scratch, line, &doc, &error) &&
                json_type(json_root(&doc)) == JSON_OBJECT;
    arena_deinit(&scratch);
    if (!good) {
        int code = send_batch(f);
        return code != EXIT_SUCCESS
                   ? code
                   : cli_fail(f->cli,
                         "line %lld must be a JSON object of at most %d bytes; the %lld steps "
                         "before it are appended",
                         f->n_lines, LINE_MAX_BYTES, f->n_appended);
    }
    if (f->n_batch == 0)
        f->first_line = f->n_lines;
    buf_append(&f->batch, f->n_batch == 0 ? STR("{\"steps\":[") : STR(","));
    buf_append(&f->batch, line);
    f->n_batch++;
    return EXIT_SUCCESS;
}

static int feed_lines(struct feed *f, FILE *file)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    int code = EXIT_SUCCESS;
    while (code == EXIT_SUCCESS && (len = getline(&text, &room, file)) >= 0) {
        struct str line = {text, (size_t)len};
        if (line.len > 0 && line.ptr[line.len - 1] == '\n')
            line.len--;
        f->n_lines++;
        if (str_trim_blanks(line).len == 0)
            continue;
        if (f->n_batch == LINES_A_BATCH || buf_str(&f->batch).len > BYTES_A_BATCH)
            code = send_batch(f);
        if (code == EXIT_SUCCESS)
            code = add_line(f, line);
    }
    free(text);
    if (code == EXIT_SUCCESS && ferror(file))
        return cli_fail(f->cli, "the log cannot be read: %s", strerror(errno));
    return code == EXIT_SUCCESS ? send_batch(f) : code;
}

static void print_feed(struct feed *f)
{
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    json_write_name(&text.w, "count");
    json_write_i64(&text.w, f->n_appended);
    json_write_name(&text.w, "first");
    json_write_i64(&text.w, f->first);
    json_write_name(&text.w, "last");
    json_write_i64(&text.w, f->last);
    json_write_end(&text.w);
    cli_print_object(f->cli, columns, COUNT_OF(columns), cli_document(f->cli, &text));
}

static int append_log(struct cli *cli, struct feed *f)
{
    struct str path = cli_argument(cli, 1);
    bool is_stdin = str_eq(path, STR("-"));
    for (size_t i = 0; i < COUNT_OF(append_options); i++)
        if (append_options[i].goes != GOES_HEADER && cli_count(cli, append_options[i].name) > 0)
            return cli_usage(
                cli, "--%s is for one step, and FILE for a log of them", append_options[i].name);
    FILE *file = is_stdin ? stdin : fopen(arena_cstr(cli_arena(cli), path), "re");
    if (file == NULL)
        return cli_fail(cli, "%.*s cannot be read: %s", STR_ARG(path), strerror(errno));
    int code = feed_lines(f, file);
    if (!is_stdin)
        fclose(file);
    if (code == EXIT_SUCCESS && f->n_appended == 0)
        return cli_fail(cli, "there is no step in %.*s", STR_ARG(path));
    if (code == EXIT_SUCCESS)
        print_feed(f);
    return code;
}

static int run_append(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    struct feed feed = {.cli = cli};
    struct remote_answer answer;
    int code = request_build(cli, &feed.request);
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &remote);
    if (code != EXIT_SUCCESS)
        return code;
    feed.remote = remote;
    if (cli_argument_count(cli) > 1) {
        buf_init(&feed.batch, SIZE_MAX);
        code = append_log(cli, &feed);
        buf_deinit(&feed.batch);
        return code;
    }
    code = remote_ask(remote, &feed.request, &answer);
    if (code == EXIT_SUCCESS)
        cli_print_object(cli, columns, COUNT_OF(columns), answer.json);
    return code;
}
