/* SPDX-License-Identifier: Apache-2.0 */
/* Prices, usage, evals, notebooks and the store on a failing disk: rows of the table in steps.c. */
#ifndef TESTS_FAULT_STEPS_MONEY_H
#define TESTS_FAULT_STEPS_MONEY_H

#include "steps_store.h"

/* The run `played` continues, by the other paths to it. */
#define PLAY_STEPS                                                                             \
    {.method = "POST",                                                                         \
        .target = "/v1/agents/$agent/runs/$played/turns",                                      \
        .body = "{\"input\":{\"message\":\"on\"}}",                                            \
        .save = "turn2=/turn_id",                                                              \
        .read = "/v1/runs/$played/turns/$turn2",                                               \
        .shows = "/number /input"},                                                            \
        {.method = "PATCH",                                                                    \
            .target = "/v1/runs/$played/turns/$turn2",                                         \
            .body = "{\"status\":\"complete\"}",                                               \
            .read = "/v1/runs/$played/turns/$turn2",                                           \
            .shows = "/status /number"},                                                       \
        {.method = "POST",                                                                     \
            .target = "/v1/agents/$agent/runs/$played/usage",                                  \
            .body = "{\"input_tokens\":1,\"output_tokens\":1}"},                               \
    {                                                                                          \
        .method = "POST", .target = "/v1/agents/$agent/runs/$played/phase",                    \
        .body = "{\"to\":\"planning\"}", .read = "/v1/runs/$played", .shows = "/phase /status" \
    }

#define PRICE_STEPS                                                                      \
    {.method = "PUT",                                                                    \
        .target = "/v1/prices/fault",                                                    \
        .header = "If-None-Match: *",                                                    \
        .body = "{\"input\":3,\"output\":15}",                                           \
        .save = "priced=/model",                                                         \
        .read = "/v1/prices/fault",                                                      \
        .shows = "/input /output /version"},                                             \
        {.method = "POST",                                                               \
            .target = "/v1/runs/$run/usage",                                             \
            .body = "{\"model\":\"$priced\",\"input_tokens\":1000,\"output_tokens\":1}", \
            .read = "/v1/runs/$run/usage",                                               \
            .shows = "/currency>/total/currency"},                                       \
        {.method = "PUT",                                                                \
            .target = "/v1/prices/gone",                                                 \
            .header = "If-None-Match: *",                                                \
            .body = "{\"input\":1,\"output\":1}",                                        \
            .save = "gone_price=/model"},                                                \
    {                                                                                    \
        .method = "DELETE", .target = "/v1/prices/$gone_price", .header = "If-Match: *", \
        .read = "/v1/prices/gone", .read_status = 404                                    \
    }

#define EVAL_STEPS                                                                     \
    {.method = "POST",                                                                 \
        .target = "/v1/evals",                                                         \
        .body = "{\"name\":\"e\",\"eval_type\":\"fault\",\"score\":0.5}",              \
        .save = "eval=/id",                                                            \
        .read = "/v1/evals/$eval",                                                     \
        .shows = "/id /score"},                                                        \
        {.method = "PATCH",                                                            \
            .target = "/v1/evals/$eval",                                               \
            .header = "If-Match: *",                                                   \
            .body = "{\"name\":\"f\"}",                                                \
            .read = "/v1/evals/$eval",                                                 \
            .shows = "/name /version"},                                                \
        {.method = "POST",                                                             \
            .target = "/v1/evals",                                                     \
            .body = "{\"name\":\"g\",\"eval_type\":\"fault\"}",                        \
            .save = "gone_eval=/id"},                                                  \
    {                                                                                  \
        .method = "DELETE", .target = "/v1/evals/$gone_eval", .header = "If-Match: *", \
        .read = "/v1/evals/$gone_eval", .read_status = 404                             \
    }

#define NOTEBOOK_STEPS                                                                         \
    {.method = "POST",                                                                         \
        .target = "/v1/notebooks",                                                             \
        .body = "{\"title\":\"n\"}",                                                           \
        .save = "notebook=/id",                                                                \
        .read = "/v1/notebooks/$notebook",                                                     \
        .shows = "/id /number"},                                                               \
        {.method = "PATCH",                                                                    \
            .target = "/v1/notebooks/$notebook",                                               \
            .header = "If-Match: *",                                                           \
            .body = "{\"title\":\"m\"}",                                                       \
            .read = "/v1/notebooks/$notebook",                                                 \
            .shows = "/title /version"},                                                       \
        {.method = "POST",                                                                     \
            .target = "/v1/notebooks/$notebook/sessions",                                      \
            .body = "{\"thread_id\":\"$thread\"}",                                             \
            .save = "session=/thread_id",                                                      \
            .read = "/v1/threads/$thread/notebook",                                            \
            .shows = "/notebook_id>/id"},                                                      \
        {.method = "DELETE",                                                                   \
            .target = "/v1/notebooks/$notebook/sessions/$session",                             \
            .read = "/v1/threads/$thread/notebook",                                            \
            .read_status = 404},                                                               \
        {.method = "POST",                                                                     \
            .target = "/v1/notebooks",                                                         \
            .body = "{\"title\":\"gone\"}",                                                    \
            .save = "gone_notebook=/id"},                                                      \
    {                                                                                          \
        .method = "DELETE", .target = "/v1/notebooks/$gone_notebook", .header = "If-Match: *", \
        .read = "/v1/notebooks/$gone_notebook", .read_status = 404                             \
    }

#define MONEY_STEPS PRICE_STEPS, EVAL_STEPS, NOTEBOOK_STEPS, STORE_STEPS

#endif
