"""What was entered in this session, as Jupyter's history messages ask for it.

In: a request's fields. Out: (session, number, text) triples, oldest first; with outputs the text is a pair. There is
one session, the present one: it is 1, and 0 stands for it too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

SESSION = 1


@dataclass(slots=True)
class History:
    """Inputs by their number, with what they showed ("" for nothing)."""

    inputs: dict[int, tuple[str, str]] = field(default_factory=dict)

    def add(self, number: int, text: str, output: str) -> None:
        """Remembers an input."""
        self.inputs[number] = (text, output)

    def answer(self, request: dict[str, Any]) -> list[tuple[int, int, Any]]:
        """The entries that a `history_request` asks for."""
        found = list(self.inputs)
        match request.get("hist_access_type"):
            case "range":
                if request.get("session") not in (0, SESSION, None):
                    return []
                start, stop = request.get("start") or 0, request.get("stop")
                found = [n for n in found if n >= start and (stop is None or n < stop)]
            case "search":
                found = self._matching(request.get("pattern") or "*", unique=bool(request.get("unique")))
                found = _last(found, request.get("n"))
            case _:
                found = _last(found, request.get("n"))
        return [(SESSION, n, self.inputs[n] if request.get("output") else self.inputs[n][0]) for n in found]

    def _matching(self, pattern: str, *, unique: bool) -> list[int]:
        """Inputs that a pattern with `*` and `?` fits; `unique`: of equal ones the last."""
        found = [n for n, (text, _) in self.inputs.items() if fnmatchcase(text, pattern)]
        return sorted({self.inputs[n][0]: n for n in found}.values()) if unique else found


def _last(numbers: list[int], count: int | None) -> list[int]:
    return numbers if count is None else numbers[len(numbers) - min(count, len(numbers)) :]
