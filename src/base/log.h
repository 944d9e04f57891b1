/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structured log: one JSON object for each line, on standard error or to a sink, with time, level,
 * message and the given fields. Only the boundary (server, cli) logs; libraries return errors.
 * Never log a secret. Thread-safe: one line is one write.
 *
 *     LOG(LOG_INFO, "listening", LOG_STR("address", a), LOG_I64("port", p));
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/enum.h"

#define LOG_LEVELS(X) \
    X(LOG_DEBUG, "debug") X(LOG_INFO, "info") X(LOG_WARN, "warn") X(LOG_ERROR, "error")
enum log_level { LOG_LEVELS(ENUM_VALUE) }; /* from 0, as in the public header */
extern const char *const log_levels[];     /* ends in NULL */

struct log_field {
    const char *name;
    enum { LOG_FIELD_STR, LOG_FIELD_I64 } kind;
    struct str text;
    int64_t number;
};

#define LOG_STR(field_name, value) \
    ((struct log_field){.name = (field_name), .kind = LOG_FIELD_STR, .text = (value)})
#define LOG_I64(field_name, value) \
    ((struct log_field){.name = (field_name), .kind = LOG_FIELD_I64, .number = (value)})

#define LOG(level, message, ...)                                           \
    log_write((level), (message), (const struct log_field[]){__VA_ARGS__}, \
        sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/* Sends lines to a sink instead of standard error; NULL restores standard error. Each line is a
 * JSON object and ends in a line feed. When this returns, the previous sink is no longer called. A
 * sink must not log. */
void log_set_sink(void (*write)(void *data, enum log_level level, struct str line), void *data);
/* Lines below this level are dropped. The default is LOG_INFO. */
void log_set_level(enum log_level least);
/* Returns false if `name` is no word of log_levels. */
MUST_CHECK bool log_level_parse(struct str name, enum log_level *out_level);
bool log_is_on(enum log_level level);
void log_write(enum log_level level, const char *message, const struct log_field *fields, size_t n);

#endif
