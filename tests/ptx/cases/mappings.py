"""Mappings by pragmas, and shared memory."""

from __future__ import annotations

import numpy as np

from tests.ptx.cases.case import Cases

MADE = Cases(14)
case, d, s, n = MADE.add, MADE.doubles, MADE.singles, MADE.integers

CHAINS = {
    "1": (
        "GridBlock(1, SplitLast(32, ShiftLB(Gen)))",
        "GridBlock(1, SplitLast(4, CompressGrid([1], ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(64, PruneGrid(ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(32, PadLast(32, CompressGrid([1], ShiftLB(Gen)))))",
        "GridBlock(0, SplitLast(32, CompressGrid([1], ShiftLB(Gen))))",
    ),
    "2": (
        "GridBlock(1, SplitLast(32, CompressGrid([1,1], ShiftLB(Gen))))",
        "GridBlock(1, Permute([1,0], CompressGrid([1,1], ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(128, FoldLast2(CompressGrid([1,1], ShiftLB(Gen)))))",
        (
            "GridBlock(2, Permute([0,2,1,3], SplitLast(8, Permute([1,2,0], SplitLast(8, CompressGrid([1,1], "
            "ShiftLB(Gen)))))))"
        ),
        "GridBlock(1, SplitLast(16, PruneGrid(ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(32, PadLast(32, CompressGrid([1,0], ShiftLB(Gen)))))",
        "GridBlock(1, SplitLast(32, CompressGrid([0,1], ShiftLB(Gen))))",
    ),
    "3": (
        "GridBlock(1, SplitLast(32, CompressGrid([1,1,1], ShiftLB(Gen))))",
        "GridBlock(1, FoldLast2(CompressGrid([1,1,1], ShiftLB(Gen))))",
        "GridBlock(2, Permute([2,0,1], CompressGrid([1,1,1], ShiftLB(Gen))))",
        "GridBlock(1, SplitLast(64, FoldLast2(FoldLast2(CompressGrid([1,1,1], ShiftLB(Gen))))))",
    ),
}
BODIES = {
    "1": (
        "int[n] f(int[n] v) { return with { PRAGMA\n ([3] <= [i] < [n - 2] GRID) : v[i] * 2 + i; } : modarray(v); }",
        "step [5] width [2]",
        n(203),
    ),
    "2": (
        (
            "int[m,n] f(int[m,n] v) { return with { PRAGMA\n ([1,2] <= [i,j] < [m,n - 1] GRID) : v[i,j] * 2 "
            "+ i * j; } : modarray(v); }"
        ),
        "step [3,4] width [2,2]",
        n(37, 45),
    ),
    "3": (
        (
            "int[l,m,n] f(int[l,m,n] v) { return with { PRAGMA\n ([1,0,2] <= [i,j,k] < [l,m - 1,n] GRID) : "
            "v[i,j,k] + i * j - k; } : modarray(v); }"
        ),
        "step [2,3,2] width [1,2,1]",
        n(7, 11, 13),
    ),
}
for rank, chains in CHAINS.items():
    body, grid, array = BODIES[rank]
    for chain in chains:
        for g in (
            ("", grid)
            if "Prune" in chain or ("Compress" in chain and "0" not in chain.split("Compress")[1].split("]")[0])
            else ("",)
        ):
            case(
                f"{chain}{' ' + g if g else ''}",
                body.replace("PRAGMA", f"#pragma gpukernel {chain}").replace("GRID", g),
                array,
            )
TRIANGLES = {"lower": "[n, i+1]", "upper": "[n, n-i]", "strict": "[n, i]", "steep": "[n, 3*i+2]"}
for name, bound in TRIANGLES.items():
    for chain in ("", "GridBlock(1, SplitLast(32, FoldTriangle(Gen)))", "GridBlock(1, SplitLast(64, FoldLast2(Gen)))"):
        pragma = f"#pragma gpukernel {chain}" if chain else ""
        case(
            f"{name} triangle {chain or 'as auto has it'}",
            f"int[.] f(int n) {{ t = with {{ {pragma}\n ([0,0] <= [i,j] < {bound}) : 1000 * i - j; }} : "
            f"genarray({bound}); return (int[.]) t; }}",
            (46,),
            (47,),
            (1,),
        )
