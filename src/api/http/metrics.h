/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the API for /metrics, in the text format of Prometheus. Thread-safe. */
#ifndef API_HTTP_METRICS_H
#define API_HTTP_METRICS_H

#include "api/http/call.h"

struct api_metrics;

/* A source of metrics besides the counters of the API. */
struct metrics_source {
    void *data;
    void (*write)(struct buf *out, void *data);
};

struct api_metrics *metrics_create(void);
void metrics_destroy(struct api_metrics *m);
/* Call before the first request. */
void metrics_add_source(struct api_metrics *m, struct metrics_source source);
void metrics_count(struct api_metrics *m, const struct route *route, int status);
void metrics_write(struct api_metrics *m, struct buf *out);

/* Writes one metric with one value, and its HELP and TYPE lines. */
void metrics_write_one(
    struct buf *out, const char *name, const char *type, const char *help, double value);

#endif
