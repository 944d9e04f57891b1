/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/config.h"

#include "cli/file.h"
#include "cli/settings.h"
#include "cli/suggest.h"

enum { CONFIG_MAX_BYTES = 1024 * 1024 };

static const char *const top_keys[] = {"default_profile", "profiles", "serve", NULL};
static const char *const profile_keys[] = {"url", "api_key", "api_key_file", "ca_file", NULL};

/* --- Validation ----------------------------------------------------------------------------- */

static bool is_known(const char *const *known, struct str word, struct suggestion *s)
{
    suggestion_init(s, word);
    for (size_t i = 0; known[i] != NULL; i++) {
        if (str_eq(str_of(known[i]), word))
            return true;
        suggestion_offer(s, str_of(known[i]));
    }
    return false;
}

static int refuse(
    struct cli *cli, const struct config *config, const struct toml_entry *e, struct str what)
{
    cli_fail(cli, "%.*s:%u: %.*s", STR_ARG(config->path), e->line, STR_ARG(what));
    return EXIT_USAGE;
}

static int refuse_key(struct cli *cli, const struct config *config, const struct toml_entry *e,
    struct str key, struct str near)
{
    struct arena *arena = cli_arena(cli);
    struct str what = arena_printf(arena, "there is no setting \"%.*s\"", STR_ARG(key));
    if (!str_is_none(near))
        what = arena_printf(arena, "%.*s; did you mean %.*s?", STR_ARG(what), STR_ARG(near));
    return refuse(cli, config, e, what);
}

static int check_profile(struct cli *cli, const struct config *config, const struct toml_entry *e)
{
    struct suggestion s;
    if (e->depth != 3)
        return refuse(cli, config, e, STR("a profile is a table: [profiles.NAME]"));
    if (!is_known(profile_keys, e->path[2], &s))
        return refuse_key(cli, config, e, e->path[2], s.best);
    if (e->kind != TOML_STRING)
        return refuse(cli, config, e,
            arena_printf(cli_arena(cli), "%.*s must be a string", STR_ARG(e->path[2])));
    return EXIT_SUCCESS;
}

static int check_serve(struct cli *cli, const struct config *config, const struct toml_entry *e)
{
    struct str near;
    if (e->depth != 2)
        return refuse(cli, config, e, STR("the server's settings are one table: [serve]"));
    if (!settings_know(cli_arena(cli), e->path[1], &near))
        return refuse_key(cli, config, e, e->path[1], near);
    return EXIT_SUCCESS;
}

static int check_entry(struct cli *cli, const struct config *config, const struct toml_entry *e)
{
    struct suggestion s;
    if (!is_known(top_keys, e->path[0], &s))
        return refuse_key(cli, config, e, e->path[0], s.best);
    if (str_eq(e->path[0], STR("profiles")))
        return check_profile(cli, config, e);
    if (str_eq(e->path[0], STR("serve")))
        return check_serve(cli, config, e);
    if (e->depth != 1 || e->kind != TOML_STRING)
        return refuse(cli, config, e, STR("default_profile must be a string"));
    return EXIT_SUCCESS;
}

/* --- Reading -------------------------------------------------------------------------------- */

/* Returns the requested file, which must exist, or the default file if it exists. */
static struct str choose_path(struct cli *cli, struct str usual_path)
{
    struct str path = cli_value(cli, "config");
    if (str_is_none(path))
        path = str_of(getenv("CAIRN_CONFIG"));
    if (path.len > 0)
        return path;
    bool is_there = usual_path.len > 0 && access(arena_cstr(cli_arena(cli), usual_path), F_OK) == 0;
    return is_there ? usual_path : STR_NONE;
}

int config_load(struct cli *cli, struct str usual_path, struct config *out_config)
{
    struct config config = {.path = choose_path(cli, usual_path)};
    struct str text, why;
    struct toml_error error;
    *out_config = config;
    if (str_is_none(config.path))
        return EXIT_SUCCESS;
    if (!file_read(cli_arena(cli), config.path, CONFIG_MAX_BYTES, &text, &why)) {
        cli_fail(cli, "the configuration cannot be read: %.*s", STR_ARG(why));
        return EXIT_USAGE;
    }
    if (!toml_parse(cli_arena(cli), text, &config.toml, &error)) {
        cli_fail(cli, "%.*s:%u: %.*s", STR_ARG(config.path), error.line, STR_ARG(error.rule));
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < config.toml.n_entries; i++) {
        TRY_EXIT(check_entry(cli, &config, &config.toml.entries[i]));
    }
    *out_config = config;
    return EXIT_SUCCESS;
}

/* --- Queries -------------------------------------------------------------------------------- */

const struct toml_entry *config_find(
    const struct config *config, const struct str *path, size_t depth)
{
    for (size_t i = 0; i < config->toml.n_entries; i++) {
        const struct toml_entry *e = &config->toml.entries[i];
        size_t same = 0;
        while (same < depth && same < e->depth && str_eq(e->path[same], path[same]))
            same++;
        if (same == depth && e->depth == depth)
            return e;
    }
    return NULL;
}

bool config_has_profile(const struct config *config, struct str name)
{
    for (size_t i = 0; i < config->toml.n_entries; i++)
        if (str_eq(config->toml.entries[i].path[0], STR("profiles")) &&
            str_eq(config->toml.entries[i].path[1], name))
            return true;
    return false;
}

struct str config_suggest_profile(const struct config *config, struct str mistyped)
{
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; i < config->toml.n_entries; i++)
        if (str_eq(config->toml.entries[i].path[0], STR("profiles")))
            suggestion_offer(&s, config->toml.entries[i].path[1]);
    return s.best;
}
