/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a request with a ticket starts: unknown tickets must not reach the writer. */
#include "fixture.h"

#define STREAM "/v1/events/stream"

static struct call *stream(struct fixture *f, const char *method, struct str ticket)
{
    struct str target = arena_printf(f->arena, STREAM "?ticket=%.*s", STR_ARG(ticket));
    return ask(f, method, arena_cstr(f->arena, target), NULL);
}

static struct str make_ticket(struct fixture *f, struct str secret)
{
    struct call *call =
        str_is_none(secret)
            ? ask(f, "POST", "/v1/tickets", "{\"path\":\"" STREAM "\"}")
            : ask_as(f, secret, "POST", "/v1/tickets", "{\"path\":\"" STREAM "\",\"ttl_s\":300}");
    EXPECT_EQ(call->answer.status, 201);
    return answer_member(f, call, "ticket");
}

static struct str make_operator(struct fixture *f)
{
    struct call *call = ask(f, "POST", "/v1/keys", "{\"name\":\"k\",\"scopes\":[\"operator\"]}");
    EXPECT_EQ(call->answer.status, 201);
    return answer_member(f, call, "secret");
}

/* The jobs that the store ran for the request. */
static void expect_jobs(
    struct fixture *f, struct store_stats before, uint64_t reads, uint64_t writes)
{
    struct store_stats after = store_stats(f->api.store);
    EXPECT_EQ(after.reads - before.reads, reads);
    EXPECT_EQ(after.writes + after.rollbacks - before.writes - before.rollbacks, writes);
}

static struct str with_last(struct fixture *f, struct str ticket, char last)
{
    return arena_printf(f->arena, "%.*s%c", (int)ticket.len - 1, ticket.ptr, last);
}

TEST(a_malformed_ticket_starts_no_job_and_an_unknown_one_no_write)
{
    struct fixture f;
    fixture_begin(&f);
    struct str secret = make_operator(&f), ticket = make_ticket(&f, secret);
    const struct str malformed[] = {STR(""), STR("x"), STR("cairn_ticket_"), secret,
        str_slice(ticket, 0, ticket.len - 1), arena_printf(f.arena, "%.*sA", STR_ARG(ticket)),
        with_last(&f, ticket, '%')};
    for (size_t i = 0; i < COUNT_OF(malformed); i++) {
        struct store_stats before = store_stats(f.api.store);
        EXPECT_EQ(stream(&f, "GET", malformed[i])->answer.status, 401);
        expect_jobs(&f, before, 0, 0);
    }
    /* The last character encodes four bits of the secret. */
    struct str unknown = with_last(&f, ticket, ticket.ptr[ticket.len - 1] == 'A' ? 'Q' : 'A');
    struct store_stats before = store_stats(f.api.store);
    EXPECT_EQ(stream(&f, "GET", unknown)->answer.status, 401);
    expect_jobs(&f, before, 1, 0);

    /* Neither a wrong query nor HEAD uses the ticket up. */
    before = store_stats(f.api.store);
    struct str wrong = arena_printf(f.arena, "%.*s&nothing=1", STR_ARG(ticket));
    EXPECT_EQ(stream(&f, "GET", wrong)->answer.status, 422);
    EXPECT_EQ(stream(&f, "HEAD", ticket)->answer.status, 200);
    expect_jobs(&f, before, 2, 0);
    fixture_end(&f);
}

TEST(a_ticket_is_used_by_a_job_that_a_full_disk_admits)
{
    struct fixture f;
    fixture_begin(&f);
    struct str ticket = make_ticket(&f, make_operator(&f));
    struct store_stats before = store_stats(f.api.store);
    struct call *call = stream(&f, "GET", ticket);
    EXPECT_EQ(call->answer.status, 200);
    expect_jobs(&f, before, 1, 1);
    EXPECT_EQ(call->job.on_full, STORE_ON_FULL_FREES);
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM tickets"), 0);
    before = store_stats(f.api.store);
    EXPECT_EQ(stream(&f, "GET", ticket)->answer.status, 401);
    expect_jobs(&f, before, 1, 0);
    fixture_end(&f);
}

TEST(a_ticket_of_a_missing_key_is_rejected_whatever_key_was_read_before)
{
    struct fixture f;
    fixture_begin(&f);
    struct str secret = make_operator(&f), ticket = make_ticket(&f, secret);
    scratch_exec(&f.scratch, "UPDATE tickets SET key_id = randomblob(16)");
    EXPECT_EQ(ask_as(&f, secret, "GET", "/v1/whoami", NULL)->answer.status, 200);
    EXPECT_EQ(stream(&f, "GET", ticket)->answer.status, 401);
    EXPECT_EQ(scratch_i64(&f.scratch, "SELECT count(*) FROM tickets"), 1);
    fixture_end(&f);
}

TEST(a_ticket_without_a_key_keeps_its_principal_and_ends_with_the_first_key)
{
    struct fixture f;
    fixture_begin(&f);
    struct http_request *r = make_request(&f, "POST", "/v1/tickets");
    add_header(r, "Cairn-Principal", STR("user:ann"));
    struct call *created = carry_out(&f, r, "{\"path\":\"" STREAM "\"}");
    EXPECT_EQ(created->answer.status, 201);
    struct call *opened = stream(&f, "GET", answer_member(&f, created, "ticket"));
    EXPECT_EQ(opened->answer.status, 200);
    EXPECT_STR(opened->caller.principal, STR("user:ann"));
    struct str whole = make_ticket(&f, STR_NONE), later = make_ticket(&f, STR_NONE);
    opened = stream(&f, "GET", whole);
    EXPECT_EQ(opened->answer.status, 200);
    EXPECT(str_is_none(opened->caller.principal));
    make_operator(&f);
    EXPECT_EQ(stream(&f, "GET", later)->answer.status, 401);
    fixture_end(&f);
}
