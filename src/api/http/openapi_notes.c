/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/openapi_notes.h"

#include "api/http/openapi_words.h"

/* --- The API -------------------------------------------------------------------------------- */

void openapi_write_about(struct json_writer *w)
{
    openapi_member(w, "description",
        "Durable runtime state for AI agents: threads, runs, events, messages, files, state and "
        "checkpoints. The rules that apply to every route (keys and scopes, errors, lists, ETags, "
        "idempotency, limits) are in docs/api.md, which is installed with the server.");
    openapi_open(w, "contact");
    openapi_member(w, "name", "Cairn");
    json_write_end(w);
}

void openapi_write_servers(struct json_writer *w)
{
    json_write_key(w, STR("servers"));
    json_write_array(w);
    json_write_object(w);
    openapi_member(w, "url", "/");
    openapi_member(w, "description", "the server that returned this document");
    json_write_end(w);
    json_write_end(w);
}

/* --- Tags ----------------------------------------------------------------------------------- */

/* The first part of a scope, in the order of the scopes. */
static const struct {
    const char *word;
    const char *summary;
} TAGS[] = {
    {"server", "The server and its state, and the tenant of the key"},
    {"threads", "Conversations: their documents, keys and policies"},
    {"runs", "Runs with their turns, steps, tools, history and resumption; the workflow facade"},
    {"events", "The log of events of a thread and of a tenant, as pages and streams"},
    {"messages", "Messages of threads"},
    {"files", "Files of threads, their versions and uploads"},
    {"participants", "Participants of threads, and share links"},
    {"agents", "Agents, their versions, links and configuration"},
    {"states", "State documents of threads, agents and users"},
    {"storage", "The private storage of agents"},
    {"checkpoints", "Checkpoints of threads and runs"},
    {"store", "Items under namespaces, with search"},
    {"notebooks", "Notebooks and their sessions"},
    {"usage", "Model usage by day, and prices"},
    {"evals", "Results of evaluations"},
    {"admin", "Keys, the audit log, and archives of a tenant"},
    {"operator", "Tenants"},
};

struct str openapi_tag(const struct route *r)
{
    if (r->scope == SCOPE_NONE)
        return str_of(TAGS[0].word);
    struct str word = str_of(scope_name(r->scope));
    return str_slice(word, 0, str_find(word, ':'));
}

void openapi_write_tags(struct json_writer *w)
{
    json_write_key(w, STR("tags"));
    json_write_array(w);
    for (size_t i = 0; i < COUNT_OF(TAGS); i++) {
        json_write_object(w);
        openapi_member(w, "name", TAGS[i].word);
        openapi_member(w, "description", TAGS[i].summary);
        json_write_end(w);
    }
    json_write_end(w);
}

/* --- Descriptions --------------------------------------------------------------------------- */

static bool is_write(const struct route *r)
{
    return r->mode == ROUTE_WRITE;
}

static bool has_body(const struct route *r)
{
    return r->body != NULL || (r->flags & ROUTE_UPLOAD) != 0 ||
           ((r->flags & ROUTE_RAW_BODY) != 0 && is_write(r));
}

static void describe_access(struct buf *text, const struct route *r)
{
    if (route_is_public(r))
        buf_append(text, STR("Needs no key."));
    else if (r->scope == SCOPE_NONE)
        buf_append(text, STR("Needs a key with any scope."));
    else
        buf_printf(text, "Needs a key with the scope `%s`.", scope_name(r->scope));
    if (r->access == ACCESS_TENANT)
        buf_append(text, STR(" Rejects requests for a principal."));
}

