"""What a process does that only compiles, for the one that it was forked from.

In: messages about programs, and requests for versions; both know the programs of then. Out: what the cache would hold.
Functions it knows by their keys, parts of functions, which come about while a program runs, are sent to it. One that
was forked before there was any program is told of those that come, and elaborates them while the other process does so
too; it compiles what comes out the same, by the digest of all that code depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias

from sacpy.jit.kinds import LARGEST, Detail, Kind, kind_of
from sacpy.jit.run.regions import Regions
from sacpy.lang.walk import calls_itself

if TYPE_CHECKING:
    from sacpy.jit.fingerprint import Fingerprints
    from sacpy.jit.run.contract import CompileContext
    from sacpy.lang import ast
    from sacpy.lang.core import Function, Program
    from sacpy.lang.elaborate.program import ElaboratedProgram

FirstCall: TypeAlias = "tuple[str, tuple[tuple[int, ...], ...]]"  # a function's name, and the shapes of its arguments
# a program's number, a function's key, a kind, a name in the cache, the function where the program has none, and
# whether who asks does nothing until it is there
Request: TypeAlias = "tuple[int, str, Kind, str, bytes, bool]"
Message: TypeAlias = "tuple[int, bytes, FirstCall | None]"  # a program's number, its tree, and its first call


class Making:
    """`tools`: what compiling takes; `known`: a program of then, by its number; `read`: makes programs of trees, if any
    are to come."""

    def __init__(
        self,
        tools: CompileContext,
        known: Callable[[int], Program],
        read: Callable[[ast.Module], ElaboratedProgram] | None = None,
    ) -> None:
        self._tools = tools
        self._known = known
        self._read = read
        # of the programs that it was told, and what it has made before it was asked, by name
        self._heard: dict[int, Fingerprints] = {}
        self._ahead: dict[str, bytes] = {}
        self._unread: dict[int, ElaboratedProgram] = {}  # of which only what has been made is elaborated

    def hear(self, message: Message) -> None:
        """A program has come about."""
        from sacpy.jit.fingerprint import Fingerprints
        from sacpy.lang.modules import packing

        assert self._read is not None
        number, data, call = message
        program = self._read(packing().unpacked(data))
        heard = self._heard[number] = Fingerprints(Regions(program))
        if call is not None:
            self._unread[number] = program
            self._make_ahead(program, heard, call)
        else:
            program.check()

    def likely(self, program: Program, functions: Iterable[Function]) -> Iterator[None]:
        """While it is not asked for anything: makes what grows hot soon if it is called at all, and can be asked for in
        one way only, of these functions of a program. Steps, between which somebody looks whether there is something to
        do; then what compiling takes is tried out."""
        from sacpy.jit.fingerprint import Fingerprints

        names = Fingerprints(program)
        for f in functions:
            slots = (*f.signature.params, *f.signature.results)
            if calls_itself(f) > 1 and all(slot.pattern is None and not slot.cell for slot in slots):
                self._make(program, names, f.signature.key, tuple(() for _ in f.signature.params))
                yield
        yield from rehearsal()

    def _make_ahead(self, program: ElaboratedProgram, heard: Fingerprints, call: FirstCall) -> None:
        """What it will be asked for, most likely."""
        name, shapes = call
        (entry,) = program.main.own(name)
        key = program.key(entry, ())
        signature = heard.program.signature(key)
        if len(signature.params) != len(shapes) or max((e for shape in shapes for e in shape), default=0) > LARGEST:
            return
        self._make(heard.program, heard, key, kind_of(shapes, [slot.base for slot in signature.params], Detail.EXTENTS))

    def _make(self, program: Program, names: Fingerprints, key: str, kind: Kind) -> None:
        """Makes a version before anybody asks for it."""
        from sacpy.jit.run.compiler import made_apart

        digest = names.digest(key, kind, self._tools.options)
        if not self._tools.cache.has(digest):
            self._ahead[digest] = made_apart(program, key, kind, digest, self._tools)

    def answer(self, request: Request) -> bytes:
        """What it is asked for."""
        from sacpy.base import processors
        from sacpy.jit.run.compiler import made_apart
        from sacpy.lang.core_data import unpacked

        number, key, kind, name, function, is_awaited = request
        if name in self._ahead:
            return self._ahead.pop(name)
        if number in self._unread:
            self._unread.pop(number).check()
        heard = self._heard.get(number)
        program = self._known(number) if heard is None else heard.program
        if function:
            assert isinstance(program, Regions)
            program.add(unpacked(function))
        if heard is not None and heard.digest(key, kind, self._tools.options) != name:
            raise ValueError("it has become another program")
        with processors.everywhere() if is_awaited else nullcontext():
            return made_apart(program, key, kind, name, self._tools)


def load() -> None:
    """Before it is asked for anything."""
    from sacpy.base import deferring, processors
    from sacpy.jit.run import compiler

    deferring.load("llvmlite.binding")
    compiler.load()
    from sacpy.jit.host.compile import stay_here

    stay_here(processors.free)


def rehearsal() -> Iterator[None]:
    """While it is not asked for anything."""
    from sacpy.jit.run.rehearsal import steps

    return steps()
