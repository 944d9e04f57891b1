/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/params.h"

#include "base/schema_fields.h"
#include "fixture.h"

#define MODES(X) X(MODE_FAST, "fast") X(MODE_SLOW, "slow")
ENUM_DECLARE(mode, MODE_NONE, modes, MODES);
ENUM_DEFINE(modes, MODES);

struct wanted {
    struct str text;
    enum mode mode;
    bool has_number;
    int64_t number;
    bool has_id;
    struct uuid id;
    bool has_time;
    int64_t time;
    bool has_flag;
    bool flag;
};
#define OF struct wanted
static const struct field FIELDS[] = {
    FIELD(STRING_OR_NONE, text, IN_QUERY, .min = 1, .max = 5),
    FIELD(ENUM_OR_NONE, mode, IN_QUERY, .choices = modes),
    FIELD(INT_OR_NONE, number, IN_QUERY, .min = 1, .max = 200),
    FIELD(UUID_OR_NONE, id, IN_QUERY),
    FIELD(TIME_OR_NONE, time, IN_QUERY),
    FIELD(BOOL_OR_NONE, flag, IN_QUERY),
};
#undef OF
static const struct schema WANTED = SCHEMA("Wanted", struct wanted, FIELDS, IN_QUERY);

/* One decoding, outside of any store. */
struct decoding {
    struct arena arena;
    struct http_request request;
    struct call call;
    struct wanted wanted;
    enum error error;
};

static void decode(struct decoding *d, const char *query, unsigned flags)
{
    static struct route route;
    *d = (struct decoding){0};
    arena_init(&d->arena, SIZE_MAX);
    call_init(&d->call, NULL, &d->arena, &d->request);
    route.flags = flags;
    d->call.route = &route;
    d->error = params_decode(&d->call, &WANTED, str_of(query), &d->wanted, &d->call.problem);
}

static void end(struct decoding *d)
{
    call_deinit(&d->call);
    arena_deinit(&d->arena);
}

TEST(parameters_of_every_kind_are_decoded)
{
    struct decoding d;
    decode(&d,
        "text=a%20b&mode=slow&number=200&flag=true&time=1970-01-01T00:00:01Z"
        "&id=018F0000-0000-7000-8000-000000000001",
        0);
    EXPECT_EQ(d.error, OK);
    EXPECT_STR(d.wanted.text, STR("a b"));
    EXPECT_EQ(d.wanted.mode, MODE_SLOW);
    EXPECT(d.wanted.has_number && d.wanted.number == 200);
    EXPECT(d.wanted.has_flag && d.wanted.flag);
    EXPECT(d.wanted.has_time && d.wanted.time == 1000000);
    EXPECT(d.wanted.has_id && uuid_eq(d.wanted.id, DEFAULT_TENANT_ID));
    end(&d);
}

TEST(absent_parameters_are_absent)
{
    static const char *const queries[] = {NULL, "", "&", "&&&"};
    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        struct decoding d;
        decode(&d, queries[i], 0);
        EXPECT_EQ(d.error, OK);
        EXPECT(str_is_none(d.wanted.text) && d.wanted.mode == MODE_NONE);
        EXPECT(!d.wanted.has_number && !d.wanted.has_id && !d.wanted.has_time);
        end(&d);
    }
}

TEST(names_and_values_are_percent_decoded_and_a_plus_is_a_blank)
{
    struct decoding d;
    decode(&d, "t%65xt=%C3%A9+%2B", 0);
    EXPECT_EQ(d.error, OK);
    EXPECT_STR(d.wanted.text, STR("\xc3\xa9 +"));
    end(&d);
    decode(&d, "text=a=b", 0); /* only the first = divides */
    EXPECT_EQ(d.error, OK);
    EXPECT_STR(d.wanted.text, STR("a=b"));
    end(&d);
}

