/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/threads.h"
#include "model/upkeep/fsck.sql.h"
#include "model/upkeep/fsck_walk.h"

enum { THREADS_A_PAGE = 32, EVENTS_A_PAGE = 100 };

struct checked_thread {
    struct uuid tenant_id;
    struct uuid id;
    struct str object;
    struct str status;
    struct str run_policy;
    struct str metadata;
    struct str error;
    int64_t pruned_seq;
    bool has_recent_run;
    bool finds_recent_run;
    int64_t last_seq;
};

static void of_thread(struct query *q, const struct checked_thread *t)
{
    query_uuid(q, tenant_id, t->tenant_id);
    query_uuid(q, thread_id, t->id);
}

/* --- Events --------------------------------------------------------------------------------- */

static void report_gap(
    struct fsck_walk *w, const struct checked_thread *t, int64_t missing, int64_t found)
{
    fsck_found(w->fsck, "events-gapless", t->object,
        "event %lld is missing, while %lld were pruned and the last is %lld; the next event is "
        "%lld",
        (long long)missing, (long long)t->pruned_seq, (long long)t->last_seq, (long long)found);
}

/* Compares only the number of events and their bounds. */
static enum error count_events(struct fsck_walk *w, const struct checked_thread *t)
{
    struct query q;
    int64_t count = 0, first = 0, last = 0;
    fsck_begin(w, &q, &SQL_FSCK_THREAD_BOUNDS);
    of_thread(&q, t);
    query_i64(&q, after, t->pruned_seq);
    if (query_next(&q)) {
        count = row_i64(&q);
        first = row_i64(&q);
        last = row_i64(&q);
    }
    TRY(query_end(&q));
    if (count == 0 && t->last_seq <= t->pruned_seq)
        return OK;
    if (count != t->last_seq - t->pruned_seq || first != t->pruned_seq + 1 || last != t->last_seq)
        fsck_found(w->fsck, "events-gapless", t->object,
            "%lld events from %lld to %lld, while %lld were pruned and the last is %lld",
            (long long)count, (long long)first, (long long)last, (long long)t->pruned_seq,
            (long long)t->last_seq);
    return OK;
}

struct event_walk {
    int64_t seq;
    int64_t id;
    bool has_gap;
};

static void fsck_event(
    struct fsck_walk *w, const struct checked_thread *t, struct query *q, struct event_walk *at)
{
    struct json payload;
    int64_t id = row_i64(q), seq = row_i64(q);
    struct str kind = row_text(q);
    struct str object =
        arena_printf(w->page, "event %lld of %.*s", (long long)seq, STR_ARG(t->object));
    if (seq != at->seq + 1 && !at->has_gap)
        report_gap(w, t, at->seq + 1, seq);
    at->has_gap = at->has_gap || seq != at->seq + 1;
    if (id <= at->id)
        fsck_found(w->fsck, "event-order", object,
            "the id %lld is not greater than the previous id, %lld", (long long)id,
            (long long)at->id);
    if (str_is_none(kind) || kind.len == 0)
        fsck_found(w->fsck, "event-kind", object, "the event has no kind");
    fsck_json(w, object, "payload", row_text(q), &payload);
    if (!row_bool(q))
        fsck_found(w->fsck, "event-run", object, "the run does not exist");
    at->seq = seq;
    at->id = id;
}

static enum error read_events(
    struct fsck_walk *w, const struct checked_thread *t, struct event_walk *at, size_t *out_rows)
{
    struct query q;
    size_t rows = 0;
    fsck_begin(w, &q, &SQL_FSCK_THREAD_EVENTS);
    of_thread(&q, t);
    query_i64(&q, after, at->seq);
    query_i64(&q, limit, EVENTS_A_PAGE);
    for (; query_next(&q); rows++)
        fsck_event(w, t, &q, at);
    w->n_events += rows;
    *out_rows = rows;
    return query_end(&q);
}

static enum error walk_events(struct fsck_walk *w, const struct checked_thread *t)
{
    struct event_walk at = {.seq = t->pruned_seq};
    enum error e = OK;
    size_t rows = EVENTS_A_PAGE;
    while (e == OK && rows == EVENTS_A_PAGE) {
        struct arena_mark mark = arena_mark(w->page);
        e = read_events(w, t, &at, &rows);
        arena_rewind(w->page, mark);
        if (e == OK && progress_is_cancelled(w->fsck->progress))
            e = problem_set(w->c->problem, ERR_CANCELLED, "the check was cancelled");
    }
    if (e == OK && !at.has_gap && at.seq < t->last_seq)
        report_gap(w, t, at.seq + 1, 0);
    if (e == OK && at.seq > t->last_seq)
        fsck_found(w->fsck, "thread-last-seq", t->object, "last_seq is %lld, but event %lld exists",
            (long long)t->last_seq, (long long)at.seq);
    return e;
}

/* --- Documents ------------------------------------------------------------------------------ */

