/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agent_versions.h"

#include "base/semver.h"
#include "model/agents/agent_versions.sql.h"
#include "model/agents/used_versions.h"
#include "model/tenancy/audit.h"

static void read_whole(struct query *q, struct agent_version *out)
{
    agent_version_read(q, out);
    for (int i = 0; i < AGENT_PARTS; i++)
        out->parts[i] = row_text(q);
}

/* The detail of an audit record. */
static struct str describe(struct arena *arena, struct str from, struct str to)
{
    struct json_text text;
    json_text_init(&text, 4096);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "from", from);
    json_write_text_member(&text.w, "to", to);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

/* --- Reading -------------------------------------------------------------------------------- */

static enum error find(struct context *c, const struct sql_statement *statement,
    struct uuid agent_id, struct str version, struct agent_version *out, bool *out_found)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, agent_id);
    if (statement_takes(statement, version))
        query_text(&q, version, version);
    *out_found = query_next(&q);
    if (*out_found)
        read_whole(&q, out);
    return query_end(&q);
}

enum error agent_version_get(
    struct context *c, struct uuid agent_id, struct str name, struct agent_version *out_version)
{
    bool found = false;
    const struct sql_statement *statement = str_eq(name, STR("active")) ? &SQL_AGENT_VERSION_ACTIVE
                                            : str_eq(name, STR("latest"))
                                                ? &SQL_AGENT_VERSION_LATEST
                                                : &SQL_AGENT_VERSION_GET;
    TRY(agent_require(c, agent_id));
    TRY(find(c, statement, agent_id, name, out_version, &found));
    if (!found)
        return problem_set(
            c->problem, ERR_NOT_FOUND, "the agent has no version \"%.*s\"", STR_ARG(name));
    return OK;
}

enum error agent_version_show(
    struct context *c, struct uuid agent_id, struct str name, struct agent_version *out_version)
{
    bool found = false;
    enum error e = agent_version_get(c, agent_id, name, out_version);
    if (e != ERR_NOT_FOUND)
        return e;
    TRY(used_version_find(c, agent_id, name, out_version, &found));
    if (found)
        problem_init(c->problem, c->arena);
    return found ? OK : e;
}

enum error agent_version_find_newest(
    struct context *c, struct uuid agent_id, bool *out_found, struct agent_version *out_version)
{
    TRY(agent_require(c, agent_id));
    return find(c, &SQL_AGENT_VERSION_LATEST, agent_id, STR_NONE, out_version, out_found);
}

enum error agent_version_list(struct context *c, struct uuid agent_id, int64_t before,
    struct page *page, struct agent_version *out_versions)
{
    struct query q;
    bool exists = false;
    TRY(agent_exists(c, agent_id, &exists));
    if (!exists)
        return used_version_list(c, agent_id, before, page, out_versions);
    page_begin(c, &q, &SQL_AGENT_VERSION_LIST, page);
    query_uuid(&q, id, agent_id);
    query_i64(&q, before, before > 0 ? before : INT64_MAX);
    return agent_version_read_page(&q, page, out_versions);
}

/* --- Which one is active -------------------------------------------------------------------- */

static enum error last_activation(struct context *c, struct uuid agent_id, int64_t *out_number)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_ACTIVATION_LAST);
    query_uuid(&q, id, agent_id);
    return context_number(&q, out_number);
}

static enum error set_active(struct context *c, const struct sql_statement *statement,
    struct uuid agent_id, struct str version)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, agent_id);
    query_text(&q, version, version);
    if (statement_takes(statement, now))
        query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error add_activation(
    struct context *c, struct uuid agent_id, int64_t number, struct str version)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_ACTIVATION_INSERT);
    query_uuid(&q, id, agent_id);
    query_i64(&q, number, number);
    query_text(&q, version, version);
    query_text(&q, created_by, c->principal);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    if (number <= AGENT_ACTIVATIONS_KEPT)
        return OK;
    context_query(c, &q, &SQL_AGENT_ACTIVATION_TRIM);
    query_uuid(&q, id, agent_id);
    query_i64(&q, number, number);
    query_i64(&q, kept, AGENT_ACTIVATIONS_KEPT);
    return query_run(&q);
}

/* Called after agent_lock. */
static enum error activate(
    struct context *c, const struct agent *agent, struct str version, const char *action)
{
    int64_t last = 0;
    TRY(last_activation(c, agent->id, &last));
    TRY(audit_record(c, action, "agent", agent->id, describe(c->arena, agent->version, version)));
    TRY(add_activation(c, agent->id, last + 1, version));
    return set_active(c, &SQL_AGENT_SET_ACTIVE_VERSION, agent->id, version);
}

