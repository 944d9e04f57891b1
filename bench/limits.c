/*
 * What the machine and SQLite could do at best with the rows of an event append: a preallocated
 * file with fdatasync, and bare SQLite with the same table, index and pragmas, N rows a commit.
 *   limits file|sqlite DIR ROWS_PER_COMMIT SECONDS     prints rows a second
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char PAYLOAD[] =
    "{\"n\":1,\"of\":10,\"note\":\"about as long as a progress line is\"}";

enum { ROW_BYTES = 200, FILE_BYTES = 256 * 1024 * 1024 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "limits: %s\n", what);
    exit(1);
}

static double measure_file(const char *dir, int batch, double seconds)
{
    char path[4096], rows[ROW_BYTES * 512];
    snprintf(path, sizeof path, "%s/limit.log", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, FILE_BYTES) != 0)
        die("cannot prepare the file");
    memset(rows, 'x', sizeof rows);
    for (off_t at = 0; at < FILE_BYTES; at += (off_t)sizeof rows)
        if (pwrite(fd, rows, sizeof rows, at) < 0)
            die("cannot write");
    fsync(fd);
    uint64_t n = 0;
    off_t at = 0;
    double start = now(), end = start;
    size_t bytes = (size_t)batch * ROW_BYTES;
    while (end - start < seconds) {
        if (at + (off_t)bytes > FILE_BYTES)
            at = 0;
        if (pwrite(fd, rows, bytes, at) != (ssize_t)bytes || fdatasync(fd) != 0)
            die("cannot write");
        at += (off_t)bytes;
        n += (uint64_t)batch;
        end = now();
    }
    close(fd);
    unlink(path);
    return (double)n / (end - start);
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static void insert(sqlite3_stmt *s, int64_t id, const unsigned char ids[32], int64_t seq)
{
    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_blob(s, 2, ids, 16, SQLITE_STATIC);
    sqlite3_bind_blob(s, 3, ids + 16, 16, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, seq);
    sqlite3_bind_text(s, 5, "progress", -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, "step done", -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 7, PAYLOAD, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 8, 1800000000000000);
    if (sqlite3_step(s) != SQLITE_DONE)
        die("insert failed");
    sqlite3_reset(s);
}

static double measure_sqlite(const char *dir, int batch, double seconds)
{
    char path[4096];
    unsigned char ids[32] = {1, 2, 3};
    sqlite3 *db;
    sqlite3_stmt *stmt;
    snprintf(path, sizeof path, "%s/limit-%d.db", dir, batch);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("cannot open");
    run(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;"
            "CREATE TABLE events (id INTEGER PRIMARY KEY NOT NULL, tenant_id BLOB NOT NULL,"
            "thread_id BLOB NOT NULL, seq INTEGER NOT NULL, run_id BLOB, kind TEXT NOT NULL,"
            "text TEXT, payload TEXT, created_at INTEGER NOT NULL);"
            "CREATE UNIQUE INDEX a ON events (tenant_id, thread_id, seq);"
            "CREATE INDEX b ON events (tenant_id, id)");
    if (sqlite3_prepare_v2(db, "INSERT INTO events VALUES (?1,?2,?3,?4,NULL,?5,?6,?7,?8)", -1,
            &stmt, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    int64_t n = 0;
    double start = now(), end = start;
    while (end - start < seconds) {
        run(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++, n++)
            insert(stmt, n + 1, ids, n + 1);
        run(db, "COMMIT");
        end = now();
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return (double)n / (end - start);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        die("usage: limits file|sqlite DIR ROWS_PER_COMMIT SECONDS");
    int batch = (int)strtol(argv[3], NULL, 10);
    double seconds = strtod(argv[4], NULL);
    if (batch < 1 || batch > 512)
        die("ROWS_PER_COMMIT must be 1 to 512");
    double rate = strcmp(argv[1], "file") == 0 ? measure_file(argv[2], batch, seconds)
                                               : measure_sqlite(argv[2], batch, seconds);
    printf("%.0f\n", rate);
    return 0;
}
