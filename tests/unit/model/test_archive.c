/* SPDX-License-Identifier: Apache-2.0 */
/* A thread, an agent or a tenant is exported to one file and imported with all its relations. */
#include "archive_files.h"

#include "base/alloc.h"
#include "model/agents/agent_links.h"
#include "model/agents/agent_versions.h"
#include "model/checkpoints/checkpoints.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/awaited_tools.h"
#include "model/execution/history.h"
#include "model/execution/resumptions.h"
#include "model/execution/run_phases.h"
#include "model/execution/steps.h"
#include "model/execution/turns.h"
#include "model/execution/usage.h"
#include "model/files/blobs.h"
#include "model/files/files.h"
#include "model/threads/thread_copy.h"
#include "model/upkeep/archive.members.h"
#include "model/upkeep/archive_tables.h"
#include "store/content.h"

/* --- Without ids ---------------------------------------------------------------------------- */

static bool is_id_at(struct str text, size_t at, struct uuid *out)
{
    return at + UUID_TEXT_LEN <= text.len &&
           uuid_parse(str_slice(text, at, at + UUID_TEXT_LEN), out);
}

/* Every id by the order in which it appears first; hashes, which differ with them, by zeros. */
static struct str without_ids(struct fixture *f, struct str text)
{
    char *copy = arena_alloc(f->arena, text.len);
    struct uuid *seen = ARENA_ARRAY(f->arena, struct uuid, 10000);
    size_t n_seen = 0;
    struct str hash = STR("\"sha256\":\"");
    memcpy(copy, text.ptr, text.len);
    for (size_t at = 0; at < text.len; at++) {
        struct uuid id;
        if (str_starts_with(str_slice(text, at, text.len), hash))
            memset(copy + at + hash.len, '0', 2 * SHA256_LEN);
        if (!is_id_at(text, at, &id))
            continue;
        size_t n = 0;
        while (n < n_seen && !uuid_eq(seen[n], id))
            n++;
        seen[n] = id;
        n_seen += n == n_seen;
        char number[UUID_TEXT_LEN + 1];
        snprintf(number, sizeof number, "%036zu", n);
        memcpy(copy + at, number, UUID_TEXT_LEN);
        at += UUID_TEXT_LEN - 1;
    }
    return (struct str){copy, text.len};
}

static void expect_same(struct fixture *f, struct str before, struct str after)
{
    struct str a = without_ids(f, before), b = without_ids(f, after);
    size_t at = 0;
    while (at < a.len && at < b.len && a.ptr[at] == b.ptr[at])
        at++;
    if (a.len != b.len || at < a.len)
        test_fail(__FILE__, __LINE__, "they differ from byte %zu on:\n%.200s\n%.200s", at,
            a.ptr + (at > 60 ? at - 60 : 0), b.ptr + (at > 60 ? at - 60 : 0));
}

/* --- Something to export -------------------------------------------------------------------- */

/* An id as the engine's SQL writes it. */
static const char *literal(struct fixture *f, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    if (on_postgres())
        return arena_cstr(f->arena, arena_printf(f->arena, "'%.*s'::uuid", UUID_TEXT_LEN, text));
    struct str hex = hex_encode(f->arena, (struct str){(char *)id.bytes, sizeof id.bytes});
    return arena_cstr(f->arena, arena_printf(f->arena, "x'%.*s'", STR_ARG(hex)));
}

static const char *yes(bool value)
{
    return on_postgres() ? (value ? "true" : "false") : (value ? "1" : "0");
}

static void add(struct fixture *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct fixture *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str sql = arena_vprintf(f->arena, fmt, args);
    va_end(args);
    sql_exec(f, arena_cstr(f->arena, sql));
}

static struct uuid add_participant(
    struct fixture *f, struct uuid tenant, struct uuid thread, const char *principal)
{
    struct uuid id = uuid_v7();
    add(f,
        "INSERT INTO participants (tenant_id, thread_id, id, role, principal, name, permission,"
        " active, online_until, metadata, created_at, updated_at) VALUES (%s, %s, %s, 'user', '%s',"
        " 'Ada', 'read_write', %s, 99, '{\"a\":1}', 1, 2)",
        literal(f, tenant), literal(f, thread), literal(f, id), principal, yes(true));
    return id;
}

