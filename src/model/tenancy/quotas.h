/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quotas of a tenant. The operator sets them; a quota without a value is not limited. They are
 * read in each transaction together with the key, so a change applies to the next request. Only
 * requests with a key have quotas: Cairn's own work is neither counted nor rejected. Requests that
 * free space or protect work (route.on_full) are counted, but not rejected. A quota that is not set
 * costs no statement. On a shared store the tenant's row is the lock of these decisions. Triggers
 * keep the counters of threads and bytes (0020_usage_counters.sql) while the tenant has these
 * quotas; a tenant without a counter is counted when the number is needed.
 */
#ifndef MODEL_TENANCY_QUOTAS_H
#define MODEL_TENANCY_QUOTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uuid.h"

#define QUOTA_MAX (INT64_C(1) << 53) /* the greatest whole number that every JSON reader keeps */

/* Columns of the table tenants. */
struct quota_limits {
    bool has_max_bytes;
    int64_t max_bytes;
    bool has_max_threads;
    int64_t max_threads;
    bool has_max_events_per_day;
    int64_t max_events_per_day;
    bool has_max_streams;
    int64_t max_streams;
    bool has_max_connections;
    int64_t max_connections;
    bool has_max_requests_per_second;
    int64_t max_requests_per_second;
    bool has_max_concurrent_runs;
    int64_t max_concurrent_runs;
};

/* The usage of a tenant; on `day` (days since 1970, UTC) it has appended `events`. */
struct quota_usage {
    int64_t bytes;
    int64_t threads;
    int64_t running;
    int64_t day;
    int64_t events;
};

struct context;
MUST_CHECK enum error quota_usage_get(struct context *c, struct quota_usage *out_usage);
/* Returns the day of the context's time, and the time at which the next day begins. */
int64_t quota_day(const struct context *c, int64_t *out_ends_at);

/* Starts the counters of the tenant's threads and bytes, each if it has a limit, and ends the
 * others. The context sees all tenants. */
MUST_CHECK enum error quota_count_stored(struct context *c, struct uuid tenant_id);
/* The same for all tenants that have a limit and no counter: a node of an older version has set it,
 * or the database was moved to another engine. */
MUST_CHECK enum error quota_count_missing(struct context *c);

/* ERR_QUOTA_STORED if the tenant has as many threads as it may have. */
MUST_CHECK enum error quota_check_threads(struct context *c);
/* For an import: before its first thread is inserted, and with 0 after the last one. */
MUST_CHECK enum error quota_check_imported(struct context *c, int64_t more_threads);
/* ERR_QUOTA_STORED if the content of files would exceed its limit with so many more bytes. */
MUST_CHECK enum error quota_check_bytes(struct context *c, int64_t more_bytes);
/* Counts events that are about to be appended to the thread. ERR_QUOTA: too many today. */
MUST_CHECK enum error quota_count_events(struct context *c, struct uuid thread_id, size_t n);
/* out_room is false if as many runs are running as may run. */
MUST_CHECK enum error quota_has_room_for_run(struct context *c, bool *out_room);
/* The same as an error: ERR_QUOTA. */
MUST_CHECK enum error quota_check_runs(struct context *c);
/* The error that names the quota, its limit and its usage. */
enum error quota_refuse(
    struct context *c, enum error code, const char *quota, int64_t limit, int64_t used);

#endif
