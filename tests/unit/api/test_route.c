/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/route.h"

#include "api/handlers.h"
#include "test.h"

enum { ARENA_BYTES = 1024 * 1024 };

static void complain(const struct route *r, const char *what)
{
    test_fail(__FILE__, __LINE__, "%s %s: %s", r->method, r->path, what);
}

/* --- The table ------------------------------------------------------------------------------ */

TEST(every_route_is_in_the_table_once)
{
    EXPECT(route_count > 40);
    for (size_t i = 0; i < route_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(routes[i].method, routes[k].method) == 0 &&
                strcmp(routes[i].path, routes[k].path) == 0)
                complain(&routes[i], "is there twice");
}

TEST(every_route_has_a_summary_a_handler_and_a_status)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        if (r->summary == NULL || strlen(r->summary) < 10 || strlen(r->summary) > 80 ||
            strchr(r->summary, '\n') != NULL || r->summary[strlen(r->summary) - 1] == '.')
            complain(r, "needs a summary of one line");
        if (r->handle == NULL)
            complain(r, "needs a handler");
        bool fits = r->mode == ROUTE_WEBSOCKET
                        ? r->status == 101
                        : r->status == 200 || r->status == 201 || r->status == 204;
        if (!fits || (r->status == 204) != (r->answer == NULL && r->mode == ROUTE_WRITE))
            complain(r, "needs the status of its success");
    }
}

TEST(a_route_waits_when_its_query_has_a_wait)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct field *wait = schema_find(routes[i].query, STR("wait"));
        bool is_seconds = wait != NULL && wait->kind == FIELD_INT;
        if (is_seconds != (routes[i].waits != WAITS_NEVER))
            complain(&routes[i], "needs .waits, and a query parameter `wait` of seconds");
    }
}

TEST(every_route_needs_a_scope_or_is_open_to_all_on_purpose)
{
    /* These describe the key of the request and its tenant, so any key may call them. */
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        bool own = strcmp(r->path, "/v1/whoami") == 0 ||
                   (strcmp(r->path, "/v1/tenant") == 0 && strcmp(r->method, "GET") == 0);
        if ((r->scope == SCOPE_NONE) != (route_is_public(r) || own))
            complain(r, "needs a scope, or to be public");
        unsigned bits = (unsigned)r->scope;
        if ((bits & (bits - 1)) != 0)
            complain(r, "needs one scope");
    }
}

/* "threads:write" is for what writes; admin and operator are for both. */
static bool suits(enum scope scope, bool writes)
{
    return scope == SCOPE_ADMIN || scope == SCOPE_OPERATOR ||
           str_ends_with(str_of(scope_name(scope)), writes ? STR(":write") : STR(":read"));
}

/* Returns true for a route that takes a body to compute or to search, and stores nothing. */
static bool computes(const struct route *r)
{
    static const char *const paths[] = {"/v1/costs", "/v1/store/search", "/v1/store/namespaces",
        "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/deltas"};
    bool is = false;
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        is = is || strcmp(r->path, paths[i]) == 0;
    return is && r->mode == ROUTE_READ;
}

TEST(what_writes_needs_a_scope_to_write_and_what_reads_one_to_read)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        bool is_get = strcmp(r->method, "GET") == 0;
        if (is_get == (r->mode == ROUTE_WRITE) && !computes(r))
            complain(r, "GET reads and the other methods write");
        /* A ticket gives a browser the right to read. */
        bool writes = r->mode == ROUTE_WRITE && strcmp(r->path, "/v1/tickets") != 0;
        if (r->scope != SCOPE_NONE && !suits(r->scope, writes))
            complain(r, "has a scope of the other kind");
    }
}

TEST(every_stream_takes_a_ticket_which_needs_the_scope_of_the_stream)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        bool is_stream = r->mode == ROUTE_SSE || r->mode == ROUTE_WEBSOCKET;
        bool has_field = schema_find(r->query, STR("ticket")) != NULL;
        if (is_stream != route_takes_ticket(r) || is_stream != has_field)
            complain(r, "a stream, and only a stream, has the parameter ticket");
        if ((is_stream || strcmp(r->path, "/v1/tickets") == 0) && r->scope != SCOPE_EVENTS_READ)
            complain(r, "needs the scope of POST /v1/tickets");
    }
}

TEST(bodies_patches_and_lists_are_declared_together)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        bool patches = strcmp(r->method, "PATCH") == 0 && !(r->flags & ROUTE_UPLOAD);
        if (patches != ((r->flags & ROUTE_PATCH) != 0) || (patches && !(r->flags & ROUTE_ETAG)))
            complain(r, "a PATCH patches, and an object that changes has an ETag");
        if (patches && r->body == NULL)
            complain(r, "a PATCH needs a body");
        if (r->body != NULL && r->mode != ROUTE_WRITE && !computes(r))
            complain(r, "only what writes takes a body");
        if ((r->flags & ROUTE_BODY_OPTIONAL) && r->body == NULL)
            complain(r, "an optional body is a body");
        if ((r->flags & ROUTE_LIST) && (r->query == NULL || r->answer == NULL))
            complain(r, "a list has a limit, a cursor and rows");
    }
}

static bool is_path_byte(char b)
{
    return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_' || b == '.' || b == '-';
}

/* A literal, or {name}. */
static bool is_good_segment(struct str s)
{
    bool param = s.len > 2 && s.ptr[0] == '{' && s.ptr[s.len - 1] == '}';
    struct str name = param ? str_slice(s, 1, s.len - 1) : s;
    for (size_t i = 0; i < name.len; i++)
        if (!is_path_byte(name.ptr[i]))
            return false;
    return name.len > 0;
}

