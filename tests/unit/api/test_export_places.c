/* SPDX-License-Identifier: Apache-2.0 */
#include "api/upkeep/export_places.h"
#include "test.h"

static struct uuid tenant(uint64_t number)
{
    return uuid_v7_from(1, 1, number);
}

TEST(a_tenant_has_one_place_for_exports_and_others_have_the_rest)
{
    struct export_places *p = export_places_create();
    EXPECT_EQ(export_places_take(p, tenant(0)), EXPORT_PLACE_TAKEN);
    EXPECT_EQ(export_places_take(p, tenant(0)), EXPORT_PLACE_OWN);
    for (uint64_t i = 1; i < STORE_LONG_READERS; i++)
        EXPECT_EQ(export_places_take(p, tenant(i)), EXPORT_PLACE_TAKEN);
    EXPECT_EQ(export_places_take(p, tenant(STORE_LONG_READERS)), EXPORT_PLACE_NONE);
    export_places_drop(p, tenant(0));
    EXPECT_EQ(export_places_take(p, tenant(1)), EXPORT_PLACE_OWN);
    EXPECT_EQ(export_places_take(p, tenant(STORE_LONG_READERS)), EXPORT_PLACE_TAKEN);
    export_files_drop(p, tenant(0));
    for (uint64_t i = 1; i <= STORE_LONG_READERS; i++) {
        export_places_drop(p, tenant(i));
        export_files_drop(p, tenant(i));
    }
    export_places_destroy(p);
}

static enum export_place make_file(struct export_places *p, struct uuid tenant_id)
{
    enum export_place place = export_places_take(p, tenant_id);
    if (place == EXPORT_PLACE_TAKEN)
        export_places_drop(p, tenant_id);
    return place;
}

TEST(files_that_are_not_read_are_limited_for_a_tenant_and_for_all)
{
    struct export_places *p = export_places_create();
    unsigned n = 0;
    for (uint64_t i = 0; n < EXPORT_FILES_MAX_TOTAL; i++) {
        for (int k = 0; k < EXPORT_FILES_MAX; k++, n++)
            EXPECT_EQ(make_file(p, tenant(i)), EXPORT_PLACE_TAKEN);
        EXPECT_EQ(make_file(p, tenant(i)), EXPORT_FILES_OWN);
    }
    EXPECT_EQ(make_file(p, tenant(1000)), EXPORT_FILES_NONE);
    export_files_drop(p, tenant(0));
    EXPECT_EQ(make_file(p, tenant(1000)), EXPORT_PLACE_TAKEN);
    export_files_drop(p, tenant(1000));
    for (unsigned i = 1; i < n; i++)
        export_files_drop(p, tenant(i / EXPORT_FILES_MAX));
    export_places_destroy(p);
}
