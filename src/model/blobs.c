#include "model/blobs.h"

#include "model/statements.h"

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
    query_bytes(&q, "sha256", bytes_of(sha256));
    while (query_next(&q)) {
        read_blob(&q, sha256, out_blob);
        found = true;
    }
    enum error e = query_end(&q);
    return e == OK && !found ? problem_set(c->problem, ERR_NOT_FOUND, "there is no such content")
                             : e;
}

enum error blob_adopt(struct context *c, const struct blob *uploaded, struct blob *out_stored)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_INSERT);
    query_bytes(&q, "sha256", bytes_of(&uploaded->sha256));
    query_uuid(&q, "id", uploaded->id);
    query_i64(&q, "size_bytes", uploaded->size_bytes);
    query_i64(&q, "now", c->now_us);
    while (query_next(&q))
        read_blob(&q, &uploaded->sha256, out_stored);
    enum error e = query_end(&q);
    if (e == OK && uuid_eq(out_stored->id, uploaded->id))
        c->adopted_blob = uploaded->id;
    return e;
}

enum error blob_is_known(struct context *c, struct uuid tenant_id, struct uuid id, bool *out_known)
{
    struct query q;
    int64_t found;
    context_enter(c, tenant_id);
    context_query(c, &q, &SQL_BLOB_IS_KNOWN);
    query_uuid(&q, "id", id);
    enum error e = context_number(&q, &found);
    *out_known = found > 0;
    return e;
}
