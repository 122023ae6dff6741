"""The links of Markdown pages, looked at without a generator.

In: pages. Out: a line for each link that leads nowhere: to a file that is not there, a page that is not on the site, or
a heading that its page does not have. Anchors are those of forges: a heading in small letters, blanks as hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from posixpath import normpath

from website.navigation import GENERATED, ROOT

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *(?P=fence)`*[ \t]*$", re.M)
_CODE = re.compile(r"(`+)(?!`)(?:[^`]|(?!\1(?!`))`+)*?\1(?!`)")
_LINK = re.compile(r"\]\(\s*<?([^()\s>]+(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*$", re.M)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def lost(pages: Collection[str]) -> Iterator[str]:
    """What is wrong with the links of the pages, which are paths in the repository."""
    for page in pages:
        for target in links((ROOT / page).read_text("utf-8")):
            if _ELSEWHERE.match(target):
                continue
            path, _, anchor = target.partition("#")
            found = normpath(Path(page).parent.joinpath(path).as_posix()) if path else page
            if found in GENERATED:
                continue
            if not (ROOT / found).exists():
                yield f"{page}: {target} is not there"
            elif found.endswith(".md") and found not in pages:
                yield f"{page}: {target} is not on the site"
            elif anchor and anchor not in anchors(found):
                yield f"{page}: {target} has no such heading"


def links(text: str) -> list[str]:
    """The targets of links and pictures outside of code."""
    return _LINK.findall(_CODE.sub("", _FENCE.sub("", text)))


@cache
def anchors(page: str) -> frozenset[str]:
    """The anchors of a page's headings."""
    found: set[str] = set()
    for match in _HEADING.finditer(_FENCE.sub("", (ROOT / page).read_text("utf-8"))):
        slug = plain = slugify(match[2])
        number = 0
        while slug in found:
            number += 1
            slug = f"{plain}-{number}"
        found.add(slug)
    return frozenset(found)


def slugify(heading: str) -> str:
    """The anchor of a heading's text, which may hold code and links."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
