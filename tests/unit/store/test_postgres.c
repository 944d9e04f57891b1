/* SPDX-License-Identifier: Apache-2.0 */
/* The PostgreSQL engine, on a schema of each test's own. Two stores on one schema are two nodes. */
#include <libpq-fe.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fixture.h"
#include "line_statements.h"
#include "lines.sql.h"
#include "store/postgres.h"
#include "test.h"

/* --- Nodes ---------------------------------------------------------------------------------- */

struct nodes {
    struct arena arena;
    struct problem problem;
    char schema[48];
    PGconn *beside; /* a session of no node */
    struct store *a;
    struct store *b;
};

static void on_fatal(const char *what)
{
    fprintf(stderr, "fatal: %s\n", what);
    abort();
}

static struct store_config config_of(struct nodes *n)
{
    return (struct store_config){.engine = ENGINE_POSTGRES,
        /* Known by the name of its schema: the server is shared with other tests. */
        .url = arena_printf(
            &n->arena, "%s?application_name=%s", getenv("CAIRN_TEST_POSTGRES"), n->schema),
        .replica_url = STR_NONE,
        .schema = str_of(n->schema),
        .writers = 2,
        .readers = 2,
        .statements = line_statements,
        .n_statements = LINE_STATEMENT_COUNT,
        .on_fatal = on_fatal};
}

static struct store *open_node(struct nodes *n)
{
    struct store_config config = config_of(n);
    struct store *store = NULL;
    if (store_open(&config, &n->problem, &store) != OK) {
        fprintf(stderr, "store_open: %.*s\n", STR_ARG(n->problem.detail));
        abort();
    }
    return store;
}

/* Runs SQL beside the nodes; the first column of the first row, or "". */
static struct str beside(struct nodes *n, const char *sql)
{
    PGresult *r = PQexec(n->beside, sql);
    bool good = PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
    if (!good)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQresultErrorMessage(r));
    struct str first = arena_str(&n->arena, str_of(PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : ""));
    PQclear(r);
    return first;
}

static int64_t beside_i64(struct nodes *n, const char *sql)
{
    int64_t number = -1;
    return str_to_i64(beside(n, sql), &number) ? number : -1;
}

static void nodes_begin(struct nodes *n, unsigned count)
{
    static atomic_uint serial;
    *n = (struct nodes){0};
    arena_init(&n->arena, SIZE_MAX);
    problem_init(&n->problem, &n->arena);
    snprintf(n->schema, sizeof n->schema, "unit_%d_%u", getpid(), atomic_fetch_add(&serial, 1));
    n->beside = PQconnectdb(getenv("CAIRN_TEST_POSTGRES"));
    beside(n, "SET client_min_messages = warning");
    n->a = open_node(n);
    if (count > 1)
        n->b = open_node(n);
    beside(n, arena_cstr(&n->arena, arena_printf(&n->arena, "SET search_path = %s", n->schema)));
    beside(n, "CREATE TABLE lines (number bigint NOT NULL UNIQUE, text text)");
    beside(n, "CREATE TABLE counters (tenant_id uuid, key uuid, last bigint NOT NULL,"
              " PRIMARY KEY (tenant_id, key))");
    for (uint64_t i = 0; i < 8; i++) {
        char id[UUID_TEXT_LEN];
        uuid_format(id_of(i), id);
        struct str sql = arena_printf(&n->arena,
            "INSERT INTO counters VALUES ('00000000-0000-0000-0000-000000000000', '%.*s', 0)",
            UUID_TEXT_LEN, id);
        beside(n, arena_cstr(&n->arena, sql));
    }
}

static void nodes_end(struct nodes *n)
{
    store_close(n->a);
    store_close(n->b);
    beside(n, arena_cstr(&n->arena, arena_printf(&n->arena, "DROP SCHEMA %s CASCADE", n->schema)));
    PQfinish(n->beside);
    arena_deinit(&n->arena);
}

/* --- Jobs ----------------------------------------------------------------------------------- */

enum { LINE_SLOW_US = 50 * 1000 };