/* With two versions, of which the second is active and used. */
static struct uuid add_agent(struct fixture *f, struct uuid tenant, const char *name)
{
    struct agent agent = {.name = str_of(name), .kind = AGENT_KIND_TEAM, .metadata = STR("{}")};
    struct agent_version_draft draft = {.bump = SEMVER_MINOR,
        .description = STR("better"),
        .activate = true,
        .parts = 1 << PART_TOOLS,
        .definition = {.tools = STR("[\"search\"]")}};
    struct agent_version version;
    struct str used;
    struct context *c = begin_as(f, tenant);
    EXPECT_EQ(agent_create(c, &agent), OK);
    EXPECT_EQ(agent_version_create(c, agent.id, &draft, &version), OK);
    EXPECT_EQ(agent_use_version(c, agent.id, STR_NONE, &used), OK);
    commit(f);
    return agent.id;
}

static void add_link(struct fixture *f, struct uuid tenant, struct uuid parent, struct uuid child)
{
    struct agent_link link = {
        .parent_id = parent, .child_id = child, .child_version = STR("1.0.0")};
    bool unused;
    EXPECT_EQ(agent_link_put(begin_as(f, tenant), &link, &unused), OK);
    commit(f);
}

static void add_state(struct fixture *f, struct uuid tenant, struct uuid agent, struct uuid thread,
    const char *kind, const char *name)
{
    struct uuid id = uuid_v7();
    add(f,
        "INSERT INTO state_documents (tenant_id, id, kind, agent_id, thread_id, name, created_at,"
        " updated_at, version) VALUES (%s, %s, '%s', %s, %s, '%s', 3, 4, 2)",
        literal(f, tenant), literal(f, id), kind, literal(f, agent), literal(f, thread), name);
    for (int version = 1; version <= 2; version++)
        add(f,
            "INSERT INTO state_versions (tenant_id, state_id, version, data, created_by,"
            " created_at) VALUES (%s, %s, %d, '{\"v\":%d}', 'user:ada', 5)",
            literal(f, tenant), literal(f, id), version, version);
}

