/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/page.h"

const char *const include_debug[] = {"debug", NULL};
const char *const include_documents[] = {"documents", NULL};
const char *const include_member_responses[] = {"member_responses", NULL};
const char *const include_messages[] = {"messages", NULL};
const char *const include_values[] = {"values", NULL};

#define OF struct page_only_query
static const struct field page_only_fields[] = {
    PAGE_FIELDS(IN_QUERY),
};
#undef OF
const struct schema query_page_only =
    SCHEMA("PageQuery", struct page_only_query, page_only_fields, IN_QUERY);
