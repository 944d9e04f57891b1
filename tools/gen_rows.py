# SPDX-License-Identifier: Apache-2.0
"""Functions that read rows into structs and bind structs to statements, for tools/gen_sql.py.

A statements file declares them:

    -- reads thread_read: struct thread from {{thread_columns}}
    -- binds thread_bind: struct thread for thread_insert
    -- compares thread_differences: struct thread for thread_update except status

thread_read reads the columns, in the order of the SELECT list, into the members of the same names.
thread_read_one reads at most one row and ends the query; thread_read_page reads the rows of a page.
thread_bind binds each parameter of the statement that has a member of its name; the caller binds
the others. The name of a member of an inner struct is the column, or has the inner struct's name
before it: input_tokens, or usage_input_tokens, is usage.input_tokens. A column without a member
fails the build. thread_differences compares the members that the statements write (commas separate
the names of several), and returns the names of those that differ.

The types come from the definition of the struct. A text is STR_NONE for NULL, and an enum of
base/enum.h is a word in the database. Another member that may be NULL has a flag: has_x for x, or
the bool before it whose name is has_ or is_ and the beginning of its own (has_cost before
cost_pico, is_revoked before revoked_at), unless the flag is a column of its own.
"""
import re

VALUES = {  # the C type of a member: the suffix of the row_ and query_bind_ functions
    "struct uuid": "uuid",
    "struct str": "text",
    "int64_t": "i64",
    "bool": "bool",
}
FLAGGED = ("struct uuid", "int64_t", "bool")  # types without a value that means NULL


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


class Member:
    """A member that a column or parameter names: its path, its C type, and the path of the bool
    that is false if it is NULL, or None."""

    def __init__(self, structs, struct, name, prefix=""):
        members = structs.members[struct]
        self.path, self.kind = prefix + name, members[name]
        flag = f"has_{name}" if members.get(f"has_{name}") == "bool" else None
        order = list(members)
        before = order[order.index(name) - 1] if order.index(name) > 0 else ""
        begin = re.match(r"(?:has|is)_(\w+)$", before)
        if not flag and begin and members[before] == "bool" and name.startswith(begin[1] + "_"):
            flag = before
        self.flag = prefix + flag if flag and self.kind in FLAGGED else None


def find_member(structs, struct, name):
    """The member of the struct, or of one struct inside it; None if there is none, or several."""
    members = structs.members[struct]
    if name in members:
        return Member(structs, struct, name)
    found = []
    for inner, kind in members.items():
        kind = kind.removeprefix("struct ")
        for column in (name, name.removeprefix(inner + "_")):
            if column in structs.members.get(kind, {}):
                found.append(Member(structs, kind, column, f"{inner}."))
                break
    return found[0] if len(found) == 1 else None


def reader(place, name, struct, columns, structs, types, fail):
    lines = [f"static inline void {name}(struct query *q, struct {struct} *out)", "{",
             f"    *out = (struct {struct}){{0}};"]
    for column in columns:
        member = find_member(structs, struct, column)
        if member and member.kind in structs.words:
            value = f"row_enum(q, {structs.words[member.kind][1]})"
        elif member and member.kind in VALUES:
            suffix = "bytes" if types.get(column) == "bytes" else VALUES[member.kind]
            if member.flag and member.flag not in columns:
                lines.append(f"    out->{member.flag} = row_{suffix}_if(q, &out->{member.path});")
                continue
            value = f"row_{suffix}(q)"
        else:
            fail(place, f"struct {struct} has no member for the column {column}")
        lines.append(f"    out->{member.path} = {value};")
    return lines + ["}", *row_readers(name, struct)]


def row_readers(name, struct):
    """The functions that read one row, and a page of rows, by the reader."""
    return [
        "MUST_CHECK static inline enum error "
        f"{name}_one(struct query *q, bool *out_found, struct {struct} *out)", "{",
        "    *out_found = query_next(q);",
        "    if (*out_found)",
        f"        {name}(q, out);",
        "    return query_end(q);", "}",
        "MUST_CHECK static inline enum error "
        f"{name}_page(struct query *q, struct page *page, struct {struct} *out)", "{",
        "    while (page_next(q, page))",
        f"        {name}(q, &out[page->count++]);",
        "    return query_end(q);", "}",
    ]


def binder(name, struct, statement, structs):
    lines = [f"static inline void {name}(struct query *q, const struct {struct} *in)", "{"]
    for param, sql_type in statement.params.items():
        member = find_member(structs, struct, param)
        if member and member.kind in structs.words:
            word = f"{structs.words[member.kind][0]}_word(in->{member.path})"
            lines.append(f'    query_bind_text(q, "{param}", {word});')
        elif member and member.kind in VALUES:
            suffix = "bytes" if sql_type == "bytes" else VALUES[member.kind]
            if member.flag and suffix in ("uuid", "i64"):
                lines.append(f'    query_bind_{suffix}_if(q, "{param}", in->{member.flag}, '
                             f"in->{member.path});")
            else:
                lines.append(f'    query_bind_{suffix}(q, "{param}", in->{member.path});')
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
