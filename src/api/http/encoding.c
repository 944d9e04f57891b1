/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/encoding.h"

#include "api/http/codings.h"

/* One or two milliseconds of work, after which other answers have their turn. */
enum { STEP_BYTES = 128 * 1024 };

static bool encode_some(struct coders_task *task)
{
    struct encoding *e = task->data;
    if (atomic_load(&e->call->is_abandoned)) {
        e->bytes.failed = true;
        return false;
    }
    if (e->encoder == NULL)
        e->encoder = coding_encoder_create(e->coding, buf_str(&e->call->answer.body), &e->bytes);
    return coding_encoder_step(e->encoder, STEP_BYTES);
}

static void on_encoded(struct coders_task *task)
{
    struct encoding *e = task->data;
    coding_encoder_destroy(e->encoder);
    e->done(e);
}

bool encoding_start(struct encoding *e, struct coders *coders)
{
    size_t size_bytes = e->call->answer.body.len;
    e->encoder = NULL;
    buf_init(&e->bytes, size_bytes - 1);
    e->task = coders_task_create(0);
    /* Answers without a tenant, such as the OpenAPI document, have a turn together. */
    e->task->tenant_id = e->call->caller.tenant_id;
    e->task->data = e;
    e->task->work = encode_some;
    e->task->done = on_encoded;
    return coders_offer(coders, e->task, size_bytes);
}

void encoding_finish(struct encoding *e, struct coders *coders)
{
    coders_release(coders, e->task);
    if (e->bytes.failed) {
        buf_deinit(&e->bytes);
        return;
    }
    buf_deinit(&e->call->answer.body);
    e->call->answer.body = e->bytes;
    codings_mark(e->call, e->coding);
}
