/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("getrlimit failed");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("setrlimit failed");
}

unsigned long parse_count(const char *text, unsigned long max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || n > max)
        die("%s: must be a number up to %lu", text, max);
    return n;
}

void samples_deinit(struct samples *s)
{
    free(s->values);
    *s = (struct samples){0};
}

static void reserve(struct samples *s, size_t n)
{
    if (n <= s->capacity)
        return;
    s->capacity = n > 2 * s->capacity ? n : 2 * s->capacity;
    s->values = realloc(s->values, s->capacity * sizeof *s->values);
    if (s->values == NULL)
        die("out of memory");
}

void samples_add(struct samples *s, double value)
{
    reserve(s, s->n + 1);
    s->values[s->n++] = value;
}

void samples_join(struct samples *s, const struct samples *other)
{
    reserve(s, s->n + other->n);
    for (size_t i = 0; i < other->n; i++)
        s->values[s->n++] = other->values[i];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double samples_at(struct samples *s, double share)
{
    if (s->n == 0)
        return 0;
    qsort(s->values, s->n, sizeof *s->values, compare);
    return s->values[(size_t)((double)(s->n - 1) * share)];
}

void print_result(const char *name, double value)
{
    printf("%s %.3f\n", name, value);
}

void print_samples(const char *name, struct samples *s)
{
    printf("%s_p50 %.1f\n%s_p99 %.1f\n%s_p999 %.1f\n%s_max %.1f\n", name, samples_at(s, 0.5), name,
        samples_at(s, 0.99), name, samples_at(s, 0.999), name, samples_at(s, 1));
}