static void add_storage(struct fixture *f, struct uuid tenant, struct uuid agent)
{
    static const char *const keys[] = {"B", "a/1", "a/2", "\xc3\xa4"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        add(f,
            "INSERT INTO agent_storage (tenant_id, agent_id, key, content_type, value, bytes,"
            " size_bytes, created_at, updated_at) VALUES (%s, %s, '%s', 'x/y', %s, %s, 3, 6, 7)",
            literal(f, tenant), literal(f, agent), keys[i], i % 2 == 0 ? "'[1]'" : "NULL",
            i % 2 == 0      ? "NULL"
            : on_postgres() ? "'\\x00ff10'"
                            : "x'00ff10'");
}

static void add_message(struct fixture *f, struct uuid tenant, struct uuid thread, int64_t seq,
    struct uuid sender, struct uuid answers, struct uuid *out_id)
{
    struct uuid id = *out_id = uuid_v7();
    add(f,
        "INSERT INTO messages (event_id, tenant_id, thread_id, seq, id, sender_id, sender_role, "
        "type,"
        " content,"
        " content_type, metadata, filenames, responds_to, has_debug, created_at, updated_at,"
        " version) VALUES ((SELECT id FROM events WHERE thread_id = %s AND seq = %lld),"
        " %s, %s, %lld, %s, %s, 'user', 'chat', 'hello \xe2\x98\x83',"
        " 'text/plain', '{\"a\":{}}', '[\"a.txt\"]', %s, %s, 8, 9, 2)",
        literal(f, thread), (long long)seq, literal(f, tenant), literal(f, thread), (long long)seq,
        literal(f, id), literal(f, sender), uuid_is_nil(answers) ? "NULL" : literal(f, answers),
        yes(true));
    add(f, "INSERT INTO message_debug (tenant_id, message_id, debug) VALUES (%s, %s, '{\"n\":0}')",
        literal(f, tenant), literal(f, id));
    add(f,
        "INSERT INTO message_versions (tenant_id, message_id, version, content, content_type,"
        " metadata, filenames, debug, created_at) VALUES (%s, %s, 1, 'helo', 'text/plain', '{}',"
        " '[]', NULL, 8)",
        literal(f, tenant), literal(f, id));
}

static struct sha256 add_content(struct fixture *f, struct uuid tenant, struct str bytes)
{
    struct content_writer *w;
    struct content_info info;
    struct blob blob = {.id = uuid_v7(), .size_bytes = (int64_t)bytes.len}, stored;
    EXPECT_EQ(content_create(f->store, tenant, blob.id, &w), OK);
    EXPECT_EQ(content_append(w, bytes), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    content_keep(w);
    blob.sha256 = info.sha256;
    EXPECT_EQ(blob_adopt(begin_as(f, tenant), &blob, &stored), OK);
    commit(f);
    return info.sha256;
}

static void add_file(struct fixture *f, struct uuid tenant, struct uuid thread, const char *name)
{
    static const struct str contents[] = {{"first", 5}, {"second", 6}, {"", 0}};
    struct uuid id = uuid_v7();
    add(f,
        "INSERT INTO files (tenant_id, id, thread_id, name, last_version, current_version,"
        " metadata, created_at, updated_at) VALUES (%s, %s, %s, '%s', 4, 3, '{}', 1, 2)",
        literal(f, tenant), literal(f, id), literal(f, thread), name);
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        struct sha256 hash = add_content(f, tenant, contents[i]);
        struct str hex = hex_encode(f->arena, (struct str){(char *)hash.bytes, SHA256_LEN});
        add(f,
            "INSERT INTO file_versions (tenant_id, file_id, version, sha256, size_bytes,"
            " content_type, created_by, created_at, source_thread_id) VALUES (%s, %s, %zu,"
            " %s%.*s', %zu, 'text/plain', 'user:ada', 3, %s)",
            literal(f, tenant), literal(f, id), i + 1, on_postgres() ? "'\\x" : "x'", STR_ARG(hex),
            contents[i].len, literal(f, thread));
    }
}

/* More than a page of each. */
static void add_checkpoints(
    struct fixture *f, struct uuid tenant, struct uuid thread, struct uuid run)
{
    const struct checkpoint_task task = {.task_id = STR("t:1"), .task_path = STR("~x")};
    const struct checkpoint_write writes[] = {
        {STR("a"), STR("null"), 0}, {STR("b"), STR("{\"x\":[1.50]}"), 1}, {STR("c"), STR("1"), -2}};
    for (int i = 0; i < 9; i++) {
        struct checkpoint k = {.thread_id = thread,
            .ns = i % 3 == 0 ? STR("inner:1") : STR(""),
            .has_run_id = i > 4,
            .run_id = run,
            .channel_versions = STR("{\"n\":\"v.1\"}"),
            .pending_sends = STR("[{\"channel\":\"c\",\"value\":null}]"),
            .metadata = STR("{\"source\":\"loop\"}"),
            .node = i == 4 ? STR("plan") : STR_NONE};
        const struct checkpoint_put put = {
            .values = arena_printf(f->arena, "{\"n\":%d.0,\"list\":[\"%0100d\",%d]}", i, 0, i)};
        bool is_new;
        int64_t written;
        struct context *c = begin_as(f, tenant);
        EXPECT_EQ(checkpoint_put(c, &put, &k, &is_new), OK);
        EXPECT_EQ(checkpoint_put_writes(c, &k, &task, writes, (size_t)(i % 4), &written), OK);
        commit(f);
    }
}

#define LONG_TEXT "a text of a message that is long enough to become an item, which is kept once"

/* One that is whole, one that builds on it, and one that was dropped and stays for a third. */
static void add_snapshots(struct context *c, struct uuid thread, struct uuid *out_last)
{
    static const char *const texts[] = {"{\"m\":[\"1 " LONG_TEXT "\"],\"n\":1}",
        "{\"m\":[\"1 " LONG_TEXT "\",\"2 " LONG_TEXT "\"],\"n\":2}",
        "{\"m\":[\"1 " LONG_TEXT "\",\"2 " LONG_TEXT "\",0.10e+5],\"n\":3}"};
    struct uuid ids[COUNT_OF(texts)], base = UUID_NIL;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct snapshot s = {0};
        EXPECT_EQ(snapshot_put(c, thread, base, str_of(texts[i]), &s), OK);
        base = ids[i] = s.id;
    }
    EXPECT_EQ(snapshot_drop(c, ids[1]), OK);
    *out_last = base;
}

/* A thread with something in every table that a thread has. */
/* Adds a resumption of the thread, tools with and without a result, and a finished run. */
static void add_conversation(struct context *c, struct uuid thread, struct uuid run_id)
{
    struct str said = STR("[{\"role\":\"user\",\"content\":\"hi\"}]");
    struct resumption none, made = {.system_prompt = STR("You \"help\"."),
                                .model = STR("m"),
                                .messages = said,
                                .conversation_history = said,
                                .title = STR("a \"title\"")};
    struct awaited_tool open = {.tool_use_id = STR("a"), .name = STR("ask"), .side = TOOL_FRONTEND};
    struct awaited_tool had = {.tool_use_id = STR("b"), .content = STR("[1]")};
    struct tool_pause pause = {.tools = &open, .n_tools = 1, .results = &had, .n_results = 1};
    struct run past = {.dispatch = RUN_QUEUE, .user_input = STR("before")}, run;
    struct history_entry before, after;
    EXPECT_EQ(resumption_find(c, thread, false, &none), OK);
    EXPECT_EQ(resumption_write(c, &none, &made), OK);
    EXPECT_EQ(run_get_head(c, run_id, &run), OK);
    EXPECT_EQ(awaited_tools_add(c, &run, &pause), OK);
    EXPECT_EQ(run_start(c, thread, RUN_POLICY_NONE, &past), OK);
    EXPECT_EQ(run_cancel(c, &past, STR_NONE), OK);
    EXPECT_EQ(history_get(c, thread, 1, false, &before), OK);
    after = before;
    after.messages = said;
    after.extras = STR("{\"n\":1.50}");
    EXPECT_EQ(history_update(c, &before, &after), OK);
}

