/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgres.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/params.h"

/* --- SQLSTATEs ------------------------------------------------------------------------------ */

static const struct {
    const char *state; /* a SQLSTATE, or its class */
    enum error error;
    bool transient; /* the same transaction may succeed if it runs again */
} STATES[] = {
    {"40001", ERR_UNAVAILABLE, true},  /* serialization failure */
    {"40P01", ERR_UNAVAILABLE, true},  /* deadlock */
    {"55P03", ERR_UNAVAILABLE, true},  /* a lock was not available */
    {"26000", ERR_UNAVAILABLE, true},  /* no such prepared statement: another session */
    {"42P05", ERR_UNAVAILABLE, true},  /* already prepared: another session */
    {"0A000", ERR_UNAVAILABLE, true},  /* a cached plan, after a migration */
    {"25P03", ERR_UNAVAILABLE, true},  /* idle in a transaction for too long */
    {"25P04", ERR_UNAVAILABLE, true},  /* a transaction that took too long */
    {"25006", ERR_UNAVAILABLE, true},  /* read-only: the primary has moved */
    {"57014", ERR_UNAVAILABLE, false}, /* the statement took too long */
    {"57", ERR_UNAVAILABLE, true},     /* the server stops or starts */
    {"08", ERR_UNAVAILABLE, true},     /* the connection */
    {"72000", ERR_UNAVAILABLE, false}, /* a snapshot older than old_snapshot_threshold */
    {"53100", ERR_STORAGE_FULL, false},
    {"53", ERR_UNAVAILABLE, false},    /* out of memory, too many connections */
    {"23", ERR_CONFLICT, false},       /* constraint violation */
    {"22021", ERR_INVALID, false},     /* text that PostgreSQL cannot store */
    {"22P05", ERR_INVALID, false},     /* the same */
    {"42501", ERR_UNAVAILABLE, false}, /* the role lacks a right: the operator can grant it */
};

static size_t find_state(const char *sqlstate)
{
    size_t i = 0;
    while (i < COUNT_OF(STATES) && strncmp(sqlstate, STATES[i].state, strlen(STATES[i].state)) != 0)
        i++;
    return i;
}

static enum error error_of(const char *sqlstate)
{
    size_t i = find_state(sqlstate);
    return i < COUNT_OF(STATES) ? STATES[i].error : ERR_INTERNAL;
}

static bool is_transient(const char *sqlstate)
{
    size_t i = find_state(sqlstate);
    return i < COUNT_OF(STATES) && STATES[i].transient;
}

bool pg_has_succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

void pg_clearp(PGresult **result)
{
    PQclear(*result);
}

/* After these the state of the session is unknown: a new session is needed. */
static bool is_spoilt_by(const char *sqlstate)
{
    static const char *const STATES_OF_SESSION[] = {
        "26000", "42P05", "0A000", "25006", "25P03", "25P04"};
    for (size_t i = 0; i < COUNT_OF(STATES_OF_SESSION); i++)
        if (strcmp(sqlstate, STATES_OF_SESSION[i]) == 0)
            return true;
    return false;
}

/* --- Failure -------------------------------------------------------------------------------- */

static bool has_failed(const struct pg_connection *c)
{
    return c->lost || c->error != OK;
}

static bool lose(struct pg_connection *c)
{
    c->lost = true;
    return false;
}

static void note_failure(struct pg_connection *c, const struct pg_sent *sent, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (state == NULL) {
        lose(c);
        return;
    }
    if (has_failed(c) || c->committed)
        return;
    c->error = error_of(state);
    c->culprit = sent->job;
    c->again = c->again || is_transient(state);
    c->spoilt = c->spoilt || is_spoilt_by(state);
    c->blocked = strcmp(state, "55P03") == 0;
    /* Constraints, locks and a full disk are reported to the caller; unexpected errors are logged
     * here. Errors caused by input are logged without the message, which may quote the input. */
    if (c->error != ERR_INTERNAL && strcmp(state, "42501") != 0)
        return;
    const char *words = state[0] == '2' ? "" : PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    LOG(LOG_ERROR, "postgres refused a statement",
        LOG_STR("statement", str_of(sent->name != NULL ? sent->name : "")),
        LOG_STR("sqlstate", str_of(state)), LOG_STR("error", str_of(words)));
}

