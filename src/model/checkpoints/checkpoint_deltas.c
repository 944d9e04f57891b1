/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of channels that an engine keeps as writes instead of values: along the parents of a
 * checkpoint, the writes of tasks since an ancestor had a value. Each channel ends at its own such
 * ancestor while the others continue; every ancestor is examined once for all channels.
 */
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"
#include "model/checkpoints/checkpoints.sql.h"

/* The writes of one ancestor to a channel: elements of an array, separated by commas. */
struct step {
    struct str writes;
    const struct step *newer;
};

struct channel {
    struct str name;
    struct str seed; /* STR_NONE: not found yet */
    const struct step *oldest;
};

struct walk {
    struct context *c;
    struct arena *scratch; /* of one ancestor */
    struct channel *channels;
    size_t n;
    size_t open;  /* channels without a seed */
    size_t bytes; /* of writes and seeds */
};

static enum error check_names(struct context *c, const struct str *channels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(channels[i], channels[k]))
                return problem_fault(
                    c->problem, arena_printf(c->arena, "/channels/%zu", i), "must not be repeated");
    return OK;
}

/* --- One ancestor --------------------------------------------------------------------------- */

/* Returns the index of the open channel with this name, or w->n. */
static size_t find_open(const struct walk *w, struct str name)
{
    size_t i = 0;
    while (i < w->n && !(str_is_none(w->channels[i].seed) && str_eq(w->channels[i].name, name)))
        i++;
    return i;
}

static void write_one(struct json_text *text, const struct checkpoint *k, struct str task_id,
    int64_t index, struct str channel, struct str value)
{
    json_write_object(&text->w);
    json_write_name(&text->w, "checkpoint_id");
    json_write_uuid(&text->w, k->id);
    json_write_text_member(&text->w, "task_id", task_id);
    json_write_name(&text->w, "index");
    json_write_i64(&text->w, index);
    json_write_text_member(&text->w, "channel", channel);
    json_write_name(&text->w, "value");
    json_write_raw(&text->w, value);
    json_write_end(&text->w);
}

/* Sorts the writes of an ancestor into one array for each channel. */
static enum error read_writes(struct walk *w, const struct checkpoint *k, struct json_text *texts)
{
    struct query q;
    query_begin(&q, w->c->tx, &SQL_CHECKPOINT_WRITE_LIST, w->scratch);
    query_uuid(&q, tenant_id, w->c->tenant_id);
    query_uuid(&q, thread_id, k->thread_id);
    query_text(&q, namespace, k->ns);
    query_uuid(&q, id, k->id);
    while (query_next(&q)) {
        struct str task_id = row_text(&q);
        int64_t index = row_i64(&q);
        (void)row_text(&q); /* the path of the task */
        struct str channel = row_text(&q);
        size_t at = find_open(w, channel);
        if (at < w->n)
            write_one(&texts[at], k, task_id, index, channel, row_text(&q));
    }
    return query_end(&q);
}

static void keep_step(struct walk *w, struct channel *channel, struct json_text *text)
{
    struct str array = json_text_take(text, w->c->arena);
    if (array.len <= 2)
        return;
    struct step *step = ARENA_NEW(w->c->arena, struct step);
    *step = (struct step){str_slice(array, 1, array.len - 1), channel->oldest};
    channel->oldest = step;
    w->bytes += array.len;
}

static enum error collect_writes(struct walk *w, const struct checkpoint *k)
{
    struct json_text *texts = ARENA_ARRAY(w->scratch, struct json_text, w->n);
    for (size_t i = 0; i < w->n; i++) {
        json_text_init(&texts[i], SIZE_MAX);
        json_write_array(&texts[i].w);
    }
    enum error e = read_writes(w, k, texts);
    for (size_t i = 0; i < w->n; i++) {
        json_write_end(&texts[i].w);
        keep_step(w, &w->channels[i], &texts[i]);
    }
    return e;
}

