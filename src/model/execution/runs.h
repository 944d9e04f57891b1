/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: executions on a thread. Every change of status is made by run_change, which checks the
 * transition table, ends leases, starts waiting runs and appends the event, in one transaction.
 *
 * `dispatch` determines who works on a run: with `queue` a worker claims the run under a lease;
 * with `direct` the client that started the run works on it, without a lease. A claim assigns a
 * fencing token that is greater than all earlier ones of the thread. While a lease is held, a write
 * by the worker must carry this token; an older token, or one whose lease has ended, is rejected.
 * The verbs for people (input, pause, resume, cancel) need no token and end the lease.
 */
#ifndef MODEL_EXECUTION_RUNS_H
#define MODEL_EXECUTION_RUNS_H

#include "model/context.h"
#include "model/threads/threads.h"
#include "model/transitions.h"

enum {
    RUN_INPUT_MAX_BYTES = 256 * 1024,
    RUN_DOCUMENT_MAX_BYTES = 1024 * 1024,
    RUN_EXTRA_MAX_BYTES = 256 * 1024, /* request, citations and metrics each */
    RUN_CONTENT_TYPE_MAX_BYTES = 200,
    RUN_MODEL_MAX_BYTES = 200,
    RUN_PROVIDER_MAX_BYTES = 100,
    RUN_STOP_REASON_MAX_BYTES = 100,
    RUN_AGENT_VERSION_MAX_BYTES = 100,
    RUN_WORKER_MAX_BYTES = 200,
    RUN_ACTIVE_MAX = 256, /* unfinished runs of a thread, including children */
    RUN_DEPTH_MAX = 16,   /* ancestors of a run */
    RUN_LEASE_MIN_MS = 1000,
    RUN_LEASE_MAX_MS = 3600 * 1000,
    RUN_LEASE_DEFAULT_MS = 30 * 1000,
    RUN_PRIORITY_MAX = 100,     /* the minimum is its negative */
    RUN_TIMES_AHEAD_MAX_S = 60, /* reported times: the clock of a client may differ */
    RUN_ATTEMPTS_MAX = 1000,
    RUN_BACKOFF_FACTOR_MAX = 10,
    RUN_BACKOFF_MAX_MS = 24 * 3600 * 1000,
};

/* clang-format off */
/*
 * The statuses of a run, and those that may follow each. `queued` follows every status in which a
 * worker may be lost or no longer needed; nothing follows the last three, which are final.
 */
#define RUN_STATUSES(X)                                                                           \
    X(RUN_QUEUED, "queued",                                                                       \
        ENUM_SET(RUN_RUNNING, RUN_PAUSED, RUN_FAILED, RUN_CANCELLED))                             \
    X(RUN_RUNNING, "running",                                                                     \
        ENUM_SET(RUN_QUEUED, RUN_WAITING, RUN_PAUSED, RUN_COMPLETED, RUN_FAILED, RUN_CANCELLED))  \
    X(RUN_WAITING, "waiting_for_input",                                                           \
        ENUM_SET(RUN_QUEUED, RUN_RUNNING, RUN_PAUSED, RUN_FAILED, RUN_CANCELLED))                 \
    X(RUN_PAUSED, "paused",                                                                       \
        ENUM_SET(RUN_QUEUED, RUN_RUNNING, RUN_WAITING, RUN_FAILED, RUN_CANCELLED))                \
    X(RUN_COMPLETED, "completed", 0)                                                              \
    X(RUN_FAILED,    "failed",    0)                                                              \
    X(RUN_CANCELLED, "cancelled", 0)

#define RUN_DISPATCHES(X)                                                                         \
    X(RUN_QUEUE,  "queue")                                                                        \
    X(RUN_DIRECT, "direct")

