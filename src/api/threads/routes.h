/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_THREADS_ROUTES_H
#define API_THREADS_ROUTES_H

#include "api/http/page.h"

/* events_api.c */
extern const struct schema schema_event, schema_event_append, schema_events_appended,
    schema_event_prune, schema_event_pruned, query_events, query_event_stream;
route_handler handle_event_append, handle_event_list, handle_event_stream, handle_event_prune;

/* messages_api.c */
extern const struct schema schema_message, schema_message_body, schema_message_create,
    schema_messages_created, schema_message_debug, schema_message_version, query_messages,
    query_message, query_message_search, query_message_versions;
route_handler handle_message_create, handle_message_list, handle_message_search,
    handle_thread_message_search, handle_message_get, handle_message_patch, handle_message_delete,
    handle_message_debug, handle_message_versions;

/* notebooks_api.c */
extern const struct schema schema_notebook, schema_notebook_body, schema_notebook_patch,
    schema_notebook_session, schema_notebook_session_body;
route_handler handle_notebook_create, handle_notebook_list, handle_notebook_get,
    handle_notebook_patch, handle_notebook_delete, handle_thread_notebook,
    handle_notebook_session_add, handle_notebook_session_list, handle_notebook_session_remove;

/* participants_api.c */
extern const struct schema schema_participant, schema_participant_join, schema_participant_patch,
    schema_participant_heartbeat, query_participants;
route_handler handle_participant_join, handle_participant_list, handle_participant_get,
    handle_participant_patch, handle_participant_leave, handle_participant_heartbeat;

/* shares_api.c */
extern const struct schema schema_share, schema_share_create, schema_share_created,
    schema_redemption, schema_share_redeem, schema_share_redeemed;
route_handler handle_share_create, handle_share_list, handle_share_get, handle_share_revoke,
    handle_share_redemptions, handle_share_redeem;

/* threads_api.c */
extern const struct schema schema_thread, schema_thread_body, query_threads, schema_reason,
    schema_keyed_thread_body;
route_handler handle_thread_ensure, handle_thread_get_by_key, handle_thread_create,
    handle_thread_list, handle_thread_get, handle_thread_patch, handle_thread_delete,
    handle_thread_pause, handle_thread_resume, handle_thread_cancel;

#endif