bool pg_is_gone(const struct pg_connection *c)
{
    struct pollfd fd = {.fd = PQsocket(c->conn), .events = POLLRDHUP};
    return poll(&fd, 1, 0) != 0;
}

/* --- The queue of sent statements ----------------------------------------------------------- */

static void push_sent(struct pg_connection *c, struct pg_sent sent)
{
    if (c->sent_count == c->sent_cap) {
        size_t cap = c->sent_cap == 0 ? 64 : c->sent_cap * 2;
        struct pg_sent *grown = mem_alloc(cap * sizeof *grown);
        for (size_t i = 0; i < c->sent_count; i++)
            grown[i] = c->sent[(c->sent_first + i) % c->sent_cap];
        mem_free(c->sent);
        c->sent = grown;
        c->sent_first = 0;
        c->sent_cap = cap;
    }
    sent.job = c->job;
    c->sent[(c->sent_first + c->sent_count++) % c->sent_cap] = sent;
}

static void drop_sent(struct pg_connection *c)
{
    c->sent_first = (c->sent_first + 1) % c->sent_cap;
    c->sent_count--;
}

bool pg_send_text(struct pg_connection *c, const char *sql, const char *param, const char *second)
{
    const char *values[] = {param, second};
    int n = second != NULL ? 2 : param != NULL ? 1 : 0;
    if (has_failed(c))
        return false;
    if (PQsendQueryParams(c->conn, sql, n, NULL, values, NULL, NULL, 1) != 1)
        return lose(c);
    push_sent(c, (struct pg_sent){.name = sql});
    return true;
}

bool pg_send(struct pg_connection *c, const char *sql)
{
    return pg_send_text(c, sql, NULL, NULL);
}

static bool send_sync(struct pg_connection *c)
{
    if (PQpipelineSync(c->conn) != 1)
        return lose(c);
    push_sent(c, (struct pg_sent){.is_sync = true});
    return true;
}

bool pg_send_commit(struct pg_connection *c)
{
    if (!pg_send(c, "COMMIT"))
        return false;
    c->sent[(c->sent_first + c->sent_count - 1) % c->sent_cap].is_commit = true;
    return send_sync(c);
}

/* --- Answers -------------------------------------------------------------------------------- */

/* Waits for input and sends pending output meanwhile; *out_came is true if input arrived. Returns
 * false if the connection is lost. */
