/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/archive_tables.h"

const char *const archive_sort_names[SORT_COUNT] = {
#define ARCHIVE_SORT_NAME(sort, name) [sort] = (name),
    ARCHIVE_SORTS(ARCHIVE_SORT_NAME)
#undef ARCHIVE_SORT_NAME
};

const struct archive_mention archive_mentions[] = {
    {"thread_id", SORT_THREAD},
    {"run_id", SORT_RUN},
    {"message_id", SORT_MESSAGE},
    {"responds_to", SORT_MESSAGE},
    {"sender_id", SORT_PARTICIPANT},
    {"addressed_to", SORT_PARTICIPANT},
    {"participant_id", SORT_PARTICIPANT},
    {"principal", SORT_AGENT},
    {"created_by", SORT_AGENT},
    {"agent_id", SORT_AGENT},
    {"file_id", SORT_FILE},
    {"state_id", SORT_STATE},
    {"turn_id", SORT_TURN},
};
const size_t archive_mention_count = COUNT_OF(archive_mentions);

size_t archive_field(const struct archive_member *m, const char *name)
{
    for (size_t i = 0; i < m->n_fields; i++)
        if (strcmp(m->fields[i].name, name) == 0)
            return i;
    abort(); /* a programmer's error: the member has no such field */
}
