/* SPDX-License-Identifier: Apache-2.0 */
/* Content (store/content.h) where the engine keeps it: on SQLite in the data directory, on
 * PostgreSQL in the database. It is tested here because its statements are the model's. */
#include <semaphore.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fixture.h"
#include "model/files/blobs.h"
#include "test.h"

enum { CHUNK = 512 * 1024 }; /* of PostgreSQL */

static char byte_at(uint64_t offset)
{
    return (char)(offset * 31 + (offset >> 8) * 7 + (offset >> 16));
}

static void fill(char *place, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        place[i] = byte_at(offset + i);
}

/* Appends bytes [from, to) of the pattern in pieces of some odd size. */
static enum error append_pattern(struct content_writer *w, uint64_t from, uint64_t to)
{
    enum { PIECE = 100003 };
    char *piece = mem_alloc(PIECE);
    enum error e = OK;
    while (e == OK && from < to) {
        size_t size = to - from < PIECE ? (size_t)(to - from) : PIECE;
        fill(piece, from, size);
        e = content_append(w, (struct str){piece, size});
        from += size;
    }
    mem_free(piece);
    return e;
}

static struct content_info write_pattern(struct fixture *f, struct uuid id, uint64_t size)
{
    struct content_writer *w = NULL;
    struct content_info info = {0};
    EXPECT_EQ(content_create(f->store, DEFAULT_TENANT_ID, id, &w), OK);
    EXPECT_EQ(append_pattern(w, 0, size), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    content_keep(w);
    EXPECT_EQ(info.size_bytes, size);
    return info;
}

/* Whether what is there from `offset` on is the pattern. */
static bool reads_pattern(struct content_reader *r, uint64_t offset, size_t room, size_t expected)
{
    char *place = mem_alloc(room + 1), *wanted = mem_alloc(expected + 1);
    size_t size = 0;
    enum error e = content_read(r, offset, place, room, &size);
    fill(wanted, offset, expected);
    bool good = e == OK && size == expected && memcmp(place, wanted, size) == 0;
    mem_free(place);
    mem_free(wanted);
    return good;
}

static bool is_there(struct fixture *f, struct uuid tenant_id, struct uuid id, uint64_t size)
{
    struct content_info info;
    return content_measure(f->store, tenant_id, id, size, NULL, NULL, &info) == OK;
}

TEST(content_of_any_size_is_read_as_it_was_written)
{
    static const uint64_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct uuid id = uuid_v7();
        struct content_info written = write_pattern(&f, id, sizes[i]), read;
        EXPECT_EQ(content_measure(f.store, DEFAULT_TENANT_ID, id, sizes[i], NULL, NULL, &read), OK);
        EXPECT(memcmp(&read.sha256, &written.sha256, sizeof read.sha256) == 0);
        struct content_reader *r = NULL;
        EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, sizes[i], &r), OK);
        EXPECT(reads_pattern(r, 0, 100, sizes[i] < 100 ? (size_t)sizes[i] : 100));
        EXPECT(reads_pattern(r, sizes[i], 100, 0));
        EXPECT(reads_pattern(r, sizes[i] + 7, 100, 0));
        content_close(r);
    }
    fixture_end(&f);
}

TEST(content_is_read_from_any_place_across_the_seams_of_chunks)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7();
    struct content_reader *r = NULL;
    write_pattern(&f, id, 2 * CHUNK + 1000);
    EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, 2 * CHUNK + 1000, &r), OK);
    EXPECT(reads_pattern(r, CHUNK - 10, 20, 20));
    EXPECT(reads_pattern(r, CHUNK, 20, 20));
    EXPECT(reads_pattern(r, 5, 2 * CHUNK, 2 * CHUNK));
    EXPECT(reads_pattern(r, 2 * CHUNK + 990, 20, 10));
    content_close(r);
    fixture_end(&f);
}