static bool wait_input(struct pg_connection *c, int64_t deadline_us, bool *out_came)
{
    int unsent = PQflush(c->conn);
    int64_t left_us = deadline_us - clock_steady_us();
    if (unsent < 0 || left_us <= 0)
        return lose(c);
    struct pollfd fd = {
        .fd = PQsocket(c->conn), .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
    if (poll(&fd, 1, (int)(left_us / 1000) + 1) < 0 && errno != EINTR)
        return lose(c);
    if (fd.revents != 0 && PQconsumeInput(c->conn) != 1)
        return lose(c);
    *out_came = (fd.revents & POLLIN) != 0;
    return true;
}

/* Does not give up a large answer over a slow link while it makes progress. */
static PGresult *next_result(struct pg_connection *c)
{
    int64_t now_us = clock_steady_us();
    int64_t deadline_us = now_us + c->patience_us, last_us = now_us + POSTGRES_ANSWER_MAX_US;
    if (last_us < deadline_us)
        last_us = deadline_us;
    while (PQisBusy(c->conn)) {
        bool came;
        if (!wait_input(c, deadline_us < last_us ? deadline_us : last_us, &came))
            return NULL;
        if (came)
            deadline_us = clock_steady_us() + c->patience_us;
    }
    return PQgetResult(c->conn);
}

/* libpq returns NULL after each statement's result. */
static bool take_end(struct pg_connection *c)
{
    PGresult *r = next_result(c);
    if (r == NULL)
        return !c->lost;
    PQclear(r);
    return lose(c); /* a result that no statement has asked for */
}

static void take_result(struct pg_connection *c, const struct pg_sent *sent, PGresult *r)
{
    bool good = pg_has_succeeded(r);
    if (!good && PQresultStatus(r) != PGRES_PIPELINE_ABORTED)
        note_failure(c, sent, r);
    /* The server answers the COMMIT of a failed transaction with ROLLBACK. */
    if (good && sent->is_commit) {
        c->committed = strcmp(PQcmdStatus(r), "COMMIT") == 0;
        if (!c->committed && !has_failed(c))
            c->error = ERR_UNAVAILABLE;
    }
    if (good && sent->writes && sent->job != NULL && strcmp(PQcmdTuples(r), "0") != 0)
        sent->job->has_changed = true;
    if (!good && sent->prepared != NULL)
        *sent->prepared = false; /* the pipeline had failed before it */
    if (sent->query != NULL)
        sent->query->is_answered = true;
    if (good && sent->query != NULL)
        sent->query->result = r;
    else
        PQclear(r);
}

void pg_end_share(struct pg_connection *c, struct store_job *first, struct store_job *last)
{
    if (c->sent_count == 0 || has_failed(c))
        return;
    struct pg_sent *sent = &c->sent[(c->sent_first + c->sent_count - 1) % c->sent_cap];
    sent->first_payer = first;
    sent->last_payer = last;
    if (PQsendFlushRequest(c->conn) != 1)
        lose(c);
}

/* Each of the jobs pays the same: if one paid for all, their average would rise with it. */
static void charge(struct pg_connection *c, const struct pg_sent *sent, int64_t waited_us)
{
    int64_t n = 1;
    c->waited_us += waited_us;
    if (sent->first_payer == NULL)
        return;
    for (struct store_job *job = sent->first_payer; job != sent->last_payer; job = job->next)
        n++;
    for (struct store_job *job = sent->first_payer; n > 0; job = job->next, n--) {
        int64_t share_us = c->waited_us / n;
        job->used_us += share_us;
        c->others_us += share_us;
        c->waited_us -= share_us;
    }
}

/* Reads the result of the oldest outstanding statement. */
static bool take_answer(struct pg_connection *c)
{
    int64_t start_us = clock_steady_us();
    PGresult *r = next_result(c);
    if (r == NULL) /* the connection ended in the middle of a result */
        return lose(c);
    bool is_sync = PQresultStatus(r) == PGRES_PIPELINE_SYNC;
    struct pg_sent sent = c->sent[c->sent_first];
    if (is_sync != sent.is_sync) {
        /* An error that belongs to no statement: a timeout that came too late to stop one. */
        bool stray = sent.is_sync && PQresultStatus(r) == PGRES_FATAL_ERROR;
        if (stray)
            note_failure(c, &sent, r);
        PQclear(r);
        return stray ? take_end(c) : lose(c);
    }
    drop_sent(c);
    charge(c, &sent, clock_steady_us() - start_us);
    if (is_sync) {
        PQclear(r);
        return true;
    }
    take_result(c, &sent, r);
    return !c->lost && take_end(c);
}

bool pg_settle(struct pg_connection *c)
{
    while (!c->lost && c->sent_count > 0)
        if (!take_answer(c))
            return false;
    return !has_failed(c);
}

static struct str bytes_of(const struct pg_query *pq, int column)
{
    return (struct str){
        PQgetvalue(pq->result, pq->row, column), (size_t)PQgetlength(pq->result, pq->row, column)};
}

/* Decodes a bigint, an integer or a boolean. */
static int64_t number_of(struct str bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.len; i++)
        number = number << 8 | (unsigned char)bytes.ptr[i];
    return bytes.len == 4 ? (int32_t)number : (int64_t)number;
}

/*
 * Asks for answers with a sync, although a flush would do: only after a sync does the server count
 * the transaction as idle, and only then does its timeout free the locks of a node that has
 * stopped.
 */
bool pg_catch_up(struct pg_connection *c)
{
    return !has_failed(c) && (c->sent_count == 0 || send_sync(c)) && pg_settle(c);
}

/* Reads all results up to this statement's. */
static void await(struct pg_connection *c, struct pg_query *pq)
{
    if (send_sync(c))
        while (!c->lost && !pq->is_answered)
            take_answer(c);
}

bool pg_ask(struct pg_connection *c, const char *sql, int64_t *out_numbers, int n)
{
    struct pg_query pq = {.row = 0};
    if (has_failed(c))
        return false;
    if (PQsendQueryParams(c->conn, sql, 0, NULL, NULL, NULL, NULL, 1) != 1)
        return lose(c);
    push_sent(c, (struct pg_sent){.query = &pq, .name = sql});
    bool good = send_sync(c) && pg_settle(c) && pq.result != NULL && PQntuples(pq.result) == 1;
    for (int i = 0; good && i < n; i++)
        out_numbers[i] = number_of(bytes_of(&pq, i));
    PQclear(pq.result);
    return good;
}

