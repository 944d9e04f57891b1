/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas and handlers of this folder that the route table (api/routes.c) names. */
#ifndef API_FILES_ROUTES_H
#define API_FILES_ROUTES_H

#include "api/http/page.h"

/* file_bytes_api.c */
extern const struct schema query_file_get;
route_handler admit_file_put, handle_file_put, handle_file_get, handle_file_version_get;

/* file_diff_api.c */
extern const struct schema query_file_diff, schema_file_diff;
route_handler handle_file_diff;

/* files_api.c */
extern const struct schema schema_file, schema_file_patch, schema_file_version, schema_file_restore,
    schema_file_copy, query_files;
route_handler handle_file_list, handle_file_info, handle_file_patch, handle_file_delete,
    handle_file_versions, handle_file_version_delete, handle_file_restore, handle_file_copy;

/* uploads_api.c */
extern const struct schema schema_upload, schema_upload_create, query_upload_append;
route_handler handle_upload_create, handle_upload_list, handle_upload_get, handle_upload_delete,
    admit_upload_append, handle_upload_append, handle_upload_complete;

#endif
