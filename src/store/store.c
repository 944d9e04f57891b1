/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/clock.h"
#include "store/content_kind.h"

enum error store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store)
{
    switch (config->engine) {
    case ENGINE_SQLITE:
        return sqlite_store_open(config, problem, out_store);
    case ENGINE_POSTGRES:
        return postgres_store_open(config, problem, out_store);
    case ENGINE_COUNT:
        break;
    }
    return problem_set(problem, ERR_BAD_REQUEST, "this build does not include the storage engine");
}

void store_own_process(void)
{
    sqlite_own_process();
}

bool store_is_schema_name(struct str name)
{
    if (name.len == 0 || name.len > 63 || (name.ptr[0] >= '0' && name.ptr[0] <= '9'))
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!str_has_byte(STR("abcdefghijklmnopqrstuvwxyz0123456789_"), name.ptr[i]))
            return false;
    return true;
}

void store_drain(struct store *store)
{
    if (store_is_shared(store))
        store->ops->shared->drain(store);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    content_stop(store->content);
    store->ops->close(store);
}

void store_submit(struct store *store, struct store_job *job)
{
    assert(job->run != NULL && job->done != NULL);
    store->ops->submit(store, job);
}

enum error store_break(struct store *store, const char *why)
{
    store->ops->give_up(store, why);
    return ERR_UNAVAILABLE;
}

void store_note_damage(struct store *store)
{
    atomic_fetch_add(&store->n_damaged, 1);
}

struct hub *store_hub(struct store *store)
{
    return store->hub;
}

struct store_stats store_stats(const struct store *store)
{
    struct store_stats stats = store->ops->stats(store);
    stats.is_full = atomic_load(&store->is_full);
    stats.damaged = atomic_load(&store->n_damaged);
    return stats;
}

bool store_is_shared(const struct store *store)
{
    return store->ops->shared != NULL;
}

void store_wait(struct store *store, uint32_t timeout_ms)
{
    store->ops->shared->wait(store, timeout_ms);
}

void store_wake(struct store *store)
{
    if (store_is_shared(store))
        store->ops->shared->wake(store);
}

struct waiting_job {
    struct store_job job;
    enum error (*run)(void *data, struct tx *tx);
    void *data;
    pthread_mutex_t mutex;
    pthread_cond_t finished_cond;
    bool finished;
    enum error result;
};

static enum error run_waiting(struct store_job *job, struct tx *tx)
{
    struct waiting_job *w = CONTAINER_OF(job, struct waiting_job, job);
    return w->run(w->data, tx);
}

static void done_waiting(struct store_job *job, enum error result)
{
    struct waiting_job *w = CONTAINER_OF(job, struct waiting_job, job);
    pthread_mutex_lock(&w->mutex);
    w->result = result;
    w->finished = true;
    pthread_cond_signal(&w->finished_cond);
    pthread_mutex_unlock(&w->mutex);
}

enum error store_call(struct store *store, enum store_mode mode,
    enum error (*run)(void *data, struct tx *tx), void *data)
{
    return store_call_for(store, mode, 0, run, data);
}

enum error store_call_for(struct store *store, enum store_mode mode, uint64_t flow,
    enum error (*run)(void *data, struct tx *tx), void *data)
{
    struct waiting_job w = {.job = {.mode = mode,
                                .flow = flow,
                                .on_full = STORE_ON_FULL_FREES,
                                .run = run_waiting,
                                .done = done_waiting},
        .run = run,
        .data = data};
    pthread_mutex_init(&w.mutex, NULL);
    pthread_cond_init(&w.finished_cond, NULL);
    store_submit(store, &w.job);
    pthread_mutex_lock(&w.mutex);
    while (!w.finished)
        pthread_cond_wait(&w.finished_cond, &w.mutex);
    pthread_mutex_unlock(&w.mutex);
    pthread_cond_destroy(&w.finished_cond);
    pthread_mutex_destroy(&w.mutex);
    return w.result;
}

enum error job_run_whole(struct store_job *job, struct tx *tx)
{
    TRY(job->run(job, tx));
    return job->finish != NULL ? job->finish(job, tx) : OK;
}