static void release(struct pg_connection *c, struct pg_query *pq)
{
    PQclear(pq->result);
    *pq->link = pq->next;
    if (pq->next != NULL)
        pq->next->link = pq->link;
    pq->next = c->free_queries;
    c->free_queries = pq;
}

/* Some queries of a failed transaction may not have ended; their answers are never read. */
static void release_all(struct pg_connection *c)
{
    for (size_t i = 0; i < c->sent_count; i++)
        c->sent[(c->sent_first + i) % c->sent_cap].query = NULL;
    while (c->used_queries != NULL)
        release(c, c->used_queries);
}

void pg_begin_transaction(struct pg_connection *c)
{
    release_all(c);
    c->job = NULL;
    c->wrote = c->again = c->blocked = c->notify = false;
    c->tenant[0] = c->tenant_set[0] = '\0';
    c->n_once = 0;
    c->lost = c->conn == NULL;
    c->unknown = c->spoilt = c->committed = false;
    c->error = OK;
    c->culprit = NULL;
}

void pg_abandon(struct pg_connection *c)
{
    c->job = NULL;
    /* A pipeline that failed skips everything up to its next synchronisation. */
    if (!c->lost && send_sync(c))
        pg_settle(c);
    if (!c->lost && PQtransactionStatus(c->conn) != PQTRANS_IDLE) {
        c->error = OK;
        if (pg_send(c, "ROLLBACK") && send_sync(c))
            pg_settle(c);
    }
    if (c->lost || c->spoilt || PQtransactionStatus(c->conn) != PQTRANS_IDLE)
        pg_disconnect(c);
}

/* --- Statements ----------------------------------------------------------------------------- */

static struct pg_connection *connection_of(const struct query *q)
{
    return q->tx->connection;
}

static struct pg_query *pg_of(const struct query *q)
{
    return q->handle;
}

static void set_error(struct query *q)
{
    const struct pg_connection *c = connection_of(q);
    q->error = c->error != OK ? c->error : ERR_UNAVAILABLE;
}

static void begin(struct query *q)
{
    struct pg_connection *c = connection_of(q);
    if (has_failed(c)) {
        set_error(q);
        return;
    }
    struct pg_query *pq = c->free_queries;
    if (pq != NULL)
        c->free_queries = pq->next;
    else
        pq = mem_alloc(sizeof *pq);
    assert(q->statement->n_params <= POSTGRES_MAX_PARAMS);
    pq->next = c->used_queries;
    pq->link = &c->used_queries;
    if (pq->next != NULL)
        pq->next->link = &pq->next;
    c->used_queries = pq;
    memset(pq->values, 0, sizeof(char *) * q->statement->n_params);
    pq->result = NULL;
    pq->row = -1;
    pq->is_sent = pq->is_answered = false;
    q->handle = pq;
}

static void bind_text(struct query *q, unsigned param, struct str value)
{
    struct pg_query *pq = pg_of(q);
    pq->values[param] = value.len > 0 ? value.ptr : "";
    pq->lengths[param] = (int)value.len;
}

static void bind_bytes(struct query *q, unsigned param, struct str value)
{
    struct pg_query *pq = pg_of(q);
    if (value.len <= sizeof pq->bytes[param]) {
        memcpy(pq->bytes[param], value.ptr, value.len);
        value.ptr = (const char *)pq->bytes[param];
    } else {
        value = arena_str(q->arena, value);
    }
    bind_text(q, param, value);
}

static void bind_i64(struct query *q, unsigned param, int64_t value)
{
    struct pg_query *pq = pg_of(q);
    bool is_bool = q->statement->types[param] == SQL_BOOL;
    uint64_t number = is_bool ? (uint64_t)value << 56 : (uint64_t)value;
    number = htobe64(number);
    memcpy(pq->bytes[param], &number, sizeof number);
    pq->values[param] = (const char *)pq->bytes[param];
    pq->lengths[param] = is_bool ? 1 : (int)sizeof number;
}

static const Oid TYPE_OIDS[] = {[SQL_UUID] = 2950,
    [SQL_INT] = 20,
    [SQL_BOOL] = 16,
    [SQL_TEXT] = 25,
    [SQL_JSON] = 114,
    [SQL_BYTES] = 17};

