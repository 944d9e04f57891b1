/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/settings.h"

#include "test.h"

TEST(a_database_url_is_shown_without_its_password)
{
    static const struct {
        const char *url, *shown;
    } urls[] = {
        {"postgres://user:secret@host/db", "postgres://user:***@host/db"},
        {"postgres://user@host/db", "postgres://user@host/db"},
        {"postgres://host:5432/db", "postgres://host:5432/db"},
        {"postgres://user:p@ss:w@host:1/db?x=1", "postgres://user:***@host:1/db?x=1"},
        {"postgres:///db?user=x&password=secret&y=1", "postgres:///db?user=x&password=***&y=1"},
        {"postgres://u:s@h/db?password=t", "postgres://u:***@h/db?password=***"},
        {"postgres://h/db?options=a@b:c", "postgres://h/db?options=a@b:c"},
        {"postgres://h/?password=foo&sslpassword=bar",
            "postgres://h/?password=***&sslpassword=***"},
        {"postgres://h/?passw%6frd=q&x=%70", "postgres://h/?passw%6frd=***&x=%70"},
        {"postgres://h/?PASSWORD=a=b&&x&", "postgres://h/?PASSWORD=***&&x&"},
        {"postgres://h/?%zz=q&password", "postgres://h/?%zz=***&password"},
        {"postgres://u:p?q@h/db?x=1", "postgres://u:***@h/db?x=1"},
        {"postgres://u:p/q@h/db?x=1", "postgres://u:***@h/db?x=1"},
        {"postgres:/", "postgres:/"},
    };
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct arena arena CLEANUP(arena_deinit);
        arena_init(&arena, 4096);
        EXPECT_STR(settings_mask_url(&arena, str_of(urls[i].url)), str_of(urls[i].shown));
    }
}

TEST(the_file_knows_every_setting_by_its_name_with_underscores)
{
    struct arena arena CLEANUP(arena_deinit);
    struct str near;
    arena_init(&arena, 65536);
    EXPECT(settings_know(&arena, STR("listen"), &near));
    EXPECT(settings_know(&arena, STR("max_connections"), &near));
    EXPECT(!settings_know(&arena, STR("max-connections"), &near));
    EXPECT_STR(near, STR("max_connections"));
    EXPECT(!settings_know(&arena, STR("colour"), &near));
    EXPECT(str_is_none(near));
}
