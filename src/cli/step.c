/* SPDX-License-Identifier: Apache-2.0 */
/* Appends a step to a run, or the lines of a log in batches. */
#include <errno.h>

#include "base/buf.h"
#include "base/json/json_write.h"
#include "cli/request.h"
#include "cli/resources.h"

enum {
    LINES_A_BATCH = 1000,
    BYTES_A_BATCH = 4 * 1024 * 1024, /* one more line can be in it */
    LINE_MAX_BYTES = 12 * 1024 * 1024,
};

/* --- A log, in batches ----------------------------------------------------------------------- */

struct feed {
    struct cli *cli;
    struct remote *remote;
    struct remote_request request;
    struct buf batch; /* {"steps":[… */
    long long n_batch;
    long long n_lines; /* read, including blank ones */
    long long first_line;
    long long n_appended;
    int64_t first;
    int64_t last;
};

static int64_t number_in(struct json answer, const char *member)
{
    struct json value;
    int64_t number;
    bool found = json_get(answer, str_of(member), &value) && json_to_i64(value, &number);
    return found ? number : 0;
}

static int send_batch(struct feed *f)
{
    struct remote_answer answer;
    if (f->n_batch == 0)
        return EXIT_SUCCESS;
    buf_append(&f->batch, STR("]}"));
    f->request.body = buf_str(&f->batch);
    int code = remote_ask(f->remote, &f->request, &answer);
    if (code != EXIT_SUCCESS) {
        cli_note(f->cli, "lines %lld to %lld were not appended; the %lld steps before them were",
            f->first_line, f->n_lines, f->n_appended);
        return code;
    }
    if (f->n_appended == 0)
        f->first = number_in(answer.json, "first");
    f->last = number_in(answer.json, "last");
    f->n_appended += f->n_batch;
    f->n_batch = 0;
    buf_reset(&f->batch);
    return EXIT_SUCCESS;
}

static int add_line(struct feed *f, struct str line)
{
    struct arena scratch = ARENA_INIT(SIZE_MAX);
    struct json_doc doc;
    struct json_error error;
    bool good = line.len <= LINE_MAX_BYTES && json_parse(&scratch, line, &doc, &error) &&
                json_type(json_root(&doc)) == JSON_OBJECT;
    arena_deinit(&scratch);
    if (!good) {
        int code = send_batch(f);
        return code != EXIT_SUCCESS
                   ? code
                   : cli_fail(f->cli,
                         "line %lld must be a JSON object of at most %d bytes; the %lld steps "
                         "before it are appended",
                         f->n_lines, LINE_MAX_BYTES, f->n_appended);
    }
    if (f->n_batch == 0)
        f->first_line = f->n_lines;
    buf_append(&f->batch, f->n_batch == 0 ? STR("{\"steps\":[") : STR(","));
    buf_append(&f->batch, line);
    f->n_batch++;
    return EXIT_SUCCESS;
}

static int feed_lines(struct feed *f, FILE *file)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    int code = EXIT_SUCCESS;
    while (code == EXIT_SUCCESS && (len = getline(&text, &room, file)) >= 0) {
        struct str line = {text, (size_t)len};
        if (line.len > 0 && line.ptr[line.len - 1] == '\n')
            line.len--;
        f->n_lines++;
        if (str_trim_blanks(line).len == 0)
            continue;
        if (f->n_batch == LINES_A_BATCH || buf_str(&f->batch).len > BYTES_A_BATCH)
            code = send_batch(f);
        if (code == EXIT_SUCCESS)
            code = add_line(f, line);
    }
    free(text);
    if (code == EXIT_SUCCESS && ferror(file))
        return cli_fail(f->cli, "the log cannot be read: %s", strerror(errno));
    return code == EXIT_SUCCESS ? send_batch(f) : code;
}

static void print_feed(struct feed *f)
{
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    json_write_name(&text.w, "count");
    json_write_i64(&text.w, f->n_appended);
    json_write_name(&text.w, "first");
    json_write_i64(&text.w, f->first);
    json_write_name(&text.w, "last");
    json_write_i64(&text.w, f->last);
    json_write_end(&text.w);
    const struct command *c = cli_command(f->cli);
    cli_print_object(f->cli, c->shown, c->n_shown, cli_document(f->cli, &text));
}

static int append_log(struct cli *cli, struct feed *f)
{
    struct str path = cli_argument(cli, 1);
    bool is_stdin = str_eq(path, STR("-"));
    const struct command *c = cli_command(cli);
    for (size_t i = 0; i < c->n_own; i++)
        if (c->options[i].place == PLACE_BODY && cli_count(cli, c->options[i].name) > 0)
            return cli_usage(cli, "--%s and FILE exclude each other", c->options[i].name);
    FILE *file = is_stdin ? stdin : fopen(arena_cstr(cli_arena(cli), path), "re");
    if (file == NULL)
        return cli_fail(cli, "%.*s cannot be read: %s", STR_ARG(path), strerror(errno));
    int code = feed_lines(f, file);
    if (!is_stdin)
        fclose(file);
    if (code == EXIT_SUCCESS && f->n_appended == 0)
        return cli_fail(cli, "%.*s contains no step", STR_ARG(path));
    if (code == EXIT_SUCCESS)
        print_feed(f);
    return code;
}

int command_step_append(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    struct feed feed = {.cli = cli};
    struct remote_answer answer;
    int code = request_build(cli, &feed.request);
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &remote);
    if (code != EXIT_SUCCESS)
        return code;
    feed.remote = remote;
    if (cli_argument_count(cli) > 1) {
        buf_init(&feed.batch, SIZE_MAX);
        code = append_log(cli, &feed);
        buf_deinit(&feed.batch);
        return code;
    }
    code = remote_ask(remote, &feed.request, &answer);
    if (code == EXIT_SUCCESS)
        cli_print_object(cli, cli_command(cli)->shown, cli_command(cli)->n_shown, answer.json);
    return code;
}