struct task {
    struct store_job job;
    struct arena arena;
    int64_t number;      /* of the line to add; 0: none */
    struct uuid counter; /* to advance, unless nil */
    bool lock;           /* takes the counter's row first */
    enum error answer;   /* what it returns at the end */
    unsigned again;      /* so often it asks to run again */
    bool mark;
    sem_t *gate; /* waits here after its first statement */
    sem_t *entered;
    unsigned runs;
    uint64_t taken;
    bool halves;
    uint64_t flow;
    bool is_slow; /* the server needs LINE_SLOW_US for its line */
    struct query query;
    sem_t done;
    enum error result;
};

static enum error add_line(struct task *t, struct tx *tx, int64_t number)
{
    struct query q;
    query_begin(&q, tx, t->is_slow ? &SQL_LINE_ADD_SLOWLY : &SQL_LINE_ADD, &t->arena);
    query_i64(&q, number, number);
    query_text(&q, text, STR("line"));
    return query_run(&q);
}

static enum error lock_counter(struct task *t, struct tx *tx)
{
    struct query q;
    query_begin(&q, tx, &SQL_COUNTER_LOCK, &t->arena);
    query_uuid(&q, tenant_id, UUID_NIL);
    query_uuid(&q, key, t->counter);
    return query_run(&q);
}

static enum error run_task(struct store_job *job, struct tx *tx)
{
    struct task *t = CONTAINER_OF(job, struct task, job);
    enum error e = OK;
    t->runs++;
    tx_enter_system(tx);
    if (t->lock)
        e = lock_counter(t, tx);
    if (e == OK && t->number != 0)
        e = add_line(t, tx, t->number);
    if (e == OK && !uuid_is_nil(t->counter)) {
        const struct sequence s = {
            &SQL_COUNTER_ADVANCE, NULL, &SQL_COUNTER_ADVANCE, UUID_NIL, t->counter};
        e = tx_sequence_take(tx, &s, 1, &t->taken);
    }
    if (e == OK && t->mark) {
        tx_once(tx, &SQL_LINE_MARK);
        tx_once(tx, &SQL_LINE_MARK);
        tx_notify(tx);
    }
    if (t->gate != NULL && t->runs == 1) {
        sem_post(t->entered);
        sem_wait(t->gate);
    }
    if (e == OK && t->runs <= t->again)
        return tx_run_again(tx);
    return e == OK ? t->answer : e;
}

/* In two halves: the counter's new value is read in the second. */
static enum error run_first_half(struct store_job *job, struct tx *tx)
{
    struct task *t = CONTAINER_OF(job, struct task, job);
    t->runs++;
    tx_enter_system(tx);
    if (t->number != 0 && add_line(t, tx, t->number) != OK)
        return ERR_INTERNAL;
    query_begin(&t->query, tx, &SQL_COUNTER_ADVANCE, &t->arena);
    query_uuid(&t->query, tenant_id, UUID_NIL);
    query_uuid(&t->query, key, t->counter);
    query_i64(&t->query, count, 1);
    query_send(&t->query);
    return OK;
}

static enum error run_second_half(struct store_job *job, struct tx *tx)
{
    struct task *t = CONTAINER_OF(job, struct task, job);
    t->taken = 0;
    while (query_next(&t->query))
        t->taken = (uint64_t)row_i64(&t->query);
    enum error e = query_end(&t->query);
    if (e == OK && t->taken == 0)
        return ERR_NOT_FOUND;
    return e == OK ? t->answer : e;
}

static void task_done(struct store_job *job, enum error result)
{
    struct task *t = CONTAINER_OF(job, struct task, job);
    t->result = result;
    sem_post(&t->done);
}

/* All with the same affinity, so that they meet in one lane. */
static void submit(struct store *store, struct task *t)
{
    t->job = (struct store_job){.mode = STORE_WRITE,
        .flow = t->flow,
        .affinity = 2,
        .run = t->halves ? run_first_half : run_task,
        .finish = t->halves ? run_second_half : NULL,
        .done = task_done};
    arena_init(&t->arena, SIZE_MAX);
    sem_init(&t->done, 0, 0);
    store_submit(store, &t->job);
}

static enum error wait_for(struct task *t)
{
    sem_wait(&t->done);
    sem_destroy(&t->done);
    arena_deinit(&t->arena);
    return t->result;
}

