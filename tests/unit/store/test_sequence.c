/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"
#include "fixture.h"
#include "store/sqlite.h"

TEST(numbers_start_at_one_and_each_key_counts_for_itself)
{
    struct fixture f;
    fixture_begin(&f);
    for (int round = 0; round < 3; round++)
        for (uint64_t key = 1; key <= 4; key++)
            EXPECT_EQ(fixture_add(&f, id_of(key)), OK);
    for (uint64_t key = 1; key <= 4; key++)
        expect_gapless(&f, id_of(key), 3);
    fixture_end(&f);
}

static enum error add_refused(struct fixture *f, struct uuid key)
{
    struct step step = {.key = key, .answer = ERR_INVALID};
    step_submit(f, &step, STORE_WRITE, add_note);
    return step_wait(&step);
}

TEST(a_failed_job_leaves_no_gap)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(add_refused(&f, id_of(1)), ERR_INVALID); /* the first that ever touches it */
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    EXPECT_EQ(add_refused(&f, id_of(1)), ERR_INVALID);
    EXPECT_EQ(add_refused(&f, id_of(1)), ERR_INVALID);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    expect_gapless(&f, id_of(1), 2);
    fixture_end(&f);
}

TEST(failed_jobs_between_good_ones_of_the_same_batch_leave_no_gap)
{
    enum { JOBS = 60 };
    struct fixture f;
    struct gate gate = {0};
    struct step steps[JOBS] = {0};
    fixture_begin(&f);
    gate_shut(&f, &gate);
    for (size_t i = 0; i < JOBS; i++) {
        steps[i].key = id_of(i % 2);
        steps[i].answer = i % 3 == 0 ? ERR_CONFLICT : OK;
        step_submit(&f, &steps[i], STORE_WRITE, add_note);
    }
    gate_open(&gate);
    for (size_t i = 0; i < JOBS; i++)
        EXPECT_EQ(step_wait(&steps[i]), steps[i].answer);
    expect_gapless(&f, id_of(0), 20);
    expect_gapless(&f, id_of(1), 20);
    EXPECT_EQ(step_wait(&gate.step), OK);
    fixture_end(&f);
}

TEST(a_batch_that_fails_whole_leaves_no_gap)
{
    struct fixture f;
    struct gate gate = {0};
    struct step steps[8] = {0};
    faults_install();
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    gate_shut(&f, &gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        step_submit(&f, &steps[i], STORE_WRITE, add_note);
    faults_allow_writes(0);
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        EXPECT_EQ(step_wait(&steps[i]), ERR_STORAGE_FULL);
    faults_clear();
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    expect_gapless(&f, UUID_NIL, 2);
    step_wait(&gate.step);
    fixture_end(&f);
}

TEST(numbers_go_on_after_the_store_is_opened_again)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    fixture_close(&f);
    fixture_open(&f);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    expect_gapless(&f, id_of(1), 3);
    fixture_end(&f);
}

static enum error drop_numbers(struct step *step, struct tx *tx)
{
    const struct sequence numbers = {
        .load = &SQL_NOTE_LAST, .tenant_id = UUID_NIL, .key = step->key};
    tx_sequence_drop(tx, &numbers);
    return OK;
}

static enum error remove_note(struct step *step, struct tx *tx)
{
    struct query q;
    query_begin(&q, tx, &SQL_NOTE_REMOVE, NULL);
    query_uuid(&q, tenant_id, UUID_NIL);
    query_uuid(&q, key, step->key);
    return query_run(&q);
}

/* Takes the newest note of the key away behind the sequence's back. */
static enum error remove_newest(struct fixture *f, struct uuid key)
{
    struct step step = {.key = key};
    step_submit(f, &step, STORE_WRITE, remove_note);
    return step_wait(&step);
}

TEST(a_sequence_that_was_dropped_is_read_from_the_tables_again)
{
    struct fixture f;
    fixture_begin(&f);
    for (uint64_t key = 1; key <= 2; key++) {
        EXPECT_EQ(fixture_add(&f, id_of(key)), OK);
        EXPECT_EQ(fixture_add(&f, id_of(key)), OK);
        EXPECT_EQ(remove_newest(&f, id_of(key)), OK);
    }
    struct step one = {.key = id_of(1)};
    step_submit(&f, &one, STORE_WRITE, drop_numbers);
    EXPECT_EQ(step_wait(&one), OK);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    expect_gapless(&f, id_of(1), 2);
    struct step all = {0}; /* of the nil tenant: the nil key */
    step_submit(&f, &all, STORE_WRITE, drop_numbers);
    EXPECT_EQ(step_wait(&all), OK);
    EXPECT_EQ(fixture_add(&f, id_of(2)), OK);
    expect_gapless(&f, id_of(2), 2);
    fixture_end(&f);
}

static enum error take_three(struct step *step, struct tx *tx)
{
    const struct sequence numbers = {
        .load = &SQL_NOTE_LAST, .tenant_id = UUID_NIL, .key = step->key};
    uint64_t first = 0;
    enum error e = tx_sequence_take(tx, &numbers, 3, &first);
    step->number = (int64_t)first;
    return e;
}

TEST(many_numbers_are_taken_at_once)
{
    struct fixture f;
    struct step first = {0}, second = {0};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, UUID_NIL), OK);
    step_submit(&f, &first, STORE_WRITE, take_three);
    EXPECT_EQ(step_wait(&first), OK);
    step_submit(&f, &second, STORE_WRITE, take_three);
    EXPECT_EQ(step_wait(&second), OK);
    EXPECT_EQ(first.number, 2);
    EXPECT_EQ(second.number, 5);
    fixture_end(&f);
}

