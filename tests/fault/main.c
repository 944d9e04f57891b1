/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault [--all | --sparse] [--seed N] [PART]
 *
 * Sweeps: the script runs with a fault at the 1st, 2nd, 3rd … call until a run has none left, and
 * after each the database opens and what was acknowledged is there. --all takes every call and
 * several power losses at each; without it they are sampled, from an offset that the seed gives.
 * --sparse takes a quarter of that sample.
 * PART is a part of the names of the sweeps to run. Ends with the line "N passed, N failed".
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "api/http/route.h"
#include "base/hash.h"
#include "image.h"
#include "process.h"
#include "script.h"

enum { FAILURES_SHOWN = 5 };

struct sweep {
    struct stage *stage;
    bool all;
    unsigned spacing; /* the sample takes one of so many of its calls */
    uint64_t seed;
    unsigned n_cases, n_failed;
};

/* One case: what it was is said when it failed. */
static void judge(struct sweep *s, bool good, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void judge(struct sweep *s, bool good, const char *fmt, ...)
{
    s->n_cases++;
    if (good)
        return;
    atomic_store(&s->stage->verdict.is_wrong, false); /* of the next case nothing is known yet */
    if (s->n_failed++ >= FAILURES_SHOWN)
        return;
    va_list args;
    va_start(args, fmt);
    printf("    ");
    vprintf(fmt, args);
    va_end(args);
    printf(": %s\n", s->stage->verdict.words);
}

/* The next call to fail. All of the first calls, which open a directory, are tested. */
static unsigned after(const struct sweep *s, unsigned at, unsigned sampled)
{
    const unsigned first = s->spacing > 1 ? 2 : 8;
    sampled *= s->spacing;
    if (s->all || at < first)
        return at + 1;
    return at == first ? first + 1 + (unsigned)(s->seed % sampled) : at + sampled;
}

static const struct plan good_disk = {.is_recorded = true};

/* --- The script itself ---------------------------------------------------------------------- */

/* A name or a number in a path may be any: it is data. An id has to be one that was saved. */
static bool is_name(struct str segment)
{
    if (segment.len <= 2 || segment.ptr[0] != '{')
        return false;
    enum route_param kind = route_param_kind(str_slice(segment, 1, segment.len - 1));
    return kind == ROUTE_PARAM_NUMBER || kind == ROUTE_PARAM_TEXT;
}

/* "/v1/threads/{thread_id}" and "/v1/threads/$thread". */
static bool is_same_path(const char *route, const char *target)
{
    struct str a = str_of(route), b = str_of(target), x, y;
    b = str_slice(b, 0, str_find(b, '?'));
    bool more_a = true, more_b = true;
    for (;;) {
        more_a = str_next_part(&a, '/', &x);
        more_b = str_next_part(&b, '/', &y);
        if (!more_a || !more_b)
            return more_a == more_b;
        bool is_parameter = x.len > 0 && x.ptr[0] == '{' && y.len > 0 && y.ptr[0] == '$';
        if (!is_parameter && !is_name(x) && !str_eq(x, y))
            return false;
    }
}

static bool has_step(const struct route *route)
{
    for (size_t i = 0; i < step_count; i++)
        if (steps[i].method != NULL && strcmp(steps[i].method, route->method) == 0 &&
            is_same_path(route->path, steps[i].target))
            return true;
    return false;
}

static void every_route_that_writes_is_a_step_of_the_script(struct sweep *s)
{
    for (size_t i = 0; i < route_count; i++) {
        if (routes[i].mode != ROUTE_WRITE)
            continue;
        bool found = has_step(&routes[i]);
        if (!found)
            verdict_wrong(&s->stage->verdict, "tests/fault/steps.c has no row for it");
        judge(s, found, "%s %s", routes[i].method, routes[i].path);
    }
}

static void the_script_has_no_refusal_on_a_good_disk(struct sweep *s)
{
    static const struct plan counted[] = {
        {.disk = {VFS_FAULT_IO, UINT32_MAX, false}, .is_recorded = true},
        {.memory = {MEMORY_OF_SQLITE, UINT32_MAX, false}},
        {.memory = {MEMORY_OF_CAIRN, UINT32_MAX, false}},
    };
    const struct verdict *v = &s->stage->verdict;
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        bool good = process_script(s->stage, &counted[i]);
        if (atomic_load(&v->n_refused) + atomic_load(&v->n_skipped) > 0) {
            good = false;
            verdict_wrong(&s->stage->verdict, "%u steps refused, %u left out; %s",
                atomic_load(&v->n_refused), atomic_load(&v->n_skipped), v->refusal);
        }
        judge(s, good && process_verify(s->stage, s->stage->root, UINT32_MAX), "run %zu", i);
        if (i == 0)
            printf("    %u steps, %u calls of the disk, %u of them change it\n",
                atomic_load(&v->n_done), atomic_load(&s->stage->disk.n_calls), s->stage->log.n_ops);
        else
            printf("    %u allocations of %s\n", atomic_load(&s->stage->memory.n_allocations),
                i == 1 ? "SQLite's" : "Cairn's");
    }
}

