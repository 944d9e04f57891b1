/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a new message: its sender, and that the objects it refers to are in its thread. */
#include "model/execution/runs.h"
#include "model/files/files.h"
#include "model/threads/message_parts.h"
#include "model/threads/messages.sql.h"
#include "model/threads/participants.h"

static struct str under(struct context *c, struct str at, const char *member)
{
    return arena_printf(c->arena, "%.*s/%s", STR_ARG(at), member);
}

/* Turns the error of a missing object into a fault of the body. */
static enum error must_be(struct context *c, enum error e, struct str pointer, const char *rule)
{
    if (e != OK && e != ERR_NOT_FOUND)
        return e;
    c->problem->detail = STR_NONE;
    return problem_fault(c->problem, pointer, "%s", rule);
}

static enum error check_sender(struct context *c, struct message *m, struct str at)
{
    struct participant sender;
    bool found;
    if (m->is_reply)
        return OK;
    if (str_is_none(m->sender_role))
        m->sender_role = sender_role_word(SENDER_SERVICE);
    if (str_is_none(c->principal)) {
        if (!m->has_sender_id)
            return OK;
        enum error e = participant_get(c, m->thread_id, m->sender_id, &sender);
        if (e != OK)
            return must_be(c, e, under(c, at, "sender_id"), "must be a participant of this thread");
        m->sender_role = participant_role_word(sender.role);
        return OK;
    }
    TRY(participant_self(c, m->thread_id, &found, &sender));
    if (!found || !sender.active)
        return problem_set(c->problem, ERR_FORBIDDEN,
            "the principal of the key is not a participant of the thread");
    if (m->has_sender_id && !uuid_eq(m->sender_id, sender.id))
        return problem_set(c->problem, ERR_FORBIDDEN,
            "a key with a principal can send messages only as this principal");
    m->has_sender_id = true;
    m->sender_id = sender.id;
    m->sender_role = participant_role_word(sender.role);
    return OK;
}

enum error message_check_names(struct context *c, struct str filenames, struct str at,
    enum error (*exists)(void *data, struct str name, bool *out_exists), void *data)
{
    struct json_doc doc;
    struct json_error unused;
    struct json name;
    size_t i = 0;
    if (!json_parse(c->arena, filenames, &doc, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    if (json_count(json_root(&doc)) > MESSAGE_FILENAMES_MAX)
        return problem_fault(c->problem, under(c, at, "filenames"), "must have at most %d items",
            MESSAGE_FILENAMES_MAX);
    struct json_iter it = json_iter(json_root(&doc));
    for (; json_next(&it, NULL, &name); i++) {
        struct str pointer = arena_printf(c->arena, "%.*s/filenames/%zu", STR_ARG(at), i);
        bool found = false;
        if (json_type(name) != JSON_STRING)
            return problem_fault(
                c->problem, pointer, "must be a string, not %s", json_type_name(json_type(name)));
        struct str text = json_string(c->arena, name);
        if (text.len <= FILE_NAME_MAX_BYTES)
            TRY(exists(data, text, &found));
        if (!found)
            return problem_fault(c->problem, pointer, "must be the name of a file of this thread");
    }
    return OK;
}

struct place_of_files {
    struct context *c;
    struct uuid thread_id;
};

static enum error is_stored(void *data, struct str name, bool *out_exists)
{
    const struct place_of_files *place = data;
    return file_exists(place->c, place->thread_id, name, out_exists);
}

enum error message_check_filenames(struct context *c, const struct message *m, struct str at)
{
    struct place_of_files place = {c, m->thread_id};
    return message_check_names(c, m->filenames, at, is_stored, &place);
}

static enum error check_responds_to(struct context *c, const struct message *m, struct str at)
{
    struct query q;
    enum message_type type = MESSAGE_TYPE_NONE;
    bool of_command = m->type == MESSAGE_COMMAND_RESPONSE;
    if (!m->has_responds_to)
        return of_command ? problem_fault(c->problem, under(c, at, "responds_to"),
                                "must be given for a command-response: the id of the command")
                          : OK;
    context_query(c, &q, &SQL_MESSAGE_TYPE_OF);
    query_uuid(&q, thread_id, m->thread_id);
    query_uuid(&q, id, m->responds_to);
    while (query_next(&q))
        type = row_enum(&q, message_types);
    TRY(query_end(&q));
    if (type == MESSAGE_TYPE_NONE)
        return problem_fault(
            c->problem, under(c, at, "responds_to"), "must be a message of this thread");
    if (of_command && type != MESSAGE_COMMAND)
        return problem_fault(
            c->problem, under(c, at, "responds_to"), "must be a command of this thread");
    return OK;
}

static enum error check_addressee(struct context *c, const struct message *m, struct str at)
{
    struct participant addressee;
    if (!m->has_addressed_to)
        return OK;
    struct str pointer = under(c, at, "addressed_to");
    if (m->type != MESSAGE_COMMAND)
        return problem_fault(c->problem, pointer, "is allowed only for a command");
    enum error e = participant_get(c, m->thread_id, m->addressed_to, &addressee);
    if (e == OK && addressee.active)
        return OK;
    return must_be(c, e, pointer, "must be an active participant of this thread");
}

void message_fill_in(struct message *m)
{
    if (m->type == MESSAGE_TYPE_NONE)
        m->type = MESSAGE_CHAT;
    if (str_is_none(m->content))
        m->content = STR("");
    if (str_is_none(m->content_type))
        m->content_type = STR("text/plain");
    if (str_is_none(m->metadata))
        m->metadata = STR("{}");
    if (str_is_none(m->filenames))
        m->filenames = STR("[]");
}

enum error message_check(struct context *c, struct message *m, struct str at)
{
    message_fill_in(m);
    m->command = STR_NONE;
    TRY(check_sender(c, m, at));
    if (m->is_reply && !file_type_is_valid(m->content_type))
        m->content_type = STR("text/plain");
    TRY(file_check_type(c, m->content_type, under(c, at, "content_type")));
    TRY(message_check_metadata(c, m, at));
    if (m->type == MESSAGE_COMMAND)
        TRY(message_parse_command(c, m, at));
    if (m->has_run_id)
        TRY(run_check_in_thread(c, m->thread_id, m->run_id, under(c, at, "run_id")));
    TRY(message_check_filenames(c, m, at));
    TRY(check_responds_to(c, m, at));
    return check_addressee(c, m, at);
}
