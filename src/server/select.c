/* SPDX-License-Identifier: Apache-2.0 */
#include "server/select.h"

#include "model/checkpoints/snapshots.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"

static enum error read_document(struct tx *tx, struct arena *arena, struct uuid tenant_id,
    struct uuid id, bool whole, struct str *out_document)
{
    struct problem problem = PROBLEM_INIT(arena);
    struct context c;
    context_init(&c, arena, &problem, tx);
    context_enter(&c, tenant_id);
    return whole ? snapshot_get(&c, id, out_document)
                 : snapshot_get_member(&c, id, STR("messages"), out_document);
}

enum error server_select(
    const struct server_config *config, struct select *select, struct problem *problem)
{
    const struct store_config store = {
        .engine = str_is_none(config->db_url) ? ENGINE_SQLITE : ENGINE_POSTGRES,
        .data_dir = config->data_dir,
        .url = config->db_url,
        .replica_url = STR_NONE,
        .schema = config->db_schema,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
    };
    select->document = read_document;
    return store_select(&store, select, problem);
}
