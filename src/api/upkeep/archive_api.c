/* SPDX-License-Identifier: Apache-2.0 */
/* Archives: export and import of a thread, an agent or the tenant as a file. */
#include <errno.h>
#include <stdatomic.h>

#include "api/handlers.h"
#include "base/alloc.h"
#include "model/upkeep/archive.h"

/* An export holds a reader of the store until its rows are written, and then a content thread until
 * its content is written. */
enum { EXPORTS_AT_ONCE = 2 };
static atomic_int n_exports;

/* --- Export -------------------------------------------------------------------------------- */

/* The key must have the scopes of all routes that show the data of the archive. */
static enum error check_scopes(struct context *c, unsigned needed)
{
    unsigned missing = needed & ~c->scopes;
    if (missing == 0)
        return OK;
    return problem_set(c->problem, ERR_FORBIDDEN, "this archive also requires the scope %s",
        scope_name((enum scope)(missing & -missing)));
}

/* An export in progress, which is counted until it is complete. */
struct export
{
    struct archive_export *archive;
    bool is_complete;
};

static void complete(struct export *x)
{
    if (!x->is_complete)
        atomic_fetch_sub(&n_exports, 1);
    x->is_complete = true;
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
    complete(x);
    return e;
}

static void drop_export(void *data)
{
    struct export *x = data;
    complete(x);
    archive_export_destroy(x->archive);
    mem_free(x);
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
    const struct archive_subject *subject, int *out_fd, struct archive_export **out)
{
    *out_fd = content_spool(call->api->store);
    if (*out_fd < 0)
        return problem_set(c->problem, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
            "the archive cannot be written: %s", strerror(errno));
    *out = archive_export_create(*out_fd);
    return archive_export_rows(c, subject, *out);
}

static enum error answer_export(
    struct call *call, struct export *x, const struct archive_subject *subject, int fd)
{
    const struct sha256 digest = archive_export_digest(x->archive);
    struct str hex = hex_encode(call->arena, (struct str){(char *)digest.bytes, SHA256_LEN / 2});
    const struct download_facts facts = {.content_type = STR("application/x-tar"),
        .file_name = file_name_of(call, subject),
        .etag = arena_printf(call->arena, "\"%.*s\"", STR_ARG(hex))};
    return call_answer_spool(call, fd, archive_export_size(x->archive), &facts);
}

static enum error write_export(
    struct call *call, struct context *c, const struct archive_subject *subject)
{
    int fd;
    struct export *x = MEM_NEW(struct export);
    enum error e = write_rows(call, c, subject, &fd, &x->archive);
    if (e != OK && fd >= 0)
        close(fd);
    if (e == OK)
        e = answer_export(call, x, subject, fd);
    if (e != OK || !call->answer.download.is_wanted) { /* the client may already have received it */
        drop_export(x);
        return e;
    }
    call->answer.download.fill = fill_export;
    call->answer.download.drop_fill = drop_export;
    call->answer.download.fill_data = x;
    call->answer.download.tenant_id = c->tenant_id;
    return OK;
}

static enum error make_export(
    struct call *call, struct context *c, struct archive_subject subject, unsigned needed)
{
    TRY(archive_find_subject(c, &subject));
    TRY(check_scopes(c, needed));
    download_drop(&call->answer.download); /* of a run before this one */
    if (atomic_fetch_add(&n_exports, 1) < EXPORTS_AT_ONCE)
        return write_export(call, c, &subject);
    atomic_fetch_sub(&n_exports, 1);
    c->problem->retry_after_s = 1;
    return problem_set(c->problem, ERR_UNAVAILABLE, "%d exports are in progress: try again later",
        EXPORTS_AT_ONCE);
}

enum error handle_thread_export(struct call *call, struct context *c)
{
    return make_export(call, c, (struct archive_subject){ARCHIVE_THREAD, call->request.params[0]},
        SCOPE_RUNS_READ | SCOPE_EVENTS_READ | SCOPE_MESSAGES_READ | SCOPE_FILES_READ |
            SCOPE_PARTICIPANTS_READ | SCOPE_STATES_READ | SCOPE_AGENTS_READ);
}

enum error handle_agent_export(struct call *call, struct context *c)
{
    return make_export(call, c, (struct archive_subject){ARCHIVE_AGENT, call->request.params[0]},
        SCOPE_STATES_READ | SCOPE_STORAGE_READ);
}

enum error handle_tenant_export(struct call *call, struct context *c)
{
    return make_export(call, c, (struct archive_subject){.what = ARCHIVE_TENANT}, SCOPE_NONE);
}

/* --- Import -------------------------------------------------------------------------------- */

struct import_query {
    enum archive_ids ids;
    bool has_dry_run;
    bool dry_run;
};
#define OF struct import_query
static const struct field import_query_fields[] = {
    FIELD(ENUM_OR_NONE, ids, IN_QUERY,
        "keep: import with the same ids (default); remap: assign new ids",
        .choices = archive_id_modes),
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
    struct archive *archive;
    struct content_reader *content;
    int fd; /* the rows, where a job may read them */
};

static enum error read_content(
    void *data, uint64_t at, char *place, size_t size, struct problem *problem)
{
    while (size > 0) {
        size_t got = 0;
        size_t piece = size < CONTENT_PIECE_BYTES ? size : CONTENT_PIECE_BYTES;
        enum error e = content_read(data, at, place, piece, &got);
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
    TRY(content_open(store, call->caller.tenant_id, call->upload.id, size_bytes, &p->content));
    const struct archive_source source = {read_content, p->content};
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

enum error prepare_import(struct call *call, uint64_t size_bytes)
{
    const struct import_query *query = call->request.query;
    struct prepared *p = MEM_NEW(struct prepared);
    p->fd = -1;
    call->prepared = p;
    TRY(verify(call, p, size_bytes));
    if (!query->dry_run)
        TRY(archive_stage(p->archive, call->api->store, call->caller.tenant_id, &call->problem));
    return spool(call, p);
}

void release_import(struct call *call)
{
    struct prepared *p = call->prepared;
    bool is_known = call->problem.code != ERR_OUTCOME_UNKNOWN;
    if (p->archive != NULL && is_known)
        archive_unstage(
            p->archive, call->api->store, call->caller.tenant_id, call->answer.status < 300);
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

enum error handle_import(struct call *call, struct context *c)
{
    const struct import_query *query = call->request.query;
    const struct prepared *p = call->prepared;
    enum archive_ids ids = query->ids == ARCHIVE_IDS_NONE ? ARCHIVE_IDS_KEEP : query->ids;
    TRY(archive_apply(c, p->archive, ids, query->dry_run));
    const struct import_answer answer = {.what = archive_subject(p->archive).what,
        .ids = ids,
        .dry_run = query->dry_run,
        .counts = archive_counts(p->archive),
        .objects = list_objects(call, p->archive)};
    if (query->dry_run)
        call->answer.status = 200;
    return call_answer(call, &schema_import, &answer, 0);
}
