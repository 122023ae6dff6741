"""What each stage of the compiler makes of an expression or a function: `:emit`.

In: an engine, and the text behind the command. Out: text. `STAGES` says which stages there are, and what each shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sacpy.lang import ast
from sacpy.lang.core import Function
from sacpy.lang.core_printer import print_function
from sacpy.lang.infer import infer
from sacpy.lang.lattice import show
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source
from sacpy.lang.types import Shape
from sacpy.nodes import Node, field_names
from sacpy.repl.engine import Engine


@dataclass(frozen=True, slots=True)
class Unit:
    """A function of core to show, with the shapes of its arguments where they are known."""

    function: Function
    arguments: Sequence[Shape] | None


def units(engine: Engine, text: str) -> list[Unit]:
    """The instances of a function, if the text is its name (`f`, `Module::f`), else the expression. Raises
    `SacError`."""
    module, _, name = text.strip().rpartition("::")
    scope = engine.program.main
    entries = (
        scope.qualified(module, name, engine.definitions.span)
        if module
        else scope.own(name)
        if name not in engine.variables
        else ()
    )
    keys = [engine.program.key(e, ()) for e in entries if not e.definition.is_generic and e.definition.body is not None]
    if keys:
        return [Unit(engine.program.function(key), None) for key in keys]
    entered, shapes = engine.function_of(text, ":emit")
    return [Unit(engine.program.function(entered.key), shapes)]


def tokens(engine: Engine, text: str) -> str:
    """The tokens behind macros, with their places."""
    rows = [
        (f"{t.span.line}:{t.span.column}", t.kind, t.text, "" if t.value is None else str(t.value))
        for t in tokenize(Source("<input>", text), macros=engine.macros).tokens
        if t.kind != "end"
    ]
    return "\n".join(f"{place:<6} {kind:<7} {word}{'  ' if value else ''}{value}" for place, kind, word, value in rows)


def tree(engine: Engine, text: str) -> str:
    """The syntax tree."""
    own = engine.defined(text.strip()) if text.strip() not in engine.variables else []
    nodes: Sequence[object] = own or [engine.expression(text, ":emit")]
    return "\n".join(line for node in nodes for line in _tree(node))


def _tree(node: object, margin: str = "", name: str = "") -> list[str]:
    head = f"{margin}{name}{': ' if name else ''}"
    if isinstance(node, ast.QName) or not isinstance(node, Node | tuple):
        return [f"{head}{node}"]
    if isinstance(node, tuple):
        if all(isinstance(n, str | int) for n in node):
            return [f"{head}{', '.join(map(str, node))}"]
        return [line for n in node for line in _tree(n, margin, name)]
    lines = [f"{head}{type(node).__name__}"]
    for field in field_names(node):
        value = getattr(node, field)
        if not field.endswith("span") and value not in (None, (), ""):
            lines += _tree(value, margin + "  ", field)
    return lines


def core(engine: Engine, text: str) -> str:
    """The core language: operands are atoms, calls name their candidates."""
    return "\n".join(print_function(u.function).rstrip() for u in units(engine, text)).replace("_MAIN::", "")


def types(engine: Engine, text: str) -> str:
    """What is known of each variable's shape before it runs."""
    texts = []
    for unit in units(engine, text):
        found = infer(unit.function, unit.arguments, engine.program)
        rows = {n: show(t.base, t.shape, value=True) for n, t in found.types.items()}
        width = max(map(len, rows), default=0)
        texts.append("\n".join(f"{n:<{width}}  {t}" for n, t in rows.items()))
    return "\n\n".join(texts)


def python(engine: Engine, text: str) -> str:
    """The Python that the interpreter runs."""
    return "\n".join(engine.evaluator.source(u.function.signature.key).rstrip() for u in units(engine, text))


def graph(engine: Engine, text: str) -> str:
    """The compiler's graph, behind its passes."""
    return _compiled(engine, text, "graph")


def memory(engine: Engine, text: str) -> str:
    """Where its arrays lie."""
    return _compiled(engine, text, "memory")


def schedule(engine: Engine, text: str) -> str:
    """How its loops run, and why."""
    return _compiled(engine, text, "schedule")


def llvm(engine: Engine, text: str) -> str:
    """The LLVM IR."""
    return _compiled(engine, text, "llvm")


def asm(engine: Engine, text: str) -> str:
    """The machine's instructions."""
    return _compiled(engine, text, "asm")


def kernel(engine: Engine, text: str) -> str:
    """The kernel programs of its with-loops."""
    return _compiled(engine, text, "kernel")


def nvvm(engine: Engine, text: str) -> str:
    """The kernels as NVVM IR."""
    return _compiled(engine, text, "nvvm")


def ptx(engine: Engine, text: str) -> str:
    """The kernels as PTX."""
    return _compiled(engine, text, "ptx")


def sass(engine: Engine, text: str) -> str:
    """The kernels as machine code of a GPU."""
    return _compiled(engine, text, "sass")


def _compiled(engine: Engine, text: str, stage: str) -> str:
    """What the compiler makes of an expression for the arguments at hand; of a function for those that it was called
    with, else for what it declares."""
    from sacpy.jit.failures import Unsupported
    from sacpy.jit.kinds import Detail, Kind, kind_of
    from sacpy.jit.reports.stages import emission
    from sacpy.jit.run.compiler import emitted
    from sacpy.jit.run.regions import Regions

    options = engine.workspace.options
    own = units(engine, text)
    if own[0].arguments is None:
        seen: list[tuple[str, Kind]] = [
            (site.key, kind)
            for site in (engine.compiler.entered() if engine.compiler is not None else ())
            for kind in site.versions
        ]
        return emission(engine.program, stage, text.strip().rpartition("::")[2], options, seen).rstrip("\n")
    signature = own[0].function.signature
    shapes = [tuple(e or 0 for e in s.extents or ()) for s in own[0].arguments]
    kind = kind_of(shapes, [slot.base for slot in signature.params], Detail.EXTENTS)
    try:
        return emitted(Regions(engine.program), signature.key, kind, options, stage).rstrip("\n")
    except Unsupported as refusal:
        return f"stays interpreted: {refusal.reason}"


STAGES: dict[str, Callable[[Engine, str], str]] = {
    "tokens": tokens,
    "tree": tree,
    "core": core,
    "types": types,
    "python": python,
    "graph": graph,
    "memory": memory,
    "schedule": schedule,
    "llvm": llvm,
    "asm": asm,
    "kernel": kernel,
    "nvvm": nvvm,
    "ptx": ptx,
    "sass": sass,
}