/* Adds a note under each of `size_bytes` keys. */
static enum error add_under_many_keys(struct step *step, struct tx *tx)
{
    enum error e = OK;
    for (size_t i = 0; e == OK && i < step->size_bytes; i++) {
        struct step one = {.key = id_of(i)};
        e = add_note(&one, tx);
    }
    return e == OK ? step->answer : e;
}

TEST(a_failed_job_that_touched_more_counters_than_are_remembered_leaves_no_gap)
{
    struct fixture f;
    struct step refused = {.size_bytes = SEQUENCE_MAX_TOUCHED * 2, .answer = ERR_INVALID};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, id_of(SEQUENCE_MAX_TOUCHED + 5)), OK);
    step_submit(&f, &refused, STORE_WRITE, add_under_many_keys);
    EXPECT_EQ(step_wait(&refused), ERR_INVALID);
    EXPECT_EQ(fixture_add(&f, id_of(SEQUENCE_MAX_TOUCHED + 5)), OK);
    EXPECT_EQ(fixture_add(&f, id_of(3)), OK);
    expect_gapless(&f, id_of(SEQUENCE_MAX_TOUCHED + 5), 2);
    expect_gapless(&f, id_of(3), 1);
    fixture_end(&f);
}

TEST(more_counters_than_the_cache_holds_still_count_without_gaps)
{
    struct fixture f;
    struct step many = {.size_bytes = SEQUENCE_SLOTS / 2 + 100};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    step_submit(&f, &many, STORE_WRITE, add_under_many_keys);
    EXPECT_EQ(step_wait(&many), OK);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    EXPECT_EQ(fixture_add(&f, id_of(SEQUENCE_SLOTS / 2 + 99)), OK);
    expect_gapless(&f, id_of(1), 3);
    expect_gapless(&f, id_of(SEQUENCE_SLOTS / 2 + 99), 2);
    fixture_end(&f);
}

static enum error take_of_another_tenant(struct step *step, struct tx *tx)
{
    const struct sequence numbers = {
        .load = &SQL_NOTE_LAST, .tenant_id = id_of(9), .key = step->key};
    uint64_t first = 0;
    enum error e = tx_sequence_take(tx, &numbers, 1, &first);
    step->number = (int64_t)first;
    return e;
}

TEST(the_same_key_of_another_tenant_counts_for_itself)
{
    struct fixture f;
    struct step other = {.key = id_of(1)};
    fixture_begin(&f);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    EXPECT_EQ(fixture_add(&f, id_of(1)), OK);
    step_submit(&f, &other, STORE_WRITE, take_of_another_tenant);
    EXPECT_EQ(step_wait(&other), OK);
    EXPECT_EQ(other.number, 1);
    fixture_end(&f);
}

/* --- Settled counters ----------------------------------------------------------------------- */

static enum error settle(struct step *step, struct tx *tx)
{
    tx_sequence_settle(tx);
    return step->answer;
}

static enum error peek(struct step *step, struct tx *tx)
{
    const struct sequence notes = {.load = &SQL_NOTE_LAST,
        .load_settled = &SQL_NOTE_NONE,
        .tenant_id = UUID_NIL,
        .key = step->key};
    uint64_t next = 0;
    enum error e = tx_sequence_take(tx, &notes, 0, &next);
    step->number = (int64_t)next;
    return e;
}

static int64_t next_number(struct fixture *f, uint64_t key)
{
    struct step step = {.key = id_of(key)};
    step_submit(f, &step, STORE_WRITE, peek);
    EXPECT_EQ(step_wait(&step), OK);
    return step.number;
}

static void settle_with(struct fixture *f, enum error answer)
{
    struct step step = {.answer = answer};
    step_submit(f, &step, STORE_WRITE, settle);
    EXPECT_EQ(step_wait(&step), answer);
}

/* Three notes exist under each of the keys, and the writer has not counted them yet. */
static void begin_with_notes(struct fixture *f, uint64_t keys)
{
    fixture_begin(f);
    for (uint64_t key = 1; key <= keys; key++)
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(fixture_add(f, id_of(key)), OK);
    fixture_close(f);
    fixture_open(f);
}

TEST(a_counter_is_loaded_as_settled_only_after_its_numbers_were_settled)
{
    struct fixture f;
    begin_with_notes(&f, 3);
    EXPECT_EQ(next_number(&f, 1), 4);
    EXPECT_EQ(next_number(&f, 1), 4); /* a look takes nothing */
    settle_with(&f, ERR_INVALID);
    EXPECT_EQ(next_number(&f, 2), 4);
    settle_with(&f, OK);
    EXPECT_EQ(next_number(&f, 3), 1);
    EXPECT_EQ(next_number(&f, 2), 4);
    fixture_end(&f);
}

TEST(counters_that_the_cache_has_forgotten_are_not_loaded_as_settled)
{
    struct fixture f;
    struct step many = {.size_bytes = SEQUENCE_SLOTS / 2 + 100};
    begin_with_notes(&f, 1);
    settle_with(&f, OK);
    step_submit(&f, &many, STORE_WRITE, add_under_many_keys);
    EXPECT_EQ(step_wait(&many), OK);
    EXPECT_EQ(next_number(&f, 1), 5);
    fixture_end(&f);
}
