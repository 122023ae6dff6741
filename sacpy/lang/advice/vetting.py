"""Changes tried out: one is proposed only if it mends what it is proposed for.

In: diagnostics, for each the changes in question, and a way to check a changed text. Out: for each the first change
that is right. Right is a change after which what it is for is gone, and nothing else is wrong that was right before;
what the front end finds only then, because it had given up before, may stand elsewhere.
Where what it finds is about the changed text and has a change of its own that is right, the two make one: `use Math:
all;` and `2.0` for `sqrt(2)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import perf_counter

from sacpy.lang.advice.foreign import Change
from sacpy.lang.diagnostics import Diagnostic, Edit
from sacpy.lang.source import Span
from sacpy.nodes import Node, replace

Texts = Mapping[str, str]
MOST = 12  # programs that are checked for one report
_SECONDS = 2.0  # after which no further one is: only programs whose check takes very long come to this
_CHARACTERS = 200_000  # and that many characters in all, but for the first two


class Right(Node):
    """A change that is right, and which of the diagnostics, by number, it makes go away."""

    change: Change
    cured: frozenset[int]


class Vetting:
    """Tries changes of one program. `before`: all that is wrong with it; `check`: all that is wrong with a changed one;
    `more`: the changes in question for a diagnostic of a changed one."""

    def __init__(
        self,
        before: Sequence[Diagnostic],
        check: Callable[[Texts], Sequence[Diagnostic]],
        more: Callable[[Diagnostic], Sequence[Change]],
    ) -> None:
        self._before, self._check, self._more = before, check, more
        size = max((len(d.span.source.text) for d in before), default=0)
        self._began = perf_counter()
        self._left = max(2, min(MOST, _CHARACTERS // max(size, 1)))

    def choose(self, wanted: Sequence[tuple[int, Sequence[Change]]]) -> list[Right | None]:
        """For each diagnostic, by number, the first of its changes that is right."""
        firsts = [changes[0].edit for _, changes in wanted if changes]
        if len(firsts) > 1 and _apart(firsts) and not _errors(self._problems(firsts)):
            return [Right(changes[0], frozenset((at,))) if changes else None for at, changes in wanted]
        return [self._first(at, changes) for at, changes in wanted]

    def _first(self, at: int, changes: Sequence[Change]) -> Right | None:
        for change in changes:
            right = self._tried(at, change)
            if right is not None:
                return right
        return None

    def _tried(self, at: int, change: Change, grown: bool = False) -> Right | None:
        """The change, or what it grows to, if it is right."""
        if self._left <= 0 or perf_counter() - self._began > _SECONDS:
            return None
        after = self._problems([change.edit])
        cured, fresh = _compared(self._before, after, change.edit, at)
        if at not in cured:
            return None
        stage = _stage(self._before[at])
        in_the_way = [d for d in fresh if _stage(d) <= stage or _about(d, change.edit)]
        if not in_the_way:
            return Right(change, cured)
        if grown or len({(d.code, d.message) for d in in_the_way}) > 1:
            return None
        for more in self._more(in_the_way[0]):  # what it lays bare may have a change of its own
            both = _joined(change.edit, more.edit)
            if both is not None and (right := self._tried(at, _with_edit(change, both), True)) is not None:
                return right
        return None

    def _problems(self, edits: Sequence[Edit]) -> Sequence[Diagnostic]:
        self._left -= 1
        return self._check(changed(edits))


def _with_edit(change: Change, edit: Edit) -> Change:
    """The change with another edit; where the help shows what is to be written, it shows that."""
    told = f"`{change.edit.text}`"
    same = not edit.text or change.help.count(told) != 1
    return replace(change, help=change.help if same else change.help.replace(told, f"`{edit.text}`"), edit=edit)


def changed(edits: Sequence[Edit]) -> dict[str, str]:
    """The texts of the sources that the changes are about, changed. The same line put in twice is put in once."""
    places: dict[str, dict[tuple[int, int, str], Span]] = {}
    for edit in edits:
        for one in edit.parts:
            places.setdefault(one.span.source.name, {})[one.span.start, one.span.end, one.text] = one.span
    texts: dict[str, str] = {}
    for name, own in places.items():
        text = next(iter(own.values())).source.text
        for start, end, new in sorted(own, reverse=True):
            text = text[:start] + new + text[end:]
        texts[name] = text
    return texts


def _apart(edits: Sequence[Edit]) -> bool:
    """Whether changes do not touch each other's places, so that all can be made at once."""
    spans = sorted({(o.span.source.name, o.span.start, o.span.end) for e in edits for o in (e, *e.also)})
    return all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(spans))


