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
    ROUTE_ONE_LANE = 1 << 18, /* requests of one key prefer the same writer */
    /* A READ of many pages: `admit` runs first, as a usual READ job, and may reserve something in
     * call->prepared; then `handle` runs as a READ_LONG job. The call ends early if its client
     * leaves (call_may_continue). */
    ROUTE_LONG = 1 << 19,
    ROUTE_ANY_HOST = 1 << 20, /* answered for any Host: for checks by load balancers */
    /* A POST whose body changes a copy of an existing object: the handler merges and decodes it
     * with call_apply_patch. */
    ROUTE_MERGE = 1 << 21,
    /* A write whose answer contains nothing that existed before the request. It is complete also
     * for a key that may not read; the answer to any other write is then a receipt
     * (access_shows_all). If the route may create an object or change an existing one, this is only
     * said of the 201. */
    ROUTE_SHOWS_NEW = 1 << 22,
    /* A write that gives something existing to its caller (a claimed run): its answer is complete
     * also for a key that may not read, but is replayed only to this key and to readers. */
    ROUTE_HANDS_OUT = 1 << 23,
    /* A large body is rehearsed (model/rehearsal.h) before any WRITE job. */
    ROUTE_REHEARSED = 1 << 24,
};

/*
 * The access of a request for a principal (api/http/access.h). Unless the row states otherwise, the
 * path decides: the principal must take part in its thread or in the thread of its run, with the
 * permission read_write for writes, or be the agent of the run; its agent must be the principal
 * itself. A path without any of
 * these is only for keys of the whole tenant.
 */
enum route_access {
    ACCESS_BY_PATH,
    ACCESS_READER, /* by the path, but permission to read is enough; the model checks further */
    ACCESS_WRITER, /* by the path, but reading also requires read_write */
    ACCESS_OWN,    /* any principal: the handler shows and creates only its own objects */
    ACCESS_AGENT,  /* any agent: the handler shows and changes only its own runs */
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
    ROUTE_PARAM_EITHER, /* {notebook_id}: a UUID, or the number of the object within the tenant */
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
    route_handler *admit; /* for an upload or a ROUTE_LONG; NULL: no further check */
    /* For an upload whose bytes must be read before the job, on a thread that may read content. The
     * result in call->prepared is released at the end in any case. NULL: none. For a ROUTE_LONG
     * `release` is called after the job, unless the handler has cleared call->prepared. */
    enum error (*prepare)(struct call *call, uint64_t size_bytes);
    void (*release)(struct call *call);
    /* For a WRITE whose body may ask for nothing but reading: returns true if it does. The job is
     * then a READ, and its answer is not kept for an Idempotency-Key. NULL: it always writes. */
    bool (*only_reads)(const struct call *call);
    /* Of bytes that are sent or answered, and of an answer that is no object of a schema. NULL for
     * bytes of any type. */
    const char *media_type;
    /* For an answer with the status 201: the path of the object that was created, with members of
     * the answer and parameters of the path ("/v1/threads/{id}"). NULL: the path of the request. */
    const char *location;
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
/* Returns true for streams and WebSockets, which a browser opens with a ticket. */
bool route_takes_ticket(const struct route *route);
/* Returns the name of a path parameter ("thread_id"), or STR_NONE after the last. */
struct str route_param_name(const struct route *route, size_t index);
enum route_param route_param_kind(struct str name);

#endif
