/* SPDX-License-Identifier: Apache-2.0 */
/* An input that holds two documents, one before the first newline and one after it. */
#ifndef TESTS_FUZZ_SPLIT_H
#define TESTS_FUZZ_SPLIT_H

#include "base/json/json.h"

struct two_docs {
    struct json_doc first;
    struct json_doc second;
};

static inline bool split_docs(struct arena *arena, struct str input, struct two_docs *out)
{
    struct json_error error;
    size_t at = str_find(input, '\n');
    return at < input.len && json_parse(arena, str_slice(input, 0, at), &out->first, &error) &&
           json_parse(arena, str_slice(input, at + 1, input.len), &out->second, &error);
}

#endif
