/* SPDX-License-Identifier: Apache-2.0 */
#include "model/transitions.h"

#include "base/json/json_write.h"

static struct str list_allowed(struct arena *arena, const char *const *allowed)
{
    struct buf text;
    buf_init(&text, 4096);
    for (size_t i = 0; allowed[i] != NULL; i++) {
        buf_append(&text, i == 0 ? STR("") : STR(", "));
        buf_append(&text, str_of(allowed[i]));
    }
    struct str list = arena_str(arena, buf_str(&text));
    buf_deinit(&text);
    return list;
}

static struct str allowed_member(struct arena *arena, struct str from, const char *const *allowed)
{
    struct json_text text;
    json_text_init(&text, 4096);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("from"));
    json_write_string(&text.w, from);
    json_write_key(&text.w, STR("allowed"));
    json_write_array(&text.w);
    for (size_t i = 0; allowed[i] != NULL; i++)
        json_write_string(&text.w, str_of(allowed[i]));
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

enum error transition_refused(
    struct context *c, const char *what, struct str from, struct str to, const char *const *allowed)
{
    c->problem->extension = allowed_member(c->arena, from, allowed);
    if (allowed[0] == NULL)
        return problem_set(c->problem, ERR_TRANSITION,
            "a %s that is %.*s cannot become %.*s: %.*s is final", what, STR_ARG(from), STR_ARG(to),
            STR_ARG(from));
    struct str list = list_allowed(c->arena, allowed);
    return problem_set(c->problem, ERR_TRANSITION,
        "a %s that is %.*s cannot become %.*s; allowed: %.*s", what, STR_ARG(from), STR_ARG(to),
        STR_ARG(list));
}

enum error transition_check(struct context *c, const char *what, const char *const *words,
    unsigned allowed, unsigned from, unsigned to)
{
    if (enum_has(allowed, to))
        return OK;
    return transition_refused(c, what, enum_word(words, from), enum_word(words, to),
        enum_words_of(c->arena, words, allowed));
}
