/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document that was read can be written back: the body of a PUT or of a Merge Patch may contain
 * the members that only Cairn sets, as the GET of the same path answers them. They are taken out
 * of the body before it is decoded. A READ job before the write compares them with a new answer to
 * that GET and rejects changed ones, so that the writer does no work for them. The handler of a
 * ROUTE_MERGE compares them itself, because it knows which object was read, and because a repeated
 * POST must be replayed also after the object has changed.
 */
#ifndef API_HTTP_ECHO_H
#define API_HTTP_ECHO_H

#include "api/http/call.h"

/* Moves the read-only members of the parsed body to request.echo. */
void echo_take(struct call *call);
/* Compares them, in a READ job. If the object does not exist, the write decides what is reported,
 * and echo_check_after rejects it if it created the object. */
MUST_CHECK enum error echo_compare(struct call *call, struct context *c);
MUST_CHECK enum error echo_check_after(struct call *call);
/* For a ROUTE_MERGE with request.has_echo: compares them with this object; NULL: there is none. */
MUST_CHECK enum error echo_compare_with(
    struct call *call, const struct schema *schema, const void *object);

#endif
