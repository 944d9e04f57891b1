/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports a tree of the files layout as threads. The server assigns new ids; the metadata of each
 * thread and run has the old one as imported_from, and it is the key of the thread. A thread is
 * marked until it is complete: the next import removes and repeats a thread that was left
 * incomplete, and skips a complete one.
 */
#include "cli/layout_import.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/layout_pages.h"
#include "cli/layout_read.h"

enum { BATCH_STEPS = 500, BATCH_BYTES = 4 * 1024 * 1024 };

/* The members of a file that are sent in the body of a request. */
static const char *const config_members[] = {"system_prompt", "model", "max_steps",
    "thinking_tokens", "max_tokens", "container_id", "messages", "tool_schemas", "server_tools",
    "beta_headers", "api_kwargs", "formatter", "stream_meta_history_and_tool_results",
    "compactor_type", "memory_store_type", "file_registry", "extras", "max_retries", "base_delay",
    "last_known_input_tokens", "last_known_output_tokens", "current_step", "conversation_history",
    "title", "total_runs", NULL};
static const char *const entry_members[] = {
    "messages", "final_response", "stop_reason", "generated_files", "extras", NULL};
static const char *const step_members[] = {"action_type", "timestamp", "step_number", "action_data",
    "messages_snapshot", "messages_count", "estimated_tokens", "duration_ms", NULL};
static const char *const usage_members[] = {"input_tokens", "output_tokens",
    "cache_creation_input_tokens", "cache_read_input_tokens", NULL};

struct import {
    struct layout layout;
    const struct read_thread *thread;
    struct id_text thread_id; /* the new one */
    bool is_key_taken;        /* by a thread that was not imported */
    struct json_text report;
    uint64_t threads, runs, steps, skipped;
};

/* --- Requests ------------------------------------------------------------------------------- */

static int send(struct import *im, const char *method, struct str path, struct str body,
    struct remote_answer *answer)
{
    const struct http_header when_new = {STR("If-None-Match"), STR("*")};
    const struct remote_request request = {.method = method,
        .path = path,
        .body = body,
        .headers = &when_new,
        .n_headers = strcmp(method, "PUT") == 0 ? 1 : 0};
    return remote_ask(im->layout.remote, &request, answer);
}

/* Writes the members that exist and are not null. */
static void copy(struct json_writer *w, struct json from, const char *const *names)
{
    struct json value;
    for (size_t i = 0; names[i] != NULL; i++)
        if (json_get(from, str_of(names[i]), &value) && json_type(value) != JSON_NULL) {
            json_write_name(w, names[i]);
            json_write_value(w, value);
        }
}

static struct str take(struct json_text *text, struct arena *arena)
{
    json_write_end(&text->w);
    return json_text_take(text, arena);
}

static void begin(struct json_text *text)
{
    json_text_init(text, SIZE_MAX);
    json_write_object(&text->w);
}

static void write_origin(struct json_writer *w, struct str label, bool is_begun)
{
    json_write_name(w, "metadata");
    json_write_object(w);
    json_write_text_member(w, "imported_from", label);
    if (is_begun)
        json_write_text_member(w, "import", STR("begun"));
    json_write_end(w);
}

/* --- Runs ----------------------------------------------------------------------------------- */

struct batch {
    struct import *im;
    struct id_text run;
    struct json_text text;
    size_t n;
};

static int send_batch(struct batch *b)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    json_write_end(&b->text.w);
    struct str body = take(&b->text, &arena);
    size_t n = b->n;
    b->n = 0;
    if (n == 0)
        return EXIT_SUCCESS;
    b->im->steps += n;
    return send(
        b->im, "POST", arena_printf(&arena, "/v1/runs/%.*s/steps", ID_ARG(&b->run)), body, &answer);
}

static void begin_batch(struct batch *b)
{
    begin(&b->text);
    json_write_name(&b->text.w, "steps");
    json_write_array(&b->text.w);
}

