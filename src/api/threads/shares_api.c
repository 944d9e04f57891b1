/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/threads/shares.h"

#define OF struct share
static const struct field share_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(ENUM, kind, IN_BODY | IN_READ,
        "participate: join this thread; copy: receive a copy of the thread",
        .choices = share_kinds),
    FIELD(ENUM_OR_NONE, permission, IN_BODY | IN_READ, "default: read; always read_write for copy",
        .choices = participant_permissions),
    FIELD(STRING_OR_NULL, label, IN_BODY | IN_READ, "description for people",
        .max = SHARE_LABEL_MAX_BYTES),
    FIELD(INT_OR_NULL, max_redemptions, IN_BODY | IN_READ,
        "maximum number of redemptions; default: unlimited", .min = 1,
        .max = SHARE_REDEMPTIONS_MAX),
    FIELD(TIME_OR_NULL, expires_at, IN_BODY | IN_READ,
        "end of redemption; access that was given before is kept"),
    FIELD(INT, redemptions, IN_READ),
    FIELD_HAS(TIME_OR_NULL, "revoked_at", revoked_at, is_revoked, IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ,
        "principal of the request; null: a key of the whole tenant"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
    FIELD(STRING_OR_NULL, token, IN_CREATED, "returned only once; null in a replayed answer",
        .once = true),
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
        "permission before the redemption, restored when the share is revoked; null: none"),
    FIELD(UUID_OR_NULL, copied_thread_id, IN_READ),
    FIELD(BOOL, active, IN_READ, "true if revoking the share removes access"),
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
    FIELD(STRING_OR_NONE, name, IN_BODY,
        "name of the new participant; default: the name of the principal", .min = 1,
        .max = PARTICIPANT_NAME_MAX_BYTES),
};
#undef OF
const struct schema schema_share_redeem =
    SCHEMA("ShareRedeem", struct redeem_body, redeem_fields, IN_BODY);

#define OF struct redeemed
static const struct field redeemed_fields[] = {
    FIELD(UUID, share_id, IN_READ),
    FIELD(ENUM, kind, IN_READ, .choices = share_kinds),
    FIELD(UUID, thread_id, IN_READ, "thread that was joined; for a copy: the new thread"),
    FIELD(UUID, participant_id, IN_READ),
    FIELD(ENUM, permission, IN_READ, .choices = participant_permissions),
    FIELD(BOOL, changed, IN_READ,
        "false if the principal had this access already; the redemption is not counted"),
};
#undef OF
const struct schema schema_share_redeemed =
    SCHEMA("ShareRedeemed", struct redeemed, redeemed_fields, IN_READ);

enum error handle_share_create(struct call *call, struct context *c)
{
    struct share share = *(const struct share *)call->request.input;
    TRY(share_create(c, call->request.params[0], &share));
    return call_answer(call, &schema_share_created, &share, share.version);
}

enum error handle_share_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct share *shares = ARENA_ARRAY(call->arena, struct share, page.limit);
    struct uuid before;
    bool has_before;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(share_list(c, call->request.params[0], has_before, before, &page, shares));
    return call_answer_page(call, &schema_share, shares, &page, CURSOR_BY(struct share, id));
}

enum error handle_share_get(struct call *call, struct context *c)
{
    struct share share;
    TRY(share_get(c, call->request.params[0], call->request.params[1], &share));
    return call_answer(call, &schema_share, &share, share.version);
}

enum error handle_share_revoke(struct call *call, struct context *c)
{
    struct share share;
    TRY(share_get(c, call->request.params[0], call->request.params[1], &share));
    TRY(share_revoke(c, &share));
    return call_answer(call, &schema_share, &share, share.version);
}

enum error handle_share_redemptions(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct redemption *all = ARENA_ARRAY(call->arena, struct redemption, page.limit);
    struct share share;
    struct uuid before;
    bool has_before;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_before, &before));
    TRY(share_get(c, call->request.params[0], call->request.params[1], &share));
    TRY(share_list_redemptions(c, share.id, has_before, before, &page, all));
    return call_answer_page(call, &schema_redemption, all, &page, CURSOR_BY(struct redemption, id));
}

enum error handle_share_redeem(struct call *call, struct context *c)
{
    const struct redeem_body *body = call->request.input;
    struct redeemed redeemed;
    bool more = false;
    call->copying.is_begun = call->has_continued;
    TRY(share_redeem(c, body->token, body->name, &call->copying, &redeemed, &more));
    if (more)
        return call_continue(call);
    return call_answer(call, &schema_share_redeemed, &redeemed, 0);
}
