/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the statements that the model gives to the store: those of sequences
 * (store/store.h) and of content in PostgreSQL (store/content.h). tools/verify_sql.py compares the
 * lists of parameters there with the statements.
 */
#ifndef STORE_PARAMS_H
#define STORE_PARAMS_H

#define PARAM_UUID_before_id "before_id"
#define PARAM_UUID_blob_id "blob_id"
#define PARAM_UUID_key "key"
#define PARAM_UUID_tenant_id "tenant_id"
#define PARAM_I64_count "count"
#define PARAM_I64_from "from"
#define PARAM_I64_limit "limit"
#define PARAM_I64_n "n"
#define PARAM_I64_removed_at "removed_at"
#define PARAM_I64_removed_before "removed_before"
#define PARAM_BYTES_bytes "bytes"

#endif
