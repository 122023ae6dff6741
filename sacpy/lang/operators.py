"""Which operators there are, and how a run of operator characters is cut into them.

Any run of operator characters may name a function, so `a+++^b` can only be read with the program's definitions at hand.
The rule: from left to right, the longest of the language's own tokens and the operators known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sacpy.lang.tokens import Token

LANGUAGE = frozenset(
    ["+", "-", "*", "/", "%", "<", ">", "=", "!", "&", "|", "^", "~", ".", ":", "?", "&&", "||", "==", "!=", "<=", ">=",
        "<<", ">>", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "->", "::", "...", "++^",
        "#", "##"]
)  # fmt: skip
_LISTS = frozenset(("use", "import", "export", "provide"))


class Cutter:
    """Cuts runs into operators; remembers the answers."""

    def __init__(self, operators: Iterable[str]) -> None:
        self.known = LANGUAGE.union(operators)
        self._longest = max(map(len, self.known))
        self._cuts: dict[str, list[str]] = {}

    def cut(self, run: str) -> list[str]:
        """The operators of a run, left to right; characters that begin none are given one stretch each."""
        if run not in self._cuts:
            self._cuts[run] = list(self._pieces(run))
        return self._cuts[run]

    def _pieces(self, run: str) -> Iterator[str]:
        at = stray = 0
        while at < len(run):
            for length in range(min(self._longest, len(run) - at), 0, -1):
                if run[at : at + length] in self.known:
                    if stray < at:
                        yield run[stray:at]
                    yield run[at : at + length]
                    at += length
                    stray = at
                    break
            else:
                at += 1
        if stray < at:
            yield run[stray:]


def defined(tokens: Iterable[Token]) -> set[str]:
    """The operators that the tokens of a file define, or name in the lists of use, import, export and provide.

    A definition's name is the run right before the first parenthesis of a head: what stands outside all braces, behind
    a `;` or `}`."""
    found: set[str] = set()
    depth = 0
    first = before = ""  # the first and the latest token of the head
    old = ""  # the run right behind the first parenthesis: a name in the old spelling `int (+)(..)`
    done = False  # the head's name lies behind
    listed = False
    for token in tokens:
        kind, text = token.kind, token.text
        if kind == "op":
            if text == "{":
                depth += 1
                listed = first in _LISTS
            elif text == "}":
                depth = max(depth - 1, 0)
                first, done = "", False
            elif listed and depth == 1 and text not in ",()[];":
                found.add(text)
            elif depth == 0:
                if text == ";":
                    first, before, done, listed = "", "", False, False
                    continue
                if text == ")" and old and old == before:
                    found.add(old)
                old = text if before == "(" and not old else ""
                if text == "(" and not done:
                    done = True
                    if before and first and first != "objdef":
                        found.add(before.removeprefix("::"))
                    before = "("
                    continue
                before = text if text not in ",()[]" else ""
        else:
            before = ""
        if depth == 0 and not first and kind != "pragma" and kind != "directive" and text != "}":
            first = text
    return found - LANGUAGE - {""}
