/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agents.h"

#include "base/json/json.h"
#include "base/json/json_write.h"
#include "model/agents/agent_versions.h"
#include "model/agents/agents.sql.h"
#include "model/agents/used_versions.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/deletions.h"
#include "model/threads/participants.h"

ENUM_DEFINE(agent_kinds, AGENT_KINDS);
ENUM_DEFINE(agent_statuses, AGENT_STATUSES);

static void read_row(struct query *q, struct agent *out)
{
    agent_read(q, out);
    bool has_run = row_bool(q);
    out->status = !out->is_active ? AGENT_INACTIVE : has_run ? AGENT_ACTIVE : AGENT_CREATED;
}

static enum error name_taken(struct context *c, struct str name)
{
    return problem_set(
        c->problem, ERR_CONFLICT, "an agent with the name \"%.*s\" already exists", STR_ARG(name));
}

/* The detail of an audit record. */
static struct str describe(struct arena *arena, struct str name)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("name"));
    json_write_string(&text.w, name);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static struct str describe_grants(struct arena *arena, const struct agent *agent)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "name", agent->name);
    json_write_name(&text.w, "granted_to");
    json_write_raw(&text.w, str_is_none(agent->granted_to) ? STR("[]") : agent->granted_to);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error too_large(struct context *c)
{
    return problem_set(
        c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
}

static enum error check_metadata(struct context *c, struct str metadata)
{
    struct json_doc doc;
    struct json_error unused;
    if (!json_parse(c->arena, metadata, &doc, &unused))
        return too_large(c);
    if (json_count(json_root(&doc)) > AGENT_METADATA_MEMBERS)
        return problem_fault(
            c->problem, STR("/metadata"), "must have at most %d members", AGENT_METADATA_MEMBERS);
    return OK;
}

/* The array of principals; false if there are none. */
static bool parse_grants(struct context *c, struct str granted_to, struct json_doc *out)
{
    struct json_error unused;
    return !str_is_none(granted_to) && json_parse(c->arena, granted_to, out, &unused);
}

static enum error check_grants(struct context *c, struct str granted_to)
{
    struct json_doc doc;
    struct json item;
    if (str_is_none(granted_to))
        return OK;
    if (!parse_grants(c, granted_to, &doc))
        return too_large(c);
    struct json_iter it = json_iter(json_root(&doc));
    for (size_t i = 0; json_next(&it, NULL, &item); i++)
        if (json_type(item) != JSON_STRING || !principal_is_valid(json_string(c->arena, item)))
            return problem_fault(c->problem, arena_printf(c->arena, "/granted_to/%zu", i),
                "%s; user:* is every user", PRINCIPAL_RULE);
    return OK;
}

/* --- Access ----------------------------------------------------------------------------------- */

struct str agent_principal(struct arena *arena, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    return arena_printf(arena, "agent:%.*s", UUID_TEXT_LEN, text);
}

bool agent_may_see_prompts(const struct context *c, bool has_agent_id, struct uuid agent_id)
{
    return str_is_none(c->principal) ||
           (has_agent_id && principal_is_agent(c->principal, agent_id));
}

static bool is_granted(struct context *c, struct str granted_to)
{
    struct json_doc doc;
    struct json item;
    if (!parse_grants(c, granted_to, &doc))
        return false;
    struct json_iter it = json_iter(json_root(&doc));
    bool is_user = str_starts_with(c->principal, STR("user:"));
    while (json_next(&it, NULL, &item))
        if (json_type(item) == JSON_STRING && (json_string_eq(item, c->principal) ||
                                                  (is_user && json_string_eq(item, STR("user:*")))))
            return true;
    return false;
}

enum error agent_find_by_name(
    struct context *c, struct str name, bool *out_found, struct uuid *out_id)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_ID_OF_NAME);
    query_text(&q, name, name);
    *out_found = query_next(&q);
    if (*out_found)
        *out_id = row_uuid(&q);
    return query_end(&q);
}

enum error agent_may_use(struct context *c, struct uuid id, bool *out_may)
{
    struct agent agent;
    TRY(agent_exists(c, id, out_may));
    if (!*out_may || str_is_none(c->principal) || principal_is_agent(c->principal, id))
        return OK;
    TRY(agent_get(c, id, &agent));
    *out_may = is_granted(c, agent.granted_to);
    return OK;
}

