/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examples for the OpenAPI document. Those of bodies are written by hand, one a schema, and a test
 * decodes each; those of answers are made from the field tables, with a likely value for each name.
 */
#ifndef API_HTTP_EXAMPLES_H
#define API_HTTP_EXAMPLES_H

#include "base/schema.h"

/* The example of a body, as JSON; NULL when there is none. */
const char *example_of_body(const struct schema *schema);
/* An object as an answer would have it. */
void example_write_answer(struct json_writer *w, const struct schema *schema);

#endif
