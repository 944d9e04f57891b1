/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "test.h"

TEST(every_error_has_a_code_of_its_own_a_status_and_a_title)
{
    for (int e = OK + 1; e < ERROR_COUNT; e++) {
        const struct error_info *info = error_info((enum error)e);
        EXPECT(info->code.len > 0 && info->title.len > 0);
        EXPECT(info->status >= 400 && info->status <= 599);
        for (int other = OK; other < e; other++)
            EXPECT(!str_eq(info->code, error_info((enum error)other)->code));
    }
}

TEST(an_error_is_found_by_its_enum)
{
    EXPECT_EQ(error_info(OK)->status, 200);
    EXPECT_EQ(error_info(ERR_STALE)->status, 412);
    EXPECT_STR(error_info(ERR_STALE)->code, STR("stale_etag"));
    EXPECT(error_info(ERR_UNAVAILABLE)->retryable);
    EXPECT(!error_info(ERR_INVALID)->retryable);
}