enum error agent_allow_tenant(struct context *c)
{
    if (str_is_none(c->principal))
        return OK;
    return problem_set(c->problem, ERR_FORBIDDEN,
        "this change requires access to the whole tenant, but the request acts only for %.*s",
        STR_ARG(c->principal));
}

/* --- Locks --------------------------------------------------------------------------------------
 */

static enum error lock(struct context *c, const struct sql_statement *statement, struct uuid id)
{
    if (!tx_is_shared(c->tx))
        return OK;
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return query_run(&q);
}

enum error agent_lock(struct context *c, struct uuid id)
{
    return lock(c, &SQL_AGENT_LOCK, id);
}

enum error agent_exists(struct context *c, struct uuid id, bool *out_exists)
{
    int64_t count;
    TRY(lock(c, &SQL_AGENT_HOLD, id));
    struct query q;
    context_query(c, &q, &SQL_AGENT_COUNT);
    query_uuid(&q, id, id);
    TRY(context_number(&q, &count));
    *out_exists = count > 0;
    return OK;
}

enum error agent_require(struct context *c, struct uuid id)
{
    bool exists = false;
    TRY(agent_exists(c, id, &exists));
    return !exists ? context_not_found(c, "agent", id) : OK;
}

/* --- Create, read, list -------------------------------------------------------------------------
 */

/* Binds the parameters of INSERT and UPDATE. */
static enum error write_row(
    struct context *c, const struct sql_statement *statement, const struct agent *agent)
{
    struct query q;
    int64_t changed = 0;
    context_query(c, &q, statement);
    agent_bind(&q, agent);
    if (statement_takes(statement, kind))
        query_text(&q, kind, agent_kind_word(agent->kind));
    query_i64(&q, now, c->now_us);
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? name_taken(c, agent->name) : OK;
}

/* The tenant's lock makes names unique. */
enum error agent_create_defined(
    struct context *c, struct agent *agent, const struct agent_definition *definition)
{
    struct str parts[AGENT_PARTS];
    if (str_is_none(agent->metadata))
        agent->metadata = STR("{}");
    if (agent->kind == AGENT_KIND_NONE)
        agent->kind = AGENT_KIND_AGENT;
    agent->id = uuid_v7();
    TRY(check_metadata(c, agent->metadata));
    TRY(check_grants(c, agent->granted_to));
    TRY(agent_version_prepare(c, agent->kind, definition, parts));
    TRY(context_lock_tenant(c));
    TRY(write_row(c, &SQL_AGENT_INSERT, agent));
    TRY(agent_version_begin(c, agent->id, parts));
    TRY(audit_record(c, "agent.created", "agent", agent->id, describe(c->arena, agent->name)));
    return agent_get(c, agent->id, agent);
}

enum error agent_create(struct context *c, struct agent *agent)
{
    const struct agent_definition nothing = {0};
    agent->is_active = true;
    return agent_create_defined(c, agent, &nothing);
}

enum error agent_get(struct context *c, struct uuid id, struct agent *out_agent)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_GET);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_agent);
    TRY(query_end(&q));
    return !found ? context_not_found(c, "agent", id) : OK;
}

enum error agent_list(struct context *c, const struct agent_filter *filter, struct page *page,
    struct agent *out_agents)
{
    struct query q;
    page_begin(c, &q, &SQL_AGENT_LIST, page);
    query_uuid_if(&q, before, filter->has_before, filter->before);
    query_text(&q, name, filter->name);
    query_text(&q, kind, agent_kind_word(filter->kind));
    if (filter->has_is_active)
        query_bool(&q, is_active, filter->is_active);
    while (page_next(&q, page))
        read_row(&q, &out_agents[page->count++]);
    return query_end(&q);
}

/* --- Change -------------------------------------------------------------------------------------
 */

