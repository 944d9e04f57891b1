/* The OpenAPI 3.1 document, made from the route table and its schemas. */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct buf *out);

#endif
