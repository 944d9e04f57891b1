/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/content_kind.h"

enum { CLOSED_AT_ONCE_MAX_BYTES = 1024 * 1024 };

/* --- Writers -------------------------------------------------------------------------------- */

static bool is_under_way(const struct content *c, struct uuid tenant_id, struct uuid id)
{
    for (const struct content_writer *w = c->under_way; w != NULL; w = w->next)
        if ((uuid_eq(w->id, id) || uuid_eq(w->sealed_id, id)) && uuid_eq(w->tenant_id, tenant_id))
            return true;
    return false;
}

/* Returns false if another writer has the content. */
static bool enlist(struct content_writer *w)
{
    struct content *c = w->content;
    pthread_mutex_lock(&c->mutex);
    bool is_free = !is_under_way(c, w->tenant_id, w->id);
    if (is_free) {
        w->next = c->under_way;
        if (w->next != NULL)
            w->next->prev = w;
        c->under_way = w;
    }
    pthread_mutex_unlock(&c->mutex);
    return is_free;
}

static void delist(struct content_writer *w)
{
    struct content *c = w->content;
    pthread_mutex_lock(&c->mutex);
    if (w->next != NULL)
        w->next->prev = w->prev;
    if (w->prev != NULL)
        w->prev->next = w->next;
    else
        c->under_way = w->next;
    pthread_mutex_unlock(&c->mutex);
}

/* --- Writing -------------------------------------------------------------------------------- */

static struct content_writer *writer_create(
    struct store *store, struct uuid tenant_id, struct uuid id)
{
    struct content_writer *w = MEM_NEW(struct content_writer);
    w->content = store->content;
    w->tenant_id = tenant_id;
    w->id = id;
    w->fd = -1;
    w->hash = sha256_create();
    return w;
}

static void writer_destroy(struct content_writer *w)
{
    (void)sha256_finish(w->hash);
    buf_deinit(&w->partial);
    mem_free(w);
}

static enum error begin(struct content_writer *w, enum error (*act)(struct content_writer *w),
    struct content_writer **out)
{
    if (!enlist(w)) {
        writer_destroy(w);
        return ERR_CONFLICT;
    }
    enum error e = act(w);
    if (e == OK) {
        *out = w;
        return OK;
    }
    w->content->kind->end(w);
    delist(w);
    writer_destroy(w);
    return e;
}

enum error content_create(
    struct store *store, struct uuid tenant_id, struct uuid id, struct content_writer **out_writer)
{
    struct content_writer *w = writer_create(store, tenant_id, id);
    return begin(w, w->content->kind->create, out_writer);
}

enum error content_reopen(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t offset, struct content_writer **out_writer)
{
    struct content_writer *w = writer_create(store, tenant_id, id);
    w->size_bytes = offset;
    return begin(w, w->content->kind->reopen, out_writer);
}

enum error content_append(struct content_writer *w, struct str bytes)
{
    if (bytes.len == 0)
        return OK;
    TRY(w->content->kind->append(w, bytes));
    sha256_add(w->hash, bytes);
    w->size_bytes += bytes.len;
    return OK;
}

enum error content_sync(struct content_writer *w, struct content_info *out_info)
{
    TRY(w->content->kind->sync(w));
    *out_info = (struct content_info){w->size_bytes, sha256_so_far(w->hash)};
    return OK;
}

enum error content_seal(struct content_writer *w, struct uuid id)
{
    pthread_mutex_lock(&w->content->mutex);
    w->sealed_id = id;
    pthread_mutex_unlock(&w->content->mutex);
    return w->content->kind->seal(w);
}

/* Content that cannot be removed now becomes a leftover. */
void content_unseal(struct content_writer *w)
{
    if (w != NULL && !uuid_is_nil(w->sealed_id))
        (void)!w->content->kind->erase(w->content, w->tenant_id, w->sealed_id);
}

void content_keep(struct content_writer *w)
{
    if (w == NULL)
        return;
    w->content->kind->end(w);
    delist(w);
    writer_destroy(w);
}

/* Content that cannot be removed now becomes a leftover, which a sweep removes later. */
void content_abandon(struct content_writer *w)
{
    if (w == NULL)
        return;
    w->content->kind->end(w);
    (void)!w->content->kind->erase(w->content, w->tenant_id, w->id);
    delist(w);
    writer_destroy(w);
}

static void count_staging(struct store *store, int step)
{
    struct content *c = store->content;
    pthread_mutex_lock(&c->mutex);
    c->n_staging += (unsigned)step;
    pthread_mutex_unlock(&c->mutex);
}

void content_stage_begin(struct store *store)
{
    count_staging(store, 1);
}

void content_stage_end(struct store *store)
{
    count_staging(store, -1);
}

static void free_content(struct content *c)
{
    pthread_cond_destroy(&c->cond);
    pthread_mutex_destroy(&c->mutex);
    mem_free(c);
}

