/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/derive.h"

#include "cli/commands.h"

/* A command while it is completed. */
struct derivation {
    struct path_values values; /* the names of the path that are always given */
    struct arena *arena;
    struct command *command;
    const struct command *row;
    const struct route *shorter; /* the route without the parameters that may be missing; NULL */
    struct cli_option *options;
};

enum { OPTIONS_MAX = 128, COLUMNS_MAX = 64, SHORT_TEXT_BYTES = 1000 };

/* --- Names ---------------------------------------------------------------------------------- */

/* Returns the text in the arena, with a replaced byte, in upper case if asked for. */
static const char *spelled(struct arena *arena, struct str text, char from, char to, bool upper)
{
    char *copy = arena_zalloc(arena, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i] == from ? to : text.ptr[i];
        copy[i] = upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return copy;
}

static struct str without_suffix(struct str name, struct str suffix)
{
    bool has = name.len > suffix.len && str_ends_with(name, suffix);
    return has ? str_slice(name, 0, name.len - suffix.len) : name;
}

/* "thread_id" is THREAD. */
static const char *metavar(struct arena *arena, const char *name)
{
    return spelled(arena, without_suffix(str_of(name), STR("_id")), '-', '_', true);
}

/* Returns true if the list, which has blanks between its words, has the word. */
static bool has_word(const char *list, struct str word)
{
    struct str rest = str_of(list), part;
    while (str_next_part(&rest, ' ', &part))
        if (str_eq(part, word))
            return true;
    return false;
}

/* --- Routes --------------------------------------------------------------------------------- */

const struct route *route_of_path(struct str method, struct str path)
{
    for (size_t i = 0; i < route_count; i++)
        if (str_eq(str_of(routes[i].method), method) && str_eq(str_of(routes[i].path), path))
            return &routes[i];
    return NULL;
}

const struct route *command_route(const struct command *row)
{
    struct str path = str_of(row->route), method;
    return str_next_part(&path, ' ', &method) ? route_of_path(method, path) : NULL;
}

const struct route *command_look(const struct command *complete)
{
    const struct route *route = NULL;
    struct str path = str_of(complete->looks_at);
    if (complete->looks_at == NULL)
        path = str_of(complete->to->path);
    while (path.len > 1 && (route = route_of_path(STR("GET"), path)) == NULL)
        while (path.len > 0 && path.ptr[--path.len] != '/')
            ;
    return route;
}

