/* SPDX-License-Identifier: Apache-2.0 */
/* Every format of JSON Schema at the edges of its grammar: texts on both sides of each rule. */
#include "base/jsonschema/json_schema_format.h"

#include "test.h"

static void expect_all(const char *format, const char *const *texts, bool valid)
{
    const struct json_format *found = json_format_find(str_of(format));
    EXPECT(found != NULL && found->accepts != NULL);
    for (; *texts != NULL; texts++)
        if (found->accepts(str_of(*texts)) != valid)
            test_fail(
                __FILE__, __LINE__, "%s %s \"%s\"", format, valid ? "rejects" : "accepts", *texts);
}

#define EXPECT_VALID(format, ...) expect_all(format, (const char *const[]){__VA_ARGS__, NULL}, true)
#define EXPECT_INVALID(format, ...) \
    expect_all(format, (const char *const[]){__VA_ARGS__, NULL}, false)

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10
#define LABEL_63 X60 "xxx"
#define NAME_253 LABEL_63 "." LABEL_63 "." LABEL_63 "." X60 "x"

TEST(a_date_has_two_digits_for_each_part_and_a_day_of_its_month)
{
    EXPECT_VALID("date", "2026-01-01", "2026-01-31", "2026-04-30", "2026-12-31", "2024-02-29",
        "2000-02-29", "0000-02-29", "2023-02-28");
    EXPECT_INVALID("date", "", "2026", "2026-", "2026-01", "2026-01-", "2026-01-0", "2026-00-01",
        "2026-13-01", "2026-01-00", "2026-01-32", "2026-04-31", "2024-02-30", "2023-02-29",
        "1900-02-29", "2024-03-32", "2026/01-01", "2026-01/01", "202a-01-01", "2026-0a-01",
        "2026-01-0a", "2026-01-01 ", "26-01-01", "2026-1-01", ":026-01-01", "/026-01-01");
}

TEST(a_time_has_an_offset_and_a_leap_second_only_at_the_end_of_a_utc_day)
{
    EXPECT_VALID("time", "00:00:00Z", "23:59:59z", "23:59:60Z", "12:00:00.1Z", "12:00:00.123456Z",
        "12:00:00+00:00", "12:00:00-23:59", "12:00:00+23:59", "22:59:60-01:00", "00:59:60+01:00",
        "00:29:60+00:30", "23:29:60-00:30");
    EXPECT_INVALID("time", "", "24:00:00Z", "12:60:00Z", "12:00:61Z", "23:59:61Z", "12:00:60Z",
        "22:59:60Z", "23:58:60Z", "23:59:60+01:00", "22:59:60+01:00", "00:29:60-00:30", "12:00:00",
        "12:00:00.", "12:00:00.Z", "12:00:00.aZ", "12:00:00Z ", "12:00:00+24:00", "12:00:00+00:60",
        "12:00:00+0000", "12:00:00+00", "12:00:00+00:", "12:00:00+00:0", "12:00:00 00:00", "12:00Z",
        "12-00:00Z", "12:00-00Z", "1a:00:00Z", "12:0a:00Z", "12:00:0aZ", "12:00:00+a0:00",
        "12:00:00+00:a0");
}

TEST(a_date_time_is_a_date_and_a_time_around_a_t)
{
    EXPECT_VALID("date-time", "2026-01-31T23:59:59Z", "2026-01-31t23:59:59z");
    EXPECT_INVALID("date-time", "", "2026-01-31", "2026-01-31T", "23:59:59Z",
        "2026-01-31 23:59:59Z", "2026-01-32T23:59:59Z", "2026-01-31T24:59:59Z",
        "2026-01-31T23:59:59Zx");
}

TEST(a_duration_has_its_units_in_order_and_weeks_alone)
{
    EXPECT_VALID("duration", "P1Y", "P1M", "P10D", "P1W", "P1Y2M", "P2M3D", "P1Y2M3D", "PT1H",
        "PT1M", "PT1S", "PT1H2M3S", "P1DT12H", "PT0S", "P100W");
    EXPECT_INVALID("duration", "", "P", "1D", "PT", "P1", "P1DT", "PT1", "P1D2Y", "P1D1D", "P1Y3D",
        "PT1H3S", "P1H", "PT1D", "P1W2D", "P1D2W", "P1WT1H", "PT1H ", "P1D ", "p1D", "P-1D",
        "P1.5D", "PD", "PTH", "P1DX", "PT1HX", "PT1H2");
}

TEST(a_host_name_has_labels_of_1_to_63_bytes_and_253_in_total)
{
    EXPECT_VALID("hostname", "a", "A.b", "1", "a-b", "a--b", "xn--abc", LABEL_63, NAME_253, "z9.Z");
    EXPECT_INVALID("hostname", "", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "a.b-", "-", "a_b",
        "a b", "a@b", "é", LABEL_63 "x", "a." LABEL_63 "x", NAME_253 "x", "[", "`", "{", "/", ":");
}

