/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of field tables, one line for each member of a struct:
 *
 *     #define OF struct api_key
 *     static const struct field key_fields[] = {
 *         FIELD(UUID, id, IN_READ),
 *         FIELD(STRING, name, IN_BODY | IN_READ, "shown in lists", .min = 1, .max = 200),
 *         FIELD(TIME_OR_NULL, expires_at, IN_BODY | IN_READ),
 *     };
 *     #undef OF
 *     const struct schema schema_key = SCHEMA("Key", struct api_key, key_fields, IN_READ);
 *
 * OF is the struct. A row has a type, the member, the schemas that include it (IN_ bits), the
 * summary if it has one, and any further members of struct field by name. The compiler checks that
 * the member has the C type of the row.
 *
 * X_OR_NONE may be missing from a body and cannot be null; X_OR_NULL may be missing or null. Rows
 * of these types that need a bool for "has a value" use the member has_NAME. A row that is in
 * schemas which Cairn answers, but in none that clients send, is readOnly in the OpenAPI document.
 */
#ifndef BASE_SCHEMA_FIELDS_H
#define BASE_SCHEMA_FIELDS_H

#include "base/schema.h"

/* The name on the wire is the name of the member. */
#define FIELD(type, member, ...) ROW_##type(#member, member, has_##member, __VA_ARGS__)
/* The name on the wire differs. */
#define FIELD_AS(type, wire, member, ...) ROW_##type(wire, member, has_##member, __VA_ARGS__)
/* The member, and its has_ member, are in `part`, a struct inside OF. */
#define FIELD_OF(part, type, member, ...) \
    ROW_##type(#member, part.member, part.has_##member, __VA_ARGS__)
/* Another member states whether there is a value. */
#define FIELD_HAS(type, wire, member, has, ...) ROW_##type(wire, member, has, __VA_ARGS__)

/* clang-format off */
/* The schema that has the rows of `table` with one of the bits `in`. */
#define SCHEMA(name_, type, table, in_)                                                            \
    {.name = (name_), .fields = (table), .n_fields = COUNT_OF(table),                              \
        .struct_bytes = sizeof(type), .in = (in_)}
/* clang-format on */

/* --- Types of rows ---------------------------------------------------------------------------- */

enum { ROW_OR_NONE = FIELD_OPTIONAL, ROW_OR_NULL = FIELD_OPTIONAL | FIELD_NULLABLE };

/* clang-format off */
#define ROW_AT(type, member) _Generic(((OF *)0)->member, type: offsetof(OF, member))
/* Rows of kinds that have a value for "absent", or always have a value. */
#define ROW(kind_, type, flags_, wire, member, has, ...)                                           \
    {.name = (wire), .kind = FIELD_##kind_, .flags = (flags_), .offset = ROW_AT(type, member),     \
        .in = __VA_ARGS__}
#define ROW_WITH(kind_, type, flags_, wire, member, has, ...)                                      \
    {.name = (wire), .kind = FIELD_##kind_, .flags = (flags_), .offset = ROW_AT(type, member),     \
        .has_offset = ROW_AT(bool, has), .in = __VA_ARGS__}

