/* SPDX-License-Identifier: Apache-2.0 */
#include "base/semver.h"

#include "test.h"

TEST(versions_are_parsed_as_the_standard_gives_them)
{
    static const char *const good[] = {"0.0.4", "1.2.3", "10.20.30", "1.1.2-prerelease+meta",
        "1.1.2+meta-valid", "1.0.0-alpha.0valid", "1.0.0-0A.is.legal", "1.0.0-alpha-a.b-c",
        "2.0.0+build.1848", "1.0.0--.-", "1.2.3----RC-SNAPSHOT.12.9.1--.12+788",
        "1.0.0+0.build.1-rc.10000aaa-kk-0.1", "18446744073709551615.0.0"};
    static const char *const bad[] = {"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.1.1", "1.01.1",
        "1.1.01", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.3-a_b", "1.2.3+a+b", " 1.2.3",
        "1.2.-3", "18446744073709551616.0.0", "1.2.3-\xC3\xA4"};
    struct semver v;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!semver_parse(str_of(good[i]), &v))
            test_fail(__FILE__, __LINE__, "%s was refused", good[i]);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (semver_parse(str_of(bad[i]), &v))
            test_fail(__FILE__, __LINE__, "%s was taken", bad[i]);
}

TEST(a_version_longer_than_128_bytes_is_refused)
{
    char text[SEMVER_MAX_BYTES + 1];
    struct semver v;
    memset(text, 'a', sizeof text);
    memcpy(text, "1.0.0-", 6);
    EXPECT(semver_parse((struct str){text, SEMVER_MAX_BYTES}, &v));
    EXPECT(!semver_parse((struct str){text, SEMVER_MAX_BYTES + 1}, &v));
}

TEST(versions_have_the_order_of_the_standard)
{
    static const char *const rising[] = {"0.0.1", "0.0.2", "0.1.0", "1.0.0-0", "1.0.0-2",
        "1.0.0-11", "1.0.0-99999999999999999999999", "1.0.0-alpha", "1.0.0-alpha.1",
        "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0",
        "1.0.1", "1.1.0", "2.0.0"};
    for (size_t i = 0; i < COUNT_OF(rising); i++)
        for (size_t k = 0; k < COUNT_OF(rising); k++) {
            struct semver a, b;
            EXPECT(semver_parse(str_of(rising[i]), &a));
            EXPECT(semver_parse(str_of(rising[k]), &b));
            int order = semver_compare(&a, &b);
            if ((order > 0) - (order < 0) != (i > k) - (i < k))
                test_fail(__FILE__, __LINE__, "%s and %s", rising[i], rising[k]);
        }
    struct semver a, b;
    EXPECT(semver_parse(STR("1.0.0+a"), &a));
    EXPECT(semver_parse(STR("1.0.0+b"), &b));
    EXPECT_EQ(semver_compare(&a, &b), 0);
}

TEST(the_next_version_is_the_next_release)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, 64 * 1024);
    static const struct {
        const char *from, *major, *minor, *patch;
    } cases[] = {
        {"1.2.3", "2.0.0", "1.3.0", "1.2.4"},
        {"1.2.3+build", "2.0.0", "1.3.0", "1.2.4"},
        {"1.2.3-rc.1", "2.0.0", "1.3.0", "1.2.3"},
        {"1.2.0-rc.1", "2.0.0", "1.2.0", "1.2.0"},
        {"2.0.0-rc.1", "2.0.0", "2.0.0", "2.0.0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct semver from, next;
        EXPECT(semver_parse(str_of(cases[i].from), &from));
        EXPECT(semver_bump(&from, SEMVER_MAJOR, &next));
        EXPECT_STR(semver_format(&arena, &next), str_of(cases[i].major));
        EXPECT(semver_bump(&from, SEMVER_MINOR, &next));
        EXPECT_STR(semver_format(&arena, &next), str_of(cases[i].minor));
        EXPECT(semver_bump(&from, SEMVER_PATCH, &next));
        EXPECT_STR(semver_format(&arena, &next), str_of(cases[i].patch));
    }
    struct semver last, unused;
    EXPECT(semver_parse(STR("1.0.18446744073709551615"), &last));
    EXPECT(!semver_bump(&last, SEMVER_PATCH, &unused));
    EXPECT(semver_bump(&last, SEMVER_MINOR, &unused));
}

TEST(a_version_is_written_as_it_was_read)
{
    CLEANUP(arena_deinit) struct arena arena;
    arena_init(&arena, 64 * 1024);
    struct semver v;
    EXPECT(semver_parse(STR("1.2.3-rc.1+b.7"), &v));
    EXPECT_STR(semver_format(&arena, &v), STR("1.2.3-rc.1+b.7"));
}
