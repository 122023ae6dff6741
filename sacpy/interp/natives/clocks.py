"""Natives of the clocks, timers, dates and of Benchmarking. A time of day is a whole number of seconds since 1970."""

from __future__ import annotations

import time
from collections.abc import Callable

from sacpy.interp import memory
from sacpy.interp.errors import Fault
from sacpy.interp.natives import native
from sacpy.interp.streams import Stream
from sacpy.interp.world import World
from sacpy.nodes import Node, replace

SECOND = 1_000_000_000
UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0))


@native(
    "RTClock::createTheRTClock/0",
    "MTClock::createTheMTClock/0",
    "Clock::create_TheClock/0",
    "Benchmarking::create_TheBenchmarkObject/0",
)
def create(world: World) -> World:
    return world


@native("RTClock::touch/1", "MTClock::touch/1")
def touch(world: World, clock: object) -> object:
    return clock


@native("MTClock::touch/0", "RTClock::touch/0", "Benchmarking::benchThis/0")
def touch_it(world: World) -> None:
    """Only keeps its place among the other calls."""


@native("RTClock::gettime/0")
def real_time(world: World) -> tuple[int, int]:
    return divmod(world.now(), SECOND)


@native("MTClock::gettime/0")
def monotonic_time(world: World) -> tuple[int, int]:
    return divmod(world.monotonic(), SECOND)


# ---------------------------------------------------------------- timers


class Timer(Node):
    """Nanoseconds measured so far, and when it was started, if it runs."""

    elapsed: int = 0
    started: int | None = None


@native("RTimer::createRTimer/0")
def create_timer(world: World) -> Timer:
    return Timer()


@native("RTimer::destroyRTimer/1")
def destroy_timer(world: World, timer: Timer) -> None:
    """Nothing is left to free."""


@native("RTimer::startRTimer/1")
def start_timer(world: World, timer: Timer) -> Timer:
    return timer if timer.started is not None else replace(timer, started=world.monotonic())


@native("RTimer::stopRTimer/1")
def stop_timer(world: World, timer: Timer) -> Timer:
    return timer if timer.started is None else Timer(timer.elapsed + world.monotonic() - timer.started)


@native("RTimer::resetRTimer/1")
def reset_timer(world: World, timer: Timer) -> Timer:
    return timer if timer.started is not None else Timer()


@native("RTimer::getRTimerLong/1")
def timer_long(world: World, timer: Timer) -> tuple[int, int, Timer]:
    return *divmod(timer.elapsed, SECOND), timer


@native("RTimer::getRTimerDbl/1")
def timer_double(world: World, timer: Timer) -> tuple[float, Timer]:
    return timer.elapsed / SECOND, timer


# ---------------------------------------------------------------- dates


@native("Clock::to_time/1")
def to_time(world: World, seconds: int) -> int:
    return seconds


@native("Clock::gettime/0")
def get_time(world: World) -> int:
    return world.now() // SECOND


@native("Clock::mktime/6")
def mktime(world: World, year: int, month: int, day: int, hour: int, minute: int, second: int) -> tuple[int, bool]:
    try:
        return int(time.mktime((year + 1900, month + 1, day, hour, minute, second, 0, 0, -1))), True
    except (OverflowError, ValueError):
        return -1, False


_FIELDS: dict[str, Callable[[time.struct_time], int]] = {
    "sec": lambda t: t.tm_sec,
    "min": lambda t: t.tm_min,
    "hour": lambda t: t.tm_hour,
    "mday": lambda t: t.tm_mday,
    "mon": lambda t: t.tm_mon - 1,
    "year": lambda t: t.tm_year - 1900,
    "wday": lambda t: (t.tm_wday + 1) % 7,
    "yday": lambda t: t.tm_yday - 1,
    "isdst": lambda t: t.tm_isdst,
}


def _register_field(name: str, field: Callable[[time.struct_time], int]) -> None:
    @native(f"Clock::{name}/1")
    def of_time(world: World, moment: int) -> int:
        return field(time.localtime(moment))


for _name, _field in _FIELDS.items():
    _register_field(_name, _field)


@native("Clock::clock/1")
def clock(world: World, moment: int) -> tuple[int, int, int]:
    parts = time.localtime(moment)
    return parts.tm_hour, parts.tm_min, parts.tm_sec


@native("Clock::date/1")
def date(world: World, moment: int) -> tuple[int, int, int]:
    parts = time.localtime(moment)
    return parts.tm_year - 1900, parts.tm_mon - 1, parts.tm_mday


