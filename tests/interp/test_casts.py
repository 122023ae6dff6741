"""Casts to shapes: those that only the running program can judge are checked, with or without a fast test in front."""

import pytest

from tests.tools import run_text

PROGRAM = """
use StdIO: all;
use Array: all;
typedef double[2] pair;
noinline int[*] any(int n) {{ return genarray(n < 0 ? [:int] : [n], n); }}
noinline double[.,.] rows(int n) {{ return genarray([2,n], 1d); }}
int number() {{ found, n = scanf("%d"); return n; }}
int main() {{ x = {cast}; print(shape(x)); return 0; }}
"""


@pytest.mark.parametrize(
    ("cast", "given", "shape"),
    [
        ("(int[3])any(number())", 3, [3]),
        ("(int[3])any(number())", 2, None),
        ("(int[3])any(number())", -1, None),
        ("(int[3,1])any(number())", 3, None),
        ("(int[.])any(number())", 2, [2]),
        ("(int[.])any(number())", -1, None),
        ("(pair[2])rows(number())", 2, [2]),
        ("(pair[2])rows(number())", 3, None),
        ("(pair[.])rows(number())", 3, None),
        ("(pair)rows(number())[0]", 2, []),
        ("(pair)rows(number())[0]", 1, None),
    ],
)
def test_cast_is_checked_when_the_program_runs(cast: str, given: int, shape: list[int] | None) -> None:
    result = run_text(PROGRAM.format(cast=cast), stdin=str(given).encode())
    if shape is None:
        assert result.status == 1
        assert [d.code for d in result.diagnostics] == ["E0617"]
    else:
        row = f"<{''.join(f'{extent:2d} ' for extent in shape)}> " if shape else "<>"
        assert (result.status, result.stdout.decode()) == (0, f"Dimension:  1\nShape    : < {len(shape):2d}>\n{row}\n")