enum error agent_version_activate(
    struct context *c, struct uuid agent_id, struct str name, struct agent *out_agent)
{
    struct agent_version version;
    struct agent agent;
    TRY(agent_lock(c, agent_id));
    TRY(agent_get(c, agent_id, &agent));
    TRY(context_check_match(c, agent.revision));
    TRY(agent_version_get(c, agent_id, name, &version));
    if (!version.is_active)
        TRY(activate(c, &agent, version.version, "agent.activated"));
    return agent_get(c, agent_id, out_agent);
}

static enum error version_before(
    struct context *c, const struct agent *agent, int64_t last, struct str *out_version)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_ACTIVATION_BEFORE);
    query_uuid(&q, id, agent->id);
    query_i64(&q, number, last);
    bool found = query_next(&q);
    if (found)
        *out_version = row_text(&q);
    TRY(query_end(&q));
    if (!found)
        return problem_set(c->problem, ERR_CONFLICT,
            "version %.*s is the first active version: there is no version to roll back to",
            STR_ARG(str_is_none(agent->version) ? STR("this") : agent->version));
    return OK;
}

enum error agent_version_rollback(struct context *c, struct uuid agent_id, struct agent *out_agent)
{
    struct agent agent;
    struct str version = STR_NONE;
    struct query q;
    int64_t last = 0;
    TRY(agent_lock(c, agent_id));
    TRY(agent_get(c, agent_id, &agent));
    TRY(context_check_match(c, agent.revision));
    TRY(last_activation(c, agent_id, &last));
    TRY(version_before(c, &agent, last, &version));
    TRY(audit_record(
        c, "agent.rolled_back", "agent", agent_id, describe(c->arena, agent.version, version)));
    context_query(c, &q, &SQL_AGENT_ACTIVATION_UNDO);
    query_uuid(&q, id, agent_id);
    query_i64(&q, number, last);
    TRY(query_run(&q));
    TRY(set_active(c, &SQL_AGENT_SET_ACTIVE_VERSION, agent_id, version));
    return agent_get(c, agent_id, out_agent);
}

/* --- Making and changing -------------------------------------------------------------------- */

static void bind_version(struct context *c, struct query *q, const struct agent_version *version)
{
    query_uuid(q, id, version->agent_id);
    query_text(q, version, version->version);
    for (int i = 0; i < AGENT_PARTS; i++)
        query_bind_text(q, agent_part_names[i], version->parts[i]);
    query_text(q, description, version->description);
    query_i64(q, now, c->now_us);
}

static enum error insert(struct context *c, const struct agent_version *version)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_VERSION_INSERT);
    bind_version(c, &q, version);
    query_i64(&q, number, version->number);
    query_text(&q, created_by, c->principal);
    return query_run(&q);
}

static enum error check_kind(
    struct context *c, enum agent_kind kind, const struct str parts[AGENT_PARTS])
{
    if (kind == AGENT_KIND_WORKFLOW && str_is_none(parts[PART_WORKFLOW_GRAPH]))
        return problem_fault(c->problem, STR("/workflow_graph"), "must be given for a workflow");
    return OK;
}

enum error agent_version_prepare(struct context *c, enum agent_kind kind,
    const struct agent_definition *definition, struct str out_parts[AGENT_PARTS])
{
    TRY(agent_definition_complete(c, definition, ALL_AGENT_PARTS, out_parts));
    return check_kind(c, kind, out_parts);
}

enum error agent_version_begin(
    struct context *c, struct uuid agent_id, const struct str parts[AGENT_PARTS])
{
    struct agent_version first = {.agent_id = agent_id, .number = 1, .version = STR("1.0.0")};
    memcpy(first.parts, parts, sizeof first.parts);
    TRY(insert(c, &first));
    TRY(add_activation(c, agent_id, 1, first.version));
    return set_active(c, &SQL_AGENT_BEGIN_VERSION, agent_id, first.version);
}

static enum error next_by_bump(
    struct context *c, enum semver_bump bump, const struct semver *newest, struct str *out_version)
{
    struct semver next;
    if (!semver_bump(newest, bump, &next))
        return problem_fault(
            c->problem, STR("/bump"), "must not exceed the largest number of a version");
    *out_version = semver_format(c->arena, &next);
    return OK;
}

/* Returns the number of the new version; `newest` is STR_NONE if there is no version yet. */
static enum error choose_version(struct context *c, const struct agent_version_draft *draft,
    struct str newest, struct str *out_version)
{
    struct semver before = {0}, given;
    if (str_is_none(draft->version) == (draft->bump == SEMVER_BUMP_NONE))
        return problem_fault(
            c->problem, STR("/version"), "must be given unless bump is given, but not both");
    if (!str_is_none(newest) && !semver_parse(newest, &before))
        return problem_set(c->problem, ERR_DAMAGED,
            "the stored version \"%.*s\" is not a semantic version", STR_ARG(newest));
    if (draft->bump != SEMVER_BUMP_NONE)
        return next_by_bump(c, draft->bump, &before, out_version);
    if (!semver_parse(draft->version, &given))
        return problem_fault(c->problem, STR("/version"), SEMVER_RULE);
    if (!str_is_none(newest) && semver_compare(&given, &before) <= 0)
        return problem_fault(c->problem, STR("/version"),
            "must be greater than the newest version, %.*s", STR_ARG(newest));
    *out_version = draft->version;
    return OK;
}

