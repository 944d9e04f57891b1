/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cairn as a program has one, by the public functions: on a SQLite directory of its own, or, with
 * CAIRN_TEST_ENGINE=postgres, on a schema of its own in the database CAIRN_TEST_POSTGRES.
 */
#ifndef TESTS_UNIT_LIB_FIXTURE_H
#define TESTS_UNIT_LIB_FIXTURE_H

#include <pthread.h>

#include "base/arena.h"
#include "cairn/cairn.h"
#include "store/scratch.h"

struct fixture {
    struct scratch scratch;
    struct arena *arena; /* the scratch directory's */
    const char *where;
    struct cairn_options options;
    cairn *c;
};

bool on_postgres(void);
#define SQLITE_ONLY(test_name) TEST_WHERE(!on_postgres(), test_name)

void fixture_begin(struct fixture *f);
/* Closes what is open, and removes the data. */
void fixture_end(struct fixture *f);
/* Opens it again, after cairn_close. */
void fixture_open(struct fixture *f);

/* An answer whose strings live in the arena. */
struct reply {
    int status;
    struct str body;
};
/* Any thread, with an arena of its own. `secret` NULL: without a key. */
struct reply ask_as(struct arena *arena, cairn *c, const char *secret, const char *method,
    const char *target, const char *body);
struct reply ask(struct fixture *f, const char *method, const char *target, const char *body);
/* The member of the object, as raw JSON, or without its quotes when it is text; STR_NONE. */
struct str member(struct arena *arena, struct str object, const char *name);
const char *format(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The id of a new thread. */
const char *make_thread(struct fixture *f);
void append(struct fixture *f, const char *thread, const char *kind);

/* The subscription to a path that must be admitted. */
cairn_subscription *subscribe(struct fixture *f, const char *target);
/* Expects the end, and for this reason. */
void expect_end(struct fixture *f, cairn_subscription *s, const char *reason);

#endif
