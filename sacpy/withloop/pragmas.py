"""The pragmas that say how a with-loop runs on a GPU.

In: the text of a pragma (what stands behind the word `pragma`, or all of it), however it is broken over lines. Out: its
meaning, with the offset of every part, so that an error found later still knows its place.

    pragma  = "gpukernel" chain | "gpuparam" NAME "=" INT {"," INT} | "gpumem" memory | "gpufold" way
            | "commutative" | "noncommutative" | "force" | ("gpublock" | "gputhreads" | "gpueach") "(" INT ")"
    chain   = "GridBlock" "(" number "," inner ")"
    inner   = "Gen" | NAME "(" [argument ","] inner ")"
    number  = INT | NAME            argument = number | "[" [INT {"," INT}] "]"
    way     = "interleaved" | "halving" | "shuffle" | ("runs" | "strided") "(" INT ")" | "mma" "(" ("f64" | "tf32") ")"
    memory  = "shared" "(" NAME {"," NAME} ")" | "global" | "[" [INT {"," INT}] "]"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NoReturn

from sacpy.base.spelling import closest
from sacpy.nodes import Node, replace
from sacpy.withloop import block_words
from sacpy.withloop.block_words import block_word
from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import (
    COMBINATORS,
    Combinator,
    CompressGrid,
    Number,
    Offsets,
    PadLast,
    Parameter,
    Permute,
    SplitLast,
)
from sacpy.withloop.errors import MappingError
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragma_words import Word, words_of
from sacpy.withloop.ways import GpuFold, gpufold

WORDS = ("gpukernel", "gpuparam", "gpumem", "gpufold", "commutative", "noncommutative", *block_words.WORDS)


class GpuKernel(Node):
    """`gpukernel chain`"""

    chain: Chain


class GpuParam(Node):
    """`gpuparam NAME = 32, 64`: the values that an open number may have. `span`: the name's."""

    name: str
    values: tuple[int, ...]
    span: Offsets


class GpuMem(Node):
    """`gpumem shared(a, b)` or `gpumem global`, with the place of each name; `arguments`: sac2c's `gpumem [0,2]` on an
    external function, which of its arguments live on the device."""

    mode: Literal["shared", "global", "arguments"]
    names: tuple[str, ...] = ()
    spans: tuple[Offsets, ...] = ()
    arguments: tuple[int, ...] = ()


class Order(Node):
    """`commutative`: the functions of a with-loop's folds give the same in any order of their operands;
    `noncommutative`: they do not, so that the order stays."""

    free: bool


Pragma = GpuKernel | GpuParam | GpuMem | GpuFold | Order | block_words.Word


def parse(text: str, parameters: Mapping[str, tuple[int, ...]] | None = None) -> Pragma | None:
    """The meaning of a pragma; None where it is none of `WORDS` (not this module's business). `parameters`: the values
    of the `gpuparam` pragmas before it. `MappingError`, with offsets in `text`, for everything wrong with it."""
    tokens = words_of(text)
    at = 0
    if tokens[0].text == "#" and tokens[1].text == "pragma":
        at = 2
    elif tokens[0].text == "pragma":
        at = 1
    if tokens[at].text not in WORDS:
        return None
    return _Parser(tokens, at, {} if parameters is None else parameters).pragma()


def parse_all(texts: Iterable[str]) -> list[Pragma]:
    """The pragmas in front of one partition or with-loop, in order; those of others are left out. A `gpuparam` serves
    the pragmas behind it. `MappingError` also where one is said twice."""
    parameters: dict[str, tuple[int, ...]] = {}
    found: list[Pragma] = []
    for text in texts:
        pragma = parse(text, parameters)
        if pragma is None:
            continue
        if isinstance(pragma, GpuParam):
            if pragma.name in parameters:
                raise MappingError(
                    "E0814",
                    f"the parameter {pragma.name} has its values already",
                    "leave one of the two pragmas out",
                    span=pragma.span,
                )
            parameters[pragma.name] = pragma.values
        elif any(type(other) is type(pragma) for other in found):
            start = text.index(word := _word(pragma))
            raise MappingError(
                "E0801",
                f"there is a second `{word}` pragma here",
                "leave one of the two out",
                span=(start, start + len(word)),
            )
        found.append(pragma)
    return found


