/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "model/agents/agents.h"
#include "model/agents/states.h"
#include "model/checkpoints/manifest.h"
#include "model/execution/run_phases.h"
#include "model/execution/steps.h"
#include "model/threads/events.h"
#include "model/threads/participants.h"
#include "model/upkeep/archive_file.h"
#include "store/content.h"

struct archive *archive_create(const struct archive_source *source, uint64_t size_bytes)
{
    struct archive *a = MEM_NEW(struct archive);
    a->source = a->whole = *source;
    a->import_id = uuid_v7();
    a->size_bytes = size_bytes;
    return a;
}

void archive_destroy(struct archive *a)
{
    if (a == NULL)
        return;
    if (a->staged_in != NULL)
        content_stage_end(a->staged_in);
    archive_free_names(a);
    for (size_t i = 0; i < SORT_COUNT; i++)
        ids_deinit(&a->ids[i]);
    mem_free(a->threads);
    mem_free(a->contents);
    mem_free(a->names);
    mem_free(a->items);
    mem_free(a->versions);
    mem_free(a->links);
    mem_free(a);
}

struct archive_subject archive_subject(const struct archive *a)
{
    return a->subject;
}

struct archive_counts archive_counts(const struct archive *a)
{
    const struct archive_place *m = a->members;
    return (struct archive_counts){
        .agents = m[MEMBER_AGENTS].rows,
        .storage = m[MEMBER_AGENT_STORAGE].rows,
        .threads = m[MEMBER_THREADS].rows,
        .participants = m[MEMBER_PARTICIPANTS].rows,
        .runs = m[MEMBER_RUNS].rows,
        .events = m[MEMBER_EVENTS].rows,
        .messages = m[MEMBER_MESSAGES].rows,
        .files = m[MEMBER_FILES].rows,
        .file_versions = m[MEMBER_FILE_VERSIONS].rows,
        .states = m[MEMBER_STATES].rows,
        .blobs = (int64_t)a->n_contents,
        .bytes = (int64_t)a->content_bytes,
    };
}

/* --- A row and its neighbours --------------------------------------------------------------- */

/* The row that is being checked, and the order of the row before. */
struct judged {
    struct archive_entry *own;   /* NULL: the row has no id */
    struct archive_entry *owner; /* NULL: the row has no owner */
    uint32_t thread;             /* the number of its thread, or NO_OWNER */
    bool has_before;
    struct archive_value before[ARCHIVE_MAX_FIELDS];
    struct buf before_texts[2];
    struct uuid run_id;   /* of the row before */
    int64_t n_of_the_run; /* the number of rows of this run */
};

static enum error broken(struct archive_walk *w, const char *rule)
{
    return problem_set(w->problem, ERR_INVALID, "%s", rule);
}

