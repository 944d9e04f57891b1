/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/json_schema_format.h"

#include "base/json/json_pointer.h"
#include "base/jsonschema/json_schema_uri.h"
#include "base/jsonschema/pattern.h"

/* --- Times (RFC 3339) ------------------------------------------------------------------------- */

/* Takes a number of exactly this many digits from the front. */
static bool take_number(struct str *s, size_t n_digits, unsigned *out)
{
    unsigned value = 0;
    if (s->len < n_digits)
        return false;
    for (size_t i = 0; i < n_digits; i++) {
        if (!is_digit(s->ptr[i]))
            return false;
        value = value * 10 + (unsigned)(s->ptr[i] - '0');
    }
    *s = str_slice(*s, n_digits, s->len);
    *out = value;
    return true;
}

static bool take_byte(struct str *s, char byte)
{
    if (s->len == 0 || s->ptr[0] != byte)
        return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

static bool take_date(struct str *s)
{
    static const unsigned days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year, month, day;
    if (!take_number(s, 4, &year) || !take_byte(s, '-') || !take_number(s, 2, &month) ||
        !take_byte(s, '-') || !take_number(s, 2, &day) || month < 1 || month > 12)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day >= 1 && day <= days[month - 1] + (leap && month == 2 ? 1 : 0);
}

/* The minutes to subtract for UTC. */
static bool take_offset(struct str *s, int *out_minutes)
{
    unsigned hour, minute;
    *out_minutes = 0;
    if (take_byte(s, 'Z') || take_byte(s, 'z'))
        return true;
    bool west = take_byte(s, '-');
    if ((!west && !take_byte(s, '+')) || !take_number(s, 2, &hour) || !take_byte(s, ':') ||
        !take_number(s, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *out_minutes = (int)(hour * 60 + minute) * (west ? -1 : 1);
    return true;
}

static bool take_time(struct str *s)
{
    enum { DAY_MINUTES = 24 * 60 };
    unsigned hour, minute, second;
    int offset;
    if (!take_number(s, 2, &hour) || !take_byte(s, ':') || !take_number(s, 2, &minute) ||
        !take_byte(s, ':') || !take_number(s, 2, &second))
        return false;
    if (take_byte(s, '.')) {
        if (s->len == 0 || !is_digit(s->ptr[0]))
            return false;
        while (s->len > 0 && is_digit(s->ptr[0]))
            *s = str_slice(*s, 1, s->len);
    }
    if (!take_offset(s, &offset) || hour > 23 || minute > 59 || second > 60)
        return false;
    /* Leap seconds occur at the end of a UTC day. */
    int utc = ((int)(hour * 60 + minute) - offset + 2 * DAY_MINUTES) % DAY_MINUTES;
    return second < 60 || utc == DAY_MINUTES - 1;
}

static bool is_date(struct str s)
{
    return take_date(&s) && s.len == 0;
}

static bool is_time(struct str s)
{
    return take_time(&s) && s.len == 0;
}

static bool is_date_time(struct str s)
{
    return take_date(&s) && (take_byte(&s, 'T') || take_byte(&s, 't')) && take_time(&s) &&
           s.len == 0;
}

/* Numbers with these units, in this order and without a gap. */
static bool take_amounts(struct str *s, const char *units)
{
    bool any = false;
    const char *at = units;
    while (s->len > 0 && is_digit(s->ptr[0])) {
        while (s->len > 0 && is_digit(s->ptr[0]))
            *s = str_slice(*s, 1, s->len);
        const char *unit = s->len > 0 ? strchr(at, s->ptr[0]) : NULL;
        if (unit == NULL || *unit == '\0' || (any && unit != at))
            return false;
        at = unit + 1;
        any = true;
        *s = str_slice(*s, 1, s->len);
    }
    return any;
}

static bool is_duration(struct str s)
{
    if (!take_byte(&s, 'P'))
        return false;
    struct str weeks = s;
    if (take_amounts(&weeks, "W") && weeks.len == 0)
        return true;
    bool has_days = s.len > 0 && is_digit(s.ptr[0]);
    if (has_days && !take_amounts(&s, "YMD"))
        return false;
    return take_byte(&s, 'T') ? take_amounts(&s, "HMS") && s.len == 0 : has_days && s.len == 0;
}

/* --- Names ------------------------------------------------------------------------------------ */

/* RFC 1123; A-labels (xn--…) are not decoded. */
static bool is_hostname(struct str s)
{
    enum { MAX_LABEL = 63, MAX_NAME = 253 };
    struct str label;
    if (s.len == 0 || s.len > MAX_NAME || str_ends_with(s, STR(".")))
        return false;
    while (str_next_part(&s, '.', &label)) {
        if (label.len == 0 || label.len > MAX_LABEL || label.ptr[0] == '-' ||
            label.ptr[label.len - 1] == '-')
            return false;
        for (size_t i = 0; i < label.len; i++)
            if (!is_letter(label.ptr[i]) && !is_digit(label.ptr[i]) && label.ptr[i] != '-')
                return false;
    }
    return true;
}

static bool is_atom(struct str s)
{
    bool after_dot = true;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool atext =
            is_letter(c) || is_digit(c) || (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL);
        if (c == '.' ? after_dot : !atext)
            return false;
        after_dot = c == '.';
    }
    return !after_dot;
}

static bool is_quoted(struct str s)
{
    if (s.len < 2 || s.ptr[0] != '"' || s.ptr[s.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < s.len; i++) {
        if (s.ptr[i] == '\\' && ++i + 1 == s.len)
            return false;
        if (s.ptr[i] < ' ' || s.ptr[i] > '~' || (s.ptr[i] == '"' && s.ptr[i - 1] != '\\'))
            return false;
    }
    return true;
}

/* A Mailbox of RFC 5321, section 4.1.2. */
static bool is_email(struct str s)
{
    enum { MAX_LOCAL = 64 };
    size_t at = s.len;
    while (at > 0 && s.ptr[at - 1] != '@')
        at--;
    if (at == 0)
        return false;
    struct str local = str_slice(s, 0, at - 1), domain = str_slice(s, at, s.len);
    if (local.len > MAX_LOCAL || !(is_atom(local) || is_quoted(local)))
        return false;
    if (!str_starts_with(domain, STR("[")))
        return is_hostname(domain);
    if (!str_ends_with(domain, STR("]")))
        return false;
    domain = str_slice(domain, 1, domain.len - 1);
    if (domain.len > 5 && str_eq_nocase(str_slice(domain, 0, 5), STR("IPv6:")))
        return is_ipv6(str_slice(domain, 5, domain.len));
    return is_ipv4(domain);
}

static bool is_uuid(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.ptr[i] != '-' : hex_digit(s.ptr[i]) < 0)
            return false;
    }
    return s.len == 36;
}

static bool is_relative_pointer(struct str s)
{
    size_t digits = 0;
    while (digits < s.len && is_digit(s.ptr[digits]))
        digits++;
    if (digits == 0 || (digits > 1 && s.ptr[0] == '0'))
        return false;
    struct str rest = str_slice(s, digits, s.len);
    return str_eq(rest, STR("#")) || json_pointer_is_valid(rest);
}

/* Rejects only certain syntax errors; an expression that Cairn's patterns do not support is
 * accepted. */
static bool is_regex(struct str s)
{
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct pattern *unused;
    struct pattern_error error;
    return pattern_compile(&scratch, s, &unused, &error) || error.unsupported;
}

/* --- All -------------------------------------------------------------------------------------- */

static const struct json_format formats[] = {
    {"date-time", "a date and time of RFC 3339, such as 2026-01-31T23:59:59Z", is_date_time, 0},
    {"date", "a date of RFC 3339, such as 2026-01-31", is_date, 0},
    {"time", "a time of RFC 3339, such as 23:59:59Z", is_time, 0},
    {"duration", "a duration of ISO 8601, such as P1DT12H", is_duration, 0},
    {"email", "an email address", is_email, 0},
    {"idn-email", "", NULL, 0},
    {"hostname", "a host name", is_hostname, 0},
    {"idn-hostname", "", NULL, 0},
    {"ipv4", "an IPv4 address", is_ipv4, 0},
    {"ipv6", "an IPv6 address", is_ipv6, 0},
    {"uri", "a URI", is_uri, 0},
    {"uri-reference", "a URI reference", is_uri_reference, 0},
    {"iri", "an IRI", is_iri, 0},
    {"iri-reference", "an IRI reference", is_iri_reference, 0},
    {"uri-template", "a URI template", is_uri_template, 0},
    {"uuid", "a UUID", is_uuid, 0},
    {"json-pointer", "a JSON Pointer", json_pointer_is_valid, 0},
    {"relative-json-pointer", "a relative JSON Pointer", is_relative_pointer, 0},
    {"regex", "a regular expression of ECMA-262", is_regex, 200},
};

const struct json_format *json_format_find(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (str_eq(name, str_of(formats[i].name)))
            return &formats[i];
    return NULL;
}

bool json_format_is_uri_reference(struct str s)
{
    return is_uri_reference(s);
}
