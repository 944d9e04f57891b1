/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cairn doctor: its settings and its findings. Each check adds findings and changes nothing.
 *
 *   doctor.c           the command, the order of the checks, the report
 *   doctor_files.c     configuration, secrets, the data directory
 *   doctor_machine.c   disk, limits, clock
 *   doctor_database.c  SQLite or PostgreSQL from the inside
 *   doctor_server.c    the server at the URL, the key
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/cli.h"
#include "cli/settings.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL, VERDICT_COUNT };

struct doctor {
    struct cli *cli;
    struct arena *arena;
    bool has_settings;
    struct settings settings; /* of the server that is checked */
    bool full;
    bool guesses_url; /* requests are sent to the address of the settings */
    size_t counts[VERDICT_COUNT];
};

/* `mend` is the command that fixes the problem. */
void doctor_ok(struct doctor *d, const char *check, const char *format, ...) PRINTF_LIKE(3, 4);
void doctor_warn(struct doctor *d, const char *check, struct str mend, const char *format, ...)
    PRINTF_LIKE(4, 5);
void doctor_fail(struct doctor *d, const char *check, struct str mend, const char *format, ...)
    PRINTF_LIKE(4, 5);

void doctor_check_key_file(struct doctor *d);
void doctor_check_secrets(struct doctor *d);
void doctor_check_data_dir(struct doctor *d);
/* With PostgreSQL: checks the directory of files, if there is one. */
void doctor_check_files_dir(struct doctor *d);
void doctor_check_disk(struct doctor *d);
void doctor_check_limits(struct doctor *d);
void doctor_check_clock(struct doctor *d);
void doctor_check_database(struct doctor *d);
void doctor_check_server(struct doctor *d);

/* Compares the clock of this machine with another one. */
void doctor_compare_clock(struct doctor *d, const char *whose, int64_t ahead_us);

#endif