/* The phases of a run (run_phases.h), and the status of a run that works in this phase. */
#define RUN_PHASES(X)                                                                             \
    X(PHASE_CREATED,        "created",        RUN_STATUS_NONE)                                    \
    X(PHASE_INITIALIZING,   "initializing",   RUN_RUNNING)                                        \
    X(PHASE_PLANNING,       "planning",       RUN_RUNNING)                                        \
    X(PHASE_EXECUTING,      "executing",      RUN_RUNNING)                                        \
    X(PHASE_AWAITING_TOOL,  "awaiting_tool",  RUN_WAITING)                                        \
    X(PHASE_AWAITING_HUMAN, "awaiting_human", RUN_WAITING)                                        \
    X(PHASE_REFLECTING,     "reflecting",     RUN_RUNNING)                                        \
    X(PHASE_COMPLETED,      "completed",      RUN_COMPLETED)                                      \
    X(PHASE_FAILED,         "failed",         RUN_FAILED)                                         \
    X(PHASE_CANCELLED,      "cancelled",      RUN_CANCELLED)
/* clang-format on */
ENUM_DECLARE(run_status, RUN_STATUS_NONE, run_statuses, RUN_STATUSES);
ENUM_DECLARE(run_dispatch, RUN_DISPATCH_NONE, run_dispatches, RUN_DISPATCHES);
ENUM_DECLARE(phase, PHASE_NONE, run_phases, RUN_PHASES);

/* Tokens and cost of calls to models. Only usage_add writes them (usage.h). */
struct run_usage {
    int64_t llm_calls;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
    bool has_cost; /* false: no call has a price */
    int64_t cost_pico;
    int64_t unpriced_calls;
};

/* One call to a model. */
struct usage {
    struct str model;     /* STR_NONE: that of the run; without a model there is no price */
    struct str provider;  /* STR_NONE: that of the run */
    int64_t input_tokens; /* without cached input */
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
};

/* Members that an engine reports with the end of a run (run_results.h). */
struct run_result {
    struct str messages;        /* a list of messages */
    struct str generated_files; /* as in history.h */
    struct str extras;
    struct str append; /* true, or the message for the context of the thread */
    bool has_reply;
    bool reply; /* creates the message of the assistant */
    /* False: without Cairn's step about this start or end (run_logs_lifecycle). */
    bool has_lifecycle_steps;
    bool lifecycle_steps;
    bool has_usage;
    struct usage usage;
    /* Times of a run that is reported later. */
    bool has_started_at;
    int64_t started_at;
    bool has_finished_at;
    int64_t finished_at;
    struct uuid messages_id; /* of the stored messages; nil: none */
    /* The entry of a run without parent; only read. */
    bool has_history_sequence;
    int64_t history_sequence;
};

/* The pause after a failed attempt: initial_ms, multiplied by `factor` after each further one, and
 * at most max_ms. */
struct run_backoff {
    bool has_initial_ms;
    int64_t initial_ms;
    bool has_factor;
    int64_t factor;
    bool has_max_ms;
    int64_t max_ms;
};

/* When and how often workers work on a run (run_schedule.c). */
struct run_schedule {
    bool has_priority;
    int64_t priority;
    bool has_max_attempts;
    int64_t max_attempts;
    bool has_backoff;
    struct run_backoff backoff;
    bool has_deadline;
    int64_t deadline;
    bool has_not_before;
    int64_t not_before;
    /* In a retry: without the one of the old run. */
    bool drops_max_attempts;
    bool drops_backoff;
};

