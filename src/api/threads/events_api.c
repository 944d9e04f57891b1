/* SPDX-License-Identifier: Apache-2.0 */
#include "api/threads/events_api.h"

#include "api/handlers.h"
#include "model/execution/runs.h"
#include "model/tenancy/audit.h"

#define OF struct event
static const struct field event_fields[] = {
    FIELD(INT, id, IN_READ, "order and cursor in the stream of all threads; increases, with gaps"),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(INT, seq, IN_READ, "order and cursor in the stream of the thread, without gaps"),
    FIELD(UUID_OR_NULL, run_id, IN_READ),
    FIELD(STRING, kind, IN_READ),
    FIELD(STRING_OR_NULL, text, IN_READ),
    FIELD(JSON_OR_NULL, payload, IN_READ),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
const struct schema schema_event = SCHEMA("Event", struct event, event_fields, IN_READ);

void event_write(struct json_writer *w, const struct event *event)
{
    schema_encode(w, &schema_event, event);
}

/* --- Append -------------------------------------------------------------------------------- */

struct event_input {
    bool has_run_id;
    struct uuid run_id;
    struct str kind;
    struct str text;
    struct str payload;
    struct nested_list events; /* of the batch form only */
};

static const struct schema schema_event_input;
#define OF struct event_input
static const struct field event_input_fields[] = {
    FIELD(STRING_OR_NONE, kind, IN_BODY,
        "progress, status, warning, error, final, or an application kind that contains a dot",
        .min = 1, .max = EVENT_KIND_MAX_BYTES),
    FIELD(STRING_OR_NULL, text, IN_BODY, "text for people", .max = EVENT_TEXT_MAX_BYTES),
    FIELD(JSON_OR_NULL, payload, IN_BODY, "data for programs", .max = EVENT_PAYLOAD_MAX_BYTES),
    FIELD(UUID_OR_NULL, run_id, IN_BODY, "run of this thread that the event is about"),
    FIELD(LIST_OR_NONE, events, IN_BATCH,
        "list of events instead of one event; either all events are appended or none", .min = 1,
        .max = EVENT_BATCH_MAX, .nested = &schema_event_input),
};
#undef OF
static const struct schema schema_event_input =
    SCHEMA("EventInput", struct event_input, event_input_fields, IN_BODY);
const struct schema schema_event_append =
    SCHEMA("EventAppend", struct event_input, event_input_fields, IN_BODY | IN_BATCH);

struct appended {
    int64_t count;
    int64_t first_seq;
    int64_t last_seq;
};
#define OF struct appended
static const struct field appended_fields[] = {
    FIELD(INT, count, IN_READ),
    FIELD(INT, first_seq, IN_READ),
    FIELD(INT, last_seq, IN_READ),
};
#undef OF
const struct schema schema_events_appended =
    SCHEMA("EventsAppended", struct appended, appended_fields, IN_READ);

enum { NOT_OF_A_BATCH = -1 };

static struct str pointer_to(struct call *call, int64_t index, const char *member)
{
    if (index == NOT_OF_A_BATCH)
        return arena_printf(call->arena, "/%s", member);
    return arena_printf(call->arena, "/events/%lld/%s", (long long)index, member);
}

static enum error check_input(struct call *call, struct context *c, const struct event_input *input,
    int64_t index, const struct uuid **checked_run)
{
    if (str_is_none(input->kind))
        return problem_fault(&call->problem, pointer_to(call, index, "kind"), "is required");
    if (!event_kind_is_free(input->kind))
        TRY(event_check_kind(c, input->kind, pointer_to(call, index, "kind")));
    bool checked = *checked_run != NULL && uuid_eq(**checked_run, input->run_id);
    if (!input->has_run_id || checked)
        return OK;
    *checked_run = &input->run_id;
    return run_check_in_thread(
        c, call->request.params[0], input->run_id, pointer_to(call, index, "run_id"));
}

static enum error check_inputs(struct call *call, struct context *c, const struct event_input *body)
{
    const struct uuid *checked = NULL;
    if (body->events.count == 0)
        return check_input(call, c, body, NOT_OF_A_BATCH, &checked);
    if (call_gives_others(call, "events"))
        return problem_fault(&call->problem, STR("/events"),
            "must be the only member: send one event or a list of events");
    const struct event_input *inputs = body->events.items;
    for (size_t i = 0; i < body->events.count; i++)
        TRY(check_input(call, c, &inputs[i], (int64_t)i, &checked));
    return OK;
}

static enum error answer_append(struct call *call, struct context *c)
{
    const struct event_input *body = call->request.input;
    struct event_append *append = call->later_data;
    TRY(event_append_end(c, append));
    const struct event *events = append->events;
    struct appended appended = {(int64_t)append->n, events[0].seq, events[append->n - 1].seq};
    return body->events.count > 0 ? call_answer(call, &schema_events_appended, &appended, 0)
                                  : call_answer(call, &schema_event, &events[0], 0);
}

enum error handle_event_append(struct call *call, struct context *c)
{
    const struct event_input *body = call->request.input;
    bool batch = body->events.count > 0;
    const struct event_input *inputs = batch ? body->events.items : body;
    size_t n = batch ? body->events.count : 1;
    TRY(check_inputs(call, c, body));
    struct event *events = ARENA_ARRAY(call->arena, struct event, n);
    for (size_t i = 0; i < n; i++)
        events[i] = (struct event){.has_run_id = inputs[i].has_run_id,
            .run_id = inputs[i].run_id,
            .kind = inputs[i].kind,
            .text = inputs[i].text,
            .payload = inputs[i].payload};
    struct event_append *append = ARENA_NEW(call->arena, struct event_append);
    call->later = answer_append;
    call->later_data = append;
    return event_append_begin(c, call->request.params[0], events, n, append);
}

/* --- Cursors ------------------------------------------------------------------------------- */

bool event_cursor_parse(struct str text, bool tenant, struct event_cursor *out_cursor)
{
    struct event_cursor cursor = {0};
    size_t tilde = str_find(text, '~');
    if (!str_to_i64(str_slice(text, 0, tilde), &cursor.position) || cursor.position < 0)
        return false;
    if (tilde < text.len &&
        (!tenant || !str_to_i64(str_slice(text, tilde + 1, text.len), &cursor.told_gap) ||
            cursor.told_gap <= cursor.position)) /* a gap after it is never written */
        return false;
    *out_cursor = cursor;
    return true;
}

struct str event_cursor_text(struct arena *arena, struct event_cursor cursor)
{
    if (cursor.told_gap > cursor.position)
        return arena_printf(
            arena, "%lld~%lld", (long long)cursor.position, (long long)cursor.told_gap);
    return arena_printf(arena, "%lld", (long long)cursor.position);
}

static enum error bad_cursor(struct call *call, const char *rule)
{
    problem_fault(&call->problem, STR("after"), "%s", rule);
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

/* --- Read ---------------------------------------------------------------------------------- */

/* Parameters of a page that a stream does not take, and of a stream alone. */
enum { IN_PAGE = IN_SENT(0), IN_STREAM = IN_SENT(1) };
#define OF struct events_query
static const struct field events_query_fields[] = {
    FIELD(STRING_OR_NONE, after, IN_QUERY,
        "cursor: return events after it; default: from the oldest stored event", .max = 64),
    FIELD(STRING_OR_NONE, kind, IN_QUERY, .min = 1, .max = EVENT_KIND_MAX_BYTES),
    FIELD(UUID_OR_NONE, run_id, IN_QUERY),
    FIELD(STRING_OR_NONE, ticket, IN_STREAM, "instead of a key: see POST /v1/tickets", .max = 128),
    FIELD(INT_OR_NONE, limit, IN_PAGE, "events per page; default: 100", .min = 1,
        .max = EVENT_PAGE_MAX),
    FIELD(INT_OR_NONE, wait, IN_PAGE, "seconds to wait if no event is available",
        .max = CALL_MAX_WAIT_S),
};
#undef OF
const struct schema query_events =
    SCHEMA("EventsQuery", struct events_query, events_query_fields, IN_QUERY | IN_PAGE);
const struct schema query_event_stream =
    SCHEMA("EventStreamQuery", struct events_query, events_query_fields, IN_QUERY | IN_STREAM);

static bool is_thread_route(const struct call *call)
{
    return !str_is_none(route_param_name(call->route, 0));
}

/* An SSE client that reconnects sends its position in a header. */
static struct str cursor_of_request(const struct call *call, const struct events_query *q)
{
    struct str last = http_header(call->request.http, STR("Last-Event-ID"));
    return call->route->mode == ROUTE_SSE && !str_is_none(last) && last.len > 0 ? last : q->after;
}

static enum error read_position(struct call *call, struct context *c, struct event_admission *out,
    struct event_bounds *out_bounds, bool *out_given)
{
    const struct events_query *q = call->request.query;
    struct str text = cursor_of_request(call, q);
    bool tenant = !is_thread_route(call);
    *out = (struct event_admission){.filter = {.has_thread_id = !tenant,
                                        .thread_id = call->request.params[0],
                                        .has_run_id = q->has_run_id,
                                        .run_id = q->run_id,
                                        .kind = q->kind}};
    *out_given = !str_is_none(text);
    TRY(event_bounds(c, &out->filter, out_bounds));
    if (!str_is_none(q->kind) && !event_kind_is_known(q->kind))
        TRY(event_check_kind(c, q->kind, STR("kind")));
    if (!*out_given) {
        out->cursor.position = tenant ? 0 : out_bounds->pruned;
        out->cursor.told_gap = out_bounds->pruned;
        return OK;
    }
    if (!event_cursor_parse(text, tenant, &out->cursor))
        return bad_cursor(call, "must be a cursor of this stream");
    if (out->cursor.position > out_bounds->newest || out->cursor.told_gap > out_bounds->newest)
        return bad_cursor(call, "must not be greater than the cursor of the newest event");
    return OK;
}

static bool is_gone(const struct event_admission *a, const struct event_bounds *bounds)
{
    return a->cursor.position < bounds->pruned && a->cursor.told_gap < bounds->pruned;
}

static enum error refuse_gone(
    struct call *call, const struct event_admission *a, const struct event_bounds *bounds)
{
    struct event_cursor resume = a->cursor;
    if (a->filter.has_thread_id)
        resume.position = bounds->pruned;
    else
        resume.told_gap = bounds->pruned;
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("pruned_through"));
    json_write_i64(&text.w, bounds->pruned);
    json_write_key(&text.w, STR("resume_cursor"));
    json_write_string(&text.w, event_cursor_text(call->arena, resume));
    json_write_end(&text.w);
    call->problem.extension = json_text_take(&text, call->arena);
    return problem_set(&call->problem, ERR_PRUNED,
        "events up to %lld were pruned: continue from resume_cursor to accept the gap",
        (long long)bounds->pruned);
}

static void answer_page(
    struct call *call, const struct event *events, size_t n, bool more, struct event_cursor next)
{
    struct json_writer w;
    call_begin_data(call, &w);
    for (size_t i = 0; i < n; i++)
        event_write(&w, &events[i]);
    call_end_data(&w, more, event_cursor_text(call->arena, next));
    json_write_end(&w);
}

enum error handle_event_list(struct call *call, struct context *c)
{
    const struct events_query *q = call->request.query;
    struct page page = {.limit = q->has_limit ? (size_t)q->limit : 100};
    struct event *events = ARENA_ARRAY(call->arena, struct event, page.limit);
    struct event_admission a;
    struct event_bounds bounds;
    bool given;
    TRY(read_position(call, c, &a, &bounds, &given));
    if (given && is_gone(&a, &bounds))
        return refuse_gone(call, &a, &bounds);
    int64_t looked = 0;
    TRY(event_scan_end(c, &a.filter, a.cursor.position, bounds.last, &looked));
    a.filter.through = looked;
    TRY(event_list(c, &a.filter, a.cursor.position, &page, events));
    struct event_cursor next = a.cursor;
    if (page.more)
        next.position =
            a.filter.has_thread_id ? events[page.count - 1].seq : events[page.count - 1].id;
    else if (looked > next.position)
        next.position = looked;
    bool more = page.more || looked < bounds.last;
    call->answer.may_wait = page.count == 0 && !more;
    answer_page(call, events, page.count, more, next);
    return OK;
}

enum error handle_event_stream(struct call *call, struct context *c)
{
    struct event_admission *a = ARENA_NEW(call->arena, struct event_admission);
    struct event_bounds bounds;
    bool given;
    enum error e = read_position(call, c, a, &bounds, &given);
    call->answer.stream = a;
    return e;
}

/* --- Prune --------------------------------------------------------------------------------- */

struct prune_body {
    bool has_through_seq;
    int64_t through_seq;
    bool has_older_than;
    int64_t older_than;
    bool has_finished;
    bool finished;
};
#define OF struct prune_body
static const struct field prune_fields[] = {
    FIELD(INT_OR_NONE, through_seq, IN_BODY, "delete events up to this one", .min = 1,
        .max = INT64_MAX),
    FIELD(TIME_OR_NONE, older_than, IN_BODY, "delete events before this time"),
    FIELD(BOOL_OR_NONE, finished, IN_BODY,
        "true: delete events before the first event of an unfinished run"),
};
#undef OF
const struct schema schema_event_prune =
    SCHEMA("EventPrune", struct prune_body, prune_fields, IN_BODY);

struct pruned_answer {
    int64_t pruned;
};
#define OF struct pruned_answer
static const struct field pruned_fields[] = {
    FIELD(INT, pruned, IN_READ, "number of deleted events"),
};
#undef OF
const struct schema schema_event_pruned =
    SCHEMA("EventsPruned", struct pruned_answer, pruned_fields, IN_READ);

/* The detail of the audit record. */
static struct str describe(struct arena *arena, const struct pruned_answer *answer)
{
    struct json_text text;
    json_text_init(&text, 1024);
    schema_encode(&text.w, &schema_event_pruned, answer);
    return json_text_take(&text, arena);
}

enum error handle_event_prune(struct call *call, struct context *c)
{
    const struct prune_body *body = call->request.input;
    struct thread thread;
    struct pruned_answer answer = {0};
    if (body->has_through_seq + body->has_older_than + (body->has_finished && body->finished) != 1)
        return problem_fault(&call->problem, STR(""),
            "must have exactly one of through_seq, older_than and finished: true");
    TRY(thread_get(c, call->request.params[0], &thread));
    if (body->has_through_seq && body->through_seq > thread.last_seq)
        return problem_fault(&call->problem, STR("/through_seq"),
            "must not be greater than the cursor of the newest event");
    if (body->has_through_seq)
        TRY(event_prune(c, thread.id, body->through_seq, &answer.pruned));
    else if (body->has_older_than)
        TRY(event_prune_older(c, thread.id, body->older_than, &answer.pruned));
    else
        TRY(event_prune_finished(c, thread.id, INT64_MAX, &answer.pruned));
    /* Events can be pruned while the disk is full, so a prune that removes nothing writes nothing.
     */
    if (answer.pruned > 0)
        TRY(audit_record(c, "events.pruned", "thread", thread.id, describe(call->arena, &answer)));
    return call_answer(call, &schema_event_pruned, &answer, 0);
}
