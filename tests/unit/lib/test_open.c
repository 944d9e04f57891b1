/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"
#include "store/faults.h"

/* Why it cannot be opened. */
static struct str refusal(struct fixture *f, const char *where, const struct cairn_options *options)
{
    char *why = NULL;
    cairn *c = cairn_open(where, options, &why);
    EXPECT(c == NULL && why != NULL);
    struct str text = why == NULL ? STR_NONE : arena_str(f->arena, str_of(why));
    cairn_free(why);
    cairn_close(c);
    return text;
}

TEST(what_cannot_be_opened_is_told_in_words)
{
    struct fixture f;
    fixture_begin(&f);
    const struct cairn_options no_size = {0}, many = {.size = sizeof many, .readers = 65},
                               replica = {.size = sizeof replica, .replica = "host=elsewhere"},
                               schema = {.size = sizeof schema, .schema = "No\"Name"};
    EXPECT_PART(refusal(&f, NULL, NULL), "sqlite:DIRECTORY");
    EXPECT_PART(refusal(&f, "./data", NULL), "sqlite:DIRECTORY");
    EXPECT_PART(refusal(&f, "sqlite:", NULL), "sqlite:DIRECTORY");
    EXPECT_PART(refusal(&f, "sqlite:/proc/none/data", NULL), "cannot create the data directory");
    EXPECT_PART(refusal(&f, f.where, &no_size), "sizeof(struct cairn_options), not 0");
    EXPECT_PART(refusal(&f, f.where, &many), "must be 1 to 64");
    EXPECT_PART(refusal(&f, f.where, &replica), "the replica must be a URL");
    EXPECT_PART(refusal(&f, "postgres://127.0.0.1:1/none", &schema), "the schema must be");
    EXPECT(cairn_open("nowhere", NULL, NULL) == NULL);
    cairn_close(NULL);
    fixture_end(&f);
}

SQLITE_ONLY(a_directory_is_opened_once)
{
    struct fixture f;
    fixture_begin(&f);
    EXPECT_PART(refusal(&f, f.where, NULL), "is using the data directory");
    const char *thread = make_thread(&f);
    cairn_close(f.c);
    fixture_open(&f);
    EXPECT_EQ(ask(&f, "GET", format(f.arena, "/v1/threads/%s", thread), NULL).status, 200);
    fixture_end(&f);
}

SQLITE_ONLY(a_database_of_a_newer_version_is_not_touched)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_close(f.c);
    scratch_exec(&f.scratch, "INSERT INTO schema_versions VALUES (999, 'later', '9.9', 0)");
    EXPECT_PART(refusal(&f, f.where, NULL), "start a newer cairn");
    scratch_exec(&f.scratch, "DELETE FROM schema_versions WHERE version = 999");
    fixture_open(&f);
    fixture_end(&f);
}

TEST(options_of_a_program_with_an_older_header_are_understood)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_close(f.c);
    f.options.readers = 1000; /* behind the end of what that header knew */
    f.options.size = offsetof(struct cairn_options, readers);
    fixture_open(&f);
    EXPECT_EQ(ask(&f, "GET", "/readyz", NULL).status, 200);
    fixture_end(&f);
}

TEST(options_of_a_program_with_a_newer_header_are_refused_only_if_they_ask_for_something)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_close(f.c);
    struct {
        struct cairn_options known;
        const char *later;
    } newer = {.known = f.options, .later = "something"};
    newer.known.size = sizeof newer;
    EXPECT_PART(refusal(&f, f.where, &newer.known), "which this library, version");
    newer.later = NULL;
    f.c = cairn_open(f.where, &newer.known, NULL);
    EXPECT(f.c != NULL);
    newer.known.size = SIZE_MAX;
    EXPECT_PART(refusal(&f, f.where, &newer.known), "sizeof(struct cairn_options)");
    fixture_end(&f);
}

/* --- Threads that cannot be started --------------------------------------------------------- */

/* Refused are the threads from this one on; 0: none. */
static atomic_int refused_from, n_asked_for;

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *data), void *data);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *data), void *data);

int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *data), void *data)
{
    int from = atomic_load(&refused_from);
    if (from > 0 && atomic_fetch_add(&n_asked_for, 1) + 1 >= from)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, start, data);
}

static size_t count_descriptors(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

TEST(a_thread_that_cannot_be_started_is_a_failure_that_leaves_nothing)
{
    struct fixture f;
    fixture_begin(&f);
    cairn_close(f.c);
    size_t n_descriptors = count_descriptors();
    int tries = 0;
    for (f.c = NULL; f.c == NULL && tries < 64;) {
        char *why = NULL;
        atomic_store(&n_asked_for, 0);
        atomic_store(&refused_from, ++tries);
        f.c = cairn_open(f.where, &f.options, &why);
        atomic_store(&refused_from, 0);
        if (f.c != NULL)
            break;
        EXPECT_PART(str_of(why), "cannot start a thread: Resource temporarily unavailable");
        cairn_free(why);
        EXPECT_EQ(count_descriptors(), n_descriptors);
    }
    EXPECT(tries > (on_postgres() ? 9 : 4));
    EXPECT_EQ(ask(&f, "POST", "/v1/threads", NULL).status, 201);
    fixture_end(&f);
}

/* --- fork ----------------------------------------------------------------------------------- */

SQLITE_ONLY(a_child_that_lives_on_does_not_keep_the_directory)
{
    struct fixture f;
    int ends[2];
    char byte;
    fixture_begin(&f);
    EXPECT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) < 0);
    }
    close(ends[0]);
    cairn_close(f.c);
    char *why = NULL;
    f.c = cairn_open(f.where, &f.options, &why);
    EXPECT_STR(str_of(why == NULL ? "" : why), STR(""));
    cairn_free(why);
    close(ends[1]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    fixture_end(&f);
}

