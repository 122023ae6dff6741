"""Programs of a block: stages in shared memory, barriers where threads meet, folds between stages."""

from __future__ import annotations

from tests.ptx.cases.case import Cases

MADE = Cases(17)
case, n = MADE.add, MADE.integers

ROWS = (
    "int[.,.] f(int[.,.] m) {{ return with {{\n#pragma gpublock({threads})\n([0] <= [r] < [shape(m)[0]]) : g(m[r]); }} "
    ": genarray([shape(m)[0]]); }}"
)
STAGE = "with {\n#pragma force\nWORD([0] <= [x] < [n]) : CELL; } : genarray([n], 0)"


def rows(name: str, text: str, *shapes: tuple[int, int], threads: int = 32) -> None:
    """A case with a function `g` of a row."""
    case(name, text + ROWS.format(threads=threads), *((n(*shape),) for shape in shapes))


def stage(cell: str, word: str = "") -> str:
    return STAGE.replace("CELL", cell).replace("WORD", f"#pragma {word}\n" if word else "")


rows(
    "a network in place",
    "int[.] g(int[.] v) { n = shape(v)[0]; for (p = 1; p < n; p = 2 * p) { for (d = p; d >= 1; d = d / 2) { "
    "v = with {\n#pragma force\n([d % p] <= [x] < [n - d] step [2 * d] width [d]) "
    ": x / (2 * p) == (x + d) / (2 * p) ? min(v[x], v[x + d]) : v[x]; "
    "([d % p + d] <= [x] < [n] step [2 * d] width [d]) "
    ": x / (2 * p) == (x - d) / (2 * p) ? max(v[x - d], v[x]) : v[x]; } : modarray(v); } } return v; }",
    (2, 32),
    threads=16,
)
rows(
    "a network of two places, three elements a thread",
    f"int[.] g(int[.] v) {{ n = shape(v)[0]; for (i = 1; i < n; i = 3 * i) {{ "
    f"v = {stage('v[x] + (x >= i ? v[x - i] : 7)', 'gpueach(3)')}; }} return v; }}",
    (3, 50),
    (1, 1),
    (2, 0),
)
rows(
    "two threads take turns",
    f"int[.] g(int[.] v) {{ n = shape(v)[0]; v = {stage('v[n - 1 - x] * 3', 'gputhreads(2)')}; "
    f"return {stage('v[n - 1 - x] + v[x]')}; }}",
    (2, 70),
)
for way in ("halving", "interleaved", "runs(3)", "shuffle"):
    rows(
        f"a fold between stages, {way}",
        f"int[.] g(int[.] v) {{ n = shape(v)[0]; v = {stage('v[n - 1 - x] * 3')}; "
        f"s = with {{\n#pragma gpufold {way}\n([0] <= [x] < [n]) : v[x] * x; }} : fold(+, 5); "
        f"return {stage('v[n - 1 - x] + s')}; }}",
        (2, 70),
    )
