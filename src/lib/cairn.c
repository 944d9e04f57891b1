/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions, except those of answers (local_call.c) and subscriptions
 * (subscription.c). */
#include "cairn/cairn.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/log.h"
#include "lib/local_call.h"

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

void cairn_free(void *ptr)
{
    mem_free(ptr);
}

/* --- Log ------------------------------------------------------------------------------------ */

struct listener {
    void (*write)(void *data, int level, const char *line);
    void *data;
};

static void say(void *data, enum log_level level, struct str line)
{
    const struct listener *l = data;
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    if (l != NULL)
        l->write(l->data, (int)level, arena_cstr(&arena, str_slice(line, 0, line.len - 1)));
}

static void be_silent(void)
{
    log_set_sink(say, NULL);
}

static void take_over_log(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, be_silent);
}

void cairn_log(int least_level, void (*write)(void *data, int level, const char *line), void *data)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct listener *current;
    take_over_log();
    struct listener *l = write == NULL ? NULL : MEM_NEW(struct listener);
    if (l != NULL)
        *l = (struct listener){write, data};
    pthread_mutex_lock(&mutex);
    log_set_level((enum log_level)least_level);
    log_set_sink(say, l);
    mem_free(current);
    current = l;
    pthread_mutex_unlock(&mutex);
}

/* --- Options -------------------------------------------------------------------------------- */

static bool is_url(struct str where)
{
    return str_starts_with(where, STR("postgres://")) ||
           str_starts_with(where, STR("postgresql://"));
}

static enum error read_where(
    const char *text, struct instance_config *config, struct problem *problem)
{
    const struct str sqlite = STR("sqlite:");
    struct str where = str_of(text == NULL ? "" : text);
    if (is_url(where)) {
        config->db_url = where;
        return OK;
    }
    config->data_dir = str_slice(where, sqlite.len, where.len);
    if (str_starts_with(where, sqlite) && config->data_dir.len > 0)
        return OK;
    return problem_set(problem, ERR_BAD_REQUEST,
        "the place to open must be \"sqlite:DIRECTORY\", or a URL that begins with postgres://");
}

/* No header will ever have so many bytes: the program has not set the size. */
enum { OPTIONS_MAX_BYTES = 4096 };

static bool is_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* A program compiled with an older header has fewer members: the rest is 0. With a newer header it
 * has more: they must be 0, because this version does not know their meaning. */
static enum error whole_options(
    const struct cairn_options *given, struct problem *problem, struct cairn_options *out_options)
{
    static const struct cairn_options none = {.size = sizeof none};
    struct cairn_options o = {0};
    if (given == NULL)
        given = &none;
    size_t size = given->size, known = size < sizeof o ? size : sizeof o;
    if (size < sizeof size || size > OPTIONS_MAX_BYTES)
        return problem_set(problem, ERR_BAD_REQUEST,
            "the options' size must be sizeof(struct cairn_options), not %zu", size);
    if (!is_zero((const char *)given + known, size - known))
        return problem_set(problem, ERR_BAD_REQUEST,
            "an option is set which this library, version " CAIRN_VERSION ", does not know");
    memcpy(&o, given, known);
    *out_options = o;
    return OK;
}

static enum error read_options(
    const struct cairn_options *given, struct instance_config *config, struct problem *problem)
{
    struct cairn_options o = {0};
    TRY(whole_options(given, problem, &o));
    if (o.readers > 64 || o.writers > 64)
        return problem_set(
            problem, ERR_BAD_REQUEST, "readers and writers must be 1 to 64, or 0 for the default");
    if (o.replica != NULL && !is_url(str_of(o.replica)))
        return problem_set(
            problem, ERR_BAD_REQUEST, "the replica must be a URL that begins with postgres://");
    if (o.schema != NULL)
        config->db_schema = str_of(o.schema);
    if (o.replica != NULL)
        config->db_replica_url = str_of(o.replica);
    config->readers = o.readers > 0 ? o.readers : config->readers;
    config->db_writers = o.writers > 0 ? o.writers : config->db_writers;
    return OK;
}

/* --- Open ----------------------------------------------------------------------------------- */

/* The function returns: from here on the store rejects every job, and the host decides what to
 * do. */
static void on_fatal(const char *what)
{
    LOG(LOG_ERROR, "commits can no longer be acknowledged: close and open again",
        LOG_STR("why", str_of(what)));
}

/* The host's handlers run on the host's threads. */
static enum error open_without_signals(
    cairn *c, const struct instance_config *config, struct problem *problem)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    enum error e = instance_open(&c->instance, config, problem);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