static bool is_name(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

struct str derive_path(struct arena *arena, struct str pattern, const struct path_values *values)
{
    struct str path = STR(""), held = STR_NONE, segment;
    str_next_part(&pattern, '/', &segment); /* before the first slash */
    for (bool more = true; more;) {
        more = str_next_part(&pattern, '/', &segment);
        bool named = more && is_name(segment);
        struct str value =
            named ? values->get(values, str_slice(segment, 1, segment.len - 1)) : STR_NONE;
        if (!str_is_none(held) && (!named || !str_is_none(value)))
            path = arena_printf(arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(held));
        if (!str_is_none(value))
            path = arena_printf(arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(value));
        held = named ? STR_NONE : segment;
    }
    return path;
}

static bool path_has(const struct route *route, struct str name)
{
    for (size_t i = 0; !str_is_none(route_param_name(route, i)); i++)
        if (str_eq(route_param_name(route, i), name))
            return true;
    return false;
}

/* --- Arguments ------------------------------------------------------------------------------ */

static bool is_path_option(const struct command *row, struct str name)
{
    for (size_t i = 0; i < row->n_options; i++)
        if (row->options[i].place == PLACE_PATH && str_eq(str_of(row->options[i].member), name))
            return true;
    return false;
}

/* Returns the next parameter of the path that is neither an option nor bound, or STR_NONE. */
static struct str next_parameter(const struct derivation *d, size_t *at)
{
    struct str name;
    do
        name = route_param_name(d->command->to, (*at)++);
    while (!str_is_none(name) && is_path_option(d->row, name));
    return name;
}

static void bind_argument(struct derivation *d, size_t index, struct str word, size_t *at)
{
    size_t equals = str_find(word, '=');
    struct str member = str_slice(word, equals + 1, word.len);
    member = without_suffix(member, STR("]"));
    assert(index < COUNT_OF(d->command->bound));
    if (equals == word.len)
        member = next_parameter(d, at);
    d->command->bound[index] = member.len == 0 ? STR_NONE : member;
}

static void derive_arguments(struct derivation *d)
{
    struct str words = str_of(d->row->arguments), word, shown = STR("");
    size_t at = 0;
    if (d->row->arguments == NULL) {
        words = STR("");
        for (struct str name; !str_is_none(name = next_parameter(d, &at));)
            words = arena_printf(d->arena, "%.*s%s%s", STR_ARG(words), words.len > 0 ? " " : "",
                metavar(d->arena, arena_cstr(d->arena, name)));
        at = 0;
    }
    if (words.len == 0)
        return;
    for (size_t i = 0; str_next_part(&words, ' ', &word); i++) {
        bind_argument(d, i, word, &at);
        bool optional = word.ptr[0] == '[';
        bool is_bound = str_find(word, '=') < word.len;
        shown = arena_printf(d->arena, "%.*s%s%.*s%s", STR_ARG(shown), i > 0 ? " " : "",
            STR_ARG(str_slice(word, 0, str_find(word, '='))), is_bound && optional ? "]" : "");
    }
    d->command->arguments = arena_cstr(d->arena, shown);
}

/* A name of the path stays in the shorter route if it is always given. */
static struct str get_required(const struct path_values *values, struct str name)
{
    const struct derivation *d = CONTAINER_OF(values, const struct derivation, values);
    struct str words = str_of(d->command->arguments), word;
    for (size_t i = 0; str_next_part(&words, ' ', &word); i++)
        if (word.ptr[0] != '[' && str_eq(d->command->bound[i], name))
            return arena_printf(d->arena, "{%.*s}", STR_ARG(name));
    return STR_NONE;
}

/* --- Options -------------------------------------------------------------------------------- */

bool command_binds(const struct command *complete, size_t argument, struct str member)
{
    return argument < COUNT_OF(complete->bound) && str_eq(complete->bound[argument], member) &&
           !path_has(complete->to, member);
}

static bool is_bound(const struct command *c, struct str member)
{
    for (size_t i = 0; i < COUNT_OF(c->bound); i++)
        if (command_binds(c, i, member))
            return true;
    return c->words != NULL && str_eq(str_of(c->words), member);
}

/* The cursor of a list, and events' and messages' positions, which are their cursors. */
static bool is_cursor(const struct command *c, const struct schema *schema, const struct field *f)
{
    bool is_position = strcmp(f->name, "after") == 0 || strcmp(f->name, "before") == 0;
    if ((c->flags & COMMAND_PAGED) == 0)
        return false;
    return strcmp(f->name, "cursor") == 0 ||
           (is_position && schema_find(schema, STR("cursor")) == NULL);
}

/* How each kind of field is given on the command line. */
static const struct {
    enum option_kind kind;
    const char *argument; /* NULL: made from a name */
    const char *noun;     /* the help of a field without a summary */
} forms[] = {
    [FIELD_STRING] = {OPTION_TEXT, "TEXT", "a text"},
    [FIELD_ENUM] = {OPTION_TEXT, NULL, "the value"},
    [FIELD_JSON] = {OPTION_JSON, "JSON", "any JSON value"},
    [FIELD_OBJECT] = {OPTION_JSON, "JSON", "a JSON object"},
    [FIELD_ARRAY] = {OPTION_JSON, "JSON", "a JSON array"},
    [FIELD_DOCUMENT] = {OPTION_JSON, "JSON", "a JSON object or array"},
    [FIELD_BOOL] = {OPTION_BOOL, "BOOL", "true or false"},
    [FIELD_INT] = {OPTION_NUMBER, "N", "a whole number"},
    [FIELD_TIME] = {OPTION_TEXT, "TIME", "a time"},
    [FIELD_MONEY] = {OPTION_JSON, "NUMBER", "a number"},
    [FIELD_UUID] = {OPTION_TEXT, NULL, "an id"},
    [FIELD_STRINGS] = {OPTION_TEXT, "TEXT", "a text"},
    [FIELD_NESTED] = {OPTION_JSON, "JSON", "a JSON object"},
    [FIELD_NESTED_LIST] = {OPTION_JSON, "JSON", "a JSON array"},
};

/* "parent_run_id" is RUN; an id by another name is ID. */
static const char *id_metavar(struct arena *arena, struct str member)
{
    struct str name = without_suffix(member, STR("_id")), word = name;
    if (name.len == member.len)
        return "ID";
    while (str_next_part(&name, '_', &word))
        ;
    return spelled(arena, word, '-', '_', true);
}

static const char *argument_of(
    struct arena *arena, const struct cli_option *o, const struct field *f)
{
    struct str name = str_of(f->name);
    if (o->kind == OPTION_SECRET_FILE)
        return "FILE";
    if (f->kind == FIELD_INT && str_ends_with(name, STR("_s")))
        return "SECONDS";
    if (f->kind == FIELD_INT && str_ends_with(name, STR("_ms")))
        return "MS";
    if (f->kind == FIELD_UUID)
        return id_metavar(arena, name);
    return forms[f->kind].argument != NULL ? forms[f->kind].argument : metavar(arena, o->name);
}

static const char *help_of(struct arena *arena, const struct field *f, enum option_place place)
{
    struct str text = str_of(f->summary), name = without_suffix(str_of(f->name), STR("_id"));
    bool is_filter = place == PLACE_QUERY && f->kind != FIELD_TIME;
    if (f->summary == NULL && is_filter)
        text = arena_printf(arena, "only with this %s", spelled(arena, name, '_', ' ', false));
    else if (f->summary == NULL)
        text = str_of(forms[f->kind].noun);
    if (f->kind == FIELD_TIME)
        text = arena_printf(arena, "%.*s (RFC 3339)", STR_ARG(text));
    if (f->kind == FIELD_INT && f->max != 0 && f->max != INT64_MAX)
        text = arena_printf(
            arena, "%.*s; %lld to %lld", STR_ARG(text), (long long)f->min, (long long)f->max);
    if (f->kind == FIELD_STRING && place != PLACE_CURSOR && f->max != 0 &&
        f->max <= SHORT_TEXT_BYTES)
        text = arena_printf(arena, "%.*s; at most %lld bytes", STR_ARG(text), (long long)f->max);
    return arena_cstr(arena, text);
}

/* Fills in what the row of an option does not say. */
static void fill_option(struct derivation *d, struct cli_option *o, const struct schema *schema,
    const struct field *f, enum option_place place)
{
    bool may_be_empty = (d->command->to->flags & (ROUTE_PATCH | ROUTE_BODY_OPTIONAL)) != 0;
    o->member = f->name;
    o->place = is_cursor(d->command, schema, f) ? PLACE_CURSOR : place;
    o->repeats = o->repeats || (f->kind == FIELD_STRINGS && o->kind == OPTION_BY_SCHEMA);
    if (o->kind == OPTION_BY_SCHEMA)
        o->kind = forms[f->kind].kind;
    if (o->argument == NULL)
        o->argument = argument_of(d->arena, o, f);
    if (o->help == NULL)
        o->help = help_of(d->arena, f, o->place);
    if (o->kind == OPTION_TEXT_OR_FILE)
        o->help = arena_cstr(d->arena, arena_printf(d->arena, "%s; @FILE reads a file", o->help));
    if (o->choices == NULL)
        o->choices = f->choices;
    /* Of several options for a member, the first is marked; any of them is enough. */
    bool is_first = true;
    for (const struct cli_option *other = d->options; other < o; other++)
        is_first = is_first && (other->member == NULL || strcmp(other->member, f->name) != 0);
    if (place == PLACE_BODY && is_first && !may_be_empty && schema_requires(schema, f))
        o->required = true;
}

static const struct field *find_member(const struct derivation *d, struct str name,
    const struct schema **out_schema, enum option_place *out_place)
{
    const struct schema *const schemas[] = {
        d->command->to->body, d->command->to->query, d->shorter == NULL ? NULL : d->shorter->query};
    for (size_t i = 0; i < COUNT_OF(schemas); i++) {
        const struct field *f = schema_find(schemas[i], name);
        *out_schema = schemas[i];
        *out_place = i == 0 ? PLACE_BODY : PLACE_QUERY;
        if (f != NULL)
            return f;
    }
    return NULL;
}

/* Returns the option in the list, to be filled in. */
static struct cli_option *add_option(struct derivation *d, struct cli_option option)
{
    assert(d->command->n_options < OPTIONS_MAX);
    d->options[d->command->n_options] = option;
    return &d->options[d->command->n_options++];
}

/* An option of the row: of the path, of a member, or one that the command's function reads. */
static void add_own(struct derivation *d, const struct cli_option *row)
{
    struct cli_option *o = add_option(d, *row);
    const struct schema *schema;
    enum option_place place;
    struct str member = str_of(
        row->member != NULL ? row->member : spelled(d->arena, str_of(row->name), '-', '_', false));
    if (o->place == PLACE_PATH && o->argument == NULL)
        o->argument = metavar(d->arena, row->member);
    const struct field *f = d->command->to == NULL || o->place == PLACE_PATH
                                ? NULL
                                : find_member(d, member, &schema, &place);
    if (f != NULL)
        fill_option(d, o, schema, f, place);
    if (o->kind == OPTION_BY_SCHEMA)
        o->kind = OPTION_TEXT;
}

static bool has_option(const struct derivation *d, const char *name, const char *member)
{
    for (size_t i = 0; i < d->command->n_options; i++) {
        const struct cli_option *o = &d->options[i];
        if (strcmp(o->name, name) == 0 ||
            (o->member != NULL && o->place != PLACE_PATH && strcmp(o->member, member) == 0))
            return true;
    }
    return false;
}

static bool is_omitted(
    const struct derivation *d, const struct schema *schema, const struct field *f)
{
    struct str name = str_of(f->name);
    bool is_limit = (d->command->flags & COMMAND_PAGED) != 0 && str_eq(name, STR("limit"));
    return is_limit || schema_is_read_only(schema, f) || has_word(d->row->omits, name) ||
           is_bound(d->command, name);
}

static void add_members(struct derivation *d, const struct schema *schema, enum option_place place)
{
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        const char *name = spelled(d->arena, str_of(f->name), '_', '-', false);
        if (!is_omitted(d, schema, f) && !has_option(d, name, f->name))
            fill_option(d, add_option(d, (struct cli_option){.name = name}), schema, f, place);
    }
}

