/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/checkpoints/snapshot_memory.h"
#include "model/files/blobs.h"
#include "postgres.h"

/* --- The store ------------------------------------------------------------------------------ */

static void on_fatal(const char *what)
{
    fprintf(stderr, "fatal: %s\n", what);
    abort();
}

bool on_postgres(void)
{
    const char *engine = getenv("CAIRN_TEST_ENGINE");
    return engine != NULL && strcmp(engine, "postgres") == 0;
}

static void open_store(struct fixture *f)
{
    const struct store_config config = {.engine = on_postgres() ? ENGINE_POSTGRES : ENGINE_SQLITE,
        .data_dir = f->scratch.data_dir,
        .url = on_postgres() ? str_of(plain_url()) : STR_NONE,
        .schema = on_postgres() ? str_of(f->schema) : STR_NONE,
        .writers = 1,
        .readers = 1,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .content_statements = &blob_content_statements,
        .free_memo = key_memo_free,
        .on_fatal = on_fatal};
    problem_init(&f->problem, f->arena);
    if (store_open(&config, &f->problem, &f->store) != OK) {
        fprintf(stderr, "store_open: %.*s\n", STR_ARG(f->problem.detail));
        abort();
    }
}

/* Making all the tables takes longer than most tests: the first test's empty file is the others'
 * too. */
static void furnish(struct fixture *f)
{
    static char *pristine;
    static size_t len;
    if (pristine == NULL) {
        open_store(f);
        fixture_close(f);
        FILE *file = fopen(f->scratch.database, "rb");
        fseek(file, 0, SEEK_END);
        len = (size_t)ftell(file);
        rewind(file);
        pristine = malloc(len);
        EXPECT_EQ(fread(pristine, 1, len, file), len);
        fclose(file);
        return;
    }
    mkdir(arena_cstr(f->arena, f->scratch.data_dir), 0700);
    int fd = open(f->scratch.database, O_CREAT | O_EXCL | O_WRONLY, 0600);
    EXPECT_EQ(write(fd, pristine, len), (ssize_t)len);
    close(fd);
}

void fixture_open(struct fixture *f)
{
    open_store(f);
    EXPECT_EQ(model_prepare(begin(f)), OK);
    commit(f);
}

static void init(struct fixture *f)
{
    *f = (struct fixture){0};
    scratch_init(&f->scratch);
    f->arena = &f->scratch.arena;
    sem_init(&f->entered, 0, 0);
    sem_init(&f->leave, 0, 0);
    sem_init(&f->done, 0, 0);
}

void fixture_begin(struct fixture *f)
{
    init(f);
    if (on_postgres())
        f->schema = plain_take_schema(f->arena);
    else
        furnish(f);
    fixture_open(f);
}

void fixture_join(struct fixture *f, const struct fixture *first)
{
    init(f);
    f->schema = first->schema;
    f->has_joined = true;
    fixture_open(f);
}

void fixture_close(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
}

void fixture_end(struct fixture *f)
{
    fixture_close(f);
    if (on_postgres() && !f->has_joined)
        plain_give_schema(f->schema);
    scratch_deinit(&f->scratch);
}

void sql_exec(struct fixture *f, const char *sql)
{
    sql_text(f, sql);
}

struct str sql_text(struct fixture *f, const char *sql)
{
    if (!on_postgres())
        return scratch_text(&f->scratch, sql);
    return plain_text(plain_shared(f->schema), f->arena, sql);
}

struct str sql_hex(struct fixture *f, const char *column, const char *from)
{
    struct str sql = arena_printf(f->arena, "SELECT %s(%s%s) %s", on_postgres() ? "encode" : "hex",
        column, on_postgres() ? ", 'hex'" : "", from);
    return sql_text(f, arena_cstr(f->arena, sql));
}

int64_t sql_i64(struct fixture *f, const char *sql)
{
    int64_t number = INT64_MIN;
    if (!str_to_i64(sql_text(f, sql), &number))
        test_fail(__FILE__, __LINE__, "%s: no number", sql);
    return number;
}

/* --- Transactions --------------------------------------------------------------------------- */

static void await(sem_t *sem)
{
    while (sem_wait(sem) != 0) {
    }
}

static enum error lend_transaction(struct store_job *job, struct tx *tx)
{
    struct fixture *f = CONTAINER_OF(job, struct fixture, job);
    if (f->has_answer) /* the engine tries again: the test has said all that it has to say */
        return f->answer;
    f->tx = tx;
    sem_post(&f->entered);
    await(&f->leave);
    return f->answer;
}

static void job_done(struct store_job *job, enum error result)
{
    struct fixture *f = CONTAINER_OF(job, struct fixture, job);
    f->result = result;
    sem_post(&f->done);
}

static struct context *enter(struct fixture *f, enum store_mode mode)
{
    f->has_answer = false;
    f->job = (struct store_job){.mode = mode, .run = lend_transaction, .done = job_done};
    store_submit(f->store, &f->job);
    await(&f->entered);
    problem_init(&f->problem, f->arena);
    context_init(&f->context, f->arena, &f->problem, f->tx);
    context_enter(&f->context, DEFAULT_TENANT_ID);
    f->context.actor = ACTOR_KEY;
    f->context.scopes = scopes_effective(SCOPE_OPERATOR);
    f->context.request_id = STR("request-1");
    return &f->context;
}

struct context *begin(struct fixture *f)
{
    return enter(f, STORE_WRITE);
}

