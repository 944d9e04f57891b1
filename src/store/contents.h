/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a database holds, in figures: the rows of each table, and a digest of all of them. Two
 * databases with the same digest hold the same rows; a backup has the digest of its moment,
 * however its pages lie in the file.
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
    int64_t schema_version; /* 0: it has none, and is no database of Cairn's */
    struct table_rows *tables;
    size_t n_tables;
    uint64_t rows;
    bool has_digest;
    struct sha256 digest;
};

#endif
