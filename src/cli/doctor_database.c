/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/doctor.h"
#include "server/fsck.h"
#include "store/inspect.h"

/* --- The schema ----------------------------------------------------------------------------- */

static void check_schema(struct doctor *d, int64_t version)
{
    int64_t known = store_known_schema();
    if (version > known)
        doctor_fail(d, "schema", STR("install a newer cairn"),
            "the database has schema version %lld, this cairn (" CAIRN_VERSION ") knows up to %lld",
            (long long)version, (long long)known);
    else if (version < known)
        doctor_warn(d, "schema", STR("cairn serve migrates it when it starts"),
            "the database has schema version %lld, this cairn (" CAIRN_VERSION ") has %lld",
            (long long)version, (long long)known);
    else
        doctor_ok(d, "schema", "version %lld, as this cairn (" CAIRN_VERSION ") has it",
            (long long)version);
}

/* Runs the checks of cairn check, if this program knows the schema. */
static void check_integrity(struct doctor *d, int64_t version)
{
    if (!d->full || version != store_known_schema())
        return;
    struct problem problem = PROBLEM_INIT(d->arena);
    struct fsck *fsck = ARENA_NEW(d->arena, struct fsck);
    fsck->arena = d->arena;
    fsck->progress = cli_progress(d->cli);
    enum error e = server_fsck(&d->settings.config, fsck, &problem);
    const struct fsck_finding *first = &fsck->findings[0];
    if (e != OK)
        doctor_fail(d, "integrity", STR("cairn check"), "%.*s", STR_ARG(problem.detail));
    else if (fsck->n_findings > 0)
        doctor_fail(d, "integrity", STR("cairn check shows all, cairn restore goes back"),
            "%zu findings, the first: %.*s, %.*s", fsck->n_findings + fsck->n_untold,
            STR_ARG(first->object), STR_ARG(first->detail));
    else
        doctor_ok(d, "integrity", "%llu rows obey every rule of cairn check",
            (unsigned long long)fsck->contents.rows);
}

/* --- SQLite --------------------------------------------------------------------------------- */

static void report_sqlite(struct doctor *d, const struct sqlite_inspection *found)
{
    struct str dir = d->settings.config.data_dir;
    if (!str_is_none(found->damage)) {
        doctor_fail(d, "database",
            arena_printf(d->arena, "cairn check --data %.*s, then cairn restore", STR_ARG(dir)),
            "%.*s", STR_ARG(found->damage));
        return;
    }
    doctor_ok(d, "database", "%.*s/cairn.db is intact, %s", STR_ARG(dir),
        found->is_served ? "served now" : "not served now");
    check_schema(d, found->schema_version);
    check_integrity(d, found->schema_version);
    if (found->migrated_us > clock_wall_us() + 60 * 1000 * 1000)
        doctor_warn(d, "clock", STR("timedatectl set-ntp true"),
            "the database was created in the future: this machine's clock was set back");
}

static void check_sqlite(struct doctor *d)
{
    struct problem problem = PROBLEM_INIT(d->arena);
    struct sqlite_inspection found;
    enum error e = sqlite_inspect(d->settings.config.data_dir, &problem, &found);
    if (e == OK)
        report_sqlite(d, &found);
    else if (e == ERR_NOT_FOUND)
        doctor_ok(d, "database", "none yet: cairn serve creates it");
    else
        doctor_fail(d, "database",
            arena_printf(d->arena, "ls -l %.*s", STR_ARG(d->settings.config.data_dir)), "%.*s",
            STR_ARG(problem.detail));
}

/* --- PostgreSQL ----------------------------------------------------------------------------- */

static void report_postgres(struct doctor *d, const struct postgres_inspection *found)
{
    doctor_ok(d, "database", "PostgreSQL %.*s answers", STR_ARG(found->server_version));
    check_schema(d, found->schema_version);
    if (!str_is_none(found->lacking))
        doctor_fail(d, "rights", STR("GRANT what is named, as the schema's owner"), "%.*s",
            STR_ARG(found->lacking));
    else if (found->ignores_row_security)
        doctor_warn(d, "rights", STR("ALTER ROLE … NOSUPERUSER NOBYPASSRLS"),
            "the role is not bound by row-level security");
    else
        doctor_ok(d, "rights",
            "the role has the privileges that Cairn needs, and is bound by row-level security");
    if (found->may_lose_commits)
        doctor_fail(d, "durability", STR("ALTER SYSTEM SET fsync = on, then reload"),
            "fsync is off: acknowledged writes can be lost");
    else if (found->may_be_damaged)
        doctor_fail(d, "durability", STR("ALTER SYSTEM SET full_page_writes = on, then reload"),
            "full_page_writes is off: a crash can damage the database");
    else
        doctor_ok(d, "durability", "fsync and full_page_writes are on");
    doctor_compare_clock(d, "the database's", found->clock_ahead_us);
    check_integrity(d, found->schema_version);
}

static void check_replica(struct doctor *d, int64_t primary_position)
{
    enum { MAX_LAG_BYTES = 16 * 1024 * 1024 };
    struct problem problem = PROBLEM_INIT(d->arena);
    struct postgres_inspection found;
    enum error e = postgres_inspect(d->settings.config.db_replica_url, d->settings.config.db_schema,
        true, "--db-replica", &problem, &found);
    if (e != OK) {
        doctor_warn(d, "replica", STR("start the replica; the primary answers meanwhile"), "%.*s",
            STR_ARG(problem.detail));
        return;
    }
    int64_t lag = primary_position - found.log_position;
    if (!found.is_standby)
        doctor_warn(d, "replica", STR("cairn serve --db-replica, with the URL of a standby"),
            "the database of --db-replica is not a standby");
    else if (lag > MAX_LAG_BYTES)
        doctor_warn(d, "replica", STR("SELECT * FROM pg_stat_replication, on the primary"),
            "the replica is %lld KiB behind the primary", (long long)(lag / 1024));
    else
        doctor_ok(d, "replica", "the replica is %lld KiB behind the primary",
            (long long)(lag > 0 ? lag / 1024 : 0));
}

static void check_postgres(struct doctor *d)
{
    struct problem problem = PROBLEM_INIT(d->arena);
    struct postgres_inspection found;
    enum error e = postgres_inspect(
        d->settings.config.db_url, d->settings.config.db_schema, false, "--db", &problem, &found);
    if (e != OK) {
        doctor_fail(d, "database", STR("start the database, or correct --db (CAIRN_DB)"), "%.*s",
            STR_ARG(problem.detail));
        return;
    }
    report_postgres(d, &found);
    if (!str_is_none(d->settings.config.db_replica_url))
        check_replica(d, found.log_position);
}

void doctor_check_database(struct doctor *d)
{
    if (str_is_none(d->settings.config.db_url))
        check_sqlite(d);
    else
        check_postgres(d);
}