/* The options that follow from the flags of a route. */
static void add_conditions(struct derivation *d, const struct route *r)
{
    bool writes = r->mode == ROUTE_WRITE && (r->flags & ROUTE_ETAG) != 0;
    bool may_be_new = (r->flags & ROUTE_CONDITIONAL) != 0 && strcmp(r->method, "DELETE") != 0;
    bool must_match = (r->flags & ROUTE_MUST_MATCH) != 0;
    if ((r->flags & ROUTE_METADATA_FILTER) != 0)
        add_option(d, (struct cli_option){.name = "metadata",
                          .member = "metadata.",
                          .argument = "KEY=VALUE",
                          .help = "only with this member in the metadata",
                          .repeats = true,
                          .kind = OPTION_METADATA,
                          .place = PLACE_QUERY});
    if (writes && !has_word(d->row->omits, STR("if-match")))
        add_option(d, (struct cli_option){.name = "if-match",
                          .argument = may_be_new   ? "VERSION, new or *"
                                      : must_match ? "VERSION or *"
                                                   : "VERSION",
                          .help = may_be_new ? "only if this is the version; new: only if there is "
                                               "none; *: any version"
                                             : "only if this is the version; *: any version",
                          .required = must_match,
                          .kind = OPTION_MATCH,
                          .place = PLACE_HEADER});
    if ((r->flags & ROUTE_FENCED) != 0)
        add_option(d, (struct cli_option){.name = "fence",
                          .member = "Cairn-Fencing-Token",
                          .argument = "TOKEN",
                          .help = "the fencing token of the worker's claim",
                          .kind = OPTION_TEXT,
                          .place = PLACE_HEADER});
}