TEST(the_hash_is_that_of_the_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct content_writer *w = NULL;
    struct content_info info;
    EXPECT_EQ(content_create(f.store, DEFAULT_TENANT_ID, uuid_v7(), &w), OK);
    EXPECT_EQ(content_append(w, STR("hello ")), OK);
    EXPECT_EQ(content_append(w, STR("world")), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    struct sha256 expected = sha256_of(STR("hello world"));
    EXPECT(memcmp(&info.sha256, &expected, sizeof expected) == 0);
    /* Writing may continue after a sync. */
    EXPECT_EQ(content_append(w, STR("!")), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    expected = sha256_of(STR("hello world!"));
    EXPECT(memcmp(&info.sha256, &expected, sizeof expected) == 0);
    content_abandon(w);
    fixture_end(&f);
}

TEST(what_is_abandoned_is_gone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7();
    struct content_writer *w = NULL;
    struct content_info info;
    EXPECT_EQ(content_create(f.store, DEFAULT_TENANT_ID, id, &w), OK);
    EXPECT_EQ(append_pattern(w, 0, CHUNK + 10), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    content_abandon(w);
    EXPECT(!is_there(&f, DEFAULT_TENANT_ID, id, CHUNK + 10));
    if (on_postgres())
        EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blob_chunks"), 0);
    content_abandon(NULL);
    content_keep(NULL);
    fixture_end(&f);
}

TEST(writing_goes_on_after_any_offset_and_drops_what_is_behind_it)
{
    static const uint64_t offsets[] = {0, 10, CHUNK - 1, CHUNK, CHUNK + 10, 2 * CHUNK};
    struct fixture f;
    fixture_begin(&f);
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct uuid id = uuid_v7();
        struct content_writer *w = NULL;
        struct content_info info;
        write_pattern(&f, id, 2 * CHUNK + 100);
        EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, offsets[i], &w), OK);
        EXPECT_EQ(append_pattern(w, offsets[i], offsets[i] + 50), OK);
        EXPECT_EQ(content_sync(w, &info), OK);
        content_keep(w);
        EXPECT_EQ(info.size_bytes, offsets[i] + 50);
        EXPECT(!is_there(&f, DEFAULT_TENANT_ID, id, 2 * CHUNK + 100));
        struct content_reader *r = NULL;
        EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, offsets[i] + 50, &r), OK);
        EXPECT(reads_pattern(r, 0, (size_t)offsets[i] + 60, (size_t)offsets[i] + 50));
        content_close(r);
    }
    fixture_end(&f);
}

TEST(one_writer_at_a_time_has_content_and_only_as_much_as_is_there)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7();
    struct content_writer *w = NULL, *second = NULL;
    write_pattern(&f, id, 100);
    EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, 101, &w), ERR_DAMAGED);
    EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, uuid_v7(), 1, &w), ERR_DAMAGED);
    EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, 100, &w), OK);
    EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, 100, &second), ERR_CONFLICT);
    content_keep(w);
    EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, 100, &second), OK);
    content_keep(second);
    fixture_end(&f);
}

TEST(content_is_its_tenants_and_of_its_size)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7(), other = make_tenant(&f, "other");
    struct content_reader *r = NULL;
    write_pattern(&f, id, 100);
    EXPECT_EQ(content_open(f.store, other, id, 100, &r), ERR_DAMAGED);
    EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, 99, &r), ERR_DAMAGED);
    EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, uuid_v7(), 100, &r), ERR_DAMAGED);
    EXPECT_EQ(content_remove(f.store, other, id), OK);
    EXPECT(is_there(&f, DEFAULT_TENANT_ID, id, 100));
    fixture_end(&f);
}

TEST(who_reads_content_reads_it_to_its_end_also_when_it_is_removed)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7();
    struct content_reader *r = NULL;
    write_pattern(&f, id, 2 * CHUNK);
    EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, 2 * CHUNK, &r), OK);
    EXPECT(reads_pattern(r, 0, 10, 10));
    EXPECT_EQ(content_remove(f.store, DEFAULT_TENANT_ID, id), OK);
    EXPECT(reads_pattern(r, CHUNK, CHUNK, CHUNK));
    content_close(r);
    EXPECT_EQ(content_remove(f.store, DEFAULT_TENANT_ID, id), OK);
    fixture_end(&f);
}

