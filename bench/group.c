/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw SQLite with the same group commit: each producer puts a job into a queue and waits until the
 * job is on the disk; one writer takes all queued jobs and commits them at once, like
 * src/store/sqlite_writer.c. Cairn adds HTTP, JSON, the rules and the delivery.
 *   group DATA_DIR PRODUCERS ROWS_PER_JOB SECONDS THREADS
 * Prints rate, in rows a second; jobs_per_commit; latency_… and cpu, in microseconds.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "measure.h"
#include "rows.h"
#include "store/sqlite.h"

enum { MAX_PRODUCERS = 1024, STACK_BYTES = 64 * 1024 };

struct producer {
    pthread_t thread;
    struct producer *next; /* in the queue */
    size_t log_thread;
    sem_t is_durable;
    struct samples latency;
};

static struct {
    struct rows rows;
    size_t n_producers, rows_per_job;
    double end_us;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct producer *first, **end;
    size_t n_running;
    uint64_t n_jobs, n_commits;
} run = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER, .end = &run.first};

/* --- The queue ------------------------------------------------------------------------------ */

static void put(struct producer *p)
{
    p->next = NULL;
    pthread_mutex_lock(&run.mutex);
    *run.end = p;
    run.end = &p->next;
    pthread_cond_signal(&run.cond);
    pthread_mutex_unlock(&run.mutex);
}

/* Returns NULL when all producers have finished. */
static struct producer *take(size_t max)
{
    pthread_mutex_lock(&run.mutex);
    while (run.first == NULL && run.n_running > 0)
        pthread_cond_wait(&run.cond, &run.mutex);
    struct producer *taken = run.first, **end = &taken;
    for (size_t i = 0; i < max && *end != NULL; i++)
        end = &(*end)->next;
    run.first = *end;
    *end = NULL;
    if (run.first == NULL)
        run.end = &run.first;
    pthread_mutex_unlock(&run.mutex);
    return taken;
}

/* --- The threads ---------------------------------------------------------------------------- */

static void *produce(void *data)
{
    struct producer *p = data;
    for (double start = now_us(), end; start < run.end_us; start = end) {
        put(p);
        while (sem_wait(&p->is_durable) != 0) {
        }
        end = now_us();
        if (end < run.end_us)
            samples_add(&p->latency, end - start);
    }
    pthread_mutex_lock(&run.mutex);
    run.n_running--;
    pthread_cond_signal(&run.cond);
    pthread_mutex_unlock(&run.mutex);
    return NULL;
}

static void write_all(void)
{
    struct producer *batch;
    while ((batch = take(SQLITE_BATCH_MAX_JOBS)) != NULL) {
        rows_step(&run.rows, run.rows.begin);
        for (struct producer *p = batch; p != NULL; p = p->next, run.n_jobs++)
            for (size_t i = 0; i < run.rows_per_job; i++)
                rows_insert(&run.rows, p->log_thread);
        rows_commit(&run.rows);
        run.n_commits++;
        for (struct producer *p = batch, *next; p != NULL; p = next) {
            next = p->next;
            sem_post(&p->is_durable);
        }
        rows_checkpoint_if_due(&run.rows);
    }
}

static void start(struct producer *producers)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    run.n_running = run.n_producers;
    for (size_t i = 0; i < run.n_producers; i++) {
        producers[i].log_thread = i % run.rows.n_threads;
        sem_init(&producers[i].is_durable, 0, 0);
        if (pthread_create(&producers[i].thread, &attr, produce, &producers[i]) != 0)
            die("cannot start a thread");
    }
    pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
    static struct producer producers[MAX_PRODUCERS];
    struct samples latency = {0};
    if (argc != 6)
        die("usage: group DATA_DIR PRODUCERS ROWS_PER_JOB SECONDS THREADS");
    run.n_producers = parse_count(argv[2], MAX_PRODUCERS);
    run.rows_per_job = parse_count(argv[3], 10000);
    double seconds = strtod(argv[4], NULL);
    rows_open(&run.rows, argv[1], parse_count(argv[5], ROWS_MAX_THREADS));
    double cpu = cpu_us();
    run.end_us = now_us() + seconds * 1e6;
    start(producers);
    write_all();
    cpu = cpu_us() - cpu;
    for (size_t i = 0; i < run.n_producers; i++) {
        pthread_join(producers[i].thread, NULL);
        samples_join(&latency, &producers[i].latency);
        samples_deinit(&producers[i].latency);
    }
    print_result("rate", (double)(latency.n * run.rows_per_job) / seconds);
    print_result("jobs_per_commit", (double)run.n_jobs / (double)run.n_commits);
    print_result("cpu", cpu);
    print_samples("latency", &latency);
    rows_close(&run.rows);
    samples_deinit(&latency);
    return 0;
}
