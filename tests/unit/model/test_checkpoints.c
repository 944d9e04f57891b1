/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/checkpoints.h"

#include "fixture.h"

static struct uuid id_of(uint8_t last)
{
    struct uuid id = UUID_NIL;
    id.bytes[15] = last;
    return id;
}

/* Puts the values with an id of its own, upon the latest. */
static enum error try_put(struct fixture *f, struct uuid thread, const char *ns, uint8_t id,
    const char *values, struct checkpoint *out)
{
    struct checkpoint_put put = {.has_id = true, .values = str_of(values)};
    bool is_new;
    *out = (struct checkpoint){.thread_id = thread, .ns = str_of(ns), .id = id_of(id)};
    enum error e = checkpoint_put(begin(f), &put, out, &is_new);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

static struct checkpoint put(
    struct fixture *f, struct uuid thread, const char *ns, uint8_t id, const char *values)
{
    struct checkpoint k;
    EXPECT_EQ(try_put(f, thread, ns, id, values, &k), OK);
    return k;
}

static struct checkpoint get(struct fixture *f, struct uuid thread, const char *ns, uint8_t id)
{
    struct checkpoint k = {0};
    EXPECT_EQ(
        checkpoint_get(begin_reading(f), thread, str_of(ns), id_of(id), CHECKPOINT_WHOLE, &k), OK);
    commit(f);
    return k;
}

static struct checkpoint latest(struct fixture *f, struct uuid thread, const char *ns)
{
    struct checkpoint k = {0};
    EXPECT_EQ(checkpoint_latest(begin_reading(f), thread, str_of(ns), CHECKPOINT_WHOLE, &k), OK);
    commit(f);
    return k;
}

static enum error put_with(
    struct fixture *f, const struct checkpoint_put *how, struct checkpoint *k)
{
    bool is_new;
    enum error e = checkpoint_put(begin(f), how, k, &is_new);
    if (e == OK)
        commit(f);
    else
        abandon(f);
    return e;
}

TEST(checkpoints_form_a_line_in_each_namespace)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint first = put(&f, thread, "", 1, "{\"a\":1}");
    put(&f, thread, "child:1", 7, "{\"b\":1}");
    struct checkpoint third = put(&f, thread, "", 2, "{\"a\":2}");
    EXPECT_EQ(first.sequence_num, 1);
    EXPECT_EQ(third.sequence_num, 3);
    EXPECT(!first.has_parent_id);
    EXPECT(third.has_parent_id && uuid_eq(third.parent_id, first.id));
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"a\":2}"));
    EXPECT_STR(latest(&f, thread, "child:1").channel_values, STR("{\"b\":1}"));
    EXPECT(!latest(&f, thread, "child:1").has_parent_id);
    EXPECT_STR(last_event(&f, thread).kind, STR("checkpoint.created"));
    fixture_end(&f);
}

TEST(the_same_checkpoint_once_more_is_harmless_and_another_under_its_id_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint k, first = put(&f, thread, "", 1, "{\"a\":1,\"b\":[1,2]}");
    put(&f, thread, "", 2, "{\"a\":2}");
    k = put(&f, thread, "", 1, "{\"b\":[1,2.0],\"a\":1}");
    EXPECT_EQ(k.sequence_num, first.sequence_num);
    EXPECT_EQ(last_event(&f, thread).seq, 3);
    EXPECT_EQ(try_put(&f, thread, "", 1, "{\"a\":3}", &k), ERR_CONFLICT);
    EXPECT_PART(told(&f), "a different checkpoint");
    EXPECT_STR(get(&f, thread, "", 1).channel_values, STR("{\"a\":1,\"b\":[1,2]}"));
    struct checkpoint_put over = {.has_id = true, .may_replace = true, .values = STR("{\"a\":3}")};
    k = (struct checkpoint){.thread_id = thread, .ns = STR(""), .id = id_of(1)};
    EXPECT_EQ(put_with(&f, &over, &k), OK);
    EXPECT_EQ(k.sequence_num, 1);
    EXPECT_STR(get(&f, thread, "", 1).channel_values, STR("{\"a\":3}"));
    EXPECT(uuid_eq(latest(&f, thread, "").id, id_of(2)));
    fixture_end(&f);
}

