"""The order of the site's pages: sections, each with its pages as paths in the repository. What the site makes itself
is `GENERATED`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = "website/index.md"
GALLERY = "gallery.md"
PLAYGROUND = "docs/playground.md"
GENERATED = (GALLERY,)

SECTIONS: dict[str, tuple[str, ...]] = {
    "Begin": ("docs/ten-minutes.md", "docs/tour.md", "docs/numpy.md", "docs/differences.md", GALLERY),
    "The language": (
        "docs/language.md", "docs/packed.md", "docs/library/README.md", "docs/errors.md", "programs/README.md",
    ),
    "In Python": ("docs/embedding.md", "docs/capture.md", "docs/interop.md", "docs/notebooks.md"),
    "Tools": (
        "docs/repl.md", "docs/editors.md", "docs/testing.md", "docs/benchmarks.md", "docs/debugging.md",
        PLAYGROUND,
    ),
    "The compiler": ("docs/compiler.md", "docs/gpu.md", "docs/mapping.md", "docs/how-it-works.md"),
    "The project": ("benchmarks/README.md", "editors/README.md", "CHANGELOG.md"),
}  # fmt: skip

LIBRARY = "docs/library"


def pages() -> list[str]:
    """All pages that the repository holds, the library's modules among them, in the order of the site."""
    listed = [page for section in SECTIONS.values() for page in section if page not in GENERATED]
    modules = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / LIBRARY).glob("*.md") if p.name != "README.md")
    at = listed.index(f"{LIBRARY}/README.md") + 1
    return [*listed[:at], *modules, *listed[at:]]
