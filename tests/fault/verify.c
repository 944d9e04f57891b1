/* SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include <errno.h>

#include "ask.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"
#include "model/upkeep/fsck.h"
#include "store/backup.h"

const char *verify_path(struct arena *arena, const char *root, const char *name)
{
    return arena_cstr(arena, arena_printf(arena, "%s/%s", root, name));
}

static const struct cairn_options options = {.size = sizeof options, .readers = 1};

cairn *verify_open(struct arena *arena, const char *root, char **out_why)
{
    const char *where = arena_cstr(arena, arena_printf(arena, "sqlite:%s/data", root));
    return cairn_open(where, &options, out_why);
}

/* --- The rules ------------------------------------------------------------------------------ */

static void ignore(const char *what)
{
}

static void store_config_of(struct arena *arena, const char *root, struct store_config *out)
{
    *out = (struct store_config){.engine = ENGINE_SQLITE,
        .data_dir = str_of(verify_path(arena, root, "data")),
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
        .on_fatal = ignore};
}

enum error verify_rules(struct arena *arena, const char *root, struct verdict *verdict)
{
    struct store_config config;
    struct problem problem;
    struct fsck *fsck = ARENA_NEW(arena, struct fsck);
    problem_init(&problem, arena);
    store_config_of(arena, root, &config);
    fsck->arena = arena;
    enum error e = store_fsck(&config, model_fsck, fsck, &problem);
    if (e == OK && fsck->n_findings > 0)
        verdict_wrong(verdict, "check finds %.*s, %.*s: %.*s", STR_ARG(fsck->findings[0].rule),
            STR_ARG(fsck->findings[0].object), STR_ARG(fsck->findings[0].detail));
    return e;
}

/* --- Verification of known facts ------------------------------------------------------------- */

/* The same request under its key is answered from the first time, and again the same. */
static void verify_again(
    struct arena *arena, cairn *c, const struct ledger_entry *again, struct verdict *verdict)
{
    struct str rest = str_of(again->text), key, body, id;
    bool whole = str_next_part(&rest, '\n', &key) && str_next_part(&rest, '\n', &body);
    assert(whole);
    id = rest;
    const char *header =
        arena_cstr(arena, arena_printf(arena, "Idempotency-Key: %.*s", STR_ARG(key)));
    struct reply r = ask(arena, c, again->secret, header, "POST", again->target, body);
    struct str found = pointed(arena, r.body, STR("/id"));
    if (!r.is_replayed || !str_eq(found, id))
        verdict_wrong(verdict, "POST %s with its key again is answered %d, not from before: %.*s",
            again->target, r.status, STR_ARG(r.body));
}

static void verify_calls(
    struct arena *arena, cairn *c, const struct known *known, struct verdict *verdict)
{
    for (size_t i = 0; i < known->n_facts; i++)
        expect_fact(arena, c, known->facts[i], true, verdict);
    for (size_t i = 0; i < known->n_again; i++)
        verify_again(arena, c, known->again[i], verdict);
    if (known->needs_key && known->n_facts == 0)
        return; /* there may be a key whose secret was never returned */
    const char *secret = known->n_facts == 0 ? "" : known->facts[0]->secret;
    struct reply r = ask(arena, c, secret, NULL, "GET", "/v1/audit/verify", STR(""));
    if (r.status != 200 || !str_eq(pointed(arena, r.body, STR("/intact")), STR("true")))
        verdict_wrong(verdict, "the audit log is %d %.*s", r.status, STR_ARG(r.body));
    r = ask(arena, c, secret, NULL, "POST", "/v1/threads", STR(""));
    if (r.status != 201)
        verdict_wrong(verdict, "a new thread is answered %d %.*s", r.status, STR_ARG(r.body));
}

/* Any file under the name of a backup can be restored. */
static void verify_backup(
    struct arena *arena, const char *root, bool must_be_there, struct verdict *verdict)
{
    struct problem problem;
    struct backup_report report;
    const struct restore restore = {.file = str_of(verify_path(arena, root, "backup/b.db")),
        .sha256 = STR_NONE,
        .data_dir = str_of(verify_path(arena, root, "elsewhere"))};
    if (access(restore.file.ptr, F_OK) != 0 && errno == ENOENT) {
        if (must_be_there)
            verdict_wrong(verdict, "the backup is gone");
        return;
    }
    problem_init(&problem, arena);
    if (restore_try(&restore, NULL, &problem, &report) != OK)
        verdict_wrong(verdict, "the backup cannot be restored: %.*s", STR_ARG(problem.detail));
}

void verify(const char *root, const struct known *known, struct verdict *verdict)
{
    struct arena arena;
    char *why = NULL;
    arena_init(&arena, SIZE_MAX);
    verify_backup(&arena, root, known->has_backup, verdict);
    cairn *c = verify_open(&arena, root, &why);
    if (c == NULL) {
        verdict_wrong(verdict, "it does not open: %s", why);
        return;
    }
    verify_calls(&arena, c, known, verdict);
    cairn_close(c);
    if (verify_rules(&arena, root, verdict) != OK)
        verdict_wrong(verdict, "it cannot be checked");
    arena_deinit(&arena);
}
