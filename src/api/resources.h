/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers and schemas of the route table, grouped by the file that defines them. */
#ifndef API_RESOURCES_H
#define API_RESOURCES_H

#include "api/http/call.h"
#include "base/schema_fields.h"

enum { PAGE_DEFAULT = 50, PAGE_MAX = 200, PAGE_CURSOR_MAX_BYTES = 700 };

/* The parameters of every list. */
struct page_query {
    struct str cursor;
    bool has_limit;
    int64_t limit;
};
#define PAGE_FIELDS(in)                                                                  \
    FIELD_OF(page, STRING_OR_NONE, cursor, in, "next_cursor of the page before",         \
        .max = PAGE_CURSOR_MAX_BYTES),                                                   \
        FIELD_OF(page, INT_OR_NONE, limit, in, "items a page, 50 unless told", .min = 1, \
            .max = PAGE_MAX)
static inline struct page page_of(const struct page_query *p)
{
    return (struct page){.limit = p->has_limit ? (size_t)p->limit : PAGE_DEFAULT};
}

/* system.c */
extern const struct schema schema_health;
enum error handle_health(struct call *call, struct context *c);
enum error handle_ready(struct call *call, struct context *c);
enum error handle_metrics(struct call *call, struct context *c);
enum error handle_openapi(struct call *call, struct context *c);
extern const struct schema schema_whoami;
enum error handle_whoami(struct call *call, struct context *c);

/* tenants_api.c */
extern const struct schema schema_tenant, schema_tenant_create, schema_tenant_created,
    schema_tenant_patch, query_tenants;
enum error handle_tenant_create(struct call *call, struct context *c);
enum error handle_tenant_list(struct call *call, struct context *c);
enum error handle_tenant_get(struct call *call, struct context *c);
enum error handle_tenant_patch(struct call *call, struct context *c);
enum error handle_tenant_delete(struct call *call, struct context *c);

/* keys_api.c */
extern const struct schema schema_key, schema_key_create, schema_key_created, query_keys;
enum error handle_key_create(struct call *call, struct context *c);
enum error handle_tenant_key_create(struct call *call, struct context *c);
enum error handle_key_list(struct call *call, struct context *c);
enum error handle_key_get(struct call *call, struct context *c);
enum error handle_key_revoke(struct call *call, struct context *c);

/* audit_api.c */
extern const struct schema schema_audit_record, schema_audit_verdict, query_audit;
enum error handle_audit_list(struct call *call, struct context *c);
enum error handle_audit_verify(struct call *call, struct context *c);

/* agents_api.c */
extern const struct schema schema_agent, schema_agent_body, schema_agent_patch, query_agents;
enum error handle_agent_create(struct call *call, struct context *c);
enum error handle_agent_list(struct call *call, struct context *c);
enum error handle_agent_get(struct call *call, struct context *c);
enum error handle_agent_patch(struct call *call, struct context *c);
enum error handle_agent_delete(struct call *call, struct context *c);

/* agent_versions_api.c */
extern const struct schema schema_agent_version, schema_agent_version_head,
    schema_agent_version_create, schema_agent_version_patch, schema_agent_diff,
    query_agent_versions;
enum error handle_agent_version_create(struct call *call, struct context *c);
enum error handle_agent_version_list(struct call *call, struct context *c);
enum error handle_agent_version_get(struct call *call, struct context *c);
enum error handle_agent_version_patch(struct call *call, struct context *c);
enum error handle_agent_version_activate(struct call *call, struct context *c);
enum error handle_agent_version_diff(struct call *call, struct context *c);
enum error handle_agent_rollback(struct call *call, struct context *c);

/* agent_links_api.c */
extern const struct schema schema_agent_link, schema_agent_link_body, schema_agent_tree,
    query_agent_links;
enum error handle_agent_link_list(struct call *call, struct context *c);
enum error handle_agent_link_get(struct call *call, struct context *c);
enum error handle_agent_link_put(struct call *call, struct context *c);
enum error handle_agent_link_delete(struct call *call, struct context *c);
enum error handle_agent_tree(struct call *call, struct context *c);

/* prices_api.c, usage_api.c, usage_days_api.c, evals_api.c, notebooks_api.c */
extern const struct schema schema_price, schema_price_body, query_prices;
extern const struct schema schema_usage_body, schema_cost_body, cost_document_schema,
    schema_run_cost;
extern const struct schema schema_usage, query_usage, schema_usage_average, query_usage_averages;
extern const struct schema schema_eval, schema_eval_body, schema_eval_patch, query_evals;
extern const struct schema schema_notebook, schema_notebook_body, schema_notebook_patch,
    schema_notebook_session, schema_notebook_session_body, query_notebooks;
