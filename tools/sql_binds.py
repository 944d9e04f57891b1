# SPDX-License-Identifier: Apache-2.0
"""Compares the parameters that the C sources bind with the parameters of the statements.

The compiler has already rejected a name that no statement of the included .sql files has. This
module finds a name of another statement:

    context_query(c, &q, &SQL_THREAD_GET);
    query_uuid(&q, run_id, id);               thread_get has no parameter :run_id

For each `struct query` it determines the statements that the query may execute: a literal, both
arms of `?:`, the return values of a function, the members of a static table, and the arguments of
all callers if the statement or the query is a parameter. A bind that is executed unconditionally
must fit each of these statements, any other bind at least one. Nothing is reported where no
statement can be determined; there the check at run time remains (store/query.c).

The store executes statements that the model gives to it in structs. The comment of such a member
lists the parameters, `/* :tenant_id :key */`, and the statement that initializes the member must
have exactly these.
"""
import re

from gen_sql import TYPES

BINDS = re.compile(r"query_(uuid|i64|bool|text|bytes)(_if)?$")
BEGINS = {"context_query": (1, 2), "query_begin": (0, 2)}  # the query and the statement
ENDS = re.compile(r"\bquery_(end|run|run_counted|next)\(|\belse\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def strip(text):
    """Blanks comments, strings and preprocessor lines, and keeps all positions."""
    text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', blank, text, flags=re.S)
    return re.sub(r"(?m)^#.*(?:\\\n.*)*$", blank, text)


def closing(text, start):
    """The position of the bracket that closes the one at start."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def split_arguments(text):
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]]]


class Choice:
    """The statements that a query may execute. Of these the sure ones reach each unconditional
    bind; the others may be excluded by a condition that is not understood here."""

    def __init__(self, statements=(), sure=()):
        self.statements, self.sure = frozenset(statements), frozenset(sure)

    def __or__(self, other):
        return Choice(self.statements | other.statements, self.sure | other.sure)

    def __eq__(self, other):
        return (self.statements, self.sure) == (other.statements, other.sure)

    def under_condition(self):
        return self if len(self.statements) == 1 else Choice(self.statements)


class Call:
    def __init__(self, function, name, at):
        body = function.body
        self.name, self.at = name, at
        end = closing(body, at + len(name))
        self.arguments = split_arguments(body[at + len(name) + 1:end])
        line = body[body.rfind("\n", 0, at) + 1:at]
        self.is_nested = line != "    "  # in a condition, a loop or an expression


class Function:
    def __init__(self, source, head, body, at):
        self.source, self.body, self.at = source, body, at
        self.name = re.search(r"(\w+)\s*\(", head).group(1)
        self.is_static = head.startswith("static")
        inside = head[head.index("(") + 1:head.rindex(")")]
        self.params = split_arguments(inside)
        self.names = [(re.findall(r"\w+", p) or [""])[-1 if "[" not in p else 0]
                      for p in (re.sub(r"\[.*?\]", "", p) for p in self.params)]
        self.calls = [Call(self, match.group(1), match.start())
                      for match in re.finditer(r"\b(\w+)\(", body)
                      if match.group(1) not in ("if", "for", "while", "switch", "sizeof")]
        self.given = {}    # parameter: Choice, of all callers
        self.started = {}  # parameter that is a query: what the function begins on it

    def type_of(self, name):
        found = re.search(rf"\bstruct (\w+) \*?(?:const )?{name}\b",
                          ", ".join(self.params) + "; " + self.body)
        return found.group(1) if found else None

    def tables(self):
        return [table for at, *table in self.source.all_tables
                if self.at <= at < self.at + len(self.body)]

    def line(self, at):
        return self.source.text.count("\n", 0, self.at + at) + 1


class Source:
    FUNCTION = re.compile(r"(?m)^([a-zA-Z_][^;{}#]*?\))\s*\n\{\n(.*?)^\}", re.S)
    TABLE = re.compile(r"\b(?:struct (\w+)|\}) (?:\*|const )*(\w+)(?:\[[^\]]*\])* = \{")

    def __init__(self, path, text):
        self.path, self.text = path, strip(text)
        self.functions = [Function(self, m.group(1), m.group(2), m.start(2))
                          for m in self.FUNCTION.finditer(self.text)]
        self.all_tables = []  # position, name, type, text
        for match in self.TABLE.finditer(self.text):
            end = closing(self.text, match.end() - 1)
            self.all_tables.append((match.start(), match.group(2), match.group(1),
                                    self.text[match.end():end]))
        self.tables = [table for _, *table in self.all_tables]


class Contract:
    """A member of a struct in which the store is given a statement."""

    def __init__(self, name, params):
        self.name, self.params = name, params


def read_contracts(headers):
    pattern = r"const struct sql_statement \*(\w+);\s*/\*((?:(?!\*/).)*:\w(?:(?!\*/).)*)\*/"
    return {name: Contract(name, dict.fromkeys(re.findall(r":(\w+)", comment)))
            for text in headers for name, comment in re.findall(pattern, text, re.S)}


class Program:
    def __init__(self, sources, statements, contracts=None):
        self.sources, self.contracts = sources, contracts or {}
        self.statements = {s.c_name: s for s in statements}
        self.globals = {f.name: f for s in sources for f in s.functions if not f.is_static}
        self.statics = {(s, f.name): f for s in sources for f in s.functions}
        self.faults, self.n_binds, self.n_resolved = [], 0, 0
        self.reports = False

    def function(self, source, name):
        return self.statics.get((source, name)) or self.globals.get(name)

    # --- Which statements an expression may be ---------------------------------------------------

    def in_text(self, text, sure=True):
        found = [self.statements[name] for name in re.findall(r"\bSQL_[A-Z0-9_]+\b", text)
                 if name in self.statements]
        return Choice(found, found if sure else ())

    def of_tables(self, function, name):
        """The statements in a table of this name, or in all tables of its type."""
        kind = function.type_of(name)
        for tables in (function.tables(), function.source.tables):
            found = [text for table, _, text in tables if table == name]
            if found:
                return self.in_text(" ".join(found), sure=kind in (None, "sql_statement"))
        texts = [text for source in self.sources for _, type_, text in source.tables
                 if kind and type_ == kind]
        return self.in_text(" ".join(texts), sure=False)

    def resolve(self, function, expression, depth=0):
        expression = expression.strip()
        if depth > 9:
            return Choice()
        arms = re.match(r"[^?]*\?(.*)$", expression, re.S)
        if arms:
            first, _, second = arms.group(1).partition(":")
            return self.resolve(function, first, depth + 1) | \
                self.resolve(function, second, depth + 1)
        if re.fullmatch(r"&SQL_\w+", expression):
            return self.in_text(expression)
        member = re.search(r"(?:->|\.)(\w+)(?:\[[^\]]*\])?$", expression)
        if member and member.group(1) in self.contracts:
            contract = [self.contracts[member.group(1)]]
            return Choice(contract, contract)
        call = re.match(r"(\w+)\(.*\)$", expression, re.S)
        if call:
            return self.returned(function, call.group(1), depth)
        name = re.match(r"\w+", expression)
        if not name:
            return Choice()
        name = name.group(0)
        if expression == name:
            choice = function.given.get(name, Choice())
            for value in re.findall(rf"\b{name} = ([^;]*);", function.body):
                choice |= self.resolve(function, value, depth + 1)
            return choice
        return self.of_tables(function, name)

    def returned(self, function, name, depth):
        callee, choice = self.function(function.source, name), Choice()
        if callee:
            for value in re.findall(r"\breturn ([^;]*);", callee.body):
                choice |= self.resolve(callee, value, depth + 1)
        return choice

    # --- One function, in the order of its text --------------------------------------------------

    def walk(self, function):
        state = dict(function.given)  # query: Choice
        begun = {}
        for call in function.calls:
            if call.name in BEGINS:
                query, statement = (call.arguments[i] for i in BEGINS[call.name])
                self.begin(function, call, state, begun, query.lstrip("&"), statement)
                continue
            bind = BINDS.match(call.name)
            if bind:
                self.bind(function, call, state, begun, bind)
                continue
            self.mention(function, call, state)
            callee = self.function(function.source, call.name)
            if callee and callee is not function:
                self.enter(function, call, callee, state, begun)

    def begin(self, function, call, state, begun, query, statement):
        choice = self.resolve(function, statement)
        since = function.body[begun.get(query, call.at):call.at]
        either = call.is_nested and [found.group(0) for found in ENDS.finditer(since)] == ["else"]
        state[query] = state.get(query, Choice()) | choice if either else choice
        begun[query] = call.at
        if query in function.names:
            function.started[query] = statement if statement in function.names else choice

    def enter(self, function, call, callee, state, begun):
        given = dict(zip(callee.names, call.arguments))
        for param, declared in zip(callee.names, callee.params):
            argument = given.get(param, "")
            if "struct sql_statement *" in declared:
                self.give(callee, param, self.resolve(function, argument))
            elif re.search(r"struct query \*", declared):
                query = argument.lstrip("&")
                if query in state and param not in callee.started:
                    choice = state[query]
                    self.give(callee, param, choice.under_condition() if call.is_nested else choice)
                started = callee.started.get(param)
                if started is not None:
                    state[query] = self.resolve(function, given[started]) \
                        if isinstance(started, str) else started
                    begun[query] = call.at

    @staticmethod
    def give(callee, param, choice):
        callee.given[param] = callee.given.get(param, Choice()) | choice

    def bind(self, function, call, state, begun, bind):
        query, name = call.arguments[0].lstrip("&"), call.arguments[1]
        since = function.body[begun.get(query, 0):call.at]
        sure = not (call.is_nested or bind.group(2) or re.search(r"\breturn\b", since))
        self.compare(function, call, state.get(query, Choice()), name, bind.group(1), sure)

    def mention(self, function, call, state):
        """statement_takes(q->statement, name), and PARAM_TEXT_name among the arguments."""
        choice = Choice()
        for argument in call.arguments:
            choice |= state.get(argument.lstrip("&").removesuffix("->statement"), Choice())
        if call.name == "statement_takes":
            choice |= self.resolve(function, call.arguments[0])
            self.compare(function, call, choice, call.arguments[1], None, False)
        for argument in call.arguments:
            param = re.fullmatch(r"PARAM_([A-Z0-9]+)_([a-z0-9_]+)", argument)
            if param:
                self.compare(function, call, choice, param.group(2), param.group(1).lower(), False)

    def compare(self, function, call, choice, name, suffix, sure):
        if not self.reports:
            return
        self.n_binds += 1
        self.n_resolved += bool(choice.statements)
        lacking = [s for s in choice.statements if name not in s.params or
                   (suffix and s.params[name] and TYPES[s.params[name]] != suffix)]
        if len(lacking) < len(choice.statements):
            lacking = [s for s in lacking if sure and s in choice.sure]
        if not lacking:
            return
        lacking = sorted(s.name for s in lacking)
        names = ", ".join(lacking[:3]) + (" …" if len(lacking) > 3 else "")
        kind = f" that {'query_' + suffix} binds" if suffix else ""
        self.faults.append(f"{function.source.path}:{function.line(call.at)}: error: "
                           f"{names} has no parameter :{name}{kind}")

    def run(self):
        """Walks until the arguments of all callers are known, and then compares."""
        functions = [f for source in self.sources for f in source.functions]
        for _ in range(6):
            before = [(f.given.copy(), f.started.copy()) for f in functions]
            for function in functions:
                self.walk(function)
            if before == [(f.given, f.started) for f in functions]:
                break
        self.reports = True
        for function in functions:
            self.walk(function)
        for source in self.sources:
            self.compare_contracts(source)
        return self.faults

    def compare_contracts(self, source):
        for match in re.finditer(r"\.(\w+) = &(SQL_\w+)", source.text):
            contract, statement = self.contracts.get(match.group(1)), match.group(2)
            if contract and statement in self.statements and \
                    set(self.statements[statement].params) != set(contract.params):
                line = source.text.count("\n", 0, match.start()) + 1
                params = " ".join(":" + param for param in contract.params)
                self.faults.append(f"{source.path}:{line}: error: .{contract.name} needs a "
                                   f"statement with exactly the parameters {params}")
