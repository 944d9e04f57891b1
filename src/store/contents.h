/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of a database: the rows of each table, and a digest of all rows. Two databases with the
 * same digest have the same rows. A backup has the digest of its snapshot, whatever the order of
 * pages in the file.
 */
#ifndef STORE_CONTENTS_H
#define STORE_CONTENTS_H

#include "base/hash.h"

enum { CONTENTS_MAX_TABLES = 256 };

struct table_rows {
    struct str name;
    uint64_t rows;
};

struct contents {
    int64_t schema_version; /* 0: not a database of Cairn */
    struct table_rows *tables;
    size_t n_tables;
    uint64_t rows;
    bool has_digest;
    struct sha256 digest;
};

#endif
