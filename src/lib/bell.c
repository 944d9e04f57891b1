/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/bell.h"

#include "base/clock.h"

/* The limit of items that wait for the bell's thread; more are dropped, and read from the store. */
enum { BOX_MAX_BYTES = 256 * 1024 };

static void ring(struct bell *b, bool *flag)
{
    pthread_mutex_lock(&b->mutex);
    *flag = true;
    pthread_cond_signal(&b->cond);
    pthread_mutex_unlock(&b->mutex);
}

static void wake(struct hub_listener *listener)
{
    struct bell *b = CONTAINER_OF(listener, struct bell, listener);
    ring(b, &b->woken);
}

void bell_init(struct bell *b, struct hub *hub, const struct interest *interest)
{
    pthread_condattr_t monotonic;
    *b = (struct bell){.hub = hub, .interest = *interest};
    pthread_mutex_init(&b->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&b->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    hub_listener_init(&b->listener, wake);
    b->listener.max_bytes = BOX_MAX_BYTES;
    atomic_store(&b->listener.interest, 1);
    hub_add_listener(hub, &b->listener);
    hub_watch(hub, interest->tenant_id);
}

void bell_detach(struct bell *b)
{
    if (b->hub == NULL)
        return;
    hub_unwatch(b->hub, b->interest.tenant_id);
    hub_remove_listener(b->hub, &b->listener);
    b->hub = NULL;
}

void bell_deinit(struct bell *b)
{
    bell_detach(b);
    hub_listener_deinit(&b->listener);
    pthread_cond_destroy(&b->cond);
    pthread_mutex_destroy(&b->mutex);
}

void bell_stop(struct bell *b)
{
    ring(b, &b->stopped);
}

bool bell_is_stopped(struct bell *b)
{
    pthread_mutex_lock(&b->mutex);
    bool stopped = b->stopped;
    pthread_mutex_unlock(&b->mutex);
    return stopped;
}

/* --- Waiting -------------------------------------------------------------------------------- */

/* Returns true if the item matches the interest of the bell. */
static bool concerns(struct bell *b, struct hub_item *item)
{
    const struct interest *i = &b->interest;
    const struct event *event = &CONTAINER_OF(item, struct event_item, item)->event;
    bool topic = uuid_eq(item->topic, i->topic) || uuid_eq(i->topic, i->tenant_id);
    if (!topic || !uuid_eq(item->tenant_id, i->tenant_id))
        return false;
    bool matters = interest_is_met(i, event);
    if (!matters && b->pass_over != NULL)
        b->pass_over(b, event);
    return matters;
}

static enum bell_news hear(struct bell *b, struct hub_item *item, enum bell_news news)
{
    const struct event *event = &CONTAINER_OF(item, struct event_item, item)->event;
    bool asks = b->interest.for_principal && event->ends_access;
    /* Once something matters, nothing is passed over. */
    if (news != BELL_SILENT && !asks)
        return news;
    if (!concerns(b, item))
        return news;
    return asks ? BELL_ASK : BELL_RANG;
}

/* Collects the items that the hub has delivered, and returns the news they contain. */
static enum bell_news look(struct bell *b)
{
    struct hub_delivery d = hub_collect(&b->listener);
    enum bell_news news = d.lost ? BELL_RANG : BELL_SILENT;
    for (size_t i = 0; i < d.n_items; i++) {
        if (d.items[i]->type != ITEM_ACCESS_ENDED)
            news = news == BELL_ACCESS_ENDED ? news : hear(b, d.items[i], news);
        else if (interest_is_of(&b->interest, d.items[i]->topic))
            news = BELL_ACCESS_ENDED;
    }
    hub_delivery_deinit(&d);
    return news;
}

static int sleep_until(struct bell *b, int64_t until_us)
{
    if (until_us == BELL_FOREVER)
        return pthread_cond_wait(&b->cond, &b->mutex);
    const struct timespec until = {
        .tv_sec = (time_t)(until_us / 1000000), .tv_nsec = (long)(until_us % 1000000) * 1000};
    return pthread_cond_timedwait(&b->cond, &b->mutex, &until);
}

enum bell_news bell_wait(struct bell *b, int64_t until_us)
{
    enum bell_news news = BELL_SILENT;
    bool woken;
    do {
        pthread_mutex_lock(&b->mutex);
        while (!b->woken && !b->stopped && sleep_until(b, until_us) == 0) {
        }
        woken = b->woken;
        b->woken = false;
        pthread_mutex_unlock(&b->mutex);
        if (woken)
            news = look(b);
        /* Items for other subscribers may arrive without a pause, so the loop also ends by time. */
    } while (woken && news == BELL_SILENT && clock_steady_us() < until_us);
    return news;
}