static const struct archive_value *field(
    const struct archive_walk *w, const struct archive_value *row, const char *name)
{
    return &row[archive_field(w->member, name)];
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_field(const struct archive_walk *w, const struct archive_field *f,
    const struct archive_value *a, const struct archive_value *b)
{
    const struct archive_ids_of *ids = &w->archive->ids[f->sort];
    if (f->kind == KIND_INT)
        return compare_numbers(a->number, b->number);
    if (f->kind == KIND_HASH)
        return str_cmp(a->bytes, b->bytes);
    if (f->kind != KIND_ID)
        return str_cmp(a->text, b->text);
    if (f->flags & OWN)
        return uuid_cmp(a->id, b->id);
    return compare_numbers(
        ids_number(ids, ids_find(ids, a->id)), ids_number(ids, ids_find(ids, b->id)));
}

/* There is only one valid order of lines. Checking it also finds duplicate keys. */
static enum error check_order(
    struct archive_walk *w, struct judged *j, const struct archive_value *row)
{
    bool is_ordered = false;
    int order = 0;
    for (size_t i = 0; i < w->member->n_fields; i++) {
        const struct archive_field *f = &w->member->fields[i];
        if (!(f->flags & ORDERED))
            continue;
        is_ordered = true;
        if (order == 0 && j->has_before)
            order = compare_field(w, f, &j->before[i], &row[i]);
    }
    if (is_ordered && j->has_before && order >= 0)
        return broken(w, "is not in order: ids and numbers must rise from line to line");
    struct buf *text = j->before_texts;
    memcpy(j->before, row, w->member->n_fields * sizeof *row);
    for (size_t i = 0; i < w->member->n_fields; i++) {
        bool is_hash = w->member->fields[i].kind == KIND_HASH;
        if ((w->member->fields[i].kind == KIND_TEXT || is_hash) &&
            (w->member->fields[i].flags & ORDERED)) {
            buf_reset(text);
            buf_append(text, is_hash ? row[i].bytes : row[i].text);
            j->before[i].text = j->before[i].bytes = buf_str(text++);
        }
    }
    j->has_before = true;
    return OK;
}

/* --- References ----------------------------------------------------------------------------- */

/* Returns true if the field refers to objects in this member, or in a later one. */
static bool is_ahead(const struct archive_walk *w, const struct archive_field *f)
{
    return !w->archive->ids[f->sort].is_complete;
}

static enum error check_reference(struct archive_walk *w, const struct judged *j,
    const struct archive_field *f, const struct archive_value *value)
{
    if (f->kind != KIND_ID || (f->flags & (OWN | HIDDEN | LOOSE)) || value->is_null ||
        uuid_is_nil(value->id))
        return OK;
    const struct archive_entry *entry = ids_find(&w->archive->ids[f->sort], value->id);
    if (entry == NULL)
        return problem_set(w->problem, ERR_INVALID,
            "\"%s\" refers to a %s that is not in the archive", f->name,
            archive_sort_names[f->sort]);
    if (f->sort != SORT_THREAD && f->sort != SORT_AGENT && entry->owner != j->thread)
        return problem_set(w->problem, ERR_INVALID, "\"%s\" refers to a %s of another thread",
            f->name, archive_sort_names[f->sort]);
    return OK;
}

/* Finds the thread of the row through its owner. */
static void find_owner(struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    j->owner = NULL;
    j->thread = NO_OWNER;
    for (size_t i = 0; i < w->member->n_fields; i++) {
        const struct archive_field *f = &w->member->fields[i];
        const struct archive_ids_of *ids = &w->archive->ids[f->sort];
        if (!(f->flags & OWNER))
            continue;
        j->owner = ids_find(ids, row[i].id);
        if (j->owner != NULL)
            j->thread = f->sort == SORT_THREAD ? ids_number(ids, j->owner) : j->owner->owner;
    }
}

static enum error add_own(struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive *a = w->archive;
    j->own = NULL;
    for (size_t i = 0; i < w->member->n_fields; i++) {
        const struct archive_field *f = &w->member->fields[i];
        if (!(f->flags & OWN))
            continue;
        if ((row[i].id.bytes[6] & 0xf0) != 0x70)
            return broken(w, "\"id\" must be a UUID of version 7");
        j->own = ids_add(&a->ids[f->sort], row[i].id);
        j->own->owner = f->sort == SORT_THREAD ? (uint32_t)a->ids[f->sort].count - 1 : j->thread;
    }
    return OK;
}

static enum error check_references(
    struct archive_walk *w, const struct archive_value *row, struct judged *j, bool ahead)
{
    for (size_t i = 0; i < w->member->n_fields; i++)
        if (ahead || !is_ahead(w, &w->member->fields[i]))
            TRY(check_reference(w, j, &w->member->fields[i], &row[i]));
    return OK;
}

/* --- Rules for the rows of each member ------------------------------------------------------- */

static enum error judge_storage(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    const struct archive_value *value = field(w, row, "value"), *bytes = field(w, row, "bytes");
    if (value->is_null == bytes->is_null)
        return broken(w, "must have either \"value\" or \"bytes\"");
    size_t len = value->is_null ? bytes->bytes.len : value->text.len;
    return field(w, row, "size_bytes")->number == (int64_t)len
               ? OK
               : broken(w, "\"size_bytes\" is not the length of the value");
}

static enum error judge_agent(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    enum agent_kind kind = agent_kind_parse(field(w, row, "kind")->text);
    j->own->fact = kind == AGENT_KIND_TEAM || kind == AGENT_KIND_WORKFLOW;
    archive_note_agent_name(
        w->archive, ids_number(&w->archive->ids[SORT_AGENT], j->own), field(w, row, "name")->text);
    return OK;
}

/* The position of the agent in its member. */
static uint32_t agent_number(
    const struct archive_walk *w, const struct archive_value *row, const char *name)
{
    const struct archive_ids_of *ids = &w->archive->ids[SORT_AGENT];
    return ids_number(ids, ids_find(ids, field(w, row, name)->id));
}

static enum error judge_agent_version(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return archive_judge_agent_version(w, row, agent_number(w, row, "agent_id"));
}

static enum error judge_used_version(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return archive_judge_used_version(w, row);
}

static enum error judge_activation(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return archive_judge_activation(w, row, agent_number(w, row, "agent_id"));
}

static enum error judge_link(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    if (j->owner->fact == 0)
        return broken(
            w, "\"parent_id\" refers to an agent of kind agent, which cannot have children");
    return archive_judge_link(
        w, row, agent_number(w, row, "parent_id"), agent_number(w, row, "child_id"));
}

static enum error judge_thread(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive *a = w->archive;
    size_t number = a->ids[SORT_THREAD].count - 1;
    if (number == a->cap_threads) {
        a->cap_threads = a->cap_threads == 0 ? 16 : 2 * a->cap_threads;
        a->threads = mem_realloc(a->threads, a->cap_threads * sizeof(struct archive_thread));
    }
    struct archive_thread *thread = &a->threads[number];
    *thread = (struct archive_thread){.last_seq = field(w, row, "last_seq")->number,
        .pruned_seq = field(w, row, "pruned_seq")->number};
    thread->next_seq = thread->pruned_seq + 1;
    return thread->pruned_seq <= thread->last_seq
               ? OK
               : broken(w, "\"pruned_seq\" is greater than \"last_seq\"");
}

static enum error judge_participant(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return ++w->archive->threads[j->thread].n_participants <= PARTICIPANTS_MAX
               ? OK
               : problem_set(w->problem, ERR_INVALID, "the thread has more than %d participants",
                     PARTICIPANTS_MAX);
}

/* Status and phase must agree on whether the run has ended. */
static bool fits_phase(
    const struct archive_walk *w, const struct archive_value *row, const struct run *run)
{
    enum phase phase = phase_parse(field(w, row, "phase")->text);
    if (phase == PHASE_NONE)
        return true;
    return run_is_finished(run) ? phase == run_phase_at_end(run->status)
                                : !run_phase_is_final(phase);
}

static enum error judge_item(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive *a = w->archive;
    struct str hash = field(w, row, "sha256")->bytes;
    struct sha256 found = sha256_of(field(w, row, "value")->text);
    if (memcmp(hash.ptr, found.bytes, SHA256_LEN) != 0)
        return broken(w, "\"sha256\" is not the hash of the value");
    if (a->n_items == a->cap_items) {
        a->cap_items = a->cap_items == 0 ? 64 : 2 * a->cap_items;
        a->items = mem_realloc(a->items, a->cap_items * sizeof(struct archive_item));
    }
    a->items[a->n_items++] = (struct archive_item){.sha256 = found};
    return OK;
}

static int compare_items(const void *a, const void *b)
{
    const struct archive_item *x = a, *y = b;
    return memcmp(x->sha256.bytes, y->sha256.bytes, SHA256_LEN);
}

/* Checks that the items exist. Reading the document later checks whether the manifests of a chain
 * produce the document with the stored hash. */
static enum error judge_snapshot(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive *a = w->archive;
    struct manifest_named named = {.arena = w->arena};
    bool has_base = !field(w, row, "base_id")->is_null;
    j->own->fact = (uint32_t)field(w, row, "depth")->number;
    if (has_base && uuid_cmp(field(w, row, "base_id")->id, j->own->from) >= 0)
        return broken(w, "\"base_id\" must refer to an earlier snapshot");
    if (!manifest_read_names(w->arena, field(w, row, "manifest")->bytes, &named) ||
        manifest_is_delta(field(w, row, "manifest")->bytes) != has_base)
        return broken(w, "\"manifest\" is not a valid manifest");
    for (size_t i = 0; i < named.n; i++) {
        struct archive_item key, *item = NULL;
        memcpy(key.sha256.bytes, named.pieces[i]->at, SHA256_LEN);
        if (a->n_items > 0)
            item = bsearch(&key, a->items, a->n_items, sizeof key, compare_items);
        if (item == NULL)
            return broken(w, "refers to an item that is not in the archive");
        item->is_named = true;
    }
    return OK;
}

/* A run has the whole backoff or none. */
static bool fits_backoff(struct archive_walk *w, const struct archive_value *row)
{
    const struct archive_value *initial = field(w, row, "backoff_initial_ms");
    const struct archive_value *max = field(w, row, "backoff_max_ms");
    bool has_factor = !field(w, row, "backoff_factor")->is_null;
    if (initial->is_null || max->is_null)
        return initial->is_null && max->is_null && !has_factor;
    return has_factor && max->number >= initial->number;
}

static enum error judge_run(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive_thread *thread = &w->archive->threads[j->thread];
    const struct run run = {.status = run_status_parse(field(w, row, "status")->text)};
    enum run_dispatch dispatch = run_dispatch_parse(field(w, row, "dispatch")->text);
    j->own->fact = (uint32_t)field(w, row, "depth")->number;
    j->own->status = run.status;
    if (run.status == RUN_RUNNING && dispatch == RUN_QUEUE)
        return broken(
            w, "must not be running: a run that was dispatched by queue needs a lease for that");
    if (!field(w, row, "paused_from")->is_null && run.status != RUN_PAUSED)
        return broken(w, "\"paused_from\" is only for paused runs");
    if (!fits_phase(w, row, &run))
        return broken(w, "\"phase\" does not match the status");
    if (field(w, row, "finished_at")->is_null == run_is_finished(&run))
        return broken(w, "\"finished_at\" does not match the status");
    bool waits = run.status == RUN_WAITING || run.status == RUN_PAUSED;
    if (!field(w, row, "tool_deadline")->is_null &&
        !(waits && phase_parse(field(w, row, "phase")->text) == PHASE_AWAITING_TOOL))
        return broken(w, "\"tool_deadline\" is only for runs that wait for tools");
    if (!fits_backoff(w, row))
        return broken(w, "\"backoff_max_ms\" does not match the other members of the backoff");
    if (field(w, row, "fence")->number > thread->last_seq)
        return broken(w, "\"fence\" is greater than the last seq of the thread");
    if (!run_is_finished(&run) && ++thread->n_unfinished > RUN_ACTIVE_MAX)
        return problem_set(
            w->problem, ERR_INVALID, "the thread has more than %d unfinished runs", RUN_ACTIVE_MAX);
    return OK;
}

static enum error judge_event(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive_thread *thread = &w->archive->threads[j->thread];
    int64_t seq = field(w, row, "seq")->number;
    if (seq != thread->next_seq || seq > thread->last_seq)
        return problem_set(w->problem, ERR_INVALID,
            "\"seq\" must be %lld, the next one of the thread, whose last is %lld",
            (long long)thread->next_seq, (long long)thread->last_seq);
    thread->next_seq++;
    return event_kind_is_known(field(w, row, "kind")->text)
               ? OK
               : broken(w, "\"kind\" is not a kind of event");
}

static enum error judge_message(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    j->own->fact = (uint32_t)field(w, row, "version")->number;
    j->own->is_open = field(w, row, "has_debug")->number != 0;
    return field(w, row, "seq")->number <= w->archive->threads[j->thread].last_seq
               ? OK
               : broken(w, "\"seq\" is greater than the last seq of the thread");
}

static enum error judge_debug(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    if (!j->owner->is_open)
        return broken(w, "belongs to a message whose \"has_debug\" is false");
    j->owner->is_open = false;
    return OK;
}

static enum error judge_message_version(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return field(w, row, "version")->number < j->owner->fact
               ? OK
               : broken(w, "\"version\" must be less than the version of the message");
}

static enum error judge_file(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    int64_t current = field(w, row, "current_version")->number;
    j->own->fact = (uint32_t)current;
    j->own->is_open = true;
    if (current > field(w, row, "last_version")->number)
        return broken(w, "\"current_version\" is greater than \"last_version\"");
    return archive_judge_name(w, row, j->thread);
}

static enum error judge_file_end(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    return archive_judge_name(w, row, j->thread);
}

static enum error judge_file_version(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct archive_content *content =
        archive_find_content(w->archive, field(w, row, "sha256")->bytes);
    int64_t version = field(w, row, "version")->number;
    if (content == NULL)
        return broken(w, "refers to content that is not in the archive");
    if ((uint64_t)field(w, row, "size_bytes")->number != content->size_bytes)
        return broken(w, "\"size_bytes\" is not the size of the content");
    if (version > j->owner->fact)
        return broken(w, "\"version\" is greater than the \"current_version\" of the file");
    content->is_named = true;
    if (version == j->owner->fact)
        j->owner->is_open = false;
    return OK;
}

static enum error judge_state(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    bool has_agent = !uuid_is_nil(field(w, row, "agent_id")->id);
    bool has_thread = !uuid_is_nil(field(w, row, "thread_id")->id);
    if (!has_agent && !has_thread)
        return broken(w, "must have \"agent_id\", \"thread_id\" or both");
    if (state_kind_parse(field(w, row, "kind")->text) == STATE_CONFIG && (!has_agent || has_thread))
        return broken(w, "a configuration must have \"agent_id\" and no \"thread_id\"");
    const struct archive_ids_of *threads = &w->archive->ids[SORT_THREAD];
    if (has_thread)
        j->own->owner = ids_number(threads, ids_find(threads, field(w, row, "thread_id")->id));
    j->own->fact = (uint32_t)field(w, row, "version")->number;
    j->own->is_open = field(w, row, "deleted_at")->is_null;
    return OK;
}

static enum error judge_state_version(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    int64_t version = field(w, row, "version")->number;
    if (version == j->owner->fact && !j->owner->is_open)
        return broken(w, "is the current version of a deleted state document");
    if (version == j->owner->fact)
        j->owner->is_open = false;
    return version <= j->owner->fact
               ? OK
               : broken(w, "\"version\" is greater than the version of the state document");
}

static enum error judge_step(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    struct uuid run_id = field(w, row, "run_id")->id;
    if (!uuid_eq(run_id, j->run_id))
        j->n_of_the_run = 0;
    j->run_id = run_id;
    return field(w, row, "number")->number == ++j->n_of_the_run
               ? OK
               : broken(w, "\"number\" must be one more than in the line before");
}

static enum error judge_log_step(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    TRY(judge_step(w, row, j));
    const struct archive_value *lifecycle = field(w, row, "lifecycle");
    if (lifecycle->is_null || lifecycle->number == 0 ||
        step_may_be_lifecycle(field(w, row, "action_type")->text, j->owner->status))
        return OK;
    return broken(w, "\"lifecycle\" is only for the start of the run and for its end");
}

static enum error judge_notebook_thread(
    struct archive_walk *w, const struct archive_value *row, struct judged *j)
{
    const struct archive_ids_of *threads = &w->archive->ids[SORT_THREAD];
    const struct archive_entry *entry = ids_find(threads, field(w, row, "thread_id")->id);
    struct archive_thread *thread = &w->archive->threads[ids_number(threads, entry)];
    if (thread->is_in_notebook)
        return broken(w, "\"thread_id\" refers to a thread that already is in a notebook");
    thread->is_in_notebook = true;
    return OK;
}

typedef enum error judge(struct archive_walk *w, const struct archive_value *row, struct judged *j);
static judge *const JUDGES[MEMBER_COUNT] = {
    [MEMBER_AGENTS] = judge_agent,
    [MEMBER_AGENT_STORAGE] = judge_storage,
    [MEMBER_AGENT_VERSIONS] = judge_agent_version,
    [MEMBER_USED_VERSIONS] = judge_used_version,
    [MEMBER_AGENT_ACTIVATIONS] = judge_activation,
    [MEMBER_AGENT_LINKS] = judge_link,
    [MEMBER_THREADS] = judge_thread,
    [MEMBER_PARTICIPANTS] = judge_participant,
    [MEMBER_ITEMS] = judge_item,
    [MEMBER_SNAPSHOTS] = judge_snapshot,
    [MEMBER_RUNS] = judge_run,
    [MEMBER_EVENTS] = judge_event,
    [MEMBER_MESSAGES] = judge_message,
    [MEMBER_MESSAGE_DEBUG] = judge_debug,
    [MEMBER_MESSAGE_VERSIONS] = judge_message_version,
    [MEMBER_FILES] = judge_file,
    [MEMBER_FILE_ENDS] = judge_file_end,
    [MEMBER_FILE_VERSIONS] = judge_file_version,
    [MEMBER_STATES] = judge_state,
    [MEMBER_STATE_VERSIONS] = judge_state_version,
    [MEMBER_RUN_ATTEMPTS] = judge_step,
    [MEMBER_STEPS] = judge_log_step,
    [MEMBER_RUN_PHASES] = judge_step,
    [MEMBER_TURNS] = judge_step,
    [MEMBER_NOTEBOOK_THREADS] = judge_notebook_thread,
};

static enum error judge_row(struct archive_walk *w, struct archive_value *row)
{
    struct judged *j = w->data;
    judge *own_rules = JUDGES[w->member - archive_members];
    find_owner(w, row, j);
    TRY(check_references(w, row, j, false));
    TRY(check_order(w, j, row));
    TRY(add_own(w, row, j));
    TRY(archive_judge_alone(w, row));
    return own_rules != NULL ? own_rules(w, row, j) : OK;
}

/* --- References to later rows --------------------------------------------------------------- */

/* Depths fall along a chain of bases, so that every chain ends. */
static enum error judge_chain(struct archive_walk *w, const struct archive_value *row)
{
    const struct archive_value *base = field(w, row, "base_id");
    if (base->is_null ||
        ids_find(&w->archive->ids[SORT_SNAPSHOT], base->id)->fact < field(w, row, "depth")->number)
        return OK;
    return broken(w, "\"depth\" must be greater than the depth of the base");
}

static enum error judge_ahead(struct archive_walk *w, struct archive_value *row)
{
    struct judged *j = w->data;
    const struct archive_ids_of *threads = &w->archive->ids[SORT_THREAD];
    bool is_thread = w->member == &archive_members[MEMBER_THREADS];
    bool is_run = w->member == &archive_members[MEMBER_RUNS];
    bool is_snapshot = w->member == &archive_members[MEMBER_SNAPSHOTS];
    find_owner(w, row, j);
    if (is_thread)
        j->thread = ids_number(threads, ids_find(threads, field(w, row, "id")->id));
    TRY(check_references(w, row, j, true));
    if (is_snapshot)
        return judge_chain(w, row);
    if (!is_thread && !is_run)
        TRY(archive_judge_filenames(w, row, j->thread));
    if (!is_run)
        return OK;
    const struct archive_value *parent = field(w, row, "parent_run_id");
    uint32_t depth =
        parent->is_null ? 0 : ids_find(&w->archive->ids[SORT_RUN], parent->id)->fact + 1;
    return field(w, row, "depth")->number == depth
               ? OK
               : broken(w, "\"depth\" must be one more than the depth of the parent");
}

/* --- The whole archive ---------------------------------------------------------------------- */

static enum archive_sort own_sort(const struct archive_member *m)
{
    for (size_t i = 0; i < m->n_fields; i++)
        if (m->fields[i].flags & OWN)
            return m->fields[i].sort;
    return SORT_NONE;
}

static enum error verify_member(
    struct archive *a, enum archive_member_id member, struct problem *problem)
{
    struct judged j = {0};
    struct archive_walk w = {.archive = a, .problem = problem, .take = judge_row, .data = &j};
    enum archive_sort sort = own_sort(&archive_members[member]);
    struct uuid twice;
    char text[UUID_TEXT_LEN];
    for (size_t i = 0; i < COUNT_OF(j.before_texts); i++)
        buf_init(&j.before_texts[i], ARCHIVE_LINE_MAX_BYTES);
    enum error e = archive_walk(&w, member);
    for (size_t i = 0; i < COUNT_OF(j.before_texts); i++)
        buf_deinit(&j.before_texts[i]);
    if (e != OK || sort == SORT_NONE || ids_sort(&a->ids[sort], &twice))
        return e;
    uuid_format(twice, text);
    return archive_broken(problem, str_of(archive_members[member].name), "has the id %.*s twice",
        UUID_TEXT_LEN, text);
}

static enum error verify_ahead(struct archive *a, struct problem *problem)
{
    static const enum archive_member_id members[] = {
        MEMBER_THREADS, MEMBER_SNAPSHOTS, MEMBER_RUNS, MEMBER_MESSAGES, MEMBER_MESSAGE_VERSIONS};
    struct judged j = {0};
    struct archive_walk w = {.archive = a, .problem = problem, .take = judge_ahead, .data = &j};
    TRY(archive_sort_names_of_files(a, problem));
    for (size_t i = 0; i < COUNT_OF(members); i++)
        TRY(archive_walk(&w, members[i]));
    return OK;
}

/* Finds rows and contents that are missing, or to which nothing refers. */
static enum error verify_complete(struct archive *a, struct problem *problem)
{
    static const struct {
        enum archive_sort sort;
        const char *lacks;
    } OPEN[] = {{SORT_MESSAGE, "has no row in message_debug.jsonl"},
        {SORT_FILE, "has no row for its current version"},
        {SORT_STATE, "has no row for its current version"}};
    char text[UUID_TEXT_LEN];
    for (size_t i = 0; i < COUNT_OF(OPEN); i++)
        for (size_t k = 0; k < a->ids[OPEN[i].sort].count; k++)
            if (a->ids[OPEN[i].sort].entries[k].is_open) {
                uuid_format(a->ids[OPEN[i].sort].entries[k].from, text);
                return archive_broken(problem, STR("the archive"), "%s %.*s %s",
                    archive_sort_names[OPEN[i].sort], UUID_TEXT_LEN, text, OPEN[i].lacks);
            }
    for (size_t i = 0; i < a->ids[SORT_THREAD].count; i++)
        if (a->threads[i].next_seq != a->threads[i].last_seq + 1)
            return archive_broken(problem, STR("events.jsonl"),
                "ends at event %lld of the thread in line %zu, whose last event is %lld",
                (long long)a->threads[i].next_seq - 1, i + 1, (long long)a->threads[i].last_seq);
    for (size_t i = 0; i < a->n_items; i++)
        if (!a->items[i].is_named)
            return archive_broken(problem, STR("items.jsonl"),
                "line %zu has an item to which no snapshot refers", i + 1);
    for (size_t i = 0; i < a->n_contents; i++)
        if (!a->contents[i].is_named)
            return archive_broken(
                problem, STR("the archive"), "has content to which no version of a file refers");
    return OK;
}

/* Checks that the archive has rows of its subject only. */
static enum error verify_subject(struct archive *a, struct problem *problem)
{
    const struct archive_place *m = a->members;
    enum archive_what what = a->subject.what;
    enum archive_sort sort = what == ARCHIVE_THREAD ? SORT_THREAD : SORT_AGENT;
    if (what == ARCHIVE_TENANT)
        return OK;
    if (a->ids[sort].count == 0 || ids_find(&a->ids[sort], a->subject.id) == NULL)
        return archive_broken(problem, STR("cairn.json"),
            "refers to a %s that is not in the archive", archive_what_word(what).ptr);
    bool fits = what == ARCHIVE_THREAD
                    ? m[MEMBER_THREADS].rows == 1 && m[MEMBER_AGENT_STORAGE].rows == 0 &&
                          m[MEMBER_AGENT_VERSIONS].rows == 0 && m[MEMBER_AGENT_LINKS].rows == 0
                    : m[MEMBER_AGENTS].rows == 1 && m[MEMBER_THREADS].rows == 0;
    for (size_t i = 0; what == ARCHIVE_THREAD && i < a->ids[SORT_STATE].count; i++)
        fits = fits && a->ids[SORT_STATE].entries[i].owner != NO_OWNER;
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        fits = fits && (archive_members[i].select[what] != NULL || m[i].rows == 0);
    return fits ? OK
                : archive_broken(problem, STR("cairn.json"),
                      "is for one %s, but the archive has rows of others",
                      archive_what_word(what).ptr);
}

enum error archive_verify(struct archive *a, struct problem *problem)
{
    TRY(archive_index(a, problem));
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        TRY(verify_member(a, (enum archive_member_id)i, problem));
    TRY(archive_judge_agents(a, problem));
    TRY(archive_judge_agent_names(a, problem));
    TRY(verify_ahead(a, problem));
    TRY(verify_complete(a, problem));
    return verify_subject(a, problem);
}