def effective(shared: Iterable[str], own: Iterable[str]) -> list[Pragma]:
    """The pragmas that hold for a partition: its own, and those of the whole with-loop that it does not replace.
    Parameters of the with-loop serve both. `MappingError` as for `parse_all`."""
    outer = parse_all(shared)
    parameters = {p.name: p.values for p in outer if isinstance(p, GpuParam)}
    inner: list[Pragma] = []
    for text in own:
        pragma = parse(text, parameters)
        if pragma is None:
            continue
        if isinstance(pragma, GpuParam):
            parameters[pragma.name] = pragma.values
        elif any(type(other) is type(pragma) for other in inner):
            start = text.index(word := _word(pragma))
            raise MappingError(
                "E0801",
                f"there is a second `{word}` pragma here",
                "leave one of the two out",
                span=(start, start + len(word)),
            )
        inner.append(pragma)
    replaced = {type(p) for p in inner} - {GpuParam}
    return [*(p for p in outer if type(p) not in replaced), *inner]


def _word(pragma: Pragma) -> str:
    match pragma:
        case GpuKernel():
            return "gpukernel"
        case GpuParam():
            return "gpuparam"
        case GpuMem():
            return "gpumem"
        case GpuFold():
            return "gpufold"
        case Order():
            return "commutative" if pragma.free else "noncommutative"
    return pragma.word


def order_of(texts: Iterable[str]) -> bool | None:
    """Whether the pragmas of a with-loop, none of them wrong, let the order of its folds go (True) or keep it (False);
    None where they say nothing."""
    return next((pragma.free for pragma in parse_all(texts) if isinstance(pragma, Order)), None)


