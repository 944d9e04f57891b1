/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts of a run, and its retry. */
#include "model/execution/attempts.h"

#include "api/execution/run_fields.h"
#include "api/execution/run_path.h"
#include "api/handlers.h"

#define OF struct run_backoff
static const struct field backoff_fields[] = {
    FIELD(INT, initial_ms, IN_BODY | IN_READ, "pause after the first failed attempt", .min = 1,
        .max = RUN_BACKOFF_MAX_MS),
    FIELD(INT_OR_NONE, factor, IN_BODY | IN_READ,
        "multiplies the pause after each further failed attempt; default: 2", .min = 1,
        .max = RUN_BACKOFF_FACTOR_MAX),
    FIELD(INT_OR_NONE, max_ms, IN_BODY | IN_READ,
        "longest pause; default: 3600000, or initial_ms if that is greater", .min = 1,
        .max = RUN_BACKOFF_MAX_MS),
};
#undef OF
const struct schema schema_run_backoff =
    SCHEMA("RunBackoff", struct run_backoff, backoff_fields, IN_BODY | IN_READ);

#define OF struct run_attempt
static const struct field attempt_fields[] = {
    FIELD(INT, number, IN_READ),
    FIELD(STRING, worker, IN_READ),
    FIELD(INT, fence, IN_READ, "fencing token of the claim"),
    FIELD(TIME, started_at, IN_READ),
    FIELD(TIME_OR_NULL, ended_at, IN_READ, "null while the worker holds the lease"),
    FIELD(ENUM_OR_NULL, outcome, IN_READ,
        "end of the attempt; failed (by release with an error) and lease_expired count towards "
        "max_attempts",
        .choices = attempt_outcomes),
    FIELD(OBJECT_OR_NULL, error, IN_READ, "error that the worker reported as it released the run"),
};
#undef OF
const struct schema schema_run_attempt =
    SCHEMA("RunAttempt", struct run_attempt, attempt_fields, IN_READ);

enum error handle_run_attempt_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct run_attempt *attempts = ARENA_ARRAY(call->arena, struct run_attempt, page.limit);
    struct run run;
    int64_t after;
    TRY(run_path_get(call, c, &run));
    TRY(cursor_to_number(call, q->page.cursor, &after));
    TRY(attempt_list(c, run.id, after, &page, attempts));
    return call_answer_page(
        call, &schema_run_attempt, attempts, &page, CURSOR_BY(struct run_attempt, number));
}

/* --- Retry ---------------------------------------------------------------------------------- */

struct run_retry {
    enum run_policy policy;
    struct str state;
    struct run_schedule schedule;
};
#define OF struct run_retry
static const struct field retry_fields[] = {
    FIELD(ENUM_OR_NULL, policy, IN_BODY, "overrides the run_policy of the thread",
        .choices = thread_run_policies),
    FIELD(OBJECT_OR_NONE, state, IN_BODY, "state of the new run; default: {}",
        .max = RUN_DOCUMENT_MAX_BYTES),
    RUN_SCHEDULE_FIELDS(IN_BODY),
};
#undef OF
const struct schema schema_run_retry = SCHEMA("RunRetry", struct run_retry, retry_fields, IN_BODY);

enum error handle_run_retry(struct call *call, struct context *c)
{
    const struct run_retry *body = call->request.input;
    struct run_schedule schedule = body->schedule;
    struct run run, again;
    schedule.drops_max_attempts = call_member(call, "max_attempts") == MEMBER_NULL;
    schedule.drops_backoff = call_member(call, "backoff") == MEMBER_NULL;
    TRY(run_path_get_whole(call, c, &run));
    TRY(run_retry(c, &run, &schedule, body->policy, body->state, &again));
    return call_answer(call, &schema_run, &again, again.version);
}
