#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates what archives need for each column from one line: statements and the table of members.

    gen_archive.py FILE.members OUT.c OUT.h    the table of members, and their enum
    gen_sql.py ... FILE.members                the statements (see read_statements below)

A .members file contains comments (#), directives and, below each member, its fields, indented by
four spaces. A line that is indented by eight spaces continues the line before. SQL may use all that
gen_sql.py offers. Outside of members:

    include "model/threads/threads.h"    a header with limits and choices
    define has_agent: EXISTS (...)       a fragment of SQL, inserted by {{has_agent}}
    omit table api_keys: keys are secrets

The directives of a member:

    member steps: step                   steps.jsonl; messages call a row "step"
    later                                older archives do not have the member
    rows 128                             the size of a page; 16 by default
    table steps AS s                     the table of the rows; `table x AS y ON y.a = s.b` is a
                                         second one, with one row for each row of the first
    in runs AS r ON s.run_id = r.id      the parent table: pages follow its order
    join threads AS t ON t.id = s.x      another table, for conditions
    where s.number > 0                   for all subjects
    read of thread SQL                   a relation with the same columns, for one subject only
    of tenant                            a subject whose archive has the member, with a condition;
    of thread: r.thread_id = :from       by default that of the field thread_id or agent_id
    unique thread_id, name               a row with the same values conflicts with an import;
    taken archive_taken_price            or a statement of an .sql file finds the conflict
    types event_id int                   parameters that are not fields
    insert marks = :marks                sets a column that is not a field
    conflict (tenant_id, id) DO NOTHING  follows ON CONFLICT
    then archive_count_step              a statement that is executed after the INSERT
    omit log_id, marks: the reason why these columns are not archived

A field is one line: its column, qualified if it belongs to another table, and then in any order

    id of run         the kind: id, int, time, bool, text, principal, json, object, array, document,
                      hash or bytes. Without it the type of the column is used, and time for *_at
    1..MAX            limits: the value of numbers, else the length in bytes
    in run_statuses   the choices: a C array that ends in NULL, or a list: (user, service)
    own key ...       flags of enum archive_field_flags (archive_tables.h), in lower case
    required          always present, although the column may be NULL
    default 0         absent in older archives; an SQL expression
    select EXPR       read instead of the column; `select of thread EXPR` for one subject only
    insert EXPR       written instead of the parameter

The migrations define whether a column may be NULL. A column that may be NULL needs no line: it is
archived behind the declared fields. Any other column must be a field or omitted, and every table
must be archived or omitted.
"""
import re
import sqlite3
import sys
from pathlib import Path

import gen_sql

MIGRATIONS = Path(__file__).resolve().parent.parent / "src/store/migrations"
COLUMN_TYPES = {"uuid": "UUID", "bytes": "BYTES", "int": "INTEGER", "bool": "BOOLEAN",
                "json": "JSON"}
SUBJECTS = ("thread", "agent", "tenant")
KINDS = {  # kind: (type of the column, type of the parameter); the default of a type is first
    "id": ("UUID", "uuid"), "int": ("INTEGER", "int"), "time": ("INTEGER", "int"),
    "bool": ("BOOLEAN", "bool"), "text": ("TEXT", "text"), "principal": ("TEXT", "text"),
    "json": ("JSON", "json"), "object": ("JSON", "json"), "array": ("JSON", "json"),
    "document": ("JSON", "json"), "bytes": ("BYTES", "bytes"), "hash": ("BYTES", "bytes"),
}
FLAGS = ("own", "or_nil", "loose", "key", "ordered", "hidden", "owner")
BYTEWISE = '{{sqlite: }}{{postgres: COLLATE "C"}}'


def read_schema():
    """The columns of every table after all migrations: name, type, and whether it may be NULL.
    Generated columns are not among them."""
    db = sqlite3.connect(":memory:")
    for path in sorted(MIGRATIONS.glob("*.sql")):
        text = gen_sql.expand(path, path.read_text(), "sqlite", COLUMN_TYPES)
        db.executescript(gen_sql.strip_comments(text))
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name: {column: (kind.upper(), not (not_null or key)) for _, column, kind, not_null, _,
                   key in db.execute(f"PRAGMA table_info({name})")} for (name,) in names}


class Field:
    def __init__(self, place, column):
        self.place = place
        self.alias, _, self.name = column.rpartition(".")
        self.kind = self.sort = self.choices = self.default = self.insert = None
        self.min = self.max = ""
        self.flags, self.selects = set(), {}
        self.is_required = self.is_optional = False
        self.table = None  # the table of the member that has the column; None: another table

    @property
    def type(self):
        return KINDS[self.kind][1]


class Member:
    def __init__(self, place, name, row):
        self.place, self.name, self.row = place, name, row
        self.rows, self.is_later = "16", False
        self.tables, self.parent, self.joins, self.where = [], None, [], None
        self.subjects, self.uniques, self.taken, self.then = {}, [], None, None
        self.reads = {}
        self.types, self.inserts, self.conflict, self.omitted = {}, {}, None, {}
        self.fields = []

    def field(self, name):
        return next((f for f in self.fields if f.name == name), None)

    @property
    def driver(self):
        """The alias of the table whose order the pages follow."""
        return self.parent[1] if self.parent else self.tables[0][1]


# --- Reading --------------------------------------------------------------------------------


def logical_lines(path):
    """The lines without comments, with their continuations, and their places."""
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.startswith(" " * 8):
            lines[-1][1] += "\n" + line.strip()
        else:
            lines.append([f"{path}:{number}", line.rstrip()])
    return lines


def parse_table(place, text):
    match = re.fullmatch(r"(\w+) AS (\w+)(?: ON (.*))?", text, re.S)
    if not match:
        gen_sql.fail(place, f"expected TABLE AS ALIAS, not {text!r}")
    return match.groups()


def parse_field(place, text):
    head, *clauses = re.split(r"\s(default|select(?: of \w+)?|insert)\s", text)
    column, *words = head.split()
    field = Field(place, column)
    for keyword, expression in zip(clauses[::2], clauses[1::2]):
        if keyword.startswith("select"):
            field.selects[keyword.partition(" of ")[2] or None] = expression.strip()
        else:
            setattr(field, keyword, expression.strip())
    rest = " ".join(words)
    listed = re.search(r"\bin (\([^)]*\)|\w+)", rest)
    if listed:
        field.choices = listed.group(1)
        rest = rest.replace(listed.group(0), "")
    named = re.search(r"\bof (\w+)", rest)
    if named:
        field.sort = named.group(1)
        rest = rest.replace(named.group(0), "")
    for word in rest.split():
        if word in KINDS and field.kind is None:
            field.kind = word
        elif ".." in word:
            field.min, _, field.max = word.partition("..")
        elif word in FLAGS:
            field.flags.add(word)
        elif word == "required":
            field.is_required = True
        else:
            gen_sql.fail(place, f"unknown word {word!r}")
    return field


def parse_directive(member, place, keyword, text):
    if keyword == "later":
        member.is_later = True
    elif keyword in ("rows", "where", "conflict", "taken", "then"):
        setattr(member, keyword, text)
    elif keyword == "table":
        member.tables.append(parse_table(place, text))
    elif keyword == "in":
        member.parent = parse_table(place, text)
    elif keyword == "join":
        member.joins.append(parse_table(place, text))
    elif keyword == "of":
        subject, _, condition = text.partition(":")
        if subject not in SUBJECTS:
            gen_sql.fail(place, f"unknown subject {subject!r}")
        member.subjects[subject] = condition.strip()
    elif keyword == "unique":
        member.uniques.append(re.split(r",\s*", text))
    elif keyword == "types":
        gen_sql.parse_types(place, text, member.types)
    elif keyword == "read":
        subject, _, relation = text.removeprefix("of ").partition(" ")
        member.reads[subject] = relation
    elif keyword == "insert":
        column, _, expression = text.partition(" = ")
        member.inserts[column] = expression
    elif keyword == "omit":
        columns, _, why = text.partition(": ")
        member.omitted.update({column: why for column in re.split(r",\s*", columns)})
    else:
        gen_sql.fail(place, f"unknown directive {keyword!r}")


class Archive:
    """The content of a .members file."""

    def __init__(self, path):
        self.path, self.schema = path, read_schema()
        self.includes, self.defines, self.omitted, self.members = [], {}, {}, []
        for place, text in logical_lines(path):
            keyword, _, rest = text.partition(" ")
            if text.startswith("    "):
                self.members[-1].fields.append(parse_field(place, text.strip()))
            elif keyword == "include":
                self.includes.append(rest)
            elif keyword == "define":
                name, _, fragment = rest.partition(": ")
                self.defines[name] = fragment
            elif keyword == "member":
                name, _, row = rest.partition(": ")
                self.members.append(Member(place, name, row))
            elif text.startswith("omit table "):
                names, _, why = rest.removeprefix("table ").partition(": ")
                self.omitted.update({name: why for name in names.split(", ")})
            else:
                parse_directive(self.members[-1], place, keyword, rest)
        for member in self.members:
            for field in member.fields:
                resolve_field(self.schema, member, field)
            add_undeclared(self.schema, member)
        check_tables(self)


# --- Fields and columns ---------------------------------------------------------------------


def column_of(schema, member, field):
    """The type of the field's column and whether it may be NULL, or None."""
    for table, alias, _ in [*member.tables, *filter(None, [member.parent]), *member.joins]:
        if field.alias == alias or not field.alias and (table, alias, _) in member.tables:
            if field.name in schema.get(table, {}):
                field.table = None if field.alias else table
                field.alias = alias
                return schema[table][field.name]
    return None


def resolve_field(schema, member, field):
    column = column_of(schema, member, field)
    if column is None and not (field.kind and field.selects):
        gen_sql.fail(field.place, f"{field.name} is not a column; give its kind and its select")
    if column is not None:
        kind, may_be_null = column
        if field.kind is None:
            is_time = kind == "INTEGER" and field.name.endswith("_at")
            field.kind = "time" if is_time else next(k for k, v in KINDS.items() if v[0] == kind)
        if KINDS[field.kind][0] != kind:
            gen_sql.fail(field.place, f"{field.kind} does not fit the column, which is {kind}")
        field.is_optional = may_be_null and not field.is_required and "own" not in field.flags
    if field.default is not None:
        field.is_optional = True
    if field.kind == "id" and not field.sort and "loose" not in field.flags:
        gen_sql.fail(field.place, f"{field.name}: an id without `of ...` must be loose")


def joined(on):
    """The pairs of equal columns in an ON clause."""
    return re.findall(r"(\w+)\.(\w+) = (\w+)\.(\w+)", on or "")


def add_undeclared(schema, member):
    """Adds a field for each column that may be NULL; any other one must have been declared."""
    for table, alias, on in member.tables:
        known = {f.name for f in member.fields if f.table == table} | {"tenant_id"}
        known |= set(member.inserts) | set(member.omitted)
        known |= {column for left, column, _, _ in joined(on) if left == alias}
        for column, (kind, may_be_null) in schema[table].items():
            if column in known:
                continue
            if not may_be_null or kind == "UUID":
                gen_sql.fail(member.place, f"{table}.{column} must be a field, or omitted")
            field = Field(member.place, column)
            resolve_field(schema, member, field)
            if field.kind == "int":
                field.min = "INT64_MIN"
            member.fields.append(field)
    for column in [*member.omitted, *member.inserts]:
        if not any(column in schema[table] for table, _, _ in member.tables):
            gen_sql.fail(member.place, f"{column} is not a column")


def check_tables(archive):
    archived = {table for member in archive.members for table, _, _ in member.tables}
    for table in archive.schema:
        is_omitted = any(table == name or name.endswith("*") and table.startswith(name[:-1])
                         for name in archive.omitted)
        if table.startswith("sqlite_") or is_omitted != (table in archived):
            continue
        gen_sql.fail(archive.path, f"the table {table} must be either archived or omitted")


# --- Statements -----------------------------------------------------------------------------


def expression(member, field, subject):
    """The SQL of the field. A column that equals one of the parent is read from the parent, whose
    index the pages follow."""
    selected = field.selects.get(subject) or field.selects.get(None)
    if selected:
        return selected
    for left, column, right, other in joined(member.parent[2] if member.parent else None):
        if (left, column) == (field.alias, field.name):
            return f"{right}.{other}"
    return f"{field.alias}.{field.name}"


def tuple_of(parts):
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def condition_of(member, subject):
    """The condition that limits the rows to the subject; empty for the rows of a tenant."""
    condition = member.subjects[subject]
    if condition or subject == "tenant":
        return condition
    return f"{expression(member, member.field(f'{subject}_id'), subject)} = :from"


def keys_of(member, subject):
    """The keys of the order: field, SQL and parameter. Keys that the subject fixes are left out,
    because an engine would sort the rows by them."""
    keys = []
    for f in member.fields:
        if "key" in f.flags:
            text = expression(member, f, subject) + (f" {BYTEWISE}" if f.type == "text" else "")
            keys.append((f, text, f":after_{f.name}"))
    condition = condition_of(member, subject) or ""
    fixed = f"{keys[0][1]} = :from" in condition.split(" AND ")[0:1]
    return keys[1:] if fixed and len(keys) > 1 else keys


def behind(keys):
    """The rows whose keys follow those of the last row."""
    return f"{tuple_of([k[1] for k in keys])} > {tuple_of([k[2] for k in keys])}"


def behind_in_parent(member, outer, inner):
    """Of the parent at which the last page ended only the rows behind its last row, of later
    parents all. The first key begins at a value, so that the engine can continue in its index."""
    same = " AND ".join(f"{text} = {param}" for _, text, param in outer) or "true"
    field, text, param = inner[0]
    if field.type == "int" and not re.fullmatch(r"[1-9]\d*", field.min):
        gen_sql.fail(field.place, f"{field.name}: the first key in a parent must be at least 1")
    first = "0" if field.type == "int" else "''"
    start = f"CASE WHEN {same} THEN {param} ELSE {first} END"
    if len(inner) == 1:
        return f"{text} > {start}"
    return f"{text} >= {start} AND (NOT ({same}) OR {behind(inner)})"


def select_text(member, subject):
    """Reads a page in the order of an index. A child table is read in the order of its parent: with
    SQLite as the inner loop, where the rowid, which ends every index, makes the parent's order
    complete, and "+" keeps the beginning of the parent's page out of the child's index. PostgreSQL
    only keeps the order of the outer loop and sorts the rows of each parent, of which a page needs
    no more than its own number."""
    keys, condition = keys_of(member, subject), condition_of(member, subject)
    columns = ", ".join(expression(member, f, subject) for f in member.fields)
    tables = [*filter(None, [member.parent]), *member.tables]
    table, first, _ = tables[0]
    table = member.reads.get(subject, table)
    text = [f"SELECT {columns}", f"FROM {table} AS {first}"]
    conditions = {alias: on for _, alias, on in tables if on}
    if member.parent:  # its condition belongs to the table that is joined to it
        conditions = {**conditions, member.tables[0][1]: member.parent[2]}
    inner = [k for k in keys if member.parent and not k[1].startswith(first + ".")]
    outer = keys[:len(keys) - len(inner)]
    order = ", ".join(k[1] for k in inner)
    for table, alias, on in [*tables[1:], *member.joins]:
        on = f"{alias}.tenant_id = {first}.tenant_id AND {conditions.get(alias, on)}"
        if not inner:
            text.append(f"{{{{sqlite: CROSS}}}} JOIN {table} AS {alias} ON {on}")
            continue
        alone = on.replace(f"= {first}.", f"= +{first}.")
        text.append(f"{{{{sqlite: CROSS JOIN {table} AS {alias} ON {alone}}}}}")
        text.append(f"{{{{postgres: CROSS JOIN LATERAL (SELECT * FROM {table} AS {alias}\nWHERE"
                    f" {on}\nAND {behind_in_parent(member, outer, inner)}\nORDER BY {order}"
                    f" LIMIT :limit) AS {alias}}}}}")
    text.append(f"WHERE {first}.tenant_id = :tenant_id")
    text += [f"AND ({part})" for part in (condition, member.where) if part]
    if not inner:
        return "\n".join([*text, f"AND {behind(keys)}",
                          f"ORDER BY {', '.join(k[1] for k in keys)}", "LIMIT :limit"])
    if outer:
        text.append(f"AND {tuple_of([k[1] for k in outer])} >= {tuple_of([k[2] for k in outer])}")
    text.append(f"{{{{sqlite: AND {behind_in_parent(member, outer, inner)}}}}}")
    outer_order = "".join(f"{k[1]}, " for k in outer)
    return "\n".join([*text, f"ORDER BY {outer_order}{{{{sqlite: {first}.rowid,}}}} {order}",
                      "LIMIT :limit"])


def insert_text(member, table, alias, on):
    values = {"tenant_id": ":tenant_id"}
    for left, column, right, other in joined(on):
        values[column] = f":{other}" if left == alias else f":{column}"
    for field in member.fields:
        if field.table == table and "hidden" not in field.flags:
            value = field.insert or f":{field.name}"
            values[field.name] = f"coalesce({value}, {field.default})" if field.default else value
    if table == member.tables[0][0]:
        values.update(member.inserts)
    text = [f"INSERT INTO {table} ({', '.join(values)})", f"VALUES ({', '.join(values.values())})"]
    return "\n".join(text + ([f"ON CONFLICT {member.conflict}"] if member.conflict else []))


def taken_text(member):
    """Finds a row with the same id before a row with other equal values."""
    column = "id" if member.field("id") else "tenant_id"
    text = f"SELECT {column} FROM {member.tables[0][0]} WHERE tenant_id = :tenant_id AND "
    same = [" AND ".join(f"{c} = :{c}" for c in columns) for columns in member.uniques]
    if len(same) == 1:
        return text + same[0]
    return text + f"({' OR '.join(f'({s})' for s in same)}) ORDER BY id = :id DESC LIMIT 1"


def texts_of(member):
    """The names and texts of the member's statements."""
    for subject in member.subjects:
        yield f"archive_{member.name}_of_{subject}", select_text(member, subject)
    for index, (table, alias, on) in enumerate(member.tables):
        name = table if index > 0 else member.name
        yield f"archive_add_{name}", insert_text(member, table, alias, on)
    if member.uniques:
        yield f"archive_taken_{member.name}", taken_text(member)


def read_statements(path):
    """The statements of all members, as gen_sql.py returns those of an .sql file."""
    archive, statements = Archive(path), []
    for member in archive.members:
        types = {"tenant_id": "uuid", "from": "uuid", "limit": "int", **member.types}
        for field in member.fields:
            types[field.name] = types[f"after_{field.name}"] = field.type
        for name, text in texts_of(member):
            statement = gen_sql.Statement(path, member.place.rpartition(":")[2], name)
            statement.body = [text]
            gen_sql.compile_statement(statement, archive.defines, types)
            statements.append(statement)
    return statements


# --- The table of members -------------------------------------------------------------------


def c_choices(member, field):
    return f"choices_{member.name}_{field.name}" if field.choices[0] == "(" else field.choices


def c_field(member, field):
    flags = [f.upper() for f in FLAGS if f in field.flags] + ["MAYBE"] * field.is_optional
    parts = [f'.name = "{field.name}"', f".kind = KIND_{field.kind.upper()}"]
    if "key" in field.flags:
        parts.append(f'.after = "after_{field.name}"')
    if field.sort:
        parts.append(f".sort = SORT_{field.sort.upper()}")
    if flags:
        parts.append(f".flags = {' | '.join(flags)}")
    parts += [f".{name} = {value}" for name, value in (("min", field.min), ("max", field.max))
              if value]
    if field.choices:
        parts.append(f".choices = {c_choices(member, field)}")
    return f"    {{{', '.join(parts)}}},"


def c_fields(member):
    for field in member.fields:
        if field.choices and field.choices[0] == "(":
            words = "".join(f'"{word}", ' for word in field.choices[1:-1].split(", "))
            yield f"static const char *const {c_choices(member, field)}[] = {{{words}NULL}};"
    yield f"static const struct archive_field fields_{member.name}[] = {{"
    yield from (c_field(member, field) for field in member.fields)
    yield "};"
    yield ""


def c_member(member):
    tables = ", ".join(f'"{table}"' for table, _, _ in member.tables)
    selects = ", ".join(f"[ARCHIVE_{s.upper()}] = &SQL_ARCHIVE_{member.name.upper()}_OF_{s.upper()}"
                        for s in member.subjects)
    adds = [f"archive_add_{member.name if i == 0 else table[0]}"
            for i, table in enumerate(member.tables)]
    adds += [member.then] if member.then else []
    taken = member.taken or (f"archive_taken_{member.name}" if member.uniques else None)
    yield f"    [MEMBER_{member.name.upper()}] = {{"
    yield f'        .name = "{member.name}.jsonl", .row = "{member.row}", .tables = {{{tables}}},'
    yield f"        .fields = fields_{member.name}, .n_fields = COUNT_OF(fields_{member.name}),"
    yield f"        .page_rows = {member.rows}, .select = {{{selects}}},"
    yield f"        .add = {{{', '.join(f'&SQL_{add.upper()}' for add in adds)}}},"
    if taken:
        has_name = member.taken or any(columns != ["id"] for columns in member.uniques)
        yield f"        .taken = &SQL_{taken.upper()}, .has_name = {str(bool(has_name)).lower()},"
    yield f"        .is_later = {str(member.is_later).lower()},"
    yield "    },"


def c_omissions(archive):
    yield "const struct archive_omission archive_omissions[] = {"
    for name, why in archive.omitted.items():
        yield f'    {{"{name.rstrip("*")}", NULL, "{why}"}},'
    for member in archive.members:
        for column, why in member.omitted.items():
            table = next(t for t, _, _ in member.tables if column in archive.schema[t])
            yield f'    {{"{table}", "{column}", "{why}"}},'
    yield "};"
    yield "const size_t archive_omission_count = COUNT_OF(archive_omissions);"


def table_of(path):
    """The C source of the table of members, as lines."""
    archive = Archive(path)
    includes = [*archive.includes, f'"model/upkeep/{path.name}.h"',
                f'"model/upkeep/{path.stem}.sql.h"']
    lines = [f"/* Generated by tools/gen_archive.py from {path.name}. */",
             '#include "model/upkeep/archive_tables.h"', "",
             *(f"#include {include}" for include in includes), ""]
    for member in archive.members:
        lines += c_fields(member)
    lines.append("const struct archive_member archive_members[MEMBER_COUNT] = {")
    for member in archive.members:
        lines += c_member(member)
    return lines + ["};", "", *c_omissions(archive)]


def enum_of(path):
    names = [f"    MEMBER_{member.name.upper()}," for member in Archive(path).members]
    guard = f"MODEL_UPKEEP_{path.stem.upper()}_MEMBER_IDS_H"
    return [f"/* Generated by tools/gen_archive.py from {path.name}. */", f"#ifndef {guard}",
            f"#define {guard}", "", "enum archive_member_id {", *names, "    MEMBER_COUNT,", "};",
            "", "#endif"]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, out_c, out_h = map(Path, sys.argv[1:])
    gen_sql.write_if_changed(out_c, table_of(path))
    gen_sql.write_if_changed(out_h, enum_of(path))


if __name__ == "__main__":
    main()
