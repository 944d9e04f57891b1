/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/shares.h"

#include "base/hash.h"
#include "base/json/json_write.h"
#include "model/tenancy/audit.h"
#include "model/threads/shares.sql.h"
#include "model/threads/thread_copy.h"
#include "model/threads/threads.h"

ENUM_DEFINE(share_kinds, SHARE_KINDS);

enum { TOKEN_RANDOM_BYTES = 32, TOKEN_BYTES = 16 + TOKEN_RANDOM_BYTES };

static const struct str TOKEN_PREFIX = {"cairn_share_", 12};

/* --- Tokens --------------------------------------------------------------------------------- */

static struct str make_token(struct arena *arena, struct uuid share_id)
{
    char bytes[TOKEN_BYTES];
    memcpy(bytes, share_id.bytes, 16);
    random_bytes(bytes + 16, TOKEN_RANDOM_BYTES);
    struct str text = base64url_encode(arena, (struct str){bytes, sizeof bytes});
    return arena_printf(arena, "%.*s%.*s", STR_ARG(TOKEN_PREFIX), STR_ARG(text));
}

static bool parse_token(struct arena *arena, struct str token, struct uuid *out_share_id)
{
    struct str bytes;
    if (!str_starts_with(token, TOKEN_PREFIX) ||
        !base64url_decode(arena, str_slice(token, TOKEN_PREFIX.len, token.len), &bytes) ||
        bytes.len != TOKEN_BYTES)
        return false;
    memcpy(out_share_id->bytes, bytes.ptr, 16);
    return true;
}

/* --- Read ----------------------------------------------------------------------------------- */

static enum error find(struct context *c, struct uuid id, bool *out_found, struct share *out_share,
    struct str *out_hash)
{
    struct query q;
    context_query(c, &q, &SQL_SHARE_GET);
    query_uuid(&q, id, id);
    *out_found = query_next(&q);
    if (*out_found) {
        share_read(&q, out_share);
        *out_hash = row_bytes(&q);
    }
    return query_end(&q);
}

enum error share_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct share *out_share)
{
    struct thread thread;
    struct str unused;
    bool found = false;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(find(c, id, &found, out_share, &unused));
    if (!(found && uuid_eq(out_share->thread_id, thread_id)))
        return context_not_found(c, "share", id);
    return OK;
}

enum error share_list(struct context *c, struct uuid thread_id, bool has_before, struct uuid before,
    struct page *page, struct share *out_shares)
{
    struct thread thread;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    page_begin(c, &q, &SQL_SHARE_LIST, page);
    query_uuid(&q, thread_id, thread_id);
    query_uuid_if(&q, before, has_before, before);
    return share_read_page(&q, page, out_shares);
}

enum error share_list_redemptions(struct context *c, struct uuid share_id, bool has_before,
    struct uuid before, struct page *page, struct redemption *out_redemptions)
{
    struct query q;
    page_begin(c, &q, &SQL_REDEMPTION_LIST, page);
    query_uuid(&q, share_id, share_id);
    query_uuid_if(&q, before, has_before, before);
    return redemption_read_page(&q, page, out_redemptions);
}

/* --- Create --------------------------------------------------------------------------------- */

