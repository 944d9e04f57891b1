/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files of messages. */
#ifndef MODEL_THREADS_MESSAGE_PARTS_H
#define MODEL_THREADS_MESSAGE_PARTS_H

#include "model/threads/messages.h"

/* Inserts the member `debug` into the metadata. */
void message_join_debug(struct context *c, struct message *message);

/* Sets the defaults of absent members. */
void message_fill_in(struct message *message);
/* Checks a new message and sets the members derived from it. Faults begin with the pointer `at`. */
MUST_CHECK enum error message_check(struct context *c, struct message *message, struct str at);
/* Checks a list of file names; `exists` reports whether the thread has a file. */
MUST_CHECK enum error message_check_names(struct context *c, struct str filenames, struct str at,
    enum error (*exists)(void *data, struct str name, bool *out_exists), void *data);
MUST_CHECK enum error message_check_filenames(
    struct context *c, const struct message *message, struct str at);
/* Separates `debug` from the metadata and checks the members that Cairn interprets. */
MUST_CHECK enum error message_check_metadata(
    struct context *c, struct message *message, struct str at);

/* Parses the content into `command`. */
MUST_CHECK enum error message_parse_command(
    struct context *c, struct message *message, struct str at);

/* Replaces the words of the message in the index. */
MUST_CHECK enum error message_index(struct context *c, const struct message *message);
MUST_CHECK enum error message_unindex(struct context *c, const struct message *message);

#endif
