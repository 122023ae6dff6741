"""Mappings as pictures: every cell of every space, in the colour of its block."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import pytest

from sacpy.interp import png
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.drawings import COLOURS, scene, svg
from sacpy.withloop.inverse import journey, worker
from sacpy.withloop.pragmas import GpuKernel, parse
from sacpy.withloop.rasters import GLYPHS, pixels
from sacpy.withloop.scenes import INK, LABEL, PAPER, Box, Text
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import STRATEGIES, choose

H100 = DEVICES["sm_90"]


def chain(text: str) -> Chain:
    found = parse(f"gpukernel {text}")
    assert isinstance(found, GpuKernel)
    return found.chain


def cells(text: str, space: IndexSpace, step: int | None = None) -> list[str]:
    """The fill of each cell, "idle" where it is hatched, panel by panel and row by row."""
    items = scene(chain(text).map(space), step).items
    legend = next(k for k, item in enumerate(items) if isinstance(item, Text) and item.words == "one colour per block")
    return ["idle" if item.hatched else item.fill for item in items[:legend] if isinstance(item, Box)][:-4]


def words(text: str, space: IndexSpace) -> list[str]:
    return [item.words for item in scene(chain(text).map(space)).items if isinstance(item, Text)]


def test_cells_have_the_colour_of_their_block_and_idle_threads_are_hatched() -> None:
    a, b = COLOURS[:2]
    assert cells("GridBlock(1, SplitLast(4, Gen))", IndexSpace.box((6,))) == [
        a,
        a,
        a,
        a,
        b,
        b,
        a,
        a,
        a,
        a,
        b,
        b,
        "idle",
        "idle",
    ]


def test_blocks_have_colours_of_their_own() -> None:
    found = cells("GridBlock(1, SplitLast(2, Gen))", IndexSpace.box((32,)), 1)[:32]
    assert len(set(found)) == 16 and all(a == b for a, b in zip(found[::2], found[1::2]))
    square = cells("GridBlock(0, Gen)", IndexSpace.box((4, 8)), None)
    assert len(set(square)) == 32


def test_colours_can_be_told_apart_and_words_on_them_be_read() -> None:
    every = [bytes.fromhex(colour[1:]) for colour in COLOURS]
    assert len(set(every)) == 32
    assert min(sum(abs(a - b) for a, b in zip(p, q)) for p, q in itertools.combinations(every, 2)) > 30
    assert min(0.299 * r + 0.587 * g + 0.114 * b for r, g, b in every) > 125


def test_on_a_page_it_takes_the_page_s_colours_and_the_room_there_is() -> None:
    mapping = chain("GridBlock(1, SplitLast(4, Gen))").map(IndexSpace.box((6,)))
    alone, inline = svg(mapping), svg(mapping, inline=True)
    root = ElementTree.fromstring(inline)
    assert "width: 100%" in root.get("style", "") and root.get("width") is None
    assert f"fill='{INK}'" not in inline and f"fill='{PAPER}'" not in inline and f"fill='{PAPER}'" in alone
    assert f"fill='{LABEL}'" in inline  # on a colour, in light and dark pages


def test_indices_between_steps_belong_to_nobody() -> None:
    a, b = COLOURS[:2]
    found = cells("GridBlock(1, SplitLast(2, CompressGrid([1], Gen)))", IndexSpace.of((0,), (6,), (2,)))
    assert found == [a, "", a, "", b, "", a, a, b, a, a, b, "idle"]


def test_one_step_alone() -> None:
    a, b = COLOURS[:2]
    space = IndexSpace.of((0,), (6,), (2,))
    assert cells("GridBlock(1, SplitLast(2, CompressGrid([1], Gen)))", space, 2) == [a, a, b, a, a, b, "idle"]
    with pytest.raises(
        ValueError, match=r"no step 3; its steps are 1 CompressGrid\(\[1\]\), 2 SplitLast\(2\), GridBlock\(1\)"
    ):
        cells("GridBlock(1, SplitLast(2, CompressGrid([1], Gen)))", space, 3)
    with pytest.raises(ValueError, match="no steps"):
        cells("GridBlock(1, Gen)", space.box((3,)), 1)


def test_axes_are_labelled_the_last_ones_as_the_launch_has_them() -> None:
    found = words("GridBlock(1, ShiftLB(Gen))", IndexSpace.of((1, 1), (4, 4)))
    assert [w for w in found if w.startswith(("axis", "grid", "block"))][:4] == [
        "axis 1",
        "axis 0",
        "block x",
        "grid x",
    ]
    assert "L=[1,1] U=[4,4]" in found and "ShiftLB, GridBlock(1)" in found


def test_planes_stand_under_their_index() -> None:
    found = words("GridBlock(1, Gen)", IndexSpace.box((2, 2, 3)))
    assert "[0,.,.]" in found and "[1,.,.]" in found
    assert len(cells("GridBlock(1, Gen)", IndexSpace.box((2, 2, 3)))) == 12


def test_large_spaces_are_cut_with_counts() -> None:
    found = words("GridBlock(1, SplitLast(32, Gen))", IndexSpace.box((1000, 2000)))
    assert "+987" in found and any(w.startswith("+19") for w in found)
    assert "grid 1000 x 63, block 32: 2016000 threads, 16000 idle" in found
    assert "999,1999" in found


@pytest.mark.parametrize(
    "extents", [(), (0,), (0, 3), (1,), (1, 1), (4096,), (2, 3, 4, 5), (3, 3, 3, 3, 3), (2,) * 8, (10**6, 10**6)]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_space_is_drawn(strategy: str, extents: tuple[int, ...]) -> None:
    space = IndexSpace.box(extents)
    ElementTree.fromstring(svg(choose(strategy, space, H100).chain.map(space, H100)))


def spaces() -> list[IndexSpace]:
    return [
        IndexSpace.of((1, 2), (6, 9), (3, 2), (2, 1)),
        IndexSpace.box((3, 4, 5)),
        IndexSpace.of((2,), (70,)),
        IndexSpace.of((0, 1, 0, 2), (3, 4, 2, 7), (1, 2, 1, 3), (1, 1, 1, 2)),
    ]


@pytest.mark.parametrize(("strategy", "space"), list(itertools.product(STRATEGIES, spaces())))
def test_an_index_goes_to_the_thread_that_recovers_it(strategy: str, space: IndexSpace) -> None:
    mapping: Mapping = choose(strategy, space, H100).chain.map(space, H100)
    for block, thread, index in mapping:
        if index is not None:
            assert journey(mapping, index)[-1] == (*block, *thread)
            assert block in set(mapping.work(worker(mapping, block)))


def test_pictures_as_pixels() -> None:
    mapping = chain("GridBlock(1, SplitLast(4, Gen))").map(IndexSpace.box((6,)))
    drawn = scene(mapping)
    found = pixels(drawn, 2)
    assert found.shape == (round(drawn.height * 2 + 0.499), round(drawn.width * 2 + 0.499), 3)
    box = next(item for item in drawn.items if isinstance(item, Box) and item.fill == COLOURS[1])
    assert tuple(found[round(box.y * 2) + 4, round(box.x * 2) + 4]) == tuple(bytes.fromhex(COLOURS[1][1:]))
    assert (png.decode(png.encode(pixels(drawn))) == found).all()


def test_every_character_that_mappings_are_written_with_has_strokes() -> None:
    assert set(map(chr, range(33, 127))) == GLYPHS.keys()
