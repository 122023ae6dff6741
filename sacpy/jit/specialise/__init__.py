"""From core to graph: a function, specialised for the base types, ranks and small extents of its arguments.

    specialise(program, key, [Argument("double", (None, None)), Argument("int")]) -> Unit

The function is executed symbolically: scalars are atoms, short vectors and small arrays are their elements side by
side, arrays are variables whose types tell their extents. Calls are inlined, patterns become comparisons of extents,
whole-array operations with-loops. What cannot be compiled raises `Unsupported`, with a reason that a user understands;
what the interpreter would refuse at run time becomes a `Check`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph import Unit
from sacpy.jit.specialise.maker import Again, Argument, Knowledge, Maker
from sacpy.jit.specialise.sharing import Grown, Sharing, Wider
from sacpy.lang.core import Program
from sacpy.lang.deep import FRAMES, Room
from sacpy.lang.infer import Inferrer, inferrer_for


class Specialiser:
    """Specialises functions of one program; it remembers what they have in common."""

    def __init__(self, program: Program, inferrer: Inferrer | None = None) -> None:
        self.knowledge = Knowledge(program, inferrer_for(program) if inferrer is None else inferrer)

    def specialise(self, key: str, arguments: Sequence[Argument], wide: bool = False, device: bool = False) -> Unit:
        """The unit for a call of a function with such arguments; `wide`: whose extents may be larger than usual, as
        those of a function with such a number in it always may; `device`: for a device. Raises `Unsupported`."""
        sharing = Sharing(wide=wide, device=device)
        while True:
            sharing.begin()
            try:
                with Room(FRAMES):
                    return Maker(self.knowledge, sharing).root(key, arguments)
            except (Again, Grown):  # a recursive function more is known now, or some that are not to be inlined
                continue
            except Wider:
                sharing.wide = True
            except RecursionError:
                raise Unsupported("its calls nest too deeply to be compiled") from None


_latest: list[Specialiser] = []


def specialise(program: Program, key: str, arguments: Sequence[Argument], inferrer: Inferrer | None = None) -> Unit:
    """`Specialiser.specialise`; what was learnt about the program last time is kept until another comes. Raises
    `Unsupported`."""
    if not _latest or _latest[0].knowledge.program is not program:
        _latest[:] = [Specialiser(program, inferrer)]
    return _latest[0].specialise(key, arguments)


__all__ = ["Argument", "Specialiser", "Unsupported", "specialise"]
