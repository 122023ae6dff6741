"""The versions of one unit: compiled for kinds of arguments, looked up by their shapes, given up where they do not pay.

In: a function of core (the programmer's, a region, or a loop's rest: `jit/run/turns.py`), and the arguments of a call.
Out: the `Version` to call, or None where the call is to be interpreted; the reason is kept. Whether it is time to
compile is decided by those who meet the calls: `dispatch` for functions, `turns` for what is inside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sacpy.interp.ownership import protocol
from sacpy.interp.values import Value, shape_of
from sacpy.jit.beside import Abandoned, Job
from sacpy.jit.failures import CheckFailed, NativeFailure, Unsupported
from sacpy.jit.kinds import LARGEST, WIDEST, Detail, Kind, coarser, kind_of, kind_text
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.report import Report
from sacpy.lang.core import Function
from sacpy.lang.source import Span
from sacpy.nodes import Record, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.host.gates import Gate
    from sacpy.jit.ir.parts import Border
    from sacpy.jit.run.contract import Compiled
    from sacpy.jit.run.judgement import Judge
    from sacpy.jit.run.program_state import ProgramState

LOADING = 0.001  # seconds that code out of the cache takes to load
SURE = 2  # times the price: work that is expected to be so much is not begun interpreted
VERSIONS = 4  # of a unit, for each degree of detail
REMEMBERED = 4096  # shapes whose version is remembered
SPURIOUS = 4  # failed checks behind which there was no error, after which a version is given up
REVIEW = 32  # calls of a version between two looks at how fast it is; a power of 2
FIRST = 4  # the call after which is the first look
SLOW = 20e-6  # seconds; a version that takes less for a call is fast enough
COPYING = 1e-10  # seconds that copying a byte takes at least
PICKING = 2e-10  # seconds that copying a byte takes out of an array that is not dense
TRIAL = 4  # interpreted calls, to see how long they take
LOST = 2  # trials in a row after which a version is given up; the machine may have been busy in one
PLAIN = 4  # times as long as interpreted: after this, one trial will do
COPIES = "it is faster interpreted, which need not copy the array that is updated"
LEAST = 0.05  # seconds that making code is taken to need, where that is not known
VIEWS = "large results are views of what they are taken from, where that is no more than twice as large"
BRIEF = 1e-3  # seconds; a version that takes less for a call may be called again where it fails

UNKNOWN = object()  # nobody has looked for the version of these shapes yet


class Anew(Exception):
    """Raised into an interpreted call whose version has been made meanwhile: it is begun anew, natively."""


class Version(Record):
    """A unit compiled for one kind of arguments. `call` takes the tuple of arguments. Counts and seconds of its calls;
    `failed`: calls that were run again interpreted, `spurious`: those of them that had no error. `owned`: whether the
    arrays that it gives are nobody else's; `device`: the program of a device that it is, if it is one; `direct`: what
    makes calls with contiguous arguments like some others; `giving`: what calls it with arguments that the caller gives
    away, if it takes any; `gate`: makes what calls it in machine code, and `gates` are those that it has made. `trial`:
    interpreted calls to come, to see how long they take; `copied`: bytes that all native code had copied of its
    arguments by the last look."""

    kind: Kind
    call: Callable[[tuple[Value, ...]], tuple[Value, ...]]
    report: Report
    owned: bool = True
    device: DeviceProgram | None = None
    recursive: bool = False
    direct: Callable[[Sequence[Value]], Callable[..., tuple[Value, ...] | None]] | None = None
    giving: Callable[[tuple[Value, ...], tuple[bool, ...]], tuple[Value, ...]] | None = None
    gate: Callable[[Sequence[Value], Sequence[Value], object], Gate | None] | None = None
    calls: int = 0
    seconds: float = 0.0
    failed: int = 0
    spurious: int = 0
    trial: int = 0
    tried: tuple[int, float] = (0, 0.0)  # interpreted calls, and their seconds, when the trial began
    lost: int = 0
    copied: int = 0
    dropped: bool = False
    gates: list[Gate] = field(default_factory=list)
    strided: dict[Border, Compiled | None] = field(default_factory=dict)  # the same where arrays are not all dense
    unlike: int = 0  # bytes of arguments and results that were copied so as to be dense

    def count(self) -> None:
        """Counts the calls that have gone through gates since they were opened."""
        for gate in self.gates:
            self.calls += gate.taken()

    def close(self) -> None:
        """Lets no calls through gates any more: somebody wants to see them."""
        self.count()
        for gate in self.gates:
            gate.close()

    @property
    def is_brief(self) -> bool:
        """Whether calls take little time, and nothing speaks against them."""
        return not self.dropped and not self.trial and self.device is None and 0 < self.seconds <= BRIEF * self.calls

    def briefly(self, args: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The results of a call, where calls take little time and nothing speaks against it; None otherwise, and where
        code does not come to an end: then the usual way finds out why."""
        if not self.is_brief or (self.calls + 1) & (REVIEW - 1) == FIRST:
            return None
        start = perf_counter()
        try:
            found = self.call(args)
        except NativeFailure:
            return None
        self.calls += 1
        self.seconds += perf_counter() - start
        return found


