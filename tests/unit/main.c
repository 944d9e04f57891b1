/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>

#include "test.h"

static struct test_case *first;
static struct test_case **last = &first;
static unsigned failures_of_this_test;

void test_register(struct test_case *test)
{
    *last = test;
    last = &test->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
    failures_of_this_test++;
    printf("    %s:%d: ", file, line);
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

bool contains(struct str text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

int main(int argc, char **argv)
{
    unsigned passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct test_case *t = first; t != NULL; t = t->next) {
        if (argc > 1 && strstr(t->name, argv[1]) == NULL)
            continue;
        failures_of_this_test = 0;
        t->run();
        if (failures_of_this_test > 0)
            printf("not ok %s\n", t->name);
        failures_of_this_test > 0 ? failed++ : passed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
