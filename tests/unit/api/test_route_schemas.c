/* SPDX-License-Identifier: Apache-2.0 */
/* The field tables of all routes: what each row and each schema must satisfy. */
#include "api/http/route.h"

#include "test.h"

typedef void visit_fn(
    const struct route *route, const struct schema *schema, const struct field *f, void *data);

enum { DEPTH_MAX = 8 };

static void visit_schema(const struct route *route, const struct schema *schema, unsigned depth,
    visit_fn *visit, void *data)
{
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        visit(route, schema, f, data);
        if (depth < DEPTH_MAX)
            visit_schema(route, f->nested, depth + 1, visit, data);
    }
}

static void visit_answers(visit_fn *visit, void *data)
{
    for (size_t i = 0; i < route_count; i++) {
        visit_schema(&routes[i], routes[i].answer, 0, visit, data);
        visit_schema(&routes[i], routes[i].answer_to_many, 0, visit, data);
    }
}

static void visit_all(visit_fn *visit, void *data)
{
    for (size_t i = 0; i < route_count; i++) {
        visit_schema(&routes[i], routes[i].query, 0, visit, data);
        visit_schema(&routes[i], routes[i].body, 0, visit, data);
    }
    visit_answers(visit, data);
}

/* --- Secrets -------------------------------------------------------------------------------- */

enum { SECRETS_MAX = 16 };
struct secrets {
    const struct field *rows[SECRETS_MAX];
    size_t count;
};

static void collect_secret(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    struct secrets *secrets = data;
    if (!f->once)
        return;
    if (route->mode != ROUTE_WRITE || strcmp(route->method, "POST") != 0 || route->status != 201)
        test_fail(__FILE__, __LINE__, "%s %s does not create an object, but %s shows \"%s\"",
            route->method, route->path, schema->name, f->name);
    EXPECT(f->kind == FIELD_STRING && (f->flags & FIELD_NULLABLE) != 0);
    EXPECT(secrets->count < SECRETS_MAX);
    secrets->rows[secrets->count++] = f;
}

static void expect_no_secret(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    const struct secrets *secrets = data;
    for (size_t i = 0; !f->once && i < secrets->count; i++)
        if (strcmp(f->name, secrets->rows[i]->name) == 0)
            test_fail(__FILE__, __LINE__, "%s of %s %s has \"%s\" without .once", schema->name,
                route->method, route->path, f->name);
}

TEST(a_secret_is_shown_only_by_the_route_that_creates_it)
{
    struct secrets secrets = {0};
    visit_answers(collect_secret, &secrets);
    EXPECT(secrets.count >= 3); /* keys, first keys of tenants, shares */
    visit_answers(expect_no_secret, &secrets);
}

/* --- Rows ----------------------------------------------------------------------------------- */

static size_t size_of(const struct field *f)
{
    switch (f->kind) {
    case FIELD_BOOL:
        return sizeof(bool);
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_MONEY:
        return sizeof(int64_t);
    case FIELD_NESTED:
        return f->nested->struct_bytes;
    case FIELD_ENUM:
        return sizeof(unsigned);
    default:
        return sizeof(struct str); /* as large as a UUID and each list */
    }
}

static void expect_sound(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    const char *name = f->name;
    bool sound = f->offset + size_of(f) <= schema->struct_bytes &&
                 f->has_offset < schema->struct_bytes && schema->n_fields <= SCHEMA_MAX_FIELDS &&
                 (f->kind != FIELD_ENUM || f->choices != NULL) &&
                 ((f->kind != FIELD_NESTED && f->kind != FIELD_NESTED_LIST) || f->nested != NULL) &&
                 schema_find(schema, str_of(name)) == f; /* once in the schema */
    if (!sound)
        test_fail(__FILE__, __LINE__, "\"%s\" of %s (%s %s)", name, schema->name, route->method,
            route->path);
}

TEST(every_row_fits_its_struct_and_is_once_in_its_schema)
{
    visit_all(expect_sound, NULL);
}

TEST(bodies_select_rows_that_clients_send_and_answers_rows_that_cairn_shows)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        EXPECT(r->query == NULL || (r->query->in & ~(unsigned)IN_ANY_SENT) == 0);
        EXPECT(r->body == NULL || (r->body->in & ~(unsigned)IN_ANY_SENT) == 0);
        EXPECT(r->answer == NULL || (r->answer->in & IN_ANY_SENT) == 0);
        EXPECT(r->answer_to_many == NULL || (r->answer_to_many->in & IN_ANY_SENT) == 0);
    }
}

