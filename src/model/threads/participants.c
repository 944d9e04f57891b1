/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/participants.h"

#include "base/json/json_write.h"
#include "base/link.h"
#include "model/agents/agents.h"
#include "model/tenancy/audit.h"
#include "model/threads/events.h"
#include "model/threads/participants.sql.h"
#include "model/threads/shares.h"
#include "model/threads/threads.h"

ENUM_DEFINE(participant_roles, PARTICIPANT_ROLES);
ENUM_DEFINE(participant_permissions, PERMISSIONS);

/* --- Principals ----------------------------------------------------------------------------- */

static const struct str USER = {"user:", 5}, AGENT = {"agent:", 6};

const char PRINCIPAL_RULE[] =
    "must be user:NAME or agent:UUID of at most 256 bytes, without control characters, and without "
    "blanks at the start or end of the name";

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return false;
    return name.len > 0 && str_is_utf8(name) && str_eq(str_trim_blanks(name), name);
}

bool principal_agent(struct str principal, struct uuid *out_agent_id)
{
    return str_starts_with(principal, AGENT) &&
           uuid_parse(str_slice(principal, AGENT.len, principal.len), out_agent_id);
}

bool principal_is_agent(struct str principal, struct uuid agent_id)
{
    struct uuid own;
    return principal_agent(principal, &own) && uuid_eq(own, agent_id);
}

bool principal_is_valid(struct str principal)
{
    struct uuid agent_id;
    if (principal.len > PRINCIPAL_MAX_BYTES)
        return false;
    if (str_starts_with(principal, USER))
        return is_name(str_slice(principal, USER.len, principal.len));
    if (!principal_agent(principal, &agent_id))
        return false;
    /* A principal has only one form, or two keys of one agent would act for two principals. */
    char text[UUID_TEXT_LEN];
    uuid_format(agent_id, text);
    return str_ends_with(principal, (struct str){text, sizeof text});
}

enum error principal_check(struct context *c, struct str principal, struct str pointer)
{
    struct uuid agent_id;
    bool found;
    if (!principal_is_valid(principal))
        return problem_fault(c->problem, pointer, "%s", PRINCIPAL_RULE);
    if (!principal_agent(principal, &agent_id))
        return OK;
    TRY(agent_exists(c, agent_id, &found));
    return !found ? problem_fault(c->problem, pointer, "must be an existing agent") : OK;
}

/* --- Access --------------------------------------------------------------------------------- */

static enum error find_permission(
    struct context *c, struct uuid thread_id, enum permission *out_permission)
{
    struct query q;
    context_query(c, &q, &SQL_PARTICIPANT_PERMISSION);
    query_text(&q, principal, c->principal);
    query_uuid(&q, thread_id, thread_id);
    *out_permission = query_next(&q) ? row_enum(&q, participant_permissions) : PERMISSION_NONE;
    return query_end(&q);
}

static enum error refuse(struct context *c, const char *what)
{
    return problem_set(c->problem, ERR_FORBIDDEN,
        "%.*s has only the permission read in this thread: %s", STR_ARG(c->principal), what);
}

enum error participant_check_access(struct context *c, struct uuid thread_id, bool to_write)
{
    enum permission permission;
    if (str_is_none(c->principal))
        return OK;
    TRY(context_lock_thread(c, thread_id));
    TRY(find_permission(c, thread_id, &permission));
    if (permission == PERMISSION_NONE)
        return context_not_found(c, "thread", thread_id);
    return to_write && permission < PERMISSION_READ_WRITE
               ? refuse(c, "this request requires read_write")
               : OK;
}

enum error participant_may_see(struct context *c, struct uuid thread_id, bool *out_may)
{
    enum permission permission = PERMISSION_NONE;
    enum error e = str_is_none(c->principal) ? OK : find_permission(c, thread_id, &permission);
    *out_may = str_is_none(c->principal) || permission != PERMISSION_NONE;
    return e;
}