/* --- Leftovers ------------------------------------------------------------------------------ */

static enum error knows_one(void *data, struct uuid tenant_id, struct uuid id, bool *out_known)
{
    *out_known = uuid_eq(*(const struct uuid *)data, id);
    return OK;
}

/* From two days ago: too old to belong to an upload in progress. */
static struct uuid old_id(uint64_t n)
{
    return uuid_v7_from((uint64_t)(clock_wall_us() / 1000) - UINT64_C(48) * 3600 * 1000, 0, n);
}

TEST(a_sweep_removes_what_no_row_knows_and_nobody_writes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid known = old_id(1), leftover = old_id(2), under_way = old_id(3);
    struct content_writer *w = NULL;
    uint64_t removed = 0;
    write_pattern(&f, known, 10);
    write_pattern(&f, leftover, CHUNK + 10);
    EXPECT_EQ(content_create(f.store, DEFAULT_TENANT_ID, under_way, &w), OK);
    EXPECT_EQ(append_pattern(w, 0, CHUNK), OK);
    EXPECT_EQ(content_sweep(f.store, knows_one, &known, &removed), OK);
    EXPECT_EQ(removed, 1);
    EXPECT(is_there(&f, DEFAULT_TENANT_ID, known, 10));
    EXPECT(is_there(&f, DEFAULT_TENANT_ID, under_way, CHUNK));
    content_abandon(w);
    if (on_postgres()) { /* noted, and gone an hour later */
        sql_exec(&f, "UPDATE blob_garbage SET removed_at = removed_at - 3700000000");
        EXPECT_EQ(content_sweep(f.store, knows_one, &known, &removed), OK);
        EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blob_garbage"), 0);
    }
    EXPECT(!is_there(&f, DEFAULT_TENANT_ID, leftover, CHUNK + 10));
    EXPECT_EQ(content_sweep(f.store, knows_one, &known, &removed), OK);
    EXPECT_EQ(removed, 0);
    fixture_end(&f);
}

TEST(a_sweep_leaves_what_this_process_has_staged)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid staged = uuid_v7(), nobody = UUID_NIL;
    uint64_t removed = 0;
    write_pattern(&f, staged, 10);
    EXPECT_EQ(content_sweep(f.store, knows_one, &nobody, &removed), OK);
    EXPECT(is_there(&f, DEFAULT_TENANT_ID, staged, 10));
    fixture_end(&f);
}

POSTGRES_ONLY(a_sweep_leaves_what_another_node_may_be_writing)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid young = uuid_v7(), nobody = UUID_NIL;
    uint64_t removed = 0;
    write_pattern(&f, young, 10);
    EXPECT_EQ(content_sweep(f.store, knows_one, &nobody, &removed), OK);
    EXPECT_EQ(removed, 0);
    EXPECT(is_there(&f, DEFAULT_TENANT_ID, young, 10));
    fixture_end(&f);
}

SQLITE_ONLY(a_file_whose_bytes_are_missing_is_damaged_and_said_to_be)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7();
    struct content_reader *r = NULL;
    write_pattern(&f, id, 100);
    EXPECT_EQ(content_remove(f.store, DEFAULT_TENANT_ID, id), OK);
    EXPECT_EQ(content_open(f.store, DEFAULT_TENANT_ID, id, 100, &r), ERR_DAMAGED);
    fixture_end(&f);
}

/* --- Blobs ---------------------------------------------------------------------------------- */

