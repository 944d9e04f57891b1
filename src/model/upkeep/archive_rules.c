/* SPDX-License-Identifier: Apache-2.0 */
/* An import rejects every row that the API would reject, by the same functions of the model. */
#include "base/alloc.h"
#include "model/agents/state_told.h"
#include "model/agents/storage.h"
#include "model/checkpoints/checkpoint_rows.h"
#include "model/execution/resumption_check.h"
#include "model/execution/steps.h"
#include "model/files/files.h"
#include "model/memory/memory_vectors.h"
#include "model/threads/events.h"
#include "model/threads/message_parts.h"
#include "model/threads/participants.h"
#include "model/upkeep/archive_file.h"

static const struct archive_value *field(
    const struct archive_walk *w, const struct archive_value *row, const char *name)
{
    return &row[archive_field(w->member, name)];
}

static struct str text(
    const struct archive_walk *w, const struct archive_value *row, const char *name)
{
    const struct archive_value *value = field(w, row, name);
    return value->is_null ? STR_NONE : value->text;
}

static enum error broken(struct archive_walk *w, const char *rule)
{
    return problem_set(w->problem, ERR_INVALID, "%s", rule);
}

/* --- Names of files -------------------------------------------------------------------------- */

struct archive_name archive_name_of(uint32_t owner, struct str name)
{
    struct archive_name key;
    struct sha256_state *state = sha256_create();
    sha256_add(state, (struct str){(const char *)&owner, sizeof owner});
    sha256_add(state, name);
    struct sha256 hash = sha256_finish(state);
    memcpy(key.bytes, hash.bytes, sizeof key.bytes);
    return key;
}

int archive_compare_names(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct archive_name));
}

static void add_name(struct archive *a, uint32_t thread, struct str name)
{
    if (a->n_names == a->cap_names) {
        a->cap_names = a->cap_names == 0 ? 16 : 2 * a->cap_names;
        a->names = mem_realloc(a->names, a->cap_names * sizeof(struct archive_name));
    }
    a->names[a->n_names++] = archive_name_of(thread, name);
}

enum error archive_sort_names_of_files(struct archive *a, struct problem *problem)
{
    if (a->n_names > 0)
        qsort(a->names, a->n_names, sizeof(struct archive_name), archive_compare_names);
    for (size_t i = 1; i < a->n_names; i++)
        if (archive_compare_names(&a->names[i - 1], &a->names[i]) == 0)
            return archive_broken(problem, STR("files.jsonl"),
                "and file_ends.jsonl have the same name in one thread twice");
    return OK;
}

struct place_of_files {
    const struct archive *archive;
    uint32_t thread;
};

static enum error is_in_archive(void *data, struct str name, bool *out_exists)
{
    const struct place_of_files *place = data;
    const struct archive *a = place->archive;
    struct archive_name key = archive_name_of(place->thread, name);
    *out_exists = a->n_names > 0 &&
                  bsearch(&key, a->names, a->n_names, sizeof key, archive_compare_names) != NULL;
    return OK;
}

enum error archive_judge_filenames(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread)
{
    struct context c = {.arena = w->arena, .problem = w->problem};
    struct place_of_files place = {w->archive, thread};
    return message_check_names(&c, text(w, row, "filenames"), STR(""), is_in_archive, &place);
}

/* --- Rows ------------------------------------------------------------------------------------ */

static enum error judge_storage(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    return storage_check_type(c, text(w, row, "content_type"), STR("\"content_type\""));
}

static enum error judge_event(struct context *c, struct archive_walk *w, struct archive_value *row)
{
    const struct archive_value *payload = field(w, row, "payload");
    if (event_kind_is_reserved(text(w, row, "kind")) || payload->is_null ||
        payload->text.len <= EVENT_PAYLOAD_MAX_BYTES)
        return OK;
    return problem_fault(
        c->problem, STR("\"payload\""), "must have at most %d bytes", EVENT_PAYLOAD_MAX_BYTES);
}

static enum error judge_metadata(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    struct message message = {.metadata = text(w, row, "metadata")};
    TRY(message_check_metadata(c, &message, STR("")));
    return message.has_debug
               ? broken(w, "\"metadata\" must not contain \"debug\", which has a field of its own")
               : OK;
}

static enum error judge_message(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    struct message message = {.content = text(w, row, "content")};
    bool is_command = message_type_parse(text(w, row, "type")) == MESSAGE_COMMAND;
    bool is_deleted = !field(w, row, "deleted_at")->is_null;
    if (is_command == field(w, row, "command")->is_null)
        return broken(
            w, "\"command\" is required for messages of type command, and only for these");
    if (!is_command && !field(w, row, "addressed_to")->is_null)
        return broken(w, "\"addressed_to\" is only for commands");
    TRY(judge_metadata(c, w, row));
    if (!is_command || is_deleted)
        return OK;
    TRY(message_parse_command(c, &message, STR("")));
    return !str_eq(message.command, text(w, row, "command"))
               ? broken(w, "\"command\" does not match the content")
               : OK;
}

/* Every event of a thread creates at most one version, except for a copy with history. */
static enum error judge_last_version(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread)
{
    int64_t events = w->archive->threads[thread].last_seq;
    if (field(w, row, "last_version")->number / FILE_COPY_MAX_VERSIONS <= events)
        return OK;
    return broken(w, "\"last_version\" is greater than the events of the thread can have created");
}

