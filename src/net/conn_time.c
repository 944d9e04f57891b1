/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

static const struct http_server_config *config_of(const struct conn *c)
{
    return &c->shard->server->config;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool reads_body(const struct conn *c)
{
    return (c->body_mode == BODY_COLLECT || c->body_mode == BODY_RUNS) && !c->paused && !c->eof;
}

/* The time of no progress, or when the average rate since the start falls below the minimum, or
 * when a body that is read whole has taken too long. */
static uint64_t body_deadline(const struct conn *c)
{
    const struct http_server_config *config = config_of(c);
    uint64_t stalled = c->received_ms + config->stall_timeout_ms;
    if (c->body_mode == BODY_COLLECT)
        stalled = earlier(stalled, c->body_ms + config->body_timeout_ms);
    if (config->min_body_rate == 0)
        return stalled;
    uint64_t paid_for_ms = c->body.seen / config->min_body_rate * 1000 +
                           c->body.seen % config->min_body_rate * 1000 / config->min_body_rate;
    if (paid_for_ms < config->stall_timeout_ms)
        paid_for_ms = config->stall_timeout_ms;
    return earlier(stalled, c->body_ms + paid_for_ms);
}

static uint64_t output_deadline(const struct conn *c)
{
    return c->out.bytes > 0 ? c->sent_ms + config_of(c)->stall_timeout_ms : DEADLINE_NEVER;
}

static uint64_t ending_deadline(const struct http_exchange *x)
{
    return x->ending_ms > 0 ? x->ending_ms + END_MS : DEADLINE_NEVER;
}

static uint64_t exchange_deadline(const struct conn *c)
{
    uint64_t at_ms = earlier(output_deadline(c), ending_deadline(c->exchange));
    if (c->exchange->ws != NULL)
        return earlier(at_ms, ws_next_deadline(c->exchange));
    return reads_body(c) ? earlier(at_ms, body_deadline(c)) : at_ms;
}

uint64_t conn_next_deadline(const struct conn *c)
{
    const struct http_server_config *config = config_of(c);
    switch (c->state) {
    case CONN_HANDSHAKE:
        return c->since_ms + config->head_timeout_ms;
    case CONN_HEAD:
        return c->since_ms + (c->idle ? config->idle_timeout_ms : config->head_timeout_ms);
    case CONN_EXCHANGE:
        return exchange_deadline(c);
    case CONN_DISCARD:
        return c->since_ms + config->stall_timeout_ms;
    case CONN_LINGER:
        return c->said_goodbye ? c->since_ms + LINGER_MS : output_deadline(c);
    default:
        return DEADLINE_NEVER;
    }
}

static void on_exchange_deadline(struct conn *c, uint64_t now_ms)
{
    if (now_ms >= output_deadline(c) || now_ms >= ending_deadline(c->exchange))
        conn_close(c);
    else if (c->exchange->ws != NULL)
        ws_on_deadline(c->exchange);
    else if (reads_body(c) && now_ms >= body_deadline(c))
        conn_refuse(c, (struct http_refusal){408, "the body arrived too slowly"});
}

void conn_on_deadline(struct conn *c)
{
    conn_ref(c);
    uint64_t now_ms = shard_now_ms(c->shard);
    if (now_ms >= conn_next_deadline(c)) {
        if (c->state == CONN_EXCHANGE)
            on_exchange_deadline(c, now_ms);
        else if (c->state == CONN_HEAD && c->in.len > 0)
            conn_refuse(
                c, (struct http_refusal){408, "the head of the request arrived too slowly"});
        else
            conn_close(c);
    }
    conn_update(c);
    conn_unref(c);
}
