/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets for browsers, whose EventSource and WebSocket cannot send a key. A ticket admits one
 * request for one path, once and soon, with the rights of the key and the principal that created
 * it. The database has only the SHA-256 of a ticket. Expired tickets are deleted when the tenant
 * creates the next one.
 */
#ifndef MODEL_TENANCY_TICKETS_H
#define MODEL_TENANCY_TICKETS_H

#include "model/context.h"

enum {
    TICKET_TTL_DEFAULT_S = 30,
    TICKET_TTL_MAX_S = 300,
    TICKET_PATH_MAX_BYTES = 2048,
    TICKETS_MAX = 10000, /* of a tenant, not yet used or expired */
};

struct ticket {
    struct uuid id;
    bool has_key_id; /* false: created while no key existed */
    struct uuid key_id;
    struct str principal; /* STR_NONE: the whole tenant */
    struct str path;
    int64_t expires_at;
    struct str ticket; /* only set by ticket_create */
};

/* Creates a ticket for the path of `ticket` and the caller of the context; sets the other members.
 */
MUST_CHECK enum error ticket_create(struct context *c, int64_t ttl_s, struct ticket *ticket);
/*
 * Finds and deletes the ticket, and enters its tenant. ERR_UNAUTHENTICATED: it is unknown, used or
 * expired, or for another path. If the job fails, the ticket remains.
 */
MUST_CHECK enum error ticket_redeem(
    struct context *c, struct str ticket, struct str path, struct ticket *out_ticket);

#endif
