/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coding.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"

enum {
    GZIP_WINDOW_BITS = 15 + 16, /* 16: the format of gzip */
    GZIP_MEMORY_LEVEL = 8,
    GZIP_LEVEL = 4,
    ZSTD_LEVEL = 3,
    ZSTD_WINDOW_LOG = 23,
    SCRATCH_BYTES = 16 * 1024,
};

static const struct str NAMES[CODING_COUNT] = {
    [CODING_GZIP] = {"gzip", 4}, [CODING_ZSTD] = {"zstd", 4}};

struct str coding_name(enum coding coding)
{
    return NAMES[coding];
}

enum coding coding_parse(struct str name)
{
    if (str_eq_nocase(name, STR("x-gzip"))) /* RFC 9110: the same */
        return CODING_GZIP;
    for (enum coding c = CODING_GZIP; c < CODING_COUNT; c++)
        if (str_eq_nocase(name, NAMES[c]))
            return c;
    return CODING_NONE;
}

/* --- Decoding ------------------------------------------------------------------------------- */

/* The decoded bytes: written to `place`, or only counted. */
struct output {
    char *place; /* NULL: counted */
    char *scratch;
    size_t size_bytes;
    size_t max_bytes;
};

static void *output_at(const struct output *o)
{
    return o->place != NULL ? o->place + o->size_bytes : o->scratch;
}

/* One byte more than the limit shows that the output exceeds it. */
static size_t output_room(const struct output *o)
{
    size_t left = o->max_bytes - o->size_bytes;
    if (o->place != NULL)
        return left;
    return left < SCRATCH_BYTES ? left + 1 : SCRATCH_BYTES;
}

static enum coding_result step_gzip(z_stream *z, struct output *o, bool *out_ended)
{
    size_t room = output_room(o);
    z->next_out = output_at(o);
    z->avail_out = (uInt)room;
    int code = inflate(z, Z_NO_FLUSH);
    o->size_bytes += room - z->avail_out;
    if (code == Z_MEM_ERROR)
        mem_exhausted(SCRATCH_BYTES);
    if (o->size_bytes > o->max_bytes)
        return CODING_TOO_LARGE;
    *out_ended = code == Z_STREAM_END && z->avail_in == 0;
    if (code == Z_STREAM_END && z->avail_in > 0) /* another member follows */
        code = inflateReset(z);
    return code == Z_OK || code == Z_STREAM_END ? CODING_DONE : CODING_MALFORMED;
}

static enum coding_result run_gzip(struct str bytes, struct output *o)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes.ptr, .avail_in = (uInt)bytes.len};
    enum coding_result result = CODING_DONE;
    bool ended = false;
    if (bytes.len > UINT32_MAX)
        return CODING_TOO_LARGE;
    if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
        mem_exhausted(SCRATCH_BYTES);
    while (result == CODING_DONE && !ended)
        result = step_gzip(&z, o, &ended);
    inflateEnd(&z);
    return result;
}

static enum coding_result step_zstd(
    ZSTD_DCtx *z, ZSTD_inBuffer *in, struct output *o, bool *out_ended)
{
    ZSTD_outBuffer out = {.dst = output_at(o), .size = output_room(o)};
    size_t before = in->pos;
    size_t code = ZSTD_decompressStream(z, &out, in);
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        mem_exhausted(SCRATCH_BYTES);
    o->size_bytes += out.pos;
    if (o->size_bytes > o->max_bytes)
        return CODING_TOO_LARGE;
    *out_ended = code == 0 && in->pos == in->size;
    bool is_stuck = !*out_ended && out.pos == 0 && in->pos == before;
    return ZSTD_isError(code) || is_stuck ? CODING_MALFORMED : CODING_DONE;
}

static enum coding_result run_zstd(struct str bytes, struct output *o)
{
    ZSTD_DCtx *z = ZSTD_createDCtx();
    ZSTD_inBuffer in = {.src = bytes.ptr, .size = bytes.len};
    enum coding_result result = CODING_DONE;
    bool ended = false;
    if (z == NULL)
        mem_exhausted(SCRATCH_BYTES);
    ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    while (result == CODING_DONE && !ended)
        result = step_zstd(z, &in, o, &ended);
    ZSTD_freeDCtx(z);
    return result;
}

static enum coding_result run(enum coding coding, struct str bytes, struct output *o)
{
    return coding == CODING_GZIP ? run_gzip(bytes, o) : run_zstd(bytes, o);
}

enum coding_result coding_decode(struct arena *arena, enum coding coding, struct str bytes,
    size_t max_bytes, struct str *out_decoded)
{
    struct output count = {.scratch = mem_alloc(SCRATCH_BYTES + 1), .max_bytes = max_bytes};
    enum coding_result result = run(coding, bytes, &count);
    mem_free(count.scratch);
    if (result != CODING_DONE)
        return result;
    /* One byte of room, which remains empty: a decoder may need it to find the end. */
    struct output all = {
        .place = arena_alloc(arena, count.size_bytes + 1), .max_bytes = count.size_bytes + 1};
    result = run(coding, bytes, &all);
    *out_decoded = (struct str){all.place, all.size_bytes};
    return result;
}

/* --- Encoding ------------------------------------------------------------------------------- */

