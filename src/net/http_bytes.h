/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that HTTP/1.1 allows in each place (RFC 9110 section 5.6, RFC 9112, RFC 3986). */
#ifndef NET_HTTP_BYTES_H
#define NET_HTTP_BYTES_H

#include "base/macros.h"

enum http_byte {
    HTTP_TOKEN = 1, /* of a method or a field name */
    HTTP_FIELD = 2, /* of a field value: no control byte except the tab */
    HTTP_PATH = 4,  /* of a path: pchar and '/' */
    HTTP_QUERY = 8, /* of a query, with those that browsers leave unescaped */
    HTTP_HOST = 16, /* of a registered name or an IPv4 address */
};

extern const uint8_t http_byte_classes[256];

static inline bool http_byte_is(char byte, enum http_byte class)
{
    return (http_byte_classes[(unsigned char)byte] & class) != 0;
}

#endif
