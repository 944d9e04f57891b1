/* SPDX-License-Identifier: Apache-2.0 */
#include "base/compress.h"

#include <pthread.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"

struct dictionary {
    ZSTD_CDict *compress;
    ZSTD_DDict *decompress;
};

/* A failure here can only be lack of memory. */
static void must_have(const void *made, size_t size)
{
    if (made == NULL)
        mem_exhausted(size);
}

static bool succeeded(size_t result, size_t size)
{
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        mem_exhausted(size);
    return !ZSTD_isError(result);
}

struct compressor {
    ZSTD_CCtx *compress; /* each NULL until it is needed */
    ZSTD_DCtx *decompress;
};

enum { IDLE_MAX = 4, IDLE_MAX_BYTES = 512 * 1024 };

static struct {
    pthread_mutex_t mutex;
    struct compressor *compressors[IDLE_MAX];
    size_t n;
} idle = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct compressor *compressor_create(void)
{
    struct compressor *c = NULL;
    pthread_mutex_lock(&idle.mutex);
    if (idle.n > 0)
        c = idle.compressors[--idle.n];
    pthread_mutex_unlock(&idle.mutex);
    return c != NULL ? c : MEM_NEW(struct compressor);
}

static bool make_idle(struct compressor *c)
{
    if (ZSTD_sizeof_CCtx(c->compress) + ZSTD_sizeof_DCtx(c->decompress) > IDLE_MAX_BYTES)
        return false;
    pthread_mutex_lock(&idle.mutex);
    bool has_room = idle.n < IDLE_MAX;
    if (has_room)
        idle.compressors[idle.n++] = c;
    pthread_mutex_unlock(&idle.mutex);
    return has_room;
}

void compressor_destroy(struct compressor *c)
{
    if (c == NULL || make_idle(c))
        return;
    ZSTD_freeCCtx(c->compress);
    ZSTD_freeDCtx(c->decompress);
    mem_free(c);
}

struct dictionary *dictionary_create(struct str bytes, int level)
{
    struct dictionary *d = MEM_NEW(struct dictionary);
    d->compress = ZSTD_createCDict(bytes.ptr, bytes.len, level);
    d->decompress = ZSTD_createDDict(bytes.ptr, bytes.len);
    must_have(d->compress, bytes.len);
    must_have(d->decompress, bytes.len);
    return d;
}

void dictionary_destroy(struct dictionary *d)
{
    if (d == NULL)
        return;
    ZSTD_freeCDict(d->compress);
    ZSTD_freeDDict(d->decompress);
    mem_free(d);
}

bool dictionary_train(struct arena *arena, struct str samples, const size_t *sizes, size_t n,
    size_t max_bytes, struct str *out_bytes)
{
    char *place = arena_alloc(arena, max_bytes);
    size_t len = ZDICT_trainFromBuffer(place, max_bytes, samples.ptr, sizes, (unsigned)n);
    if (ZDICT_isError(len))
        return false;
    *out_bytes = (struct str){place, len};
    return true;
}

bool compress_bytes(struct compressor *c, struct arena *arena, struct str bytes,
    const struct dictionary *d, int level, struct str *out_compressed)
{
    size_t room = bytes.len - bytes.len / 8;
    char *place = arena_alloc(arena, room + 1);
    if (c->compress == NULL)
        c->compress = ZSTD_createCCtx();
    must_have(c->compress, bytes.len);
    size_t len =
        d != NULL
            ? ZSTD_compress_usingCDict(c->compress, place, room, bytes.ptr, bytes.len, d->compress)
            : ZSTD_compressCCtx(c->compress, place, room, bytes.ptr, bytes.len, level);
    if (!succeeded(len, bytes.len))
        return false;
    *out_compressed = (struct str){place, len};
    return true;
}

bool decompress_bytes(struct compressor *c, struct str compressed, size_t size,
    const struct dictionary *d, char *out_bytes)
{
    if (c->decompress == NULL)
        c->decompress = ZSTD_createDCtx();
    must_have(c->decompress, size);
    size_t len = d != NULL ? ZSTD_decompress_usingDDict(c->decompress, out_bytes, size,
                                 compressed.ptr, compressed.len, d->decompress)
                           : ZSTD_decompressDCtx(
                                 c->decompress, out_bytes, size, compressed.ptr, compressed.len);
    return succeeded(len, size) && len == size;
}
