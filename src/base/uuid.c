/* SPDX-License-Identifier: Apache-2.0 */
#include "base/uuid.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"

/* Ids later than the year 6000 do not come from a clock. */
#define RESUME_MAX_MS (UINT64_C(127174492800000))
#define RAND_A_MASK ((uint16_t)0x0fff)
#define RAND_B_MASK (UINT64_MAX >> 2)

/* The parts of the last id. Each new id is greater, so the three only count up. */
static struct {
    pthread_mutex_t lock;
    uint64_t unix_ms;
    uint16_t rand_a;
    uint64_t rand_b;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct uuid uuid_v7_from(uint64_t unix_ms, uint16_t rand_a, uint64_t rand_b)
{
    uint64_t high = unix_ms << 16 | 0x7000 | (rand_a & RAND_A_MASK);
    uint64_t low = (uint64_t)2 << 62 | (rand_b & RAND_B_MASK);
    struct uuid id;
    for (unsigned i = 0; i < 8; i++) {
        id.bytes[i] = (uint8_t)(high >> (56 - 8 * i));
        id.bytes[8 + i] = (uint8_t)(low >> (56 - 8 * i));
    }
    return id;
}

/*
 * RFC 9562 section 6.2, method 2: within one millisecond, or while the clock is behind its latest
 * time, the random part is increased by a random step, so that ids stay hard to guess. If it
 * overflows, the millisecond is increased instead.
 */
static void step_forward(uint32_t random_step)
{
    last.rand_b += (uint64_t)random_step + 1;
    if (last.rand_b <= RAND_B_MASK)
        return;
    last.rand_b &= RAND_B_MASK;
    last.rand_a++;
    if (last.rand_a <= RAND_A_MASK)
        return;
    last.rand_a = 0;
    last.unix_ms++;
}

/* Random bytes for several ids at once: requesting them costs far more than creating an id. A child
 * of fork() discards those that it shares with its parent. Guarded by the lock. */
struct randomness {
    uint64_t rand_b;
    uint32_t step;
    uint16_t rand_a;
};
static struct {
    struct randomness items[32];
    size_t left;
} pool;

static void lock_before_fork(void)
{
    pthread_mutex_lock(&last.lock);
}

static void unlock_after_fork(void)
{
    pthread_mutex_unlock(&last.lock);
}

static void drop_in_child(void)
{
    memset(&pool, 0, sizeof pool);
    pthread_mutex_unlock(&last.lock);
}

static void watch_forks(void)
{
    if (pthread_atfork(lock_before_fork, unlock_after_fork, drop_in_child) != 0)
        mem_exhausted(0);
}

static struct randomness take_randomness(void)
{
    if (pool.left == 0) {
        random_bytes(pool.items, sizeof pool.items);
        pool.left = COUNT_OF(pool.items);
    }
    struct randomness taken = pool.items[--pool.left];
    memset(&pool.items[pool.left], 0, sizeof taken);
    return taken;
}

static void lock_last(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&last.lock);
}

struct uuid uuid_v7_at(uint64_t now_ms)
{
    lock_last();
    struct randomness fresh = take_randomness();
    if (now_ms > last.unix_ms) {
        last.unix_ms = now_ms;
        last.rand_a = fresh.rand_a & RAND_A_MASK;
        last.rand_b = fresh.rand_b & RAND_B_MASK;
    } else {
        step_forward(fresh.step);
    }
    struct uuid id = uuid_v7_from(last.unix_ms, last.rand_a, last.rand_b);
    pthread_mutex_unlock(&last.lock);
    return id;
}

uint64_t uuid_v7_ms(struct uuid id)
{
    uint64_t ms = 0;
    for (unsigned i = 0; i < 6; i++)
        ms = ms << 8 | id.bytes[i];
    return ms;
}

void uuid_v7_resume(struct uuid after)
{
    uint64_t high = 0, low = 0;
    for (unsigned i = 0; i < 8; i++) {
        high = high << 8 | after.bytes[i];
        low = low << 8 | after.bytes[8 + i];
    }
    if ((high >> 12 & 15) != 7 || high >> 16 > RESUME_MAX_MS)
        return;
    lock_last();
    if (uuid_cmp(after, uuid_v7_from(last.unix_ms, last.rand_a, last.rand_b)) > 0) {
        last.unix_ms = high >> 16;
        last.rand_a = high & RAND_A_MASK;
        last.rand_b = low & RAND_B_MASK;
    }
    pthread_mutex_unlock(&last.lock);
}

struct uuid uuid_v7(void)
{
    return uuid_v7_at((uint64_t)(clock_wall_us() / 1000));
}

/* Where the two digits of each byte begin in the text; dashes are between them. */
static const uint8_t digit_places[16] = {0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
static const uint8_t dash_places[4] = {8, 13, 18, 23};

bool uuid_parse(struct str text, struct uuid *out_id)
{
    if (text.len != UUID_TEXT_LEN)
        return false;
    struct uuid id;
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(dash_places); i++)
        good = good && text.ptr[dash_places[i]] == '-';
    for (size_t i = 0; good && i < sizeof id.bytes; i++) {
        int high = hex_digit(text.ptr[digit_places[i]]);
        int low = hex_digit(text.ptr[digit_places[i] + 1]);
        good = high >= 0 && low >= 0;
        id.bytes[i] = (uint8_t)(((unsigned)high << 4 | (unsigned)low) & 0xff);
    }
    if (good)
        *out_id = id;
    return good;
}

void uuid_format(struct uuid id, char out_text[UUID_TEXT_LEN])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < COUNT_OF(dash_places); i++)
        out_text[dash_places[i]] = '-';
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        out_text[digit_places[i]] = digits[id.bytes[i] >> 4];
        out_text[digit_places[i] + 1] = digits[id.bytes[i] & 15];
    }
}

bool uuid_eq(struct uuid a, struct uuid b)
{
    return uuid_cmp(a, b) == 0;
}

int uuid_cmp(struct uuid a, struct uuid b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes);
}

bool uuid_is_nil(struct uuid id)
{
    return uuid_eq(id, UUID_NIL);
}
