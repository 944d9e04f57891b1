/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program here measures with: a clock, the CPU time of this process, samples and their
 * percentiles, and results as lines of "name value". One thread each; samples of many threads are
 * joined at the end.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Says what went wrong and ends the program. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

double now_us(void); /* of a steady clock, the same for every process of the machine */
double cpu_us(void); /* user and system, of all threads of this process */

/* As many open files as the machine allows. */
void raise_file_limit(void);
unsigned long parse_count(const char *text, unsigned long max);

struct samples {
    double *values;
    size_t n, capacity;
};
void samples_deinit(struct samples *s);
void samples_add(struct samples *s, double value);
void samples_join(struct samples *s, const struct samples *other);
/* Of the sorted values, which it sorts; 0 when there are none. share 0.5 is the median, 1 the
 * greatest. */
double samples_at(struct samples *s, double share);

void print_result(const char *name, double value);
/* NAME_p50, NAME_p99, NAME_p999 and NAME_max. */
void print_samples(const char *name, struct samples *s);

#endif
