/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "base/clock.h"
#include "base/uuid.h"
#include "test.h"

static struct str formatted(struct uuid id, char out_text[UUID_TEXT_LEN])
{
    uuid_format(id, out_text);
    return (struct str){out_text, UUID_TEXT_LEN};
}

TEST(version_7_id_of_rfc_9562_comes_out_as_printed_there)
{
    char text[UUID_TEXT_LEN];
    struct uuid id = uuid_v7_from(0x017f22e279b0, 0xcc3, 0x18c4dc0c0c07398f);
    EXPECT_STR(formatted(id, text), STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
}

TEST(parts_too_wide_for_their_field_leave_version_and_variant_alone)
{
    char text[UUID_TEXT_LEN];
    struct uuid id = uuid_v7_from(UINT64_MAX >> 16, UINT16_MAX, UINT64_MAX);
    EXPECT_STR(formatted(id, text), STR("ffffffff-ffff-7fff-bfff-ffffffffffff"));
}

TEST(ids_parse_in_either_case_and_format_in_lower_case)
{
    char text[UUID_TEXT_LEN];
    struct uuid id;
    EXPECT(uuid_parse(STR("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), &id));
    EXPECT_STR(formatted(id, text), STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    EXPECT(uuid_eq(id, uuid_v7_from(0x017f22e279b0, 0xcc3, 0x18c4dc0c0c07398f)));
}

TEST(texts_that_are_not_ids_are_refused_and_leave_the_output_alone)
{
    const struct str refused[] = {
        STR(""),
        STR("017f22e279b07cc398c4dc0c0c07398f"),
        STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398"),
        STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398f0"),
        STR("{17f22e2-79b0-7cc3-98c4-dc0c0c07398}"),
        STR("017f22e2-79b0-7cc3-98c4-dc0c0c07398g"),
        STR("017f22e2-79b0-7cc3-98c4_dc0c0c07398f"),
        STR("017f22e27-9b0-7cc3-98c4-dc0c0c07398f"),
        STR("017f22e2-79b0-7cc3-98c4-dc0c0c0739 8"),
        STR("017f22e2-79b0-7cc3-98c4-dc0c0c0739\0008"),
        STR("urn:uuid:017f22e2-79b0-7cc3-98c4-dc0"),
    };
    struct uuid id = UUID_NIL;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (uuid_parse(refused[i], &id))
            test_fail(__FILE__, __LINE__, "\"%.*s\" was accepted", STR_ARG(refused[i]));
    EXPECT(uuid_is_nil(id));
}

TEST(new_ids_carry_version_variant_and_the_present_time)
{
    int64_t before_ms = clock_wall_us() / 1000;
    struct uuid id = uuid_v7();
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id.bytes[i];
    EXPECT(ms >= before_ms && ms <= before_ms + 1000);
    EXPECT_EQ(id.bytes[6] >> 4, 7);
    EXPECT_EQ(id.bytes[8] >> 6, 2);
}

TEST(each_new_id_is_greater_than_the_one_before)
{
    struct uuid last = uuid_v7();
    for (int i = 0; i < 20000; i++) {
        struct uuid next = uuid_v7();
        if (uuid_cmp(last, next) >= 0) {
            test_fail(__FILE__, __LINE__, "id %d is not greater than the one before", i);
            return;
        }
        last = next;
    }
}

TEST(ids_go_on_upwards_when_the_clock_steps_back)
{
    uint64_t now_ms = (uint64_t)(clock_wall_us() / 1000);
    struct uuid last = uuid_v7_at(now_ms + 500);
    for (int i = 0; i < 1000; i++) {
        struct uuid next = uuid_v7_at(now_ms - 3600 * 1000);
        EXPECT(uuid_cmp(last, next) < 0);
        EXPECT(memcmp(last.bytes, next.bytes, 6) == 0);
        last = next;
    }
    EXPECT(uuid_cmp(last, uuid_v7_at(now_ms + 501)) < 0);
}

TEST(ids_go_on_after_those_of_an_earlier_process)
{
    struct uuid made = uuid_v7();
    uint64_t ahead_ms = (uint64_t)(clock_wall_us() / 1000) + 1000;
    struct uuid theirs = uuid_v7_from(ahead_ms, 0x123, 0x456);
    uuid_v7_resume(theirs);
    struct uuid next = uuid_v7();
    EXPECT(uuid_cmp(theirs, next) < 0);
    EXPECT(memcmp(theirs.bytes, next.bytes, 6) == 0);
    /* One that is older, or of another version, changes nothing. */
    uuid_v7_resume(made);
    EXPECT(uuid_cmp(next, uuid_v7()) < 0);
    struct uuid other;
    EXPECT(uuid_parse(STR("ffffffff-ffff-4fff-bfff-ffffffffffff"), &other));
    uuid_v7_resume(other);
    EXPECT(uuid_cmp(uuid_v7(), other) < 0);
}

enum { IDS_PER_THREAD = 5000, N_THREADS = 4 };

static void *make_ids(void *out)
{
    struct uuid *ids = out;
    for (int i = 0; i < IDS_PER_THREAD; i++)
        ids[i] = uuid_v7();
    return NULL;
}

static int compare_ids(const void *a, const void *b)
{
    return uuid_cmp(*(const struct uuid *)a, *(const struct uuid *)b);
}

TEST(ids_made_by_many_threads_at_once_are_distinct_and_ordered_in_each)
{
    static struct uuid ids[N_THREADS][IDS_PER_THREAD];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, make_ids, ids[i]), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    int misplaced = 0, repeated = 0;
    for (int t = 0; t < N_THREADS; t++)
        for (int i = 1; i < IDS_PER_THREAD; i++)
            misplaced += uuid_cmp(ids[t][i - 1], ids[t][i]) >= 0;
    struct uuid *all = &ids[0][0];
    qsort(all, N_THREADS * IDS_PER_THREAD, sizeof *all, compare_ids);
    for (int i = 1; i < N_THREADS * IDS_PER_THREAD; i++)
        repeated += uuid_eq(all[i - 1], all[i]);
    EXPECT_EQ(misplaced, 0);
    EXPECT_EQ(repeated, 0);
}
