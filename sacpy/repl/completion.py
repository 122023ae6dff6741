"""What could stand at the cursor.

In: an engine, a text and the cursor's place in it. Out: `Completions`: the candidates, and where the word begins that
they replace. The prompt and notebooks share it; it knows nothing of terminals. Never raises for what is half typed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.source import NOWHERE
from sacpy.lang.vocabulary import BASE_TYPES, RESERVED
from sacpy.repl.cursor import pieces
from sacpy.repl.parts import is_command
from sacpy.withloop.combinators import COMBINATORS
from sacpy.withloop.pragmas import WORDS as PRAGMAS
from sacpy.withloop.ways import WAYS

if TYPE_CHECKING:
    from sacpy.lang.elaborate.scope import Scope
    from sacpy.repl.engine import Engine

DIRECTIVES = ("define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "pragma", "undef")
WITHLOOP_WORDS = ("genarray", "modarray", "fold", "propagate")
_WORD = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_NUMBER = re.compile(r"\b\d\w*\.?\w*\Z", re.ASCII)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*([a-z]*)\Z", re.MULTILINE)
_PRAGMA = re.compile(r"#[ \t]*pragma[ \t]+(?:(\w+)[ \t]+(?:[^\n\"]*[^\w\n\"])?)?(\w*)\Z", re.ASCII)
_MODULE = re.compile(r"\b(?:use|import)\s+(\w*)\Z", re.ASCII)
_SYMBOLS = re.compile(r"\b(?:use|import)\s+(\w+)\s*:\s*(?:all\s*except\s*)?\{[^}]*?(\w*)\Z", re.ASCII)
_QUALIFIED = re.compile(r"(\w+)\s*::\s*(\w*)\Z", re.ASCII)
_FIELD = re.compile(r"((?:\b[A-Za-z_]\w*)(?:\[[^\[\]]*\]|\.[A-Za-z_]\w*)*)\.(\w*)\Z", re.ASCII)
_STEPS = re.compile(r"\[[^\[\]]*\]|\.")
_COMMAND = re.compile(r"\s*:(\w*)\Z")
_ARGUMENT = re.compile(r"\s*:(\w+)[ \t]+(.*)\Z", re.DOTALL)
_INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]*)\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that could stand there. `about` gives its signature, type or purpose, worked out only when somebody looks;
    `kind`: "variable", "function", "type", "field", "module", "keyword", "command", "pragma", "file"."""

    text: str
    kind: str
    about: Callable[[], str] = str


@dataclass(frozen=True, slots=True)
class Completions:
    """The candidates for the text from `start` to the cursor, the likeliest first."""

    start: int
    candidates: tuple[Candidate, ...] = ()


def complete(engine: Engine, text: str, cursor: int) -> Completions:
    """What could stand at the cursor (an offset into `text`)."""
    begin = text.rfind("\n", 0, cursor) + 1
    if begin and is_command(text[begin:cursor]):  # a line of its own
        end = text.find("\n", cursor)
        found = complete(engine, text[begin : end if end >= 0 else len(text)], cursor - begin)
        return Completions(found.start + begin, found.candidates)
    before = text[:cursor]
    if match := _COMMAND.match(before):
        return _chosen(cursor, match[1], _commands())
    if match := _ARGUMENT.match(before):
        return _for_command(engine, match[1], match[2], cursor)
    if before.lstrip().startswith("?"):
        return _chosen(cursor, _last_word(before), (*_names(engine), *_modules(engine)))
    return _in_code(engine, before, text[cursor:], cursor)


def _in_code(engine: Engine, before: str, after: str, cursor: int) -> Completions:
    """Within SaC, between these two texts."""
    if match := _INCLUDED.search(before):
        return _files(match[1], cursor, (".mac", ".h", ".sac"))
    last = pieces(before).unfinished
    if last is not None:  # in a comment or string
        return Completions(cursor)
    if match := _DIRECTIVE.search(before):
        return _chosen(cursor, match[1], (Candidate(d, "keyword") for d in DIRECTIVES))
    if match := _PRAGMA.search(before):
        return _chosen(cursor, match[2], _pragma(match[1]))
    if match := _MODULE.search(before):
        return _chosen(cursor, match[1], _modules(engine))
    if match := _SYMBOLS.search(before) or _QUALIFIED.search(before):
        return _chosen(cursor, match[2], _exported(engine, match[1]))
    if match := _FIELD.search(before):
        return _chosen(cursor, match[2], _fields(engine, match[1], before))
    if _NUMBER.search(before):
        return Completions(cursor)
    typed = _last_word(before)
    return _chosen(cursor, typed, _names(engine, before.removesuffix(typed) + after))


