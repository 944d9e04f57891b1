/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/threads/shares.h"

#define OF struct share
static const struct field share_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(ENUM, kind, IN_BODY | IN_READ,
        "participate: in this thread; copy: in a thread of one's own, made from it",
        .choices = share_kinds),
    FIELD(ENUM_OR_NONE, permission, IN_BODY | IN_READ, "read unless told; of a copy read_write",
        .choices = participant_permissions),
    FIELD(STRING_OR_NULL, label, IN_BODY | IN_READ, "for people to read",
        .max = SHARE_LABEL_MAX_BYTES),
    FIELD(INT_OR_NULL, max_redemptions, IN_BODY | IN_READ,
        "how often it can be redeemed; any number of times when absent", .min = 1,
        .max = SHARE_REDEMPTIONS_MAX),
    FIELD(TIME_OR_NULL, expires_at, IN_BODY | IN_READ,
        "from then on it cannot be redeemed; access that it gave stays"),
    FIELD(INT, redemptions, IN_READ),
    FIELD_HAS(TIME_OR_NULL, "revoked_at", revoked_at, is_revoked, IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ, "the principal; null: a key of the whole tenant"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "the ETag's number"),
    FIELD(STRING_OR_NULL, token, IN_CREATED, "shown once; null in a replayed answer", .once = true),
};
#undef OF
const struct schema schema_share = SCHEMA("Share", struct share, share_fields, IN_READ);
const struct schema schema_share_create =
    SCHEMA("ShareCreate", struct share, share_fields, IN_BODY);
const struct schema schema_share_created =
    SCHEMA("ShareCreated", struct share, share_fields, IN_READ | IN_CREATED);

#define OF struct redemption
static const struct field redemption_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, share_id, IN_READ),
    FIELD(STRING, principal, IN_READ),
    FIELD(UUID_OR_NULL, participant_id, IN_READ),
    FIELD(STRING_OR_NULL, previous_permission, IN_READ,
        "that it had before, and has again when the share is revoked; null: none"),
    FIELD(UUID_OR_NULL, copied_thread_id, IN_READ),
    FIELD(BOOL, active, IN_READ, "whether revoking the share takes something back"),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
const struct schema schema_redemption =
    SCHEMA("Redemption", struct redemption, redemption_fields, IN_READ);

struct redeem_body {
    struct str token;
    struct str name;
};
#define OF struct redeem_body
static const struct field redeem_fields[] = {
    FIELD(STRING, token, IN_BODY, .min = 1, .max = SHARE_TOKEN_MAX_BYTES),
    FIELD(STRING_OR_NONE, name, IN_BODY, "of a new participant; that of the principal unless told",
        .min = 1, .max = PARTICIPANT_NAME_MAX_BYTES),
};
#undef OF
const struct schema schema_share_redeem =
    SCHEMA("ShareRedeem", struct redeem_body, redeem_fields, IN_BODY);

#define OF struct redeemed
static const struct field redeemed_fields[] = {
    FIELD(UUID, share_id, IN_READ),
    FIELD(ENUM, kind, IN_READ, .choices = share_kinds),
    FIELD(UUID, thread_id, IN_READ, "that one takes part in now; of a copy the new one"),
    FIELD(UUID, participant_id, IN_READ),
    FIELD(ENUM, permission, IN_READ, .choices = participant_permissions),
    FIELD(BOOL, changed, IN_READ, "false: one had all of it before, and it was not counted"),
};
#undef OF
const struct schema schema_share_redeemed =
    SCHEMA("ShareRedeemed", struct redeemed, redeemed_fields, IN_READ);

enum error handle_share_create(struct call *call, struct context *c)
{
    struct share share = *(const struct share *)call->request.input;
    enum error e = share_create(c, call->request.params[0], &share);
    if (e == OK)
        call_answer(call, &schema_share_created, &share, share.version);
    return e;
}

enum error handle_share_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct share *shares = ARENA_ARRAY(call->arena, struct share, page.limit);
    struct uuid before;
    bool has_before = false;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = share_list(c, call->request.params[0], has_before, before, &page, shares);
    if (e == OK)
        call_answer_page(call, &schema_share, shares, &page, CURSOR_BY(struct share, id));
    return e;
}

enum error handle_share_get(struct call *call, struct context *c)
{
    struct share share;
    enum error e = share_get(c, call->request.params[0], call->request.params[1], &share);
    if (e == OK)
        call_answer(call, &schema_share, &share, share.version);
    return e;
}

enum error handle_share_revoke(struct call *call, struct context *c)
{
    struct share share;
    enum error e = share_get(c, call->request.params[0], call->request.params[1], &share);
    if (e == OK)
        e = share_revoke(c, &share);
    if (e == OK)
        call_answer(call, &schema_share, &share, share.version);
    return e;
}

enum error handle_share_redemptions(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct redemption *all = ARENA_ARRAY(call->arena, struct redemption, page.limit);
    struct share share;
    struct uuid before;
    bool has_before = false;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = share_get(c, call->request.params[0], call->request.params[1], &share);
    if (e == OK)
        e = share_list_redemptions(c, share.id, has_before, before, &page, all);
    if (e == OK)
        call_answer_page(call, &schema_redemption, all, &page, CURSOR_BY(struct redemption, id));
    return e;
}

enum error handle_share_redeem(struct call *call, struct context *c)
{
    const struct redeem_body *body = call->request.input;
    struct redeemed redeemed;
    enum error e = share_redeem(c, body->token, body->name, &redeemed);
    if (e == OK)
        call_answer(call, &schema_share_redeemed, &redeemed, 0);
    return e;
}