static enum error perform(struct store *store, struct task *t)
{
    submit(store, t);
    return wait_for(t);
}

/* Stops the lane in a job, so that the jobs that arrive meanwhile form one batch. */
struct halt {
    struct task task;
    sem_t gate, entered;
};

static void halt_begin(struct store *store, struct halt *h)
{
    *h = (struct halt){0};
    sem_init(&h->gate, 0, 0);
    sem_init(&h->entered, 0, 0);
    h->task.gate = &h->gate;
    h->task.entered = &h->entered;
    submit(store, &h->task);
    sem_wait(&h->entered);
}

static void halt_end(struct halt *h)
{
    sem_post(&h->gate);
    EXPECT_EQ(wait_for(&h->task), OK);
    sem_destroy(&h->gate);
    sem_destroy(&h->entered);
}

/* The lane only sends the statement, and learns later how long it took: while it waits for a result
 * of the next job, between the halves, or at the end of the batch. */
POSTGRES_TEST(a_job_pays_for_the_time_that_its_statements_take_after_they_were_sent)
{
    struct task others[] = {
        {.number = 20}, {.number = 21, .counter = id_of(1)}, {.counter = id_of(1), .halves = true}};
    struct nodes n;
    struct halt halt;
    nodes_begin(&n, 1);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct task slow = {.number = 10 + (int64_t)i, .is_slow = true};
        slow.flow = 1;
        others[i].flow = 2;
        halt_begin(n.a, &halt);
        submit(n.a, &slow);
        submit(n.a, &others[i]);
        halt_end(&halt);
        EXPECT_EQ(wait_for(&slow), OK);
        EXPECT_EQ(wait_for(&others[i]), OK);
        EXPECT(slow.job.used_us >= LINE_SLOW_US);
        EXPECT(others[i].job.used_us < slow.job.used_us);
    }
    nodes_end(&n);
}

/* Otherwise the last job of a batch would raise the average of the flow with the time of all. */
POSTGRES_TEST(jobs_of_one_flow_share_the_time_of_their_statements)
{
    struct nodes n;
    struct halt halt;
    nodes_begin(&n, 1);
    struct task slow = {.number = 1, .is_slow = true, .flow = 1}, other = {.number = 2, .flow = 1};
    halt_begin(n.a, &halt);
    submit(n.a, &slow);
    submit(n.a, &other);
    halt_end(&halt);
    EXPECT_EQ(wait_for(&slow), OK);
    EXPECT_EQ(wait_for(&other), OK);
    EXPECT(slow.job.used_us >= LINE_SLOW_US / 2 - 1000);
    EXPECT(other.job.used_us >= LINE_SLOW_US / 2 - 1000);
    nodes_end(&n);
}

/* --- Long reads ----------------------------------------------------------------------------- */

struct long_read {
    struct store_job job;
    sem_t entered, go_on, done;
    int64_t before, after;
    enum error result;
};

static int64_t count_seen(struct tx *tx)
{
    struct arena arena = ARENA_INIT(SIZE_MAX);
    struct query q;
    int64_t count = -1;
    query_begin(&q, tx, &SQL_LINE_COUNT, &arena);
    while (query_next(&q))
        count = row_i64(&q);
    EXPECT_EQ(query_end(&q), OK);
    arena_deinit(&arena);
    return count;
}

static enum error run_long(struct store_job *job, struct tx *tx)
{
    struct long_read *l = CONTAINER_OF(job, struct long_read, job);
    l->before = count_seen(tx);
    sem_post(&l->entered);
    while (sem_wait(&l->go_on) != 0) {
    }
    tx_extend(tx);
    l->after = count_seen(tx);
    return OK;
}

static void long_done(struct store_job *job, enum error result)
{
    struct long_read *l = CONTAINER_OF(job, struct long_read, job);
    l->result = result;
    sem_post(&l->done);
}

static void long_begin(struct store *store, struct long_read *l)
{
    *l = (struct long_read){.job = {.mode = STORE_READ_LONG, .run = run_long, .done = long_done}};
    sem_init(&l->entered, 0, 0);
    sem_init(&l->go_on, 0, 0);
    sem_init(&l->done, 0, 0);
    store_submit(store, &l->job);
    sem_wait(&l->entered);
}

