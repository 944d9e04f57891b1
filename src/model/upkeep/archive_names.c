/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of agents in archives. They are unique in an archive as in a tenant. If the request
 * allows it, an agent whose name the tenant already has is imported as "NAME (2)", and the threads
 * and runs of the archive that name it follow.
 */
#include "base/alloc.h"
#include "model/agents/agents.h"
#include "model/upkeep/archive_file.h"

void archive_rename_agents(struct archive *a)
{
    a->renames_agents = true;
}

void archive_note_agent_name(struct archive *a, uint32_t agent, struct str name)
{
    if (a->n_agent_names == a->cap_agent_names) {
        a->cap_agent_names = a->cap_agent_names == 0 ? 16 : 2 * a->cap_agent_names;
        a->agent_names = mem_realloc(a->agent_names, a->cap_agent_names * sizeof *a->agent_names);
    }
    a->agent_names[a->n_agent_names++] =
        (struct archive_agent_name){.hash = archive_name_of(0, name), .agent = agent};
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct archive_name));
}

enum error archive_judge_agent_names(struct archive *a, struct problem *problem)
{
    if (a->n_agent_names > 1)
        qsort(a->agent_names, a->n_agent_names, sizeof *a->agent_names, compare);
    for (size_t i = 1; i < a->n_agent_names; i++)
        if (compare(&a->agent_names[i - 1], &a->agent_names[i]) == 0)
            return archive_broken(problem, STR("agents.jsonl"), "has the same name twice");
    a->new_names = mem_zalloc((a->ids[SORT_AGENT].count + 1) * sizeof *a->new_names);
    return OK;
}

void archive_free_names(struct archive *a)
{
    for (size_t i = 0; a->new_names != NULL && i < a->ids[SORT_AGENT].count; i++)
        mem_free(a->new_names[i]);
    mem_free(a->new_names);
    mem_free(a->agent_names);
}

static const struct archive_agent_name *find(const struct archive *a, struct str name)
{
    const struct archive_name wanted = archive_name_of(0, name);
    return a->n_agent_names == 0 ? NULL
                                 : bsearch(&wanted, a->agent_names, a->n_agent_names,
                                       sizeof *a->agent_names, compare);
}

/* The beginning of the name, with whole characters, and the number. */
static struct str numbered(struct arena *arena, struct str name, int number)
{
    struct str suffix = arena_printf(arena, " (%d)", number);
    if (name.len + suffix.len > AGENT_NAME_MAX_BYTES)
        name = str_slice(name, 0, AGENT_NAME_MAX_BYTES - suffix.len);
    while (!str_is_utf8(name))
        name.len--;
    return arena_printf(arena, "%.*s%.*s", STR_ARG(name), STR_ARG(suffix));
}

/* Neither the tenant nor the archive has the name. */
static enum error is_free(
    struct context *c, const struct archive *a, struct str name, bool *out_free)
{
    struct uuid unused;
    bool found = false;
    TRY(agent_find_by_name(c, name, &found, &unused));
    *out_free = !found && find(a, name) == NULL;
    return OK;
}

static enum error choose(
    struct context *c, const struct archive *a, struct str name, struct str *out_name)
{
    bool free = false;
    for (int n = 2; !free && n <= ARCHIVE_NAME_NUMBER_MAX; n++) {
        *out_name = numbered(c->arena, name, n);
        TRY(is_free(c, a, *out_name, &free));
    }
    return free ? OK
                : problem_set(c->problem, ERR_CONFLICT,
                      "the name \"%.*s\" and its numbers up to (%d) are taken", STR_ARG(name),
                      ARCHIVE_NAME_NUMBER_MAX);
}

enum error archive_free_agent_name(
    struct context *c, struct archive *a, uint32_t agent, struct uuid id, struct str *name)
{
    struct uuid taken;
    struct str chosen = STR_NONE;
    bool found = false;
    if (!a->renames_agents)
        return OK;
    TRY(agent_find_by_name(c, *name, &found, &taken));
    if (found && !uuid_eq(taken, id))
        TRY(choose(c, a, *name, &chosen));
    mem_free(a->new_names[agent]); /* of an earlier job */
    a->new_names[agent] = NULL;
    if (str_is_none(chosen))
        return OK;
    a->new_names[agent] = mem_alloc(chosen.len + 1);
    memcpy(a->new_names[agent], chosen.ptr, chosen.len);
    a->new_names[agent][chosen.len] = '\0';
    *name = chosen;
    return OK;
}

struct str archive_new_name(const struct archive *a, size_t agent)
{
    const char *name = a->new_names == NULL ? NULL : a->new_names[agent];
    return name == NULL ? STR_NONE : str_of(name);
}

struct str archive_map_agent_name(const struct archive *a, struct str name)
{
    const struct archive_agent_name *known = a->renames_agents ? find(a, name) : NULL;
    struct str renamed = known == NULL ? STR_NONE : archive_new_name(a, known->agent);
    return str_is_none(renamed) ? name : renamed;
}
