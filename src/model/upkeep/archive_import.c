/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/json/json_write.h"
#include "model/agents/agents.h"
#include "model/checkpoints/items.h"
#include "model/checkpoints/snapshots.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/deletions.h"
#include "model/threads/events.h"
#include "model/threads/threads.h"
#include "model/upkeep/archive.members.h"
#include "model/upkeep/archive.sql.h"
#include "model/upkeep/archive_file.h"
#include "model/upkeep/imports.h"

/* How far kept ids may be ahead of the server's clock. New ids are greater than kept ones. */
#define AHEAD_MAX_MS ((uint64_t)24 * 3600 * 1000)

enum {
    /* PostgreSQL executes the statements of a slice only after they were sent, so their time is not
     * known before its end. */
    SLICE_ROWS = 500,
    CHECK_US = 50 * 1000, /* of a READ job, which blocks no other */
};

/* The work of one job. */
struct import {
    struct context *c;
    struct archive *archive;
    enum archive_ids ids;
    bool dry;         /* only searches for conflicts */
    bool ends_thread; /* the event is the last of its thread */
    bool has_events;  /* events were added */
    int64_t until_us;
    int64_t n_rows;
};

/* --- Ids ------------------------------------------------------------------------------------ */

/* Lists are in the order of ids: an object with an id in the future would remain the newest. */
static enum error check_kept(struct import *im, enum archive_sort sort)
{
    const struct archive_ids_of *ids = &im->archive->ids[sort];
    uint64_t last_ms = (uint64_t)(im->c->now_us / 1000) + AHEAD_MAX_MS;
    char text[UUID_TEXT_LEN];
    if (ids->count == 0)
        return OK;
    struct uuid greatest = ids_at(ids, ids->count - 1)->from;
    if (uuid_v7_ms(greatest) <= last_ms) {
        uuid_v7_resume(greatest);
        return OK;
    }
    uuid_format(greatest, text);
    return problem_set(im->c->problem, ERR_INVALID,
        "the id %.*s of a %s is in the future: import with ids=remap", UUID_TEXT_LEN, text,
        archive_sort_names[sort]);
}

/* Ids are chosen once: later slices refer to the rows of earlier ones. */
static enum error choose_ids(struct import *im)
{
    struct archive *a = im->archive;
    bool keeps = im->ids == ARCHIVE_IDS_KEEP;
    for (size_t sort = SORT_NONE + 1; !a->has_new_ids && sort < SORT_COUNT; sort++) {
        struct archive_ids_of *ids = &a->ids[sort];
        if (keeps)
            TRY(check_kept(im, (enum archive_sort)sort));
        for (size_t i = 0; !keeps && i < ids->count; i++)
            ids->entries[i].to = uuid_v7();
    }
    a->has_new_ids = true;
    return OK;
}

static struct str map_principal(const struct archive *a, struct arena *arena, struct str principal)
{
    const struct str prefix = STR("agent:");
    struct uuid id;
    if (!str_starts_with(principal, prefix) ||
        !uuid_parse(str_slice(principal, prefix.len, principal.len), &id))
        return principal;
    const struct archive_entry *entry = ids_find(&a->ids[SORT_AGENT], id);
    return entry == NULL ? principal : agent_principal(arena, entry->to);
}

static void map_row(const struct archive_walk *w, struct archive_value *row)
{
    for (size_t i = 0; i < w->member->n_fields; i++) {
        const struct archive_field *f = &w->member->fields[i];
        if (row[i].is_null)
            continue;
        if (f->kind == KIND_PRINCIPAL)
            row[i].text = map_principal(w->archive, w->arena, row[i].text);
        if (f->kind != KIND_ID || (f->flags & HIDDEN))
            continue;
        const struct archive_entry *entry = ids_find(&w->archive->ids[f->sort], row[i].id);
        if (entry != NULL)
            row[i].id = entry->to;
    }
}

