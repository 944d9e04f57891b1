/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of the server page by page, for the layout. */
#ifndef CLI_LAYOUT_PAGES_H
#define CLI_LAYOUT_PAGES_H

#include "base/json/json_write.h"
#include "cli/layout.h"

/* An answer can contain documents of the greatest depth. */
enum { LAYOUT_DEPTH = JSON_WRITE_MAX_DEPTH - 1, PAGE_OBJECTS = 200, PAGE_DOCUMENTS = 50 };

/* Calls `take` for each page, with an arena that lives as long as the page; `take` sends no
 * requests. */
struct pages {
    struct str path; /* with a query */
    int (*take)(struct layout *l, struct arena *arena, struct json data, void *to);
    void *to;
};
/* `out_found` is false for 404. */
int layout_read_pages(struct layout *l, const struct pages *p, bool *out_found);

/* The ids of a list's objects, and a number of each. */
struct found_ids {
    struct arena *arena;
    const char *number; /* the pointer of the number; NULL: none */
    struct id_text *items;
    int64_t *numbers;
    size_t n;
    size_t room;
};
/* A `take` whose `to` is a struct found_ids. */
int layout_take_ids(struct layout *l, struct arena *arena, struct json data, void *to);
bool found_ids_has(const struct found_ids *f, const struct id_text *id);

#endif
