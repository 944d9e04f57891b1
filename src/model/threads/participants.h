/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Participants: the users and assistants of a thread. A participant represents a principal
 * ("user:NAME", "agent:UUID"); a thread has at most one participant for each. While the participant
 * is active, its permission applies to keys that act for the principal. The row of a participant
 * that has left remains, inactive, because it is the sender of messages.
 *
 * An event that removes access has the mark `ends_access`: streams for a principal then continue
 * from the store, which checks the permission again (api/threads/event_page.h).
 */
#ifndef MODEL_THREADS_PARTICIPANTS_H
#define MODEL_THREADS_PARTICIPANTS_H

#include "base/enum.h"
#include "model/context.h"

enum {
    PRINCIPAL_MAX_BYTES = 256,
    PARTICIPANTS_MAX = 1000, /* of a thread, including those that have left */
    PARTICIPANT_NAME_MAX_BYTES = 200,
    PARTICIPANT_IMAGE_MAX_BYTES = 2000,
    PARTICIPANT_STATUS_MAX_BYTES = 500,
    PARTICIPANT_METADATA_MAX_BYTES = 16 * 1024,
    PARTICIPANT_ONLINE_MAX_S = 3600,
    PARTICIPANT_ONLINE_DEFAULT_S = 60,
    PARTICIPANT_STREAM_ONLINE_S = 30, /* after the last renewal by an open stream */
};

/* clang-format off */
#define PARTICIPANT_ROLES(X)       \
    X(ROLE_USER,      "user")      \
    X(ROLE_ASSISTANT, "assistant")
/* Each permission includes those before it: PERMISSION_NONE < PERMISSION_READ < … */
#define PERMISSIONS(X)                    \
    X(PERMISSION_READ,       "read")       \
    X(PERMISSION_READ_WRITE, "read_write")
/* clang-format on */
ENUM_DECLARE(participant_role, ROLE_NONE, participant_roles, PARTICIPANT_ROLES);
ENUM_DECLARE(permission, PERMISSION_NONE, participant_permissions, PERMISSIONS);

struct participant {
    struct uuid id;
    struct uuid thread_id;
    enum participant_role role;
    struct str principal;
    struct str name;
    struct str image;
    struct str status;
    enum permission permission;
    bool has_active; /* always true, except in a patch */
    bool active;
    bool barred; /* another principal removed its access: shares do not restore it */
    bool online;
    bool told_online;     /* in the newest event; the sweep appends the event of its end */
    int64_t online_until; /* in lease time, if told_online */
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    bool has_shares_revoked; /* after a change that barred the participant */
    int64_t shares_revoked;  /* number of its own shares that were revoked */
};

/* --- Principals ----------------------------------------------------------------------------- */

/* Returns true for "user:NAME" and "agent:UUID" of at most PRINCIPAL_MAX_BYTES. */
bool principal_is_valid(struct str principal);
extern const char PRINCIPAL_RULE[];
/* The same with a fault at `pointer`; the agent must exist. */
MUST_CHECK enum error principal_check(struct context *c, struct str principal, struct str pointer);
/* Returns the id of "agent:UUID"; false for users. */
bool principal_agent(struct str principal, struct uuid *out_agent_id);
/* Returns true if the principal is this agent. */
bool principal_is_agent(struct str principal, struct uuid agent_id);

/*
 * OK if the context's principal may read the thread, or write to it. ERR_NOT_FOUND: it does not
 * participate; ERR_FORBIDDEN: it may only read. OK without a principal: the key acts for the whole
 * tenant. A WRITE job holds the thread's lock afterwards.
 *
 * The request machinery calls this function for every route with a thread or a run in its path. A
 * handler calls it for other threads in the body or the query.
 */
MUST_CHECK enum error participant_check_access(
    struct context *c, struct uuid thread_id, bool to_write);
/* out_may is true if the principal participates, or if there is none. Does not lock. */
MUST_CHECK enum error participant_may_see(struct context *c, struct uuid thread_id, bool *out_may);

/* --- Queries -------------------------------------------------------------------------------- */

MUST_CHECK enum error participant_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct participant *out_participant);
/* Reads the participant of the context's principal; out_found is false if there is no principal, or
 * it does not participate. */
MUST_CHECK enum error participant_self(
    struct context *c, struct uuid thread_id, bool *out_found, struct participant *out_participant);
/* Reads the participant of any principal. */
MUST_CHECK enum error participant_find(struct context *c, struct uuid thread_id,
    struct str principal, bool *out_found, struct participant *out_participant);

struct participant_filter {
    bool has_before;
    struct uuid before;
    bool has_active;
    bool active;
    enum participant_role role;
    struct str principal;
};
/* Newest first. */
MUST_CHECK enum error participant_list(struct context *c, struct uuid thread_id,
    const struct participant_filter *filter, struct page *page,
    struct participant *out_participants);

/* --- Changes -------------------------------------------------------------------------------- */

/* Adds the participant that `p` describes; only the principal is required. A participant that has
 * left joins again, with its previous members where `p` has none. ERR_CONFLICT: it is active. */
MUST_CHECK enum error participant_join(
    struct context *c, struct uuid thread_id, struct participant *p);
/* Adds the context's principal, if there is one, to the thread that it has created. */
MUST_CHECK enum error participant_join_creator(struct context *c, struct uuid thread_id);
/* Replaces the members that clients may change. `before` was read in this transaction. A principal
 * that may only read may change its own name, image and status, and leave. A participant whose
 * access another principal removes is barred until it is added by name, and its shares are revoked.
 */
MUST_CHECK enum error participant_update(
    struct context *c, const struct participant *before, struct participant *after);
/* Makes the participant inactive. If another principal removes it, it is barred, even after it has
 * left. */
MUST_CHECK enum error participant_leave(struct context *c, struct participant *p);

/*
 * Redeems a share: adds the participant that `p` describes (principal, name, permission), or raises
 * its permission; never lowers it. Sets `p` to the participant, and out_previous to its previous
 * permission; if they are equal, nothing changed. ERR_FORBIDDEN: the participant is barred.
 */
MUST_CHECK enum error participant_admit(
    struct context *c, struct uuid thread_id, struct participant *p, enum permission *out_previous);
/* Lowers the permission to this one; with PERMISSION_NONE the participant leaves. */
MUST_CHECK enum error participant_withdraw(
    struct context *c, struct participant *p, enum permission permission);

/* Makes the participant online for at least `ttl_s` seconds; 0: offline. A principal may do this
 * only for itself. */
MUST_CHECK enum error participant_heartbeat(
    struct context *c, struct participant *p, int64_t ttl_s, struct str status);
/* Keeps the context's principal online, while it has an open stream of the thread. Writes only when
 * less than half of PARTICIPANT_STREAM_ONLINE_S remains. Does nothing if it does not participate.
 */
MUST_CHECK enum error participant_stay_online(struct context *c, struct uuid thread_id);
/* Lists threads of all tenants with a participant whose time online has expired. */
MUST_CHECK enum error participant_list_silent(
    struct context *c, size_t limit, struct owned_id *out_silent, size_t *out_count);
/* Makes the participants of the thread whose time has expired offline. */
MUST_CHECK enum error participant_end_online(struct context *c, struct uuid thread_id);
/* Called at the start, because lease time may have restarted: limits every time online to the
 * longest that a heartbeat can set. */
MUST_CHECK enum error participant_bound_online(struct context *c);

#endif
