"""The maker of one unit: its functions, and what is remembered about the program's.

In: a program and the arguments that a function is specialised for. Out: a `Unit`. `Knowledge` is what stays true for a
program and may serve many units.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.beside import checkpoint
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.specialise.calls import Frame
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.kinds import apart, kind_of, targets
from sacpy.jit.specialise.sharing import Constants, Sharing, Use, constants_among
from sacpy.jit.specialise.tidy import tidy
from sacpy.jit.specialise.values import (
    LIMIT,
    Branches,
    Fails,
    Kind,
    Small,
    Value,
    extents_of,
    integer,
    is_scalar,
    shape_of,
)
from sacpy.jit.specialise.walk import KNOWN, Rest, Values, Walk
from sacpy.lang import core
from sacpy.lang.diagnostics import SacError
from sacpy.lang.dispatch import Resolution, resolve
from sacpy.lang.infer import Inferrer
from sacpy.lang.lattice import without_value
from sacpy.lang.plan import Plan, compile_plan
from sacpy.lang.types import Shape
from sacpy.nodes import Node, Record, field

# calls of one function inside each other, with arguments of other shapes each time, before it counts as recursive
NESTED = 8
VERSIONS = 4  # of a recursive function; after that, small arrays are passed as arrays
FEW = 4  # the largest extent of an array that a version of a recursive function keeps
BUDGET = 4_000  # statements of a function, from which on calls are no longer inlined
DIVIDED = 40  # times that what comes after two branches is made in both, while a unit is made
DEPENDS = "the rank of a value depends on a condition"
LITTLE = 12  # statements of a function that is inlined all the same


class Argument(Node):
    """What a function is specialised for: base type, and an extent per axis; None where it stays open. Scalars have
    shape (). `value`: all elements, row-major, where the unit is for that value only (the parameters are there all the
    same); a rank may depend on it."""

    base: str
    shape: tuple[int | None, ...] = ()
    value: tuple[int | float | bool, ...] | None = None


class Knowledge(Record):
    """What is remembered about a program: plans of signatures, resolutions of calls, inference, which functions call
    themselves."""

    program: core.Program
    inferrer: Inferrer
    plans: dict[str, Plan] = field(default_factory=dict)
    resolutions: dict[tuple[tuple[str, ...], tuple[Shape, ...]], Resolution] = field(default_factory=dict)
    recursive: set[str] = field(default_factory=set)
    functions: dict[str, core.Function] = field(default_factory=dict)
    refusals: dict[str, Unsupported | None] = field(default_factory=dict)

    def function(self, key: str) -> core.Function:
        """A function of the program. Raises `Unsupported` where its text is wrong."""
        found = self.functions.get(key)
        if found is None:
            try:
                found = self.functions[key] = self.program.function(key)
            except SacError as error:
                raise Unsupported(f"there is an error in {_plain(key)}: {error.diagnostics[0].message}") from None
        return found

    def refusal(self, key: str) -> Unsupported | None:
        """Why a function cannot be compiled whatever it is called with, as far as that is seen at once: something
        stands in it, or in what it calls, outside of all branches and loops. So nobody works for a while on what ends
        in output."""
        if key not in self.refusals:
            self.refusals[key] = None  # while this is looked for
            found = map(self._refused, self.function(key).body.statements)
            self.refusals[key] = next((why for why in found if why is not None), None)
        return self.refusals[key]

    def _refused(self, s: core.Stmt) -> Unsupported | None:
        if not isinstance(s, core.Let):
            return None
        for target in s.targets:
            if target.base not in KNOWN:
                return Unsupported(f"it uses values of type {_plain(target.base)}", s.span)
        if not isinstance(s.rhs, core.Call):
            return None
        for arg in s.rhs.args:
            if isinstance(arg, core.Const) and arg.base not in KNOWN:
                return Unsupported(f"it uses values of type {_plain(arg.base)}", s.span)
        first: Unsupported | None = None
        for candidate in s.rhs.candidates:
            native = self.program.signature(candidate).native is not None
            why = (
                Unsupported(f"it calls {s.rhs.name}, which is not written in SaC", s.span)
                if native
                else self.refusal(candidate)
            )
            if why is None:
                return None
            first = first or why
        return first


class Again(Exception):
    """A function turned out to be recursive: the unit is made once more, with that known."""


class Version(Record):
    """A function of the unit. `results`: the forms of its results, extents not known outside as None; before `made` is
    there, as inference tells."""

    name: str
    params: tuple[Kind, ...]
    results: tuple[Kind, ...]
    made: g.Function | None = None


class Maker:
    """Makes one unit."""

    def __init__(self, knowledge: Knowledge, sharing: Sharing) -> None:
        self.known = knowledge
        self.sharing = sharing
        self.versions: dict[Use, Version] = {}
        self.made = 0
        self.divided = 0
        self.dividing: dict[int, core.Stmt] = {}  # statements, by identity, that have given values of different rank
        self.inlined: set[Use] = set()  # what can only be inlined

    # ---- what the walk asks for

    def plan(self, signature: core.Signature) -> Plan:
        """The steps that check a signature's patterns."""
        found = self.known.plans.get(signature.key)
        if found is None:
            found = self.known.plans[signature.key] = compile_plan(signature)
        return found

    def resolution(self, candidates: tuple[str, ...], args: Sequence[Value]) -> Resolution:
        """Which instances a call may take."""
        shapes = tuple(without_value(shape_of(a)) for a in args)
        key = (candidates, shapes)
        found = self.known.resolutions.get(key)
        if found is None:
            found = self.known.resolutions[key] = resolve([self.known.program.signature(k) for k in candidates], shapes)
        return found

    def function(self, key: str) -> core.Function:
        """A function of the program. Raises `Unsupported` where its text is wrong."""
        return self.known.function(key)

    # ---- calls

    def may_divide(self, b: Builder) -> bool:
        """Whether what comes after two branches may be made in both."""
        self.divided += 1
        return self.divided <= DIVIDED and b.count <= BUDGET

    def invoke(self, walk: Walk, signature: core.Signature, args: Sequence[Value], rest: Rest | None = None) -> Values:
        """The results of a call, inlined, or as a call of a function of the unit; or what comes of them."""
        checkpoint()
        b, key = walk.b, signature.key
        if key in self.known.recursive:
            return self._given(self._call(b, signature, args), rest)
        function = self.function(key)
        frame = Frame(key, tuple(kind_of(b, a, -1) for a in args))
        same = [f for f in walk.stack if f.key == key]
        if frame in same or len(same) >= NESTED:
            self.known.recursive.add(key)
            raise Again
        use = Use(key, frame.kinds, constants_among(args))
        large = b.count > BUDGET and len(function.body.statements) > LITTLE
        if (large or (not b.cells and self.sharing.is_called(use))) and use not in self.inlined:
            try:
                return self._given(self._call(b, signature, args), rest)
            # it needs a value that it has here; or it cannot be compiled at all, which inlining will tell
            except Unsupported:
                self.inlined.add(use)
        span, before = b.span, b.count
        inlined = not b.cells and bool(walk.stack)

        def then(results: Values) -> Values:
            nonlocal inlined
            if inlined:
                inlined = False  # what comes after it may come more than once
                self.sharing.inlined(use, b.count - before)
            return results if rest is None else rest(results)

        try:
            return Walk(self, b, function, (*walk.stack, frame)).run(args, then)
        finally:
            b.span = span

    @staticmethod
    def _given(results: list[Value], rest: Rest | None) -> Values:
        found: Values = [*results]
        return found if rest is None else rest(found)

    def _call(self, b: Builder, signature: core.Signature, args: Sequence[Value]) -> list[Value]:
        kinds = tuple(kind_of(b, a, -1) for a in args)
        constants = constants_among(args)
        if signature.key in self.known.recursive:
            many = sum(use.key == signature.key for use in self.versions) >= VERSIONS
            kinds = tuple(_widened(k, everything=many) for k in kinds)
            constants = (None,) * len(args)  # they may well change with each call
        version = self.version(signature, Use(signature.key, kinds, constants))
        atoms = [x for kind, a in zip(version.params, args) for x in apart(b, kind, a)]
        variables, values = targets(b, version.results, ["r"] * len(version.results))
        b.let(variables, g.Call(version.name, tuple(atoms)))
        return values

    def version(self, signature: core.Signature, use: Use) -> Version:
        """The function of the unit for a use."""
        kinds = use.kinds
        found = self.versions.get(use)
        if found is not None and found.made is None and signature.key not in self.known.recursive:
            self.known.recursive.add(signature.key)
            raise Again
        if found is None:
            self.made += 1
            name = f"{_plain(signature.key)}@{self.made}"
            found = self.versions[use] = Version(name, kinds, ())
            recursive = signature.key in self.known.recursive
            try:
                if recursive:
                    found.results = self._inferred(signature, kinds)
                self._make(found, signature, use.constants, recursive=recursive)
            except Unsupported:
                del self.versions[use]
                raise
        return found

    def _inferred(self, signature: core.Signature, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
        """The forms of a recursive function's results, by inference."""
        function = self.function(signature.key)
        result = []
        for slot, shape in zip(
            signature.results, self.known.inferrer.infer(function, [k.shape() for k in kinds]).results
        ):
            if slot.base not in KNOWN:
                raise Unsupported(f"{_plain(signature.key)} gives values of type {_plain(slot.base)}")
            if shape.never:
                raise Unsupported(f"{_plain(signature.key)} never ends, or always fails", signature.span)
            if shape.extents is None:
                raise Unsupported(
                    f"{_plain(signature.key)} calls itself, and the rank of its result is known only when it runs",
                    signature.span,
                )
            result.append(
                Kind("array", slot.base, (None,) * len(shape.extents)) if shape.extents else Kind("scalar", slot.base)
            )
        return tuple(result)

    def _make(self, version: Version, signature: core.Signature, constants: Constants, *, recursive: bool) -> None:
        b = Builder(self.sharing)
        params, values = targets(b, version.params, [p.bind.source or "a" for p in signature.params])
        b.declare(params)
        frame = Frame(signature.key, version.params)
        try:
            args = [v if known is None else known for v, known in zip(values, constants)]
            results = _known(Walk(self, b, self.function(signature.key), (frame,)).run(args))
        except Fails as fails:
            raise Unsupported(
                f"{_plain(signature.key)} fails whenever it is called like this: it is not so that {fails}", b.span
            ) from None
        except Branches:
            raise Unsupported(DEPENDS, b.span) from None
        if not recursive:
            version.results = tuple(kind_of(b, r, -1) for r in results)
        atoms = [a for kind, r in zip(version.results, results) for a in apart(b, kind, r)]
        version.made = g.Function(version.name, params, tidy(b.scope.block(atoms)), signature.key, self.sharing.wide)

    # ---- the root

    def root(self, key: str, arguments: Sequence[Argument]) -> g.Unit:
        """The unit whose root is the function with this key."""
        signature = self.known.program.signature(key)
        b = Builder(self.sharing)
        inputs: list[g.Input] = []
        params: list[g.Var] = []
        args: list[Value] = []
        for at, (argument, slot) in enumerate(zip(arguments, signature.params, strict=True)):
            if argument.base not in KNOWN:
                raise Unsupported(
                    f"{slot.bind.source or 'an argument'} is of type {_plain(argument.base)}", signature.span
                )
            found, value, kinds = _parameter(b, argument, at, slot.bind.source or "a")
            inputs += kinds
            params += found
            args.append(value if argument.value is None else _constant(argument))
        b.declare(params)
        b.span = signature.span
        if signature.native is not None:
            raise Unsupported(f"{signature.name} is not written in SaC", signature.span)
        refusal = self.known.refusal(key)
        if refusal is not None:
            raise Unsupported(refusal.reason, refusal.span)
        try:
            results = _known(self.invoke(Walk(self, b, self.function(key), ()), signature, args))
        except Fails as fails:
            raise Unsupported(f"it fails whenever it is called like this: it is not so that {fails}", b.span) from None
        except Branches:
            raise Unsupported(DEPENDS, b.span) from None
        atoms, outputs = _outputs(b, results)
        root = g.Function(_plain(key), tuple(params), tidy(b.scope.block(atoms)), key, self.sharing.wide)
        functions = (root, *(v.made for v in self.versions.values() if v.made is not None))
        return g.Unit(functions, tuple(inputs), tuple(outputs), self.sharing.notes)


def _known(values: Values) -> list[Value]:
    """Results, all of which are there."""
    return [v for v in values if v is not None]


def _parameter(b: Builder, argument: Argument, at: int, stem: str) -> tuple[list[g.Var], Value, list[g.Input]]:
    """Parameters of the root for one argument, its value, and where they come from."""
    base, shape = argument.base, argument.shape
    if not shape:
        scalar = b.names.var(stem, g.ScalarType(base))
        return [scalar], scalar, [g.Input("scalar", at)]
    known = tuple(e for e in shape if e is not None)
    size = 1
    for e in known:
        size *= e
    if len(known) == len(shape) and size <= LIMIT:
        elements = [b.names.var(stem, g.ScalarType(base)) for _ in range(size)]
        return elements, Small(base, known, tuple(elements)), [g.Input("element", at, k) for k in range(size)]
    extents: list[g.Atom] = []
    params: list[g.Var] = []
    inputs: list[g.Input] = []
    for axis, known_extent in enumerate(shape):
        if known_extent is None:
            extent = b.names.var(f"{stem}_n", g.INT)
            params.append(extent)
            inputs.append(g.Input("extent", at, axis))
            extents.append(extent)
        else:
            extents.append(integer(known_extent))
    array = b.names.var(stem, g.ArrayType(base, tuple(extents)))
    return [*params, array], array, [*inputs, g.Input("array", at)]


def _constant(argument: Argument) -> Value:
    """The value that a unit is made for."""
    assert argument.value is not None
    atoms = tuple(g.Const(argument.base, v) for v in argument.value)
    if not argument.shape:
        return atoms[0]
    return Small(argument.base, tuple(e for e in argument.shape if e is not None), atoms)


def _outputs(b: Builder, results: Sequence[Value]) -> tuple[list[g.Atom], list[g.Output]]:
    """The root's results, and how the function's are put together from them."""
    atoms: list[g.Atom] = []
    outputs: list[g.Output] = []
    for value in results:
        at = len(atoms)
        if is_scalar(value):
            assert not isinstance(value, Small)
            atoms.append(b.same(value))
            outputs.append(g.Output("scalar", value.base, (at,)))
        elif isinstance(value, Small):
            atoms += map(b.same, value.elements)
            outputs.append(g.Output("small", value.base, tuple(range(at, len(atoms))), value.extents))
        else:
            extents: list[int | tuple[None, int]] = []
            for e in map(b.same, extents_of(value)):
                if isinstance(e, g.Var):
                    extents.append((None, len(atoms)))
                    atoms.append(e)
                else:
                    extents.append(int(e.value))
            outputs.append(g.Output("array", value.base, (len(atoms),), tuple(extents)))
            atoms.append(b.array(value))
    return atoms, outputs


def _widened(kind: Kind, *, everything: bool) -> Kind:
    """The form of an argument of a recursive function: extents that may well change with each call are open."""
    if not kind.extents or (kind.form == "small" and not everything):
        return kind
    return Kind(
        "array",
        kind.base,
        tuple(None if everything or not isinstance(e, g.Const) or int(e.value) > FEW else e for e in kind.extents),
    )


def _plain(key: str) -> str:
    """A function's name as the programmer knows it."""
    return key.rpartition("::")[2].partition("/")[0]
