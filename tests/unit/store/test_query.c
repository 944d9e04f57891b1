/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

/* Each test is one job, which checks from inside. */
static void in_job(
    enum store_mode mode, enum error (*body)(void *arena, struct tx *tx), enum error expected)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(store_call(f.store, mode, body, &f.scratch.arena), expected);
    fixture_end(&f);
}

static void begin_echo(struct query *q, struct tx *tx, void *arena)
{
    query_begin(q, tx, &SQL_VALUES_ECHO, arena);
}

static enum error echo_values(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR("h\xc3\xa9llo"));
    query_bytes(&q, bytes, STR("\0\xff\0"));
    query_i64(&q, number, INT64_MIN);
    EXPECT(query_next(&q));
    struct str text = row_text(&q), bytes = row_bytes(&q);
    EXPECT_EQ(row_i64(&q), INT64_MIN);
    EXPECT(query_next(&q));
    EXPECT_STR(row_text(&q), STR("second"));
    EXPECT_STR(row_bytes(&q), STR("\x02"));
    EXPECT_EQ(row_i64(&q), 2);
    EXPECT(!query_next(&q));
    enum error e = query_end(&q);
    /* The values that were read live in the arena, not in the statement. */
    EXPECT_STR(text, STR("h\xc3\xa9llo"));
    EXPECT_STR(bytes, STR("\0\xff\0"));
    return e;
}

TEST(values_come_back_as_they_were_bound_and_outlive_the_query)
{
    in_job(STORE_READ, echo_values, OK);
}

static enum error echo_empty(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR(""));
    query_bytes(&q, bytes, STR(""));
    query_bool(&q, flag, true);
    EXPECT(query_next(&q));
    struct str text = row_text(&q), bytes = row_bytes(&q);
    EXPECT(!str_is_none(text));
    EXPECT_EQ(text.len, 0);
    EXPECT(!str_is_none(bytes));
    EXPECT_EQ(bytes.len, 0);
    EXPECT(row_bool(&q));
    return query_end(&q);
}

TEST(empty_text_and_empty_bytes_differ_from_absent_ones)
{
    in_job(STORE_READ, echo_empty, OK);
}

static void expect_all_null(struct query *q)
{
    int64_t number = 7;
    struct uuid id = id_of(9);
    EXPECT(query_next(q));
    EXPECT(str_is_none(row_text(q)));
    EXPECT(!row_uuid_if(q, &id));
    EXPECT(!row_i64_if(q, &number));
    EXPECT_EQ(number, 7);
    EXPECT(uuid_eq(id, id_of(9)));
}

static enum error bind_nothing(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR_NONE);
    query_uuid_if(&q, id, false, id_of(1));
    query_i64_if(&q, number, false, 5);
    expect_all_null(&q);
    return query_end(&q);
}

TEST(what_is_not_bound_or_bound_to_none_is_null)
{
    in_job(STORE_READ, bind_nothing, OK);
}

static enum error bind_and_forget(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR("left behind"));
    query_uuid(&q, id, id_of(1));
    query_i64(&q, number, 5);
    EXPECT(query_next(&q)); /* and not to its end */
    enum error e = query_end(&q);
    EXPECT_EQ(e, OK);
    begin_echo(&q, tx, arena);
    expect_all_null(&q);
    return query_end(&q);
}

TEST(a_statement_forgets_its_bindings_and_its_rows_between_uses)
{
    in_job(STORE_READ, bind_and_forget, OK);
}

static enum error read_uuids(void *arena, struct tx *tx)
{
    struct query q;
    struct uuid id;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR("seventeen bytes!!"));
    query_uuid(&q, id, id_of(77));
    EXPECT(query_next(&q));
    EXPECT(!row_uuid_if(&q, &id));
    EXPECT(row_uuid_if(&q, &id));
    EXPECT(uuid_eq(id, id_of(77)));
    EXPECT(uuid_is_nil(row_uuid(&q)));
    return query_end(&q);
}

TEST(an_id_is_sixteen_bytes_and_anything_else_reads_as_none)
{
    in_job(STORE_READ, read_uuids, OK);
}

static const char *const speeds[] = {"slow", "second", NULL};

static enum error read_words(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR_NONE);
    EXPECT(query_next(&q));
    EXPECT_EQ(row_enum(&q, speeds), 0);
    EXPECT(query_next(&q));
    EXPECT_EQ(row_enum(&q, speeds), 2);
    return query_end(&q);
}

