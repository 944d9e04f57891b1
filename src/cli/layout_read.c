/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/layout_read.h"

#include "base/clock.h"
#include "cli/layout_pages.h"
#include "cli/text.h"

#define FILE_MAX_BYTES ((size_t)256 * 1024 * 1024)

struct str layout_config_name(struct arena *arena, struct str thread)
{
    return arena_printf(arena, LAYOUT_CONFIGS "/%.*s.json", STR_ARG(thread));
}

struct str layout_entry_name(struct arena *arena, struct str thread, int64_t number)
{
    return arena_printf(
        arena, LAYOUT_HISTORY "/%.*s/%03lld.json", STR_ARG(thread), (long long)number);
}

static int wrong(struct tree *t, struct str where, const char *rule)
{
    struct str shown = text_clean(cli_arena(t->cli), where);
    return cli_fail(t->cli, "%s/%.*s %s", t->path, STR_ARG(shown), rule);
}

/* --- Files ---------------------------------------------------------------------------------- */

static int parse_object(
    struct tree *t, struct arena *arena, struct str text, struct str where, struct json *out)
{
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    struct json_error error;
    if (!json_parse_deep(arena, text, LAYOUT_DEPTH, doc, &error))
        return wrong(t, where,
            arena_cstr(arena,
                arena_printf(arena, "is not JSON: %s (at byte %zu)", error.rule, error.offset)));
    *out = json_root(doc);
    return json_type(*out) == JSON_OBJECT ? EXIT_SUCCESS : wrong(t, where, "is not a JSON object");
}

int layout_read_object(struct tree *t, struct str name, struct arena *arena, struct json *out)
{
    struct buf bytes CLEANUP(buf_deinit) = BUF_INIT(FILE_MAX_BYTES);
    bool found;
    TRY_EXIT(tree_read(t, name, &bytes, &found));
    if (!found)
        return wrong(t, name, "is missing");
    return parse_object(t, arena, arena_str(arena, buf_str(&bytes)), name, out);
}

int layout_read_lines(struct tree *t, struct str thread, struct str run, take_line take, void *to)
{
    struct arena names CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct buf bytes CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    struct str rest, text;
    bool found;
    size_t number = 0;
    struct str name =
        arena_printf(&names, LAYOUT_RUNS "/%.*s/%.*s.jsonl", STR_ARG(thread), STR_ARG(run));
    TRY_EXIT(tree_read(t, name, &bytes, &found));
    rest = buf_str(&bytes);
    while (str_next_part(&rest, '\n', &text)) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct json line;
        number++;
        if (str_trim_blanks(text).len == 0)
            continue;
        struct str where = arena_printf(&arena, "%.*s, line %zu,", STR_ARG(name), number);
        TRY_EXIT(parse_object(t, &arena, text, where, &line));
        TRY_EXIT(take(to, &arena, line, where));
    }
    return EXIT_SUCCESS;
}

/* --- Contents ------------------------------------------------------------------------------- */

struct reader {
    struct tree *tree;
    struct arena *arena;
    struct read_thread *thread;
    struct read_run *run;
    char last_at[64]; /* of the last step */
    size_t last_len;
};

/* Checks a member that must have this text. */
static bool says(struct json object, const char *name, struct str label)
{
    struct json value;
    return json_get(object, str_of(name), &value) && json_type(value) == JSON_STRING &&
           json_string_eq(value, label);
}

static struct str text_of(struct arena *arena, struct json object, const char *name)
{
    struct json value;
    if (!json_get(object, str_of(name), &value) || json_type(value) != JSON_STRING)
        return STR_NONE;
    return arena_str(arena, json_string(arena, value));
}

static struct str without_end(struct str name, struct str end)
{
    return str_ends_with(name, end) ? str_slice(name, 0, name.len - end.len) : STR_NONE;
}

