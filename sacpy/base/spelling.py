"""Names that are nearly the same.

In: a name that nobody knows, and those that are known. Out: those that may have been meant.
"""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str], limit: int = 3) -> list[str]:
    """The candidates most like `name`, the likest first; none where nothing is near. A different case or one slip
    counts as near even in short names."""
    allowed = max(1, len(name) // 3) if len(name) > 1 else 0
    folded = name.lower()
    scored: list[tuple[int, int, str]] = []
    for candidate in dict.fromkeys(candidates):
        if candidate == name:
            continue
        other = candidate.lower()
        if abs(len(candidate) - len(name)) <= allowed and (distance := _distance(folded, other, allowed)) <= allowed:
            scored.append((distance, _distance(name, candidate, len(name) + len(candidate)), candidate))
        elif len(name) > 3 and (other.startswith(folded) or (len(candidate) > 3 and folded.startswith(other))):
            scored.append((allowed + 1, abs(len(candidate) - len(name)), candidate))
    return [candidate for *_, candidate in sorted(scored)][:limit]


def _distance(a: str, b: str, limit: int) -> int:
    """How many letters are to be inserted, removed, replaced or swapped with their neighbour to make `b` of `a`
    (optimal string alignment); anything above `limit` where it is more."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