static void add_groups(struct derivation *d)
{
    d->command->n_own = d->command->n_options;
    for (size_t i = 0; i < option_group_count; i++) {
        const struct option_group *group = &option_groups[i];
        for (size_t k = 0; k < group->count; k++)
            if (group->flag == 0 || (d->command->flags & group->flag) != 0)
                add_option(d, group->options[k]);
    }
}

static void derive_options(struct derivation *d)
{
    const struct route *route = d->command->to;
    d->options = ARENA_ARRAY(d->arena, struct cli_option, OPTIONS_MAX);
    d->command->options = d->options;
    d->command->n_options = 0;
    for (size_t i = 0; i < d->row->n_options; i++)
        add_own(d, &d->row->options[i]);
    if (route != NULL) {
        add_members(d, route->body, PLACE_BODY);
        add_members(d, route->query, PLACE_QUERY);
        add_members(d, d->shorter == NULL ? NULL : d->shorter->query, PLACE_QUERY);
        add_conditions(d, route);
    }
    add_groups(d);
}

/* --- Columns -------------------------------------------------------------------------------- */

/* The schema of an answer, or of an item of a list. */
static const struct schema *shown_schema(const struct route *route, bool is_list)
{
    const struct field *data = schema_find(route->answer, STR("data"));
    bool has_data = is_list && (route->flags & ROUTE_LIST) == 0 && data != NULL;
    return has_data ? data->nested : route->answer;
}

