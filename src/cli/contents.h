/* SPDX-License-Identifier: Apache-2.0 */
/* The output of backup, restore and check about the contents of a database. */
#ifndef CLI_CONTENTS_H
#define CLI_CONTENTS_H

#include "base/json/json_write.h"
#include "cli/cli.h"
#include "store/backup.h"

/* Writes members into an open object: schema_version, rows, tables, content_sha256. */
void contents_write(struct json_writer *w, const struct contents *contents, struct arena *arena);
/* Prints the report of a backup or restore as one object. */
void contents_print_report(
    struct cli *cli, struct str file, struct str data_dir, const struct backup_report *report);
/* SHA-256 in hexadecimal. */
struct str contents_hex(struct arena *arena, const struct sha256 *hash);

#endif