static struct uuid furnish(struct fixture *f, struct uuid tenant, struct uuid agent)
{
    struct thread thread = {.title = STR("a \"title\""),
        .metadata = STR("{\"k\":\"v\",\"n\":1e3}"),
        .run_policy = RUN_POLICY_ENQUEUE,
        .context = STR("{\"x\":[1,2.50]}")};
    struct run done = {.dispatch = RUN_DIRECT, .user_input = STR("hi")};
    struct run child = {.dispatch = RUN_DIRECT, .has_parent_run_id = true};
    struct run queued = {.dispatch = RUN_QUEUE};
    struct event told[] = {{.kind = STR("progress"), .text = STR("1/2")},
        {.kind = STR("acme.note"), .payload = STR("{\"id\":\"not one of ours\"}")}};
    struct step logged[] = {
        {.action_type = STR("run_started"),
            .messages_snapshot = STR("[{\"role\":\"user\",\"content\":\"hi\"}]")},
        {.action_type = STR("api_response_received"),
            .action_data = STR("{\"usage\":{\"input_tokens\":3},\"stop_reason\":\"end_turn\"}"),
            .model = STR("m"),
            .has_step_number = true,
            .has_duration_ms = true,
            .duration_ms = 7}};
    struct context *c = begin_as(f, tenant);
    EXPECT_EQ(thread_create(c, &thread), OK);
    EXPECT_EQ(run_start(c, thread.id, RUN_POLICY_NONE, &done), OK);
    child.parent_run_id = done.id;
    EXPECT_EQ(run_start(c, thread.id, RUN_POLICY_NONE, &child), OK);
    EXPECT_EQ(run_start(c, thread.id, RUN_POLICY_NONE, &queued), OK);
    EXPECT_EQ(event_append(c, thread.id, told, 2), OK);
    EXPECT_EQ(run_get_head(c, child.id, &child), OK);
    EXPECT_EQ(step_append(c, &child, logged, 2, STR_NONE), OK);
    const struct usage usage = {.model = STR("m"), .input_tokens = 5, .output_tokens = 2};
    struct turn turn = {.input = STR("{\"message\":\"go\"}"), .output = STR("{\"a\":1}")};
    EXPECT_EQ(turn_begin(c, &child, &turn, &usage), OK);
    for (int i = 0; i < 9; i++) {
        struct cost cost;
        const struct usage call = {.model = i < 3 ? STR("m") : STR("M"),
            .provider = arena_printf(f->arena, "p%d", i),
            .input_tokens = i,
            .output_tokens = 1};
        EXPECT_EQ(usage_add(c, &child, UUID_NIL, &call, &cost), OK);
    }
    EXPECT_EQ(run_get(c, child.id, &child), OK);
    EXPECT_EQ(run_move_phase(c, &child, PHASE_INITIALIZING, STR_NONE, STR("{\"b\":2}")), OK);
    EXPECT_EQ(thread_get(c, thread.id, &thread), OK);
    struct thread changed = thread;
    changed.preferences = STR("{\"dark\":true}");
    EXPECT_EQ(thread_update(c, &thread, &changed), OK);
    struct uuid last;
    add_snapshots(c, thread.id, &last);
    add_conversation(c, thread.id, done.id);
    commit(f);
    struct uuid ada = add_participant(f, tenant, thread.id, "user:ada");
    char text[UUID_TEXT_LEN];
    uuid_format(agent, text);
    add_participant(f, tenant, thread.id,
        arena_cstr(f->arena, arena_printf(f->arena, "agent:%.*s", UUID_TEXT_LEN, text)));
    add_state(f, tenant, UUID_NIL, thread.id, "state", "board");
    add_state(f, tenant, agent, thread.id, "state", "mine");
    struct uuid first, second;
    add_message(f, tenant, thread.id, 1, ada, UUID_NIL, &first);
    add_message(f, tenant, thread.id, 3, ada, first, &second);
    add_file(f, tenant, thread.id, "a.txt");
    add_file(f, tenant, thread.id, "../b");
    add_checkpoints(f, tenant, thread.id, done.id);
    return thread.id;
}

static struct archive_subject of_thread(struct uuid id)
{
    return (struct archive_subject){ARCHIVE_THREAD, id};
}

