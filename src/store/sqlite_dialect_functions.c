/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of PostgreSQL, and those that the rewriter writes for casts and intervals. */
#include <math.h>

#include "base/clock.h"
#include "base/json/json.h"
#include "store/sqlite_dialect.h"

enum { MAX_JSON_BYTES = 64 * 1024 * 1024, MAX_UNITS = 999999, MAX_PARTS = 8, MESSAGE_BYTES = 200 };

static const int64_t FIRST_US = -62167219200 * 1000000; /* of year 0 */
static const int64_t LAST_US = 253402300800 * 1000000 - 1;

static struct str text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text == NULL ? STR_NONE : (struct str){text, (size_t)sqlite3_value_bytes(value)};
}

static bool is_null(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL;
}

static void fail(sqlite3_context *result, const char *what, struct str value)
{
    char message[MESSAGE_BYTES];
    int most = value.len < 80 ? (int)value.len : 80;
    snprintf(message, sizeof message, "%s: \"%.*s\"", what, most, value.ptr);
    sqlite3_result_error(result, message, -1);
}

/* --- Text ----------------------------------------------------------------------------------- */

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The bytes of the first n characters. */
static size_t bytes_of(struct str text, int64_t n)
{
    size_t i = 0;
    for (; i < text.len; i++)
        if (begins_character(text.ptr[i]) && n-- == 0)
            break;
    return i;
}

static int64_t characters_of(struct str text)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += begins_character(text.ptr[i]);
    return n;
}

/* left(text, n) and right(text, n); with a negative n all but so many characters. */
static void take_end(sqlite3_context *result, sqlite3_value **values, bool is_left)
{
    if (is_null(values[0]) || is_null(values[1]))
        return;
    struct str text = text_of(values[0]);
    int64_t all = characters_of(text), n = sqlite3_value_int64(values[1]);
    n = n >= 0 ? (n < all ? n : all) : n <= -all ? 0 : all + n;
    size_t cut = bytes_of(text, is_left ? n : all - n);
    text = is_left ? str_slice(text, 0, cut) : str_slice(text, cut, text.len);
    sqlite3_result_text64(result, text.ptr, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void left(sqlite3_context *result, int n, sqlite3_value **values)
{
    take_end(result, values, true);
}

static void right(sqlite3_context *result, int n, sqlite3_value **values)
{
    take_end(result, values, false);
}

static void jsonb_array_length(sqlite3_context *result, int n, sqlite3_value **values)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(MAX_JSON_BYTES);
    struct json_doc doc;
    struct json_error error;
    if (is_null(values[0]))
        return;
    if (!json_parse(&arena, text_of(values[0]), &doc, &error))
        fail(result, "invalid JSON", text_of(values[0]));
    else if (json_type(json_root(&doc)) != JSON_ARRAY)
        fail(result, "cannot get the array length of a value that is no array", text_of(values[0]));
    else
        sqlite3_result_int64(result, (int64_t)json_count(json_root(&doc)));
}

/* cairn_list(list): the list itself, for json_each, which would return rows of any value. json_each
 * reports wrong JSON. */
static void expect_list(sqlite3_context *result, int n, sqlite3_value **values)
{
    struct str text = str_trim_blanks(text_of(values[0]));
    if (is_null(values[0]))
        return;
    if (text.len > 0 && text.ptr[0] == '[')
        sqlite3_result_value(result, values[0]);
    else
        fail(result, "cannot extract elements from a value that is no array", text);
}

/* --- Casts ---------------------------------------------------------------------------------- */

/* A text must be a whole number; a number is rounded. */
static void cast_integer(sqlite3_context *result, sqlite3_value *value, int64_t least, int64_t most)
{
    bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
    int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_NULL)
        return;
    if (type == SQLITE_INTEGER && sqlite3_value_int64(value) >= least &&
        sqlite3_value_int64(value) <= most) {
        sqlite3_result_int64(result, sqlite3_value_int64(value));
        return;
    }
    double number = type == SQLITE_FLOAT && !is_text ? sqlite3_value_double(value) : NAN;
    if (number > (double)least - 0.5 && number < (double)most + 0.5 && fabs(number) < 0x1p63)
        sqlite3_result_int64(result, (int64_t)(number + (number < 0 ? -0.5 : 0.5)));
    else
        fail(result, "no whole number in the range of the type", text_of(value));
}

static void cast_smallint(sqlite3_context *result, int n, sqlite3_value **values)
{
    cast_integer(result, values[0], INT16_MIN, INT16_MAX);
}

static void cast_int(sqlite3_context *result, int n, sqlite3_value **values)
{
    cast_integer(result, values[0], INT32_MIN, INT32_MAX);
}

static void cast_bigint(sqlite3_context *result, int n, sqlite3_value **values)
{
    cast_integer(result, values[0], INT64_MIN, INT64_MAX);
}

static void cast_float(sqlite3_context *result, int n, sqlite3_value **values)
{
    int type = sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_NULL)
        return;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        sqlite3_result_double(result, sqlite3_value_double(values[0]));
    else
        fail(result, "no number", text_of(values[0]));
}

/* --- Times ---------------------------------------------------------------------------------- */

