/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/threads/participants.h"

#define PARTICIPANT_FIELD(member) offsetof(struct participant, member)

/* What a patch may change stands between principal and online; a join also gives the principal. */
enum { PATCH_FIELDS = 7, JOIN_FIELDS = 7 };

static const struct field participant_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = PARTICIPANT_FIELD(id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(thread_id)},
    {.name = "principal",
        .kind = FIELD_STRING,
        .offset = PARTICIPANT_FIELD(principal),
        .min = 1,
        .max = PRINCIPAL_MAX_BYTES,
        .summary = "user:NAME or agent:UUID; one participant each"},
    {.name = "role",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(role),
        .choices = participant_roles,
        .summary = "user, and assistant for an agent, unless told"},
    {.name = "name",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(name),
        .min = 1,
        .max = PARTICIPANT_NAME_MAX_BYTES,
        .summary = "that of the principal unless told"},
    {.name = "image",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PARTICIPANT_FIELD(image),
        .max = PARTICIPANT_IMAGE_MAX_BYTES,
        .summary = "where a picture of it is"},
    {.name = "status",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PARTICIPANT_FIELD(status),
        .max = PARTICIPANT_STATUS_MAX_BYTES,
        .summary = "what it is doing, in its own words"},
    {.name = "permission",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(permission),
        .choices = participant_permissions,
        .summary = "read_write unless told"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(metadata),
        .max = PARTICIPANT_METADATA_MAX_BYTES},
    {.name = "active",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(active),
        .has_offset = PARTICIPANT_FIELD(has_active),
        .summary = "who has left is not, and has no access"},
    {.name = "barred",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(barred),
        .has_offset = PARTICIPANT_FIELD(has_active),
        .summary = "somebody else took access away: no share gives it back, only somebody by name"},
    {.name = "shares_revoked",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY | FIELD_HIDE_NONE | FIELD_OPTIONAL,
        .offset = PARTICIPANT_FIELD(shares_revoked),
        .has_offset = PARTICIPANT_FIELD(has_shares_revoked),
        .summary = "after a change that barred it: how many of the shares that it had made"},
    {.name = "online",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(online),
        .has_offset = PARTICIPANT_FIELD(has_active),
        .summary = "from one heartbeat until the time that it gave is over"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = PARTICIPANT_FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_participant = {
    "Participant", participant_fields, COUNT_OF(participant_fields), sizeof(struct participant), 0};
const struct schema schema_participant_join = {
    "ParticipantJoin", &participant_fields[2], JOIN_FIELDS, sizeof(struct participant), 0};
const struct schema schema_participant_patch = {
    "ParticipantPatch", &participant_fields[3], PATCH_FIELDS, sizeof(struct participant), 0};

struct participants_query {
    struct page_query page;
    bool has_active;
    bool active;
    struct str role;
    struct str principal;
};
#define QUERY_FIELD(member) offsetof(struct participants_query, member)
static const struct field query_fields[] = {
    PAGE_FIELDS(struct participants_query),
    {.name = "active",
        .kind = FIELD_BOOL,
        .offset = QUERY_FIELD(active),
        .has_offset = QUERY_FIELD(has_active),
        .summary = "true: those who take part now; false: those who have left"},
    {.name = "role", .kind = FIELD_ENUM, .offset = QUERY_FIELD(role), .choices = participant_roles},
    {.name = "principal",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(principal),
        .min = 1,
        .max = PRINCIPAL_MAX_BYTES},
};
const struct schema query_participants = {"ParticipantsQuery", query_fields, COUNT_OF(query_fields),
    sizeof(struct participants_query), 0};

struct heartbeat_body {
    bool has_ttl_s;
    int64_t ttl_s;
    struct str status;
};
static const struct field heartbeat_fields[] = {
    {.name = "ttl_s",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct heartbeat_body, ttl_s),
        .has_offset = offsetof(struct heartbeat_body, has_ttl_s),
        .max = PARTICIPANT_ONLINE_MAX_S,
        .summary = "seconds that it counts as online, 60 unless told; 0: it is not any more"},
    {.name = "status",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct heartbeat_body, status),
        .max = PARTICIPANT_STATUS_MAX_BYTES,
        .summary = "what it is doing, in its own words"},
};
const struct schema schema_participant_heartbeat = {"ParticipantHeartbeat", heartbeat_fields,
    COUNT_OF(heartbeat_fields), sizeof(struct heartbeat_body), 0};

static void answer(struct call *call, const struct participant *p)
{
    call_answer(call, &schema_participant, p, p->version);
}

/* The one that the path names: by its id, or as "me". */
static enum error find(struct call *call, struct context *c, struct participant *out)
{
    struct thread thread;
    bool found;
    enum error e = thread_get_head(c, call->request.params[0], &thread);
    if (e != OK)
        return e;
    if (!str_is_none(route_param_name(call->route, 1)))
        return participant_get(c, thread.id, call->request.params[1], out);
    if (str_is_none(c->principal))
        return problem_set(&call->problem, ERR_CONFLICT,
            "me is the principal that a request acts for, and this one acts for none: use a key "
            "that has a principal, or send Cairn-Principal");
    e = participant_self(c, thread.id, &found, out);
    return e == OK && !found ? context_not_found(c, "thread", thread.id) : e;
}

enum error handle_participant_join(struct call *call, struct context *c)
{
    struct participant p = *(const struct participant *)call->request.input;
    enum error e = participant_join(c, call->request.params[0], &p);
    if (e == OK)
        answer(call, &p);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct participant *)item)->id);
}

enum error handle_participant_list(struct call *call, struct context *c)
{
    const struct participants_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct participant *all = ARENA_ARRAY(call->arena, struct participant, limit);
    struct participant_filter filter = {.has_active = q->has_active,
        .active = q->active,
        .role = q->role,
        .principal = q->principal};
    bool more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before);
    if (e == OK)
        e = participant_list(c, call->request.params[0], &filter, limit, all, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_participant, all, count, more, cursor_of);
    return e;
}

enum error handle_participant_get(struct call *call, struct context *c)
{
    struct participant p;
    enum error e = find(call, c, &p);
    if (e == OK)
        answer(call, &p);
    return e;
}

/* What a patch takes away has no default to go back to. */
static enum error check_whole(struct call *call, const struct participant *p)
{
    const struct {
        const char *pointer;
        bool is_missing;
    } parts[] = {{"/role", str_is_none(p->role)}, {"/name", str_is_none(p->name)},
        {"/permission", str_is_none(p->permission)}, {"/active", !p->has_active}};
    enum error e = OK;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].is_missing)
            e = problem_fault(&call->problem, str_of(parts[i].pointer), "cannot be removed");
    return e;
}

enum error handle_participant_patch(struct call *call, struct context *c)
{
    struct participant before, after;
    enum error e = find(call, c, &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = check_whole(call, &after);
    if (e == OK && str_is_none(after.metadata))
        after.metadata = STR("{}");
    if (e == OK)
        e = participant_update(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_participant_leave(struct call *call, struct context *c)
{
    struct participant p;
    enum error e = find(call, c, &p);
    if (e == OK)
        e = participant_leave(c, &p);
    if (e == OK)
        answer(call, &p);
    return e;
}

enum error handle_participant_heartbeat(struct call *call, struct context *c)
{
    const struct heartbeat_body *body = call->request.input;
    struct participant p;
    enum error e = find(call, c, &p);
    if (e == OK)
        e = participant_heartbeat(
            c, &p, body->has_ttl_s ? body->ttl_s : PARTICIPANT_ONLINE_DEFAULT_S, body->status);
    if (e == OK)
        answer(call, &p);
    return e;
}