/* --- Power loss ----------------------------------------------------------------------------- */

/* The disk as the power loss leaves it; whether all that was acknowledged by then is there. */
static bool survives(struct sweep *s, struct image *image, enum image_policy policy, uint64_t seed)
{
    stage_clear(s->stage->image);
    image_write(image, policy, seed, s->stage->image);
    return process_verify(s->stage, s->stage->image, image_position(image));
}

static void cut_everywhere(struct sweep *s, uint64_t seed, unsigned sampled)
{
    struct image *image = image_create(&s->stage->log, false);
    unsigned next = 1;
    while (image_advance(image)) {
        if (image_position(image) < next)
            continue;
        next = after(s, next, sampled);
        for (unsigned p = 0; p < IMAGE_POLICY_COUNT; p++) {
            /* The sampled form takes one of them at each moment, all of them in turn. */
            if (!s->all && p != next / (sampled * s->spacing) % IMAGE_POLICY_COUNT)
                continue;
            bool random = p == IMAGE_TORN || p == IMAGE_REORDERED;
            for (unsigned i = 0; i < (s->all && random ? 2 : 1); i++)
                judge(s, survives(s, image, (enum image_policy)p, seed + i),
                    "power loss after %u operations, %s, seed %llu", image_position(image),
                    image_policy_words[p], (unsigned long long)(seed + i));
        }
    }
    image_destroy(image);
}

static void what_was_acknowledged_survives_a_power_loss(struct sweep *s)
{
    for (uint64_t i = 0; i < (s->all ? 2 : 1); i++) {
        bool good = process_script(s->stage, &good_disk);
        judge(s, good, "the recorded run");
        if (good)
            cut_everywhere(s, s->seed + 100 * i, 61);
    }
}

/* Else the sweep above would prove nothing. */
static void a_disk_that_ignores_sync_is_caught(struct sweep *s)
{
    bool good = process_script(s->stage, &good_disk);
    judge(s, good, "the recorded run");
    struct image *image = image_create(&s->stage->log, true);
    while (image_advance(image)) {
    }
    for (unsigned p = 0; p < IMAGE_POLICY_COUNT; p++) {
        bool survived = survives(s, image, (enum image_policy)p, s->seed);
        bool should = p == IMAGE_KEPT; /* nothing is lost by luck */
        if (survived && !should)
            verdict_wrong(&s->stage->verdict, "nothing was missed");
        judge(s, survived == should, "%s", image_policy_words[p]);
        atomic_store(&s->stage->verdict.is_wrong, false);
    }
    image_destroy(image);
}

/* --- Calls that fail ------------------------------------------------------------------------ */

/* Whether the fault is followed by a power loss at once, later, or when all is over. */
static void cut_after_fault(struct sweep *s, unsigned at, unsigned n_cuts)
{
    struct image *image = image_create(&s->stage->log, false);
    uint32_t n_ops = s->stage->log.n_ops;
    unsigned cut = 1;
    while (image_advance(image))
        if (image_position(image) >= (uint64_t)n_ops * cut / n_cuts) {
            cut++;
            judge(s, survives(s, image, IMAGE_LOST, s->seed),
                "call %u and a power loss after %u operations", at, image_position(image));
        }
    image_destroy(image);
}