static const struct field *find_column(const struct schema *schema, struct str path)
{
    const struct field *f = NULL;
    struct str name;
    while (str_next_part(&path, '/', &name)) {
        f = schema_find(schema, name);
        schema = f == NULL ? NULL : f->nested;
    }
    return f;
}

/* "created_at" is CREATED, "thread_id" is THREAD, "size_bytes" is SIZE. */
static const char *title_of(struct arena *arena, struct str path)
{
    struct str name = path;
    while (str_find(name, '/') < name.len)
        name = str_slice(name, str_find(name, '/') + 1, name.len);
    name = without_suffix(name, STR("_at"));
    name = without_suffix(name, STR("_id"));
    name = without_suffix(name, STR("_bytes"));
    return spelled(arena, name, '_', ' ', true);
}

static enum cli_column_kind column_kind(const struct field *f)
{
    static const char *const coloured[] = {"status", "kind", "type", "outcome", "to"};
    struct str name = str_of(f->name);
    switch (f->kind) {
    case FIELD_UUID:
        return COLUMN_ID;
    case FIELD_TIME:
        return COLUMN_TIME;
    case FIELD_INT:
        return str_ends_with(name, STR("_bytes")) ? COLUMN_BYTES : COLUMN_NUMBER;
    case FIELD_MONEY:
        return COLUMN_NUMBER;
    case FIELD_STRING:
    case FIELD_ENUM:
        for (size_t i = 0; i < COUNT_OF(coloured); i++)
            if (str_eq(name, str_of(coloured[i])))
                return COLUMN_STATUS;
        return COLUMN_TEXT;
    case FIELD_BOOL:
    case FIELD_STRINGS:
        return COLUMN_TEXT;
    default:
        return COLUMN_JSON;
    }
}

/* One word of the names: "status", "EVENTS=last_seq", "COST_(USD)=usage/cost_usd". */
static struct cli_column named_column(
    struct arena *arena, const struct schema *schema, struct str word)
{
    size_t equals = str_find(word, '=');
    bool titled = equals < word.len, is_json = str_ends_with(word, STR(":json"));
    struct str path = titled ? str_slice(word, equals + 1, word.len) : word;
    path = without_suffix(path, STR(":json"));
    const struct field *f = find_column(schema, path);
    struct cli_column column = {.kind = COLUMN_JSON, .pointer = ""};
    column.title = titled ? spelled(arena, str_slice(word, 0, equals), '_', ' ', false)
                          : title_of(arena, path);
    if (path.len > 0)
        column.pointer = arena_cstr(arena, arena_printf(arena, "/%.*s", STR_ARG(path)));
    if (f != NULL && !is_json)
        column.kind = column_kind(f);
    return column;
}

static void add_columns(
    struct arena *arena, const struct schema *schema, struct cli_column *columns, size_t *count)
{
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        assert(*count < COLUMNS_MAX);
        columns[(*count)++] = named_column(arena, schema, str_of(f->name));
    }
}