static int take_step(void *to, struct arena *arena, struct json line, struct str where)
{
    struct batch *b = to;
    if (layout_is_lifecycle(line)) /* the server writes its own */
        return EXIT_SUCCESS;
    json_write_object(&b->text.w);
    copy(&b->text.w, line, step_members);
    json_write_end(&b->text.w);
    b->n++;
    if (b->n < BATCH_STEPS && b->text.buf.len < BATCH_BYTES)
        return EXIT_SUCCESS;
    int code = send_batch(b);
    begin_batch(b);
    return code;
}

static int send_steps(struct import *im, const struct read_run *run, const struct id_text *id)
{
    struct batch batch = {.im = im, .run = *id};
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    begin_batch(&batch);
    int code = run->steps == 0 ? EXIT_SUCCESS
                               : layout_read_lines(&im->layout.tree, im->thread->label, run->label,
                                     take_step, &batch);
    if (code == EXIT_SUCCESS)
        return send_batch(&batch);
    json_write_end(&batch.text.w);
    take(&batch.text, &arena);
    return code;
}

/* A start or an end that the steps of the engine contain is not logged again. */
static void write_log(struct json_writer *w, bool is_logged)
{
    if (!is_logged)
        return;
    json_write_name(w, "lifecycle_steps");
    json_write_bool(w, false);
}

static int start_run(struct import *im, const struct read_run *run, struct str input,
    const struct id_text *parent, struct id_text *out_id)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json_text body;
    begin(&body);
    json_write_text_member(&body.w, "dispatch", STR("direct"));
    write_log(&body.w, run->logs_start);
    if (!str_is_none(input))
        json_write_text_member(&body.w, "user_input", input);
    if (parent != NULL)
        json_write_text_member(&body.w, "parent_run_id", (struct str){parent->text, UUID_TEXT_LEN});
    write_origin(&body.w, run->label, false);
    TRY_EXIT(send(im, "POST", arena_printf(&arena, "/v1/threads/%.*s/runs", ID_ARG(&im->thread_id)),
        take(&body, &arena), &answer));
    if (!answer.has_json || !layout_read_id(answer.json, STR("/id"), out_id))
        return cli_fail(im->layout.cli, "the server's answer is not a run");
    TRY_EXIT(send_steps(im, run, out_id));
    im->runs++;
    json_write_object(&im->report.w);
    json_write_text_member(&im->report.w, "from", run->label);
    json_write_text_member(&im->report.w, "to", (struct str){out_id->text, UUID_TEXT_LEN});
    json_write_end(&im->report.w);
    return EXIT_SUCCESS;
}

/* The end of a run and its times, as far as its file has them. */
struct ending {
    bool is_logged; /* by a step of the engine */
    struct str status, content, stop_reason, started_at, finished_at, error;
};

/* The end of a run that has no content. */
static struct ending ending_of(const struct read_run *run)
{
    return (struct ending){.is_logged = run->logs_end,
        .status = str_is_none(run->status) ? STR("completed") : run->status,
        .started_at = run->started_at,
        .finished_at = run->completed_at,
        .error = run->error};
}

static void write_known(struct json_writer *w, const char *name, struct str text)
{
    if (!str_is_none(text))
        json_write_text_member(w, name, text);
}

static int finish_run(struct import *im, const struct id_text *run, const struct ending *end)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json_text body;
    begin(&body);
    json_write_text_member(&body.w, "status", end->status);
    write_log(&body.w, end->is_logged);
    write_known(&body.w, "content", end->content);
    if (end->content.len > 0) { /* the start has created the message of the user */
        json_write_name(&body.w, "reply");
        json_write_bool(&body.w, true);
    }
    write_known(&body.w, "stop_reason", end->stop_reason);
    write_known(&body.w, "started_at", end->started_at);
    write_known(&body.w, "finished_at", end->finished_at);
    if (!str_is_none(end->error)) {
        json_write_name(&body.w, "error");
        json_write_raw(&body.w, end->error);
    }
    return send(im, "PATCH", arena_printf(&arena, "/v1/runs/%.*s", ID_ARG(run)),
        take(&body, &arena), &answer);
}

static int64_t tokens(struct json usage, const char *name)
{
    struct json value;
    int64_t n = 0;
    if (json_type(usage) == JSON_OBJECT && json_get(usage, str_of(name), &value) &&
        json_to_i64(value, &n))
        return n;
    return 0;
}

