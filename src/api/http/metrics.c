/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/metrics.h"

#include <stdatomic.h>

#include "base/alloc.h"

enum { MAX_ROUTES = 256, MAX_SOURCES = 4, STATUS_CLASSES = 6 };

struct api_metrics {
    atomic_ullong answers[MAX_ROUTES][STATUS_CLASSES];
    struct metrics_source sources[MAX_SOURCES];
    size_t n_sources;
};

struct api_metrics *metrics_create(void)
{
    assert(route_count <= MAX_ROUTES);
    return MEM_NEW(struct api_metrics);
}

void metrics_destroy(struct api_metrics *m)
{
    mem_free(m);
}

void metrics_add_source(struct api_metrics *m, struct metrics_source source)
{
    assert(m->n_sources < MAX_SOURCES);
    m->sources[m->n_sources++] = source;
}

void metrics_count(struct api_metrics *m, const struct route *route, int status)
{
    int class = status / 100;
    assert(class > 0 && class < STATUS_CLASSES);
    atomic_fetch_add_explicit(&m->answers[route - routes][class], 1, memory_order_relaxed);
}

void metrics_write_one(
    struct buf *out, const char *name, const char *type, const char *help, double value)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, value);
}

void metrics_write(struct api_metrics *m, struct buf *out)
{
    buf_append(out, STR("# HELP cairn_api_answers_total Answers of the API.\n"
                        "# TYPE cairn_api_answers_total counter\n"));
    for (size_t i = 0; i < route_count; i++)
        for (int class = 1; class < STATUS_CLASSES; class ++) {
            unsigned long long n = atomic_load(&m->answers[i][class]);
            if (n > 0)
                buf_printf(out,
                    "cairn_api_answers_total{method=\"%s\",route=\"%s\",status=\"%dxx\"} %llu\n",
                    routes[i].method, routes[i].path, class, n);
        }
    for (size_t i = 0; i < m->n_sources; i++)
        m->sources[i].write(out, m->sources[i].data);
}
