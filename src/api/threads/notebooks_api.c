/* SPDX-License-Identifier: Apache-2.0 */
/* Notebooks, and the threads that are their sessions. */
#include "api/resources.h"
#include "model/threads/notebooks.h"

#define NOTEBOOK_FIELD(member) offsetof(struct notebook, member)
enum { NOTEBOOK_BODY_FIELDS = 4 };
static const struct field notebook_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = NOTEBOOK_FIELD(id)},
    {.name = "title",
        .kind = FIELD_STRING,
        .offset = NOTEBOOK_FIELD(title),
        .min = 1,
        .max = NOTEBOOK_TITLE_MAX_BYTES},
    {.name = "description",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = NOTEBOOK_FIELD(description),
        .max = NOTEBOOK_DESCRIPTION_MAX_BYTES},
    {.name = "instructions",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = NOTEBOOK_FIELD(instructions),
        .max = NOTEBOOK_INSTRUCTIONS_MAX_BYTES,
        .summary = "for the agents that work in it; lists leave them out"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = NOTEBOOK_FIELD(metadata),
        .max = NOTEBOOK_METADATA_MAX_BYTES},
    {.name = "number",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = NOTEBOOK_FIELD(number),
        .summary = "1, 2, 3 within the tenant, for people"},
    {.name = "sessions",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = NOTEBOOK_FIELD(sessions),
        .summary = "how many it has"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = NOTEBOOK_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = NOTEBOOK_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = NOTEBOOK_FIELD(version)},
};
const struct schema schema_notebook = {
    "Notebook", notebook_fields, COUNT_OF(notebook_fields), sizeof(struct notebook), 0};
const struct schema schema_notebook_body = {
    "NotebookBody", &notebook_fields[1], NOTEBOOK_BODY_FIELDS, sizeof(struct notebook), 0};
const struct schema schema_notebook_patch = {
    "NotebookPatch", &notebook_fields[1], NOTEBOOK_BODY_FIELDS, sizeof(struct notebook), 0};

#define SESSION_FIELD(member) offsetof(struct notebook_session, member)
static const struct field session_fields[] = {
    {.name = "notebook_id", .kind = FIELD_UUID, .offset = SESSION_FIELD(notebook_id)},
    {.name = "thread_id", .kind = FIELD_UUID, .offset = SESSION_FIELD(thread_id)},
    {.name = "number",
        .kind = FIELD_INT,
        .offset = SESSION_FIELD(number),
        .summary = "rises within the tenant"},
    {.name = "title",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = SESSION_FIELD(title),
        .summary = "the thread's"},
    {.name = "status", .kind = FIELD_STRING, .offset = SESSION_FIELD(status)},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .offset = SESSION_FIELD(created_at),
        .summary = "when the thread came into the notebook"},
};
const struct schema schema_notebook_session = {"NotebookSession", session_fields,
    COUNT_OF(session_fields), sizeof(struct notebook_session), 0};

struct session_body {
    bool has_thread_id;
    struct uuid thread_id;
};
static const struct field session_body_fields[] = {
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct session_body, thread_id),
        .has_offset = offsetof(struct session_body, has_thread_id),
        .summary = "a new thread when absent"},
};
const struct schema schema_notebook_session_body = {
    "NotebookSessionBody", session_body_fields, 1, sizeof(struct session_body), 0};

struct notebooks_query {
    struct page_query page;
};
static const struct field notebooks_query_fields[] = {PAGE_FIELDS(struct notebooks_query)};
const struct schema query_notebooks = {"NotebooksQuery", notebooks_query_fields,
    COUNT_OF(notebooks_query_fields), sizeof(struct notebooks_query), 0};

static void answer(struct call *call, const struct notebook *notebook)
{
    call_answer(call, &schema_notebook, notebook, notebook->version);
}

enum error handle_notebook_create(struct call *call, struct context *c)
{
    struct notebook notebook = *(const struct notebook *)call->request.input;
    enum error e = notebook_create(c, &notebook);
    if (e == OK)
        answer(call, &notebook);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct notebook *)item)->id);
}

enum error handle_notebook_list(struct call *call, struct context *c)
{
    const struct notebooks_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct notebook *notebooks = ARENA_ARRAY(call->arena, struct notebook, limit);
    struct uuid before;
    bool has_before = false, more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = notebook_list(c, has_before ? &before : NULL, limit, notebooks, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_notebook, notebooks, count, more, cursor_of);
    return e;
}

enum error handle_notebook_get(struct call *call, struct context *c)
{
    struct notebook notebook;
    enum error e = notebook_get(c, call->request.params[0], &notebook);
    if (e == OK)
        answer(call, &notebook);
    return e;
}

enum error handle_thread_notebook(struct call *call, struct context *c)
{
    struct notebook notebook;
    enum error e = notebook_of_thread(c, call->request.params[0], &notebook);
    if (e == OK)
        answer(call, &notebook);
    return e;
}

enum error handle_notebook_patch(struct call *call, struct context *c)
{
    struct notebook before, after;
    enum error e = context_lock_tenant(c);
    if (e == OK)
        e = notebook_get(c, call->request.params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = notebook_update(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_notebook_delete(struct call *call, struct context *c)
{
    enum error e = notebook_delete(c, call->request.params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

/* --- Sessions ----------------------------------------------------------------------------------
 */

enum error handle_notebook_session_add(struct call *call, struct context *c)
{
    const struct session_body *body = call->request.input;
    struct notebook_session session;
    struct uuid thread_id = body->has_thread_id ? body->thread_id : UUID_NIL;
    enum error e = notebook_add_session(c, call->request.params[0], thread_id, &session);
    if (e == OK)
        call_answer(call, &schema_notebook_session, &session, 0);
    return e;
}

static struct str session_cursor(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct notebook_session *)item)->number);
}

enum error handle_notebook_session_list(struct call *call, struct context *c)
{
    const struct notebooks_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct notebook_session *sessions = ARENA_ARRAY(call->arena, struct notebook_session, limit);
    int64_t before;
    bool more;
    enum error e = cursor_to_number(call, q->page.cursor, &before);
    if (e == OK)
        e = notebook_list_sessions(
            c, call->request.params[0], before, limit, sessions, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_notebook_session, sessions, count, more, session_cursor);
    return e;
}

enum error handle_notebook_session_remove(struct call *call, struct context *c)
{
    enum error e = notebook_remove_session(c, call->request.params[0], call->request.params[1]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
