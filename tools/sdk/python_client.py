"""The Python client's part of the API: types, operations, and a class for every resource, once for
calls that block and once for those that are awaited. Both come from the same template.

What a body or a query has are keyword arguments; UNSET leaves one out, so that None is JSON's null.
A keyword of an option that the body has too, such as `principal`, gets `request_` before it, a
member of the body that the path has too `body_`, or `to_` where something is copied.
"""
import keyword
from typing import Dict, List, Optional, Tuple

FIRST_LINE = "# Written by tools/sdk from the server's OpenAPI document: make sdk. Do not edit."
PLACE = "sdk/python/src/cairn/_generated/"
WIDTH = 100

# What is written by hand beside the operations of a resource, in _extras.py and _async_extras.py.
EXTRAS = {
    ("events",): "FollowAll",
    ("threads", "events"): "FollowThread",
    ("runs",): "WaitAndWork",
    ("threads", "files"): "ResumableUploads",
}

OPTIONS = {
    "Idempotency-Key": ("idempotency_key", "Optional[str]"),
    "If-Match": ("if_match", "Optional[ETag]"),
    "If-None-Match": ("if_none_match", "Optional[ETag]"),
    "Cairn-Fencing-Token": ("fencing_token", "Optional[ETag]"),
    "Cairn-Principal": ("principal", "Optional[str]"),
    "Cairn-Consistency": ("consistency", 'Optional[Literal["strong", "eventual"]]'),
}
OPTIONS_OF_ALL = [
    ("timeout", "Optional[float]"), ("max_retries", "Optional[int]"),
    ("headers", "Optional[Mapping[str, str]]"),
]


# --- Types ----------------------------------------------------------------------------------------

def name_of(ref: str) -> str:
    return ref.rsplit("/", 1)[1]


def literal(values: list) -> str:
    return "Literal[" + ", ".join(f'"{v}"' for v in values) + "]"


def one_type(schema: dict, kind: Optional[str], given: bool, prefix: str) -> str:
    """`given`: of an argument, which may be of more types than what is answered."""
    if "$ref" in schema:
        return prefix + name_of(schema["$ref"])
    if "oneOf" in schema:
        parts = [type_of(s, given, prefix) for s in schema["oneOf"] if s.get("type") != "null"]
        inner = parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
        return inner if len(parts) == len(schema["oneOf"]) else f"Optional[{inner}]"
    if "enum" in schema:
        return literal(schema["enum"])
    if kind == "string" and given and schema.get("format") == "date-time":
        return "Time"
    if kind == "array":
        item = type_of(schema["items"], given, prefix) if "items" in schema else "Any"
        return f"{'Sequence' if given else 'List'}[{item}]"
    if kind == "object":
        return "Mapping[str, Any]" if given else "Dict[str, Any]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}.get(
        kind or "", "Any")


def type_of(schema: dict, given: bool = False, prefix: str = "") -> str:
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return one_type(schema, kinds, given, prefix)
    parts = [one_type(schema, kind, given, prefix) for kind in kinds if kind != "null"]
    inner = parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
    return f"Optional[{inner}]" if "null" in kinds else inner


def comment_lines(text: str, indent: str) -> List[str]:
    return wrap(text.split(), indent + "# ", indent + "# ")


def wrap(words: List[str], first: str, rest: str) -> List[str]:
    lines, line = [], first
    for word in words:
        if len(line) + len(word) > WIDTH and line.strip(" #"):
            lines.append(line.rstrip())
            line = rest
        line += word + " "
    return [*lines, line.rstrip()]


def member_lines(name: str, schema: dict) -> List[str]:
    lines = comment_lines(schema["description"], "    ") if schema.get("description") else []
    return [*lines, *wrap(pieces([f"{name}: {type_of(schema)}"], ""), "    ", "        ")]


