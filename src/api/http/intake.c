/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/intake.h"

#include "api/http/call.h"
#include "base/clock.h"
#include "model/files/file_uploads.h"

struct blob intake_blob(const struct intake *upload)
{
    return (struct blob){
        .id = upload->id, .sha256 = upload->sha256, .size_bytes = (int64_t)upload->size_bytes};
}

/* --- Content-Digest ------------------------------------------------------------------------- */

/* The base64 between the colons of a structured field's bytes. */
static bool decode_digest(struct arena *arena, struct str text, struct sha256 *out)
{
    struct str bytes;
    if (text.len != 46 || text.ptr[0] != ':' || text.ptr[45] != ':' || text.ptr[44] != '=')
        return false;
    char *url = arena_alloc(arena, 43);
    for (size_t i = 0; i < 43; i++) {
        char c = text.ptr[i + 1];
        if (c == '-' || c == '_')
            return false;
        url[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
    }
    if (!base64url_decode(arena, (struct str){url, 43}, &bytes) || bytes.len != SHA256_LEN)
        return false;
    memcpy(out->bytes, bytes.ptr, SHA256_LEN);
    return true;
}

/* SHA-256 may be listed among other algorithms. */
static enum error read_digest(struct call *call, struct str name)
{
    struct str rest = http_header(call->request.http, name), part;
    struct sha256 digest;
    if (str_is_none(rest))
        return OK;
    if (http_header_count(call->request.http, name) > 1)
        return problem_fault(&call->problem, name, "must not be repeated");
    while (str_next_part(&rest, ',', &part)) {
        part = str_trim_blanks(part);
        if (!str_starts_with(part, STR("sha-256=")))
            continue;
        if (!decode_digest(call->arena, str_slice(part, 8, part.len), &digest))
            return problem_fault(
                &call->problem, name, "must be sha-256=:BASE64:, the SHA-256 of the body");
        if (call->upload.has_digest && memcmp(&digest, &call->upload.digest, sizeof digest) != 0)
            return problem_fault(&call->problem, name, "must be the same as Content-Digest");
        call->upload.has_digest = true;
        call->upload.digest = digest;
    }
    return OK;
}

enum error intake_read_digest(struct call *call)
{
    TRY(read_digest(call, STR("Content-Digest")));
    return read_digest(call, STR("Repr-Digest"));
}

/* --- The lease of an upload of several requests --------------------------------------------- */

/* The lease is renewed this often while bytes arrive: well before it ends, even if a write is slow.
 * */
#define RENEW_US (INT64_C(1000000) * FILE_UPLOAD_LEASE_S / 4)

enum lease_act { LEASE_TAKE, LEASE_RENEW, LEASE_RELEASE };
struct lease_job {
    struct call *call;
    enum lease_act act;
};

static enum error act_on_lease(struct context *c, const struct lease_job *job)
{
    const struct intake *u = &job->call->upload;
    switch (job->act) {
    case LEASE_TAKE:
        return file_upload_lease(
            c, job->call->request.params[0], u->upload_id, (int64_t)u->offset, u->writer);
    case LEASE_RENEW:
        return file_upload_renew(c, u->upload_id, u->writer);
    case LEASE_RELEASE:
        break;
    }
    return file_upload_release(c, u->upload_id, u->writer);
}

/* The loop uses the call's arena meanwhile, so the problem is copied elsewhere. */
static enum error run_lease(void *data, struct tx *tx)
{
    struct lease_job *job = data;
    struct intake *u = &job->call->upload;
    struct arena arena CLEANUP(arena_deinit);
    struct problem problem;
    struct context c;
    arena_init(&arena, 64 * 1024);
    problem_init(&problem, &arena);
    context_init(&c, &arena, &problem, tx);
    context_enter(&c, job->call->caller.tenant_id);
    enum error e = act_on_lease(&c, job);
    u->refusal[0] = '\0';
    if (e != OK && problem.detail.len > 0)
        snprintf(u->refusal, sizeof u->refusal, "%.*s", STR_ARG(problem.detail));
    u->extension[0] = '\0';
    if (e != OK && problem.extension.len > 0)
        snprintf(u->extension, sizeof u->extension, "%.*s", STR_ARG(problem.extension));
    return e;
}

static enum error do_lease(struct call *call, enum lease_act act)
{
    struct lease_job job = {call, act};
    return store_call(call->api->store, STORE_WRITE, run_lease, &job);
}

static enum error take_lease(struct call *call)
{
    struct intake *u = &call->upload;
    int64_t now_us = clock_steady_us();
    u->writer = uuid_v7();
    enum error e = do_lease(call, LEASE_TAKE);
    if (e != OK)
        u->writer = UUID_NIL;
    u->renewed_us = now_us;
    return e;
}

/* Called before each write: the lease must certainly be held. */
static enum error need_lease(void *data)
{
    struct call *call = data;
    int64_t now_us = clock_steady_us();
    if (!call->upload.is_resumed || now_us - call->upload.renewed_us < RENEW_US)
        return OK;
    TRY(do_lease(call, LEASE_RENEW));
    call->upload.renewed_us = now_us;
    return OK;
}

/* For reading content again: the client can continue from the bytes that are recorded. */
static enum error may_measure(void *data)
{
    const struct call *call = data;
    TRY(atomic_load(&call->api->is_stopping) ? ERR_CANCELLED : OK);
    return need_lease(data);
}

/* --- The bytes ------------------------------------------------------------------------------ */

uint64_t intake_limit(const struct call *call)
{
    size_t of_route = call->route->body_limit;
    uint64_t limit = of_route > 0 ? of_route : call->api->upload_max_bytes;
    uint64_t max = call->upload.max_bytes;
    return max > 0 && max < limit ? max : limit;
}

enum error intake_refuse_large(struct call *call)
{
    return problem_set(&call->problem, ERR_TOO_LARGE, "the body must have at most %llu bytes",
        (unsigned long long)intake_limit(call));
}

static enum error reopen(struct call *call, struct content_writer **out_writer)
{
    const struct intake *u = &call->upload;
    enum error e =
        content_reopen(call->api->store, call->caller.tenant_id, u->id, u->offset, out_writer);
    bool is_first = e == ERR_DAMAGED && u->offset == 0;
    return is_first ? content_create(call->api->store, call->caller.tenant_id, u->id, out_writer)
                    : e;
}

enum error intake_open(struct call *call, struct content_writer **out_writer)
{
    struct intake *u = &call->upload;
    if (!u->is_resumed) {
        u->id = uuid_v7();
        return content_create(call->api->store, call->caller.tenant_id, u->id, out_writer);
    }
    TRY(take_lease(call));
    enum error e = reopen(call, out_writer);
    if (e != OK)
        (void)!do_lease(call, LEASE_RELEASE);
    return e;
}

enum error intake_write(struct call *call, struct content_writer *writer, struct str bytes)
{
    struct intake *u = &call->upload;
    struct str rest = str_slice(bytes, 0, INTAKE_HEAD_BYTES - u->head.len);
    if (rest.len > 0) {
        memcpy(u->head_bytes + u->head.len, rest.ptr, rest.len);
        u->head = (struct str){u->head_bytes, u->head.len + rest.len};
    }
    TRY(need_lease(call));
    return content_append(writer, bytes);
}

bool intake_is_long(const struct call *call, bool is_final)
{
    return call->prepared != NULL ||
           (is_final && (call->route->prepare != NULL || call->upload.offset > 0));
}

enum error intake_prepare(struct call *call, const struct content_info *info)
{
    return call->route->prepare != NULL ? call->route->prepare(call, info->size_bytes) : OK;
}

enum error intake_sync(
    struct call *call, struct content_writer *writer, struct content_info *out_info)
{
    struct intake *u = &call->upload;
    struct content_info whole;
    enum error e = content_sync(writer, out_info);
    if (e != OK || u->whole_bytes == 0 || out_info->size_bytes != u->whole_bytes)
        return e;
    whole = *out_info;
    if (u->offset > 0) /* the writer has hashed only its own bytes */
        e = content_measure(call->api->store, call->caller.tenant_id, u->id, u->whole_bytes,
            may_measure, call, &whole);
    u->sealed_id = uuid_v7();
    if (e == OK)
        e = content_seal(writer, u->sealed_id);
    u->has_whole = e == OK;
    u->whole = whole.sha256;
    return e;
}

enum error intake_complete(struct call *call, const struct content_info *info, bool is_partial)
{
    struct intake *u = &call->upload;
    u->size_bytes = info->size_bytes;
    u->received_bytes = info->size_bytes - u->offset;
    u->sha256 = info->sha256;
    u->is_partial = is_partial;
    call->is_admitting = false;
    if (u->has_digest && !is_partial && memcmp(&u->digest, &u->sha256, sizeof u->digest) != 0)
        return problem_fault(&call->problem, STR("Content-Digest"),
            "must be the SHA-256 of the body, which is sha-256=:%.*s:",
            STR_ARG(base64_encode(
                call->arena, (struct str){(const char *)u->sha256.bytes, SHA256_LEN})));
    return OK;
}

void intake_explain(struct call *call, enum error e)
{
    struct intake *u = &call->upload;
    if (u->refusal[0] != '\0')
        problem_set(&call->problem, e, "%s", u->refusal);
    if (u->extension[0] != '\0')
        call->problem.extension = str_of(u->extension);
}

static bool is_kept(const struct call *call)
{
    if (call->problem.code == ERR_OUTCOME_UNKNOWN)
        return true;
    return call->context != NULL && call->answer.status < 300 &&
           uuid_eq(call->context->adopted_blob, call->upload.id);
}

/* The received bytes stay, even if they were not recorded: the next request truncates them. */
static void end_resumed(struct call *call, struct content_writer *writer)
{
    bool is_recorded = call->answer.status < 300;
    if (!is_recorded && call->problem.code != ERR_OUTCOME_UNKNOWN)
        content_unseal(writer);
    content_keep(writer);
    if (!is_recorded && writer != NULL)
        (void)!do_lease(call, LEASE_RELEASE);
}

void intake_end(struct call *call, struct content_writer *writer)
{
    if (call->prepared != NULL)
        call->route->release(call);
    if (call->upload.is_resumed)
        end_resumed(call, writer);
    else if (is_kept(call))
        content_keep(writer);
    else
        content_abandon(writer);
}
