"""One function at run time: whether a call of it runs natively, and in which version.

In: a function of core, how to have it interpreted, and the engine's judgement. Out: a Python function (`Site.entry`) that takes the place of the interpreted one. First it watches: it counts and times calls, and asks for an estimate when the arguments have grown. Once the first version is
compiled, another takes its place, which looks at the shapes of the arguments and calls the version for them; a dictionary remembers which. What cannot be compiled is interpreted from then on, without further ado. Both are generated text, since a call should cost little, and since only plain Python calls may nest deep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.interp.ownership import protocol
from sacpy.interp.values import Value, shape_of
from sacpy.jit.cost import STEP
from sacpy.jit.failures import CheckFailed, NativeFailure, Unsupported
from sacpy.jit.kinds import LARGEST, Detail, Kind, kind_of, kind_text
from sacpy.jit.reports import Report
from sacpy.lang.core import Function
from sacpy.lang.source import Span
from sacpy.nodes import Record

if TYPE_CHECKING:
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.engine import Engine, Room

VERSIONS = 4  # of a function, for each degree of detail
TRIES = 3  # kinds of arguments for which compiling failed, after which it is not tried again
REMEMBERED = 4096  # shapes whose version is remembered
DEEP = 200  # nested calls of itself that make a function worth compiling
SPURIOUS = 4  # failed checks behind which there was no error, after which a version is given up
REVIEW = 32  # calls of a version between two looks at how fast it is; a power of 2
FIRST = 4  # the call after which is the first look
SLOW = 20e-6  # seconds; a version that takes less for a call is fast enough
COPYING = 1e-10  # seconds that copying a byte takes at least
TRIAL = 4  # interpreted calls, to see how long they take
COPIES = "it is faster interpreted, which need not copy the array that is updated"
BRIEF = 1e-3  # seconds; a version that takes less for a call may be called again where it fails
RERUNS = 3  # calls within each other that are run again; then nothing runs natively, and the interpreter finds the error by itself

_UNKNOWN = object()


class Version(Record):
    """A function compiled for one kind of arguments. `call` takes the tuple of arguments. Counts and seconds of its calls; `failed`: calls that were run again interpreted, `spurious`: those of them that had no error. `owned`: whether the arrays that it gives are nobody else's; `device`: the program of a device that it is, if it is one. `trial`: interpreted calls to come, to see how long they take; `copied`: bytes that all native code had copied of its arguments by the last look."""

    kind: Kind
    call: Callable[[tuple[Value, ...]], tuple[Value, ...]]
    report: Report
    owned: bool = True
    device: DeviceProgram | None = None
    recursive: bool = False
    calls: int = 0
    seconds: float = 0.0
    failed: int = 0
    spurious: int = 0
    trial: int = 0
    tried: tuple[int, float] = (0, 0.0)  # interpreted calls, and their seconds, when the trial began
    copied: int = 0
    dropped: bool = False

    def briefly(self, args: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The results of a call, where calls take little time and nothing speaks against it; None otherwise, and where code does not come to an end: then the usual way finds out why."""
        if self.dropped or self.trial or self.device is not None or self.seconds > BRIEF * self.calls or (self.calls + 1) & (REVIEW - 1) == FIRST:
            return None
        start = perf_counter()
        try:
            found = self.call(args)
        except NativeFailure:
            return None
        self.calls += 1
        self.seconds += perf_counter() - start
        return found


class Site:
    """A function of a program that may be compiled. `entry` is what calls go to now; `put` is told when that is another. `interpreted` runs it interpreted: `make` generates it for the first such call, which never comes where all calls run natively."""

    def __init__(self, engine: Engine, room: Room, function: Function, make: Callable[[], Callable[..., Any]], put: Callable[[Callable[..., Any]], None]) -> None:
        signature = function.signature
        rules = protocol(signature)
        self.engine = engine
        self.room = room
        self.function = function
        self.interpreted: Callable[..., Any] = self._first_interpreted
        self._make = make
        self.bases = [slot.base for slot in signature.params]
        self.params = len(signature.params)
        self.versions: dict[Kind, Version] = {}
        self.refused: dict[Kind, Unsupported] = {}
        self.detail = Detail.EXTENTS
        self.memo: dict[Any, Version | None] = {}
        self.calls = 0  # interpreted ones
        self.seconds = 0.0  # spent in the outermost of them, but for compiling
        self.active = 0
        self._put = put
        self.looked_for: set[Kind] = set()  # in the cache
        self._largest = -1
        self._cooled = 0.0  # of the seconds, those before the last version was made
        self._arrays = tuple(rules.takes)
        self._results = len(signature.results)
        self._gives = tuple(rules.gives)
        self._room = VERSIONS
        self.entry = self._first = _watcher(self.params, len(rules.takes))(self, engine, perf_counter)

    @property
    def key(self) -> str:
        return self.function.signature.key

    @property
    def span(self) -> Span:
        return self.function.signature.span

    # ---- while it is interpreted

    def _first_interpreted(self, *args: Any) -> Any:
        """Stands for the generated function until its first call, whose time the generating is not."""
        start = perf_counter()
        self._generate()
        self.seconds -= perf_counter() - start
        return self.interpreted(*args)

    def _generate(self) -> None:
        if self.interpreted == self._first_interpreted:
            self.interpreted = self._make()

    def look(self, args: tuple[Value, ...]) -> bool:
        """Before an interpreted call: whether there is another entry from now on. Whoever has kept the first one comes here every time."""
        if self.entry is not self._first:
            return True
        if not self._is_hot(args):
            return False
        self._find(args)
        if self.versions:
            make = _dispatcher(self.params, self._arrays, self._results, self._gives)
            self.entry = make(self, self.memo, self.engine, perf_counter, np.ndarray, NativeFailure, _UNKNOWN)
            self.entry.sac_native = self.known  # type: ignore[attr-defined]
        elif len(self.refused) >= (TRIES if self._arrays else 1):
            self._generate()
            self.entry = self.interpreted
        else:
            return False
        self._put(self.entry)
        return True

    def _is_hot(self, args: tuple[Value, ...]) -> bool:
        """Whether it is time to have a version for these arguments."""
        policy = self.engine.policy
        if policy.eager or self.active >= DEEP:
            return True
        waited = self.seconds - self._cooled
        if waited >= policy.seconds and self._pays(args, waited):
            return True
        size = max((a.size if type(a) is np.ndarray else a if type(a) is int else 0 for a in args), default=0)
        if size <= 2 * self._largest:
            return False
        self._largest = size
        work = self.engine.estimate(self, args)
        return work >= policy.work and self._pays(args, work * STEP)

    def _pays(self, args: tuple[Value, ...], seconds: float) -> bool:
        return self.engine.pays(self, kind_of([shape_of(a) for a in args], self.bases, self.detail), seconds)

    # ---- versions

    def find(self, args: tuple[Value, ...]) -> Version | None:
        """The version for arguments; None: interpret them. Remembers it for their shapes."""
        version = self._find(args) if self._known(args) or self._is_hot(args) else None
        if version is not None and version.trial:
            return self._try(version)
        if len(self.memo) >= REMEMBERED:
            self.memo.clear()
        shapes = tuple(shape_of(args[i]) for i in self._arrays)
        if version is None and not self._known(args):
            return None  # it may get one, later
        self.memo[shapes[0] if len(shapes) == 1 else shapes] = version
        return version

    def forced(self, args: tuple[Value, ...]) -> Version | None:
        """The version for arguments, hot or not."""
        return self._find(args)

    def known(self, args: tuple[Value, ...]) -> Version | None:
        """The version that calls with such arguments go to, as far as is remembered."""
        shapes = tuple(shape_of(args[i]) for i in self._arrays)
        return self.memo.get(shapes[0] if len(shapes) == 1 else shapes)

    def _known(self, args: tuple[Value, ...]) -> bool:
        """Whether it has been decided what becomes of such arguments."""
        shapes = [shape_of(a) for a in args]
        kind = kind_of(shapes, self.bases, self.detail)
        return kind in self.versions or kind in self.refused or any(e > LARGEST for shape in shapes for e in shape)

    def _find(self, args: tuple[Value, ...]) -> Version | None:
        shapes = [shape_of(a) for a in args]
        if any(e > LARGEST for shape in shapes for e in shape):
            return None
        kind = kind_of(shapes, self.bases, self.detail)
        known = self.versions.get(kind)
        if known is not None or kind in self.refused:
            return known
        if self._room == 0 and self.detail < Detail.RANKS:
            self.detail, self._room = Detail(self.detail + 1), VERSIONS
            return self._find(args)
        if self._room == 0:
            self.refused[kind] = Unsupported("it is called with arguments of too many ranks")
            return None
        self._room -= 1
        self._cooled, self._largest = self.seconds, -1
        try:
            self.versions[kind] = self.engine.version(self, kind)
        except Unsupported as reason:
            self.refused[kind] = reason
        return self.versions.get(kind)

    def kind_text(self, kind: Kind) -> str:
        """A kind in words."""
        return kind_text(kind, self.function.signature)

    # ---- when native code does not come to an end

    def failed(self, version: Version, failure: NativeFailure, elapsed: float) -> None:
        """Returns where the call, which took so many seconds, is to be run again, interpreted; otherwise raises."""
        if not isinstance(failure, CheckFailed):
            self.engine.raise_for(failure, elapsed)
        version.failed += 1
        self.engine.reruns += 1

    def rerun(self) -> None:
        """The interpreter is through with such a call."""
        self.engine.reruns -= 1

    def review(self, version: Version, args: tuple[Value, ...]) -> None:
        """Now and then: gives a version up that is slower than the interpreter. So is one that replaces a few elements of a large array: the interpreter, which knows who else holds it, does that in place. Where nobody can tell how long the interpreter takes, but copying seems to be most of the work, it is given a try."""
        once = version.seconds / version.calls
        if self.engine.policy.eager or once < SLOW:
            return
        interpreted = self.engine.certain(self, args)
        if interpreted is not None:
            if once > 3 * interpreted:
                self._drop(version, COPIES)
            return
        if version.recursive:
            return  # the interpreter does not recurse as deep
        copied, version.copied = version.copied, self.engine.copied
        each = (version.copied - copied) / min(version.calls, REVIEW)
        if each * COPYING > once / 10 and self.engine.estimate(self, args) * STEP < once:
            version.trial, version.tried = TRIAL + 1, (self.calls, self.seconds)
            self.memo.clear()

    def _try(self, version: Version) -> Version | None:
        """During a trial nothing, so that a call is interpreted; then the version, unless it has turned out to be slower."""
        version.trial -= 1
        if version.trial:
            return None
        calls, seconds = self.calls - version.tried[0], self.seconds - version.tried[1]
        if seconds * version.calls < version.seconds * calls:
            self._drop(version, COPIES)
            return None
        return version

    def recovered(self, version: Version) -> None:
        """The interpreter found nothing wrong where a check had failed. Calls that recurse may come back from several failures after the version is gone."""
        version.spurious += 1
        if not version.dropped and version.spurious >= SPURIOUS and 2 * version.spurious > version.calls:
            self._drop(version, "conditions that it was compiled with do not hold in most calls")

    def _drop(self, version: Version, reason: str) -> None:
        del self.versions[version.kind]
        version.dropped = True
        self.refused[version.kind] = Unsupported(reason)
        self.memo.clear()


# ---------------------------------------------------------------- generated functions


@cache
def _watcher(params: int, flags: int) -> Callable[..., Callable[..., Any]]:
    """Makes functions that count and time interpreted calls. What is spent on compiling while they run is not theirs."""
    args = ", ".join([f"a{i}" for i in range(params)] + [f"o{i}" for i in range(flags)])
    values = "".join(f"a{i}, " for i in range(params))
    return _compiled(f"""def make(site, engine, clock):
 def watching({args}):
  if site.look(({values})): return site.entry({args})
  site.calls += 1
  site.active += 1
  start = clock() - engine.compiling
  try: return site.interpreted({args})
  finally:
   site.active -= 1
   if not site.active: site.seconds += clock() - engine.compiling - start
 return watching
""")


@cache
def _dispatcher(params: int, arrays: tuple[int, ...], results: int, gives: tuple[int, ...]) -> Callable[..., Callable[..., Any]]:
    """Makes functions that call the version for their arguments' shapes. `arrays`: the parameters that may be arrays, which come with flags; `gives`: the results that go with one. What native code returns is nobody else's, unless the version says that it keeps a copy."""
    args = ", ".join([f"a{i}" for i in range(params)] + [f"o{i}" for i in range(len(arrays))])
    values = "".join(f"a{i}, " for i in range(params))
    shapes = [f"a{i}.shape if type(a{i}) is ndarray else ()" for i in arrays]
    key = f"({shapes[0]})" if len(shapes) == 1 else f"({', '.join(f'({s})' for s in shapes)})"
    back = "None" if not results else "r[0]" if results == 1 and not gives else ", ".join([f"r[{i}]" for i in range(results)] + ["version.owned"] * len(gives))
    return _compiled(f"""def make(site, memo, engine, clock, ndarray, NativeFailure, unknown):
 def dispatching({args}):
  version = memo.get({key}, unknown)
  if version is unknown: version = site.find(({values}))
  if version is None or engine.reruns > {RERUNS}:
   site.calls += 1
   site.active += 1
   start = clock() - engine.compiling
   try: return site.interpreted({args})
   finally:
    site.active -= 1
    if not site.active: site.seconds += clock() - engine.compiling - start
  start = clock()
  try:
   r = version.call(({values}))
   version.calls += 1
   version.seconds += clock() - start
   if version.calls & {REVIEW - 1} == {FIRST}: site.review(version, ({values}))
   return {back}
  except NativeFailure as failure:
   elapsed = clock() - start
   version.seconds += elapsed
   site.failed(version, failure, elapsed)
  try: r = site.interpreted({args})
  finally: site.rerun()
  site.recovered(version)
  return r
 return dispatching
""")


def _compiled(text: str) -> Callable[..., Callable[..., Any]]:
    space: dict[str, Any] = {}
    exec(compile(text, "<dispatch>", "exec"), space)
    made: Callable[..., Callable[..., Any]] = space["make"]
    return made
