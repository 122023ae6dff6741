"""Small constructors for core, for tests that need functions without a front end."""

from __future__ import annotations

import re

from sacpy.lang import ast
from sacpy.lang.core import Bind, Signature, Slot
from sacpy.lang.source import NOWHERE


def pattern(text: str | None) -> tuple[ast.Feature, ...] | None:
    """The features of a pattern as it stands between brackets: "3,n,d>0:shp"; None is a scalar."""
    if text is None:
        return None
    return tuple(_feature(part.strip()) for part in text.split(",")) if text else ()


def _feature(text: str) -> ast.Feature:
    if text in (".", "*", "+"):
        return {".": ast.AnyExtent, "*": ast.AnyShape, "+": ast.SomeShape}[text](NOWHERE)
    if text.isdigit():
        return ast.FixedExtent(int(text), NOWHERE)
    slice_ = re.fullmatch(r"(\w+)(?:>(\d+))?:(\w+)", text)
    if slice_ is None:
        return ast.NamedExtent(text, NOWHERE)
    rank, minimum, shape = slice_.groups()
    return ast.RankSlice(int(rank) if rank.isdigit() else rank, shape, None if minimum is None else int(minimum), NOWHERE)


def slot(base: str, name: str, features: str | None, cell: tuple[int | None, ...] = ()) -> Slot:
    """A parameter or result."""
    return Slot(Bind(name, base, name, NOWHERE), pattern(features), cell, base if features is None else f"{base}[{features}]")


SlotSpec = tuple[str, str, str | None] | tuple[str, str, str | None, tuple[int | None, ...]]


def sig(name: str, params: list[SlotSpec], results: list[SlotSpec], *, key: str = "", inlining: str = "") -> Signature:
    """A signature `main::name`. Every pattern name that is no parameter is bound to a variable of its own name."""
    from sacpy.lang.plan import names_used

    slots = tuple(slot(*p) for p in params)
    bound = names_used(slots) - {s.bind.source for s in slots}
    text = f"{name}({', '.join(f'{s.text} {s.bind.source}' for s in slots)})"
    return Signature(key or name, f"main::{name}", slots, tuple(slot(*r) for r in results), tuple((n, n) for n in sorted(bound)), inlining, None, text, NOWHERE)
