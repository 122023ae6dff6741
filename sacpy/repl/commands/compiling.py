"""Commands about the compiler: what it compiles for, what it has done, what it makes of an expression."""

from __future__ import annotations

import os

from sacpy.base.spelling import closest
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import listing
from sacpy.repl.engine import Engine

TARGETS = {
    "auto": "interpreted, and compiled once it is hot, for the CPU and for the GPU if there is one",
    "cpu": "compiled where there is some work",
    "cuda": "with-loops on the GPU",
    "emulator": "the same kernels on the CPU",
    "interp": "never compiled",
}
AUTO = "auto"
MOST_THREADS = 1024


def _target(engine: Engine, name: str) -> str:
    if not name:
        return listing(
            ((f"{'*' if n == engine.workspace.target else ' '} {n}", what) for n, what in TARGETS.items()),
            engine.page.columns,
        )
    if name not in TARGETS:
        near = closest(name, TARGETS)
        raise refused(
            "E0747",
            f"target cannot be {name}",
            name,
            f"must be {', '.join(TARGETS)}",
            f"did you mean {near[0]}?" if near else ":target lists them",
        )
    engine.run_on(target=name)
    return f"target is {name}"


def _threads(engine: Engine, text: str) -> str:
    if not text:
        threads = engine.workspace.threads
        return (
            "a compiled loop may use "
            f"{f'{threads} threads' if threads else f'a thread for each of {os.cpu_count()} cores'}"
        )
    if text != AUTO and not (text.isdecimal() and 1 <= int(text) <= MOST_THREADS):
        raise refused(
            "E0747",
            f"threads cannot be {text}",
            text,
            f"must be auto or a number from 1 to {MOST_THREADS}",
            "as in :threads 4",
        )
    engine.run_on(threads=None if text == AUTO else int(text))
    return f"threads is {text}"


def _stats(engine: Engine, _: str) -> str:
    from sacpy.jit.reports.statistics import stats

    return str(stats(engine.compiler)).rstrip("\n")


def _explain(engine: Engine, text: str) -> str:
    """Of a function that was called, what became of it; an expression is evaluated, by a compiler that has not seen
    anything yet."""
    from sacpy.jit.reports.statistics import explain

    name = text.strip()
    if not name or (
        name not in engine.variables
        and name.replace("::", "").isidentifier()
        and engine.program.main.tiers(name.rpartition("::")[2]) != ((), ())
    ):
        return explain(engine.compiler, name).rstrip("\n")
    with engine.another_compiler():
        engine.values_of(text, ":explain")
        return explain(engine.compiler).rstrip("\n")


TARGET = Command(
    ":target [NAME]", "how functions run: interpreted, or compiled; or choose that", "word", _target, words=TARGETS
)
THREADS = Command(
    ":threads [N]",
    "how many threads a compiled loop may use; auto is one per core",
    "word",
    _threads,
    words={AUTO: "one per core"},
)
STATS = Command(":stats", "what ran where, how often and how long, and why it was not compiled", "", _stats)
EXPLAIN = Command(
    ":explain [EXPR|NAME]",
    "what the compiler does with an expression, or has done with a function, and why",
    "expression",
    _explain,
)
