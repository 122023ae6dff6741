"""Runs core programs: `Evaluator(program).call(key, args)`.

In: a `core.Program`, and values. Out: values; or a `SacError` with the place and the SaC call stack. Each function
becomes generated Python (`codegen`) when it is first called: until then its name in the shared namespace is a stub that
generates it and takes its own place. With an engine that waits for the first call that is interpreted: what runs
natively from the beginning is never generated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sacpy.base.clocks import thread_time
from sacpy.interp import arithmetic, versions
from sacpy.interp.callsites import CallSites
from sacpy.interp.engine import Engine, Left, is_region, owner
from sacpy.interp.errors import CallFault, Exit, Fault, Stopped
from sacpy.interp.faults import PART, PREFIX, Place, to_sac_error
from sacpy.interp.limits import calmly
from sacpy.interp.ownership import Ownership, protocol
from sacpy.interp.prepare import Preparer
from sacpy.interp.runtime import calls, structure, withloops
from sacpy.interp.values import Value, shape_of, vector
from sacpy.lang.core import Function, Program, Signature
from sacpy.lang.deep import Room
from sacpy.lang.diagnostics import SacError
from sacpy.lang.patterns import declared_shapes
from sacpy.lang.types import Shape

if TYPE_CHECKING:
    from sacpy.interp.codegen import Codegen
    from sacpy.interp.emitter import Emitter
    from sacpy.interp.facts import Facts
    from sacpy.interp.tracing import Tracer
    from sacpy.interp.twins import Twin

RUNTIME: dict[str, Any] = {
    **arithmetic.HELPERS, **withloops.HELPERS,
    "ndarray": np.ndarray, "_array": np.array, "_vector": vector,
    "_shape_of": shape_of, "_shape": structure.shape, "_dim": structure.dim, "_sel": structure.sel,
    "_set_at": structure.set_at, "_updated": structure.updated,
    "_stack": structure.stack, "_bad_index": structure.bad_index, "_to_index": structure.to_index, "_copy": calls.copy,
    "_owned": calls.owned, "_violation": calls.violation, "_condition_failed": calls.condition_failed,
    "_check": calls.check,
    "_truth": calls.truth, "_need_rank": calls.need_rank, "_is_fresh": calls.is_fresh, "_Left": Left,
}  # fmt: skip

T = TypeVar("T")
Bindings = Callable[[Signature], "Callable[..., Any] | None"]


def no_binding(signature: Signature) -> None:
    """Nothing is bound."""


class Evaluator:
    """Runs the functions of one program. `depth_limit` bounds the depth of Python frames; `always_copy` turns in-place
    updates off (for tests); `bindings` finds the Python function that stands for an external one, asked before the
    library's. `engine` decides what runs natively; `strict_fp`: floating-point numbers are added in the order the
    program says, in the library too. `tracer`: is told what those functions of an `ElaboratedProgram` do that it
    wants."""

    def __init__(
        self,
        program: Program,
        world: Any = None,
        *,
        depth_limit: int = 100_000,
        always_copy: bool = False,
        bindings: Bindings = no_binding,
        engine: Engine | None = None,
        strict_fp: bool = False,
        tracer: Tracer | None = None,
    ) -> None:
        self.program = program if engine is None else engine.prepared(program)
        self.engine = engine
        self.strict_fp = strict_fp
        self.world = world
        self.depth_limit = depth_limit
        self.always_copy = always_copy
        self.bindings = bindings
        self.places: dict[str, Place] = {}
        self.names: dict[str, str] = {}
        self.globals: dict[str, Value] = {}
        self.starting: set[str] = set()
        self.generating = 0.0  # seconds of its thread spent on generating functions
        self.generating_since = 0.0  # the same by the clock, with what the machine did meanwhile
        self.namespace: dict[str, Any] = {
            **RUNTIME,
            "_world": world,
            "_globals": self.globals,
            "_global_get": self._global_get,
        }
        self.sites = CallSites(self)
        self.preparer = Preparer(self.program)
        self.tracer = tracer
        if tracer is not None:
            from sacpy.interp import tracing

            self.borders = tracing.Borders(program)
            self.preparer.apart = tracing.is_users
            self.namespace |= tracing.hooks(tracer)
        self.namespace["_inferrer"] = self.preparer.inferrer

    def begin_in(self, world: Any) -> None:
        """From now on functions run in another world, which allows the same; global objects are as in the
        beginning."""
        self.world = self.namespace["_world"] = world
        self.globals.clear()

    def call(self, key: str, args: Sequence[Value]) -> tuple[Value, ...]:
        """Calls a function; its results, the new values of reference parameters included. Raises `SacError`."""
        args = tuple(args)
        try:
            found = self.sites.briefly(key, args)
        except BaseException as error:
            raise to_sac_error(error, self.places) from error
        return self.guarded(lambda: self.sites.enter(key, args)) if found is None else found

    def call_giving(
        self, key: str, args: Sequence[Value], given: Sequence[bool]
    ) -> tuple[tuple[Value, ...], tuple[bool, ...]]:
        """The same, giving away the arguments for which `given` is true: nobody else may hold them, and they may be
        overwritten. With each result, whether certainly nobody else holds it."""
        return self.guarded(lambda: self.sites.enter_giving(key, tuple(args), given))

    def close(self) -> None:
        """Lets go of what it has made, which is in cycles and otherwise gone only when Python searches for those.
        Nothing of it may be running, nor run again."""
        self.namespace.clear()
        self.places.clear()
        del self.sites

    def guarded(self, action: Callable[[], T]) -> T:
        """Does something that runs generated functions: with room for recursion, without NumPy's warnings, and with
        exceptions explained. Raises `SacError`."""
        try:
            with Room(self.depth_limit), np.errstate(all="ignore"):
                return action()
        except (SacError, Exit):
            raise
        except Stopped as stopped:
            # (a name for any of this would hold the frames, this one among them, until Python searches for cycles)
            raise calmly(to_sac_error, stopped.fault().with_traceback(stopped.__traceback__), self.places) from None
        except BaseException as error:
            raise calmly(to_sac_error, error, self.places) from (error.__cause__ if isinstance(error, Fault) else error)

    # ---- functions

    def python_name(self, key: str) -> str:
        """The name of a function in the shared namespace; makes a stub for a new one."""
        name = self.names.get(key)
        if name is None:
            part = PART if is_region(key) else ""
            name = self.names[key] = (
                f"f{len(self.names)}_"
                f"{''.join(c if c.isalnum() and c.isascii() else '_' for c in key.rpartition('::')[2])[:40]}{part}"
            )
            self.namespace[name] = self._stub(key, name)
        return name

    def _stub(self, key: str, name: str) -> Callable[..., Any]:
        def stub(*args: Value, **options: Any) -> Any:
            return self.compiled(key)(*args, **options)

        stub.sac_stub = True  # type: ignore[attr-defined]
        return stub

    def compiled(self, key: str) -> Callable[..., Any]:
        """The generated function; generates it now if need be."""
        name = self.python_name(key)
        function: Callable[..., Any] = self.namespace[name]
        if hasattr(function, "sac_stub"):
            self._timed(lambda: self._define(key, name))
            function = self.namespace[name]
        return function

    def watched(self, key: str, put: Callable[[Callable[..., Any]], None]) -> Callable[..., Any]:
        """What many calls from outside of a function go to, of which the engine has not been asked."""
        signature, made = self.program.signature(key), self.compiled(key)
        if self.engine is None or signature.native is not None or self._twin_of(signature) is not None:
            return made
        return self.engine.wrap(self, self.program.function(key), lambda: made, put)

    def source(self, key: str) -> str:
        """The Python that stands for a function, generated for its declared types."""
        signature, name = self.program.signature(key), self.python_name(key)
        if signature.native is not None:
            return self._native(signature, name)[0]
        twin = self._twin_of(signature)
        return (
            self._twin(signature, name, twin)[0]
            if twin is not None
            else self._generate(self.program.function(key), name)[0]
        )

    def _define(self, key: str, name: str) -> None:
        signature = self.program.signature(key)
        twin = self._twin_of(signature)
        if signature.native is not None:
            self._load(key, name, *self._native(signature, name))
        elif twin is not None:
            self._load(key, name, *self._twin(signature, name, twin))
        else:
            function = self.program.function(key)
            interpreted = partial(self._interpreted, function, name)
            self.namespace[name] = (
                interpreted() if self.engine is None else self.engine.wrap(self, function, interpreted)
            )

    def _interpreted(self, function: Function, name: str) -> Callable[..., Any]:
        """A function as generated Python; calls by its name go where they went before."""
        entry, positions = self.namespace[name], versions.open_parameters(function)
        if positions:
            self._timed(lambda: self._select_versions(function, name, positions))
        else:
            self._timed(lambda: self._load(function.signature.key, name, *self._generate(function, name)))
        made: Callable[..., Any] = self.namespace[name]
        self.namespace[name] = entry
        return made

    def _timed(self, generate: Callable[[], None]) -> None:
        """Generates something; what is generated on the way is in its time."""
        start, since = thread_time(), perf_counter()
        before, waited = self.generating, self.generating_since
        generate()
        self.generating, self.generating_since = before + thread_time() - start, waited + perf_counter() - since

    def _load(self, key: str, name: str, source: str, place: Place) -> None:
        filename = f"{PREFIX}{key}:{name}>"
        self.places[filename] = place
        exec(compile(source, filename, "exec"), self.namespace)

    def _select_versions(self, function: Function, name: str, positions: tuple[int, ...]) -> None:
        """Defines a function that calls the version for its arguments' ranks; versions are generated when first
        wanted."""
        signature = function.signature
        declared = declared_shapes(signature.params)
        params = [f"a{i}" for i in range(len(signature.params))] + [f"o{i}" for i in protocol(signature).takes]
        made: dict[str, Callable[..., Any]] = {}

        def find(kind: versions.Kind) -> Callable[..., Any]:
            own = f"{name}_{'_'.join(str(k).replace('-', 'v') for k in kind)}"
            shapes: list[Shape] | None = versions.shapes_of(function, positions, kind, declared)
            if own not in made and len(made) >= versions.MOST:
                own, shapes = f"{name}_any", None
            if own not in made:
                self._timed(lambda: self._load(signature.key, own, *self._generate(function, own, shapes)))
                made[own] = self.namespace[own]
            return made[own]

        versions.selector(name, positions, params, [p.base for p in signature.params], find, self.namespace)

    def _generate(self, original: Function, name: str, shapes: Sequence[Shape] | None = None) -> tuple[str, Place]:
        from sacpy.interp.codegen import Codegen
        from sacpy.interp.usage import Usage

        signature = original.signature
        function, facts = self.preparer.prepare(original, shapes)
        traced = None if self.tracer is None else self._traced(self.tracer, function, facts)
        generator = (traced or Codegen)(facts, self.namespace, name)
        generator.callee = self.sites.callee
        if self.engine is not None:
            ask = self.engine.turn
            generator.turn = lambda statement: ask(self, original, statement, facts.bases)
        generator.ownership = Ownership(
            function, self.program.signature, lambda v: facts.shape(v).rank != 0, generator.flag_name, self.always_copy
        )
        generator.usage = Usage(function, lambda a: facts.atom_shape(a).rank == 0)
        generated = generator.function(function, name)
        del generator.ownership  # which refers to it
        return generated.source, Place(owner(calls.shown(signature)), generated.spans, generated.guarded)

    def _traced(self, tracer: Tracer, function: Function, facts: Facts) -> type[Codegen] | None:
        """What generates a function for a tracer; None if the tracer does not want it."""
        if not tracer.wants(function):
            return None
        from sacpy.interp.tracing import Traced

        known = {"tracer": tracer, "borders": self.borders, "aliases": facts.aliases}
        return type("Traced", (Traced,), known)

    def is_whole(self, signature: Signature) -> bool:
        """Whether NumPy stands for a function."""
        return self._twin_of(signature) is not None

    def _twin_of(self, signature: Signature) -> Twin | None:
        """What stands for a function of the library. The program's own have none, and where those run natively nothing
        else may ever be called."""
        if signature.native is not None or signature.name.startswith("_MAIN::"):
            return None
        from sacpy.interp import twins

        return twins.find(signature, self.strict_fp)

    def _twin(self, signature: Signature, name: str, twin: Callable[..., Any]) -> tuple[str, Place]:
        """Pattern checks, then the twin."""
        from sacpy.interp.codegen_patterns import Patterns
        from sacpy.interp.facts import Facts
        from sacpy.lang.core import EMPTY

        generator = Patterns(Facts(), self.namespace, name)
        rules = protocol(signature)
        generator.entry_checks(Function(signature, (), EMPTY, ()))
        args = [generator.name(p.bind.name) for p in signature.params]
        flags = [f"o_{i}" for i in rules.takes]
        results = [f"r{i}" for i in range(len(signature.results))]
        left = f"{', '.join(results)} = " if results else ""
        in_place = getattr(twin, "in_place", None)
        for i in rules.takes if in_place else ():  # an argument that nobody else holds takes up the result
            generator.emit(
                f"if o_{i}: return {generator.constant(in_place)}({', '.join(args)}, {args[i]}), True", signature.span
            )
        growing = getattr(twin, "growing", None)
        if growing and rules.takes and rules.gives:  # so does one that has room for it
            given = [f"o_{i}" if i in rules.takes else "False" for i in range(len(args))]
            generator.emit(
                f"if {' or '.join(f'o_{i}' for i in rules.takes)}: return "
                f"{generator.constant(growing)}({', '.join(args)}, ({', '.join(given)})), True",
                signature.span,
            )
        generator.emit(f"{left}{generator.constant(twin)}({', '.join(args)})", signature.span)
        self._hand_back(generator, signature, results, args, rules.gives)
        source, spans = generator.assemble(f"def {name}({', '.join(args + flags)}):", signature.span)
        return source, Place(calls.shown(signature), spans, generator.guarded)

    @staticmethod
    def _hand_back(
        generator: Emitter, signature: Signature, results: list[str], args: list[str], gives: tuple[int, ...]
    ) -> None:
        """The results of a Python function: arrays come with a flag, or are copied if they are no fresh ones."""
        given = f"({''.join(a + ', ' for a in args)})"
        texts = [
            r if i in gives or signature.results[i].pattern is None else f"_owned({r}, _is_fresh({r}, {given}))"
            for i, r in enumerate(results)
        ]
        texts += [f"_is_fresh({results[i]}, {given})" for i in gives]
        generator.emit(f"return {', '.join(texts)}" if texts else "return None", signature.span)

    def _native(self, signature: Signature, name: str) -> tuple[str, Place]:
        """A wrapper of an external function: a frame for the call stack, and results that are certainly nobody
        else's."""
        from sacpy.interp import natives
        from sacpy.interp.emitter import Emitter
        from sacpy.interp.facts import Facts

        native = signature.native
        assert native is not None
        function = self.bindings(signature) or natives.find(native.name)
        if function is None:
            from sacpy.interp import foreign

            function = foreign.find(signature, self.world)
        generator = Emitter(Facts(), self.namespace, name)
        args = [f"a{i}" for i in range(len(signature.params))]
        if function is None:
            help_ = f'bind it: session.bind("{calls.shown(signature)}", a_python_function)'
            generator.emit(f"_unbound({signature.text!r}, {help_!r})", signature.span)
            self.namespace["_unbound"] = _unbound
            source, spans = generator.assemble(f"def {name}(*args, **keywords):", signature.span)
            return source, Place(calls.shown(signature), spans, {})
        params, passed = ", ".join(args), ", ".join(args)
        if native.varargs:
            params, passed = "*args, bases=()", "*args, bases=bases"
        elif native.varresults:
            params, passed = f"{params}, result_bases=()", f"{passed}, result_bases=result_bases"
        elif getattr(function, "wants_bases", False):
            passed += f"{', ' if passed else ''}bases={tuple(p.base for p in signature.params)!r}"
        call = f"{generator.constant(function)}(_world{', ' if passed else ''}{passed})"
        results = [f"r{i}" for i in range(len(signature.results))]
        if native.varresults:
            generator.emit(f"return {call}", signature.span)
        else:
            generator.emit(f"{', '.join(results)} = {call}" if results else call, signature.span)
            self._hand_back(generator, signature, results, ["*args"] if native.varargs else args, ())
        source, spans = generator.assemble(f"def {name}({params}):", signature.span)
        return source, Place(calls.shown(signature), spans, {})

    # ---- globals

    def _global_get(self, name: str) -> Value:
        if name not in self.globals:
            if name in self.starting:
                raise Fault(
                    "E0622",
                    f"the global object {name} is used while its first value is being made",
                    help="make the first value from other values",
                )
            definition = self.program.global_object(name)
            self.starting.add(name)
            try:
                (self.globals[name],) = self.sites.enter(definition.initial, ())
            finally:
                self.starting.discard(name)
        return self.globals[name]


def _unbound(text: str, help_: str) -> None:
    raise CallFault("E0618", f"the external function {text} is not bound", help=help_)


__all__ = ["Evaluator"]
