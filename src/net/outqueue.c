/* SPDX-License-Identifier: Apache-2.0 */
#include "net/outqueue.h"

#include "base/alloc.h"

static _Atomic size_t held;

void outqueue_hold(size_t size)
{
    atomic_fetch_add_explicit(&held, size, memory_order_relaxed);
}

void outqueue_release(size_t size)
{
    atomic_fetch_sub_explicit(&held, size, memory_order_relaxed);
}

size_t outqueue_held_bytes(void)
{
    return atomic_load_explicit(&held, memory_order_relaxed);
}

static void add(struct outqueue *q, struct out_piece *piece)
{
    piece->size = sizeof *piece + (piece->shared == NULL ? piece->left.len : 0);
    outqueue_hold(piece->size);
    piece->next = NULL;
    if (q->first == NULL)
        q->first = piece;
    else
        q->last->next = piece;
    q->last = piece;
    q->bytes += piece->left.len;
}

static void drop_first(struct outqueue *q)
{
    struct out_piece *piece = q->first;
    q->first = piece->next;
    q->bytes -= piece->left.len;
    outqueue_release(piece->size);
    http_shared_unref(piece->shared);
    mem_free(piece);
}

void outqueue_clear(struct outqueue *q)
{
    while (q->first != NULL)
        drop_first(q);
}

void outqueue_add_copy(struct outqueue *q, struct str bytes)
{
    if (bytes.len == 0)
        return;
    struct out_piece *piece = mem_alloc(sizeof *piece + bytes.len);
    memcpy(piece->copy, bytes.ptr, bytes.len);
    piece->left = (struct str){piece->copy, bytes.len};
    piece->shared = NULL;
    add(q, piece);
}

void outqueue_add_borrowed(struct outqueue *q, struct str bytes)
{
    if (bytes.len == 0)
        return;
    struct out_piece *piece = mem_alloc(sizeof *piece);
    piece->left = bytes;
    piece->shared = NULL;
    add(q, piece);
}

void outqueue_add_shared(struct outqueue *q, struct http_shared *s, struct str wire)
{
    struct out_piece *piece = mem_alloc(sizeof *piece);
    piece->left = wire;
    piece->shared = s;
    add(q, piece);
}

size_t outqueue_gather(const struct outqueue *q, struct iovec *out_pieces, size_t max)
{
    size_t n = 0;
    for (struct out_piece *p = q->first; p != NULL && n < max; p = p->next)
        out_pieces[n++] = (struct iovec){.iov_base = (char *)p->left.ptr, .iov_len = p->left.len};
    return n;
}

void outqueue_sent(struct outqueue *q, size_t size)
{
    assert(size <= q->bytes);
    while (q->first != NULL && size >= q->first->left.len) {
        size -= q->first->left.len;
        drop_first(q);
    }
    if (size > 0) {
        q->first->left.ptr += size;
        q->first->left.len -= size;
        q->bytes -= size;
    }
}
