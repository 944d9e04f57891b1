/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the OpenAPI document for readers: tags, descriptions and refusals of the routes,
 * derived from the route table. */
#ifndef API_HTTP_OPENAPI_NOTES_H
#define API_HTTP_OPENAPI_NOTES_H

#include "api/http/route.h"
#include "base/json/json_write.h"

/* The group of a route: the objects that its scope allows to read or change. */
struct str openapi_tag(const struct route *r);
void openapi_write_tags(struct json_writer *w);
/* Writes the description of the API and its contact, members of "info". */
void openapi_write_about(struct json_writer *w);
void openapi_write_servers(struct json_writer *w);
/* Writes the member "description" of an operation: who may use it, and how. */
void openapi_write_description(struct json_writer *w, const struct route *r);
/* Writes the 4xx statuses with which a route often answers, as references to the components. */
void openapi_write_refusals(struct json_writer *w, const struct route *r);
/* Writes the member "responses" of the components. */
void openapi_write_refusal_components(struct json_writer *w);

#endif