static bool has_tokens(struct json usage)
{
    for (size_t i = 0; usage_members[i] != NULL; i++)
        if (tokens(usage, usage_members[i]) > 0)
            return true;
    return false;
}

/* Tokens that no step contains. */
static int send_usage(struct import *im, const struct id_text *run, struct json entry)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json_text body;
    struct json usage;
    if (!json_get(entry, STR("usage"), &usage) || !has_tokens(usage))
        return EXIT_SUCCESS;
    begin(&body);
    struct str model = remote_string(&arena, entry, STR("/cost/model_id"));
    if (str_is_none(model))
        model = im->thread->model;
    if (!str_is_none(model))
        json_write_text_member(&body.w, "model", model);
    for (size_t i = 0; usage_members[i] != NULL; i++) {
        json_write_name(&body.w, usage_members[i]);
        json_write_i64(&body.w, tokens(usage, usage_members[i]));
    }
    return send(im, "POST", arena_printf(&arena, "/v1/runs/%.*s/usage", ID_ARG(run)),
        take(&body, &arena), &answer);
}

/* --- A conversation ------------------------------------------------------------------------- */

static int send_children(struct import *im, const struct read_run *of, const struct id_text *parent)
{
    for (size_t i = 0; i < im->thread->n_runs; i++) {
        const struct read_run *run = &im->thread->runs[i];
        struct id_text id;
        if (str_is_none(run->parent) || !str_eq(run->parent, of->label))
            continue;
        TRY_EXIT(start_run(im, run, STR_NONE, parent, &id));
        const struct ending end = ending_of(run);
        TRY_EXIT(finish_run(im, &id, &end));
    }
    return EXIT_SUCCESS;
}

static int send_entry(struct import *im, const struct read_run *run)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json entry;
    struct id_text id;
    struct json_text body;
    TRY_EXIT(layout_read_object(&im->layout.tree,
        layout_entry_name(&arena, im->thread->label, run->sequence), &arena, &entry));
    struct str reason = remote_string(&arena, entry, STR("/stop_reason"));
    TRY_EXIT(start_run(im, run, remote_string(&arena, entry, STR("/user_message")), NULL, &id));
    TRY_EXIT(send_children(im, run, &id));
    if (!run->has_usage)
        TRY_EXIT(send_usage(im, &id, entry));
    struct ending end = ending_of(run);
    /* The entry of a run that has not completed may have its status as the reason. */
    if (str_is_none(run->status) &&
        (str_eq(reason, STR("failed")) || str_eq(reason, STR("cancelled"))))
        end.status = reason;
    end.content = remote_string(&arena, entry, STR("/final_response"));
    end.stop_reason = reason;
    TRY_EXIT(finish_run(im, &id, &end));
    begin(&body);
    copy(&body.w, entry, entry_members);
    struct str patch = take(&body, &arena);
    return send(im, "PATCH",
        arena_printf(&arena, "/v1/threads/%.*s/history/%lld", ID_ARG(&im->thread_id),
            (long long)run->sequence),
        patch, &answer);
}

/* Writes the elements of a list, each with one more member. */
static void copy_list(struct json_writer *w, const char *name, struct json config,
    const char *list_name, const char *const *names, const char *side)
{
    struct json list, item;
    json_write_name(w, name);
    json_write_array(w);
    if (json_get(config, str_of(list_name), &list) && json_type(list) == JSON_ARRAY) {
        struct json_iter it = json_iter(list);
        while (json_next(&it, NULL, &item)) {
            json_write_object(w);
            if (json_type(item) == JSON_OBJECT)
                copy(w, item, names);
            if (side != NULL)
                json_write_text_member(w, "side", str_of(side));
            json_write_end(w);
        }
    }
    json_write_end(w);
}