static void fail_each(
    struct sweep *s, enum vfs_fault fault, bool is_sticky, unsigned sampled, unsigned n_cuts)
{
    for (unsigned at = 1;; at = after(s, at, sampled)) {
        const struct plan plan = {.disk = {fault, at, is_sticky}, .is_recorded = true};
        bool good = process_script(s->stage, &plan);
        bool has_fired = atomic_load(&s->stage->disk.has_fired);
        bool sees_fault = fault != VFS_FAULT_SHORT;
        if (good && !sees_fault && atomic_load(&s->stage->verdict.n_refused) > 0) {
            good = false;
            verdict_wrong(&s->stage->verdict, "%s", s->stage->verdict.refusal);
        }
        judge(s, good && process_verify(s->stage, s->stage->root, UINT32_MAX), "call %u", at);
        if (good)
            cut_after_fault(s, at, n_cuts);
        if (!has_fired)
            return;
    }
}

static void an_io_error_loses_nothing(struct sweep *s)
{
    fail_each(s, VFS_FAULT_IO, false, 503, s->all ? 3 : 1);
}

static void io_errors_without_end_lose_nothing(struct sweep *s)
{
    fail_each(s, VFS_FAULT_IO, true, 701, s->all ? 3 : 1);
}

static void a_full_disk_loses_nothing(struct sweep *s)
{
    fail_each(s, VFS_FAULT_FULL, false, 503, s->all ? 3 : 1);
}

static void a_disk_that_stays_full_loses_nothing(struct sweep *s)
{
    fail_each(s, VFS_FAULT_FULL, true, 503, s->all ? 3 : 1);
}

static void after_a_failed_sync_nothing_is_acknowledged(struct sweep *s)
{
    fail_each(s, VFS_FAULT_SYNC, false, 83, s->all ? 20 : s->spacing > 1 ? 3 : 5);
}

static void while_syncs_fail_nothing_is_acknowledged(struct sweep *s)
{
    fail_each(s, VFS_FAULT_SYNC, true, 107, s->all ? 20 : s->spacing > 1 ? 3 : 5);
}

static void a_lock_that_cannot_be_had_loses_nothing(struct sweep *s)
{
    fail_each(s, VFS_FAULT_LOCK, false, 331, s->all ? 3 : 1);
}

static void short_reads_and_writes_are_not_even_noticed(struct sweep *s)
{
    fail_each(s, VFS_FAULT_SHORT, false, 1999, s->all ? 3 : 1);
    fail_each(s, VFS_FAULT_SHORT, true, 4001, s->all ? 3 : 1);
}

/* --- Memory --------------------------------------------------------------------------------- */

static void starve_each(struct sweep *s, enum memory_of of, bool is_sticky, unsigned sampled)
{
    for (unsigned at = 1;; at = after(s, at, sampled)) {
        const struct plan plan = {.memory = {of, at, is_sticky}};
        bool good = process_script(s->stage, &plan);
        bool has_fired = atomic_load(&s->stage->memory.has_fired);
        judge(s, good && process_verify(s->stage, s->stage->root, UINT32_MAX), "allocation %u", at);
        if (!has_fired)
            return;
    }
}

static void an_allocation_of_sqlite_that_fails_loses_nothing(struct sweep *s)
{
    starve_each(s, MEMORY_OF_SQLITE, false, 9973);
}

static void allocations_of_sqlite_that_all_fail_lose_nothing(struct sweep *s)
{
    starve_each(s, MEMORY_OF_SQLITE, true, 9973);
}

static void an_allocation_of_cairn_that_fails_loses_nothing(struct sweep *s)
{
    starve_each(s, MEMORY_OF_CAIRN, false, 499);
}

/* --- All of them ---------------------------------------------------------------------------- */