struct run {
    struct uuid id;
    struct uuid thread_id;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    int64_t depth;
    enum run_status status;
    enum run_dispatch dispatch;
    enum run_status paused_from; /* RUN_STATUS_NONE: it is not paused */
    struct str agent;            /* the name by which workers claim the run */
    bool has_agent_id;
    struct uuid agent_id;
    struct str agent_version;
    enum phase phase;
    int64_t phase_changes; /* 0: the run does not use phases */
    struct str model;
    struct str provider;
    struct str stop_reason;
    bool has_forked_from_run_id;
    struct uuid forked_from_run_id;
    bool has_forked_from_checkpoint_id;
    struct uuid forked_from_checkpoint_id;
    int64_t turn_count; /* all turns ever begun; the next one has the number turn_count + 1 */
    int64_t step_count;
    struct run_schedule schedule;
    int64_t attempt_count;   /* claims, with the current one */
    int64_t failed_attempts; /* attempts.h */
    bool has_tool_deadline;
    int64_t tool_deadline; /* the first one of the tools that the run waits for */
    bool has_retry_of_run_id;
    struct uuid retry_of_run_id;
    struct run_usage usage;       /* of the run itself */
    struct run_usage total_usage; /* including its descendants */
    struct str request;           /* the whole request that started the run */
    struct str content;           /* the answer, for people */
    struct str content_type;
    struct str citations;
    struct str metrics;
    struct str user_input;
    bool ask_clarifications;
    struct str input; /* the latest input, compact JSON */
    struct str state;
    struct str metadata;
    struct str final_output;
    struct str error;
    struct str worker;
    bool has_lease;
    int64_t lease_expires_at; /* in lease time */
    bool has_lease_ms;
    int64_t lease_ms;
    int64_t fence;
    bool has_started_at;
    int64_t started_at;
    bool has_finished_at;
    int64_t finished_at;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    struct run_result result; /* in an update: what the call reports */
    bool adds_message;        /* in a start: creates the message of the user */
};

/* --- Queries -------------------------------------------------------------------------------- */

MUST_CHECK enum error run_get(struct context *c, struct uuid id, struct run *out_run);
/* The same without the documents, which may be large: user_input, input, state, final_output,
 * request, content, content_type, citations and metrics. */
MUST_CHECK enum error run_get_head(struct context *c, struct uuid id, struct run *out_run);

struct run_filter {
    bool has_before;
    struct uuid before;
    bool has_thread_id;
    struct uuid thread_id;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    bool has_agent_id;
    struct uuid agent_id;
    enum run_status status;
    enum phase phase;
    struct str agent;
    bool with_documents;
};
/* Newest first. */
MUST_CHECK enum error run_list(
    struct context *c, const struct run_filter *filter, struct page *page, struct run *out_runs);

struct run_array {
    struct run *runs; /* in the arena, without documents, metadata and error */
    size_t count;
};
/* Lists the unfinished runs of a thread that have no parent, oldest first. */
MUST_CHECK enum error run_list_active(
    struct context *c, struct uuid thread_id, struct run_array *out_active);
/* The same including children. */
MUST_CHECK enum error run_list_unfinished(
    struct context *c, struct uuid thread_id, struct run_array *out_unfinished);
bool run_is_finished(const struct run *run);
bool run_status_is_final(enum run_status status);

/* --- Changes -------------------------------------------------------------------------------- */

/*
 * out_may is true if the request may run the agent: it may use the agent (agents.h), or the agent
 * participates in the thread. A thread that the request names is locked before this call.
 */
MUST_CHECK enum error run_may_start(struct context *c, bool has_thread_id, struct uuid thread_id,
    struct uuid agent_id, bool *out_may);
/* Starts the run that `run` describes: parent, dispatch, agent, agent_id, agent_version, model,
 * provider, request, user_input, ask_clarifications, state, metadata, schedule, and the run and
 * checkpoint that it is forked from or retries. Of its result only lifecycle_steps counts. With
 * adds_message, user_input also becomes a
 * message of the thread, sent by the principal or else by "user". `policy` applies if the thread
 * has an active run; RUN_POLICY_NONE: the policy of the thread. */
MUST_CHECK enum error run_start(
    struct context *c, struct uuid thread_id, enum run_policy policy, struct run *run);

/* Starts a failed or cancelled run again, as a new run with the same request and the schedule
 * `again`, in which the members that are absent (but not the times) are those of the old run.
 * `state` is the state of the new run; STR_NONE: none. */
MUST_CHECK enum error run_retry(struct context *c, const struct run *run,
    const struct run_schedule *again, enum run_policy policy, struct str state,
    struct run *out_run);