/* Lets the run wait for its tools again. */
static int send_tools(struct import *im, const struct id_text *run)
{
    static const char *const asked[] = {"tool_use_id", "name", "input", NULL};
    static const char *const results[] = {"tool_use_id", "content", "is_error", NULL};
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json config, list;
    struct json_text body;
    int code = layout_read_object(
        &im->layout.tree, layout_config_name(&arena, im->thread->label), &arena, &config);
    if (code != EXIT_SUCCESS || !json_get(config, STR("pending_frontend_tools"), &list) ||
        json_type(list) != JSON_ARRAY || json_count(list) == 0)
        return code;
    begin(&body);
    copy_list(&body.w, "tools", config, "pending_frontend_tools", asked, "frontend");
    copy_list(&body.w, "backend_results", config, "pending_backend_results", results, NULL);
    return send(im, "POST", arena_printf(&arena, "/v1/runs/%.*s/tools", ID_ARG(run)),
        take(&body, &arena), &answer);
}

/* Runs that have not ended and are not children of one that has. */
static int send_unfinished(struct import *im, struct id_text *out_first, bool *out_any)
{
    struct id_text id;
    *out_any = false;
    for (size_t i = 0; i < im->thread->n_runs; i++) {
        const struct read_run *run = &im->thread->runs[i];
        if (run->sequence > 0 || !str_is_none(run->parent))
            continue;
        TRY_EXIT(
            start_run(im, run, STR_NONE, *out_any ? out_first : NULL, *out_any ? &id : out_first));
        const struct ending end = ending_of(run);
        if (*out_any && !str_is_none(run->status))
            TRY_EXIT(finish_run(im, &id, &end));
        *out_any = true;
    }
    return EXIT_SUCCESS;
}

static int send_config(struct import *im)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json config;
    struct json_text body;
    if (!im->thread->has_config)
        return EXIT_SUCCESS;
    TRY_EXIT(layout_read_object(
        &im->layout.tree, layout_config_name(&arena, im->thread->label), &arena, &config));
    begin(&body);
    copy(&body.w, config, config_members);
    return send(im, "PUT",
        arena_printf(&arena, "/v1/threads/%.*s/resumption", ID_ARG(&im->thread_id)),
        take(&body, &arena), &answer);
}

/* --- A thread ------------------------------------------------------------------------------- */

static int remove_thread(struct import *im, const struct id_text *id)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    return send(
        im, "DELETE", arena_printf(&arena, "/v1/threads/%.*s", ID_ARG(id)), STR_NONE, &answer);
}

/* Returns true if the thread was imported before; removes an incomplete one. */
static int look_for(struct import *im, bool *out_there)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json thread, mark;
    bool found;
    *out_there = false;
    int code = layout_ask(&im->layout,
        arena_printf(&arena, "/v1/threads?limit=1&metadata.imported_from=%.*s",
            STR_ARG(remote_encode(&arena, im->thread->label))),
        &answer, &found);
    if (code != EXIT_SUCCESS || !json_pointer(answer.json, STR("/data/0"), &thread))
        return code;
    if (!layout_read_id(thread, STR("/id"), &im->thread_id))
        return cli_fail(im->layout.cli, "the server's answer has an object without an id");
    *out_there = !json_pointer(thread, STR("/metadata/import"), &mark);
    return *out_there ? EXIT_SUCCESS : remove_thread(im, &im->thread_id);
}

static int look_for_key(struct import *im)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json thread;
    bool found;
    TRY_EXIT(layout_ask(&im->layout,
        arena_printf(&arena, "/v1/threads?limit=1&key=%.*s",
            STR_ARG(remote_encode(&arena, im->thread->label))),
        &answer, &found));
    im->is_key_taken = json_pointer(answer.json, STR("/data/0"), &thread);
    if (im->is_key_taken)
        cli_note(im->layout.cli, "Another thread has the key %.*s: the imported one has none.",
            STR_ARG(im->thread->label));
    return EXIT_SUCCESS;
}

static int make_thread(struct import *im)
{
    TRY_EXIT(look_for_key(im));
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json_text body;
    begin(&body);
    if (!im->is_key_taken)
        json_write_text_member(&body.w, "key", im->thread->label);
    write_origin(&body.w, im->thread->label, true);
    TRY_EXIT(send(im, "POST", STR("/v1/threads"), take(&body, &arena), &answer));
    if (!answer.has_json || !layout_read_id(answer.json, STR("/id"), &im->thread_id))
        return cli_fail(im->layout.cli, "the server's answer is not a thread");
    return EXIT_SUCCESS;
}