@native("Clock::isleap/1", wants_bases=True)
def isleap(world: World, year: int, *, bases: tuple[str, ...]) -> bool:
    if bases[0] != "int":
        year = time.localtime(year).tm_year
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@native("Clock::difftime/2")
def difftime(world: World, later: int, earlier: int) -> float:
    return float(later - earlier)


@native("Clock::ctime/1")
def ctime(world: World, moment: int) -> bytes:
    return time.ctime(moment).encode() + b"\n"


@native("Clock::strftime/3")
def strftime(world: World, limit: int, fmt: bytes, moment: int) -> bytes:
    memory.room(1100 * len(fmt))  # Python's buffer grows up to that
    text = time.strftime(fmt.decode("latin-1"), time.localtime(moment)).encode("latin-1")
    return text if len(text) < limit else b""


@native("Clock::strptime/2")
def strptime(world: World, text: bytes, fmt: bytes) -> tuple[int, bytes]:
    """The time that the beginning of a text gives, and the rest; 0 and the empty string where it does not fit."""
    if len(fmt) > LONGEST_DATE:
        return 0, b""
    longest = min(len(text), LONGEST_DATE + 32 * len(fmt))
    memory.room(len(text))
    words, pattern = text[:longest].decode("latin-1"), fmt.decode("latin-1")
    for end in range(longest, -1, -1):
        try:
            return int(time.mktime(time.strptime(words[:end], pattern))), text[end:]
        except (ValueError, OverflowError):
            continue
    return 0, b""


LONGEST_DATE = 1 << 8  # characters of a format; of a date beyond 32 for each of its format
SLICE = 0.1  # seconds that a sleeping program takes at most to notice that it must end


@native("Clock::sleep/1")
def sleep(world: World, seconds: int) -> None:
    world.flush()
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, SLICE))


@native("TimeStamp::timeStamp/0")
def time_stamp(world: World) -> None:
    seconds, rest = divmod(world.now(), SECOND)
    world.stdout.write(b"%09d.%06d\n" % (seconds, rest // 1000))


# ---------------------------------------------------------------- benchmarking


class Interval(Node):
    """A stretch of time between `start` and `end`, in nanoseconds, to be told in a unit: 0 seconds, 1 milli, 2 micro, 3
    nano."""

    name: bytes
    number: int
    unit: int = 0
    started: int = 0
    ended: int = 0


@native("Benchmarking::getInterval/1", wants_bases=True)
def get_interval(world: World, name: bytes | int, *, bases: tuple[str, ...]) -> Interval:
    return Interval(b"", name) if isinstance(name, int) else Interval(name, -1)


@native("Benchmarking::getInterval/2")
def get_interval_numbered(world: World, name: bytes, number: int) -> Interval:
    return Interval(name, number)


@native("Benchmarking::getInterval/3")
def get_interval_in(world: World, name: bytes, number: int, unit: int) -> Interval:
    if not 0 <= unit < len(UNITS):
        raise Fault(
            "E0658",
            f"getInterval: {unit} is not a unit of time",
            help="use 0 for seconds, 1 for milliseconds, 2 for microseconds, 3 for nanoseconds",
        )
    return Interval(name, number, unit)


@native("Benchmarking::destroyInterval/1")
def destroy_interval(world: World, interval: Interval) -> None:
    """Nothing is left to free."""


@native("Benchmarking::start/1")
def start(world: World, interval: Interval) -> Interval:
    return replace(interval, started=world.monotonic())


@native("Benchmarking::end/1")
def end(world: World, interval: Interval) -> Interval:
    return replace(interval, ended=world.monotonic())


def _result(interval: Interval) -> tuple[float, bytes]:
    unit, scale = UNITS[interval.unit]
    return (interval.ended - interval.started) / scale, unit.encode()


@native("Benchmarking::returnResultUnit/1")
def return_result_unit(world: World, interval: Interval) -> tuple[float, bytes, Interval]:
    return *_result(interval), interval


@native(*(f"Benchmarking::printResult/{count}" for count in range(1, 8)))
def print_result(world: World, *intervals: Interval) -> tuple[Interval, ...] | Interval:
    """Results and descriptions as two fibre arrays."""
    last = len(intervals) - 1
    values = b"".join(b"    %.6f\n" % _result(interval)[0] for interval in intervals)
    names = b"".join(
        b' "%d %b %b"\n' % (interval.number, interval.name, _result(interval)[1]) for interval in intervals
    )
    stdout: Stream = world.stdout
    stdout.write(b"### begin intervals\n[ 0,%d:\n%b]\n### begin intervals\n" % (last, values))
    stdout.write(b"### begin descriptions\n[ 0,%d:\n%b]\n### end descriptions\n" % (last, names))
    return intervals if last else intervals[0]