def typed_dict(name: str, base: str, total: bool, members: Dict[str, dict]) -> List[str]:
    """A member whose name is a word of Python can only be given as a string."""
    lines = []
    odd = {n: s for n, s in members.items() if keyword.iskeyword(n)}
    if odd:
        base_name = f"_{name}Odd"
        pairs = ", ".join(f'"{n}": {type_of(s)}' for n, s in odd.items())
        more = [] if total else ["total=False"]
        lines += [*call_lines(f"{base_name} = TypedDict(",
                              [f'"{base_name}"', f"{{{pairs}}}", *more], ""), "", ""]
        base = f"{base}, {base_name}" if base else base_name
    more = "" if total else ", total=False"
    lines += [f"class {name}({base or 'TypedDict'}{more}):"]
    rest = [line for n, s in members.items() if n not in odd for line in member_lines(n, s)]
    return [*lines, *(rest or ["    pass"]), "", ""]


def schema_lines(name: str, schema: dict) -> List[str]:
    members = schema.get("properties", {})
    required = {n: s for n, s in members.items() if n in schema.get("required", [])}
    others = {n: s for n, s in members.items() if n not in required}
    if not others:
        return typed_dict(name, "", True, required)
    if not required:
        return typed_dict(name, "", False, others)
    return [*typed_dict(f"_{name}Required", "", True, required),
            *typed_dict(name, f"_{name}Required", False, others)]


