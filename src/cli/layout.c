/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/layout.h"

#include "base/json/json_patch.h"
#include "cli/layout_pages.h"

const char *const layout_names[] = {
    LAYOUT_CONFIGS, LAYOUT_HISTORY, LAYOUT_RUNS, LAYOUT_MIRROR, NULL};

/* --- Life ----------------------------------------------------------------------------------- */

int layout_open(struct layout *l, struct cli *cli, struct str directory)
{
    *l = (struct layout){.cli = cli, .tree = {.fd = -1}};
    TRY_EXIT(tree_open(&l->tree, cli, directory, true));
    TRY_EXIT(tree_check(&l->tree, layout_names));
    return remote_open(cli, &l->remote);
}

void layout_close(struct layout *l)
{
    remote_close(l->remote);
    tree_close(&l->tree);
}

bool layout_to_id(struct str text, struct id_text *out_id)
{
    struct uuid id;
    if (str_is_none(text) || !uuid_parse(text, &id))
        return false;
    uuid_format(id, out_id->text);
    return true;
}

bool layout_read_id(struct json value, struct str pointer, struct id_text *out_id)
{
    struct json found;
    if (!json_pointer(value, pointer, &found) || json_type(found) != JSON_STRING)
        return false;
    struct str raw = json_raw(found);
    return layout_to_id(str_slice(raw, 1, raw.len - 1), out_id);
}

/* --- Requests ------------------------------------------------------------------------------- */

static bool is_for_later(enum client_result result, const struct remote_answer *answer)
{
    int status = answer->head.status;
    if (result == CLIENT_OK)
        return status == 429 || status == 502 || status == 503 || status == 504;
    return result == CLIENT_LOST || result == CLIENT_UNREACHABLE || result == CLIENT_TIMED_OUT;
}

int layout_judge_by(struct layout *l, struct remote *r, enum client_result result,
    const struct remote_answer *answer, bool *out_found)
{
    *out_found = result == CLIENT_OK && answer->head.status < 400 && answer->has_json;
    if (result == CLIENT_OK && answer->head.status == 404)
        return EXIT_SUCCESS;
    if (l->waits && is_for_later(result, answer))
        return LAYOUT_LATER;
    if (l->waits && result == CLIENT_INTERRUPTED)
        return EXIT_INTERRUPTED;
    TRY_EXIT(remote_judge(r, result, answer));
    if (!*out_found)
        return cli_fail(l->cli, "the server's answer is not a document");
    return EXIT_SUCCESS;
}

int layout_judge(struct layout *l, enum client_result result, const struct remote_answer *answer,
    bool *out_found)
{
    return layout_judge_by(l, l->remote, result, answer, out_found);
}

int layout_ask(struct layout *l, struct str path, struct remote_answer *out_answer, bool *out_found)
{
    const struct remote_request request = {.method = "GET", .path = path, .body = STR_NONE};
    enum client_result result = remote_send(l->remote, &request, out_answer);
    return layout_judge(l, result, out_answer, out_found);
}

int layout_read_pages(struct layout *l, const struct pages *p, bool *out_found)
{
    struct buf cursor CLEANUP(buf_deinit) = BUF_INIT(4096);
    bool more = true;
    *out_found = true;
    while (more) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct remote_answer answer;
        struct json data, value;
        struct str path = p->path;
        if (cursor.len > 0)
            path = arena_printf(&arena, "%.*s&cursor=%.*s", STR_ARG(path),
                STR_ARG(remote_encode(&arena, buf_str(&cursor))));
        TRY_EXIT(layout_ask(l, path, &answer, out_found));
        if (!*out_found)
            break;
        if (!json_get(answer.json, STR("data"), &data))
            return cli_fail(l->cli, "the server's answer is not a list");
        more = json_get(answer.json, STR("has_more"), &value) && json_type(value) == JSON_TRUE;
        buf_reset(&cursor);
        buf_append(&cursor, remote_string(&arena, answer.json, STR("/next_cursor")));
        more = more && cursor.len > 0;
        TRY_EXIT(p->take(l, &arena, data, p->to));
    }
    return EXIT_SUCCESS;
}

bool found_ids_has(const struct found_ids *f, const struct id_text *id)
{
    for (size_t i = 0; i < f->n; i++)
        if (memcmp(f->items[i].text, id->text, UUID_TEXT_LEN) == 0)
            return true;
    return false;
}

static void grow(struct found_ids *f)
{
    size_t room = f->room == 0 ? PAGE_OBJECTS : f->room * 2;
    struct id_text *items = ARENA_ARRAY(f->arena, struct id_text, room);
    int64_t *numbers = ARENA_ARRAY(f->arena, int64_t, room);
    if (f->n > 0) {
        memcpy(items, f->items, f->n * sizeof(*items));
        memcpy(numbers, f->numbers, f->n * sizeof(*numbers));
    }
    f->items = items;
    f->numbers = numbers;
    f->room = room;
}

