/* SPDX-License-Identifier: Apache-2.0 */
/* Archives: export and import of a thread, an agent or the tenant as a file. */
#include <errno.h>

#include "api/handlers.h"
#include "api/upkeep/export_places.h"
#include "base/alloc.h"
#include "model/upkeep/archive.h"
#include "model/upkeep/imports.h"

/* --- Export -------------------------------------------------------------------------------- */

/* An export in progress. It has a place until its content is copied, and a file until its end. */
struct export
{
    struct export_places *places;
    struct uuid tenant_id;
    bool has_place;
    struct archive_export *archive;
};

static void leave_place(struct export *x)
{
    if (x->has_place)
        export_places_drop(x->places, x->tenant_id);
    x->has_place = false;
}

static void drop_export(void *data)
{
    struct export *x = data;
    leave_place(x);
    export_files_drop(x->places, x->tenant_id);
    archive_export_destroy(x->archive);
    mem_free(x);
}

void release_export(struct call *call)
{
    drop_export(call->prepared);
    call->prepared = NULL;
}

static struct archive_subject subject_of(const struct call *call)
{
    size_t i;
    if (call_find_param(call, "thread_id", &i))
        return (struct archive_subject){ARCHIVE_THREAD, call->request.params[i]};
    if (call_find_param(call, "agent_id", &i))
        return (struct archive_subject){ARCHIVE_AGENT, call->request.params[i]};
    return (struct archive_subject){.what = ARCHIVE_TENANT};
}

/* The key must have the scopes of all routes that show the data of the archive. */
static enum error check_scopes(struct context *c, enum archive_what what)
{
    static const unsigned needed[ARCHIVE_WHAT_COUNT] = {
        [ARCHIVE_THREAD] = SCOPE_RUNS_READ | SCOPE_EVENTS_READ | SCOPE_MESSAGES_READ |
                           SCOPE_FILES_READ | SCOPE_PARTICIPANTS_READ | SCOPE_STATES_READ |
                           SCOPE_AGENTS_READ,
        [ARCHIVE_AGENT] = SCOPE_STATES_READ | SCOPE_STORAGE_READ,
    };
    unsigned missing = needed[what] & ~c->scopes;
    if (missing == 0)
        return OK;
    return problem_set(c->problem, ERR_FORBIDDEN, "this archive also requires the scope %s",
        scope_name((enum scope)(missing & -missing)));
}

static enum error refuse_export(struct context *c, enum export_place place)
{
    c->problem->retry_after_s = 1;
    if (place == EXPORT_PLACE_OWN)
        return problem_set(
            c->problem, ERR_UNAVAILABLE, "an export of the tenant is in progress: try again later");
    if (place == EXPORT_FILES_OWN)
        return problem_set(c->problem, ERR_UNAVAILABLE,
            "%d exports of the tenant are complete and not read: read them, or try again later",
            EXPORT_FILES_MAX);
    return problem_set(c->problem, ERR_UNAVAILABLE, "%d exports are in progress: try again later",
        place == EXPORT_PLACE_NONE ? STORE_LONG_READERS : EXPORT_FILES_MAX_TOTAL);
}

static enum error take_place(struct call *call, struct context *c)
{
    enum export_place place = export_places_take(call->api->exports, c->tenant_id);
    if (place == EXPORT_PLACE_TAKEN) {
        struct export *x = MEM_NEW(struct export);
        *x = (struct export){
            .places = call->api->exports, .tenant_id = c->tenant_id, .has_place = true};
        call->prepared = x;
        return OK;
    }
    return refuse_export(c, place);
}

/* Without a place the export does not begin: no job waits for a thread. A job that runs again has
 * its place already. */
enum error admit_export(struct call *call, struct context *c)
{
    const struct archive_subject subject = subject_of(call);
    TRY(archive_find_subject(c, &subject));
    TRY(check_scopes(c, subject.what));
    return call->prepared == NULL ? take_place(call, c) : OK;
}

static enum error fill_export(void *data, struct store *store, struct uuid tenant_id)
{
    struct export *x = data;
    struct arena arena;
    struct problem unused;
    arena_init(&arena, SIZE_MAX);
    problem_init(&unused, &arena);
    enum error e = archive_export_fill(x->archive, store, tenant_id, &unused);
    arena_deinit(&arena);
    leave_place(x);
    return e;
}

