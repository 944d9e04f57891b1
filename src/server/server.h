/* SPDX-License-Identifier: Apache-2.0 */
/* The server process: store, API, listener and sweeps, from the configuration to the signal that
 * ends it. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "base/log.h"
#include "base/str.h"

enum { SERVER_MAX_NAMES = 32 };

struct server_config {
    struct str listen_host;
    uint16_t listen_port;
    struct str data_dir; /* for SQLite; used when there is no db_url */
    struct str db_url; /* PostgreSQL: postgres://… or postgresql://…; may contain a password */
    struct str db_replica_url;
    struct str db_schema;
    struct str files_dir;      /* for file contents, with a db_url; STR_NONE: in the database */
    uint64_t upload_max_bytes; /* the largest body of an upload */
    unsigned db_writers;
    unsigned loops;
    unsigned readers;
    struct str tls_certificate;
    struct str tls_key;
    struct str allow_hosts[SERVER_MAX_NAMES];
    size_t n_allow_hosts;
    struct str allow_origins[SERVER_MAX_NAMES];
    size_t n_allow_origins;
    size_t max_connections;
    /* Of one address; 0: no limits for addresses. Unless it is set, a quarter of max_connections,
     * and loopback addresses have no limits. */
    size_t max_per_address;
    bool has_max_per_address;
    size_t body_memory_bytes; /* of all bodies that are read whole */
    uint32_t drain_ms;
    enum log_level log_level;
};

void server_config_init(struct server_config *config); /* the documented defaults */

/* Serves until SIGTERM or SIGINT, then drains. Returns the exit code of the process. */
int server_run(const struct server_config *config);

#endif
