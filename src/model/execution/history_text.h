/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts text for people from the output and the messages of a run. */
#ifndef MODEL_EXECUTION_HISTORY_TEXT_H
#define MODEL_EXECUTION_HISTORY_TEXT_H

#include "base/json/json.h"

/* `output` is JSON. Returns a string as it is, and of an object the first of the members text,
 * content, answer, response and message that is a string; else STR_NONE. */
struct str history_text_of_output(struct arena *arena, struct str output);

/* `list` is a JSON array of messages. Returns the text of the last assistant message with text. */
struct str history_text_of_messages(struct arena *arena, struct str list);

#endif
