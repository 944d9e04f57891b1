/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: one execution on a thread each. What waits for them is in run_wait.c and tail.c. */
#include "cli/cli.h"

static const char *const statuses[] = {
    "queued", "running", "waiting_for_input", "paused", "completed", "failed", "cancelled", NULL};
static const char *const policies[] = {"reject", "enqueue", "interrupt", "rollback", NULL};
static const char *const dispatches[] = {"queue", "direct", NULL};
static const char *const includes[] = {"documents", NULL};

static const struct cli_column list_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"AGENT", "/agent", COLUMN_TEXT},
    {"WORKER", "/worker", COLUMN_TEXT},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};
const struct cli_column run_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"PARENT", "/parent_run_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"PHASE", "/phase", COLUMN_TEXT},
    {"AGENT", "/agent", COLUMN_TEXT},
    {"AGENT ID", "/agent_id", COLUMN_ID},
    {"AGENT VERSION", "/agent_version", COLUMN_TEXT},
    {"MODEL", "/model", COLUMN_TEXT},
    {"PROVIDER", "/provider", COLUMN_TEXT},
    {"DISPATCH", "/dispatch", COLUMN_TEXT},
    {"USER INPUT", "/user_input", COLUMN_TEXT},
    {"INPUT", "/input", COLUMN_JSON},
    {"STATE", "/state", COLUMN_JSON},
    {"OUTPUT", "/final_output", COLUMN_JSON},
    {"CONTENT", "/content", COLUMN_TEXT},
    {"STOP REASON", "/stop_reason", COLUMN_TEXT},
    {"ERROR", "/error", COLUMN_JSON},
    {"TURNS", "/turn_count", COLUMN_NUMBER},
    {"STEPS", "/step_count", COLUMN_NUMBER},
    {"TOKENS IN", "/total_usage/input_tokens", COLUMN_NUMBER},
    {"TOKENS OUT", "/total_usage/output_tokens", COLUMN_NUMBER},
    {"COST (USD)", "/total_usage/cost_usd", COLUMN_NUMBER},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"WORKER", "/worker", COLUMN_TEXT},
    {"LEASE MS", "/lease_ms", COLUMN_NUMBER},
    {"FENCE", "/fence", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"STARTED", "/started_at", COLUMN_TIME},
    {"FINISHED", "/finished_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
const size_t n_run_columns = COUNT_OF(run_columns);

/* The parts of a row that shows one run. */
#define SHOWS_RUN .columns = run_columns, .n_columns = COUNT_OF(run_columns)

static const struct cli_option list_options[] = {
    {.name = "thread",
        .argument = "THREAD",
        .goes = GOES_QUERY,
        .field = "thread_id",
        .help = "only runs of this thread"},
    {.name = "status",
        .argument = "STATUS",
        .choices = statuses,
        .goes = GOES_QUERY,
        .help = "only runs in this status"},
    {.name = "agent", .argument = "NAME", .goes = GOES_QUERY, .help = "only runs of this agent"},
    {.name = "agent-id",
        .argument = "AGENT",
        .goes = GOES_QUERY,
        .field = "agent_id",
        .help = "only runs of the agent with this id"},
    {.name = "parent",
        .argument = "RUN",
        .goes = GOES_QUERY,
        .field = "parent_run_id",
        .help = "the children of this run"},
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "documents: input, state and output too, with --json"},
};
const struct command command_run_list = {.noun = "run",
    .verb = "list",
    .summary = "list runs, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_run_get = {.noun = "run",
    .verb = "get",
    .arguments = "RUN",
    .summary = "show a run",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET", .path = "/v1/runs/{RUN}", SHOWS_RUN}};

static const struct cli_option start_options[] = {
    {.name = "input",
        .argument = "TEXT",
        .goes = GOES_TEXT,
        .field = "user_input",
        .help = "the message that triggers the run"},
    {.name = "agent",
        .argument = "NAME",
        .goes = GOES_TEXT,
        .help = "who works on it; the agent's name or the thread's agent unless told"},
    {.name = "agent-id",
        .argument = "AGENT",
        .goes = GOES_TEXT,
        .field = "agent_id",
        .help = "the agent that the run is of"},
    {.name = "agent-version",
        .argument = "VERSION",
        .goes = GOES_TEXT,
        .field = "agent_version",
        .help = "with --agent-id: a version of its definition; the active one unless told"},
    {.name = "model", .argument = "MODEL", .goes = GOES_TEXT, .help = "the model it works with"},
    {.name = "request",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "what asks for the run, whole; @FILE reads it from a file"},
    {.name = "policy",
        .argument = "POLICY",
        .choices = policies,
        .goes = GOES_TEXT,
        .help = "instead of the thread's: reject, enqueue, interrupt or rollback"},
    {.name = "dispatch",
        .argument = "HOW",
        .choices = dispatches,
        .goes = GOES_TEXT,
        .help = "queue: a worker claims it; direct: the caller works on it",
        .fallback = "queue"},
    {.name = "parent",
        .argument = "RUN",
        .goes = GOES_TEXT,
        .field = "parent_run_id",
        .help = "start it as a child of this run"},
    {.name = "ask-clarifications",
        .goes = GOES_TRUE,
        .field = "ask_clarifications",
        .help = "the agent may ask back"},
    {.name = "state",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "the engine's first state; @FILE reads it from a file"},
    {.name = "metadata", .argument = "JSON", .goes = GOES_JSON, .help = "an object of your own"},
};
const struct command command_run_start = {.noun = "run",
    .verb = "start",
    .arguments = "THREAD",
    .summary = "start a run on a thread",
    .options = start_options,
    .n_options = COUNT_OF(start_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "POST", .path = "/v1/threads/{THREAD}/runs", SHOWS_RUN}};

static const struct cli_option input_options[] = {
    {.name = "text", .argument = "TEXT", .goes = GOES_TEXT, .field = "input", .help = "the answer"},
    {.name = "value",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "input",
        .help = "the answer as any JSON value; @FILE reads it from a file, @- from stdin"},
};
const struct command command_run_input = {.noun = "run",
    .verb = "input",
    .arguments = "RUN",
    .summary = "answer a run that waits for input",
    .options = input_options,
    .n_options = COUNT_OF(input_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request =
        &(const struct cli_request){.method = "POST", .path = "/v1/runs/{RUN}/input", SHOWS_RUN}};

const struct command command_run_pause = {.noun = "run",
    .verb = "pause",
    .arguments = "RUN",
    .summary = "pause a run",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request =
        &(const struct cli_request){.method = "POST", .path = "/v1/runs/{RUN}/pause", SHOWS_RUN}};

const struct command command_run_resume = {.noun = "run",
    .verb = "resume",
    .arguments = "RUN",
    .summary = "resume a paused run",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request =
        &(const struct cli_request){.method = "POST", .path = "/v1/runs/{RUN}/resume", SHOWS_RUN}};

static const struct cli_option cancel_options[] = {
    {.name = "reason", .argument = "TEXT", .goes = GOES_TEXT, .help = "why; the event tells it"},
};
const struct command command_run_cancel = {.noun = "run",
    .verb = "cancel",
    .arguments = "RUN",
    .summary = "cancel a run and its children",
    .options = cancel_options,
    .n_options = COUNT_OF(cancel_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/runs/{RUN}/cancel",
        .looks_at = "/v1/runs/{RUN}",
        .question = "Cancel the run and its children?",
        SHOWS_RUN}};

static const struct cli_option claim_options[] = {
    {.name = "worker",
        .argument = "NAME",
        .required = true,
        .goes = GOES_TEXT,
        .help = "a name for people to read"},
    {.name = "lease",
        .argument = "MS",
        .goes = GOES_NUMBER,
        .field = "lease_ms",
        .help = "how long the claim holds without a heartbeat",
        .fallback = "30000"},
    {.name = "agent", .argument = "NAME", .goes = GOES_TEXT, .help = "only runs of this agent"},
    {.name = "thread",
        .argument = "THREAD",
        .goes = GOES_TEXT,
        .field = "thread_id",
        .help = "only runs of this thread"},
    {.name = "wait",
        .argument = "SECONDS",
        .goes = GOES_QUERY,
        .help = "wait so long for a run, 60 at the most",
        .fallback = "0"},
};
const struct command command_run_claim = {.noun = "run",
    .verb = "claim",
    .summary = "claim the next queued run",
    .details = "Prints the run, with the fencing token that every write of the worker must carry. "
               "Ends with 1 when there is no run to claim.",
    .options = claim_options,
    .n_options = COUNT_OF(claim_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/runs/claim",
        .nothing = "there is no run to claim",
        SHOWS_RUN}};

/* --- Phases and families -------------------------------------------------------------------- */

static const char *const phases[] = {"initializing", "planning", "executing", "awaiting_tool",
    "awaiting_human", "reflecting", "completed", "failed", "cancelled", NULL};

static const struct cli_option phase_options[] = {
    {.name = "to",
        .argument = "PHASE",
        .required = true,
        .choices = phases,
        .goes = GOES_TEXT,
        .help = "the phase to move to"},
    {.name = "trigger",
        .argument = "NAME",
        .goes = GOES_TEXT,
        .help = "what leads there: plan_ready, tool_call …; what the table says unless told"},
    {.name = "detail", .argument = "JSON", .goes = GOES_JSON, .help = "an object for the log"},
};
const struct command command_run_phase = {.noun = "run",
    .verb = "phase",
    .arguments = "RUN",
    .summary = "move a run to another phase",
    .options = phase_options,
    .n_options = COUNT_OF(phase_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request =
        &(const struct cli_request){.method = "POST", .path = "/v1/runs/{RUN}/phase", SHOWS_RUN}};

static const struct cli_column phase_columns[] = {
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"FROM", "/from", COLUMN_TEXT},
    {"TO", "/to", COLUMN_STATUS},
    {"TRIGGER", "/trigger", COLUMN_TEXT},
    {"AT", "/created_at", COLUMN_TIME},
    {"DETAIL", "/detail", COLUMN_JSON},
};
const struct command command_run_phases = {.noun = "run",
    .verb = "phases",
    .arguments = "RUN",
    .summary = "list the changes of a run's phase, oldest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/phases",
        .columns = phase_columns,
        .n_columns = COUNT_OF(phase_columns)}};

static const struct cli_column tree_columns[] = {
    {"RUNS", "/run_count", COLUMN_NUMBER},
    {"CUT", "/is_cut", COLUMN_TEXT},
    {"RUN", "/root/run_id", COLUMN_ID},
    {"STATUS", "/root/status", COLUMN_STATUS},
    {"AGENT", "/root/agent", COLUMN_TEXT},
    {"COST (USD)", "/root/total_usage/cost_usd", COLUMN_NUMBER},
    {"CHILDREN", "/root/children", COLUMN_JSON},
};
const struct command command_run_tree = {.noun = "run",
    .verb = "tree",
    .arguments = "RUN",
    .summary = "show a run with its descendants",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/tree",
        .columns = tree_columns,
        .n_columns = COUNT_OF(tree_columns)}};
