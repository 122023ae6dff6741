"""The tests in files.

In: files and folders, each perhaps with the name of one of its functions (`FILE::NAME`). Out: cases, in the order of
the files and of the lines in them: the examples in the comments of functions, functions called `test_*`, and programs
with their expected output beside them. What is wrong with a file is a case that gives an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from sacpy.base.collection import without_collection
from sacpy.documents.examples import SHOWING, examples_program, fits, function_text, run_function
from sacpy.documents.library import Example, split_comment
from sacpy.interp.limits import Watchdog
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.elaborate.interactive import extended
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.files import sac_files
from sacpy.lang.modules import ModuleInfo, parse_file, parse_source
from sacpy.lang.source import Source
from sacpy.testing import functions, programs
from sacpy.testing.cases import Case, Outcome
from sacpy.testing.functions import Properties
from sacpy.workspace import Workspace

PREFIX = "test_"
_EXAMPLES = "example_of_the_comments_"
_WORD = re.compile(r"\s*(\(|\)|[^\s()]+)")


def collected(
    paths: Sequence[str], workspace: Workspace, properties: Properties, optioned: programs.Optioned
) -> Iterator[Case]:
    """The tests of files and folders. `optioned`: gives a workspace the options that a program names. Raises `SacError`
    for a path that is not there (E0303)."""
    for text in paths:
        path, _, name = text.partition("::")
        for file in sac_files([Path(path)]):
            yield from (case for case in _cases(file, workspace, properties, optioned) if name in ("", _own(case.name)))


def _own(name: str) -> str:
    """The name of the function that a case is about."""
    return name.partition(" ")[0]


def _cases(file: Path, workspace: Workspace, properties: Properties, optioned: programs.Optioned) -> list[Case]:
    """The tests of a file, by their lines."""
    try:
        info = parse_file(file, workspace.include_path, workspace.defines, search=workspace.search)
    except SacError as error:
        if not file.is_file():
            raise
        return [Case(file, "", 1, _always(_wrong(error)))]
    cases = [*_examples(file, info, workspace), *_functions(file, info, workspace, properties)]
    cases.sort(key=lambda case: case.line)
    expected = programs.expectation(file) if info.kind == "program" and "main" in info.functions else None
    if expected is not None:
        cases.append(Case(file, "main", _main_line(info), _program(file, expected, optioned)))
    return cases


def _main_line(info: ModuleInfo) -> int:
    return next((d.span.line for d in info.definitions("main")), 1)


def _program(file: Path, expected: Path, optioned: programs.Optioned) -> Callable[[Workspace], Outcome]:
    return lambda workspace: programs.tried(file, expected, workspace, optioned)


def _always(outcome: Outcome) -> Callable[[Workspace], Outcome]:
    return lambda workspace: outcome


def _wrong(error: SacError) -> Outcome:
    first = error.diagnostics[0]
    return Outcome("error", f"{first.code}: {first.message}", render_text(error.diagnostics))


# ---------------------------------------------------------------- functions


def _functions(file: Path, info: ModuleInfo, workspace: Workspace, properties: Properties) -> Iterator[Case]:
    found = [
        d for name in info.functions if name.startswith(PREFIX) for d in info.definitions(name) if d.body is not None
    ]
    if not found:
        return

    @cache
    def program() -> ElaboratedProgram:
        elaborated, said = workspace.check(file)
        mistakes = [d for d in said if d.severity == "error"]
        if mistakes:
            raise SacError(*mistakes)
        return elaborated

    for definition in found:
        yield Case(file, definition.name, definition.span.line, _function(program, definition, properties))


def _function(
    program: Callable[[], ElaboratedProgram], definition: ast.FunDef, properties: Properties
) -> Callable[[Workspace], Outcome]:
    def run(workspace: Workspace) -> Outcome:
        try:
            elaborated = program()
        except SacError as error:
            return _wrong(error)
        if definition.is_generic:
            message = f"{definition.name} is generic, so nobody knows for which types it is to be tried"
            help = "write a test for each type that matters"
            return _wrong(SacError(Diagnostic("E0775", message, definition.name_span, help=help)))
        entries = [e for e in elaborated.main.own(definition.name) if e.definition.span.line == definition.span.line]
        return functions.tried(elaborated, elaborated.key(entries[0], ()), workspace, properties)

    return run


# ---------------------------------------------------------------- examples


def _examples(file: Path, info: ModuleInfo, workspace: Workspace) -> Iterator[Case]:
    found = [
        (definition, examples)
        for name in info.functions
        for definition in info.definitions(name)
        if (examples := split_comment(definition.doc)[1])
    ]
    if not found:
        return
    comments = [examples for _, examples in found]
    prefix = "example" if info.kind != "program" else _EXAMPLES

    @cache
    def program() -> ElaboratedProgram:
        if info.kind != "program":
            return examples_program(info.name, comments, workspace.loader(file.resolve().parent))
        return _beside(file, info, comments, workspace)

    for i, (definition, examples) in enumerate(found):
        name = f"{definition.name} (example{'s' * (len(examples) > 1)})"
        yield Case(file, name, definition.span.line, _comment(program, f"{prefix}{i}", examples))


@without_collection()
def _beside(
    file: Path, info: ModuleInfo, comments: Sequence[Sequence[Example]], workspace: Workspace
) -> ElaboratedProgram:
    """A program with functions for examples that see what it sees."""
    loader = workspace.loader(file.resolve().parent)
    loader.modules["Example"] = parse_source(SHOWING)
    texts = "".join(function_text(f"{_EXAMPLES}{i}", examples) for i, examples in enumerate(comments))
    return elaborate(extended(info, parse_source(Source(f"<examples of {file.name}>", texts))), loader)


def _comment(
    program: Callable[[], ElaboratedProgram], name: str, examples: Sequence[Example]
) -> Callable[[Workspace], Outcome]:
    def run(workspace: Workspace) -> Outcome:
        def call(elaborated: ElaboratedProgram, key: str, world: World) -> None:
            evaluator = workspace.evaluator(elaborated, world)
            try:
                workspace.guard(Watchdog(), lambda: evaluator.call(key, ()))
            except SacError as error:
                if error.diagnostics[0].code == functions.INTERRUPTED:
                    raise KeyboardInterrupt from None
                raise

        try:
            elaborated = program()
            with programs.scratch():
                outputs = run_function(elaborated, name, examples, call)
        except SacError as error:
            return _wrong(error)
        wrong = [
            "\n".join([f">>> {example.code}", "should print:", *example.output, "prints:", *output])
            for example, output in zip(examples, outputs, strict=True)
            if not fits(output, example.output)
        ]
        if not wrong:
            return Outcome(seen=outputs)
        summary = f"{len(wrong)} of {len(examples)} example{'s' * (len(examples) != 1)} wrong"
        return Outcome("failed", summary, "\n\n".join(wrong), seen=outputs)

    return run


# ---------------------------------------------------------------- selection


def selection(text: str) -> Callable[[Case], bool]:
    """The cases that an expression of `-k` means: words that are parts of names, with `and`, `or`, `not` and
    parentheses; capitals do not matter. Raises `ValueError` for what is no such expression."""
    words = _WORD.findall(text)
    at = 0

    def peek() -> str:
        return words[at] if at < len(words) else ""

    def advance() -> str:
        nonlocal at
        word = peek()
        at += 1
        return word

    def either() -> Callable[[str], bool]:
        left = both()
        while peek() == "or":
            advance()
            left = _or(left, both())
        return left

    def both() -> Callable[[str], bool]:
        left = one()
        while peek() == "and":
            advance()
            left = _and(left, one())
        return left

    def one() -> Callable[[str], bool]:
        word = advance()
        if word == "not":
            inner = one()
            return lambda name: not inner(name)
        if word == "(":
            inner = either()
            if advance() != ")":
                raise ValueError("a parenthesis is not closed")
            return inner
        if word in ("", ")", "and", "or"):
            raise ValueError(f"a word is missing before {word}" if word else "a word is missing at the end")
        return lambda name: word.lower() in name

    chosen = either()
    if peek():
        raise ValueError(f"and, or or not is missing before {peek()}")
    return lambda case: chosen(case.id.lower())


def _and(a: Callable[[str], bool], b: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda name: a(name) and b(name)


def _or(a: Callable[[str], bool], b: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda name: a(name) or b(name)


__all__ = ["collected", "selection"]