TEST(the_same_bytes_are_adopted_once_a_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct blob first = {.id = uuid_v7(), .sha256 = sha256_of(STR("x")), .size_bytes = 1}, stored;
    struct blob second = first;
    second.id = uuid_v7();
    struct context *c = begin(&f);
    EXPECT_EQ(blob_adopt(c, &first, &stored), OK);
    EXPECT(uuid_eq(stored.id, first.id) && uuid_eq(c->adopted_blob, first.id));
    commit(&f);
    c = begin(&f);
    EXPECT_EQ(blob_adopt(c, &second, &stored), OK);
    EXPECT(uuid_eq(stored.id, first.id) && uuid_is_nil(c->adopted_blob));
    commit(&f);
    struct uuid other = make_tenant(&f, "other");
    c = begin_as(&f, other);
    EXPECT_EQ(blob_find(c, &first.sha256, &stored), ERR_NOT_FOUND);
    EXPECT_EQ(blob_adopt(c, &second, &stored), OK);
    EXPECT(uuid_eq(c->adopted_blob, second.id));
    commit(&f);
    bool known = false;
    c = begin(&f);
    EXPECT_EQ(blob_is_known(c, DEFAULT_TENANT_ID, first.id, &known), OK);
    EXPECT(known);
    EXPECT_EQ(blob_is_known(c, DEFAULT_TENANT_ID, second.id, &known), OK);
    EXPECT(!known);
    abandon(&f);
    fixture_end(&f);
}

TEST(sealed_content_is_not_touched_by_who_reopens_it_under_its_old_id)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid id = uuid_v7(), sealed = uuid_v7();
    struct content_writer *w = NULL;
    struct content_info info;
    if (!content_is_in_database(f.store)) {
        EXPECT_EQ(content_create(f.store, DEFAULT_TENANT_ID, id, &w), OK);
        EXPECT_EQ(append_pattern(w, 0, 1000), OK);
        EXPECT_EQ(content_sync(w, &info), OK);
        EXPECT_EQ(content_seal(w, sealed), OK);
        content_keep(w);
        EXPECT_EQ(content_reopen(f.store, DEFAULT_TENANT_ID, id, 10, &w), OK);
        EXPECT(is_there(&f, DEFAULT_TENANT_ID, sealed, 1000));
        EXPECT_EQ(append_pattern(w, 10, 15), OK);
        EXPECT_EQ(content_sync(w, &info), OK);
        content_keep(w);
        EXPECT(is_there(&f, DEFAULT_TENANT_ID, id, 15));
        EXPECT(is_there(&f, DEFAULT_TENANT_ID, sealed, 1000));
    }
    fixture_end(&f);
}

/* --- Threads -------------------------------------------------------------------------------- */

enum { LONG_TASKS = 6 };

struct waiting {
    struct content_task task;
    sem_t *gate;
    sem_t *done;
};

static void wait_at_gate(struct content_task *task)
{
    struct waiting *w = CONTAINER_OF(task, struct waiting, task);
    while (w->gate != NULL && sem_wait(w->gate) != 0)
        continue;
    sem_post(w->done);
}

static bool comes(sem_t *sem)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    return sem_timedwait(sem, &until) == 0;
}

TEST(short_tasks_find_a_thread_while_long_ones_wait_for_each_other)
{
    struct fixture f;
    fixture_begin(&f);
    sem_t gate, long_done, short_done;
    sem_init(&gate, 0, 0);
    sem_init(&long_done, 0, 0);
    sem_init(&short_done, 0, 0);
    struct waiting longs[LONG_TASKS], quick = {{.run = wait_at_gate}, NULL, &short_done};
    for (size_t i = 0; i < LONG_TASKS; i++) {
        longs[i] = (struct waiting){{.run = wait_at_gate, .is_long = true}, &gate, &long_done};
        content_submit(f.store, &longs[i].task);
    }
    content_submit(f.store, &quick.task);
    EXPECT(comes(&short_done));
    for (size_t i = 0; i < LONG_TASKS; i++)
        sem_post(&gate);
    for (size_t i = 0; i < LONG_TASKS; i++)
        EXPECT(comes(&long_done));
    fixture_end(&f);
}

TEST(a_spool_leaves_some_of_the_disk_to_the_database)
{
    struct fixture f;
    fixture_begin(&f);
    int fd = content_spool(f.store);
    EXPECT(fd >= 0);
    EXPECT(content_spool_has_room(fd, 1));
    EXPECT(!content_spool_has_room(fd, UINT64_MAX));
    EXPECT(!content_spool_has_room(fd, (uint64_t)1 << 60));
    close(fd);
    fixture_end(&f);
}
