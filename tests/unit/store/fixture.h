/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store on a scratch directory, with statements of the tests' own about a table of notes. A note
 * belongs to a tenant and a key and has a number, which a sequence gives without gaps.
 *
 * Work is done by `step`s: jobs whose result can be waited for. A `gate` is a job in which the
 * writer stops until it is opened, so that what is submitted meanwhile becomes one batch.
 */
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include <semaphore.h>

#include "notes.sql.h"
#include "scratch.h"
#include "store/store.h"

struct fixture {
    struct scratch scratch;
    struct store_config config;
    struct problem problem;
    struct store *store;
};

/* A scratch directory and a configuration; nothing is opened. */
void fixture_init(struct fixture *f);
/* Opens the store, and makes the table of notes. */
void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);
/* init and open */
void fixture_begin(struct fixture *f);
/* Closes and removes all. */
void fixture_end(struct fixture *f);

/* --- Steps ---------------------------------------------------------------------------------- */

struct step {
    struct store_job job;
    enum error (*run)(struct step *step, struct tx *tx);
    struct fixture *f;
    struct uuid key;          /* whose notes; the nil id unless set */
    enum error answer;        /* what the job returns after its work */
    int64_t number;           /* what it found, or was given */
    size_t size_bytes;        /* of a note that is to be large */
    struct hub_listener *ear; /* emptied when the job is done, into `heard` */
    size_t heard;
    bool publishes;
    enum store_on_full on_full;
    uint64_t flow;
    sem_t done;
    bool is_done; /* only after step_wait */
    enum error result;
};

void step_submit(struct fixture *f, struct step *step, enum store_mode mode,
    enum error (*run)(struct step *step, struct tx *tx));
enum error step_wait(struct step *step);
/* Returns true if the step is done, without waiting. */
bool step_is_done(struct step *step);

/* Adds a note with the sequence's next number; publishes it if asked to; returns step->answer. */
enum error add_note(struct step *step, struct tx *tx);
/* The number of all notes, or of the key's, into step->number. */
enum error count_notes(struct step *step, struct tx *tx);

/* The published items that are alive; an item has a note's number in hub_item.type. */
extern atomic_int items_alive;

enum error fixture_add(struct fixture *f, struct uuid key);
/* How many notes a reader sees. */
int64_t fixture_count(struct fixture *f);
/* Checks that the key's notes are numbered 1, 2, 3 … `count`. */
void expect_gapless(struct fixture *f, struct uuid key, int64_t count);
/* Runs one statement without parameters as a write job. */
enum error fixture_run(struct fixture *f, const struct sql_statement *statement);

/* --- The gate ------------------------------------------------------------------------------- */

struct gate {
    struct step step;
    sem_t entered;
    sem_t open;
};

/* Returns once the writer has stopped in it. */
void gate_shut(struct fixture *f, struct gate *gate);
/* For a gate in the middle of a batch: does not wait. */
void gate_submit(struct fixture *f, struct gate *gate, enum store_mode mode);
void gate_wait_entered(struct gate *gate);
void gate_open(struct gate *gate);

/* An id that differs for every number. */
struct uuid id_of(uint64_t number);

#endif