static struct str file_name_of(struct call *call, const struct archive_subject *subject)
{
    char id[UUID_TEXT_LEN];
    if (subject->what == ARCHIVE_TENANT)
        return STR("cairn-tenant.tar");
    uuid_format(subject->id, id);
    return arena_printf(
        call->arena, "cairn-%s-%.*s.tar", archive_what_word(subject->what).ptr, UUID_TEXT_LEN, id);
}

static enum error write_rows(struct call *call, struct context *c,
    const struct archive_subject *subject, struct export *x, int *out_fd)
{
    *out_fd = content_spool(call->api->store);
    if (*out_fd < 0)
        return problem_set(c->problem, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
            "the archive cannot be written: %s", strerror(errno));
    archive_export_destroy(x->archive); /* of a run before this one */
    x->archive = archive_export_create(*out_fd, call_may_continue, call);
    return archive_export_rows(c, subject, x->archive);
}

static enum error answer_export(
    struct call *call, const struct export *x, const struct archive_subject *subject, int fd)
{
    const struct sha256 digest = archive_export_digest(x->archive);
    struct str hex = hex_encode(call->arena, (struct str){(char *)digest.bytes, SHA256_LEN / 2});
    const struct download_facts facts = {.content_type = str_of(call->route->media_type),
        .file_name = file_name_of(call, subject),
        .etag = arena_printf(call->arena, "\"%.*s\"", STR_ARG(hex))};
    return call_answer_spool(call, fd, archive_export_size(x->archive), &facts);
}

/* The download takes the export over, unless the client already has the archive. */
enum error handle_export(struct call *call, struct context *c)
{
    const struct archive_subject subject = subject_of(call);
    int fd;
    TRY(admit_export(call, c));
    struct export *x = call->prepared;
    enum error e = write_rows(call, c, &subject, x, &fd);
    if (e != OK && fd >= 0)
        close(fd);
    if (e == OK)
        e = answer_export(call, x, &subject, fd);
    if (e != OK || !call->answer.download.is_wanted)
        return e;
    call->answer.download.fill = fill_export;
    call->answer.download.drop_fill = drop_export;
    call->answer.download.fill_data = x;
    call->answer.download.tenant_id = c->tenant_id;
    call->prepared = NULL;
    return OK;
}

/* --- Import -------------------------------------------------------------------------------- */

struct import_query {
    enum archive_ids ids;
    enum archive_names names;
    bool has_dry_run;
    bool dry_run;
};
#define OF struct import_query
static const struct field import_query_fields[] = {
    FIELD(ENUM_OR_NONE, ids, IN_QUERY,
        "keep: import with the same ids (default); remap: assign new ids",
        .choices = archive_id_modes),
    FIELD(ENUM_OR_NONE, names, IN_QUERY,
        "keep: an agent whose name already exists is a conflict (default); rename: it gets a "
        "number behind its name",
        .choices = archive_name_modes),
    FIELD(BOOL_OR_NONE, dry_run, IN_QUERY,
        "verify the archive and check for conflicts without importing"),
};
#undef OF
const struct schema query_import =
    SCHEMA("ImportQuery", struct import_query, import_query_fields, IN_QUERY);

struct import_answer {
    enum archive_what what;
    enum archive_ids ids;
    bool dry_run;
    struct archive_counts counts;
    struct nested_list objects;
};

#define OF struct archive_counts
static const struct field counts_fields[] = {
    FIELD(INT, agents, IN_READ),
    FIELD(INT, storage, IN_READ),
    FIELD(INT, threads, IN_READ),
    FIELD(INT, participants, IN_READ),
    FIELD(INT, runs, IN_READ),
    FIELD(INT, events, IN_READ),
    FIELD(INT, messages, IN_READ),
    FIELD(INT, files, IN_READ),
    FIELD(INT, file_versions, IN_READ),
    FIELD(INT, states, IN_READ),
    FIELD(INT, blobs, IN_READ),
    FIELD(INT, bytes, IN_READ),
};
#undef OF
static const struct schema schema_counts =
    SCHEMA("ImportCounts", struct archive_counts, counts_fields, IN_READ);

#define OF struct archive_mapped
static const struct field mapped_fields[] = {
    FIELD(STRING, type, IN_READ),
    FIELD(UUID, from, IN_READ, "id in the archive"),
    FIELD(UUID, to, IN_READ, "id in this tenant"),
    FIELD(BOOL, was_there, IN_READ,
        "true if the tenant already had this agent; it was not imported again"),
    FIELD(BOOL, key_dropped, IN_READ,
        "true if the thread was imported without its key, which another thread has"),
    FIELD(STRING_OR_NULL, renamed_to, IN_READ,
        "new name of an agent whose name was taken; null if it has its own"),
};
#undef OF
static const struct schema schema_mapped =
    SCHEMA("ImportedObject", struct archive_mapped, mapped_fields, IN_READ);

