"""Texts of several lines, cut into what is obeyed one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.interp.world import World
from sacpy.lang.parser import ParsedInput
from sacpy.lang.source import Source
from sacpy.repl.engine import Engine
from sacpy.repl.parts import is_remark, is_whole, parts
from sacpy.workspace import Workspace


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine(Workspace(), World.captured())
    engine.enter("ready = true; x = 3; int twice(int a) { return 2 * a; }")
    return engine


def cut(text: str, engine: Engine) -> list[str]:
    """The parts without the empty lines in front; commands behind a mark."""
    return [f"> {p.text.strip()}" if p.command else p.text.strip() for p in parts(text, engine)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = 1\nb = 2\na + b", ["a = 1", "b = 2", "a + b"]),
        ("a = 1; b = 2;\na + b", ["a = 1; b = 2;\na + b"]),
        ("int f(int a)\n{\n  return a;\n}\nf(1)\nf(2)", ["int f(int a)\n{\n  return a;\n}\nf(1)", "f(2)"]),
        ("x\n+ 1\ny = 2", ["x\n+ 1", "y = 2"]),
        ("a = [1,\n 2]\n\nb = a", ["a = [1,\n 2]", "b = a"]),
        ("a = 1\nif (x > 1)\n  a = 2;\nelse\n  a = 3;\na", ["a = 1", "if (x > 1)\n  a = 2;\nelse\n  a = 3;\na"]),
        ("x\n:vars\ny = 1\n?sum\ntwice?", ["x", "> :vars", "y = 1", "> ?sum", "> twice?"]),
        (":plot [1,\n 2]\nx", ["> :plot [1,\n 2]", "x"]),
        ("ready\n  ? 1\n  : 2", ["ready\n  ? 1\n  : 2"]),
        ("Array::sum??", ["> Array::sum??"]),
        ("!ls -l | cat\n", ["> !ls -l | cat"]),
        ("x\n!ls", ["x", "> !ls"]),
        ("!ready", ["!ready"]),
        ("!true", ["!true"]),
        ("!no_such_command_here x", ["!no_such_command_here x"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_parts(text: str, found: list[str], engine: Engine) -> None:
    assert cut(text, engine) == found


def test_definitions_side_by_side_stay_together(engine: Engine) -> None:
    text = "int f(int a) { return g(a); }\n\nint g(int a) { return a; }\nx = 3; y = 4;\nz = 5;\nf(1)\nf(2)\n+ 1\n+ 2\n"
    first, second = cut(text, engine)
    assert first.endswith("z = 5;\nf(1)") and second == "f(2)\n+ 1\n+ 2"


def test_what_it_costs_does_not_grow_with_the_square_of_the_text(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0

    def counting(source: Source) -> ParsedInput:
        nonlocal read
        read += len(source.text)
        return parse(source)

    parse = engine._parse
    monkeypatch.setattr(engine, "_parse", counting)
    body = "".join(f"  a = a + {i};\n" for i in range(100))
    text = f"int f(int a)\n{{\n{body}  return a;\n}}\n" + "".join(f"v{i} = {i};\n" for i in range(100)) + "f(1)\nf(2)\n"
    assert len(cut(text, engine)) == 2
    assert read < 8 * len(text)
    read = 0
    assert not is_whole(text[: text.index("  return")], engine) and read == 0


def test_what_stands_behind_a_mistake_is_no_part(engine: Engine) -> None:
    assert cut("a = 1\nb = )\nc = 3", engine) == ["a = 1", "b = )"]
    assert cut("a = 1\nint f()\n{\n  b = ;\n  return 1;\n}\nc = 3", engine) == [
        "a = 1",
        "int f()\n{\n  b = ;\n  return 1;\n}",
    ]


def test_lines_count_from_the_beginning_of_the_text(engine: Engine) -> None:
    *_, last = parts("a = 1\n:vars\nb = 2\nc = 3\n", engine)
    assert last.text == "\n\n\nc = 3\n"


@pytest.mark.parametrize("text", ["x", "a = 1\nb = 2", "", ":plot [1, 2]", ":vars", "twice?", "!ls", "a = )", "// why"])
def test_whole(text: str, engine: Engine) -> None:
    assert is_whole(text, engine)


@pytest.mark.parametrize(
    "text",
    [
        "x +",
        "a = 1\nb =",
        "a = 1\nint f(int a)",
        ":plot [1,",
        "x\n:time (1 +",
        "int f()\n{\n  x = ;\n  y(",
        "/* so far",
    ],
)
def test_not_whole(text: str, engine: Engine) -> None:
    assert not is_whole(text, engine)


def test_a_command_of_the_system_may_be_a_file(engine: Engine, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    assert cut(f"!{tool} x", engine) == [f"!{tool} x"]
    tool.chmod(0o755)
    assert cut(f"!{tool} x", engine) == [f"> !{tool} x"]


def test_remarks() -> None:
    assert is_remark("// a\n/* b */\n") and is_remark("/* open")
    assert not is_remark("x // a") and not is_remark('"')