/* Applies an engine's update: replaces status, state, metadata, final_output, error, model,
 * provider, stop_reason, content, content_type, citations and metrics of `before`. An update that
 * ends the run may have a result. */
MUST_CHECK enum error run_update(struct context *c, const struct run *before, struct run *after);

/* Continues a waiting run with this input (compact JSON). */
MUST_CHECK enum error run_input(struct context *c, struct run *run, struct str input);
MUST_CHECK enum error run_pause(struct context *c, struct run *run);
MUST_CHECK enum error run_resume(struct context *c, struct run *run);
MUST_CHECK enum error run_cancel(struct context *c, struct run *run, struct str reason);

/* Change the status of the thread and of its active runs. */
MUST_CHECK enum error thread_pause(struct context *c, struct thread *thread);
MUST_CHECK enum error thread_resume(struct context *c, struct thread *thread);
MUST_CHECK enum error thread_cancel(struct context *c, struct thread *thread, struct str reason);

/* --- Leases --------------------------------------------------------------------------------- */

struct run_claim {
    struct str worker;
    int64_t lease_ms;
    struct str agent; /* if given, only runs of the agent with this name */
    bool has_agent_id;
    struct uuid agent_id;
    bool has_thread_id;
    struct uuid thread_id;
};
/* Claims the first run that is ready, in the order of their ages, in which a point of priority
 * counts as a minute; out_found is false if there is none. */
MUST_CHECK enum error run_claim(
    struct context *c, const struct run_claim *claim, struct run *out_run, bool *out_found);
/* Returns the time from now until a queued run is due that has to wait; 0: there is none. */
MUST_CHECK enum error run_next_due(struct context *c, int64_t *out_wait_us);
/* Extends the lease to `lease_ms` from now; 0: the previous length. */
MUST_CHECK enum error run_heartbeat(struct context *c, struct run *run, int64_t lease_ms);
/* Returns the run to the queue. With an error (compact JSON; STR_NONE: none) the attempt has
 * failed: the run pauses for its backoff, or fails if it has no further attempt. */
MUST_CHECK enum error run_release(struct context *c, struct run *run, struct str error);
/* A write to the run: its lease, if it has one, must be that of the caller's token; see above. */
MUST_CHECK enum error run_check_fence(struct context *c, const struct run *run);
/* A write to the thread: the token, if there is one, must hold a lease on a run of the thread. */
MUST_CHECK enum error run_check_thread_fence(struct context *c, struct uuid thread_id);
/* A write to the thread that names a run: it must be a run of the thread, which is otherwise a
 * fault at `pointer`, and the write must pass run_check_fence. */
MUST_CHECK enum error run_check_in_thread(
    struct context *c, struct uuid thread_id, struct uuid run_id, struct str pointer);
/* The first half of that: reads a run that must be one of the thread. */
MUST_CHECK enum error run_get_in_thread(struct context *c, struct uuid thread_id,
    struct uuid run_id, struct str pointer, struct run *out_head);

/* Lists up to `limit` expired leases of all tenants, the oldest first. */
MUST_CHECK enum error run_list_expired(
    struct context *c, size_t limit, struct owned_id *out_leases, size_t *out_count);
/* Ends the attempt, which has failed, if its lease has expired; it may have been extended since. */
MUST_CHECK enum error run_end_lease(struct context *c, struct uuid run_id);
/* Lists up to `limit` unfinished runs of all tenants whose deadline has passed. */
MUST_CHECK enum error run_list_overdue(
    struct context *c, size_t limit, struct owned_id *out_runs, size_t *out_count);
/* Fails the run if it is unfinished and its deadline has passed. */
MUST_CHECK enum error run_end_overdue(struct context *c, struct uuid run_id);
/* Extends every held lease to its full length, after Cairn was down. */
MUST_CHECK enum error run_renew_leases(struct context *c);

/* --- The transition table ------------------------------------------------------------------- */

/* Returns the set of statuses that may follow this one. */
unsigned run_transitions(enum run_status from);

#endif
