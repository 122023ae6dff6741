"""What each stage of sacpy makes of the program that `docs/how-it-works.md` follows.

In: the document. Out: the same text with the block behind each `<!-- stage: NAME -->` as it is now. The first `sac`
block of the document is the program; a stage that names a function looks for it in the `sac` block before it, then in
the program.

`python -m tests.docs.stages` brings the document up to date.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sacpy.interp import evaluator
from sacpy.interp.runtime.calls import Copies
from sacpy.interp.world import World
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.memory_plan import memory_text
from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise
from sacpy.jit.run.regions import Regions
from sacpy.jit.schedule.loops import Written
from sacpy.jit.schedule.schedule_printer import schedule_text
from sacpy.jit.specialise import Argument, specialise
from sacpy.lang import ast
from sacpy.lang.core_printer import print_function
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.infer import infer
from sacpy.lang.lattice import show
from sacpy.lang.parser import parse_module
from sacpy.lang.patterns import declared_shapes
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source, Span
from sacpy.lang.types import known
from sacpy.nodes import Node, field_names
from sacpy.workspace import Workspace
from tests.docs import gpu_stages
from tests.tools import ROOT, run_file

DOCUMENT = ROOT / "docs/how-it-works.md"
STAGE = re.compile(r"^<!-- stage: (.*?) -->\n```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAC = re.compile(r"^```sac\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = "rod.sac"


def updated(text: str) -> str:
    """The document with all outputs as they are now."""
    program = SAC.findall(text)[0]

    def output(match: re.Match[str]) -> str:
        before = SAC.findall(text[: match.start()])[-1]
        stage, _, argument = match[1].partition(" ")
        return f"<!-- stage: {match[1]} -->\n```{match[2]}\n{STAGES[stage](before, program, argument)}```"

    return STAGE.sub(output, text)


# ---------------------------------------------------------------- text, tokens, tree


def tokens(_: str, program: str, line: str) -> str:
    """The tokens of one line, with their places; those of a macro with the place of its definition."""
    rows: list[str] = []
    for token in tokenize(Source(NAME, program)).tokens:
        if token.span.line == int(line):
            value = "" if token.value is None else f"  {token.value}"
            macro = f"  from the macro at {_place(token.span.macro)}" if token.span.macro is not None else ""
            rows.append(f"{_place(token.span):<6} {token.kind:<7} {token.text}{value}{macro}")
    return _lines(rows)


def _place(place: Any) -> str:
    span = place if isinstance(place, Span) else place.span if hasattr(place, "span") else place.definition
    return f"{span.line}:{span.column}"


def tree(_: str, program: str, words: str) -> str:
    """The tree of the statement that is written so."""
    module = parse_module(Source(NAME, program)).module
    for definition in module.definitions:
        for statement in (definition.body or ()) if isinstance(definition, ast.FunDef) else ():
            if statement.span.text.startswith(words):
                return _lines(_tree(statement))
    raise AssertionError(f"no statement {words}")


def _tree(node: object, margin: str = "", name: str = "") -> list[str]:
    head = f"{margin}{name}{': ' if name else ''}"
    if isinstance(node, ast.QName):
        return [f"{head}{node}"]
    if isinstance(node, Node):
        lines = [f"{head}{type(node).__name__}"]
        for field in field_names(node):
            value = getattr(node, field)
            if not field.endswith("span") and value not in (None, ()):
                lines += _tree(value, margin + "  ", field)
        return lines
    if isinstance(node, tuple):
        if all(isinstance(n, str | int) for n in node):
            return [f"{head}{', '.join(map(str, node))}"]
        return [line for n in node for line in _tree(n, margin, name)]
    return [f"{head}{node!r}" if not isinstance(node, str) else f"{head}{node}"]


# ---------------------------------------------------------------- core and inference


def core(before: str, whole: str, name: str) -> str:
    """A function in core."""
    program = _with(name, before, whole)
    key = _key(program, name)
    return print_function(program.function(key)).replace("_MAIN::", "")


def types(before: str, whole: str, name: str) -> str:
    """What inference knows of a function's variables; `NAME with SHAPE..` for a call with arguments of these shapes."""
    name, _, shapes = name.partition(" with ")
    program = _with(name, before, whole)
    arguments = [known(tuple(int(e) for e in s.split(",") if e)) for s in re.findall(r"\[(.*?)\]", shapes)] or None
    found = infer(program.function(_key(program, name)), arguments, program)
    rows = {n: show(t.base, t.shape, value=True) for n, t in found.types.items()}
    width = max(map(len, rows))
    return _lines([f"{n:<{width}}  {t}" for n, t in rows.items()])


def _with(name: str, before: str, whole: str) -> ElaboratedProgram:
    return _loaded(before if "::" in name or f" {name}(" in before else whole)


def _loaded(text: str) -> ElaboratedProgram:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_text(text, encoding="utf-8")
        program, _ = Workspace().check(path)
    return program


def _key(program: ElaboratedProgram, name: str) -> str:
    if "::" not in name:
        return program.key(program.main.own(name)[0], ())
    for key in program.user_keys([]):
        program.function(key)  # so that what it calls is known
    return name


# ---------------------------------------------------------------- the compiler


def region(before: str, whole: str, name: str) -> str:
    """A function in core as the interpreter runs it under the engine: its regions outlined."""
    program = _with(name, before, whole)
    return print_function(Regions(program).function(_key(program, name))).replace("_MAIN::", "")


def specialised(before: str, whole: str, name: str) -> str:
    """The graph of a function for arguments of its declared ranks, before the passes."""
    return print_unit(_unit(before, whole, name))