class Versions:
    """The versions of one unit. `memo`: by the shapes of the arguments that may be arrays, the version for them, None
    where such calls are interpreted. `calls`, `seconds`: of interpreted calls, which some units do not have. `is_part`:
    a part of a function, which the program itself does not have."""

    def __init__(self, engine: Judge, room: ProgramState, function: Function, is_part: bool = False) -> None:
        self.engine = engine
        self.room = room
        self.function = function
        self.is_part = is_part
        self.bases = [slot.base for slot in function.signature.params]
        self.arrays = tuple(protocol(function.signature).takes)
        self.versions: dict[Kind, Version] = {}
        self.refused: dict[Kind, Unsupported] = {}
        self.detail = Detail.EXTENTS
        self.memo: dict[Any, Version | None] = {}
        self.jobs: dict[Kind, Job[Version]] = {}  # versions that are made beside the program
        self.prices: dict[Kind, float] = {}  # seconds that making a version takes, 0 where the cache has it
        self.calls = 0
        self.seconds = 0.0
        self.is_renewed = False  # its first call was begun anew, natively: so its interpreted seconds are of a part
        self.wide = False  # whether extents have turned out larger than versions take for granted
        self._room = VERSIONS
        # its arguments are likely to come with many extents: at first there is one version for all of them
        self.is_roving = False

    @property
    def key(self) -> str:
        return self.function.signature.key

    @property
    def span(self) -> Span:
        return self.function.signature.span

    def kind_text(self, kind: Kind) -> str:
        """A kind in words."""
        return kind_text(kind, self.function.signature)

    def taken(self, kind: Kind) -> float:
        """The seconds that calls of a kind have taken interpreted; of a loop, those that were expected at least."""
        return self.prices.get(kind, 0.0)

    # ---- looking up

    def shapes(self, args: Sequence[Value]) -> Any:
        """What `memo` knows arguments by."""
        shapes = tuple([shape_of(args[i]) for i in self.arrays])
        return shapes[0] if len(shapes) == 1 else shapes

    def known(self, args: tuple[Value, ...]) -> Version | None:
        """The version that calls with such arguments go to, as far as is remembered."""
        return self.memo.get(self.shapes(args))

    def kind(self, args: Sequence[Value]) -> Kind | None:
        """The kind of arguments; None where an extent is too large for native code."""
        shapes = [shape_of(a) for a in args]
        most = max((e for shape in shapes for e in shape), default=0)
        if most > WIDEST:
            return None
        return kind_of(shapes, self.bases, self.detail, self.wide or most > LARGEST)

    def resume(self, args: Sequence[Value]) -> bool:
        """Goes on as an earlier run did, if that had a version for arguments like these by less detail than is looked
        at first, and for all others by no more: they are told apart by that from now on. Whether there was one."""
        wanted, detail = self.room.records.kinds(self.key), self.detail
        if not wanted or self.versions or self.jobs or self.refused:
            return False
        for self.detail in Detail:
            if self.kind(args) in wanted and all(coarser(k, self.bases, self.detail) == k for k in wanted):
                return True
        self.detail = detail
        return False

    def decided(self, args: Sequence[Value]) -> bool:
        """Whether it is known what becomes of such arguments."""
        kind = self.kind(args)
        return kind is None or kind in self.versions or kind in self.refused

    def remember(self, args: Sequence[Value], version: Version | None) -> None:
        """Calls with arguments of such shapes go to this version from now on; None: they are interpreted."""
        if len(self.memo) >= REMEMBERED:
            self.memo.clear()
        self.memo[self.shapes(args)] = version

    def get(self, args: Sequence[Value]) -> Version | None:
        """The version for arguments, compiled now if need be; None: interpret them."""
        kind = self.kind(args)
        if kind is None:
            return None
        known = self.versions.get(kind)
        if known is not None or kind in self.refused:
            return known
        job = self.jobs.pop(kind, None)
        if job is None:
            if self._room == 0 and self.detail < Detail.RANKS:
                self.detail, self._room = Detail(self.detail + 1), VERSIONS
                return self.get(args)
            if not self._has_room(kind):
                return None
        try:
            self.versions[kind] = self.engine.version(self, kind, job)
        except Unsupported as reason:
            if self.is_roving:  # it may need to know more
                self.is_roving, self.detail = False, Detail.EXTENTS
                return self.get(args)
            self.refused[kind] = reason
        except Abandoned:
            self._room += 1
        return self.versions.get(kind)

    def begin(self, args: Sequence[Value], sure: bool = False) -> bool:
        """Has a version for arguments made beside the program, if that can be (`Engine.beside`): one whose price is
        known, and that the cache does not have. Whether it is being made."""
        return self.engine.is_to_be_made(self, args) and self._begin(args, sure)

    def _begin(self, args: Sequence[Value], sure: bool) -> bool:
        kind = self.kind(args)
        if kind is None or kind in self.versions or kind in self.refused:
            return False
        if kind not in self.jobs and not all(job.over for job in self.jobs.values()):
            return True  # one at a time: others may be as good for these arguments
        if not self._room and self.detail < Detail.RANKS:
            self.detail, self._room = Detail(self.detail + 1), VERSIONS
            return self._begin(args, sure)
        return self._has_made(kind, sure)

    def _has_made(self, kind: Kind, sure: bool) -> bool:
        """Has a version of a kind made beside the program, as long as there is room for one. Whether it is."""
        if kind not in self.jobs and self._room:
            job = self.engine.beside(self, kind, sure)
            if job is not None:
                self._room -= 1
                self.jobs[kind] = job
        return kind in self.jobs

    def waits(self, args: Sequence[Value]) -> bool:
        """Whether a version for arguments is being made, and is not there yet."""
        kind = self.kind(args) if self.jobs else None
        return kind is not None and kind in self.jobs and not self.jobs[kind].over

    def is_made(self, args: Sequence[Value]) -> bool:
        """Whether a version for arguments has been made beside the program."""
        kind = self.kind(args) if self.jobs else None
        return kind is not None and kind in self.jobs and self.jobs[kind].over

    def _has_room(self, kind: Kind) -> bool:
        if self._room == 0:
            self.refused[kind] = Unsupported("it is called with arguments of too many ranks")
            return False
        self._room -= 1
        return True

    def strided(self, version: Version, border: Border, size: int) -> Compiled | None:
        """The code of a version for arguments and results that are parts of dense arrays; None where they are copied:
        as long as that has taken less time than making the code, and where it is better. `size`: the bytes that would
        be copied."""
        if border in version.strided:
            return version.strided[border]
        version.unlike += size
        if not self.engine.policy.eager and version.unlike * PICKING < max(version.report.seconds, LEAST):
            return None
        try:
            found: Compiled | None = self.engine.made(self, version.kind, border)
            told = "arguments that are not dense are read where they lie" if border.layouts else VIEWS
        except Unsupported as reason:
            found = None
            told = f"an argument that is not dense is copied: {reason.reason}"
            if border.views:
                told = f"results are not views: {reason.reason}"
        version.strided[border] = found
        if told not in version.report.notes:
            version.report = replace(version.report, notes=(*version.report.notes, told))
        return found

    # ---- how they do

    def failed(self, version: Version, failure: NativeFailure, elapsed: float) -> None:
        """Native code did not come to an end, after so many seconds. Returns where the call is to be run again,
        interpreted; otherwise raises."""
        if not isinstance(failure, CheckFailed):
            self.engine.raise_for(failure, elapsed)
        version.failed += 1

    def wider(self, version: Version, failure: NativeFailure, args: tuple[Value, ...]) -> Version | None:
        """After a failure: a version for the same arguments which fails less soon, if it was about an extent that is
        larger than `version` had been compiled for. Later calls go to such versions too."""
        if self.wide or not isinstance(failure, CheckFailed) or not failure.large:
            return None
        self.wide = True
        version.failed -= 1  # it is not interpreted that the call is run again
        self.memo.clear()
        found = self.get(args)
        self.remember(args, found)
        return found

    def recovered(self, version: Version) -> None:
        """The interpreter found nothing wrong where a check had failed. Calls that recurse may come back from several
        failures after the version is gone."""
        version.spurious += 1
        if not version.dropped and version.spurious >= SPURIOUS and 2 * version.spurious > version.calls:
            self.drop(version, "conditions that it was compiled with do not hold in most calls")

    def review(self, version: Version, args: tuple[Value, ...]) -> None:
        """Now and then: gives the interpreter a try where a version seems to be slower. So is one that replaces a few
        elements of a large array: the interpreter, which knows who else holds it, does that in place."""
        once = version.seconds / version.calls
        if self.engine.policy.eager or once < SLOW or version.recursive:  # the interpreter does not recurse as deep
            return
        interpreted = self.engine.certain(self, args)
        if interpreted is None:
            copied, version.copied = version.copied, self.engine.copied
            each = (version.copied - copied) / min(version.calls, REVIEW)
            interpreted = self.engine.estimate(self, args) * STEP if each * COPYING > once / 10 else once
        if once > 2 * interpreted:
            version.close()
            version.trial, version.tried = TRIAL + 1, (self.calls, self.seconds)
            self.memo.clear()

    def tried(self, version: Version) -> Version | None:
        """During a trial nothing, so that a call is interpreted; then the version, unless it turned out slower."""
        version.trial -= 1
        if version.trial:
            return None
        calls, seconds = self.calls - version.tried[0], self.seconds - version.tried[1]
        won, own = seconds * version.calls, version.seconds * calls
        version.lost = version.lost + 1 if won < own else 0
        if version.lost >= LOST or (version.lost and PLAIN * won < own):
            self.drop(version, COPIES)
            return None
        return version

    def drop(self, version: Version, reason: str) -> None:
        """Calls like those of a version are interpreted from now on."""
        del self.versions[version.kind]
        version.close()
        version.dropped = True
        self.refused[version.kind] = Unsupported(reason)
        self.memo.clear()
