/* SPDX-License-Identifier: Apache-2.0 */
/* Notebooks, and the threads that are their sessions. */
#include "api/handlers.h"
#include "model/threads/notebooks.h"

#define OF struct notebook
static const struct field notebook_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, title, IN_BODY | IN_READ, .min = 1, .max = NOTEBOOK_TITLE_MAX_BYTES),
    FIELD(STRING_OR_NULL, description, IN_BODY | IN_READ, .max = NOTEBOOK_DESCRIPTION_MAX_BYTES),
    FIELD(STRING_OR_NULL, instructions, IN_BODY | IN_READ,
        "instructions for the agents that work in the notebook; omitted in lists",
        .max = NOTEBOOK_INSTRUCTIONS_MAX_BYTES, .hide_none = true),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ, .max = NOTEBOOK_METADATA_MAX_BYTES),
    FIELD(INT, number, IN_READ, "number within the tenant, for people: 1, 2, 3"),
    FIELD(INT, sessions, IN_READ, "number of threads in the notebook"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_notebook = SCHEMA("Notebook", struct notebook, notebook_fields, IN_READ);
const struct schema schema_notebook_body =
    SCHEMA("NotebookBody", struct notebook, notebook_fields, IN_BODY);
const struct schema schema_notebook_patch =
    SCHEMA("NotebookPatch", struct notebook, notebook_fields, IN_BODY);

#define OF struct notebook_session
static const struct field session_fields[] = {
    FIELD(UUID, notebook_id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(INT, number, IN_READ, "increases within the tenant"),
    FIELD(STRING_OR_NULL, title, IN_READ, "title of the thread"),
    FIELD(STRING, status, IN_READ),
    FIELD(TIME, created_at, IN_READ, "time at which the thread was added"),
};
#undef OF
const struct schema schema_notebook_session =
    SCHEMA("NotebookSession", struct notebook_session, session_fields, IN_READ);

struct session_body {
    bool has_thread_id;
    struct uuid thread_id;
};
#define OF struct session_body
static const struct field session_body_fields[] = {
    FIELD(UUID_OR_NULL, thread_id, IN_BODY, "default: a new thread"),
};
#undef OF
const struct schema schema_notebook_session_body =
    SCHEMA("NotebookSessionBody", struct session_body, session_body_fields, IN_BODY);

static enum error answer(struct call *call, const struct notebook *notebook)
{
    return call_answer(call, &schema_notebook, notebook, notebook->version);
}

/* The path has the notebook's id or its number. */
static enum error notebook_of_path(struct call *call, struct context *c, struct uuid *out_id)
{
    *out_id = call->request.params[0];
    int64_t number = call->request.numbers[0];
    return number > 0 ? notebook_find(c, number, out_id) : OK;
}

enum error handle_notebook_create(struct call *call, struct context *c)
{
    struct notebook notebook = *(const struct notebook *)call->request.input;
    TRY(notebook_create(c, &notebook));
    return answer(call, &notebook);
}

enum error handle_notebook_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct notebook *notebooks = ARENA_ARRAY(call->arena, struct notebook, page.limit);
    struct uuid before;
    bool has_before;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(notebook_list(c, has_before ? &before : NULL, &page, notebooks));
    return call_answer_page(
        call, &schema_notebook, notebooks, &page, CURSOR_BY(struct notebook, id));
}

enum error handle_notebook_get(struct call *call, struct context *c)
{
    struct uuid id;
    TRY(notebook_of_path(call, c, &id));
    struct notebook notebook;
    TRY(notebook_get(c, id, &notebook));
    return answer(call, &notebook);
}

enum error handle_thread_notebook(struct call *call, struct context *c)
{
    struct notebook notebook;
    TRY(notebook_of_thread(c, call->request.params[0], &notebook));
    return answer(call, &notebook);
}

enum error handle_notebook_patch(struct call *call, struct context *c)
{
    struct notebook before, after;
    struct uuid id;
    TRY(context_lock_tenant(c));
    TRY(notebook_of_path(call, c, &id));
    TRY(notebook_get(c, id, &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    TRY(notebook_update(c, &before, &after));
    return answer(call, &after);
}

enum error handle_notebook_delete(struct call *call, struct context *c)
{
    struct uuid id;
    TRY(notebook_of_path(call, c, &id));
    TRY(notebook_delete(c, id));
    return call_answer_nothing(call);
}

/* --- Sessions ------------------------------------------------------------------------------ */

enum error handle_notebook_session_add(struct call *call, struct context *c)
{
    struct uuid id;
    TRY(notebook_of_path(call, c, &id));
    const struct session_body *body = call->request.input;
    struct notebook_session session;
    struct uuid thread_id = body->has_thread_id ? body->thread_id : UUID_NIL;
    TRY(notebook_add_session(c, id, thread_id, &session));
    return call_answer(call, &schema_notebook_session, &session, 0);
}

enum error handle_notebook_session_list(struct call *call, struct context *c)
{
    struct uuid id;
    TRY(notebook_of_path(call, c, &id));
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct notebook_session *sessions =
        ARENA_ARRAY(call->arena, struct notebook_session, page.limit);
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(notebook_list_sessions(c, id, before, &page, sessions));
    return call_answer_page(call, &schema_notebook_session, sessions, &page,
        CURSOR_BY(struct notebook_session, number));
}

enum error handle_notebook_session_remove(struct call *call, struct context *c)
{
    struct uuid id;
    TRY(notebook_of_path(call, c, &id));
    TRY(notebook_remove_session(c, id, call->request.params[1]));
    return call_answer_nothing(call);
}
