/* SPDX-License-Identifier: Apache-2.0 */
/* The server of a command and its key, from flags, the environment or a profile, in this order. */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include "cli/cli.h"

#define ENDPOINT_USUAL_URL "http://127.0.0.1:7420"

struct endpoint {
    struct str url; /* as it was given */
    bool is_named;  /* set by a flag, a variable or a profile; otherwise it is the default */
    bool tls;
    struct str host; /* without brackets */
    uint16_t port;
    struct str prefix;       /* of every path: "" or "/cairn" */
    struct str api_key;      /* STR_NONE: none */
    struct str api_key_file; /* the file of the key, even if it cannot be read; STR_NONE: the key is
                                not in a file */
    struct str ca_file;      /* STR_NONE: the system's */
};

/* Returns EXIT_SUCCESS, or reports the error. */
int endpoint_choose(struct cli *cli, struct endpoint *out_endpoint);

/* Returns NULL, or the rule that the URL violates. */
const char *endpoint_parse_url(struct str url, struct endpoint *out_endpoint);

#endif
