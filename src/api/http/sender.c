/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/sender.h"

#include "base/alloc.h"
#include "base/log.h"

struct sender {
    struct http_exchange *x;
    struct loop *loop;
    struct store *store;
    struct content_task task;
    struct loop_task back;
    bool is_busy; /* the members below belong to a content thread */
    struct download_reader reader;
    struct http_shared *piece; /* read, and not sent yet */
    enum error result;
    bool is_started;
    bool is_over; /* the exchange has ended */
    void (*ready)(void *data, enum error e);
    void *data;
    void (*ended)(void *data);
};

/* --- On a content thread -------------------------------------------------------------------- */

static void work(struct content_task *task)
{
    struct sender *d = CONTAINER_OF(task, struct sender, task);
    char *place = mem_alloc(CONTENT_PIECE_BYTES);
    size_t size = 0;
    d->result = download_read(&d->reader, place, &size);
    if (d->result == OK)
        d->piece = http_shared_create((struct str){place, size});
    mem_free(place);
    loop_post(d->loop, &d->back);
}

/* --- On the loop ---------------------------------------------------------------------------- */

static void read_more(struct sender *d)
{
    assert(!d->is_busy && d->piece == NULL);
    d->is_busy = true;
    d->task.is_long = d->reader.content == NULL && d->reader.what.fill != NULL;
    content_submit(d->store, &d->task);
}

void sender_destroy(struct sender *d)
{
    assert(!d->is_busy);
    download_reader_deinit(&d->reader);
    http_shared_unref(d->piece);
    mem_free(d);
}

static void end(struct sender *d)
{
    void (*ended)(void *data) = d->ended;
    void *data = d->data;
    http_exchange_release(d->x);
    sender_destroy(d);
    ended(data);
}

/* Sends the piece when the previous one has been sent. */
static void send_piece(struct sender *d)
{
    if (d->is_over || d->is_busy || d->piece == NULL || http_stream_queued(d->x) > 0)
        return;
    struct http_shared *piece = d->piece;
    d->piece = NULL;
    bool more = !download_is_over(&d->reader);
    if (more)
        read_more(d);
    /* This may end the exchange, and with it the sender if nothing is being read. */
    bool sent = http_stream_send_shared(d->x, piece);
    assert(sent);
    http_shared_unref(piece);
}

static void on_writable(struct http_exchange *x)
{
    send_piece(http_exchange_data(x));
}

/* Truncates the answer, so that the client does not take it for complete. */
static void fail(struct sender *d)
{
    LOG(LOG_ERROR, "a download was cut off", LOG_STR("code", error_info(d->result)->code));
    http_exchange_abort(d->x);
}

static void on_back(struct loop_task *task)
{
    struct sender *d = CONTAINER_OF(task, struct sender, back);
    d->is_busy = false;
    if (!d->is_started)
        d->ready(d->data, d->result);
    else if (d->is_over)
        end(d);
    else if (d->result != OK)
        fail(d);
    else
        send_piece(d);
}

static void on_exchange_end(struct http_exchange *x)
{
    struct sender *d = http_exchange_data(x);
    d->is_over = true;
    if (!d->is_busy)
        end(d);
}

struct sender *sender_create(
    struct http_exchange *x, struct call *call, void (*ready)(void *data, enum error e), void *data)
{
    struct sender *d = MEM_NEW(struct sender);
    d->x = x;
    d->loop = http_exchange_loop(x);
    d->store = call->api->store;
    d->task.run = work;
    d->back.run = on_back;
    d->ready = ready;
    d->data = data;
    download_reader_init(&d->reader, call);
    read_more(d);
    return d;
}

void sender_start(struct sender *d, int status, const struct http_header *headers, size_t n_headers,
    void (*ended)(void *data), void *ended_data)
{
    static const struct http_stream_hooks hooks = {.on_writable = on_writable};
    d->is_started = true;
    d->ended = ended;
    d->data = ended_data;
    http_exchange_set_data(d->x, d);
    http_exchange_on_end(d->x, on_exchange_end);
    /* The head is flushed at the end of this turn of the loop, and the first piece follows. */
    http_stream_start_sized(d->x, status, headers, n_headers, d->reader.what.count, &hooks);
}
