/* SPDX-License-Identifier: Apache-2.0 */
/* Which server a command asks, and with which key: flags, then the environment, then a profile. */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "cli/cli.h"

#define ENDPOINT_USUAL_URL "http://127.0.0.1:7420"

struct endpoint {
    struct str url; /* as it was given */
    bool is_named;  /* by a flag, a variable or a profile; else it is the usual one */
    bool tls;
    struct str host; /* without brackets */
    uint16_t port;
    struct str prefix;       /* of every path: "" or "/cairn" */
    struct str api_key;      /* STR_NONE: none */
    struct str api_key_file; /* where it lies, also when it cannot be read; STR_NONE: elsewhere */
    struct str ca_file;      /* STR_NONE: the system's */
};

/* EXIT_SUCCESS, or it has said what is wrong. */
int endpoint_choose(struct cli *cli, struct endpoint *out_endpoint);

/* NULL, or the rule that the URL breaks. */
const char *endpoint_parse_url(struct str url, struct endpoint *out_endpoint);

#endif