/* --- Read ----------------------------------------------------------------------------------- */

static void read_row(struct context *c, struct query *q, struct participant *out)
{
    participant_read(q, out);
    out->told_online = row_i64_if(q, &out->online_until);
    out->online = out->told_online && out->online_until > c->lease_now_us;
}

/* Reads at most one row and ends the query. */
static enum error read_one(
    struct context *c, struct query *q, bool *out_found, struct participant *out_participant)
{
    *out_found = query_next(q);
    if (*out_found)
        read_row(c, q, out_participant);
    return query_end(q);
}

enum error participant_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct participant *out_participant)
{
    struct query q;
    bool found;
    TRY(context_lock_thread(c, thread_id));
    context_query(c, &q, &SQL_PARTICIPANT_GET);
    query_uuid(&q, thread_id, thread_id);
    query_uuid(&q, id, id);
    TRY(read_one(c, &q, &found, out_participant));
    return !found ? context_not_found(c, "participant", id) : OK;
}

/* Without the lock of the thread. */
static enum error look_up(struct context *c, struct uuid thread_id, struct str principal,
    bool *out_found, struct participant *out_participant)
{
    struct query q;
    context_query(c, &q, &SQL_PARTICIPANT_BY_PRINCIPAL);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, principal, principal);
    return read_one(c, &q, out_found, out_participant);
}

enum error participant_find(struct context *c, struct uuid thread_id, struct str principal,
    bool *out_found, struct participant *out_participant)
{
    TRY(context_lock_thread(c, thread_id));
    return look_up(c, thread_id, principal, out_found, out_participant);
}

enum error participant_self(
    struct context *c, struct uuid thread_id, bool *out_found, struct participant *out_participant)
{
    *out_found = false;
    if (str_is_none(c->principal))
        return OK;
    return participant_find(c, thread_id, c->principal, out_found, out_participant);
}

enum error participant_list(struct context *c, struct uuid thread_id,
    const struct participant_filter *filter, struct page *page,
    struct participant *out_participants)
{
    struct thread thread;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    page_begin(c, &q, &SQL_PARTICIPANT_LIST, page);
    query_uuid(&q, thread_id, thread_id);
    query_uuid_if(&q, before, filter->has_before, filter->before);
    if (filter->has_active)
        query_bool(&q, active, filter->active);
    query_text(&q, role, participant_role_word(filter->role));
    query_text(&q, principal, filter->principal);
    while (page_next(&q, page))
        read_row(c, &q, &out_participants[page->count++]);
    return query_end(&q);
}

/* --- Events --------------------------------------------------------------------------------- */

