/* SPDX-License-Identifier: Apache-2.0 */
#include "model/integrity.h"

bool integrity_holds(struct context *c, struct str stored, const struct sha256 *found)
{
    bool holds = stored.len == SHA256_LEN && memcmp(stored.ptr, found->bytes, SHA256_LEN) == 0;
    if (!holds)
        tx_note_damage(c->tx);
    return holds;
}

enum error integrity_lost(struct context *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str what = arena_vprintf(c->arena, fmt, args);
    va_end(args);
    return problem_set(c->problem, ERR_DAMAGED,
        "%.*s differs from what was stored: cairn check lists the damage; restore it from a backup",
        STR_ARG(what));
}
