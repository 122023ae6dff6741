"""One captured function made into a SaC function, and the program that it is part of.

In: a Python function with types. Out: a `Program`: the SaC function, those that it calls, captured ones and those that
capture brings along (`support.sac`), as a tree that the checker takes as it takes a parsed one.
"""

from __future__ import annotations

import ast as py
import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sacpy.base.spelling import closest
from sacpy.capture import build, calls, expressions, heads, statements
from sacpy.capture import einsum as _sums  # noqa: F401 - they register themselves
from sacpy.capture import numpy_parts as _parts  # noqa: F401
from sacpy.capture.expressions import MISSING
from sacpy.capture.frame import NOTHING, Frame, Knowledge, Restart, Val
from sacpy.capture.heads import Shaped
from sacpy.capture.jumps import Turned, turned
from sacpy.capture.kinds import Kind, Num, Several
from sacpy.capture.names import escaping, set_names
from sacpy.capture.numbers import converted
from sacpy.capture.places import ARGUMENTS, DIFFER, NOT_SET, UNKNOWN, UNTYPED, refusal
from sacpy.capture.signatures import Head, no_type, outside
from sacpy.lang import ast
from sacpy.lang.deep import deeply
from sacpy.lang.elaborate.freenames import nodes
from sacpy.lang.modules import ModuleInfo, module_info
from sacpy.lang.parser import parse_module
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.nodes import Record, replace

SUPPORT = Path(__file__).with_name("support.sac")
USES = ("Structures", "Numerical")


_HEAD = re.compile(r"^(?!use |/\*).*?(\w+)\(", re.MULTILINE)


@cache
def _support_text() -> str:
    return SUPPORT.read_text(encoding="utf-8")


@cache
def supported() -> dict[str, list[tuple[int, int]]]:
    """The functions that capture brings along, by name: where their instances stand. Blank lines stand between
    functions, and nowhere else; so the file is read without the parser, which sees only what is needed."""
    found: dict[str, list[tuple[int, int]]] = {}
    for part in re.finditer(r"(?:.+\n)+", _support_text()):
        head = _HEAD.search(part[0])
        if head is not None:
            found.setdefault(head[1], []).append(part.span())
    return found


@cache
def support(name: str) -> tuple[ast.FunDef, ...]:
    """The instances of one of them."""
    text, made = _support_text(), []
    for start, end in supported()[name]:
        found = parse_module(Source(str(SUPPORT), re.sub(r"[^\n]", " ", text[:start]) + text[start:end]))
        assert not found.diagnostics, found.diagnostics
        made += [d for d in found.module.definitions if isinstance(d, ast.FunDef)]
    return tuple(made)


class Made(Record):
    """A captured function within a program: its name there, and its head; `definition` when it is finished."""

    name: str
    head: Head
    results: tuple[Shaped, ...] | None
    definition: ast.FunDef | None = None


class Program:
    """A SaC program made of captured functions. `is_library`: whether the library has a function of that name."""

    def __init__(self, is_library: Any) -> None:
        self.made: dict[Any, Made] = {}
        self.supported: dict[str, None] = {}
        self._is_library = is_library
        self._names: set[str] = set()

    def add(self, captured: Any, key: Any = None, work: Callable[[Program, Any, Made], Work] | None = None) -> Made:
        """The SaC function of a captured one. `key`, `work`: of one that becomes several. Raises `SacError` for what
        cannot be captured."""
        key = captured.python if key is None else key
        known = self.made.get(key)
        if known is not None:
            return known
        own: Head = captured.head
        made = self.made[key] = Made(self.name(own.node.name), own, own.results)
        made.definition = (work or Work)(self, captured, made).definition()
        return made

    def name(self, wanted: str) -> str:
        """A name for a function that none has."""
        name = wanted if wanted.isascii() else "f"
        while name in self._names or name.startswith("_") or name in supported() or self._is_library(name):
            name = f"f{name}" if name.startswith("_") else f"{name}_"
        self._names.add(name)
        return name

    def put(self, key: Any, definition: ast.FunDef, own: Head) -> None:
        """Adds a function that somebody else has written."""
        self.made[key] = Made(definition.name, own, own.results, definition)

    def tree(self) -> ast.Module:
        """The whole program."""
        uses = [ast.Interface("use", name, True, (), NOWHERE, NOWHERE) for name in USES]
        own = [m.definition for m in self.made.values() if m.definition is not None]
        brought = [d for name in self.supported for d in support(name)]
        return ast.Module("program", "", None, None, (*uses, *brought, *own), (), (), NOWHERE)

    def info(self) -> ModuleInfo:
        """The same, as the checker takes it."""
        return module_info(self.tree())

    def support(self, name: str) -> str:
        """Brings a function along, with those that it calls."""
        if name not in self.supported:
            self.supported[name] = None
            for definition in support(name):
                named = (getattr(n, "function", None) for n in nodes(definition))
                for other in {q.name for q in named if isinstance(q, ast.QName)}:
                    if other in supported():
                        self.support(other)
        return name


