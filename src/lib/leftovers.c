/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/leftovers.h"

#include "base/alloc.h"
#include "base/log.h"
#include "lib/errand.h"
#include "model/files/blobs.h"

struct leftovers {
    struct content_task task;
    struct store *store;
};

struct question {
    struct uuid tenant_id;
    struct uuid id;
    bool known;
};

static enum error ask(struct context *c, void *data)
{
    struct question *q = data;
    return blob_is_known(c, q->tenant_id, q->id, &q->known);
}

static enum error is_known(void *data, struct uuid tenant_id, struct uuid id, bool *out_known)
{
    struct question q = {.tenant_id = tenant_id, .id = id};
    TRY(errand_run(data, STORE_READ, ask, &q));
    *out_known = q.known;
    return OK;
}

static void run(struct content_task *task)
{
    struct leftovers *l = CONTAINER_OF(task, struct leftovers, task);
    uint64_t removed = 0;
    enum error e = content_sweep(l->store, is_known, l->store, &removed);
    if (removed > 0)
        LOG(LOG_INFO, "removed content left behind by a crash", LOG_I64("files", (int64_t)removed));
    if (e != OK)
        LOG(LOG_WARN, "cannot search for content left behind by a crash",
            LOG_STR("code", error_info(e)->code));
    mem_free(l);
}

void leftovers_sweep(struct store *store)
{
    struct leftovers *l = MEM_NEW(struct leftovers);
    l->task.run = run;
    l->store = store;
    content_submit(store, &l->task);
}
