/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/tenancy/audit.h"

#define AUDIT_FIELD(member) offsetof(struct audit_record, member)

static const struct field audit_fields[] = {
    {.name = "seq", .kind = FIELD_INT, .offset = AUDIT_FIELD(seq)},
    {.name = "at", .kind = FIELD_TIME, .offset = AUDIT_FIELD(at)},
    {.name = "actor", .kind = FIELD_STRING, .offset = AUDIT_FIELD(actor)},
    {.name = "action", .kind = FIELD_STRING, .offset = AUDIT_FIELD(action)},
    {.name = "object_type", .kind = FIELD_STRING, .offset = AUDIT_FIELD(object_type)},
    {.name = "object_id", .kind = FIELD_STRING, .offset = AUDIT_FIELD(object_id)},
    {.name = "request_id", .kind = FIELD_STRING, .offset = AUDIT_FIELD(request_id)},
    {.name = "detail", .kind = FIELD_JSON, .offset = AUDIT_FIELD(detail)},
    {.name = "hash",
        .kind = FIELD_STRING,
        .offset = AUDIT_FIELD(hash),
        .summary = "SHA-256 over the hash before it and this record"},
};
const struct schema schema_audit_record = {
    "AuditRecord", audit_fields, COUNT_OF(audit_fields), sizeof(struct audit_record), 0};

struct verdict_answer {
    struct audit_verdict verdict;
    bool is_broken;
};
static const struct field verdict_fields[] = {
    {.name = "intact",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct verdict_answer, verdict.intact)},
    {.name = "records",
        .kind = FIELD_INT,
        .offset = offsetof(struct verdict_answer, verdict.records),
        .summary = "that were found good, from the first on"},
    {.name = "first_broken",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = offsetof(struct verdict_answer, verdict.first_broken),
        .has_offset = offsetof(struct verdict_answer, is_broken)},
    {.name = "head",
        .kind = FIELD_STRING,
        .offset = offsetof(struct verdict_answer, verdict.head),
        .summary = "hash of the last good record: note it elsewhere to find a cut tail"},
};
const struct schema schema_audit_verdict = {
    "AuditVerdict", verdict_fields, COUNT_OF(verdict_fields), sizeof(struct verdict_answer), 0};

struct audit_query {
    struct page_query page;
    struct str action;
    bool has_object_id;
    struct uuid object_id;
};
static const struct field audit_query_fields[] = {
    PAGE_FIELDS(struct audit_query),
    {.name = "action",
        .kind = FIELD_STRING,
        .offset = offsetof(struct audit_query, action),
        .max = 100},
    {.name = "object_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct audit_query, object_id),
        .has_offset = offsetof(struct audit_query, has_object_id)},
};
const struct schema query_audit = {
    "AuditQuery", audit_query_fields, COUNT_OF(audit_query_fields), sizeof(struct audit_query), 0};

static struct str cursor_of(struct arena *arena, const void *item)
{
    return arena_printf(arena, "%lld", (long long)((const struct audit_record *)item)->seq);
}

static enum error read_filter(
    struct call *call, const struct audit_query *q, struct audit_filter *out)
{
    *out = (struct audit_filter){.action = q->action, .object_id = STR_NONE};
    if (q->has_object_id) {
        char *text = arena_alloc(call->arena, UUID_TEXT_LEN);
        uuid_format(q->object_id, text);
        out->object_id = (struct str){text, UUID_TEXT_LEN};
    }
    if (str_is_none(q->page.cursor))
        return OK;
    out->has_before = true;
    if (str_to_i64(q->page.cursor, &out->before) && out->before > 0)
        return OK;
    problem_fault(&call->problem, STR("cursor"), "must be a next_cursor of this list");
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

enum error handle_audit_list(struct call *call, struct context *c)
{
    const struct audit_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct audit_record *records = ARENA_ARRAY(call->arena, struct audit_record, limit);
    bool more;
    struct audit_filter filter;
    enum error e = read_filter(call, q, &filter);
    if (e == OK)
        e = audit_list(c, &filter, limit, records, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_audit_record, records, count, more, cursor_of);
    return e;
}

enum error handle_audit_verify(struct call *call, struct context *c)
{
    struct verdict_answer answer = {0};
    enum error e = audit_verify(c, &answer.verdict);
    answer.is_broken = !answer.verdict.intact;
    if (e == OK)
        call_answer(call, &schema_audit_verdict, &answer, 0);
    return e;
}
