/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The route table: the one source of routing, scopes, limits, query parameters, the OpenAPI
 * document and the walk of the two-tenant test. A route is a row here and a handler beside its
 * resource.
 */
#ifndef API_HTTP_ROUTE_H
#define API_HTTP_ROUTE_H

#include "base/schema.h"
#include "model/context.h"

struct call;

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
    ROUTE_METADATA_FILTER = 1 << 2, /* takes metadata.KEY=VALUE */
    ROUTE_BODY_OPTIONAL = 1 << 3,
    ROUTE_ETAG = 1 << 4,          /* the object has a version: ETag, If-Match, If-None-Match */
    ROUTE_FENCED = 1 << 5,        /* a worker's write: OpenAPI tells of its fencing token */
    ROUTE_PUBLIC = 1 << 6,        /* answered without a key */
    ROUTE_MAYBE_NOTHING = 1 << 7, /* 204 when there is nothing to answer */
    ROUTE_MAY_LAG = 1 << 8,       /* a replica may answer, when the client allows it */
    ROUTE_PROBE = 1 << 9,         /* asks whether the store can be reached */
    ROUTE_CONDITIONAL = 1 << 12,  /* a write that takes If-None-Match: * too */
    ROUTE_MAY_CREATE = 1 << 13,   /* 201 when the object is new */
    ROUTE_TWO_WAYS = 1 << 14,     /* a page has a cursor for either direction */
    /* A WRITE whose body is bytes of any type: `admit` runs first, in a READ, and refuses what can
     * be refused without them; then the bytes are made durable, and then `handle` finds them in
     * call->upload. See intake.h. */
    ROUTE_UPLOAD = 1 << 10,
    ROUTE_BYTES = 1 << 11,      /* answers bytes: call_answer_blob, call_answer_spool */
    ROUTE_RAW_BODY = 1 << 15,   /* what is written or read has any type; JSON is parsed */
    ROUTE_MUST_MATCH = 1 << 16, /* a write that has to say what it has seen */
    ROUTE_REVISION = 1 << 17,   /* its ETag is "rN", so that it is never taken for a version */
    ROUTE_ONE_LANE = 1 << 18,   /* locks many rows: all of one key go to the same writer */
};

/*
 * What a request that acts for a principal may do (api/http/access.h). Unless a row says otherwise,
 * the path decides: a thread or run in it must be one that the principal takes part in, to write
 * with the permission read_write; an agent in it must be the principal itself; and where it names
 * none of these, only keys of the whole tenant get in.
 */
enum route_access {
    ACCESS_BY_PATH,
    ACCESS_READER, /* as by the path, but permission to read is enough; the model looks closer */
    ACCESS_WRITER, /* as by the path, but also to read it takes read_write */
    ACCESS_OWN,    /* any principal: the handler shows and makes only what is its own */
    ACCESS_TENANT, /* none, whatever the path names */
};

/* What a request that finds nothing may wait for, as long as its query parameter `wait` says. */
enum route_waits {
    WAITS_NEVER,
    WAITS_FOR_EVENT, /* an event that its filter includes */
    WAITS_FOR_RUN,   /* a run that can be claimed */
};

enum { ROUTE_MAX_PARAMS = 4, ROUTE_MAX_SEGMENTS = 10, ROUTE_BODY_DEFAULT = 4 * 1024 * 1024 };

/* What a parameter of a path is, by its name. */
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
    /* 0: ROUTE_BODY_DEFAULT when there is a body; of an upload, what the server is told to take. */
    size_t body_limit;
    const struct schema *query;
    const struct schema *body;
    const struct schema *answer;
    const struct schema *answer_to_many; /* when the body may be a batch, what answers that */
    enum error (*handle)(struct call *call, struct context *c);
    enum route_access access;
    enum route_waits waits;
    enum error (*admit)(struct call *call, struct context *c); /* of an upload; NULL: all */
    /* Of an upload whose bytes have to be looked at before the job, where content may be read; what
     * it leaves in call->prepared is released when all is over, in any case. NULL: none. */
    enum error (*prepare)(struct call *call, uint64_t size_bytes);
    void (*release)(struct call *call);
    enum store_on_full on_full; /* of a WRITE: whether a full disk refuses it */
    const char *summary;
};

extern const struct route routes[];
extern const size_t route_count;

enum route_found { ROUTE_FOUND, ROUTE_UNKNOWN, ROUTE_OTHER_METHOD };

/*
 * Finds the route of a method and a path; `out_params` are the path's parameters, in their order
 * and still encoded. For ROUTE_OTHER_METHOD out_allow is the value of the Allow header, in the
 * arena. HEAD finds GET's route.
 */
enum route_found route_find(struct arena *arena, struct str method, struct str path,
    const struct route **out_route, struct str out_params[ROUTE_MAX_PARAMS], struct str *out_allow);

/* The name of a route's parameter: "thread_id". STR_NONE past the last. */
struct str route_param_name(const struct route *route, size_t index);
enum route_param route_param_kind(struct str name);

#endif
