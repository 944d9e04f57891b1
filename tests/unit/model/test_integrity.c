/* SPDX-License-Identifier: Apache-2.0 */
/* Bits that change where they are stored: what was hashed is never shown as good. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "store/fsck.h"

enum { RECORDS = 3 };

struct listing {
    struct audit_record records[RECORDS];
    size_t count;
    enum error result;
    struct audit_verdict verdict;
    bool was_read;
};

static void record_some(struct fixture *f)
{
    struct context *c = begin(f);
    for (int i = 0; i < RECORDS; i++)
        EXPECT_EQ(audit_record(c, "thread.deleted", "thing", DEFAULT_TENANT_ID,
                      arena_printf(f->arena, "{\"flip\":%d}", i + 1)),
            OK);
    commit(f);
}

static void list(struct context *c, struct listing *out)
{
    struct page page;
    const struct audit_filter all = {0};
    *out = (struct listing){.was_read = true};
    page = (struct page){.limit = RECORDS};
    out->result = audit_list(c, &all, &page, out->records);
    out->count = page.count;
    EXPECT_EQ(audit_verify(c, &out->verdict), OK);
}

static struct str words(struct arena *arena, const struct audit_record *r)
{
    return arena_printf(arena, "%lld %lld %.*s %.*s %.*s %.*s %.*s %.*s %.*s", (long long)r->seq,
        (long long)r->at, STR_ARG(r->actor), STR_ARG(r->action), STR_ARG(r->object_type),
        STR_ARG(r->object_id), STR_ARG(r->request_id), STR_ARG(r->detail), STR_ARG(r->hash));
}

/* --- By SQL, on both engines ---------------------------------------------------------------- */

static void set(struct fixture *f, const char *column, struct str literal)
{
    sql_exec(f,
        arena_cstr(f->arena, arena_printf(f->arena, "UPDATE audit_log SET %s = %.*s WHERE seq = 2",
                                 column, STR_ARG(literal))));
}

static void expect_listed(struct fixture *f, enum error result)
{
    struct listing found;
    list(begin_reading(f), &found);
    commit(f);
    EXPECT_EQ(found.result, result);
    EXPECT_EQ(found.verdict.intact, result == OK);
    if (result != OK)
        EXPECT_PART(told(f), "differs from what was stored");
}

static void flip_text(struct fixture *f, const char *column, struct str value)
{
    const size_t places[] = {0, value.len / 2, value.len - 1};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        char *bytes = arena_alloc(f->arena, value.len);
        memcpy(bytes, value.ptr, value.len);
        bytes[places[i]] ^= 1;
        set(f, column, arena_printf(f->arena, "'%.*s'", STR_ARG(((struct str){bytes, value.len}))));
        expect_listed(f, ERR_DAMAGED);
    }
    set(f, column, arena_printf(f->arena, "'%.*s'", STR_ARG(value)));
    expect_listed(f, OK);
}

static void flip_number(struct fixture *f, const char *column, int64_t value)
{
    for (unsigned bit = 0; bit < 63; bit += 9) {
        int64_t flipped = value ^ ((int64_t)1 << bit);
        set(f, column, arena_printf(f->arena, "%lld", (long long)flipped));
        expect_listed(f, ERR_DAMAGED);
    }
    set(f, column, arena_printf(f->arena, "%lld", (long long)value));
    expect_listed(f, OK);
}

static void flip_hash(struct fixture *f, struct str hex)
{
    for (size_t i = 0; i < hex.len; i += 7) {
        char *digits = arena_alloc(f->arena, hex.len);
        memcpy(digits, hex.ptr, hex.len);
        digits[i] = digits[i] == '0' ? '1' : '0';
        set(f, "hash",
            arena_printf(f->arena, "%s%.*s'", on_postgres() ? "'\\x" : "x'", (int)hex.len, digits));
        expect_listed(f, ERR_DAMAGED);
    }
}

TEST(a_bit_that_changed_in_any_column_of_an_audit_record_is_never_shown)
{
    struct fixture f;
    struct listing good;
    fixture_begin(&f);
    record_some(&f);
    list(begin_reading(&f), &good);
    EXPECT_EQ(good.result, OK);
    commit(&f);
    const struct audit_record *r = &good.records[1];
    flip_text(&f, "actor", r->actor);
    flip_text(&f, "action", r->action);
    flip_text(&f, "object_type", r->object_type);
    flip_text(&f, "object_id", r->object_id);
    flip_text(&f, "request_id", r->request_id);
    flip_number(&f, "at", r->at);
    set(&f, "detail", STR("'{\"flip\":3}'"));
    expect_listed(&f, ERR_DAMAGED);
    set(&f, "detail", STR("'{\"flip\":2}'"));
    expect_listed(&f, OK);
    flip_hash(&f, r->hash);
    EXPECT(store_stats(f.store).damaged > 20);
    fixture_end(&f);
}

