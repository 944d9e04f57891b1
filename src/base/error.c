/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

const struct error_info *error_info(enum error e)
{
    static const struct error_info table[ERROR_COUNT] = {[OK] = {{"ok", 2}, 200, false, {"OK", 2}},
#define ERROR_ROW(name, code, status, retryable, title) \
    [name] = {{code, sizeof(code) - 1}, status, retryable, {title, sizeof(title) - 1}},
        ERROR_TABLE(ERROR_ROW)
#undef ERROR_ROW
    };
    assert(e >= OK && e < ERROR_COUNT);
    return &table[e];
}
