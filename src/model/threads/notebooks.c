/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/notebooks.h"

#include "base/json/json_write.h"
#include "model/tenancy/audit.h"
#include "model/threads/notebooks.sql.h"
#include "model/threads/threads.h"

/* --- Notebooks ------------------------------------------------------------------------------- */

enum error notebook_get(struct context *c, struct uuid id, struct notebook *out_notebook)
{
    struct query q;
    context_query(c, &q, &SQL_NOTEBOOK_GET);
    query_uuid(&q, id, id);
    bool found;
    TRY(notebook_read_one(&q, &found, out_notebook));
    return !found ? context_not_found(c, "notebook", id) : OK;
}

enum error notebook_find(struct context *c, int64_t number, struct uuid *out_id)
{
    struct query q;
    context_query(c, &q, &SQL_NOTEBOOK_BY_NUMBER);
    query_i64(&q, number, number);
    bool found = query_next(&q);
    struct uuid id = found ? row_uuid(&q) : UUID_NIL;
    TRY(query_end(&q));
    if (!found)
        return problem_set(
            c->problem, ERR_NOT_FOUND, "the notebook %lld does not exist", (long long)number);
    *out_id = id;
    return OK;
}

enum error notebook_of_thread(
    struct context *c, struct uuid thread_id, struct notebook *out_notebook)
{
    struct thread thread;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    context_query(c, &q, &SQL_NOTEBOOK_OF_THREAD);
    query_uuid(&q, thread_id, thread_id);
    bool found;
    TRY(notebook_read_one(&q, &found, out_notebook));
    return !found ? problem_set(c->problem, ERR_NOT_FOUND, "the thread is not in a notebook") : OK;
}

enum error notebook_list(
    struct context *c, const struct uuid *before, struct page *page, struct notebook *out_notebooks)
{
    struct query q;
    page_begin(c, &q, &SQL_NOTEBOOK_LIST, page);
    query_uuid_if(&q, before, before != NULL, before != NULL ? *before : UUID_NIL);
    return notebook_read_page(&q, page, out_notebooks);
}

static enum error write_row(
    struct context *c, const struct sql_statement *statement, const struct notebook *notebook)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, notebook->id);
    query_text(&q, title, notebook->title);
    query_text(&q, description, notebook->description);
    query_text(&q, instructions, notebook->instructions);
    query_text(&q, metadata, str_is_none(notebook->metadata) ? STR("{}") : notebook->metadata);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* The tenant's lock makes the numbers unique. */
enum error notebook_create(struct context *c, struct notebook *notebook)
{
    notebook->id = uuid_v7();
    TRY(context_lock_tenant(c));
    TRY(write_row(c, &SQL_NOTEBOOK_INSERT, notebook));
    return notebook_get(c, notebook->id, notebook);
}

enum error notebook_update(struct context *c, const struct notebook *before, struct notebook *after)
{
    after->id = before->id;
    TRY(write_row(c, &SQL_NOTEBOOK_UPDATE, after));
    return notebook_get(c, before->id, after);
}

static struct str describe(struct arena *arena, const struct notebook *notebook)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "title", notebook->title);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

enum error notebook_delete(struct context *c, struct uuid id)
{
    struct notebook notebook;
    struct query q;
    TRY(context_lock_tenant(c));
    TRY(notebook_get(c, id, &notebook));
    TRY(context_check_match(c, notebook.version));
    context_query(c, &q, &SQL_NOTEBOOK_DELETE);
    query_uuid(&q, id, id);
    TRY(query_run(&q));
    return audit_record(c, "notebook.deleted", "notebook", id, describe(c->arena, &notebook));
}

/* --- Sessions -------------------------------------------------------------------------------- */

static enum error find_session(
    struct context *c, struct uuid thread_id, struct notebook_session *out, bool *out_found)
{
    struct query q;
    context_query(c, &q, &SQL_NOTEBOOK_SESSION_OF_THREAD);
    query_uuid(&q, thread_id, thread_id);
    return notebook_session_read_one(&q, out_found, out);
}

static enum error refuse_second(struct context *c, const struct notebook_session *session)
{
    char text[UUID_TEXT_LEN];
    uuid_format(session->notebook_id, text);
    return problem_set(c->problem, ERR_CONFLICT,
        "the thread is in the notebook %.*s: remove it from there first", UUID_TEXT_LEN, text);
}

static enum error insert_session(struct context *c, struct uuid notebook_id, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, &SQL_NOTEBOOK_SESSION_INSERT);
    query_uuid(&q, id, notebook_id);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* Threads are locked before tenants; a new thread needs no lock. */
static enum error take_thread(struct context *c, struct uuid *thread_id)
{
    struct thread thread = {0};
    if (!uuid_is_nil(*thread_id)) {
        enum error e = thread_get_head(c, *thread_id, &thread);
        if (e != ERR_NOT_FOUND)
            return e;
        c->problem->detail = STR_NONE;
        return problem_fault(c->problem, STR("/thread_id"), "must be a thread of the tenant");
    }
    enum error e = thread_create(c, &thread);
    *thread_id = thread.id;
    return e;
}

enum error notebook_add_session(struct context *c, struct uuid notebook_id, struct uuid thread_id,
    struct notebook_session *out_session)
{
    struct notebook notebook;
    bool found = false;
    TRY(notebook_get(c, notebook_id, &notebook));
    TRY(take_thread(c, &thread_id));
    TRY(context_lock_tenant(c));
    TRY(notebook_get(c, notebook_id, &notebook));
    TRY(find_session(c, thread_id, out_session, &found));
    if (found)
        return uuid_eq(out_session->notebook_id, notebook_id) ? OK : refuse_second(c, out_session);
    TRY(insert_session(c, notebook_id, thread_id));
    return find_session(c, thread_id, out_session, &found);
}

enum error notebook_list_sessions(struct context *c, struct uuid notebook_id, int64_t before,
    struct page *page, struct notebook_session *out_sessions)
{
    struct notebook notebook;
    struct query q;
    TRY(notebook_get(c, notebook_id, &notebook));
    page_begin(c, &q, &SQL_NOTEBOOK_SESSION_LIST, page);
    query_uuid(&q, id, notebook_id);
    query_i64(&q, number, before > 0 ? before : INT64_MAX);
    return notebook_session_read_page(&q, page, out_sessions);
}

enum error notebook_remove_session(
    struct context *c, struct uuid notebook_id, struct uuid thread_id)
{
    struct notebook notebook;
    struct query q;
    int64_t changed = 0;
    TRY(context_lock_thread(c, thread_id));
    TRY(context_lock_tenant(c));
    TRY(notebook_get(c, notebook_id, &notebook));
    context_query(c, &q, &SQL_NOTEBOOK_SESSION_DELETE);
    query_uuid(&q, id, notebook_id);
    query_uuid(&q, thread_id, thread_id);
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? context_not_found(c, "session", thread_id) : OK;
}
