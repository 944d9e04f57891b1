/* SPDX-License-Identifier: Apache-2.0 */
/* The grammars of RFC 3986 (URIs), RFC 3987 (IRIs), RFC 6570 (templates), and of IP addresses. */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_URI_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_URI_H

#include "base/str.h"

bool is_ipv4(struct str s);
bool is_ipv6(struct str s);
bool is_uri(struct str s);
bool is_uri_reference(struct str s);
bool is_iri(struct str s);
bool is_iri_reference(struct str s);
bool is_uri_template(struct str s);

#endif