/* --- In the bytes of SQLite's file ---------------------------------------------------------- */

static struct listing *listing; /* what list_file fills in */
static struct arena *listing_arena;

/* Replaces the rules of a check, which reads the file without changing it. */
static enum error list_file(struct fsck *fsck, struct tx *tx, struct problem *problem)
{
    struct context c;
    context_init(&c, listing_arena, problem, tx);
    context_enter(&c, DEFAULT_TENANT_ID);
    list(&c, listing);
    return OK;
}

/* How many faults SQLite itself found. */
static size_t read_file(struct fixture *f, bool quick, struct listing *out)
{
    const struct store_config config = {.engine = ENGINE_SQLITE,
        .data_dir = f->scratch.data_dir,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT};
    static struct fsck fsck;
    struct problem problem;
    problem_init(&problem, f->arena);
    fsck = (struct fsck){.arena = f->arena, .quick = quick};
    *out = (struct listing){0};
    listing = out;
    listing_arena = f->arena;
    enum error e = store_fsck(&config, list_file, &fsck, &problem);
    return fsck.n_findings + (e != OK);
}

/* Detected by SQLite or by the hash, or nothing of what is shown has changed. */
static bool is_detected(struct fixture *f, const struct listing *good, const struct listing *now)
{
    if (!now->was_read || now->result == ERR_DAMAGED)
        return true;
    EXPECT_EQ(now->result, OK);
    EXPECT_EQ(now->count, good->count);
    for (size_t i = 0; i < now->count; i++)
        EXPECT_STR(words(f->arena, &now->records[i]), words(f->arena, &good->records[i]));
    return false;
}

/* From the head of the second record's row to the end of its hash; other rows are around it. */
static void find_row(const char *file, size_t len, size_t *out_from, size_t *out_to)
{
    const struct str mark = STR("{\"flip\":2}");
    const char *at = memmem(file, len, mark.ptr, mark.len);
    assert(at != NULL);
    *out_to = (size_t)(at - file) + mark.len + SHA256_LEN;
    while (memcmp(at, DEFAULT_TENANT_ID.bytes, sizeof DEFAULT_TENANT_ID.bytes) != 0)
        at--;
    *out_from = (size_t)(at - file) - 16;
}

SQLITE_ONLY(a_bit_that_changed_in_any_byte_of_a_stored_audit_record_is_never_shown)
{
    struct fixture f;
    struct listing good, now;
    struct stat st;
    size_t from, to, detected = 0, overlooked = 0;
    fixture_begin(&f);
    record_some(&f);
    fixture_close(&f);
    EXPECT_EQ(read_file(&f, false, &good), 0);
    EXPECT_EQ(good.result, OK);
    EXPECT_EQ(good.count, RECORDS);
    int fd = open(f.scratch.database, O_RDWR);
    EXPECT_EQ(fstat(fd, &st), 0);
    char *file CLEANUP(mem_freep) = mem_alloc((size_t)st.st_size);
    EXPECT_EQ(pread(fd, file, (size_t)st.st_size, 0), st.st_size);
    find_row(file, (size_t)st.st_size, &from, &to);
    for (size_t i = from; i < to; i++) {
        char byte = (char)(file[i] ^ (1 << i % 8));
        EXPECT_EQ(pwrite(fd, &byte, 1, (off_t)i), 1);
        read_file(&f, true, &now);
        if (is_detected(&f, &good, &now))
            detected++;
        else /* a read finds the row by its index: the check compares the two */
            overlooked += read_file(&f, false, &now) == 0;
        EXPECT_EQ(pwrite(fd, &file[i], 1, (off_t)i), 1);
    }
    EXPECT(detected > (to - from) * 3 / 4);
    EXPECT(overlooked <= 6); /* a text whose type became that of bytes is the same text */
    EXPECT_EQ(read_file(&f, false, &now), 0);
    EXPECT_EQ(now.result, OK);
    close(fd);
    fixture_end(&f);
}