static void submit(struct content *c, struct content_task *task);

/* --- Reading -------------------------------------------------------------------------------- */

enum error content_open(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, struct content_reader **out_reader)
{
    struct content_reader *r = MEM_NEW(struct content_reader);
    *r = (struct content_reader){.content = store->content,
        .tenant_id = tenant_id,
        .id = id,
        .kind = store->content->kind,
        .size_bytes = size_bytes,
        .fd = -1};
    enum error e = r->kind->open(r);
    if (e != OK) {
        content_close(r);
        return e;
    }
    *out_reader = r;
    return OK;
}

enum error content_read(
    struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size)
{
    size_t done = 0;
    if (offset > r->size_bytes)
        offset = r->size_bytes;
    if (room > r->size_bytes - offset)
        room = (size_t)(r->size_bytes - offset);
    while (done < room) {
        size_t size = 0;
        TRY(r->kind->read(r, offset + done, place + done, room - done, &size));
        if (size == 0)
            return ERR_DAMAGED;
        done += size;
    }
    *out_size = done;
    return OK;
}

/* The memory of torn down content is freed with its last spool. */
static void leave_spool(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    bool is_last = --c->n_spools == 0 && c->is_torn_down;
    pthread_mutex_unlock(&c->mutex);
    if (is_last)
        free_content(c);
}

static void close_spool(struct content_task *task)
{
    struct content_reader *r = CONTAINER_OF(task, struct content_reader, closing);
    struct content *c = r->content;
    r->kind->close(r);
    mem_free(r);
    leave_spool(c);
}

void content_close(struct content_reader *r)
{
    if (r == NULL)
        return;
    if (!r->is_spool) {
        r->kind->close(r);
        mem_free(r);
        return;
    }
    r->closing = (struct content_task){.run = close_spool};
    if (r->size_bytes > CLOSED_AT_ONCE_MAX_BYTES)
        submit(r->content, &r->closing);
    else
        close_spool(&r->closing);
}

static void content_closep(struct content_reader **r)
{
    content_close(*r);
}

int content_spool(struct store *store)
{
    return content_dir_spool(store->content);
}

struct content_reader *content_open_spool(struct store *store, int fd, uint64_t size_bytes)
{
    struct content_reader *r = MEM_NEW(struct content_reader);
    *r = (struct content_reader){.content = store->content,
        .kind = &content_dir,
        .size_bytes = size_bytes,
        .fd = fd,
        .is_spool = true};
    pthread_mutex_lock(&r->content->mutex);
    r->content->n_spools++;
    pthread_mutex_unlock(&r->content->mutex);
    return r;
}

enum error content_measure(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, enum error (*may_continue)(void *data), void *data,
    struct content_info *out_info)
{
    struct content_reader *r CLEANUP(content_closep) = NULL;
    TRY(content_open(store, tenant_id, id, size_bytes, &r));
    char *piece CLEANUP(mem_freep) = mem_alloc(CONTENT_PIECE_BYTES);
    struct sha256_state *hash CLEANUP(sha256_freep) = sha256_create();
    size_t size = 0;
    for (uint64_t at = 0; at < size_bytes; at += size) {
        TRY(content_read(r, at, piece, CONTENT_PIECE_BYTES, &size));
        sha256_add(hash, (struct str){piece, size});
        TRY(may_continue != NULL ? may_continue(data) : OK);
    }
    *out_info = (struct content_info){size_bytes, sha256_so_far(hash)};
    return OK;
}

/* --- Removing ------------------------------------------------------------------------------- */

enum error content_remove(struct store *store, struct uuid tenant_id, struct uuid id)
{
    return store->content->kind->remove(store->content, tenant_id, id);
}

static struct content_held *take_held(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    struct content_held *held = c->held;
    c->held = NULL;
    pthread_mutex_unlock(&c->mutex);
    return held;
}

/* Content that is still held is put on the list again. */
void content_look_again(struct store *store)
{
    struct content *c = store->content;
    for (struct content_held *held = take_held(c), *next; held != NULL; held = next) {
        next = held->next;
        if (c->kind->remove(c, held->tenant_id, held->id) != OK)
            LOG(LOG_WARN, "unreferenced content could not be removed");
        mem_free(held);
    }
}

bool content_is_closing(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    bool closing = c->is_closing;
    pthread_mutex_unlock(&c->mutex);
    return closing;
}

/* In this order, because a writer commits the row or removes the content before it is delisted. */
enum error content_sweep_one(
    struct content *c, struct content_broom *broom, struct uuid tenant_id, struct uuid id)
{
    pthread_mutex_lock(&c->mutex);
    bool known = c->n_staging > 0 || is_under_way(c, tenant_id, id);
    pthread_mutex_unlock(&c->mutex);
    if (known)
        return OK;
    enum error e = broom->is_known(broom->data, tenant_id, id, &known);
    if (e != OK || known)
        return e;
    e = c->kind->remove(c, tenant_id, id);
    broom->removed += e == OK;
    return e;
}