/* --- Tests ---------------------------------------------------------------------------------- */

TEST(a_thread_that_was_exported_and_imported_is_exported_to_the_same_bytes_but_for_ids)
{
    struct page page;
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    struct str first = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    EXPECT_STR(exported(&f, DEFAULT_TENANT_ID, of_thread(thread)), first);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_REMAP), OK);
    struct thread got;
    const struct thread_filter all = {0};
    size_t n;
    page = (struct page){.limit = 1};
    EXPECT_EQ(thread_list(begin_as(&f, other), &all, &page, &got), OK);
    n = page.count;
    commit(&f);
    EXPECT_EQ(n, 1);
    EXPECT(!uuid_eq(got.id, thread));
    expect_same(&f, first, exported(&f, other, of_thread(got.id)));
    fixture_end(&f);
}

TEST(a_tenant_goes_into_another_with_its_ids_kept_to_the_very_same_bytes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    add_link(&f, DEFAULT_TENANT_ID, agent, add_agent(&f, DEFAULT_TENANT_ID, "second"));
    add_storage(&f, DEFAULT_TENANT_ID, agent);
    add_state(&f, DEFAULT_TENANT_ID, agent, UUID_NIL, "config", "config");
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    furnish(&f, DEFAULT_TENANT_ID, agent);
    add_events(&f, thread, 40);
    int64_t pruned;
    EXPECT_EQ(event_prune(begin(&f), thread, 20, &pruned), OK);
    commit(&f);
    struct str first = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_KEEP), OK);
    EXPECT_STR(exported(&f, other, OF_TENANT), first);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blobs"), 6);
    EXPECT_EQ(imported(&f, other, first, ARCHIVE_IDS_KEEP), ERR_CONFLICT);
    EXPECT_PART(told(&f), "already");
    EXPECT_STR(exported(&f, other, OF_TENANT), first);
    fixture_end(&f);
}

/* Reads a page behind the last row, and appends its lines. */
static int64_t read_page(struct fixture *f, const struct archive_member *m,
    const struct archive_subject *subject, int64_t limit, bool is_first,
    struct archive_value *in_out_last, struct buf *out)
{
    int64_t n = 0;
    struct query q;
    context_query(begin_reading_as(f, DEFAULT_TENANT_ID), &q, m->select[subject->what]);
    if (statement_takes(q.statement, from))
        query_uuid(&q, from, subject->id);
    archive_bind_after(m, is_first ? NULL : in_out_last, &q);
    query_i64(&q, limit, limit);
    for (; query_next(&q); n++) {
        archive_read_row(m, &q, in_out_last);
        archive_write_line(m, in_out_last, out);
    }
    EXPECT_EQ(query_end(&q), OK);
    commit(f);
    return n;
}

static struct str read_pages(struct fixture *f, const struct archive_member *m,
    const struct archive_subject *subject, int64_t limit)
{
    struct archive_value last[ARCHIVE_MAX_FIELDS] = {0};
    struct buf out;
    bool is_first = true;
    buf_init(&out, SIZE_MAX);
    while (read_page(f, m, subject, limit, is_first, last, &out) == limit)
        is_first = false;
    struct str lines = arena_str(f->arena, buf_str(&out));
    buf_deinit(&out);
    return lines;
}

TEST(pages_of_every_size_have_the_same_rows_in_the_same_order)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    add_agent(&f, DEFAULT_TENANT_ID, "second");
    add_storage(&f, DEFAULT_TENANT_ID, agent);
    add_state(&f, DEFAULT_TENANT_ID, agent, UUID_NIL, "config", "config");
    furnish(&f, DEFAULT_TENANT_ID, agent);
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    furnish(&f, DEFAULT_TENANT_ID, agent);
    const struct archive_subject subjects[] = {
        OF_TENANT, of_thread(thread), {ARCHIVE_AGENT, agent}};
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        for (size_t k = 0; k < COUNT_OF(subjects); k++) {
            const struct archive_member *m = &archive_members[i];
            const struct sql_statement *s = m->select[subjects[k].what];
            if (s == NULL || statement_takes(s, hashes))
                continue;
            struct str all = read_pages(&f, m, &subjects[k], 1000);
            for (int64_t limit = 1; limit <= 3; limit++)
                EXPECT_STR(read_pages(&f, m, &subjects[k], limit), all);
        }
    fixture_end(&f);
}

