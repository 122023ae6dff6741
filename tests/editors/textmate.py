"""A small TextMate engine: enough of it to try a grammar on lines of text.

In: a grammar as JSON, a text. Out: for each character the scopes it is in. `match`, `begin` and `end` with captures,
nested patterns and `include` of the grammar's own repository; Python's `re` in the place of Oniguruma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

Rule = dict[str, Any]


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the grammar."""
    return re.compile(pattern)


@dataclass
class Grammar:
    """A grammar, ready to scan."""

    grammar: Rule

    def rules(self, patterns: list[Rule]) -> Iterator[Rule]:
        """The rules of a list, included ones in their place."""
        for rule in patterns:
            if "include" in rule:
                yield from self.rules([self.grammar["repository"][rule["include"].removeprefix("#")]])
            elif "match" in rule or "begin" in rule:
                yield rule
            else:
                yield from self.rules(rule["patterns"])

    def scopes(self, text: str) -> list[tuple[str, ...]]:
        """The scopes of each character, outermost first; line ends have none."""
        out: list[tuple[str, ...]] = []
        stack: list[Rule] = [self.grammar]
        for number, line in enumerate(text.split("\n")):
            out += [*self._line(line, stack, number == 0), ()]
        return out[:-1]

    def _line(self, line: str, stack: list[Rule], first: bool) -> list[tuple[str, ...]]:
        marks = [()] * len(line)
        at = 0
        while True:
            top = stack[-1]
            base = tuple(r["name"] for r in stack[1:] if "name" in r)
            candidates = [(compiled(top["end"]), None)] if "end" in top else []
            candidates += [
                (compiled(r.get("match") or r["begin"]), r)
                for r in self.rules(top.get("patterns", []))
                if first or not r.get("match", "").startswith("\\A")
            ]
            found = [(m.start(), i, m, r) for i, (p, r) in enumerate(candidates) if (m := p.search(line, at))]
            if not found:
                marks[at:] = [base] * (len(line) - at)
                return marks
            start, _, match, rule = min(found, key=lambda f: f[:2])
            marks[at:start] = [base] * (start - at)
            own = base if rule is None else (*base, *([rule["name"]] if "name" in rule else []))
            marks[start : match.end()] = [own] * (match.end() - start)
            captures = {} if rule is None else rule.get("captures") or rule.get("beginCaptures") or {}
            for group, capture in sorted(captures.items(), key=lambda c: int(c[0])):
                a, b = match.span(int(group))
                marks[a:b] = [(*own, capture["name"])] * max(b - a, 0)
            if rule is None:
                stack.pop()
            elif "begin" in rule:
                stack.append(rule)
            at = match.end()
            if at >= len(line) and not ("end" in stack[-1] and compiled(stack[-1]["end"]).search(line, at)):
                return marks
