/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the upper limits of the machine and SQLite for the rows of appends: a preallocated file
 * with fdatasync, and SQLite (rows.h) in a tight loop without a queue.
 *   limits file DIR ROWS_PER_COMMIT SECONDS
 *   limits sqlite DATA_DIR ROWS_PER_COMMIT SECONDS THREADS
 * Prints rate, in rows a second, and cpu, in microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "rows.h"

enum { ROW_BYTES = 200, FILE_BYTES = 32 * 1024 * 1024, MAX_ROWS = 512 * 100 };

/* Created once and kept for the next turn, because writing it would slow down the others. */
static int open_file(const char *path, const char *rows)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        die("cannot create %s", path);
    if (lseek(fd, 0, SEEK_END) >= FILE_BYTES)
        return fd;
    for (off_t at = 0; at < FILE_BYTES; at += (off_t)ROW_BYTES * MAX_ROWS)
        if (pwrite(fd, rows, (size_t)ROW_BYTES * MAX_ROWS, at) < 0)
            die("cannot write %s", path);
    if (fsync(fd) != 0)
        die("cannot sync %s", path);
    return fd;
}

static uint64_t write_file(int fd, const char *rows, size_t bytes, double end_us)
{
    uint64_t n_commits = 0;
    for (off_t at = 0; now_us() < end_us; at += (off_t)bytes, n_commits++) {
        if (at + (off_t)bytes > FILE_BYTES)
            at = 0;
        if (pwrite(fd, rows, bytes, at) != (ssize_t)bytes || fdatasync(fd) != 0)
            die("cannot write");
    }
    return n_commits;
}

static uint64_t write_rows(struct rows *r, size_t batch, double end_us)
{
    uint64_t n_commits = 0;
    size_t thread = 0;
    for (; now_us() < end_us; n_commits++) {
        rows_step(r, r->begin);
        for (size_t i = 0; i < batch; i++, thread = (thread + 1) % r->n_threads)
            rows_insert(r, thread);
        rows_commit(r);
        rows_checkpoint_if_due(r);
    }
    return n_commits;
}

static void print_rate(uint64_t n_rows, double start_us, double start_cpu_us)
{
    print_result("rate", (double)n_rows * 1e6 / (now_us() - start_us));
    print_result("cpu", cpu_us() - start_cpu_us);
}

static void measure_file(const char *dir, size_t batch, double seconds)
{
    char path[4096], *rows = malloc((size_t)ROW_BYTES * MAX_ROWS);
    snprintf(path, sizeof path, "%s/limit.log", dir);
    if (rows == NULL)
        die("out of memory");
    memset(rows, 'x', (size_t)ROW_BYTES * MAX_ROWS);
    int fd = open_file(path, rows);
    double start_us = now_us(), cpu = cpu_us();
    uint64_t n = write_file(fd, rows, batch * ROW_BYTES, start_us + seconds * 1e6);
    print_rate(n * batch, start_us, cpu);
    close(fd);
    free(rows);
}

static void measure_sqlite(const char *dir, size_t batch, double seconds, size_t n_threads)
{
    struct rows rows;
    rows_open(&rows, dir, n_threads);
    double start_us = now_us(), cpu = cpu_us();
    uint64_t n = write_rows(&rows, batch, start_us + seconds * 1e6);
    print_rate(n * batch, start_us, cpu);
    rows_close(&rows);
}

int main(int argc, char **argv)
{
    bool is_file = argc == 5 && strcmp(argv[1], "file") == 0;
    if (!is_file && !(argc == 6 && strcmp(argv[1], "sqlite") == 0))
        die("usage: see the top of limits.c");
    size_t batch = parse_count(argv[3], MAX_ROWS);
    double seconds = strtod(argv[4], NULL);
    if (is_file)
        measure_file(argv[2], batch, seconds);
    else
        measure_sqlite(argv[2], batch, seconds, parse_count(argv[5], ROWS_MAX_THREADS));
    return 0;
}