def graph(before: str, whole: str, name: str) -> str:
    """The same after the passes."""
    return print_unit(optimise(_unit(before, whole, name), Options(verify=True)))


def memory(before: str, whole: str, name: str) -> str:
    """Where the arrays lie."""
    options = Options(verify=True)
    return memory_text(optimise(_unit(before, whole, name), options, host=True), options)


def schedule(before: str, whole: str, name: str) -> str:
    """How the loops run."""
    options = Options(verify=True, threads=2)
    unit = optimise(_unit(before, whole, name), options, host=True)
    written: Written = {}
    lower(unit, options, written=written)
    return schedule_text(unit, written)


def chain(_: str, __: str, words: str) -> str:
    """The spaces that a mapping goes through."""
    return gpu_stages.chain(words)


def launches(before: str, whole: str, words: str) -> str:
    """`NAME EXTENT`: what is launched for a vector of so many elements."""
    return gpu_stages.launches(*_mapped(before, whole, words))


def kernel(before: str, whole: str, words: str) -> str:
    """`NAME EXTENT`: the first kernel."""
    return gpu_stages.kernel(*_mapped(before, whole, words))


def nvvm(before: str, whole: str, words: str) -> str:
    """`NAME EXTENT`: the first kernel as NVVM IR."""
    return gpu_stages.nvvm(*_mapped(before, whole, words))


def without_barrier(before: str, whole: str, words: str) -> str:
    """`NAME EXTENT`: what check mode says of the first kernel without its first barrier."""
    return gpu_stages.without_barrier(*_mapped(before, whole, words))


def host(before: str, whole: str, name: str) -> str:
    """The host's part of a function for a device."""
    return gpu_stages.host(_optimised(before, whole, name))


def moved(before: str, whole: str, words: str) -> str:
    """`NAME EXTENT ROUNDS`: what a call moves."""
    return gpu_stages.moved(*_mapped(before, whole, words))


def _mapped(before: str, whole: str, words: str) -> tuple[Any, ...]:
    """The graph of the function that is named, and the numbers behind the name."""
    name, *numbers = words.split()
    return _optimised(before, whole, name), *map(int, numbers)


def _optimised(before: str, whole: str, name: str) -> Unit:
    """The graph of a function, after the passes. What the `sac` block before defines is added to the program."""
    if f" {name}(" not in whole:
        whole = whole.replace("int main()", f"{before}\nint main()")
    return optimise(_unit("", whole, name), Options(verify=True))


def _unit(before: str, whole: str, name: str) -> Unit:
    program = _with(name, before, whole)
    key = _key(program, name)
    shapes = declared_shapes(program.signature(key).params)
    return specialise(
        program,
        key,
        [Argument(slot.base, shape.extents or ()) for slot, shape in zip(program.signature(key).params, shapes)],
    )


# ---------------------------------------------------------------- running


def python(before: str, whole: str, name: str) -> str:
    """The Python that the interpreter generates for a function, the names of constants made short."""
    sources: dict[str, str] = {}

    def recorded(source: str, filename: str, *rest: Any) -> Any:
        sources[filename] = source
        return compile(source, filename, *rest)

    evaluator.compile = recorded  # type: ignore[attr-defined]
    try:
        program = _with(name, before, whole)
        evaluator.Evaluator(program, World.captured()).call(program.main_key(), ())
    finally:
        del evaluator.compile  # type: ignore[attr-defined]
    (text,) = (s for f, s in sources.items() if re.match(rf"<sac:_MAIN::{name}/", f))
    names: dict[str, str] = {}
    return (
        re.sub(r"\b_k_f\w*?_(\d+)\b", lambda m: names.setdefault(m[0], f"_k{len(names) + 1}"), text).strip("\n") + "\n"
    )


def run(before: str, _: str, __: str) -> str:
    """What the program prints, errors included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_text(before, encoding="utf-8")
        result = run_file(path)
        return _lines(
            line.rstrip()
            for line in (result.stdout.decode() + result.stderr).replace(f"{folder}/", "").rstrip("\n").split("\n")
        )


def changed(_: str, program: str, change: str) -> str:
    """What the program prints after `TEXT -> TEXT`."""
    old, new = change.split(" -> ")
    assert old in program
    return run(program.replace(old, new), "", "")


def copies(before: str, _: str, __: str) -> str:
    """How many arrays were copied for updates while the program ran."""
    program = _loaded(before)
    Copies.count = 0
    evaluator.Evaluator(program, World.captured()).call(program.main_key(), ())
    return f"arrays copied for an update: {Copies.count}\n"


def checked(_: str, program: str, change: str) -> str:
    """What `sacpy check` says after `TEXT -> TEXT`."""
    old, new = change.split(" -> ")
    assert old in program
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        path.write_text(program.replace(old, new), encoding="utf-8")
        try:
            _, found = Workspace().check(path)
        except SacError as error:
            found = list(error.diagnostics)
        return _lines(line.rstrip() for line in render_text(found).replace(f"{folder}/", "").rstrip("\n").split("\n"))


def _lines(rows: Any) -> str:
    return "".join(f"{row}\n" for row in rows)


STAGES: dict[str, Callable[[str, str, str], str]] = {
    f.__name__: f
    for f in (
        tokens,
        tree,
        core,
        types,
        python,
        region,
        specialised,
        graph,
        memory,
        schedule,
        chain,
        launches,
        kernel,
        nvvm,
        without_barrier,
        host,
        moved,
        run,
        changed,
        copies,
        checked,
    )
}

if __name__ == "__main__":
    DOCUMENT.write_text(updated(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
