/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/receiver.h"

#include "base/clock.h"

/* The bytes that are read ahead while a piece is written; the last run may exceed them. */
enum { FILL_BYTES = CONTENT_PIECE_BYTES, FILL_MAX_BYTES = 2 * FILL_BYTES };

/* --- On a content thread -------------------------------------------------------------------- */

static enum error write_piece(struct receiver *r)
{
    if (r->writer == NULL)
        TRY(intake_open(r->call, &r->writer));
    TRY(intake_write(r->call, r->writer, buf_str(&r->writing)));
    if (r->is_final)
        TRY(intake_sync(r->call, r->writer, &r->info));
    return r->is_final ? intake_prepare(r->call, &r->info) : OK;
}

static void work(struct content_task *task)
{
    struct receiver *r = CONTAINER_OF(task, struct receiver, task);
    if (!r->is_ending) {
        r->result = write_piece(r);
    } else {
        intake_end(r->call, r->writer);
        r->writer = NULL;
    }
    loop_post(r->loop, &r->back);
}

/* --- On the loop ---------------------------------------------------------------------------- */

static void submit(struct receiver *r)
{
    assert(!r->is_busy);
    r->is_busy = true;
    r->task.is_long = intake_is_long(r->call, r->is_final);
    content_submit(r->call->api->store, &r->task);
}

static void hand_over(struct receiver *r)
{
    r->writing = r->filling;
    r->is_final = r->has_all;
    buf_init(&r->filling, FILL_MAX_BYTES);
    submit(r);
}

/* Nothing more is read until the answer is sent. */
static void finish(struct receiver *r, enum error e)
{
    r->is_over = true;
    buf_deinit(&r->filling);
    if (!r->has_all)
        http_exchange_pause_body(r->x);
    r->done(r, e);
}

/* Called when no more bytes arrive and none are being written. */
static void give_up(struct receiver *r)
{
    if (!r->call->upload.is_resumed) {
        finish(r, ERR_CANCELLED);
        return;
    }
    r->has_all = true;
    hand_over(r);
}

static void on_written(struct receiver *r)
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
        http_exchange_resume_body(r->x);
    }
}

static void on_back(struct loop_task *task)
{
    struct receiver *r = CONTAINER_OF(task, struct receiver, back);
    r->is_busy = false;
    if (r->is_ending)
        r->ended(r);
    else
        on_written(r);
}

void receiver_start(struct receiver *r, struct http_exchange *x, struct call *call,
    void (*done)(struct receiver *r, enum error e))
{
    *r = (struct receiver){.call = call,
        .x = x,
        .loop = http_exchange_loop(x),
        .until_us = clock_steady_us() + CONTENT_UPLOAD_MAX_US,
        .task.run = work,
        .back.run = on_back,
        .done = done};
    buf_init(&r->filling, FILL_MAX_BYTES);
}

void receiver_take(struct receiver *r, struct str run, bool last)
{
    if (r->is_over || r->has_left)
        return;
    buf_append(&r->filling, run);
    assert(!r->filling.failed);
    r->has_all = last;
    if (!last && clock_steady_us() > r->until_us) {
        r->has_left = true; /* bytes that arrive later are ignored */
        problem_set(&r->call->problem, ERR_UNAVAILABLE, "the upload took longer than 12 hours");
    }
    if (!r->is_busy)
        hand_over(r);
    else if (r->filling.len >= FILL_BYTES && !last)
        http_exchange_pause_body(r->x);
}

void receiver_client_left(struct receiver *r)
{
    if (r->is_over || r->has_left || r->has_all)
        return;
    r->has_left = true;
    if (!r->is_busy)
        give_up(r);
}

void receiver_end(struct receiver *r, void (*ended)(struct receiver *r))
{
    assert(r->is_over);
    r->ended = ended;
    r->is_ending = true;
    if (r->writer == NULL)
        ended(r);
    else
        submit(r);
}
