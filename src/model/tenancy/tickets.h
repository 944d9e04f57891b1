/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets for browsers, whose EventSource and WebSocket cannot send a key. A ticket admits one
 * request for one path, once and soon, with the rights of the key and the principal that created
 * it. The database has only the SHA-256 of a ticket. A request with a ticket is checked in a READ
 * job; only if it would succeed, a WRITE job checks it again and deletes the ticket. The sweep
 * deletes expired tickets.
 */
#ifndef MODEL_TENANCY_TICKETS_H
#define MODEL_TENANCY_TICKETS_H

#include "model/context.h"

enum {
    TICKET_TTL_DEFAULT_S = 30,
    TICKET_TTL_MAX_S = 300,
    TICKET_PATH_MAX_BYTES = 2048,
    TICKETS_MAX = 1000, /* of a key and a principal, not yet used or expired */
};

struct ticket {
    struct uuid id;
    struct uuid key_id;   /* the nil id: created while no key existed */
    struct str principal; /* empty: the whole tenant */
    struct str path;
    int64_t expires_at;
    struct str ticket; /* only set by ticket_create */
};

/* Creates a ticket for the path of `ticket` and the caller of the context; sets the other members.
 * ERR_RATE_LIMITED: the caller has TICKETS_MAX tickets. */
MUST_CHECK enum error ticket_create(struct context *c, int64_t ttl_s, struct ticket *ticket);

/* Returns true if the text has the form of a ticket. Needs no transaction. */
bool ticket_is_well_formed(struct arena *arena, struct str ticket);
/* The one error for every ticket that is not accepted, so that a ticket cannot be examined. */
enum error ticket_refuse(struct problem *problem);
/* Finds the ticket and enters its tenant, but no key. ERR_UNAUTHENTICATED: it is unknown, used or
 * expired, or for another path. */
MUST_CHECK enum error ticket_check(
    struct context *c, struct str ticket, struct str path, struct ticket *out_ticket);
/* Deletes the ticket. ERR_UNAUTHENTICATED: another request has used it since ticket_check. */
MUST_CHECK enum error ticket_use(struct context *c, struct uuid id);

/* For the sweep: out_any is true if any tenant has expired tickets. */
MUST_CHECK enum error ticket_any_expired(struct context *c, int64_t now_us, bool *out_any);
/* Deletes up to `limit` expired tickets; out_more: there may be others. */
MUST_CHECK enum error ticket_sweep(struct context *c, int64_t now_us, size_t limit, bool *out_more);

#endif