TEST(every_path_is_well_formed)
{
    for (size_t i = 0; i < route_count; i++) {
        struct str rest = str_of(routes[i].path), segment;
        size_t params = 0;
        EXPECT(str_next_part(&rest, '/', &segment));
        EXPECT_EQ(segment.len, 0); /* before the leading slash */
        while (str_next_part(&rest, '/', &segment)) {
            if (!is_good_segment(segment))
                complain(&routes[i], "has a segment that is neither a word nor a {parameter}");
            params += segment.ptr[0] == '{';
        }
        EXPECT(params <= ROUTE_MAX_PARAMS);
        for (size_t k = 0; k < params; k++)
            EXPECT(!str_is_none(route_param_name(&routes[i], k)));
        EXPECT(str_is_none(route_param_name(&routes[i], params)));
    }
}

/* --- Finding -------------------------------------------------------------------------------- */

struct found {
    enum route_found how;
    const struct route *route;
    struct str params[ROUTE_MAX_PARAMS];
    char allow[200];
};

static struct found find(const char *method, const char *path)
{
    struct found f = {0};
    struct str allow = STR("");
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    f.how = route_find(&arena, str_of(method), str_of(path), &f.route, f.params, &allow);
    snprintf(f.allow, sizeof f.allow, "%.*s", STR_ARG(allow));
    arena_deinit(&arena);
    return f;
}

/* Fills the parameters of a template with "X". */
static void fill(const char *path, char *out, size_t size)
{
    size_t len = 0;
    for (const char *p = path; *p != '\0'; p++) {
        assert(len + 2 < size);
        if (*p == '{') {
            out[len++] = 'X';
            while (*p != '}')
                p++;
        } else {
            out[len++] = *p;
        }
    }
    out[len] = '\0';
}

TEST(every_route_finds_itself)
{
    for (size_t i = 0; i < route_count; i++) {
        char path[200];
        fill(routes[i].path, path, sizeof path);
        struct found f = find(routes[i].method, path);
        EXPECT_EQ(f.how, ROUTE_FOUND);
        if (f.route != &routes[i])
            complain(&routes[i], "is hidden by another");
        if (!str_is_none(route_param_name(&routes[i], 0)))
            EXPECT_STR(f.params[0], STR("X"));
        if (strcmp(routes[i].method, "GET") == 0)
            EXPECT(find("HEAD", path).route == &routes[i]);
    }
}

TEST(the_path_with_more_literal_words_wins_where_two_overlap)
{
    struct found claim = find("POST", "/v1/runs/claim");
    EXPECT_EQ(claim.how, ROUTE_FOUND);
    EXPECT(claim.route->handle == handle_run_claim);
    struct found by_id = find("GET", "/v1/runs/claim");
    EXPECT_EQ(by_id.how, ROUTE_FOUND);
    EXPECT(by_id.route->handle == handle_run_get);
    EXPECT_STR(by_id.params[0], STR("claim"));
    EXPECT(find("GET", "/v1/audit/verify").route->handle == handle_audit_verify);
}

/* Where two templates of one method could match one path, the first difference must find a
 * literal in the earlier row. */
static bool hides(const struct route *earlier, const struct route *later)
{
    struct str a = str_of(earlier->path), b = str_of(later->path), x, y;
    bool decided = false, earlier_is_wider = false;
    if (strcmp(earlier->method, later->method) != 0)
        return false;
    while (true) {
        bool more_a = str_next_part(&a, '/', &x), more_b = str_next_part(&b, '/', &y);
        if (more_a != more_b)
            return false;
        if (!more_a)
            return earlier_is_wider;
        bool param_x = x.len > 0 && x.ptr[0] == '{', param_y = y.len > 0 && y.ptr[0] == '{';
        if (!param_x && !param_y && !str_eq(x, y))
            return false;
        if (!decided && param_x != param_y) {
            decided = true;
            earlier_is_wider = param_x;
        }
    }
}

TEST(no_row_of_the_table_hides_a_later_one)
{
    for (size_t i = 0; i < route_count; i++)
        for (size_t k = i + 1; k < route_count; k++)
            if (hides(&routes[i], &routes[k]))
                complain(&routes[k], "comes behind a wider path");
}

TEST(another_method_is_told_which_ones_there_are)
{
    struct found f = find("DELETE", "/v1/runs/claim");
    EXPECT_EQ(f.how, ROUTE_OTHER_METHOD);
    EXPECT_STR(str_of(f.allow), STR("POST, GET, HEAD, PATCH"));
    f = find("PUT", "/v1/threads");
    EXPECT_EQ(f.how, ROUTE_OTHER_METHOD);
    EXPECT_STR(str_of(f.allow), STR("POST, GET, HEAD"));
    EXPECT_EQ(find("HEAD", "/workflow/pause/X").how, ROUTE_OTHER_METHOD);
    EXPECT_EQ(find("get", "/healthz").how, ROUTE_OTHER_METHOD); /* methods have a case */
}

TEST(what_is_almost_a_path_is_none)
{
    static const char *const paths[] = {"", "/", "//", "healthz", "/healthz/", "//healthz",
        "/healthz/x", "/Healthz", "/v1", "/v1/", "/v1/threads/", "/v1/threads//events",
        "/v1/threads/X/events/stream/", "/v1/threads/X/nothing", "/v2/threads", "/v1/runs/X/claim",
        "/v1/threads/X/events/stream/more", "*"};
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        if (find("GET", paths[i]).how != ROUTE_UNKNOWN)
            test_fail(__FILE__, __LINE__, "\"%s\" was found", paths[i]);
}
