/* SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include "ask.h"
#include "lib/errand.h"
#include "lib/handle.h"
#include "lib/sweeper.h"
#include "store/backup.h"
#include "store/sqlite.h"
#include "verify.h"

enum { VARIABLES_MAX = 96 };

struct variable {
    struct str name, value;
};

struct script {
    const char *root;
    struct ledger *ledger;
    struct vfs_outcome *disk;
    struct verdict *verdict;
    cairn *c;
    bool is_over; /* nothing can be asked any more */
    struct arena arena;
    struct variable variables[VARIABLES_MAX];
    size_t n_variables;
};

/* --- Variables ------------------------------------------------------------------------------ */

static struct str variable(const struct script *s, struct str name)
{
    for (size_t i = s->n_variables; i > 0; i--)
        if (str_eq(s->variables[i - 1].name, name))
            return s->variables[i - 1].value;
    return STR_NONE;
}

static void save(struct script *s, const struct step *step, struct str answer)
{
    struct str rest = str_of(step->save == NULL ? "" : step->save), part;
    while (str_next_part(&rest, ' ', &part)) {
        size_t at = str_find(part, '=');
        struct str value = part.len == 0
                               ? STR_NONE
                               : pointed_text(&s->arena, answer, str_slice(part, at + 1, part.len));
        if (str_is_none(value))
            continue;
        assert(s->n_variables < VARIABLES_MAX);
        s->variables[s->n_variables++] = (struct variable){str_slice(part, 0, at), value};
    }
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* False: a value is missing. NULL stays NULL. */
static bool expand(struct script *s, const char *text, const char **out)
{
    struct buf to;
    *out = NULL;
    if (text == NULL)
        return true;
    buf_init(&to, SIZE_MAX);
    bool complete = true;
    for (const char *at = text; *at != '\0';) {
        if (*at != '$') {
            buf_append_byte(&to, *at++);
            continue;
        }
        const char *start = ++at;
        while (is_name_byte(*at))
            at++;
        struct str value = variable(s, (struct str){start, (size_t)(at - start)});
        complete = complete && !str_is_none(value);
        buf_append(&to, value);
    }
    *out = arena_cstr(&s->arena, buf_str(&to));
    buf_deinit(&to);
    return complete;
}

/* --- The ledger ----------------------------------------------------------------------------- */

static void set(char *field, size_t size, const char *text)
{
    ledger_set(field, size, str_of(text == NULL ? "" : text));
}

static void note_begin(struct script *s, const struct step *step)
{
    const char *targets[] = {step->read, step->also_read, step->touches};
    struct buf touches;
    buf_init(&touches, SIZE_MAX);
    for (size_t i = 0; i < COUNT_OF(targets); i++) {
        const char *target;
        (void)!expand(s, targets[i], &target); /* of what is not there, nothing is known */
        buf_append(&touches, str_of(target == NULL ? "" : target));
        buf_append_byte(&touches, ' ');
    }
    struct ledger_entry *begin = ledger_draft(s->ledger, 0, LEDGER_BEGIN);
    ledger_set(begin->text, sizeof begin->text, buf_str(&touches));
    buf_deinit(&touches);
    ledger_publish(s->ledger, 1, vfs_position());
}

static void note_refused(struct script *s, const char *what, struct str why)
{
    if (atomic_fetch_add(&s->verdict->n_refused, 1) == 0)
        snprintf(s->verdict->refusal, sizeof s->verdict->refusal, "%s: %.*s", what, STR_ARG(why));
}

static void note_end(struct script *s, enum ledger_kind kind, const char *what, struct str why)
{
    ledger_draft(s->ledger, 0, kind);
    ledger_publish(s->ledger, 1, vfs_position());
    note_refused(s, what, why);
}

/* Lines of POINTER=JSON from what the step says that it shows. */
static struct str shown(struct script *s, const char *shows, struct str answer)
{
    struct buf lines;
    struct str rest = str_of(shows == NULL ? "" : shows), part;
    buf_init(&lines, SIZE_MAX);
    while (str_next_part(&rest, ' ', &part)) {
        size_t arrow = str_find(part, '>'), equals = str_find(part, '=');
        if (part.len == 0)
            continue;
        struct str from = str_slice(part, 0, arrow < part.len ? arrow : part.len);
        struct str to = arrow < part.len ? str_slice(part, arrow + 1, part.len) : part;
        if (equals < part.len) {
            buf_append(&lines, part);
        } else {
            struct str value = pointed(&s->arena, answer, from);
            buf_append(&lines, to);
            buf_append_byte(&lines, '=');
            buf_append(&lines, value);
        }
        buf_append_byte(&lines, '\n');
    }
    struct str text = arena_str(&s->arena, buf_str(&lines));
    buf_deinit(&lines);
    return text;
}

static const char *secret_of(struct script *s, const struct step *step)
{
    struct str secret = variable(s, str_of(step->as == NULL ? "secret" : step->as));
    return str_is_none(secret) ? "" : arena_cstr(&s->arena, secret);
}

static bool draft_fact(struct script *s, const struct step *step, const char *read_template,
    const char *shows, struct str answer, size_t index)
{
    const char *read;
    if (!expand(s, read_template, &read) || read == NULL)
        return false;
    struct ledger_entry *fact = ledger_draft(s->ledger, index, LEDGER_FACT);
    fact->status = step->read_status == 0 ? 200 : step->read_status;
    set(fact->target, sizeof fact->target, read);
    set(fact->secret, sizeof fact->secret, secret_of(s, step));
    ledger_set(fact->text, sizeof fact->text, shown(s, shows, answer));
    return true;
}

static void draft_again(struct script *s, const struct step *step, const char *target,
    const char *body, struct str answer, size_t index)
{
    struct ledger_entry *again = ledger_draft(s->ledger, index, LEDGER_AGAIN);
    set(again->target, sizeof again->target, target);
    set(again->secret, sizeof again->secret, secret_of(s, step));
    ledger_set(again->text, sizeof again->text,
        arena_printf(&s->arena, "%s\n%s\n%.*s", step->is_again, body == NULL ? "" : body,
            STR_ARG(pointed(&s->arena, answer, STR("/id")))));
}

/* The whole step becomes known at once. */
static void note_done(struct script *s, const struct step *step, const char *target,
    const char *body, struct str answer)
{
    size_t n = 0;
    unsigned first = atomic_load(&s->ledger->n);
    n += draft_fact(s, step, step->read, step->shows, answer, n);
    n += draft_fact(s, step, step->also_read, step->also_shows, answer, n);
    size_t n_facts = n;
    if (step->is_again != NULL)
        draft_again(s, step, target, body, answer, n++);
    if (step->kind == STEP_BACKUP)
        ledger_draft(s->ledger, n++, LEDGER_BACKUP);
    ledger_draft(s->ledger, n++, LEDGER_DONE);
    ledger_publish(s->ledger, n, vfs_position());
    atomic_fetch_add(&s->verdict->n_done, 1);
    for (size_t i = 0; s->c != NULL && i < n_facts; i++)
        expect_fact(&s->arena, s->c, &s->ledger->entries[first + i], false, s->verdict);
}

/* --- Calls ---------------------------------------------------------------------------------- */

/* Returns true for answers to a fault, or to a step that depends on a rejected one. */
static bool is_honest(int status)
{
    return status == 503 || status == 507 || status == 409 || status == 410 || status == 204;
}

static bool is_first_key(const struct step *step)
{
    return strcmp(step->target, "/v1/keys") == 0;
}

/* A claim that finds no run returns 204, which means that nothing was changed. */
static bool is_success(const struct step *step, int status)
{
    bool is_claim = strcmp(step->target, "/v1/runs/claim") == 0;
    return status == 200 || status == 201 || (status == 204 && !is_claim);
}

static void end_call(struct script *s, const struct step *step, const char *target,
    const char *body, const struct reply *r, bool sync_had_failed)
{
    struct str code = pointed_text(&s->arena, r->body, STR("/code"));
    if (is_success(step, r->status)) {
        if (sync_had_failed)
            verdict_wrong(
                s->verdict, "%s %s was acknowledged after a failed sync", step->method, target);
        save(s, step, r->body);
        note_done(s, step, target, body, r->body);
    } else if (r->status == 503 && str_eq(code, STR("outcome_unknown"))) {
        note_end(s, LEDGER_UNKNOWN, target, r->body);
        s->is_over = is_first_key(step); /* there may be a key whose secret was never returned */
    } else {
        note_end(s, LEDGER_REFUSED, target, r->body);
        if (!is_honest(r->status))
            verdict_wrong(s->verdict, "%s %s was answered %d: %.*s", step->method, target,
                r->status, STR_ARG(r->body));
    }
}

/* Returns false if there is no body, which counts like a rejection of the step. */
static bool fetch_body(struct script *s, const struct step *step, struct str *out_body)
{
    const char *from;
    if (step->body_from == NULL)
        return true;
    if (!expand(s, step->body_from, &from) || s->c == NULL)
        return false;
    struct reply r = ask(&s->arena, s->c, secret_of(s, step), NULL, "GET", from, STR(""));
    *out_body = r.body;
    return r.status == 200;
}

static void run_call(struct script *s, const struct step *step)
{
    const char *target, *body, *header;
    struct str fetched = STR("");
    bool complete = expand(s, step->target, &target);
    complete = expand(s, step->body, &body) && complete;
    complete = expand(s, step->header, &header) && complete;
    complete = complete && (step->as == NULL || !str_is_none(variable(s, str_of(step->as))));
    complete = complete && fetch_body(s, step, &fetched);
    if (!complete || s->c == NULL) {
        atomic_fetch_add(&s->verdict->n_skipped, 1);
        return;
    }
    if (step->is_again != NULL)
        header =
            arena_cstr(&s->arena, arena_printf(&s->arena, "Idempotency-Key: %s", step->is_again));
    if (is_first_key(step)) {
        ledger_draft(s->ledger, 0, LEDGER_KEY);
        ledger_publish(s->ledger, 1, vfs_position());
    }
    note_begin(s, step);
    bool sync_had_failed = atomic_load(&s->disk->database_sync_failed);
    struct reply r = ask(&s->arena, s->c, secret_of(s, step), header, step->method, target,
        body == NULL ? fetched : str_of(body));
    end_call(s, step, target, body, &r, sync_had_failed);
}

/* Without a key nothing can be asked once another one is there. */
static void run_call_or_end(struct script *s, const struct step *step)
{
    run_call(s, step);
    if (!is_first_key(step) || s->n_variables > 0 || s->is_over)
        return;
    run_call(s, step);
    s->is_over = s->n_variables == 0;
}

/* --- Sessions ------------------------------------------------------------------------------- */

/* A fault that has passed does not keep it from opening the second time. */
static void run_open(struct script *s)
{
    for (int tries = 0; tries < 2 && s->c == NULL; tries++) {
        char *why = NULL;
        s->c = verify_open(&s->arena, s->root, &why);
        if (s->c == NULL)
            note_refused(s, "open", str_of(why));
        cairn_free(why);
    }
    if (s->c == NULL)
        return;
    atomic_store(&s->disk->database_sync_failed, false);
    atomic_fetch_add(&s->verdict->n_done, 1);
}

static void run_close(struct script *s)
{
    cairn_close(s->c);
    s->c = NULL;
}

static void run_sweep(struct script *s)
{
    struct sweep_position start = {0};
    bool more;
    if (s->c != NULL && sweep_at_once(s->c->instance.store, &start, &more) == OK)
        atomic_fetch_add(&s->verdict->n_done, 1);
    else
        note_refused(s, "sweep", STR(""));
}

/* The writer thread waits for a job, and sees it with the next one. */
static void run_checkpoint(struct script *s)
{
    if (s->c == NULL)
        return;
    struct sqlite_store *store = CONTAINER_OF(s->c->instance.store, struct sqlite_store, base);
    store->wal_pages_tried = -SQLITE_CHECKPOINT_BUSY_PAGES;
}

/* --- Beside the server ---------------------------------------------------------------------- */

/* A page that cannot be read is a finding: it counts as wrong only when the disk was good. */
static void run_check(struct script *s)
{
    struct verdict found = {0};
    enum error e = verify_rules(&s->arena, s->root, &found);
    if (found.is_wrong && !atomic_load(&s->disk->has_fired))
        verdict_wrong(s->verdict, "%s", found.words);
    if (e == OK && !found.is_wrong)
        atomic_fetch_add(&s->verdict->n_done, 1);
    else
        note_refused(s, "check", str_of(found.words));
}

static void run_backup(struct script *s, const struct step *step)
{
    struct problem problem;
    struct backup_report report;
    problem_init(&problem, &s->arena);
    note_begin(s, step);
    enum error e = backup_create(str_of(verify_path(&s->arena, s->root, "data")),
        str_of(verify_path(&s->arena, s->root, "backup/b.db")), true, NULL, &problem, &report);
    if (e == OK)
        note_done(s, step, NULL, NULL, STR(""));
    else
        note_end(s, LEDGER_REFUSED, "backup", problem.detail);
}

static void run_restore(struct script *s, const struct step *step)
{
    struct problem problem;
    struct backup_report report;
    const struct restore restore = {.file = str_of(verify_path(&s->arena, s->root, "backup/b.db")),
        .sha256 = STR_NONE,
        .data_dir = str_of(verify_path(&s->arena, s->root, "data")),
        .replaces = true};
    problem_init(&problem, &s->arena);
    note_begin(s, step);
    enum error e = restore_run(&restore, NULL, &problem, &report);
    if (e == OK)
        note_done(s, step, NULL, NULL, STR(""));
    else
        note_end(s, LEDGER_UNKNOWN, "restore", problem.detail); /* it may be in place */
}

/* --- All of it ------------------------------------------------------------------------------ */

static void run_step(struct script *s, const struct step *step)
{
    switch (step->kind) {
    case STEP_CALL:
        run_call_or_end(s, step);
        break;
    case STEP_OPEN:
        run_open(s);
        break;
    case STEP_CLOSE:
        run_close(s);
        break;
    case STEP_SWEEP:
        run_sweep(s);
        break;
    case STEP_CHECKPOINT:
        run_checkpoint(s);
        break;
    case STEP_CHECK:
        run_check(s);
        break;
    case STEP_BACKUP:
        run_backup(s, step);
        break;
    case STEP_RESTORE:
        run_restore(s, step);
        break;
    }
}

void script_run(
    const char *root, struct ledger *ledger, struct vfs_outcome *disk, struct verdict *verdict)
{
    struct script s = {.root = root, .ledger = ledger, .disk = disk, .verdict = verdict};
    arena_init(&s.arena, SIZE_MAX);
    for (size_t i = 0; i < step_count && !s.is_over; i++)
        run_step(&s, &steps[i]);
    cairn_close(s.c);
    arena_deinit(&s.arena);
}