static enum error read_unknown_word(void *arena, struct tx *tx)
{
    struct query q;
    begin_echo(&q, tx, arena);
    query_text(&q, text, STR("swift"));
    EXPECT(query_next(&q));
    EXPECT_EQ(row_enum(&q, speeds), 0);
    EXPECT(!query_next(&q));
    return query_end(&q);
}

TEST(a_stored_word_that_its_list_does_not_have_is_damage)
{
    struct fixture f;
    in_job(STORE_READ, read_words, OK);
    fixture_begin(&f);
    EXPECT_EQ(store_call(f.store, STORE_READ, read_unknown_word, &f.scratch.arena), ERR_DAMAGED);
    EXPECT_EQ(store_stats(f.store).damaged, 1);
    fixture_end(&f);
}

static enum error add(void *arena, struct tx *tx, int64_t number)
{
    struct query q;
    query_begin(&q, tx, &SQL_NOTE_ADD, arena);
    query_uuid(&q, tenant_id, UUID_NIL);
    query_uuid(&q, key, UUID_NIL);
    query_i64(&q, number, number);
    return query_run(&q);
}

static enum error count_changes(void *arena, struct tx *tx)
{
    struct query q;
    int64_t changed = -1;
    query_begin(&q, tx, &SQL_NOTE_RENAME, arena);
    query_text(&q, body, STR("none yet"));
    EXPECT_EQ(query_run_counted(&q, &changed), OK);
    EXPECT_EQ(changed, 0);
    EXPECT_EQ(add(arena, tx, 1), OK);
    EXPECT_EQ(add(arena, tx, 2), OK);
    query_begin(&q, tx, &SQL_NOTE_RENAME, arena);
    query_text(&q, body, STR("renamed"));
    EXPECT_EQ(query_run_counted(&q, &changed), OK);
    EXPECT_EQ(changed, 2);
    return OK;
}

TEST(a_change_tells_how_many_rows_it_changed)
{
    in_job(STORE_WRITE, count_changes, OK);
}

static enum error break_a_constraint(void *arena, struct tx *tx)
{
    EXPECT_EQ(add(arena, tx, 1), OK);
    EXPECT_EQ(add(arena, tx, 1), ERR_CONFLICT);
    /* The transaction continues: only the statement failed. */
    EXPECT_EQ(add(arena, tx, 2), OK);
    return OK;
}

TEST(a_broken_constraint_is_a_conflict_and_fails_its_statement_alone)
{
    in_job(STORE_WRITE, break_a_constraint, OK);
}

static enum error use_after_error(void *arena, struct tx *tx)
{
    struct query q;
    EXPECT_EQ(add(arena, tx, 1), OK);
    query_begin(&q, tx, &SQL_NOTE_ADD, arena);
    query_uuid(&q, tenant_id, UUID_NIL);
    query_uuid(&q, key, UUID_NIL);
    query_i64(&q, number, 1);
    EXPECT(!query_next(&q));
    query_i64(&q, number, 2); /* does nothing any more */
    EXPECT(!query_next(&q));
    int64_t changed = 7;
    EXPECT_EQ(query_run_counted(&q, &changed), ERR_CONFLICT);
    EXPECT_EQ(changed, 7);
    return query_end(&q);
}

TEST(an_error_sticks_until_the_end_of_the_query)
{
    in_job(STORE_WRITE, use_after_error, ERR_CONFLICT);
}

static enum error run_broken(void *arena, struct tx *tx)
{
    struct query q;
    query_begin(&q, tx, &SQL_BROKEN_STATEMENT, arena);
    EXPECT(!query_next(&q));
    return query_end(&q);
}

TEST(a_statement_that_does_not_prepare_fails_its_job_and_no_other)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(store_call(f.store, STORE_READ, run_broken, &f.scratch.arena), ERR_INTERNAL);
    EXPECT_EQ(store_call(f.store, STORE_WRITE, run_broken, &f.scratch.arena), ERR_INTERNAL);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    fixture_end(&f);
}

static enum error write_in_a_read(void *arena, struct tx *tx)
{
    return add(arena, tx, 1);
}

TEST(a_read_job_cannot_write)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(store_call(f.store, STORE_READ, write_in_a_read, &f.scratch.arena), ERR_INTERNAL);
    EXPECT_EQ(fixture_count(&f), 0);
    fixture_end(&f);
}