int layout_take_ids(struct layout *l, struct arena *arena, struct json data, void *to)
{
    struct found_ids *f = to;
    struct json_iter it = json_iter(data);
    struct json item, number;
    while (json_next(&it, NULL, &item)) {
        if (f->n == f->room)
            grow(f);
        if (!layout_read_id(item, STR("/id"), &f->items[f->n]))
            return cli_fail(l->cli, "the server's answer has an object without an id");
        if (f->number != NULL && (!json_pointer(item, str_of(f->number), &number) ||
                                     !json_to_i64(number, &f->numbers[f->n])))
            return cli_fail(l->cli, "the server has no steps: its version is too old");
        f->n++;
    }
    return EXIT_SUCCESS;
}

/* --- Resumptions ---------------------------------------------------------------------------- */

int layout_sync_config(struct layout *l, const struct id_text *thread)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    bool found;
    struct str name = arena_printf(&arena, LAYOUT_CONFIGS "/%.*s.json", ID_ARG(thread));
    TRY_EXIT(layout_ask(
        l, arena_printf(&arena, "/v1/threads/%.*s/resumption", ID_ARG(thread)), &answer, &found));
    return found ? tree_write(&l->tree, name, layout_config(&arena, answer.json))
                 : tree_remove(&l->tree, name);
}

/* --- History -------------------------------------------------------------------------------- */

struct history {
    const struct id_text *thread;
    int64_t last;
};

static struct str entry_name(struct arena *arena, const struct id_text *thread, int64_t number)
{
    return arena_printf(
        arena, LAYOUT_HISTORY "/%.*s/%03lld.json", ID_ARG(thread), (long long)number);
}

static int write_entry(struct layout *l, struct arena *arena, struct json entry, struct history *h)
{
    struct json value;
    int64_t number;
    if (!json_get(entry, STR("sequence_number"), &value) || !json_to_i64(value, &number) ||
        number < 1)
        return cli_fail(l->cli, "an entry of the history has no number");
    h->last = number > h->last ? number : h->last;
    l->entries++;
    return tree_write(&l->tree, entry_name(arena, h->thread, number), layout_entry(arena, entry));
}

static int take_entries(struct layout *l, struct arena *arena, struct json data, void *to)
{
    struct json_iter it = json_iter(data);
    struct json entry;
    while (json_next(&it, NULL, &entry)) {
        struct arena_mark mark = arena_mark(arena);
        TRY_EXIT(write_entry(l, arena, entry, to));
        arena_rewind(arena, mark);
    }
    return EXIT_SUCCESS;
}

static int write_index(
    struct layout *l, struct arena *arena, const struct id_text *thread, int64_t last)
{
    struct str name = arena_printf(arena, LAYOUT_HISTORY "/%.*s/" LAYOUT_INDEX, ID_ARG(thread));
    return tree_write(&l->tree, name, layout_index(arena, last));
}

/* Removes files of entries after the last one; if there are none, also the index and the directory.
 */
static int drop_entries(struct layout *l, const struct id_text *thread, int64_t last)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct tree_names names;
    struct str directory = arena_printf(&arena, LAYOUT_HISTORY "/%.*s", ID_ARG(thread));
    TRY_EXIT(tree_list(&l->tree, directory, &arena, &names));
    for (size_t i = 0; i < names.n; i++) {
        struct str name = names.items[i];
        char digits[32] = "";
        long long number = 0;
        bool is_entry = str_ends_with(name, STR(".json")) && name.len < sizeof(digits);
        if (is_entry) {
            snprintf(digits, sizeof(digits), "%.*s", (int)name.len - 5, name.ptr);
            number = strtoll(digits, NULL, 10);
        }
        bool stale = (is_entry && number > last) || (last == 0 && str_eq(name, STR(LAYOUT_INDEX)));
        if (stale)
            TRY_EXIT(tree_remove(
                &l->tree, arena_printf(&arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(name))));
    }
    return last == 0 ? tree_remove(&l->tree, directory) : EXIT_SUCCESS;
}

int layout_sync_history(struct layout *l, const struct id_text *thread)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct history history = {.thread = thread};
    bool found;
    struct pages pages = {
        .path = arena_printf(&arena, "/v1/threads/%.*s/history?include=messages&limit=%d",
            ID_ARG(thread), PAGE_DOCUMENTS),
        .take = take_entries,
        .to = &history};
    TRY_EXIT(layout_read_pages(l, &pages, &found));
    if (history.last > 0)
        TRY_EXIT(write_index(l, &arena, thread, history.last));
    return drop_entries(l, thread, history.last);
}

int layout_sync_entry(struct layout *l, const struct id_text *thread, int64_t number)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct history history = {.thread = thread};
    struct remote_answer answer;
    struct json newest;
    bool found;
    TRY_EXIT(layout_ask(l,
        arena_printf(&arena, "/v1/threads/%.*s/history/%lld", ID_ARG(thread), (long long)number),
        &answer, &found));
    if (!found)
        return EXIT_SUCCESS;
    TRY_EXIT(write_entry(l, &arena, answer.json, &history));
    TRY_EXIT(layout_ask(l, arena_printf(&arena, "/v1/threads/%.*s/history?limit=1", ID_ARG(thread)),
        &answer, &found));
    if (!found)
        return EXIT_SUCCESS;
    if (!json_pointer(answer.json, STR("/data/0/sequence_number"), &newest) ||
        !json_to_i64(newest, &history.last))
        return cli_fail(l->cli, "an entry of the history has no number");
    return write_index(l, &arena, thread, history.last);
}
