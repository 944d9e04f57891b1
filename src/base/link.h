/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that clients may show to people: http, https, or relative to where they stand. Nothing that
 * a browser would carry out (javascript:, data:) and nothing that leads nowhere (http:///).
 */
#ifndef BASE_LINK_H
#define BASE_LINK_H

#include "base/str.h"

/* What link_is_safe asks for, to follow the name of what was given. */
#define LINK_RULE "must be a URI of http or https with a host, or a relative one, without blanks"

bool link_is_safe(struct str uri);

#endif
