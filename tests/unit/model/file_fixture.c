/* SPDX-License-Identifier: Apache-2.0 */
#include "file_fixture.h"

struct file_put a_put(struct context *c, struct uuid thread_id, const char *name, const char *text)
{
    struct str bytes = str_of(text);
    struct blob stored,
        brought = {.id = uuid_v7(), .sha256 = sha256_of(bytes), .size_bytes = (int64_t)bytes.len};
    EXPECT_EQ(blob_adopt(c, &brought, &stored), OK);
    return (struct file_put){.thread_id = thread_id,
        .name = str_of(name),
        .sha256 = brought.sha256,
        .size_bytes = brought.size_bytes,
        .content_type = STR("text/plain")};
}

void write_content(struct fixture *f, struct uuid tenant_id, struct uuid id, const char *text)
{
    struct content_writer *w = NULL;
    struct content_info info;
    EXPECT_EQ(content_create(f->store, tenant_id, id, &w), OK);
    EXPECT_EQ(content_append(w, str_of(text)), OK);
    EXPECT_EQ(content_sync(w, &info), OK);
    content_keep(w);
}

bool has_content(struct fixture *f, struct uuid tenant_id, struct uuid id, const char *text)
{
    struct content_info info;
    return content_measure(f->store, tenant_id, id, strlen(text), NULL, NULL, &info) == OK;
}

struct file put_file(struct fixture *f, struct uuid thread_id, const char *name, const char *text)
{
    struct file file = {0};
    bool created;
    struct context *c = begin(f);
    struct file_put put = a_put(c, thread_id, name, text);
    EXPECT_EQ(file_put(c, &put, &created, &file), OK);
    commit(f);
    return file;
}

struct file get_file(struct fixture *f, struct uuid thread_id, const char *name)
{
    struct file file = {0};
    EXPECT_EQ(file_get(begin_reading(f), thread_id, str_of(name), &file), OK);
    abandon(f);
    return file;
}

struct file_version get_version(
    struct fixture *f, struct uuid thread_id, const char *name, int64_t version)
{
    struct file_version v = {0};
    EXPECT_EQ(file_get_version(begin_reading(f), thread_id, str_of(name), version, &v), OK);
    abandon(f);
    return v;
}
