#include "model/files.h"

#include "model/statements.h"

enum error file_exists(struct context *c, struct uuid thread_id, struct str name, bool *out_exists)
{
    struct query q;
    int64_t found;
    context_query(c, &q, &SQL_FILE_EXISTS);
    query_uuid(&q, "thread_id", thread_id);
    query_text(&q, "name", name);
    enum error e = context_number(&q, &found);
    *out_exists = found > 0;
    return e;
}