static void long_end(struct long_read *l)
{
    sem_post(&l->go_on);
    sem_wait(&l->done);
    EXPECT_EQ(l->result, OK);
}

static enum error read_count(void *data, struct tx *tx)
{
    *(int64_t *)data = count_seen(tx);
    return OK;
}

static enum error read_limits(void *data, struct tx *tx)
{
    struct arena *arena = data;
    struct query q;
    query_begin(&q, tx, &SQL_LIMITS_GET, arena);
    EXPECT(query_next(&q));
    EXPECT_STR(row_text(&q), STR("10s"));
    EXPECT_STR(row_text(&q), STR("1min"));
    EXPECT_STR(row_text(&q), STR("0"));
    return query_end(&q);
}

POSTGRES_TEST(long_reads_see_one_moment_and_occupy_no_reader)
{
    struct nodes n;
    struct long_read reads[STORE_LONG_READERS];
    struct task line = {.number = 1};
    int64_t count = -1;
    nodes_begin(&n, 1);
    for (int i = 0; i < STORE_LONG_READERS; i++)
        long_begin(n.a, &reads[i]);
    EXPECT_EQ(perform(n.a, &line), OK);
    EXPECT_EQ(store_call(n.a, STORE_READ, read_count, &count), OK);
    EXPECT_EQ(count, 1);
    for (int i = 0; i < STORE_LONG_READERS; i++) {
        long_end(&reads[i]);
        EXPECT_EQ(reads[i].before, 0);
        EXPECT_EQ(reads[i].after, 0);
    }
    EXPECT_EQ(store_stats(n.a).reconnects, 0);
    nodes_end(&n);
}

POSTGRES_TEST(a_long_read_has_limits_for_statements_and_none_for_its_transaction)
{
    struct nodes n;
    nodes_begin(&n, 1);
    EXPECT_EQ(store_call(n.a, STORE_READ_LONG, read_limits, &n.arena), OK);
    nodes_end(&n);
}

/* --- Batches -------------------------------------------------------------------------------- */

/* The jobs that wait are one batch on a slow machine too. */
static void take_time(struct store *store)
{
    struct pg_store *s = CONTAINER_OF(store, struct pg_store, base);
    for (unsigned i = 0; i < store->config.writers; i++) {
        struct job_queue *q = &s->lanes[i].queue;
        pthread_mutex_lock(&q->mutex);
        q->lone_batch_us = INT64_MAX;
        pthread_mutex_unlock(&q->mutex);
    }
}

POSTGRES_TEST(a_batch_is_one_commit_and_every_job_of_it_is_durable)
{
    struct nodes n;
    struct task tasks[20] = {0};
    struct halt halt;
    nodes_begin(&n, 1);
    take_time(n.a);
    halt_begin(n.a, &halt);
    uint64_t before = store_stats(n.a).commits;
    for (int i = 0; i < 20; i++) {
        tasks[i].number = i + 1;
        submit(n.a, &tasks[i]);
    }
    halt_end(&halt);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(wait_for(&tasks[i]), OK);
    EXPECT_EQ(store_stats(n.a).commits - before, 2);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 20);
    nodes_end(&n);
}

POSTGRES_TEST(a_job_that_fails_after_writing_leaves_nothing_and_takes_nobody_with_it)
{
    struct nodes n;
    struct task tasks[9] = {0};
    struct halt halt;
    nodes_begin(&n, 1);
    halt_begin(n.a, &halt);
    for (int i = 0; i < 9; i++) {
        tasks[i].number = i + 1;
        tasks[i].answer = i == 4 ? ERR_CONFLICT : OK;
        submit(n.a, &tasks[i]);
    }
    halt_end(&halt);
    for (int i = 0; i < 9; i++)
        EXPECT_EQ(wait_for(&tasks[i]), i == 4 ? ERR_CONFLICT : OK);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 8);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines WHERE number = 5"), 0);
    nodes_end(&n);
}

