#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates C from the .sql files: statements and migrations, with a text for each engine.

    gen_sql.py header FILE.sql OUT.h OUT.d           declares a file's statements and parameters
    gen_sql.py table NAME OUT.c OUT.h FILE.sql ...   defines all statements, and the table NAME
    gen_sql.py migrations OUT.c FILE.sql ...         defines the numbered migrations

A statements file contains, in any order:

    -- types: tenant_id uuid, id uuid, title text      the parameters' types; may be repeated
    -- define thread_columns: id, status, title        a fragment, inserted by {{thread_columns}};
    --   | created_at, version                         and its second line
    -- name: thread_get                                begins the statement SQL_THREAD_GET
    -- types: id text                                  types of this statement only
    SELECT {{thread_columns}} FROM threads WHERE tenant_id = :tenant_id AND id = :id;

A list that ends at a number of bytes declares its order, and begins with the size of the row:

    -- name: thread_list
    -- page: id DESC
    SELECT size_bytes, {{thread_columns}} FROM threads … ORDER BY id DESC LIMIT :limit;

SQLite returns rows one by one, and the reader stops it. PostgreSQL returns all rows at once, so its
text is wrapped: it ends with the row that follows the one with which :max_bytes is exceeded.

A parameter is written :name. Its type is one of uuid, int, bool, text, json and bytes. The header
defines PARAM_name and, with the suffix of the query_ function that binds the type,
PARAM_UUID_name: binding an unknown parameter, or one of another type, does not compile.
Every parameter needs a type and every type a parameter. PostgreSQL numbers the parameters as SQLite
does. A parameter that only one engine's text uses needs a type of the statement's own.

gen_rows.py describes `-- reads`, `-- binds` and `-- compares`, which map rows and parameters to C
structs.

A FILE may also be a .members file: see gen_archive.py.

Words of closed lists are written as the tokens of their enumerators: {{RUN_QUEUED}} inserts the
word 'queued', {{RUN_STATUSES}} all words of the list. See enum_words.py.

