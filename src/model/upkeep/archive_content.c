/* SPDX-License-Identifier: Apache-2.0 */
/* The content of an archive that is being imported. */
#include "base/alloc.h"
#include "model/files/blobs.h"
#include "model/upkeep/archive_file.h"

static enum error copy_out(struct archive *a, const struct archive_content *content,
    struct content_writer *w, struct problem *problem)
{
    CLEANUP(mem_freep) char *piece = mem_alloc(CONTENT_PIECE_BYTES);
    uint64_t at = 0;
    while (at < content->size_bytes) {
        uint64_t left = content->size_bytes - at;
        size_t size = left < CONTENT_PIECE_BYTES ? (size_t)left : CONTENT_PIECE_BYTES;
        TRY(a->whole.read(a->whole.data, content->at + at, piece, size, problem));
        TRY(content_append(w, (struct str){piece, size}));
        at += size;
    }
    return OK;
}

enum error archive_stage(
    struct archive *a, struct store *store, struct uuid tenant_id, struct problem *problem)
{
    enum error e = OK;
    content_stage_begin(store);
    a->staged_in = store;
    for (size_t i = 0; e == OK && i < a->n_contents; i++) {
        struct archive_content *content = &a->contents[i];
        struct content_writer *w = NULL;
        struct content_info info;
        content->id = uuid_v7();
        e = content_create(store, tenant_id, content->id, &w);
        if (e == OK)
            e = copy_out(a, content, w, problem);
        if (e == OK)
            e = content_sync(w, &info);
        if (e == OK && memcmp(info.sha256.bytes, content->sha256.bytes, SHA256_LEN) != 0)
            e = problem_set(problem, ERR_UNAVAILABLE, "the archive changed while it was read");
        if (e == OK)
            content_keep(w);
        else
            content_abandon(w);
        content->is_staged = e == OK;
    }
    return e;
}

/* The sweep deletes content that cannot be deleted here. */
void archive_unstage(struct archive *a, struct store *store, struct uuid tenant_id, bool succeeded)
{
    for (size_t i = 0; i < a->n_contents; i++) {
        const struct archive_content *content = &a->contents[i];
        bool is_needed = succeeded ? content->is_adopted : content->may_be_adopted;
        if (content->is_staged && !is_needed)
            (void)!content_remove(store, tenant_id, content->id);
    }
}

enum error archive_adopt(struct context *c, struct archive *a, struct str sha256)
{
    struct archive_content *content = archive_find_content(a, sha256);
    const struct blob staged = {
        .id = content->id, .sha256 = content->sha256, .size_bytes = (int64_t)content->size_bytes};
    struct blob stored;
    struct arena_mark mark = arena_mark(c->arena);
    TRY(blob_adopt(c, &staged, &stored));
    arena_rewind(c->arena, mark);
    content->is_adopted = uuid_eq(stored.id, content->id);
    content->may_be_adopted = content->may_be_adopted || content->is_adopted;
    return OK;
}
