/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/used_versions.h"

#include "model/agents/used_versions.sql.h"
#include "model/tenancy/deletions.h"

/* The pause between two checks of a deleted agent. */
static const int64_t CHECK_AFTER_US = (int64_t)3600 * 1000000;

enum error used_version_add(struct context *c, struct uuid agent_id, struct str version)
{
    struct query q;
    context_query(c, &q, &SQL_USED_VERSION_ADD);
    query_uuid(&q, id, agent_id);
    query_text(&q, version, version);
    return query_run(&q);
}

enum error used_version_find(struct context *c, struct uuid agent_id, struct str version,
    struct agent_version *out_version, bool *out_found)
{
    struct query q;
    context_query(c, &q, &SQL_USED_VERSION_GET);
    query_uuid(&q, id, agent_id);
    query_text(&q, version, version);
    *out_found = query_next(&q);
    if (*out_found) {
        used_version_read(&q, out_version);
        for (int i = 0; i < AGENT_PARTS; i++)
            out_version->parts[i] = row_text(&q);
    }
    return query_end(&q);
}

static enum error require_any(struct context *c, struct uuid agent_id)
{
    struct query q;
    context_query(c, &q, &SQL_USED_VERSION_ANY);
    query_uuid(&q, id, agent_id);
    bool any = query_next(&q) && row_bool(&q);
    TRY(query_end(&q));
    return any ? OK : context_not_found(c, "agent", agent_id);
}

enum error used_version_list(struct context *c, struct uuid agent_id, int64_t before,
    struct page *page, struct agent_version *out_versions)
{
    struct query q;
    TRY(require_any(c, agent_id));
    page_begin(c, &q, &SQL_USED_VERSION_LIST, page);
    query_uuid(&q, id, agent_id);
    query_i64(&q, before, before > 0 ? before : INT64_MAX);
    return used_version_read_page(&q, page, out_versions);
}

/* --- Deleted agents ------------------------------------------------------------------------- */

enum error used_version_note_deletion(struct context *c, struct uuid agent_id)
{
    struct query q;
    context_query(c, &q, &SQL_DELETED_AGENT_NOTE);
    query_uuid(&q, id, agent_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error used_version_list_deleted(
    struct context *c, size_t limit, struct owned_id *out_agents, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_DELETED_AGENT_DUE, c->arena);
    query_i64(&q, now, context_cautious_now_us(c));
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_agents, out_count);
}

static enum error defer(struct context *c, struct uuid agent_id)
{
    struct query q;
    context_query(c, &q, &SQL_DELETED_AGENT_DEFER);
    query_uuid(&q, id, agent_id);
    query_i64(&q, now, c->now_us + CHECK_AFTER_US);
    return query_run(&q);
}

static enum error forget(struct context *c, struct uuid agent_id)
{
    struct query q;
    context_query(c, &q, &SQL_DELETED_AGENT_FORGET);
    query_uuid(&q, id, agent_id);
    return query_run(&q);
}

enum error used_version_settle(struct context *c, struct uuid agent_id, bool *out_more)
{
    static const struct slice_part part = {
        .delete = &SQL_USED_VERSION_DELETE, .weigh = &SQL_USED_VERSION_WEIGH};
    struct slice slice = slice_begin(0);
    struct query q;
    bool exists = false, has_run = false;
    *out_more = false;
    context_query(c, &q, &SQL_DELETED_AGENT_STATE);
    query_uuid(&q, id, agent_id);
    if (query_next(&q)) {
        exists = row_bool(&q);
        has_run = row_bool(&q);
    }
    TRY(query_end(&q));
    if (!exists && has_run)
        return defer(c, agent_id);
    if (!exists)
        TRY(slice_delete(c, &slice, &part, agent_id, out_more));
    return *out_more ? OK : forget(c, agent_id);
}
