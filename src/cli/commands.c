/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/resources.h"
#include "cli/suggest.h"

extern const struct command command_serve;

/* The commands after those on resources. Each is defined in its own file. */
#define COMMANDS(X)  \
    X(export)        \
    X(export_thread) \
    X(export_agent)  \
    X(export_tenant) \
    X(import)        \
    X(mirror)        \
    X(backup)        \
    X(restore)       \
    X(check)         \
    X(migrate)       \
    X(sql)           \
    X(doctor)        \
    X(api)           \
    X(completion)    \
    X(help)
#define DECLARE(name) extern const struct command command_##name;
#define ROW(name) &command_##name,

COMMANDS(DECLARE)
static const struct command *const others[] = {COMMANDS(ROW)};

const struct command *command_at(size_t index)
{
    if (index == 0)
        return &command_serve;
    index--;
    if (index < resource_command_count)
        return &resource_commands[index];
    index -= resource_command_count;
    return index < COUNT_OF(others) ? others[index] : NULL;
}

/* --- Options that follow from flags --------------------------------------------------------- */

static const char *const colour_choices[] = {"auto", "always", "never", NULL};

static const struct cli_option paged_options[] = {
    {.name = "limit", .argument = "N", .help = "print at most so many items", .fallback = "100"},
    {.name = "all", .help = "print all items"},
};
static const struct cli_option destroy_options[] = {
    {.name = "yes", .letter = 'y', .help = "do not ask for confirmation"},
    {.name = "dry-run",
        .letter = 'n',
        .help = "show what the command would change, and change nothing"},
};
static const struct cli_option output_options[] = {
    {.name = "json", .help = "print one JSON document"},
    {.name = "jsonl", .help = "print one JSON object per line"},
    {.name = "color",
        .argument = "WHEN",
        .choices = colour_choices,
        .help = "when to use colours; NO_COLOR disables them",
        .fallback = "auto"},
};
static const struct cli_option remote_options[] = {
    {.name = "url",
        .argument = "URL",
        .help = "the URL of the server",
        .fallback = "http://127.0.0.1:7420",
        .variable = "CAIRN_URL"},
    {.name = "api-key-file",
        .argument = "FILE",
        .help = "a file that contains the API key; CAIRN_API_KEY is the key itself",
        .variable = "CAIRN_API_KEY_FILE"},
    {.name = "as",
        .argument = "PRINCIPAL",
        .help = "send requests for this principal: user:NAME or agent:ID",
        .variable = "CAIRN_AS"},
    {.name = "profile",
        .argument = "NAME",
        .help = "the profile of the configuration to use",
        .variable = "CAIRN_PROFILE"},
    {.name = "ca-file",
        .argument = "FILE",
        .help = "trusted certificates (PEM), instead of those of the system",
        .variable = "CAIRN_CA_FILE"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file",
        .fallback = "~/.config/cairn/config.toml",
        .variable = "CAIRN_CONFIG"},
};
static const struct cli_option server_options[] = {
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file",
        .fallback = "/etc/cairn/cairn.toml if it exists",
        .variable = "CAIRN_CONFIG"},
    {.name = "print-config", .help = "print the effective settings and their sources, and exit"},
};
static const struct cli_option help_options[] = {
    {.name = "help", .letter = 'h', .help = "show this help"},
};

const struct option_group option_groups[] = {
    {COMMAND_SERVER, "The server", server_options, COUNT_OF(server_options)},
    {COMMAND_PAGED, "Commands that list", paged_options, COUNT_OF(paged_options)},
    {COMMAND_DESTROYS, "Commands that destroy", destroy_options, COUNT_OF(destroy_options)},
    {COMMAND_OUTPUT, "Commands that print data", output_options, COUNT_OF(output_options)},
    {COMMAND_REMOTE, "Commands that send requests", remote_options, COUNT_OF(remote_options)},
    {0, "All commands", help_options, COUNT_OF(help_options)},
};
const size_t option_group_count = COUNT_OF(option_groups);

/* --- Names ---------------------------------------------------------------------------------- */

const struct command *command_find(struct str noun, struct str verb)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (str_eq(str_of(c->noun), noun) &&
            (c->verb == NULL ? str_is_none(verb) : str_eq(str_of(c->verb), verb)))
            return c;
    return NULL;
}

bool command_noun_has_verbs(struct str noun)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (c->verb != NULL && str_eq(str_of(c->noun), noun))
            return true;
    return false;
}

struct str command_suggest_noun(struct str mistyped)
{
    const struct command *c;
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        suggestion_offer(&s, str_of(c->noun));
    return s.best;
}

struct str command_suggest_verb(struct str noun, struct str mistyped)
{
    const struct command *c;
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (c->verb != NULL && str_eq(str_of(c->noun), noun))
            suggestion_offer(&s, str_of(c->verb));
    return s.best;
}

struct str command_suggest_option(const struct command *complete, struct str mistyped)
{
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; i < complete->n_options; i++)
        suggestion_offer(&s, str_of(complete->options[i].name));
    return s.best;
}