/* The detail of the audit record, which never contains the token. */
static struct str describe(struct arena *arena, const struct share *share)
{
    struct json_text text;
    json_text_init(&text, 8192);
    json_write_object(&text.w);
    json_write_name(&text.w, "thread_id");
    json_write_uuid(&text.w, share->thread_id);
    json_write_text_member(&text.w, "kind", share_kind_word(share->kind));
    json_write_text_member(&text.w, "permission", permission_word(share->permission));
    json_write_name(&text.w, "label");
    json_write_string(&text.w, share->label);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error check_new(struct context *c, const struct share *share)
{
    int64_t count;
    struct query q;
    if (share->has_expires_at && share->expires_at <= c->now_us)
        return problem_fault(c->problem, STR("/expires_at"), "must be in the future");
    if (share->kind == SHARE_COPY && share->permission == PERMISSION_READ)
        return problem_fault(c->problem, STR("/permission"),
            "must be read_write for a copy, which belongs to the redeemer");
    context_query(c, &q, &SQL_SHARE_COUNT);
    query_uuid(&q, thread_id, share->thread_id);
    query_i64(&q, now, c->now_us);
    TRY(context_number(&q, &count));
    return count >= SHARES_MAX
               ? problem_set(c->problem, ERR_CONFLICT,
                     "the thread has %d shares, the maximum: revoke some", SHARES_MAX)
               : OK;
}

static enum error insert(struct context *c, const struct share *share)
{
    struct sha256 hash = sha256_of(share->token);
    struct query q;
    context_query(c, &q, &SQL_SHARE_INSERT);
    share_bind(&q, share);
    query_bytes(&q, token_hash, (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error share_create(struct context *c, struct uuid thread_id, struct share *share)
{
    struct thread thread;
    if (share->permission == PERMISSION_NONE)
        share->permission = share->kind == SHARE_COPY ? PERMISSION_READ_WRITE : PERMISSION_READ;
    share->thread_id = thread_id;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(check_new(c, share));
    share->id = uuid_v7();
    share->created_by = c->principal;
    struct str token = share->token = make_token(c->arena, share->id);
    TRY(insert(c, share));
    TRY(audit_record(c, "share.created", "share", share->id, describe(c->arena, share)));
    TRY(share_get(c, thread_id, share->id, share));
    share->token = token;
    return OK;
}

/* --- Redeem --------------------------------------------------------------------------------- */

/* Finds the share of the token and locks its thread. The hash is compared before anything is
 * reported. */
static enum error recognize(struct context *c, struct str token, struct share *out_share)
{
    struct sha256 hash = sha256_of(token);
    struct str stored = STR_NONE;
    struct uuid id;
    bool found = false;
    if (parse_token(c->arena, token, &id)) {
        TRY(find(c, id, &found, out_share, &stored));
        if (found)
            TRY(context_lock_thread(c, out_share->thread_id));
        if (found)
            TRY(find(c, id, &found, out_share, &stored));
    }
    if (found && stored.len == SHA256_LEN && bytes_eq_secret(stored.ptr, hash.bytes, SHA256_LEN))
        return OK;
    return problem_set(c->problem, ERR_NOT_FOUND, "no share has this token");
}

static enum error check_usable(struct context *c, const struct share *share)
{
    if (share->is_revoked)
        return problem_set(c->problem, ERR_SHARE_REVOKED, "the share was revoked");
    if (share->has_expires_at && share->expires_at <= c->now_us)
        return problem_set(c->problem, ERR_SHARE_EXPIRED, "the share has expired");
    return OK;
}

/* Called before access is given. The lock of the thread makes the count exact. */
static enum error check_left(struct context *c, const struct share *share)
{
    if (!share->has_max_redemptions || share->redemptions < share->max_redemptions)
        return OK;
    return problem_set(c->problem, ERR_SHARE_USED_UP,
        "the share was redeemed %lld times, its maximum", (long long)share->max_redemptions);
}

static enum error note(struct context *c, const struct share *share, const struct redemption *r)
{
    struct query q;
    context_query(c, &q, &SQL_REDEMPTION_INSERT);
    query_uuid(&q, share_id, share->id);
    query_uuid(&q, id, uuid_v7());
    query_text(&q, principal, c->principal);
    query_uuid_if(&q, participant_id, r->has_participant_id, r->participant_id);
    query_text(&q, previous_permission, r->previous_permission);
    query_uuid_if(&q, copied_thread_id, r->has_copied_thread_id, r->copied_thread_id);
    query_bool(&q, active, r->has_participant_id);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_SHARE_COUNT_REDEMPTION);
    query_uuid(&q, id, share->id);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return audit_record(c, "share.redeemed", "share", share->id, describe(c->arena, share));
}

static enum error give_part(
    struct context *c, const struct share *share, struct str name, struct redeemed *out)
{
    struct participant p = {0};
    struct redemption r = {.has_participant_id = true};
    enum permission previous = PERMISSION_NONE;
    bool found = false;
    TRY(participant_find(c, share->thread_id, c->principal, &found, &p));
    bool has_it = found && p.active && p.permission >= share->permission;
    if (!has_it) {
        TRY(check_left(c, share));
        p = (struct participant){
            .principal = c->principal, .name = name, .permission = share->permission};
        TRY(participant_admit(c, share->thread_id, &p, &previous));
        r.participant_id = p.id;
        r.previous_permission = permission_word(previous);
        TRY(note(c, share, &r));
    }
    out->thread_id = share->thread_id;
    out->participant_id = p.id;
    out->permission = p.permission;
    out->changed = !has_it;
    return OK;
}

static enum error find_copy(
    struct context *c, const struct share *share, bool *out_found, struct redeemed *out)
{
    struct query q;
    context_query(c, &q, &SQL_REDEMPTION_COPY_OF);
    query_uuid(&q, share_id, share->id);
    query_text(&q, principal, c->principal);
    *out_found = query_next(&q);
    if (*out_found) {
        out->thread_id = row_uuid(&q);
        out->participant_id = row_uuid(&q);
        out->permission = row_enum(&q, participant_permissions);
    }
    return query_end(&q);
}

/* A principal that was removed from a thread gets no copy of it. */
static enum error check_not_removed(struct context *c, const struct share *share)
{
    struct participant p;
    bool found = false;
    TRY(participant_self(c, share->thread_id, &found, &p));
    if (found && p.barred && !p.active)
        return problem_set(c->problem, ERR_FORBIDDEN,
            "%.*s was removed from the thread: a share cannot give a copy of it",
            STR_ARG(c->principal));
    return OK;
}

/* The last slice checks everything again. If another request has given the principal a copy
 * meanwhile, the sweep deletes this one. */
static enum error give_copy(struct context *c, const struct share *share,
    struct thread_copying *copying, struct redeemed *out, bool *out_more)
{
    struct participant self;
    bool found = false;
    TRY(find_copy(c, share, &found, out));
    if (found)
        return OK;
    TRY(check_not_removed(c, share));
    TRY(check_left(c, share));
    TRY(thread_copy(c, share->thread_id, share->id, copying, out_more));
    if (*out_more)
        return OK;
    out->thread_id = copying->id;
    TRY(participant_self(c, out->thread_id, &found, &self));
    assert(found); /* the creator of a thread participates in it */
    const struct redemption r = {.previous_permission = STR_NONE,
        .has_copied_thread_id = true,
        .copied_thread_id = out->thread_id};
    out->participant_id = self.id;
    out->permission = self.permission;
    out->changed = true;
    return note(c, share, &r);
}

enum error share_redeem(struct context *c, struct str token, struct str name,
    struct thread_copying *copying, struct redeemed *out_redeemed, bool *out_more)
{
    struct share share;
    *out_more = false;
    if (str_is_none(c->principal))
        return problem_set(c->problem, ERR_CONFLICT,
            "redeeming a share requires a principal: use a key with a principal, or send "
            "Cairn-Principal");
    TRY(recognize(c, token, &share));
    TRY(check_usable(c, &share));
    *out_redeemed =
        (struct redeemed){.share_id = share.id, .kind = share.kind, .has_changed = true};
    return share.kind == SHARE_COPY ? give_copy(c, &share, copying, out_redeemed, out_more)
                                    : give_part(c, &share, name, out_redeemed);
}

/* --- Revoke --------------------------------------------------------------------------------- */

/* Returns the permission of the participant before any share, and the one that remains without this
 * share. */
static enum error weigh(struct context *c, const struct share *revoked, struct uuid participant_id,
    enum permission *out_before, enum permission *out_left)
{
    struct query q;
    enum permission before = PERMISSION_READ_WRITE, others = PERMISSION_NONE;
    context_query(c, &q, &SQL_REDEMPTION_OF_PARTICIPANT);
    query_uuid(&q, participant_id, participant_id);
    while (query_next(&q)) {
        bool own = uuid_eq(row_uuid(&q), revoked->id);
        enum permission previous = row_enum(&q, participant_permissions);
        enum permission given = row_enum(&q, participant_permissions);
        if (previous < before)
            before = previous;
        if (!own && given > others)
            others = given;
    }
    *out_before = before;
    *out_left = others > before ? others : before;
    return query_end(&q);
}

static enum error take_back(struct context *c, const struct share *share, struct uuid id)
{
    struct participant p;
    enum permission before, left;
    struct query q;
    TRY(weigh(c, share, id, &before, &left));
    context_query(c, &q, &SQL_REDEMPTION_SET_PREVIOUS);
    query_uuid(&q, participant_id, id);
    query_text(&q, previous_permission, permission_word(before));
    TRY(query_run(&q));
    TRY(participant_get(c, share->thread_id, id, &p));
    return participant_withdraw(c, &p, left);
}

static enum error list_given(
    struct context *c, const struct share *share, struct uuid *out_ids, size_t *out_count)
{
    struct query q;
    context_query(c, &q, &SQL_REDEMPTION_PARTICIPANTS);
    query_uuid(&q, share_id, share->id);
    *out_count = 0;
    while (*out_count < PARTICIPANTS_MAX && query_next(&q))
        out_ids[(*out_count)++] = row_uuid(&q);
    return query_end(&q);
}

static enum error end_redemptions(struct context *c, const struct share *share)
{
    struct query q;
    context_query(c, &q, &SQL_REDEMPTION_END);
    query_uuid(&q, share_id, share->id);
    return query_run(&q);
}

static enum error mark_revoked(struct context *c, const struct share *share)
{
    struct query q;
    context_query(c, &q, &SQL_SHARE_REVOKE);
    query_uuid(&q, id, share->id);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return audit_record(c, "share.revoked", "share", share->id, describe(c->arena, share));
}

enum error share_revoke(struct context *c, struct share *share)
{
    struct uuid *ids = ARENA_ARRAY(c->arena, struct uuid, PARTICIPANTS_MAX);
    size_t n = 0;
    TRY(context_check_match(c, share->version));
    if (share->is_revoked)
        return OK;
    TRY(list_given(c, share, ids, &n));
    for (size_t i = 0; i < n; i++)
        TRY(take_back(c, share, ids[i]));
    TRY(end_redemptions(c, share));
    TRY(mark_revoked(c, share));
    return share_get(c, share->thread_id, share->id, share);
}

enum error share_close_all_by(
    struct context *c, struct uuid thread_id, struct str principal, int64_t *out_closed)
{
    struct share *shares = ARENA_ARRAY(c->arena, struct share, SHARES_MAX);
    size_t n = 0;
    struct query q;
    context_query(c, &q, &SQL_SHARE_LIST_BY);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, created_by, principal);
    query_i64(&q, now, c->now_us);
    query_i64(&q, limit, SHARES_MAX);
    while (query_next(&q))
        share_read(&q, &shares[n++]);
    TRY(query_end(&q));
    for (size_t i = 0; i < n; i++)
        TRY(mark_revoked(c, &shares[i]));
    *out_closed = (int64_t)n;
    return OK;
}

enum error share_settle(struct context *c, struct uuid participant_id)
{
    struct query q;
    context_query(c, &q, &SQL_SHARE_SETTLE);
    query_uuid(&q, participant_id, participant_id);
    return query_run(&q);
}
