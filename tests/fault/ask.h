/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as the script and the check after it make them: by templates, and with a key. */
#ifndef TESTS_FAULT_ASK_H
#define TESTS_FAULT_ASK_H

#include "base/json/json.h"
#include "cairn/cairn.h"
#include "ledger.h"
#include "verdict.h"

struct reply {
    int status;
    struct str body;
    bool is_replayed;
};

/* `secret` "" and `header` NULL: without. */
struct reply ask(struct arena *arena, cairn *c, const char *secret, const char *header,
    const char *method, const char *target, struct str body);

/* The value as JSON; STR_NONE when there is none. */
struct str pointed(struct arena *arena, struct str body, struct str pointer);
/* The same of a string, without its quotes. */
struct str pointed_text(struct arena *arena, struct str body, struct str pointer);

/* Whether a GET answers what the fact says. An answer of 5xx is one that says nothing: it is wrong
 * only when `must_answer`. */
void expect_fact(struct arena *arena, cairn *c, const struct ledger_entry *fact, bool must_answer,
    struct verdict *verdict);

#endif