static int read_config(struct reader *r)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json config;
    struct str name = layout_config_name(&arena, r->thread->label);
    TRY_EXIT(layout_read_object(r->tree, name, &arena, &config));
    if (!says(config, "agent_uuid", r->thread->label))
        return wrong(r->tree, name, "has another agent_uuid than its name");
    r->thread->model = text_of(r->arena, config, "model");
    return EXIT_SUCCESS;
}

static struct read_run *find_run(struct read_thread *thread, struct str label)
{
    for (size_t i = 0; i < thread->n_runs; i++)
        if (str_eq(thread->runs[i].label, label))
            return &thread->runs[i];
    return NULL;
}

/* Without a start the end is not known either. */
static int take_times(struct reader *r, struct json entry, struct str name, struct read_run *run)
{
    int64_t start, end;
    struct str started_at = text_of(r->arena, entry, "started_at");
    struct str completed_at = text_of(r->arena, entry, "completed_at");
    if (!str_is_none(started_at) && !clock_parse(started_at, &start))
        return wrong(r->tree, name, "has a started_at that is not an RFC 3339 time");
    if (!str_is_none(completed_at) && !clock_parse(completed_at, &end))
        return wrong(r->tree, name, "has a completed_at that is not an RFC 3339 time");
    if (str_is_none(started_at))
        return EXIT_SUCCESS;
    if (!str_is_none(completed_at) && end < start)
        return wrong(r->tree, name, "has a completed_at before its started_at");
    run->started_at = started_at;
    run->completed_at = completed_at;
    return EXIT_SUCCESS;
}

static int read_entry(struct reader *r, int64_t number)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json entry, value;
    int64_t sequence = number;
    struct str name = layout_entry_name(&arena, r->thread->label, number);
    TRY_EXIT(layout_read_object(r->tree, name, &arena, &entry));
    if (!says(entry, "agent_uuid", r->thread->label))
        return wrong(r->tree, name, "has another agent_uuid than its directory");
    if (json_get(entry, STR("sequence_number"), &value) &&
        (!json_to_i64(value, &sequence) || sequence != number))
        return wrong(r->tree, name, "has another sequence_number than its name");
    struct read_run run = {.sequence = number, .label = text_of(r->arena, entry, "run_id")};
    TRY_EXIT(take_times(r, entry, name, &run));
    if (str_is_none(run.label))
        return wrong(r->tree, name, "has no run_id");
    if (find_run(r->thread, run.label) != NULL)
        return wrong(r->tree, name, "has the run_id of another entry");
    if (str_is_none(text_of(&arena, entry, "user_message")))
        return wrong(r->tree, name, "has no user_message");
    r->thread->runs[r->thread->n_runs++] = run;
    return EXIT_SUCCESS;
}

static bool tells_tokens(struct json line)
{
    struct json data, usage;
    return (json_get(line, STR("usage"), &usage) && json_type(usage) == JSON_OBJECT) ||
           (json_get(line, STR("action_data"), &data) && json_type(data) == JSON_OBJECT &&
               json_get(data, STR("usage"), &usage) && json_type(usage) == JSON_OBJECT);
}

bool layout_is_lifecycle(struct json line)
{
    struct json value;
    return json_get(line, STR("lifecycle"), &value) && json_type(value) == JSON_TRUE;
}

/* Cairn's step about the end of the run has its status. */
static void look_at_lifecycle(struct reader *r, struct json line)
{
    struct json data, value;
    if (!json_get(line, STR("action_data"), &data) || json_type(data) != JSON_OBJECT)
        return;
    struct str status = text_of(r->arena, data, "status");
    if (str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
        str_eq(status, STR("cancelled")))
        r->run->status = status;
    if (json_get(data, STR("error"), &value) && json_type(value) == JSON_OBJECT)
        r->run->error = json_compact(r->arena, value);
}

