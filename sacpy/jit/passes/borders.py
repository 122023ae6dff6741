"""Where a partition is cut: the places along its axes at which a condition, the arguments of a `min` or `max`, or a
remainder in its body becomes certain.

In: a partition, and what is known where it stands. Out: `Cuts` for each axis, for `split` to cut it by. Each test in
the body is one or two sums that are at least 0; `analysis/certain` says where these are decided, over all indices of
the loops inside. Cuts are proposals: pieces are right wherever they are cut, and `ranges` shows what holds in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sacpy.jit.analysis.certain import Certain, Ends, certain, extremes
from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir.graph import Atom, Const, Op, Partition, integer
from sacpy.jit.ir.rewrite import bound
from sacpy.jit.passes.cuts import NARROW, Cuts, Test, tests
from sacpy.jit.passes.ranges import Ranges
from sacpy.jit.passes.summing import ZERO, is_moderate

CHOICES = 8  # sums that are looked at in the place of one with `min` and `max` in it


class Borders:
    """`wraps`: also where remainders stop being their dividends, and where an index is multiplied or divided: for the
    CPU, for which more pieces are not more launches."""

    def __init__(self, known: Ranges, wraps: bool) -> None:
        self.known = known
        self.wraps = wraps

    def where(self, p: Partition) -> list[Cuts]:
        """Where a partition is cut, given that it has an index."""
        known = self.known

        def found() -> list[Cuts]:
            for lower, upper in zip(p.lower, p.upper):
                known.learn_order(integer(0), lower)
                known.learn_order(lower, upper, 1)
            return _Search(self, p).cuts()

        return known.walk.scoped(found)  # type: ignore[no-any-return]

    def now(self, s: Sum) -> Sum:
        """A sum in terms of what its variables are known to be here."""
        if not self.wraps:
            return s
        known = self.known
        total = Sum(s.constant)
        for n, c in s.terms.items():
            total = total.plus(known.form(known.variables[n]) if n in known.variables else Sum(0, {n: 1}), c)
        return total

    def comparisons(self, condition: Atom) -> Iterator[tuple[Sum, bool]]:
        """The comparisons that a condition is made of, each as a sum that is at least 0 where it holds. An equality is
        two of them, which is noted: a cut at one that is near no end leaves the other undecided."""
        rhs = self.known.walk.definition(condition)
        if not isinstance(rhs, Op):
            return
        form = self.known.form
        if rhs.code in ("and", "or", "not"):
            for a in rhs.args:
                yield from self.comparisons(a)
        elif rhs.code in ("lt", "le") and rhs.args[0].base == "int":
            yield (form(rhs.args[1]) - form(rhs.args[0])).offset(-1 if rhs.code == "lt" else 0), False
        elif rhs.code in ("eq", "neq") and rhs.args[0].base == "int":
            d = form(rhs.args[1]) - form(rhs.args[0])
            yield d, True
            yield d.times(-1), True


class _Search:
    """The cuts of one partition."""

    def __init__(self, borders: Borders, p: Partition) -> None:
        self.borders = borders
        self.known = borders.known
        self.partition = p
        self.found = [Cuts() for _ in p.index]
        self.axes = {i.name: k for k, i in enumerate(p.index)}
        self.inside = bound(p.body)

    def cuts(self) -> list[Cuts]:
        for test in tests(self.partition.body):
            ends = self.ends(test)
            if isinstance(test.what, Op) and test.what.code in ("mod", "aplmod"):
                self.remainder(test.what, ends)
                continue
            for f, equal in self.sums(test):
                for choice in islice(self.choices(f, ends), CHOICES):
                    self.condition(choice, ends, test, test.anywhere and not equal)
        return self.found

    def ends(self, test: Test) -> Ends:
        """What the indices of the loops around a test lie between."""
        form = self.known.form
        return {name: (form(lower), form(upper).offset(-1)) for name, (lower, upper) in test.ranges.items()}

    def sums(self, test: Test) -> Iterator[tuple[Sum, bool]]:
        """What is at least 0 or not, as a test comes out, and whether it is one of the two of an equality."""
        form = self.known.form
        match test.what:
            case Op(code="min" | "max", args=(a, b)):
                yield form(b) - form(a), False
            case Op(code="abs", args=(a,)):
                yield form(a), False
            case Op():
                return
            case condition:
                yield from self.borders.comparisons(condition)

    def choices(self, f: Sum, ends: Ends) -> Iterator[Sum]:
        """The sums that one is, whichever argument each `min`, `max` and `abs` in it takes, if nothing wraps."""
        known = self.known
        for name, c in f.terms.items():
            if name not in self.inside or name in ends:
                continue
            op, whole = known.walk.definitions.get(name), known.wrapped.get(name)
            rest = f.plus(Sum(0, {name: 1}), -c)
            if whole is not None:
                yield from self.choices(rest.plus(whole, c), ends)
                return
            if isinstance(op, Op) and op.code in ("min", "max", "abs"):
                for a in op.args:
                    yield from self.choices(rest.plus(known.form(a), c), ends)
                if op.code == "abs":
                    yield from self.choices(rest.plus(known.form(op.args[0]), -c), ends)
                return
        yield f

    # ---- conditions

    def condition(self, f: Sum, ends: Ends, test: Test, anywhere: bool) -> None:
        """Adds the cuts between the indices for which `f >= 0` is decided in one way or the other. Where loops inside
        ask, it is asked again and again for one index along any axis, otherwise once for each row."""
        wraps = self.borders.wraps
        plain, f = f, self.undivided(f) if wraps else f
        names = [n for n in f.terms if n in self.axes]
        if len(names) != 1 or (abs(f.terms[names[0]]) != 1 and not wraps):
            return
        axis = self.axes[names[0]]
        looped = any(n in ends for n in f.terms)
        if not test.strong and not looped and axis != self.partition.rank - 1:
            return
        if any(n in self.inside and n not in ends for n in f.terms):
            return
        at = certain(f, names[0], ends)
        if at is not None and isinstance(test.what, Op):  # of two equal ones either may be taken
            either = (at.before.offset(1), at.after) if at.rising else (at.before, at.after.offset(-1))
            at = Certain(*either, at.rising)
        if at is None or any(n in self.inside or n in self.axes for n in (*at.before.terms, *at.after.terms)):
            return
        if looped:
            self.band(self.found[axis], axis, at)
        else:
            self.cut(self.found[axis], axis, at.after, anywhere and f is plain)

    def cut(self, cuts: Cuts, axis: int, place: Sum, anywhere: bool) -> None:
        """Adds a cut, so that the indices below `place` get apart from the others; `anywhere`: also where that is not
        known to be near an end."""
        low, high = self.distances(axis, place)
        if self.is_narrow(axis, low, high):
            return
        cuts.tests += 1
        if not low.terms and low.constant <= NARROW:
            cuts.low = max(cuts.low, low.constant)
        elif not high.terms and high.constant <= NARROW:
            cuts.high = max(cuts.high, high.constant)
        elif anywhere and cuts.middle is None and self.known.fits(self.borders.now(place)):
            cuts.middle = self.borders.now(place)

    def band(self, cuts: Cuts, axis: int, at: Certain) -> None:
        """Adds cuts at both sides of the indices for which a condition depends on the loops inside. Windows are taken
        to be small: a place is near the end from which it does not depend on how long the axis is."""
        form, p = self.known.form, self.partition
        length = self.borders.now(form(p.upper[axis])) - self.borders.now(form(p.lower[axis]))
        for place in (at.before, at.after):
            low, high = self.distances(axis, place)
            if self.is_narrow(axis, low, high) or not is_moderate(place):
                continue
            near = [d for d in (low, high) if length.terms.keys().isdisjoint(d.terms)]
            if not near:
                continue
            cuts.tests += 1
            if min(near, key=lambda d: d.constant) is low:
                cuts.below(place)
            else:
                cuts.above(place)

    def distances(self, axis: int, place: Sum) -> tuple[Sum, Sum]:
        """How many indices along an axis are below a place, and how many are not."""
        form, now, p = self.known.form, self.borders.now, self.partition
        place = now(place)
        return place - now(form(p.lower[axis])), now(form(p.upper[axis])) - place

    def is_narrow(self, axis: int, low: Sum, high: Sum) -> bool:
        """Whether there is nothing to gain from a cut: the axis is short, or all is on one side."""
        at_most = self.known.at_most
        return at_most(low + high, Sum(NARROW)) or at_most(low, ZERO) or at_most(high, ZERO)

    def undivided(self, f: Sum) -> Sum:
        """A sum that is at least 0 where another is, for dividends that are not negative: without quotients by numbers.
        `n - i / 2 >= 0` is `2 * n + 1 - i >= 0`."""
        for n, c in f.terms.items():
            q = self.known.walk.definitions.get(n) if n in self.inside else None
            if (
                abs(c) == 1
                and isinstance(q, Op)
                and q.code == "div"
                and isinstance(q.args[1], Const)
                and q.args[1].value > 1
            ):
                d = int(q.args[1].value)
                rest = f.plus(Sum(0, {n: 1}), -c).times(d).offset(d - 1 if c < 0 else 0)
                return self.undivided(rest.plus(self.known.form(q.args[0]), c))
        return f

    # ---- remainders

    def remainder(self, op: Op, ends: Ends) -> None:
        """Adds the cuts that leave, in between, the indices for which a remainder is its dividend: this is at least 0
        and below the divisor."""
        known, p = self.known, self.partition
        divisor, given = known.form(op.args[1]), known.form(op.args[0])
        x = known.wrapped.get(given.variable or "") or given
        x = x.plus(divisor, -x.terms.get(divisor.variable or "", 0))  # (i - 1 + n) % n
        names = [n for n in x.terms if n in self.axes]
        if len(names) != 1 or abs(x.terms[names[0]]) != 1:
            return
        looped = any(n in ends for n in x.terms)
        if not self.borders.wraps and not looped:
            return
        positive, below = certain(x, names[0], ends), certain(divisor.offset(-1) - x, names[0], ends)
        if positive is None or below is None:
            return
        falling, rising = (below, positive) if positive.rising else (positive, below)
        first, end = rising.after, falling.before
        if any(n in self.inside or n in self.axes for n in (*first.terms, *end.terms)) or not (
            is_moderate(first) and is_moderate(end)
        ):
            return
        axis = self.axes[names[0]]
        plain = not ends and self.is_positive(divisor)
        if plain and axis != p.rank - 1:
            return  # once for each row
        lower, upper = known.form(p.lower[axis]), known.form(p.upper[axis])
        under, over = first - lower, upper - end
        near = all(not d.terms or known.at_most(d, ZERO) for d in (under, over))  # windows are taken to be small
        if known.at_most(upper - lower, Sum(NARROW)) or not (near or ends):
            return
        cuts = self.found[axis]
        least, greatest = extremes(x.plus(Sum(0, {names[0]: 1}), -x.terms[names[0]]), ends)
        span = (greatest - least).offset(1)
        for s in () if plain else (span, *(s for s in (under, over) if not known.at_most(s, span))):
            if not known.at_most(s, divisor) and (s, divisor) not in cuts.spans:
                cuts.spans.append((s, divisor))
        cuts.tests += 1
        if not known.at_most(under, ZERO):
            cuts.below(first)
        if not known.at_most(over, ZERO):
            cuts.above(end)

    def is_positive(self, s: Sum) -> bool:
        """Whether a sum is positive if the partition has an index."""
        known, p = self.known, self.partition

        def proved() -> bool:
            for lower, upper in zip(p.lower, p.upper):
                known.learn_order(lower, upper, 1)
            return known.at_most(Sum(1), s)

        return bool(known.walk.scoped(proved))
