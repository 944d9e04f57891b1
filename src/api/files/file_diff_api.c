/* SPDX-License-Identifier: Apache-2.0 */
/* Two versions of a text, line by line. */
#include "api/files/files_api.h"
#include "api/handlers.h"
#include "base/diff.h"
#include "model/files/blobs.h"

enum {
    DIFF_MAX_BYTES = 4 * 1024 * 1024, /* of one version */
    DIFF_CONTEXT_MAX = 10,
    DIFF_MEMORY_BYTES = 64 * 1024 * 1024, /* enough for the largest texts */
};

#define DIFF_FORMATS(X) X(DIFF_JSON, "json") X(DIFF_TEXT, "text")
ENUM_DECLARE(diff_format, DIFF_FORMAT_NONE, diff_formats, DIFF_FORMATS);
ENUM_DEFINE(diff_formats, DIFF_FORMATS);

struct diff_query {
    bool has_from;
    int64_t from;
    bool has_to;
    int64_t to;
    enum diff_format format;
    bool has_context;
    int64_t context;
};
#define OF struct diff_query
static const struct field query_fields[] = {
    FIELD(INT_OR_NONE, from, IN_QUERY, "old version; default: the version before `to`", .min = 1),
    FIELD(INT_OR_NONE, to, IN_QUERY, "new version; default: the newest version", .min = 1),
    FIELD(ENUM_OR_NONE, format, IN_QUERY,
        "text: a unified diff; Accept: text/x-diff has the same effect", .choices = diff_formats),
    FIELD(INT_OR_NONE, context, IN_QUERY, "unchanged lines around each change; default: 3",
        .max = DIFF_CONTEXT_MAX),
};
#undef OF
const struct schema query_file_diff =
    SCHEMA("FileDiffQuery", struct diff_query, query_fields, IN_QUERY);

struct hunk {
    int64_t from_start, from_lines, to_start, to_lines;
    struct str_list lines;
};
#define OF struct hunk
static const struct field hunk_fields[] = {
    FIELD(INT, from_start, IN_READ),
    FIELD(INT, from_lines, IN_READ),
    FIELD(INT, to_start, IN_READ),
    FIELD(INT, to_lines, IN_READ),
    FIELD(STRINGS, lines, IN_READ,
        "each with the prefix blank, - or +; \\ marks a text that ends without a newline"),
};
#undef OF
static const struct schema schema_hunk = SCHEMA("FileDiffHunk", struct hunk, hunk_fields, IN_READ);

struct diff_answer {
    struct str name;
    int64_t from, to, added, removed;
    struct nested_list hunks;
};
#define OF struct diff_answer
static const struct field diff_fields[] = {
    FIELD(STRING, name, IN_READ),
    FIELD(INT, from, IN_READ),
    FIELD(INT, to, IN_READ),
    FIELD(INT, added, IN_READ, "lines"),
    FIELD(INT, removed, IN_READ, "lines"),
    FIELD(LIST, hunks, IN_READ, .nested = &schema_hunk),
};
#undef OF
const struct schema schema_file_diff = SCHEMA("FileDiff", struct diff_answer, diff_fields, IN_READ);

/* --- The texts ----------------------------------------------------------------------------- */

static enum error read_text(
    struct call *call, struct context *c, const struct file_version *v, struct str *out_text)
{
    struct blob blob = {.id = v->blob_id, .sha256 = v->hash, .size_bytes = v->size_bytes};
    if (v->size_bytes > DIFF_MAX_BYTES)
        return problem_set(c->problem, ERR_CONFLICT,
            "version %lld has %lld bytes; only texts of at most %d bytes can be compared",
            (long long)v->version, (long long)v->size_bytes, DIFF_MAX_BYTES);
    TRY(blob_read(c, call->api->store, &blob, out_text));
    if (!str_is_utf8(*out_text) || str_has_byte(*out_text, '\0'))
        return problem_set(c->problem, ERR_CONFLICT,
            "version %lld is not a text: only UTF-8 without U+0000 can be compared",
            (long long)v->version);
    return OK;
}

