/* SPDX-License-Identifier: Apache-2.0 */
#include "backup_steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct str place(struct fixture *f, const char *name)
{
    return arena_printf(&f->scratch.arena, "%.*s/%s", STR_ARG(f->scratch.root), name);
}

const char *cplace(struct fixture *f, const char *name)
{
    return arena_cstr(&f->scratch.arena, place(f, name));
}

bool is_there(struct fixture *f, const char *name)
{
    struct stat info;
    return lstat(cplace(f, name), &info) == 0;
}

struct backup_report backup(struct fixture *f, const char *name)
{
    struct backup_report report = {0};
    EXPECT_EQ(
        backup_create(f->scratch.data_dir, place(f, name), true, NULL, &f->problem, &report), OK);
    return report;
}

enum error try_backup(struct fixture *f, const char *name)
{
    struct backup_report report;
    problem_init(&f->problem, &f->scratch.arena);
    return backup_create(f->scratch.data_dir, place(f, name), false, NULL, &f->problem, &report);
}

struct restore plan(struct fixture *f, const char *file, const char *directory)
{
    return (struct restore){
        .file = place(f, file), .sha256 = STR_NONE, .data_dir = place(f, directory)};
}

enum error restore(struct fixture *f, const struct restore *what, struct str *out_kept)
{
    struct backup_report report;
    problem_init(&f->problem, &f->scratch.arena);
    enum error e = restore_run(what, NULL, &f->problem, &report);
    if (e == OK && out_kept != NULL)
        *out_kept = report.kept;
    return e;
}

int64_t notes_in(struct fixture *f, const char *directory)
{
    struct fixture other = *f;
    other.config.data_dir = place(f, directory);
    fixture_open(&other);
    int64_t count = fixture_count(&other);
    expect_gapless(&other, UUID_NIL, count);
    EXPECT_EQ(fixture_add(&other, UUID_NIL), OK);
    expect_gapless(&other, UUID_NIL, count + 1);
    fixture_close(&other);
    return count;
}

void add_notes(struct fixture *f, int count)
{
    for (int i = 0; i < count; i++)
        EXPECT_EQ(fixture_add(f, UUID_NIL), OK);
}

void expect_told(struct fixture *f, const char *part)
{
    const char *told = arena_cstr(&f->scratch.arena, f->problem.detail);
    if (strstr(told, part) == NULL)
        test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", told, part);
}

void write_file(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

void flip_byte(const char *path, off_t at)
{
    unsigned char byte = 0;
    int fd = open(path, O_RDWR);
    EXPECT_EQ(pread(fd, &byte, 1, at), 1);
    byte ^= 0x40;
    EXPECT_EQ(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

struct sha256 hash_of(const char *path)
{
    static char bytes[8 * 1024 * 1024];
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    EXPECT(n > 0 && n < (ssize_t)sizeof bytes);
    return sha256_of((struct str){bytes, (size_t)n});
}

struct str hex_of(struct fixture *f, struct sha256 hash)
{
    return hex_encode(&f->scratch.arena, (struct str){(const char *)hash.bytes, SHA256_LEN});
}

void expect_text(struct fixture *f, const char *name, const char *text)
{
    char found[100] = {0};
    int fd = open(cplace(f, name), O_RDONLY);
    EXPECT(fd >= 0 && read(fd, found, sizeof found - 1) >= 0);
    close(fd);
    EXPECT_STR(str_of(found), str_of(text));
}

void plant(struct fixture *f, const char *name)
{
    write_file(cplace(f, "theirs"), "theirs", 6);
    EXPECT_EQ(link(cplace(f, "theirs"), cplace(f, name)), 0);
}

int count_names(struct fixture *f, const char *directory, const char *part)
{
    int count = 0;
    DIR *entries = opendir(cplace(f, directory));
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL)
        count += strstr(entry->d_name, part) != NULL;
    closedir(entries);
    return count;
}

void crash_with(struct fixture *f, int notes)
{
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        add_notes(f, notes);
        _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}
