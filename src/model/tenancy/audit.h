/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log: administrative, security-relevant and destructive actions, one chain for each
 * tenant. The hash of a record is SHA-256 over the previous hash and the record, so a changed,
 * removed or inserted record is detected. Removed records at the end are detected by comparing with
 * an earlier head.
 */
#ifndef MODEL_TENANCY_AUDIT_H
#define MODEL_TENANCY_AUDIT_H

#include "base/hash.h"
#include "model/context.h"

/* Every action; audit_record asserts that an action is one of them. tests/api/audit.test.mjs causes
 * each and reads its record. */
/* clang-format off */
#define AUDIT_ACTIONS(X)                                                                  \
    X("agent.activated") X("agent.configured") X("agent.created") X("agent.deleted")      \
    X("agent.disabled") X("agent.enabled") X("agent.granted") X("agent.renamed")          \
    X("agent.rolled_back") X("archive.imported") X("checkpoints.pruned")                  \
    X("eval.deleted") X("events.pruned") X("key.created") X("key.refused")                \
    X("key.revoked") X("notebook.deleted") X("participant.permission")                    \
    X("price.deleted") X("price.set") X("principal.refused") X("scope.refused")           \
    X("share.created") X("share.redeemed") X("share.revoked") X("tenant.created")         \
    X("tenant.deleted") X("tenant.renamed") X("tenant.updated") X("thread.deleted")
/* clang-format on */

struct audit_record {
    int64_t seq;
    int64_t at;
    struct str actor; /* "key:<id>", "open" or "system"; "key:<id> for user:alice" */
    struct str action;
    struct str object_type;
    struct str object_id;
    struct str request_id;
    struct str detail; /* compact JSON */
    struct str hash;   /* hexadecimal */
};

/* Appends a record to the chain of the context's tenant. `detail` is compact JSON; STR_NONE: {}. */
MUST_CHECK enum error audit_record(struct context *c, const char *action, const char *object_type,
    struct uuid object_id, struct str detail);

struct audit_filter {
    bool has_before;
    int64_t before;
    struct str action;
    struct str object_id;
};
/* Newest first. The hash of every record is checked: ERR_DAMAGED if one does not match. */
MUST_CHECK enum error audit_list(struct context *c, const struct audit_filter *filter,
    struct page *page, struct audit_record *out_records);

struct audit_verdict {
    int64_t records; /* checked records */
    bool intact;
    int64_t first_broken; /* a seq, if not intact */
    struct str head;      /* hash of the last record, hexadecimal */
};
/* Recomputes the tenant's whole chain. */
MUST_CHECK enum error audit_verify(struct context *c, struct audit_verdict *out_verdict);

#endif