POSTGRES_TEST(a_statement_that_fails_later_is_told_to_the_job_that_sent_it)
{
    struct nodes n;
    struct task tasks[5] = {0};
    struct halt halt;
    nodes_begin(&n, 1);
    beside(&n, "INSERT INTO lines VALUES (3, 'taken')");
    halt_begin(n.a, &halt);
    for (int i = 0; i < 5; i++) {
        tasks[i].number = i + 1;
        submit(n.a, &tasks[i]);
    }
    halt_end(&halt);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(wait_for(&tasks[i]), i == 2 ? ERR_CONFLICT : OK);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 5);
    nodes_end(&n);
}

POSTGRES_TEST(a_batch_in_which_all_jobs_fail_tells_each_its_own_failure)
{
    struct nodes n;
    struct task tasks[12] = {0};
    struct halt halt;
    nodes_begin(&n, 1);
    halt_begin(n.a, &halt);
    for (int i = 0; i < 12; i++) {
        tasks[i].number = i + 1;
        tasks[i].answer = i % 2 == 0 ? ERR_STALE : ERR_CONFLICT;
        submit(n.a, &tasks[i]);
    }
    halt_end(&halt);
    for (int i = 0; i < 12; i++)
        EXPECT_EQ(wait_for(&tasks[i]), i % 2 == 0 ? ERR_STALE : ERR_CONFLICT);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 0);
    nodes_end(&n);
}

POSTGRES_TEST(a_job_that_met_others_work_runs_again_from_its_start)
{
    struct nodes n;
    struct task t = {.number = 1, .again = 2};
    nodes_begin(&n, 1);
    EXPECT_EQ(perform(n.a, &t), OK);
    EXPECT_EQ(t.runs, 3);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 1);
    struct task endless = {.number = 2, .again = 1000};
    EXPECT_EQ(perform(n.a, &endless), ERR_UNAVAILABLE);
    EXPECT(endless.runs > 2 && endless.runs < 20);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 1);
    nodes_end(&n);
}

POSTGRES_TEST(what_was_only_sent_is_read_in_the_second_half)
{
    struct nodes n;
    struct task tasks[6] = {0};
    struct halt halt;
    nodes_begin(&n, 1);
    halt_begin(n.a, &halt);
    for (int i = 0; i < 6; i++) {
        tasks[i].halves = true;
        tasks[i].counter = id_of(1);
        submit(n.a, &tasks[i]);
    }
    halt_end(&halt);
    for (uint64_t i = 0; i < 6; i++) {
        EXPECT_EQ(wait_for(&tasks[i]), OK);
        EXPECT_EQ(tasks[i].taken, i + 1);
        EXPECT_EQ(tasks[i].runs, 1);
    }
    nodes_end(&n);
}

POSTGRES_TEST(a_second_half_that_fails_is_undone_and_when_it_changed_nothing_costs_nobody)
{
    struct nodes n;
    struct task good = {.halves = true, .counter = id_of(1)};
    struct task missing = {.halves = true, .counter = id_of(99)}; /* there is no such counter */
    struct task bad = {.halves = true, .counter = id_of(1), .number = 7, .answer = ERR_STALE};
    struct task after = {.halves = true, .counter = id_of(1)};
    struct halt halt;
    nodes_begin(&n, 1);
    halt_begin(n.a, &halt);
    submit(n.a, &good);
    submit(n.a, &missing);
    halt_end(&halt);
    EXPECT_EQ(wait_for(&good), OK);
    EXPECT_EQ(wait_for(&missing), ERR_NOT_FOUND);
    EXPECT_EQ(good.runs, 1);
    EXPECT_EQ(missing.runs, 1);
    halt_begin(n.a, &halt);
    submit(n.a, &bad);
    submit(n.a, &after);
    halt_end(&halt);
    EXPECT_EQ(wait_for(&bad), ERR_STALE);
    EXPECT_EQ(wait_for(&after), OK);
    EXPECT_EQ(after.taken, 2);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 0);
    EXPECT_EQ(beside_i64(&n, "SELECT sum(last) FROM counters"), 2);
    nodes_end(&n);
}

