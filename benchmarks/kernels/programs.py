"""The classic kernels: in SaC, with arguments, and the launch of the one by hand that computes the same.

`limit`: the most that sacpy's may execute, times the instructions of the one by hand; it says where a regression
begins, and is brought down as kernels get better: 1.1 is where all of them are to come. `sectors`: the same for what
global memory is asked for, over the least that the accesses need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

USE = "use Array: all;\nuse Math: all;\n"
RELAXATION = (
    "{t}[m,n] f({t}[m,n] a) {{ return with {{ ([1,1] <= iv < [m - 1,n - 1]) : (a[iv - [1,0]] + a[iv + [1,0]] + "
    "a[iv - [0,1]] + a[iv + [0,1]]) * {k}; }} : modarray(a); }}"
)
PRODUCT = (
    "{t}[m,n] f({t}[m,k] a, {t}[k,n] b) {{ return with {{ ([0,0] <= [i,j] < [m,n]) : with {{ ([0] <= [l] < [k]) : "
    "a[i,l] * b[l,j]; }} : fold(+, {z}); }} : genarray([m,n], {z}); }}"
)
SUM = "{t} f({t}[n] v) {{ return with {{ ([0] <= [i] < [n]) : v[i]; }} : fold(+, {z}); }}"
ROWS = (
    "double[m] f(double[m,n] a) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] < [n]) : a[i,j]; } : "
    "fold(+, 0.0); } : genarray([m], 0.0); }"
)
TRIANGLE = (
    "float[n] f(float[.] v, float[n] x) { a = (float[i<n, i+1]) v; "
    "return { [i] -> sum(a[i] * take([i + 1], x)) | [i] < [n] }; }"
)
TRANSPOSITION = "{t}[n,m] f({t}[m,n] a) {{ return {{ [j,i] -> a[i,j] | [j,i] < [n,m] }}; }}"
MAP = "float[n] f(float[n] a, float[n] b) { return { [i] -> a[i] * 2f + b[i] | [i] < [n] }; }"
BODIES = (
    "double[n,3] f(double[n,3] p, double[n] m) { return with { ([0] <= [i] < [n]) { x = 0.0; y = 0.0; z = 0.0; "
    "for (j = 0; j < n; j++) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2]; "
    "r = dx * dx + dy * dy + dz * dz + 0.01; w = m[j] / (r * sqrt(r)); x += dx * w; y += dy * w; z += dz * w; } } "
    ": [x, y, z]; } : genarray([n], [0.0, 0.0, 0.0]); }"
)
VECTORS = (
    "double[n,3] f(double[n,3] a) { return with { ([0] <= [i] < [n]) { s = a[i,0] * a[i,0] + a[i,1] * a[i,1] + "
    "a[i,2] * a[i,2]; } : [a[i,0] / s, a[i,1] / s, a[i,2] / s]; } : genarray([n], [0.0, 0.0, 0.0]); }"
)
D, F = np.float64, np.float32


@dataclass(frozen=True)
class Classic:
    """One kernel. `elements`: what instructions are counted by: elements, multiply-adds, pairs; `least`: the bytes that
    must travel to and from DRAM. `entry`, `grid`, `block`: of the one by hand, whose arguments are `given`, then the
    arrays that the function takes, then the result. `most_blocks`: of a launch, only so many blocks are executed.
    `passes`: of shared memory over the least, at most; `processors`: multiprocessors of the device, few where small
    arrays are to be laid out as large ones are."""

    name: str
    source: str
    args: tuple[Any, ...]
    elements: int
    least: int
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    given: tuple[int, ...]
    result: tuple[int, ...]
    limit: float
    sectors: float
    most_blocks: int | None = None
    passes: float = 1.05
    processors: int = 132


def classics() -> list[Classic]:
    """All of them, with arguments of a fixed seed."""
    random = np.random.default_rng(3)

    def reals(t: Any, *shape: int) -> Any:
        return random.standard_normal(shape).astype(t)

    found: list[Classic] = []
    for letter, t, word, unit in (("d", D, "double", 8), ("f", F, "float", 4)):
        zero = "0.0" if letter == "d" else "0f"
        quarter = "0.25" if letter == "d" else "0.25f"
        found += [
            Classic(
                f"relaxation, {word}",
                RELAXATION.format(t=word, k=quarter),
                (reals(t, 514, 1026),),
                512 * 1024,
                514 * 1026 * 2 * unit,
                f"relax_{letter}",
                (33, 65),
                (32, 8),
                (514, 1026),
                (514, 1026),
                LIMITS["relaxation"],
                1.3,
            ),
            *(
                Classic(
                    f"product {side}^3, {word}",
                    PRODUCT.format(t=word, z=zero),
                    (reals(t, side, side), reals(t, side, side)),
                    side**3,
                    3 * side * side * unit,
                    f"{entry}_{letter}",
                    (side // columns, side // rows),
                    (256,),
                    (side, side, side),
                    (side, side),
                    LIMITS["product"],
                    1.02,
                    2,
                )
                for side, entry, rows, columns in (
                    (1024, "small_product", 64, 64),
                    (1280, "product", 128, 64 if letter == "d" else 128),
                )
            ),
            Classic(
                f"sum, {word}",
                SUM.format(t=word, z=zero),
                (reals(t, 1 << 20),),
                1 << 20,
                unit << 20,
                f"sum_{letter}",
                (264,),
                (256,),
                ((unit << 20) // 16,),
                (265,),
                LIMITS[f"sum, {word}"],
                1.05,
            ),
            Classic(
                f"transposition, {word}",
                TRANSPOSITION.format(t=word),
                (reals(t, 256, 256),),
                1 << 16,
                2 * unit << 16,
                f"transpose_{letter}",
                (8, 8),
                (32, 8),
                (256, 256),
                (256, 256),
                LIMITS["transposition"],
                SECTORS["transposition"],
            ),
        ]
    found += [
        Classic(
            "packed trmv, float",
            TRIANGLE,
            (reals(F, 1024 * 1025 // 2), reals(F, 1024)),
            1024 * 1025 // 2,
            4 * (1024 * 1025 // 2 + 2048),
            "trmv_f",
            (128,),
            (256,),
            (1024,),
            (1024,),
            LIMITS["packed trmv"],
            1.15,
        ),
        Classic(
            "row sums, double",
            ROWS,
            (reals(D, 2048, 1024),),
            1 << 21,
            8 << 21,
            "rows_d",
            (2048,),
            (32,),
            (1024,),
            (2048,),
            LIMITS["row sums"],
            1.05,
            32,
        ),
        Classic(
            "map, float",
            MAP,
            (reals(F, 1 << 18), reals(F, 1 << 18)),
            1 << 18,
            12 << 18,
            "map_f",
            (256,),
            (256,),
            (1 << 16,),
            (1 << 18,),
            LIMITS["map"],
            1.05,
        ),
        Classic(
            "n-body, double",
            BODIES,
            (reals(D, 512, 3), np.abs(reals(D, 512))),
            512 * 512,
            512 * 7 * 8,
            "bodies",
            (4,),
            (128,),
            (512,),
            (512, 3),
            LIMITS["n-body"],
            SECTORS["n-body"],
            processors=4,
        ),
        Classic(
            "vectors of 3, double",
            VECTORS,
            (reals(D, 1 << 17, 3),),
            3 << 17,
            48 << 17,
            "vectors",
            (512,),
            (256,),
            (1 << 17,),
            (1 << 17, 3),
            LIMITS["vectors of 3"],
            1.02,
        ),
    ]
    found += [
        Classic(
            f"product 1280^3, {word}, tensor cores ({form})",
            PRODUCT.format(t=word, z=zero).replace("with { (", f"with {{\n#pragma gpufold mma({form})\n(", 1),
            (reals(t, 1280, 1280), reals(t, 1280, 1280)),
            1280**3,
            3 * 1280 * 1280 * unit,
            f"multiplied_{word[0]}",
            (1280 // columns, 1280 // 128),
            (256,),
            (1280, 1280, 1280),
            (1280, 1280),
            LIMITS["tensor cores"],
            1.02,
            2,
        )
        for t, word, unit, zero, form, columns in (
            (D, "double", 8, "0.0", "f64", 64),
            (F, "float", 4, "0f", "tf32", 128),
        )
    ]
    found += [
        Classic(
            f"row sums, double, gpufold {way}",
            ROWS.replace("with { (", f"with {{\n#pragma gpufold {way}\n(", 1),
            (reals(D, 2048, 1024),),
            1 << 21,
            8 << 21,
            "rows_d",
            (2048,),
            (32,),
            (1024,),
            (2048,),
            limit,
            sectors,
            32,
            passes,
        )
        for way, (limit, sectors, passes) in WAYS.items()
    ]
    return found


LIMITS = {
    "relaxation": 0.47,
    "product": 1.02,
    "tensor cores": 1.05,
    "sum, double": 0.75,
    "sum, float": 1.02,
    "transposition": 0.87,
    "row sums": 0.9,
    "packed trmv": 1.1,
    "map": 0.85,
    "n-body": 1.15,
    "vectors of 3": 0.9,
}
WAYS = {
    "interleaved": (3.2, 4.05, 3.3),
    "halving": (3.1, 1.05, 1.05),
    "runs(8)": (1.45, 4.05, 1.05),
    "strided(8)": (1.35, 1.05, 1.05),
    "strided(16)": (0.9, 1.05, 1.05),
    "strided(32)": (0.75, 1.05, 1.05),
    "shuffle": (0.9, 1.05, 1.05),
}
"""Of the ladder of reductions (Svensson's thesis): the most instructions, sectors and passes, as above. What makes the
first ones slow is theirs by nature: neighbours that read far apart, threads of which half have nothing to do."""
SECTORS = {"transposition": 1.05, "n-body": 2.7}  # of bodies a byte a pair, in rows of three
