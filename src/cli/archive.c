/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/layout.h"
#include "cli/layout_import.h"
#include "cli/request.h"

static int run_export(struct cli *cli);
static int run_import(struct cli *cli);

/* clang-format off */
#define EXPORT_DETAILS                                                                            \
    "The archive is a tar file of JSON lines and contents, all of one moment; the same objects "  \
    "give the same bytes. docs/archives.md describes it. It is not compressed: pipe it through "  \
    "zstd. FILE gets its name when it is complete."
#define EXPORT(verb_, route_)                                                                     \
    {.noun = "export", .verb = (verb_), .route = (route_), .details = EXPORT_DETAILS,             \
        .run = run_export,                                                                        \
        OPTIONS({.name = "output", .letter = 'o', .argument = "FILE",                             \
                    .help = "the file to write; - is stdout", .fallback = "-"},                   \
            {.name = "yes", .letter = 'y', .help = "replace FILE if it exists"})}
/* clang-format on */

const struct command command_export_thread = EXPORT("thread", "GET /v1/threads/{thread_id}/export");
const struct command command_export_agent = EXPORT("agent", "GET /v1/agents/{agent_id}/export");
const struct command command_export_tenant = EXPORT("tenant", "GET /v1/export");

const struct command command_import = {
    .noun = "import",
    .route = "POST /v1/imports",
    .columns = "what ids THREADS=counts/threads RUNS=counts/runs EVENTS=counts/events "
               "MESSAGES=counts/messages PARTICIPANTS=counts/participants FILES=counts/files "
               "AGENTS=counts/agents STATES=counts/states CONTENT=counts/bytes",
    .arguments = "FILE",
    .summary = "import an archive that an export wrote; - is stdin",
    .details =
        "The server verifies the whole archive first, then adds all of it or nothing. With --ids "
        "keep an existing id is a conflict; with --ids remap all objects get new ids, and --json "
        "prints them. An agent whose name exists is a conflict; with --names rename it gets a "
        "number behind its name, and --json prints the new name.\n"
        "With --layout files FILE is a directory as cairn export --layout files writes it, or an "
        "engine of its own: docs/files-layout.md. Its threads and runs get new ids, which --json "
        "prints; threads that were imported from it before are skipped.",
    OPTIONS({.name = "layout",
                .argument = "LAYOUT",
                .help = "FILE is a directory of agents' files instead of an archive",
                .choices = layouts},
        {.name = "ids"}, {.name = "names"}, {.name = "dry-run", .letter = 'n'}),
    .run = run_import,
};

/* --- Export --------------------------------------------------------------------------------- */

/* The destination of an archive: a file that gets its name at the end, or stdout. */
struct target {
    struct cli *cli;
    const char *file;    /* NULL: stdout */
    const char *partial; /* its name until it is complete */
    int fd;
};