#define OF struct import_answer
static const struct field import_fields[] = {
    FIELD(ENUM, what, IN_READ, .choices = archive_whats),
    FIELD(ENUM, ids, IN_READ, .choices = archive_id_modes),
    FIELD(BOOL, dry_run, IN_READ),
    FIELD(NESTED, counts, IN_READ, .nested = &schema_counts),
    FIELD(
        LIST, objects, IN_READ, "the agents and threads of the archive", .nested = &schema_mapped),
};
#undef OF
const struct schema schema_import = SCHEMA("Import", struct import_answer, import_fields, IN_READ);

/* The state of an import between the upload and the answer. */
struct prepared {
    const struct api *api;
    struct uuid tenant_id; /* also if a later job does not authenticate the client any more */
    struct archive *archive;
    struct content_reader *content;
    int fd; /* the rows, where a job may read them */
    /* A conflict with the tenant. It is reported by the handler, because an answer that is kept for
     * the Idempotency-Key precedes it. */
    struct problem conflict;
};

/* Nothing is changed before the whole archive was read, so a stopping server can end the import
 * here; a client that has left cannot, because its bytes have all arrived. */
static enum error read_content(
    void *data, uint64_t at, char *place, size_t size, struct problem *problem)
{
    const struct prepared *p = data;
    if (atomic_load(&p->api->is_stopping))
        return problem_set(problem, ERR_CANCELLED, "the server stops: send the archive again");
    while (size > 0) {
        size_t got = 0;
        size_t piece = size < CONTENT_PIECE_BYTES ? size : CONTENT_PIECE_BYTES;
        enum error e = content_read(p->content, at, place, piece, &got);
        if (e != OK || got == 0)
            return problem_set(problem, e != OK ? e : ERR_DAMAGED, "the upload cannot be read");
        place += got;
        at += got;
        size -= got;
    }
    return OK;
}

static enum error verify(struct call *call, struct prepared *p, uint64_t size_bytes)
{
    struct store *store = call->api->store;
    TRY(content_open(store, p->tenant_id, call->upload.id, size_bytes, &p->content));
    const struct archive_source source = {read_content, p};
    p->archive = archive_create(&source, size_bytes);
    return archive_verify(p->archive, &call->problem);
}

static enum error spool(struct call *call, struct prepared *p)
{
    p->fd = content_spool(call->api->store);
    if (p->fd < 0)
        return problem_set(&call->problem, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
            "the archive cannot be read: %s", strerror(errno));
    return archive_spool_rows(p->archive, p->fd, &call->problem);
}

/* --- Jobs beside the call ------------------------------------------------------------------- */

/* A job on behalf of an import, while its call has none. */
struct import_job {
    struct call *call;
    enum error (*run)(struct call *call, struct context *c, bool *out_more);
    bool more;
};

static enum error run_import_job(void *data, struct tx *tx)
{
    struct import_job *job = data;
    const struct prepared *p = job->call->prepared;
    struct arena arena CLEANUP(arena_deinit);
    struct context c;
    arena_init(&arena, SIZE_MAX);
    problem_init(&job->call->problem, job->call->arena);
    context_init(&c, &arena, &job->call->problem, tx);
    context_enter(&c, p->tenant_id);
    c.actor = ACTOR_SYSTEM;
    c.request_id = job->call->request.id;
    job->more = false;
    return job->run(job->call, &c, &job->more);
}

/* Runs jobs until one has nothing more to do, or the server stops. Not on a store thread. */
static enum error run_jobs(struct call *call, enum store_mode mode,
    enum error (*run)(struct call *call, struct context *c, bool *out_more))
{
    const struct prepared *p = call->prepared;
    struct import_job job = {.call = call, .run = run, .more = true};
    while (job.more) {
        TRY(store_call_for(
            call->api->store, mode, tenant_flow(p->tenant_id), run_import_job, &job));
        if (job.more && atomic_load(&call->api->is_stopping))
            return problem_set(&call->problem, ERR_UNAVAILABLE, "the server is stopping");
    }
    return OK;
}