TEST(a_parent_of_another_thread_or_namespace_is_refused)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f);
    put(&f, thread, "inner", 1, "{}");
    put(&f, other, "", 2, "{}");
    const uint8_t parents[] = {1, 2, 3, 9};
    for (size_t i = 0; i < COUNT_OF(parents); i++) {
        struct checkpoint_put how = {.has_id = true, .knows_parent = true, .values = STR("{}")};
        struct checkpoint k = {.thread_id = thread,
            .ns = STR(""),
            .id = id_of(9),
            .has_parent_id = true,
            .parent_id = id_of(parents[i])};
        EXPECT_EQ(put_with(&f, &how, &k), ERR_INVALID);
        EXPECT_STR(f.problem.faults[0].pointer, STR("/parent_id"));
        problem_init(&f.problem, f.arena);
    }
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM checkpoints"), 2);
    fixture_end(&f);
}

TEST(a_writer_that_expects_another_latest_is_told_which_one_it_is)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint_put how = {.expects_latest = true, .values = STR("{}")};
    struct checkpoint k = {.thread_id = thread, .ns = STR("")};
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    struct uuid first = k.id;
    k = (struct checkpoint){.thread_id = thread, .ns = STR("")};
    EXPECT_EQ(put_with(&f, &how, &k), ERR_CONFLICT);
    char text[UUID_TEXT_LEN];
    uuid_format(first, text);
    EXPECT_STR(
        f.problem.extension, arena_printf(f.arena, "{\"latest\":\"%.*s\"}", UUID_TEXT_LEN, text));
    how.has_expected = true;
    how.expected = first;
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    k = (struct checkpoint){.thread_id = thread, .ns = STR("")};
    EXPECT_EQ(put_with(&f, &how, &k), ERR_CONFLICT);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM checkpoints"), 2);
    fixture_end(&f);
}

TEST(changes_are_put_upon_the_values_of_the_parent)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct str gone = STR("custom");
    struct checkpoint_put how = {.change = {.set = STR("{\"iteration\":2}"),
                                     .append = STR("{\"messages\":[\"b\",\"c\"],\"log\":[1]}"),
                                     .remove = &gone,
                                     .n_remove = 1}};
    struct checkpoint k = {.thread_id = thread, .ns = STR("")};
    EXPECT_EQ(put_with(&f, &how, &k), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/changes"));
    problem_init(&f.problem, f.arena);
    put(&f, thread, "", 1, "{\"messages\":[\"a\"],\"iteration\":1,\"custom\":{}}");
    k = (struct checkpoint){.thread_id = thread, .ns = STR("")};
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    struct checkpoint read = latest(&f, thread, "");
    EXPECT_STR(
        read.channel_values, STR("{\"messages\":[\"a\",\"b\",\"c\"],\"iteration\":2,\"log\":[1]}"));
    EXPECT_EQ(read.size_bytes, (int64_t)read.channel_values.len);
    fixture_end(&f);
}

/* --- Writes --------------------------------------------------------------------------------- */

static int64_t write_to(struct fixture *f, struct uuid thread, uint8_t id, const char *task,
    int64_t index, const char *value)
{
    struct checkpoint k = {.thread_id = thread, .ns = STR(""), .id = id_of(id)};
    struct checkpoint_task of = {.task_id = str_of(task)};
    struct checkpoint_write one = {STR("messages"), str_of(value), index};
    int64_t written = -1;
    EXPECT_EQ(checkpoint_put_writes(begin(f), &k, &of, &one, 1, &written), OK);
    commit(f);
    return written;
}

TEST(the_first_to_write_an_index_wins_and_negative_ones_are_written_over)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, "{}");
    EXPECT_EQ(write_to(&f, thread, 1, "t", 0, "1"), 1);
    EXPECT_EQ(write_to(&f, thread, 1, "t", 0, "2"), 0);
    EXPECT_EQ(write_to(&f, thread, 1, "u", 0, "3"), 1);
    EXPECT_EQ(write_to(&f, thread, 1, "t", -1, "4"), 1);
    EXPECT_EQ(write_to(&f, thread, 1, "t", -1, "5"), 1);
    EXPECT_STR(get(&f, thread, "", 1).pending_writes,
        STR("[{\"task_id\":\"t\",\"index\":-1,\"task_path\":\"\",\"channel\":\"messages\","
            "\"value\":5},{\"task_id\":\"t\",\"index\":0,\"task_path\":\"\",\"channel\":"
            "\"messages\",\"value\":1},{\"task_id\":\"u\",\"index\":0,\"task_path\":\"\","
            "\"channel\":\"messages\",\"value\":3}]"));
    fixture_end(&f);
}

