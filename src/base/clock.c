/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <pthread.h>

#define US_PER_S INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)

static int64_t read_clock_us(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

int64_t clock_wall_us(void)
{
    return read_clock_us(CLOCK_REALTIME);
}

int64_t clock_steady_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

/* The difference of lease time and steady time; set once. */
static int64_t lease_offset_us;

static void fix_lease_offset(void)
{
    lease_offset_us = clock_wall_us() - clock_steady_us();
}

int64_t clock_lease_us(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fix_lease_offset);
    return clock_steady_us() + lease_offset_us;
}

/*
 * Conversion between dates of the Gregorian calendar and days since 1970. The year begins in March,
 * which puts the leap day at its end, and years are counted in eras of 400, which all have 146,097
 * days. Years before 0 occur only by the shift to March.
 */
struct date {
    int64_t year;
    int64_t month;
    int64_t day;
};

enum { DAYS_PER_ERA = 146097, DAYS_FROM_0000_03_01_TO_1970 = 719468 };

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_of_date(struct date d)
{
    int64_t year = d.month <= 2 ? d.year - 1 : d.year;
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * ((d.month + 9) % 12) + 2) / 5 + d.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_FROM_0000_03_01_TO_1970;
}

static struct date date_of_days(int64_t days)
{
    days += DAYS_FROM_0000_03_01_TO_1970;
    int64_t era = floor_div(days, DAYS_PER_ERA);
    int64_t day = days - era * DAYS_PER_ERA;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    return (struct date){
        .year = era * 400 + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day_of_year - (153 * month + 2) / 5 + 1,
    };
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int8_t days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month] + (month == 2 && leap);
}

static char *write_digits(char *out, int64_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + count;
}

void clock_format(int64_t unix_us, char out_text[CLOCK_TEXT_LEN])
{
    int64_t seconds = floor_div(unix_us, US_PER_S);
    int64_t days = floor_div(seconds, S_PER_DAY);
    int64_t of_day = seconds - days * S_PER_DAY;
    struct date date = date_of_days(days);
    assert(date.year >= 0 && date.year <= 9999);
    const struct {
        int64_t value;
        int digits;
        char after;
    } parts[] = {
        {date.year, 4, '-'},
        {date.month, 2, '-'},
        {date.day, 2, 'T'},
        {of_day / 3600, 2, ':'},
        {of_day / 60 % 60, 2, ':'},
        {of_day % 60, 2, '.'},
        {unix_us - seconds * US_PER_S, 6, 'Z'},
    };
    char *out = out_text;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        out = write_digits(out, parts[i].value, parts[i].digits);
        *out++ = parts[i].after;
    }
}

static bool take_byte(struct str *text, char upper)
{
    if (text->len == 0 || (text->ptr[0] != upper && text->ptr[0] != (upper | 0x20)))
        return false;
    *text = str_slice(*text, 1, text->len);
    return true;
}

static bool take_digits(struct str *text, size_t count, int64_t max, int64_t *out_value)
{
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (i >= text->len || text->ptr[i] < '0' || text->ptr[i] > '9')
            return false;
        value = value * 10 + (text->ptr[i] - '0');
    }
    *text = str_slice(*text, count, text->len);
    *out_value = value;
    return value <= max;
}

static bool take_date(struct str *text, int64_t *out_days)
{
    struct date d;
    if (!take_digits(text, 4, 9999, &d.year) || !take_byte(text, '-') ||
        !take_digits(text, 2, 12, &d.month) || !take_byte(text, '-') ||
        !take_digits(text, 2, 31, &d.day))
        return false;
    if (d.month < 1 || d.day < 1 || d.day > days_in_month(d.year, d.month))
        return false;
    *out_days = days_of_date(d);
    return true;
}

/* Accepts second 60; only the complete time decides whether it is possible. */
static bool take_time_of_day(struct str *text, int64_t *out_seconds, bool *out_leap)
{
    int64_t hour, minute, second;
    if (!take_digits(text, 2, 23, &hour) || !take_byte(text, ':') ||
        !take_digits(text, 2, 59, &minute) || !take_byte(text, ':') ||
        !take_digits(text, 2, 60, &second))
        return false;
    *out_seconds = hour * 3600 + minute * 60 + second;
    *out_leap = second == 60;
    return true;
}

static bool take_fraction(struct str *text, int64_t *out_us)
{
    *out_us = 0;
    if (!take_byte(text, '.'))
        return true;
    int64_t scale = US_PER_S / 10;
    size_t n_digits = 0;
    for (; n_digits < text->len; n_digits++) {
        char c = text->ptr[n_digits];
        if (c < '0' || c > '9')
            break;
        *out_us += (c - '0') * scale;
        scale /= 10;
    }
    *text = str_slice(*text, n_digits, text->len);
    return n_digits >= 1 && n_digits <= 9;
}

static bool take_offset(struct str *text, int64_t *out_seconds)
{
    *out_seconds = 0;
    if (take_byte(text, 'Z'))
        return true;
    bool west = text->len > 0 && text->ptr[0] == '-';
    int64_t hours, minutes;
    if (text->len == 0 || (!west && text->ptr[0] != '+'))
        return false;
    *text = str_slice(*text, 1, text->len);
    if (!take_digits(text, 2, 23, &hours) || !take_byte(text, ':') ||
        !take_digits(text, 2, 59, &minutes))
        return false;
    *out_seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
    return true;
}

/* `seconds` is the second after the leap second, which must begin 1 January or 1 July in UTC. */
static bool leap_second_can_be(int64_t seconds)
{
    int64_t days = floor_div(seconds, S_PER_DAY);
    struct date next = date_of_days(days);
    return seconds == days * S_PER_DAY && next.day == 1 && (next.month == 1 || next.month == 7);
}

static bool has_four_digit_year(int64_t seconds)
{
    int64_t year = date_of_days(floor_div(seconds, S_PER_DAY)).year;
    return year >= 0 && year <= 9999;
}

bool clock_parse(struct str text, int64_t *out_unix_us)
{
    int64_t days, of_day, us, offset;
    bool leap;
    if (!take_date(&text, &days) || !take_byte(&text, 'T') ||
        !take_time_of_day(&text, &of_day, &leap) || !take_fraction(&text, &us) ||
        !take_offset(&text, &offset) || text.len > 0)
        return false;
    int64_t seconds = days * S_PER_DAY + of_day - offset;
    if ((leap && !leap_second_can_be(seconds)) || !has_four_digit_year(seconds))
        return false;
    *out_unix_us = seconds * US_PER_S + us;
    return true;
}
