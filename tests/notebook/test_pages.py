"""The notebooks in `docs/` give what is stored in them, pictures included."""

from __future__ import annotations

import base64
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from sacpy.interp import png
from tests.notebook.pages import PAGES, outputs, run


def test_there_is_a_page_of_sac_and_one_of_python() -> None:
    assert [nbformat.read(p, as_version=4).metadata.kernelspec.name for p in PAGES] == ["sac", "python3"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_runs_from_top_to_bottom_and_shows_what_it_says(page: Path) -> None:
    stored = nbformat.read(page, as_version=4)
    assert outputs(run(page)) == outputs(stored), "after a change: python -m tests.notebook.pages"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_pictures_are_there(page: Path) -> None:
    data = [
        o.data
        for cell in nbformat.read(page, as_version=4).cells
        if cell.cell_type == "code"
        for o in cell.outputs
        if "data" in o
    ]
    pictures = [png.decode(base64.b64decode(d["image/png"])) for d in data if "image/png" in d]
    plots = [ElementTree.fromstring(d["image/svg+xml"]) for d in data if "image/svg+xml" in d]
    assert pictures and plots
    assert all(len(set(map(tuple, p.reshape(-1, 3)[::7].tolist()))) > 1 for p in pictures), "a picture of one colour"
    assert all(len(list(p.iter())) > 20 for p in plots)