TEST(writes_may_come_before_their_checkpoint_only_when_the_writer_says_so)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint k = {.thread_id = thread, .ns = STR(""), .id = id_of(1)};
    struct checkpoint_task task = {.task_id = STR("t")};
    struct checkpoint_write one = {STR("x"), STR("true"), 0};
    int64_t written;
    EXPECT_EQ(checkpoint_put_writes(begin(&f), &k, &task, &one, 1, &written), ERR_NOT_FOUND);
    abandon(&f);
    problem_init(&f.problem, f.arena);
    task.is_ahead = true;
    EXPECT_EQ(checkpoint_put_writes(begin(&f), &k, &task, &one, 1, &written), OK);
    commit(&f);
    put(&f, thread, "", 1, "{}");
    EXPECT_PART(get(&f, thread, "", 1).pending_writes, "\"value\":true");
    fixture_end(&f);
}

TEST(a_checkpoint_takes_so_many_writes_and_no_more)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, "{}");
    struct checkpoint k = {.thread_id = thread, .ns = STR(""), .id = id_of(1)};
    struct checkpoint_task task = {.task_id = STR("t")};
    struct checkpoint_write *many =
        ARENA_ARRAY(f.arena, struct checkpoint_write, CHECKPOINT_WRITES_MAX);
    int64_t written;
    for (int i = 0; i < CHECKPOINT_WRITES_MAX; i++)
        many[i] = (struct checkpoint_write){STR("x"), STR("1"), i};
    EXPECT_EQ(
        checkpoint_put_writes(begin(&f), &k, &task, many, CHECKPOINT_WRITES_MAX, &written), OK);
    commit(&f);
    EXPECT_EQ(written, CHECKPOINT_WRITES_MAX);
    struct checkpoint_write one = {STR("x"), STR("1"), CHECKPOINT_WRITES_MAX};
    EXPECT_EQ(checkpoint_put_writes(begin(&f), &k, &task, &one, 1, &written), ERR_INVALID);
    EXPECT_STR(f.problem.faults[0].pointer, STR("/writes"));
    abandon(&f);
    fixture_end(&f);
}

/* --- Lists ---------------------------------------------------------------------------------- */

static void put_numbered(struct fixture *f, struct uuid thread, uint8_t id, const char *source)
{
    struct checkpoint_put how = {.has_id = true, .values = STR("{}")};
    struct checkpoint k = {.thread_id = thread,
        .ns = STR(""),
        .id = id_of(id),
        .metadata = arena_printf(f->arena, "{\"source\":\"%s\",\"step\":%d}", source, id)};
    EXPECT_EQ(put_with(f, &how, &k), OK);
}

TEST(a_list_is_filtered_by_metadata_and_goes_on_where_it_ended)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    for (uint8_t i = 1; i <= 70; i++)
        put_numbered(&f, thread, i, i % 35 == 1 ? "input" : "loop");
    struct checkpoint_filter filter = {.thread_id = thread, .ns = STR("")};
    filter.metadata_keys[0] = STR("source");
    filter.metadata_values[0] = STR("input");
    struct checkpoint found[4];
    struct checkpoint_page page = {.checkpoints = found};
    page.page.limit = 1;
    EXPECT_EQ(checkpoint_list(begin_reading(&f), &filter, &page), OK);
    commit(&f);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(page.page.more);
    EXPECT(uuid_eq(found[0].id, id_of(36)));
    filter.before = page.next;
    page.page.limit = 4;
    EXPECT_EQ(checkpoint_list(begin_reading(&f), &filter, &page), OK);
    commit(&f);
    EXPECT_EQ(page.page.count, 1);
    EXPECT(!page.page.more);
    EXPECT(uuid_eq(found[0].id, id_of(1)));
    filter = (struct checkpoint_filter){
        .thread_id = thread, .ns = STR(""), .has_before_id = true, .before_id = id_of(3)};
    page.page.limit = 4;
    EXPECT_EQ(checkpoint_list(begin_reading(&f), &filter, &page), OK);
    commit(&f);
    EXPECT_EQ(page.page.count, 2);
    EXPECT(uuid_eq(found[0].id, id_of(2)));
    EXPECT(str_is_none(found[0].channel_values));
    fixture_end(&f);
}