POSTGRES_TEST(what_is_asked_for_once_runs_once_a_transaction)
{
    struct nodes n;
    struct task t = {.mark = true};
    nodes_begin(&n, 1);
    EXPECT_EQ(perform(n.a, &t), OK);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines WHERE text = 'mark'"), 1);
    nodes_end(&n);
}

/* --- Beside others -------------------------------------------------------------------------- */

struct counting {
    pthread_t thread;
    struct store *store;
    struct uuid counter;
    bool ok;
};

static void *count_up(void *data)
{
    struct counting *c = data;
    c->ok = true;
    for (int i = 0; i < 100; i++) {
        struct task t = {.counter = c->counter};
        c->ok = perform(c->store, &t) == OK && c->ok;
    }
    return NULL;
}

POSTGRES_TEST(two_nodes_count_without_gaps)
{
    struct nodes n;
    struct counting workers[8];
    nodes_begin(&n, 2);
    for (size_t i = 0; i < 8; i++) {
        workers[i] =
            (struct counting){.store = i % 2 == 0 ? n.a : n.b, .counter = id_of(1 + i / 4)};
        pthread_create(&workers[i].thread, NULL, count_up, &workers[i]);
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(workers[i].thread, NULL);
        EXPECT(workers[i].ok);
    }
    EXPECT_EQ(beside_i64(&n, "SELECT min(last) FROM counters WHERE last > 0"), 400);
    EXPECT_EQ(beside_i64(&n, "SELECT sum(last) FROM counters"), 800);
    nodes_end(&n);
}

POSTGRES_TEST(a_job_whose_row_is_taken_is_put_off_and_the_others_go_on)
{
    struct nodes n;
    struct task before = {.number = 1}, stuck = {.counter = id_of(1), .lock = true, .number = 2};
    struct task after = {.number = 3};
    struct halt halt;
    nodes_begin(&n, 1);
    beside(&n, "BEGIN");
    beside(&n, "UPDATE counters SET last = 10");
    halt_begin(n.a, &halt);
    submit(n.a, &before);
    submit(n.a, &stuck);
    submit(n.a, &after);
    halt_end(&halt);
    EXPECT_EQ(wait_for(&before), OK);
    EXPECT_EQ(wait_for(&after), OK);
    beside(&n, "COMMIT");
    EXPECT_EQ(wait_for(&stuck), OK);
    EXPECT_EQ(stuck.taken, 11);
    EXPECT(stuck.runs > 1);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 3);
    nodes_end(&n);
}

POSTGRES_TEST(a_row_that_stays_taken_ends_in_unavailable_not_in_waiting)
{
    struct nodes n;
    struct task stuck = {.counter = id_of(1), .number = 1};
    nodes_begin(&n, 1);
    beside(&n, "BEGIN");
    beside(&n, "UPDATE counters SET last = 10");
    EXPECT_EQ(perform(n.a, &stuck), ERR_UNAVAILABLE);
    beside(&n, "ROLLBACK");
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 0);
    nodes_end(&n);
}

static void cut_connections(struct nodes *n)
{
    struct str sql = arena_printf(&n->arena,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = '%s'",
        n->schema);
    beside(n, arena_cstr(&n->arena, sql));
}

POSTGRES_TEST(a_connection_that_is_cut_costs_nobody_anything)
{
    struct nodes n;
    struct task first = {.number = 1}, second = {.number = 2};
    struct halt halt;
    nodes_begin(&n, 1);
    EXPECT_EQ(perform(n.a, &first), OK);
    cut_connections(&n);
    EXPECT_EQ(perform(n.a, &second), OK);
    /* In the middle of a transaction. */
    halt_begin(n.a, &halt);
    cut_connections(&n);
    halt_end(&halt);
    EXPECT_EQ(halt.task.runs, 2);
    EXPECT(store_stats(n.a).reconnects >= 2);
    EXPECT_EQ(beside_i64(&n, "SELECT count(*) FROM lines"), 2);
    nodes_end(&n);
}

POSTGRES_TEST(another_nodes_commit_ends_a_wait)
{
    struct nodes n;
    struct task t = {.mark = true};
    nodes_begin(&n, 2);
    store_wait(n.b, 50); /* what the start left */
    int64_t start_us = clock_steady_us();
    EXPECT_EQ(perform(n.a, &t), OK);
    store_wait(n.b, 20000);
    EXPECT(clock_steady_us() - start_us < 10 * 1000 * 1000);
    nodes_end(&n);
}

