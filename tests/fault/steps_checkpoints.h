/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints, and threads by key, on a failing disk: rows of the table in steps.c. */
#ifndef TESTS_FAULT_STEPS_CHECKPOINTS_H
#define TESTS_FAULT_STEPS_CHECKPOINTS_H

#define GRAPH "/v1/threads/$graph"

/* 300 different texts, which are several slices of a rehearsed checkpoint, in more than 64 KiB. */
#define FILLER                                                                                 \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
    "01234567890123456789012345678901234567890123456789"
#define TEXT(n) "\"" n FILLER "\""
#define TEN(n)                                                                                \
    TEXT(n "0")                                                                               \
    "," TEXT(n "1") "," TEXT(n "2") "," TEXT(n "3") "," TEXT(n "4") "," TEXT(n "5") "," TEXT( \
        n "6") "," TEXT(n "7") "," TEXT(n "8") "," TEXT(n "9")
#define HUNDRED(n)                                                                      \
    TEN(n "0")                                                                          \
    "," TEN(n "1") "," TEN(n "2") "," TEN(n "3") "," TEN(n "4") "," TEN(n "5") "," TEN( \
        n "6") "," TEN(n "7") "," TEN(n "8") "," TEN(n "9")
#define LARGE_LIST "[" HUNDRED("0") "," HUNDRED("1") "," HUNDRED("2") "]"

/* Checkpoints: stored whole, as changes and by versions; with writes; forked and copied. */
#define CHECKPOINT_STEPS                                                                         \
    {.method = "POST", .target = "/v1/threads", .body = "{}", .save = "graph=/id"},              \
        {.method = "POST",                                                                       \
            .target = GRAPH "/runs",                                                             \
            .body = "{\"agent_id\":\"$agent\",\"dispatch\":\"direct\"}",                         \
            .save = "walk=/id"},                                                                 \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints",                                                      \
            .body =                                                                              \
                "{\"run_id\":\"$walk\",\"channel_values\":{\"messages\":[\"hello\"],\"n\":1}}",  \
            .save = "point=/id",                                                                 \
            .read = GRAPH "/checkpoints/$point",                                                 \
            .shows = "/id /sequence_num /channel_values={\"messages\":[\"hello\"],\"n\":1}",     \
            .is_again = "point-1"},                                                              \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints",                                                      \
            .body =                                                                              \
                "{\"expected_latest\":\"$point\",\"changes\":{\"append\":{\"messages\":[2]}}}",  \
            .save = "point2=/id",                                                                \
            .read = GRAPH "/checkpoints/$point2",                                                \
            .shows = "/id /parent_id /channel_values={\"messages\":[\"hello\",2],\"n\":1}"},     \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints",                                                      \
            .body = "{\"namespace\":\"v\",\"parent_id\":null,\"channel_versions\":{\"a\":1},"    \
                    "\"changes\":{\"set\":{\"a\":1,\"b\":2},\"inherit\":\"versions\"}}",         \
            .save = "point5=/id",                                                                \
            .read = GRAPH "/checkpoints/$point5",                                                \
            .shows = "/id /channel_values={\"a\":1,\"b\":2}"},                                   \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints",                                                      \
            .body = "{\"namespace\":\"l\",\"channel_values\":{\"l\":" LARGE_LIST "}}",           \
            .save = "point7=/id",                                                                \
            .read = GRAPH "/checkpoints/$point7",                                                \
            .shows = "/id /size_bytes /channel_values/l/0=" TEXT(                                \
                "000") " /channel_values/l/299=" TEXT("299")},                                   \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints",                                                      \
            .body =                                                                              \
                "{\"namespace\":\"v\",\"parent_id\":\"$point5\",\"channel_versions\":{\"a\":1}," \
                "\"changes\":{\"inherit\":\"versions\"}}",                                       \
            .save = "point6=/id",                                                                \
            .read = GRAPH "/checkpoints/$point6",                                                \
            .shows = "/id /parent_id /channel_values={\"a\":1}"},                                \
        {.method = "PUT",                                                                        \
            .target = GRAPH "/checkpoints/$point2/writes",                                       \
            .body = "{\"task_id\":\"t\",\"writes\":[{\"channel\":\"messages\",\"value\":3}]}",   \
            .read = GRAPH "/checkpoints/$point2/writes",                                         \
            .shows = "/writes/0/value=3"},                                                       \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints/copy",                                                 \
            .body = "{\"to_thread_id\":\"$thread\"}",                                            \
            .read = THREAD "/checkpoints/$point",                                                \
            .shows = "/channel_values={\"messages\":[\"hello\"],\"n\":1}"},                      \
        {.method = "POST",                                                                       \
            .target = "/v1/runs/$walk/replay",                                                   \
            .body = "{\"checkpoint_id\":\"$point\",\"policy\":\"enqueue\"}",                     \
            .save = "walk2=/new_run_id point3=/checkpoint_id",                                   \
            .read = "/v1/runs/$walk2/checkpoints/$point3",                                       \
            .shows = "/state={\"messages\":[\"hello\"],\"n\":1}",                                \
            .is_again = "replay-1"},                                                             \
        {.method = "POST",                                                                       \
            .target = "/v1/agents/$agent/runs/$walk/replay",                                     \
            .body = "{\"checkpoint_id\":\"$point\",\"modified_state\":{\"n\":7},\"policy\":"     \
                    "\"enqueue\"}",                                                              \
            .save = "point4=/checkpoint_id",                                                     \
            .read = GRAPH "/checkpoints/$point4",                                                \
            .shows = "/channel_values={\"messages\":[\"hello\"],\"n\":7}"},                      \
        {.method = "POST",                                                                       \
            .target = GRAPH "/checkpoints/prune",                                                \
            .body = "{\"keep_latest\":1}",                                                       \
            .read = GRAPH "/checkpoints?namespace=&limit=1",                                     \
            .shows = "/has_more=false",                                                          \
            .touches = GRAPH "/checkpoints* /v1/runs/$walk2/checkpoints*"},                      \
    {                                                                                            \
        .method = "DELETE", .target = GRAPH "/checkpoints", .read = GRAPH "/checkpoints",        \
        .shows = "/data=[]", .touches = GRAPH "/checkpoints* /v1/runs/$walk2/checkpoints*"       \
    }

/* Sent twice, it is made once. */
#define KEY_STEPS                                                                              \
    {                                                                                          \
        .method = "PUT", .target = "/v1/threads/by-key/a%2Fb", .body = "{\"title\":\"four\"}", \
        .save = "keyed=/id", .read = "/v1/threads/by-key/a%2Fb",                               \
        .shows = "/id /title /key=\"a/b\""                                                     \
    }

#endif