/* --- Recovery ------------------------------------------------------------------------------- */

static const char LONG_A[] = "{\"messages\":[\""
                             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                             "\"]}";
static const char LONG_B[] = "{\"messages\":[\""
                             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
                             "\"]}";

/* A bit of what the checkpoint's own snapshot has. */
static void damage(struct fixture *f, const char *where)
{
    sql_exec(f, arena_cstr(f->arena,
                    arena_printf(f->arena,
                        on_postgres()
                            ? "UPDATE snapshots SET sha256 = set_byte(sha256, 3, "
                              "get_byte(sha256, 3) # 1) WHERE id IN (SELECT snapshot_id FROM "
                              "checkpoints WHERE %s)"
                            : "UPDATE snapshots SET sha256 = CAST(substr(sha256, 1, 3) || x'00ff' "
                              "|| substr(sha256, 6) AS BLOB) WHERE id IN (SELECT snapshot_id FROM "
                              "checkpoints WHERE %s)",
                        where)));
}

TEST(recovery_falls_back_to_the_parent_of_what_is_damaged_and_tells_so)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, LONG_A);
    put(&f, thread, "", 2, LONG_B);
    put(&f, thread, "", 3, "{\"messages\":[]}");
    struct checkpoint_place place = {.thread_id = thread, .ns = STR("")};
    struct checkpoint_recovery r;
    EXPECT_EQ(checkpoint_recover(begin_reading(&f), &place, &r), OK);
    commit(&f);
    EXPECT(uuid_eq(r.checkpoint.id, id_of(3)));
    EXPECT_STR(r.skipped, STR("[]"));
    damage(&f, "sequence_num >= 2");
    EXPECT_EQ(checkpoint_recover(begin_reading(&f), &place, &r), OK);
    commit(&f);
    EXPECT(uuid_eq(r.checkpoint.id, id_of(1)));
    EXPECT_STR(r.checkpoint.channel_values, str_of(LONG_A));
    EXPECT_PART(r.skipped, "00000000-0000-0000-0000-000000000003");
    EXPECT_PART(r.skipped, "00000000-0000-0000-0000-000000000002");
    damage(&f, "sequence_num = 1");
    EXPECT_EQ(checkpoint_recover(begin_reading(&f), &place, &r), ERR_DAMAGED);
    commit(&f);
    EXPECT_PART(f.problem.extension, "00000000-0000-0000-0000-000000000001");
    fixture_end(&f);
}

static size_t count_of(struct str text, const char *part)
{
    size_t n = 0;
    for (size_t i = 0; i + strlen(part) <= text.len; i++)
        n += memcmp(text.ptr + i, part, strlen(part)) == 0;
    return n;
}

TEST(recovery_skips_at_most_1000_damaged_checkpoints)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct context *c = begin(&f);
    for (int i = 0; i < CHECKPOINT_SKIP_MAX + 1; i++) {
        struct checkpoint_put how = {.values = STR("{}")};
        struct checkpoint k = {.thread_id = thread, .ns = STR("")};
        bool is_new;
        EXPECT_EQ(checkpoint_put(c, &how, &k, &is_new), OK);
    }
    commit(&f);
    struct checkpoint_place place = {.thread_id = thread, .ns = STR("")};
    struct checkpoint_recovery r;
    damage(&f, "sequence_num > 1");
    EXPECT_EQ(checkpoint_recover(begin_reading(&f), &place, &r), OK);
    commit(&f);
    EXPECT_EQ(r.checkpoint.sequence_num, 1);
    EXPECT_EQ(count_of(r.skipped, "checkpoint_id"), CHECKPOINT_SKIP_MAX);
    put(&f, thread, "", 1, LONG_A);
    damage(&f, "sequence_num > 1001");
    EXPECT_EQ(checkpoint_recover(begin_reading(&f), &place, &r), ERR_DAMAGED);
    commit(&f);
    EXPECT_EQ(count_of(f.problem.extension, "checkpoint_id"), CHECKPOINT_SKIP_MAX);
    EXPECT_STR(f.problem.detail,
        STR("the newest 1000 checkpoints are damaged; older ones were not examined"));
    fixture_end(&f);
}

