/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/json/json_write.h"

enum { MAX_LINE_BYTES = 64 * 1024 };

ENUM_DEFINE(log_levels, LOG_LEVELS);

static atomic_int least_level = LOG_INFO;

static struct {
    pthread_mutex_t mutex;
    void (*write)(void *data, enum log_level level, struct str line);
    void *data;
} sink = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void log_set_sink(void (*write)(void *data, enum log_level level, struct str line), void *data)
{
    pthread_mutex_lock(&sink.mutex);
    sink.write = write;
    sink.data = data;
    pthread_mutex_unlock(&sink.mutex);
}

void log_set_level(enum log_level least)
{
    atomic_store_explicit(&least_level, (int)least, memory_order_relaxed);
}

bool log_level_parse(struct str name, enum log_level *out_level)
{
    unsigned value = enum_parse(log_levels, name);
    if (value != 0)
        *out_level = (enum log_level)(value - 1);
    return value != 0;
}

bool log_is_on(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&least_level, memory_order_relaxed);
}

static void begin_line(struct json_writer *w, enum log_level level, const char *message)
{
    json_write_object(w);
    json_write_key(w, STR("time"));
    json_write_time(w, clock_wall_us());
    json_write_key(w, STR("level"));
    json_write_string(w, str_of(log_levels[level]));
    json_write_key(w, STR("message"));
    json_write_string(w, str_of(message));
}

static void end_line(struct json_writer *w)
{
    json_write_end(w);
    buf_append_byte(w->out, '\n');
}

static void write_field(struct json_writer *w, const struct log_field *field)
{
    json_write_key(w, str_of(field->name));
    if (field->kind == LOG_FIELD_STR)
        json_write_string(w, field->text);
    else
        json_write_i64(w, field->number);
}

/* A failure to write the log cannot be reported anywhere. */
static void write_to_stderr(struct str line)
{
    ssize_t n;
    do {
        n = write(STDERR_FILENO, line.ptr, line.len);
    } while (n < 0 && errno == EINTR);
}

static void write_out(enum log_level level, struct str line)
{
    pthread_mutex_lock(&sink.mutex);
    bool has_sink = sink.write != NULL;
    if (has_sink)
        sink.write(sink.data, level, line);
    pthread_mutex_unlock(&sink.mutex);
    if (!has_sink)
        write_to_stderr(line);
}

void log_write(enum log_level level, const char *message, const struct log_field *fields, size_t n)
{
    if (!log_is_on(level))
        return;
    struct buf line CLEANUP(buf_deinit) = BUF_INIT(MAX_LINE_BYTES);
    struct json_writer w;
    json_writer_init(&w, &line);
    begin_line(&w, level, message);
    for (size_t i = 0; i < n; i++)
        write_field(&w, &fields[i]);
    end_line(&w);
    if (line.failed) {
        /* Too long: a line without its fields is better than half a line. */
        buf_reset(&line);
        json_writer_init(&w, &line);
        begin_line(&w, level, message);
        write_field(&w, &LOG_I64("fields_left_out", (int64_t)n));
        end_line(&w);
    }
    write_out(level, buf_str(&line));
}