static int target_open(struct target *t)
{
    struct str file = cli_value(t->cli, "output");
    struct arena *arena = cli_arena(t->cli);
    if (str_is_none(file) || str_eq(file, STR("-"))) {
        t->fd = STDOUT_FILENO;
        return isatty(STDOUT_FILENO)
                   ? cli_usage(t->cli, "an archive is binary: name a file with --output")
                   : EXIT_SUCCESS;
    }
    t->file = arena_cstr(arena, file);
    if (access(t->file, F_OK) == 0 && !cli_flag(t->cli, "yes"))
        return cli_fail(t->cli, "%s exists; --yes replaces it", t->file);
    t->partial = arena_cstr(arena, arena_printf(arena, "%s.partial", t->file));
    t->fd = open(t->partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    return t->fd >= 0 ? EXIT_SUCCESS
                      : cli_fail(t->cli, "cannot write %s: %s", t->partial, strerror(errno));
}

static int target_write(struct target *t, struct str bytes)
{
    if (fd_write_all(t->fd, bytes))
        return EXIT_SUCCESS;
    return cli_fail(
        t->cli, "cannot write %s: %s", t->file == NULL ? "stdout" : t->partial, strerror(errno));
}

static int target_end(struct target *t, int code)
{
    if (t->file == NULL)
        return code;
    bool synced = code != EXIT_SUCCESS || fsync(t->fd) == 0;
    close(t->fd);
    if (code == EXIT_SUCCESS && synced && rename(t->partial, t->file) == 0)
        return EXIT_SUCCESS;
    if (code == EXIT_SUCCESS)
        code = cli_fail(t->cli, "cannot write %s: %s", t->file, strerror(errno));
    unlink(t->partial);
    return code;
}

static int copy_answer(struct target *t, struct remote *r, const struct remote_answer *answer)
{
    enum { PATIENCE_MS = 60 * 1000 };
    struct progress *progress = cli_progress(t->cli);
    uint64_t done = 0, total = answer->head.content_length;
    for (;;) {
        struct str run;
        enum client_result result = http_client_read(remote_client(r), PATIENCE_MS, &run);
        if (result != CLIENT_OK)
            return remote_judge(r, result == CLIENT_TIMED_OUT ? CLIENT_LOST : result, answer);
        if (run.len == 0)
            return EXIT_SUCCESS;
        TRY_EXIT(target_write(t, run));
        done += run.len;
        progress_report(progress, "receiving", done, total);
    }
}

static int run_export(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct target target = {.cli = cli, .fd = -1};
    struct remote_answer answer;
    TRY_EXIT(target_open(&target));
    int code = remote_open(cli, &r);
    if (code == EXIT_SUCCESS) {
        const struct remote_request request = {.method = "GET",
            .path = request_path(cli, cli_command(cli)->to->path),
            .body = STR_NONE};
        remote_be_patient(r);
        enum client_result result = remote_begin(r, &request, &answer);
        code = result != CLIENT_OK || answer.head.status >= 400 ? remote_judge(r, result, &answer)
                                                                : copy_answer(&target, r, &answer);
    }
    return target_end(&target, code);
}

/* --- Import --------------------------------------------------------------------------------- */

struct sent {
    struct client_source source;
    struct cli *cli;
    int fd;
    uint64_t done;
};

static bool read_more(struct client_source *source, char *place, size_t room, size_t *out_size)
{
    struct sent *s = CONTAINER_OF(source, struct sent, source);
    ssize_t n = fd_read(s->fd, place, room);
    if (n < 0)
        return false;
    s->done += (uint64_t)n;
    *out_size = (size_t)n;
    bool is_all = n == 0 || (source->has_size && s->done == source->size_bytes);
    progress_report(cli_progress(s->cli), is_all ? "verifying and adding" : "sending", s->done,
        source->has_size ? source->size_bytes : 0);
    return true;
}

static int sent_open(struct sent *s)
{
    struct str file = cli_argument(s->cli, 0);
    struct stat info;
    s->fd = STDIN_FILENO;
    if (!str_eq(file, STR("-")))
        s->fd = open(arena_cstr(cli_arena(s->cli), file), O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return cli_fail(s->cli, "cannot read %.*s: %s", STR_ARG(file), strerror(errno));
    if (S_ISDIR(info.st_mode))
        return cli_fail(s->cli, "cannot read %.*s: it is a directory", STR_ARG(file));
    s->source.has_size = S_ISREG(info.st_mode) && s->fd != STDIN_FILENO;
    s->source.size_bytes = (uint64_t)info.st_size;
    return EXIT_SUCCESS;
}

static int run_import(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct sent sent = {.source = {.read = read_more}, .cli = cli};
    struct remote_request request;
    struct remote_answer answer;
    const struct http_header type = {STR("Content-Type"), STR("application/x-tar")};
    struct str ids = cli_value(cli, "ids");
    if (!str_is_none(cli_value(cli, "layout"))) {
        if (str_eq(ids, STR("keep")))
            return cli_usage(
                cli, "--ids keep is for archives; threads of --layout files get new ids");
        if (!str_is_none(cli_value(cli, "names")))
            return cli_usage(cli, "--names is for archives; --layout files has no agents by name");
        return layout_import(cli, cli_argument(cli, 0), cli_flag(cli, "dry-run"));
    }
    int code = request_build(cli, &request);
    if (code == EXIT_SUCCESS)
        code = sent_open(&sent);
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &r);
    if (code == EXIT_SUCCESS) {
        request.source = &sent.source;
        request.headers = &type;
        request.n_headers = 1;
        remote_be_patient(r);
        code = remote_ask_once(r, &request, &answer);
    }
    if (sent.fd > STDERR_FILENO)
        close(sent.fd);
    if (code == EXIT_SUCCESS && answer.has_json)
        cli_print_object(cli, cli_command(cli)->shown, cli_command(cli)->n_shown, answer.json);
    return code;
}