/* --- Reading -------------------------------------------------------------------------------- */

struct look {
    struct nodes *n;
    struct arena arena;
    int64_t first, second, third;
    struct str tenant;
    int64_t lease_us;
};

static enum error count_lines(struct look *l, struct tx *tx, int64_t *out_count)
{
    struct query q;
    query_begin(&q, tx, &SQL_LINE_COUNT, &l->arena);
    while (query_next(&q))
        *out_count = row_i64(&q);
    return query_end(&q);
}

static enum error look_twice(void *data, struct tx *tx)
{
    struct look *l = data;
    tx_enter_system(tx);
    enum error e = count_lines(l, tx, &l->first);
    beside(l->n, "INSERT INTO lines VALUES (1 + (SELECT count(*) FROM lines), 'more')");
    if (e == OK)
        e = count_lines(l, tx, &l->second);
    tx_refresh(tx);
    return e == OK ? count_lines(l, tx, &l->third) : e;
}

POSTGRES_TEST(a_reader_sees_one_moment_until_it_asks_for_a_newer_one)
{
    struct nodes n;
    nodes_begin(&n, 1);
    struct look l = {.n = &n};
    arena_init(&l.arena, SIZE_MAX);
    EXPECT_EQ(store_call(n.a, STORE_READ, look_twice, &l), OK);
    EXPECT_EQ(l.first, 0);
    EXPECT_EQ(l.second, 0);
    EXPECT_EQ(l.third, 1);
    arena_deinit(&l.arena);
    nodes_end(&n);
}

static enum error read_tenant(struct look *l, struct tx *tx)
{
    struct query q;
    query_begin(&q, tx, &SQL_TENANT_SET, &l->arena);
    while (query_next(&q))
        l->tenant = row_text(&q);
    return query_end(&q);
}

static enum error enter_nobody(void *data, struct tx *tx)
{
    return read_tenant(data, tx);
}

static enum error enter_one(void *data, struct tx *tx)
{
    tx_enter_tenant(tx, id_of(1));
    tx_enter_tenant(tx, id_of(7));
    tx_refresh(tx);
    return read_tenant(data, tx);
}

static enum error enter_all(void *data, struct tx *tx)
{
    struct look *l = data;
    l->lease_us = tx_lease_now_us(tx);
    tx_enter_tenant(tx, id_of(1));
    tx_enter_system(tx);
    return read_tenant(data, tx);
}

POSTGRES_TEST(a_job_sees_the_tenant_that_it_entered_and_none_before)
{
    struct nodes n;
    char id[UUID_TEXT_LEN];
    uuid_format(id_of(7), id);
    nodes_begin(&n, 1);
    struct look l = {.n = &n};
    arena_init(&l.arena, SIZE_MAX);
    enum store_mode modes[] = {STORE_READ, STORE_WRITE};
    for (size_t i = 0; i < 2; i++) {
        if (modes[i] == STORE_READ) {
            EXPECT_EQ(store_call(n.a, modes[i], enter_one, &l), OK);
            EXPECT_STR(l.tenant, ((struct str){id, sizeof id}));
        }
        EXPECT_EQ(store_call(n.a, modes[i], enter_all, &l), OK);
        EXPECT_STR(l.tenant, STR("*"));
        EXPECT_EQ(store_call(n.a, modes[i], enter_nobody, &l), OK);
        EXPECT_STR(l.tenant, STR(""));
    }
    arena_deinit(&l.arena);
    nodes_end(&n);
}

