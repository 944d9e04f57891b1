/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of libcairn by threads of the same process: appends of one event, reads of a page of 100,
 * or reads of the latest checkpoint. embedded append|read DATA_DIR CALLERS SECONDS embedded
 * checkpoint DATA_DIR CALLERS SECONDS BODY Each caller has its own thread of the log, up to 64; for
 * reads each thread has 100 events, and for reads of a checkpoint the one whose put has the BODY, a
 * file. Prints rate, in calls a second; latency_… and cpu, in microseconds.
 */
#include <cairn/cairn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { MAX_CALLERS = 1024, LOG_THREADS = 64, PAGE = 100 };

static const char EVENT[] = "{\"kind\":\"progress\",\"text\":\"step done\",\"payload\":{\"n\":1,"
                            "\"of\":10,\"note\":\"about as long as a progress line is\"}}";
static const char *const JSON[] = {"Content-Type: application/json", NULL};

struct caller {
    pthread_t thread;
    const char *path;
    struct samples latency;
};

static struct {
    cairn *c;
    bool reads;
    char *checkpoint; /* the body of its put; NULL: events */
    char paths[LOG_THREADS][128];
    double end_us;
} run;

static void call(const char *method, const char *path, const char *body, char out_id[40])
{
    cairn_answer *a = cairn_call(run.c, method, path, JSON, body, body == NULL ? 0 : strlen(body));
    const char *text = cairn_answer_body(a, NULL), *id = strstr(text, "\"id\":\"");
    if (cairn_answer_status(a) / 100 != 2)
        die("%s %s: %s", method, path, text);
    if (out_id != NULL && id != NULL)
        snprintf(out_id, 37, "%s", id + strlen("\"id\":\""));
    cairn_answer_free(a);
}

static char *make_page(void)
{
    size_t size = sizeof EVENT * PAGE + 32, at = 0;
    char *text = malloc(size);
    if (text == NULL)
        die("out of memory");
    for (int i = 0; i < PAGE; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i == 0 ? "{\"events\":[" : ",", EVENT);
    snprintf(text + at, size - at, "]}");
    return text;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0)
        die("cannot read %s", path);
    fclose(file);
    return text;
}

static void make_checkpoint(int i)
{
    char id[40] = "", path[96];
    call("POST", "/v1/threads", "{}", id);
    snprintf(path, sizeof path, "/v1/threads/%s/checkpoints", id);
    call("POST", path, run.checkpoint, NULL);
    snprintf(run.paths[i], sizeof run.paths[i], "%s/latest", path);
}

static void make_log_threads(void)
{
    char id[40] = "", path[96], *page = make_page();
    for (int i = 0; i < LOG_THREADS; i++) {
        if (run.checkpoint != NULL) {
            make_checkpoint(i);
            continue;
        }
        call("POST", "/v1/threads", "{}", id);
        snprintf(path, sizeof path, "/v1/threads/%s/events", id);
        if (run.reads)
            call("POST", path, page, NULL);
        snprintf(run.paths[i], sizeof run.paths[i], "%s%s", path, run.reads ? "?limit=100" : "");
    }
    free(page);
}

static void *run_caller(void *data)
{
    struct caller *caller = data;
    for (double start = now_us(), end; start < run.end_us; start = end) {
        call(run.reads ? "GET" : "POST", caller->path, run.reads ? NULL : EVENT, NULL);
        end = now_us();
        if (end < run.end_us)
            samples_add(&caller->latency, end - start);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct caller callers[MAX_CALLERS];
    struct samples latency = {0};
    char where[4096], *why = NULL;
    if (argc != 5 && argc != 6)
        die("usage: embedded append|read|checkpoint DATA_DIR CALLERS SECONDS [BODY]");
    size_t n_callers = parse_count(argv[3], MAX_CALLERS);
    double seconds = strtod(argv[4], NULL);
    run.reads = strcmp(argv[1], "append") != 0;
    run.checkpoint = argc == 6 ? read_file(argv[5]) : NULL;
    snprintf(where, sizeof where, "sqlite:%s", argv[2]);
    run.c = cairn_open(where, NULL, &why);
    if (run.c == NULL)
        die("%s", why);
    make_log_threads();
    double cpu = cpu_us();
    run.end_us = now_us() + seconds * 1e6;
    for (size_t i = 0; i < n_callers; i++) {
        callers[i].path = run.paths[i % LOG_THREADS];
        if (pthread_create(&callers[i].thread, NULL, run_caller, &callers[i]) != 0)
            die("cannot start a thread");
    }
    for (size_t i = 0; i < n_callers; i++) {
        pthread_join(callers[i].thread, NULL);
        samples_join(&latency, &callers[i].latency);
        samples_deinit(&callers[i].latency);
    }
    print_result("rate", (double)latency.n / seconds);
    print_result("cpu", cpu_us() - cpu);
    print_samples("latency", &latency);
    samples_deinit(&latency);
    free(run.checkpoint);
    cairn_close(run.c);
    return 0;
}