enum error handle_price_put(struct call *call, struct context *c);
enum error handle_price_get(struct call *call, struct context *c);
enum error handle_price_delete(struct call *call, struct context *c);
enum error handle_price_list(struct call *call, struct context *c);
enum error handle_price_version_list(struct call *call, struct context *c);
enum error handle_cost(struct call *call, struct context *c);
enum error handle_run_usage_add(struct call *call, struct context *c);
enum error handle_run_usage_get(struct call *call, struct context *c);
enum error handle_usage(struct call *call, struct context *c);
enum error handle_usage_averages(struct call *call, struct context *c);
enum error handle_eval_create(struct call *call, struct context *c);
enum error handle_eval_list(struct call *call, struct context *c);
enum error handle_eval_get(struct call *call, struct context *c);
enum error handle_eval_patch(struct call *call, struct context *c);
enum error handle_eval_delete(struct call *call, struct context *c);
enum error handle_notebook_create(struct call *call, struct context *c);
enum error handle_notebook_list(struct call *call, struct context *c);
enum error handle_notebook_get(struct call *call, struct context *c);
enum error handle_notebook_patch(struct call *call, struct context *c);
enum error handle_notebook_delete(struct call *call, struct context *c);
enum error handle_thread_notebook(struct call *call, struct context *c);
enum error handle_notebook_session_add(struct call *call, struct context *c);
enum error handle_notebook_session_list(struct call *call, struct context *c);
enum error handle_notebook_session_remove(struct call *call, struct context *c);

/* states_api.c */
extern const struct schema schema_state, schema_state_body, schema_state_patch,
    schema_state_version, query_states;
enum error handle_state_list(struct call *call, struct context *c);
enum error handle_state_get(struct call *call, struct context *c);
enum error handle_state_put(struct call *call, struct context *c);
enum error handle_state_patch(struct call *call, struct context *c);
enum error handle_state_delete(struct call *call, struct context *c);
enum error handle_state_focus(struct call *call, struct context *c);
enum error handle_state_version_get(struct call *call, struct context *c);
enum error handle_state_version_list(struct call *call, struct context *c);

/* storage_api.c */
extern const struct schema schema_storage_item, query_storage;
enum error handle_storage_list(struct call *call, struct context *c);
enum error handle_storage_get(struct call *call, struct context *c);
enum error handle_storage_put(struct call *call, struct context *c);
enum error handle_storage_delete(struct call *call, struct context *c);

/* store_api.c, store_batch_api.c */
extern const struct schema schema_memory_item, schema_memory_put, schema_memory_search,
    schema_memory_found, schema_memory_namespaces, schema_memory_found_namespaces,
    schema_memory_batch, schema_memory_batch_answer, query_memory_item;
enum error handle_memory_put(struct call *call, struct context *c);
enum error handle_memory_get(struct call *call, struct context *c);
enum error handle_memory_delete(struct call *call, struct context *c);
enum error handle_memory_search(struct call *call, struct context *c);
enum error handle_memory_namespaces(struct call *call, struct context *c);
enum error handle_memory_batch(struct call *call, struct context *c);

/* steps_api.c, step_calls_api.c */
extern const struct schema schema_step, schema_step_append, schema_step_ref, schema_steps_appended,
    query_run_steps, query_run_calls, query_steps;
extern const struct schema schema_llm_call, schema_tool_call, schema_step_summary,
    query_step_summary;
enum error handle_step_append(struct call *call, struct context *c);
enum error handle_run_step_list(struct call *call, struct context *c);
enum error handle_step_get(struct call *call, struct context *c);
enum error handle_step_list(struct call *call, struct context *c);
enum error handle_llm_call_list(struct call *call, struct context *c);
enum error handle_tool_call_list(struct call *call, struct context *c);
enum error handle_step_summary(struct call *call, struct context *c);

/* checkpoints_api.c, checkpoint_verbs_api.c: for checkpoint savers of other frameworks */
extern const struct schema query_all_checkpoints, schema_deltas_body, schema_checkpoint_deltas;
enum error handle_all_checkpoints(struct call *call, struct context *c);
enum error handle_checkpoint_deltas(struct call *call, struct context *c);

/* threads_api.c */
extern const struct schema schema_thread, schema_thread_body, query_threads, schema_reason;
extern const struct schema schema_keyed_thread_body;
enum error handle_thread_ensure(struct call *call, struct context *c);
enum error handle_thread_get_by_key(struct call *call, struct context *c);
enum error handle_thread_create(struct call *call, struct context *c);
enum error handle_thread_list(struct call *call, struct context *c);
enum error handle_thread_get(struct call *call, struct context *c);
enum error handle_thread_patch(struct call *call, struct context *c);
enum error handle_thread_delete(struct call *call, struct context *c);
enum error handle_thread_pause(struct call *call, struct context *c);
enum error handle_thread_resume(struct call *call, struct context *c);
enum error handle_thread_cancel(struct call *call, struct context *c);

