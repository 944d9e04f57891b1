/* SPDX-License-Identifier: Apache-2.0 */
/* The store on a failing disk: rows of the table in steps.c. */
#ifndef TESTS_FAULT_STEPS_STORE_H
#define TESTS_FAULT_STEPS_STORE_H

#define STORED(key) "/v1/store/items?namespace=fault.kept&key=" key

#define STORE_STEPS                                                                                \
    {.method = "PUT",                                                                              \
        .target = "/v1/store/items",                                                               \
        .header = "If-None-Match: *",                                                              \
        .body =                                                                                    \
            "{\"namespace\":[\"fault\",\"kept\"],\"key\":\"a\",\"value\":{\"text\":\"kept\"}}",    \
        .save = "stored_key=/key",                                                                 \
        .read = STORED("a"),                                                                       \
        .shows = "/namespace /key /value /version"},                                               \
        {.method = "PUT",                                                                          \
            .target = "/v1/store/items",                                                           \
            .header = "If-None-Match: *",                                                          \
            .body = "{\"namespace\":[\"fault\",\"kept\"],\"key\":\"b\",\"value\":{}}",             \
            .save = "gone_key=/key"},                                                              \
        {.method = "POST",                                                                         \
            .target = "/v1/store/batch",                                                           \
            .body = "{\"operations\":[{\"op\":\"put\",\"namespace\":[\"fault\",\"kept\"],\"key\":" \
                    "\"c\","                                                                       \
                    "\"value\":{\"n\":1}}]}",                                                      \
            .save = "batched=/results/0/key",                                                      \
            .read = STORED("c"),                                                                   \
            .shows = "/results/0/value>/value /results/0/version>/version"},                       \
    {                                                                                              \
        .method = "DELETE", .target = STORED("$gone_key"), .header = "If-Match: *",                \
        .read = STORED("b"), .read_status = 404                                                    \
    }

#endif
