"""PTX with something left out, to see that the interpreter finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BARRIER = re.compile(r"^\s*(?:bar\.sync|barrier(?:\.cta)?\.sync(?:\.aligned)?|bar\.cta\.sync)\s[^\n]*\n", re.M)
_BRANCH = re.compile(r"^\s*@!?%p\d+\s+bra(?:\.uni)?\s+([\w$]+);[^\n]*\n", re.M)


def without_barriers(ptx: str) -> Iterator[str]:
    """The text without its first barrier, without its second one, and so on."""
    for m in _BARRIER.finditer(ptx):
        yield ptx[: m.start()] + ptx[m.end() :]


def without_guards(ptx: str) -> Iterator[str]:
    """The text without one of the branches by which threads that have no index leave."""
    for m in _BRANCH.finditer(ptx):
        if re.search(rf"^{re.escape(m[1])}:\s*(?://[^\n]*)?\n\s*ret;", ptx, re.M):
            yield ptx[: m.start()] + ptx[m.end() :]