static char *copy_text(struct str s)
{
    char *text = mem_alloc(s.len + 1);
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    return text;
}

cairn *cairn_open(const char *where, const struct cairn_options *options, char **out_error)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct problem problem = PROBLEM_INIT(&arena);
    struct instance_config config;
    take_over_log();
    instance_config_init(&config);
    config.may_be_open = true;
    config.on_fatal = on_fatal;
    cairn *c = MEM_NEW(cairn);
    enum error e = read_where(where, &config, &problem);
    if (e == OK)
        e = read_options(options, &config, &problem);
    if (e == OK)
        e = open_without_signals(c, &config, &problem);
    if (e != OK) {
        mem_free(c);
        if (out_error != NULL)
            *out_error = copy_text(problem.detail);
        return NULL;
    }
    c->refs = 1;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->left, NULL);
    return c;
}

/* --- Calls in progress ---------------------------------------------------------------------- */

bool handle_enter(cairn *c)
{
    pthread_mutex_lock(&c->mutex);
    bool open = !c->closing;
    c->n_inside += open;
    pthread_mutex_unlock(&c->mutex);
    return open;
}

void handle_leave(cairn *c)
{
    pthread_mutex_lock(&c->mutex);
    c->n_inside--;
    pthread_cond_signal(&c->left);
    pthread_mutex_unlock(&c->mutex);
}

void handle_ref(cairn *c)
{
    pthread_mutex_lock(&c->mutex);
    c->refs++;
    pthread_mutex_unlock(&c->mutex);
}

void handle_unref(cairn *c)
{
    pthread_mutex_lock(&c->mutex);
    bool last = --c->refs == 0;
    pthread_mutex_unlock(&c->mutex);
    if (!last)
        return;
    pthread_cond_destroy(&c->left);
    pthread_mutex_destroy(&c->mutex);
    mem_free(c);
}

void handle_add_bell(cairn *c, struct bell *b, const struct interest *interest)
{
    bell_init(b, store_hub(c->instance.store), interest);
    pthread_mutex_lock(&c->mutex);
    b->next = c->bells;
    c->bells = b;
    bool closing = c->closing;
    pthread_mutex_unlock(&c->mutex);
    if (closing)
        bell_stop(b);
}

void handle_remove_bell(cairn *c, struct bell *b)
{
    pthread_mutex_lock(&c->mutex);
    struct bell **at = &c->bells;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    bell_deinit(b);
    pthread_mutex_unlock(&c->mutex);
}

/* --- Close ---------------------------------------------------------------------------------- */

static void send_all_out(cairn *c)
{
    pthread_mutex_lock(&c->mutex);
    c->closing = true;
    for (struct bell *b = c->bells; b != NULL; b = b->next)
        bell_stop(b);
    while (c->n_inside > 0)
        pthread_cond_wait(&c->left, &c->mutex);
    /* Only the bells of subscriptions are left, which outlive the hub. */
    for (struct bell *b = c->bells; b != NULL; b = b->next)
        bell_detach(b);
    pthread_mutex_unlock(&c->mutex);
}

void cairn_close(cairn *c)
{
    if (c == NULL)
        return;
    store_drain(c->instance.store);
    instance_stop(&c->instance);
    instance_cancel(&c->instance);
    send_all_out(c);
    instance_close(&c->instance);
    instance_deinit(&c->instance);
    handle_unref(c);
}

/* --- Call ----------------------------------------------------------------------------------- */

static bool is_stream(const struct route *route)
{
    return route->mode == ROUTE_SSE || route->mode == ROUTE_WEBSOCKET;
}

static cairn_answer *carry_out(cairn *c, const struct local_request *request)
{
    struct local_call lc;
    local_call_init(&lc, &c->instance.api, request);
    bool found = local_call_find_route(&lc);
    if (found && is_stream(lc.call.route))
        local_call_refuse(&lc, ERR_BAD_REQUEST, "this route is a stream: use cairn_subscribe");
    else if (found)
        local_call_run(&lc, c, request->body);
    cairn_answer *answer = local_call_answer(&lc);
    local_call_deinit(&lc);
    return answer;
}

cairn_answer *cairn_call(cairn *c, const char *method, const char *target,
    const char *const headers[], const void *body, size_t body_len)
{
    const struct local_request request = {.method = method,
        .target = target,
        .headers = headers,
        .body = body == NULL ? STR("") : (struct str){body, body_len}};
    if (!handle_enter(c))
        return local_call_turn_away(&request);
    cairn_answer *answer = carry_out(c, &request);
    handle_leave(c);
    return answer;
}
