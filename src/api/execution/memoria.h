/* SPDX-License-Identifier: Apache-2.0 */
/* Events in the form of the Memoria API, for the streams. */
#ifndef API_EXECUTION_MEMORIA_H
#define API_EXECUTION_MEMORIA_H

#include "base/json/json_write.h"
#include "model/threads/events.h"

/* Returns true for the kinds that Memoria's clients know: five of Cairn's, and those of
 * applications. The creation and the deletion of a workflow are shown as changes of its status;
 * other kinds of Cairn are not shown. */
bool memoria_event_is_shown(const struct event *event);
void memoria_event_write(struct json_writer *w, const struct event *event);

#endif
