#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the closed lists of words in the headers of the model (src/base/enum.h), for SQL.

    #define RUN_STATUSES(X)                       {{RUN_STATUSES}}        'queued', 'running', ...
        X(RUN_QUEUED, "queued", ENUM_SET(...))    {{RUN_QUEUED}}          'queued'
        X(RUN_FAILED, "failed", 0)                {{FINAL_RUN_STATUSES}}  'failed', ...

In a list of statuses a status is final if no status follows it: its third column is 0.
"""
import functools
import re
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / "src/model"


def quoted(words):
    return ", ".join(f"'{word}'" for word in words)


@functools.cache
def read():
    """The tokens, each with its SQL."""
    tokens = {}
    for path in sorted(MODEL.rglob("*.h")):
        text = path.read_text()
        for name, body in re.findall(r"#define (\w+)\(X\)((?:[^\n]*\\\n)*[^\n]*)", text):
            rows = re.findall(r'\bX\((\w+),\s*"([^"]+)"(,\s*0\))?', body)
            tokens[name] = quoted(word for _, word, _ in rows)
            if "ENUM_SET" in body:
                tokens[f"FINAL_{name}"] = quoted(word for _, word, final in rows if final)
            tokens.update({value: quoted([word]) for value, word, _ in rows})
    return tokens


def all_words():
    """Each word of the lists, and the token of one list that has it."""
    return {sql[1:-1]: token for token, sql in read().items() if re.fullmatch(r"'[^']*'", sql)}
