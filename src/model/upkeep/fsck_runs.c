/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/runs.h"
#include "model/upkeep/fsck.sql.h"
#include "model/upkeep/fsck_walk.h"

enum { RUNS_A_PAGE = 32 };

/* The stored words: an unknown word is a finding, and is 0 in `run`. */
struct checked_run {
    struct run run; /* without its documents */
    struct str status;
    struct str dispatch;
    struct str paused_from;
    struct uuid tenant_id;
    struct str object;
    bool finds_parent;
    int64_t parent_depth;
    bool finds_thread;
    int64_t thread_last_seq;
};

static struct checked_run read_run(struct fsck_walk *w, struct query *q)
{
    struct checked_run r = {0};
    struct uuid thread_id;
    r.tenant_id = row_uuid(q);
    r.run.id = row_uuid(q);
    r.object = fsck_object(w, "run", r.run.id);
    r.status = row_text(q);
    r.dispatch = row_text(q);
    r.paused_from = row_text(q);
    r.run.status = run_status_parse(r.status);
    r.run.dispatch = run_dispatch_parse(r.dispatch);
    r.run.paused_from = run_status_parse(r.paused_from);
    r.run.metadata = row_text(q);
    r.run.error = row_text(q);
    r.run.worker = row_text(q);
    r.run.has_lease = row_i64_if(q, &r.run.lease_expires_at);
    r.run.has_lease_ms = row_i64_if(q, &r.run.lease_ms);
    r.run.fence = row_i64(q);
    r.run.has_finished_at = row_i64_if(q, &r.run.finished_at);
    r.run.depth = row_i64(q);
    r.run.has_parent_run_id = row_uuid_if(q, &r.run.parent_run_id);
    r.finds_parent = row_i64_if(q, &r.parent_depth);
    r.finds_thread = row_uuid_if(q, &thread_id);
    r.finds_thread = row_i64_if(q, &r.thread_last_seq) && r.finds_thread;
    return r;
}

/* A run has a worker if, and only if, it is running and was dispatched by queue. */
static void fsck_lease(struct fsck_walk *w, const struct checked_run *r)
{
    const struct run *run = &r->run;
    bool needs_lease = run->status == RUN_RUNNING && run->dispatch == RUN_QUEUE;
    bool has_worker = !str_is_none(run->worker);
    if (run->has_lease != has_worker || run->has_lease != run->has_lease_ms)
        fsck_found(w->fsck, "run-lease", r->object,
            "a lease must have a worker, an end and a length, or none of them");
    else if (run->has_lease != needs_lease)
        fsck_found(w->fsck, "run-lease", r->object,
            "the run is %.*s with dispatch %.*s and has %s lease", STR_ARG(r->status),
            STR_ARG(r->dispatch), run->has_lease ? "a" : "no");
    if (r->finds_thread && run->fence > r->thread_last_seq)
        fsck_found(w->fsck, "run-fence", r->object,
            "the fencing token %lld is greater than the last seq of the thread, %lld",
            (long long)run->fence, (long long)r->thread_last_seq);
}

static void fsck_family(struct fsck_walk *w, const struct checked_run *r)
{
    const struct run *run = &r->run;
    if (!r->finds_thread)
        fsck_found(w->fsck, "run-thread", r->object, "the thread does not exist");
    if (run->has_parent_run_id && !r->finds_parent)
        fsck_found(w->fsck, "run-parent", r->object, "the parent is not in the same thread");
    int64_t depth = run->has_parent_run_id ? r->parent_depth + 1 : 0;
    if (run->has_parent_run_id == r->finds_parent && run->depth != depth)
        fsck_found(w->fsck, "run-parent", r->object, "the depth is %lld, but must be %lld",
            (long long)run->depth, (long long)depth);
}

static void fsck_status(struct fsck_walk *w, const struct checked_run *r)
{
    const struct run *run = &r->run;
    if (run->status == RUN_STATUS_NONE) {
        fsck_found(
            w->fsck, "run-status", r->object, "the status \"%.*s\" is unknown", STR_ARG(r->status));
        return;
    }
    if (run->dispatch == RUN_DISPATCH_NONE)
        fsck_found(w->fsck, "run-dispatch", r->object, "the dispatch \"%.*s\" is unknown",
            STR_ARG(r->dispatch));
    if (!str_is_none(r->paused_from) &&
        (run->status != RUN_PAUSED || run->paused_from == RUN_STATUS_NONE))
        fsck_found(w->fsck, "run-status", r->object, "the run is %.*s, paused from \"%.*s\"",
            STR_ARG(r->status), STR_ARG(r->paused_from));
    if (run->has_finished_at != run_is_finished(run))
        fsck_found(w->fsck, "run-finished", r->object, "the run is %.*s and has %s finished_at",
            STR_ARG(r->status), run->has_finished_at ? "a" : "no");
}

static enum error fsck_documents(struct fsck_walk *w, const struct checked_run *r)
{
    static const char *const names[] = {"input", "state", "final_output"};
    struct query q;
    struct json unused;
    fsck_begin(w, &q, &SQL_FSCK_RUN_DOCUMENTS);
    query_uuid(&q, tenant_id, r->tenant_id);
    query_uuid(&q, run_id, r->run.id);
    if (!query_next(&q))
        fsck_found(w->fsck, "run-documents", r->object, "the documents are missing");
    else
        for (size_t i = 0; i < COUNT_OF(names); i++)
            fsck_json(w, r->object, names[i], row_text(&q), &unused);
    return query_end(&q);
}

static enum error fsck_run(struct fsck_walk *w, const struct checked_run *r)
{
    struct json unused;
    fsck_status(w, r);
    fsck_lease(w, r);
    fsck_family(w, r);
    fsck_json(w, r->object, "metadata", r->run.metadata, &unused);
    fsck_json(w, r->object, "error", r->run.error, &unused);
    if (w->fsck->quick)
        return OK;
    struct arena_mark mark = arena_mark(w->page);
    enum error e = fsck_documents(w, r);
    arena_rewind(w->page, mark);
    return e;
}

enum error fsck_read_runs(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct checked_run *runs = ARENA_ARRAY(w->page, struct checked_run, RUNS_A_PAGE);
    size_t n = 0;
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_RUNS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, RUNS_A_PAGE);
    while (query_next(&q))
        runs[n++] = read_run(w, &q);
    enum error e = query_end(&q);
    for (size_t i = 0; e == OK && i < n; i++)
        e = fsck_run(w, &runs[i]);
    if (n > 0) {
        w->after_tenant = runs[n - 1].tenant_id;
        w->after_id = runs[n - 1].run.id;
    }
    *out_rows = n;
    *out_more = n == RUNS_A_PAGE;
    return e;
}