struct coding_encoder {
    enum coding coding;
    struct str rest; /* the input that has not been read yet */
    struct buf *out;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    char scratch[SCRATCH_BYTES];
};

static void start_gzip(struct coding_encoder *e)
{
    if (deflateInit2(&e->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL,
            Z_DEFAULT_STRATEGY) != Z_OK)
        mem_exhausted(SCRATCH_BYTES);
}

static void start_zstd(struct coding_encoder *e)
{
    e->zstd = ZSTD_createCCtx();
    if (e->zstd == NULL)
        mem_exhausted(SCRATCH_BYTES);
    ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setPledgedSrcSize(e->zstd, e->rest.len);
}

struct coding_encoder *coding_encoder_create(enum coding coding, struct str bytes, struct buf *out)
{
    struct coding_encoder *e = MEM_NEW(struct coding_encoder);
    e->coding = coding;
    e->rest = bytes;
    e->out = out;
    if (coding == CODING_GZIP)
        start_gzip(e);
    else
        start_zstd(e);
    return e;
}

void coding_encoder_destroy(struct coding_encoder *e)
{
    if (e == NULL)
        return;
    if (e->coding == CODING_GZIP)
        deflateEnd(&e->gzip);
    ZSTD_freeCCtx(e->zstd);
    mem_free(e);
}

static void encode_gzip(struct coding_encoder *e, struct str part, bool is_last)
{
    e->gzip.next_in = (Bytef *)(uintptr_t)part.ptr;
    e->gzip.avail_in = (uInt)part.len;
    do {
        e->gzip.next_out = (Bytef *)e->scratch;
        e->gzip.avail_out = SCRATCH_BYTES;
        deflate(&e->gzip, is_last ? Z_FINISH : Z_NO_FLUSH);
        buf_append(e->out, (struct str){e->scratch, SCRATCH_BYTES - e->gzip.avail_out});
    } while (e->gzip.avail_out == 0 && !e->out->failed);
}

static void encode_zstd(struct coding_encoder *e, struct str part, bool is_last)
{
    ZSTD_inBuffer in = {.src = part.ptr, .size = part.len};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = e->scratch, .size = SCRATCH_BYTES};
        left = ZSTD_compressStream2(e->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left)) /* the parameters are right, so it can only be the memory */
            mem_exhausted(SCRATCH_BYTES);
        buf_append(e->out, (struct str){e->scratch, out.pos});
    } while ((is_last ? left > 0 : in.pos < in.size) && !e->out->failed);
}

bool coding_encoder_step(struct coding_encoder *e, size_t max_bytes)
{
    bool is_last = e->rest.len <= max_bytes;
    struct str part = str_slice(e->rest, 0, is_last ? e->rest.len : max_bytes);
    e->rest = str_slice(e->rest, part.len, e->rest.len);
    if (e->coding == CODING_GZIP)
        encode_gzip(e, part, is_last);
    else
        encode_zstd(e, part, is_last);
    return !is_last && !e->out->failed;
}

/* --- Accept-Encoding ------------------------------------------------------------------------ */

/* Reads ";q=0.5" as thousandths; without it, 1000. Returns false if it is malformed. */
static bool read_weight(struct str text, int *out_weight)
{
    struct str prefix = STR("q=");
    int64_t whole, thousandths = 0;
    *out_weight = 1000;
    if (text.len == 0)
        return true;
    text = str_trim_blanks(str_slice(text, 1, text.len));
    if (text.len < 3 || text.len > 7 || !str_eq_nocase(str_slice(text, 0, 2), prefix) ||
        (text.len > 3 && text.ptr[3] != '.') || !str_to_i64(str_slice(text, 2, 3), &whole))
        return false;
    for (size_t i = 4, unit = 100; i < text.len; i++, unit /= 10) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        thousandths += (text.ptr[i] - '0') * (int64_t)unit;
    }
    *out_weight = (int)(whole * 1000 + thousandths);
    return *out_weight <= 1000;
}

void coding_weights_init(struct coding_weights *w)
{
    *w = (struct coding_weights){.others = -1};
    for (enum coding c = CODING_NONE; c < CODING_COUNT; c++)
        w->of[c] = -1;
}

void coding_weights_add(struct coding_weights *w, struct str list)
{
    struct str part;
    while (str_next_part(&list, ',', &part)) {
        size_t end = str_find(part, ';');
        struct str name = str_trim_blanks(str_slice(part, 0, end));
        enum coding coding = coding_parse(name);
        int weight;
        if (!read_weight(str_trim_blanks(str_slice(part, end, part.len)), &weight))
            continue;
        if (str_eq(name, STR("*")))
            w->others = weight;
        else if (coding != CODING_NONE || str_eq_nocase(name, STR("identity")))
            w->of[coding] = weight;
    }
}

enum coding coding_weights_best(const struct coding_weights *w)
{
    static const enum coding by_merit[] = {CODING_ZSTD, CODING_GZIP, CODING_NONE};
    enum coding best = CODING_NONE;
    int greatest = 0;
    for (size_t i = 0; i < COUNT_OF(by_merit); i++) {
        int of = w->of[by_merit[i]], weight = of >= 0 ? of : w->others;
        if (weight > greatest) {
            greatest = weight;
            best = by_merit[i];
        }
    }
    return best;
}