TEST(an_email_address_has_an_atom_or_a_quoted_part_before_its_domain)
{
    EXPECT_VALID("email", "a@b", "a.b@c", "!#$%&'*+-/=?^_`{|}~@b", "9@b", X60 "xxxx@b", "\"\"@b",
        "\"a b\"@c", "\"a@b\"@c", "\"a\\\"b\"@c", "\"a\\\\\"@c", "\" ~\"@c", "a@[127.0.0.1]",
        "a@[IPv6:::1]", "a@[ipv6:::1]", "a@[IPv6:1:2:3:4:5:6:7:8]");
    EXPECT_INVALID("email", "", "a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a b@c", "a@b@c", "a(@b",
        X60 "xxxxx@b", "a@-b", "é@b", "\"@b", "\"a@b", "a\"@b", "\"a\"b\"@c", "\"a\\\"@c",
        "\"a\x1f\"@c", "\"a\x7f\"@c", "\"é\"@c", "\"a\\\x1f\"@c", "a@[127.0.0.1", "a@127.0.0.1]",
        "a@[127.0.0]", "a@[::1]", "a@[IPv6:]", "a@[IPv6:1]", "a@[IPv5:::1]", "a@[]", "a@[");
}

TEST(an_ipv4_address_has_four_numbers_up_to_255)
{
    EXPECT_VALID("ipv4", "0.0.0.0", "255.255.255.255", "1.22.133.4");
    EXPECT_INVALID("ipv4", "", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.256", "1.2.3.", ".1.2.3",
        "1..2.3", "1.2.3.4.", "1.2.3.a", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ");
}

TEST(an_ipv6_address_has_eight_groups_or_one_gap)
{
    EXPECT_VALID("ipv6", "1:2:3:4:5:6:7:8", "::", "::1", "1::", "1::8",
        "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "abcd:ABCD::ffff", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
        "1:2:3:4:5::1.2.3.4");
    EXPECT_INVALID("ipv6", "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:", ":2:3:4:5:6:7:8", "1::2::3", "1:2:3:4::5:6:7:8", "::1:2:3:4:5:6:7:8",
        "12345::", "g::", "::g", "1.2.3.4::", "::1.2.3", "1:2:3:4:5:6:7:1.2.3.4",
        "1:2:3:4:5:1.2.3.4", "1:2:3:4:5:6::1.2.3.4", "::1.2.3.4:5", "::1:", "1:::2",
        "fe80::1%eth0");
}

TEST(a_uri_has_a_scheme_and_only_characters_of_its_parts)
{
    EXPECT_VALID("uri", "a:", "a:b", "http://h", "http://h/", "http://h:80/a/b?c=d/?#e/?",
        "http://h:", "http://u:p@h", "http://@h", "http://[::1]", "http://[::1]:80/a",
        "http://[::1]:", "http://[v1.a:b]", "http://[Vf.a]", "a+-.9:b", "a:b:c", "a:/b:c",
        "a:%41%fF", "a:#", "a:?", "urn:x@y", "http://h%20x", "a:b#c%41", "a:b?c%41", "a:///b",
        "A://h/-._~!$&'()*+,;=");
    EXPECT_INVALID("uri", "", "a", "/a", "//h", "1a:b", "+a:b", ":b", "a_b:c", "é:a", "a:b c",
        "a:\"", "a:<", "a:\\", "a:^", "a:`", "a:{", "a:%", "a:%4", "a:%4g", "a:%g4", "a:b#c#d",
        "a:#%4", "a:#[", "a:?[", "a:?%g1", "a:[", "http://[::1", "http://::1]", "http://[]",
        "http://[::1]x", "http://[::1]:x", "http://[1.2.3.4]", "http://h:8x", "http://h:80:80",
        "http://a[::1]", "http://u@v@h", "http://u[@h", "http://[v.a]", "http://[vg.a]",
        "http://[v1.]", "http://[v12.]", "http://[v1a]", "http://[w1.a]", "http://[v1.%41]",
        "http://[v1.[]", "a:é", "http://é", "#a", "http://h/[");
}

TEST(a_uri_reference_needs_no_scheme)
{
    EXPECT_VALID("uri-reference", "", "a", "/a", "//h", "//h/a", "#", "#a", "?a", "a:b", "./a:b",
        "a/b:c", "../a", "/a:b");
    EXPECT_INVALID("uri-reference", "1a:b", "a b", "#a b", "?a b", "é", "//h:x", "a\\b", "%");
}

TEST(an_iri_may_have_international_characters_and_private_ones_in_its_query)
{
    EXPECT_VALID("iri", "a:é", "http://é/é?é#é", "a:\u00a0", "a:\ud7ff", "a:\uf900", "a:\ufdcf",
        "a:\ufdf0", "a:\uffef", "a:\U00010000", "a:\U0001fffd", "a:\U000dfffd", "a:\U000e1000",
        "a:\U000efffd", "a:?\ue000", "a:?\uf8ff", "a:?\U000f0000", "a:?\U0010fffd", "http://é@h");
    EXPECT_INVALID("iri", "é", "", "a:\xc2\x80", "a:\xc2\x9f", "a:\ue000", "a:\uf8ff", "a:\ufdd0",
        "a:\ufdef", "a:\ufff0", "a:\uffff", "a:\U0001fffe", "a:\U000e0000", "a:\U000e0fff",
        "a:\U000effff", "a:\U000f0000", "a:\U0010fffd", "a:#\ue000", "a:?\U000ffffe",
        "a:?\U0010ffff", "a:?\xc2\x80", "a:\xc3", "a:\xff", "é:a", "http://[é]");
    EXPECT_VALID("iri-reference", "", "é", "//é/é", "#é", "?\ue000");
    EXPECT_INVALID("iri-reference", "é:b", "\ue000", "é b", "#\ue000");
}

TEST(a_uri_template_has_expressions_of_variables_in_braces)
{
    EXPECT_VALID("uri-template", "", "a", "{a}", "a{b}c", "{a}{b}", "{a,b}", "{+a}", "{#a}", "{.a}",
        "{/a}", "{;a}", "{?a,b}", "{&a}", "{=a}", "{,a}", "{!a}", "{@a}", "{|a}", "{a*}", "{a:1}",
        "{a:9999}", "{a.b}", "{a_1}", "{%41}", "{a%41b}", "{_}", "é{a}", "\ue000{a}",
        "http://h/{a}#b", "[{a}]@%41");
    EXPECT_INVALID("uri-template", "{", "}", "{a", "a}", "{}", "{+}", "}{a}", "{a}}", "{a}{",
        "{{a}}", "{a,}", "{,a,}", "{a,,b}", "{a:}", "{a:0}", "{a:10000}", "{a:x}", "{a:1*}",
        "{a*:1}", "{*}", "{.a.}", "{a.}", "{+.a}", "{a..b}", "{a-b}", "{a b}", "{é}", "{%4}", "{%}",
        "{%4g}", "{%g4}", "{$a}", "a b", "a\"b", "a<b", "%", "%4", "%g1", "a b{c}", "{a} ");
}

TEST(a_uuid_has_dashes_at_four_places_and_hexadecimal_digits_elsewhere)
{
    static const char uuid[] = "01234567-89ab-cdef-ABCD-EF0123456789";
    EXPECT_VALID("uuid", uuid);
    EXPECT_INVALID("uuid", "", "01234567-89ab-cdef-ABCD-EF012345678",
        "01234567-89ab-cdef-ABCD-EF01234567890", "0123456789abcdefABCDEF0123456789");
    for (size_t i = 0; i < sizeof uuid - 1; i++) {
        char changed[sizeof uuid];
        memcpy(changed, uuid, sizeof uuid);
        changed[i] = uuid[i] == '-' ? '0' : '-';
        EXPECT_INVALID("uuid", changed);
        changed[i] = 'g';
        EXPECT_INVALID("uuid", changed);
    }
}

TEST(json_pointers_escape_tildes_and_relative_ones_begin_with_a_number)
{
    EXPECT_VALID("json-pointer", "", "/", "/a", "/a/b", "/~0~1", "/a//b", "/é", "/ ");
    EXPECT_INVALID("json-pointer", "a", "/~", "/~2", "/a~", "a/b", "#/a", "/~/0");
    EXPECT_VALID("relative-json-pointer", "0", "1", "10", "0#", "12#", "0/a", "9/~0", "1/");
    EXPECT_INVALID("relative-json-pointer", "", "/a", "#", "01", "00", "0a", "0##", "-1", "0#a",
        "0/~", "01/a", "1#/a", "a", ":", " 1");
}

TEST(a_regular_expression_is_rejected_only_for_errors_of_syntax)
{
    EXPECT_VALID("regex", "", "a", "^a|b$", "(?=a)", "(?<!a)", "\\1(a)", "[^a-z]", "a{2,3}?");
    EXPECT_INVALID("regex", "(", ")", "[", "a**", "*", "a{3,2}", "[z-a]", "\\");
}

TEST(formats_are_known_by_their_whole_name_and_international_ones_are_not_checked)
{
    EXPECT(json_format_find(STR("dat")) == NULL);
    EXPECT(json_format_find(STR("Date")) == NULL);
    EXPECT(json_format_find(STR("")) == NULL);
    EXPECT(json_format_find(STR("idn-email"))->accepts == NULL);
    EXPECT(json_format_find(STR("idn-hostname"))->accepts == NULL);
}
