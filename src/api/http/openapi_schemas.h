/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of the OpenAPI document, from the field tables. */
#ifndef API_HTTP_OPENAPI_SCHEMAS_H
#define API_HTTP_OPENAPI_SCHEMAS_H

#include "api/http/route.h"
#include "base/json/json_write.h"

/* The schema that patches are arrays of. */
#define OPENAPI_PATCH_OPERATION "JsonPatchOperation"

/* Writes the members of the schema of a field: its type, limits and description. */
void openapi_write_field(struct json_writer *w, const struct schema *s, const struct field *f);
/* Writes the member "schemas": each schema of the routes once, in their order. */
void openapi_write_schemas(struct json_writer *w);

#endif