enum error content_sweep(struct store *store,
    enum error (*is_known)(void *data, struct uuid tenant_id, struct uuid id, bool *out_known),
    void *data, uint64_t *out_removed)
{
    struct content_broom broom = {is_known, data, 0};
    enum error e = store->content->kind->sweep(store->content, &broom);
    *out_removed = broom.removed;
    return e;
}

/* --- Threads -------------------------------------------------------------------------------- */

static void put_task(struct content_queue *queue, struct content_task *task)
{
    *queue->last = task;
    queue->last = &task->next;
}

static struct content_task *pop_task(struct content_queue *queue)
{
    struct content_task *task = queue->first;
    queue->first = task->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return task;
}

/* Under the mutex: returns the queue to take from, or NULL to wait. */
static struct content_queue *ready_queue(struct content *c)
{
    if (c->long_queue.first != NULL && c->n_long < CONTENT_MAX_LONG)
        return &c->long_queue;
    return c->queue.first != NULL ? &c->queue : NULL;
}

/* `was_long`: the kind of the task that this thread has just completed. Returns NULL when the store
 * closes and no task is left. */
static struct content_task *take_task(struct content *c, bool was_long)
{
    struct content_queue *queue;
    pthread_mutex_lock(&c->mutex);
    c->n_long -= was_long;
    c->n_idle++;
    while ((queue = ready_queue(c)) == NULL && !c->is_closing)
        pthread_cond_wait(&c->cond, &c->mutex);
    c->n_idle--;
    struct content_task *task = queue == NULL ? NULL : pop_task(queue);
    c->n_long += task != NULL && task->is_long;
    pthread_mutex_unlock(&c->mutex);
    return task;
}

static void *work(void *data)
{
    struct content *c = data;
    struct content_task *task;
    bool is_long = false;
    thread_set_name("cairn-content");
    thread_lower_priority();
    while ((task = take_task(c, is_long)) != NULL) {
        is_long = task->is_long; /* the task frees itself */
        task->run(task);
    }
    return NULL;
}

/* Under the mutex. Threads are started as they are needed: most programs have no files. */
static void start_thread(struct content *c)
{
    if (!c->is_closing && c->n_threads < CONTENT_MAX_THREADS &&
        pthread_create(&c->threads[c->n_threads], NULL, work, c) == 0)
        c->n_threads++;
}

static void submit(struct content *c, struct content_task *task)
{
    task->next = NULL;
    pthread_mutex_lock(&c->mutex);
    if (c->n_idle == 0 || ready_queue(c) != NULL)
        start_thread(c);
    /* Without a thread, or while the store closes, the caller's thread runs the task. */
    bool is_taken = c->n_threads > 0 && !c->is_closing;
    if (is_taken) {
        put_task(task->is_long ? &c->long_queue : &c->queue, task);
        pthread_cond_signal(&c->cond);
    }
    pthread_mutex_unlock(&c->mutex);
    if (!is_taken)
        task->run(task);
}

void content_submit(struct store *store, struct content_task *task)
{
    submit(store->content, task);
}

/* --- Life ----------------------------------------------------------------------------------- */

struct content *content_setup(struct store *store, int parent_fd, bool is_shared)
{
    struct content *c = MEM_NEW(struct content);
    c->store = store;
    c->kind = parent_fd >= 0 ? &content_dir : &content_postgres;
    c->parent_fd = parent_fd;
    c->root_fd = -1;
    c->is_shared = is_shared;
    c->first_id = uuid_v7();
    c->queue.last = &c->queue.first;
    c->long_queue.last = &c->long_queue.first;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->cond, NULL);
    return c;
}

void content_stop(struct content *c)
{
    pthread_mutex_lock(&c->mutex);
    c->is_closing = true;
    pthread_cond_broadcast(&c->cond);
    pthread_mutex_unlock(&c->mutex);
    for (unsigned i = 0; i < c->n_threads; i++)
        pthread_join(c->threads[i], NULL);
    c->n_threads = 0;
}

void content_teardown(struct content *c)
{
    if (c == NULL)
        return;
    assert(c->under_way == NULL && c->n_threads == 0);
    for (struct content_held *held = take_held(c), *next; held != NULL; held = next) {
        next = held->next;
        mem_free(held);
    }
    fd_close(c->root_fd);
    pthread_mutex_lock(&c->mutex);
    c->is_torn_down = true;
    bool is_unused = c->n_spools == 0;
    pthread_mutex_unlock(&c->mutex);
    if (is_unused)
        free_content(c);
}

bool content_is_in_database(const struct store *store)
{
    return store->content->kind == &content_postgres;
}
