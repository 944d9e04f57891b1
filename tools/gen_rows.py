# SPDX-License-Identifier: Apache-2.0
"""Functions that read rows into structs and bind structs to statements, for tools/gen_sql.py.

A statements file declares them:

    -- reads thread_read: struct thread from {{thread_columns}}
    -- binds thread_bind: struct thread for thread_insert
    -- compares thread_differences: struct thread for thread_update except status

thread_read reads the columns, in the order of the SELECT list, into the members of the same names.
thread_bind binds each parameter of the statement that has a member of its name; the caller binds
the others. thread_differences compares the members that the statements write (commas separate the
names of several), and returns the names of those that differ. The types come from the definition of
the struct: a text is STR_NONE for NULL, another member x has a member has_x if it may be NULL, and
an enum of base/enum.h is a word in the database. A column without a member fails the build.
"""
import re

VALUES = {  # the C type of a member: the suffix of the row_ and query_bind_ functions
    "struct uuid": "uuid",
    "struct str": "text",
    "int64_t": "i64",
    "bool": "bool",
}


class Structs:
    """The structs and enums of the headers of the model, and where each is defined."""

    def __init__(self, model):
        self.members, self.headers, self.words = {}, {}, {}
        for path in sorted(model.rglob("*.h")):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for tag, words in re.findall(r"ENUM_DECLARE\((\w+), \w+, (\w+),", text):
                self.words[f"enum {tag}"] = (tag, words)
            for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
                self.headers[name] = path
                self.members[name] = {
                    member: kind for kind, member in
                    re.findall(r"^    ((?:struct |enum )?\w+) (\w+);", body, re.M)}


def split_columns(text):
    """The names of the columns of a SELECT list."""
    depth, start, parts = 0, 0, []
    for i, letter in enumerate(text + ","):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [re.search(r"(\w+)$", part).group(1) for part in parts if part]


def reader(place, name, struct, columns, structs, types, fail):
    members = structs.members[struct]
    lines = [f"static inline void {name}(struct query *q, struct {struct} *out)", "{",
             f"    *out = (struct {struct}){{0}};"]
    for column in columns:
        kind = members.get(column)
        if kind in structs.words:
            value = f"row_enum(q, {structs.words[kind][1]})"
        elif kind in VALUES:
            suffix = "bytes" if types.get(column) == "bytes" else VALUES[kind]
            if f"has_{column}" in members and kind != "struct str":
                lines.append(f"    out->has_{column} = row_{suffix}_if(q, &out->{column});")
                continue
            value = f"row_{suffix}(q)"
        else:
            fail(place, f"struct {struct} has no member for the column {column}")
        lines.append(f"    out->{column} = {value};")
    return lines + ["}"]


def binder(name, struct, statement, structs):
    members = structs.members[struct]
    lines = [f"static inline void {name}(struct query *q, const struct {struct} *in)", "{"]
    for param, sql_type in statement.params.items():
        kind = members.get(param)
        if kind in structs.words:
            word = f"{structs.words[kind][0]}_word(in->{param})"
            lines.append(f'    query_bind_text(q, "{param}", {word});')
        elif kind in VALUES:
            suffix = "bytes" if sql_type == "bytes" else VALUES[kind]
            if f"has_{param}" in members and suffix in ("uuid", "i64"):
                lines.append(f'    query_bind_{suffix}_if(q, "{param}", in->has_{param}, '
                             f"in->{param});")
            else:
                lines.append(f'    query_bind_{suffix}(q, "{param}", in->{param});')
    return lines + ["}"]


def comparer(name, struct, statements, excepted, structs):
    members = structs.members[struct]
    written = {param for s in statements for param in s.params} - set(excepted)
    compared = [m for m in members if m in written]
    lines = [f"enum {{ {name.upper()}_MAX = {len(compared)} }};",
             f"static inline size_t {name}(",
             f"    const struct {struct} *a, const struct {struct} *b, const char **out_names)",
             "{", "    size_t n = 0;"]
    for member in compared:
        a, b, kind = f"a->{member}", f"b->{member}", members[member]
        differs = (f"str_differs({a}, {b})" if kind == "struct str" else
                   f"!uuid_eq({a}, {b})" if kind == "struct uuid" else f"{a} != {b}")
        if f"has_{member}" in members and kind in ("struct uuid", "int64_t"):
            differs = f"a->has_{member} != b->has_{member} || (a->has_{member} && {differs})"
        lines += [f"    if ({differs})", f'        out_names[n++] = "{member}";']
    return lines + ["    return n;", "}"]
