/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/clock.h"
#include "cli/doctor.h"
#include "cli/text.h"

/* --- Disk ----------------------------------------------------------------------------------- */

#define GIB (1024ull * 1024 * 1024)
#define FULL_BYTES (16ull * 1024 * 1024) /* with less, a commit can fail at any moment */

/* Returns the directory, or its nearest parent that exists. */
static const char *nearest_dir(struct arena *arena, struct str path)
{
    while (path.len > 0) {
        const char *dir = arena_cstr(arena, path);
        if (access(dir, F_OK) == 0)
            return dir;
        while (path.len > 0 && path.ptr[path.len - 1] != '/')
            path.len--;
        while (path.len > 1 && path.ptr[path.len - 1] == '/')
            path.len--;
    }
    return ".";
}

static void check_space(struct doctor *d, const char *dir)
{
    struct statvfs st;
    if (statvfs(dir, &st) != 0) {
        doctor_fail(d, "disk", arena_printf(d->arena, "ls -ld %s", dir),
            "the free space of %s cannot be read: %s", dir, strerror(errno));
        return;
    }
    uint64_t free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
    uint64_t total_bytes = (uint64_t)st.f_blocks * st.f_frsize;
    struct str room = arena_printf(d->arena, "%.*s of %.*s are free",
        STR_ARG(text_bytes(d->arena, free_bytes)), STR_ARG(text_bytes(d->arena, total_bytes)));
    struct str mend = arena_printf(d->arena, "df -h %s, then free space there", dir);
    if (free_bytes < FULL_BYTES)
        doctor_fail(d, "disk", mend, "the disk of %s is full: %.*s", dir, STR_ARG(room));
    else if (free_bytes < GIB || free_bytes < total_bytes / 10)
        doctor_warn(d, "disk", mend, "little space in %s: %.*s; there should be 1 GiB and 10 %%",
            dir, STR_ARG(room));
    else
        doctor_ok(d, "disk", "%.*s in %s", STR_ARG(room), dir);
}

/* Numbers of statfs(2). */
static const struct filesystem {
    uint32_t magic;
    const char *name;
    enum { KIND_NETWORK, KIND_FLEETING, KIND_UNSURE } kind;
} filesystems[] = {
    {0x6969, "NFS", KIND_NETWORK},
    {0x517b, "SMB", KIND_NETWORK},
    {0xfe534d42, "SMB", KIND_NETWORK},
    {0xff534d42, "CIFS", KIND_NETWORK},
    {0x00c36400, "Ceph", KIND_NETWORK},
    {0x5346414f, "AFS", KIND_NETWORK},
    {0x0bd00bd0, "Lustre", KIND_NETWORK},
    {0x01021997, "9p", KIND_NETWORK},
    {0x01021994, "tmpfs", KIND_FLEETING},
    {0x858458f6, "ramfs", KIND_FLEETING},
    {0x794c7630, "overlay", KIND_FLEETING},
    {0x65735546, "FUSE", KIND_UNSURE},
};

static void report_filesystem(struct doctor *d, const char *dir, const struct filesystem *f)
{
    struct str elsewhere = STR("cairn serve --data DIR, on a local disk");
    switch (f->kind) {
    case KIND_NETWORK:
        doctor_fail(d, "filesystem", STR("cairn serve --data DIR, on a local disk; or --db"),
            "%s is on %s: SQLite's locks and its log do not work over a network", dir, f->name);
        return;
    case KIND_FLEETING:
        doctor_warn(d, "filesystem", elsewhere,
            "%s is on %s, which is lost with the machine or the container", dir, f->name);
        return;
    case KIND_UNSURE:
        doctor_warn(d, "filesystem", elsewhere,
            "%s is on %s: it is not known whether locks and fsync work there", dir, f->name);
        return;
    }
}

static void check_filesystem(struct doctor *d, const char *dir)
{
    struct statfs st;
    if (statfs(dir, &st) != 0)
        return; /* check_space has reported it */
    for (size_t i = 0; i < COUNT_OF(filesystems); i++)
        if ((uint32_t)st.f_type == filesystems[i].magic) {
            report_filesystem(d, dir, &filesystems[i]);
            return;
        }
    doctor_ok(d, "filesystem", "%s is on a local disk", dir);
}

void doctor_check_disk(struct doctor *d)
{
    const char *dir = nearest_dir(d->arena, d->settings.config.data_dir);
    check_space(d, dir);
    check_filesystem(d, dir);
}

/* --- Limits --------------------------------------------------------------------------------- */

void doctor_check_limits(struct doctor *d)
{
    enum { OTHER_FILES = 64 }; /* databases, libraries, loops, the listener */
    const struct server_config *c = &d->settings.config;
    struct rlimit limit;
    uint64_t needed = c->max_connections + c->readers + c->db_writers + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    /* The server raises its own limit up to the hard one. */
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < needed)
        doctor_warn(d, "open files",
            arena_printf(d->arena,
                "ulimit -Hn %llu as root before cairn serve, or LimitNOFILE=%llu in its unit",
                (unsigned long long)needed, (unsigned long long)needed),
            "%llu open files are allowed, %llu are needed for max-connections = %zu",
            (unsigned long long)limit.rlim_max, (unsigned long long)needed, c->max_connections);
    else
        doctor_ok(d, "open files", "%llu open files are allowed, enough for %zu connections",
            (unsigned long long)limit.rlim_max, c->max_connections);
}

/* --- Clock ---------------------------------------------------------------------------------- */

static struct str clock_text(struct doctor *d, int64_t unix_us)
{
    char *text = arena_alloc(d->arena, CLOCK_TEXT_LEN);
    clock_format(unix_us, text);
    return (struct str){text, CLOCK_TEXT_LEN};
}

#define SET_CLOCK STR("timedatectl set-ntp true")

void doctor_check_clock(struct doctor *d)
{
    int64_t now_us = clock_wall_us(), first_us, last_us;
    struct str now = clock_text(d, now_us);
    if (!clock_parse(STR("2026-01-01T00:00:00Z"), &first_us) ||
        !clock_parse(STR("2100-01-01T00:00:00Z"), &last_us))
        abort();
    if (now_us < first_us || now_us >= last_us)
        doctor_fail(d, "clock", SET_CLOCK, "this machine's clock says %.*s", STR_ARG(now));
    else
        doctor_ok(d, "clock", "this machine's clock says %.*s", STR_ARG(now));
}

void doctor_compare_clock(struct doctor *d, const char *whose, int64_t ahead_us)
{
    enum { MAX_DIFFERENCE_MS = 5000 };
    int64_t ahead_ms = ahead_us / 1000;
    int64_t difference_ms = ahead_ms < 0 ? -ahead_ms : ahead_ms;
    if (difference_ms > MAX_DIFFERENCE_MS)
        doctor_warn(d, "clock", SET_CLOCK, "%s clock is %lld ms %s this machine's", whose,
            (long long)difference_ms, ahead_ms > 0 ? "ahead of" : "behind");
    else
        doctor_ok(d, "clock", "%s clock agrees with this machine's, by %lld ms", whose,
            (long long)difference_ms);
}
