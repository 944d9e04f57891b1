/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Either two JSON documents, one a line: the differences between their manifests must make the
 * second from the first. Or two manifests, the first one's length in a byte before it: reading any
 * bytes does no harm, and the result is written so that it reads the same.
 */
#include "model/checkpoints/manifest.h"

#include "fuzz.h"
#include "split.h"

enum { ARENA_BYTES = 64 * 1024 * 1024 };

static bool same(struct sha256 a, struct sha256 b)
{
    return memcmp(a.bytes, b.bytes, SHA256_LEN) == 0;
}

static void check_read(struct arena *arena, struct str bytes, const struct manifest *expected,
    struct manifest *m, struct manifest_named *written)
{
    struct manifest_named named = {.arena = arena};
    FUZZ_CHECK(manifest_read(arena, bytes, m));
    FUZZ_CHECK(same(manifest_hash(m), manifest_hash(expected)));
    FUZZ_CHECK(manifest_len(m) == manifest_len(expected));
    FUZZ_CHECK(manifest_read_names(arena, bytes, &named));
    FUZZ_CHECK(named.n == written->n);
}

static bool has_text(const void *unused, const struct piece *item, struct str text)
{
    return unused == NULL && str_eq((struct str){item->text, item->len}, text);
}

static void check_documents(struct arena *arena, const struct two_docs *docs)
{
    struct buf whole CLEANUP(buf_deinit), delta CLEANUP(buf_deinit);
    struct manifest_named in_whole = {.arena = arena}, in_delta = {.arena = arena};
    struct manifest base, now, read = {0};
    buf_init(&whole, MANIFEST_MAX_BYTES);
    buf_init(&delta, MANIFEST_MAX_BYTES);
    manifest_cut(arena, json_root(&docs->first), NULL, &base);
    const struct manifest_before before = {&base, has_text, NULL};
    manifest_cut(arena, json_root(&docs->second), &before, &now);
    if (manifest_pieces(&base) > MANIFEST_MAX_PIECES || manifest_pieces(&now) > MANIFEST_MAX_PIECES)
        return;
    manifest_write(&base, &whole, &in_whole);
    check_read(arena, buf_str(&whole), &base, &read, &in_whole);
    if (!manifest_write_delta(&base, &now, arena, &delta, &in_delta))
        return;
    FUZZ_CHECK(manifest_is_delta(buf_str(&delta)) && !manifest_is_delta(buf_str(&whole)));
    check_read(arena, buf_str(&delta), &now, &read, &in_delta);
}

static void check_manifests(struct arena *arena, struct str input)
{
    struct buf whole CLEANUP(buf_deinit);
    struct manifest m = {0}, again = {0};
    struct manifest_named named = {.arena = arena};
    buf_init(&whole, MANIFEST_MAX_BYTES);
    size_t len = input.len > 0 ? (unsigned char)input.ptr[0] : 0;
    struct str first = str_slice(input, 1, 1 + len), second = str_slice(input, 1 + len, input.len);
    bool is_read = manifest_read(arena, first, &m);
    (void)!manifest_read_names(arena, second, &named);
    if (!is_read || !manifest_read(arena, second, &m))
        return;
    manifest_write(&m, &whole, NULL);
    if (whole.failed)
        return;
    FUZZ_CHECK(manifest_read(arena, buf_str(&whole), &again));
    FUZZ_CHECK(same(manifest_hash(&again), manifest_hash(&m)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_deinit) struct arena arena;
    struct str input = {(const char *)data, size};
    struct two_docs docs;
    arena_init(&arena, ARENA_BYTES);
    if (split_docs(&arena, input, &docs))
        check_documents(&arena, &docs);
    else
        check_manifests(&arena, input);
    return 0;
}
