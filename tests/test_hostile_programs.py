"""Texts that are no programs end in diagnostics, soon, and never in a traceback."""

import random
import time
from pathlib import Path

import pytest

from tests.tools import ROOT, Result, check_file

TIME_LIMIT = 5.0
"""Seconds; a second on a quiet machine."""

DEPTH = 10_000


def _main(body: str) -> str:
    return "use StdIO: all;\nuse Array: all;\n\nint main()\n{\n" + body + "\n  return 0;\n}\n"


def _check(text: str | bytes, folder: Path) -> Result:
    path = folder / "hostile.sac"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    begin = time.perf_counter()
    result = check_file(path)
    assert time.perf_counter() - begin < TIME_LIMIT
    assert "sacpy itself failed" not in result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize("seed", range(10))
def test_garbage_bytes_are_refused(seed: int, tmp_path: Path) -> None:
    result = _check(random.Random(seed).randbytes(2000), tmp_path)
    assert (result.status, bool(result.diagnostics)) == (1, True)


@pytest.mark.parametrize("seed", range(10))
def test_garbage_made_of_tokens_is_refused(seed: int, tmp_path: Path) -> None:
    words = [
        "int",
        "main",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ":",
        ",",
        "with",
        "genarray",
        "fold",
        "1",
        "2.5",
        "x",
        "y",
        "->",
        "|",
        "<",
        "<=",
        ".",
        "...",
        "=",
        "+",
        "if",
        "else",
        "while",
        "return",
        "#define",
        "#",
        '"',
        "'",
        "use",
        "all",
        "_",
        "&",
        "struct",
    ]
    chosen = random.Random(seed).choices(words, k=400)
    result = _check("\n".join(" ".join(chosen[i : i + 7]) for i in range(0, 400, 7)), tmp_path)
    assert (result.status, bool(result.diagnostics)) == (1, True)


@pytest.mark.parametrize("cut", range(1, 20))
def test_truncated_programs_are_refused(cut: int, tmp_path: Path) -> None:
    text = (ROOT / "programs" / "multigrid.sac").read_text(encoding="utf-8")
    end = text.rindex("}") * cut // 20
    result = _check(text[:end], tmp_path)
    assert (result.status, bool(result.diagnostics)) == (1, True)


def _nested(depth: int) -> dict[str, str]:
    return {
        "parentheses": _main("  x = " + "(" * depth + "1" + ")" * depth + ";"),
        "brackets": _main("  x = " + "[" * depth + "1" + "]" * depth + ";"),
        "blocks": _main("if (true) {" * depth + "}" * depth),
        "prefix operators": _main("  x = " + "- " * depth + "1;"),
        "calls": _main("  x = " + "abs(" * depth + "1" + ")" * depth + ";"),
        "comprehensions": _main("  x = " + "{ [i] -> " * depth + "1" + " | [i] < [1] }" * depth + ";"),
        "conditional expressions": _main("  x = " + "true ? 1 : (" * depth + "2" + ")" * depth + ";"),
        "unclosed parentheses": _main("  x = " + "(" * depth),
        "unclosed braces": "int main() " + "{" * depth,
        "types": "int" + "[" * depth + " f() { return 1; }\n",
        "conditional directives": "#if 1\n" * depth + _main(""),
    }


NESTED = _nested(DEPTH)


@pytest.mark.parametrize("depth", [20, 100, 400])
@pytest.mark.parametrize("kind", NESTED)
def test_moderate_nesting_is_accepted_or_refused_in_words(kind: str, depth: int, tmp_path: Path) -> None:
    result = _check(_nested(depth)[kind], tmp_path)
    assert (result.status == 0) == (not result.diagnostics)


@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting_is_refused(kind: str, tmp_path: Path) -> None:
    result = _check(NESTED[kind], tmp_path)
    assert (result.status, bool(result.diagnostics)) == (1, True)


LONG = {
    "sum": _main("  x = " + " + ".join(["1"] * 200) + ";\n  print(x);"),
    "else-if chain": _main(
        "  x = 1;\n  if (x == 0) { x = 1; }\n" + "  else if (x == 2) { x = 3; }\n" * 60 + "  print(x);"
    ),
    "statements": _main("  x = 1;\n" + "  x = x + 1;\n" * 2000 + "  print(x);"),
    "string": _main('  printf("' + "x" * 1_000_000 + '\\n");'),
    "array": _main("  x = [" + ", ".join(["1"] * 5000) + "];\n  print(x);"),
    "line": _main("  x = 1;" + " " * 1_000_000 + "print(x);"),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_programs_are_accepted(kind: str, tmp_path: Path) -> None:
    result = _check(LONG[kind], tmp_path)
    assert (result.status, result.diagnostics) == (0, ())


def test_macro_bombs_are_refused(tmp_path: Path) -> None:
    bomb = "#define A0 1 + 1\n" + "".join(f"#define A{k} A{k - 1} + A{k - 1}\n" for k in range(1, 40))
    assert _check(bomb + _main("  x = A39;"), tmp_path).status == 1


def test_a_macro_that_names_itself_is_left_alone(tmp_path: Path) -> None:
    result = _check(
        "#define f(x) f(x + 1)\n\nint f(int x)\n{\n  return x;\n}\n".replace("int f(int x)", "int g(int x)")
        + _main("  print(g(1));"),
        tmp_path,
    )
    assert result.status == 0


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    assert _check('#include "hostile.sac"\n' + _main(""), tmp_path).status == 1


@pytest.mark.parametrize(
    "text",
    ["", "\n", "// nothing\n", "\ufeff", "\x00", "module", "int", "use", "#", "#define", "'", '"', "\\", "{", "}"],
)
def test_next_to_nothing_is_refused(text: str, tmp_path: Path) -> None:
    result = _check(text, tmp_path)
    assert (result.status, bool(result.diagnostics)) == (1, True)
