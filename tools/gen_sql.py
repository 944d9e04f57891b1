#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the .sql files into C tables, once for each engine.

    gen_sql.py statements OUT.c OUT.h FILE.sql ...    named statements, beside their resource
    gen_sql.py migrations OUT.c FILE.sql ...          numbered migrations

A statements file holds, in any order:

    -- types: tenant_id uuid, id uuid, title text      what the parameters are; several lines may
    -- define thread_columns: id, status, title        a fragment, used as {{thread_columns}};
    --   | created_at, version                         a further line of it
    -- name: thread_get                                starts the statement SQL_THREAD_GET
    -- types: id text                                  other types than the file's, here only
    SELECT {{thread_columns}} FROM threads WHERE tenant_id = :tenant_id AND id = :id;

Parameters are written :name and bound by that name and type (uuid int bool text json bytes). Each
must have a type, and each type a parameter. PostgreSQL numbers them as SQLite does; one that only
one engine's text has needs a type of the statement's own.

The tokens and forms below, and {{sqlite: ...}} and {{postgres: ...}} around what only one of them
reads, are the only differences between the engines that a statement may show; a file fails to build
when it uses another. A statement of which nothing is left for an engine does not exist there.
"""
import re
import sys
from pathlib import Path

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
}

ID_TEXT = ("CASE WHEN X IS NOT NULL THEN lower(substr(hex(X), 1, 8) || '-' || substr(hex(X), 9, 4)"
           " || '-' || substr(hex(X), 13, 4) || '-' || substr(hex(X), 17, 4)"
           " || '-' || substr(hex(X), 21)) END")

FORMS = {  # {{form: X}}, how views show a column: (SQLite, PostgreSQL)
    "show_id": (ID_TEXT, "X"),
    "id_text": (ID_TEXT, "X::text"),
    "show_time": ("strftime('%Y-%m-%dT%H:%M:%fZ', X / 1000000.0, 'unixepoch')",
                  "to_timestamp(X / 1000000.0)"),
    "show_json": ("json(X)", "as_jsonb(X)"),
    "nested": ("json(X)", "X"),  # an object or array that was just built, inside of another
}

TYPES = ("uuid", "int", "bool", "text", "json", "bytes")


def fail(path, message):
    sys.exit(f"{path}: {message}")


def c_string(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    quoted = [
        '"' + line.strip().replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines
    ]
    return "\n        ".join(quoted)


def expand(path, text, engine, defines):
    """Replaces {{tokens}}, and {{sqlite: ...}} / {{postgres: ...}} blocks, for one engine."""

    def token(match):
        word = match.group(1)
        if word in defines:
            return defines[word]
        if word in TOKENS:
            return TOKENS[word][ENGINES.index(engine)]
        fail(path, f"unknown token {{{{{word}}}}}")

    def form(match):
        if match.group(1) not in FORMS:
            return match.group(0)
        text = FORMS[match.group(1)][ENGINES.index(engine)]
        return re.sub(r"\bX\b", lambda _: match.group(2).strip(), text)

    def block(match):
        return match.group(2) if match.group(1) == engine else ""

    inner = r"\{\{(" + "|".join(ENGINES) + r"):((?:(?!\{\{).)*?)\}\}"
    for _ in range(9):  # a define and a block may hold others; the innermost go first
        text = re.sub(r"\{\{(\w+)\}\}", token, text)
        text = re.sub(r"\{\{(\w+):\s([^{}]*)\}\}", form, text)
        text = re.sub(inner, block, text, flags=re.S)
    if "{{" in text:
        fail(path, f"a token that does not end, or stands in itself: {text[text.index('{{'):]!r}")
    return text


def number_parameters(text, engine, names):
    """:name becomes ?1 or $1, the same number for the same name; '::' casts are left alone. New
    names are added to the list; answers those of this text."""
    found = set()

    def number(match):
        name = match.group(1)
        if name not in names:
            names.append(name)
        found.add(name)
        return ("?" if engine == "sqlite" else "$") + str(names.index(name) + 1)

    parts = re.split(r"('(?:[^']|'')*')", text)  # text in quotes holds no parameters
    parts[::2] = [re.sub(r"(?<![:\w]):([a-z_][a-z_0-9]*)", number, part) for part in parts[::2]]
    return "".join(parts), found


def strip_comments(text):
    return re.sub(r"(?m)^\s*--.*$|\s--\s.*$", "", text)


def parse_types(path, text, types):
    for part in text.split(","):
        match = re.fullmatch(r"\s*([a-z_][a-z_0-9]*) (\w+)\s*", part)
        if not match or match.group(2) not in TYPES:
            fail(path, f"not a parameter and its type: {part!r}")
        if match.group(1) in types:
            fail(path, f"parameter {match.group(1)} has a type already")
        types[match.group(1)] = match.group(2)


def parse_statements(path):
    """The defines, the types of the file, and for each statement its name, own types and text."""
    defines, types, statements = {}, {}, []
    latest = None
    for line in path.read_text().splitlines():
        define = re.match(r"-- define (\w+):\s*(.*)$", line)
        start = re.match(r"-- name: ([a-z][a-z0-9_]*)$", line)
        declared = re.match(r"-- types: (.*)$", line)
        more = re.match(r"--\s+\|\s*(.*)$", line)
        if define:
            latest = define.group(1)
            defines[latest] = define.group(2)
        elif more and latest:
            defines[latest] += " " + more.group(1)
        elif declared:
            own = statements and not "".join(statements[-1][2]).strip()
            parse_types(path, declared.group(1), statements[-1][1] if own else types)
        elif start:
            statements.append((start.group(1), {}, []))
        elif statements:
            statements[-1][2].append(line)
        elif line.strip() and not line.startswith("--"):
            fail(path, f"text before the first name: {line!r}")
    return defines, types, [(name, own, "\n".join(body)) for name, own, body in statements]


def compile_statement(path, name, body, defines, types, own):
    """Its texts for the engines (None: not there), and its parameters."""
    texts, params, seen = [], [], []
    for engine in ENGINES:
        text = strip_comments(expand(path, body, engine, defines)).strip().rstrip(";").strip()
        text, found = number_parameters(text, engine, params)
        texts.append(text or None)
        if text:
            seen.append(found)
    if not seen:
        fail(path, f"{name} has no text")
    for param in params:
        if param not in own and param not in types:
            fail(path, f"{name}: parameter :{param} has no type")
        if param not in own and not all(param in found for found in seen):
            fail(path, f"{name}: only one engine has :{param}; give it a type here")
    for param in own:
        if param not in params:
            fail(path, f"{name}: a type for :{param}, which is no parameter")
    return texts, params


def generate_statements(out_c, out_h, paths):
    seen, rows = {}, []
    for path in paths:
        defines, types, statements = parse_statements(path)
        used = set()
        for name, own, body in statements:
            if name in seen:
                fail(path, f"statement {name} stands in {seen[name]} too")
            seen[name] = path
            texts, params = compile_statement(path, name, body, defines, types, own)
            used.update(param for param in params if param not in own)
            rows.append((name, texts, [(param, {**types, **own}[param]) for param in params]))
        for param in types:
            if param not in used:
                fail(path, f"a type for :{param}, which no statement has")

    header = ["/* Generated by tools/gen_sql.py from the .sql files beside the resources. */",
              "#ifndef MODEL_STATEMENTS_H", "#define MODEL_STATEMENTS_H", "",
              '#include "store/query.h"', ""]
    header += [f"extern const struct sql_statement SQL_{name.upper()};" for name, _, _ in rows]
    header += ["", f"enum {{ SQL_STATEMENT_COUNT = {len(rows)} }};",
               "extern const struct sql_statement *const sql_statements[SQL_STATEMENT_COUNT];",
               "", "#endif", ""]
    source = [f'#include "{Path(out_h).name}"', ""]
    for index, (name, texts, params) in enumerate(rows):
        if params:
            quoted = ", ".join(f'"{param}"' for param, _ in params)
            kinds = ", ".join(f"SQL_{kind.upper()}" for _, kind in params)
            source.append(f"static const char *const params_{name}[] = {{{quoted}}};")
            source.append(f"static const enum sql_type types_{name}[] = {{{kinds}}};")
        quoted = ",\n        ".join(c_string(text) if text else "NULL" for text in texts)
        writes = any(text and not text.upper().startswith("SELECT") for text in texts)
        source += [f"const struct sql_statement SQL_{name.upper()} = {{",
                   f'    .index = {index}, .name = "{name}", .writes = {str(writes).lower()},',
                   f"    .text = {{\n        {quoted}}},"]
        if params:
            source.append(f"    .params = params_{name}, .types = types_{name},"
                          f" .n_params = {len(params)},")
        source += ["};", ""]
    source.append("const struct sql_statement *const sql_statements[SQL_STATEMENT_COUNT] = {")
    source += [f"    &SQL_{name.upper()}," for name, _, _ in rows] + ["};", ""]
    Path(out_h).write_text("\n".join(header))
    Path(out_c).write_text("\n".join(source))


def generate_migrations(out_c, paths):
    source = ['#include "store/migrate.h"', "", "const struct migration store_migrations[] = {"]
    for expected, path in enumerate(sorted(paths), 1):
        match = re.fullmatch(r"(\d{4})_(\w+)", path.stem)
        if not match or int(match.group(1)) != expected:
            fail(path, f"migrations are named {expected:04}_what_it_does.sql, without gaps")
        defines, text = {}, path.read_text()
        texts = [c_string(strip_comments(expand(path, text, e, defines))) for e in ENGINES]
        source += [f'    {{{expected}, "{match.group(2)}",',
                   f"        {{\n        {texts[0]},\n        {texts[1]}}}}},"]
    source += ["};", f"const size_t store_migration_count = {len(paths)};", ""]
    Path(out_c).write_text("\n".join(source))


def main():
    kind, *args = sys.argv[1:]
    if kind == "statements":
        generate_statements(args[0], args[1], [Path(a) for a in args[2:]])
    elif kind == "migrations":
        generate_migrations(args[0], [Path(a) for a in args[1:]])
    else:
        sys.exit(__doc__)


main()
