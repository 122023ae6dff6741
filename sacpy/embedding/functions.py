"""The functions of a program as Python callables.

In: a runner. Out: a `Module`, whose attributes and items are `Function`s. A function takes Python values and NumPy
arrays, finds the instance that suits them, and gives its results; what it finds out about a call it remembers for the
next one with arguments of the same kinds.
"""

from __future__ import annotations

import inspect
import keyword
import textwrap
from collections.abc import Callable, Iterator, Sequence
from math import inf
from time import perf_counter
from typing import Any

from numpy import ndarray

from sacpy.base.spelling import closest
from sacpy.embedding.kinds import Kind, form, kind_of
from sacpy.embedding.plans import Plan, make
from sacpy.embedding.runner import MISSED, Runner, no_gate, plain_error
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.expressions import type_text
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.source import NOWHERE

AROUND = 1e-4  # seconds that the way to a function takes, at most
OFTEN = 0.01  # seconds of such calls from which on the engine is asked about a function, whatever it does
REMEMBERED = 1024  # functions with types and shapes of arguments whose compiled code is called directly


class Function:
    """A SaC function: all instances of a name. Call it with Python values; several results come as a tuple."""

    def __init__(self, runner: Runner, name: ast.QName) -> None:
        self._runner = runner
        self._qname = name
        self._lock = runner.host.lock
        self.gate: Callable[..., Any] = no_gate  # for arguments like those of the last direct call
        self.__name__ = name.name
        self.__qualname__ = str(name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls the instance that takes these arguments. Raises `SacError`."""
        if named:
            args = self._in_order(args, named)
        found = self.gate(*args)
        if found is not MISSED:
            return found
        with self._lock:
            runner = self._runner
            key = (self.__qualname__, *[(a.dtype, a.shape, a.strides) if type(a) is ndarray else form(a) for a in args])
            known = runner.direct.get(key)
            if known is not None:
                self.gate = known.gate
                found = known(args)
                if found is not MISSED:
                    return found
            kinds = tuple([kind_of(a) for a in args])
            plan: Plan | None = runner.plans.get((self.__qualname__, kinds))
            if plan is None:
                return runner.prepared(lambda: self._first(kinds, args))
            return self._called(plan, args, key if known is None or known.is_outgrown(args) else None)

    def _first(self, kinds: tuple[Kind, ...], args: tuple[Any, ...]) -> Any:
        """A call with arguments of kinds that are new."""
        plan = self._runner.plans[self.__qualname__, kinds] = make(self._runner, self._qname, kinds, args)
        return self._called(plan, args, None)

    def _called(self, plan: Plan, args: tuple[Any, ...], key: Any) -> Any:
        """A call that goes the usual way. `key`: what a direct one would be found by, if there is none yet for such."""
        runner = self._runner
        if plan.on_device:
            from sacpy.embedding.device_calls import call, gate

            result = call(runner, plan, args)
            if key is not None and len(runner.direct) < REMEMBERED:
                opened = gate(runner, plan)
                if opened is not None:
                    runner.direct[key] = opened
            return result
        if plan.views or any(type(a) is ndarray and not a.flags.c_contiguous for a in args):
            from sacpy.embedding.strided import call

            found = call(runner, plan, args)
            if found is not MISSED:
                return found
        values = plan.arguments(args)
        start = perf_counter()
        found = runner.run(plan.function, values)
        seconds = perf_counter() - start
        if len(plan.keys) == 1 and runner.evaluator.engine is not None:
            self._tell(plan, seconds)
        if plan.views:
            from sacpy.embedding.strided import awaits_views

            if awaits_views(plan, found):
                key = None
        if key is not None and len(runner.direct) < REMEMBERED:
            from sacpy.embedding.direct import direct

            made = direct(plan, runner, args, values, found, seconds, lambda: len(self._entries()) == 1)
            if made is not None:
                if key in runner.direct:
                    runner.direct[key].close()
                runner.direct[key] = made
        return plan.finish(found)

    def _tell(self, plan: Plan, seconds: float) -> None:
        """Lets the engine know what a call took, if it looks after the function; it does where calls take long."""
        (key,), evaluator = plan.keys, self._runner.evaluator
        called = getattr(plan.function, "sac_called", None) or getattr(evaluator.compiled(key), "sac_called", None)
        if called is not None:
            called(seconds)
            return
        plan.spent += min(seconds, AROUND)
        if plan.spent >= OFTEN:
            plan.spent = -inf
            plan.function = evaluator.watched(key, plan.goes_to)

    def _in_order(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments given by name, put where the instances have them."""
        orders: set[tuple[str, ...]] = set()
        for entry in self._entries():
            names = tuple(p.name for p in entry.definition.params)
            if len(names) == len(args) + len(named) and set(names[len(args) :]) == set(named):
                orders.add(names[len(args) :])
        if len(orders) != 1:
            what = "no instance has" if not orders else "several instances have, in different places,"
            raise plain_error(
                "E0709",
                f"{what} parameters called {', '.join(named)} behind {len(args)} others",
                "give the arguments by position",
                tuple(f"candidate: {h}" for h in self.instances),
            )
        return (*args, *(named[n] for n in next(iter(orders))))

    def _entries(self) -> tuple[Entry, ...]:
        main = self._runner.program.main
        if self._qname.module is not None:
            return main.qualified(self._qname.module, self._qname.name, NOWHERE)
        near, used = main.tiers(self._qname.name)
        return near + used

    @property
    def instances(self) -> tuple[str, ...]:
        """The heads of all instances."""
        with self._lock:
            return tuple(head_text(e.definition) for e in self._entries())

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The comments above the instances; without any, their heads."""
        with self._lock:
            docs = dict.fromkeys(e.definition.doc for e in self._entries() if e.definition.doc)
        return "\n\n".join(docs) or "\n".join(self.instances)

    @property
    def __signature__(self) -> inspect.Signature:
        """The parameters, where all instances agree on their number."""
        with self._lock:
            definitions = [e.definition for e in self._entries()]
        if len({len(d.params) for d in definitions}) != 1 or any(d.varargs for d in definitions):
            return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
        parameters: list[inspect.Parameter] = []
        for i, first in enumerate(definitions[0].params):
            names = {d.params[i].name for d in definitions}
            name = first.name if len(names) == 1 and _is_parameter(first.name, parameters) else f"arg{i + 1}"
            types = dict.fromkeys(type_text(d.params[i].type) for d in definitions)
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if name == first.name else inspect.Parameter.POSITIONAL_ONLY
            if kind is inspect.Parameter.POSITIONAL_ONLY:
                parameters = [p.replace(kind=kind) for p in parameters]
            parameters.append(inspect.Parameter(name, kind, annotation=" | ".join(types)))
        results = dict.fromkeys(", ".join(type_text(t) for t in d.results) or "void" for d in definitions)
        return inspect.Signature(parameters, return_annotation=" | ".join(results))

    def __repr__(self) -> str:
        heads = self.instances
        return (
            f"<SaC function {self.__qualname__}, {len(heads)} instance{'s' * (len(heads) != 1)}:"
            + "".join(f"\n  {h}" for h in heads)
            + ">"
        )


def _is_parameter(name: str, others: Sequence[inspect.Parameter]) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and all(p.name != name for p in others)


def _comments(function: Function, margin: str = "") -> list[str]:
    """The comments above the instances of a function, line by line."""
    docs = dict.fromkeys(e.definition.doc for e in function._entries() if e.definition.doc)
    return [f"{margin}{line.strip()}".rstrip() for doc in docs for line in doc.strip().split("\n")]


class Module:
    """The functions of a SaC program or module. `m.f` is the function f; `m["+"]`, `m["Math::sin"]` any function that
    is visible in it. `diagnostics` of it are in `warnings`."""

    def __init__(self, runner: Runner, title: str, warnings: Sequence[Diagnostic] = ()) -> None:
        self._runner = runner
        self._title = title
        self._functions: dict[str, Function] = {}
        self.warnings = tuple(warnings)

    def __getitem__(self, name: str) -> Function:
        function = self._functions.get(name)
        if function is None:
            with self._runner.host.lock:
                function = self._find(name)
            if function is None:
                raise KeyError(self._missing(name))
            self._functions[name] = function
        return function

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def _find(self, name: str) -> Function | None:
        module, mark, last = name.rpartition("::")
        qname = ast.QName(module if mark else None, last, NOWHERE)
        main = self._runner.program.main
        try:
            entries: Sequence[Entry] = (
                main.qualified(module, last, NOWHERE) if mark else [e for tier in main.tiers(last) for e in tier]
            )
        except SacError:
            return None
        return Function(self._runner, qname) if entries else None

    def _missing(self, name: str) -> str:
        near = closest(name, list(self))
        return f"{self._title} has no function {name}" + (f"; did you mean {near[0]}?" if near else "")

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The comment at the head of the file, and the functions with the comments above them: what `help` shows."""
        from sacpy.documents.library import head_comment

        with self._runner.host.lock:
            functions = [self[name] for name in self]
            texts = [textwrap.indent("\n".join([*f.instances, *_comments(f, "    ")]), "    ") for f in functions]
            head = head_comment(self._runner.program.main.info)
        if any(head == "\n".join(_comments(f)) for f in functions):  # it is about that function
            head = ""
        return "\n\n".join([*filter(None, [head]), *(["Functions", *texts] if texts else ["no functions"])])

    def __iter__(self) -> Iterator[str]:
        """The names of the functions that the program defines or imports."""
        with self._runner.host.lock:
            main = self._runner.program.main
            names = set(main.info.functions)
            for clause in main.info.interfaces:
                if clause.kind == "import":
                    names.update(n for n, _ in clause.symbols) if not clause.all else names.update(
                        self._runner.program.world.scope(clause.module, NOWHERE).info.functions
                    )
            return iter(sorted(n for n in names if main.tiers(n)[0]))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._functions or self._find(name) is not None)

    def __dir__(self) -> list[str]:
        return [n for n in self if n.isidentifier()] + ["warnings"]

    def __repr__(self) -> str:
        heads = [h for name in self for h in self[name].instances]
        return f"<SaC {self._title}" + "".join(f"\n  {h}" for h in heads) + ">"