def _last_word(before: str) -> str:
    match = _WORD.search(before)
    return match[0] if match else ""


def _chosen(cursor: int, typed: str, candidates: Iterable[Candidate]) -> Completions:
    """Those that begin as typed; if there are none, regardless of case; if there are none, those that have it
    within."""
    unique = list({c.text: c for c in reversed(list(candidates))}.values())[::-1]
    low = typed.lower()
    tests: tuple[Callable[[str], bool], ...] = (
        lambda t: t.startswith(typed),
        lambda t: t.lower().startswith(low),
        lambda t: low in t.lower(),
    )
    for test in tests:
        found = tuple(c for c in unique if test(c.text))
        if found:
            return Completions(cursor - len(typed), found)
    return Completions(cursor - len(typed))


# ---------------------------------------------------------------- names


def _names(engine: Engine, text: str = "") -> Iterator[Candidate]:
    """Variables, names that stand in a text, functions, types and words, in this order, each in that of the
    alphabet."""
    for name, variable in sorted(engine.variables.items()):
        yield Candidate(name, "variable", lambda variable=variable: variable.type_text)  # type: ignore[misc]
    scope = engine.program.main
    try:
        functions = [n for n in scope.names("functions") if _WORD.match(n)]
        types, objects = scope.names("types"), scope.names("objects")
    except SacError:
        functions, types, objects = [n for n in scope.info.functions if _WORD.match(n)], frozenset(), frozenset()
    known = {*functions, *types, *RESERVED}
    yield from (Candidate(n, "variable") for n in sorted({p.text for p in pieces(text) if p.kind == "name"} - known))
    own = scope.info.functions
    for name in sorted(functions, key=lambda n: (n not in own, n.lower(), n)):
        yield Candidate(name, "function", lambda name=name: signature(scope, name))  # type: ignore[misc]
    yield from (Candidate(n, "variable", lambda: "a global object") for n in sorted(objects))
    yield from (Candidate(n, "type", lambda name=n: _type_about(scope, name)) for n in sorted(types, key=str.lower))  # type: ignore[misc]
    yield from (Candidate(n, "type", lambda: "a built-in type") for n in sorted(BASE_TYPES))
    yield from (Candidate(n, "keyword", lambda: "a keyword") for n in (*sorted(RESERVED - BASE_TYPES), *WITHLOOP_WORDS))


def signature(scope: Scope, name: str) -> str:
    """The head of a function's first definition with its types and shapes, and how many more there are."""
    try:
        own, used = scope.tiers(name)
    except SacError:
        return ""
    entries = (*own, *used)
    more = f"  and {len(entries) - 1} more" if len(entries) > 1 else ""
    return head_text(entries[0].definition) + more if entries else ""


def _type_about(scope: Scope, name: str) -> str:
    try:
        found = scope.find_type(name)
    except SacError:
        return ""
    if found is None:
        return ""
    if found.is_struct:
        return f"struct {name} {{ {' '.join(f'{_field_type(t, e)} {n};' for n, t, e in found.fields)} }}"
    return found.kind


def _exported(engine: Engine, module: str) -> Iterator[Candidate]:
    """What a module exports."""
    try:
        scope = engine.program.main.world.scope(module, NOWHERE)
        names = {*scope.exported_names("functions"), *scope.exported_names("types")}
    except SacError:
        return
    for name in sorted((n for n in names if _WORD.match(n)), key=lambda n: (n.lower(), n)):
        yield Candidate(name, "function", lambda name=name: _exported_about(scope, name))  # type: ignore[misc]


def _exported_about(scope: Scope, name: str) -> str:
    entries = scope.exported(name)
    return head_text(entries[0].definition) if entries else "a type"


def _modules(engine: Engine) -> Iterator[Candidate]:
    folders = [Path(), *engine.workspace.search]
    beside = {p.stem for folder in folders for p in _sac_files(folder) if _is_module(p)}
    for name in sorted({*engine.loader.read_library(), *beside}):
        yield Candidate(name, "module", lambda name=name: _module_about(engine, name))  # type: ignore[misc]


def _sac_files(folder: Path) -> list[Path]:
    try:
        return list(folder.glob("*.sac"))
    except OSError:
        return []


