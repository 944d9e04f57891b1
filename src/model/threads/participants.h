/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Participants: the users and assistants of a thread. A participant stands for a principal
 * ("user:NAME", "agent:UUID"), of which a thread has at most one; its permission is what a key that
 * acts for the principal may do there, as long as the participant is active. Who has left stays as
 * a row that is not active: it is the sender of messages.
 *
 * An event that takes access away carries the mark `ends_access`: whoever listens for a principal
 * reads on from the store behind it, and that finds out whether it still may
 * (api/threads/event_page.h).
 */
#ifndef MODEL_THREADS_PARTICIPANTS_H
#define MODEL_THREADS_PARTICIPANTS_H

#include "base/enum.h"
#include "model/context.h"

enum {
    PRINCIPAL_MAX_BYTES = 256,
    PARTICIPANTS_MAX = 1000, /* of one thread, also those who have left */
    PARTICIPANT_NAME_MAX_BYTES = 200,
    PARTICIPANT_IMAGE_MAX_BYTES = 2000,
    PARTICIPANT_STATUS_MAX_BYTES = 500,
    PARTICIPANT_METADATA_MAX_BYTES = 16 * 1024,
    PARTICIPANT_ONLINE_MAX_S = 3600,
    PARTICIPANT_ONLINE_DEFAULT_S = 60,
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
    bool has_active; /* always, but in a patch */
    bool active;
    bool barred; /* somebody else took access away: shares give it none */
    bool online;
    bool told_online; /* as the newest event says: its end is told by the sweep */
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    bool has_shares_revoked; /* after a change that barred it */
    int64_t shares_revoked;  /* of those that it had made */
};

/* --- Principals ----------------------------------------------------------------------------- */

/* Whether it is "user:NAME" or "agent:UUID", and no longer than it may be. */
bool principal_is_valid(struct str principal);
extern const char PRINCIPAL_RULE[];
/* The same, as a fault at `pointer`; and an agent must be there. */
MUST_CHECK enum error principal_check(struct context *c, struct str principal, struct str pointer);
/* The id of "agent:UUID"; false for users. */
bool principal_agent(struct str principal, struct uuid *out_agent_id);

/*
 * Whether the context's principal may read the thread, or write to it. Who takes no part is told
 * what is told of a thread that is not there, who may only read ERR_FORBIDDEN. OK without one: such
 * a key acts for its whole tenant. A WRITE job holds the thread's lock from here on.
 *
 * The request machinery calls this for every route whose path names a thread or a run. A handler
 * calls it when its request names another thread, in a body or a query.
 */
MUST_CHECK enum error participant_check_access(
    struct context *c, struct uuid thread_id, bool to_write);
/* Whether the principal takes part; true without one. Locks nothing. */
MUST_CHECK enum error participant_may_see(struct context *c, struct uuid thread_id, bool *out_may);

/* --- Queries -------------------------------------------------------------------------------- */

MUST_CHECK enum error participant_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct participant *out_participant);
/* The one of the principal for whom the key acts; out_found is false where it acts for nobody, or
 * the principal takes no part. */
MUST_CHECK enum error participant_self(
    struct context *c, struct uuid thread_id, bool *out_found, struct participant *out_participant);
/* The one of any principal. */
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
/* Newest first; out_more: there are others. */
MUST_CHECK enum error participant_list(struct context *c, struct uuid thread_id,
    const struct participant_filter *filter, struct page *page,
    struct participant *out_participants);

/* --- Changes -------------------------------------------------------------------------------- */

/* Adds the participant that `p` describes (principal; the rest may be STR_NONE), or lets one who
 * has left take part again, with what `p` says and else as it was. ERR_CONFLICT when it is active.
 */
MUST_CHECK enum error participant_join(
    struct context *c, struct uuid thread_id, struct participant *p);
/* Whoever makes a thread takes part in it, when the key acts for somebody. */
MUST_CHECK enum error participant_join_creator(struct context *c, struct uuid thread_id);
/* Replaces what a client may change of `before` (as read in this transaction) by `after`. A
 * principal that may only read may change its own name, image and status, and leave. From whom
 * somebody else takes access is barred, until somebody gives it by name; the shares that it made
 * cannot be redeemed any more. */
MUST_CHECK enum error participant_update(
    struct context *c, const struct participant *before, struct participant *after);
/* Takes no part any more. Who has left already is barred when somebody else says so. */
MUST_CHECK enum error participant_leave(struct context *c, struct participant *p);

/*
 * What a share gives: who takes no part does from here on, as `p` says (principal, name,
 * permission), who may only read is promoted; nobody is demoted. `p` is the participant then,
 * out_previous the permission it had before; nothing changed when they are the
 * same. ERR_FORBIDDEN for one who is barred.
 */
MUST_CHECK enum error participant_admit(
    struct context *c, struct uuid thread_id, struct participant *p, enum permission *out_previous);
/* Takes back what is more than this permission; with PERMISSION_NONE the participant leaves. */
MUST_CHECK enum error participant_withdraw(
    struct context *c, struct participant *p, enum permission permission);

/* Counts as online for so long, or, with 0, not any more. A principal speaks for itself alone. */
MUST_CHECK enum error participant_heartbeat(
    struct context *c, struct participant *p, int64_t ttl_s, struct str status);
/* Threads, of all tenants, with a participant whose time is over. */
struct participant_silent {
    struct uuid tenant_id;
    struct uuid thread_id;
};
MUST_CHECK enum error participant_list_silent(
    struct context *c, size_t limit, struct participant_silent *out_silent, size_t *out_count);
/* Those of the thread whose time is over are offline from here on. */
MUST_CHECK enum error participant_end_online(struct context *c, struct uuid thread_id);
/* At the start, where the clock of leases may have begun anew: nobody is online for longer than a
 * heartbeat can give. */
MUST_CHECK enum error participant_bound_online(struct context *c);

#endif
