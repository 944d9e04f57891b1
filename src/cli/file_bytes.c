/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads and downloads files of any size, piece by piece, and prints diffs. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hash.h"
#include "cli/request.h"
#include "cli/resources.h"
#include "cli/state.h"
#include "cli/text.h"

enum { SILENCE_MS = 75000, PIECE_BYTES = 64 * 1024 };

/* --- put -------------------------------------------------------------------------------------- */

struct sent_file {
    struct client_source source;
    int fd;
    uint64_t done;
    struct progress *progress;
};

static bool read_piece(struct client_source *source, char *place, size_t room, size_t *out_size)
{
    struct sent_file *f = CONTAINER_OF(source, struct sent_file, source);
    ssize_t got = fd_read(f->fd, place, room);
    if (got < 0)
        return false;
    *out_size = (size_t)got;
    f->done += (size_t)got;
    progress_report(f->progress, "sending", f->done, source->has_size ? source->size_bytes : 0);
    return true;
}

static int open_sent(struct cli *cli, struct str path, struct sent_file *out)
{
    struct stat st;
    *out = (struct sent_file){.source.read = read_piece, .progress = cli_progress(cli)};
    if (!str_eq(path, STR("-")))
        out->fd = open(arena_cstr(cli_arena(cli), path), O_RDONLY | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        return cli_fail(cli, "cannot read %.*s: %s", STR_ARG(path), strerror(errno));
    if (S_ISDIR(st.st_mode))
        return cli_fail(cli, "cannot read %.*s: it is a directory", STR_ARG(path));
    out->source.has_size = S_ISREG(st.st_mode) && !str_eq(path, STR("-"));
    out->source.size_bytes = out->source.has_size ? (uint64_t)st.st_size : 0;
    return EXIT_SUCCESS;
}

/* Returns the part after the last slash. */
static struct str base_name(struct str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return str_slice(path, at, path.len);
}

static int put_headers(struct cli *cli, struct http_header *headers, size_t *out_count)
{
    struct str type = cli_value(cli, "type"), version = cli_value(cli, "if-version");
    uint64_t number;
    size_t n = 0;
    if (!str_is_none(version) && !str_to_u64(version, &number))
        return cli_usage(cli, "--if-version must be a whole number");
    if (!str_is_none(version) && cli_flag(cli, "new"))
        return cli_usage(cli, "--if-version and --new exclude each other");
    for (size_t i = 0; i < type.len; i++)
        if (type.ptr[i] < ' ' || type.ptr[i] > '~')
            return cli_usage(cli, "--type must be plain characters");
    if (str_is_none(type))
        type = STR("application/octet-stream");
    headers[n++] = (struct http_header){STR("Content-Type"), type};
    if (!str_is_none(version))
        headers[n++] = (struct http_header){
            STR("If-Match"), arena_printf(cli_arena(cli), "\"%.*s\"", STR_ARG(version))};
    if (cli_flag(cli, "new"))
        headers[n++] = (struct http_header){STR("If-None-Match"), STR("*")};
    *out_count = n;
    return EXIT_SUCCESS;
}

static struct str path_of(struct cli *cli, struct str name)
{
    struct arena *arena = cli_arena(cli);
    return arena_printf(arena, "/v1/threads/%.*s/files/%.*s",
        STR_ARG(remote_encode(arena, cli_argument(cli, 0))), STR_ARG(remote_encode(arena, name)));
}

int command_file_put(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct str from = cli_argument(cli, 1), name = cli_argument(cli, 2);
    struct http_header headers[4];
    struct remote_request request = {.method = "PUT", .body = STR_NONE, .headers = headers};
    struct remote_answer answer;
    struct sent_file file;
    bool is_stdin = str_eq(from, STR("-"));
    if (is_stdin && str_is_none(name))
        return cli_usage(cli, "NAME is required for stdin");
    name = str_is_none(name) ? base_name(from) : name;
    if (name.len == 0 || cli_argument(cli, 0).len == 0)
        return cli_usage(cli, "an argument is empty");
    TRY_EXIT(put_headers(cli, headers, &request.n_headers));
    TRY_EXIT(open_sent(cli, from, &file));
    TRY_EXIT(remote_open(cli, &r));
    request.path = path_of(cli, name);
    request.source = &file.source;
    int code = remote_ask_once(r, &request, &answer);
    if (!is_stdin)
        close(file.fd);
    cli_clear_bar(cli);
    if (code == EXIT_SUCCESS && answer.has_json)
        cli_print_object(cli, cli->command->shown, cli->command->n_shown, answer.json);
    return code;
}

/* --- get -------------------------------------------------------------------------------------- */

/* The destination of the bytes: FILE.part, which becomes FILE, or stdout. */
struct received_file {
    const char *name; /* NULL: stdout */
    const char *part;
    int fd;
};

static int open_received(struct cli *cli, struct received_file *out)
{
    struct str name = cli_argument(cli, 2);
    *out = (struct received_file){.fd = STDOUT_FILENO};
    if (str_is_none(name) || str_eq(name, STR("-")))
        return EXIT_SUCCESS;
    out->name = arena_cstr(cli_arena(cli), name);
    out->part = arena_cstr(cli_arena(cli), arena_printf(cli_arena(cli), "%s.part", out->name));
    if (access(out->name, F_OK) == 0 && !cli_flag(cli, "yes"))
        return cli_fail(cli, "%s exists; --yes replaces it", out->name);
    out->fd = open(out->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0)
        return cli_fail(cli, "cannot write %s: %s", out->part, strerror(errno));
    return EXIT_SUCCESS;
}

/* sha-256=:BASE64: */
static bool has_digest(struct cli *cli, const struct http_answer *head, struct sha256 hash)
{
    struct str stated = http_answer_header(head, STR("Repr-Digest"));
    struct str text =
        base64_encode(cli_arena(cli), (struct str){(const char *)hash.bytes, sizeof hash.bytes});
    struct str own = arena_printf(cli_arena(cli), "sha-256=:%.*s:", STR_ARG(text));
    return str_is_none(stated) || str_eq(stated, own);
}

static int receive(struct cli *cli, struct remote *r, const struct http_answer *head, int fd)
{
    struct progress *progress = cli_progress(cli);
    struct remote_answer none = {.has_json = false};
    struct sha256_state *hash = sha256_create();
    uint64_t done = 0, total = head->has_length ? head->content_length : 0;
    struct str run = STR("");
    enum client_result result;
    bool written = true;
    do {
        result = http_client_read(remote_client(r), SILENCE_MS, &run);
        if (result != CLIENT_OK || run.len == 0)
            break;
        sha256_add(hash, run);
        written = fd_write_all(fd, run);
        done += run.len;
        progress_report(progress, "receiving", done, total);
    } while (written);
    int failure = errno;
    struct sha256 digest = sha256_finish(hash);
    cli_clear_bar(cli);
    if (!written)
        return cli_fail(cli, "the output could not be written: %s", strerror(failure));
    if (result == CLIENT_TIMED_OUT)
        return cli_fail(cli, "the server stopped sending in the middle of its answer");
    if (result != CLIENT_OK)
        return remote_judge(r, result, &none);
    return has_digest(cli, head, digest)
               ? EXIT_SUCCESS
               : cli_fail(cli, "the received bytes do not have the SHA-256 that the server states");
}

static int keep(struct cli *cli, const struct received_file *f, int code)
{
    if (f->name == NULL)
        return code;
    if (code == EXIT_SUCCESS && fsync(f->fd) != 0)
        code = cli_fail(cli, "cannot write %s: %s", f->part, strerror(errno));
    close(f->fd);
    if (code == EXIT_SUCCESS && rename(f->part, f->name) != 0)
        code = cli_fail(cli, "cannot write %s: %s", f->name, strerror(errno));
    if (code != EXIT_SUCCESS)
        unlink(f->part);
    return code;
}

int command_file_get(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct remote_request request;
    struct remote_answer answer;
    struct received_file file;
    TRY_EXIT(request_build(cli, &request));
    TRY_EXIT(remote_open(cli, &r));
    TRY_EXIT(remote_judge(r, remote_begin(r, &request, &answer), &answer));
    TRY_EXIT(open_received(cli, &file));
    return keep(cli, &file, receive(cli, r, &answer.head, file.fd));
}

/* --- diff ------------------------------------------------------------------------------------- */

int command_file_diff(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct remote_request request;
    struct remote_answer answer;
    bool as_text = cli->format == FORMAT_TABLE;
    TRY_EXIT(request_build(cli, &request));
    if (as_text)
        request.path = request_with(cli, request.path, STR("format"), STR("text"));
    TRY_EXIT(remote_open(cli, &r));
    TRY_EXIT(remote_ask(r, &request, &answer));
    if (!as_text) {
        cli_print_json(cli, answer.json);
        return EXIT_SUCCESS;
    }
    struct str rest = answer.body, line;
    while (str_next_part(&rest, '\n', &line)) {
        if (line.len == 0 && rest.len == 0)
            break;
        line = cli->terminal ? text_clean(cli_arena(cli), line) : line;
        fwrite(line.ptr, 1, line.len, stdout);
        putchar('\n');
    }
    return EXIT_SUCCESS;
}