POSTGRES_TEST(lease_time_is_the_databases)
{
    struct nodes n;
    nodes_begin(&n, 1);
    struct look l = {.n = &n};
    arena_init(&l.arena, SIZE_MAX);
    EXPECT_EQ(store_call(n.a, STORE_READ, enter_all, &l), OK);
    int64_t there =
        beside_i64(&n, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    EXPECT(there - l.lease_us < 5 * 1000 * 1000 && l.lease_us - there < 5 * 1000 * 1000);
    arena_deinit(&l.arena);
    nodes_end(&n);
}

static enum error echo(void *data, struct tx *tx)
{
    struct look *l = data;
    struct query q;
    query_begin(&q, tx, &SQL_TYPES_ECHO, &l->arena);
    query_uuid(&q, uuid, id_of(9));
    query_i64(&q, int, INT64_MIN + 1);
    query_bool(&q, bool, true);
    query_text(&q, text, STR("k\xc3\xa4se"));
    query_text(&q, json, STR("{ \"b\": 1, \"a\":1.50}"));
    query_bytes(&q, bytes, STR("\0\1\2 and more than sixteen bytes"));
    EXPECT(query_next(&q));
    EXPECT(uuid_eq(row_uuid(&q), id_of(9)));
    EXPECT_EQ(row_i64(&q), INT64_MIN + 1);
    EXPECT_EQ(row_bool(&q), true);
    EXPECT_STR(row_text(&q), STR("k\xc3\xa4se"));
    EXPECT_STR(row_text(&q), STR("{ \"b\": 1, \"a\":1.50}"));
    EXPECT_STR(row_bytes(&q), STR("\0\1\2 and more than sixteen bytes"));
    EXPECT(str_is_none(row_text(&q)));
    EXPECT_EQ(row_i64(&q), 7);
    EXPECT(!query_next(&q));
    TRY(query_end(&q));
    query_begin(&q, tx, &SQL_TYPES_ECHO, &l->arena);
    EXPECT(query_next(&q));
    for (int i = 0; i < 6; i++)
        EXPECT(str_is_none(row_text(&q)));
    return query_end(&q);
}

POSTGRES_TEST(values_of_every_type_come_back_as_they_were)
{
    struct nodes n;
    nodes_begin(&n, 1);
    struct look l = {.n = &n};
    arena_init(&l.arena, SIZE_MAX);
    EXPECT_EQ(store_call(n.a, STORE_READ, echo, &l), OK);
    EXPECT_EQ(store_call(n.a, STORE_WRITE, echo, &l), OK);
    arena_deinit(&l.arena);
    nodes_end(&n);
}

/* --- The schema ----------------------------------------------------------------------------- */

POSTGRES_TEST(a_schema_newer_than_the_binary_is_refused)
{
    struct nodes n;
    nodes_begin(&n, 1);
    beside(&n, "INSERT INTO schema_versions VALUES (9999, 'later', '9.9', 0)");
    struct store_config config = config_of(&n);
    struct store *store = NULL;
    EXPECT_EQ(store_open(&config, &n.problem, &store), ERR_UNAVAILABLE);
    EXPECT(strstr(arena_cstr(&n.arena, n.problem.detail), "start a newer cairn") != NULL);
    /* Running nodes continue. */
    struct task t = {.number = 1};
    EXPECT_EQ(perform(n.a, &t), OK);
    nodes_end(&n);
}

static void *open_beside(void *data)
{
    return open_node(data);
}

POSTGRES_TEST(nodes_that_start_together_migrate_once)
{
    struct nodes n, others[4];
    pthread_t threads[4];
    void *stores[4];
    nodes_begin(&n, 1);
    char fresh[48];
    snprintf(fresh, sizeof fresh, "%.40s_f", n.schema);
    for (int i = 0; i < 4; i++) {
        others[i] = (struct nodes){0};
        arena_init(&others[i].arena, SIZE_MAX);
        problem_init(&others[i].problem, &others[i].arena);
        memcpy(others[i].schema, fresh, sizeof fresh);
        pthread_create(&threads[i], NULL, open_beside, &others[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], &stores[i]);
    struct str count =
        arena_printf(&n.arena, "SELECT count(*) - max(version) FROM %s.schema_versions", fresh);
    EXPECT_EQ(beside_i64(&n, arena_cstr(&n.arena, count)), 0);
    for (int i = 0; i < 4; i++) {
        store_close(stores[i]);
        arena_deinit(&others[i].arena);
    }
    beside(&n, arena_cstr(&n.arena, arena_printf(&n.arena, "DROP SCHEMA %s CASCADE", fresh)));
    nodes_end(&n);
}
