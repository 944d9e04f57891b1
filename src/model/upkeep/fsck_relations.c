/* SPDX-License-Identifier: Apache-2.0 */
/* Rules between the rows of files, states, messages, participants, shares, storage, attempts
 * and steps, and the existence of content. */
#include "model/upkeep/fsck_relations.sql.h"
#include "model/upkeep/fsck_walk.h"
#include "store/content_copy.h"

enum { BLOBS_A_PAGE = 200 };

static const struct {
    const char *rule;
    const char *object;
    const struct sql_statement *statement;
    const char *before; /* the text before and after the number */
    const char *after;
    bool is_slow;
} RULES[] = {
    {"events-indexed", "thread", &SQL_FSCK_EVENT_INDEX, "the index of events is wrong at event", "",
        true},
    {"file-content", "file", &SQL_FSCK_FILE_VERSIONS, "the content of version",
        " is unknown or has another size", false},
    {"file-versions", "file", &SQL_FSCK_FILE_HEADS, "version",
        ", the current one, is missing or is not the newest", false},
    {"state-versions", "state", &SQL_FSCK_STATE_HEADS, "version",
        " must exist unless the document was deleted", false},
    {"state-versions", "state", &SQL_FSCK_STATE_VERSIONS, "version", " is newer than the document",
        false},
    {"message-seq", "message", &SQL_FSCK_MESSAGE_SEQS, "the seq",
        " is not in the log of the thread", false},
    {"message-versions", "message", &SQL_FSCK_MESSAGE_VERSIONS, "version",
        " in the history is not older than the message", false},
    {"message-sender", "message", &SQL_FSCK_MESSAGE_SENDERS, "the sender of message",
        " was never a participant of the thread", false},
    {"participant", "participant", &SQL_FSCK_PARTICIPANTS,
        "the role or permission is unknown (version", ")", false},
    {"share-redemptions", "share", &SQL_FSCK_SHARE_COUNTS, "the object counts",
        " redemptions, but has another number", false},
    {"share", "share", &SQL_FSCK_SHARES,
        "the kind or permission is unknown, or the hash of the token is not a SHA-256 (version",
        ")", false},
    {"storage", "agent", &SQL_FSCK_STORAGE,
        "a key of the storage must have one value of the recorded size (version", ")", false},
    {"store", "tenant", &SQL_FSCK_STORE,
        "an item of the store must have a namespace and the recorded size (version", ")", true},
    {"store", "tenant", &SQL_FSCK_STORE_VECTORS,
        "a vector of the store must have the recorded number of elements (", ")", false},
    {"step-numbers", "run", &SQL_FSCK_STEP_NUMBERS, "the object counts",
        " steps, but does not have all of them", false},
    {"step-lifecycle", "run", &SQL_FSCK_STEP_LIFECYCLE, "Cairn's step",
        " does not agree with the status of the run", false},
    {"step-messages", "run", &SQL_FSCK_STEP_MESSAGES, "the messages of step", " are missing",
        false},
    {"run-attempts", "run", &SQL_FSCK_RUN_ATTEMPTS, "the object counts",
        " attempts, but its attempts or their outcomes differ", false},
    {"json", "object", &SQL_FSCK_DOCUMENTS, "a document of the object is not valid JSON (", ")",
        true},
};

static enum error fsck_rule(struct fsck_walk *w, size_t rule)
{
    struct query q;
    fsck_begin(w, &q, RULES[rule].statement);
    query_i64(&q, limit, FSCK_MAX_FINDINGS);
    while (query_next(&q)) {
        struct str object = fsck_object(w, RULES[rule].object, row_uuid(&q));
        long long number = row_i64(&q);
        fsck_found(w->fsck, RULES[rule].rule, object, "%s %lld%s", RULES[rule].before, number,
            RULES[rule].after);
    }
    return query_end(&q);
}

/* Some rules are about tables that only one engine has. */
static bool applies(const struct fsck_walk *w, size_t rule)
{
    return RULES[rule].statement->text[tx_engine(w->c->tx)] != NULL &&
           !(RULES[rule].is_slow && w->fsck->quick);
}

enum error fsck_relations(struct fsck_walk *w)
{
    struct arena page;
    enum error e = OK;
    arena_init(&page, SIZE_MAX);
    w->page = &page;
    for (size_t i = 0; e == OK && i < COUNT_OF(RULES); i++) {
        if (!applies(w, i))
            continue;
        e = fsck_step(w, "checking the relations between rows", i, COUNT_OF(RULES));
        if (e == OK)
            e = fsck_rule(w, i);
    }
    w->page = NULL;
    arena_deinit(&page);
    return e;
}

/* --- Content -------------------------------------------------------------------------------- */

static bool read_blob(struct fsck_walk *w, struct query *q, struct content_name *out)
{
    out->tenant_id = w->after_tenant = row_uuid(q);
    out->id = w->after_id = row_uuid(q);
    struct str sha256 = row_bytes(q);
    int64_t size = row_i64(q);
    if (sha256.len != SHA256_LEN || size < 0) {
        fsck_found(w->fsck, "content", fsck_object(w, "content", out->id),
            "the hash is not a SHA-256, or the size is negative");
        return false;
    }
    memcpy(out->sha256.bytes, sha256.ptr, SHA256_LEN);
    out->size_bytes = (uint64_t)size;
    return true;
}

enum error fsck_read_blobs(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct content_name *names = ARENA_ARRAY(w->page, struct content_name, BLOBS_A_PAGE);
    size_t n = 0;
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_BLOBS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, BLOBS_A_PAGE);
    for (; query_next(&q); ++*out_rows)
        n += read_blob(w, &q, &names[n]);
    TRY(query_end(&q));
    for (size_t i = 0; i < n; i++) {
        const char *wrong = NULL;
        TRY(fsck_content(w->fsck, w->c->tx, &names[i], w->c->problem, &wrong));
        if (wrong != NULL)
            fsck_found(w->fsck, "content", fsck_object(w, "content", names[i].id), "%s", wrong);
    }
    *out_more = *out_rows == BLOBS_A_PAGE;
    return OK;
}