/* Sets the definition and the number of the version after `newest`. */
static enum error draft_next(struct context *c, const struct agent *agent,
    const struct agent_version_draft *draft, bool has_newest, const struct agent_version *newest,
    struct agent_version *out_next)
{
    struct agent_version next = {.agent_id = agent->id, .description = draft->description};
    if (has_newest && newest->number >= AGENT_VERSIONS_MAX)
        return problem_set(
            c->problem, ERR_CONFLICT, "an agent can have at most %d versions", AGENT_VERSIONS_MAX);
    if (has_newest)
        memcpy(next.parts, newest->parts, sizeof next.parts);
    next.number = has_newest ? newest->number + 1 : 1;
    enum error chosen =
        choose_version(c, draft, has_newest ? newest->version : STR_NONE, &next.version);
    TRY(agent_definition_complete(
        c, &draft->definition, has_newest ? draft->parts : ALL_AGENT_PARTS, next.parts));
    TRY(check_kind(c, agent->kind, next.parts));
    TRY(chosen);
    *out_next = next;
    return OK;
}

enum error agent_version_create(struct context *c, struct uuid agent_id,
    const struct agent_version_draft *draft, struct agent_version *out_version)
{
    struct agent agent;
    struct agent_version newest, next = {0};
    bool has_newest = false;
    TRY(agent_lock(c, agent_id));
    TRY(agent_get(c, agent_id, &agent));
    TRY(find(c, &SQL_AGENT_VERSION_LATEST, agent_id, STR_NONE, &newest, &has_newest));
    TRY(draft_next(c, &agent, draft, has_newest, &newest, &next));
    TRY(insert(c, &next));
    if (draft->activate)
        TRY(activate(c, &agent, next.version, "agent.activated"));
    return agent_version_get(c, agent_id, next.version, out_version);
}

static enum error is_used(struct context *c, struct str version)
{
    return problem_set(c->problem, ERR_CONFLICT,
        "version %.*s is used by runs and cannot be changed: create a new version",
        STR_ARG(version));
}

enum error agent_version_update(struct context *c, const struct agent_version *before,
    const struct agent_definition *definition, struct str description,
    struct agent_version *out_version)
{
    struct agent agent;
    struct agent_version after = {
        .agent_id = before->agent_id, .version = before->version, .description = description};
    struct query q;
    int64_t changed = 0;
    TRY(context_check_match(c, before->revision));
    if (before->has_used_at)
        return is_used(c, before->version);
    TRY(agent_get(c, before->agent_id, &agent));
    TRY(agent_version_prepare(c, agent.kind, definition, after.parts));
    context_query(c, &q, &SQL_AGENT_VERSION_UPDATE);
    bind_version(c, &q, &after);
    TRY(query_run_counted(&q, &changed));
    if (changed == 0)
        return is_used(c, before->version);
    return agent_version_get(c, before->agent_id, before->version, out_version);
}

/* --- For runs ------------------------------------------------------------------------------- */

static enum error mark_used(struct context *c, struct uuid agent_id, struct str version)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_VERSION_USE);
    query_uuid(&q, id, agent_id);
    query_text(&q, version, version);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return used_version_add(c, agent_id, version);
}

enum error agent_use_version(
    struct context *c, struct uuid agent_id, struct str version, struct str *out_version)
{
    struct query q;
    struct str active = STR_NONE, found = STR_NONE;
    bool is_active = false, is_deleted = false, was_used = false;
    TRY(agent_require(c, agent_id));
    context_query(c, &q, &SQL_AGENT_VERSION_USED);
    query_uuid(&q, id, agent_id);
    query_text(&q, version, version);
    if (query_next(&q)) {
        is_active = row_bool(&q);
        is_deleted = row_bool(&q);
        active = row_text(&q);
        found = row_text(&q);
        was_used = row_bool(&q);
    }
    TRY(query_end(&q));
    if (is_deleted)
        return problem_set(c->problem, ERR_CONFLICT, "the agent is being deleted");
    if (!is_active)
        return problem_set(
            c->problem, ERR_CONFLICT, "the agent is inactive: activate it before starting a run");
    if (!str_is_none(version) && str_is_none(found))
        return problem_fault(c->problem, STR("/agent_version"),
            "must be a version of the agent, not \"%.*s\"", STR_ARG(version));
    if (!str_is_none(found) && !was_used)
        TRY(mark_used(c, agent_id, found));
    *out_version = str_is_none(found) ? active : found;
    return OK;
}
