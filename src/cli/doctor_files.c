/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/doctor.h"
#include "cli/endpoint.h"
#include "cli/text.h"
#include "store/reserve.h"

static struct str user_name(struct doctor *d, uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    return user != NULL ? arena_str(d->arena, str_of(user->pw_name))
                        : arena_printf(d->arena, "%u", (unsigned)uid);
}

/* --- Secrets -------------------------------------------------------------------------------- */

/* A file with a secret must be readable for the server, and not for all users. */
static void check_secret(struct doctor *d, const char *what, struct str path)
{
    struct stat st;
    const char *file = arena_cstr(d->arena, path);
    if (stat(file, &st) != 0 || faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) != 0)
        doctor_fail(d, "secrets", arena_printf(d->arena, "ls -l %s", file), "%s %s: %s", what, file,
            strerror(errno));
    else if (st.st_mode & S_IRWXO)
        doctor_warn(d, "secrets", arena_printf(d->arena, "chmod o= %s", file),
            "%s %s (mode %04o) can be read by all users of this machine", what, file,
            (unsigned)st.st_mode & 07777);
    else
        doctor_ok(d, "secrets", "%s %s has mode %04o", what, file, (unsigned)st.st_mode & 07777);
}

/* Returns true if the file sets the URL, with a password in it. */
static bool file_has_password(struct doctor *d, size_t setting)
{
    const struct setting_value *v = &d->settings.values[setting];
    if (v->level != LEVEL_FILE || strcmp(settings_options[setting].argument, "URL") != 0)
        return false;
    return !str_eq(settings_mask_url(d->arena, v->values[0]), v->values[0]);
}

void doctor_check_key_file(struct doctor *d)
{
    struct endpoint endpoint = {.url = STR_NONE, .api_key_file = STR_NONE};
    struct str words = STR_NONE;
    cli_catch_words(d->cli, &words); /* they are reported with the server */
    (void)endpoint_choose(d->cli, &endpoint);
    cli_catch_words(d->cli, NULL);
    if (!str_is_none(endpoint.api_key_file))
        check_secret(d, "the API key", endpoint.api_key_file);
}

void doctor_check_secrets(struct doctor *d)
{
    bool has_password = false;
    for (size_t i = 0; i < SETTINGS_COUNT; i++)
        has_password = has_password || file_has_password(d, i);
    if (has_password)
        check_secret(d, "the configuration with a password", d->settings.file);
    if (!str_is_none(d->settings.config.tls_key))
        check_secret(d, "the TLS key", d->settings.config.tls_key);
}

/* --- The data directory --------------------------------------------------------------------- */

/* The server cannot open files that belong to another user, usually root. */
static bool check_owners(struct doctor *d, const char *dir, uid_t owner)
{
    static const char *const names[] = {
        "cairn.db", "cairn.db-wal", "cairn.db-shm", "cairn.lock", "cairn.hold", "blobs"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct stat st;
        const char *file = arena_cstr(d->arena, arena_printf(d->arena, "%s/%s", dir, names[i]));
        if (stat(file, &st) != 0 || st.st_uid == owner)
            continue;
        struct str name = user_name(d, owner);
        doctor_fail(d, "data directory",
            arena_printf(d->arena, "chown -R %.*s: %s", STR_ARG(name), dir),
            "%s belongs to %.*s, its directory to %.*s", file, STR_ARG(user_name(d, st.st_uid)),
            STR_ARG(name));
        return false;
    }
    return true;
}

static bool check_access(struct doctor *d, const char *dir, uid_t owner)
{
    struct str name = user_name(d, owner);
    if (geteuid() != 0 && geteuid() != owner) {
        doctor_fail(d, "data directory",
            arena_printf(d->arena, "sudo -u %.*s cairn doctor", STR_ARG(name)),
            "%s belongs to %.*s, and this is %.*s", dir, STR_ARG(name),
            STR_ARG(user_name(d, geteuid())));
        return false;
    }
    if (faccessat(AT_FDCWD, dir, R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
        doctor_fail(d, "data directory",
            errno == EROFS ? STR("mount -o remount,rw, after a look at dmesg")
                           : arena_printf(d->arena, "chmod u+rwx %s", dir),
            "%s cannot be written: %s", dir, strerror(errno));
        return false;
    }
    return true;
}

static void check_missing(struct doctor *d, const char *dir, int why)
{
    if (why == ENOENT)
        doctor_warn(d, "data directory",
            arena_printf(d->arena, "cairn serve --data %s creates it", dir), "%s does not exist",
            dir);
    else
        doctor_fail(d, "data directory", arena_printf(d->arena, "ls -ld %s", dir), "%s: %s", dir,
            strerror(why));
}

/* If there is no database yet, the server creates the reserve with it. */
static void check_reserve(struct doctor *d, const char *dir)
{
    int fd CLEANUP(fd_closep) = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, "cairn.db", F_OK, 0) != 0)
        return;
    struct str size = text_bytes(d->arena, RESERVE_BYTES);
    bool fits = reserve_free_bytes(fd) >= RESERVE_BYTES + RESERVE_SPARE_BYTES;
    if (reserve_is_whole(fd))
        doctor_ok(d, "reserve", "%.*s are reserved for a full disk", STR_ARG(size));
    else
        doctor_warn(d, "reserve",
            fits ? STR("cairn serve creates it")
                 : arena_printf(d->arena, "df -h %s, then free space there", dir),
            "%s/" RESERVE_NAME
            " does not exist: with a full disk nothing could be cancelled or deleted",
            dir);
}

void doctor_check_data_dir(struct doctor *d)
{
    const char *dir = arena_cstr(d->arena, d->settings.config.data_dir);
    struct stat st;
    if (stat(dir, &st) != 0) {
        check_missing(d, dir, errno);
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        doctor_fail(
            d, "data directory", STR("cairn serve --data DIR"), "%s is not a directory", dir);
        return;
    }
    if (!check_access(d, dir, st.st_uid) || !check_owners(d, dir, st.st_uid))
        return;
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        doctor_warn(d, "data directory", arena_printf(d->arena, "chmod 0700 %s", dir),
            "%s has mode %04o: other users of this machine can enter it", dir,
            (unsigned)st.st_mode & 07777);
    else
        doctor_ok(d, "data directory", "%s belongs to %.*s, mode %04o", dir,
            STR_ARG(user_name(d, st.st_uid)), (unsigned)st.st_mode & 07777);
    check_reserve(d, dir);
}

void doctor_check_files_dir(struct doctor *d)
{
    const char *dir = arena_cstr(d->arena, d->settings.config.files_dir);
    struct stat st;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode)) {
        doctor_fail(d, "files", arena_printf(d->arena, "mount or create %s, on every node", dir),
            "%s is not a directory, or cannot be reached", dir);
        return;
    }
    if (faccessat(AT_FDCWD, dir, R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
        doctor_fail(d, "files", arena_printf(d->arena, "ls -ld %s", dir),
            "%s cannot be written: %s", dir, strerror(errno));
        return;
    }
    if (st.st_mode & S_IRWXO)
        doctor_warn(d, "files", arena_printf(d->arena, "chmod o= %s", dir),
            "%s has mode %04o: all users of this machine can enter it", dir,
            (unsigned)st.st_mode & 07777);
    else
        doctor_ok(d, "files", "%s belongs to %.*s, mode %04o", dir,
            STR_ARG(user_name(d, st.st_uid)), (unsigned)st.st_mode & 07777);
}
