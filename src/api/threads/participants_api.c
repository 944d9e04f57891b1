/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/threads/participants.h"

enum { PATCH_FIELDS = 7, JOIN_FIELDS = 7 };

#define OF struct participant
static const struct field participant_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(STRING, principal, IN_BODY | IN_READ, "user:NAME or agent:UUID; unique within the thread",
        .min = 1, .max = PRINCIPAL_MAX_BYTES),
    FIELD(ENUM_OR_NONE, role, IN_BODY | IN_PATCH | IN_READ,
        "default: assistant for an agent, otherwise user", .choices = participant_roles),
    FIELD(STRING_OR_NONE, name, IN_BODY | IN_PATCH | IN_READ, "default: the name of the principal",
        .min = 1, .max = PARTICIPANT_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, image, IN_BODY | IN_PATCH | IN_READ, "URI of an image",
        .max = PARTICIPANT_IMAGE_MAX_BYTES),
    FIELD(STRING_OR_NULL, status, IN_BODY | IN_PATCH | IN_READ, "current activity, as free text",
        .max = PARTICIPANT_STATUS_MAX_BYTES),
    FIELD(ENUM_OR_NONE, permission, IN_BODY | IN_PATCH | IN_READ, "default: read_write",
        .choices = participant_permissions),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_PATCH | IN_READ,
        .max = PARTICIPANT_METADATA_MAX_BYTES),
    FIELD(BOOL_OR_NONE, active, IN_PATCH | IN_READ,
        "false if the participant has left and has no access"),
    FIELD(BOOL, barred, IN_READ,
        "true if another principal removed the access: shares cannot restore it, only an explicit "
        "change of the participant"),
    FIELD(INT_OR_NONE, shares_revoked, IN_READ,
        "number of shares of the participant that were revoked by a change that barred it",
        .hide_none = true),
    FIELD(BOOL, online, IN_READ,
        "true while the ttl_s of a heartbeat has not elapsed, and while the participant has an "
        "open "
        "stream of the thread, and up to 30 s longer"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_participant =
    SCHEMA("Participant", struct participant, participant_fields, IN_READ);
const struct schema schema_participant_join =
    SCHEMA("ParticipantJoin", struct participant, participant_fields, IN_BODY);
const struct schema schema_participant_patch =
    SCHEMA("ParticipantPatch", struct participant, participant_fields, IN_PATCH);

struct participants_query {
    struct page_query page;
    bool has_active;
    bool active;
    enum participant_role role;
    struct str principal;
};
#define OF struct participants_query
static const struct field query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(BOOL_OR_NONE, active, IN_QUERY,
        "true: only current participants; false: only former participants"),
    FIELD(ENUM_OR_NONE, role, IN_QUERY, .choices = participant_roles),
    FIELD(STRING_OR_NONE, principal, IN_QUERY, .min = 1, .max = PRINCIPAL_MAX_BYTES),
};
#undef OF
const struct schema query_participants =
    SCHEMA("ParticipantsQuery", struct participants_query, query_fields, IN_QUERY);

struct heartbeat_body {
    bool has_ttl_s;
    int64_t ttl_s;
    struct str status;
};
#define OF struct heartbeat_body
static const struct field heartbeat_fields[] = {
    FIELD(INT_OR_NONE, ttl_s, IN_BODY,
        "seconds for which the participant is online at least; default: 60; 0: offline at once",
        .max = PARTICIPANT_ONLINE_MAX_S),
    FIELD(STRING_OR_NONE, status, IN_BODY, "current activity, as free text",
        .max = PARTICIPANT_STATUS_MAX_BYTES),
};
#undef OF
const struct schema schema_participant_heartbeat =
    SCHEMA("ParticipantHeartbeat", struct heartbeat_body, heartbeat_fields, IN_BODY);

static enum error answer(struct call *call, const struct participant *p)
{
    return call_answer(call, &schema_participant, p, p->version);
}

/* Finds the participant of the path, which is an id or "me". */
static enum error find(struct call *call, struct context *c, struct participant *out)
{
    struct thread thread;
    bool found;
    TRY(thread_get_head(c, call->request.params[0], &thread));
    if (!str_is_none(route_param_name(call->route, 1)))
        return participant_get(c, thread.id, call->request.params[1], out);
    if (str_is_none(c->principal))
        return problem_set(&call->problem, ERR_CONFLICT,
            "\"me\" is the principal of the request, but this request has none: use a key with a "
            "principal, or send Cairn-Principal");
    TRY(participant_self(c, thread.id, &found, out));
    return !found ? context_not_found(c, "thread", thread.id) : OK;
}

enum error handle_participant_join(struct call *call, struct context *c)
{
    struct participant p = *(const struct participant *)call->request.input;
    TRY(participant_join(c, call->request.params[0], &p));
    return answer(call, &p);
}

enum error handle_participant_list(struct call *call, struct context *c)
{
    const struct participants_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct participant *all = ARENA_ARRAY(call->arena, struct participant, page.limit);
    struct participant_filter filter = {.has_active = q->has_active,
        .active = q->active,
        .role = q->role,
        .principal = q->principal};
    TRY(cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before));
    TRY(participant_list(c, call->request.params[0], &filter, &page, all));
    return call_answer_page(
        call, &schema_participant, all, &page, CURSOR_BY(struct participant, id));
}

enum error handle_participant_get(struct call *call, struct context *c)
{
    struct participant p;
    TRY(find(call, c, &p));
    return answer(call, &p);
}

/* A member that a patch removes has no default. */
static enum error check_whole(struct call *call, const struct participant *p)
{
    const struct {
        const char *pointer;
        bool is_missing;
    } parts[] = {{"/role", p->role == ROLE_NONE}, {"/name", str_is_none(p->name)},
        {"/permission", p->permission == PERMISSION_NONE}, {"/active", !p->has_active}};
    enum error e = OK;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].is_missing)
            e = problem_fault(&call->problem, str_of(parts[i].pointer), "cannot be removed");
    return e;
}

enum error handle_participant_patch(struct call *call, struct context *c)
{
    struct participant before, after;
    TRY(find(call, c, &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    TRY(check_whole(call, &after));
    if (str_is_none(after.metadata))
        after.metadata = STR("{}");
    TRY(participant_update(c, &before, &after));
    return answer(call, &after);
}

enum error handle_participant_leave(struct call *call, struct context *c)
{
    struct participant p;
    TRY(find(call, c, &p));
    TRY(participant_leave(c, &p));
    return answer(call, &p);
}

enum error handle_participant_heartbeat(struct call *call, struct context *c)
{
    const struct heartbeat_body *body = call->request.input;
    struct participant p;
    TRY(find(call, c, &p));
    TRY(participant_heartbeat(
        c, &p, body->has_ttl_s ? body->ttl_s : PARTICIPANT_ONLINE_DEFAULT_S, body->status));
    return answer(call, &p);
}