void tx_init(struct tx *tx, struct store *store, void *connection, bool writes)
{
    *tx = (struct tx){.store = store, .connection = connection, .writes = writes};
    tx->published_end = &tx->published;
}

void **tx_memo(struct tx *tx)
{
    return &tx->memo;
}

void tx_drop_memo(struct tx *tx)
{
    if (tx->memo != NULL)
        tx->store->config.free_memo(tx->memo);
    tx->memo = NULL;
}

void tx_rehearse(struct tx *tx)
{
    assert(!tx->writes);
    tx->rehearses = true;
}

void tx_publish(struct tx *tx, struct hub_item *item)
{
    if (tx->rehearses) {
        hub_item_unref(item);
        return;
    }
    assert(tx->writes);
    item->next_in_tx = NULL;
    *tx->published_end = item;
    tx->published_end = &item->next_in_tx;
}

void tx_unpublish_from(struct tx *tx, struct hub_item **from)
{
    struct hub_item *item = *from;
    *from = NULL;
    tx->published_end = from;
    while (item != NULL) {
        struct hub_item *next = item->next_in_tx;
        hub_item_unref(item);
        item = next;
    }
}

bool tx_may_write(const struct tx *tx)
{
    return tx->writes;
}

enum error tx_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first)
{
    if (tx->rehearses)
        return ERR_CANCELLED;
    assert(tx->writes);
    return tx->store->ops->sequence_take(tx, sequence, count, out_first);
}

void tx_sequence_drop(struct tx *tx, const struct sequence *sequence)
{
    assert(tx->writes || tx->rehearses);
    if (tx->writes && tx->store->ops->sequence_drop != NULL)
        tx->store->ops->sequence_drop(tx, sequence);
}

void tx_sequence_settle(struct tx *tx)
{
    assert(tx->writes);
    if (tx->store->ops->sequence_settle != NULL)
        tx->store->ops->sequence_settle(tx);
}

/* --- Where others write too ----------------------------------------------------------------- */

static const struct shared_ops *shared_of(const struct tx *tx)
{
    return tx->store->ops->shared;
}

void tx_notify(struct tx *tx)
{
    if (shared_of(tx) != NULL)
        shared_of(tx)->notify(tx);
}

void tx_note_damage(struct tx *tx)
{
    store_note_damage(tx->store);
}

struct uuid tx_first_id(const struct tx *tx)
{
    return tx->store->content->first_id;
}

bool tx_is_full(const struct tx *tx)
{
    return atomic_load(&tx->store->is_full);
}

enum store_engine tx_engine(const struct tx *tx)
{
    return shared_of(tx) != NULL ? ENGINE_POSTGRES : ENGINE_SQLITE;
}

bool tx_is_shared(const struct tx *tx)
{
    return tx->writes && shared_of(tx) != NULL;
}

enum error tx_run_again(struct tx *tx)
{
    return shared_of(tx)->run_again(tx);
}

void tx_refresh(struct tx *tx)
{
    if (shared_of(tx) != NULL)
        shared_of(tx)->refresh(tx);
}

void tx_extend(struct tx *tx)
{
    if (tx->store->ops->extend != NULL)
        tx->store->ops->extend(tx);
}

int64_t tx_settled(struct tx *tx, int64_t era, int64_t value)
{
    struct store *store = tx->store;
    pthread_mutex_lock(&store->settled_mutex);
    if (era != store->era || value > store->settled)
        store->settled = value;
    store->era = era;
    int64_t settled = store->settled;
    pthread_mutex_unlock(&store->settled_mutex);
    return settled;
}

void tx_once(struct tx *tx, const struct sql_statement *statement)
{
    if (shared_of(tx) != NULL)
        shared_of(tx)->once(tx, statement);
}

void tx_enter_tenant(struct tx *tx, struct uuid tenant_id)
{
    if (shared_of(tx) != NULL)
        shared_of(tx)->enter(tx, &tenant_id);
}

void tx_enter_system(struct tx *tx)
{
    if (shared_of(tx) != NULL)
        shared_of(tx)->enter(tx, NULL);
}

int64_t tx_lease_now_us(const struct tx *tx)
{
    return shared_of(tx) != NULL ? shared_of(tx)->lease_now_us(tx) : clock_lease_us();
}