class _Parser:
    def __init__(self, tokens: list[Word], at: int, parameters: Mapping[str, tuple[int, ...]]) -> None:
        self.tokens = tokens
        self.at = at
        self.params = parameters

    @property
    def here(self) -> Word:
        return self.tokens[self.at]

    def take(self) -> Word:
        token = self.here
        if token.kind != "end":
            self.at += 1
        return token

    def fail(self, wanted: str, help: str = "", code: str = "E0801") -> NoReturn:
        """Something else is expected here."""
        token = self.here
        found = "the pragma ends" if token.kind == "end" else f"`{token.text}` stands"
        raise MappingError(code, f"{wanted} is expected here, and {found}", help, span=token.span)

    def sign(self, text: str, after: str) -> Word:
        if self.here.text != text:
            self.fail(f"`{text}`", f"write `{text}` {after}")
        return self.take()

    def pragma(self) -> Pragma:
        word = self.take()
        meaning: Pragma
        match word.text:
            case "gpukernel":
                meaning = GpuKernel(self.chain())
            case "gpuparam":
                meaning = self.gpuparam()
            case "gpumem":
                meaning = self.gpumem()
            case "gpufold":
                meaning = gpufold(self)
            case name if name in block_words.WORDS:
                meaning = block_word(self, name)
            case _:
                meaning = Order(word.text == "commutative")
        if self.here.kind != "end":
            self.fail("the end of the pragma", "put what belongs to the program on a line of its own")
        return meaning

    def chain(self) -> Chain:
        """chain = "GridBlock" "(" number "," inner ")" """
        outer = self.here
        if outer.text != "GridBlock":
            if outer.text == "Gen" or outer.text in COMBINATORS:
                raise MappingError(
                    "E0802",
                    "GridBlock is the outermost combinator of every mapping",
                    f"write GridBlock(b, {outer.text}...) with b the number of block axes",
                    span=outer.span,
                )
            self.unknown(outer, ("GridBlock",), "GridBlock")
        self.take()
        self.sign("(", "behind GridBlock")
        number, span = self.number("GridBlock", "the number of block axes")
        self.sign(",", "between the number and the mapping")
        opened: list[tuple[Combinator, Word]] = []  # a loop, not recursion: a mapping may be long
        while self.here.text != "Gen":
            opened.append(self.combinator())
        self.take()
        steps = []
        if self.here.text == "(" and self.tokens[self.at + 1].text == ")":
            raise MappingError(
                "E0803",
                "Gen takes no arguments and no parentheses",
                "write Gen",
                span=(self.here.start, self.tokens[self.at + 1].end),
            )
        for step, token in reversed(opened):
            self.close(step.name, token)
            steps.append(step)
        self.close("GridBlock", outer)
        return Chain(tuple(steps), GridBlock(number, either_reading=True, span=outer.span, argument_span=span))

    def close(self, name: str, opened: Word) -> None:
        if self.here.text == ",":
            raise MappingError(
                "E0803", f"{name} has more arguments than it takes", f"write {_SHAPES[name]}", span=self.here.span
            )
        if self.here.text != ")":
            self.fail("`)`", f"close the parenthesis of {name}")
        self.take()

    def combinator(self) -> tuple[Combinator, Word]:
        """NAME "(" [argument ","] : all of a combinator in front of the mapping inside it"""
        token = self.here
        if token.text == "GridBlock":
            raise MappingError("E0802", "GridBlock stands outermost only", "leave the inner one out", span=token.span)
        if token.kind == "end":
            self.fail("a combinator", "the innermost one is Gen")
        if token.text not in COMBINATORS:
            self.unknown(token, (*COMBINATORS, "Gen"), "a combinator")
        self.take()
        kind = COMBINATORS[token.text]
        self.sign("(", f"behind {token.text}")
        step: Combinator
        if kind is CompressGrid or kind is Permute:
            entries, span = self.list(token.text)
            step = CompressGrid(entries) if kind is CompressGrid else Permute(entries)
        elif kind is SplitLast or kind is PadLast:
            number, span = self.number(token.text, "a number")
            if isinstance(number, int) and number < 1:
                raise MappingError(
                    "E0803", f"{token.text} needs a number of at least 1, and {number} is not", _HELP_NUMBER, span=span
                )
            step = SplitLast(number) if kind is SplitLast else PadLast(number)
        else:
            if self.here.kind == "number" or self.here.text == "[":
                raise MappingError(
                    "E0803",
                    f"{token.text} takes no argument but the mapping inside it",
                    f"write {_SHAPES[token.text]}",
                    span=self.here.span,
                )
            return replace(kind(), span=token.span), token
        self.sign(",", f"between the argument of {token.text} and the mapping inside it")
        return replace(step, span=token.span, argument_span=span), token

    def unknown(self, token: Word, names: Iterable[str], wanted: str) -> NoReturn:
        if token.kind != "name":
            self.fail(wanted)
        near = closest(token.text, names)
        help = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise MappingError("E0802", f"there is no combinator {token.text} here", help, span=token.span)

    def number(self, name: str, what: str) -> tuple[Number, Offsets]:
        """number = INT | NAME"""
        token = self.here
        if token.kind == "number":
            value = self.integer()
            if value < 0:
                raise MappingError(
                    "E0803", f"{name} needs {what}, and {value} is negative", f"write {_SHAPES[name]}", span=token.span
                )
            return value, token.span
        if token.kind == "name" and token.text not in COMBINATORS and token.text != "Gen":
            return self.parameter(self.take()), token.span
        if token.text == "[":
            raise MappingError(
                "E0803", f"{name} needs {what}, and not a list", f"write {_SHAPES[name]}", span=token.span
            )
        raise MappingError(
            "E0803", f"{name} needs {what} in front of the mapping inside it", f"write {_SHAPES[name]}", span=token.span
        )

    def parameter(self, token: Word) -> Parameter:
        if token.text not in self.params:
            near = closest(token.text, self.params)
            help = (
                f"did you mean {near[0]}?"
                if near
                else f"put `#pragma gpuparam {token.text} = 32, 64` before this pragma"
            )
            raise MappingError("E0813", f"the parameter {token.text} has no values", help, span=token.span)
        return Parameter(token.text, self.params[token.text])

    def list(self, name: str) -> tuple[tuple[int, ...], Offsets]:
        """ "[" [INT {"," INT}] "]" """
        if self.here.text != "[":
            raise MappingError(
                "E0803",
                f"{name} needs a list in front of the mapping inside it",
                f"write {_SHAPES[name]}",
                span=self.here.span,
            )
        start = self.take().start
        entries: tuple[int, ...] = ()
        if self.here.text != "]":
            entries = self.integers("write one entry for each axis")
        return entries, (start, self.sign("]", "behind the last entry").end)

    def integers(self, help: str) -> tuple[int, ...]:
        """INT {"," INT}"""
        entries = []
        while True:
            if self.here.kind != "number":
                self.fail("a number", help, "E0803")
            entries.append(self.integer())
            if self.here.text != ",":
                return tuple(entries)
            self.take()

    def integer(self) -> int:
        """The number that stands here."""
        token = self.take()
        if len(token.text) > 10 or abs(int(token.text)) > _LARGEST:
            raise MappingError("E0803", "this number is too large", f"write one of at most {_LARGEST}", span=token.span)
        return int(token.text)

    def gpuparam(self) -> GpuParam:
        """NAME "=" INT {"," INT}"""
        token = self.here
        if token.kind != "name":
            self.fail("the name of a parameter", "write `gpuparam B = 32, 64, 128`")
        if token.text in COMBINATORS or token.text in ("Gen", "GridBlock"):
            raise MappingError(
                "E0814",
                f"{token.text} is a combinator and cannot name a parameter",
                "take another name",
                span=token.span,
            )
        self.take()
        self.sign("=", "behind the name")
        start = self.here.start
        values = self.integers("write the values, with commas between them")
        span = (start, self.tokens[self.at - 1].end)
        if min(values) < 1:
            raise MappingError(
                "E0814",
                f"the values of a parameter are at least 1, and {min(values)} is not",
                "leave it out",
                span=span,
            )
        if len(set(values)) < len(values):
            raise MappingError(
                "E0814",
                f"{next(v for v in values if values.count(v) > 1)} is listed twice",
                "list each value once",
                span=span,
            )
        return GpuParam(token.text, values, token.span)

    def gpumem(self) -> GpuMem:
        """ "shared" "(" NAME {"," NAME} ")" | "global" | list"""
        token = self.here
        if token.text == "[":
            return GpuMem("arguments", arguments=self.list("gpumem")[0])
        if token.text not in ("shared", "global"):
            near = closest(token.text, ("shared", "global"))
            self.fail(
                "`shared(...)` or `global`",
                f"did you mean {near[0]}?" if near else "name the arrays to stage: `gpumem shared(a, b)`",
                "E0815",
            )
        self.take()
        if token.text == "global":
            return GpuMem("global")
        self.sign("(", "behind shared")
        names: list[Word] = []
        while True:
            if self.here.kind != "name":
                self.fail("the name of an array", "name the arrays to stage: `gpumem shared(a, b)`", "E0815")
            name = self.take()
            if any(name.text == other.text for other in names):
                raise MappingError("E0815", f"{name.text} is named twice", "name each array once", span=name.span)
            names.append(name)
            if self.here.text != ",":
                break
            self.take()
        self.sign(")", "behind the last name")
        return GpuMem("shared", tuple(n.text for n in names), tuple(n.span for n in names))


_LARGEST = 2**31 - 1  # no device has more threads along an axis
_HELP_NUMBER = "write how many positions the last axis is to have, or to be a multiple of"
_SHAPES = {
    "GridBlock": "GridBlock(b, mapping), b the number of block axes",
    "ShiftLB": "ShiftLB(mapping)",
    "CompressGrid": "CompressGrid([1, 0], mapping), with one 0 or 1 for each axis",
    "PruneGrid": "PruneGrid(mapping)",
    "Permute": "Permute([1, 0], mapping), with the old axis for each new one",
    "FoldLast2": "FoldLast2(mapping)",
    "FoldTriangle": "FoldTriangle(mapping)",
    "SplitLast": "SplitLast(n, mapping)",
    "PadLast": "PadLast(n, mapping)",
}
