/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>

#include "base/log.h"
#include "parsed.h"

/* Standard error, caught in a file from begin to end. */
struct caught {
    int saved_stderr;
    int file;
};

static struct caught begin_catching(void)
{
    char path[] = "/tmp/cairn-test-log-XXXXXX";
    struct caught c = {.saved_stderr = dup(STDERR_FILENO), .file = mkstemp(path)};
    unlink(path);
    dup2(c.file, STDERR_FILENO);
    return c;
}

static struct str end_catching(struct arena *arena, struct caught c)
{
    dup2(c.saved_stderr, STDERR_FILENO);
    close(c.saved_stderr);
    size_t len = (size_t)lseek(c.file, 0, SEEK_END);
    char *text = arena_alloc(arena, len);
    EXPECT_EQ(pread(c.file, text, len, 0), len);
    close(c.file);
    return (struct str){text, len};
}

static struct str member(struct arena *arena, struct json object, struct str name)
{
    struct json value;
    return json_get(object, name, &value) ? json_raw(value) : arena_str(arena, STR("absent"));
}

TEST(a_line_is_one_json_object_with_time_level_message_and_fields)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct caught c = begin_catching();
    LOG(LOG_WARN, "it \"happened\"", LOG_STR("who", STR("a\nb")), LOG_I64("times", -3),
        LOG_STR("nobody", STR_NONE));
    struct str text = end_catching(&a, c);
    EXPECT_EQ(text.ptr[text.len - 1], '\n');
    EXPECT_EQ(str_find(text, '\n'), text.len - 1);
    struct json line = parsed(&a, text);
    EXPECT_STR(member(&a, line, STR("level")), STR("\"warn\""));
    EXPECT_STR(member(&a, line, STR("message")), STR("\"it \\\"happened\\\"\""));
    EXPECT_STR(member(&a, line, STR("who")), STR("\"a\\nb\""));
    EXPECT_STR(member(&a, line, STR("times")), STR("-3"));
    EXPECT_STR(member(&a, line, STR("nobody")), STR("null"));
    EXPECT_EQ(member(&a, line, STR("time")).len, 29);
}

TEST(a_line_needs_no_fields)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct caught c = begin_catching();
    LOG(LOG_INFO, "ready");
    EXPECT_EQ(json_count(parsed(&a, end_catching(&a, c))), 3);
}

TEST(lines_below_the_level_are_dropped)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct caught c = begin_catching();
    LOG(LOG_DEBUG, "not wanted");
    log_set_level(LOG_ERROR);
    LOG(LOG_WARN, "not wanted either");
    EXPECT(log_is_on(LOG_ERROR) && !log_is_on(LOG_WARN));
    log_set_level(LOG_INFO);
    EXPECT_EQ(end_catching(&a, c).len, 0);
}

TEST(a_line_too_long_says_how_many_fields_it_left_out)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, TEST_ARENA_BYTES);
    struct str huge = repeated(&a, STR("x"), 100000);
    struct caught c = begin_catching();
    LOG(LOG_INFO, "huge", LOG_STR("text", huge), LOG_I64("n", 1));
    struct json line = parsed(&a, end_catching(&a, c));
    EXPECT_STR(member(&a, line, STR("message")), STR("\"huge\""));
    EXPECT_STR(member(&a, line, STR("fields_left_out")), STR("2"));
}

TEST(levels_are_known_by_name)
{
    enum log_level level = LOG_ERROR;
    EXPECT(log_level_parse(STR("debug"), &level) && level == LOG_DEBUG);
    EXPECT(log_level_parse(STR("warn"), &level) && level == LOG_WARN);
    EXPECT(!log_level_parse(STR("WARN"), &level));
    EXPECT(!log_level_parse(STR(""), &level));
    EXPECT_EQ(level, LOG_WARN);
}
