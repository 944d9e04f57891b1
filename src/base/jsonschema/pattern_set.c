/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jsonschema/pattern_categories.h"
#include "base/jsonschema/pattern_program.h"

enum { CATEGORY_BITS = 5, FIRST_RANGES = 8 };

void pattern_ranges_add(struct pattern_ranges *r, uint32_t low, uint32_t high)
{
    if (r->count == r->cap) {
        size_t cap = r->cap == 0 ? FIRST_RANGES : 2 * r->cap;
        struct pattern_range *items = ARENA_ARRAY(r->arena, struct pattern_range, cap);
        if (r->count > 0)
            memcpy(items, r->items, r->count * sizeof *items);
        r->items = items;
        r->cap = cap;
    }
    r->items[r->count++] = (struct pattern_range){low, high};
}

void pattern_ranges_add_others(struct pattern_ranges *r, struct pattern_set set)
{
    uint32_t next = 0;
    for (size_t i = 0; i < set.count; i++) {
        if (set.ranges[i].low > next)
            pattern_ranges_add(r, next, set.ranges[i].low - 1);
        next = set.ranges[i].high + 1;
    }
    if (next <= CODE_POINT_MAX)
        pattern_ranges_add(r, next, CODE_POINT_MAX);
}

static int by_low(const void *a, const void *b)
{
    const struct pattern_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

struct pattern_set pattern_ranges_take(struct pattern_ranges *r)
{
    if (r->count == 0)
        return (struct pattern_set){NULL, 0};
    bool sorted = true;
    for (size_t i = 1; i < r->count && sorted; i++)
        sorted = r->items[i - 1].low <= r->items[i].low;
    if (!sorted)
        qsort(r->items, r->count, sizeof *r->items, by_low);
    size_t last = 0;
    for (size_t i = 1; i < r->count; i++) {
        if (r->items[i].low > r->items[last].high + 1)
            r->items[++last] = r->items[i];
        else if (r->items[i].high > r->items[last].high)
            r->items[last].high = r->items[i].high;
    }
    return (struct pattern_set){r->items, last + 1};
}

/* In the order of the numbers in the table of runs. A class of one letter includes all that begin
 * with it. */
static const struct {
    const char *name;
    const char *long_name;
} categories[] = {
    {"Lu", "Uppercase_Letter"},
    {"Ll", "Lowercase_Letter"},
    {"Lt", "Titlecase_Letter"},
    {"Lm", "Modifier_Letter"},
    {"Lo", "Other_Letter"},
    {"Mn", "Nonspacing_Mark"},
    {"Mc", "Spacing_Mark"},
    {"Me", "Enclosing_Mark"},
    {"Nd", "Decimal_Number"},
    {"Nl", "Letter_Number"},
    {"No", "Other_Number"},
    {"Pc", "Connector_Punctuation"},
    {"Pd", "Dash_Punctuation"},
    {"Ps", "Open_Punctuation"},
    {"Pe", "Close_Punctuation"},
    {"Pi", "Initial_Punctuation"},
    {"Pf", "Final_Punctuation"},
    {"Po", "Other_Punctuation"},
    {"Sm", "Math_Symbol"},
    {"Sc", "Currency_Symbol"},
    {"Sk", "Modifier_Symbol"},
    {"So", "Other_Symbol"},
    {"Zs", "Space_Separator"},
    {"Zl", "Line_Separator"},
    {"Zp", "Paragraph_Separator"},
    {"Cc", "Control"},
    {"Cf", "Format"},
    {"Cs", "Surrogate"},
    {"Co", "Private_Use"},
    {"Cn", "Unassigned"},
};

static const struct {
    const char *name;
    const char *short_name;
} groups[] = {
    {"Letter", "L"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Number", "N"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Separator", "Z"},
    {"Other", "C"},
    {"digit", "Nd"},
    {"cntrl", "Cc"},
};

/* Returns the categories of a name, one bit each; 0 if there is no such name. */
static uint32_t categories_of(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        if (str_eq(name, str_of(groups[i].name)))
            name = str_of(groups[i].short_name);
    if (str_eq(name, STR("Any")))
        return ((uint32_t)1 << COUNT_OF(categories)) - 1;
    if (str_eq(name, STR("Assigned")))
        return ((uint32_t)1 << (COUNT_OF(categories) - 1)) - 1;
    bool cased = str_eq(name, STR("LC")) || str_eq(name, STR("Cased_Letter"));
    uint32_t bits = 0;
    for (size_t i = 0; i < COUNT_OF(categories); i++) {
        bool is_it = str_eq(name, str_of(categories[i].name)) ||
                     str_eq(name, str_of(categories[i].long_name)) ||
                     (name.len == 1 && name.ptr[0] == categories[i].name[0]) || (cased && i < 3);
        bits |= (uint32_t)is_it << i;
    }
    return bits;
}

bool pattern_property(struct pattern_ranges *r, struct str name)
{
    if (str_eq(name, STR("ASCII"))) {
        pattern_ranges_add(r, 0, 0x7f);
        return true;
    }
    if (str_starts_with(name, STR("gc=")))
        name = str_slice(name, 3, name.len);
    else if (str_starts_with(name, STR("General_Category=")))
        name = str_slice(name, STR("General_Category=").len, name.len);
    uint32_t wanted = categories_of(name);
    if (wanted == 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(category_runs); i++) {
        uint32_t category = category_runs[i] & (((uint32_t)1 << CATEGORY_BITS) - 1);
        if ((wanted >> category & 1) == 0)
            continue;
        uint32_t end = i + 1 < COUNT_OF(category_runs) ? category_runs[i + 1] >> CATEGORY_BITS
                                                       : CODE_POINT_MAX + 1;
        pattern_ranges_add(r, category_runs[i] >> CATEGORY_BITS, end - 1);
    }
    return true;
}
