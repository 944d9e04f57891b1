/* SPDX-License-Identifier: Apache-2.0 */
/* A run with its descendants. */
#ifndef MODEL_EXECUTION_RUN_TREE_H
#define MODEL_EXECUTION_RUN_TREE_H

#include "model/execution/runs.h"

enum { RUN_FAMILY_MAX = 1000 };

/* Lists the run and its descendants, generation by generation and oldest first within each, without
 * documents, metadata and error. out_cut: there are more than RUN_FAMILY_MAX. */
MUST_CHECK enum error run_list_family(
    struct context *c, struct uuid id, struct run_array *out_family, bool *out_cut);

#endif
