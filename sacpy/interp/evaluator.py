"""Runs core programs: `Evaluator(program).call(key, args)`.

In: a `core.Program`, and values. Out: values; or a `SacError` with the place and the SaC call stack. Each function
becomes generated Python (`codegen`) when it is first called, or is loaded as an earlier run has generated it
(`kept_code`): until then its name in the shared namespace is a stub that does so and takes its own place. With an
engine that waits for the first call that is interpreted: what runs natively from the beginning is never generated.
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
from sacpy.interp.engine import Engine, Left, is_region
from sacpy.interp.errors import Exit, Fault, Stopped
from sacpy.interp.faults import PART, PREFIX, to_sac_error
from sacpy.interp.limits import calmly
from sacpy.interp.links import Place, bind
from sacpy.interp.ownership import Ownership, protocol
from sacpy.interp.runtime import calls, structure, withloops
from sacpy.interp.values import Value, shape_of, vector
from sacpy.lang.core import Function, Program, Signature
from sacpy.lang.deep import Room
from sacpy.lang.diagnostics import SacError
from sacpy.lang.patterns import declared_shapes
from sacpy.lang.types import Shape

if TYPE_CHECKING:
    from sacpy.interp.codegen import Codegen
    from sacpy.interp.emitter import Generated
    from sacpy.interp.facts import Facts
    from sacpy.interp.kept_code import KeptCode, Loadable
    from sacpy.interp.prepare import Preparer
    from sacpy.interp.tracing import Tracer
    from sacpy.interp.twins import Twin
    from sacpy.lang.infer import Inferrer

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
    program says, in the library too. `code`: what earlier runs of the program have generated, and where what this one
    does is kept. `tracer`: is told what those functions of an `ElaboratedProgram` do that it wants."""

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
        code: KeptCode | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self.written = program
        self.program = program if engine is None else engine.prepared(program)
        self.engine = engine
        self.strict_fp = strict_fp
        self.world = world
        self.depth_limit = depth_limit
        self.always_copy = always_copy
        self.bindings = bindings
        self.places: dict[str, Place] = {}
        self.code = code
        self.names: dict[str, str] = {} if code is None else code.names
        self.globals: dict[str, Value] = {}
        self.starting: set[str] = set()
        self.generating = 0.0  # seconds of its thread spent on generating functions
        self.generating_since = 0.0  # the same by the clock, with what the machine did meanwhile
        self.namespace: dict[str, Any] = {
            **RUNTIME,
            "_world": world,
            "_globals": self.globals,
            "_global_get": self._global_get,
            "_head": self.program.signature,
            "_inferrer": self.inferrer,
        }
        self.sites = CallSites(self, {} if code is None else code.dispatchers)
        self.tracer = tracer
        self._preparer: Preparer | None = None
        if tracer is not None:
            from sacpy.interp import tracing

            self.borders = tracing.Borders(program)
            self.preparer.apart = tracing.is_users
            self.namespace |= tracing.hooks(tracer)

    @property
    def preparer(self) -> Preparer:
        """What prepares functions for being generated; loaded when one is."""
        if self._preparer is None:
            from sacpy.interp.prepare import Preparer

            self._preparer = Preparer(self.program)
        return self._preparer

    def inferrer(self) -> Inferrer:
        """What infers shapes in the program that is run."""
        from sacpy.lang.infer import inferrer_for

        return inferrer_for(self.program)

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

    def call_once(self, key: str) -> tuple[Value, ...]:
        """Calls a function that the program has for now, without parameters: nothing of it is kept."""
        code, self.code = self.code, None
        try:
            return self.call(key, ())
        finally:
            self.code = code

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
        if name not in self.namespace:
            self.namespace[name] = self.stub(key)
        return name

    def stub(self, key: str) -> Callable[..., Any]:
        """What the name of a function stands for until it is first called."""

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
        if self.engine is None or signature.native is not None or self.twin_of(signature) is not None:
            return made
        return self.engine.wrap(self, self.program.function(key), lambda: made, put)

    def source(self, key: str) -> str:
        """The Python that stands for a function, generated for its declared types."""
        signature, name = self.program.signature(key), self.python_name(key)
        made = self._wrapper(signature, name)
        return (made() if made is not None else self._generate(self.program.function(key), name)).source

    def _define(self, key: str, name: str) -> None:
        signature = self.program.signature(key)
        wrapper = self._wrapper(signature, name)
        if wrapper is not None:
            self._load(key, name, wrapper)
        else:
            function = self.program.function(key)
            interpreted = partial(self._interpreted, function, name)
            self.namespace[name] = (
                interpreted() if self.engine is None else self.engine.wrap(self, function, interpreted)
            )

    def _wrapper(self, signature: Signature, name: str) -> Callable[[], Generated] | None:
        """What generates a function for which one of Python stands; None for others."""

        def generate() -> Generated:
            from sacpy.interp import wrappers

            if twin is not None:
                return wrappers.twin(signature, name, twin)
            return wrappers.external(signature, name, self.bindings, self.world)

        twin = self.twin_of(signature)
        return None if twin is None and signature.native is None else generate

    def _interpreted(self, function: Function, name: str) -> Callable[..., Any]:
        """A function as generated Python; calls by its name go where they went before."""
        entry, positions = self.namespace[name], versions.open_parameters(function)
        if positions:
            self._timed(lambda: self._select_versions(function, name, positions))
        else:
            self._timed(lambda: self._load_function(function, name))
        made: Callable[..., Any] = self.namespace[name]
        self.namespace[name] = entry
        return made

    def _timed(self, generate: Callable[[], T]) -> T:
        """Generates something; what is generated on the way is in its time."""
        start, since = thread_time(), perf_counter()
        before, waited = self.generating, self.generating_since
        made = generate()
        self.generating, self.generating_since = before + thread_time() - start, waited + perf_counter() - since
        return made

    def _load_function(self, function: Function, name: str, shapes: Sequence[Shape] | None = None) -> None:
        """Defines the Python function for one, for arguments of these shapes."""
        key, as_written = function.signature.key, self._is_as_written(function)
        self._load(key, name, partial(self._generate, function, name, shapes), as_written)
        if self.code is not None and not as_written and not is_region(key):
            written = self.written
            self.code.later(
                name, lambda: self._compiled(key, name, self._generate(written.function(key), name, shapes))
            )

    def _load(self, key: str, name: str, generate: Callable[[], Generated], as_written: bool = True) -> None:
        """Defines a Python function, as an earlier run has generated it or as it is generated now. `as_written`: from
        the function that the program has."""
        again = partial(self._timed, generate)
        found = None if self.code is None else self.code.find(name, as_written, again)
        if found is None:
            found = self._compiled(key, name, generate())
            if self.code is not None:
                self.code.add(name, as_written, *found)
        code, self.places[code.co_filename], needs = found
        bind(self, key, needs)
        exec(code, self.namespace)

    def _compiled(self, key: str, name: str, made: Generated) -> Loadable:
        return compile(made.source, f"{PREFIX}{key}:{name}>", "exec"), made.place, made.needs

    def _is_as_written(self, function: Function) -> bool:
        """Whether a function is the program's, and not what an engine has made of it."""
        key = function.signature.key
        return self.engine is None or (not is_region(key) and function is self.written.function(key))

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
                self._timed(lambda: self._load_function(function, own, shapes))
                made[own] = self.namespace[own]
            return made[own]

        versions.selector(name, positions, params, [p.base for p in signature.params], find, self.namespace)

    def _generate(self, original: Function, name: str, shapes: Sequence[Shape] | None = None) -> Generated:
        from sacpy.interp.codegen import Codegen
        from sacpy.interp.usage import Usage

        function, facts = self.preparer.prepare(original, shapes)
        traced = None if self.tracer is None else self._traced(self.tracer, function, facts)
        generator = (traced or Codegen)(facts, name)
        generator.callee = self.sites.callee
        if self.engine is not None:
            generator.asks = partial(self.engine.asks, original)
        generator.ownership = Ownership(
            function, self.program.signature, lambda v: facts.shape(v).rank != 0, generator.flag_name, self.always_copy
        )
        generator.usage = Usage(function, lambda a: facts.atom_shape(a).rank == 0)
        generated = generator.function(function, name)
        del generator.ownership  # which refers to it
        return generated

    def _traced(self, tracer: Tracer, function: Function, facts: Facts) -> type[Codegen] | None:
        """What generates a function for a tracer; None if the tracer does not want it."""
        if not tracer.wants(function):
            return None
        from sacpy.interp.tracing import Traced

        known = {"tracer": tracer, "borders": self.borders, "aliases": facts.aliases}
        return type("Traced", (Traced,), known)

    def is_whole(self, signature: Signature) -> bool:
        """Whether NumPy stands for a function."""
        return self.twin_of(signature) is not None

    def twin_of(self, signature: Signature) -> Twin | None:
        """What stands for a function of the library. The program's own have none, and where those run natively nothing
        else may ever be called."""
        if signature.native is not None or signature.name.startswith("_MAIN::"):
            return None
        from sacpy.interp import twins

        return twins.find(signature, self.strict_fp)

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


__all__ = ["Evaluator"]