/* --- Ids in the payloads of Cairn's own events ----------------------------------------------- */

static enum archive_sort mentioned(struct json key)
{
    for (size_t i = 0; i < archive_mention_count; i++)
        if (json_string_eq(key, str_of(archive_mentions[i].member)))
            return archive_mentions[i].sort;
    return SORT_NONE;
}

static bool write_mapped(
    const struct archive_walk *w, struct json_writer *out, enum archive_sort sort, struct json v)
{
    struct uuid id;
    if (sort == SORT_NONE || json_type(v) != JSON_STRING)
        return false;
    struct str text = json_string(w->arena, v);
    if (!uuid_parse(text, &id)) {
        json_write_string(out, map_principal(w->archive, w->arena, text));
        return true;
    }
    const struct archive_entry *entry = ids_find(&w->archive->ids[sort], id);
    if (entry != NULL)
        json_write_uuid(out, entry->to);
    return entry != NULL;
}

static void map_payload(
    const struct archive_walk *w, struct str kind, struct archive_value *payload)
{
    struct json_doc doc;
    struct json_error unused;
    struct json_text text;
    struct json key, value;
    if (!event_kind_is_reserved(kind) || payload->is_null ||
        !json_parse(w->arena, payload->text, &doc, &unused) ||
        json_type(json_root(&doc)) != JSON_OBJECT)
        return;
    struct json_iter it = json_iter(json_root(&doc));
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    while (json_next(&it, &key, &value)) {
        json_write_key_value(&text.w, key);
        if (!write_mapped(w, &text.w, mentioned(key), value))
            json_write_value(&text.w, value);
    }
    json_write_end(&text.w);
    payload->text = json_text_take(&text, w->arena);
}

/* --- Conflicts ------------------------------------------------------------------------------ */

static enum error find_by(struct archive_walk *w, const struct sql_statement *statement,
    const struct archive_value *row, struct uuid *out_id, bool *out_found)
{
    struct import *im = w->data;
    struct query q;
    query_begin(&q, im->c->tx, statement, w->arena);
    query_uuid(&q, tenant_id, im->c->tenant_id);
    archive_bind_row(w->member, row, &q);
    *out_found = query_next(&q);
    if (*out_found)
        *out_id = row_uuid(&q);
    return query_end(&q);
}

static enum error find_taken(
    struct archive_walk *w, const struct archive_value *row, struct uuid *out_id, bool *out_found)
{
    return find_by(w, w->member->taken, row, out_id, out_found);
}

/* Drops the key of a thread if another thread of the tenant has it, and reports that. */
static enum error free_key(struct archive_walk *w, struct archive_value *row, struct uuid from)
{
    struct archive_value *key = &row[archive_field(w->member, "key")];
    struct uuid unused;
    bool found = false;
    if (key->is_null)
        return OK;
    TRY(find_by(w, &SQL_ARCHIVE_TAKEN_KEY, row, &unused, &found));
    ids_find(&w->archive->ids[SORT_THREAD], from)->key_dropped = found;
    if (!found)
        return OK;
    *key = (struct archive_value){.is_null = true};
    row[archive_field(w->member, "key_owner")] = (struct archive_value){.is_null = true};
    return OK;
}

static enum error other_price(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    struct str model = row[archive_field(w->member, "model")].text;
    return problem_set(im->c->problem, ERR_CONFLICT,
        "the tenant has another price for \"%.*s\" (%s line %lld), or prices in another currency",
        STR_ARG(model), w->member->name, (long long)w->line);
}

static enum error other_item(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    struct str ns = row[archive_field(w->member, "namespace")].text;
    struct str key = row[archive_field(w->member, "key")].text;
    return problem_set(im->c->problem, ERR_CONFLICT,
        "the store already has the key \"%.*s\" in the namespace %.*s (%s line %lld)", STR_ARG(key),
        (int)ns.len - 1, ns.ptr, w->member->name, (long long)w->line);
}