const struct cli_column *derive_columns(struct arena *arena, const struct route *route,
    bool is_list, const char *names, size_t *out_count)
{
    struct cli_column *columns = ARENA_ARRAY(arena, struct cli_column, COLUMNS_MAX);
    const struct schema *schema = shown_schema(route, is_list);
    struct str rest = str_of(names), word;
    *out_count = 0;
    while (names != NULL && str_next_part(&rest, ' ', &word))
        columns[(*out_count)++] = named_column(arena, schema, word);
    if (names == NULL) {
        add_columns(arena, schema, columns, out_count);
        add_columns(arena, is_list ? NULL : route->answer_to_many, columns, out_count);
    }
    if (is_list && columns[0].kind == COLUMN_TEXT)
        columns[0].kind = COLUMN_ID; /* the name of the row */
    return columns;
}

/* --- The whole ------------------------------------------------------------------------------ */

static unsigned derive_flags(const struct command *row, const struct route *r)
{
    bool is_get = strcmp(r->method, "GET") == 0;
    bool prints = (r->flags & ROUTE_BYTES) == 0 && (r->answer != NULL || !is_get);
    unsigned flags = row->flags | COMMAND_REMOTE | (prints ? COMMAND_OUTPUT : 0);
    if (row->run != NULL)
        return flags;
    if ((r->flags & ROUTE_LIST) != 0)
        flags |= COMMAND_PAGED;
    return strcmp(r->method, "DELETE") == 0 ? flags | COMMAND_DESTROYS : flags;
}

/* "List threads" is "list threads"; "API keys" stays. */
static const char *lower_first(struct arena *arena, const char *text)
{
    bool is_word = text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z';
    char first = is_word ? (char)(text[0] - 'A' + 'a') : text[0];
    return arena_cstr(arena, arena_printf(arena, "%c%s", first, text + 1));
}

/* "Delete a thread, its runs and its events" becomes "Delete the thread, its runs and its
 * events?"; a remark after a semicolon or a colon is left out. */
static const char *question_of(struct arena *arena, const char *summary)
{
    struct str text = str_of(summary), first;
    text = str_slice(text, 0, str_find(text, ';'));
    text = str_slice(text, 0, str_find(text, ':'));
    str_next_part(&text, ' ', &first);
    size_t article = str_starts_with(text, STR("a "))    ? 2
                     : str_starts_with(text, STR("an ")) ? 3
                                                         : 0;
    return arena_cstr(
        arena, arena_printf(arena, "%.*s %s%.*s?", STR_ARG(first), article > 0 ? "the " : "",
                   STR_ARG(str_slice(text, article, text.len))));
}

/* Returns the pointer of the member that is shown once, or NULL. */
static const char *secret_of(struct arena *arena, const struct schema *schema, struct str parent)
{
    const char *found = NULL;
    for (const struct field *f = NULL; found == NULL && (f = schema_next(schema, f)) != NULL;) {
        struct str pointer = arena_printf(arena, "%.*s/%s", STR_ARG(parent), f->name);
        found = f->once                   ? arena_cstr(arena, pointer)
                : f->kind == FIELD_NESTED ? secret_of(arena, f->nested, pointer)
                                          : NULL;
    }
    return found;
}

static const char *done_of(struct arena *arena, const struct command *c)
{
    if (strcmp(c->to->method, "DELETE") != 0)
        return "Done.";
    return arena_cstr(arena, arena_printf(arena, "The %s is deleted.", c->noun));
}

const struct command *command_complete(struct arena *arena, const struct command *row)
{
    struct command *c = ARENA_NEW(arena, struct command);
    struct derivation d = {{get_required}, arena, c, row, NULL, NULL};
    *c = *row;
    c->to = command_route(row);
    assert(row->route == NULL || c->to != NULL);
    if (c->to != NULL) {
        bool destroys;
        c->flags = derive_flags(row, c->to);
        destroys = (c->flags & COMMAND_DESTROYS) != 0;
        derive_arguments(&d);
        struct str shorter = derive_path(arena, str_of(c->to->path), &d.values);
        d.shorter = route_of_path(str_of(c->to->method), shorter);
        c->summary = row->summary != NULL ? row->summary : lower_first(arena, c->to->summary);
        c->question =
            row->question != NULL || !destroys ? row->question : question_of(arena, c->to->summary);
        c->secret = secret_of(arena, c->to->answer, STR(""));
        c->done = row->done != NULL ? row->done : done_of(arena, c);
        c->shown = derive_columns(
            arena, c->to, (c->flags & COMMAND_PAGED) != 0, row->columns, &c->n_shown);
    }
    derive_options(&d);
    return c;
}
