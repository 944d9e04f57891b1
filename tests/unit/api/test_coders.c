/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "api/http/coders.h"
#include "base/alloc.h"
#include "test.h"

/* The state that a test shares with the threads of the coders. */
struct desk {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct coders *coders;
};

struct body {
    struct desk *desk;
    struct coders_task *task;
    size_t size_bytes;        /* allocated by decode */
    const struct body *until; /* decode waits until this one is decoded; NULL: it does not wait */
    pthread_t thread;
    size_t steps; /* further calls of work */
    char *trace;  /* each step appends the name; NULL: none */
    char name;
    bool is_started;
    bool is_decoded;
};

static void desk_init(struct desk *d)
{
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->cond, NULL);
    d->coders = coders_create("coder");
}

static void desk_deinit(struct desk *d)
{
    coders_destroy(d->coders);
    pthread_mutex_destroy(&d->mutex);
    pthread_cond_destroy(&d->cond);
}

static void wait_for(struct desk *d, const bool *flag)
{
    pthread_mutex_lock(&d->mutex);
    while (!*flag)
        pthread_cond_wait(&d->cond, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
}

static void set(struct desk *d, bool *flag)
{
    pthread_mutex_lock(&d->mutex);
    *flag = true;
    pthread_cond_broadcast(&d->cond);
    pthread_mutex_unlock(&d->mutex);
}

static bool is_set(struct desk *d, const bool *flag)
{
    pthread_mutex_lock(&d->mutex);
    bool found = *flag;
    pthread_mutex_unlock(&d->mutex);
    return found;
}

static bool decode(struct coders_task *task)
{
    struct body *b = task->data;
    b->thread = pthread_self();
    set(b->desk, &b->is_started);
    if (b->size_bytes > 0)
        arena_alloc(&task->arena, b->size_bytes);
    if (b->until != NULL)
        wait_for(b->desk, &b->until->is_decoded);
    if (b->trace != NULL)
        b->trace[strlen(b->trace)] = b->name;
    return b->steps-- > 0;
}

static void on_decoded(struct coders_task *task)
{
    struct body *b = task->data;
    set(b->desk, &b->is_decoded);
}

static void prepare(struct desk *desk, struct body *b, uint8_t tenant)
{
    b->desk = desk;
    b->task = coders_task_create(SIZE_MAX);
    b->task->tenant_id = (struct uuid){{tenant}};
    b->task->data = b;
    b->task->work = decode;
    b->task->done = on_decoded;
}

static void submit(struct desk *desk, struct body *b, uint8_t tenant)
{
    prepare(desk, b, tenant);
    coders_submit(desk->coders, b->task);
}

static bool offer(struct desk *desk, struct body *b, uint8_t tenant, size_t size_bytes)
{
    prepare(desk, b, tenant);
    return coders_offer(desk->coders, b->task, size_bytes);
}

static void release(struct body *b)
{
    coders_release(b->desk->coders, b->task);
}

TEST(a_body_is_decoded_on_another_thread)
{
    struct desk desk;
    struct body b = {0};
    desk_init(&desk);
    submit(&desk, &b, 1);
    wait_for(&desk, &b.is_decoded);
    EXPECT(!pthread_equal(b.thread, pthread_self()));
    release(&b);
    desk_deinit(&desk);
}

TEST(the_body_of_another_tenant_does_not_wait_for_the_queue_of_one)
{
    struct desk desk;
    struct body other = {0}, first = {.until = &other}, rest[8] = {0};
    desk_init(&desk);
    submit(&desk, &first, 1);
    for (size_t i = 0; i < COUNT_OF(rest); i++)
        submit(&desk, &rest[i], 1);
    wait_for(&desk, &first.is_started);
    /* The first one ends only after this one: the tenant's queue leaves a thread free. */
    submit(&desk, &other, 2);
    wait_for(&desk, &other.is_decoded);
    wait_for(&desk, &rest[COUNT_OF(rest) - 1].is_decoded);
    wait_for(&desk, &first.is_decoded);
    release(&first);
    release(&other);
    for (size_t i = 0; i < COUNT_OF(rest); i++) {
        wait_for(&desk, &rest[i].is_decoded);
        release(&rest[i]);
    }
    desk_deinit(&desk);
}

TEST(a_tenant_whose_decoded_bodies_are_large_waits_until_one_is_released)
{
    struct desk desk;
    struct body almost = {.size_bytes = CODERS_TENANT_BYTES - 16}, last = {.size_bytes = 16};
    struct body late = {0}, other = {0};
    desk_init(&desk);
    submit(&desk, &almost, 1);
    submit(&desk, &last, 1);
    wait_for(&desk, &last.is_decoded);
    submit(&desk, &late, 1);
    submit(&desk, &other, 2);
    wait_for(&desk, &other.is_decoded);
    EXPECT(!is_set(&desk, &late.is_started));
    release(&last);
    wait_for(&desk, &late.is_decoded);
    release(&almost);
    release(&late);
    release(&other);
    desk_deinit(&desk);
}

TEST(all_tenants_together_have_a_limit_too)
{
    enum { TENANTS = CODERS_BYTES / CODERS_TENANT_BYTES };
    struct desk desk;
    struct body large[TENANTS], late = {0};
    desk_init(&desk);
    for (uint8_t i = 0; i < TENANTS; i++) {
        large[i] = (struct body){.size_bytes = CODERS_TENANT_BYTES};
        submit(&desk, &large[i], i);
    }
    for (size_t i = 0; i < TENANTS; i++)
        wait_for(&desk, &large[i].is_decoded);
    submit(&desk, &late, TENANTS);
    EXPECT(!is_set(&desk, &late.is_started));
    release(&large[0]);
    wait_for(&desk, &late.is_decoded);
    release(&late);
    for (size_t i = 1; i < TENANTS; i++)
        release(&large[i]);
    desk_deinit(&desk);
}

TEST(a_task_of_many_steps_lets_the_tenants_others_have_their_turn)
{
    struct desk desk;
    char trace[32] = "";
    struct body gate = {0};
    struct body first = {.until = &gate};
    struct body large = {.steps = 3, .trace = trace, .name = 'L'};
    struct body small = {.trace = trace, .name = 's'};
    struct body middle = {.steps = 1, .trace = trace, .name = 'm'};
    desk_init(&desk);
    submit(&desk, &first, 1); /* the tenant's others wait in the queue */
    wait_for(&desk, &first.is_started);
    submit(&desk, &large, 1);
    submit(&desk, &middle, 1);
    submit(&desk, &small, 1);
    submit(&desk, &gate, 2);
    wait_for(&desk, &large.is_decoded);
    EXPECT_STR(str_of(trace), STR("LmsLmLL"));
    struct body *all[] = {&gate, &first, &large, &small, &middle};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        wait_for(&desk, &all[i]->is_decoded);
        release(all[i]);
    }
    desk_deinit(&desk);
}

