/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of threads are made in slices, which commit separately. */
#include "fixture.h"
#include "model/agents/states.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"
#include "model/threads/thread_copy.h"
#include "model/upkeep/sweep.h"

enum { MESSAGES = 40, MESSAGE_BYTES = 100 * 1024 };

/* A thread with 4 MB of messages, of which some are replies. */
static struct uuid make_source(struct fixture *f)
{
    struct uuid thread = make_thread(f), last = UUID_NIL;
    char *text = arena_alloc(f->arena, MESSAGE_BYTES);
    memset(text, 'x', MESSAGE_BYTES);
    for (int i = 0; i < MESSAGES; i++) {
        struct message m = {
            .content = {text, MESSAGE_BYTES}, .has_responds_to = i % 2 == 1, .responds_to = last};
        EXPECT_EQ(message_create(begin(f), thread, &m), OK);
        commit(f);
        last = m.id;
    }
    return thread;
}

static struct context *begin_for(struct fixture *f, const char *principal)
{
    struct context *c = begin(f);
    c->principal = str_of(principal);
    return c;
}

static enum error copy_slice(
    struct fixture *f, struct uuid source, struct thread_copying *copying, bool *out_more)
{
    struct context *c = begin_for(f, "user:bob");
    EXPECT_EQ(context_lock_thread(c, source), OK);
    enum error e = thread_copy(c, source, uuid_v7(), copying, out_more);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    copying->is_begun = true;
    return e;
}

/* The source has the other messages. */
static int64_t count_copied(struct fixture *f, int64_t in_source)
{
    return sql_i64(f, "SELECT count(*) FROM messages") - in_source;
}

static bool bob_may_read(struct fixture *f, struct uuid thread)
{
    bool may = participant_check_access(begin_for(f, "user:bob"), thread, false) == OK;
    abandon(f);
    return may;
}

TEST(a_copy_is_made_in_slices_that_its_principal_does_not_see)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid source = make_source(&f);
    struct thread_copying copying = {0};
    int slices = 0;
    int64_t before = 0;
    for (bool more = true; more; slices++) {
        EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
        int64_t now = count_copied(&f, MESSAGES);
        EXPECT(now - before <= THREAD_COPY_SLICE_BYTES / MESSAGE_BYTES + 1);
        EXPECT_EQ(bob_may_read(&f, copying.id), !more);
        EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM deletions"), more ? 1 : 0);
        before = now;
    }
    EXPECT_EQ(before, MESSAGES);
    EXPECT(slices >= 4);
    /* Replies refer to messages of the copy, in earlier slices too. */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM messages AS m JOIN messages AS o ON "
                          "o.tenant_id = m.tenant_id AND o.id = m.responds_to AND "
                          "o.thread_id = m.thread_id"),
        MESSAGES);
    fixture_end(&f);
}

TEST(a_copy_that_is_not_continued_is_deleted_by_the_sweep)
{
    struct fixture f;
    struct sweep_position position = {0};
    struct sweep_report report = {.more = true};
    struct thread_copying copying = {0};
    bool more = false;
    fixture_begin(&f);
    struct uuid source = make_source(&f);
    EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
    EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
    EXPECT(more);
    while (report.more) {
        struct context *c = begin(&f);
        c->lease_now_us += 6 * (int64_t)1000000;
        EXPECT_EQ(model_sweep(c, &position, &report), OK);
        commit(&f);
    }
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM threads"), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM messages"), MESSAGES);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM deletions"), 0);
    EXPECT_EQ(copy_slice(&f, source, &copying, &more), ERR_UNAVAILABLE);
    fixture_end(&f);
}

static void add_documents(struct fixture *f, struct uuid thread, int n)
{
    struct context *c = begin(f);
    for (int i = 0; i < n; i++) {
        struct state before, state = {.data = STR("{}")};
        struct state_place place = {
            .thread_id = thread, .name = arena_printf(f->arena, "document %d", i)};
        EXPECT_EQ(state_find(c, &place, &before), OK);
        EXPECT_EQ(state_write(c, &place, &before, &state), OK);
    }
    commit(f);
}

/* Also if PostgreSQL has no statistics, and if it takes longer than a slice to find nothing. */
TEST(each_slice_of_a_copy_but_the_last_one_copies_something)
{
    enum { DOCUMENTS = 1000 };
    struct fixture f;
    struct thread_copying copying = {0};
    bool more = true;
    fixture_begin(&f);
    struct uuid source = make_thread(&f);
    add_documents(&f, source, DOCUMENTS);
    for (int64_t before = 0; more;) {
        EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
        int64_t now = sql_i64(&f, "SELECT count(*) FROM state_documents") - DOCUMENTS;
        if (now == before && more)
            test_fail(__FILE__, __LINE__, "a slice behind %lld copies nothing", (long long)now);
        more = more && now > before;
        before = now;
    }
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM state_documents"), 2 * DOCUMENTS);
    fixture_end(&f);
}

TEST(a_copy_has_no_messages_that_were_added_after_its_first_slice)
{
    struct fixture f;
    struct thread_copying copying = {0};
    struct message late = {.content = STR("late")};
    bool more = true;
    fixture_begin(&f);
    struct uuid source = make_source(&f);
    EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
    EXPECT_EQ(message_create(begin(&f), source, &late), OK);
    commit(&f);
    /* One of the copy's own, by the tenant, which sees the copy. */
    late.content = STR("own");
    EXPECT_EQ(message_create(begin(&f), copying.id, &late), OK);
    commit(&f);
    while (more)
        EXPECT_EQ(copy_slice(&f, source, &copying, &more), OK);
    EXPECT_EQ(count_copied(&f, MESSAGES + 1), MESSAGES + 1);
    fixture_end(&f);
}