def _joined(first: Edit, second: Edit) -> Edit | None:
    """Two changes as one, the second made in the text that the first gave. None where they are about different
    sources."""
    source = first.span.source
    if any(one.span.source.name != source.name for one in (second, *second.also)):
        return None
    after = changed([first])[source.name]
    made: list[
        tuple[int, int, int]
    ] = []  # where the first change is in `after`, and by how much it moved what is behind
    for part in first.parts:
        start = part.span.start + sum(moved for *_, moved in made)
        made.append((start, start + len(part.text), len(part.text) - (part.span.end - part.span.start)))
    theirs = sorted((one.span.start, one.span.end, one.text) for one in (second, *second.also))
    stretches: list[tuple[int, int]] = []
    for a, b in sorted([(a, b) for a, b, _ in made] + [(a, b) for a, b, _ in theirs]):
        if stretches and a <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(b, stretches[-1][1])
        else:
            stretches.append((a, b))
    edits: list[Edit] = []
    main = 0
    for a, b in stretches:
        text = after[a:b]
        for start, end, new in reversed(theirs):
            if a <= start and end <= b:
                text = text[: start - a] + new + text[end - a :]
        old = Span(
            source, a - sum(moved for _, e, moved in made if e < a), b - sum(moved for _, e, moved in made if e <= b)
        )
        if old.start <= first.span.start and first.span.end <= old.end:
            main = len(edits)
        edits.append(Edit(old, text))
    return replace(edits[main], also=tuple(e for i, e in enumerate(edits) if i != main))


# ---------------------------------------------------------------- comparing


def _errors(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    return [d for d in found if d.severity == "error"]


def _compared(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], edit: Edit, at: int
) -> tuple[frozenset[int], list[Diagnostic]]:
    """Which of the diagnostics are gone, by number, and the errors that were not there. One is the same as before where
    it says the same of the same place; any but `at` also where it says the same of the same words elsewhere."""
    left = list(after)
    gone: list[int] = []
    for i, d in enumerate(before):
        place = _moved(d.span, edit)
        same = next((n for n in left if (n.code, n.message, n.span.start) == (d.code, d.message, place)), None)
        if same is not None:
            left.remove(same)
        else:
            gone.append(i)
    for i in [i for i in gone if i != at]:
        d = before[i]
        same = next((n for n in left if (n.code, n.message, n.span.text) == (d.code, d.message, d.span.text)), None)
        if same is not None:
            left.remove(same)
            gone.remove(i)
    return frozenset(gone), _errors(left)


def _moved(span: Span, edit: Edit) -> int:
    """Where a span begins in the changed text."""
    if span.source.name != edit.span.source.name:
        return span.start
    moved = 0
    for part in edit.parts:
        if (
            part.span.end <= span.start and part.span.start < span.start
        ) or part.span.start == part.span.end == span.start:
            moved += len(part.text) - (part.span.end - part.span.start)
    return span.start + moved


def _stage(diagnostic: Diagnostic) -> int:
    """Which stage of the front end finds it; what a later one finds stays hidden as long as an earlier one finds
    something."""
    hundreds = int(diagnostic.code[1:3])
    return {1: 1, 2: 2, 3: 3, 4: 3}.get(hundreds, 4)


def _about(diagnostic: Diagnostic, edit: Edit) -> bool:
    """Whether a diagnostic of the changed text is about what was changed."""
    if diagnostic.span.source.name != edit.span.source.name:
        return False
    shift = 0
    for one in edit.parts:
        start = one.span.start + shift
        beside = (
            0 if one.span.start == one.span.end else 1
        )  # what stands in the place of something belongs to what it touches
        if diagnostic.span.start < start + max(len(one.text), 1) + beside and start - beside < max(
            diagnostic.span.end, diagnostic.span.start + 1
        ):
            return True
        shift += len(one.text) - (one.span.end - one.span.start)
    return False
