/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search. The query of a client is translated word by word into the query language of the engine's
 * index, so that the index never interprets client text.
 *
 *   word "a phrase" begin* -not -"not this"       all terms must match
 *
 * A term that words.h splits into several words (foo-bar, 日本語) is a phrase. The index also has a
 * word for each tenant and thread, which begins with '#'; no word of a client does.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "base/words.h"
#include "model/threads/message_parts.h"
#include "model/threads/messages.sql.h"

enum { MAX_MATCH_BYTES = 64 * 1024, MAX_WORDS_BYTES = 4 * 1024 * 1024, INDEXED_A_PASS = 64 };

static struct str scope_word(struct context *c, char kind, struct uuid id)
{
    struct str hex = hex_encode(c->arena, (struct str){(const char *)id.bytes, sizeof id.bytes});
    return arena_printf(c->arena, "#%c%.*s", kind, STR_ARG(hex));
}

/* --- The index ------------------------------------------------------------------------------ */

/* The index of SQLite takes the words with blanks between them, that of PostgreSQL a tsvector,
 * "word:1 word:2". */
static struct str words_of(struct context *c, const struct message *m)
{
    bool postgres = tx_engine(c->tx) == ENGINE_POSTGRES;
    struct words w;
    struct buf out;
    buf_init(&out, MAX_WORDS_BYTES);
    buf_append(&out, scope_word(c, 'o', c->tenant_id));
    buf_append_byte(&out, ' ');
    buf_append(&out, scope_word(c, 't', m->thread_id));
    words_init(&w, m->content);
    for (unsigned i = 1; i <= MESSAGE_WORDS_MAX && words_next(&w); i++) {
        buf_append_byte(&out, ' ');
        buf_append(&out, words_word(&w));
        if (postgres)
            buf_printf(&out, ":%u", i);
        c->indexed_words++;
    }
    assert(!out.failed);
    struct str text = arena_str(c->arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

enum error message_index(struct context *c, const struct message *message)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_WORDS_PUT);
    query_i64(&q, event_id, message->event_id);
    query_uuid(&q, thread_id, message->thread_id);
    query_uuid(&q, id, message->id);
    query_text(&q, words, words_of(c, message));
    return query_run(&q);
}

enum error message_unindex(struct context *c, const struct message *message)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_WORDS_DROP);
    query_i64(&q, event_id, message->event_id);
    return query_run(&q);
}

enum error message_find_unsearchable(
    struct context *c, bool *out_found, struct uuid *out_tenant, struct uuid *out_thread)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_MESSAGE_FIRST_UNSEARCHABLE, c->arena);
    *out_found = query_next(&q);
    if (*out_found) {
        *out_tenant = row_uuid(&q);
        *out_thread = row_uuid(&q);
    }
    return query_end(&q);
}

static enum error set_searchable(struct context *c, const struct message *message)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_SET_SEARCHABLE);
    query_uuid(&q, id, message->id);
    TRY(query_run(&q));
    return !message->has_deleted_at ? message_index(c, message) : OK;
}

/* One at a time: all of them could have hundreds of megabytes. */
static enum error next_unsearchable(
    struct context *c, struct uuid thread_id, bool *out_found, struct message *out_message)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_NEXT_UNSEARCHABLE);
    query_uuid(&q, thread_id, thread_id);
    *out_found = query_next(&q);
    if (*out_found)
        message_read(&q, out_message);
    return query_end(&q);
}

enum error message_make_searchable(struct context *c, struct uuid thread_id, bool *out_more)
{
    bool found = true;
    TRY(context_lock_thread(c, thread_id));
    for (size_t n = 0; found && n < INDEXED_A_PASS && context_may_index(c); n++) {
        struct arena_mark mark = arena_mark(c->arena);
        struct message message;
        TRY(next_unsearchable(c, thread_id, &found, &message));
        if (found)
            TRY(set_searchable(c, &message));
        arena_rewind(c->arena, mark);
    }
    *out_more = found;
    return OK;
}

/* --- The client's query --------------------------------------------------------------------- */

struct term {
    struct str text;
    bool phrase;
    bool prefix;
    bool negated;
};

struct search {
    struct context *c;
    struct term terms[MESSAGE_SEARCH_TERMS_MAX];
    size_t n;
};

static enum error refuse(struct search *s, const char *rule)
{
    return problem_fault(s->c->problem, STR("q"), "%s", rule);
}

static bool is_blank(char b)
{
    return b == ' ' || b == '\t' || b == '\n' || b == '\r';
}

/* Takes a term from the beginning of `text`, which does not start with a blank. */
static enum error read_term(struct search *s, struct str *text, struct term *term)
{
    size_t end = 0;
    *term = (struct term){.negated = text->ptr[0] == '-'};
    if (term->negated)
        *text = str_slice(*text, 1, text->len);
    term->phrase = text->len > 0 && text->ptr[0] == '"';
    if (term->phrase) {
        *text = str_slice(*text, 1, text->len);
        end = str_find(*text, '"');
        if (end == text->len)
            return refuse(s, "must close every quote");
    } else {
        while (end < text->len && !is_blank(text->ptr[end]) && text->ptr[end] != '"')
            end++;
    }
    term->text = str_slice(*text, 0, end);
    *text = str_slice(*text, end + term->phrase, text->len);
    if (!term->phrase && str_ends_with(term->text, STR("*"))) {
        term->prefix = true;
        term->text = str_slice(term->text, 0, term->text.len - 1);
    }
    return OK;
}