TEST(an_agent_goes_with_its_versions_and_which_of_them_is_active)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    const struct archive_subject subject = {ARCHIVE_AGENT, agent};
    struct str archive = exported(&f, DEFAULT_TENANT_ID, subject);
    EXPECT_EQ(imported(&f, other, archive, ARCHIVE_IDS_KEEP), OK);
    struct agent_version version;
    EXPECT_EQ(agent_version_get(begin_as(&f, other), agent, STR("active"), &version), OK);
    commit(&f);
    EXPECT_STR(version.version, STR("1.1.0"));
    EXPECT_STR(version.description, STR("better"));
    EXPECT(version.has_used_at);
    EXPECT_PART(version.parts[PART_TOOLS], "search");
    struct agent back;
    EXPECT_EQ(agent_version_rollback(begin_as(&f, other), agent, &back), OK);
    commit(&f);
    EXPECT_STR(back.version, STR("1.0.0"));
    EXPECT_EQ(back.kind, AGENT_KIND_TEAM);
    fixture_end(&f);
}

/* Written beside the model, which would not write it. */
TEST(links_that_lead_in_a_circle_are_not_imported)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid a = add_agent(&f, DEFAULT_TENANT_ID, "a"),
                b = add_agent(&f, DEFAULT_TENANT_ID, "b");
    add_link(&f, DEFAULT_TENANT_ID, a, b);
    add(&f, "INSERT INTO agent_links (tenant_id, parent_id, child_id, role, position, metadata,"
            " created_at, updated_at) SELECT tenant_id, child_id, parent_id, role, 0, '{}', 1, 1"
            " FROM agent_links");
    struct str archive = exported(&f, DEFAULT_TENANT_ID, OF_TENANT);
    EXPECT_EQ(imported(&f, other, archive, ARCHIVE_IDS_REMAP), ERR_INVALID);
    EXPECT_PART(told(&f), "has a cycle");
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agents"), 2);
    fixture_end(&f);
}

TEST(an_imported_thread_goes_on_where_it_was)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    struct thread before = get_thread(&f, thread), after;
    EXPECT_EQ(
        imported(&f, other, exported(&f, DEFAULT_TENANT_ID, of_thread(thread)), ARCHIVE_IDS_KEEP),
        OK);
    struct event event = {.kind = STR("progress")};
    struct context *c = begin_as(&f, other);
    EXPECT_EQ(event_append(c, thread, &event, 1), OK);
    EXPECT_EQ(thread_get(c, thread, &after), OK);
    struct resumption resumption;
    struct history_entry entry;
    EXPECT_EQ(resumption_get(c, thread, true, &resumption), OK);
    EXPECT_STR(resumption.messages, STR("[{\"role\":\"user\",\"content\":\"hi\"}]"));
    EXPECT(resumption.awaiting_frontend_tools);
    EXPECT_EQ(history_get(c, thread, 1, true, &entry), OK);
    EXPECT_STR(entry.messages, resumption.messages);
    EXPECT_STR(entry.user_message, STR("before"));
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM steps"), 10);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM runs WHERE step_count = 3"), 2);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM runs WHERE lifecycle_steps = 1"), 6);
    EXPECT_EQ(event.seq, before.last_seq + 1);
    EXPECT_EQ(after.last_seq, before.last_seq + 1);
    EXPECT_EQ(after.created_at, before.created_at);
    EXPECT_STR(after.metadata, before.metadata);
    fixture_end(&f);
}

TEST(a_run_under_a_lease_comes_in_as_one_that_waits_for_a_worker)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid thread = make_thread(&f);
    struct run run = make_claimed(&f, thread), got;
    struct str bytes = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    EXPECT_EQ(imported(&f, other, bytes, ARCHIVE_IDS_KEEP), OK);
    EXPECT_EQ(run_get(begin_as(&f, other), run.id, &got), OK);
    commit(&f);
    EXPECT_EQ(got.status, RUN_QUEUED);
    EXPECT(!got.has_lease);
    struct run_claim claim = {.worker = STR("w"), .lease_ms = 5000};
    bool found;
    EXPECT_EQ(run_claim(begin_as(&f, other), &claim, &got, &found), OK);
    commit(&f);
    EXPECT(found);
    EXPECT(got.fence > run.fence);
    fixture_end(&f);
}

TEST(an_agent_that_is_there_is_the_one_that_an_imported_thread_means)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct uuid theirs = add_agent(&f, other, "helper");
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    struct str bytes = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    EXPECT_EQ(imported(&f, other, bytes, ARCHIVE_IDS_REMAP), OK);
    EXPECT_EQ(sql_i64(&f, arena_cstr(f.arena,
                              arena_printf(f.arena,
                                  "SELECT count(*) FROM state_documents WHERE agent_id = %s",
                                  literal(&f, theirs)))),
        1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM agents"), 2);
    fixture_end(&f);
}

