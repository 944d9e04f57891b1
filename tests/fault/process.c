/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <ftw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "script.h"
#include "verify.h"

enum { PATIENCE_S = 60 }; /* a process that takes longer hangs */

/* --- The directories ------------------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    return ftw->level == 0 ? 0 : remove(path);
}

static void make_directory(const char *path)
{
    if (mkdir(path, 0700) != 0) {
        perror(path);
        abort();
    }
}

void stage_clear(const char *root)
{
    char backup[80];
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    snprintf(backup, sizeof backup, "%s/backup", root);
    make_directory(backup);
}

struct stage *stage_create(void)
{
    struct stage *stage = shared_memory(sizeof *stage);
    char root[] = "/tmp/cairn-fault-XXXXXX";
    if (mkdtemp(root) == NULL) {
        perror(root);
        abort();
    }
    snprintf(stage->root, sizeof stage->root, "%s/disk", root);
    snprintf(stage->image, sizeof stage->image, "%s/image", root);
    make_directory(stage->root);
    make_directory(stage->image);
    return stage;
}

void stage_destroy(struct stage *stage)
{
    nftw(stage->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    nftw(stage->image, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    rmdir(stage->root);
    rmdir(stage->image);
    *strrchr(stage->root, '/') = '\0';
    rmdir(stage->root);
}

/* --- How one ends --------------------------------------------------------------------------- */

static void read_words(int fd, char *out, size_t size)
{
    ssize_t n = pread(fd, out, size - 1, 0);
    out[n < 0 ? 0 : n] = '\0';
    close(fd);
}

static bool is_hook(const char *words)
{
    return strstr(words, "cairn: out of memory") != NULL;
}

static bool ended_well(struct stage *stage, int status, const char *words, bool may_abort)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return !atomic_load(&stage->verdict.is_wrong);
    if (may_abort && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && is_hook(words))
        return !atomic_load(&stage->verdict.is_wrong);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        verdict_wrong(&stage->verdict, "it hangs");
    verdict_wrong(&stage->verdict, "it ended with status %#x: %s", (unsigned)status, words);
    return false;
}

/* In the child: what it writes to standard error is kept. */
static pid_t begin(int *out_words)
{
    *out_words = memfd_create("words", MFD_CLOEXEC);
    fflush(stdout);
    pid_t child = fork();
    if (child < 0 || *out_words < 0) {
        perror("fork");
        abort();
    }
    if (child == 0) {
        dup2(*out_words, STDERR_FILENO);
        alarm(PATIENCE_S);
    }
    return child;
}

static bool end(struct stage *stage, pid_t child, int words_fd, bool may_abort)
{
    char words[1500];
    int status = 0;
    waitpid(child, &status, 0);
    read_words(words_fd, words, sizeof words);
    return ended_well(stage, status, words, may_abort);
}

/* --- The two kinds -------------------------------------------------------------------------- */

bool process_script(struct stage *stage, const struct plan *plan)
{
    int words;
    stage->log.n_ops = stage->log.n_bytes = 0;
    atomic_store(&stage->ledger.n, 0);
    memset(&stage->disk, 0, sizeof stage->disk);
    memset(&stage->memory, 0, sizeof stage->memory);
    memset(&stage->verdict, 0, sizeof stage->verdict);
    stage_clear(stage->root);
    pid_t child = begin(&words);
    if (child > 0)
        return end(stage, child, words, plan->memory.of != MEMORY_OF_NOBODY);
    memory_install();
    vfs_install(stage->root, &plan->disk, &stage->disk, plan->is_recorded ? &stage->log : NULL);
    memory_begin(&plan->memory, &stage->memory);
    script_run(stage->root, &stage->ledger, &stage->disk, &stage->verdict);
    _exit(0);
}

bool process_verify(struct stage *stage, const char *root, uint32_t position)
{
    static const struct vfs_plan well = {VFS_FAULT_NONE, 0, false};
    struct known known;
    int words;
    ledger_know(&stage->ledger, position, &known);
    pid_t child = begin(&words);
    if (child > 0)
        return end(stage, child, words, false);
    vfs_install(root, &well, &stage->disk, NULL);
    verify(root, &known, &stage->verdict);
    _exit(0);
}
