/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/connection.h"

#include "test.h"

static const struct uuid ALICE = {{1}}, BOB = {{2}};

TEST(a_connection_counts_once_for_the_tenant_of_its_last_request)
{
    struct holdings *h = holdings_create();
    struct connection *c = connection_create(h);
    EXPECT_EQ(holdings_count(h, ALICE), 0);
    EXPECT(connection_enter(c, ALICE, 1));
    EXPECT(connection_enter(c, ALICE, 1));
    EXPECT_EQ(holdings_count(h, ALICE), 1);
    EXPECT(connection_enter(c, BOB, 1));
    EXPECT_EQ(holdings_count(h, ALICE), 0);
    EXPECT_EQ(holdings_count(h, BOB), 1);
    connection_destroy(c);
    EXPECT_EQ(holdings_count(h, BOB), 0);
    holdings_destroy(h);
}

TEST(a_connection_that_is_refused_keeps_its_tenant)
{
    struct holdings *h = holdings_create();
    struct connection *first = connection_create(h), *second = connection_create(h);
    EXPECT(connection_enter(first, ALICE, 1));
    EXPECT(connection_enter(second, BOB, 1));
    EXPECT(!connection_enter(second, ALICE, 1));
    EXPECT_EQ(holdings_count(h, ALICE), 1);
    EXPECT_EQ(holdings_count(h, BOB), 1);
    connection_destroy(first);
    EXPECT(connection_enter(second, ALICE, 1));
    EXPECT_EQ(holdings_count(h, BOB), 0);
    connection_destroy(second);
    holdings_destroy(h);
}

TEST(a_lowered_maximum_refuses_no_connection_that_counts)
{
    struct holdings *h = holdings_create();
    struct connection *c = connection_create(h);
    EXPECT(connection_enter(c, ALICE, 1));
    EXPECT(connection_enter(c, ALICE, 0));
    connection_destroy(c);
    holdings_destroy(h);
}

TEST(a_connection_above_the_maximum_counts_and_is_checked_again)
{
    struct holdings *h = holdings_create();
    struct connection *first = connection_create(h), *above = connection_create(h);
    EXPECT(connection_enter(first, ALICE, 1));
    connection_enter_above(above, ALICE, 1);
    connection_enter_above(above, ALICE, 1);
    EXPECT_EQ(holdings_count(h, ALICE), 2);
    EXPECT(!connection_enter(above, ALICE, 1));
    EXPECT_EQ(holdings_count(h, ALICE), 2);
    connection_destroy(first);
    EXPECT(connection_enter(above, ALICE, 1));
    EXPECT(connection_enter(above, ALICE, 0));
    connection_destroy(above);
    EXPECT_EQ(holdings_count(h, ALICE), 0);
    holdings_destroy(h);
}