TEST(any_flipped_byte_of_an_archive_is_refused_and_nothing_is_changed)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid thread = make_thread(&f);
    struct str good = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    char *bad = arena_alloc(f.arena, good.len);
    for (size_t at = 0; at < good.len; at += 13) {
        memcpy(bad, good.ptr, good.len);
        bad[at] ^= 4;
        struct str bytes = {bad, good.len};
        struct archive *a = opened(&bytes);
        if (archive_verify(a, &f.problem) == OK)
            test_fail(__FILE__, __LINE__, "byte %zu was changed and taken", at);
        archive_destroy(a);
        problem_init(&f.problem, f.arena);
    }
    EXPECT_EQ(imported(&f, other, str_slice(good, 0, good.len - 1), ARCHIVE_IDS_KEEP), ERR_INVALID);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM threads"), 1);
    fixture_end(&f);
}

TEST(a_copied_thread_whose_messages_name_files_that_are_gone_can_be_moved)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct thread_copying copying = {0};
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a.txt")), OK);
    commit(&f);
    for (bool more = true; more; copying.is_begun = true) {
        EXPECT_EQ(thread_copy(begin(&f), thread, uuid_v7(), &copying, &more), OK);
        commit(&f);
    }
    struct str bytes = exported(&f, DEFAULT_TENANT_ID, of_thread(copying.id));
    EXPECT_EQ(imported(&f, other, bytes, ARCHIVE_IDS_REMAP), OK);
    fixture_end(&f);
}

static enum error nobody_knows(void *data, struct uuid tenant_id, struct uuid id, bool *out_known)
{
    *out_known = false;
    return OK;
}

TEST(a_sweep_leaves_what_an_import_has_staged_and_not_committed_yet)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other");
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct uuid thread = furnish(&f, DEFAULT_TENANT_ID, agent);
    struct str bytes = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    struct archive *a = opened(&bytes);
    uint64_t removed;
    EXPECT_EQ(archive_verify(a, &f.problem), OK);
    EXPECT_EQ(archive_stage(a, f.store, other, &f.problem), OK);
    EXPECT_EQ(content_sweep(f.store, nobody_knows, NULL, &removed), OK);
    EXPECT_EQ(removed, 0);
    archive_unstage(a, f.store, other, false);
    archive_destroy(a);
    fixture_end(&f);
}

/* Truncates the content with these bytes to its first byte. */
static void damage_content(struct fixture *f, struct str bytes)
{
    struct blob blob;
    struct content_writer *w;
    struct content_info unused;
    const struct sha256 hash = sha256_of(bytes);
    EXPECT_EQ(blob_find(begin_reading_as(f, DEFAULT_TENANT_ID), &hash, &blob), OK);
    commit(f);
    EXPECT_EQ(content_reopen(f->store, DEFAULT_TENANT_ID, blob.id, 1, &w), OK);
    EXPECT_EQ(content_sync(w, &unused), OK);
    content_keep(w);
}

TEST(content_that_is_damaged_is_told_from_content_that_was_removed_meanwhile)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct archive_subject subject = of_thread(furnish(&f, DEFAULT_TENANT_ID, agent));
    int fd = new_file();
    struct archive_export *x = archive_export_create(fd, NULL, NULL);
    EXPECT_EQ(archive_export_rows(begin_reading_as(&f, DEFAULT_TENANT_ID), &subject, x), OK);
    commit(&f);
    damage_content(&f, STR("second"));
    EXPECT_EQ(archive_export_fill(x, f.store, DEFAULT_TENANT_ID, &f.problem), ERR_DAMAGED);
    EXPECT_EQ(store_stats(f.store).damaged, 1);
    add(&f, "DELETE FROM file_versions WHERE size_bytes = 6");
    add(&f, "DELETE FROM blobs WHERE size_bytes = 6");
    EXPECT_EQ(archive_export_fill(x, f.store, DEFAULT_TENANT_ID, &f.problem), ERR_UNAVAILABLE);
    archive_export_destroy(x);
    close(fd);
    fixture_end(&f);
}

/* Allows a number of steps, then cancels. */
static enum error count_down(void *data)
{
    int *left = data;
    return (*left)-- > 0 ? OK : ERR_CANCELLED;
}

