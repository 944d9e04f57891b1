/* SPDX-License-Identifier: Apache-2.0 */
/* A request made of a command's row and of what was given on the command line. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "cli/remote.h"

/* Puts the arguments into the names of a path: "/v1/threads/{THREAD}". */
struct str request_path(struct cli *cli, const char *pattern);
/* Adds a parameter to a target. */
struct str request_with(struct cli *cli, struct str target, struct str name, struct str value);

/* Path, query, body and headers. EXIT_SUCCESS, or it has said what is wrong. */
int request_build(struct cli *cli, struct remote_request *out_request);

/* The text of a JSON argument: itself, @FILE or @- for stdin. */
int request_read_json(struct cli *cli, const char *option, struct str given, struct str *out_json);

/* The header of a GOES_MATCH option of that name, when it was given. */
int request_read_match(
    struct cli *cli, const char *option, struct http_header *headers, size_t *n_headers);

#endif