for name, index, bound in (
    ("blocks of triangles", "b,i,j", "[7, n, i+1]"),
    ("triangles of pairs", "i,j,b", "[n, n-i, 2]"),
    ("a band", "i,j", "[n, min(n, i+8) - max(0, i-5)]"),
    ("rows that begin to grow", "i,j", "[n, max(0, i-9)]"),
):
    value = "i" if index == "i,j" else "b"
    case(
        f"{name} as auto has them",
        f"int[.] f(int n) {{ t = {{ [{index}] -> 1000 * i - j + 7 * {value} | [{index}] < {bound} }}; "
        "return (int[.]) t; }",
        (46,),
        (47,),
        (3,),
    )
case(
    "fold of a triangle by FoldTriangle",
    (
        "int f(int n) { return with { #pragma gpukernel GridBlock(1, SplitLast(32, FoldTriangle(Gen)))\n ([0,0] <= "
        "[i,j] < [n, i+1]) : i * j; } : fold(+, 0); }"
    ),
    (61,),
    (2,),
)
for mem in ("shared(a)", "global"):
    case(
        f"gpumem {mem}",
        (
            f"double[m,n] f(double[m,n] a) {{ return with {{ #pragma gpumem {mem}\n ([1,2] <= iv < [m - 1,n - "
            f"2]) : a[iv - [1,0]] + a[iv + [1,0]] + a[iv - [0,2]] * 2.0 + a[iv + [0,1]]; }} : modarray(a); }}"
        ),
        (d(50, 61),),
        (d(4, 6),),
    )
case(
    "gpumem shared, 1d, bytes",
    (
        "ubyte[n] f(ubyte[n] a) { return with { #pragma gpumem shared(a)\n ([2] <= [i] < [n - 3]) : a[i "
        "- 2] + a[i] + a[i + 3]; } : modarray(a); }"
    ),
    n(1000, low=0, high=255, t=np.uint8),
)
case(
    "gpumem shared, 3d",
    (
        "float[l,m,n] f(float[l,m,n] a) { return with { #pragma gpumem shared(a)\n ([1,1,1] <= [i,j,k] < "
        "[l - 1,m - 1,n - 1]) : a[i-1,j,k] + a[i+1,j,k] + a[i,j-1,k] + a[i,j+1,k] + a[i,j,k-1] + "
        "a[i,j,k+1]; } : modarray(a); }"
    ),
    s(9, 18, 37),
)
case(
    "gpumem shared, two arrays",
    (
        "double[m,n] f(double[m,k] a, double[k,n] b) { return with { #pragma gpumem shared(a, b)\n "
        "([0,0] <= [i,j] < [m,n]) : with { ([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0.0); } : "
        "genarray([m,n], 0.0); }"
    ),
    (d(20, 45), d(45, 31)),
    (d(17, 3), d(3, 70)),
)
case(
    "gpumem shared, with a pragma",
    (
        "double[m,n] f(double[m,n] a) { return with { #pragma gpukernel GridBlock(2, Permute([0,2,1,3], "
        "SplitLast(8, Permute([1,2,0], SplitLast(8, ShiftLB(Gen))))))\n #pragma gpumem shared(a)\n "
        "([1,1] <= [i,j] < [m - 1,n - 1]) : a[i-1,j-1] + a[i+1,j+1] * 3.0; } : modarray(a); }"
    ),
    d(35, 29),
)
case(
    "gpumem shared, steps",
    (
        "int[m,n] f(int[m,n] a) { return with { #pragma gpumem shared(a)\n ([1,1] <= [i,j] < [m - 1,n - "
        "1] step [2,3] width [1,2]) : a[i-1,j] + a[i+1,j-1]; } : modarray(a); }"
    ),
    n(41, 53),
)
