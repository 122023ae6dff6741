"""The pictures of `docs/mapping.md`.

In: the combinators with a small space each. Out: SVG files under `docs/mapping`;
`python -m tests.docs.mapping_pictures` writes them anew.
"""

from __future__ import annotations

from sacpy.withloop.devices import DEVICES
from sacpy.withloop.drawings import svg
from sacpy.withloop.pragmas import GpuKernel, parse
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose
from tests.tools import ROOT

FOLDER = ROOT / "docs/mapping"
PICTURES = {
    "shift": ("GridBlock(1, PruneGrid(ShiftLB(Gen)))", IndexSpace.of((1, 1), (6, 6), (1, 2)), 1),
    "compress": ("GridBlock(1, CompressGrid([1, 1], Gen))", IndexSpace.of((0, 0), (5, 5), (2, 2)), 1),
    "prune": ("GridBlock(1, PruneGrid(Gen))", IndexSpace.of((0, 0), (5, 5), (2, 2)), 1),
    "permute": ("GridBlock(1, Permute([1, 0], Gen))", IndexSpace.box((3, 5)), 1),
    "fold": ("GridBlock(1, SplitLast(4, FoldLast2(Gen)))", IndexSpace.box((2, 5)), 1),
    "fold_rows": ("GridBlock(1, SplitLast(4, FoldLast2(Gen)))", IndexSpace.rows((4, 4), -1), 1),
    "triangle": ("GridBlock(1, FoldTriangle(Gen))", IndexSpace.rows((6, 1), 1), 1),
    "triangle_odd": ("GridBlock(1, FoldTriangle(Gen))", IndexSpace.rows((5, 5), -1), 1),
    "triangles": ("GridBlock(1, FoldTriangle(Gen))", IndexSpace.rows((2, 4, 1), 1), 1),
    "split": ("GridBlock(1, SplitLast(4, Gen))", IndexSpace.box((10,)), 1),
    "pad": ("GridBlock(1, PadLast(4, Gen))", IndexSpace.box((4, 7)), 1),
    "chain": (
        "GridBlock(1, SplitLast(4, CompressGrid([1, 0], ShiftLB(Gen))))",
        IndexSpace.of((0, 1), (7, 7), (3, 1), (2, 1)),
        None,
    ),
}
STRATEGIES = {"jing": IndexSpace.box((40, 50))}


def pictures() -> dict[str, str]:
    """Name of the file and its text."""
    found = {}
    for name, (text, space, step) in PICTURES.items():
        kernel = parse(f"gpukernel {text}")
        assert isinstance(kernel, GpuKernel)
        found[f"{name}.svg"] = svg(kernel.chain.map(space), step)
    device = DEVICES["sm_90"]
    for name, space in STRATEGIES.items():
        mapping = choose(name, space, device).chain.map(space, device)
        found[f"{name}.svg"] = svg(mapping, len(mapping.stages))
    return found


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
