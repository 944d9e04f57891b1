/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fsck.h"

#include "model/files/blobs.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"
#include "model/upkeep/fsck.h"

static void on_fatal(const char *what)
{
    /* The job that met it fails, and the check with it. */
}

enum error server_fsck(
    const struct server_config *config, struct fsck *fsck, struct problem *problem)
{
    const struct store_config store = {
        .engine = str_is_none(config->db_url) ? ENGINE_SQLITE : ENGINE_POSTGRES,
        .data_dir = config->data_dir,
        .url = config->db_url,
        .replica_url = STR_NONE,
        .schema = config->db_schema,
        .files_dir = config->files_dir,
        .content_statements = &blob_content_statements,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
        .on_fatal = on_fatal,
    };
    return store_fsck(&store, model_fsck, fsck, problem);
}
