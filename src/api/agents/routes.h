/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_AGENTS_ROUTES_H
#define API_AGENTS_ROUTES_H

#include "api/http/page.h"

/* agent_links_api.c */
extern const struct schema schema_agent_link, schema_agent_link_body;
route_handler handle_agent_link_list, handle_agent_link_get, handle_agent_link_put,
    handle_agent_link_delete, handle_agent_tree;

/* agent_versions_api.c */
extern const struct schema schema_agent_version, schema_agent_version_head,
    schema_agent_version_create, schema_agent_version_patch, schema_agent_diff;
route_handler handle_agent_version_create, handle_agent_version_list, handle_agent_version_get,
    handle_agent_version_patch, handle_agent_version_activate, handle_agent_version_diff,
    handle_agent_rollback;

/* agents_api.c */
extern const struct schema schema_agent, schema_agent_body, schema_agent_patch, query_agents;
route_handler handle_agent_create, handle_agent_list, handle_agent_get, handle_agent_patch,
    handle_agent_delete;

/* states_api.c */
extern const struct schema schema_state, schema_state_body, schema_state_patch,
    schema_state_version, query_states;
route_handler handle_state_list, handle_state_get, handle_state_put, handle_state_patch,
    handle_state_delete, handle_state_focus, handle_state_version_get, handle_state_version_list;

/* storage_api.c */
extern const struct schema schema_storage_item, query_storage;
route_handler handle_storage_list, handle_storage_get, handle_storage_put, handle_storage_delete;

#endif
