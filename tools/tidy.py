#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of our style that a program can check; the rest is in CONTRIBUTING.md.

Lengths of files, functions and lines; guards that follow the path; every source named by its
meson.build; comments that name their subject; nothing unfinished; the licence in each source and
the same text in each package.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES, FUNCTION_LINES, COLUMNS = 800, 70, 100
SOURCES = {".c", ".h", ".sql", ".py", ".mjs", ".ts", ".js", ".lua"}

faults = []


def fault(path, number, text):
    faults.append(f"{path.relative_to(ROOT)}:{number}: {text}")


def tracked(*patterns):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], cwd=ROOT,
        text=True, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()]


# Logic has a limit; tables, tests and scripts are as long as they need to be.
TABLES = ("src/api/routes.c",)


def is_logic(path):
    name = str(path.relative_to(ROOT))
    return name.startswith("src/") and path.suffix in (".c", ".h") and name not in TABLES


def check_lines(path, lines):
    if len(lines) > FILE_LINES and is_logic(path):
        fault(path, FILE_LINES, f"the file has {len(lines)} lines, {FILE_LINES} at the most")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            fault(path, number, f"the line has {len(line)} columns, {COLUMNS} at the most")
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            fault(path, number, "unfinished work belongs in an issue")


def check_functions(path, lines):
    start = name = None
    for number, line in enumerate(lines, 1):
        if line == "{" and start is None:
            start = number
            back = number - 2
            while back >= 0 and lines[back].startswith((" ", "\t")):
                back -= 1
            name = lines[back]
        elif line == "}" and start is not None:
            length = number - start
            if length > FUNCTION_LINES:
                fault(path, start, f"{name}: {length} lines, {FUNCTION_LINES} at the most")
            start = None


# An error is passed to the caller by TRY, which base/error.h declares.
PASSED_ON = re.compile(r"enum error e =\s[^;]*;\n\s*if \(e != OK\)\n\s*return e;")


def check_errors(path, text):
    for found in PASSED_ON.finditer(text):
        rest = text[found.end():].split("\n}\n", 1)[0]
        if not re.search(r"\be\b", rest):
            fault(path, text.count("\n", 0, found.start()) + 1, "use TRY to return the error")


# Data that a function holds without CLEANUP must be released before TRY may return.
HELD = re.compile(r"(?:(\w+) = (?:sha256_create|BUF_INIT)\(|(?:json_text|buf)_init\(&(\w+),)")
RELEASED = r"\b(sha256_finish|json_text_take|buf_deinit|buf_take)\(&?%s\b"


def check_held(path, lines):
    held, cleaned = {}, ""
    for number, line in enumerate(lines, 1):
        if line == "{":
            held, cleaned = {}, ""
        if "CLEANUP(" in line:
            cleaned += line
        found = HELD.search(line)
        if found and not re.search(rf"\b{found[1] or found[2]}\b", cleaned):
            held[found[1] or found[2]] = number
        held = {name: at for name, at in held.items() if not re.search(RELEASED % name, line)}
        if held and re.match(r"\s+TRY\(", line):
            fault(path, number, f"TRY may return without a release of {', '.join(held)}")
            held = {}


# Comments name their subject and use the usual verbs; see CONTRIBUTING.md.
VAGUE_START = re.compile(r"[\s*-]*(What|Who|Whose|Whoever|Whatever|Somebody|Nobody|Those who)\b")
VAGUE_WORDS = re.compile(
    r"\b(is told|are told|tells of|unless told|who comes|goes on|whoever|nobody|somebody)\b", re.I)

# The comments of a syntax; adjacent line comments are one comment. Strings of C are no comments.
C_COMMENT = re.compile(
    r"""/\*(?P<block>.*?)\*/|(?<!:)//(?P<lines>[^\n]*(?:\n[ \t]*//[^\n]*)*)"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S)
HASH_COMMENT = re.compile(
    r'''"""(?P<block>.*?)"""|(?:^|\s)#(?P<lines>[^\n]*(?:\n[ \t]*#[^\n]*)*)''', re.S | re.M)
SQL_COMMENT = re.compile(r"(?P<block>(?!))|--(?P<lines>[^\n]*(?:\n[ \t]*--[^\n]*)*)")
COMMENTS = {".c": C_COMMENT, ".h": C_COMMENT, ".mjs": C_COMMENT, ".ts": C_COMMENT,
            ".js": C_COMMENT, ".sql": SQL_COMMENT, ".py": HASH_COMMENT, "": HASH_COMMENT}


def check_comments(path, text):
    for token in COMMENTS[path.suffix].finditer(text):
        comment = token["block"] or token["lines"] or ""
        comment = re.sub(r"\s*\n[ \t]*(\*|//|#|--)?[ \t]*", " ", comment)
        comment = re.sub(r"^ SPDX-License-Identifier: \S+", "", comment)
        found = VAGUE_START.match(comment) or VAGUE_WORDS.search(comment)
        if found:
            fault(path, text.count("\n", 0, token.start()) + 1,
                  f"name the subject of the comment instead of \"{found[1]}\"")


def check_header(path, lines):
    inside = path.relative_to(ROOT / "src") if "src" in path.parts else path.relative_to(ROOT)
    guard = re.sub(r"[^A-Z0-9]", "_", str(inside).upper())
    if f"#ifndef {guard}" not in lines:
        fault(path, 1, f"the guard must be {guard}")


def check_named_by_meson(path):
    folder = path.parent
    while not (folder / "meson.build").exists():
        folder = folder.parent
    build = folder / "meson.build"
    if f"'{path.relative_to(folder)}'" not in build.read_text():
        fault(path, 1, f"{build.relative_to(ROOT)} does not list this file")


def check_licence(path, lines):
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        fault(path, 1, "the first three lines must have SPDX-License-Identifier: Apache-2.0")


def is_source(path):
    return path.suffix in SOURCES or path.suffix == "" and path.read_bytes()[:2] == b"#!"


for source in tracked("src/*.c", "src/*.h", "tests/*.c", "tests/*.h", "bench/*.c",
                      "bench/*.h"):
    text = source.read_text().splitlines()
    check_lines(source, text)
    check_functions(source, text)
    check_held(source, text)
    check_errors(source, source.read_text())
    check_comments(source, source.read_text())
    if source.suffix == ".h":
        check_header(source, text)
    elif source.relative_to(ROOT).parts[0] == "src" or source.name.startswith("test_"):
        check_named_by_meson(source)
for source in tracked("include/*.h", "*.sql", "*.mjs", "*.ts", "*.py", "Makefile"):
    if source.name != "tidy.py":
        check_comments(source, source.read_text())
for script in tracked("tools/*", "tests/*.mjs", "bench/*.py", "*.sql", "*.members"):
    if script.name != "tidy.py":
        check_lines(script, script.read_text().splitlines())

for source in filter(is_source, tracked()):
    check_licence(source, source.read_text().splitlines())
for copy in tracked("*/LICENSE", "*/NOTICE"):
    if copy.read_bytes() != (ROOT / copy.name).read_bytes():
        fault(copy, 1, f"must equal the {copy.name} of the project")

print("\n".join(faults))
sys.exit(1 if faults else 0)
