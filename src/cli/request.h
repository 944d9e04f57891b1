/* SPDX-License-Identifier: Apache-2.0 */
/* The request of a command, built from its route and the command line. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "cli/remote.h"

/* Puts arguments and options into the names of a path: "/v1/threads/{thread_id}". */
struct str request_path(struct cli *cli, const char *pattern);
/* Adds a parameter to a target. */
struct str request_with(struct cli *cli, struct str target, struct str name, struct str value);

/* Builds path, query, body and headers. Returns EXIT_SUCCESS, or reports the error. */
int request_build(struct cli *cli, struct remote_request *out_request);

/* Sends the request of a command that has no function of its own, and prints the answer. Asks
 * before a change if the command destroys something. Returns the exit code. */
int request_run(struct cli *cli);

/* Reads a JSON argument: the text itself, @FILE, or @- for stdin. */
int request_read_json(struct cli *cli, const char *option, struct str given, struct str *out_json);

/* Adds the header of an OPTION_MATCH option of that name if it was given. */
int request_read_match(
    struct cli *cli, const char *option, struct http_header *headers, size_t *n_headers);

#endif