An engine-specific text may use only the tokens and forms below, and {{sqlite: ...}} and
{{postgres: ...}}. A statement whose text is empty for an engine does not exist on that engine.
"""
import re
import sys
from pathlib import Path

import enum_words
import gen_archive
import gen_rows

ENGINES = ("sqlite", "postgres")

TOKENS = {  # token: (SQLite, PostgreSQL)
    "uuid": ("BLOB", "uuid"),
    "bytes": ("BLOB", "bytea"),
    "int": ("INTEGER", "bigint"),
    "bool": ("INTEGER", "boolean"),
    "json": ("TEXT", "json"),
    "like": ("LIKE", "ILIKE"),
    "greatest": ("max", "greatest"),
    "no_uuid": ("x'" + "00" * 16 + "'", "'00000000-0000-0000-0000-000000000000'::uuid"),
    "last_uuid": ("x'" + "ff" * 16 + "'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid"),
    "object": ("json_object", "jsonb_build_object"),
    "empty_list": ("'[]'", "'[]'::jsonb"),
    "group_array": ("json_group_array", "jsonb_agg"),
    "generated": ("VIRTUAL", "STORED"),
}

ID_TEXT = ("CASE WHEN X IS NOT NULL THEN lower(substr(hex(X), 1, 8) || '-' || substr(hex(X), 9, 4)"
           " || '-' || substr(hex(X), 13, 4) || '-' || substr(hex(X), 17, 4)"
           " || '-' || substr(hex(X), 21)) END")

KEY_TEXT = ID_TEXT.removeprefix("CASE WHEN X IS NOT NULL THEN ").removesuffix(" END")

AWAITED_STATUS = ("CASE WHEN X.result_at IS NOT NULL"
                  " THEN CASE WHEN X.is_error THEN 'error' ELSE 'success' END"
                  " WHEN r.status NOT IN ('completed', 'failed', 'cancelled') THEN 'pending'"
                  " WHEN r.status <> 'failed' THEN 'cancelled'"
                  " WHEN X.deadline <= r.finished_at OR (r.error ->> 'code' = 'tool_timeout'"
                  " AND r.error -> 'tool_use_ids' IS NULL) THEN 'timeout'"
                  " ELSE 'error' END")

FORMS = {  # {{form: X}}, an expression of a column: (SQLite, PostgreSQL)
    "show_id": (ID_TEXT, "X"),
    "id_text": (ID_TEXT, "X::text"),
    "show_time": ("strftime('%Y-%m-%dT%H:%M:%fZ', X / 1000000.0, 'unixepoch')",
                  "to_timestamp(X / 1000000.0)"),
    # A key is never NULL. An index in SQLite has the same text, so that it serves comparisons.
    "key": (KEY_TEXT, "X"),
    "key_text": (KEY_TEXT, "X::text"),
    # UUIDs of calls: of a step by its number, of an awaited tool by its place and its run.
    "call_id": ("printf('00000000-0000-8000-8000-%012x', X)",
                "('00000000-0000-8000-8000-' || lpad(to_hex(X), 12, '0'))::uuid"),
    "awaited_id": ("printf('%08x', (pause * 65536 + position) & 4294967295)"
                   " || lower('-' || substr(hex(X), 9, 4) || '-8' || substr(hex(X), 14, 3)"
                   " || '-' || substr(hex(X), 17, 4) || '-' || substr(hex(X), 21))",
                   "(lpad(to_hex((pause * 65536 + position) & 4294967295), 8, '0')"
                   " || substr(X::text, 9, 6) || '8' || substr(X::text, 16))::uuid"),
    # Of the awaited tool X of the run r; the same as awaited_tool_status().
    "awaited_status": (AWAITED_STATUS, AWAITED_STATUS),
    "show_instant": ("strftime('%Y-%m-%dT%H:%M:%S', X / 1000000, 'unixepoch')"
                     " || printf('.%06dZ', X % 1000000)", "to_timestamp(X / 1000000.0)"),
    "session": ("coalesce(CASE WHEN X.key_owner IS NULL THEN X.key END, "
                + KEY_TEXT.replace("X", "X.id") + ")", "X.session_id"),
    "of_tenants": ("X IN (SELECT id FROM tenants)", "X = ANY (cairn_tenants())"),
    "show_json": ("json(X)", "as_jsonb(X)"),
    "bytes_of": ("coalesce(length(CAST(X AS BLOB)), 0)", "coalesce(octet_length(X::text), 0)"),
    "nested": ("json(X)", "X"),  # an object or array that was just built, inside of another
}

# The type of a parameter, and the suffix of the query_ function that binds it.
TYPES = {"uuid": "uuid", "int": "i64", "bool": "bool", "text": "text", "json": "text",
         "bytes": "bytes"}


class Statement:
    """One named statement: where it begins, its text for each engine (None: it does not exist
    there), and the types of its parameters in the order of their numbers."""

    def __init__(self, path, line, name):
        self.path, self.line, self.name = path, line, name
        self.c_name = f"SQL_{name.upper()}"
        self.own_types, self.body = {}, []
        self.page_order = None
        self.texts, self.params = [], {}


def fail(place, message):
    sys.exit(f"{place}: error: {message}")


def c_string(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    quoted = [
        '"' + line.strip().replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines
    ]
    return "\n        ".join(quoted)


def expand(place, text, engine, defines):
    """Replaces {{tokens}}, and {{sqlite: ...}} / {{postgres: ...}} blocks, for one engine."""

    def token(match):
        word = match.group(1)
        if word in defines:
            return defines[word]
        if word in TOKENS:
            return TOKENS[word][ENGINES.index(engine)]
        if word.isupper() and word in enum_words.read():
            return enum_words.read()[word]
        fail(place, f"unknown token {{{{{word}}}}}")

    def form(match):
        if match.group(1) not in FORMS:
            return match.group(0)
        text = FORMS[match.group(1)][ENGINES.index(engine)]
        return re.sub(r"\bX\b", lambda _: match.group(2).strip(), text)

    def block(match):
        return match.group(2) if match.group(1) == engine else ""

    inner = r"\{\{(" + "|".join(ENGINES) + r"):((?:(?!\{\{).)*?)\}\}"
    for _ in range(9):  # fragments and blocks may be nested; the innermost is replaced first
        text = re.sub(r"\{\{(\w+)\}\}", token, text)
        text = re.sub(r"\{\{(\w+):\s([^{}]*)\}\}", form, text)
        text = re.sub(inner, block, text, flags=re.S)
    if "{{" in text:
        fail(place, f"a token without an end, or inside itself: {text[text.index('{{'):]!r}")
    return text


def number_parameters(text, engine, names):
    """Replaces :name by ?1 or $1, with the same number for the same name, and leaves '::' casts
    alone. Appends new names to the list and returns the names that this text uses."""
    found = set()

    def number(match):
        name = match.group(1)
        if name not in names:
            names.append(name)
        found.add(name)
        return ("?" if engine == "sqlite" else "$") + str(names.index(name) + 1)

    parts = re.split(r"('(?:[^']|'')*')", text)  # no parameters inside quotes
    parts[::2] = [re.sub(r"(?<![:\w]):([a-z_][a-z_0-9]*)", number, part) for part in parts[::2]]
    return "".join(parts), found


def strip_comments(text):
    return re.sub(r"(?m)^\s*--.*$|\s--\s.*$", "", text)


def parse_types(place, text, types):
    for part in text.split(","):
        match = re.fullmatch(r"\s*([a-z_][a-z_0-9]*) (\w+)\s*", part)
        if not match or match.group(2) not in TYPES:
            fail(place, f"expected a parameter and its type, not {part!r}")
        if match.group(1) in types:
            fail(place, f"parameter :{match.group(1)} already has a type")
        types[match.group(1)] = match.group(2)


def split_file(path):
    """The fragments and the types of a file, and its statements, which are not yet compiled."""
    defines, types, statements = {}, {}, []
    latest = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        define = re.match(r"-- define (\w+):\s*(.*)$", line)
        start = re.match(r"-- name: ([a-z][a-z0-9_]*)$", line)
        declared = re.match(r"-- types: (.*)$", line)
        more = re.match(r"--\s+\|\s*(.*)$", line)
        page = re.match(r"-- page: (.*)$", line)
        if re.match(r"-- (reads|binds|compares) ", line):
            latest = None  # generate_row_functions reads it, with the lines that continue it
        elif define:
            latest = define.group(1)
            defines[latest] = define.group(2)
        elif more:
            if latest:
                defines[latest] += " " + more.group(1)
        elif declared:
            own = statements and not "".join(statements[-1].body).strip()
            parse_types(f"{path}:{number}", declared.group(1),
                        statements[-1].own_types if own else types)
        elif start:
            statements.append(Statement(path, number, start.group(1)))
        elif page and statements:
            statements[-1].page_order = page.group(1)
            statements[-1].own_types["max_bytes"] = "int"
        elif statements:
            statements[-1].body.append(line)
        elif line.strip() and not line.startswith("--"):
            fail(f"{path}:{number}", f"text before the first name: {line!r}")
    return defines, types, statements


def end_at_max_bytes(text, order):
    """Wraps the text of a page for PostgreSQL: a row belongs to the result when the rows before the
    previous one fit. So the result has one row more than the page, as the result of SQLite has."""
    return (f"SELECT * FROM (SELECT *, CAST(sum(size_bytes) OVER (ORDER BY {order}\n"
            f"ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bigint) AS bytes_before\n"
            f"FROM (\n{text}\n) AS listed) AS page\n"
            f"WHERE coalesce(bytes_before, 0) <= :max_bytes ORDER BY {order}")


def compile_statement(statement, defines, types):
    """Sets the texts and the parameters of the statement."""
    place, own = f"{statement.path}:{statement.line}", statement.own_types
    names, seen = [], []
    for engine in ENGINES:
        text = expand(place, "\n".join(statement.body), engine, defines)
        text = strip_comments(text).strip().rstrip(";").strip()
        if text and statement.page_order and engine == "postgres":
            text = end_at_max_bytes(text, statement.page_order)
        text, found = number_parameters(text, engine, names)
        statement.texts.append(text or None)
        if text:
            seen.append(found)
    if not seen:
        fail(place, f"{statement.name} has no text")
    for param in names:
        if param not in own and param not in types:
            fail(place, f"{statement.name}: parameter :{param} has no type")
        if param not in own and not all(param in found for found in seen):
            fail(place, f"{statement.name}: only one engine uses :{param}; declare its type here")
    for param in own:
        if param not in names:
            fail(place, f"{statement.name}: declares a type for :{param}, which it does not use")
    statement.params = {param: {**types, **own}[param] for param in names}


def read_statements(path):
    """The statements of a file, compiled."""
    if path.suffix == ".members":
        return gen_archive.read_statements(path)
    defines, types, statements = split_file(path)
    used = set()
    for statement in statements:
        compile_statement(statement, defines, types)
        used.update(param for param in statement.params if param not in statement.own_types)
    for param in types:
        if param not in used:
            fail(path, f"declares a type for :{param}, which no statement uses")
    return statements


def read_all_statements(paths):
    seen, statements = {}, []
    for path in paths:
        for statement in read_statements(path):
            if statement.name in seen:
                fail(f"{path}:{statement.line}",
                     f"statement {statement.name} is also defined in {seen[statement.name]}")
            seen[statement.name] = path
            statements.append(statement)
    return statements


def write_if_changed(path, lines):
    """A file that stays the same keeps its time, so that nothing that depends on it is rebuilt."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def guarded(guard, lines):
    return [f"#ifndef {guard}", f"#define {guard}", "", '#include "store/query.h"', "", *lines, "",
            "#endif"]


