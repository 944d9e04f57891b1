/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of prices, usage, evals and notebooks in archives. */
#include "model/execution/evals.h"
#include "model/execution/prices.h"
#include "model/execution/usage.h"
#include "model/threads/notebooks.h"
#include "model/upkeep/archive_fields.h"

/* A sum that many others can be added to. */
#define USED(field)                                             \
    {                                                           \
        .name = (field), .kind = KIND_INT, .max = USED_MAX_PICO \
    }
#define USED_MAX_PICO (INT64_MAX / 64)

/* The hidden number is that among those of the run. */
const struct archive_field archive_run_usage[] = {
    HIDDEN_THREAD,
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = KEY | ORDERED | OWNER},
    {.name = "number", .kind = KIND_INT, .flags = KEY | HIDDEN},
    {.name = "model", .kind = KIND_TEXT, .flags = ORDERED, .max = MODEL_NAME_MAX_BYTES},
    {.name = "provider", .kind = KIND_TEXT, .flags = ORDERED, .max = PROVIDER_NAME_MAX_BYTES},
    {.name = "price_version", .kind = KIND_INT, .flags = ORDERED, .max = VERSION_MAX},
    USED("llm_calls"),
    USED("long_context_calls"),
    USED("input_tokens"),
    USED("output_tokens"),
    USED("cache_creation_input_tokens"),
    USED("cache_read_input_tokens"),
    USED("input_cost_pico"),
    USED("output_cost_pico"),
    USED("cache_write_cost_pico"),
    USED("cache_read_cost_pico"),
};

#define RATE(field)                                                   \
    {                                                                 \
        .name = (field), .kind = KIND_INT, .max = PRICE_RATE_MAX_PICO \
    }
#define LONG_RATE(field)                                                              \
    {                                                                                 \
        .name = (field), .kind = KIND_INT, .flags = MAYBE, .max = PRICE_RATE_MAX_PICO \
    }

const struct archive_field archive_prices[] = {
    {.name = "model",
        .kind = KIND_TEXT,
        .flags = KEY | ORDERED,
        .min = 1,
        .max = MODEL_NAME_MAX_BYTES},
    {.name = "version", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = VERSION_MAX},
    {.name = "provider", .kind = KIND_TEXT, .flags = MAYBE, .max = PROVIDER_NAME_MAX_BYTES},
    {.name = "currency", .kind = KIND_TEXT, .min = CURRENCY_BYTES, .max = CURRENCY_BYTES},
    RATE("input_pico"),
    RATE("output_pico"),
    RATE("cache_write_pico"),
    RATE("cache_read_pico"),
    {.name = "long_context_tokens", .kind = KIND_INT, .flags = MAYBE, .max = USAGE_TOKENS_MAX},
    LONG_RATE("long_input_pico"),
    LONG_RATE("long_output_pico"),
    LONG_RATE("long_cache_write_pico"),
    LONG_RATE("long_cache_read_pico"),
    {.name = "deleted", .kind = KIND_BOOL},
    CREATED,
};

#define EVAL_TEXT(field)                                                               \
    {                                                                                  \
        .name = (field), .kind = KIND_TEXT, .flags = MAYBE, .max = EVAL_TEXT_MAX_BYTES \
    }

/* What they judge may be gone. */
const struct archive_field archive_evals[] = {
    OWN_ID(SORT_EVAL),
    {.name = "name", .kind = KIND_TEXT, .min = 1, .max = EVAL_TEXT_MAX_BYTES},
    {.name = "eval_type", .kind = KIND_TEXT, .min = 1, .max = EVAL_TEXT_MAX_BYTES},
    {.name = "agent_id", .kind = KIND_ID, .sort = SORT_AGENT, .flags = MAYBE | LOOSE},
    EVAL_TEXT("agent_version"),
    {.name = "run_id", .kind = KIND_ID, .sort = SORT_RUN, .flags = MAYBE | LOOSE},
    EVAL_TEXT("model"),
    EVAL_TEXT("provider"),
    EVAL_TEXT("evaluated_name"),
    {.name = "eval_input", .kind = KIND_JSON, .max = EVAL_DOCUMENT_MAX_BYTES},
    {.name = "eval_data", .kind = KIND_JSON, .max = EVAL_DOCUMENT_MAX_BYTES},
    {.name = "score_micro", .kind = KIND_INT, .flags = MAYBE, .max = EVAL_SCORE_UNIT},
    {.name = "passed", .kind = KIND_BOOL, .flags = MAYBE},
    METADATA(EVAL_METADATA_MAX_BYTES),
    CREATED,
    UPDATED,
    VERSION,
};

const struct archive_field archive_notebooks[] = {
    {.name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "id", .kind = KIND_ID, .sort = SORT_NOTEBOOK, .flags = OWN},
    {.name = "title", .kind = KIND_TEXT, .max = NOTEBOOK_TITLE_MAX_BYTES},
    {.name = "description",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .max = NOTEBOOK_DESCRIPTION_MAX_BYTES},
    {.name = "instructions",
        .kind = KIND_TEXT,
        .flags = MAYBE,
        .max = NOTEBOOK_INSTRUCTIONS_MAX_BYTES},
    METADATA(NOTEBOOK_METADATA_MAX_BYTES),
    CREATED,
    UPDATED,
    VERSION,
};

const struct archive_field archive_notebook_threads[] = {
    {.name = "number", .kind = KIND_INT, .flags = KEY | ORDERED, .min = 1, .max = SEQ_MAX},
    {.name = "notebook_id", .kind = KIND_ID, .sort = SORT_NOTEBOOK, .flags = OWNER},
    {.name = "thread_id", .kind = KIND_ID, .sort = SORT_THREAD},
    CREATED,
};
