/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/tenancy/audit.h"

#define OF struct audit_record
static const struct field audit_fields[] = {
    FIELD(INT, seq, IN_READ),
    FIELD(TIME, at, IN_READ),
    FIELD(STRING, actor, IN_READ),
    FIELD(STRING, action, IN_READ),
    FIELD(STRING, object_type, IN_READ),
    FIELD(STRING, object_id, IN_READ),
    FIELD(STRING, request_id, IN_READ),
    FIELD(JSON, detail, IN_READ),
    FIELD(STRING, hash, IN_READ, "SHA-256 of the previous hash and this record"),
};
#undef OF
const struct schema schema_audit_record =
    SCHEMA("AuditRecord", struct audit_record, audit_fields, IN_READ);

struct verdict_answer {
    struct audit_verdict verdict;
    bool is_broken;
};
#define OF struct verdict_answer
static const struct field verdict_fields[] = {
    FIELD_OF(verdict, BOOL, intact, IN_READ),
    FIELD_OF(verdict, INT, records, IN_READ, "number of valid records from the first one"),
    FIELD_HAS(INT_OR_NULL, "first_broken", verdict.first_broken, is_broken, IN_READ),
    FIELD_OF(verdict, STRING, head, IN_READ,
        "hash of the last valid record; store a copy elsewhere to detect truncation"),
};
#undef OF
const struct schema schema_audit_verdict =
    SCHEMA("AuditVerdict", struct verdict_answer, verdict_fields, IN_READ);

struct audit_query {
    struct page_query page;
    struct str action;
    bool has_object_id;
    struct uuid object_id;
};
#define OF struct audit_query
static const struct field audit_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, action, IN_QUERY, .max = 100),
    FIELD(UUID_OR_NONE, object_id, IN_QUERY),
};
#undef OF
const struct schema query_audit =
    SCHEMA("AuditQuery", struct audit_query, audit_query_fields, IN_QUERY);

static enum error read_filter(
    struct call *call, const struct audit_query *q, struct audit_filter *out)
{
    *out = (struct audit_filter){.action = q->action, .object_id = STR_NONE};
    if (q->has_object_id) {
        char *text = arena_alloc(call->arena, UUID_TEXT_LEN);
        uuid_format(q->object_id, text);
        out->object_id = (struct str){text, UUID_TEXT_LEN};
    }
    enum error e = cursor_to_number(call, q->page.cursor, &out->before);
    out->has_before = e == OK && out->before > 0;
    return e;
}

enum error handle_audit_list(struct call *call, struct context *c)
{
    const struct audit_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct audit_record *records = ARENA_ARRAY(call->arena, struct audit_record, page.limit);
    struct audit_filter filter;
    TRY(read_filter(call, q, &filter));
    TRY(audit_list(c, &filter, &page, records));
    return call_answer_page(
        call, &schema_audit_record, records, &page, CURSOR_BY(struct audit_record, seq));
}

enum error handle_audit_verify(struct call *call, struct context *c)
{
    struct verdict_answer answer = {0};
    TRY(audit_verify(c, &answer.verdict));
    answer.is_broken = !answer.verdict.intact;
    return call_answer(call, &schema_audit_verdict, &answer, 0);
}