TEST(an_export_ends_where_it_is_cancelled)
{
    enum { PLENTY = 1000 };
    struct fixture f;
    fixture_begin(&f);
    struct uuid agent = add_agent(&f, DEFAULT_TENANT_ID, "helper");
    struct archive_subject subject = of_thread(furnish(&f, DEFAULT_TENANT_ID, agent));
    int fd = new_file(), left = PLENTY;
    struct archive_export *x = archive_export_create(fd, count_down, &left);
    EXPECT_EQ(archive_export_rows(begin_reading_as(&f, DEFAULT_TENANT_ID), &subject, x), OK);
    commit(&f);
    int steps = PLENTY - left;
    for (int allowed = 0; allowed < steps; allowed++) {
        left = allowed;
        struct context *c = begin_reading_as(&f, DEFAULT_TENANT_ID);
        EXPECT_EQ(archive_export_rows(c, &subject, x), ERR_CANCELLED);
        EXPECT_EQ(left, -1); /* the first refusal is the last question */
        commit(&f);
    }
    left = steps;
    EXPECT_EQ(archive_export_rows(begin_reading_as(&f, DEFAULT_TENANT_ID), &subject, x), OK);
    commit(&f);
    EXPECT_EQ(archive_export_fill(x, f.store, DEFAULT_TENANT_ID, &f.problem), ERR_CANCELLED);
    left = PLENTY;
    EXPECT_EQ(archive_export_fill(x, f.store, DEFAULT_TENANT_ID, &f.problem), OK);
    archive_export_destroy(x);
    close(fd);
    fixture_end(&f);
}

/* --- The table and the catalogue ------------------------------------------------------------ */

static bool is_exported(const char *table, const char *column)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const struct archive_member *m = &archive_members[i];
        for (size_t k = 0; k < COUNT_OF(m->tables) && m->tables[k] != NULL; k++) {
            if (strcmp(m->tables[k], table) != 0)
                continue;
            if (strcmp(column, "tenant_id") == 0 ||
                (k > 0 && str_ends_with(str_of(column), STR("_id"))))
                return true;
            for (size_t n = 0; n < m->n_fields; n++)
                if (!(m->fields[n].flags & HIDDEN) && strcmp(m->fields[n].name, column) == 0)
                    return true;
        }
    }
    return false;
}

static bool is_omitted(const char *table, const char *column)
{
    for (size_t i = 0; i < archive_omission_count; i++) {
        const struct archive_omission *o = &archive_omissions[i];
        struct str name = str_of(o->table);
        bool is_table = strcmp(o->table, table) == 0 ||
                        (str_ends_with(name, STR("_")) && str_starts_with(str_of(table), name));
        if (is_table && (o->column == NULL || strcmp(o->column, column) == 0))
            return o->why[0] != '\0';
    }
    return false;
}

TEST(a_document_that_is_kept_as_a_snapshot_goes_where_its_thread_goes)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid other = make_tenant(&f, "other"), thread = make_thread(&f), last;
    struct str before, after;
    struct context *c = begin(&f);
    add_snapshots(c, thread, &last);
    EXPECT_EQ(snapshot_get(c, last, &before), OK);
    commit(&f);
    struct str archive = exported(&f, DEFAULT_TENANT_ID, of_thread(thread));
    EXPECT_PART(archive, "\"value\":\"2 " LONG_TEXT "\"");
    EXPECT_EQ(imported(&f, other, archive, ARCHIVE_IDS_KEEP), OK);
    c = begin_as(&f, other);
    EXPECT_EQ(snapshot_get(c, last, &after), OK);
    EXPECT_STR(after, before);
    EXPECT_EQ(snapshot_put(c, thread, last, STR("{\"m\":[]}"), &(struct snapshot){0}), OK);
    commit(&f);
    EXPECT_EQ(imported(&f, other, archive, ARCHIVE_IDS_REMAP), OK);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM items"), 4); /* two of each tenant */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM snapshots"), 3 + 4 + 3);
    fixture_end(&f);
}

TEST(every_column_of_every_table_is_in_archives_or_on_the_list_of_those_that_are_not)
{
    struct fixture f;
    fixture_begin(&f);
    struct str all = sql_text(&f,
        on_postgres()
            ? "SELECT string_agg(table_name || '.' || column_name, ' ') FROM"
              " information_schema.columns JOIN pg_class ON relname = table_name AND relkind = 'r'"
              " AND relnamespace = current_schema()::regnamespace"
              " WHERE table_schema = current_schema() AND is_generated = 'NEVER'"
            : "SELECT group_concat(m.name || '.' || c.name, ' ') FROM sqlite_master AS m,"
              " pragma_table_info(m.name) AS c WHERE m.type = 'table'"
              " AND m.name NOT LIKE 'sqlite_%'");
    struct str column;
    size_t n = 0;
    for (; str_next_part(&all, ' ', &column); n++) {
        size_t dot = str_find(column, '.');
        const char *table = arena_cstr(f.arena, str_slice(column, 0, dot));
        const char *name = arena_cstr(f.arena, str_slice(column, dot + 1, column.len));
        if (is_exported(table, name) == is_omitted(table, name))
            test_fail(
                __FILE__, __LINE__, "%s.%s: either in archives, or omitted and why", table, name);
    }
    EXPECT(n > 100);
    fixture_end(&f);
}
