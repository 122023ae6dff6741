"""`sacpy test`: the examples in the comments of a program or module, run and compared.

In: a file. Out: for each comment with examples what came of them. An example is a line that begins with `>>>`, as
`documentation` describes it; below it stands what it prints and the values of its expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sacpy.documents.examples import SHOWING, fits, function_text, run_examples, run_functions
from sacpy.documents.library import Example, split_comment
from sacpy.lang import ast
from sacpy.lang.elaborate.interactive import extended
from sacpy.lang.elaborate.program import elaborate
from sacpy.lang.modules import ModuleInfo, parse_file, parse_source
from sacpy.lang.source import Source
from sacpy.nodes import Node
from sacpy.workspace import Workspace

_PREFIX = "example_of_the_comments_"


class Tried(Node):
    """The examples of one comment: the function it is above, its line, how many there are, and those that do not print
    what they should, in words."""

    name: str
    line: int
    count: int
    wrong: tuple[str, ...]


def examples_of(info: ModuleInfo, name: str = "") -> Iterator[tuple[ast.FunDef, tuple[Example, ...]]]:
    """The functions of a module with their examples, in order; those of one name, if one is given."""
    for function in info.functions:
        for definition in info.definitions(function) if name in ("", function) else ():
            examples = split_comment(definition.doc)[1]
            if examples:
                yield definition, examples


def tried(path: Path, workspace: Workspace, name: str = "") -> list[Tried]:
    """What comes of the examples of a file, or of one of its functions. Raises `SacError` for a file with mistakes."""
    program, _ = workspace.load(path) if _is_program(path, workspace) else (None, ())
    info = program.main.info if program is not None else parse_file(path, workspace.include_path, workspace.defines)
    found = list(examples_of(info, name))
    comments = [examples for _, examples in found]
    if program is None:
        outputs = run_examples(info.name, comments, workspace.loader(path.parent))
    else:
        outputs = _run_in(info, comments, workspace, path)
    return [
        Tried(definition.name, definition.span.line, len(examples), tuple(_wrong(examples, output)))
        for (definition, examples), output in zip(found, outputs, strict=True)
    ]


def _is_program(path: Path, workspace: Workspace) -> bool:
    return parse_file(path, workspace.include_path, workspace.defines, search=workspace.search).kind == "program"


def _run_in(
    info: ModuleInfo, comments: Sequence[Sequence[Example]], workspace: Workspace, path: Path
) -> list[list[list[str]]]:
    """What examples print that see what a program sees."""
    loader = workspace.loader(path.parent)
    loader.modules["Example"] = parse_source(SHOWING)
    functions = "".join(function_text(f"{_PREFIX}{i}", examples) for i, examples in enumerate(comments))
    program = elaborate(extended(info, parse_source(Source(f"<examples of {path.name}>", functions))), loader)
    return run_functions(program, _PREFIX, comments)


def _wrong(examples: Sequence[Example], outputs: Sequence[Sequence[str]]) -> Iterator[str]:
    for example, output in zip(examples, outputs, strict=True):
        if not fits(output, example.output):
            yield "\n".join([f">>> {example.code}", "should print:", *example.output, "prints:", *output])


def report(path: Path, found: Sequence[Tried]) -> str:
    """What came of the examples of a file, as text."""
    lines: list[str] = []
    for one in found:
        right = one.count - len(one.wrong)
        lines.append(f"{path}:{one.line}: {one.name}: {right} of {one.count} example{'s' * (one.count != 1)} right")
        lines += [f"    {line}".rstrip() for text in one.wrong for line in text.split("\n")]
    return "".join(f"{line}\n" for line in lines) or f"{path}: no examples\n"