static enum error no_item(struct archive_walk *w)
{
    struct import *im = w->data;
    return problem_set(im->c->problem, ERR_CONFLICT,
        "%s line %lld refers to an item that does not exist, or that already has this vector",
        w->member->name, (long long)w->line);
}

static enum error conflict(
    struct archive_walk *w, const struct archive_value *row, struct uuid taken)
{
    struct import *im = w->data;
    char text[UUID_TEXT_LEN];
    if (w->member == &archive_members[MEMBER_PRICES])
        return other_price(w, row);
    if (w->member == &archive_members[MEMBER_STORE_ITEMS])
        return other_item(w, row);
    if (w->member == &archive_members[MEMBER_STORE_VECTORS])
        return no_item(w);
    struct uuid own = row[archive_field(w->member, "id")].id;
    uuid_format(taken, text);
    if (uuid_eq(own, taken))
        return problem_set(im->c->problem, ERR_CONFLICT,
            "the %s %.*s already exists (%s line %lld): import with ids=remap", w->member->row,
            UUID_TEXT_LEN, text, w->member->name, (long long)w->line);
    return problem_set(im->c->problem, ERR_CONFLICT,
        "the %s in %s line %lld has the same name as %.*s, which already exists", w->member->row,
        w->member->name, (long long)w->line, UUID_TEXT_LEN, text);
}

/* The archive of a thread only refers to its agents: an existing agent with the same id or name is
 * used instead. */
static enum error find_agent(
    struct archive_walk *w, const struct archive_value *row, bool *out_was_there)
{
    struct import *im = w->data;
    struct archive_entry *entry =
        ids_find(&w->archive->ids[SORT_AGENT], row[archive_field(w->member, "id")].id);
    struct uuid taken;
    TRY(find_taken(w, row, &taken, out_was_there));
    if (*out_was_there)
        entry->to = taken;
    else if (entry->was_there) /* deleted since an earlier job */
        entry->to = im->ids == ARCHIVE_IDS_KEEP ? entry->from : uuid_v7();
    entry->was_there = *out_was_there;
    return OK;
}

static enum error check_free(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    struct uuid taken;
    bool found;
    if (w->member->taken == NULL || (im->ids == ARCHIVE_IDS_REMAP && !w->member->has_name))
        return OK;
    TRY(find_taken(w, row, &taken, &found));
    return found ? conflict(w, row, taken) : OK;
}

/* --- Adding --------------------------------------------------------------------------------- */

/* The last event of a thread wakes the workers that wait for a run. */
static enum error bind_event(struct import *im, struct query *q)
{
    int64_t id = 0;
    bool has_id = false;
    enum error e = event_take_id(im->c, &has_id, &id);
    query_i64_if(q, event_id, has_id, id);
    query_i64(q, marks, im->ends_thread ? EVENT_MARK_FREES_RUN : 0);
    return e;
}

/* Takes an id that no event has: the event that announced the message may have been pruned. */
static enum error bind_message(struct import *im, struct query *q)
{
    int64_t id = 0;
    bool has_id = false;
    enum error e = event_take_id(im->c, &has_id, &id);
    query_i64_if(q, event_id, has_id, id);
    return e == OK && has_id ? event_raise_floor(im->c, id) : e;
}

static enum error add_row(
    struct archive_walk *w, const struct archive_value *row, int64_t *out_added)
{
    struct import *im = w->data;
    bool is_price = w->member == &archive_members[MEMBER_PRICES];
    bool is_event = w->member == &archive_members[MEMBER_EVENTS];
    enum error e = OK;
    for (size_t i = 0; e == OK && i < COUNT_OF(w->member->add) && w->member->add[i] != NULL; i++) {
        struct query q;
        query_begin(&q, im->c->tx, w->member->add[i], w->arena);
        query_uuid(&q, tenant_id, im->c->tenant_id);
        archive_bind_row(w->member, row, &q);
        if (is_event)
            e = bind_event(im, &q);
        if (w->member == &archive_members[MEMBER_MESSAGES])
            e = bind_message(im, &q);
        /* Only a price can exist already; counting the others would wait for each of them. */
        enum error ran = is_price ? query_run_counted(&q, out_added) : query_run(&q);
        e = e == OK ? ran : e;
    }
    im->has_events = im->has_events || is_event;
    return e;
}

