/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all programs here: a clock, the CPU time of this process, samples and their
 * percentiles, and results as lines of "name value". Samples are used by one thread each; those of
 * several threads are joined at the end.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports the error and exits. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

double now_us(void); /* monotonic, the same for all processes of the machine */
double cpu_us(void); /* user and system, of all threads of this process */

/* Raises the limit of open files to the maximum. */
void raise_file_limit(void);
unsigned long parse_count(const char *text, unsigned long max);

struct samples {
    double *values;
    size_t n, capacity;
};
void samples_deinit(struct samples *s);
void samples_add(struct samples *s, double value);
void samples_join(struct samples *s, const struct samples *other);
/* Sorts the values and returns the percentile; 0 if there are none. A share of 0.5 is the median, 1
 * the maximum. */
double samples_at(struct samples *s, double share);

void print_result(const char *name, double value);
/* Prints NAME_p50, NAME_p99, NAME_p999 and NAME_max. */
void print_samples(const char *name, struct samples *s);

#endif