static const int ALL_BINARY[POSTGRES_MAX_PARAMS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static void type_oids(const struct sql_statement *s, Oid *out_oids)
{
    for (unsigned i = 0; i < s->n_params; i++)
        out_oids[i] = TYPE_OIDS[s->types[i]];
}

static bool prepare(struct pg_connection *c, const struct sql_statement *s, const char *name)
{
    Oid oids[POSTGRES_MAX_PARAMS];
    if (c->prepared[s->index])
        return true;
    type_oids(s, oids);
    if (PQsendPrepare(c->conn, name, s->text[ENGINE_POSTGRES], (int)s->n_params, oids) != 1)
        return lose(c);
    c->prepared[s->index] = true;
    push_sent(c, (struct pg_sent){.name = s->name, .prepared = &c->prepared[s->index]});
    return true;
}

static bool send_statement(
    struct pg_connection *c, const struct sql_statement *s, struct pg_query *pq)
{
    if (c->pooled) {
        Oid oids[POSTGRES_MAX_PARAMS];
        type_oids(s, oids);
        return PQsendQueryParams(c->conn, s->text[ENGINE_POSTGRES], (int)s->n_params, oids,
                   pq->values, pq->lengths, ALL_BINARY, 1) == 1 ||
               lose(c);
    }
    char name[16];
    snprintf(name, sizeof name, "s%u", s->index);
    return prepare(c, s, name) && (PQsendQueryPrepared(c->conn, name, (int)s->n_params, pq->values,
                                       pq->lengths, ALL_BINARY, 1) == 1 ||
                                      lose(c));
}

/* --- Statements of the engine's own --------------------------------------------------------- */

static const enum sql_type TWO_TEXTS[] = {SQL_TEXT, SQL_TEXT};

#define OWN(name_, text_, n)                                                    \
    {                                                                           \
        .name = name_, .text = {NULL, text_}, .n_params = n, .types = TWO_TEXTS \
    }

static const struct sql_statement OWN[PG_OWN_COUNT] = {
    [PG_BEGIN_WRITE] = OWN("begin_write", "BEGIN ISOLATION LEVEL READ COMMITTED", 0),
    [PG_BEGIN_READ] = OWN("begin_read", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0),
    [PG_SET_TENANT] = OWN("set_tenant", "SELECT set_config('cairn.tenant', $1, true)", 1),
    [PG_LOCK_AT_ONCE] = OWN("lock_at_once", "SELECT set_config('lock_timeout', '1', true)", 0),
    [PG_NOTIFY] = OWN("notify", "SELECT pg_notify($1, $2)", 2),
};

bool pg_send_own(struct pg_connection *c, enum pg_own which, const char *first, const char *second)
{
    struct sql_statement s = OWN[which];
    struct pg_query pq = {.values = {first, second},
        .lengths = {
            first != NULL ? (int)strlen(first) : 0, second != NULL ? (int)strlen(second) : 0}};
    s.index = (unsigned)(c->store->base.config.n_statements + which);
    if (has_failed(c) || !send_statement(c, &s, &pq))
        return false;
    push_sent(c, (struct pg_sent){.name = OWN[which].name});
    return true;
}

/* Row-level security hides all rows from a job that has not entered a tenant. */
static bool set_tenant(struct pg_connection *c)
{
    if (strcmp(c->tenant_set, c->tenant) == 0)
        return true;
    memcpy(c->tenant_set, c->tenant, sizeof c->tenant);
    return pg_send_own(c, PG_SET_TENANT, c->tenant, NULL);
}

static bool send_query(struct query *q, bool awaited)
{
    struct pg_connection *c = connection_of(q);
    struct pg_query *pq = pg_of(q);
    pq->is_sent = true;
    if (has_failed(c) || !set_tenant(c) || !send_statement(c, q->statement, pq))
        return false;
    push_sent(c, (struct pg_sent){.query = awaited ? pq : NULL,
                     .name = q->statement->name,
                     .writes = q->statement->writes});
    c->wrote = c->wrote || q->statement->writes;
    return true;
}

static void send(struct query *q)
{
    if (!send_query(q, true))
        set_error(q);
}

static bool next(struct query *q)
{
    struct pg_connection *c = connection_of(q);
    struct pg_query *pq = pg_of(q);
    if (!pq->is_sent)
        send(q);
    if (q->error == OK && !pq->is_answered)
        await(c, pq);
    if (pq->result == NULL) {
        set_error(q);
        return false;
    }
    return ++pq->row < PQntuples(pq->result);
}

static void run(struct query *q)
{
    if (!send_query(q, false))
        set_error(q);
}

static void end(struct query *q)
{
    release(connection_of(q), pg_of(q));
}

static int64_t changed(struct query *q)
{
    int64_t count = 0;
    return str_to_i64(str_of(PQcmdTuples(pg_of(q)->result)), &count) ? count : 0;
}

static bool is_null(struct query *q, unsigned column)
{
    const struct pg_query *pq = pg_of(q);
    assert(column < (unsigned)PQnfields(pq->result));
    return PQgetisnull(pq->result, pq->row, (int)column) == 1;
}

static struct str get_bytes(struct query *q, unsigned column)
{
    return bytes_of(pg_of(q), (int)column);
}

static int64_t get_i64(struct query *q, unsigned column)
{
    return number_of(bytes_of(pg_of(q), (int)column));
}

static enum error sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first)
{
    struct arena unused = ARENA_INIT(0);
    struct query q;
    query_begin(&q, tx, sequence->advance, &unused);
    query_uuid(&q, tenant_id, sequence->tenant_id);
    query_uuid(&q, key, sequence->key);
    query_i64(&q, count, (int64_t)count);
    uint64_t last = 0;
    while (query_next(&q))
        last = (uint64_t)row_i64(&q);
    enum error e = query_end(&q);
    arena_deinit(&unused);
    if (e == OK && last == 0)
        return ERR_NOT_FOUND;
    if (e == OK)
        *out_first = last - count + 1;
    return e;
}

