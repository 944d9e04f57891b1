/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the runs of the layout, one line per step, and whole threads. */
#include "base/json/json_patch.h"
#include "cli/layout.h"
#include "cli/layout_pages.h"

enum { PAGE_STEPS = 200, NEXT_STEPS = 50 };

static struct str run_name(
    struct arena *arena, const struct id_text *thread, const struct id_text *run)
{
    return arena_printf(arena, LAYOUT_RUNS "/%.*s/%.*s.jsonl", ID_ARG(thread), ID_ARG(run));
}

static bool log_id_of(struct json step, int64_t *out_id)
{
    struct json value;
    return json_get(step, STR("log_id"), &value) && json_to_i64(value, out_id);
}

/* Returns true if the last line is the step of its number; then all lines before it are valid,
 * because steps never change. */
static int check_last(
    struct layout *l, const struct id_text *run, struct tree_lines *lines, bool *out_same)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    struct json_doc doc;
    struct json_error error;
    int64_t here, there;
    bool found;
    *out_same = false;
    if (!json_parse_deep(&arena, buf_str(&lines->last), LAYOUT_DEPTH, &doc, &error) ||
        !log_id_of(json_root(&doc), &here))
        return EXIT_SUCCESS;
    struct str path = arena_printf(
        &arena, "/v1/runs/%.*s/steps/%llu", ID_ARG(run), (unsigned long long)lines->count);
    TRY_EXIT(layout_ask(l, path, &answer, &found));
    *out_same = found && log_id_of(answer.json, &there) && here == there;
    return EXIT_SUCCESS;
}

static int append_step(
    struct layout *l, struct arena *arena, struct json step, struct tree_lines *lines)
{
    lines->count++;
    l->steps++;
    return tree_lines_append(lines, layout_step(arena, step));
}

/* Appends the steps of a page that the file does not have yet. */
static int take_steps(struct layout *l, struct arena *arena, struct json data, void *to)
{
    struct tree_lines *lines = to;
    struct json_iter it = json_iter(data);
    struct json step, number;
    int64_t n;
    while (json_next(&it, NULL, &step)) {
        struct arena_mark mark = arena_mark(arena);
        if (json_get(step, STR("number"), &number) && json_to_i64(number, &n) &&
            n > (int64_t)lines->count)
            TRY_EXIT(append_step(l, arena, step, lines));
        arena_rewind(arena, mark);
    }
    return EXIT_SUCCESS;
}

/* Appends the next steps one by one, which is cheap if there are few of them. `out_more` is set if
 * there can be others. */
static int take_next(
    struct layout *l, const struct id_text *run, struct tree_lines *lines, bool *out_more)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    *out_more = true;
    for (size_t i = 0; *out_more && i < NEXT_STEPS; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct str path = arena_printf(
            &arena, "/v1/runs/%.*s/steps/%llu", ID_ARG(run), (unsigned long long)lines->count + 1);
        TRY_EXIT(layout_ask(l, path, &answer, out_more));
        if (*out_more)
            TRY_EXIT(append_step(l, &arena, answer.json, lines));
        arena_rewind(&arena, mark);
    }
    return EXIT_SUCCESS;
}

static int take_all(
    struct layout *l, const struct id_text *run, struct tree_lines *lines, bool *out_found)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct pages pages = {
        .path = arena_printf(
            &arena, "/v1/runs/%.*s/steps?include=messages&limit=%d", ID_ARG(run), PAGE_STEPS),
        .take = take_steps,
        .to = lines};
    return layout_read_pages(l, &pages, out_found);
}

int layout_sync_run(struct layout *l, const struct id_text *thread, const struct id_text *run)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct tree_lines lines;
    bool same = true, found = true, more = true;
    struct str name = run_name(&arena, thread, run);
    int code = tree_lines_open(&l->tree, name, &lines);
    if (code != EXIT_SUCCESS)
        return code;
    if (!lines.is_new && lines.count > 0)
        code = check_last(l, run, &lines, &same);
    if (code == EXIT_SUCCESS && !same)
        code = tree_lines_begin_anew(&lines);
    if (code == EXIT_SUCCESS && lines.count > 0)
        code = take_next(l, run, &lines, &more);
    if (code == EXIT_SUCCESS && more)
        code = take_all(l, run, &lines, &found);
    bool is_empty = !found || lines.count == 0;
    code = tree_lines_end(&lines, code);
    return code == EXIT_SUCCESS && is_empty ? tree_remove(&l->tree, name) : code;
}

