/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that a client may show to people: http, https, or relative references. Links that a browser
 * would execute (javascript:, data:) and links without a target (http:///) are rejected.
 */
#ifndef BASE_LINK_H
#define BASE_LINK_H

#include "base/str.h"

/* The rule of link_is_safe, worded to follow the name of a member. */
#define LINK_RULE "must be an http or https URI with a host, or a relative URI, without blanks"

bool link_is_safe(struct str uri);

#endif
