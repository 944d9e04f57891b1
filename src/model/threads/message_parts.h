/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of messages share. */
#ifndef MODEL_THREADS_MESSAGE_PARTS_H
#define MODEL_THREADS_MESSAGE_PARTS_H

#include "model/threads/messages.h"

/* Puts the debug that was read into the metadata. */
void message_join_debug(struct context *c, struct message *message);

/* What a client left out. */
void message_fill_in(struct message *message);
/* Checks a new message, and fills in what follows from it; faults are under the pointer `at`. */
MUST_CHECK enum error message_check(struct context *c, struct message *message, struct str at);
/* Of a list of files, of which `exists` says whether the thread has one. */
MUST_CHECK enum error message_check_names(struct context *c, struct str filenames, struct str at,
    enum error (*exists)(void *data, struct str name, bool *out_exists), void *data);
MUST_CHECK enum error message_check_filenames(
    struct context *c, const struct message *message, struct str at);
/* Parts `debug` from the metadata and checks the members that mean something. */
MUST_CHECK enum error message_check_metadata(
    struct context *c, struct message *message, struct str at);

/* Fills in `command` from the content. */
MUST_CHECK enum error message_parse_command(
    struct context *c, struct message *message, struct str at);

/* Puts the words of a message into the index, in place of those that it had. */
MUST_CHECK enum error message_index(struct context *c, const struct message *message);
MUST_CHECK enum error message_unindex(struct context *c, const struct message *message);

#endif
