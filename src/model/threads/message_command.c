/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: /name argument "another argument" key=value
 *
 *   command  = "/" name *( blanks word )        name = letter *( letter / digit / "_" / "-" )
 *   word     = argument / option                option = key "=" argument, key as a name
 *   argument = plain / quoted                   plain: anything but blanks and quotes
 *   quoted   = '"' *( character / "\\" / "\"" ) '"'
 *
 * A word that begins with a quote is an argument, whatever is in it.
 */
#include "base/json/json_write.h"
#include "model/threads/message_parts.h"

struct option {
    struct str key;
    struct str value;
};

struct command {
    struct context *c;
    struct str pointer; /* of the content */
    struct str text;
    size_t at;
    struct str arguments[MESSAGE_COMMAND_ARGUMENTS_MAX];
    size_t n_arguments;
    struct option options[MESSAGE_COMMAND_ARGUMENTS_MAX];
    size_t n_options;
};

static bool is_name_byte(char b)
{
    return is_letter(b) || (b >= '0' && b <= '9') || b == '_' || b == '-';
}

static bool is_blank(char b)
{
    return b == ' ' || b == '\t' || b == '\n' || b == '\r';
}

static size_t name_len(struct str text)
{
    size_t len = 0;
    if (text.len == 0 || !is_letter(text.ptr[0]))
        return 0;
    while (len < text.len && is_name_byte(text.ptr[len]))
        len++;
    return len;
}

static struct str rest_of(const struct command *cmd)
{
    return str_slice(cmd->text, cmd->at, cmd->text.len);
}

static bool is_at_end(const struct command *cmd)
{
    return cmd->at == cmd->text.len || is_blank(cmd->text.ptr[cmd->at]);
}

static void skip_blanks(struct command *cmd)
{
    while (cmd->at < cmd->text.len && is_blank(cmd->text.ptr[cmd->at]))
        cmd->at++;
}

static enum error read_quoted(struct command *cmd, struct str *out_text)
{
    size_t start = cmd->at++, len = 0;
    char *text = arena_alloc(cmd->c->arena, cmd->text.len);
    for (; cmd->at < cmd->text.len && cmd->text.ptr[cmd->at] != '"'; cmd->at++) {
        bool escaped = cmd->text.ptr[cmd->at] == '\\' && cmd->at + 1 < cmd->text.len &&
                       (cmd->text.ptr[cmd->at + 1] == '"' || cmd->text.ptr[cmd->at + 1] == '\\');
        cmd->at += escaped;
        text[len++] = cmd->text.ptr[cmd->at];
    }
    if (cmd->at == cmd->text.len)
        return problem_fault(
            cmd->c->problem, cmd->pointer, "must close the quote at byte %zu", start);
    cmd->at++;
    if (!is_at_end(cmd))
        return problem_fault(cmd->c->problem, cmd->pointer,
            "must have a blank after the closing quote at byte %zu", cmd->at - 1);
    *out_text = (struct str){text, len};
    return OK;
}

static enum error read_argument(struct command *cmd, struct str *out_text)
{
    if (cmd->at < cmd->text.len && cmd->text.ptr[cmd->at] == '"')
        return read_quoted(cmd, out_text);
    size_t start = cmd->at;
    for (; !is_at_end(cmd); cmd->at++)
        if (cmd->text.ptr[cmd->at] == '"')
            return problem_fault(cmd->c->problem, cmd->pointer,
                "must not have a quote within a word (byte %zu): quote the whole word", cmd->at);
    *out_text = str_slice(cmd->text, start, cmd->at);
    return OK;
}

static enum error read_option(struct command *cmd, size_t key_len)
{
    struct option *option = &cmd->options[cmd->n_options];
    option->key = str_slice(rest_of(cmd), 0, key_len);
    for (size_t i = 0; i < cmd->n_options; i++)
        if (str_eq(cmd->options[i].key, option->key))
            return problem_fault(cmd->c->problem, cmd->pointer, "must not repeat the option %.*s",
                STR_ARG(option->key));
    cmd->at += key_len + 1;
    cmd->n_options++;
    return read_argument(cmd, &option->value);
}

static enum error read_word(struct command *cmd)
{
    if (cmd->n_arguments + cmd->n_options == MESSAGE_COMMAND_ARGUMENTS_MAX)
        return problem_fault(cmd->c->problem, cmd->pointer,
            "must have at most %d arguments and options", MESSAGE_COMMAND_ARGUMENTS_MAX);
    struct str rest = rest_of(cmd);
    size_t key_len = name_len(rest);
    if (key_len > 0 && key_len < rest.len && rest.ptr[key_len] == '=')
        return read_option(cmd, key_len);
    return read_argument(cmd, &cmd->arguments[cmd->n_arguments++]);
}

static struct str encode(const struct command *cmd, struct str name)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_name(&text.w, "name");
    json_write_string(&text.w, name);
    json_write_name(&text.w, "arguments");
    json_write_array(&text.w);
    for (size_t i = 0; i < cmd->n_arguments; i++)
        json_write_string(&text.w, cmd->arguments[i]);
    json_write_end(&text.w);
    json_write_name(&text.w, "options");
    json_write_object(&text.w);
    for (size_t i = 0; i < cmd->n_options; i++) {
        json_write_key(&text.w, cmd->options[i].key);
        json_write_string(&text.w, cmd->options[i].value);
    }
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, cmd->c->arena);
}

enum error message_parse_command(struct context *c, struct message *message, struct str at)
{
    struct command *cmd = ARENA_NEW(c->arena, struct command);
    cmd->c = c;
    cmd->pointer = arena_printf(c->arena, "%.*s/content", STR_ARG(at));
    cmd->text = message->content;
    if (cmd->text.len > MESSAGE_COMMAND_MAX_BYTES)
        return problem_fault(c->problem, cmd->pointer, "must have at most %d bytes for a command",
            MESSAGE_COMMAND_MAX_BYTES);
    struct str name = str_slice(cmd->text, 1, 1 + name_len(str_slice(cmd->text, 1, cmd->text.len)));
    cmd->at = 1 + name.len;
    if (cmd->text.len == 0 || cmd->text.ptr[0] != '/' || name.len == 0 ||
        name.len > MESSAGE_COMMAND_NAME_MAX_BYTES || !is_at_end(cmd))
        return problem_fault(c->problem, cmd->pointer,
            "must begin with / and a name for a command: a letter, then letters, digits, _ or -, "
            "at most %d bytes",
            MESSAGE_COMMAND_NAME_MAX_BYTES);
    enum error e = OK;
    for (skip_blanks(cmd); e == OK && cmd->at < cmd->text.len; skip_blanks(cmd))
        e = read_word(cmd);
    if (e == OK)
        message->command = encode(cmd, name);
    return e;
}