TEST(a_whole_checkpoint_can_be_put_upon_one_that_is_damaged)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, LONG_A);
    damage(&f, "sequence_num = 1");
    put(&f, thread, "", 2, LONG_B);
    EXPECT_STR(latest(&f, thread, "").channel_values, str_of(LONG_B));
    fixture_end(&f);
}

/* --- Pruning and deletion ------------------------------------------------------------------- */

TEST(what_is_pruned_leaves_its_descendants_whole)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint_removed removed;
    struct checkpoint k;
    for (uint8_t i = 1; i <= 5; i++)
        put(&f, thread, "", i,
            arena_cstr(f.arena, arena_printf(f.arena, "{\"n\":%d,\"same\":\"%0200d\"}", i, 7)));
    put(&f, thread, "inner", 9, "{}");
    write_to(&f, thread, 1, "t", 0, "1");
    const struct checkpoint_prune keep = {.keep_latest = 2};
    EXPECT_EQ(checkpoint_prune(begin(&f), thread, &keep, &removed), OK);
    commit(&f);
    EXPECT_EQ(removed.count, 3);
    EXPECT(!removed.more);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM checkpoint_writes"), 0);
    k = get(&f, thread, "", 4);
    EXPECT(!k.has_parent_id);
    EXPECT_PART(k.channel_values, "{\"n\":4,");
    k = get(&f, thread, "", 5);
    EXPECT(k.has_parent_id && uuid_eq(k.parent_id, id_of(4)));
    EXPECT_PART(k.channel_values, "{\"n\":5,");
    const struct checkpoint_prune young = {
        .keep_latest = 1, .has_older_than = true, .older_than = 1000};
    EXPECT_EQ(checkpoint_prune(begin(&f), thread, &young, &removed), OK);
    commit(&f);
    EXPECT_EQ(removed.count, 0);
    EXPECT_EQ(checkpoint_delete_all(begin(&f), thread, STR(""), &removed), OK);
    commit(&f);
    EXPECT_EQ(removed.count, 2);
    EXPECT_STR(latest(&f, thread, "inner").channel_values, STR("{}"));
    fixture_end(&f);
}

static struct checkpoint_removed copy_some(struct fixture *f, struct uuid from, struct uuid to)
{
    struct checkpoint_removed copied = {0};
    EXPECT_EQ(checkpoint_copy(begin(f), from, to, &copied), OK);
    commit(f);
    return copied;
}

TEST(one_request_copies_prunes_and_deletes_so_many_and_says_that_others_remain)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f), large = make_thread(&f);
    const struct checkpoint_prune keep = {.keep_latest = 1};
    struct checkpoint_removed some;
    for (uint8_t i = 1; i <= CHECKPOINT_DELETE_MAX + 1; i++)
        put(&f, thread, "", i, "{}");
    some = copy_some(&f, thread, other);
    EXPECT(some.count == CHECKPOINT_COPY_MAX && some.more);
    some = copy_some(&f, thread, other);
    EXPECT(some.count == CHECKPOINT_COPY_MAX && some.more);
    some = copy_some(&f, thread, other);
    EXPECT(some.count == 1 && !some.more);
    EXPECT_EQ(checkpoint_prune(begin(&f), thread, &keep, &some), OK);
    commit(&f);
    EXPECT(some.count == CHECKPOINT_DELETE_MAX && !some.more);
    EXPECT_EQ(checkpoint_delete_all(begin(&f), other, STR_NONE, &some), OK);
    commit(&f);
    EXPECT(some.count == CHECKPOINT_DELETE_MAX && some.more);
    EXPECT_EQ(checkpoint_delete_all(begin(&f), other, STR_NONE, &some), OK);
    commit(&f);
    EXPECT(some.count == 1 && !some.more);
    for (uint8_t i = 1; i <= 3; i++)
        put(&f, large, "", i,
            arena_cstr(f.arena,
                arena_printf(f.arena, "{\"text\":\"%0*d\"}", CHECKPOINT_COPY_MAX_BYTES / 2, i)));
    some = copy_some(&f, large, other);
    EXPECT(some.count == 2 && some.more); /* the second one goes beyond the bytes */
    some = copy_some(&f, large, other);
    EXPECT(some.count == 1 && !some.more);
    fixture_end(&f);
}

