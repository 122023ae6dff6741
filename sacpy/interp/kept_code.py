"""Generated code as it is kept between runs of a program, so that the next one generates nothing that this one has.

In: functions as an evaluator has generated them: code, the places of its lines, and what its global names need
(`links`). Out: bytes; and from the bytes the same functions again, each as somebody asks for it. Parts in core, a loop
that is compiled, a declared type, are unpacked when they are needed, and places when an error is shown. A loop that has
not been compiled is not kept: to pack all of them takes longer than all else. Should it be needed, the function is
generated again.

Code is of one version of Python, of the generator and of the engine, and of settings that change what is generated:
`variant_of` names all that. Names are numbered in the order in which they come up, and kept with the code.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

from sacpy.base.digests import new_digest
from sacpy.interp.engine import Asking
from sacpy.interp.links import Later, Need, Place
from sacpy.lang.files import folder_digest

if TYPE_CHECKING:
    from sacpy.base.plain import Packing
    from sacpy.interp.emitter import Generated

Loadable: TypeAlias = "tuple[CodeType, Place, Mapping[str, Need]]"
GENERATORS = (("interp", True), ("jit/run", False))  # folders of what generates, and says which code asks


class KeptCode:
    """The generated functions of one program and variant. `names`: of functions, by key; `dispatchers`: by candidates.
    `data`: what `packed` gave for an earlier run; `packing`: of core, for what is unpacked."""

    def __init__(self, data: bytes = b"", packing: Packing | None = None) -> None:
        """Raises `ValueError`, `TypeError` or `EOFError` where the bytes are none that `packed` gave."""
        self.names: dict[str, str]
        self.dispatchers: dict[tuple[str, ...], str]
        self._kept: dict[tuple[str, bool], bytes]
        self.names, self.dispatchers, self._kept = marshal.loads(data) if data else ({}, {}, {})
        self._packing = packing
        self._made: dict[tuple[str, bool], Loadable] = {}
        self._written: dict[str, Callable[[], Loadable]] = {}  # functions as the program has them, not generated yet
        # what was found, with the loops in it that are not kept
        self._found: dict[tuple[str, bool], tuple[Loadable, list[Asking]]] = {}

    def find(self, name: str, as_written: bool, again: Callable[[], Generated]) -> Loadable | None:
        """The Python function of that name, generated from the function that the program has or from what an engine has
        made of that; None if no earlier run has generated it. `again`: generates it."""
        data = self._kept.get((name, as_written))
        if data is None:
            return None
        assert self._packing is not None
        code, owner, needs, guarded, parts, spans = marshal.loads(data)
        unpacked = self._packing.unpacked
        shared = Later(make=partial(unpacked, parts))
        place = Place(owner, Later(make=partial(unpacked, spans)), guarded)
        once = Later(make=again)
        loaded = {name: _loaded(name, need, shared, once) for name, need in needs.items()}
        lacking = [loaded[name][1] for name, need in needs.items() if need[:2] == ("turn", None)]
        self._found[name, as_written] = (code, place, loaded), lacking
        return code, place, loaded

    def add(self, name: str, as_written: bool, *made: Any) -> None:
        """A function that has been generated."""
        self._made[name, as_written] = made

    def later(self, name: str, written: Callable[[], Loadable]) -> None:
        """A function is run as an engine has made it; `written` generates it as the program has it."""
        if (name, True) not in self._kept:
            self._written[name] = written

    @property
    def is_complete(self) -> bool:
        """Whether nothing would have to be generated if there were no engine."""
        return not self._written

    def complete(self) -> None:
        """Generates what the next run would, should it have no engine."""
        while self._written:
            name, written = self._written.popitem()
            self._made[name, True] = written()

    def packed(self, packing: Packing) -> bytes | None:
        """All that is known now; None if that is no more than was kept. `packing`: of core."""
        grown = {key: made for key, (made, lacking) in self._found.items() if any(loop.wanted for loop in lacking)}
        made = {**grown, **self._made}
        new = {key: data for key, one in made.items() if (data := _packed(one, packing)) is not None}
        return marshal.dumps((self.names, self.dispatchers, {**self._kept, **new})) if new else None


def _packed(made: Loadable, packing: Packing) -> bytes | None:
    code, place, needs = made
    if any(need[0] == "live" for need in needs.values()):
        return None
    parts: list[Any] = []
    plain = {name: _plain(need, parts) for name, need in needs.items()}
    pack = packing.packed
    return marshal.dumps((code, place.function, plain, place.guarded, pack(parts), pack(place.spans)))


def _plain(need: Need, parts: list[Any]) -> Need:
    """A need without parts in core: these are counted."""
    match need:
        case ("later", Later() as value):
            found = value()
            parts.append(found)
            return ("later", len(parts) - 1)
        case ("turn", Asking(later, is_loop, bases, work, wanted=wanted)):
            if not wanted:
                return ("turn", None, is_loop, bases, work)
            parts.append(later())
            return ("turn", len(parts) - 1, is_loop, bases, work)
    return need


def _loaded(name: str, need: Need, parts: Later[list[Any]], again: Later[Generated]) -> Need:
    """The need again."""
    match need:
        case ("later", number):
            return ("later", Later(make=lambda: parts()[number]))
        case ("turn", number, is_loop, bases, work):
            if number is None:
                later = Later(make=lambda: again().needs[name][1].later())
                return ("turn", Asking(later, is_loop, bases, work, kept=True))
            later = Later(make=lambda: parts()[number])
            return ("turn", Asking(later, is_loop, bases, work, wanted=True, kept=True))
    return need


def variant_of(target: str, strict_fp: bool) -> str:
    """What generated code, and what is kept with it, depend on besides the program: code for an engine asks it, and
    what that makes of a cell is not the same on all targets."""
    made = new_digest(MAGIC_NUMBER + repr((target, strict_fp)).encode())
    for folder, deep in GENERATORS:
        made.update(folder_digest(folder, deep).encode())
    return made.hexdigest()[:16]
