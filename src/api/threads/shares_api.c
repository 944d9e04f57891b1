/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/threads/shares.h"

#define SHARE_FIELD(member) offsetof(struct share, member)

/* What a client gives follows the ids, the token ends it: each schema is a run of one table. */
enum { SHARE_BODY_FIELDS = 5 };

static const struct field share_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = SHARE_FIELD(id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = SHARE_FIELD(thread_id)},
    {.name = "kind",
        .kind = FIELD_ENUM,
        .offset = SHARE_FIELD(kind),
        .choices = share_kinds,
        .summary = "participate: in this thread; copy: in a thread of one's own, made from it"},
    {.name = "permission",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = SHARE_FIELD(permission),
        .choices = participant_permissions,
        .summary = "read unless told; of a copy read_write"},
    {.name = "label",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = SHARE_FIELD(label),
        .max = SHARE_LABEL_MAX_BYTES,
        .summary = "for people to read"},
    {.name = "max_redemptions",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = SHARE_FIELD(max_redemptions),
        .has_offset = SHARE_FIELD(has_max_redemptions),
        .min = 1,
        .max = SHARE_REDEMPTIONS_MAX,
        .summary = "how often it can be redeemed; any number of times when absent"},
    {.name = "expires_at",
        .kind = FIELD_TIME,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = SHARE_FIELD(expires_at),
        .has_offset = SHARE_FIELD(has_expires_at),
        .summary = "from then on it cannot be redeemed; access that it gave stays"},
    {.name = "redemptions",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = SHARE_FIELD(redemptions)},
    {.name = "revoked_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = SHARE_FIELD(revoked_at),
        .has_offset = SHARE_FIELD(is_revoked)},
    {.name = "created_by",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = SHARE_FIELD(created_by),
        .summary = "the principal; null: a key of the whole tenant"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = SHARE_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = SHARE_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = SHARE_FIELD(version),
        .summary = "the ETag's number"},
    {.name = "token",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = SHARE_FIELD(token),
        .summary = "shown once; null in a replayed answer"},
};
const struct schema schema_share = {
    "Share", share_fields, COUNT_OF(share_fields) - 1, sizeof(struct share), 0};
const struct schema schema_share_create = {
    "ShareCreate", &share_fields[2], SHARE_BODY_FIELDS, sizeof(struct share), 0};
const struct schema schema_share_created = {
    "ShareCreated", share_fields, COUNT_OF(share_fields), sizeof(struct share), 0};

struct shares_query {
    struct page_query page;
};
static const struct field query_fields[] = {PAGE_FIELDS(struct shares_query)};
const struct schema query_shares = {
    "SharesQuery", query_fields, COUNT_OF(query_fields), sizeof(struct shares_query), 0};

#define REDEMPTION_FIELD(member) offsetof(struct redemption, member)
static const struct field redemption_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .offset = REDEMPTION_FIELD(id)},
    {.name = "share_id", .kind = FIELD_UUID, .offset = REDEMPTION_FIELD(share_id)},
    {.name = "principal", .kind = FIELD_STRING, .offset = REDEMPTION_FIELD(principal)},
    {.name = "participant_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = REDEMPTION_FIELD(participant_id),
        .has_offset = REDEMPTION_FIELD(has_participant_id)},
    {.name = "previous_permission",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = REDEMPTION_FIELD(previous_permission),
        .summary = "that it had before, and has again when the share is revoked; null: none"},
    {.name = "copied_thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = REDEMPTION_FIELD(copied_thread_id),
        .has_offset = REDEMPTION_FIELD(has_copied_thread_id)},
    {.name = "active",
        .kind = FIELD_BOOL,
        .offset = REDEMPTION_FIELD(active),
        .has_offset = REDEMPTION_FIELD(has_active),
        .summary = "whether revoking the share takes something back"},
    {.name = "created_at", .kind = FIELD_TIME, .offset = REDEMPTION_FIELD(created_at)},
};
const struct schema schema_redemption = {
    "Redemption", redemption_fields, COUNT_OF(redemption_fields), sizeof(struct redemption), 0};

struct redeem_body {
    struct str token;
    struct str name;
};
static const struct field redeem_fields[] = {
    {.name = "token",
        .kind = FIELD_STRING,
        .offset = offsetof(struct redeem_body, token),
        .min = 1,
        .max = SHARE_TOKEN_MAX_BYTES},
    {.name = "name",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct redeem_body, name),
        .min = 1,
        .max = PARTICIPANT_NAME_MAX_BYTES,
        .summary = "of a new participant; that of the principal unless told"},
};
const struct schema schema_share_redeem = {
    "ShareRedeem", redeem_fields, COUNT_OF(redeem_fields), sizeof(struct redeem_body), 0};

#define REDEEMED_FIELD(member) offsetof(struct redeemed, member)
static const struct field redeemed_fields[] = {
    {.name = "share_id", .kind = FIELD_UUID, .offset = REDEEMED_FIELD(share_id)},
    {.name = "kind", .kind = FIELD_ENUM, .offset = REDEEMED_FIELD(kind), .choices = share_kinds},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .offset = REDEEMED_FIELD(thread_id),
        .summary = "that one takes part in now; of a copy the new one"},
    {.name = "participant_id", .kind = FIELD_UUID, .offset = REDEEMED_FIELD(participant_id)},
    {.name = "permission",
        .kind = FIELD_ENUM,
        .offset = REDEEMED_FIELD(permission),
        .choices = participant_permissions},
    {.name = "changed",
        .kind = FIELD_BOOL,
        .offset = REDEEMED_FIELD(changed),
        .has_offset = REDEEMED_FIELD(has_changed),
        .summary = "false: one had all of it before, and it was not counted"},
};
const struct schema schema_share_redeemed = {
    "ShareRedeemed", redeemed_fields, COUNT_OF(redeemed_fields), sizeof(struct redeemed), 0};

enum error handle_share_create(struct call *call, struct context *c)
{
    struct share share = *(const struct share *)call->request.input;
    enum error e = share_create(c, call->request.params[0], &share);
    if (e != OK)
        return e;
    call_answer(call, &schema_share_created, &share, share.version);
    share.token = STR_NONE;
    struct json_writer w;
    json_writer_init(&w, &call->answer.replay);
    schema_encode(&w, &schema_share_created, &share);
    return OK;
}

static struct str share_cursor(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct share *)item)->id);
}

enum error handle_share_list(struct call *call, struct context *c)
{
    const struct shares_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct share *shares = ARENA_ARRAY(call->arena, struct share, limit);
    struct uuid before;
    bool has_before = false, more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = share_list(
            c, call->request.params[0], has_before, before, limit, shares, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_share, shares, count, more, share_cursor);
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

static struct str redemption_cursor(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct redemption *)item)->id);
}

enum error handle_share_redemptions(struct call *call, struct context *c)
{
    const struct shares_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct redemption *all = ARENA_ARRAY(call->arena, struct redemption, limit);
    struct share share;
    struct uuid before;
    bool has_before = false, more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &has_before, &before);
    if (e == OK)
        e = share_get(c, call->request.params[0], call->request.params[1], &share);
    if (e == OK)
        e = share_list_redemptions(c, share.id, has_before, before, limit, all, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_redemption, all, count, more, redemption_cursor);
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