TEST(a_deleted_thread_takes_its_checkpoints_along)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, LONG_A);
    put(&f, thread, "", 2, LONG_B);
    write_to(&f, thread, 1, "t", 0, "1");
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM checkpoints"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM checkpoint_writes"), 0);
    fixture_end(&f);
}

/* --- Copies and replays --------------------------------------------------------------------- */

TEST(a_copy_has_the_values_the_line_and_the_writes_and_can_be_gone_on_with)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), other = make_thread(&f);
    struct checkpoint_removed copied;
    put(&f, thread, "", 1, LONG_A);
    put(&f, thread, "", 2, LONG_B);
    write_to(&f, thread, 2, "t", 0, "1");
    EXPECT_EQ(checkpoint_copy(begin(&f), thread, other, &copied), OK);
    commit(&f);
    EXPECT_EQ(copied.count, 2);
    struct checkpoint k = get(&f, other, "", 2);
    EXPECT_STR(k.channel_values, str_of(LONG_B));
    EXPECT(k.has_parent_id && uuid_eq(k.parent_id, id_of(1)));
    EXPECT_PART(k.pending_writes, "\"value\":1");
    put(&f, thread, "", 3, "{}");
    EXPECT_EQ(checkpoint_copy(begin(&f), thread, other, &copied), OK);
    commit(&f);
    EXPECT_EQ(copied.count, 1);
    EXPECT_EQ(get(&f, other, "", 3).sequence_num, 3);
    fixture_end(&f);
}

TEST(a_replay_begins_upon_the_old_checkpoint_and_leaves_the_old_line_alone)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), replayed;
    struct checkpoint_put how = {
        .has_id = true, .values = STR("{\"messages\":[\"a\"],\"iteration\":3}")};
    struct checkpoint k = {.thread_id = thread,
        .ns = STR(""),
        .id = id_of(1),
        .has_run_id = true,
        .run_id = run.id,
        .channel_versions = STR("{\"messages\":1,\"iteration\":3}")};
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    put(&f, thread, "", 2, "{\"messages\":[\"a\",\"b\"],\"iteration\":4}");
    struct checkpoint_replay replay = {.id = id_of(1),
        .modified = STR("{\"iteration\":0,\"note\":1}"),
        .policy = RUN_POLICY_ENQUEUE,
        .dispatch = RUN_QUEUE};
    struct checkpoint first;
    struct run old = get_run(&f, run.id);
    EXPECT_EQ(checkpoint_replay(begin(&f), &old, &replay, &replayed, &first), OK);
    commit(&f);
    EXPECT(uuid_eq(replayed.forked_from_run_id, run.id));
    EXPECT(uuid_eq(replayed.forked_from_checkpoint_id, id_of(1)));
    k = latest(&f, thread, "");
    EXPECT(uuid_eq(k.id, first.id));
    EXPECT(uuid_eq(k.parent_id, id_of(1)));
    EXPECT(uuid_eq(k.run_id, replayed.id));
    EXPECT_STR(k.channel_values, STR("{\"messages\":[\"a\"],\"iteration\":0,\"note\":1}"));
    EXPECT_STR(k.channel_versions, STR("{\"messages\":1,\"iteration\":4,\"note\":1}"));
    EXPECT_STR(
        get(&f, thread, "", 1).channel_values, STR("{\"messages\":[\"a\"],\"iteration\":3}"));
    EXPECT_EQ(get_run(&f, run.id).status, RUN_RUNNING);
    char text[UUID_TEXT_LEN + 1] = "";
    uuid_format(run.id, text);
    EXPECT_PART(k.metadata, text);
    fixture_end(&f);
}