static enum error fsck_documents(struct fsck_walk *w, const struct checked_thread *t)
{
    static const char *const names[] = {"context", "preferences", "important_steps"};
    struct query q;
    struct json unused;
    fsck_begin(w, &q, &SQL_FSCK_THREAD_DOCUMENTS);
    of_thread(&q, t);
    if (!query_next(&q))
        fsck_found(w->fsck, "thread-documents", t->object, "the documents are missing");
    else
        for (size_t i = 0; i < COUNT_OF(names); i++)
            fsck_json(w, t->object, names[i], row_text(&q), &unused);
    return query_end(&q);
}

/* --- Metadata ------------------------------------------------------------------------------- */

struct indexed {
    struct str key;
    struct str value;
};

static bool has_member(const struct indexed *rows, size_t n, struct str key, struct str value)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(rows[i].key, key) && str_eq(rows[i].value, value))
            return true;
    return false;
}

static void compare_metadata(struct fsck_walk *w, const struct checked_thread *t,
    struct json metadata, const struct indexed *rows, size_t n_rows)
{
    struct json_iter members = json_iter(metadata);
    struct str key, value;
    size_t n_members = 0;
    for (; thread_metadata_next(w->page, &members, &key, &value); n_members++)
        if (!has_member(rows, n_rows, key, value))
            fsck_found(w->fsck, "thread-metadata", t->object,
                "the member \"%.*s\" of the metadata is not in the index of metadata filters",
                STR_ARG(key));
    if (n_rows > n_members)
        fsck_found(w->fsck, "thread-metadata", t->object,
            "the index of metadata filters has %zu members, the metadata %zu", n_rows, n_members);
}

static enum error fsck_metadata(struct fsck_walk *w, const struct checked_thread *t)
{
    enum { LIMIT = THREAD_METADATA_MEMBERS + 1 };
    struct indexed *rows = ARENA_ARRAY(w->page, struct indexed, LIMIT);
    size_t n = 0;
    struct query q;
    struct json metadata;
    fsck_begin(w, &q, &SQL_FSCK_THREAD_METADATA);
    of_thread(&q, t);
    query_i64(&q, limit, LIMIT);
    for (; query_next(&q); n++) {
        rows[n].key = row_text(&q);
        rows[n].value = row_text(&q);
    }
    TRY(query_end(&q));
    if (!fsck_json(w, t->object, "metadata", t->metadata, &metadata))
        return OK;
    if (json_type(metadata) != JSON_OBJECT)
        fsck_found(w->fsck, "thread-metadata", t->object, "the metadata is not an object");
    else
        compare_metadata(w, t, metadata, rows, n);
    return OK;
}

/* --- The thread ----------------------------------------------------------------------------- */

static struct checked_thread read_thread(struct fsck_walk *w, struct query *q)
{
    struct checked_thread t;
    struct uuid recent_run;
    t.tenant_id = row_uuid(q);
    t.id = row_uuid(q);
    t.object = fsck_object(w, "thread", t.id);
    t.status = row_text(q);
    t.run_policy = row_text(q);
    t.metadata = row_text(q);
    t.error = row_text(q);
    t.pruned_seq = row_i64(q);
    t.has_recent_run = row_uuid_if(q, &recent_run);
    t.finds_recent_run = row_bool(q);
    t.last_seq = row_i64(q);
    return t;
}

static void fsck_head(struct fsck_walk *w, const struct checked_thread *t)
{
    struct json unused;
    if (!fsck_is_known(t->status, thread_statuses))
        fsck_found(w->fsck, "thread-status", t->object, "the status \"%.*s\" is unknown",
            STR_ARG(t->status));
    if (!fsck_is_known(t->run_policy, thread_run_policies))
        fsck_found(w->fsck, "thread-run-policy", t->object, "the run policy \"%.*s\" is unknown",
            STR_ARG(t->run_policy));
    if (t->has_recent_run && !t->finds_recent_run)
        fsck_found(w->fsck, "thread-recent-run", t->object, "the most recent run does not exist");
    if (t->pruned_seq > t->last_seq)
        fsck_found(w->fsck, "thread-last-seq", t->object,
            "%lld events were pruned, but the last is %lld", (long long)t->pruned_seq,
            (long long)t->last_seq);
    fsck_json(w, t->object, "error", t->error, &unused);
}

static enum error fsck_thread(struct fsck_walk *w, const struct checked_thread *t)
{
    fsck_head(w, t);
    TRY(fsck_metadata(w, t));
    if (w->fsck->quick)
        return count_events(w, t);
    struct arena_mark mark = arena_mark(w->page);
    enum error e = fsck_documents(w, t);
    arena_rewind(w->page, mark);
    return e == OK ? walk_events(w, t) : e;
}

enum error fsck_read_threads(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct checked_thread *threads = ARENA_ARRAY(w->page, struct checked_thread, THREADS_A_PAGE);
    size_t n = 0;
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_THREADS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, THREADS_A_PAGE);
    while (query_next(&q))
        threads[n++] = read_thread(w, &q);
    enum error e = query_end(&q);
    for (size_t i = 0; e == OK && i < n; i++)
        e = fsck_thread(w, &threads[i]);
    if (n > 0) {
        w->after_tenant = threads[n - 1].tenant_id;
        w->after_id = threads[n - 1].id;
    }
    *out_rows = n;
    *out_more = n == THREADS_A_PAGE;
    return e;
}