#define SWEEP(name) \
    {               \
#name, name \
    }

static const struct {
    const char *name;
    void (*run)(struct sweep *s);
} sweeps[] = {
    SWEEP(every_route_that_writes_is_a_step_of_the_script),
    SWEEP(the_script_has_no_refusal_on_a_good_disk),
    SWEEP(what_was_acknowledged_survives_a_power_loss),
    SWEEP(a_disk_that_ignores_sync_is_caught),
    SWEEP(an_io_error_loses_nothing),
    SWEEP(io_errors_without_end_lose_nothing),
    SWEEP(a_full_disk_loses_nothing),
    SWEEP(a_disk_that_stays_full_loses_nothing),
    SWEEP(after_a_failed_sync_nothing_is_acknowledged),
    SWEEP(while_syncs_fail_nothing_is_acknowledged),
    SWEEP(a_lock_that_cannot_be_had_loses_nothing),
    SWEEP(short_reads_and_writes_are_not_even_noticed),
    SWEEP(an_allocation_of_sqlite_that_fails_loses_nothing),
    SWEEP(allocations_of_sqlite_that_all_fail_lose_nothing),
    SWEEP(an_allocation_of_cairn_that_fails_loses_nothing),
};

static double cpu_seconds(void)
{
    double seconds = 0;
    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        struct rusage usage;
        getrusage(who, &usage);
        seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return seconds;
}

/* Runs the sweep in a separate process with a disk of its own; its output is buffered in a file. */
static void run_sweep(size_t i, struct sweep s, int output)
{
    dup2(output, STDOUT_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    s.stage = stage_create();
    sweeps[i].run(&s);
    stage_destroy(s.stage);
    printf("%s %s: %u cases, %u failed, %.1f CPU seconds\n", s.n_failed > 0 ? "not ok" : "ok",
        sweeps[i].name, s.n_cases, s.n_failed, cpu_seconds());
    exit(s.n_failed > 0);
}

static void show(int output)
{
    char part[4096];
    ssize_t n;
    off_t at = 0;
    for (; (n = pread(output, part, sizeof part, at)) > 0; at += n)
        fwrite(part, 1, (size_t)n, stdout);
    close(output);
}

struct running {
    pid_t pid;
    int output;
};

/* Waits for one to end; false: there is none left. */
static bool finish_one(struct running *running, unsigned *passed, unsigned *failed)
{
    int status = 0;
    pid_t pid = wait(&status);
    if (pid < 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(sweeps); i++)
        if (running[i].pid == pid) {
            show(running[i].output);
            status == 0 ? ++*passed : ++*failed;
            if (!WIFEXITED(status))
                printf("not ok %s: it died\n", sweeps[i].name);
        }
    return true;
}

/* As many at once as there are processors. */
static void run_all(const struct sweep *s, const char *part, unsigned *passed, unsigned *failed)
{
    struct running running[COUNT_OF(sweeps)] = {{0}};
    long n_running = 0, at_once = sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < COUNT_OF(sweeps); i++) {
        if (strstr(sweeps[i].name, part) == NULL)
            continue;
        if (n_running >= at_once && finish_one(running, passed, failed))
            n_running--;
        running[i].output = memfd_create("output", MFD_CLOEXEC);
        running[i].pid = fork();
        if (running[i].pid == 0)
            run_sweep(i, *s, running[i].output);
        n_running++;
    }
    while (finish_one(running, passed, failed)) {
    }
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    const char *part = "";
    struct sweep s = {.seed = 1, .spacing = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            s.all = true;
        else if (strcmp(argv[i], "--sparse") == 0)
            s.spacing = 4;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            s.seed = strtoull(argv[++i], NULL, 10);
        else
            part = argv[i];
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)s.seed);
    sha256_of(STR("")); /* OpenSSL starts once, not in every process */
    run_all(&s, part, &passed, &failed);
    printf("%.0f CPU seconds\n%u passed, %u failed\n", cpu_seconds(), passed, failed);
    return failed > 0 || passed == 0;
}