static void describe_use(struct buf *text, const struct route *r)
{
    if (r->flags & ROUTE_LIST)
        buf_append(text, STR(" Returns one page; `next_cursor` continues the list."));
    if (r->waits != WAITS_NEVER)
        buf_append(text, STR(" With `wait`, a request that finds nothing waits."));
    if (route_takes_ticket(r))
        buf_append(text, STR(" The stream stays open; a browser opens it with a ticket."));
    if (r->flags & ROUTE_PATCH)
        buf_append(text, STR(" Accepts a JSON Merge Patch or a JSON Patch."));
    if (r->flags & ROUTE_MUST_MATCH)
        buf_append(text, STR(" Needs `If-Match`, or `If-None-Match: *`."));
    else if (is_write(r) && (r->flags & ROUTE_ETAG))
        buf_append(text, STR(" With `If-Match`, rejects a change of another version."));
    if (is_write(r) && strcmp(r->method, "POST") == 0)
        buf_append(text, STR(" An `Idempotency-Key` makes it safe to repeat."));
    if (has_body(r) && (r->flags & ROUTE_UPLOAD) == 0)
        buf_printf(text, " The body has at most %zu bytes.",
            r->body_limit != 0 ? r->body_limit : (size_t)ROUTE_BODY_DEFAULT);
}

void openapi_write_description(struct json_writer *w, const struct route *r)
{
    struct buf text;
    buf_init(&text, 4096);
    describe_access(&text, r);
    describe_use(&text, r);
    json_write_key(w, STR("description"));
    json_write_string(w, buf_str(&text));
    buf_deinit(&text);
}

/* --- Refusals ------------------------------------------------------------------------------- */

static bool always(const struct route *r)
{
    return true;
}

static bool needs_key(const struct route *r)
{
    return !route_is_public(r);
}

static bool has_path_parameter(const struct route *r)
{
    return !str_is_none(route_param_name(r, 0));
}

static bool has_condition(const struct route *r)
{
    return (r->flags & (ROUTE_ETAG | ROUTE_CONDITIONAL)) != 0;
}

static bool must_match(const struct route *r)
{
    return (r->flags & ROUTE_MUST_MATCH) != 0;
}

static bool is_websocket(const struct route *r)
{
    return r->mode == ROUTE_WEBSOCKET;
}

static bool takes_input(const struct route *r)
{
    return has_body(r) || r->query != NULL || has_condition(r);
}

static const struct {
    const char *status;
    const char *name;
    const char *summary;
    bool (*applies)(const struct route *r);
} REFUSALS[] = {
    {"400", "BadRequest", "the request is malformed, or its JSON or cursor is invalid", always},
    {"401", "Unauthenticated", "the key is missing, unknown, revoked or expired", needs_key},
    {"403", "Forbidden", "the key lacks the scope, or the principal the permission", needs_key},
    {"404", "NotFound", "no such object, or it belongs to another tenant", has_path_parameter},
    {"409", "Conflict", "the state of the object does not allow the change", is_write},
    {"412", "StaleETag", "the object has another version than the condition names", has_condition},
    {"413", "BodyTooLarge", "the body is larger than the limit of the route", has_body},
    {"415", "UnsupportedMediaType", "the media type or the coding of the body is not supported",
        has_body},
    {"422", "InvalidInput", "a member or a parameter breaks a rule; `errors` names each",
        takes_input},
    {"426", "UpgradeRequired", "the route is a WebSocket", is_websocket},
    {"428", "PreconditionRequired", "the route needs a condition on the version", must_match},
    {"429", "RateLimited", "a rate limit or a quota is used up; see Retry-After", needs_key},
};

void openapi_write_refusals(struct json_writer *w, const struct route *r)
{
    for (size_t i = 0; i < COUNT_OF(REFUSALS); i++) {
        if (!REFUSALS[i].applies(r))
            continue;
        char path[64];
        snprintf(path, sizeof path, "#/components/responses/%s", REFUSALS[i].name);
        openapi_open(w, REFUSALS[i].status);
        openapi_member(w, "$ref", path);
        json_write_end(w);
    }
}

void openapi_write_refusal_components(struct json_writer *w)
{
    openapi_open(w, "responses");
    for (size_t i = 0; i < COUNT_OF(REFUSALS); i++) {
        openapi_open(w, REFUSALS[i].name);
        openapi_member(w, "description", REFUSALS[i].summary);
        openapi_open(w, "content");
        openapi_content(w, "application/problem+json", "Problem");
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}