def generate_row_functions(path, statements):
    """The functions that the file declares, and the headers that define their structs."""
    place = str(path)
    text = re.sub(r"\n--\s+\|\s*", " ", path.read_text())
    declared = re.findall(
        r"(?m)^-- (reads|binds|compares) (\w+): struct (\w+) (?:from|for) (.*)$", text)
    if not declared:
        return [], []
    structs = gen_rows.Structs(next(p for p in path.resolve().parents if p.name == "model"))
    defines, types, _ = split_file(path)
    by_name = {s.name: s for s in statements}
    lines, headers = [], []
    for kind, name, struct, rest in declared:
        if struct not in structs.members:
            fail(place, f"no header of the model defines struct {struct}")
        headers.append(structs.headers[struct])
        if kind == "reads":
            columns = gen_rows.split_columns(expand(place, rest, "postgres", defines))
            lines += gen_rows.reader(place, name, struct, columns, structs, types, fail)
            continue
        names, _, excepted = rest.partition(" except ")
        for statement in names.split(", "):
            if statement not in by_name:
                fail(place, f"no statement {statement}")
        used = [by_name[statement] for statement in names.split(", ")]
        if kind == "compares":
            lines += gen_rows.comparer(name, struct, used, excepted.split(", "), structs)
        else:
            lines += gen_rows.binder(name, struct, used[0], structs)
    return lines, sorted(set(headers))


