/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for agents in archives: their versions, activations and links. */
#include "base/alloc.h"
#include "base/semver.h"
#include "model/agents/agent_links.h"
#include "model/agents/agent_versions.h"
#include "model/upkeep/archive_file.h"

static struct str text(
    const struct archive_walk *w, const struct archive_value *row, const char *name)
{
    const struct archive_value *value = &row[archive_field(w->member, name)];
    return value->is_null ? STR_NONE : value->text;
}

static enum error broken(struct archive_walk *w, const char *rule)
{
    return problem_set(w->problem, ERR_INVALID, "%s", rule);
}

/* --- Versions ------------------------------------------------------------------------------- */

static enum error judge_definition(struct archive_walk *w, const struct archive_value *row)
{
    struct context c = {.arena = w->arena, .problem = w->problem};
    struct str parts[AGENT_PARTS], again[AGENT_PARTS];
    struct agent_definition definition;
    for (int i = 0; i < AGENT_PARTS; i++)
        parts[i] = text(w, row, agent_part_names[i]);
    TRY(agent_definition_read(&c, parts, &definition));
    return agent_definition_complete(&c, &definition, ALL_AGENT_PARTS, again);
}

enum error archive_judge_used_version(struct archive_walk *w, const struct archive_value *row)
{
    struct semver unused;
    return semver_parse(text(w, row, "version"), &unused) ? judge_definition(w, row)
                                                          : broken(w, "\"version\" " SEMVER_RULE);
}

enum error archive_judge_agent_version(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent)
{
    struct archive *a = w->archive;
    struct semver unused;
    if (!semver_parse(text(w, row, "version"), &unused))
        return broken(w, "\"version\" " SEMVER_RULE);
    if (a->n_versions == a->cap_versions) {
        a->cap_versions = a->cap_versions == 0 ? 16 : 2 * a->cap_versions;
        a->versions = mem_realloc(a->versions, a->cap_versions * sizeof *a->versions);
    }
    a->versions[a->n_versions++] = archive_name_of(agent, text(w, row, "version"));
    return judge_definition(w, row);
}

static void sort_versions(struct archive *a)
{
    if (a->n_versions > 1 && !a->has_sorted_versions)
        qsort(a->versions, a->n_versions, sizeof *a->versions, archive_compare_names);
    a->has_sorted_versions = true;
}

/* All versions come before the first row that refers to one. */
static bool has_version(struct archive *a, uint32_t agent, struct str version)
{
    struct archive_name wanted = archive_name_of(agent, version);
    sort_versions(a);
    return a->n_versions > 0 && bsearch(&wanted, a->versions, a->n_versions, sizeof wanted,
                                    archive_compare_names) != NULL;
}

enum error archive_judge_activation(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent)
{
    return has_version(w->archive, agent, text(w, row, "version"))
               ? OK
               : broken(w, "\"version\" refers to a version that is not in the archive");
}

/* --- Links ---------------------------------------------------------------------------------- */

enum error archive_judge_link(
    struct archive_walk *w, const struct archive_value *row, uint32_t parent, uint32_t child)
{
    struct archive *a = w->archive;
    struct str version = text(w, row, "child_version");
    if (!str_is_none(version) && !has_version(a, child, version))
        return broken(w, "\"child_version\" refers to a version that is not in the archive");
    if (a->n_links == a->cap_links) {
        a->cap_links = a->cap_links == 0 ? 16 : 2 * a->cap_links;
        a->links = mem_realloc(a->links, a->cap_links * sizeof *a->links);
    }
    a->links[a->n_links++] = (struct archive_link){parent, child};
    if (a->n_links > AGENT_CHILDREN_MAX &&
        a->links[a->n_links - 1 - AGENT_CHILDREN_MAX].parent == parent)
        return broken(w, "the parent has too many children");
    return OK;
}

/* Moves children below their parents until no depth changes, or one is too great, as in a cycle. */
static bool are_links_short(const struct archive *a)
{
    uint8_t *depths = mem_zalloc(a->ids[SORT_AGENT].count + 1);
    bool changed = true, is_short = true;
    while (changed && is_short) {
        changed = false;
        for (size_t i = 0; i < a->n_links && is_short; i++) {
            const struct archive_link *link = &a->links[i];
            if (depths[link->child] > depths[link->parent])
                continue;
            depths[link->child] = (uint8_t)(depths[link->parent] + 1);
            is_short = depths[link->child] <= AGENT_LINK_DEPTH_MAX;
            changed = true;
        }
    }
    mem_free(depths);
    return is_short;
}

enum error archive_judge_agents(struct archive *a, struct problem *problem)
{
    sort_versions(a);
    for (size_t i = 1; i < a->n_versions; i++)
        if (archive_compare_names(&a->versions[i - 1], &a->versions[i]) == 0)
            return archive_broken(
                problem, STR("agent_versions.jsonl"), "has the same version of an agent twice");
    if (!are_links_short(a))
        return archive_broken(problem, STR("agent_links.jsonl"),
            "has a cycle, or a chain of more than %d links", AGENT_LINK_DEPTH_MAX);
    return OK;
}
