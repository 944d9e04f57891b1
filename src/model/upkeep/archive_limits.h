/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of archived values that no resource defines, for archive.members. */
#ifndef MODEL_UPKEEP_ARCHIVE_LIMITS_H
#define MODEL_UPKEEP_ARCHIVE_LIMITS_H

#include <stdint.h>

enum {
    SMALL_JSON_MAX_BYTES = 1024 * 1024,
    VERSION_MAX = INT32_MAX,
};
#define SEQ_MAX (INT64_C(1) << 53) /* JSON numbers are exact up to this one */
#define SIZE_MAX_BYTES (INT64_C(1) << 50)
#define USED_MAX (INT64_MAX / 64) /* a sum to which many others can be added */

#endif