/* Finds the versions to compare. */
static enum error find_versions(struct call *call, struct context *c, struct file_version *out_from,
    struct file_version *out_to)
{
    const struct diff_query *q = call->request.query;
    struct page page = {.limit = 1};
    TRY(file_get_version(
        c, call->request.params[0], call->request.texts[1], q->has_to ? q->to : 0, out_to));
    if (q->has_from)
        return file_get_version(
            c, call->request.params[0], call->request.texts[1], q->from, out_from);
    TRY(file_list_versions(
        c, call->request.params[0], call->request.texts[1], out_to->version, &page, out_from));
    if (page.count == 0)
        return problem_set(c->problem, ERR_CONFLICT,
            "version %lld is the oldest version: name the version to compare in `from`",
            (long long)out_to->version);
    return OK;
}

/* --- The answer ---------------------------------------------------------------------------- */

static bool wants_text(const struct call *call)
{
    const struct diff_query *q = call->request.query;
    if (q->format != DIFF_FORMAT_NONE)
        return q->format == DIFF_TEXT;
    return http_header_lists(call->request.http, STR("Accept"), STR("text/x-diff"));
}

static void answer_text(struct call *call, const struct diff *diff, int64_t from, int64_t to)
{
    struct str name = call->request.texts[1];
    call->answer.content_type = STR("text/x-diff; charset=utf-8");
    if (diff->n_added + diff->n_removed == 0)
        return;
    buf_printf(&call->answer.body, "--- %.*s\tversion %lld\n+++ %.*s\tversion %lld\n",
        STR_ARG(name), (long long)from, STR_ARG(name), (long long)to);
    diff_print(diff, &call->answer.body);
}

static void fill_hunk(
    struct call *call, const struct diff *diff, struct diff_hunk *h, struct hunk *out)
{
    size_t most = 2 * (h->old_to - h->old_from + h->new_to - h->new_from);
    struct diff_line line;
    *out = (struct hunk){.from_start = (int64_t)diff_start(h->old_from, h->old_to),
        .from_lines = (int64_t)(h->old_to - h->old_from),
        .to_start = (int64_t)diff_start(h->new_from, h->new_to),
        .to_lines = (int64_t)(h->new_to - h->new_from),
        .lines.items = ARENA_ARRAY(call->arena, struct str, most)};
    while (diff_next_line(diff, h, &line)) {
        out->lines.items[out->lines.count++] =
            arena_printf(call->arena, "%c%.*s", line.sign, STR_ARG(line.text));
        if (!line.has_newline)
            out->lines.items[out->lines.count++] = STR("\\ No newline at end of file");
    }
}

static enum error answer_json(struct call *call, const struct diff *diff, int64_t from, int64_t to)
{
    struct diff_hunk h = {0};
    struct diff_answer answer = {.name = call->request.texts[1],
        .from = from,
        .to = to,
        .added = (int64_t)diff->n_added,
        .removed = (int64_t)diff->n_removed};
    while (diff_next_hunk(diff, &h))
        answer.hunks.count++;
    struct hunk *hunks = ARENA_ARRAY(call->arena, struct hunk, answer.hunks.count);
    answer.hunks.items = hunks;
    h = (struct diff_hunk){0};
    for (size_t i = 0; diff_next_hunk(diff, &h); i++)
        fill_hunk(call, diff, &h, &hunks[i]);
    return call_answer(call, &schema_file_diff, &answer, 0);
}

enum error handle_file_diff(struct call *call, struct context *c)
{
    struct file_version from, to;
    struct str before, after;
    struct diff diff;
    const struct diff_query *q = call->request.query;
    if (call->arena->budget_bytes < DIFF_MEMORY_BYTES)
        call->arena->budget_bytes = DIFF_MEMORY_BYTES;
    TRY(find_versions(call, c, &from, &to));
    TRY(read_text(call, c, &from, &before));
    TRY(read_text(call, c, &to, &after));
    if (!diff_compute(call->arena, before, after, &diff))
        return problem_set(c->problem, ERR_CONFLICT,
            "only texts of at most %d lines can be compared", DIFF_MAX_LINES);
    if (q->has_context)
        diff.context = (size_t)q->context;
    if (wants_text(call))
        answer_text(call, &diff, from.version, to.version);
    else
        answer_json(call, &diff, from.version, to.version);
    if (arena_is_over(call->arena))
        return problem_set(c->problem, ERR_ANSWER_LARGE,
            "the difference is too large for JSON: request format=text, which has no such limit");
    return OK;
}
