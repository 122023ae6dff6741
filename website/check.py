"""The built site, looked at as a browser would follow it: every link, picture and script leads to a file that is there
and a place that it has, and nothing that a page loads by itself comes from another host.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src"}


class _Page(HTMLParser):
    """What a page has for anchors, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps what the tag says."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given and tag != "meta"}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") not in ("canonical", "alternate"):
            self.loads.append(given.get("href", ""))
        if LOADED.get(tag) in given:
            self.loads.append(given[LOADED[tag]])


def problems(site: Path, *, playground: bool) -> Iterator[str]:
    """What is wrong with the pages below `site`. `playground`: whether it is there to be linked to."""
    read = {file.resolve(): _Page(file.read_text("utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in read.items():
        name = file.relative_to(site.resolve())
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    yield f"{name} loads {target} from elsewhere"
                continue
            found = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if "playground" in Path(unquote(parts.path)).parts:
                if playground and not found.is_file():
                    yield f"{name}: {target} is not there"
            elif not found.is_file():
                yield f"{name}: {target} is not there"
            elif parts.fragment and found in read and unquote(parts.fragment) not in read[found].anchors:
                yield f"{name}: {target} has no such place"
