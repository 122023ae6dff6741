"""What could be typed next, and which arguments a call wants.

In: the text up to the cursor, and the latest `Analysis`, which may be of a slightly older text. Out: `Candidate`s; a
`Call`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sacpy.lang.diagnostics import SacError
from sacpy.lang.scanner import scan
from sacpy.lang.source import NOWHERE, Source
from sacpy.lang.vocabulary import BASE_TYPES, RESERVED
from sacpy.lsp.analysis import Analysis
from sacpy.withloop.combinators import COMBINATORS
from sacpy.withloop.pragmas import WORDS

DIRECTIVES = ("define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "pragma", "undef")
OPERATORS = ("genarray", "modarray", "fold", "foldfix", "scan", "exscan", "into", "propagate")
_MODULE = re.compile(r"\b(?:use|import)\s+\w*\Z", re.ASCII)
_SYMBOLS = re.compile(r"\b(?:use|import)\s+(\w+)\s*:\s*(?:all\s+except\s*)?\{[^}]*\Z", re.ASCII)
_QUALIFIED = re.compile(r"\b(\w+)\s*::\s*\w*\Z", re.ASCII)
_FIELD = re.compile(r"([A-Za-z_]\w*)(?:\[[^\[\]]*\])*\.\w*\Z|[\])]\.\w*\Z", re.ASCII)
_NAMED = re.compile(r"\b([A-Za-z_]\w*)\s*\{(?:[^{}]*,)?\s*\.\w*\Z", re.ASCII)
_PRAGMA = re.compile(r"#\s*pragma\s+(\w+)\b[^\n]*\Z|#\s*pragma\s+\w*\Z", re.ASCII)
_DIRECTIVE = re.compile(r"^\s*#\s*[a-z]*\Z", re.MULTILINE)
_ARRAYS = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that could stand there. `kind`: "variable", "function", "type", "field", "module", "object", "macro",
    "keyword", "pragma"."""

    text: str
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the cursor stands in: the function, the module before `::`, and which argument it is at."""

    module: str
    name: str
    argument: int


def complete(analysis: Analysis, before: str, offset: int) -> list[Candidate]:
    """What could stand behind this text."""
    if _unread(before):
        return []
    pragma = _PRAGMA.search(before)
    if pragma:
        words = (
            [c.text for c in _words(("GridBlock", "Gen", *COMBINATORS), "pragma")]
            if pragma[1] in ("gpukernel", "gpuparam")
            else list(WORDS)
        )
        return [Candidate(word, "pragma") for word in words]
    if _DIRECTIVE.search(before):
        return list(_words(DIRECTIVES, "keyword"))
    if _MODULE.search(before):
        return list(_modules(analysis))
    if match := _SYMBOLS.search(before) or _QUALIFIED.search(before):
        return list(_exported(analysis, match[1]))
    if match := _NAMED.search(before):
        return list(_fields(analysis, "", match[1]))
    if match := _FIELD.search(before):
        return list(_fields(analysis, match[1] or "", ""))
    return list({c.text: c for c in reversed([*_variables(analysis, offset), *_names(analysis)])}.values())[::-1]


def _unread(before: str) -> bool:
    """Whether the text ends within a comment, a string or a number."""
    scanned = scan(Source("<before>", before))
    if scanned.tokens and scanned.tokens[-1].kind == "bad":
        return True
    line = before[before.rfind("\n") + 1 :]
    ends_in_comment = (
        bool(scanned.trivia)
        and scanned.trivia[-1][0] + len(scanned.trivia[-1][1]) == len(before)
        and scanned.trivia[-1][1].startswith("//")
    )
    return ends_in_comment or re.search(r"(?<![\w.])\d[\w.]*\Z", line) is not None


def _words(words: Iterable[str], kind: str) -> Iterator[Candidate]:
    return (Candidate(word, kind) for word in words)


def _variables(analysis: Analysis, offset: int) -> Iterator[Candidate]:
    """The variables of the function that the place is in."""
    function = analysis.function_at(offset)
    if function is None:
        return
    inside = [
        o
        for o in analysis.occurrences
        if o.symbol.kind == "variable" and function.span.start <= o.span.start <= function.span.end
    ]
    yield from _words(dict.fromkeys(o.symbol.name for o in inside), "variable")


def _names(analysis: Analysis) -> Iterator[Candidate]:
    """Functions, objects, types, macros, words."""
    scope = analysis.scope
    if scope is not None:
        try:
            functions, objects, types = scope.names("functions"), scope.names("objects"), scope.names("types")
        except SacError:  # a module that is not there
            functions, objects, types = (
                frozenset(scope.info.functions),
                frozenset(scope.info.objects),
                frozenset((*scope.info.typedefs, *scope.info.structs)),
            )
        own = scope.info.functions
        yield from _words(
            sorted((n for n in functions if _ARRAYS.match(n)), key=lambda n: (n not in own, n)), "function"
        )
        yield from _words(sorted(objects), "object")
        yield from _words(sorted(types), "type")
    yield from _words((n for n, m in analysis.tokens.macros.items() if m is not None), "macro")
    yield from _words(sorted(BASE_TYPES), "type")
    yield from _words((*sorted(RESERVED - BASE_TYPES), *OPERATORS), "keyword")


def _modules(analysis: Analysis) -> Iterator[Candidate]:
    """The modules of the library and those beside the program."""
    if analysis.program is None:
        return
    loader = analysis.program.world.loader
    beside = [
        path.stem
        for folder in loader.search
        for path in folder.glob("*.sac")
        if re.search(rf"\b(?:module|class)\s+{path.stem}\b", path.read_text(errors="replace"))
    ]
    yield from _words(sorted({*loader.read_library(), *beside}), "module")


def _exported(analysis: Analysis, module: str) -> Iterator[Candidate]:
    """What a module lets others see."""
    if analysis.program is None:
        return
    try:
        scope = analysis.program.world.scope(module, NOWHERE)
        kinds = (("functions", "function"), ("types", "type"), ("objects", "object"))
        yield from (c for names, kind in kinds for c in _words(sorted(scope.exported_names(names)), kind))  # type: ignore[arg-type]
    except SacError:
        return


def _fields(analysis: Analysis, variable: str, struct: str) -> Iterator[Candidate]:
    """The fields of a variable's struct; where that is not known, of all structs."""
    known = {
        k.field.partition(".")[0]
        for _, variables in analysis.functions
        for k in variables.known
        if k.name == variable and k.field
    }
    scopes = analysis.program.world.scopes.values() if analysis.program else ()
    structs = [s for scope in scopes for s in scope.info.structs.values() if not struct or s.name == struct]
    for definition in structs:
        for type, name, _ in definition.fields:
            if not known or name in known:
                yield Candidate(name, "field", f"{type.span.text} {name}   in struct {definition.name}")


def call_at(before: str) -> Call | None:
    """The call whose parentheses are still open where the text ends."""
    tokens = scan(Source("<before>", before)).tokens
    depth = commas = 0
    for i in range(len(tokens) - 1, -1, -1):
        text = tokens[i].text
        if tokens[i].kind == "op" and text == ";" and not depth:
            return None
        if text in (")", "]", "}"):
            depth += 1
        elif text in ("(", "[", "{"):
            if depth:
                depth -= 1
                continue
            if text == "(" and i and tokens[i - 1].kind == "name" and tokens[i - 1].text not in RESERVED:
                module = tokens[i - 3].text if i > 2 and tokens[i - 2].text == "::" else ""
                return Call(module, tokens[i - 1].text, commas)
            commas = 0
        elif text == "," and not depth:
            commas += 1
    return None