static bool parse_unit(struct str name, struct interval *out_unit)
{
    static const struct {
        const char *name;
        struct interval unit;
    } units[] = {
        {"microsecond", {0, 1}},
        {"millisecond", {0, 1000}},
        {"second", {0, 1000000}},
        {"sec", {0, 1000000}},
        {"minute", {0, 60 * 1000000}},
        {"min", {0, 60 * 1000000}},
        {"hour", {0, 3600LL * 1000000}},
        {"day", {0, 86400LL * 1000000}},
        {"week", {0, 7 * 86400LL * 1000000}},
        {"month", {1, 0}},
        {"mon", {1, 0}},
        {"year", {12, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        struct str unit = str_of(units[i].name);
        bool is_plural = name.len == unit.len + 1 && (name.ptr[unit.len] | 0x20) == 's';
        if (str_eq_nocase(is_plural ? str_slice(name, 0, unit.len) : name, unit)) {
            *out_unit = units[i].unit;
            return true;
        }
    }
    return false;
}

static struct str next_word(struct str *rest)
{
    struct str word = STR("");
    while (word.len == 0 && str_next_part(rest, ' ', &word)) {
    }
    return word;
}

bool interval_parse(struct str text, struct interval *out_interval)
{
    struct interval sum = {0}, unit;
    int64_t n;
    int parts = 0;
    for (struct str word; (word = next_word(&text)).len > 0; parts++) {
        if (parts == MAX_PARTS || !str_to_i64(word, &n) || n > MAX_UNITS || n < -MAX_UNITS ||
            !parse_unit(next_word(&text), &unit))
            return false;
        sum.months += n * unit.months;
        sum.us += n * unit.us;
    }
    *out_interval = sum;
    return parts > 0;
}

/* A time of the views, a date, or a time without an offset, which is UTC. */
static bool parse_time(struct arena *arena, struct str text, int64_t *out_us)
{
    if (text.len == 10)
        text = arena_printf(arena, "%.*sT00:00:00Z", STR_ARG(text));
    else if (text.len > 10 && text.ptr[10] == ' ')
        text = arena_printf(arena, "%.10sT%.*s", text.ptr, (int)text.len - 11, text.ptr + 11);
    return clock_parse(text, out_us) ||
           clock_parse(arena_printf(arena, "%.*sZ", STR_ARG(text)), out_us);
}

static int64_t number_of(const char *digits, int count)
{
    int64_t number = 0;
    for (int i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

/* The same day of another month, or the last one of that month. */
static bool add_months(struct arena *arena, int64_t months, int64_t *us)
{
    char text[CLOCK_TEXT_LEN];
    clock_format(*us, text);
    months += number_of(text, 4) * 12 + number_of(text + 5, 2) - 1;
    if (months < 0 || months >= 10000 * 12)
        return false;
    for (int day = (int)number_of(text + 8, 2); day > 0; day--)
        if (clock_parse(arena_printf(arena, "%04d-%02d-%02d%.*s", (int)(months / 12),
                            (int)(months % 12) + 1, day, CLOCK_TEXT_LEN - 10, text + 10),
                us))
            return true;
    return false;
}

/* cairn_add(time, 1 or -1, interval), which a statement may also call itself. */
static void add(sqlite3_context *result, int n, sqlite3_value **values)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(MESSAGE_BYTES * 10);
    struct interval interval = {0};
    char text[CLOCK_TEXT_LEN];
    int64_t us, sign = sqlite3_value_int64(values[1]);
    if (is_null(values[0]))
        return;
    if (sqlite3_value_type(values[1]) != SQLITE_INTEGER || (sign != 1 && sign != -1)) {
        fail(result, "no sign of an interval", text_of(values[1]));
        return;
    }
    if (!interval_parse(text_of(values[2]), &interval)) {
        fail(result, "no interval", text_of(values[2]));
        return;
    }
    if (!parse_time(&arena, text_of(values[0]), &us)) {
        fail(result, "no time", text_of(values[0]));
        return;
    }
    bool is_in_range = interval.months == 0 || add_months(&arena, sign * interval.months, &us);
    us += is_in_range ? sign * interval.us : 0;
    if (!is_in_range || us < FIRST_US || us > LAST_US) {
        fail(result, "the time is not in the years 0 to 9999", text_of(values[0]));
        return;
    }
    clock_format(us, text);
    sqlite3_result_text(result, text, CLOCK_TEXT_LEN, SQLITE_TRANSIENT);
}

static void now(sqlite3_context *result, int n, sqlite3_value **values)
{
    char text[CLOCK_TEXT_LEN];
    clock_format(*(const int64_t *)sqlite3_user_data(result), text);
    sqlite3_result_text(result, text, CLOCK_TEXT_LEN, SQLITE_TRANSIENT);
}

int sqlite_dialect_add_functions(sqlite3 *db, int64_t *now_us)
{
    static const struct {
        const char *name;
        int n_arguments;
        void (*function)(sqlite3_context *result, int n, sqlite3_value **values);
    } functions[] = {
        {"cairn_add", 3, add},
        {"cairn_bigint", 1, cast_bigint},
        {"cairn_float", 1, cast_float},
        {"cairn_integer", 1, cast_int},
        {"cairn_list", 1, expect_list},
        {"cairn_smallint", 1, cast_smallint},
        {"jsonb_array_length", 1, jsonb_array_length},
        {"left", 2, left},
        {"now", 0, now},
        {"right", 2, right},
    };
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | SQLITE_DETERMINISTIC, rc = SQLITE_OK;
    for (size_t i = 0; i < COUNT_OF(functions) && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function(db, functions[i].name, functions[i].n_arguments, flags, now_us,
            functions[i].function, NULL, NULL);
    return rc;
}
