"""Times and comparisons as tables.

In: rows and verdicts. Out: text.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.benching.baselines import Row
from sacpy.benching.comparing import Verdict, bounds

UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


def table(rows: Sequence[Row]) -> str:
    """A line for each row, grouped by expressions."""
    head = ("", "first", "least", "median", "between")
    cells: list[tuple[str, ...]] = []
    titles: dict[int, str] = {}
    for i, row in enumerate(rows):
        if i == 0 or rows[i - 1].expression != row.expression:
            titles[len(cells)] = row.expression
        low, high = bounds(sorted(row.measured.samples))
        m = row.measured
        between = f"{duration(low)} and {duration(high)}"
        cells.append((f"  {row.way}", duration(m.first), duration(m.least), duration(m.median), between))
    widths = [max(len(line[i]) for line in (head, *cells)) for i in range(len(head))]
    widths[0] = max(widths[0], 12)
    lines = [_line(head, widths)]
    for i, line in enumerate(cells):
        if i in titles:
            lines.append(titles[i])
        lines.append(_line(line, widths))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))).rstrip()


def comparison(row: Row, verdict: Verdict, count: int) -> str:
    """What a comparison says, in a line."""
    what = {"same": "the same", "slower": "SLOWER", "faster": "faster", "unclear": "cannot tell"}[verdict.word]
    if count == 0:
        return f"  {row.expression}, {row.way}: {what}: other programs interrupted every pair\n"
    bounds_ = f"{_percent(verdict.low)} to {_percent(verdict.high)}"
    return f"  {row.expression}, {row.way}: {what}: {_percent(verdict.ratio)} ({bounds_}, {count} pairs)\n"


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"


def duration(seconds: float) -> str:
    """Seconds in the unit that keeps them short."""
    unit, size = next(((u, s) for u, s in UNITS if seconds >= s), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


__all__ = ["comparison", "duration", "table"]
