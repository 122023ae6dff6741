"""Loops whose rounds are dealt to threads in chunks: the code around them.

A chunk's rounds become a function of its own, `i32 @chunk(ptr frame, ptr env, i64 lower, i64 upper)`; what it uses from
around is passed in memory. Little work is done by one direct call; else the runtime deals chunks. Their size, and
whether there are any, depends on the program and the extents only.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from sacpy.jit.host.memory import BORROWED, Array, Scalar
from sacpy.jit.host.work import Work, number, written
from sacpy.jit.host.writer import Writer
from sacpy.jit.llvm.legal import LLVM_TYPES, Code
from sacpy.jit.schedule import threads


class Environment:
    """What a chunk uses from around it: a block of memory, 8 bytes a word, written outside and read inside."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []
        self.known: dict[tuple[str, str], int] = {}

    def word(self, type_: str, text: str) -> int:
        """The place of a value."""
        key = (type_, text)
        if key not in self.known:
            self.known[key] = len(self.words)
            self.words.append(key)
        return self.known[key]


class Chunked:
    """A loop being spread. `outer` writes the function around it, `inner` that of a chunk."""

    def __init__(self, outer: Writer) -> None:
        self.outer = outer
        self.env = Environment()
        self.inside: dict[tuple[str, str], str] = {}
        self.extents: set[str] = set()  # of arrays outside, which LLVM is told of
        self.name = outer.code.module.fresh("chunk")
        self.code = Code(
            outer.code.module,
            self.name,
            "i32",
            [("ptr", "%frame"), ("ptr", "noalias %env"), ("i64", "%lower"), ("i64", "%upper")],
            tail="noinline",
        )
        self.inner = outer.fork(self.code)
        self.inner.results = "i32"
        self.inner.parallel = False
        self.work: Work = inf  # of all rounds

    def call(self, lower: str, upper: str, chunk: str) -> None:
        """Writes the call, once the chunk's function is complete, and it is known how much work there is (`grain`)."""
        code = self.outer.code
        memory = code.slot(f"[{max(1, len(self.env.words))} x i64]")
        for at, (type_, text) in enumerate(self.env.words):
            code.store(type_, text, code.offset("i64", memory, str(at)))
        code.module.declare("sacpy_spread", "declare i32 @sacpy_spread(ptr, ptr, ptr, i64, i64, i64, double)")
        what = f"ptr %frame, ptr {self.name}, ptr {memory}, i64 {lower}, i64 {upper}, i64 {chunk}"
        what += f", double {written(self.work)}"
        self.outer.pass_on(code.op(f"call i32 @sacpy_spread({what})"))

    def finish(self) -> None:
        """Ends the chunk's function. One that does the same is called in its place: code that is inlined several times
        is compiled once."""
        self.code.end("ret i32 0")
        self.inner.finish_failures()
        self.name = self.code.module.share(self.name, self.code.text())

    def grain(self, work: Work, count: str, step: str, guessed: bool) -> str:
        """The number of rounds of a chunk, for so much work in all and so many rounds: a multiple of `step`, at least
        one. Work that is guessed may be much: nobody does it alone because it seems little."""
        code, self.work = self.outer.code, inf if guessed else work
        code.module.declare("sacpy_grain", "declare i64 @sacpy_grain(double, i64, i64, double, double)")
        worth, least = number(threads.WORTH), number(threads.PER_CHUNK)
        what = f"double {written(work)}, i64 {count}, i64 {step}, double {worth}, double {least}"
        return code.op(f"call i64 @sacpy_grain({what})")

    def rounded(self, size: str, step: str) -> str:
        """A number of rounds as the next multiple of `step`, at least one."""
        code = self.outer.code
        rounds = code.quotient(code.difference(code.sum(size, step), "1"), step)
        size = code.product(rounds, step)
        positive = code.op(f"icmp sgt i64 {size}, 0")
        return code.op(f"select i1 {positive}, i64 {size}, i64 {step}")

    # ---- what a chunk uses from around it

    def capture(self, names: Iterable[str]) -> None:
        """Reads variables, those of them that there are outside, at the start of the function. Their order is that of
        the code that uses them, so that equal code is equal text."""
        found = {name: value for name in names if (value := self.outer.env.get(name)) is not None}
        self.extents.update(e for value in found.values() if isinstance(value, Array) for e in value.extents)
        for name, value in found.items():
            if isinstance(value, Array):
                self.inner.env[name] = self.captured_array(value)
            elif value.wide is not None and value.wide.startswith("%"):
                wide = self.captured("i64", value.wide)
                self.inner.env[name] = Scalar(self.code.op(f"trunc i64 {wide} to i32"), value.base, wide)
            else:
                self.inner.env[name] = Scalar(self.captured(LLVM_TYPES[value.base], value.text), value.base, value.wide)

    def captured(self, type_: str, text: str) -> str:
        """A value from outside, inside: read where it is first asked for, outside of all loops."""
        return self.handed(type_, text) if text.startswith("%") else text

    def handed(self, type_: str, text: str) -> str:
        """The same, of a number too."""
        known = self.inside.get((type_, text))
        if known is None:
            address = self.code.offset("i64", "%env", str(self.env.word(type_, text)))
            note = self.code.extent_note() if type_ == "i64" and text in self.extents else ""
            known = self.inside[type_, text] = self.code.load(type_, address, note)
        return known

    def captured_array(self, value: Array) -> Array:
        """An array from outside: borrowed."""
        data = self.captured("ptr", value.data)
        return Array(
            data,
            BORROWED,
            value.element,
            tuple(self.captured("i64", e) for e in value.extents),
            scope=value.scope,
            apart=value.apart,
            over=value.over,
        )
