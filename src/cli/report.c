/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, questions and progress on stderr; Ctrl-C. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/clock.h"
#include "cli/state.h"

static void say_prefix(struct cli *cli)
{
    cli_clear_bar(cli);
    fflush(stdout); /* keeps the order if both are the same terminal */
    struct str name = cli_name(&cli->arena, cli->command);
    fprintf(stderr, "cairn %.*s: ", STR_ARG(name));
}

static void say(struct cli *cli, struct str words)
{
    if (cli->caught_words != NULL) {
        *cli->caught_words = words;
        return;
    }
    say_prefix(cli);
    fprintf(stderr, "%.*s\n", STR_ARG(words));
}

void cli_catch_words(struct cli *cli, struct str *out_words)
{
    cli->caught_words = out_words;
}

int cli_fail(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(cli, arena_vprintf(&cli->arena, format, args));
    va_end(args);
    return EXIT_FAILURE;
}

int cli_usage(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str why = arena_vprintf(&cli->arena, format, args);
    struct str name = cli_name(&cli->arena, cli->command);
    va_end(args);
    /* A question needs no semicolon. */
    bool asked = why.len > 0 && why.ptr[why.len - 1] == '?';
    say(cli, cli->caught_words != NULL ? why
                                       : arena_printf(&cli->arena, "%.*s%s see cairn %.*s --help",
                                             STR_ARG(why), asked ? "" : ";", STR_ARG(name)));
    return EXIT_USAGE;
}

int cli_fail_problem(struct cli *cli, const struct problem *problem)
{
    const struct error_info *info = error_info(problem->code);
    if (cli_is_interrupted(cli)) {
        cli_fail(cli, "interrupted");
        return EXIT_INTERRUPTED;
    }
    struct str detail = str_is_none(problem->detail) ? info->title : problem->detail;
    cli_fail(cli, "%.*s", STR_ARG(detail));
    for (size_t i = 0; i < problem->n_faults; i++)
        fprintf(stderr, "  %.*s %.*s\n", STR_ARG(problem->faults[i].pointer),
            STR_ARG(problem->faults[i].detail));
    return info->status == 401 || info->status == 403 ? EXIT_AUTH : EXIT_FAILURE;
}

void cli_note(struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str words = arena_vprintf(&cli->arena, format, args);
    va_end(args);
    if (cli->caught_words != NULL) {
        *cli->caught_words = words;
        return;
    }
    cli_clear_bar(cli);
    fflush(stdout);
    fprintf(stderr, "%.*s\n", STR_ARG(words));
}

/* --- Questions ------------------------------------------------------------------------------ */

static bool read_yes(void)
{
    char answer[16];
    if (fgets(answer, sizeof answer, stdin) == NULL)
        return false;
    struct str word = str_of(answer);
    word.len -= word.len > 0 && word.ptr[word.len - 1] == '\n';
    return str_eq_nocase(word, STR("y")) || str_eq_nocase(word, STR("yes"));
}

bool cli_confirm(struct cli *cli, const char *format, ...)
{
    if (cli_flag(cli, "yes"))
        return true;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
        return false;
    va_list args;
    va_start(args, format);
    cli_clear_bar(cli);
    fflush(stdout);
    vfprintf(stderr, format, args);
    fputs(" [y/N] ", stderr);
    va_end(args);
    return read_yes();
}

int cli_refused(const struct cli *cli)
{
    struct str noun = str_of(cli->command->noun), verb = str_of(cli->command->verb);
    bool asked = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    const char *why = asked ? "nothing was changed"
                            : "--yes is required, because there is no terminal for the question";
    fprintf(stderr, "%scairn %.*s%s%.*s: %s\n", cli_is_interrupted(cli) ? "\n" : "", STR_ARG(noun),
        verb.len > 0 ? " " : "", STR_ARG(verb), why);
    return cli_is_interrupted(cli) ? EXIT_INTERRUPTED : EXIT_FAILURE;
}

bool cli_is_dry_run(const struct cli *cli)
{
    return cli_flag(cli, "dry-run");
}

/* --- Ctrl-C --------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;
static int interrupt_pipe[2] = {-1, -1};

static void on_interrupt(int signal_number)
{
    int saved = errno;
    interrupted = 1;
    if (write(interrupt_pipe[1], "", 1) < 0) {
        /* The pipe is full: the signal was reported before. */
    }
    errno = saved;
}

/* The parent process can have disabled the signal, as nohup and a shell's & do. */
static void catch_signal(int signal_number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, action, NULL);
}

int cli_catch_interrupts(struct cli *cli)
{
    if (interrupt_pipe[0] >= 0)
        return interrupt_pipe[0];
    if (pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    /* The second signal has its default effect. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    catch_signal(SIGINT, &action);
    catch_signal(SIGTERM, &action);
    return interrupt_pipe[0];
}

bool cli_is_interrupted(const struct cli *cli)
{
    return interrupted != 0;
}

/* --- Progress ------------------------------------------------------------------------------- */

enum { DRAW_EVERY_US = 100000, BAR_CELLS = 24, PER_CENT = 100 };

void cli_clear_bar(struct cli *cli)
{
    if (cli->bar.shown)
        fputs("\r\033[K", stderr);
    cli->bar.shown = false;
}

static void report(struct progress *p, const char *stage, uint64_t done, uint64_t total)
{
    struct progress_bar *bar = CONTAINER_OF(p, struct progress_bar, progress);
    int64_t now_us = clock_steady_us();
    bool at_once = (total > 0 && done == total) || stage != bar->stage;
    if (isatty(STDERR_FILENO) != 1 || (!at_once && now_us - bar->drawn_us < DRAW_EVERY_US))
        return;
    bar->drawn_us = now_us;
    bar->stage = stage;
    bar->shown = true;
    if (total == 0) {
        fprintf(stderr, "\r\033[K%s", stage);
        if (done > 0)
            fprintf(stderr, ": %llu", (unsigned long long)done);
        return;
    }
    double part = (double)(done < total ? done : total) / (double)total;
    int full = (int)(part * BAR_CELLS);
    fprintf(stderr, "\r\033[K%-24s [%.*s%*s] %3d %%", stage, full, "########################",
        BAR_CELLS - full, "", (int)(part * PER_CENT));
}

static bool is_cancelled(struct progress *p)
{
    return cli_is_interrupted(CONTAINER_OF(p, struct progress_bar, progress)->cli);
}

struct progress *cli_progress(struct cli *cli)
{
    cli->bar.progress = (struct progress){report, is_cancelled};
    cli->bar.cli = cli;
    cli_catch_interrupts(cli);
    return &cli->bar.progress;
}
