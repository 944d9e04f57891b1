/* SPDX-License-Identifier: Apache-2.0 */
/* The compression of one answer, on the threads of the coders. */
#ifndef API_HTTP_ENCODING_H
#define API_HTTP_ENCODING_H

#include "api/http/call.h"
#include "api/http/coders.h"
#include "base/coding.h"

/* The caller sets the first members; the others belong to this module. */
struct encoding {
    struct call *call; /* finished, and not changed until encoding_finish */
    enum coding coding;
    void (*done)(struct encoding *e); /* on a thread of the coders */

    struct coders_task *task;
    struct coding_encoder *encoder;
    struct buf bytes;
};

/* Returns false, and does not call `done`, if too many answers are waiting: then the answer is sent
 * as it is. */
MUST_CHECK bool encoding_start(struct encoding *e, struct coders *coders);
/* Once, after `done`: the answer has the encoded bytes, if they are fewer. */
void encoding_finish(struct encoding *e, struct coders *coders);

#endif
