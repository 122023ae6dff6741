"""PTX with something left out, to see that the interpreter finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BARRIER = re.compile(r"^\s*(?:bar\.sync|barrier(?:\.cta)?\.sync(?:\.aligned)?|bar\.cta\.sync)\s[^\n]*\n", re.M)
_FENCE = re.compile(r"^\s*(?:membar\.gl|fence\.[\w.]*gpu);[^\n]*\n", re.M)
_BRANCH = re.compile(r"^\s*@!?%p\d+\s+bra(?:\.uni)?\s+([\w$]+);[^\n]*\n", re.M)


def without_barriers(ptx: str) -> Iterator[str]:
    """The text without its first barrier, without its second one, and so on."""
    yield from _without(_BARRIER, ptx)


def without_fences(ptx: str) -> Iterator[str]:
    """The same with fences for the whole device."""
    yield from _without(_FENCE, ptx)


def _without(what: re.Pattern[str], ptx: str) -> Iterator[str]:
    for m in what.finditer(ptx):
        yield ptx[: m.start()] + ptx[m.end() :]


def without_guards(ptx: str) -> Iterator[str]:
    """The text without one of the branches by which threads that have no index leave."""
    for m in _BRANCH.finditer(ptx):
        if re.search(rf"^{re.escape(m[1])}:\s*(?://[^\n]*)?\n\s*ret;", ptx, re.M):
            yield ptx[: m.start()] + ptx[m.end() :]
