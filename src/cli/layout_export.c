/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "cli/layout.h"

static int run(struct cli *cli);

const char *const layouts[] = {"files", NULL};
static const struct cli_option options[] = {
    {.name = "layout",
        .argument = "LAYOUT",
        .help = "the form of the export: files is a directory of JSON files",
        .choices = layouts,
        .required = true},
    {.name = "thread", .argument = "THREAD", .help = "only this thread", .repeats = true},
};

const struct command command_export = {
    .noun = "export",
    .arguments = "DIR",
    .summary = "export resumptions, history and steps of agents as files",
    .details = "Writes agent_config/THREAD.json, conversation_history/THREAD/001.json … with "
               "index.json, and agent_runs/THREAD/RUN.jsonl to DIR; docs/files-layout.md describes "
               "them. An existing tree is updated; its other threads are not changed. A directory "
               "with other files is rejected.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .run = run,
};

static const struct cli_column columns[] = {
    {"DIRECTORY", "/directory", COLUMN_TEXT},
    {"THREADS", "/threads", COLUMN_NUMBER},
    {"CONVERSATIONS", "/conversations", COLUMN_NUMBER},
    {"STEPS", "/steps_written", COLUMN_NUMBER},
};

/* A thread of --thread must exist. */
static int sync_named(struct layout *l, struct str given)
{
    struct arena *arena = cli_arena(l->cli);
    struct remote_answer answer;
    struct id_text id;
    bool found;
    if (!layout_to_id(given, &id))
        return cli_usage(l->cli, "--thread must be an id");
    TRY_EXIT(layout_ask(l, arena_printf(arena, "/v1/threads/%.*s", ID_ARG(&id)), &answer, &found));
    if (!found)
        return cli_fail(l->cli, "there is no thread %.*s", ID_ARG(&id));
    return layout_sync_thread(l, &id);
}

static void report(struct layout *l)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "directory", str_of(l->tree.path));
    json_write_name(&text.w, "threads");
    json_write_u64(&text.w, l->threads);
    json_write_name(&text.w, "conversations");
    json_write_u64(&text.w, l->entries);
    json_write_name(&text.w, "steps_written");
    json_write_u64(&text.w, l->steps);
    json_write_end(&text.w);
    cli_print_object(l->cli, columns, COUNT_OF(columns), cli_document(l->cli, &text));
}

static int run(struct cli *cli)
{
    struct layout l CLEANUP(layout_close);
    TRY_EXIT(layout_open(&l, cli, cli_argument(cli, 0)));
    size_t n = cli_count(cli, "thread");
    for (size_t i = 0; i < n; i++)
        TRY_EXIT(sync_named(&l, cli_value_at(cli, "thread", i)));
    if (n == 0)
        TRY_EXIT(layout_sync_all(&l));
    report(&l);
    return EXIT_SUCCESS;
}