class Work:
    """The capture of one function: what `Frame` asks for."""

    def __init__(self, program: Program, captured: Any, made: Made) -> None:
        self.program = program
        self.captured = captured
        self.made = made
        self.head = made.head
        self.declared = made.results
        self.turned: Turned
        self.outs: list[str] = []

    # ------------------------------------------------------------ the whole

    def definition(self) -> ast.FunDef:
        """The SaC function."""
        return deeply(self._definition)

    def _definition(self) -> ast.FunDef:
        node, places = self.head.node, self.head.places
        self.turned = turned(node, places)
        local = set(self.head.parameters) | set_names(self.turned.body)
        known = Knowledge()
        known.wide |= {n for n, shaped in self.head.parameters.items() if shaped.base == "long" and shaped.axes == ()}
        while True:
            frame = Frame(self, places, lambda name: outside(self.captured.python, name), known, local)
            for name, shaped in self.head.parameters.items():
                frame.env[name] = heads.kind_of(shaped)
                known.places[name] = self.head.spans[name]
            self.prepare(frame)
            kinds = dict(known.kinds)
            try:
                body, values = self._body(frame)
            except Restart:
                continue
            if kinds == known.kinds:
                return self._made(frame, body, values)

    def _body(self, frame: Frame) -> tuple[list[ast.Stmt], tuple[ast.Expr, ...]]:
        self.outs = []
        *first, last = self.turned.body or [py.Pass()]
        body = statements.block(frame, first)
        if isinstance(last, py.Return) and "return" not in frame.env:
            with frame.writing() as before:
                found = self._value(frame, last)
            return [*body, *before], tuple(v.expr for v in found)
        body += statements.one(frame, last)
        if frame.env.get("return") != Num("bool", 0):
            node = self.head.node
            message = f"{node.name} does not return a value on every way"
            raise refusal(frame.span(_last(node)), message, "end it with 'return'", NOT_SET)
        span = frame.span(last)
        return body, tuple(build.var(name, span) for name in self.outs)

    def _made(self, frame: Frame, body: list[ast.Stmt], values: tuple[ast.Expr, ...]) -> ast.FunDef:
        node, places = self.head.node, self.head.places
        span = places.span(node)
        if self.declared is None:
            raise refusal(span, f"{node.name} returns nothing", "return a number or an array", NOT_SET)

        def rename(name: str) -> str:
            taken = frame.locals | set(frame.numbers)
            sac = frame.sac_name(name)
            return f"{sac}_extent" if {name, sac.rstrip("0123456789")} & taken else sac

        params = self.parameters(frame, rename)
        where = places.span(node.returns) if node.returns is not None else span
        results = tuple(build.sac_type(s.base, s.pattern(where, rename), where) for s in self.declared)
        statements_ = (*body, ast.Return(values, places.span(_last(node))))
        doc = py.get_docstring(node) or ""
        name = self.made.name
        return ast.FunDef((), "", "", results, False, name, params, False, (), statements_, (), doc, span, span)

    def prepare(self, frame: Frame) -> None:
        """What else is known when the body begins."""

    def parameters(self, frame: Frame, rename: Callable[[str], str]) -> tuple[ast.Param, ...]:
        """The parameters of the SaC function."""
        return tuple(
            parameter(s.base, s.pattern(frame.known.places[n], rename), frame.sac_name(n), frame.known.places[n])
            for n, s in self.head.parameters.items()
        )

    # ------------------------------------------------------------ results

    def is_result(self, frame: Frame, name: str) -> bool:
        """Whether a variable holds what is returned early."""
        return bool(self.turned.result) and name == self.turned.result

    def result_kind(self, frame: Frame) -> Kind | None:
        """What the function gives, if that is known."""
        if self.declared is None:
            return None
        kinds = tuple(heads.kind_of(s) for s in self.declared)
        return kinds[0] if len(kinds) == 1 else Several(kinds)

    def fitted_result(self, frame: Frame, node: py.expr, found: Val) -> Val:
        """A value as the declared results."""
        if self.declared is None:
            if found.kind == NOTHING and found.items is None:
                raise frame.refused(node, "this gives nothing that could be returned", "", DIFFER)
            if any(item.items is not None for item in found.items or ()):
                raise frame.refused(node, "a tuple within a tuple cannot be returned", "return one tuple", DIFFER)
            kind = _kind(found)
            self.declared = self.made.results = heads.of_kind(kind)
        if len(self.declared) == 1 and found.items is None:
            return self.fitted(frame, node, found, self.declared[0], "the result")
        count = 1 if found.items is None else len(found.items)
        if count != len(self.declared):
            message = f"{self.head.node.name} gives {len(self.declared)} values, and here are {count}"
            raise frame.refused(node, message, "return as many as the head says", DIFFER)
        assert found.items is not None
        items = tuple(self.fitted(frame, node, v, s, "a result") for v, s in zip(found.items, self.declared))
        return items[0] if len(self.declared) == 1 else replace(found, items=items)

    def _value(self, frame: Frame, statement: py.Return) -> list[Val]:
        if statement.value is None or (isinstance(statement.value, py.Constant) and statement.value.value is None):
            message = "a captured function gives a result"
            raise frame.refused(statement, message, "return a number or an array")
        found = self.fitted_result(frame, statement.value, frame.value(statement.value))
        return [found] if found.items is None else list(found.items)

    def returned(self, frame: Frame, statement: py.Return, found: Val) -> list[ast.Stmt]:
        """`return` at the end of one of several ways: what is returned is set here, and returned at the end."""
        items = [found] if found.items is None else list(found.items)
        if not self.outs:
            self.outs = [frame.fresh("r") for _ in items]
        frame.env["return"] = Num("bool", 0)
        return [build.assign(name, v.expr, v.span) for name, v in zip(self.outs, items)]

    def fitted(self, frame: Frame, node: py.AST, found: Val, wanted: Shaped, what: str = "the value") -> Val:
        """A value as one of a type. Raises `SacError` where it is none."""
        kind = heads.kind_of(wanted)
        assert isinstance(kind, Num)
        given = found.kind
        if found.items is not None or given == NOTHING:
            raise frame.refused(node, f"{what} is to be {kind}, and this is {frame.shown(found)}", "", DIFFER)
        if given.rank is not None and kind.rank is not None and given.rank != kind.rank:
            raise frame.refused(node, f"{what} is to be {kind}, and this is {given}", "", DIFFER)
        if given.base == kind.base:
            return found
        both = given.base in ("int", "long", "ubyte", "bool")
        wider = {"double": both, "complex": both or given.base == "double", "long": both, "int": given.base in
                 ("bool", "ubyte") or given.is_small, "float": given.literal}  # fmt: skip
        if wider.get(kind.base) and not (given.base == "bool" and given.rank != 0):
            return converted(frame, found, kind.base)
        help = {"double": "convert it: float(x)", "long": "convert it: int(x)", "bool": "compare it: x != 0"}
        raise frame.refused(node, f"{what} is to be {kind}, and this is {given}", help.get(kind.base, ""), DIFFER)

    def annotation(self, frame: Frame, node: py.expr) -> Shaped:
        """The type in an assignment's annotation."""
        names = {n.id: v for n in py.walk(node) if isinstance(n, py.Name)
                 and (v := outside(self.captured.python, n.id)) is not MISSING}  # fmt: skip
        try:
            found = heads.read(eval(py.unparse(node), {}, names))
        except Exception:
            found = None
        if not found or len(found) != 1:
            raise no_type(frame.span(node))
        return found[0]

    # ------------------------------------------------------------ names and calls

    def support(self, name: str) -> str:
        """The name of a function that capture brings along."""
        return self.program.support(name)

    def resolve(self, frame: Frame, node: py.expr) -> Any:
        """The object that a name, or an attribute of a module, stands for; `MISSING` for a value of the function."""
        if isinstance(node, py.Name):
            if node.id in frame.locals or node.id in frame.renamed:
                return MISSING
            return frame.look(node.id)
        if isinstance(node, py.Attribute):
            of = self.resolve(frame, node.value)
            if of is MISSING or isinstance(of, int | float | complex | list | tuple) or hasattr(of, "__array__"):
                return MISSING
            found = getattr(of, node.attr, MISSING)
            if found is MISSING:
                shown = py.unparse(node.value)
                near = closest(node.attr, dir(of))
                raise frame.refused(node, f"{shown} has no {node.attr}", _near(near), UNKNOWN)
            return found
        return MISSING

    def attribute(self, frame: Frame, node: py.Attribute) -> Val:
        """An attribute of a value."""
        return calls.attribute(frame, node)

    def constant(self, frame: Frame, node: py.AST, value: Any) -> Val:
        """A value that is known now."""
        return expressions.constant(frame, node, value)

    def is_missing(self, found: Any) -> bool:
        """Whether a name stands for nothing outside of the function."""
        return found is MISSING

    def is_captured(self, function: Any) -> bool:
        """Whether it is a captured function."""
        from sacpy.capture.function import Captured

        return isinstance(function, Captured)

    def call(self, frame: Frame, node: py.Call, function: Any) -> Val:
        """A call of a captured function."""
        return function.called(self, frame, node)  # type: ignore[no-any-return]

    def plain_call(self, frame: Frame, node: py.Call, function: Any) -> Val:
        """A call of one by its own name."""
        made = self.program.add(function)
        vals = self.arguments(frame, node, function)
        items = list(zip(vals, made.head.parameters.items()))
        args = [self.fitted(frame, a, v, s, f"{n} of {made.name}").expr for (a, v), (n, s) in items]
        results = made.results
        if results is None:
            message = f"{made.head.node.name} calls itself before it is known what it gives"
            raise frame.refused(node, message, "say it in the head: def f(..) -> float", UNTYPED)
        span = frame.span(node)
        expr = build.call(made.name, args, span)
        kinds = [heads.kind_of(s) for s in results]
        if len(kinds) == 1:
            assert isinstance(kinds[0], Num)
            return Val(expr, kinds[0])
        if frame.pre is None:
            help = "set variables from it in a statement before"
            raise frame.refused(node, "a call with several results cannot stand here", help)
        names = [frame.fresh("t") for _ in kinds]
        targets = tuple(ast.Target(name, (), span, span) for name in names)
        frame.pre.append(ast.Assign(targets, None, expr, span))
        items_ = tuple(Val(build.var(n, span), k) for n, k in zip(names, kinds) if isinstance(k, Num))
        return Val(build.truth(True, span), NOTHING, items_)

    def arguments(self, frame: Frame, node: py.Call, function: Any) -> list[tuple[py.AST, Val]]:
        """The arguments of a call in the order of the parameters, defaults included."""
        signature = inspect.signature(function.python)
        named = {k.arg: k.value for k in node.keywords if k.arg is not None}
        try:
            bound = signature.bind(*node.args, **named)
        except TypeError as error:
            message = f"{function.__name__}: {error}"
            raise frame.refused(node, message, f"it takes {', '.join(signature.parameters)}", ARGUMENTS) from None
        found: list[tuple[py.AST, Val]] = []
        for name, parameter in signature.parameters.items():
            if name in bound.arguments:
                found.append((bound.arguments[name], frame.value(bound.arguments[name])))
            else:
                found.append((node, expressions.constant(frame, node, parameter.default)))
        return found

    def method_statement(self, frame: Frame, node: py.Call) -> list[ast.Stmt] | None:
        """A call for its effect: `a.sort()`, `a.fill(x)`."""
        function = node.func
        if not isinstance(function, py.Attribute) or not isinstance(function.value, py.Name):
            if self.resolve(frame, function) is not MISSING:
                frame.value(node)  # says what is wrong, if something is
            return None
        name = function.value.id
        if name not in frame.locals:
            return None
        if function.attr == "append":
            frame.value(node)
        if function.attr not in ("sort", "fill"):
            return None
        frame.changing(name, node)
        before = frame.read(name, function.value)
        kept = frame.pairs
        if function.attr == "sort":
            sort = py.Call(py.Attribute(py.Name("np"), "sort"), [function.value], node.keywords)
            import numpy as np

            found = calls.NUMPY[np.sort](frame, py.copy_location(sort, node))
        else:
            import numpy as np

            full = py.Call(py.Attribute(py.Name("np"), "full_like"), [function.value, *node.args], node.keywords)
            found = calls.NUMPY[np.full_like](frame, py.copy_location(full, node))
        made = frame.store(name, replace(found, kind=replace(found.kind, ones=before.kind.ones)), frame.span(node))
        frame.pairs = kept
        return made

    # ------------------------------------------------------------ loops

    def is_kept(self, frame: Frame, loop: py.For) -> bool:
        """Whether a loop's variable is set or read elsewhere, so that the loop needs a counter of its own."""
        assert isinstance(loop.target, py.Name)
        return loop.target.id in escaping(tuple(self.turned.body))

    def may_change(self, frame: Frame, loop: py.For, value: Val) -> bool:
        """Whether a loop's body may change what a value is."""
        if not isinstance(value.expr, ast.Name):
            return True
        changed = {frame.sac_name(name) for name in set_names(loop.body)}
        return value.expr.name.name in changed


def parameter(base: str, pattern: tuple[ast.Feature, ...] | None, name: str, span: Span) -> ast.Param:
    """A parameter."""
    return ast.Param(build.sac_type(base, pattern, span), name, False, span)


def _near(names: Sequence[str]) -> str:
    return f"did you mean {names[0]}?" if names else ""


def _kind(found: Val) -> Kind:
    return found.kind if found.items is None else Several(tuple(_kind(item) for item in found.items))


def _last(node: py.FunctionDef) -> py.stmt:
    return node.body[-1]


__all__ = ["Made", "Program", "Work"]
