/* SPDX-License-Identifier: Apache-2.0 */
/* The seed's form of an event, for the streams. */
#ifndef API_EXECUTION_MEMORIA_H
#define API_EXECUTION_MEMORIA_H

#include "base/json/json_write.h"
#include "model/threads/events.h"

/* Its clients know five kinds, and those of applications. That a workflow was made or deleted is a
 * change of status to them; of what else Cairn tells in words of its own they hear nothing. */
bool memoria_event_is_shown(const struct event *event);
void memoria_event_write(struct json_writer *w, const struct event *event);

#endif
