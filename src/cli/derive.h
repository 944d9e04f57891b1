/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes the row of a command from its route:
 *
 *   arguments   the parameters of the path
 *   options     the members of the body and the query, --if-match of a route with versions, --fence
 *               of a worker's write, --metadata of a filter; kinds, choices and required members as
 *               the schemas say. The options of the row come first and override these.
 *   columns     the members of the answer
 *   summary     the summaries of the route and of its fields
 *   flags       a list is paged, a DELETE destroys
 *
 * A parameter of the path that is not given is dropped with the segment before it, so that
 * "/v1/runs/{run_id}/steps" stands for "/v1/steps", too.
 */
#ifndef CLI_DERIVE_H
#define CLI_DERIVE_H

#include "cli/cli.h"

/* Returns the complete command, in the arena. A row that names an unknown route aborts. */
const struct command *command_complete(struct arena *arena, const struct command *row);

/* Returns the route of a row, or NULL if it has none or the table does not. */
const struct route *command_route(const struct command *row);
/* Returns NULL if there is no such route. The path is a pattern. */
const struct route *route_of_path(struct str method, struct str path);

/* Returns the route that shows the object of a command that destroys: the nearest GET up its path,
 * unless the row names another. */
const struct route *command_look(const struct command *complete);

/* Returns true if an argument is this member of the query or the body. */
bool command_binds(const struct command *complete, size_t argument, struct str member);

/* The columns of an answer; `names` as in struct command, NULL: all members. */
const struct cli_column *derive_columns(struct arena *arena, const struct route *route,
    bool is_list, const char *names, size_t *out_count);

/* Puts values into the names of a path. A name whose value is STR_NONE is dropped with the segment
 * before it. */
struct path_values {
    struct str (*get)(const struct path_values *values, struct str name);
};
struct str derive_path(struct arena *arena, struct str pattern, const struct path_values *values);

#endif
