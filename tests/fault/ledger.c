/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

struct ledger_entry *ledger_draft(struct ledger *l, size_t index, enum ledger_kind kind)
{
    assert(atomic_load(&l->n) + index < LEDGER_MAX);
    struct ledger_entry *entry = &l->entries[atomic_load(&l->n) + index];
    memset(entry, 0, sizeof *entry);
    entry->kind = kind;
    return entry;
}

void ledger_publish(struct ledger *l, size_t count, uint32_t at)
{
    unsigned n = atomic_load(&l->n);
    for (size_t i = 0; i < count; i++)
        l->entries[n + i].at = at;
    atomic_store(&l->n, n + (unsigned)count);
}

void ledger_set(char *field, size_t size, struct str text)
{
    assert(text.len < size);
    if (text.len > 0)
        memcpy(field, text.ptr, text.len);
    field[text.len] = '\0';
}

/* --- Known facts ---------------------------------------------------------------------------- */

static bool is_touched(const char *target, const char *touches)
{
    struct str rest = str_of(touches), part;
    while (str_next_part(&rest, ' ', &part)) {
        bool whole = part.len == 0 || part.ptr[part.len - 1] != '*';
        struct str prefix = whole ? part : str_slice(part, 0, part.len - 1);
        if (whole ? str_eq(str_of(target), part) : str_starts_with(str_of(target), prefix))
            return true;
    }
    return false;
}

static void forget(struct known *known, const char *touches)
{
    size_t left = 0;
    for (size_t i = 0; i < known->n_facts; i++)
        if (!is_touched(known->facts[i]->target, touches))
            known->facts[left++] = known->facts[i];
    known->n_facts = left;
}

/* Takes the entries of an acknowledged step, which precede its LEDGER_DONE. */
static void take(struct known *known, const struct ledger_entry *entry)
{
    switch (entry->kind) {
    case LEDGER_FACT:
        known->facts[known->n_facts++] = entry;
        break;
    case LEDGER_AGAIN:
        known->again[known->n_again++] = entry;
        break;
    case LEDGER_BACKUP:
        known->has_backup = true;
        break;
    default:
        break;
    }
}

void ledger_know(const struct ledger *l, uint32_t position, struct known *out)
{
    const struct ledger_entry *begun = NULL;
    unsigned n = atomic_load(&l->n);
    *out = (struct known){0};
    for (unsigned i = 0; i < n && l->entries[i].at <= position; i++) {
        const struct ledger_entry *entry = &l->entries[i];
        if (entry->kind == LEDGER_KEY)
            out->needs_key = true;
        if (entry->kind == LEDGER_BEGIN) {
            begun = entry;
        } else if (entry->kind == LEDGER_DONE || entry->kind == LEDGER_UNKNOWN) {
            forget(out, begun->text);
            for (const struct ledger_entry *of = begun + 1; of < entry; of++)
                if (entry->kind == LEDGER_DONE)
                    take(out, of);
            begun = NULL;
        } else if (entry->kind == LEDGER_REFUSED) {
            begun = NULL;
        }
    }
    if (begun != NULL)
        forget(out, begun->text);
}
