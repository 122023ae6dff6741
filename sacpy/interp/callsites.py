"""Dispatch at run time: the Python functions that calls go through where inference cannot name the one instance.

In: the keys of the candidates. Out: the name of a function that looks at the arguments' ranks (at their
shapes, where a candidate fixes extents), remembers its choice for each, and calls the instance. One such dispatcher
serves all calls with the same candidates. It has no place in the SaC call stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from sacpy.interp.errors import Fault
from sacpy.interp.links import Need
from sacpy.interp.ownership import Protocol, protocol
from sacpy.interp.runtime.calls import shown
from sacpy.interp.values import Value, shape_of
from sacpy.interp.versions import dispatcher
from sacpy.lang.ast import FixedExtent
from sacpy.lang.core import Signature
from sacpy.lang.dispatch import choose
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator


REMEMBERED = 256  # shapes of arguments that are known to fit a function called from outside


class Entry(Record):
    """A function that was called from outside. `accepted`: shapes of arguments that fit it; `borrowed`: the flags of
    arguments none of which is given away; `count`: how many results it has; `single`: what it returns is the one
    result; `native`: by shapes of arguments, what the engine has for them."""

    signature: Signature
    rules: Protocol
    accepted: set[tuple[tuple[int, ...], ...]] = field(default_factory=set)
    borrowed: tuple[bool, ...] = field(init=False)
    count: int = field(init=False)
    single: bool = field(init=False)
    native: dict[tuple[tuple[int, ...], ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.borrowed = (False,) * len(self.rules.takes)
        self.count = len(self.signature.results)
        self.single = self.count + len(self.rules.gives) == 1


class CallSites:
    """The dispatchers of one evaluator. `dispatchers`: the names of those that there are, by candidates; one comes into
    being when it is first called."""

    def __init__(self, evaluator: Evaluator, dispatchers: dict[tuple[str, ...], str]) -> None:
        self.evaluator = evaluator
        self.dispatchers = dispatchers
        self._entries: dict[str, Entry] = {}

    def callee(self, certain: str | None, candidates: tuple[str, ...]) -> tuple[str, Need, Protocol, Signature]:
        """What to call: name, what that stands for, protocol, and one signature that stands for all candidates."""
        first = self.evaluator.program.signature(certain or candidates[0])
        if certain is not None or (first.native is not None and (first.native.varargs or first.native.varresults)):
            return self.evaluator.python_name(first.key), ("function", first.key), protocol(first), first
        signatures = [self.evaluator.program.signature(key) for key in candidates]
        name = self.dispatchers.get(candidates)
        if name is None:
            name = self.dispatchers[candidates] = (
                f"_d{len(self.dispatchers)}_"
                f"{''.join(c if c.isalnum() and c.isascii() else '_' for c in signatures[0].name)[:40]}"
            )
        return name, ("dispatcher", candidates), union(signatures), first

    def stub(self, candidates: tuple[str, ...]) -> Callable[..., Any]:
        """What a dispatcher's name stands for until it is first called."""

        def stub(*args: Value) -> Any:
            return self.dispatcher(candidates)(*args)

        return stub

    def briefly(self, key: str, args: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The results of a call from outside for which there is native code that takes little time; None if there is
        none, or it does not come to an end."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        native = entry.native.get(tuple([a.shape if type(a) is ndarray else () for a in args]))
        if native is None or entry.signature is not self.evaluator.program.signature(key):
            return None
        found: tuple[Value, ...] | None = native.briefly(args)
        return found

    def enter(self, key: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """A call from outside: the arguments are borrowed."""
        entry = self._entry(key, args)
        function = self.evaluator.compiled(key)
        result = function(*args, *entry.borrowed)
        find = getattr(function, "sac_native", None)
        if find is not None:
            entry.native = (
                {**entry.native, tuple([a.shape if type(a) is ndarray else () for a in args]): find(args)}
                if len(entry.native) < REMEMBERED
                else {}
            )
        return (result,) if entry.single else result[: entry.count] if entry.count else ()

    def enter_giving(
        self, key: str, args: tuple[Value, ...], given: Sequence[bool]
    ) -> tuple[tuple[Value, ...], tuple[bool, ...]]:
        """A call from outside that gives the arguments away for which `given` is true: nobody else may hold them, and
        the function may overwrite them. The results, and for each whether certainly nobody else holds it."""
        entry = self._entry(key, args)
        result = self.evaluator.compiled(key)(*args, *[given[i] for i in entry.rules.takes])
        if entry.single:
            return (result,), (True,)
        if not entry.count:
            return (), ()
        flags = dict(zip(entry.rules.gives, result[entry.count :], strict=True))
        return tuple(result[: entry.count]), tuple(flags.get(i, True) for i in range(entry.count))

    def _entry(self, key: str, args: tuple[Value, ...]) -> Entry:
        """The function of a call from outside, its arguments checked."""
        signature = self.evaluator.program.signature(key)
        entry = self._entries.get(key)
        if entry is None or entry.signature is not signature:
            entry = self._entries[key] = Entry(signature, protocol(signature))
        shapes = tuple([a.shape if type(a) is ndarray else () for a in args])
        if shapes not in entry.accepted:
            if len(args) != len(signature.params):
                raise Fault(
                    "E0619",
                    f"{shown(signature)} takes {len(signature.params)} arguments, but here are {len(args)}",
                    notes=(f"the function is {signature.text}",),
                )
            self._choose([signature], args)
            if len(entry.accepted) >= REMEMBERED:
                entry.accepted.clear()
            entry.accepted.add(shapes)
        return entry

    def entry(self, candidates: tuple[str, ...]) -> tuple[Callable[..., Any], Protocol]:
        """What calls the most specific of some instances, and how ownership crosses it."""
        name, need, rules, _ = self.callee(None, candidates)
        return self.evaluator.namespace[name] if need[0] == "function" else self.dispatcher(candidates), rules

    def dispatcher(self, candidates: tuple[str, ...]) -> Callable[..., Any]:
        """Makes a dispatcher, which takes the place of what has stood for it."""
        name = self.dispatchers[candidates]
        signatures = [self.evaluator.program.signature(key) for key in candidates]
        rules = union(signatures)
        count = len(signatures[0].params)
        args = [f"a{i}" for i in range(count)] + [f"o{i}" for i in rules.takes]
        by_shape = any(isinstance(f, FixedExtent) for s in signatures for p in s.params for f in p.pattern or ())
        look = "{0}.shape if type({0}) is ndarray else ()" if by_shape else "{0}.ndim if type({0}) is ndarray else 0"
        key = ", ".join(f"({look.format(f'a{i}')})" for i in range(count)) or "()"
        memo: dict[Any, Callable[..., Any]] = {}

        def find(key: Any, values: tuple[Value, ...]) -> Callable[..., Any]:
            at = self._choose(signatures, values)
            memo[key] = self._adapted(f"{name}_{at}", signatures[at], rules, args)
            return memo[key]

        make = dispatcher(tuple(args), key if count == 1 else f"({key})", tuple(args[:count]))
        made = self.evaluator.namespace[name] = make(memo, find)
        return made

    def chosen(self, keys: tuple[str, ...], values: tuple[Value, ...]) -> str:
        """The instance that takes arguments of these shapes. Raises `Fault`."""
        return keys[self._choose([self.evaluator.program.signature(key) for key in keys], values)]

    def _choose(self, signatures: list[Signature], values: tuple[Value, ...]) -> int:
        found = choose(signatures, [shape_of(v) for v in values])
        if isinstance(found, int):
            return found
        name = shown(signatures[0])
        if isinstance(found, list):
            texts = tuple(f"candidate: {signatures[i].text}" for i in found)
            raise Fault(
                "E0620",
                f"this call of {name} is ambiguous: {len(found)} instances fit equally well",
                notes=texts,
                help="add an instance that is more specific than both",
            )
        reasons = tuple(f"{s.text}: {why}" for s, why in zip(signatures, found))
        shapes = ", ".join(f"[{','.join(map(str, shape_of(v)))}]" if shape_of(v) else "a scalar" for v in values)
        raise Fault(
            "E0619",
            f"no instance of {name} takes arguments of these shapes: {shapes}",
            notes=reasons,
            help="pass arguments of a shape that an instance takes, or add an instance",
        )

    def _adapted(self, name: str, signature: Signature, rules: Protocol, args: list[str]) -> Callable[..., Any]:
        """The instance under the dispatcher's protocol."""
        own = protocol(signature)
        function = self.evaluator.compiled(signature.key)
        if own == rules:
            return function
        count = len(signature.params)
        passed = [f"a{i}" for i in range(count)] + [f"o{i}" for i in own.takes]
        results = [f"r{i}" for i in range(len(signature.results))]
        left = results + [f"g{i}" for i in own.gives]
        back = results + [f"g{i}" if i in own.gives else "True" for i in rules.gives]
        call = f"{self.evaluator.python_name(signature.key)}({', '.join(passed)})"
        source = (
            f"def {name}({', '.join(args)}):\n {', '.join(left)} = {call}\n return {', '.join(back)}\n"
            if left
            else f"def {name}({', '.join(args)}):\n {call}\n"
        )
        exec(compile(source, "<dispatch>", "exec"), self.evaluator.namespace)
        adapted: Callable[..., Any] = self.evaluator.namespace[name]
        return adapted


def union(signatures: list[Signature]) -> Protocol:
    """The flags that any of the candidates takes and gives."""
    all_rules = [protocol(s) for s in signatures]
    return Protocol(
        tuple(sorted({i for r in all_rules for i in r.takes})), tuple(sorted({i for r in all_rules for i in r.gives}))
    )
