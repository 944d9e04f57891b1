#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails the build when SQL and C do not fit together.

    verify_sql.py SRC [--stamp FILE --depfile FILE]

SRC is the folder of the sources. Four checks:

 - SQLite prepares the text of every statement against a database in memory with all migrations, so
   that a misspelled column or table is found. (A unit test prepares the texts for PostgreSQL.)
 - Every parameter that C binds belongs to the statement that it is bound to: tools/sql_binds.py.
 - C uses every statement, and every .sql.h header that it includes.
 - Statements have words of closed lists only as tokens, and the words that migrations compare with
   columns are in a list: tools/enum_words.py.
"""
import argparse
import re
import sqlite3
import sys
from pathlib import Path

import enum_words
import gen_archive
import gen_sql
import sql_binds


def parameters(text):
    """The greatest number of a parameter: parameters that only PostgreSQL uses are the last."""
    return max(map(int, re.findall(r"\?(\d+)", text)), default=0)


def prepare(statements, migrations):
    db = sqlite3.connect(":memory:")
    for number, name, (text, _) in gen_sql.read_migrations(migrations):
        try:
            db.executescript(text)
        except sqlite3.Error as error:
            yield f"migration {number}, {name}: error: {error}"
    for s in statements:
        if s.texts[0] is None:
            continue
        try:
            db.execute("EXPLAIN " + s.texts[0], [None] * parameters(s.texts[0]))
        except (sqlite3.Error, sqlite3.Warning) as error:
            yield f"{s.path}:{s.line}: error: {s.name}: {error}"


def unused(statements, texts):
    words = {word for text in texts.values() for word in re.findall(r"\bSQL_[A-Z0-9_]+\b", text)}
    for s in statements:
        if s.c_name not in words:
            yield f"{s.path}:{s.line}: error: no source uses {s.c_name}"


def unused_includes(statements, texts, src):
    for path, text in texts.items():
        for included in re.findall(r'#include "(\S+\.sql)\.h"', text):
            names = [s.c_name for s in statements if s.path == src / included]
            if not any(re.search(rf"\b{name}\b", text) for name in names):
                yield f"{path}: error: uses no statement of {included}"


def literal_words(files):
    """Finds words of closed lists that a statement repeats."""
    words = enum_words.all_words()
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for word in re.findall(r"'([a-z][a-z_-]*)'", line):
                if word in words:
                    yield (f"{path}:{number}: error: '{word}' is a word of a closed list: write "
                           f"its token, such as {{{{{words[word]}}}}}")


def unknown_words(migrations):
    """Finds words in indexes, defaults and views that no closed list has."""
    columns = "status|phase|dispatch|outcome|role|permission|side|action_type|kind"
    words = enum_words.all_words()
    compared = (rf"\b(?:{columns})\s+"
                r"(?:(?:NOT )?IN \(([^)]*)\)|(?:=|<>|TEXT NOT NULL DEFAULT)\s+('[^']*'))")
    for path in migrations:
        for found in re.findall(compared, gen_sql.strip_comments(path.read_text())):
            for word in re.findall(r"'([a-z_-]+)'", "".join(found)):
                if word not in words:
                    yield f"{path}: error: '{word}' is in no list of src/model"


def verify(src):
    """The faults, and the files that were read."""
    migrations = sorted(src.rglob("migrations/*.sql"))
    members = sorted(src.rglob("*.members"))
    files = [path for path in sorted(src.rglob("*.sql")) if path not in migrations] + members
    statements = gen_sql.read_all_statements(files)
    texts = {path: path.read_text() for path in sorted(src.rglob("*.[ch]"))}
    texts.update({path: "\n".join(gen_archive.table_of(path)) for path in members})
    contracts = sql_binds.read_contracts(
        text for path, text in texts.items() if path.suffix == ".h")
    sources = [sql_binds.Source(path, text) for path, text in texts.items() if "query_" in text
               or "sql_statement" in text or "SQL_" in text]
    program = sql_binds.Program(sources, statements, contracts)
    faults = [*prepare(statements, migrations), *program.run(), *unused(statements, texts),
              *unused_includes(statements, texts, src), *literal_words(files),
              *unknown_words(migrations)]
    return faults, [*migrations, *files, *texts, *src.rglob("meson.build")], program


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("src", type=Path)
    parser.add_argument("--stamp", type=Path)
    parser.add_argument("--depfile", type=Path)
    arguments = parser.parse_args()
    faults, read, program = verify(arguments.src)
    if arguments.depfile:
        arguments.depfile.write_text(f"{arguments.stamp}: {' '.join(map(str, read))}\n")
    if faults:
        sys.exit("\n".join(faults))
    if arguments.stamp:
        arguments.stamp.write_text("")
    else:
        print(f"{program.n_resolved} of {program.n_binds} binds belong to known statements")


if __name__ == "__main__":
    main()