def _is_module(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(re.search(rf"\b(?:module|class)\s+{re.escape(path.stem)}\b", text))


def _module_about(engine: Engine, module: str) -> str:
    """The first sentence of the comment at the head of a module's file."""
    from sacpy.documents.library import first_sentence, head_comment

    try:
        return first_sentence(head_comment(engine.loader.load(module)))
    except (SacError, OSError):
        return ""


# ---------------------------------------------------------------- fields


def _fields(engine: Engine, owner: str, before: str) -> Iterator[Candidate]:
    """The fields of what `owner` (such as `rods[3].end`) is; what it is follows from a variable's type or from
    `struct NAME owner` in the text."""
    first, *steps = (step for step in _STEPS.split(owner) if step)
    type = engine.variables[first].type if first in engine.variables else None
    declared = re.findall(rf"\bstruct\s+(\w+)\s*(?:\[[^\]]*\]\s*)?&?\s*{re.escape(first)}\b", before, re.ASCII)
    if declared:
        try:
            type = engine.program.main.find_type(declared[-1])
        except SacError:
            return
    for step in steps:
        type = next((t for n, t, _ in type.fields if n == step), None) if type is not None else None
    for name, field, extents in type.fields if type is not None else ():
        yield Candidate(name, "field", lambda field=field, extents=extents: _field_type(field, extents))  # type: ignore[misc]


def _field_type(type: BaseType, extents: Sequence[int | None]) -> str:
    return type.shown + (f"[{','.join('.' if e is None else str(e) for e in extents)}]" if extents else "")


# ---------------------------------------------------------------- pragmas, commands, files


def _pragma(word: str | None) -> Iterator[Candidate]:
    """The words of the mapping pragmas; behind `gpukernel` the combinators."""
    if word is None:
        yield from (Candidate(w, "pragma") for w in PRAGMAS)
    elif word == "gpukernel":
        yield Candidate("GridBlock", "pragma", lambda: "GridBlock(outer axes of the grid, chain)")
        yield from (Candidate(n, "pragma", partial(_first_paragraph, c)) for n, c in COMBINATORS.items())
        yield Candidate("Gen", "pragma", lambda: "the generator's index space")
    elif word == "gpumem":
        yield from (Candidate(w, "pragma") for w in ("shared", "global"))
    elif word == "gpufold":
        yield from (Candidate(w, "pragma") for w in WAYS)


def _first_paragraph(about: object) -> str:
    """What a docstring says first, in one line."""
    return " ".join((about.__doc__ or "").partition("\n\n")[0].split())


def _commands() -> Iterator[Candidate]:
    from sacpy.repl.commands import COMMANDS

    for name, command in sorted(COMMANDS.items(), key=lambda item: (item[0] != item[1].name, item[0])):
        yield Candidate(name, "command", f"{command.usage.partition(' ')[2]}  {command.summary}".strip)


def _for_command(engine: Engine, name: str, rest: str, cursor: int) -> Completions:
    """Behind a command's name: what its table entry says."""
    from sacpy.repl.commands import COMMANDS

    command = COMMANDS.get(name)
    if command is None:
        return Completions(cursor)
    words = command.words if " " not in rest else {}
    first = tuple(Candidate(word, "command", what.__str__) for word, what in words.items())
    typed = rest.rpartition(" ")[2]
    match command.arguments:
        case "file":
            return _files(rest, cursor, (".sac",) if name in ("load", "reload") else None)
        case "name":
            return _chosen(cursor, _last_word(rest), (*_names(engine), *_modules(engine)))
        case "expression" if first and any(c.text.startswith(typed) for c in first):
            return _chosen(cursor, typed, (*first, *_names(engine)))
        case "expression":
            return _in_code(engine, rest, "", cursor)
        case "word":
            return _chosen(cursor, typed, first)
        case "setting":
            return _chosen(cursor, typed, _settings(rest))
    return Completions(cursor)


def _settings(rest: str) -> Iterator[Candidate]:
    """The names of settings; behind one, the words that it may be."""
    from sacpy.repl.settings import SETTINGS

    name, space, _ = rest.partition(" ")
    if not space:
        yield from (Candidate(n, "command", lambda s=s: f"{s.summary}: {s.allowed}") for n, s in SETTINGS.items())  # type: ignore[misc]
    elif name in SETTINGS:
        setting = SETTINGS[name]
        yield from (Candidate(word, "command") for word in re.findall(r"[a-z]+", setting.allowed) if setting.fits(word))


def _files(typed: str, cursor: int, suffixes: tuple[str, ...] | None) -> Completions:
    """Folders, and files with these suffixes (all without), that begin as typed."""
    folder, _, name = typed.rpartition("/")
    shown = folder + "/" if typed.count("/") else ""
    try:
        found = list(os.scandir(os.path.expanduser(shown) or "."))
    except OSError:
        return Completions(cursor)
    wanted = [e for e in found if e.name.startswith(name) and (name.startswith(".") or not e.name.startswith("."))]
    names = [e.name + "/" for e in wanted if e.is_dir()] + [
        e.name for e in wanted if not e.is_dir() and (suffixes is None or e.name.endswith(suffixes))
    ]
    return Completions(cursor - len(name), tuple(Candidate(n, "file") for n in sorted(names)))