enum error agent_update(struct context *c, const struct agent *before, struct agent *after)
{
    bool renamed = !str_eq(before->name, after->name);
    after->id = before->id;
    if (str_is_none(after->metadata))
        after->metadata = STR("{}");
    TRY(context_check_match(c, before->revision));
    TRY(check_metadata(c, after->metadata));
    TRY(check_grants(c, after->granted_to));
    if (renamed)
        TRY(context_lock_tenant(c));
    TRY(write_row(c, &SQL_AGENT_UPDATE, after));
    if (renamed)
        TRY(audit_record(c, "agent.renamed", "agent", before->id, describe(c->arena, after->name)));
    if (before->is_active != after->is_active)
        TRY(audit_record(c, after->is_active ? "agent.enabled" : "agent.disabled", "agent",
            before->id, describe(c->arena, after->name)));
    if (str_differs(before->granted_to, after->granted_to))
        TRY(audit_record(
            c, "agent.granted", "agent", before->id, describe_grants(c->arena, after)));
    return agent_get(c, before->id, after);
}

/* An agent that participates in a thread cannot be deleted. */
static enum error check_absent_from_threads(struct context *c, struct uuid id)
{
    struct query q;
    struct uuid thread_id;
    char text[UUID_TEXT_LEN];
    context_query(c, &q, &SQL_AGENT_THREAD);
    query_text(&q, principal, agent_principal(c->arena, id));
    bool found = query_next(&q);
    if (found)
        thread_id = row_uuid(&q);
    TRY(query_end(&q));
    if (!found)
        return OK;
    uuid_format(thread_id, text);
    return problem_set(c->problem, ERR_CONFLICT,
        "the agent is a participant of the thread %.*s: remove it from its threads first",
        UUID_TEXT_LEN, text);
}

static enum error check_idle(struct context *c, struct uuid id)
{
    struct query q;
    struct uuid run_id;
    char text[UUID_TEXT_LEN];
    context_query(c, &q, &SQL_AGENT_UNFINISHED_RUN);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        run_id = row_uuid(&q);
    TRY(query_end(&q));
    if (!found)
        return OK;
    uuid_format(run_id, text);
    return problem_set(c->problem, ERR_CONFLICT,
        "the run %.*s of the agent is not finished: finish or cancel its runs first", UUID_TEXT_LEN,
        text);
}

static enum error delete_row(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_DELETE);
    query_uuid(&q, id, id);
    return query_run(&q);
}

/* Deletes the rows of which an agent may have many. */
static enum error delete_parts(struct context *c, struct uuid id, bool *out_more)
{
    static const struct slice_part of_states[] = {
        {.delete = &SQL_AGENT_DELETE_STATE_VERSIONS, .weigh = &SQL_AGENT_WEIGH_STATE_VERSIONS},
        {0},
    };
    static const struct slice_part parts[] = {
        {.delete = &SQL_AGENT_DELETE_STORAGE, .weigh = &SQL_AGENT_WEIGH_STORAGE},
        {.delete = &SQL_AGENT_DELETE_STATES, .children = of_states},
        {.delete = &SQL_AGENT_DELETE_VERSIONS, .weigh = &SQL_AGENT_WEIGH_VERSIONS},
    };
    struct slice slice = slice_begin(SLICE_MIN_ROWS);
    *out_more = false;
    for (size_t i = 0; !*out_more && i < COUNT_OF(parts); i++)
        TRY(slice_delete(c, &slice, &parts[i], id, out_more));
    return OK;
}

enum error agent_delete_some(struct context *c, struct uuid id, bool *out_more)
{
    struct agent agent;
    bool begun;
    TRY(lock(c, &SQL_AGENT_LOCK_TO_DELETE, id));
    TRY(agent_get(c, id, &agent));
    TRY(deletion_find(c, id, &begun));
    if (!begun) {
        TRY(context_check_match(c, agent.revision));
        TRY(check_absent_from_threads(c, id));
        TRY(check_idle(c, id));
        TRY(audit_record(c, "agent.deleted", "agent", id, describe(c->arena, agent.name)));
    }
    TRY(delete_parts(c, id, out_more));
    if (*out_more)
        return deletion_note(c, id);
    TRY(delete_row(c, id));
    TRY(used_version_note_deletion(c, id));
    return deletion_end(c, id);
}