TEST(each_broken_rule_is_told_with_the_name_of_its_parameter)
{
    static const struct {
        const char *query, *pointer, *rule;
    } cases[] = {
        {"other=1", "other", "is not a parameter of this route"},
        {"Text=a", "Text", "is not a parameter of this route"},
        {"metadata.k=v", "metadata.k", "is not a parameter of this route"},
        {"text=a&text=a", "text", "must not be repeated"},
        {"number=5&number=5", "number", "must not be repeated"},
        {"text=", "text", "must have 1 to 5 bytes"},
        {"text", "text", "must have 1 to 5 bytes"},
        {"text=abcdef", "text", "must have 1 to 5 bytes"},
        {"mode=medium", "mode", "must be one of fast, slow"},
        {"mode=", "mode", "must be one of fast, slow"},
        {"number=0", "number", "must be an integer from 1 to 200"},
        {"number=201", "number", "must be an integer from 1 to 200"},
        {"number=-1", "number", "must be an integer from 1 to 200"},
        {"number=1.0", "number", "must be an integer from 1 to 200"},
        {"number=01", "number", "must be an integer from 1 to 200"},
        {"number=+1", "number", "must be an integer from 1 to 200"},
        {"number=", "number", "must be an integer from 1 to 200"},
        {"number=99999999999999999999", "number", "must be an integer from 1 to 200"},
        {"id=018f0000", "id", "must be a UUID"},
        {"id={018f0000-0000-7000-8000-000000000001}", "id", "must be a UUID"},
        {"time=yesterday", "time", "must be an RFC 3339 time"},
        {"time=2026-02-30T00:00:00Z", "time", "must be an RFC 3339 time"},
        {"flag=1", "flag", "must be true or false"},
        {"flag=TRUE", "flag", "must be true or false"},
        {"text=%", "query", "must be percent-encoded UTF-8"},
        {"text=%2", "query", "must be percent-encoded UTF-8"},
        {"text=%zz", "query", "must be percent-encoded UTF-8"},
        {"text=a%00b", "text", "must not contain U+0000"},
        {"te%00xt=a", "query", "must not contain U+0000"},
        {"text=%FF", "query", "must be percent-encoded UTF-8"},
        {"text=%C3", "query", "must be percent-encoded UTF-8"},
        {"te%xt=a", "query", "must be percent-encoded UTF-8"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct decoding d;
        decode(&d, cases[i].query, 0);
        if (d.error != ERR_INVALID || d.call.problem.n_faults != 1) {
            test_fail(__FILE__, __LINE__, "\"%s\" was not refused once", cases[i].query);
        } else {
            EXPECT_STR(d.call.problem.faults[0].pointer, str_of(cases[i].pointer));
            EXPECT_STR(d.call.problem.faults[0].detail, str_of(cases[i].rule));
        }
        end(&d);
    }
}

TEST(every_fault_of_a_query_is_told_at_once)
{
    struct decoding d;
    decode(&d, "number=0&text=%&other=1&mode=slow", 0);
    EXPECT_EQ(d.error, ERR_INVALID);
    EXPECT_EQ(d.call.problem.n_faults, 3);
    end(&d);
}

TEST(metadata_filters_go_to_the_call_up_to_four)
{
    struct decoding d;
    decode(&d, "metadata.a=1&metadata.b%20c=x%26y&metadata.=&metadata.a=2", ROUTE_METADATA_FILTER);
    EXPECT_EQ(d.error, OK);
    EXPECT_STR(d.call.request.metadata_keys[0], STR("a"));
    EXPECT_STR(d.call.request.metadata_values[0], STR("1"));
    EXPECT_STR(d.call.request.metadata_keys[1], STR("b c"));
    EXPECT_STR(d.call.request.metadata_values[1], STR("x&y"));
    end(&d);
    decode(&d, "metadata.a=1&metadata.b=1&metadata.c=1&metadata.d=1&metadata.e=1",
        ROUTE_METADATA_FILTER);
    EXPECT_EQ(d.error, ERR_INVALID);
    EXPECT_STR(d.call.problem.faults[0].detail, STR("at most 4 metadata filters are allowed"));
    end(&d);
}