def types_text(document: dict) -> str:
    lines = [FIRST_LINE, '"""What the API takes and answers."""',
             "from __future__ import annotations", "",
             "from typing import Any, Dict, List, Literal, Optional, TypedDict", "", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += schema_lines(name, schema)
    return "\n".join(lines).rstrip() + "\n"


# --- Operations -----------------------------------------------------------------------------------

def constant_of(o) -> str:
    return "_".join((*o.group, o.name)).upper()


def cursors_of(o) -> Tuple[str, ...]:
    """By which parameter the next page is asked for: the first that was given, or the last."""
    names = [p.name for p in o.query]
    return ("cursor",) if "cursor" in names else tuple(n for n in ("after", "before") if n in names)


def headers_of(o) -> List[str]:
    """An upload can ask that there be nothing yet, as docs/files.md says."""
    more = ["If-None-Match"] if o.method == "PUT" and o.body_kind == "bytes" else []
    return list(dict.fromkeys([*(h for h in o.headers if h in OPTIONS), *more]))


def page_schemas(o, schemas: dict) -> Optional[Tuple[dict, bool]]:
    """What an item of the list is that this answers, and whether its cursor stands in the body, as
    that of a search does; None when it answers no list."""
    if o.answer_kind == "page":
        return o.answer, False
    if o.answer_kind != "json" or o.body_kind != "json" or "$ref" not in (o.answer or {}):
        return None
    answer = schemas[name_of(o.answer["$ref"])].get("properties", {})
    body = schemas[name_of(o.body["$ref"])]["properties"]
    if "cursor" not in body or not {"data", "has_more", "next_cursor"} <= set(answer):
        return None
    return answer["data"].get("items", {}), True


def operation_lines(o, schemas: dict) -> List[str]:
    is_page = page_schemas(o, schemas) is not None
    parts = [f'"{".".join((*o.group, o.name))}"', f'"{o.method}"', f'"{o.path}"',
             f'"{o.body_kind}"', f'"{"page" if is_page else o.answer_kind}"']
    headers = headers_of(o)
    if headers:
        parts.append("headers=frozenset([" + ", ".join(f'"{h}"' for h in headers) + "])")
    if is_page:
        cursors = cursors_of(o) or ("cursor",)
        parts.append("cursors=(" + ", ".join(f'"{c}"' for c in cursors) + ",)")
    if "Range" in o.headers:
        parts.append("ranges=True")
    if o.path.endswith("/info"):
        parts.append('etag_prefix="r"')
    return call_lines(f"{constant_of(o)} = Operation(", parts, "")


def operations_text(document: dict, operations: list) -> str:
    lines = [FIRST_LINE, '"""Every operation of the API, and how it is sent."""',
             "from .._operation import Operation", "",
             f'API_VERSION = "{document["info"]["version"]}"', ""]
    for o in operations:
        lines += operation_lines(o, document["components"]["schemas"])
    names = [constant_of(o) for o in operations]
    lines += ["", *call_lines("ALL = (", names, "")]
    return "\n".join(lines) + "\n"


# --- Resources ------------------------------------------------------------------------------------

def call_lines(head: str, parts: List[str], indent: str) -> List[str]:
    """head + parts + ), on one line or as many as it takes."""
    whole = f"{indent}{head}{', '.join(parts)})"
    if len(whole) <= WIDTH and "\n" not in whole:
        return [whole]
    return [indent + head, *wrap(pieces(parts), indent + "    ", indent + "    "), indent + ")"]


def pieces(parts: List[str], last: str = ",") -> List[str]:
    """Where a line may end: behind every part, and within one that is long behind every comma."""
    found: List[str] = []
    for i, part in enumerate(parts):
        whole = part + (last if i == len(parts) - 1 else ",")
        *rest, end = whole.split(", ") if len(whole) > WIDTH - 12 else [whole]
        found += [*(piece + "," for piece in rest), end]
    return found


def python_name(name: str) -> str:
    plain = name.replace("-", "_").replace(".", "_")
    return plain + "_" if keyword.iskeyword(plain) or plain in ("self", "types") else plain


class Argument:
    def __init__(self, wire: str, kind: str, required: bool, summary: str):
        self.wire, self.name, self.kind = wire, python_name(wire), kind
        self.required, self.summary = required, summary

    def declared(self) -> str:
        if self.required:
            return f"{self.name}: {self.kind}"
        if self.kind == "Any":
            return f"{self.name}: Any = UNSET"
        return f"{self.name}: Union[{self.kind}, Unset] = UNSET"

    def sent(self) -> str:
        return f'"{self.wire}": {self.name}'


class Method:
    """One operation, as text for one of the clients, whose words these are."""

    def __init__(self, o, schemas: dict, words: dict):
        self.o, self.words = o, words
        self.page = page_schemas(o, schemas)
        self.body = self._body(schemas)
        self.query = [Argument(p.name, self._query_type(p), False, p.summary) for p in o.query]
        for a in [*self.body, *self.query]:
            if a.name in [p.name for p in self.path_arguments()]:
                a.name = ("to_" if o.name == "copy" else "body_") + a.name
        taken = {a.name for a in [*self.body, *self.query]}
        self.options = [(n, n if n not in taken else f"request_{n}", t) for n, t in self._options()]

    def _query_type(self, parameter) -> str:
        """A namespace of the store is a list of labels, which a query has with points between."""
        if self.o.group == ("store",) and parameter.name == "namespace":
            return "Sequence[str]"
        return "Position" if parameter.is_position else type_of(parameter.schema, True, "types.")

    def _body(self, schemas: dict) -> List[Argument]:
        if self.o.body_kind not in ("json", "patch"):
            return []
        schema = schemas[name_of(self.o.body["$ref"])]
        required = schema.get("required", []) if self.o.body_kind == "json" else []
        return [Argument(n, type_of(s, True, "types."), n in required, s.get("description", ""))
                for n, s in schema["properties"].items() if not s.get("readOnly")]

    def _options(self) -> List[Tuple[str, str]]:
        return [*(OPTIONS[h] for h in headers_of(self.o)), *OPTIONS_OF_ALL]

    # The two forms of a body: one thing, or a list of them under this name.
    def many(self) -> Optional[Argument]:
        answers = (self.o.answer or {}).get("oneOf", [])
        lists = [a for a in self.body if a.kind.startswith("Sequence[types.")]
        return lists[0] if len(answers) == 2 and lists else None

    def path_arguments(self) -> List[Argument]:
        return [Argument(p.name, "int" if p.schema.get("type") == "integer" else "str", True, "")
                for p in self.o.path_parameters]

    def parameters(self, keywords: List[str]) -> List[str]:
        parts = ["self", *(a.declared() for a in self.path_arguments())]
        if self.o.body_kind == "bytes":
            parts.append(f"content: {self.words['Content']}")
            keywords = ["content_type: Optional[str] = None", *keywords]
        if self.o.body_kind == "patch":
            keywords = [*keywords, "json_patch: Optional[Sequence[Mapping[str, Any]]] = None"]
        options = [f"{name}: {kind} = None" for _, name, kind in self.options]
        metadata = ["metadata: Optional[Mapping[str, Scalar]] = None"] if self.o.takes_metadata \
            else []
        keywords = sorted(keywords, key=lambda k: "=" in k)
        return [*parts, "*", *keywords, *metadata, *options]

    def answer(self) -> str:
        o = self.o
        if self.page is not None:
            return f"{self.words['Page']}[{type_of(self.page[0], False, 'types.')}]"
        if o.answer_kind == "bytes":
            return self.words["Download"]
        if o.answer_kind == "none":
            return "None"
        if o.answer_kind == "text":
            return "str"
        plain = type_of(o.answer, False, "types.") if o.answer else "Dict[str, Any]"
        return f"Optional[{plain}]" if o.maybe_nothing else plain

    def overloads(self) -> List[Tuple[List[str], str]]:
        """Keywords and answer of each form, where there are two."""
        many, query = self.many(), [a.declared() for a in self.query]
        if many is not None:
            one, several = [type_of(s, False, "types.") for s in self.o.answer["oneOf"]]
            single = [a.declared() for a in self.body if a is not many]
            return [([f"{many.name}: {many.kind}", *query], several), ([*single, *query], one)]
        as_text = [a for a in self.query if a.kind == literal(["json", "text"])]
        if not as_text:
            return []
        rest = [a.declared() for a in self.query if a is not as_text[0]]
        return [([f'{as_text[0].name}: Literal["text"]', *rest], "str"),
                ([f'{as_text[0].name}: Union[Literal["json"], Unset] = UNSET', *rest],
                 self.answer())]

    def doc_lines(self) -> List[str]:
        head = wrap((self.o.summary + ".").split(), '        """', "        ")
        told = [a for a in [*self.body, *self.query] if a.summary]
        if not told:
            head[-1] += '"""'
            if len(head[-1]) <= WIDTH:
                return head
            return [*head[:-1], head[-1][:-3], '        """']
        rest = [line for a in told for line in
                wrap([f"{a.name}:", *a.summary.replace("\\", "\\\\").split()], " " * 8, " " * 12)]
        return [*head, "", *rest, '        """']

    def sent_parts(self) -> List[str]:
        o = self.o
        parts = [f"_operations.{constant_of(o)}",
                 "[" + ", ".join(a.name for a in self.path_arguments()) + "]"]
        if self.query or o.takes_metadata:
            more = ", **metadata_filter(metadata)" if o.takes_metadata else ""
            parts.append("query={" + ", ".join(a.sent() for a in self.query) + more + "}")
        if self.body:
            parts.append("body={" + ", ".join(a.sent() for a in self.body) + "}")
        if o.body_kind == "patch":
            parts.append("json_patch=json_patch")
        if o.body_kind == "bytes":
            parts.append("content=content, content_type=content_type")
        options = ", ".join(f"{field}={name}" for field, name, _ in self.options)
        return [*parts, f"options=Options({options})"]

    def signature(self, keywords: List[str], answer: str, awaited: bool) -> List[str]:
        head = f"{'async ' if awaited else ''}def {python_name(self.o.name)}("
        lines = call_lines(head, self.parameters(keywords), "    ")
        lines[-1] += f" -> {answer}:"
        if len(lines) == 1 and len(lines[0]) > WIDTH:
            lines = [f"    {head}", *wrap(pieces(self.parameters(keywords)), " " * 8, " " * 8),
                     f"    ) -> {answer}:"]
        return lines

    def send_lines(self, answer: str, awaited: bool) -> List[str]:
        o, wait = self.o, "await " if awaited else ""
        verb = "page" if self.page else "download" if o.answer_kind == "bytes" else "call"
        if o.answer_kind == "none":
            return call_lines(f"{wait}self._caller.{verb}(", self.sent_parts(), " " * 8)
        if verb != "call":
            return call_lines(f"return self._caller.{verb}(", self.sent_parts(), " " * 8)
        return [*call_lines(f"answer: {answer} = {wait}self._caller.{verb}(", self.sent_parts(),
                            " " * 8), "        return answer"]

    def lines(self) -> List[str]:
        awaited = self.words is ASYNC and self.page is None and self.o.answer_kind != "bytes"
        overloads = self.overloads()
        answer = f"Union[{', '.join(a for _, a in overloads)}]" if overloads else self.answer()
        lines: List[str] = []
        for keywords, form in overloads:
            stub = self.signature(keywords, form, awaited)
            lines += ["    @overload", *stub[:-1], stub[-1] + " ...", ""]
        arguments = [a.declared() for a in [*self.body, *self.query]]
        return [*lines, *self.signature(arguments, answer, awaited), *self.doc_lines(),
                *self.send_lines(answer, awaited)]


HEAD = '''from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload

from .._operation import (
    UNSET, {Content}, ETag, Options, Position, Scalar, Time, Unset, metadata_filter)
from ..{calls} import {Caller}, {Download}, {Page}
from ..{extras} import (
    {names})
from . import operations as _operations, types
'''

SYNC = {"Content": "Content", "Caller": "Caller", "Page": "Page", "Download": "Download",
        "calls": "_calls", "extras": "_extras", "Prefix": ""}
ASYNC = {"Content": "AsyncContent", "Caller": "AsyncCaller", "Page": "AsyncPages",
         "Download": "AsyncDownloads", "calls": "_async_calls", "extras": "_async_extras",
         "Prefix": "Async"}


def class_name(path: Tuple[str, ...], words: dict) -> str:
    return words["Prefix"] + ("".join(part.title().replace("_", "") for part in path) or "Root")


def class_lines(group, schemas: dict, words: dict) -> List[str]:
    extra = EXTRAS.get(group.path)
    base = f"({words['Prefix']}{extra})" if extra else ""
    title = ".".join(group.path) or "The client itself"
    lines = [f"class {class_name(group.path, words)}{base}:", f'    """{title}"""', "",
             f"    def __init__(self, caller: {words['Caller']}) -> None:",
             "        self._caller = caller"]
    for name, inner in group.groups.items():
        lines.append(f"        self.{python_name(name)} = {class_name(inner.path, words)}(caller)")
    for o in group.operations:
        if o.answer_kind in ("sse", "websocket"):
            continue
        lines += ["", *Method(o, schemas, words).lines()]
    return [*lines, "", ""]


def resources_text(document: dict, tree, words: dict) -> str:
    names = ", ".join(words["Prefix"] + name for name in EXTRAS.values())
    lines = [FIRST_LINE, HEAD.format(names=names, **words), ""]

    def visit(group) -> None:
        for inner in group.groups.values():
            visit(inner)
        lines.extend(class_lines(group, document["components"]["schemas"], words))
    visit(tree)
    return "\n".join(lines).rstrip() + "\n"


def generate(document: dict, operations: list, tree) -> Dict[str, str]:
    return {
        PLACE + "__init__.py": FIRST_LINE + "\n",
        PLACE + "types.py": types_text(document),
        PLACE + "operations.py": operations_text(document, operations),
        PLACE + "resources.py": resources_text(document, tree, SYNC),
        PLACE + "async_resources.py": resources_text(document, tree, ASYNC),
    }
