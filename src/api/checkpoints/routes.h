/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_CHECKPOINTS_ROUTES_H
#define API_CHECKPOINTS_ROUTES_H

#include "api/http/page.h"

/* checkpoint_verbs_api.c */
extern const struct schema schema_deltas_body, schema_checkpoint_deltas, schema_checkpoint_pruned,
    schema_checkpoint_prune, schema_checkpoint_copy, schema_checkpoint_copied,
    schema_checkpoint_diff, schema_recovery, schema_replay, schema_replayed,
    query_checkpoint_delete, query_recovery;
route_handler handle_checkpoint_deltas, handle_checkpoint_delete, handle_checkpoint_prune,
    handle_checkpoint_copy, handle_checkpoint_diff, handle_thread_recovery, handle_run_recovery,
    handle_run_checkpoints, handle_run_checkpoint, handle_run_replay;

/* checkpoints_api.c */
extern const struct schema query_all_checkpoints, schema_checkpoint, schema_run_checkpoint,
    schema_checkpoint_put, schema_checkpoint_writes, schema_checkpoint_writes_put,
    schema_checkpoint_written, query_checkpoint, query_checkpoints, query_run_checkpoints;
route_handler handle_all_checkpoints, handle_checkpoint_put, handle_checkpoint_list,
    handle_checkpoint_latest, handle_checkpoint_get, handle_checkpoint_writes_put,
    handle_checkpoint_writes_get;

#endif