/* --- Functions of shared stores only -------------------------------------------------------- */

static void notify(struct tx *tx)
{
    struct pg_connection *c = tx->connection;
    c->notify = true;
}

static enum error run_again(struct tx *tx)
{
    struct pg_connection *c = tx->connection;
    c->again = true;
    return ERR_UNAVAILABLE;
}

static void refresh(struct tx *tx)
{
    struct pg_connection *c = tx->connection;
    assert(!tx->writes);
    if (pg_send(c, "COMMIT") && send_sync(c) && pg_begin(c, PG_BEGIN_READ))
        c->tenant_set[0] = '\0';
}

static void once(struct tx *tx, const struct sql_statement *statement)
{
    struct pg_connection *c = tx->connection;
    for (size_t i = 0; i < c->n_once; i++)
        if (c->once[i] == statement)
            return;
    assert(c->n_once < POSTGRES_MAX_ONCE && statement->n_params == 0);
    c->once[c->n_once++] = statement;
    struct query q;
    query_begin(&q, tx, statement, NULL);
    (void)!query_run(&q); /* the transaction keeps the error */
}

static void enter(struct tx *tx, const struct uuid *tenant_id)
{
    struct pg_connection *c = tx->connection;
    memset(c->tenant, 0, sizeof c->tenant);
    if (tenant_id != NULL)
        uuid_format(*tenant_id, c->tenant);
    else
        c->tenant[0] = '*';
}

static int64_t lease_now_us(const struct tx *tx)
{
    const struct pg_store *s = CONTAINER_OF(tx->store, struct pg_store, base);
    return clock_steady_us() + atomic_load(&s->lease_offset_us);
}

static void give_up(struct store *store, const char *why)
{
    store->config.on_fatal(why);
}

const struct engine_ops postgres_ops = {
    .close = pg_close,
    .submit = pg_submit,
    .stats = pg_stats,
    .give_up = give_up,
    .begin = begin,
    .bind_text = bind_text,
    .bind_bytes = bind_bytes,
    .bind_i64 = bind_i64,
    .send = send,
    .next = next,
    .run = run,
    .end = end,
    .changed = changed,
    .is_null = is_null,
    .get_text = get_bytes,
    .get_bytes = get_bytes,
    .get_i64 = get_i64,
    .sequence_take = sequence_take,
    .shared = &(const struct shared_ops){.drain = pg_drain,
        .wait = pg_wait,
        .wake = pg_wake,
        .notify = notify,
        .run_again = run_again,
        .refresh = refresh,
        .once = once,
        .enter = enter,
        .lease_now_us = lease_now_us},
};
