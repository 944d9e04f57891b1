/* SPDX-License-Identifier: Apache-2.0 */
#include "model/files/blobs.h"

#include "model/files/blobs.sql.h"

const struct content_statements blob_content_statements = {
    .put = &SQL_BLOB_CHUNK_PUT,
    .read = &SQL_BLOB_CHUNK_READ,
    .size = &SQL_BLOB_CHUNK_SIZE,
    .cut = &SQL_BLOB_CHUNK_CUT,
    .discard = &SQL_BLOB_DISCARD,
    .orphans = &SQL_BLOB_ORPHANS,
    .discarded = &SQL_BLOB_DISCARDED,
    .forget = &SQL_BLOB_FORGET,
};

static struct str bytes_of(const struct sha256 *sha256)
{
    return (struct str){(const char *)sha256->bytes, SHA256_LEN};
}

static void read_blob(struct query *q, const struct sha256 *sha256, struct blob *out)
{
    out->sha256 = *sha256;
    out->id = row_uuid(q);
    out->size_bytes = row_i64(q);
    out->created_at = row_i64(q);
}

enum error blob_find(struct context *c, const struct sha256 *sha256, struct blob *out_blob)
{
    struct query q;
    bool found = false;
    context_query(c, &q, &SQL_BLOB_FIND);
    query_bytes(&q, sha256, bytes_of(sha256));
    while (query_next(&q)) {
        read_blob(&q, sha256, out_blob);
        found = true;
    }
    TRY(query_end(&q));
    return !found ? problem_set(c->problem, ERR_NOT_FOUND, "the content does not exist") : OK;
}

/* Content that the tenant already has is stored once. */
static enum error check_quota(struct context *c, const struct blob *uploaded)
{
    struct blob stored;
    if (!c->quotas.has_max_bytes)
        return OK;
    enum error e = blob_find(c, &uploaded->sha256, &stored);
    if (e != ERR_NOT_FOUND)
        return e;
    problem_init(c->problem, c->arena);
    return quota_check_bytes(c, uploaded->size_bytes);
}

enum error blob_adopt(struct context *c, const struct blob *uploaded, struct blob *out_stored)
{
    struct query q;
    TRY(check_quota(c, uploaded));
    context_query(c, &q, &SQL_BLOB_INSERT);
    query_bytes(&q, sha256, bytes_of(&uploaded->sha256));
    query_uuid(&q, id, uploaded->id);
    query_i64(&q, size_bytes, uploaded->size_bytes);
    query_i64(&q, now, c->now_us);
    while (query_next(&q))
        read_blob(&q, &uploaded->sha256, out_stored);
    TRY(query_end(&q));
    if (uuid_eq(out_stored->id, uploaded->id))
        c->adopted_blob = uploaded->id;
    return OK;
}

enum error blob_mend(
    struct context *c, struct store *store, const struct blob *uploaded, struct blob *stored)
{
    struct content_reader *reader = NULL;
    struct query q;
    if (uuid_eq(stored->id, uploaded->id) || content_is_in_database(store))
        return OK;
    enum error e =
        content_open(store, c->tenant_id, stored->id, (uint64_t)stored->size_bytes, &reader);
    content_close(reader);
    if (e != ERR_DAMAGED)
        return OK; /* the content exists, or its existence cannot be determined now */
    tx_note_damage(c->tx);
    context_query(c, &q, &SQL_BLOB_MEND);
    query_bytes(&q, sha256, bytes_of(&uploaded->sha256));
    query_uuid(&q, id, uploaded->id);
    stored->id = c->adopted_blob = uploaded->id;
    return query_run(&q);
}

/* --- Small ones, whole ------------------------------------------------------------------------ */

static enum error read_rows(struct context *c, const struct blob *blob, char *place)
{
    struct query q;
    size_t size = (size_t)blob->size_bytes, got = 0;
    context_query(c, &q, &SQL_BLOB_CHUNK_ALL);
    query_uuid(&q, blob_id, blob->id);
    while (query_next(&q)) {
        struct str bytes = row_bytes(&q);
        if (bytes.len > 0 && bytes.len <= size - got)
            memcpy(place + got, bytes.ptr, bytes.len);
        got += bytes.len;
        if (got > size)
            break;
    }
    TRY(query_end(&q));
    return got != size ? ERR_DAMAGED : OK;
}

static enum error read_file(
    struct context *c, struct store *store, const struct blob *blob, char *place)
{
    struct content_reader *reader = NULL;
    size_t size = (size_t)blob->size_bytes, got = 0, some = 1;
    enum error e = content_open(store, c->tenant_id, blob->id, size, &reader);
    for (; e == OK && got < size && some > 0; got += some)
        e = content_read(reader, got, place + got, size - got, &some);
    content_close(reader);
    return e == OK && got != size ? ERR_DAMAGED : e;
}

enum error blob_read(
    struct context *c, struct store *store, const struct blob *blob, struct str *out_bytes)
{
    char *place = arena_alloc(c->arena, (size_t)blob->size_bytes + 1);
    struct str bytes = {place, (size_t)blob->size_bytes};
    enum error e = content_is_in_database(store) ? read_rows(c, blob, place)
                                                 : read_file(c, store, blob, place);
    struct sha256 hash = sha256_of(bytes.len > 0 && e == OK ? bytes : STR(""));
    if (e == OK && memcmp(&hash, &blob->sha256, sizeof hash) != 0)
        e = ERR_DAMAGED;
    if (e == ERR_DAMAGED) {
        tx_note_damage(c->tx);
        return problem_set(c->problem, e, "the stored content is damaged: its SHA-256 differs");
    }
    *out_bytes = bytes;
    return e;
}

enum error blob_is_known(struct context *c, struct uuid tenant_id, struct uuid id, bool *out_known)
{
    struct query q;
    int64_t found;
    context_enter(c, tenant_id);
    context_query(c, &q, &SQL_BLOB_IS_KNOWN);
    query_uuid(&q, id, id);
    TRY(context_number(&q, &found));
    *out_known = found > 0;
    return OK;
}
