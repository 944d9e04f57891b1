/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a thread. The seq of a message is that of its message.created event, so pages in the
 * order of seq never skip a message. An edit or deletion keeps the previous contents as a version;
 * a deleted message remains as a tombstone. The metadata member `debug` is stored separately: no
 * event contains it, and an answer only on request. The search index is updated in the same
 * transaction.
 */
#ifndef MODEL_THREADS_MESSAGES_H
#define MODEL_THREADS_MESSAGES_H

#include "model/threads/events.h"

enum {
    MESSAGE_CONTENT_MAX_BYTES = 1024 * 1024,
    MESSAGE_CONTENT_TYPE_MAX_BYTES = 200,
    MESSAGE_METADATA_MAX_BYTES = 100 * 1024, /* without debug */
    MESSAGE_DEBUG_MAX_BYTES = 1024 * 1024,
    MESSAGE_FILENAMES_MAX = 100,
    MESSAGE_BATCH_MAX = 100,
    MESSAGE_COMMAND_MAX_BYTES = 16 * 1024, /* the content of a command */
    MESSAGE_COMMAND_ARGUMENTS_MAX = 100,   /* options count too */
    MESSAGE_COMMAND_NAME_MAX_BYTES = 64,
    MESSAGE_TOLD_MAX_BYTES = 16 * 1024, /* of content, and of metadata, in an event */
    MESSAGE_RESPONSES_MAX = 100,        /* shown with the message that they answer */
    MESSAGE_SCAN_MAX = 20000,           /* looked at for one page when there is a filter */
    MESSAGE_WORDS_MAX = 16000,          /* what a message is found by: its first words */
    MESSAGE_SEARCH_MAX_BYTES = 1000,
    MESSAGE_SEARCH_TERMS_MAX = 32,
    MESSAGE_SNIPPET_BYTES = 200,
};

/* clang-format off */
#define MESSAGE_TYPES(X)                             \
    X(MESSAGE_CHAT,             "chat")              \
    X(MESSAGE_COMMAND,          "command")           \
    X(MESSAGE_COMMAND_RESPONSE, "command-response")  \
    X(MESSAGE_LOG,              "log")               \
    X(MESSAGE_NOTE,             "note")              \
    X(MESSAGE_NOTICE,           "notice")
/* The role of the participant that sends the message; else `service`, the holder of the key,
 * `user` for the message that starts a run, or `assistant` for the reply of a run. */
#define SENDER_ROLES(X)               \
    X(SENDER_USER,      "user")       \
    X(SENDER_ASSISTANT, "assistant")  \
    X(SENDER_SERVICE,   "service")
/* clang-format on */
ENUM_DECLARE(message_type, MESSAGE_TYPE_NONE, message_types, MESSAGE_TYPES);
ENUM_DECLARE(sender_role, SENDER_ROLE_NONE, sender_roles, SENDER_ROLES);

/* JSON members are compact text. */
struct message {
    struct uuid id;
    struct uuid thread_id;
    int64_t seq;
    int64_t event_id;
    bool has_sender_id;
    struct uuid sender_id;
    struct str sender_role; /* a word of sender_roles */
    enum message_type type;
    struct str content;
    struct str content_type;
    struct str metadata;  /* with `debug` only before it is stored, and on request */
    struct str filenames; /* an array of strings */
    bool has_run_id;
    struct uuid run_id;
    bool has_responds_to;
    struct uuid responds_to;
    bool has_addressed_to;
    struct uuid addressed_to;
    struct str command; /* {"name":…,"arguments":[…],"options":{…}}; STR_NONE for other types */
    bool has_debug;
    struct str debug;
    struct str responses; /* the ids of responses; STR_NONE in lists */
    struct str snippet;   /* of a search */
    bool is_reply;        /* of a run, before it is stored: see message_append_begin */
    bool is_searchable;   /* set when it is stored; else the sweep indexes it */
    bool has_deleted_at;
    int64_t deleted_at;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* --- Queries -------------------------------------------------------------------------------- */

/* Reads a message with its responses, and with `debug` in its metadata if with_debug. */
MUST_CHECK enum error message_get(struct context *c, struct uuid thread_id, struct uuid id,
    bool with_debug, struct message *out_message);

/* `after` and `before` are seqs, both exclusive; 0 and INT64_MAX: no limit. */
struct message_filter {
    struct uuid thread_id;
    int64_t after;
    int64_t before;
    bool newest_first;
    enum message_type type;
    bool has_sender_id;
    struct uuid sender_id;
    bool has_run_id;
    struct uuid run_id;
    bool with_debug;
};
struct message_page {
    struct page page;
    struct message *messages; /* room for page.limit */
    /* The examined seqs, both inclusive. The next page begins before the first, or after the last.
     */
    int64_t first_seq;
    int64_t last_seq;
};
/* With a filter of type or sender, a page also ends after MESSAGE_SCAN_MAX seqs. */
MUST_CHECK enum error message_list(
    struct context *c, const struct message_filter *filter, struct message_page *page);

/* An earlier version. */
struct message_version {
    int64_t version;
    struct str content;
    struct str content_type;
    struct str metadata;
    struct str filenames;
    int64_t created_at;
};
/* Lists the versions before `before`, newest first. A principal sees those of its own messages. */
MUST_CHECK enum error message_list_versions(struct context *c, const struct message *message,
    int64_t before, bool with_debug, struct page *page, struct message_version *out_versions);

struct message_search {
    struct str text; /* as the client sent it */
    bool has_thread_id;
    struct uuid thread_id;
    int64_t before; /* an event_id; INT64_MAX: from the newest */
};
/* Newest first. A principal finds messages of the threads in which it participates. */
MUST_CHECK enum error message_search(struct context *c, const struct message_search *search,
    struct page *page, struct message *out_messages);

/* --- Changes -------------------------------------------------------------------------------- */

/*
 * Creates messages in two halves, as event_append_begin and event_append_end do: the first checks
 * the messages, the second stores them with their numbers. `at` is the pointer of the list in the
 * body; STR_NONE: the body is one message. The sender of a reply is set, and need not be the
 * principal; the type of its content may be a word of the framework, which is then replaced.
 */
struct message_append {
    struct uuid thread_id;
    struct message *messages;
    size_t n;
    struct event_append events;
};
MUST_CHECK enum error message_append_begin(struct context *c, struct uuid thread_id,
    struct message *messages, size_t n, struct str at, struct message_append *out_append);
MUST_CHECK enum error message_append_end(struct context *c, struct message_append *append);
MUST_CHECK enum error message_create(
    struct context *c, struct uuid thread_id, struct message *message);

/* Replaces content, content_type, metadata (with debug) and filenames of `before`, which
 * message_get has read with debug. */
MUST_CHECK enum error message_update(
    struct context *c, const struct message *before, struct message *after);
/* Replaces the message by a tombstone; does nothing if it is one. */
MUST_CHECK enum error message_delete(struct context *c, struct message *message);

/* --- The index of words --------------------------------------------------------------------- */

/* Finds a thread, of any tenant, with messages that are not yet in the index. */
MUST_CHECK enum error message_find_unsearchable(
    struct context *c, bool *out_found, struct uuid *out_tenant, struct uuid *out_thread);
/* Adds some of them to the index; out_more: others remain. */
MUST_CHECK enum error message_make_searchable(
    struct context *c, struct uuid thread_id, bool *out_more);

#endif
