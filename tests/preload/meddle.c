/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between a server and its C library, by LD_PRELOAD: a wall clock that is wrong, and a disk that
 * fails. Its faults are read from the file that CAIRN_MEDDLE names, which tests/api/lib/meddle.mjs
 * writes while the server runs; without it nothing is changed.
 *
 * A fault counts its calls down: `left` of 0 fails this call and the `more` after it. -1 is none.
 * Only files count, by pread and pwrite, which nothing but SQLite uses here; of the calls to fsync
 * all count.
 *
 * Writes to files without a name, into which archives are spooled, wait while `spool_left` is 0,
 * and closing such a file, which frees its blocks, waits while `holds_close` is not 0.
 */
/* Otherwise pread is another name of pread64; here each is itself. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* dlsym gives an object pointer; C has no cast from it to a function. */
#define NEXT(name)                  \
    static union {                  \
        void *object;               \
        __typeof__(name) *function; \
    } next;                         \
    if (next.object == NULL)        \
    next.object = dlsym(RTLD_NEXT, #name)

struct fault {
    _Atomic int64_t left;
    _Atomic int64_t more;
    _Atomic int64_t error;
    _Atomic int64_t struck; /* how many calls have failed */
};

/* The file. All are 64 bits, so that each is written and read whole. */
struct orders {
    _Atomic int64_t wall_us; /* added to the wall clock */
    struct fault sync, write, read;
    _Atomic int64_t spool_left; /* the writes that do not wait; -1: all */
    _Atomic int64_t spool_waiting;
    _Atomic int64_t holds_close;
    _Atomic int64_t close_waiting;
};

static struct orders *orders;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_orders(void)
{
    const char *path = getenv("CAIRN_MEDDLE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED)
        orders = map;
}

static struct orders *get_orders(void)
{
    pthread_once(&once, read_orders);
    return orders;
}

/* --- The wall clock ------------------------------------------------------------------------- */

static int64_t wall_offset_us(void)
{
    const struct orders *o = get_orders();
    return o != NULL ? atomic_load(&o->wall_us) : 0;
}

EXPORT int clock_gettime(clockid_t which, struct timespec *now)
{
    NEXT(clock_gettime);
    int result = next.function(which, now);
    if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        int64_t us = wall_offset_us() + (int64_t)now->tv_sec * 1000000 + now->tv_nsec / 1000;
        now->tv_sec = (time_t)(us / 1000000);
        now->tv_nsec = us % 1000000 * 1000;
    }
    return result;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

EXPORT time_t time(time_t *out_now)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out_now != NULL)
        *out_now = now.tv_sec;
    return now.tv_sec;
}

/* --- The disk ------------------------------------------------------------------------------- */

static bool strikes(struct fault *fault)
{
    if (atomic_load(&fault->left) < 0)
        return false;
    if (atomic_fetch_sub(&fault->left, 1) > 0)
        return false;
    if (atomic_fetch_sub(&fault->more, 1) > 0)
        atomic_store(&fault->left, 0);
    errno = (int)atomic_load(&fault->error);
    atomic_fetch_add(&fault->struck, 1);
    return true;
}

#define FAILS(kind) (get_orders() != NULL && strikes(&orders->kind))

static bool take_turn(_Atomic int64_t *left)
{
    int64_t seen = atomic_load(left);
    while (seen > 0)
        if (atomic_compare_exchange_weak(left, &seen, seen - 1))
            return true;
    return seen < 0;
}

static bool is_unnamed(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 0;
}

static void wait_for_spool(int fd)
{
    struct orders *o = get_orders();
    if (o == NULL || atomic_load(&o->spool_left) < 0 || !is_unnamed(fd))
        return;
    atomic_fetch_add(&o->spool_waiting, 1);
    while (!take_turn(&o->spool_left))
        usleep(1000);
    atomic_fetch_sub(&o->spool_waiting, 1);
}

/* read_orders itself closes a file. */
EXPORT int close(int fd)
{
    NEXT(close);
    struct orders *o = orders;
    if (o == NULL || atomic_load(&o->holds_close) == 0 || !is_unnamed(fd))
        return next.function(fd);
    atomic_fetch_add(&o->close_waiting, 1);
    while (atomic_load(&o->holds_close) != 0)
        usleep(1000);
    atomic_fetch_sub(&o->close_waiting, 1);
    return next.function(fd);
}

EXPORT int fsync(int fd)
{
    NEXT(fsync);
    return FAILS(sync) ? -1 : next.function(fd);
}

EXPORT int fdatasync(int fd)
{
    NEXT(fdatasync);
    return FAILS(sync) ? -1 : next.function(fd);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    NEXT(pwrite);
    wait_for_spool(fd);
    return FAILS(write) ? -1 : next.function(fd, data, size, at);
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    NEXT(pwrite64);
    wait_for_spool(fd);
    return FAILS(write) ? -1 : next.function(fd, data, size, at);
}

EXPORT ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    NEXT(pread);
    return FAILS(read) ? -1 : next.function(fd, data, size, at);
}

EXPORT ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    NEXT(pread64);
    return FAILS(read) ? -1 : next.function(fd, data, size, at);
}
