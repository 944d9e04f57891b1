/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

TEST(every_scope_has_a_name_and_a_bit_of_its_own)
{
    static const char *const names[] = {"threads:read", "threads:write", "runs:read", "runs:write",
        "events:read", "events:write", "messages:read", "messages:write", "files:read",
        "files:write", "participants:read", "participants:write", "agents:read", "agents:write",
        "states:read", "states:write", "storage:read", "storage:write", "checkpoints:read",
        "checkpoints:write", "store:read", "store:write", "notebooks:read", "notebooks:write",
        "usage:read", "usage:write", "evals:read", "evals:write", "admin", "operator"};
    EXPECT_EQ(SCOPE_COUNT, COUNT_OF(names));
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++) {
        EXPECT_STR(str_of(scope_names[bit]), str_of(names[bit]));
        EXPECT_STR(str_of(scope_name((enum scope)(1u << bit))), str_of(names[bit]));
    }
    EXPECT(scope_names[SCOPE_COUNT] == NULL);
    EXPECT_STR(str_of(scope_name(SCOPE_NONE)), STR("none"));
}

TEST(an_admin_holds_every_scope_of_the_tenant_and_an_operator_all)
{
    unsigned all = (1u << SCOPE_COUNT) - 1;
    EXPECT_EQ(scopes_effective(SCOPE_NONE), 0);
    EXPECT_EQ(
        scopes_effective(SCOPE_RUNS_READ | SCOPE_EVENTS_READ), SCOPE_RUNS_READ | SCOPE_EVENTS_READ);
    EXPECT_EQ(scopes_effective(SCOPE_ADMIN), all - SCOPE_OPERATOR);
    EXPECT_EQ(scopes_effective(SCOPE_OPERATOR), all);
}

TEST(a_version_is_checked_only_when_the_request_names_one)
{
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    EXPECT_EQ(context_check_match(c, 7), OK);
    context_match_only(c, 7);
    EXPECT_EQ(context_check_match(c, 7), OK);
    EXPECT_EQ(context_check_match(c, 8), ERR_STALE);
    EXPECT_STR(told(&f), STR("If-Match must be the object's ETag: \"8\""));
    commit(&f);
    fixture_end(&f);
}

TEST(what_is_missing_is_named_with_its_id)
{
    struct fixture f;
    fixture_begin(&f);
    struct context *c = begin_reading(&f);
    EXPECT_EQ(context_not_found(c, "thread", DEFAULT_TENANT_ID), ERR_NOT_FOUND);
    EXPECT_STR(told(&f), STR("the thread 018f0000-0000-7000-8000-000000000001 does not exist"));
    commit(&f);
    fixture_end(&f);
}
