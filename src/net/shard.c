/* SPDX-License-Identifier: Apache-2.0 */
#include "net/shard.h"

#include "base/alloc.h"
#include "net/conn.h"

enum { SHED_AT_ONCE = 16, SHED_AFTER_MS = 1000 };

static void on_due(struct deadline *d)
{
    conn_on_deadline(CONTAINER_OF(d, struct conn, deadline));
}

static void on_tick(uv_timer_t *tick)
{
    struct shard *shard = tick->data;
    deadlines_serve(&shard->deadlines, shard_now_ms(shard), on_due);
    if (shard->deadlines.count == 0)
        uv_timer_stop(tick);
}

void shard_set_deadline(struct shard *shard, struct deadline *d, uint64_t at_ms)
{
    if (shard->deadlines.count == 0 && at_ms != DEADLINE_NEVER) {
        deadlines_catch_up(&shard->deadlines, shard_now_ms(shard));
        if (!uv_is_active((uv_handle_t *)&shard->tick))
            uv_timer_start(&shard->tick, on_tick, DEADLINES_TICK_MS, DEADLINES_TICK_MS);
    }
    deadline_set(&shard->deadlines, d, at_ms);
}

static void flush_dirty(struct shard *shard)
{
    struct conn *c = shard->dirty;
    shard->dirty = NULL;
    while (c != NULL) {
        struct conn *next = c->next_dirty;
        c->dirty = false;
        if (c->state != CONN_CLOSED)
            conn_flush(c);
        conn_unref(c);
        c = next;
    }
}

/* The connection whose peer has left output waiting the longest, and for a second at least. */
static struct conn *slowest(struct shard *shard)
{
    struct conn *found = NULL;
    uint64_t since_ms = shard_now_ms(shard) - SHED_AFTER_MS;
    for (struct conn *c = shard->conns; c != NULL; c = c->next)
        if (c->blocked && c->out.bytes > 0 && c->queued_ms < since_ms) {
            since_ms = c->queued_ms;
            found = c;
        }
    return found;
}

/* Closes the slowest connections while the process holds too much output. Returns false if there
 * may be more to close. */
static bool shed(struct shard *shard)
{
    size_t max = shard->server->config.unsent_max_bytes;
    for (size_t n = 0; outqueue_held_bytes() > max; n++) {
        struct conn *c = slowest(shard);
        if (c == NULL)
            return true; /* the bytes belong to another shard, or their peers read fast enough */
        if (n == SHED_AT_ONCE)
            return false;
        count_up(&shard->counters.shed, 1);
        conn_close(c);
    }
    return true;
}

static void on_more(uv_idle_t *more)
{
}

/* Once per turn, just before the loop would sleep. Connections that become dirty meanwhile wait for
 * the next turn, so that one fast reader cannot starve the others. */
static void on_flush(uv_prepare_t *flush)
{
    struct shard *shard = flush->data;
    flush_dirty(shard);
    bool is_done = shed(shard);
    if (shard->dirty != NULL || !is_done)
        uv_idle_start(&shard->more, on_more);
    else
        uv_idle_stop(&shard->more);
}

void shard_init(struct shard *shard, struct http_server *server, int listen_fd)
{
    *shard = (struct shard){.server = server, .loop = loop_create(), .listen_fd = listen_fd};
    uv_loop_t *uv = loop_uv(shard->loop);
    uv_timer_init(uv, &shard->tick);
    uv_timer_init(uv, &shard->accept_again);
    uv_prepare_init(uv, &shard->flush);
    uv_idle_init(uv, &shard->more);
    shard->tick.data = shard->accept_again.data = shard->flush.data = shard;
    uv_prepare_start(&shard->flush, on_flush);
    deadlines_init(&shard->deadlines, shard_now_ms(shard));
    shard->read_buffer = mem_alloc(READ_BYTES);
    buf_init(&shard->reply_head, REPLY_HEAD_BYTES);
    memcpy(shard->date, "Thu, 01 Jan 1970 00:00:00 GMT", DATE_LEN);
}

void shard_deinit(struct shard *shard)
{
    assert(shard->conns == NULL && "drain before destroy");
    shard_stop_listening(shard);
    uv_close((uv_handle_t *)&shard->tick, NULL);
    uv_close((uv_handle_t *)&shard->accept_again, NULL);
    uv_close((uv_handle_t *)&shard->flush, NULL);
    uv_close((uv_handle_t *)&shard->more, NULL);
    loop_destroy(shard->loop);
    if (shard->spare != NULL)
        exchange_unref(shard->spare);
    ws_reader_destroy(shard->spare_reader);
    mem_free(shard->read_buffer);
    buf_deinit(&shard->reply_head);
}
