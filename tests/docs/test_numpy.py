"""The page for NumPy users: both columns of every row are run, and must give the same."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sacpy.interp.world import World
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace
from tests.tools import ROOT

PAGE = "docs/numpy.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
CELL = r"`([^`]+)`"
ROW = re.compile(rf"^\| {CELL} \| {CELL} \|$", re.M)
NAMES = [(left, right) for left, right in ROW.findall(TEXT.partition("\n## ")[0])]
PARTS = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)
SECTIONS = {title: part for title, part in PARTS if "| SaC |" in part}


@pytest.fixture(scope="module")
def engine() -> Engine:
    """A prompt with the page's modules in scope."""
    made = Engine(Workspace(), World.captured())
    (used,) = re.findall(r"^```sac\n(.*?)^```$", TEXT, re.M | re.S)
    assert not made.enter(used).diagnostics
    return made


def rows(text: str) -> list[tuple[str, str]]:
    """The rows of tables: NumPy, and SaC."""
    return [(left, right.replace(r"\|", "|")) for left, right in ROW.findall(text)]


def test_nothing_in_the_tables_is_missed() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert len(rows(TEXT)) == len(lines) - TEXT.count("| NumPy | SaC |")
    assert sum(len(rows(part)) for part in SECTIONS.values()) + len(NAMES) == len(rows(TEXT)) > 100


@pytest.mark.parametrize("section", SECTIONS)
def test_both_give_the_same(section: str, engine: Engine) -> None:
    names: dict[str, Any] = {}
    changed = True
    for left, right in rows(SECTIONS[section]):
        if changed:
            begin(names, engine)
        changed = right.endswith(";")  # a statement: what it makes of its variable
        if changed:
            exec(left, names)
            assert not engine.enter(right).failed
        expected = names[left[0]] if changed else eval(left, names)
        given = value(engine, left[0] if changed else right)
        about = f"{left} and {right}"
        assert (np.asarray(given).dtype, np.shape(given)) == (np.asarray(expected).dtype, np.shape(expected)), about
        np.testing.assert_allclose(given, expected, rtol=1e-15, err_msg=about)


def begin(names: dict[str, Any], engine: Engine) -> None:
    """Makes the page's names stand for its arrays, on both sides."""
    names["np"] = np
    for mine, theirs in NAMES:
        exec(mine, names)
        assert not engine.enter(theirs).failed


def value(engine: Engine, text: str) -> Any:
    """The value of an expression; a scalar as the kind of NumPy's that it is."""
    (found,) = engine.values_of(text, "test")
    dtype = {"int": np.int32, "double": np.float64, "bool": np.bool_, "float": np.float32}[found.type.key]
    return np.asarray(found.values[0], dtype) if np.ndim(found.values[0]) == 0 else found.values[0]
