/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/suggest.h"

/* A row a command; the verbs of a noun stand together. Each is defined in its noun's file. */
#define COMMANDS(X)        \
    X(serve)               \
    X(thread_list)         \
    X(thread_get)          \
    X(thread_find)         \
    X(thread_create)       \
    X(thread_ensure)       \
    X(thread_delete)       \
    X(thread_context)      \
    X(history_list)        \
    X(history_get)         \
    X(resumption_get)      \
    X(resumption_put)      \
    X(resumption_patch)    \
    X(tool_list)           \
    X(tool_results)        \
    X(run_list)            \
    X(run_get)             \
    X(run_start)           \
    X(run_input)           \
    X(run_pause)           \
    X(run_resume)          \
    X(run_cancel)          \
    X(run_tail)            \
    X(run_wait)            \
    X(run_claim)           \
    X(run_phase)           \
    X(run_phases)          \
    X(run_tree)            \
    X(turn_list)           \
    X(turn_get)            \
    X(turn_create)         \
    X(turn_update)         \
    X(event_list)          \
    X(event_append)        \
    X(event_tail)          \
    X(step_list)           \
    X(step_get)            \
    X(step_append)         \
    X(checkpoint_list)     \
    X(checkpoint_get)      \
    X(checkpoint_latest)   \
    X(checkpoint_put)      \
    X(checkpoint_diff)     \
    X(checkpoint_prune)    \
    X(checkpoint_replay)   \
    X(checkpoint_recover)  \
    X(message_list)        \
    X(message_get)         \
    X(message_send)        \
    X(message_edit)        \
    X(message_delete)      \
    X(message_history)     \
    X(message_search)      \
    X(file_list)           \
    X(file_info)           \
    X(file_put)            \
    X(file_get)            \
    X(file_versions)       \
    X(file_diff)           \
    X(file_restore)        \
    X(file_copy)           \
    X(file_delete)         \
    X(file_delete_version) \
    X(participant_list)    \
    X(participant_add)     \
    X(participant_update)  \
    X(participant_remove)  \
    X(share_create)        \
    X(share_list)          \
    X(share_revoke)        \
    X(share_redeem)        \
    X(agent_list)          \
    X(agent_get)           \
    X(agent_create)        \
    X(agent_update)        \
    X(agent_delete)        \
    X(agent_config)        \
    X(agent_configure)     \
    X(agent_versions)      \
    X(agent_version)       \
    X(agent_make_version)  \
    X(agent_edit_version)  \
    X(agent_activate)      \
    X(agent_rollback)      \
    X(agent_diff)          \
    X(agent_links)         \
    X(agent_link)          \
    X(agent_unlink)        \
    X(agent_tree)          \
    X(state_list)          \
    X(state_get)           \
    X(state_set)           \
    X(state_history)       \
    X(state_focus)         \
    X(state_delete)        \
    X(storage_list)        \
    X(storage_get)         \
    X(storage_set)         \
    X(storage_delete)      \
    X(store_list)          \
    X(store_get)           \
    X(store_put)           \
    X(store_delete)        \
    X(store_search)        \
    X(store_namespaces)    \
    X(price_list)          \
    X(price_get)           \
    X(price_set)           \
    X(price_history)       \
    X(price_delete)        \
    X(usage_list)          \
    X(usage_get)           \
    X(usage_add)           \
    X(usage_averages)      \
    X(eval_list)           \
    X(eval_get)            \
    X(eval_create)         \
    X(eval_update)         \
    X(eval_delete)         \
    X(notebook_list)       \
    X(notebook_get)        \
    X(notebook_create)     \
    X(notebook_update)     \
    X(notebook_delete)     \
    X(notebook_sessions)   \
    X(notebook_add)        \
    X(notebook_remove)     \
    X(key_create)          \
    X(key_list)            \
    X(key_revoke)          \
    X(tenant_create)       \
    X(tenant_list)         \
    X(audit_list)          \
    X(audit_verify)        \
    X(export)              \
    X(export_thread)       \
    X(export_agent)        \
    X(export_tenant)       \
    X(import)              \
    X(mirror)              \
    X(backup)              \
    X(restore)             \
    X(check)               \
    X(migrate)             \
    X(doctor)              \
    X(api)                 \
    X(completion)          \
    X(help)

#define DECLARE(name) extern const struct command command_##name;
#define ROW(name) &command_##name,

COMMANDS(DECLARE)
const struct command *const commands[] = {COMMANDS(ROW)};
const size_t command_count = COUNT_OF(commands);

/* --- Options that many commands share ------------------------------------------------------- */

static const char *const colour_choices[] = {"auto", "always", "never", NULL};

