/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares: links that add participants to a thread, or give them a copy of it. The token of a share
 * is "cairn_share_" and 64 characters: the id of the share and 256 random bits. The database has
 * only its SHA-256; the token is returned once, when the share is created.
 *
 * Redeeming never lowers a permission. Each redemption records the previous permission, so that
 * revoking the share restores it, unless the participant has since been given more by name. All
 * operations on a share hold the lock of its thread.
 */
#ifndef MODEL_THREADS_SHARES_H
#define MODEL_THREADS_SHARES_H

#include "model/threads/participants.h"
#include "model/threads/thread_copy.h"

enum {
    SHARES_MAX = 1000, /* of a thread, not counting those that cannot be redeemed */
    SHARE_LABEL_MAX_BYTES = 200,
    SHARE_TOKEN_MAX_BYTES = 128,
    SHARE_REDEMPTIONS_MAX = 1000000,
};

/* clang-format off */
#define SHARE_KINDS(X)                                                                            \
    X(SHARE_PARTICIPATE, "participate") /* redeeming adds a participant to the thread */          \
    X(SHARE_COPY,        "copy")        /* redeeming gives a copy of the thread */
/* clang-format on */
ENUM_DECLARE(share_kind, SHARE_KIND_NONE, share_kinds, SHARE_KINDS);

struct share {
    struct uuid id;
    struct uuid thread_id;
    enum share_kind kind;
    enum permission permission;
    struct str label;
    bool has_max_redemptions;
    int64_t max_redemptions;
    int64_t redemptions;
    bool has_expires_at;
    int64_t expires_at;
    bool is_revoked;
    int64_t revoked_at;
    struct str created_by; /* a principal; STR_NONE: a key of the tenant */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    struct str token; /* only set by share_create */
};

/* Creates the share that `share` describes: kind, permission, label, limit and expiry. */
MUST_CHECK enum error share_create(struct context *c, struct uuid thread_id, struct share *share);
MUST_CHECK enum error share_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct share *out_share);
/* Newest first. */
MUST_CHECK enum error share_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, struct page *page, struct share *out_shares);
/* Revokes the share and the access that it gave. Does nothing if it was revoked before. */
MUST_CHECK enum error share_revoke(struct context *c, struct share *share);
/* Revokes the redeemable shares that the principal has created in the thread. Access that they gave
 * remains: it may be that of the caller. */
MUST_CHECK enum error share_close_all_by(
    struct context *c, struct uuid thread_id, struct str principal, int64_t *out_closed);

struct redemption {
    struct uuid id;
    struct uuid share_id;
    struct str principal;
    bool has_participant_id;
    struct uuid participant_id;
    struct str previous_permission;
    bool has_copied_thread_id;
    struct uuid copied_thread_id;
    bool has_active;
    bool active; /* revoking the share would restore the previous permission */
    int64_t created_at;
};
MUST_CHECK enum error share_list_redemptions(struct context *c, struct uuid share_id,
    bool has_before, struct uuid before, struct page *page, struct redemption *out_redemptions);

/* The result of a redemption. */
struct redeemed {
    struct uuid share_id;
    enum share_kind kind;
    struct uuid thread_id; /* for a copy: the new thread */
    struct uuid participant_id;
    enum permission permission;
    bool has_changed;
    bool changed; /* false: the principal already had the access */
};
/* Redeems a share for the context's principal. ERR_NOT_FOUND: no share of the tenant has this
 * token. A principal that already has the access, or a copy, is not counted. `name` is that of a
 * new participant, or STR_NONE. out_more: a slice of the copy was made; call again in another job.
 */
MUST_CHECK enum error share_redeem(struct context *c, struct str token, struct str name,
    struct thread_copying *copying, struct redeemed *out_redeemed, bool *out_more);

/* Records that the participant has access by name, which revoking a share does not remove. */
MUST_CHECK enum error share_settle(struct context *c, struct uuid participant_id);

#endif
