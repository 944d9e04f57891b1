/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/errand.h"

#include "model/upkeep/sweep.h"

enum { ARENA_BYTES = 1024 * 1024 };

struct errand {
    enum error (*run)(struct context *c, void *data);
    void *data;
};

static enum error run_errand(void *data, struct tx *tx)
{
    const struct errand *errand = data;
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    struct problem problem = PROBLEM_INIT(&arena);
    struct context c;
    context_init(&c, &arena, &problem, tx);
    return errand->run(&c, errand->data);
}

enum error errand_run(struct store *store, enum store_mode mode,
    enum error (*run)(struct context *c, void *data), void *data)
{
    struct errand errand = {run, data};
    return store_call(store, mode, run_errand, &errand);
}

static enum error prepare(struct context *c, void *unused)
{
    return model_prepare(c);
}

enum error errand_prepare(struct store *store)
{
    return errand_run(store, STORE_WRITE, prepare, NULL);
}
