/*
 * Participants: the users and assistants of a thread. A participant stands for a principal
 * ("user:NAME", "agent:UUID"), of which a thread has at most one; its permission is what a key that
 * acts for the principal may do there, as long as the participant is active.
 */
#ifndef MODEL_PARTICIPANTS_H
#define MODEL_PARTICIPANTS_H

#include "model/context.h"

enum {
    PRINCIPAL_MAX_BYTES = 256,
    PARTICIPANT_NAME_MAX_BYTES = 200,
};

extern const char *const participant_roles[];       /* user, assistant; NULL */
extern const char *const participant_permissions[]; /* read, read_write; NULL */

struct participant {
    struct uuid id;
    struct uuid thread_id;
    struct str role;
    struct str principal;
    struct str name;
    struct str image;
    struct str status;
    struct str permission;
    bool active;
    bool online;
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

MUST_CHECK enum error participant_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct participant *out_participant);
/* The one of the principal for whom the key acts; out_found is false where it acts for nobody, or
 * the principal takes no part. */
MUST_CHECK enum error participant_self(
    struct context *c, struct uuid thread_id, bool *out_found, struct participant *out_participant);

#endif
