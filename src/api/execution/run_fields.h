/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of field tables that several bodies and answers about runs share: the members that end a
 * run, and its schedule. */
#ifndef API_EXECUTION_RUN_FIELDS_H
#define API_EXECUTION_RUN_FIELDS_H

#include "api/http/page.h"
#include "model/execution/history.h"
#include "model/execution/run_results.h"
#include "model/execution/transcripts.h"

/* A struct usage. */
extern const struct schema schema_usage_report;

/* Members of `result`, a struct run_result. */
#define RUN_RESULT_FIELDS(result, in, shown)                                                       \
    FIELD_OF(result, ARRAY_OR_NULL, messages, (in) | (shown),                                      \
        "complete conversation of the run, in the call that ends the run",                         \
        .max = TRANSCRIPT_MAX_BYTES, .items = "object", .hide_none = true),                        \
        FIELD_OF(result, ARRAY_OR_NULL, generated_files, (in) | (shown),                           \
            "[{file_id, filename, …}], in the call that ends the run",                             \
            .max = HISTORY_FILES_MAX_BYTES, .items = "object", .hide_none = true),                 \
        FIELD_OF(result, OBJECT_OR_NULL, extras, (in) | (shown),                                   \
            "data of the application, in the call that ends the run",                              \
            .max = HISTORY_EXTRAS_MAX_BYTES, .hide_none = true),                                   \
        FIELD_OF(result, NESTED_OR_NULL, usage, in,                                                \
            "usage of one call to a model that is not reported elsewhere, in the call that ends "  \
            "the run; Cairn computes the cost",                                                    \
            .nested = &schema_usage_report, .hide_none = true),                                    \
        FIELD_OF(result, TIME_OR_NULL, started_at, in,                                             \
            "start of a run that is reported later, in the call that ends the run; default: the "  \
            "time at which Cairn started the run",                                                 \
            .hide_none = true),                                                                    \
        FIELD_OF(result, TIME_OR_NULL, finished_at, in,                                            \
            "end of a run that is reported later, in the call that ends the run; default: now",    \
            .hide_none = true),                                                                    \
        FIELD_OF(result, JSON_OR_NULL, append, in,                                                 \
            "assistant message to append to the context of the thread, in the call that ends "     \
            "the run: a text, {role, content}, or true for the content of the run",                \
            .max = RUN_DOCUMENT_MAX_BYTES, .hide_none = true),                                     \
        FIELD_OF(result, BOOL_OR_NULL, reply, in,                                                  \
            "true: the answer of the run is also created as a message of the thread, in the call " \
            "that ends the run",                                                                   \
            .hide_none = true),                                                                    \
        FIELD_OF(result, BOOL_OR_NULL, lifecycle_steps, in,                                        \
            "false: Cairn does not log the start or the end of the run that this call causes, "    \
            "because the steps of the engine contain it",                                          \
            .hide_none = true)

/* In a body that can start a run. */
#define RUN_MESSAGE_FIELD(in)                                                                    \
    FIELD(BOOL_OR_NONE, message, in,                                                             \
        "false: the input of the user is not also created as a message of the thread; default: " \
        "true for a run without parent")

/* Members of `end`, a struct run, in a body that can record a finished run. */
#define RUN_END_FIELDS(end, in)                                                                  \
    FIELD_OF(end, ENUM_OR_NULL, status, in,                                                      \
        "completed, failed or cancelled: records a run that has already ended",                  \
        .choices = run_statuses),                                                                \
        FIELD_OF(end, JSON_OR_NULL, final_output, in, .max = RUN_DOCUMENT_MAX_BYTES),            \
        FIELD_OF(end, OBJECT_OR_NULL, error, in, .max = THREAD_METADATA_MAX_BYTES),              \
        FIELD_OF(                                                                                \
            end, STRING_OR_NULL, stop_reason, in, .min = 1, .max = RUN_STOP_REASON_MAX_BYTES),   \
        FIELD_OF(end, STRING_OR_NULL, content, in, "answer text for people",                     \
            .max = RUN_DOCUMENT_MAX_BYTES),                                                      \
        FIELD_OF(                                                                                \
            end, STRING_OR_NULL, content_type, in, .min = 1, .max = RUN_CONTENT_TYPE_MAX_BYTES), \
        FIELD_OF(end, DOCUMENT_OR_NULL, citations, in, .max = RUN_EXTRA_MAX_BYTES),              \
        FIELD_OF(end, OBJECT_OR_NULL, metrics, in, "measurements of the engine",                 \
            .max = RUN_EXTRA_MAX_BYTES),                                                         \
        RUN_RESULT_FIELDS(end.result, in, 0)

extern const struct schema schema_run_backoff;

/* clang-format off */
/* The schedule of a run (struct run_schedule), in the member `schedule` of OF. */
#define RUN_SCHEDULE_FIELDS(in_)                                                                   \
    FIELD_OF(schedule, INT_OR_NONE, priority, in_,                                                 \
        "order of claims: a point counts like a minute of age", .min = -RUN_PRIORITY_MAX,          \
        .max = RUN_PRIORITY_MAX),                                                                  \
    FIELD_OF(schedule, INT_OR_NULL, max_attempts, in_,                                             \
        "failed attempts after which the run fails; null: no maximum", .min = 1,                   \
        .max = RUN_ATTEMPTS_MAX),                                                                  \
    FIELD_OF(schedule, NESTED_OR_NULL, backoff, in_, "pause after a failed attempt",               \
        .nested = &schema_run_backoff),                                                            \
    FIELD_OF(schedule, TIME_OR_NULL, not_before, in_, "the run is not claimed before this time"),  \
    FIELD_OF(schedule, TIME_OR_NULL, deadline, in_,                                                \
        "the run fails if it is not finished at this time")
/* clang-format on */

/* Starts `run`, or records it as finished if `end` has members. */
MUST_CHECK enum error run_start_or_record(struct context *c, struct uuid thread_id,
    enum run_policy policy, struct run *run, const struct run *end);

#endif
