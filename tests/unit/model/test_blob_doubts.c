/* SPDX-License-Identifier: Apache-2.0 */
/* Content without references is deleted; content with a reference, or about to get one, stays. */
#include "file_fixture.h"

/* Runs the sweep over all doubtful content; returns the number of contents that it removed. */
static size_t collect(struct fixture *f)
{
    size_t removed = 0;
    struct owned_id notes[16];
    size_t n = 0;
    struct context *c = begin(f);
    context_enter_system(c);
    EXPECT_EQ(blob_list_doubtful(c, 16, notes, &n), OK);
    commit(f);
    for (size_t i = 0; i < n; i++) {
        struct sweep_item item = {SWEEP_CONTENT, notes[i].tenant_id, notes[i].id, NULL};
        struct sweep_report report;
        EXPECT_EQ(sweep_do(begin(f), &item, &report), OK);
        commit(f);
        for (size_t k = 0; k < report.n_unused; k++, removed++)
            EXPECT_EQ(
                content_remove(f->store, report.unused[k].tenant_id, report.unused[k].id), OK);
    }
    EXPECT_EQ(sql_i64(f, "SELECT count(*) FROM blob_doubts"), 0);
    return removed;
}

/* A file with content that is really there. */
static struct uuid put_real(
    struct fixture *f, struct uuid thread_id, const char *name, const char *text)
{
    put_file(f, thread_id, name, text);
    struct uuid id = get_version(f, thread_id, name, 0).blob_id;
    write_content(f, DEFAULT_TENANT_ID, id, text);
    return id;
}

TEST(content_goes_with_the_last_version_that_refers_to_it)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid blob = put_real(&f, thread, "a", "same");
    put_file(&f, thread, "b", "same");
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a")), OK);
    commit(&f);
    EXPECT_EQ(collect(&f), 0);
    EXPECT(has_content(&f, DEFAULT_TENANT_ID, blob, "same"));
    EXPECT_EQ(file_delete_version(begin(&f), thread, STR("b"), 1), OK);
    commit(&f);
    EXPECT_EQ(collect(&f), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blobs"), 0);
    if (!on_postgres()) /* PostgreSQL keeps it for a while for readers */
        EXPECT(!has_content(&f, DEFAULT_TENANT_ID, blob, "same"));
    fixture_end(&f);
}

TEST(content_goes_with_its_thread_and_with_its_tenant)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f), tenant = make_tenant(&f, "other");
    put_file(&f, thread, "a", "1");
    put_file(&f, thread, "a", "2");
    struct file_upload u = {
        .thread_id = thread, .name = STR("u"), .content_type = STR("text/plain"), .size_bytes = 4};
    EXPECT_EQ(file_upload_create(begin(&f), &u), OK);
    commit(&f);
    EXPECT_EQ(delete_thread(begin(&f), thread), OK);
    commit(&f);
    EXPECT_EQ(collect(&f), 3);
    struct context *c = begin_as(&f, tenant);
    struct thread theirs = {0};
    struct file file;
    bool created;
    EXPECT_EQ(thread_create(c, &theirs), OK);
    struct file_put put = a_put(c, theirs.id, "a", "1");
    EXPECT_EQ(file_put(c, &put, &created, &file), OK);
    commit(&f);
    EXPECT_EQ(delete_tenant(begin(&f), tenant), OK);
    commit(&f);
    EXPECT_EQ(collect(&f), 1);
    EXPECT_EQ(sql_i64(&f, "SELECT count(*) FROM blobs"), 0);
    fixture_end(&f);
}

TEST(content_that_is_uploaded_again_while_it_is_doubtful_stays)
{
    struct fixture f;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid blob = put_real(&f, thread, "a", "same");
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a")), OK);
    commit(&f);
    put_file(&f, thread, "b", "same"); /* before the sweep runs */
    EXPECT_EQ(collect(&f), 0);
    EXPECT(uuid_eq(get_version(&f, thread, "b", 1).blob_id, blob));
    EXPECT(has_content(&f, DEFAULT_TENANT_ID, blob, "same"));
    fixture_end(&f);
}

TEST(content_that_is_uploaded_again_between_the_row_and_the_content_has_an_id_of_its_own)
{
    struct fixture f;
    struct sweep_report report;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    struct uuid old = put_real(&f, thread, "a", "same");
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a")), OK);
    commit(&f);
    struct sweep_item item = {SWEEP_CONTENT, DEFAULT_TENANT_ID, old, NULL};
    EXPECT_EQ(sweep_do(begin(&f), &item, &report), OK);
    commit(&f);
    EXPECT_EQ(report.n_unused, 1);
    struct uuid new = put_real(&f, thread, "a", "same"); /* the sweep has not removed it yet */
    EXPECT(!uuid_eq(new, old));
    EXPECT_EQ(content_remove(f.store, DEFAULT_TENANT_ID, old), OK);
    EXPECT(has_content(&f, DEFAULT_TENANT_ID, new, "same"));
    EXPECT_EQ(collect(&f), 0);
    fixture_end(&f);
}

/* On PostgreSQL the two meet within their transactions. */
struct meeting {
    struct fixture node;
    struct uuid blob;
    sem_t done;
    struct sweep_report report;
    enum error result;
};

static void *sweep_beside(void *data)
{
    struct meeting *m = data;
    struct sweep_item item = {SWEEP_CONTENT, DEFAULT_TENANT_ID, m->blob, NULL};
    m->result = leave(&m->node, sweep_do(begin(&m->node), &item, &m->report));
    sem_post(&m->done);
    return NULL;
}

POSTGRES_ONLY(a_sweep_waits_for_an_upload_that_has_found_the_same_content)
{
    struct fixture f;
    struct meeting m = {0};
    struct file file;
    bool created;
    pthread_t thread_of_sweep;
    fixture_begin(&f);
    struct uuid thread = make_thread(&f);
    put_file(&f, thread, "a", "same");
    m.blob = get_version(&f, thread, "a", 1).blob_id;
    EXPECT_EQ(file_delete(begin(&f), thread, STR("a")), OK);
    commit(&f);
    fixture_join(&m.node, &f);
    sem_init(&m.done, 0, 0);
    struct context *c = begin(&f);
    struct file_put put = a_put(c, thread, "b", "same"); /* its row is found, and locked */
    pthread_create(&thread_of_sweep, NULL, sweep_beside, &m);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    EXPECT(sem_timedwait(&m.done, &until) != 0); /* it waits */
    EXPECT_EQ(file_put(c, &put, &created, &file), OK);
    commit(&f);
    pthread_join(thread_of_sweep, NULL);
    EXPECT_EQ(m.result, OK);
    EXPECT_EQ(m.report.n_unused, 0);
    EXPECT(uuid_eq(get_version(&f, thread, "b", 1).blob_id, m.blob));
    sem_destroy(&m.done);
    fixture_end(&m.node);
    fixture_end(&f);
}