/* --- Limits --------------------------------------------------------------------------------- */

/*
 * Bytes of compact JSON, and picodollars. The OpenAPI document does not have these limits;
 * tests/api/limits.test.mjs checks those that it has.
 */
struct unlisted_limit {
    const char *schema;
    const char *member;
    int64_t max;
};

static const struct unlisted_limit unlisted_limits[] = {
    {"AgentBody", "granted_to", 16384},
    {"AgentBody", "metadata", 102400},
    {"AgentLinkBody", "metadata", 16384},
    {"AgentPatch", "granted_to", 16384},
    {"AgentPatch", "metadata", 102400},
    {"AgentRunCreate", "append", 1048576},
    {"AgentRunCreate", "citations", 262144},
    {"AgentRunCreate", "error", 102400},
    {"AgentRunCreate", "extras", 262144},
    {"AgentRunCreate", "final_output", 1048576},
    {"AgentRunCreate", "generated_files", 262144},
    {"AgentRunCreate", "messages", 8387584},
    {"AgentRunCreate", "metadata", 102400},
    {"AgentRunCreate", "metrics", 262144},
    {"AgentRunInput", "attachments", 262144},
    {"BackendResult", "content", 786432},
    {"CheckpointChanges", "append", 8388608},
    {"CheckpointChanges", "set", 8388608},
    {"CheckpointPut", "channel_values", 8388608},
    {"CheckpointPut", "channel_versions", 1048576},
    {"CheckpointPut", "metadata", 262144},
    {"CheckpointPut", "pending_sends", 4194304},
    {"CheckpointPut", "versions_seen", 1048576},
    {"CheckpointWrite", "value", 8388608},
    {"EvalBody", "eval_data", 1048576},
    {"EvalBody", "eval_input", 1048576},
    {"EvalBody", "metadata", 16384},
    {"EvalBody", "score", 1000000000000},
    {"EvalPatch", "eval_data", 1048576},
    {"EvalPatch", "eval_input", 1048576},
    {"EvalPatch", "metadata", 16384},
    {"EvalPatch", "score", 1000000000000},
    {"EventAppend", "payload", 131072},
    {"EventInput", "payload", 131072},
    {"FilePatch", "metadata", 16384},
    {"HistoryPatch", "extras", 262144},
    {"HistoryPatch", "generated_files", 262144},
    {"HistoryPatch", "messages", 8387584},
    {"KeyedThreadBody", "context", 1048576},
    {"KeyedThreadBody", "error", 102400},
    {"KeyedThreadBody", "important_steps", 1048576},
    {"KeyedThreadBody", "metadata", 102400},
    {"KeyedThreadBody", "preferences", 1048576},
    {"LongContextPrice", "cache_read", 1000000000000000000},
    {"LongContextPrice", "cache_write", 1000000000000000000},
    {"LongContextPrice", "input", 1000000000000000000},
    {"LongContextPrice", "output", 1000000000000000000},
    {"MessageBody", "metadata", 1152000},
    {"MessageCreate", "metadata", 1152000},
    {"MessageInput", "metadata", 1152000},
    {"NotebookBody", "metadata", 16384},
    {"NotebookPatch", "metadata", 16384},
    {"OwnTenantBody", "settings", 65536},
    {"ParticipantJoin", "metadata", 16384},
    {"ParticipantPatch", "metadata", 16384},
    {"PriceBody", "cache_read", 1000000000000000000},
    {"PriceBody", "cache_write", 1000000000000000000},
    {"PriceBody", "input", 1000000000000000000},
    {"PriceBody", "output", 1000000000000000000},
    {"Replay", "modified_state", 8388608},
    {"ResumptionAppend", "append", 8387584},
    {"ResumptionAppend", "append_history", 8387584},
    {"ResumptionBody", "api_kwargs", 262144},
    {"ResumptionBody", "base_delay", 3600000000000000},
    {"ResumptionBody", "beta_headers", 262144},
    {"ResumptionBody", "conversation_history", 8387584},
    {"ResumptionBody", "extras", 262144},
    {"ResumptionBody", "file_registry", 1048576},
    {"ResumptionBody", "messages", 8387584},
    {"ResumptionBody", "server_tools", 262144},
    {"ResumptionBody", "tool_schemas", 1048576},
    {"ResumptionPatch", "api_kwargs", 262144},
    {"ResumptionPatch", "base_delay", 3600000000000000},
    {"ResumptionPatch", "beta_headers", 262144},
    {"ResumptionPatch", "conversation_history", 8387584},
    {"ResumptionPatch", "extras", 262144},
    {"ResumptionPatch", "file_registry", 1048576},
    {"ResumptionPatch", "messages", 8387584},
    {"ResumptionPatch", "server_tools", 262144},
    {"ResumptionPatch", "tool_schemas", 1048576},
    {"RunBody", "append", 1048576},
    {"RunBody", "citations", 262144},
    {"RunBody", "error", 102400},
    {"RunBody", "extras", 262144},
    {"RunBody", "final_output", 1048576},
    {"RunBody", "generated_files", 262144},
    {"RunBody", "messages", 8387584},
    {"RunBody", "metadata", 102400},
    {"RunBody", "metrics", 262144},
    {"RunBody", "state", 1048576},
    {"RunCreate", "append", 1048576},
    {"RunCreate", "citations", 262144},
    {"RunCreate", "error", 102400},
    {"RunCreate", "extras", 262144},
    {"RunCreate", "final_output", 1048576},
    {"RunCreate", "generated_files", 262144},
    {"RunCreate", "messages", 8387584},
    {"RunCreate", "metadata", 102400},
    {"RunCreate", "metrics", 262144},
    {"RunCreate", "request", 262144},
    {"RunCreate", "state", 1048576},
    {"RunInput", "input", 262144},
    {"RunPhaseBody", "detail", 65536},
    {"RunRelease", "error", 32768},
    {"RunRetry", "state", 1048576},
    {"StateBody", "data", 1048576},
    {"StateBody", "json_schema", 262144},
    {"StateBody", "ui_schema", 262144},
    {"StatePatch", "data", 1048576},
    {"StatePatch", "json_schema", 262144},
    {"StatePatch", "ui_schema", 262144},
    {"StepAppend", "action_data", 262144},
    {"StepAppend", "messages_snapshot", 8388544},
    {"StepInput", "action_data", 262144},
    {"StepInput", "messages_snapshot", 8388544},
    {"StoreOperation", "filter", 65536},
    {"StoreOperation", "value", 1048576},
    {"StoreOperation", "vector", 131072},
    {"StorePut", "value", 1048576},
    {"StoreSearch", "filter", 65536},
    {"StoreSearch", "vector", 131072},
    {"StoreVector", "values", 131072},
    {"ThreadBody", "context", 1048576},
    {"ThreadBody", "error", 102400},
    {"ThreadBody", "important_steps", 1048576},
    {"ThreadBody", "metadata", 102400},
    {"ThreadBody", "preferences", 1048576},
    {"ToolAsked", "input", 262144},
    {"ToolResult", "content", 786432},
    {"ToolsAwait", "messages", 8387584},
    {"TurnCreate", "output", 1048576},
    {"TurnInput", "attachments", 262144},
    {"TurnInput", "tool_results", 524288},
    {"TurnPatch", "output", 1048576},
    {"WorkflowInput", "input", 262144},
    {"WorkflowStart", "preferences", 1048576},
};

