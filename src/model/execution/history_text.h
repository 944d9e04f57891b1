/* SPDX-License-Identifier: Apache-2.0 */
/* What a person would read of what a run said. */
#ifndef MODEL_EXECUTION_HISTORY_TEXT_H
#define MODEL_EXECUTION_HISTORY_TEXT_H

#include "base/json/json.h"

/* Of an output (JSON): a text is what it says; of an object its member text, content, answer,
 * response or message, the first that is a text. STR_NONE: it says nothing. */
struct str history_text_of_output(struct arena *arena, struct str output);

/* Of a list of messages (JSON): the texts of the last one that the assistant said something in. */
struct str history_text_of_messages(struct arena *arena, struct str list);

#endif