/* resumptions_api.c */
extern const struct schema schema_resumption, schema_resumption_body, schema_resumption_patch,
    schema_resumption_append;
enum error handle_resumption_get(struct call *call, struct context *c);
enum error handle_resumption_put(struct call *call, struct context *c);
enum error handle_resumption_patch(struct call *call, struct context *c);
enum error handle_resumption_append(struct call *call, struct context *c);

/* tools_api.c */
extern const struct schema schema_awaited_tool, schema_tools_await, schema_tools_pause,
    schema_tool_results, schema_tools_settled, query_tools;
enum error handle_tools_await(struct call *call, struct context *c);
enum error handle_tool_results(struct call *call, struct context *c);
enum error handle_tool_list(struct call *call, struct context *c);

/* history_api.c */
extern const struct schema schema_history_entry, schema_history_patch, schema_history_context,
    query_history, query_context;
enum error handle_history_list(struct call *call, struct context *c);
enum error handle_history_get(struct call *call, struct context *c);
enum error handle_history_patch(struct call *call, struct context *c);
enum error handle_thread_context(struct call *call, struct context *c);

/* runs_api.c */
struct claim_query {
    bool has_wait;
    int64_t wait;
};
extern const struct schema schema_run, schema_run_create, schema_run_body, schema_run_input,
    schema_run_claim, schema_run_heartbeat, query_runs, query_thread_runs, query_claim,
    query_agent_runs, schema_run_usage, schema_run_read, query_run_read, schema_agent_run;
enum error handle_run_start(struct call *call, struct context *c);
enum error handle_run_list(struct call *call, struct context *c);
enum error handle_thread_run_list(struct call *call, struct context *c);
enum error handle_agent_run_list(struct call *call, struct context *c);
enum error handle_run_get(struct call *call, struct context *c);
enum error handle_run_patch(struct call *call, struct context *c);
enum error handle_run_input(struct call *call, struct context *c);
enum error handle_run_pause(struct call *call, struct context *c);
enum error handle_run_resume(struct call *call, struct context *c);
enum error handle_run_cancel(struct call *call, struct context *c);
enum error handle_run_claim(struct call *call, struct context *c);
enum error handle_run_heartbeat(struct call *call, struct context *c);
enum error handle_run_release(struct call *call, struct context *c);

/* agent_runs_api.c */
extern const struct schema schema_agent_run_create;
enum error handle_agent_run_start(struct call *call, struct context *c);

/* run_phases_api.c */
extern const struct schema schema_run_phase, schema_run_phase_body, query_run_phases,
    schema_run_tree;
enum error handle_run_phase_move(struct call *call, struct context *c);
enum error handle_run_phase_list(struct call *call, struct context *c);
enum error handle_run_tree(struct call *call, struct context *c);

/* turns_api.c */
extern const struct schema schema_turn, schema_turn_create, schema_turn_patch, query_turns;
enum error handle_turn_create(struct call *call, struct context *c);
enum error handle_turn_list(struct call *call, struct context *c);
enum error handle_turn_get(struct call *call, struct context *c);
enum error handle_turn_patch(struct call *call, struct context *c);

/* events_api.c */
extern const struct schema schema_event, schema_event_append, schema_events_appended,
    schema_event_prune, schema_event_pruned, query_events, query_event_stream;
enum error handle_event_append(struct call *call, struct context *c);
enum error handle_event_list(struct call *call, struct context *c);
enum error handle_event_stream(struct call *call, struct context *c);
enum error handle_event_prune(struct call *call, struct context *c);

/* checkpoints_api.c */
extern const struct schema schema_checkpoint, schema_run_checkpoint, schema_checkpoint_put,
    schema_checkpoint_writes, schema_checkpoint_writes_put, schema_checkpoint_written,
    query_checkpoint, query_checkpoints, query_run_checkpoints;
enum error handle_checkpoint_put(struct call *call, struct context *c);
enum error handle_checkpoint_list(struct call *call, struct context *c);
enum error handle_checkpoint_latest(struct call *call, struct context *c);
enum error handle_checkpoint_get(struct call *call, struct context *c);
enum error handle_checkpoint_writes_put(struct call *call, struct context *c);
enum error handle_checkpoint_writes_get(struct call *call, struct context *c);

/* checkpoint_verbs_api.c */
extern const struct schema schema_checkpoint_pruned, schema_checkpoint_prune,
    schema_checkpoint_copy, schema_checkpoint_copied, schema_checkpoint_diff, schema_recovery,
    schema_replay, schema_replayed, query_checkpoint_delete, query_recovery;
