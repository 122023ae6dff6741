"""Runs the examples in the library's documentation.

In: the comments' examples, and the modules they are about. Out: what each prints: its output, then the values of its
expressions in SaC's notation. Examples of one comment are run as one function, many functions as one program, which is
started as `program -v name`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from sacpy.documents.library import Example
from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.natives import native
from sacpy.interp.notation import notation
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.lang.elaborate.interactive import LIBRARY
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.modules import Loader, parse_source
from sacpy.lang.source import Source

SHOWING = Source(
    "<showing values>", "module Example; export all; external void shown(...); external void begun(int number);"
)
MARK = b"\x1e"
PROGRAM_WORDS = (b"program", b"-v", b"name")


@native("Example::shown/0...")
def shown(world: World, *values: Any, bases: tuple[str, ...]) -> None:
    """Prints values in a line of their own."""
    world.stdout.write(", ".join(notation(v, b) for v, b in zip(values, bases, strict=True)).encode() + b"\n")


@native("Example::begun/1")
def begun(world: World, number: int) -> None:
    """Marks where the output of an example begins."""
    world.stdout.write(MARK)


def split_code(code: str) -> tuple[str, str]:
    """The statements of an example, and the expressions behind the last `;` or `}`."""
    at = _end_of_statements(code)
    return code[:at], code[at:].strip()


def _end_of_statements(code: str) -> int:
    """Where the last statement ends: behind the last `;` that is outside of brackets, texts and braces."""
    depth, end, quote, skip = 0, 0, "", False
    for at, letter in enumerate(code):
        if skip:
            skip = False
        elif quote:
            skip = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == ";" and depth == 0:
            end = at + 1
    return end


def function_text(name: str, examples: Sequence[Example]) -> str:
    """A SaC function that runs the examples of a comment."""
    lines = []
    for number, example in enumerate(examples):
        statements, expressions = split_code(example.code)
        lines.append(
            f"    Example::begun({number}); {statements} " + (f"Example::shown({expressions});" if expressions else "")
        )
    return f"void {name}()\n{{\n" + "\n".join(lines) + "\n}\n"


def run_examples(module: str, comments: Sequence[Sequence[Example]], loader: Loader) -> list[list[list[str]]]:
    """What the examples print, per comment and example, line by line; blank lines left out. Errors are printed as
    text."""
    return run_functions(examples_program(module, comments, loader), "example", comments)


def examples_program(module: str, comments: Sequence[Sequence[Example]], loader: Loader) -> ElaboratedProgram:
    """A program with a function for each comment of a module, `example0` and so on, which sees the library's common
    modules and this one. Raises `SacError`."""
    loader.modules["Example"] = parse_source(SHOWING)
    uses = "".join(f"use {name}: all;\n" for name in dict.fromkeys((*LIBRARY, module)))
    text = (
        uses
        + "".join(function_text(f"example{i}", examples) for i, examples in enumerate(comments))
        + "int main() { return 0; }\n"
    )
    return elaborate(parse_source(Source(f"<examples of {module}>", text)), loader)


def run_functions(
    program: ElaboratedProgram, prefix: str, comments: Sequence[Sequence[Example]]
) -> list[list[list[str]]]:
    """What the functions of a program print that run the examples of comments; `prefix` and a number are their
    names."""
    return [run_function(program, f"{prefix}{i}", examples, _call) for i, examples in enumerate(comments)]


def _call(program: ElaboratedProgram, key: str, world: World) -> None:
    Evaluator(program, world).call(key, ())


def run_function(
    program: ElaboratedProgram,
    name: str,
    examples: Sequence[Example],
    call: Callable[[ElaboratedProgram, str, World], None],
) -> list[list[str]]:
    """What the function of a program prints that runs the examples of a comment, per example. `call` calls a function
    without arguments in a world."""
    stdin = "".join(f"{line}\n" for example in examples for line in example.input).encode()
    world = World.captured(stdin, PROGRAM_WORDS)
    try:
        call(program, program.key(program.main.own(name)[0], ()), world)
    except SacError as error:
        world.stdout.write(render_text(error.diagnostics[:1]).partition("\n")[0].encode())
    except Exit as stop:
        world.stdout.write(b"exit status %d\n" % stop.status)
    outputs = [_lines(part) for part in (world.out() + world.err()).split(MARK)]
    outputs = outputs[1:] or outputs
    world.finish()
    return outputs + [["(not run)"]] * (len(examples) - len(outputs))


def _lines(output: bytes) -> list[str]:
    return [line.strip() for line in output.decode("utf-8", "backslashreplace").split("\n") if line.strip()]


def fits(output: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether an example prints what it should; `...` in an expected line stands for anything."""
    patterns = (".*".join(map(re.escape, line.split("..."))) for line in expected)
    return len(output) == len(expected) and all(re.fullmatch(p, line) for p, line in zip(patterns, output, strict=True))


def wrong_examples(module: str, comments: Sequence[Sequence[Example]], loader: Loader) -> list[str]:
    """The examples of a module that do not print what they should, in words."""
    wrong = []
    for examples, outputs in zip(comments, run_examples(module, comments, loader), strict=True):
        for example, output in zip(examples, outputs, strict=True):
            if not fits(output, example.output):
                wrong.append("\n".join([f">>> {example.code}", "should print:", *example.output, "prints:", *output]))
    return wrong


__all__ = ["examples_program", "function_text", "run_examples", "run_function", "split_code", "wrong_examples"]