/* A term without a letter or a digit (+, &, an emoji) matches nothing and is ignored. */
static bool has_word(const struct term *term)
{
    struct words w;
    words_init(&w, term->text);
    return words_next(&w);
}

static enum error check_term(struct search *s, const struct term *term)
{
    struct words w;
    size_t last = 0;
    words_init(&w, term->text);
    while (words_next(&w))
        last = w.len;
    if (term->prefix && last < 2)
        return refuse(s, "must have at least two letters before each *");
    return OK;
}

static enum error parse(struct search *s, struct str text)
{
    bool wanted = false;
    enum error e = OK;
    while (e == OK && text.len > 0) {
        if (is_blank(text.ptr[0])) {
            text = str_slice(text, 1, text.len);
            continue;
        }
        struct term term;
        e = read_term(s, &text, &term);
        if (e != OK || !has_word(&term))
            continue;
        if (s->n == MESSAGE_SEARCH_TERMS_MAX)
            return problem_fault(
                s->c->problem, STR("q"), "must have at most %d terms", MESSAGE_SEARCH_TERMS_MAX);
        e = check_term(s, &term);
        s->terms[s->n++] = term;
        wanted = wanted || !term.negated;
    }
    if (e == OK && !wanted)
        return refuse(s, s->n == 0 ? "must have a word with a letter or a digit"
                                   : "must have a required word besides the excluded ones");
    return e;
}

/* FTS5: "one two" *, each part in quotes; no word contains a quote. */
static void write_fts(struct buf *out, const struct term *term)
{
    struct words w;
    words_init(&w, term->text);
    buf_append_byte(out, '"');
    for (bool first = true; words_next(&w); first = false)
        buf_printf(out, "%s%.*s", first ? "" : " ", STR_ARG(words_word(&w)));
    buf_append(out, term->prefix ? STR("\" *") : STR("\""));
}

/* tsquery: ('one' <-> 'two':*) */
static void write_tsquery(struct buf *out, const struct term *term)
{
    struct words w;
    words_init(&w, term->text);
    buf_append_byte(out, '(');
    for (bool first = true; words_next(&w); first = false)
        buf_printf(out, "%s'%.*s'", first ? "" : " <-> ", STR_ARG(words_word(&w)));
    buf_append(out, term->prefix ? STR(":*)") : STR(")"));
}

static struct str match_of(struct search *s, struct str scope)
{
    bool postgres = tx_engine(s->c->tx) == ENGINE_POSTGRES;
    struct buf out;
    buf_init(&out, MAX_MATCH_BYTES);
    buf_printf(&out, postgres ? "'%.*s'" : "(\"%.*s\"", STR_ARG(scope));
    for (int negated = 0; negated < 2; negated++) {
        for (size_t i = 0; i < s->n; i++) {
            if (s->terms[i].negated != negated)
                continue;
            if (postgres) {
                buf_append(&out, negated ? STR(" & !") : STR(" & "));
                write_tsquery(&out, &s->terms[i]);
            } else {
                buf_append(&out, negated ? STR(" NOT ") : STR(" AND "));
                write_fts(&out, &s->terms[i]);
            }
        }
        if (!postgres && !negated)
            buf_append_byte(&out, ')');
    }
    assert(!out.failed);
    struct str text = arena_str(s->c->arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

/* --- Snippets ------------------------------------------------------------------------------- */

static bool is_hit(const struct search *s, struct str word)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct term *term = &s->terms[i];
        struct words w;
        words_init(&w, term->text);
        while (!term->negated && words_next(&w)) {
            struct str wanted = words_word(&w);
            if (str_eq(wanted, word) || (term->prefix && str_starts_with(word, wanted)))
                return true;
        }
    }
    return false;
}

static size_t character_start(struct str text, size_t at)
{
    while (at > 0 && at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Returns the text around the first matching word. */
static struct str snippet_of(const struct search *s, struct str content)
{
    struct words w;
    size_t hit = 0;
    words_init(&w, content);
    for (unsigned i = 0; i < MESSAGE_WORDS_MAX && words_next(&w); i++) {
        if (is_hit(s, words_word(&w))) {
            hit = w.start;
            break;
        }
    }
    size_t start = hit > MESSAGE_SNIPPET_BYTES / 4 ? hit - MESSAGE_SNIPPET_BYTES / 4 : 0;
    start = character_start(content, start);
    size_t end = start + MESSAGE_SNIPPET_BYTES;
    struct str part =
        str_slice(content, start, end < content.len ? character_start(content, end) : content.len);
    return arena_printf(s->c->arena, "%s%.*s%s", start > 0 ? "…" : "", STR_ARG(part),
        start + part.len < content.len ? "…" : "");
}

/* --- Search --------------------------------------------------------------------------------- */

enum error message_search(struct context *c, const struct message_search *search, struct page *page,
    struct message *out_messages)
{
    struct search *s = ARENA_NEW(c->arena, struct search);
    struct query q;
    s->c = c;
    TRY(parse(s, search->text));
    page_begin(c, &q, &SQL_MESSAGE_SEARCH, page);
    query_text(&q, match,
        match_of(s, search->has_thread_id ? scope_word(c, 't', search->thread_id)
                                          : scope_word(c, 'o', c->tenant_id)));
    query_i64(&q, before, search->before > 0 ? search->before : INT64_MAX);
    query_uuid_if(&q, thread_id, search->has_thread_id, search->thread_id);
    query_text(&q, principal, c->principal);
    while (page_next(&q, page)) {
        struct message *m = &out_messages[page->count++];
        message_read(&q, m);
        m->snippet = snippet_of(s, m->content);
    }
    return query_end(&q);
}