#define ROW_STRING(...) ROW(STRING, struct str, 0, __VA_ARGS__)
#define ROW_STRING_OR_NONE(...) ROW(STRING, struct str, ROW_OR_NONE, __VA_ARGS__)
#define ROW_STRING_OR_NULL(...) ROW(STRING, struct str, ROW_OR_NULL, __VA_ARGS__)
#define ROW_ENUM(...) ROW(ENUM, unsigned, 0, __VA_ARGS__)
#define ROW_ENUM_OR_NONE(...) ROW(ENUM, unsigned, ROW_OR_NONE, __VA_ARGS__)
#define ROW_ENUM_OR_NULL(...) ROW(ENUM, unsigned, ROW_OR_NULL, __VA_ARGS__)
#define ROW_JSON(...) ROW(JSON, struct str, 0, __VA_ARGS__)
#define ROW_JSON_OR_NONE(...) ROW(JSON, struct str, ROW_OR_NONE, __VA_ARGS__)
#define ROW_JSON_OR_NULL(...) ROW(JSON, struct str, ROW_OR_NULL, __VA_ARGS__)
#define ROW_OBJECT(...) ROW(OBJECT, struct str, 0, __VA_ARGS__)
#define ROW_OBJECT_OR_NONE(...) ROW(OBJECT, struct str, ROW_OR_NONE, __VA_ARGS__)
#define ROW_OBJECT_OR_NULL(...) ROW(OBJECT, struct str, ROW_OR_NULL, __VA_ARGS__)
#define ROW_ARRAY(...) ROW(ARRAY, struct str, 0, __VA_ARGS__)
#define ROW_ARRAY_OR_NONE(...) ROW(ARRAY, struct str, ROW_OR_NONE, __VA_ARGS__)
#define ROW_ARRAY_OR_NULL(...) ROW(ARRAY, struct str, ROW_OR_NULL, __VA_ARGS__)
#define ROW_DOCUMENT(...) ROW(DOCUMENT, struct str, 0, __VA_ARGS__)
#define ROW_DOCUMENT_OR_NONE(...) ROW(DOCUMENT, struct str, ROW_OR_NONE, __VA_ARGS__)
#define ROW_DOCUMENT_OR_NULL(...) ROW(DOCUMENT, struct str, ROW_OR_NULL, __VA_ARGS__)
#define ROW_STRINGS(...) ROW(STRINGS, struct str_list, 0, __VA_ARGS__)
#define ROW_STRINGS_OR_NONE(...) ROW(STRINGS, struct str_list, ROW_OR_NONE, __VA_ARGS__)
#define ROW_STRINGS_OR_NULL(...) ROW(STRINGS, struct str_list, ROW_OR_NULL, __VA_ARGS__)
#define ROW_LIST(...) ROW(NESTED_LIST, struct nested_list, 0, __VA_ARGS__)
#define ROW_LIST_OR_NONE(...) ROW(NESTED_LIST, struct nested_list, ROW_OR_NONE, __VA_ARGS__)
#define ROW_LIST_OR_NULL(...) ROW(NESTED_LIST, struct nested_list, ROW_OR_NULL, __VA_ARGS__)
#define ROW_BOOL(...) ROW(BOOL, bool, 0, __VA_ARGS__)
#define ROW_BOOL_OR_NONE(...) ROW_WITH(BOOL, bool, ROW_OR_NONE, __VA_ARGS__)
#define ROW_BOOL_OR_NULL(...) ROW_WITH(BOOL, bool, ROW_OR_NULL, __VA_ARGS__)
#define ROW_INT(...) ROW(INT, int64_t, 0, __VA_ARGS__)
#define ROW_INT_OR_NONE(...) ROW_WITH(INT, int64_t, ROW_OR_NONE, __VA_ARGS__)
#define ROW_INT_OR_NULL(...) ROW_WITH(INT, int64_t, ROW_OR_NULL, __VA_ARGS__)
#define ROW_TIME(...) ROW(TIME, int64_t, 0, __VA_ARGS__)
#define ROW_TIME_OR_NONE(...) ROW_WITH(TIME, int64_t, ROW_OR_NONE, __VA_ARGS__)
#define ROW_TIME_OR_NULL(...) ROW_WITH(TIME, int64_t, ROW_OR_NULL, __VA_ARGS__)
#define ROW_MONEY(...) ROW(MONEY, int64_t, 0, __VA_ARGS__)
#define ROW_MONEY_OR_NONE(...) ROW_WITH(MONEY, int64_t, ROW_OR_NONE, __VA_ARGS__)
#define ROW_MONEY_OR_NULL(...) ROW_WITH(MONEY, int64_t, ROW_OR_NULL, __VA_ARGS__)
#define ROW_UUID(...) ROW(UUID, struct uuid, 0, __VA_ARGS__)
#define ROW_UUID_OR_NONE(...) ROW_WITH(UUID, struct uuid, ROW_OR_NONE, __VA_ARGS__)
#define ROW_UUID_OR_NULL(...) ROW_WITH(UUID, struct uuid, ROW_OR_NULL, __VA_ARGS__)
#define ROW_NESTED(...) ROW(NESTED, default, 0, __VA_ARGS__)
#define ROW_NESTED_OR_NONE(...) ROW_WITH(NESTED, default, ROW_OR_NONE, __VA_ARGS__)
#define ROW_NESTED_OR_NULL(...) ROW_WITH(NESTED, default, ROW_OR_NULL, __VA_ARGS__)
/* clang-format on */

#endif