enum error archive_judge_name(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread)
{
    struct context c = {.arena = w->arena, .problem = w->problem};
    struct str name = text(w, row, "name");
    TRY(file_check_name(&c, name, STR("\"name\"")));
    TRY(judge_last_version(w, row, thread));
    add_name(w->archive, thread, name);
    return OK;
}

static enum error judge_file_version(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    struct str source = text(w, row, "source_name");
    const struct archive_value *restored = field(w, row, "restored_from");
    TRY(file_check_type(c, text(w, row, "content_type"), STR("\"content_type\"")));
    if (!str_is_none(source))
        TRY(file_check_name(c, source, STR("\"source_name\"")));
    if (!restored->is_null && restored->number >= field(w, row, "version")->number)
        return broken(w, "\"restored_from\" must be an earlier version");
    return OK;
}

static enum error judge_state(struct context *c, struct archive_walk *w, struct archive_value *row)
{
    bool is_config = state_kind_parse(text(w, row, "kind")) == STATE_CONFIG;
    return is_config && !str_eq(text(w, row, "name"), STR("config"))
               ? broken(w, "a configuration must have the name \"config\"")
               : OK;
}

static enum error judge_state_version(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    const struct state state = {
        .data = text(w, row, "data"), .json_schema = text(w, row, "json_schema")};
    return state_check_data(c, &state);
}

static enum error judge_step(struct context *c, struct archive_walk *w, struct archive_value *row)
{
    return step_type_is_known(text(w, row, "action_type"))
               ? OK
               : broken(w, "\"action_type\" is not a type of step");
}

static enum error judge_checkpoint(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    struct checkpoint checkpoint = {.channel_versions = text(w, row, "channel_versions"),
        .versions_seen = text(w, row, "versions_seen"),
        .pending_sends = text(w, row, "pending_sends"),
        .metadata = text(w, row, "metadata")};
    return checkpoint_check_shape(c, &checkpoint);
}

static enum error judge_resumption(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    const struct resumption resumption = {.tool_schemas = text(w, row, "tool_schemas"),
        .server_tools = text(w, row, "server_tools"),
        .beta_headers = text(w, row, "beta_headers"),
        .file_registry = text(w, row, "file_registry")};
    return resumption_check(c, &resumption);
}

static enum error judge_awaited_tool(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    return field(w, row, "result_at")->is_null && !field(w, row, "result")->is_null
               ? broken(w, "\"result\" requires \"result_at\"")
               : OK;
}

static enum error judge_price(struct context *c, struct archive_walk *w, struct archive_value *row)
{
    static const char *const long_rates[] = {
        "long_input_pico", "long_output_pico", "long_cache_write_pico", "long_cache_read_pico"};
    struct str currency = text(w, row, "currency");
    for (size_t i = 0; i < currency.len; i++)
        if (currency.ptr[i] < 'A' || currency.ptr[i] > 'Z')
            return broken(w, "\"currency\" must be three upper-case letters");
    bool has_long = !field(w, row, "long_context_tokens")->is_null;
    for (size_t i = 0; i < COUNT_OF(long_rates); i++)
        if (field(w, row, long_rates[i])->is_null == has_long)
            return broken(
                w, "must have \"long_context_tokens\" and all long rates, or none of them");
    return OK;
}

static enum error judge_store_item(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    struct str ns = text(w, row, "namespace"), unused;
    struct str_list labels = memory_split_namespace(c->arena, ns);
    if (!str_ends_with(ns, STR(".")))
        return broken(w, "\"namespace\" must end in a \".\"");
    return memory_join_namespace(c, labels, STR("\"namespace\""), &unused);
}

static enum error judge_store_vector(
    struct context *c, struct archive_walk *w, struct archive_value *row)
{
    if (!memory_vector_is_sound(field(w, row, "bytes")->bytes))
        return broken(w, "\"bytes\" must be finite floating-point numbers of 32 bits");
    return judge_store_item(c, w, row);
}

typedef enum error rule(struct context *c, struct archive_walk *w, struct archive_value *row);
static rule *const RULES[MEMBER_COUNT] = {
    [MEMBER_AGENT_STORAGE] = judge_storage,
    [MEMBER_EVENTS] = judge_event,
    [MEMBER_MESSAGES] = judge_message,
    [MEMBER_MESSAGE_VERSIONS] = judge_metadata,
    [MEMBER_FILE_VERSIONS] = judge_file_version,
    [MEMBER_STATES] = judge_state,
    [MEMBER_STATE_VERSIONS] = judge_state_version,
    [MEMBER_STEPS] = judge_step,
    [MEMBER_CHECKPOINTS] = judge_checkpoint,
    [MEMBER_PRICES] = judge_price,
    [MEMBER_STORE_ITEMS] = judge_store_item,
    [MEMBER_STORE_VECTORS] = judge_store_vector,
    [MEMBER_RESUMPTIONS] = judge_resumption,
    [MEMBER_AWAITED_TOOLS] = judge_awaited_tool,
};

enum error archive_judge_alone(struct archive_walk *w, struct archive_value *row)
{
    struct context c = {.arena = w->arena, .problem = w->problem};
    rule *own = RULES[w->member - archive_members];
    for (size_t i = 0; i < w->member->n_fields; i++)
        if (w->member->fields[i].kind == KIND_PRINCIPAL && !row[i].is_null &&
            !principal_is_valid(row[i].text))
            return problem_set(
                w->problem, ERR_INVALID, "\"%s\" %s", w->member->fields[i].name, PRINCIPAL_RULE);
    return own == NULL ? OK : own(&c, w, row);
}