TEST(two_runs_that_name_no_parent_go_on_each_from_its_own_latest)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct run run = make_run(&f, thread, "direct"), replayed;
    put(&f, thread, "", 9, "{\"messages\":[]}");
    const struct checkpoint_put appends = {.change = {.append = STR("{\"messages\":[\"b\"]}")}};
    const struct checkpoint of_run = {
        .thread_id = thread, .ns = STR(""), .has_run_id = true, .run_id = run.id};
    struct checkpoint first = of_run, fork, next = of_run, beside = of_run;
    EXPECT_EQ(put_with(&f, &appends, &first), OK);
    EXPECT(uuid_eq(first.parent_id, id_of(9)));
    struct checkpoint_replay replay = {.id = first.id,
        .modified = STR("{\"messages\":[\"other\"]}"),
        .policy = RUN_POLICY_ENQUEUE,
        .dispatch = RUN_QUEUE};
    struct run old = get_run(&f, run.id);
    EXPECT_EQ(checkpoint_replay(begin(&f), &old, &replay, &replayed, &fork), OK);
    commit(&f);
    EXPECT_EQ(put_with(&f, &appends, &next), OK);
    EXPECT(uuid_eq(next.parent_id, first.id));
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"messages\":[\"b\",\"b\"]}"));
    beside.run_id = replayed.id;
    EXPECT_EQ(put_with(&f, &appends, &beside), OK);
    EXPECT(uuid_eq(beside.parent_id, fork.id));
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"messages\":[\"other\",\"b\"]}"));
    /* A client that names the latest means that one, regardless of its writer. */
    struct checkpoint_put expects = appends;
    expects.expects_latest = expects.has_expected = true;
    expects.expected = beside.id;
    next = of_run;
    EXPECT_EQ(put_with(&f, &expects, &next), OK);
    EXPECT(uuid_eq(next.parent_id, beside.id));
    fixture_end(&f);
}

TEST(a_comparison_names_each_channel_with_its_versions)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct checkpoint_put how = {.has_id = true, .values = STR("{\"a\":[1],\"b\":1,\"same\":0}")};
    struct checkpoint k = {.thread_id = thread,
        .ns = STR(""),
        .id = id_of(1),
        .channel_versions = STR("{\"a\":1,\"b\":\"x.1\"}")};
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    how.values = STR("{\"a\":[1,2],\"c\":true,\"same\":0}");
    k = (struct checkpoint){.thread_id = thread,
        .ns = STR(""),
        .id = id_of(2),
        .channel_versions = STR("{\"a\":2,\"c\":1}")};
    EXPECT_EQ(put_with(&f, &how, &k), OK);
    struct checkpoint_diff diff;
    EXPECT_EQ(checkpoint_diff(begin_reading(&f), thread, STR_NONE, id_of(1), id_of(2), &diff), OK);
    commit(&f);
    EXPECT_STR(diff.channels,
        STR("[{\"channel\":\"a\",\"change\":\"changed\",\"from_version\":1,\"to_version\":2},"
            "{\"channel\":\"b\",\"change\":\"removed\",\"from_version\":\"x.1\",\"to_version\":"
            "null},{\"channel\":\"c\",\"change\":\"added\",\"from_version\":null,\"to_version\":1}"
            "]"));
    EXPECT_PART(diff.patch, "{\"op\":\"remove\",\"path\":\"/b\"}");
    fixture_end(&f);
}

/* --- Queries of other frameworks' savers ----------------------------------------------------- */

static struct uuid put_versioned(struct fixture *f, struct uuid thread, const struct uuid *parent,
    const char *versions, const char *set)
{
    struct checkpoint_put how = {
        .knows_parent = true, .by_versions = true, .change = {.set = str_of(set)}};
    struct checkpoint k = {.thread_id = thread,
        .ns = STR(""),
        .has_parent_id = parent != NULL,
        .parent_id = parent != NULL ? *parent : UUID_NIL,
        .channel_versions = str_of(versions)};
    EXPECT_EQ(put_with(f, &how, &k), OK);
    return k.id;
}

TEST(channels_are_taken_over_by_their_versions)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid first = put_versioned(
        &f, thread, NULL, "{\"a\":1,\"b\":\"x\",\"c\":1.5}", "{\"a\":1,\"b\":2,\"c\":3}");
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"a\":1,\"b\":2,\"c\":3}"));
    put_versioned(&f, thread, &first, "{\"a\":2,\"b\":\"x\",\"d\":1}", "{\"d\":4}");
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"b\":2,\"d\":4}"));
    put_versioned(&f, thread, &first, "{\"a\":\"1\",\"c\":1.50}", "{}");
    EXPECT_STR(latest(&f, thread, "").channel_values, STR("{\"c\":3}"));
    fixture_end(&f);
}

