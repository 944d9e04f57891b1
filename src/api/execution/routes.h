/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_EXECUTION_ROUTES_H
#define API_EXECUTION_ROUTES_H

#include "api/http/page.h"

/* agent_runs_api.c */
extern const struct schema schema_agent_run_create;
route_handler handle_agent_run_start;

/* evals_api.c */
extern const struct schema schema_eval, schema_eval_body, schema_eval_patch, query_evals;
route_handler handle_eval_create, handle_eval_list, handle_eval_get, handle_eval_patch,
    handle_eval_delete;

/* history_api.c */
extern const struct schema schema_history_entry, schema_history_patch, schema_history_context,
    query_history, query_context;
route_handler handle_history_list, handle_history_get, handle_history_patch, handle_thread_context;

/* memoria.c */
extern const struct schema schema_workflow_start, schema_workflow_input, schema_workflow,
    query_workflow_stream;
route_handler handle_workflow_start, handle_workflow_input, handle_workflow_pause,
    handle_workflow_resume, handle_workflow_cancel, handle_workflow_stream;

/* prices_api.c */
extern const struct schema schema_price, schema_price_body;
route_handler handle_price_put, handle_price_get, handle_price_delete, handle_price_list,
    handle_price_version_list;

/* resumptions_api.c */
extern const struct schema schema_resumption, schema_resumption_body, schema_resumption_patch,
    schema_resumption_append;
route_handler handle_resumption_get, handle_resumption_put, handle_resumption_patch,
    handle_resumption_append;

/* run_phases_api.c */
extern const struct schema schema_run_phase, schema_run_phase_body, schema_run_tree;
route_handler handle_run_phase_move, handle_run_phase_list, handle_run_tree;

/* runs_api.c */
extern const struct schema schema_run, schema_run_create, schema_run_body, schema_run_input,
    schema_run_claim, schema_run_heartbeat, query_runs, query_thread_runs, query_claim,
    query_agent_runs, schema_run_usage, schema_run_read, query_run_read, schema_agent_run;
route_handler handle_run_start, handle_run_list, handle_thread_run_list, handle_agent_run_list,
    handle_run_get, handle_run_patch, handle_run_input, handle_run_pause, handle_run_resume,
    handle_run_cancel, handle_run_claim, handle_run_heartbeat, handle_run_release;

/* step_calls_api.c */
extern const struct schema schema_llm_call, schema_tool_call, schema_step_summary,
    query_step_summary;
route_handler handle_llm_call_list, handle_tool_call_list, handle_step_summary;

/* steps_api.c */
extern const struct schema schema_step, schema_step_append, schema_step_ref, schema_steps_appended,
    query_run_steps, query_run_calls, query_steps;
route_handler handle_step_append, handle_run_step_list, handle_step_get, handle_step_list;

/* tools_api.c */
extern const struct schema schema_awaited_tool, schema_tools_await, schema_tools_pause,
    schema_tool_results, schema_tools_settled, query_tools;
route_handler handle_tools_await, handle_tool_results, handle_tool_list;

/* turns_api.c */
extern const struct schema schema_turn, schema_turn_create, schema_turn_patch, query_turns;
route_handler handle_turn_create, handle_turn_list, handle_turn_get, handle_turn_patch;

/* usage_api.c */
extern const struct schema schema_usage_body, schema_cost_body, schema_run_cost;
route_handler handle_cost, handle_run_usage_add, handle_run_usage_get;

/* usage_days_api.c */
extern const struct schema schema_usage, query_usage, schema_usage_average, query_usage_averages;
route_handler handle_usage, handle_usage_averages;

#endif
