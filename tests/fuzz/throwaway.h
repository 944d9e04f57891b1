/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Cairn on SQLite in a temporary directory in memory, and a separate connection that sees
 * committed data and can change the clock. Nothing happens in the background: the sweep runs only
 * when it is called. The default tenant needs no key until the first one is created.
 */
#ifndef TESTS_FUZZ_THROWAWAY_H
#define TESTS_FUZZ_THROWAWAY_H

#include <sqlite3.h>

#include "base/json/json.h"
#include "lib/handle.h"

struct throwaway {
    char *root;
    cairn *cairn; /* NULL while closed */
    sqlite3 *db;
};

void throwaway_open(struct throwaway *t);
/* Looks whether the database is in order, closes it and removes it; nothing when it is closed. */
void throwaway_close(struct throwaway *t);

void throwaway_sweep(struct throwaway *t);
/* All that has a date is a day older: leases, keys, events, answers that are kept. */
void throwaway_age(struct throwaway *t);
/* The first column of the only row; ?1 is the id. */
struct str throwaway_ask(struct throwaway *t, struct arena *arena, const char *sql, struct uuid id);

/* The body of an answer, which must be JSON. */
struct json answer_json(struct arena *arena, const cairn_answer *a);
/* A member of an object that is a string or a number, as text; else STR_NONE. */
struct str json_text_of(struct arena *arena, struct json object, const char *member);

#endif