def generate_header(path, out_h, depfile):
    statements = read_statements(path)
    params = {(param, TYPES[kind]) for s in statements for param, kind in s.params.items()}
    lines = [f"extern const struct sql_statement {s.c_name};" for s in statements] + [""]
    for param in sorted({param for param, _ in params}):
        lines.append(f'#define PARAM_{param} "{param}"')
        lines += [f'#define PARAM_{suffix.upper()}_{name} "{name}"'
                  for name, suffix in sorted(params) if name == param]
    functions, headers = generate_row_functions(path, statements)
    lines += ["", *functions] if functions else []
    guard = re.sub(r"[^A-Z0-9]", "_", f"STATEMENTS_OF_{path.parent.name}_{path.name}".upper())
    includes = [f'#include "model/{h.name}"' if h.parent.name == "model" else
                f'#include "model/{h.parent.name}/{h.name}"' for h in headers]
    if headers:
        includes.append('#include "model/page.h"')
    write_if_changed(out_h, [f"/* Generated by tools/gen_sql.py from {path.name}. */",
                             *guarded(guard, [*includes, *lines])])
    depfile.write_text(f"{out_h}: {' '.join(map(str, headers))}\n")


def define_statement(statement, index):
    lines, name = [], statement.name
    if statement.params:
        quoted = ", ".join(f'"{param}"' for param in statement.params)
        kinds = ", ".join(f"SQL_{kind.upper()}" for kind in statement.params.values())
        lines.append(f"static const char *const params_{name}[] = {{{quoted}}};")
        lines.append(f"static const enum sql_type types_{name}[] = {{{kinds}}};")
    quoted = ",\n        ".join(c_string(text) if text else "NULL" for text in statement.texts)
    is_page = str(statement.page_order is not None).lower()
    writes = any(text and not text.upper().startswith("SELECT") for text in statement.texts)
    lines += [f"const struct sql_statement {statement.c_name} = {{",
              f'    .index = {index}, .name = "{name}", .writes = {str(writes).lower()},'
              f" .is_page = {is_page},",
              f"    .text = {{\n        {quoted}}},"]
    if statement.params:
        lines.append(f"    .params = params_{name}, .types = types_{name},"
                     f" .n_params = {len(statement.params)},")
    return lines + ["};", ""]


