"""Calls that go directly to compiled code.

In: the plan of a call, and how a call that went the usual way ended. Out: a `Direct`, for calls with arguments of these
types and shapes: without room for recursion, and without somebody who watches the clock or hears Ctrl-C. So only calls
that are brief go this way, with ints that are not much larger than those of brief ones: where larger ones come and are
brief too, another takes its place. Now and then one goes the usual way, which times it. Where its results are small,
even this module is passed by: calls go through a gate in machine code. NumPy's scalars, arrays of other types than the
code takes, lists and strings are converted on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.embedding.arguments import Misfit
from sacpy.embedding.kinds import Handle
from sacpy.embedding.runner import MISSED, no_gate
from sacpy.interp.values import DTYPES, Value
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.embedding.plans import Plan
    from sacpy.embedding.runner import Runner
    from sacpy.lang.elaborate.usertypes import BaseType

# types of arguments, and of what they become, which a function of one name may take for what they hold
_BY_VALUE = {(int, float), *((t, np.ndarray) for t in (list, tuple, str, bytes))}
SEEN = 63  # of so many direct calls one goes the usual way
THROUGH = 255  # and of so many through a gate, which take less


class Direct:
    """What calls compiled code directly. It gives `MISSED` where the usual way is right after all. `gate` does the same
    for arguments as they are, whatever they are."""

    __slots__ = ("_call", "_converters", "_finish", "_gate", "_reach", "_types", "_version", "gate")

    def __init__(
        self,
        version: Any,
        call: Callable[..., Any],
        gate: Any,
        finish: Callable[[Any], Any] | None,
        types: Sequence[str | None] | None,
        results: Sequence[BaseType],
        reach: Sequence[tuple[int, int]],
        converters: Sequence[_Converter | None],
    ) -> None:
        """`reach`: for each argument that is an int, by number, how large it may be; `converters`: of those that are
        not taken as they are."""
        self._version = version
        self._reach = reach
        self._call = call
        self._gate = gate
        self._finish = finish
        self._types = types
        self.gate: Callable[..., Any] = no_gate
        self._converters = converters if any(converters) else ()
        if gate is not None:
            plain = types is None and not any(t.kind == "packed" for t in results)
            self.gate = gate.call if plain else _in_parts(types or (), results, gate.call)
            if self._converters:
                self.gate = _converting(converters, self.gate)

    def __call__(self, args: tuple[Any, ...]) -> Any:
        version, gate = self._version, self._gate
        if version.dropped or version.trial:
            return MISSED
        if gate is not None:
            found = self.gate(*args)
            if found is not MISSED:
                return found
            version.count()
            gate.open(THROUGH)
            return MISSED
        calls = version.calls + 1
        if not calls & SEEN:
            return MISSED
        if self._converters:
            try:
                args = tuple([a if c is None else c.convert(a) for a, c in zip(args, self._converters)])
            except Misfit:
                return MISSED
        found = self._call(*args) if self._types is None else self._call(*_parts(args))
        if found is None:
            return MISSED
        version.calls = calls
        return found[0] if self._finish is None else self._finish(found)

    def is_outgrown(self, args: Sequence[Any]) -> bool:
        """Whether it refuses such arguments for how large they are."""
        return any(abs(int(args[k])) > most for k, most in self._reach)

    def close(self) -> None:
        """Lets nothing through its gate any more."""
        if self._gate is not None:
            self._version.count()
            self._gate.close()


def _parts(args: Sequence[Any]) -> list[Any]:
    """Arguments as the code takes them: packed arrays have several parts."""
    return [p for a in args for p in (a.parts if isinstance(a, Handle) else (a,))]


def _in_parts(types: Sequence[str | None], results: Sequence[BaseType], gate: Callable[..., Any]) -> Callable[..., Any]:
    """What hands arguments to a gate part by part, where they are packed arrays of these types, and puts together
    results that are such; it misses for others. It is generated, since it costs as much as the gate otherwise."""
    from sacpy.embedding.packed import Packed

    space: dict[str, Any] = {"Handle": Handle, "Packed": Packed, "gate": gate, "MISSED": MISSED}
    names = [f"a{k}" for k in range(len(types))]
    tests = [f"isinstance({n}, Handle) and {n}.type == {t!r}" for n, t in zip(names, types) if t is not None]
    parts = [n if t is None else f"*{n}.parts" for n, t in zip(names, types)]
    text = f"def call({''.join(f'{n}=None, ' for n in names)}*rest):\n"
    text += f" if not ({' and '.join(tests) or True}): return MISSED\n found = gate({', '.join([*parts, '*rest'])})\n"
    shown, at = [], 0
    for k, type in enumerate(results):
        many = len(type.components)
        whole = f"found[{at}:{at + many}]" if len(results) > 1 else "found"
        shown.append(f"Packed({type.key!r}, {whole}, t{k})" if type.kind == "packed" else f"found[{at}]")
        space[f"t{k}"], at = type, at + many
    if any(t.kind == "packed" for t in results):
        text += f" return found if found is MISSED else ({', '.join(shown)})"
    else:
        text += " return found"
    exec(compile(text, "<packed arrays>", "exec"), space)
    made: Callable[..., Any] = space["call"]
    return made


class _Converter(Node):
    """How arguments of a type are made what the code takes. `dtype`: theirs, if they are arrays."""

    type: type
    dtype: np.dtype[Any] | None
    convert: Callable[[Any], Value]


def _converters(
    args: Sequence[Any], values: Sequence[Value], plan: Plan, is_only: Callable[[], bool]
) -> list[_Converter | None] | None:
    """What makes the values of the arguments; None where that depends on more than their types. `is_only`: whether
    there is one function of that name: otherwise it depends on the value of an int, or on what is in a list, which is
    called."""
    found: list[_Converter | None] = []
    for a, v, convert in zip(args, values, plan.converters):
        if a is v:
            found.append(None)
        elif isinstance(a, np.generic) and type(a.item()) is type(v):
            found.append(_Converter(type(a), None, type(a).item))
        elif (type(a), type(v)) in _BY_VALUE and is_only():
            found.append(_Converter(type(a), None, convert))
        elif type(a) is np.ndarray and a.ndim and type(v) is np.ndarray:
            found.append(_Converter(np.ndarray, a.dtype, convert))
        else:
            return None
    return found


def _converting(converters: Sequence[_Converter | None], gate: Callable[..., Any]) -> Callable[..., Any]:
    """What hands arguments to a gate, some of them converted; it misses for others."""
    space: dict[str, Any] = {"gate": gate, "MISSED": MISSED, "Misfit": Misfit}
    names, tests, texts = [f"a{k}" for k in range(len(converters))], [], []
    for name, c in zip(names, converters):
        texts.append(name if c is None else f"c{name}({name})")
        if c is not None:
            space |= {f"t{name}": c.type, f"d{name}": c.dtype, f"c{name}": c.convert}
            tests.append(f"type({name}) is t{name}" + f" and {name}.dtype == d{name}" * (c.dtype is not None))
    text = f"def call({''.join(f'{n}=None, ' for n in names)}*rest):\n if not ({' and '.join(tests)}): return MISSED\n"
    text += f" try: return gate({', '.join([*texts, '*rest'])})\n except Misfit: return MISSED"
    exec(compile(text, "<converted arguments>", "exec"), space)
    made: Callable[..., Any] = space["call"]
    return made


def direct(
    plan: Plan,
    runner: Runner,
    args: Sequence[Any],
    values: Sequence[Value],
    found: Any,
    seconds: float,
    is_only: Callable[[], bool],
) -> Direct | None:
    """After a call the usual way, which gave `found` in so many seconds: looks now and then for compiled code that such
    calls may go to. None where there is none, as where time or memory is limited. `is_only`: whether there is one
    function of that name."""
    plan.calls += 1
    limits = runner.host.limits
    often = plan.calls & (plan.calls - 1) and plan.calls & SEEN
    if often or (plan.spread and len(plan.keys) != 1) or limits.seconds is not None or limits.memory is not None:
        return None
    own = tuple(values[: len(values) - len(plan.flags)])
    key = plan.keys[0] if len(plan.keys) == 1 else runner.evaluator.sites.chosen(plan.keys, own)
    compiled = runner.evaluator.compiled(key)
    find = getattr(plan.function, "sac_native", None) or getattr(compiled, "sac_native", None)
    if find is None:
        return None
    from sacpy.jit.host.native import reach
    from sacpy.jit.run.versions import BRIEF

    version = find(own)
    if version is None or version.direct is None or not version.is_brief or seconds > BRIEF:
        return None
    parts = _parts(args) if plan.spread else args
    if len(own) != len(parts):
        return None
    converters: list[_Converter | None] | None = [None] * len(args)
    if any(a is not v for a, v in zip(parts, own)):
        converters = None if plan.spread else _converters(args, own, plan, is_only)
    if converters is None:
        return None
    count = sum(len(t.components) for t in plan.results)
    flags = plan.returned - count
    # such results are presented as they are, packed arrays part by part
    plain = (version.owned or not flags) and all(
        t.kind == "packed" or (t.key in DTYPES and t.key != "char") for t in plan.results
    )
    gate = None
    if plain and count and version.gate is not None:
        gate = version.gate(own, (found,) if plan.returned == 1 else found[:count], MISSED)
        if gate is not None:
            version.gates.append(gate)
    finish, owned = plan.finish, [version.owned] * flags
    alone = plan.returned == 1 or (count == 1 and plain)
    finish_ = None if alone else lambda found: finish((*found, *owned))
    types = [a.type if isinstance(a, Handle) else None for a in args] if plan.spread else None
    ints = [(k, reach(a)) for k, a in enumerate(args) if isinstance(a, int | np.integer) and type(a) is not bool]
    return Direct(version, version.direct(own), gate, finish_, types, plan.results, ints, converters)


__all__ = ["Direct", "direct"]