/* Deletes remaining events of a deleted thread with the same id. Their ids are not used again. */
static enum error clear_log(struct import *im, struct uuid thread_id, bool *out_more)
{
    int64_t next = 0;
    bool has_next = false;
    TRY(event_take_id(im->c, &has_next, &next));
    if (has_next)
        TRY(event_raise_floor(im->c, next));
    return event_clear_some(im->c, thread_id, out_more);
}

/* Records an object that is undone by itself if the import fails, not with another one. */
static enum error record_object(struct archive_walk *w, const struct archive_value *row)
{
    static const enum import_kind KINDS[MEMBER_COUNT] = {
        [MEMBER_AGENTS] = IMPORT_AGENT,
        [MEMBER_THREADS] = IMPORT_THREAD,
        [MEMBER_PRICES] = IMPORT_PRICE,
        [MEMBER_EVALS] = IMPORT_EVAL,
        [MEMBER_NOTEBOOKS] = IMPORT_NOTEBOOK,
        [MEMBER_STORE_ITEMS] = IMPORT_STORE_ITEM,
    };
    struct import *im = w->data;
    struct import_object object = {
        .kind = KINDS[w->member - archive_members], .name = STR(""), .key = STR("")};
    if (object.kind == IMPORT_KIND_NONE)
        return OK;
    if (object.kind == IMPORT_PRICE) {
        object.name = row[archive_field(w->member, "model")].text;
        object.number = row[archive_field(w->member, "version")].number;
    } else if (object.kind == IMPORT_STORE_ITEM) {
        object.name = row[archive_field(w->member, "namespace")].text;
        object.key = row[archive_field(w->member, "key")].text;
    } else {
        object.id = row[archive_field(w->member, "id")].id;
    }
    return import_record(im->c, w->archive->import_id, &object);
}

/* Adds the references to items, which are in the manifest of the snapshot. */
static enum error refer(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    struct manifest_named named = {.arena = w->arena};
    struct str manifest = row[archive_field(w->member, "manifest")].bytes;
    if (!manifest_read_names(w->arena, manifest, &named))
        return problem_set(im->c->problem, ERR_INVALID, "a manifest is not valid");
    return item_refer(im->c, row[archive_field(w->member, "id")].id, &named);
}

/* Updates the data that is derived from an added row. */
static enum error follow(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    if (w->member == &archive_members[MEMBER_SNAPSHOTS])
        return refer(w, row);
    if (w->member != &archive_members[MEMBER_THREADS])
        return OK;
    struct uuid id = row[archive_field(w->member, "id")].id;
    event_forget_thread(im->c, id);
    struct arena_mark mark = arena_mark(im->c->arena);
    TRY(thread_index_metadata(im->c, id, row[archive_field(w->member, "metadata")].text));
    arena_rewind(im->c->arena, mark);
    return OK;
}

static bool is_last_event(const struct archive_walk *w, const struct archive_value *row)
{
    const struct archive_ids_of *threads = &w->archive->ids[SORT_THREAD];
    const struct archive_entry *thread =
        ids_find(threads, row[archive_field(w->member, "thread_id")].id);
    return row[archive_field(w->member, "seq")].number ==
           w->archive->threads[ids_number(threads, thread)].last_seq;
}

/* Numbers of notebooks and versions of prices are taken under the tenant's lock. */
static bool needs_tenant(const struct archive_walk *w)
{
    return w->member == &archive_members[MEMBER_PRICES] ||
           w->member == &archive_members[MEMBER_NOTEBOOKS] ||
           w->member == &archive_members[MEMBER_NOTEBOOK_THREADS];
}

