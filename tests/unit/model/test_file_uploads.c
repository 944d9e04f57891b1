/* SPDX-License-Identifier: Apache-2.0 */
#include "file_fixture.h"

static struct file_upload make_upload(struct fixture *f, struct uuid thread_id, int64_t size_bytes)
{
    struct file_upload u = {.thread_id = thread_id,
        .name = STR("big"),
        .content_type = STR("text/plain"),
        .size_bytes = size_bytes};
    EXPECT_EQ(file_upload_create(begin(f), &u), OK);
    commit(f);
    return u;
}

/* As a request does it. */
static enum error advance(
    struct fixture *f, struct file_upload *u, int64_t size_bytes, const char *whole)
{
    struct file_upload_piece piece = {.writer = uuid_v7(),
        .size_bytes = size_bytes,
        .is_whole = whole != NULL,
        .hash = sha256_of(whole != NULL ? str_of(whole) : STR("")),
        .sealed_id = uuid_v7()};
    enum error e =
        leave(f, file_upload_lease(begin(f), u->thread_id, u->id, u->offset_bytes, piece.writer));
    if (e == OK)
        e = leave(f, file_upload_advance(begin(f), u, &piece));
    if (e != OK)
        EXPECT_EQ(leave(f, file_upload_release(begin(f), u->id, piece.writer)), OK);
    return e;
}

static enum error complete(struct fixture *f, struct file_upload *u, struct file *out_file)
{
    bool created;
    return leave(f, file_upload_complete(begin(f), u, &created, out_file));
}

TEST(an_upload_grows_until_it_is_whole_and_then_becomes_a_version)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file_upload u = make_upload(&f, thread, 6);
    EXPECT_EQ(u.offset_bytes, 0);
    EXPECT_EQ(complete(&f, &u, &file), ERR_CONFLICT);
    EXPECT_STR(f.problem.extension, STR("{\"offset_bytes\":0}"));
    EXPECT_EQ(advance(&f, &u, 4, NULL), OK);
    EXPECT_EQ(u.offset_bytes, 4);
    EXPECT_EQ(file_upload_check_offset(begin(&f), &u, 0), ERR_CONFLICT);
    EXPECT_STR(f.problem.extension, STR("{\"offset_bytes\":4}"));
    abandon(&f);
    EXPECT_EQ(advance(&f, &u, 7, "7 bytes"), ERR_TOO_LARGE);
    EXPECT_EQ(advance(&f, &u, 6, "sixsix"), OK);
    EXPECT_EQ(complete(&f, &u, &file), OK);
    EXPECT_EQ(file.version, 1);
    EXPECT_EQ(file.size_bytes, 6);
    EXPECT(!uuid_eq(u.content_id, u.id));
    EXPECT(uuid_eq(get_version(&f, thread, "big", 1).blob_id, u.content_id));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM uploads"), 0);
    /* The id under which the bytes were uploaded may have left content. */
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blob_doubts"), 1);
    fixture_end(&f);
}

TEST(an_upload_of_bytes_that_are_stored_already_leaves_its_own_to_be_removed)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "small", "same");
    struct file_upload u = make_upload(&f, thread, 4);
    EXPECT_EQ(advance(&f, &u, 4, "same"), OK);
    EXPECT_EQ(complete(&f, &u, &file), OK);
    EXPECT(!uuid_eq(get_version(&f, thread, "big", 1).blob_id, u.content_id));
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blob_doubts"), 2);
    fixture_end(&f);
}

TEST(an_upload_that_expects_a_version_or_a_hash_is_refused_when_it_is_another)
{
    struct fixture f;
    struct file file;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file_upload u = {.thread_id = thread,
        .name = STR("big"),
        .content_type = STR("text/plain"),
        .size_bytes = 4,
        .has_expected_version = true,
        .expected_version = 0};
    EXPECT_EQ(file_upload_create(begin(&f), &u), OK);
    commit(&f);
    put_file(&f, thread, "big", "1");
    EXPECT_EQ(advance(&f, &u, 4, "four"), OK);
    EXPECT_EQ(complete(&f, &u, &file), ERR_STALE);
    struct file_upload other = u;
    EXPECT_EQ(file_upload_create(begin(&f), &other), ERR_STALE);
    abandon(&f);
    other.expected_version = 1;
    other.sha256 = STR("00000000000000000000000000000000000000000000000000000000000000zz");
    EXPECT_EQ(file_upload_create(begin(&f), &other), ERR_INVALID);
    abandon(&f);
    other.sha256 = STR("0000000000000000000000000000000000000000000000000000000000000000");
    EXPECT_EQ(file_upload_create(begin(&f), &other), OK);
    commit(&f);
    EXPECT_EQ(advance(&f, &other, 4, "four"), OK);
    EXPECT_EQ(complete(&f, &other, &file), ERR_CONFLICT);
    EXPECT_PART(f.problem.detail, "SHA-256 04efaf08");
    fixture_end(&f);
}