/* Removes files of runs that the thread does not have. */
static int drop_runs(struct layout *l, const struct id_text *thread, const struct found_ids *runs)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct tree_names names;
    struct str directory = arena_printf(&arena, LAYOUT_RUNS "/%.*s", ID_ARG(thread));
    TRY_EXIT(tree_list(&l->tree, directory, &arena, &names));
    size_t kept = 0;
    for (size_t i = 0; i < names.n; i++) {
        struct id_text id;
        struct str name = names.items[i];
        bool is_run = str_ends_with(name, STR(".jsonl")) &&
                      layout_to_id(str_slice(name, 0, name.len - strlen(".jsonl")), &id);
        if (is_run && !found_ids_has(runs, &id))
            TRY_EXIT(tree_remove(
                &l->tree, arena_printf(&arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(name))));
        else
            kept++;
    }
    return kept == 0 ? tree_remove(&l->tree, directory) : EXIT_SUCCESS;
}

int layout_sync_runs(struct layout *l, const struct id_text *thread)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    bool found;
    struct found_ids runs = {.arena = &arena, .number = "/step_count"};
    struct pages pages = {.path = arena_printf(&arena, "/v1/threads/%.*s/runs?limit=%d",
                              ID_ARG(thread), PAGE_OBJECTS),
        .take = layout_take_ids,
        .to = &runs};
    TRY_EXIT(layout_read_pages(l, &pages, &found));
    for (size_t i = 0; i < runs.n; i++)
        if (runs.numbers[i] > 0)
            TRY_EXIT(layout_sync_run(l, thread, &runs.items[i]));
    return drop_runs(l, thread, &runs);
}

/* --- Threads -------------------------------------------------------------------------------- */

int layout_sync_thread(struct layout *l, const struct id_text *thread)
{
    TRY_EXIT(layout_sync_config(l, thread));
    TRY_EXIT(layout_sync_history(l, thread));
    TRY_EXIT(layout_sync_runs(l, thread));
    l->threads++;
    return EXIT_SUCCESS;
}

int layout_sync_all(struct layout *l)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct progress *progress = cli_progress(l->cli);
    bool found;
    struct found_ids threads = {.arena = &arena};
    struct pages pages = {.path = arena_printf(&arena, "/v1/threads?limit=%d", PAGE_OBJECTS),
        .take = layout_take_ids,
        .to = &threads};
    TRY_EXIT(layout_read_pages(l, &pages, &found));
    for (size_t i = 0; i < threads.n; i++) {
        TRY_EXIT(layout_sync_thread(l, &threads.items[i]));
        progress_report(progress, "writing threads", i + 1, threads.n);
    }
    return EXIT_SUCCESS;
}

static int forget_if_lost(struct layout *l, const struct id_text *thread)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    bool found;
    TRY_EXIT(
        layout_ask(l, arena_printf(&arena, "/v1/threads/%.*s", ID_ARG(thread)), &answer, &found));
    return !found ? layout_sync_thread(l, thread) : EXIT_SUCCESS;
}

int layout_forget_lost(struct layout *l)
{
    static const char *const places[] = {LAYOUT_CONFIGS, LAYOUT_HISTORY, LAYOUT_RUNS};
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    for (size_t p = 0; p < COUNT_OF(places); p++) {
        struct tree_names names = {0};
        TRY_EXIT(tree_list(&l->tree, str_of(places[p]), &arena, &names));
        for (size_t i = 0; i < names.n; i++) {
            struct id_text id;
            if (layout_to_id(str_slice(names.items[i], 0, UUID_TEXT_LEN), &id))
                TRY_EXIT(forget_if_lost(l, &id));
        }
    }
    return EXIT_SUCCESS;
}
