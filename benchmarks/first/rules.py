"""What first results must keep to.

In: measurements. Out: rows with limits and verdicts. Two rules are for every case, cold against cold and warm
against warm: `auto` takes at most 1.3 times the time of the better of `cpu` and `interp`, plus a tenth of a second,
and over all cases no longer than that. The others, in `RULES`, are for one case each: against a peer, against another
program that computes the same, or a plain limit.

Where a time is to be compared with that of another language, that of a process that does nothing is taken away from
both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.first.cases import START, Case
from benchmarks.first.measuring import STATES, Measurements
from benchmarks.measure import Row

FACTOR, SLACK = 1.3, 0.1
MIB = 2.0**20

Value = Callable[[Measurements, str], float | None]
"""What is measured in a state; None where it could not be."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit of a case: `found` is to be at most `most`, both in `unit`, in the `states`. `beside`: the case it is
    compared with."""

    case: str
    what: str
    found: Value
    most: Value
    unit: str = "s"
    states: tuple[str, ...] = STATES
    beside: str = ""


def seconds(case: str, who: str = "auto") -> Value:
    return lambda m, state: m.seconds(case, who, state)


def beyond(case: str, who: str = "auto") -> Value:
    """Seconds beyond those of a process that does nothing."""
    nothing = "numpy" if who == "numba" else who
    return _both(seconds(case, who), seconds(START, nothing), lambda a, b: max(a - b, 0.0))


def told(case: str, name: str, who: str = "auto", scale: float = 1.0) -> Value:
    """What a script tells of itself."""
    return lambda m, state: None if (t := m.measure(case, who, state, name)) is None else scale * t


def memory(case: str, who: str = "auto") -> Value:
    """MiB held at most, beyond those of a process that does nothing."""
    return lambda m, state: _both(_memory(case, who), _memory(START, who), lambda a, b: (a - b) / MIB)(m, state)


def _memory(case: str, who: str) -> Value:
    return lambda m, state: m.memory(case, who, state)


def times(value: Value, factor: float, plus: float = 0.0) -> Value:
    return lambda m, state: None if (v := value(m, state)) is None else factor * v + plus


def just(value: float) -> Value:
    return lambda m, state: value


def _both(first: Value, second: Value, join: Callable[[float, float], float]) -> Value:
    def joined(m: Measurements, state: str) -> float | None:
        a, b = first(m, state), second(m, state)
        return None if a is None or b is None else join(a, b)

    return joined


def _python(case: str) -> Rule:
    """Plain Python is no faster, from the first call on."""
    return Rule(case, "beyond start-up, plain Python's", beyond(case), beyond(case, "python"))


def _python_calls(case: str) -> Rule:
    """The same where Python calls."""
    return Rule(case, "the first call, plain Python's", told(case, "first"), told(case, "first", "python"))


def _twin(case: str, twin: str, factor: float, plus: float = 0.0) -> Rule:
    """A case takes at most `factor` times the time of another, plus so many seconds."""
    text = f"{factor:g} x {twin.rpartition('/')[2]}{f' + {plus:g} s' if plus else ''}"
    return Rule(case, text, seconds(case), times(seconds(twin), factor, plus), beside=twin)


SORT, STENCIL, MILLIONTH = "embedding/quicksort", "embedding/stencil8", 1e6
SHORT = "sum_iota_short"
SUM, SUM_SHORT = "table/sum_iota", f"table/{SHORT}"
ANY, GROW, LOOP = "table/any_false", "table/grow", "table/livermore08"
RULES = (
    _python("table/fib28"),
    _python("table/hanoi20"),
    _python_calls("embedding/fib_call"),
    _python_calls(SORT),
    Rule(SORT, "the first call, 2 x the second + 0.1 s", told(SORT, "first"), times(told(SORT, "second"), 2.0, 0.1)),
    _twin(SUM, SUM_SHORT, 1.0, 0.15),
    Rule(SUM, f"memory, {SHORT} + 5 MiB", memory(SUM), times(memory(SUM_SHORT), 1.0, 5.0), "MiB", beside=SUM_SHORT),
    Rule("table/multigrid", "the first result", seconds("table/multigrid"), just(1.2), states=("cold",)),
    _twin("table/clock_two", "table/clock_one", 1.3, 0.1),
    _twin("table/once_any", "table/once_fixed", 3.0),
    _twin("table/rank_condition", "table/rank_fixed", 3.0),
    Rule(GROW, "beyond start-up, NumPy's", beyond(GROW), beyond(GROW, "numpy")),
    Rule(ANY, "beyond start-up, NumPy's + 0.1 s", beyond(ANY), times(beyond(ANY, "numpy"), 1.0, 0.1)),
    Rule(ANY, f"memory, {SHORT} + 20 MiB", memory(ANY), times(memory(SUM_SHORT), 1.0, 20.0), "MiB", beside=SUM_SHORT),
    Rule(LOOP, "beyond start-up, that of C", beyond(LOOP), beyond(LOOP, "c"), states=("warm",)),
    _twin("table/fails_late", "table/succeeds_late", 2.0, 0.2),
    Rule(STENCIL, "a call of many", told(STENCIL, "each", scale=MILLIONTH), just(12.0), "us"),
)


def needed(chosen: Iterable[str]) -> set[str]:
    """The cases that are chosen, with those that they are compared with."""
    names = set(chosen)
    ruled = [rule for rule in RULES if rule.case in names]
    return names | {rule.beside for rule in ruled if rule.beside} | ({START} if ruled else set())


def limit(m: Measurements, case: str, state: str) -> float | None:
    """The most seconds that `auto` may take."""
    better = m.better(case, state)
    return None if better is None else FACTOR * better + SLACK


def over(m: Measurements, case: str, state: str) -> bool:
    """Whether `auto` is over that limit, or did not get through where another target did."""
    most, taken = limit(m, case, state), m.seconds(case, "auto", state)
    return most is not None and (taken is None or taken > most)


def mean(m: Measurements, cases: Iterable[Case], state: str) -> Row | None:
    """The geometric mean of the time of `auto` over that of the better target."""
    pairs = [(m.seconds(c.name, "auto", state), m.better(c.name, state)) for c in cases]
    ratios = [a / b for a, b in pairs if a is not None and b is not None]
    if not ratios:
        return None
    title = f"auto over the better of cpu and interp, geometric mean of {len(ratios)}, {state}"
    return Row(title, statistics.geometric_mean(ratios), "x", min(ratios), max(ratios), 1.0)


def rows(m: Measurements, cases: Iterable[Case]) -> Iterator[Row]:
    """What is said of single cases, and the means. A case that did not get through has no time: that is over any
    limit."""
    chosen = list(cases)
    names = {c.name for c in chosen}
    for rule in RULES:
        for state in rule.states if rule.case in names else ():
            found, most = rule.found(m, state), rule.most(m, state)
            if most is None:
                continue  # what it is compared with is not there
            value = math.inf if found is None else found
            yield Row(f"{rule.case}, {state}: {rule.what}", value, rule.unit, value, value, most)
    yield from (row for state in STATES if (row := mean(m, chosen, state)) is not None)
