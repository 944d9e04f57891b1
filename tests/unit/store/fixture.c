/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/alloc.h"
#include "note_statements.h"
#include "store/sqlite.h"

/* --- Life ----------------------------------------------------------------------------------- */

static void on_fatal(const char *what)
{
    fprintf(stderr, "fatal: %s\n", what);
    abort();
}

void fixture_init(struct fixture *f)
{
    *f = (struct fixture){0};
    scratch_init(&f->scratch);
    problem_init(&f->problem, &f->scratch.arena);
    f->config = (struct store_config){.engine = ENGINE_SQLITE,
        .data_dir = f->scratch.data_dir,
        .readers = 2,
        .statements = note_statements,
        .n_statements = NOTE_STATEMENT_COUNT,
        .on_fatal = on_fatal};
}

void fixture_open(struct fixture *f)
{
    if (store_open(&f->config, &f->problem, &f->store) != OK) {
        fprintf(stderr, "store_open: %.*s\n", STR_ARG(f->problem.detail));
        abort();
    }
    EXPECT_EQ(fixture_run(f, &SQL_NOTE_CREATE), OK);
}

void fixture_close(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
}

void fixture_begin(struct fixture *f)
{
    fixture_init(f);
    fixture_open(f);
}

void fixture_end(struct fixture *f)
{
    fixture_close(f);
    scratch_deinit(&f->scratch);
}

/* --- Steps ---------------------------------------------------------------------------------- */

static enum error run_step(struct store_job *job, struct tx *tx)
{
    struct step *step = CONTAINER_OF(job, struct step, job);
    return step->run(step, tx);
}

static void step_done(struct store_job *job, enum error result)
{
    struct step *step = CONTAINER_OF(job, struct step, job);
    step->result = result;
    if (step->ear != NULL) {
        struct hub_delivery d = hub_collect(step->ear);
        step->heard = d.n_items;
        hub_delivery_deinit(&d);
    }
    sem_post(&step->done);
}

void step_submit(struct fixture *f, struct step *step, enum store_mode mode,
    enum error (*run)(struct step *step, struct tx *tx))
{
    step->f = f;
    step->run = run;
    step->job = (struct store_job){.mode = mode,
        .on_full = step->on_full,
        .flow = step->flow,
        .run = run_step,
        .done = step_done};
    sem_init(&step->done, 0, 0);
    store_submit(f->store, &step->job);
}

enum error step_wait(struct step *step)
{
    if (!step->is_done)
        while (sem_wait(&step->done) != 0) {
        }
    step->is_done = true;
    return step->result;
}

bool step_is_done(struct step *step)
{
    int value = 0;
    return step->is_done || (sem_getvalue(&step->done, &value) == 0 && value > 0);
}

/* --- Notes ---------------------------------------------------------------------------------- */

atomic_int items_alive;

static void destroy_item(struct hub_item *item)
{
    atomic_fetch_sub(&items_alive, 1);
    mem_free(item);
}

static void publish_note(struct tx *tx, struct uuid key, uint64_t number)
{
    struct hub_item *item = MEM_NEW(struct hub_item);
    hub_item_init(item, UUID_NIL, key, sizeof *item, destroy_item);
    item->type = (int)number;
    atomic_fetch_add(&items_alive, 1);
    tx_publish(tx, item);
}

enum error add_note(struct step *step, struct tx *tx)
{
    const struct sequence numbers = {
        .load = &SQL_NOTE_LAST, .tenant_id = UUID_NIL, .key = step->key};
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    uint64_t number = 0;
    enum error e = tx_sequence_take(tx, &numbers, 1, &number);
    if (e == OK) {
        char *body = arena_alloc(&arena, step->size_bytes);
        memset(body, 'x', step->size_bytes);
        struct query q;
        query_begin(&q, tx, &SQL_NOTE_ADD, &arena);
        query_uuid(&q, tenant_id, UUID_NIL);
        query_uuid(&q, key, step->key);
        query_i64(&q, number, (int64_t)number);
        query_text(&q, body, (struct str){body, step->size_bytes});
        e = query_run(&q);
    }
    if (e == OK && step->publishes)
        publish_note(tx, step->key, number);
    arena_deinit(&arena);
    step->number = (int64_t)number;
    return e == OK ? step->answer : e;
}

enum error count_notes(struct step *step, struct tx *tx)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct query q;
    query_begin(&q, tx, &SQL_NOTE_COUNT, &arena);
    while (query_next(&q))
        step->number = row_i64(&q);
    arena_deinit(&arena);
    return query_end(&q);
}

enum error fixture_add(struct fixture *f, struct uuid key)
{
    struct step step = {.key = key};
    step_submit(f, &step, STORE_WRITE, add_note);
    return step_wait(&step);
}

int64_t fixture_count(struct fixture *f)
{
    struct step step = {.number = -1};
    step_submit(f, &step, STORE_READ, count_notes);
    EXPECT_EQ(step_wait(&step), OK);
    return step.number;
}

static enum error check_numbers(struct step *step, struct tx *tx)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct query q;
    query_begin(&q, tx, &SQL_NOTE_LIST, &arena);
    query_uuid(&q, tenant_id, UUID_NIL);
    query_uuid(&q, key, step->key);
    step->number = 0;
    while (query_next(&q)) {
        step->number++;
        EXPECT_EQ(row_i64(&q), step->number);
    }
    arena_deinit(&arena);
    return query_end(&q);
}

void expect_gapless(struct fixture *f, struct uuid key, int64_t count)
{
    struct step step = {.key = key};
    step_submit(f, &step, STORE_READ, check_numbers);
    EXPECT_EQ(step_wait(&step), OK);
    EXPECT_EQ(step.number, count);
}

static enum error run_statement(void *data, struct tx *tx)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct query q;
    query_begin(&q, tx, data, &arena);
    arena_deinit(&arena);
    return query_run(&q);
}

enum error fixture_run(struct fixture *f, const struct sql_statement *statement)
{
    return store_call(f->store, STORE_WRITE, run_statement, (void *)statement);
}

/* --- The gate ------------------------------------------------------------------------------- */

static enum error pass_gate(struct step *step, struct tx *tx)
{
    struct gate *gate = CONTAINER_OF(step, struct gate, step);
    sem_post(&gate->entered);
    while (sem_wait(&gate->open) != 0) {
    }
    return gate->step.answer;
}

void gate_submit(struct fixture *f, struct gate *gate, enum store_mode mode)
{
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->open, 0, 0);
    gate->step.on_full = STORE_ON_FULL_FREES; /* it writes nothing */
    /* The jobs that wait behind it are one batch on a slow machine too. */
    if (f->store->config.engine == ENGINE_SQLITE) {
        struct job_queue *q = &CONTAINER_OF(f->store, struct sqlite_store, base)->writes;
        pthread_mutex_lock(&q->mutex);
        q->lone_batch_us = INT64_MAX;
        pthread_mutex_unlock(&q->mutex);
    }
    step_submit(f, &gate->step, mode, pass_gate);
}

void gate_wait_entered(struct gate *gate)
{
    while (sem_wait(&gate->entered) != 0) {
    }
}

void gate_shut(struct fixture *f, struct gate *gate)
{
    gate_submit(f, gate, STORE_WRITE);
    gate_wait_entered(gate);
}

void gate_open(struct gate *gate)
{
    sem_post(&gate->open);
}

struct uuid id_of(uint64_t number)
{
    return uuid_v7_from(1, 1, number);
}