TEST(the_checkpoints_of_all_threads_go_by_time_and_none_is_left_out_between_pages)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid threads[] = {make_thread(&f), make_thread(&f)};
    for (uint8_t i = 1; i <= 40; i++)
        put(&f, threads[i % 2], i % 3 == 0 ? "in" : "", i, "{}");
    /* Put at the same time. */
    sql_exec(&f, "UPDATE checkpoints SET created_at = 7");
    struct checkpoint found[40];
    struct checkpoint_page page = {.checkpoints = found};
    struct checkpoint_filter filter = {.of_all = true, .ns = STR("in")};
    size_t seen = 0;
    do {
        page.page.limit = 4;
        EXPECT_EQ(checkpoint_list(begin_reading(&f), &filter, &page), OK);
        commit(&f);
        seen += page.page.count;
        filter.before = page.next;
    } while (page.page.more);
    EXPECT_EQ(seen, 13);
    filter =
        (struct checkpoint_filter){.of_all = true, .has_id_before = true, .id_before = id_of(11)};
    page.page.limit = 40;
    EXPECT_EQ(checkpoint_list(begin_reading(&f), &filter, &page), OK);
    commit(&f);
    EXPECT_EQ(page.page.count, 10);
    fixture_end(&f);
}

static struct checkpoint_deltas deltas_of(struct fixture *f, struct uuid thread, uint8_t id)
{
    const struct str channels[] = {STR("messages"), STR("other")};
    struct checkpoint_deltas deltas = {0};
    EXPECT_EQ(
        checkpoint_deltas(begin_reading(f), thread, STR(""), id_of(id), channels, 2, &deltas), OK);
    commit(f);
    return deltas;
}

TEST(the_history_of_a_channel_goes_back_to_its_nearest_value)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put(&f, thread, "", 1, "{\"messages\":[0]}");
    write_to(&f, thread, 1, "b", 0, "2");
    write_to(&f, thread, 1, "a", 1, "1");
    put(&f, thread, "", 2, "{}");
    write_to(&f, thread, 2, "a", 0, "3");
    put(&f, thread, "", 3, "{}");
    write_to(&f, thread, 3, "a", 0, "4");
    struct checkpoint_deltas deltas = deltas_of(&f, thread, 3);
    EXPECT_EQ(deltas.looked_at, 2);
    EXPECT(!deltas.has_next);
#define WRITE(point, task, index, value)                                                      \
    "{\"checkpoint_id\":\"00000000-0000-0000-0000-00000000000" point "\",\"task_id\":\"" task \
    "\",\"index\":" index ",\"channel\":\"messages\""                                         \
    ",\"value\":" value "}"
    EXPECT_STR(deltas.channels,
        STR("{\"messages\":{\"writes\":[" WRITE("1", "a", "1", "1") "," WRITE(
            "1", "b", "0", "2") "," WRITE("2", "a", "0", "3") "],\"seed\":[0]},"
                                                              "\"other\":{\"writes\":[]}}"));
    fixture_end(&f);
}

SQLITE_ONLY(a_history_that_is_too_long_says_where_it_goes_on)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), first = UUID_NIL, last = UUID_NIL;
    struct context *c = begin(&f);
    for (int i = 0; i < CHECKPOINT_DELTA_MAX + 2; i++) {
        struct checkpoint_put how = {.values = i == 0 ? STR("{\"messages\":[0]}") : STR("{}")};
        struct checkpoint k = {.thread_id = thread, .ns = STR("")};
        bool is_new;
        EXPECT_EQ(checkpoint_put(c, &how, &k, &is_new), OK);
        first = i == 1 ? k.id : first;
        last = k.id;
    }
    commit(&f);
    const struct str channel = STR("messages");
    struct checkpoint_deltas deltas = {0};
    EXPECT_EQ(
        checkpoint_deltas(begin_reading(&f), thread, STR(""), last, &channel, 1, &deltas), OK);
    commit(&f);
    EXPECT_EQ(deltas.looked_at, CHECKPOINT_DELTA_MAX);
    EXPECT(deltas.has_next);
    EXPECT(uuid_eq(deltas.next, first));
    EXPECT_STR(deltas.channels, STR("{\"messages\":{\"writes\":[]}}"));
    EXPECT_EQ(
        checkpoint_deltas(begin_reading(&f), thread, STR(""), first, &channel, 1, &deltas), OK);
    commit(&f);
    EXPECT_STR(deltas.channels, STR("{\"messages\":{\"writes\":[],\"seed\":[0]}}"));
    EXPECT(!deltas.has_next);
    fixture_end(&f);
}