/* Takes the values of the ancestor for channels without a seed. Its own writes are later. */
static enum error collect_seeds(struct walk *w, const struct checkpoint *k)
{
    struct str *names = ARENA_ARRAY(w->scratch, struct str, w->n);
    struct str *values = ARENA_ARRAY(w->scratch, struct str, w->n);
    size_t *places = ARENA_ARRAY(w->scratch, size_t, w->n);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (str_is_none(w->channels[i].seed)) {
            names[n] = w->channels[i].name;
            places[n++] = i;
        }
    TRY(snapshot_get_members(w->c, k->snapshot_id, names, n, values));
    for (size_t i = 0; i < n; i++)
        if (!str_is_none(values[i])) {
            w->channels[places[i]].seed = values[i];
            w->bytes += values[i].len;
            w->open--;
        }
    return OK;
}

/* --- The line ------------------------------------------------------------------------------- */

/* Keeps only the positions of an ancestor, not its documents. */
static enum error step_back(struct walk *w, struct checkpoint *k, bool *out_found)
{
    struct checkpoint parent;
    struct str ns = k->ns;
    *out_found = false;
    if (!k->has_parent_id)
        return OK;
    struct arena_mark mark = arena_mark(w->c->arena);
    TRY(checkpoint_find(w->c, k->thread_id, ns, k->parent_id, false, out_found, &parent));
    arena_rewind(w->c->arena, mark);
    if (*out_found)
        *k = (struct checkpoint){.id = parent.id,
            .thread_id = parent.thread_id,
            .ns = ns,
            .has_parent_id = parent.has_parent_id,
            .parent_id = parent.parent_id,
            .snapshot_id = parent.snapshot_id};
    return OK;
}

static enum error walk_line(struct walk *w, struct checkpoint k, struct checkpoint_deltas *out)
{
    bool found = w->open > 0;
    enum error e = found ? step_back(w, &k, &found) : OK;
    while (e == OK && found) {
        struct arena_mark mark = arena_mark(w->scratch);
        e = collect_writes(w, &k);
        if (e == OK)
            e = collect_seeds(w, &k);
        arena_rewind(w->scratch, mark);
        out->looked_at++;
        bool is_over = w->open == 0 || !k.has_parent_id;
        out->has_next = !is_over && (out->looked_at == CHECKPOINT_DELTA_MAX ||
                                        w->bytes >= CHECKPOINT_DELTA_MAX_BYTES);
        out->next = k.id;
        if (e == OK && (is_over || out->has_next))
            return OK;
        if (e == OK)
            e = step_back(w, &k, &found);
    }
    return e;
}

static struct str write_channels(const struct walk *w)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    for (size_t i = 0; i < w->n; i++) {
        json_write_key(&text.w, w->channels[i].name);
        json_write_object(&text.w);
        json_write_name(&text.w, "writes");
        json_write_array(&text.w);
        for (const struct step *s = w->channels[i].oldest; s != NULL; s = s->newer)
            json_write_raw(&text.w, s->writes);
        json_write_end(&text.w);
        if (!str_is_none(w->channels[i].seed)) {
            json_write_name(&text.w, "seed");
            json_write_raw(&text.w, w->channels[i].seed);
        }
        json_write_end(&text.w);
    }
    json_write_end(&text.w);
    return json_text_take(&text, w->c->arena);
}

enum error checkpoint_deltas(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, const struct str *channels, size_t n, struct checkpoint_deltas *out_deltas)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct checkpoint_deltas deltas = {0};
    arena_init(&scratch, 4 * CHECKPOINT_WRITES_MAX_BYTES);
    TRY(check_names(c, channels, n));
    TRY(checkpoint_get(c, thread_id, ns, id, CHECKPOINT_HEAD, &deltas.checkpoint));
    struct walk w = {.c = c,
        .scratch = &scratch,
        .channels = ARENA_ARRAY(c->arena, struct channel, n + 1),
        .n = n,
        .open = n};
    for (size_t i = 0; i < n; i++)
        w.channels[i] = (struct channel){.name = channels[i], .seed = STR_NONE};
    TRY(walk_line(&w, deltas.checkpoint, &deltas));
    deltas.channels = write_channels(&w);
    *out_deltas = deltas;
    return OK;
}
