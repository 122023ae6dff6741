"""Random windows over arrays: as wide as one likes, at every manner of border, over every kind of extents.

In: a seed. Out: a `Case`: a function that filters one or two arrays of rank 1 to 4, and calls of it: arrays smaller
than the window, of extents 0, 1 and 2, and somewhat larger ones.
"""

from __future__ import annotations

import numpy as np

from tests.fuzz.programs import HEAD, Case

TYPES = {"double": ("f8", "0d"), "float": ("f4", "0f"), "int": ("i4", "0")}
# by manner, an index `i` into an axis of extent `n`
MANNERS = {
    "clamped": "max(min({i}, {n} - 1), 0)",
    "clamped the other way": "min(max({i}, 0), {n} - 1)",
    "wrapped": "mod({i}, {n})",
    "wrapped by hand": "({i} < 0 ? {i} + {n} : {i} >= {n} ? {i} - {n} : {i})",
    "a period added": "({i} + {n}) % {n}",
    "reflected": "({i} < 0 ? -({i}) : {i} >= {n} ? 2 * {n} - 2 - ({i}) : {i})",
    "symmetric": "({i} < 0 ? -1 - ({i}) : {i} >= {n} ? 2 * {n} - 1 - ({i}) : {i})",
    "mirrored by abs": "min(abs({i}), 2 * ({n} - 1) - abs({i}))",
}
AXES = "ijkl"


def windows(seed: int, rank: int = 0) -> Case:
    """The case of a seed, of this rank if one is given."""
    rng = np.random.default_rng(seed)
    rank = rank or int(rng.choice([1, 2, 2, 3, 4]))
    base = str(rng.choice(list(TYPES)))
    known = rng.random() < 0.6  # the window's extents are numbers in the text
    widths = [int(rng.integers(1, (12, 6, 4, 3)[rank - 1])) for _ in range(rank)]
    arrays = ("x", "y")[: int(rng.integers(1, 3))]
    text = function(rng, rank, base, known, widths, arrays)
    dtype = TYPES[base][0]
    calls = []
    for k in range(6):
        if k < 2:
            shape = tuple(int(rng.integers(0, 3)) for _ in range(rank))
        else:
            shape = tuple(int(rng.integers(1, (40, 14, 8, 6)[rank - 1])) for _ in range(rank))
        given = [rng.integers(-9, 9, shape).astype(dtype) for _ in arrays]
        calls.append(("run", (*given, rng.integers(-3, 4, widths).astype(dtype))))
    return Case(seed, HEAD + text, tuple(calls))


def function(
    rng: np.random.Generator, rank: int, base: str, known: bool, widths: list[int], arrays: tuple[str, ...]
) -> str:
    """The text of a filter."""
    extents, sizes = [f"n{k}" for k in range(rank)], [str(w) if known else f"w{k}" for k, w in enumerate(widths)]
    at, inner = AXES[:rank], [f"p{k}" for k in range(rank)]
    shifts = [str(rng.choice([f"{s} / 2", "0", "1", f"{s} - 1"])) for s in sizes]
    places = [f"{i} + {p} - {s}" for i, p, s in zip(at, inner, shifts)]
    zero = TYPES[base][1]
    terms = []
    for a in arrays:
        manner = str(rng.choice([*MANNERS, "constant"]))
        if manner == "constant":
            inside = " && ".join(f"{i} >= 0 && {i} < {n}" for i, n in zip(places, extents))
            terms.append(f"({inside} ? {a}[{', '.join(places)}] : {zero})")
        else:
            terms.append(f"{a}[{', '.join(MANNERS[manner].format(i=i, n=n) for i, n in zip(places, extents))}]")
    value = f"w[{', '.join(inner)}] * {' * '.join(terms)}"
    loops = rng.random() < 0.4
    head = ", ".join(f"{base}[{', '.join(extents)}] {a}" for a in arrays) + f", {base}[{', '.join(sizes)}] w"
    params = ", ".join((*arrays, "w", *at))
    window = f"  return sum({{ [{', '.join(inner)}] -> {value} | [{', '.join(inner)}] < [{', '.join(sizes)}] }});\n"
    if loops:
        lines = f"s = s + {value};"
        for p, size in zip(inner[::-1], sizes[::-1]):
            lines = f"for ({p} = 0; {p} < {size}; {p}++) {{ {lines} }}"
        window = f"  s = {zero};\n  {lines}\n  return s;\n"
    lower = ", ".join(str(rng.choice(["0", "0", "1"])) for _ in at)
    upper = ", ".join(str(rng.choice([n, n, f"{n} - 1"])) for n in extents)
    steps = ""
    if rng.random() < 0.3:
        by = [int(rng.integers(1, 4)) for _ in at]
        steps = f" step [{', '.join(map(str, by))}] width [{', '.join(str(int(rng.integers(1, b + 1))) for b in by)}]"
    shape = ", ".join(extents)
    return (
        f"inline {base} cell({head}, {', '.join(f'int {i}' for i in at)})\n{{\n{window}}}\n\n"
        f"{base}[{', '.join('.' * rank)}] run({head})\n{{\n"
        f"  return with {{ ([{lower}] <= [{', '.join(at)}] < [{upper}]{steps}) : cell({params}); }} : "
        f"genarray([{shape}], {zero});\n}}\n"
    )