static enum error add(struct archive_walk *w, const struct archive_value *row)
{
    struct import *im = w->data;
    int64_t n_added = 1;
    struct arena_mark mark = arena_mark(im->c->arena);
    if (needs_tenant(w))
        TRY(context_lock_tenant(im->c));
    if (w->member == &archive_members[MEMBER_FILE_VERSIONS])
        TRY(archive_adopt(im->c, w->archive, row[archive_field(w->member, "sha256")].bytes));
    if (w->member == &archive_members[MEMBER_THREADS] && im->ids == ARCHIVE_IDS_KEEP)
        TRY(clear_log(im, row[archive_field(w->member, "id")].id, &w->stops_before));
    if (w->stops_before)
        return OK;
    TRY(add_row(w, row, &n_added));
    if (n_added > 0)
        TRY(record_object(w, row));
    TRY(follow(w, row));
    arena_rewind(im->c->arena, mark);
    return OK;
}

/* Renames an agent whose name is taken, and the agent of a thread or run with it. */
static enum error map_names(
    struct archive_walk *w, struct archive_value *row, const struct archive_entry *agent)
{
    struct import *im = w->data;
    struct archive *a = w->archive;
    if (agent != NULL)
        return archive_free_agent_name(im->c, a, ids_number(&a->ids[SORT_AGENT], agent), agent->to,
            &row[archive_field(w->member, "name")].text);
    if (w->member != &archive_members[MEMBER_THREADS] && w->member != &archive_members[MEMBER_RUNS])
        return OK;
    struct archive_value *name = &row[archive_field(w->member, "agent")];
    if (!name->is_null)
        name->text = archive_map_agent_name(a, name->text);
    return OK;
}

static enum error take_row(struct archive_walk *w, struct archive_value *row)
{
    const struct archive_entry *agent = NULL;
    struct import *im = w->data;
    bool was_there = false;
    if (w->member == &archive_members[MEMBER_AGENTS] && w->archive->subject.what == ARCHIVE_THREAD)
        TRY(find_agent(w, row, &was_there));
    if (was_there)
        return OK;
    if (w->member == &archive_members[MEMBER_EVENTS])
        im->ends_thread = is_last_event(w, row);
    struct uuid from = w->member == &archive_members[MEMBER_THREADS]
                           ? row[archive_field(w->member, "id")].id
                           : UUID_NIL;
    if (w->member == &archive_members[MEMBER_AGENTS] && w->archive->subject.what != ARCHIVE_THREAD)
        agent = ids_find(&w->archive->ids[SORT_AGENT], row[archive_field(w->member, "id")].id);
    map_row(w, row);
    TRY(map_names(w, row, agent));
    if (w->member == &archive_members[MEMBER_EVENTS] && im->ids == ARCHIVE_IDS_REMAP)
        map_payload(w, row[archive_field(w->member, "kind")].text,
            &row[archive_field(w->member, "payload")]);
    TRY(check_free(w, row));
    if (!uuid_is_nil(from))
        TRY(free_key(w, row, from));
    return im->dry ? OK : add(w, row);
}

static enum error take(struct archive_walk *w, struct archive_value *row)
{
    struct import *im = w->data;
    TRY(take_row(w, row));
    im->n_rows++;
    w->stops_behind = (!im->dry && im->n_rows >= SLICE_ROWS) || clock_steady_us() >= im->until_us;
    return OK;
}

/* --- All of it ------------------------------------------------------------------------------ */

static struct str detail_of(const struct archive *a, struct arena *arena)
{
    const struct archive_counts n = archive_counts(a);
    return arena_printf(arena,
        "{\"threads\":%lld,\"runs\":%lld,\"events\":%lld,\"messages\":%lld,\"files\":%lld,"
        "\"agents\":%lld,\"states\":%lld}",
        (long long)n.threads, (long long)n.runs, (long long)n.events, (long long)n.messages,
        (long long)n.files, (long long)n.agents, (long long)n.states);
}