/* Cairn logs the start and the end of the imported run unless the file contains them. */
static void look_at_type(struct read_run *run, struct str type, bool by_cairn)
{
    bool starts = str_eq(type, STR("run_started"));
    bool ends = str_eq(type, STR("run_completed")) || str_eq(type, STR("run_failed")) ||
                str_eq(type, STR("run_cancelled"));
    run->cairn_logs_start |= by_cairn && starts;
    run->cairn_logs_end |= by_cairn && !starts;
    run->logs_start = !run->cairn_logs_start && (run->logs_start || starts);
    run->logs_end = !run->cairn_logs_end && (run->logs_end || (ends && !by_cairn));
}

static int look_at_line(void *to, struct arena *arena, struct json line, struct str where)
{
    struct reader *r = to;
    if (!says(line, "run_id", r->run->label))
        return wrong(r->tree, where, "has another run_id than its file");
    if (!says(line, "agent_uuid", r->thread->label))
        return wrong(r->tree, where, "has another agent_uuid than its directory");
    struct str type = text_of(arena, line, "action_type");
    if (str_is_none(type))
        return wrong(r->tree, where, "has no action_type");
    look_at_type(r->run, type, layout_is_lifecycle(line));
    if (r->run->steps++ == 0)
        r->run->first_at = text_of(r->arena, line, "timestamp");
    struct str at = text_of(arena, line, "timestamp");
    r->last_len = at.len <= sizeof r->last_at ? at.len : 0;
    if (r->last_len > 0)
        memcpy(r->last_at, at.ptr, r->last_len);
    r->run->has_usage = r->run->has_usage || tells_tokens(line);
    if (layout_is_lifecycle(line))
        look_at_lifecycle(r, line);
    return EXIT_SUCCESS;
}

/* Times in one form can be compared as texts. */
static void find_parent(struct read_thread *thread, struct read_run *run)
{
    for (size_t i = 0; i < thread->n_runs && run->sequence == 0; i++) {
        const struct read_run *other = &thread->runs[i];
        if (other->sequence > 0 && !str_is_none(run->first_at) && !str_is_none(other->started_at) &&
            !str_is_none(other->completed_at) && str_cmp(other->started_at, run->first_at) <= 0 &&
            str_cmp(run->first_at, other->completed_at) <= 0)
            run->parent = other->label;
    }
}

/* A child or another finished run without an entry lasts from its first step to its last. */
static void take_times_of_steps(struct reader *r)
{
    int64_t start, end;
    struct str last_at = {r->last_at, r->last_len};
    bool is_finished =
        !str_is_none(r->run->parent) || (r->run->sequence == 0 && !str_is_none(r->run->status));
    if (!is_finished || !clock_parse(r->run->first_at, &start) || !clock_parse(last_at, &end) ||
        end < start)
        return;
    r->run->started_at = r->run->first_at;
    r->run->completed_at = arena_str(r->arena, last_at);
}

static int read_run_file(struct reader *r, struct str label)
{
    r->last_len = 0;
    r->run = find_run(r->thread, label);
    if (r->run == NULL) {
        r->run = &r->thread->runs[r->thread->n_runs++];
        *r->run = (struct read_run){.label = label};
    }
    TRY_EXIT(layout_read_lines(r->tree, r->thread->label, label, look_at_line, r));
    find_parent(r->thread, r->run);
    take_times_of_steps(r);
    return EXIT_SUCCESS;
}

/* Entries are numbered from 1 without a gap. */
static int count_entries(struct reader *r, const struct tree_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        struct str stem = without_end(names->items[i], STR(".json"));
        if (str_eq(names->items[i], STR(LAYOUT_INDEX)))
            continue;
        struct str name = arena_printf(r->arena, LAYOUT_HISTORY "/%.*s/%.*s",
            STR_ARG(r->thread->label), STR_ARG(names->items[i]));
        for (size_t k = 0; k < stem.len; k++)
            if (stem.ptr[k] < '0' || stem.ptr[k] > '9')
                stem = STR_NONE;
        if (str_is_none(stem) || stem.len == 0)
            return wrong(r->tree, name, "is not named by a number: 001.json, 002.json …");
        r->thread->entries++;
    }
    return EXIT_SUCCESS;
}

