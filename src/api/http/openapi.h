/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI 3.1 document, generated from the route table and its schemas. */
#ifndef API_HTTP_OPENAPI_H
#define API_HTTP_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct buf *out);

#endif
