/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/receive.h"

#include "base/clock.h"

/* While a piece is written, so much of the next is taken from the socket; the last run may pass
 * it. */
enum { FILL_BYTES = CONTENT_PIECE_BYTES, FILL_MAX_BYTES = 2 * FILL_BYTES };

/* --- On a content thread -------------------------------------------------------------------- */

static enum error write_piece(struct receipt *r)
{
    enum error e = r->writer != NULL ? OK : intake_open(r->call, &r->writer);
    if (e == OK)
        e = intake_write(r->call, r->writer, buf_str(&r->writing));
    if (e == OK && r->is_final)
        e = intake_sync(r->call, r->writer, &r->info);
    return e == OK && r->is_final ? intake_prepare(r->call, &r->info) : e;
}

static void work(struct content_task *task)
{
    struct receipt *r = CONTAINER_OF(task, struct receipt, task);
    if (!r->is_ending) {
        r->result = write_piece(r);
    } else {
        intake_end(r->call, r->writer);
        r->writer = NULL;
    }
    loop_post(r->loop, &r->back);
}

/* --- On the loop ---------------------------------------------------------------------------- */

static void submit(struct receipt *r)
{
    assert(!r->is_busy);
    r->is_busy = true;
    r->task.is_long = intake_is_long(r->call, r->is_final);
    content_submit(r->call->api->store, &r->task);
}

static void hand_over(struct receipt *r)
{
    r->writing = r->filling;
    r->is_final = r->has_all;
    buf_init(&r->filling, FILL_MAX_BYTES);
    submit(r);
}

/* Until the answer goes out nothing more is read. */
static void finish(struct receipt *r, enum error e)
{
    r->is_over = true;
    buf_deinit(&r->filling);
    if (!r->has_all)
        http_body_pause(r->x);
    r->done(r, e);
}

/* No more comes, and nothing is being written. */
static void give_up(struct receipt *r)
{
    if (!r->call->upload.is_resumed) {
        finish(r, ERR_CANCELLED);
        return;
    }
    r->has_all = true;
    hand_over(r);
}

static void on_written(struct receipt *r)
{
    buf_deinit(&r->writing);
    if (r->result != OK) {
        finish(r, r->result);
    } else if (r->is_final) {
        finish(r, intake_complete(r->call, &r->info, r->has_left));
    } else if (r->has_left && !r->has_all) {
        give_up(r);
    } else {
        if (r->filling.len > 0 || r->has_all)
            hand_over(r);
        http_body_resume(r->x);
    }
}

static void on_back(struct loop_task *task)
{
    struct receipt *r = CONTAINER_OF(task, struct receipt, back);
    r->is_busy = false;
    if (r->is_ending)
        r->ended(r);
    else
        on_written(r);
}

void receipt_start(struct receipt *r, struct http_exchange *x, struct call *call,
    void (*done)(struct receipt *r, enum error e))
{
    *r = (struct receipt){.call = call,
        .x = x,
        .loop = http_exchange_loop(x),
        .until_us = clock_steady_us() + CONTENT_UPLOAD_MAX_US,
        .task.run = work,
        .back.run = on_back,
        .done = done};
    buf_init(&r->filling, FILL_MAX_BYTES);
}

void receipt_take(struct receipt *r, struct str run, bool last)
{
    if (r->is_over || r->has_left)
        return;
    buf_append(&r->filling, run);
    assert(!r->filling.failed);
    r->has_all = last;
    if (!last && clock_steady_us() > r->until_us) {
        r->has_left = true; /* as if it had: what comes after this is not taken */
        problem_set(&r->call->problem, ERR_UNAVAILABLE, "an upload may take at most 12 hours");
    }
    if (!r->is_busy)
        hand_over(r);
    else if (r->filling.len >= FILL_BYTES && !last)
        http_body_pause(r->x);
}

void receipt_client_left(struct receipt *r)
{
    if (r->is_over || r->has_left || r->has_all)
        return;
    r->has_left = true;
    if (!r->is_busy)
        give_up(r);
}

void receipt_end(struct receipt *r, void (*ended)(struct receipt *r))
{
    assert(r->is_over);
    r->ended = ended;
    r->is_ending = true;
    if (r->writer == NULL)
        ended(r);
    else
        submit(r);
}