static int read_thread(struct reader *r)
{
    struct arena *arena = r->arena;
    struct read_thread *thread = r->thread;
    struct tree_names entries, runs;
    if (thread->has_config)
        TRY_EXIT(read_config(r));
    TRY_EXIT(tree_list(r->tree, arena_printf(arena, LAYOUT_HISTORY "/%.*s", STR_ARG(thread->label)),
        arena, &entries));
    TRY_EXIT(tree_list(
        r->tree, arena_printf(arena, LAYOUT_RUNS "/%.*s", STR_ARG(thread->label)), arena, &runs));
    TRY_EXIT(count_entries(r, &entries));
    thread->runs = ARENA_ARRAY(arena, struct read_run, entries.n + runs.n + 1);
    for (int64_t i = 1; i <= thread->entries; i++)
        TRY_EXIT(read_entry(r, i));
    for (size_t i = 0; i < runs.n; i++) {
        struct str label = without_end(runs.items[i], STR(".jsonl"));
        if (str_is_none(label))
            return wrong(r->tree,
                arena_printf(arena, LAYOUT_RUNS "/%.*s/%.*s", STR_ARG(thread->label),
                    STR_ARG(runs.items[i])),
                "is not a file of a run: RUN.jsonl");
        TRY_EXIT(read_run_file(r, label));
    }
    return EXIT_SUCCESS;
}

/* --- The tree ------------------------------------------------------------------------------- */

static void add_thread(struct read_tree *tree, struct str label, bool has_config)
{
    tree->threads[tree->n_threads++] =
        (struct read_thread){.label = label, .has_config = has_config};
}

static int by_label(const void *a, const void *b)
{
    return str_cmp(((const struct read_thread *)a)->label, ((const struct read_thread *)b)->label);
}

static void merge_same(struct read_tree *tree)
{
    size_t n = 0;
    qsort(tree->threads, tree->n_threads, sizeof(*tree->threads), by_label);
    for (size_t i = 0; i < tree->n_threads; i++) {
        struct read_thread *last = n == 0 ? NULL : &tree->threads[n - 1];
        if (last != NULL && str_eq(last->label, tree->threads[i].label))
            last->has_config = last->has_config || tree->threads[i].has_config;
        else
            tree->threads[n++] = tree->threads[i];
    }
    tree->n_threads = n;
}

int layout_read_tree(struct tree *t, struct arena *arena, struct read_tree *out_tree)
{
    struct tree_names configs, history, runs;
    TRY_EXIT(tree_list(t, STR(LAYOUT_CONFIGS), arena, &configs));
    TRY_EXIT(tree_list(t, STR(LAYOUT_HISTORY), arena, &history));
    TRY_EXIT(tree_list(t, STR(LAYOUT_RUNS), arena, &runs));
    *out_tree = (struct read_tree){
        .threads = ARENA_ARRAY(arena, struct read_thread, configs.n + history.n + runs.n + 1)};
    for (size_t i = 0; i < configs.n; i++) {
        struct str label = without_end(configs.items[i], STR(".json"));
        if (str_is_none(label))
            return wrong(t, arena_printf(arena, LAYOUT_CONFIGS "/%.*s", STR_ARG(configs.items[i])),
                "is not a file of an agent: AGENT.json");
        add_thread(out_tree, label, true);
    }
    for (size_t i = 0; i < history.n; i++)
        add_thread(out_tree, history.items[i], false);
    for (size_t i = 0; i < runs.n; i++)
        add_thread(out_tree, runs.items[i], false);
    merge_same(out_tree);
    for (size_t i = 0; i < out_tree->n_threads; i++) {
        struct reader reader = {.tree = t, .arena = arena, .thread = &out_tree->threads[i]};
        if (reader.thread->label.len > LABEL_MAX_BYTES)
            return wrong(t, reader.thread->label, "has a name that is too long");
        TRY_EXIT(read_thread(&reader));
    }
    return EXIT_SUCCESS;
}
