"""How a call from Python goes: which instances take arguments of these kinds, how to convert each, what to make of the
results.

In: a function's name, and the kinds of the arguments. Out: a `Plan`, good for all calls with arguments of these kinds.
Python values choose base types here: the instance they suit best, exactly where there is one. Shapes choose afterwards,
as in any SaC call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sacpy.embedding.arguments import Misfit, converter
from sacpy.embedding.kinds import COMPLEX, NEVER_FITS, Kind, describe, suits
from sacpy.embedding.records import components
from sacpy.embedding.results import presenter
from sacpy.embedding.runner import Runner, plain_error
from sacpy.interp.ownership import Protocol
from sacpy.interp.values import DTYPES, Value
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, Label, SacError
from sacpy.lang.elaborate.calls import candidates
from sacpy.lang.elaborate.context import Context, Failed
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.scope import Entry
from sacpy.lang.elaborate.usertypes import BUILTINS, STRING, BaseType, FunctionParameter
from sacpy.lang.source import NOWHERE
from sacpy.lang.types import KINDS
from sacpy.nodes import Record, field

Types = tuple[BaseType, ...]
_SCALARS = {
    "int32": "int",
    "int64": "long",
    "uint64": "ulong",
    "huge": "ulong",
    "float": "double",
    "bool": "bool",
    "bytes": "char",
}
_DTYPES = {dtype: name for name, dtype in reversed(DTYPES.items()) if name not in ("char", "longlong", "ulonglong")}


class Plan(Record):
    """One way of calling: the Python function behind it, how to convert each argument, the flags that say the arguments
    are borrowed, and how to present what comes back. `keys`: the instances that the function chooses from; `types`,
    `results`: of arguments and results; `on_device`: an argument lies on a device; `programs`: for arguments on a
    device, by their shapes, the program that runs there, or None. `calls`: how many went the usual way; `views`:
    whether results may be views, and `shown` the bytes that they had in the last of these calls. `spent`: seconds of
    calls to a function that no engine has been asked about."""

    function: Callable[..., Any]
    converters: tuple[Callable[[Any], Any], ...]
    spread: bool
    flags: list[bool]
    finish: Callable[[Any], Any]
    names: tuple[str, ...]
    entry: Entry
    keys: tuple[str, ...] = ()
    types: Types = ()
    results: Types = ()
    returned: int = 1  # values, flags included
    on_device: bool = False
    programs: dict[tuple[tuple[int, ...], ...], Any] = field(default_factory=dict)
    calls: int = 0
    views: bool = False
    shown: int = 0
    spent: float = 0.0

    def goes_to(self, function: Callable[..., Any]) -> None:
        """From now on calls go there."""
        self.function = function

    def arguments(self, args: Sequence[Any]) -> list[Value]:
        """The interpreter's values. Raises `SacError` (E0707, E0708) naming the argument."""
        at = 0
        try:
            if not self.spread:
                result = []
                for at, convert in enumerate(self.converters):
                    result.append(convert(args[at]))
                return result + self.flags
            result = []
            for at, convert in enumerate(self.converters):
                result += convert(args[at])
            return result + self.flags
        except Misfit as misfit:
            raise self.misfit(misfit, at) from None

    def misfit(self, misfit: Misfit, at: int) -> SacError:
        """The error of an argument."""
        definition = self.entry.definition
        where = (
            f"argument {at + 1} ({self.names[at]}) of {definition.name}"
            if at < len(self.names)
            else f"argument {at + 1} of {definition.name}"
        )
        span = definition.params[at].span if at < len(definition.params) else definition.name_span
        return SacError(Diagnostic(misfit.code, f"{where}: {misfit.reason}", span, "declared here", help=misfit.help))


def make(runner: Runner, name: ast.QName, kinds: tuple[Kind, ...], args: Sequence[Any]) -> Plan:
    """The plan of a call. Raises `SacError` where no instance, or more than one, takes such arguments."""
    program = runner.program
    tiers = _tiers(program, name)
    chosen: tuple[int, Entry, Types] | None = None
    for tier in tiers:
        found = _best(program, name, tier, kinds)
        if found is not None and (chosen is None or found[0] < chosen[0]):
            chosen = found
        if chosen is not None and chosen[0] < NEVER_FITS:
            break
    if chosen is None:
        chosen = _only(program, tiers, kinds) or _none_suits(program, name, tiers, kinds)
    _, entry, types = chosen
    cx = Context(program, program.main, {}, [])
    try:
        matches = candidates(cx, name, list(types), entry.definition.name_span)
    except Failed:
        raise SacError(*cx.diagnostics) from None
    first = matches[0].entry.definition
    keys = tuple(dict.fromkeys(program.key(m.entry, m.typevars) for m in matches))
    function, rules = runner.entry(keys)
    by_reference = [t for t, p in zip(types, first.params) if p.by_reference]
    results = [*program.result_types(matches[0].entry, matches[0].typevars), *by_reference]
    vectors = [p.type.pattern is not None for p in first.params] + [False] * (len(types) - len(first.params))
    spread = any(t.has_parts for t in types)
    converters = tuple(_converter(t, vector, spread) for t, vector in zip(types, vectors))
    if first.varargs:
        function = _with_bases(function, types)
    return Plan(
        function,
        converters,
        spread,
        [False] * len(rules.takes),
        finisher(results, rules),
        tuple(p.name for p in first.params),
        matches[0].entry,
        keys,
        types,
        tuple(results),
        _returned(results, rules),
        any(type(k) is tuple and k[0] == "device" for k in kinds),
        views=runner.host.workspace.views and all(t.key in DTYPES and t.key != "char" for t in results),
    )


