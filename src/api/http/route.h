/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The route table: the one source of routing, scopes, limits, query parameters, the OpenAPI
 * document and the two-tenant test. A route is a row in routes.c and a handler beside its resource.
 */
#ifndef API_HTTP_ROUTE_H
#define API_HTTP_ROUTE_H

#include "base/schema.h"
#include "model/context.h"

struct call;

typedef enum error route_handler(struct call *call, struct context *c);

enum route_mode {
    ROUTE_STATIC, /* answered on the loop, without the store and without a key */
    ROUTE_READ,
    ROUTE_WRITE,
    ROUTE_SSE, /* a READ job that admits the subscriber, then a stream */
    ROUTE_WEBSOCKET,
};

enum route_flags {
    ROUTE_PATCH = 1 << 0,           /* the body is a Merge Patch or a JSON Patch of `body` */
    ROUTE_LIST = 1 << 1,            /* answers a page of `answer` */
    ROUTE_METADATA_FILTER = 1 << 2, /* accepts metadata.KEY=VALUE */
    ROUTE_BODY_OPTIONAL = 1 << 3,
    ROUTE_ETAG = 1 << 4,          /* the object has a version: ETag, If-Match, If-None-Match */
    ROUTE_FENCED = 1 << 5,        /* a worker's write: the OpenAPI document has its fencing token */
    ROUTE_PUBLIC = 1 << 6,        /* answered without a key */
    ROUTE_MAYBE_NOTHING = 1 << 7, /* answers 204 if nothing is found */
    ROUTE_MAY_LAG = 1 << 8,       /* a replica may answer, if the client allows it */
    ROUTE_PROBE = 1 << 9,         /* reports whether the store can be reached */
    /* A WRITE whose body is bytes of any type: `admit` runs first, in a READ, and refuses as much
     * as possible without the bytes; then the bytes are made durable, and `handle` finds them in
     * call->upload. See intake.h. */
    ROUTE_UPLOAD = 1 << 10,
    ROUTE_BYTES = 1 << 11,       /* answers bytes: call_answer_blob, call_answer_spool */
    ROUTE_CONDITIONAL = 1 << 12, /* a write that also accepts If-None-Match: * */
    ROUTE_MAY_CREATE = 1 << 13,  /* 201 if the object is new */
    ROUTE_TWO_WAYS = 1 << 14,    /* a page has a cursor for each direction */
    ROUTE_RAW_BODY = 1 << 15,    /* body and answer have any media type; JSON is parsed */
    ROUTE_MUST_MATCH = 1 << 16,  /* a write that requires a condition on the version */
    ROUTE_REVISION = 1 << 17, /* its ETag is "rN", so that it cannot be confused with a version */
    ROUTE_ONE_LANE = 1 << 18, /* locks many rows: all requests of one key go to the same writer */
};

/*
 * The access of a request for a principal (api/http/access.h). Unless the row states otherwise, the
 * path decides: the principal must take part in its thread or in the thread of its run, with the
 * permission read_write for writes; its agent must be the principal itself. A path without any of
 * these is only for keys of the whole tenant.
 */
enum route_access {
    ACCESS_BY_PATH,
    ACCESS_READER, /* by the path, but permission to read is enough; the model checks further */
    ACCESS_WRITER, /* by the path, but reading also requires read_write */
    ACCESS_OWN,    /* any principal: the handler shows and creates only its own objects */
    ACCESS_TENANT, /* no principal, whatever the path contains */
};

/* A request that finds nothing may wait for this, as many seconds as its query parameter `wait`. */
enum route_waits {
    WAITS_NEVER,
    WAITS_FOR_EVENT, /* an event that its filter includes */
    WAITS_FOR_RUN,   /* a run that can be claimed */
};

enum { ROUTE_MAX_PARAMS = 4, ROUTE_MAX_SEGMENTS = 10, ROUTE_BODY_DEFAULT = 4 * 1024 * 1024 };

/* The kind of a path parameter, which follows from its name. */
enum route_param {
    ROUTE_PARAM_UUID,   /* {thread_id} */
    ROUTE_PARAM_NUMBER, /* {version}, {from}, {to}, {number}, {sequence}: whole, from 1 */
    ROUTE_PARAM_TEXT,   /* {name}, {key}: data, percent-encoded in the path */
};
enum { ROUTE_TEXT_MAX_BYTES = 512 }; /* decoded */

struct route {
    const char *method;
    const char *path; /* "/v1/threads/{thread_id}" */
    enum scope scope;
    enum route_mode mode;
    unsigned flags;
    int status; /* of success */
    /* 0: ROUTE_BODY_DEFAULT; for an upload, the limit of the configuration. */
    size_t body_limit;
    const struct schema *query;
    const struct schema *body;
    const struct schema *answer;
    const struct schema *answer_to_many; /* the answer to a batch, if the body may be one */
    route_handler *handle;
    enum route_access access;
    enum route_waits waits;
    route_handler *admit; /* for an upload; NULL: no further check */
    /* For an upload whose bytes must be read before the job, on a thread that may read content. The
     * result in call->prepared is released at the end in any case. NULL: none. */
    enum error (*prepare)(struct call *call, uint64_t size_bytes);
    void (*release)(struct call *call);
    enum store_on_full on_full; /* for a WRITE: whether a full disk refuses it */
    const char *summary;
};

extern const struct route routes[];
extern const size_t route_count;

enum route_found { ROUTE_FOUND, ROUTE_UNKNOWN, ROUTE_OTHER_METHOD };

/*
 * Finds the route of a method and a path. `out_params` are the path's parameters in their order,
 * still encoded. For ROUTE_OTHER_METHOD `out_allow` is the value of the Allow header, in the arena.
 * HEAD finds the route of GET.
 */
enum route_found route_find(struct arena *arena, struct str method, struct str path,
    const struct route **out_route, struct str out_params[ROUTE_MAX_PARAMS], struct str *out_allow);

/* Returns true for routes that are answered without a key. */
bool route_is_public(const struct route *route);
/* Returns the name of a path parameter ("thread_id"), or STR_NONE after the last. */
struct str route_param_name(const struct route *route, size_t index);
enum route_param route_param_kind(struct str name);

#endif