static bool has_unlisted_limit(const struct field *f)
{
    bool is_json = f->kind == FIELD_JSON || f->kind == FIELD_OBJECT || f->kind == FIELD_ARRAY ||
                   f->kind == FIELD_DOCUMENT;
    return (is_json || f->kind == FIELD_MONEY) && f->max != 0;
}

static void expect_limit(
    const struct route *route, const struct schema *schema, const struct field *f, void *data)
{
    bool *seen = data;
    size_t i = 0;
    if (!has_unlisted_limit(f))
        return;
    while (i < COUNT_OF(unlisted_limits) && (strcmp(unlisted_limits[i].schema, schema->name) != 0 ||
                                                strcmp(unlisted_limits[i].member, f->name) != 0))
        i++;
    if (i == COUNT_OF(unlisted_limits) || unlisted_limits[i].max != f->max)
        test_fail(__FILE__, __LINE__, "the limit of \"%s\" of %s is %lld", f->name, schema->name,
            (long long)f->max);
    seen[i] = true;
}

/* The unit tests of base/schema.h show that a limit is enforced at its edge. */
TEST(members_with_json_or_money_have_the_limits_that_are_written_down)
{
    bool seen[COUNT_OF(unlisted_limits)] = {false};
    for (size_t i = 0; i < route_count; i++)
        visit_schema(&routes[i], routes[i].body, 0, expect_limit, seen);
    for (size_t i = 0; i < COUNT_OF(unlisted_limits); i++)
        if (!seen[i])
            test_fail(__FILE__, __LINE__, "\"%s\" of %s has no limit", unlisted_limits[i].member,
                unlisted_limits[i].schema);
}