def _with_bases(function: Callable[..., Any], types: Types) -> Callable[..., Any]:
    bases = tuple(c.base for t in types for c in t.components)
    return lambda *args: function(*args, bases=bases)


def _converter(type: BaseType, vector: bool, spread: bool) -> Callable[[Any], Any]:
    if type.has_parts:
        return components(type)
    convert = converter(type)
    if vector and type.key == "char":
        convert = _char_vector(convert)
    return (lambda value: (convert(value),)) if spread else convert


def _char_vector(convert: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """Text for an array of chars is a vector, of length one too."""

    def vector(value: Any) -> Value:
        result = convert(value)
        return (
            np.array([result], np.uint8)
            if isinstance(value, str | bytes) and not isinstance(result, np.ndarray)
            else result
        )

    return vector


# ---------------------------------------------------------------- which instances


def _tiers(program: ElaboratedProgram, name: ast.QName) -> tuple[tuple[Entry, ...], ...]:
    if name.module is not None:
        return (program.main.qualified(name.module, name.name, NOWHERE),)
    return program.main.tiers(name.name)


def _best(
    program: ElaboratedProgram, name: ast.QName, tier: tuple[Entry, ...], kinds: tuple[Kind, ...]
) -> tuple[int, Entry, Types] | None:
    """The instance that suits best, with the argument types it is to be called with."""
    found: dict[Types, tuple[int, Entry, Types]] = {}
    for entry in tier:
        types = _types(program, entry, kinds)
        if types is None:
            continue
        scores = [suits(k, t) for k, t in zip(kinds, types)]
        if None not in scores:
            total = sum(s for s in scores if s is not None)
            if types not in found or total < found[types][0]:
                found[types] = (total, entry, types)
    if not found:
        return None
    ranked = sorted(found.values(), key=lambda f: f[0])
    tied = [e for score, e, _ in ranked if score == ranked[0][0]]
    if len(tied) > 1 and ranked[0][0] < NEVER_FITS:
        labels = tuple(
            Label(e.definition.name_span, "this one fits as well") for e in tied[1:] if not e.scope.info.library
        )
        heads = tuple(f"candidate: {program.head(e)}" for e in tied)
        help = "say which type you mean: numpy.int64(..), or an array with a dtype"
        raise SacError(
            Diagnostic(
                "E0710",
                f"{name} is ambiguous for ({_shown(kinds)})",
                tied[0].definition.name_span,
                "this one fits",
                labels,
                heads,
                help,
            )
        )
    return ranked[0]


def _types(program: ElaboratedProgram, entry: Entry, kinds: tuple[Kind, ...]) -> Types | None:
    """The base types that an instance would be called with; type variables stand for what comes naturally."""
    definition = entry.definition
    params = program.parameter_types(entry)
    if len(kinds) < len(params) or (len(kinds) > len(params) and not definition.varargs):
        return None
    bound: dict[str, BaseType] = {}
    types: list[BaseType] = []
    for param in params:
        if isinstance(param, BaseType):
            types.append(param)
            continue
        if isinstance(param, FunctionParameter):
            return None
        if param.name not in bound:
            chosen = _bind(program, param, [k for p, k in zip(params, kinds) if p == param])
            if chosen is None:
                return None
            bound[param.name] = chosen
        types.append(bound[param.name])
    for kind in kinds[len(params) :]:
        extra = natural(program, kind)
        if extra is None:
            return None
        types.append(extra)
    return tuple(types)


def _bind(program: ElaboratedProgram, variable: ast.TypeVar, kinds: list[Kind]) -> BaseType | None:
    """The type that suits all arguments of a type variable best."""
    best: tuple[int, BaseType] | None = None
    for type in filter(None, (natural(program, k) for k in kinds)):
        scores = [suits(k, type) for k in kinds]
        if None in scores or not any(
            part == "any" or type.key in KINDS.get(part, (part,)) for part in variable.kind.replace(" ", "").split("+")
        ):
            continue
        total = sum(s for s in scores if s is not None)
        if best is None or total < best[0]:
            best = (total, type)
    return None if best is None else best[1]


def natural(program: ElaboratedProgram, kind: Kind) -> BaseType | None:
    """The SaC type that a Python value has when nobody asks for another one."""
    match kind:
        case "str":
            return STRING
        case "complex":
            return _library_type(program, COMPLEX)
        case str():
            return BUILTINS.get(_SCALARS.get(kind, ""))
        case ("list", None):
            return BUILTINS["int"]
        case ("list", inner):
            return natural(program, inner)
        case ("scalar" | "device", np.dtype() as dtype):
            return natural(program, dtype)
        case ("record", tuple() as names):
            return _struct(program, names)
        case ("fields", tuple() as names, inner):
            return _struct(program, names) or natural(program, inner)
        case ("handle", str() as key):
            return _library_type(program, key)
        case np.dtype() if kind.names is not None:
            return _struct(program, tuple(sorted(kind.names)))
        case np.dtype() if kind.kind == "c" and kind.itemsize <= 16:
            return _library_type(program, COMPLEX)
        case np.dtype():
            return BUILTINS.get(_DTYPES.get(kind.newbyteorder("="), ""))
    return None


def _library_type(program: ElaboratedProgram, key: str) -> BaseType | None:
    module, _, name = key.rpartition("::")
    return program.world.scope(module, NOWHERE).own_type(name)


def _struct(program: ElaboratedProgram, names: tuple[str, ...]) -> BaseType | None:
    """The struct with these fields, if there is just one among the modules loaded; the program's own first."""
    for scopes in ([program.main], [s for s in program.world.scopes.values() if s is not program.main]):
        found = [
            t
            for s in scopes
            for t in (s.own_type(n) for n in s.info.structs)
            if t is not None and tuple(sorted(f[0] for f in t.fields)) == names
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


# ---------------------------------------------------------------- what to say


def _only(
    program: ElaboratedProgram, tiers: tuple[tuple[Entry, ...], ...], kinds: tuple[Kind, ...]
) -> tuple[int, Entry, Types] | None:
    """The one instance with that many parameters, where there is but one: converting to it says best what is wrong."""
    entries = [
        e for tier in tiers for e in tier if len(e.definition.params) == len(kinds) and not e.definition.is_generic
    ]
    if len(entries) != 1 or sum(len(tier) for tier in tiers) != 1:
        return None
    return 0, entries[0], tuple(t for t in program.parameter_types(entries[0]) if isinstance(t, BaseType))


def _shown(kinds: Sequence[Kind]) -> str:
    return ", ".join(map(describe, kinds))


def _none_suits(
    program: ElaboratedProgram, name: ast.QName, tiers: tuple[tuple[Entry, ...], ...], kinds: tuple[Kind, ...]
) -> tuple[int, Entry, Types]:
    entries = [e for tier in tiers for e in tier]
    if not entries:
        raise plain_error("E0709", f"there is no function {name}")
    counts = sorted({len(e.definition.params) for e in entries})
    notes = tuple(f"candidate: {program.head(e)}" for e in entries[:8]) + (
        (f"and {len(entries) - 8} more",) if len(entries) > 8 else ()
    )
    span = entries[0].definition.name_span
    if len(kinds) not in counts and not any(e.definition.varargs for e in entries):
        message = f"{name} takes {' or '.join(map(str, counts))} argument{'s' * (counts != [1])}, not {len(kinds)}"
        raise SacError(
            Diagnostic(
                "E0709", message, span, "declared here", notes=notes, help="give as many arguments as an instance takes"
            )
        )
    message = f"no instance of {name} takes ({_shown(kinds)})"
    help = "pass values of the types that an instance takes: an array with that dtype, numpy.float32(..)"
    if any(p.takes is not None for e in entries for p in e.definition.params):
        help = f"who gives {name} a function is a function of SaC: define one that calls it, and call that"
    raise SacError(
        Diagnostic(
            "E0709",
            message,
            span,
            "declared here",
            notes=notes,
            help=help,
        )
    )


# ---------------------------------------------------------------- results


def _returned(types: Sequence[BaseType], rules: Protocol) -> int:
    """How many values a generated function with such results returns, flags included."""
    return sum(len(t.components) for t in types) + len(rules.gives)


def finisher(types: Sequence[BaseType], rules: Protocol) -> Callable[[Any], Any]:
    """What to make of what a generated function returns: its results, then flags that say which arrays nobody else
    holds. Others are copied, so that no result is ever an argument."""
    total = _returned(types, rules)
    count = total - len(rules.gives)
    flag_of = {position: count + k for k, position in enumerate(rules.gives)}
    parts: list[tuple[Callable[[tuple[Value, ...]], Any], list[tuple[int, int | None]]]] = []
    at = 0
    for type in types:
        parts.append((presenter(type), [(i, flag_of.get(i)) for i in range(at, at + len(type.components))]))
        at += len(type.components)

    def finish(raw: Any) -> Any:
        values = raw if total > 1 else (raw,)
        shown = [
            present(
                tuple(
                    values[i] if f is None or values[f] or not isinstance(values[i], np.ndarray) else values[i].copy()
                    for i, f in positions
                )
            )
            for present, positions in parts
        ]
        return shown[0] if len(shown) == 1 else tuple(shown)

    if not types:
        return lambda raw: None
    if total == 1 and types[0].key in DTYPES and types[0].key != "char":
        return lambda raw: raw
    return finish


__all__ = ["Plan", "finisher", "make", "natural"]