TEST(an_offer_is_declined_while_the_tenant_has_too_much)
{
    enum { HALF = CODERS_TENANT_OFFERED_BYTES / 2 };
    struct desk desk;
    struct body gate = {0}, first = {.until = &gate}, second = {0}, third = {0}, other = {0};
    struct body late = {0};
    desk_init(&desk);
    EXPECT(offer(&desk, &first, 1, HALF));
    wait_for(&desk, &first.is_started);
    EXPECT(!offer(&desk, &third, 1, HALF + 1));
    EXPECT(offer(&desk, &second, 1, HALF));
    EXPECT(!offer(&desk, &third, 1, 1));
    EXPECT(offer(&desk, &other, 2, 1));
    submit(&desk, &gate, 3);
    wait_for(&desk, &second.is_decoded);
    /* Tasks that are done no longer count; one that is larger than the limit is accepted alone. */
    EXPECT(offer(&desk, &late, 1, 2 * CODERS_TENANT_OFFERED_BYTES));
    struct body *all[] = {&gate, &first, &second, &other, &late};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        wait_for(&desk, &all[i]->is_decoded);
        release(all[i]);
    }
    desk_deinit(&desk);
}

TEST(an_offer_is_declined_while_all_tenants_together_have_too_much)
{
    struct desk desk;
    struct body gate = {0}, first = {.until = &gate}, second = {0}, third = {0};
    desk_init(&desk);
    EXPECT(offer(&desk, &first, 1, CODERS_OFFERED_BYTES - 1));
    wait_for(&desk, &first.is_started);
    EXPECT(!offer(&desk, &third, 2, 2));
    EXPECT(offer(&desk, &second, 2, 1));
    submit(&desk, &gate, 3);
    wait_for(&desk, &first.is_decoded);
    wait_for(&desk, &second.is_decoded);
    release(&gate);
    release(&first);
    release(&second);
    desk_deinit(&desk);
}
