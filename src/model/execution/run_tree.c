/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/run_tree.h"

#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"

static int by_generation(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return uuid_cmp(x->id, y->id);
}

enum error run_list_family(
    struct context *c, struct uuid id, struct run_array *out_family, bool *out_cut)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_LIST_FAMILY);
    query_uuid(&q, id, id);
    query_i64(&q, limit, RUN_FAMILY_MAX + 1);
    TRY(run_read_all(&q, out_family));
    *out_cut = out_family->count > RUN_FAMILY_MAX;
    if (*out_cut)
        out_family->count = RUN_FAMILY_MAX;
    qsort(out_family->runs, out_family->count, sizeof *out_family->runs, by_generation);
    return out_family->count == 0 ? context_not_found(c, "run", id) : OK;
}