/* --- A good guest --------------------------------------------------------------------------- */

struct dispositions {
    void (*handlers[32])(int signal);
    mode_t mask;
};

static void note(struct dispositions *d)
{
    memset(d, 0, sizeof *d);
    for (int i = 1; i < 32; i++) {
        struct sigaction action;
        sigaction(i, NULL, &action);
        d->handlers[i] = action.sa_handler;
    }
    d->mask = umask(0);
    umask(d->mask);
}

enum { TASKS_MAX = 256 };

static size_t list_tasks(int out_ids[TASKS_MAX])
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.' && n < TASKS_MAX)
            out_ids[n++] = (int)strtol(e->d_name, NULL, 10);
    closedir(dir);
    return n;
}

static uint64_t blocked_signals(struct fixture *f, int task)
{
    char line[256];
    uint64_t blocked = 0;
    FILE *status = fopen(format(f->arena, "/proc/self/task/%d/status", task), "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "SigBlk:", 7) == 0)
            blocked = strtoull(line + 7, NULL, 16);
    if (status != NULL)
        fclose(status);
    return blocked;
}

static bool is_among(int id, const int *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

TEST(a_cairn_leaves_signals_and_umask_to_its_host)
{
    struct fixture f;
    struct dispositions before, after;
    int old[TASKS_MAX], now[TASKS_MAX];
    size_t n_old = list_tasks(old), n_new = 0;
    note(&before);
    fixture_begin(&f);
    note(&after);
    EXPECT(memcmp(&before, &after, sizeof before) == 0);
    size_t n_now = list_tasks(now);
    for (size_t i = 0; i < n_now; i++) {
        if (is_among(now[i], old, n_old))
            continue;
        uint64_t asked = 1ull << (SIGTERM - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGCHLD - 1) |
                         1ull << (SIGALRM - 1) | 1ull << (SIGUSR1 - 1);
        EXPECT_EQ(blocked_signals(&f, now[i]) & asked, asked);
        n_new++;
    }
    EXPECT(n_new >= 3);
    fixture_end(&f);
}

/* --- When the disk fails -------------------------------------------------------------------- */

struct said {
    pthread_mutex_t mutex;
    char last[512];
    int level;
    unsigned count;
};

static void hear(void *data, int level, const char *line)
{
    struct said *said = data;
    pthread_mutex_lock(&said->mutex);
    snprintf(said->last, sizeof said->last, "%s", line);
    said->level = level;
    said->count++;
    pthread_mutex_unlock(&said->mutex);
}

/* Redirects standard error to a file. */
static int redirect_stderr(struct fixture *f, const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), old = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
    return old;
}

static off_t restore_stderr(int old)
{
    struct stat info = {0};
    fstat(STDERR_FILENO, &info);
    dup2(old, STDERR_FILENO);
    close(old);
    return info.st_size;
}

SQLITE_ONLY(after_a_failed_fsync_nothing_is_acknowledged_and_the_host_lives_on)
{
    struct fixture f;
    struct said said = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    faults_install();
    fixture_begin(&f);
    int old = redirect_stderr(&f, format(f.arena, "%.*s/stderr", STR_ARG(f.scratch.root)));
    const char *thread = make_thread(&f);
    cairn_log(2, hear, &said);
    faults_fail_syncs();
    struct reply r = ask(&f, "POST", "/v1/threads", NULL);
    EXPECT_EQ(r.status, 503);
    EXPECT_STR(member(f.arena, r.body, "code"), STR("outcome_unknown"));
    faults_clear(); /* too late: what the disk holds is unknown */
    r = ask(&f, "POST", "/v1/threads", NULL);
    EXPECT_EQ(r.status, 503);
    EXPECT_STR(member(f.arena, r.body, "code"), STR("unavailable"));
    EXPECT_EQ(ask(&f, "GET", format(f.arena, "/v1/threads/%s", thread), NULL).status, 503);
    EXPECT_EQ(ask(&f, "GET", "/readyz", NULL).status, 503);
    pthread_mutex_lock(&said.mutex);
    EXPECT(said.count >= 1 && said.level >= 2);
    EXPECT_PART(str_of(said.last), "\"message\":");
    pthread_mutex_unlock(&said.mutex);
    cairn_log(2, NULL, NULL);
    unsigned heard = said.count;
    cairn_close(f.c);
    EXPECT_EQ(said.count, heard);
    EXPECT_EQ(restore_stderr(old), 0);
    fixture_open(&f);
    EXPECT_EQ(ask(&f, "GET", format(f.arena, "/v1/threads/%s", thread), NULL).status, 200);
    EXPECT_EQ(ask(&f, "POST", "/v1/threads", NULL).status, 201);
    fixture_end(&f);
}