static const struct cli_option paged_options[] = {
    {.name = "limit", .argument = "N", .help = "how many at the most", .fallback = "100"},
    {.name = "all", .help = "all of them, however many there are"},
};
static const struct cli_option destroy_options[] = {
    {.name = "yes", .letter = 'y', .help = "do not ask"},
    {.name = "dry-run", .letter = 'n', .help = "say what would be done, and change nothing"},
};
static const struct cli_option output_options[] = {
    {.name = "json", .help = "print one JSON document"},
    {.name = "jsonl", .help = "print one JSON object a line"},
    {.name = "color",
        .argument = "WHEN",
        .choices = colour_choices,
        .help = "colours: auto, always or never; NO_COLOR turns them off",
        .fallback = "auto"},
};
static const struct cli_option remote_options[] = {
    {.name = "url",
        .argument = "URL",
        .help = "the server",
        .fallback = "http://127.0.0.1:7420",
        .variable = "CAIRN_URL"},
    {.name = "api-key-file",
        .argument = "FILE",
        .help = "holds the API key; CAIRN_API_KEY gives the key itself",
        .variable = "CAIRN_API_KEY_FILE"},
    {.name = "as",
        .argument = "PRINCIPAL",
        .help = "act for user:NAME or agent:ID",
        .variable = "CAIRN_AS"},
    {.name = "profile",
        .argument = "NAME",
        .help = "a profile of the configuration",
        .variable = "CAIRN_PROFILE"},
    {.name = "ca-file",
        .argument = "FILE",
        .help = "certificates to trust (PEM) instead of the system's",
        .variable = "CAIRN_CA_FILE"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration",
        .fallback = "~/.config/cairn/config.toml",
        .variable = "CAIRN_CONFIG"},
};
static const struct cli_option server_options[] = {
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration",
        .fallback = "/etc/cairn/cairn.toml when it is there",
        .variable = "CAIRN_CONFIG"},
    {.name = "print-config", .help = "show what is in force and where it comes from, and end"},
};
static const struct cli_option help_options[] = {
    {.name = "help", .letter = 'h', .help = "show this help"},
};

const struct option_group option_groups[] = {
    {COMMAND_SERVER, "The server", server_options, COUNT_OF(server_options)},
    {COMMAND_PAGED, "Commands that list", paged_options, COUNT_OF(paged_options)},
    {COMMAND_DESTROYS, "Commands that destroy", destroy_options, COUNT_OF(destroy_options)},
    {COMMAND_OUTPUT, "Commands that print data", output_options, COUNT_OF(output_options)},
    {COMMAND_REMOTE, "Commands that ask a server", remote_options, COUNT_OF(remote_options)},
    {0, "All commands", help_options, COUNT_OF(help_options)},
};
const size_t option_group_count = COUNT_OF(option_groups);

static bool has_group(const struct command *command, size_t group)
{
    return option_groups[group].flag == 0 || (command->flags & option_groups[group].flag) != 0;
}

size_t command_option_count(const struct command *command)
{
    size_t count = command->n_options;
    for (size_t i = 0; i < option_group_count; i++)
        count += has_group(command, i) ? option_groups[i].count : 0;
    return count;
}

const struct cli_option *command_option(const struct command *command, size_t index)
{
    assert(index < command_option_count(command));
    if (index < command->n_options)
        return &command->options[index];
    index -= command->n_options;
    for (size_t i = 0; i < option_group_count; i++) {
        if (!has_group(command, i))
            continue;
        if (index < option_groups[i].count)
            return &option_groups[i].options[index];
        index -= option_groups[i].count;
    }
    return NULL;
}

/* --- Names ---------------------------------------------------------------------------------- */

const struct command *command_find(struct str noun, struct str verb)
{
    for (size_t i = 0; i < command_count; i++)
        if (str_eq(str_of(commands[i]->noun), noun) &&
            (commands[i]->verb == NULL ? str_is_none(verb)
                                       : str_eq(str_of(commands[i]->verb), verb)))
            return commands[i];
    return NULL;
}

bool command_noun_has_verbs(struct str noun)
{
    for (size_t i = 0; i < command_count; i++)
        if (commands[i]->verb != NULL && str_eq(str_of(commands[i]->noun), noun))
            return true;
    return false;
}

struct str command_suggest_noun(struct str mistyped)
{
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; i < command_count; i++)
        suggestion_offer(&s, str_of(commands[i]->noun));
    return s.best;
}

struct str command_suggest_verb(struct str noun, struct str mistyped)
{
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; i < command_count; i++)
        if (commands[i]->verb != NULL && str_eq(str_of(commands[i]->noun), noun))
            suggestion_offer(&s, str_of(commands[i]->verb));
    return s.best;
}

struct str command_suggest_option(const struct command *command, struct str mistyped)
{
    struct suggestion s;
    suggestion_init(&s, mistyped);
    for (size_t i = 0; i < command_option_count(command); i++)
        suggestion_offer(&s, str_of(command_option(command, i)->name));
    return s.best;
}