def generate_table(name, out_c, out_h, paths):
    statements = read_all_statements(paths)
    size = f"{name.upper().removesuffix('S')}_COUNT"
    table = f"const struct sql_statement *const {name}[{size}]"
    comment = "/* Generated by tools/gen_sql.py: all statements of the .sql files. */"
    write_if_changed(out_h, [comment, *guarded(f"TABLE_{name.upper()}_H", [
        f"enum {{ {size} = {len(statements)} }};", f"extern {table};"])])
    source = [comment, f'#include "{out_h.name}"', ""]
    source += [f"extern const struct sql_statement {s.c_name};" for s in statements] + [""]
    for index, statement in enumerate(statements):
        source += define_statement(statement, index)
    source += [f"{table} = {{", *[f"    &{s.c_name}," for s in statements], "};"]
    write_if_changed(out_c, source)


def read_migrations(paths):
    """The number, the name and the text for each engine of every migration."""
    migrations = []
    for expected, path in enumerate(sorted(paths), 1):
        match = re.fullmatch(r"(\d{4})_(\w+)", path.stem)
        if not match or int(match.group(1)) != expected:
            fail(path, f"migrations are named {expected:04}_what_it_does.sql, without gaps")
        text = path.read_text()
        migrations.append((expected, match.group(2),
                           [strip_comments(expand(path, text, e, {})) for e in ENGINES]))
    return migrations


def generate_migrations(out_c, paths):
    source = ['#include "store/migrate.h"', "", "const struct migration store_migrations[] = {"]
    for number, name, texts in read_migrations(paths):
        sqlite, postgres = map(c_string, texts)
        source += [f'    {{{number}, "{name}",',
                   f"        {{\n        {sqlite},\n        {postgres}}}}},"]
    source += ["};", f"const size_t store_migration_count = {len(paths)};"]
    write_if_changed(out_c, source)


def main():
    kind, *args = sys.argv[1:] or [""]
    if kind == "header":
        generate_header(Path(args[0]), Path(args[1]), Path(args[2]))
    elif kind == "table":
        generate_table(args[0], Path(args[1]), Path(args[2]), [Path(a) for a in args[3:]])
    elif kind == "migrations":
        generate_migrations(Path(args[0]), [Path(a) for a in args[1:]])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
