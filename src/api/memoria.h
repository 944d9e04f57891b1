/* The seed's form of an event, for the streams. */
#ifndef API_MEMORIA_H
#define API_MEMORIA_H

#include "base/json_write.h"
#include "model/events.h"

void memoria_event_write(struct json_writer *w, const struct event *event);

#endif