static enum archive_ids ids_of(const struct call *call)
{
    const struct import_query *query = call->request.query;
    return query->ids == ARCHIVE_IDS_NONE ? ARCHIVE_IDS_KEEP : query->ids;
}

static enum error check_some(struct call *call, struct context *c, bool *out_more)
{
    const struct prepared *p = call->prepared;
    return archive_check(c, p->archive, ids_of(call), out_more);
}

static enum error check_conflicts(struct call *call, struct prepared *p)
{
    enum error e = run_jobs(call, STORE_READ, check_some);
    if (e != ERR_CONFLICT && e != ERR_INVALID)
        return e;
    p->conflict = call->problem;
    return OK;
}

static enum error undo_some(struct call *call, struct context *c, bool *out_more)
{
    const struct prepared *p = call->prepared;
    return import_sweep(c, archive_import_id(p->archive), out_more);
}

static enum error fail(struct call *call, struct context *c, bool *out_more)
{
    const struct prepared *p = call->prepared;
    return import_fail(c, archive_import_id(p->archive));
}

/* The client receives its answer when nothing remains of the import. If this fails, the sweep
 * continues. */
static void undo_import(struct call *call)
{
    const struct problem refusal = call->problem;
    if (run_jobs(call, STORE_WRITE, fail) == OK)
        (void)!run_jobs(call, STORE_WRITE, undo_some);
    call->problem = refusal;
}

/* --- The route ------------------------------------------------------------------------------- */

enum error prepare_import(struct call *call, uint64_t size_bytes)
{
    const struct import_query *query = call->request.query;
    struct prepared *p = MEM_NEW(struct prepared);
    p->api = call->api;
    p->fd = -1;
    p->tenant_id = call->caller.tenant_id;
    call->prepared = p;
    TRY(verify(call, p, size_bytes));
    if (query->names == ARCHIVE_NAMES_RENAME)
        archive_rename_agents(p->archive);
    TRY(spool(call, p));
    TRY(check_conflicts(call, p));
    if (query->dry_run || p->conflict.code != OK)
        return OK;
    return archive_stage(p->archive, call->api->store, p->tenant_id, &call->problem);
}

void release_import(struct call *call)
{
    struct prepared *p = call->prepared;
    bool is_known = call->problem.code != ERR_OUTCOME_UNKNOWN;
    bool succeeded = call->answer.status < 300;
    if (!succeeded && (call->has_continued || !is_known))
        undo_import(call);
    if (p->archive != NULL && is_known)
        archive_unstage(p->archive, call->api->store, p->tenant_id, succeeded);
    archive_destroy(p->archive);
    content_close(p->content);
    if (p->fd >= 0)
        close(p->fd);
    mem_free(p);
    call->prepared = NULL;
}

static struct nested_list list_objects(struct call *call, const struct archive *a)
{
    const struct archive_counts n = archive_counts(a);
    struct nested_list list = {.count = (size_t)(n.agents + n.threads)};
    struct archive_mapped *items = ARENA_ARRAY(call->arena, struct archive_mapped, list.count);
    for (size_t i = 0; i < list.count; i++)
        archive_mapped(a, i, &items[i]);
    list.items = items;
    return list;
}

/* The thread or agent of the archive; of several, the first one. */
static void add_location(struct call *call, const struct nested_list *objects)
{
    if (objects->count == 0) {
        call_add_header(call, STR("Location"), STR("/v1/threads"));
        return;
    }
    const struct archive_mapped *first = objects->items;
    char id[UUID_TEXT_LEN];
    uuid_format(first->to, id);
    call_add_header(call, STR("Location"),
        arena_printf(call->arena, "/v1/%.*ss/%.*s", STR_ARG(first->type), UUID_TEXT_LEN, id));
}

enum error handle_import(struct call *call, struct context *c)
{
    const struct import_query *query = call->request.query;
    const struct prepared *p = call->prepared;
    bool more = false;
    if (p->conflict.code != OK) {
        call->problem = p->conflict;
        return p->conflict.code;
    }
    if (!query->dry_run)
        TRY(archive_add(c, p->archive, ids_of(call), &more));
    if (more)
        return call_continue(call);
    const struct import_answer answer = {.what = archive_subject(p->archive).what,
        .ids = ids_of(call),
        .dry_run = query->dry_run,
        .counts = archive_counts(p->archive),
        .objects = list_objects(call, p->archive)};
    if (query->dry_run)
        call->answer.status = 200;
    else
        add_location(call, &answer.objects);
    return call_answer(call, &schema_import, &answer, 0);
}
