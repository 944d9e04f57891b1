/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit tests' frame: TEST(name_that_reads_as_a_sentence) { … } registers itself; a file of
 * tests needs nothing else. A binary takes an optional argument, a part of the names to run, and
 * ends with the line "N passed, N failed".
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <inttypes.h>

#include "base/str.h"

struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

void test_register(struct test_case *test);
/* Counts a failure against the running test and continues. */
void test_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define TEST_WHERE(condition, test_name)                                \
    static void test_name(void);                                        \
    __attribute__((constructor)) static void register_##test_name(void) \
    {                                                                   \
        static struct test_case test = {#test_name, test_name, NULL};   \
        if (condition)                                                  \
            test_register(&test);                                       \
    }                                                                   \
    static void test_name(void)

#define TEST(test_name) TEST_WHERE(true, test_name)
/* Needs CAIRN_TEST_POSTGRES, the URL of a database whose role may create schemas. */
#define POSTGRES_TEST(test_name) TEST_WHERE(getenv("CAIRN_TEST_POSTGRES") != NULL, test_name)

#define EXPECT(condition)                                             \
    do {                                                              \
        if (!(condition))                                             \
            test_fail(__FILE__, __LINE__, "expected %s", #condition); \
    } while (0)

#define EXPECT_EQ(actual, expected)                                                          \
    do {                                                                                     \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);          \
        if (actual_ != expected_)                                                            \
            test_fail(__FILE__, __LINE__, "%s is %lld, expected %s, %lld", #actual, actual_, \
                #expected, expected_);                                                       \
    } while (0)

#define EXPECT_STR(actual, expected)                                                         \
    do {                                                                                     \
        struct str actual_ = (actual), expected_ = (expected);                               \
        if (!str_eq(actual_, expected_))                                                     \
            test_fail(__FILE__, __LINE__, "%s is\n      \"%.*s\", expected\n      \"%.*s\"", \
                #actual, STR_ARG(actual_), STR_ARG(expected_));                              \
    } while (0)

/* Text in which the part occurs somewhere. */
bool contains(struct str text, const char *part);
#define EXPECT_PART(text, part)                                                                  \
    do {                                                                                         \
        struct str text_ = (text);                                                               \
        if (!contains(text_, part))                                                              \
            test_fail(__FILE__, __LINE__, "\"%.*s\" does not say \"%s\"", STR_ARG(text_), part); \
    } while (0)

#endif