/* Reads what is stored, as a process that has just started. */
struct context *begin_reading(struct fixture *f)
{
    snapshot_forget_all();
    return enter(f, STORE_READ);
}

struct context *begin_as(struct fixture *f, struct uuid tenant_id)
{
    struct context *c = enter(f, STORE_WRITE);
    context_enter(c, tenant_id);
    c->scopes = scopes_effective(SCOPE_ADMIN);
    return c;
}

enum error leave(struct fixture *f, enum error answer)
{
    f->answer = answer;
    f->has_answer = true;
    sem_post(&f->leave);
    await(&f->done);
    return f->result;
}

void commit(struct fixture *f)
{
    EXPECT_EQ(leave(f, OK), OK);
}

void abandon(struct fixture *f)
{
    EXPECT_EQ(leave(f, ERR_INTERNAL), ERR_INTERNAL);
}

struct str told(struct fixture *f)
{
    struct str detail = f->problem.n_faults > 0 ? f->problem.faults[0].detail : f->problem.detail;
    problem_init(&f->problem, f->arena);
    return detail;
}

/* --- Things to have ------------------------------------------------------------------------- */

struct uuid make_tenant(struct fixture *f, const char *name)
{
    struct tenant tenant = {0};
    EXPECT_EQ(tenant_create(begin(f), str_of(name), &tenant), OK);
    commit(f);
    return tenant.id;
}

struct uuid make_thread(struct fixture *f)
{
    struct thread thread = {0};
    EXPECT_EQ(thread_create(begin(f), &thread), OK);
    commit(f);
    return thread.id;
}

struct run make_run(struct fixture *f, struct uuid thread_id, const char *dispatch)
{
    struct run run = {.dispatch = run_dispatch_parse(str_of(dispatch))};
    EXPECT_EQ(run_start(begin(f), thread_id, RUN_POLICY_ENQUEUE, &run), OK);
    commit(f);
    return run;
}

struct run make_claimed(struct fixture *f, struct uuid thread_id)
{
    make_run(f, thread_id, "queue");
    const struct run_claim claim = {.worker = STR("worker-1"),
        .lease_ms = 30000,
        .has_thread_id = true,
        .thread_id = thread_id};
    struct run run = {0};
    bool found = false;
    EXPECT_EQ(run_claim(begin(f), &claim, &run, &found), OK);
    EXPECT(found);
    commit(f);
    return run;
}

struct run get_run(struct fixture *f, struct uuid id)
{
    struct run run = {0};
    EXPECT_EQ(run_get(begin_reading(f), id, &run), OK);
    commit(f);
    return run;
}

struct thread get_thread(struct fixture *f, struct uuid id)
{
    struct thread thread = {0};
    EXPECT_EQ(thread_get(begin_reading(f), id, &thread), OK);
    commit(f);
    return thread;
}

void add_events(struct fixture *f, struct uuid thread_id, size_t n)
{
    struct event *events = ARENA_ARRAY(f->arena, struct event, n);
    for (size_t i = 0; i < n; i++)
        events[i].kind = STR("progress");
    EXPECT_EQ(event_append(begin(f), thread_id, events, n), OK);
    commit(f);
}

static struct event_bounds bounds_of(struct fixture *f, const struct event_filter *filter)
{
    struct event_bounds bounds = {-1, -1, -1, -1};
    EXPECT_EQ(event_bounds(begin_reading(f), filter, &bounds), OK);
    commit(f);
    return bounds;
}

struct event_bounds thread_bounds(struct fixture *f, struct uuid thread_id)
{
    const struct event_filter filter = {.has_thread_id = true, .thread_id = thread_id};
    return bounds_of(f, &filter);
}

struct event_bounds tenant_bounds(struct fixture *f)
{
    const struct event_filter filter = {0};
    return bounds_of(f, &filter);
}

struct event last_event(struct fixture *f, struct uuid thread_id)
{
    struct page page;
    const struct event_filter filter = {.has_thread_id = true, .thread_id = thread_id};
    struct event *events = ARENA_ARRAY(f->arena, struct event, EVENT_PAGE_MAX);
    size_t n = 0;
    page = (struct page){.limit = EVENT_PAGE_MAX};
    EXPECT_EQ(event_list(begin_reading(f), &filter, 0, &page, events), OK);
    n = page.count;
    commit(f);
    EXPECT(n > 0);
    return n > 0 ? events[n - 1] : (struct event){0};
}

enum error delete_thread(struct context *c, struct uuid id)
{
    for (bool more = true; more;)
        TRY(thread_delete_some(c, id, &more));
    return OK;
}

enum error delete_agent(struct context *c, struct uuid id)
{
    for (bool more = true; more;)
        TRY(agent_delete_some(c, id, &more));
    return OK;
}

enum error delete_tenant(struct context *c, struct uuid id)
{
    for (bool more = true; more;)
        TRY(tenant_delete_some(c, id, &more));
    return OK;
}

void collect_garbage(struct fixture *f)
{
    struct owned_id found[8];
    size_t n;
    do {
        struct context *c = begin(f);
        context_enter_system(c);
        c->lease_now_us += 60 * (int64_t)1000000;
        EXPECT_EQ(event_list_garbage(c, COUNT_OF(found), found, &n), OK);
        commit(f);
        for (size_t i = 0; i < n; i++) {
            bool more;
            c = begin(f);
            context_enter(c, found[i].tenant_id);
            EXPECT_EQ(event_collect_garbage(c, found[i].id, &more), OK);
            commit(f);
        }
    } while (n > 0);
}