TEST(an_upload_that_nobody_goes_on_with_expires)
{
    struct fixture f;
    struct sweep_report report;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file_upload u = make_upload(&f, thread, 4), found;
    EXPECT_EQ(file_upload_get(begin(&f), thread, u.id, &found), OK);
    abandon(&f);
    struct context *c = begin(&f);
    c->lease_now_us = u.expires_at;
    EXPECT_EQ(file_upload_get(c, thread, u.id, &found), ERR_NOT_FOUND);
    abandon(&f);
    struct sweep_item item = {SWEEP_UPLOAD, DEFAULT_TENANT_ID, u.id, NULL};
    EXPECT_EQ(sweep_do(begin(&f), &item, &report), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM uploads"), 1);
    c = begin(&f);
    c->lease_now_us = u.expires_at;
    EXPECT_EQ(sweep_do(c, &item, &report), OK);
    commit(&f);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM uploads"), 0);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blob_doubts"), 1);
    fixture_end(&f);
}

TEST(a_thread_has_a_limited_number_of_uploads_under_way)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct context *c = begin(&f);
    struct file_upload u = {.thread_id = thread,
        .name = STR("big"),
        .content_type = STR("text/plain"),
        .size_bytes = 4};
    for (int i = 0; i < FILE_UPLOADS_MAX; i++)
        EXPECT_EQ(file_upload_create(c, &u), OK);
    EXPECT_EQ(file_upload_create(c, &u), ERR_CONFLICT);
    EXPECT_EQ(file_upload_delete(c, thread, u.id), OK);
    EXPECT_EQ(file_upload_create(c, &u), OK);
    commit(&f);
    fixture_end(&f);
}

TEST(one_request_writes_to_an_upload_at_a_time)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), first = uuid_v7(), second = uuid_v7();
    struct file_upload u = make_upload(&f, thread, 4);
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 1, first)), ERR_CONFLICT);
    EXPECT_STR(f.problem.extension, STR("{\"offset_bytes\":0}"));
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 0, first)), OK);
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 0, second)), ERR_CONFLICT);
    EXPECT_PART(f.problem.detail, "another request is writing to the upload");
    EXPECT_EQ(leave(&f, file_upload_renew(begin(&f), u.id, first)), OK);
    struct context *c = begin(&f);
    c->lease_now_us += (int64_t)FILE_UPLOAD_LEASE_S * 1000000 + 1000000;
    EXPECT_EQ(leave(&f, file_upload_lease(c, thread, u.id, 0, second)), OK);
    EXPECT_EQ(leave(&f, file_upload_renew(begin(&f), u.id, first)), ERR_CONFLICT);
    struct file_upload_piece piece = {.writer = first, .size_bytes = 2};
    EXPECT_EQ(leave(&f, file_upload_advance(begin(&f), &u, &piece)), ERR_CONFLICT);
    piece.writer = second;
    EXPECT_EQ(leave(&f, file_upload_advance(begin(&f), &u, &piece)), OK);
    EXPECT(!u.has_writer);
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 2, first)), OK);
    EXPECT_EQ(leave(&f, file_upload_release(begin(&f), u.id, first)), OK);
    /* A lease ends if it is not renewed. */
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 2, first)), OK);
    c = begin(&f);
    c->lease_now_us += (int64_t)FILE_UPLOAD_LEASE_S * 1000000 + 1000000;
    EXPECT_EQ(leave(&f, file_upload_lease(c, thread, u.id, 2, second)), OK);
    EXPECT_EQ(leave(&f, file_upload_release(begin(&f), u.id, second)), OK);
    EXPECT_EQ(advance(&f, &u, 4, "four"), OK);
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, u.id, 4, first)), ERR_CONFLICT);
    EXPECT_PART(f.problem.detail, "all bytes have been received");
    EXPECT_EQ(leave(&f, file_upload_lease(begin(&f), thread, uuid_v7(), 0, first)), ERR_NOT_FOUND);
    fixture_end(&f);
}

TEST(a_principal_goes_on_with_its_own_uploads_only)
{
    struct fixture f;
    struct file file;
    bool created;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct file_upload u = make_upload(&f, thread, 4);
    EXPECT_EQ(advance(&f, &u, 4, "four"), OK);
    sql_exec(&f, "UPDATE uploads SET created_by = 'user:ann'");
    u.created_by = STR("user:ann");
    struct context *c = begin(&f);
    c->principal = STR("user:eve");
    EXPECT_EQ(file_upload_check_writer(c, &u), ERR_FORBIDDEN);
    EXPECT_EQ(file_upload_complete(c, &u, &created, &file), ERR_FORBIDDEN);
    EXPECT_EQ(file_upload_delete(c, thread, u.id), ERR_FORBIDDEN);
    u.created_by = c->principal;
    EXPECT_EQ(file_upload_check_writer(c, &u), OK);
    abandon(&f);
    fixture_end(&f);
}