enum error handle_checkpoint_delete(struct call *call, struct context *c);
enum error handle_checkpoint_prune(struct call *call, struct context *c);
enum error handle_checkpoint_copy(struct call *call, struct context *c);
enum error handle_checkpoint_diff(struct call *call, struct context *c);
enum error handle_thread_recovery(struct call *call, struct context *c);
enum error handle_run_recovery(struct call *call, struct context *c);
enum error handle_run_checkpoints(struct call *call, struct context *c);
enum error handle_run_checkpoint(struct call *call, struct context *c);
enum error handle_run_replay(struct call *call, struct context *c);

/* participants_api.c */
extern const struct schema schema_participant, schema_participant_join, schema_participant_patch,
    schema_participant_heartbeat, query_participants;
enum error handle_participant_join(struct call *call, struct context *c);
enum error handle_participant_list(struct call *call, struct context *c);
enum error handle_participant_get(struct call *call, struct context *c);
enum error handle_participant_patch(struct call *call, struct context *c);
enum error handle_participant_leave(struct call *call, struct context *c);
enum error handle_participant_heartbeat(struct call *call, struct context *c);

/* messages_api.c */
extern const struct schema schema_message, schema_message_body, schema_message_create,
    schema_messages_created, schema_message_debug, schema_message_version, query_messages,
    query_message, query_message_search, query_message_versions;
enum error handle_message_create(struct call *call, struct context *c);
enum error handle_message_list(struct call *call, struct context *c);
enum error handle_message_search(struct call *call, struct context *c);
enum error handle_thread_message_search(struct call *call, struct context *c);
enum error handle_message_get(struct call *call, struct context *c);
enum error handle_message_patch(struct call *call, struct context *c);
enum error handle_message_delete(struct call *call, struct context *c);
enum error handle_message_debug(struct call *call, struct context *c);
enum error handle_message_versions(struct call *call, struct context *c);

/* shares_api.c */
extern const struct schema schema_share, schema_share_create, schema_share_created, query_shares,
    schema_redemption, schema_share_redeem, schema_share_redeemed;
enum error handle_share_create(struct call *call, struct context *c);
enum error handle_share_list(struct call *call, struct context *c);
enum error handle_share_get(struct call *call, struct context *c);
enum error handle_share_revoke(struct call *call, struct context *c);
enum error handle_share_redemptions(struct call *call, struct context *c);
enum error handle_share_redeem(struct call *call, struct context *c);

/* files_api.c */
extern const struct schema schema_file, schema_file_patch, schema_file_version, schema_file_restore,
    schema_file_copy, query_files, query_file_versions;
enum error handle_file_list(struct call *call, struct context *c);
enum error handle_file_info(struct call *call, struct context *c);
enum error handle_file_patch(struct call *call, struct context *c);
enum error handle_file_delete(struct call *call, struct context *c);
enum error handle_file_versions(struct call *call, struct context *c);
enum error handle_file_version_delete(struct call *call, struct context *c);
enum error handle_file_restore(struct call *call, struct context *c);
enum error handle_file_copy(struct call *call, struct context *c);

/* file_bytes_api.c */
extern const struct schema query_file_get, query_file_diff, schema_file_diff;
enum error admit_file_put(struct call *call, struct context *c);
enum error handle_file_put(struct call *call, struct context *c);
enum error handle_file_get(struct call *call, struct context *c);
enum error handle_file_version_get(struct call *call, struct context *c);

/* file_diff_api.c */
enum error handle_file_diff(struct call *call, struct context *c);

/* uploads_api.c */
extern const struct schema schema_upload, schema_upload_create, query_uploads;
enum error handle_upload_create(struct call *call, struct context *c);
enum error handle_upload_list(struct call *call, struct context *c);
enum error handle_upload_get(struct call *call, struct context *c);
enum error handle_upload_delete(struct call *call, struct context *c);
extern const struct schema query_upload_append;
enum error admit_upload_append(struct call *call, struct context *c);
enum error handle_upload_append(struct call *call, struct context *c);
enum error handle_upload_complete(struct call *call, struct context *c);

/* memoria.c */
extern const struct schema schema_workflow_start, schema_workflow_input, schema_workflow,
    query_workflow_stream;
enum error handle_workflow_start(struct call *call, struct context *c);
enum error handle_workflow_input(struct call *call, struct context *c);
enum error handle_workflow_pause(struct call *call, struct context *c);
enum error handle_workflow_resume(struct call *call, struct context *c);
enum error handle_workflow_cancel(struct call *call, struct context *c);
enum error handle_workflow_stream(struct call *call, struct context *c);

/* archive_api.c */
extern const struct schema query_import, schema_import;
enum error handle_thread_export(struct call *call, struct context *c);
enum error handle_agent_export(struct call *call, struct context *c);
enum error handle_tenant_export(struct call *call, struct context *c);
enum error prepare_import(struct call *call, uint64_t size_bytes);
void release_import(struct call *call);
enum error handle_import(struct call *call, struct context *c);

#endif
