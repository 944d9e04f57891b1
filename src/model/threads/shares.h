/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares: links that let others take part in a thread, or give them a copy of it. A share's token
 * is "cairn_share_" and 64 characters: the share's id and 256 random bits. The database holds its
 * SHA-256 alone; the token is shown once, when the share is made.
 *
 * Redeeming only ever promotes. What each redemption gave is noted, so that revoking the share
 * takes exactly that back: from whoever was given more by name since, nothing. Everything about a
 * share happens under the lock of its thread.
 */
#ifndef MODEL_THREADS_SHARES_H
#define MODEL_THREADS_SHARES_H

#include "model/threads/participants.h"

enum {
    SHARES_MAX = 1000, /* of one thread, that can still be redeemed */
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
    struct str created_by; /* the principal; STR_NONE: a key of the whole tenant */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
    struct str token; /* only from share_create */
};

/* Makes the share that `share` describes (kind, permission, label, limit, expiry). */
MUST_CHECK enum error share_create(struct context *c, struct uuid thread_id, struct share *share);
MUST_CHECK enum error share_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct share *out_share);
/* Newest first; out_more: there are others. */
MUST_CHECK enum error share_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, struct page *page, struct share *out_shares);
/* Ends the access that it gave. Nothing happens when it was revoked before. */
MUST_CHECK enum error share_revoke(struct context *c, struct share *share);
/* Revokes those of the thread that the principal made and that can still be redeemed. The access
 * that they gave to others stays: it may be that of who asks for this. */
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
    bool active; /* the participant has its access from here */
    int64_t created_at;
};
MUST_CHECK enum error share_list_redemptions(struct context *c, struct uuid share_id,
    bool has_before, struct uuid before, struct page *page, struct redemption *out_redemptions);

/* What a redemption leads to. */
struct redeemed {
    struct uuid share_id;
    enum share_kind kind;
    struct uuid thread_id; /* of a copy: the new one */
    struct uuid participant_id;
    enum permission permission;
    bool has_changed;
    bool changed; /* false: the principal had all of it already */
};
/* For the context's principal; ERR_NOT_FOUND where the token is no share's of its tenant. Who has
 * the access, or a copy, already is not counted. `name`: of a new participant; STR_NONE. */
MUST_CHECK enum error share_redeem(
    struct context *c, struct str token, struct str name, struct redeemed *out_redeemed);

#endif