/* `changed` is NULL for a new participant. */
static struct str describe(
    struct arena *arena, const struct participant *p, const char *const *changed)
{
    struct json_text text;
    json_text_init(&text, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&text.w);
    json_write_name(&text.w, "participant_id");
    json_write_uuid(&text.w, p->id);
    json_write_text_member(&text.w, "principal", p->principal);
    json_write_text_member(&text.w, "role", participant_role_word(p->role));
    json_write_text_member(&text.w, "name", p->name);
    json_write_text_member(&text.w, "status", p->status);
    json_write_text_member(&text.w, "permission", permission_word(p->permission));
    json_write_name(&text.w, "active");
    json_write_bool(&text.w, p->active);
    json_write_name(&text.w, "barred");
    json_write_bool(&text.w, p->barred);
    if (p->has_shares_revoked) {
        json_write_name(&text.w, "shares_revoked");
        json_write_i64(&text.w, p->shares_revoked);
    }
    json_write_name(&text.w, "online");
    json_write_bool(&text.w, p->online);
    if (changed != NULL) {
        json_write_name(&text.w, "changed");
        json_write_array(&text.w);
        for (; *changed != NULL; changed++)
            json_write_string(&text.w, str_of(*changed));
        json_write_end(&text.w);
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error emit(
    struct context *c, const struct participant *p, const char *const *changed, bool ends_access)
{
    struct event event = {.kind = event_kind_word(changed == NULL ? EVENT_PARTICIPANT_CREATED
                                                                  : EVENT_PARTICIPANT_UPDATED),
        .payload = describe(c->arena, p, changed),
        .ends_access = ends_access};
    return event_emit(c, p->thread_id, &event);
}

/* Audits a change of permission; PERMISSION_NONE means that the participant is not active. */
static enum error record(
    struct context *c, const struct participant *p, enum permission from, enum permission to)
{
    struct json_text text;
    if (from == to)
        return OK;
    json_text_init(&text, 8192);
    json_write_object(&text.w);
    json_write_name(&text.w, "thread_id");
    json_write_uuid(&text.w, p->thread_id);
    json_write_text_member(&text.w, "principal", p->principal);
    json_write_text_member(&text.w, "from", permission_word(from));
    json_write_text_member(&text.w, "to", permission_word(to));
    json_write_end(&text.w);
    return audit_record(
        c, "participant.permission", "participant", p->id, json_text_take(&text, c->arena));
}

/* Other clients display the image, so the link must be safe. */
static enum error check_image(struct context *c, struct str image)
{
    if (str_is_none(image) || link_is_safe(image))
        return OK;
    return problem_fault(c->problem, STR("/image"), LINK_RULE);
}

/* --- Join ----------------------------------------------------------------------------------- */

static enum error default_name(struct context *c, struct participant *p)
{
    struct uuid agent_id;
    struct agent agent;
    if (!str_is_none(p->name))
        return OK;
    p->name = str_slice(p->principal, USER.len, p->principal.len);
    if (!principal_agent(p->principal, &agent_id))
        return OK;
    TRY(agent_get(c, agent_id, &agent));
    p->name = agent.name;
    return OK;
}

/* Sets absent members to the previous ones, or to the defaults. */
static enum error fill_in(
    struct context *c, const struct participant *before, struct participant *p)
{
    struct uuid unused;
    struct str *const ours[] = {&p->name, &p->image, &p->status, &p->metadata};
    const struct str theirs[] = {before->name, before->image, before->status, before->metadata};
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        if (str_is_none(*ours[i]))
            *ours[i] = theirs[i];
    if (p->role == ROLE_NONE)
        p->role = before->role;
    if (p->role == ROLE_NONE)
        p->role = principal_agent(p->principal, &unused) ? ROLE_ASSISTANT : ROLE_USER;
    if (p->permission == PERMISSION_NONE)
        p->permission = PERMISSION_READ_WRITE;
    if (str_is_none(p->metadata))
        p->metadata = STR("{}");
    enum error e = default_name(c, p);
    if (p->name.len > PARTICIPANT_NAME_MAX_BYTES)
        p->name = str_slice(p->name, 0, PARTICIPANT_NAME_MAX_BYTES);
    while (!str_is_utf8(p->name)) /* do not cut a character */
        p->name.len--;
    return e;
}

static enum error check_count(struct context *c, struct uuid thread_id)
{
    int64_t count;
    struct query q;
    context_query(c, &q, &SQL_PARTICIPANT_COUNT);
    query_uuid(&q, thread_id, thread_id);
    TRY(context_number(&q, &count));
    return count >= PARTICIPANTS_MAX
               ? problem_set(c->problem, ERR_CONFLICT,
                     "the thread has %d participants, the maximum", PARTICIPANTS_MAX)
               : OK;
}

static enum error insert(struct context *c, struct participant *p)
{
    const struct participant nothing = {0};
    struct query q;
    TRY(check_count(c, p->thread_id));
    TRY(fill_in(c, &nothing, p));
    p->id = uuid_v7();
    p->active = true;
    context_query(c, &q, &SQL_PARTICIPANT_INSERT);
    participant_bind(&q, p);
    query_text(&q, principal, p->principal);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return emit(c, p, NULL, false);
}

static enum error write_row(struct context *c, const struct participant *p)
{
    struct query q;
    context_query(c, &q, &SQL_PARTICIPANT_UPDATE);
    participant_bind(&q, p);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error come_back(
    struct context *c, const struct participant *before, struct participant *p)
{
    const char *const changed[] = {"active", before->barred ? "barred" : NULL, NULL};
    p->id = before->id;
    p->active = true;
    TRY(fill_in(c, before, p));
    TRY(write_row(c, p));
    return emit(c, p, changed, false);
}

/* A principal may add an agent only if it may also start runs of the agent. */
static enum error check_invitation(struct context *c, struct str principal)
{
    struct uuid agent_id;
    bool may;
    if (!principal_agent(principal, &agent_id))
        return OK;
    TRY(agent_may_use(c, agent_id, &may));
    return may ? OK : problem_fault(c->problem, STR("/principal"), "must be an existing agent");
}

enum error participant_join(struct context *c, struct uuid thread_id, struct participant *p)
{
    struct participant before = {0};
    struct thread thread;
    bool found = false;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(principal_check(c, p->principal, STR("/principal")));
    TRY(check_invitation(c, p->principal));
    TRY(check_image(c, p->image));
    TRY(participant_find(c, thread_id, p->principal, &found, &before));
    if (found && before.active)
        return problem_set(c->problem, ERR_CONFLICT, "%.*s is already a participant of the thread",
            STR_ARG(p->principal));
    p->thread_id = thread_id;
    TRY(found ? come_back(c, &before, p) : insert(c, p));
    if (found)
        TRY(share_settle(c, p->id));
    TRY(record(c, p, PERMISSION_NONE, p->permission));
    return participant_get(c, thread_id, p->id, p);
}

enum error participant_join_creator(struct context *c, struct uuid thread_id)
{
    struct participant p = {.thread_id = thread_id, .principal = c->principal};
    if (str_is_none(c->principal))
        return OK;
    TRY(principal_check(c, c->principal, STR("Cairn-Principal")));
    return insert(c, &p);
}

/* --- Change --------------------------------------------------------------------------------- */

static enum permission granted(const struct participant *p)
{
    return p->active ? p->permission : PERMISSION_NONE;
}

/* Returns the names of the changed members, ending in NULL; NULL if there are none. */
static const char *const *differences(
    struct arena *arena, const struct participant *a, const struct participant *b)
{
    const struct {
        const char *name;
        bool differs;
    } all[] = {{"role", a->role != b->role}, {"name", str_differs(a->name, b->name)},
        {"image", str_differs(a->image, b->image)}, {"status", str_differs(a->status, b->status)},
        {"permission", a->permission != b->permission}, {"active", a->active != b->active},
        {"barred", a->barred != b->barred}, {"metadata", str_differs(a->metadata, b->metadata)}};
    const char **names = ARENA_ARRAY(arena, const char *, COUNT_OF(all) + 1);
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (all[i].differs)
            names[n++] = all[i].name;
    names[n] = NULL;
    return n > 0 ? names : NULL;
}

/* A principal that may only read may change its own presentation, and leave. */
static enum error check_own(
    struct context *c, const struct participant *before, const struct participant *after)
{
    enum permission permission;
    if (str_is_none(c->principal))
        return OK;
    TRY(find_permission(c, before->thread_id, &permission));
    if (permission == PERMISSION_READ_WRITE)
        return OK;
    if (!str_eq(before->principal, c->principal))
        return refuse(c, "a participant with this permission can change only itself");
    if (before->permission != after->permission || before->role != after->role ||
        str_differs(before->metadata, after->metadata))
        return refuse(c, "a participant with this permission can change only its name, image and "
                         "status, or leave");
    return OK;
}

static bool is_self(const struct context *c, const struct participant *p)
{
    return !str_is_none(c->principal) && str_eq(c->principal, p->principal);
}

/* A principal with the token of a share could restore its access, so removing access bars it. */
static bool is_barred_then(
    const struct context *c, const struct participant *before, const struct participant *after)
{
    enum permission was = granted(before), is = granted(after);
    if (is > was)
        return false;
    return before->barred || after->barred || (is < was && !is_self(c, before));
}

/* Called before the event is appended. Sets the number of revoked shares in `after`. */
static enum error bar(
    struct context *c, const struct participant *before, struct participant *after)
{
    after->barred = is_barred_then(c, before, after);
    if (!after->barred || before->barred)
        return OK;
    after->has_shares_revoked = true;
    return share_close_all_by(c, before->thread_id, before->principal, &after->shares_revoked);
}

static enum error write_change(struct context *c, const struct participant *before,
    const struct participant *after, const char *const *changed)
{
    TRY(write_row(c, after));
    TRY(emit(c, after, changed, before->active && !after->active));
    if (granted(after) > granted(before))
        TRY(share_settle(c, after->id));
    return record(c, after, granted(before), granted(after));
}

enum error participant_update(
    struct context *c, const struct participant *before, struct participant *after)
{
    after->id = before->id;
    after->thread_id = before->thread_id;
    if (granted(after) > granted(before) && !before->active)
        TRY(check_invitation(c, before->principal));
    after->principal = before->principal;
    after->online = before->online && after->active;
    TRY(context_check_match(c, before->version));
    TRY(check_own(c, before, after));
    if (str_differs(before->image, after->image))
        TRY(check_image(c, after->image));
    TRY(bar(c, before, after));
    const struct participant written = *after;
    const char *const *changed = differences(c->arena, before, after);
    if (changed != NULL)
        TRY(write_change(c, before, after, changed));
    TRY(participant_get(c, before->thread_id, before->id, after));
    after->has_shares_revoked = written.has_shares_revoked;
    after->shares_revoked = written.shares_revoked;
    return OK;
}

enum error participant_leave(struct context *c, struct participant *p)
{
    const struct participant before = *p;
    p->active = false;
    p->barred = before.barred || !is_self(c, &before);
    return participant_update(c, &before, p);
}

/* --- Shares --------------------------------------------------------------------------------- */

static enum error promote(
    struct context *c, const struct participant *before, struct participant *p)
{
    static const char *const changed[] = {"permission", NULL};
    enum permission permission = p->permission;
    *p = *before;
    if (permission <= before->permission)
        return OK;
    p->permission = permission;
    TRY(write_row(c, p));
    return emit(c, p, changed, false);
}

enum error participant_admit(
    struct context *c, struct uuid thread_id, struct participant *p, enum permission *out_previous)
{
    struct participant before = {0};
    bool found = false;
    TRY(principal_check(c, p->principal, STR("Cairn-Principal")));
    TRY(participant_find(c, thread_id, p->principal, &found, &before));
    if (before.barred)
        return problem_set(c->problem, ERR_FORBIDDEN,
            "the access of %.*s was removed: a share cannot restore it, only a participant with "
            "read_write can",
            STR_ARG(p->principal));
    p->thread_id = thread_id;
    *out_previous = granted(&before);
    if (!found)
        TRY(insert(c, p));
    else
        TRY(before.active ? promote(c, &before, p) : come_back(c, &before, p));
    TRY(record(c, p, *out_previous, p->permission));
    return participant_get(c, thread_id, p->id, p);
}

enum error participant_withdraw(
    struct context *c, struct participant *p, enum permission permission)
{
    static const char *const demoted[] = {"permission", NULL}, *const left[] = {"active", NULL};
    enum permission before = granted(p);
    bool ends = permission == PERMISSION_NONE;
    if (permission >= before)
        return OK;
    if (ends)
        p->active = p->online = false;
    else
        p->permission = permission;
    TRY(write_row(c, p));
    TRY(emit(c, p, ends ? left : demoted, ends));
    return record(c, p, before, permission);
}

/* --- Online --------------------------------------------------------------------------------- */

static enum error set_online(
    struct context *c, const struct participant *p, bool online, int64_t until_us)
{
    struct query q;
    context_query(c, &q, &SQL_PARTICIPANT_SET_ONLINE);
    query_uuid(&q, thread_id, p->thread_id);
    query_uuid(&q, id, p->id);
    query_i64_if(&q, online_until, online, until_us);
    return query_run(&q);
}

/* Being online is reported by events, but does not change the version. */
static enum error tell_presence(struct context *c, struct participant *p, bool online, bool spoke)
{
    const char *changed[3] = {0};
    size_t n = 0;
    if (p->told_online != online)
        changed[n++] = "online";
    if (spoke)
        changed[n++] = "status";
    p->online = online;
    if (spoke)
        TRY(write_row(c, p));
    return n > 0 ? emit(c, p, changed, false) : OK;
}

enum error participant_heartbeat(
    struct context *c, struct participant *p, int64_t ttl_s, struct str status)
{
    bool spoke = !str_is_none(status) && str_differs(status, p->status);
    if (!str_is_none(c->principal) && !str_eq(c->principal, p->principal))
        return problem_set(c->problem, ERR_FORBIDDEN, "%.*s can send heartbeats only for itself",
            STR_ARG(c->principal));
    if (!p->active)
        return problem_set(c->problem, ERR_CONFLICT, "the participant has left");
    if (spoke)
        p->status = status;
    int64_t until_us = c->lease_now_us + ttl_s * 1000000;
    if (p->online && p->online_until > until_us)
        until_us = p->online_until;
    TRY(tell_presence(c, p, ttl_s > 0, spoke));
    TRY(set_online(c, p, ttl_s > 0, until_us));
    return participant_get(c, p->thread_id, p->id, p);
}

static bool must_renew(const struct context *c, const struct participant *p)
{
    const int64_t half_us = INT64_C(1000000) * PARTICIPANT_STREAM_ONLINE_S / 2;
    return p->active && (!p->told_online || p->online_until < c->lease_now_us + half_us);
}

enum error participant_stay_online(struct context *c, struct uuid thread_id)
{
    struct participant p;
    bool found;
    TRY(look_up(c, thread_id, c->principal, &found, &p));
    if (!found || !must_renew(c, &p))
        return OK;
    TRY(participant_find(c, thread_id, c->principal, &found, &p));
    if (!found || !must_renew(c, &p))
        return OK;
    TRY(tell_presence(c, &p, true, false));
    return set_online(
        c, &p, true, c->lease_now_us + INT64_C(1000000) * PARTICIPANT_STREAM_ONLINE_S);
}

enum error participant_list_silent(
    struct context *c, size_t limit, struct owned_id *out_silent, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_PARTICIPANT_LIST_SILENT, c->arena);
    query_i64(&q, lease_now, c->lease_now_us);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_silent, out_count);
}

enum error participant_end_online(struct context *c, struct uuid thread_id)
{
    struct participant *silent = ARENA_ARRAY(c->arena, struct participant, PARTICIPANTS_MAX);
    size_t n = 0;
    struct query q;
    TRY(context_lock_thread(c, thread_id));
    context_query(c, &q, &SQL_PARTICIPANT_SILENT_OF_THREAD);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, lease_now, c->lease_now_us);
    while (n < PARTICIPANTS_MAX && query_next(&q))
        read_row(c, &q, &silent[n++]);
    TRY(query_end(&q));
    for (size_t i = 0; i < n; i++) {
        TRY(tell_presence(c, &silent[i], false, false));
        TRY(set_online(c, &silent[i], false, 0));
    }
    return OK;
}

enum error participant_bound_online(struct context *c)
{
    struct query q;
    if (tx_is_shared(c->tx))
        return OK;
    query_begin(&q, c->tx, &SQL_PARTICIPANT_BOUND_ONLINE, c->arena);
    query_i64(&q, online_until, c->lease_now_us + (int64_t)PARTICIPANT_ONLINE_MAX_S * 1000000);
    return query_run(&q);
}
