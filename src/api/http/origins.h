/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts and the origins that requests may have. */
#ifndef API_HTTP_ORIGINS_H
#define API_HTTP_ORIGINS_H

#include "api/http/front.h"

/* Checks Host and Origin. `out_origin` is the allowed origin also if the host is refused, so that a
 * page can read any refusal. */
MUST_CHECK enum error origins_check(
    const struct front_config *config, bool is_tls, struct call *call, struct str *out_origin);
/* A browser sends the origin of the page. The server's own pages and the listed origins may call.
 * The own origin is in the arena. */
bool origins_is_allowed(const struct front_config *config, struct arena *arena, bool is_tls,
    struct str origin, struct str host);

#endif
