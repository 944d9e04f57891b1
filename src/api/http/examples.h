/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Examples for the OpenAPI document. Those of bodies are written by hand, one for each schema, and
 * a test decodes each; those of answers are generated from the field tables, with a plausible value
 * for each name.
 */
#ifndef API_HTTP_EXAMPLES_H
#define API_HTTP_EXAMPLES_H

#include "base/schema.h"

/* Returns the example of a body as JSON, or NULL. */
const char *example_of_body(const struct schema *schema);
/* Writes an object as an answer would contain it. */
void example_write_answer(struct json_writer *w, const struct schema *schema);

#endif