static enum error record(struct import *im)
{
    const struct archive *a = im->archive;
    struct uuid id = im->c->tenant_id;
    if (a->subject.what != ARCHIVE_TENANT)
        id = ids_find(
            &a->ids[a->subject.what == ARCHIVE_THREAD ? SORT_THREAD : SORT_AGENT], a->subject.id)
                 ->to;
    return audit_record(im->c, "archive.imported", archive_what_word(a->subject.what).ptr, id,
        detail_of(a, im->c->arena));
}

/* A job may run several times, and only the database knows whether a run was committed. */
static enum error begin_slice(struct import *im)
{
    struct archive *a = im->archive;
    int64_t committed = -1;
    if (a->has_begun)
        TRY(import_continue(im->c, a->import_id, &committed));
    if (committed < 0 && a->n_committed == 0) {
        TRY(quota_check_imported(im->c, a->members[MEMBER_THREADS].rows));
        TRY(import_begin(im->c, a->import_id));
        a->has_begun = true;
        return OK;
    }
    if (committed < 0) {
        im->c->problem->retry_after_s = 2;
        return problem_set(im->c->problem, ERR_UNAVAILABLE,
            "the import was interrupted for too long and is undone: try again");
    }
    if (committed > a->n_committed) {
        a->n_committed = committed;
        a->added = a->uncommitted;
    }
    return OK;
}

static enum error end_import(struct import *im)
{
    TRY(quota_check_imported(im->c, 0));
    TRY(import_complete(im->c, im->archive->import_id));
    return record(im);
}

enum error archive_check(struct context *c, struct archive *a, enum archive_ids ids, bool *out_more)
{
    struct import im = {
        .c = c, .archive = a, .ids = ids, .dry = true, .until_us = clock_steady_us() + CHECK_US};
    struct archive_walk w = {.archive = a, .problem = c->problem, .take = take, .data = &im};
    TRY(choose_ids(&im));
    TRY(archive_walk_from(&w, &a->checked));
    *out_more = !archive_is_at_end(&a->checked);
    return OK;
}

enum error archive_add(struct context *c, struct archive *a, enum archive_ids ids, bool *out_more)
{
    struct import im = {.c = c, .archive = a, .ids = ids, .until_us = clock_steady_us() + SLICE_US};
    struct archive_walk w = {.archive = a, .problem = c->problem, .take = take, .data = &im};
    TRY(choose_ids(&im));
    TRY(begin_slice(&im));
    struct archive_position position = a->added;
    TRY(archive_walk_from(&w, &position));
    a->uncommitted = position;
    *out_more = !archive_is_at_end(&position);
    if (!*out_more)
        TRY(end_import(&im));
    tx_drop_memo(c->tx);
    /* The end of the import makes its runs ready to be claimed. */
    if (im.has_events || !*out_more)
        event_publish_many(c);
    return OK;
}

struct uuid archive_import_id(const struct archive *a)
{
    return a->import_id;
}

bool archive_mapped(const struct archive *a, size_t i, struct archive_mapped *out_mapped)
{
    static const enum archive_sort sorts[] = {SORT_AGENT, SORT_THREAD};
    for (size_t k = 0; k < COUNT_OF(sorts); k++) {
        const struct archive_ids_of *ids = &a->ids[sorts[k]];
        if (i >= ids->count) {
            i -= ids->count;
            continue;
        }
        const struct archive_entry *entry = &ids->entries[i];
        *out_mapped = (struct archive_mapped){.type = str_of(archive_sort_names[sorts[k]]),
            .from = entry->from,
            .to = entry->to,
            .was_there = entry->was_there,
            .key_dropped = entry->key_dropped,
            .renamed_to = sorts[k] == SORT_AGENT ? archive_new_name(a, i) : STR_NONE};
        return true;
    }
    return false;
}
