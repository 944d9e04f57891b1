/* SPDX-License-Identifier: Apache-2.0 */
/* Files in the model's tests: content that was uploaded, by name alone. */
#ifndef TESTS_UNIT_MODEL_FILE_FIXTURE_H
#define TESTS_UNIT_MODEL_FILE_FIXTURE_H

#include "fixture.h"
#include "model/files/blob_doubts.h"
#include "model/files/blobs.h"
#include "model/files/file_uploads.h"
#include "model/files/files.h"

/* Adopts the content in the transaction, and returns the parameters of a new file version. */
struct file_put a_put(struct context *c, struct uuid thread_id, const char *name, const char *text);
/* Writes content with these bytes under the id. */
void write_content(struct fixture *f, struct uuid tenant_id, struct uuid id, const char *text);
bool has_content(struct fixture *f, struct uuid tenant_id, struct uuid id, const char *text);

/* Each in a transaction of its own: */
struct file put_file(struct fixture *f, struct uuid thread_id, const char *name, const char *text);
struct file get_file(struct fixture *f, struct uuid thread_id, const char *name);
struct file_version get_version(
    struct fixture *f, struct uuid thread_id, const char *name, int64_t version);

#endif
