/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include <errno.h>

#include "base/json/json_write.h"
#include "cli/text.h"

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "full", .help = "also check every row of the database, as cairn check does"},
    {.name = "data", .argument = "DIR", .help = "the data directory of SQLite"},
    {.name = "db", .argument = "URL", .help = "the URL of a PostgreSQL database, postgres://…"},
    {.name = "db-schema", .argument = "NAME", .help = "the schema in that database"},
    {.name = "files-dir", .argument = "DIR", .help = "with --db: the directory of files"},
    {.name = "db-replica",
        .argument = "URL",
        .help = "the URL of a replica for reads that may lag"},
    {.name = "max-connections", .argument = "N", .help = "the maximum number of connections"},
};

const struct command command_doctor = {
    .noun = "doctor",
    .summary = "report problems of an installation, with the commands that fix them",
    .details = "Checks the configuration, secrets, the data directory, the disk, limits, the "
               "clock, the database and the server, and changes nothing. The settings are those "
               "that \"cairn serve\" would use with the same --config and environment; requests "
               "are sent to --url, or to the address on which that server would listen. --config "
               "names one file for both; the default is /etc/cairn/cairn.toml for the server and "
               "~/.config/cairn/config.toml for the profiles.\n"
               "Each line is a finding: ok, warn or fail, and after an arrow the command that "
               "fixes it. Exits with 0 unless a check failed.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .run = run,
};

/* --- Findings ------------------------------------------------------------------------------- */

static const char *const verdict_names[] = {"ok", "warn", "fail"};

static const struct cli_column columns[] = {
    {"STATUS", "/status", COLUMN_STATUS},
    {"CHECK", "/check", COLUMN_TEXT},
    {"FINDING", "/finding", COLUMN_TEXT},
    {"MEND", "/mend", COLUMN_TEXT},
};

static bool wants_json(struct cli *cli)
{
    return cli_flag(cli, "json") || cli_flag(cli, "jsonl");
}

static void print_json(
    struct doctor *d, enum verdict verdict, const char *check, struct str text, struct str mend)
{
    struct json_text row;
    struct json_doc doc;
    struct json_error error;
    json_text_init(&row, SIZE_MAX);
    json_write_object(&row.w);
    json_write_key(&row.w, STR("status"));
    json_write_string(&row.w, str_of(verdict_names[verdict]));
    json_write_key(&row.w, STR("check"));
    json_write_string(&row.w, str_of(check));
    json_write_key(&row.w, STR("finding"));
    json_write_string(&row.w, text);
    json_write_key(&row.w, STR("mend"));
    json_write_string(&row.w, mend);
    json_write_end(&row.w);
    if (json_parse(d->arena, json_text_take(&row, d->arena), &doc, &error))
        cli_print_row(d->cli, columns, COUNT_OF(columns), json_root(&doc));
}

static void add(struct doctor *d, enum verdict verdict, const char *check, struct str mend,
    const char *format, va_list args) PRINTF_LIKE(5, 0);

/* Each finding is a whole line: a table could cut its end, which is the command that fixes it. */
static void add(struct doctor *d, enum verdict verdict, const char *check, struct str mend,
    const char *format, va_list args)
{
    struct str text = arena_vprintf(d->arena, format, args);
    d->counts[verdict]++;
    if (wants_json(d->cli)) {
        print_json(d, verdict, check, text, mend);
        return;
    }
    struct str status = str_of(verdict_names[verdict]);
    text = text_clean(d->arena, text);
    mend = str_is_none(mend) ? STR("") : text_clean(d->arena, mend);
    cli_print_status(d->cli, status);
    printf("%*s  %-14s  %.*s%s%.*s\n", 4 - (int)status.len, "", check, STR_ARG(text),
        mend.len == 0 ? "" : " → ", STR_ARG(mend));
    fflush(stdout); /* the next check can take long */
}

void doctor_ok(struct doctor *d, const char *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, VERDICT_OK, check, STR_NONE, format, args);
    va_end(args);
}

void doctor_warn(struct doctor *d, const char *check, struct str mend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, VERDICT_WARN, check, mend, format, args);
    va_end(args);
}

void doctor_fail(struct doctor *d, const char *check, struct str mend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, VERDICT_FAIL, check, mend, format, args);
    va_end(args);
}

/* --- The command ---------------------------------------------------------------------------- */

static struct str mend_settings(struct str why)
{
    struct str denied = str_of(strerror(EACCES));
    bool is_denied =
        why.len > denied.len && str_eq(str_slice(why, why.len - denied.len, why.len), denied);
    return is_denied ? STR("sudo -u cairn cairn doctor")
                     : STR("correct it, then cairn serve --print-config");
}

/* Returns false if the settings are invalid; then the checks of the server's files are skipped. */
static bool load_settings(struct doctor *d)
{
    struct str why = STR_NONE;
    cli_catch_words(d->cli, &why);
    int refused = settings_load(d->cli, &d->settings);
    cli_catch_words(d->cli, NULL);
    if (refused != EXIT_SUCCESS)
        doctor_fail(d, "configuration", mend_settings(why), "%.*s", STR_ARG(why));
    else if (str_is_none(d->settings.file))
        doctor_ok(d, "configuration", "no file: flags, the environment and defaults");
    else
        doctor_ok(d, "configuration", "%.*s is valid", STR_ARG(d->settings.file));
    d->has_settings = refused == EXIT_SUCCESS;
    return d->has_settings;
}

static void check_own_things(struct doctor *d)
{
    doctor_check_secrets(d);
    if (str_is_none(d->settings.config.db_url)) {
        doctor_check_data_dir(d);
        doctor_check_disk(d);
    } else if (!str_is_none(d->settings.config.files_dir)) {
        doctor_check_files_dir(d);
    }
    doctor_check_limits(d);
    doctor_check_database(d);
}

static int run(struct cli *cli)
{
    struct doctor d = {.cli = cli, .arena = cli_arena(cli), .full = cli_flag(cli, "full")};
    doctor_check_clock(&d);
    if (load_settings(&d))
        check_own_things(&d);
    doctor_check_key_file(&d);
    doctor_check_server(&d);
    if (wants_json(cli))
        cli_print_end(cli, columns, COUNT_OF(columns));
    else
        cli_note(cli, "%zu ok, %zu warnings, %zu failed", d.counts[VERDICT_OK],
            d.counts[VERDICT_WARN], d.counts[VERDICT_FAIL]);
    return d.counts[VERDICT_FAIL] > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