static int fill_thread(struct import *im)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct id_text open;
    bool is_open = false;
    for (size_t i = 0; i < im->thread->n_runs; i++)
        if (im->thread->runs[i].sequence > 0)
            TRY_EXIT(send_entry(im, &im->thread->runs[i]));
    TRY_EXIT(send_unfinished(im, &open, &is_open));
    TRY_EXIT(send_config(im));
    if (is_open && im->thread->has_config)
        TRY_EXIT(send_tools(im, &open));
    return send(im, "PATCH", arena_printf(&arena, "/v1/threads/%.*s", ID_ARG(&im->thread_id)),
        STR("{\"metadata\":{\"import\":null}}"), &answer);
}

static int import_thread(struct import *im)
{
    bool there;
    im->is_key_taken = false;
    TRY_EXIT(look_for(im, &there));
    if (!there)
        TRY_EXIT(make_thread(im));
    json_write_object(&im->report.w);
    json_write_text_member(&im->report.w, "from", im->thread->label);
    json_write_text_member(&im->report.w, "to", (struct str){im->thread_id.text, UUID_TEXT_LEN});
    json_write_name(&im->report.w, "was_there");
    json_write_bool(&im->report.w, there);
    json_write_name(&im->report.w, "key_dropped");
    json_write_bool(&im->report.w, im->is_key_taken);
    json_write_name(&im->report.w, "runs");
    json_write_array(&im->report.w);
    int code = there ? EXIT_SUCCESS : fill_thread(im);
    json_write_end(&im->report.w);
    json_write_end(&im->report.w);
    im->threads += code == EXIT_SUCCESS && !there;
    im->skipped += there;
    if (code != EXIT_SUCCESS && code != EXIT_INTERRUPTED)
        cli_note(im->layout.cli, "%.*s was not imported; the threads before it were.",
            STR_ARG(im->thread->label));
    return code;
}

/* --- The command ---------------------------------------------------------------------------- */

static const struct cli_column columns[] = {
    {"THREADS", "/counts/threads", COLUMN_NUMBER},
    {"WERE THERE", "/counts/were_there", COLUMN_NUMBER},
    {"RUNS", "/counts/runs", COLUMN_NUMBER},
    {"STEPS", "/counts/steps", COLUMN_NUMBER},
};

static void report(struct import *im)
{
    struct json_writer *w = &im->report.w;
    json_write_end(w);
    json_write_name(w, "counts");
    json_write_object(w);
    json_write_name(w, "threads");
    json_write_u64(w, im->threads);
    json_write_name(w, "were_there");
    json_write_u64(w, im->skipped);
    json_write_name(w, "runs");
    json_write_u64(w, im->runs);
    json_write_name(w, "steps");
    json_write_u64(w, im->steps);
    json_write_end(w);
    json_write_end(w);
    cli_print_object(
        im->layout.cli, columns, COUNT_OF(columns), cli_document(im->layout.cli, &im->report));
}

static int import_all(struct import *im, struct str directory, bool only_looks)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct cli *cli = im->layout.cli;
    struct read_tree tree = {0};
    TRY_EXIT(tree_open(&im->layout.tree, cli, directory, false));
    TRY_EXIT(tree_check(&im->layout.tree, layout_names));
    TRY_EXIT(layout_read_tree(&im->layout.tree, &arena, &tree));
    if (only_looks)
        return EXIT_SUCCESS;
    TRY_EXIT(remote_open(cli, &im->layout.remote));
    for (size_t i = 0; i < tree.n_threads; i++) {
        im->thread = &tree.threads[i];
        TRY_EXIT(import_thread(im));
        progress_report(cli_progress(cli), "importing threads", i + 1, tree.n_threads);
    }
    return EXIT_SUCCESS;
}

int layout_import(struct cli *cli, struct str directory, bool only_looks)
{
    struct import im = {.layout = {.cli = cli, .tree = {.fd = -1}}};
    begin(&im.report);
    json_write_name(&im.report.w, "threads");
    json_write_array(&im.report.w);
    int code = import_all(&im, directory, only_looks);
    if (code == EXIT_SUCCESS)
        report(&im);
    else
        buf_deinit(&im.report.buf);
    layout_close(&im.layout);
    return code;
}
