"""Graphs written as text, for tests: the inverse of `graph_printer`. `unit(text)` reads what `print_unit` writes; the
root's inputs and outputs are made up from its parameters and results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent

from sacpy.jit.ir.graph import (
    FALSE,
    INT,
    TRUE,
    ArrayType,
    Atom,
    Block,
    Call,
    Check,
    Cons,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    If,
    Input,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Operator,
    Output,
    Partition,
    Propagate,
    Reshape,
    Rhs,
    ScalarType,
    Stmt,
    Type,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
)

_TYPED = re.compile(r"(\w+(?:\[[^\]]*\])?) ([\w.]+)")
_LIST = re.compile(r",\s*(?![^\[\]]*\])")
_LET = re.compile(r"(\w+(?:\[[^\]]*\])? [\w.]+(?:, \w+(?:\[[^\]]*\])? [\w.]+)*) = (.*)")


def unit(text: str) -> Unit:
    """The functions of a text. An array parameter is an argument, with its extents from its own axes; every other
    scalar is an argument too."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in dedent(text).splitlines() if line.strip()]
    reader = _Reader(lines)
    functions = []
    while reader.at < len(lines):
        functions.append(reader.function())
    inputs = _inputs(functions[0])
    return Unit(tuple(functions), inputs, _outputs(functions[0]))


def _inputs(f: Function) -> tuple[Input, ...]:
    extents = {
        e.name: (a.name, k)
        for a in f.params
        if isinstance(a.type, ArrayType)
        for k, e in reversed(list(enumerate(a.type.extents)))
        if isinstance(e, Var)
    }
    arguments = [p for p in f.params if p.name not in extents]
    number = {p.name: k for k, p in enumerate(arguments)}
    return tuple(
        Input("extent", number[extents[p.name][0]], extents[p.name][1])
        if p.name in extents
        else Input("array" if isinstance(p.type, ArrayType) else "scalar", number[p.name])
        for p in f.params
    )


def _outputs(f: Function) -> tuple[Output, ...]:
    results = f.body.results
    position = {a.name: k for k, a in enumerate(results) if isinstance(a, Var)}
    found = []
    for k, a in enumerate(results):
        if isinstance(a.type, ArrayType):
            extents = tuple(
                int(e.value) if isinstance(e, Const) else (None, position.get(e.name, -1)) for e in a.type.extents
            )
            found.append(Output("array", a.base, (k,), extents))
        else:
            found.append(Output("scalar", a.base, (k,)))
    return tuple(found)


@dataclass
class _Reader:
    lines: list[tuple[int, str]]
    at: int = 0
    scope: dict[str, Var] = field(default_factory=dict)

    @property
    def line(self) -> str:
        return self.lines[self.at][1]

    @property
    def depth(self) -> int:
        return self.lines[self.at][0] if self.at < len(self.lines) else -1

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1][1]

    # ---- atoms

    def atom(self, text: str) -> Atom:
        text = text.strip()
        if text in self.scope:
            return self.scope[text]
        if text in ("true", "false"):
            return TRUE if text == "true" else FALSE
        value, _, base = text.partition(":")
        real = re.fullmatch(r"-?(\d+\.\d*(e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)", value) is not None
        assert real or re.fullmatch(r"-?\d+", value), f"{text} is not in scope"
        return Const(base or ("double" if real else "int"), float(value) if real else int(value))

    def array(self, text: str) -> Var:
        return self.scope[text.strip()]

    def atoms(self, text: str) -> tuple[Atom, ...]:
        return tuple(map(self.atom, text.split(","))) if text.strip() else ()

    def vector(self, text: str) -> tuple[Atom, ...]:
        return self.atoms(text.strip()[1:-1])

    def type(self, text: str) -> Type:
        base, bracket, extents = text.partition("[")
        return ArrayType(base, self.atoms(extents[:-1])) if bracket else ScalarType(base)

    def bind(self, text: str) -> Var:
        match = _TYPED.fullmatch(text.strip())
        assert match, text
        v = Var(match[2], self.type(match[1]))
        self.scope[v.name] = v
        return v

    def binds(self, text: str) -> tuple[Var, ...]:
        return tuple(map(self.bind, _LIST.split(text))) if text.strip() else ()

    def index(self, name: str) -> Var:
        self.scope[name.strip()] = v = Var(name.strip(), INT)
        return v

    # ---- code

    def function(self) -> Function:
        match = re.fullmatch(r"function ([\w.]+)\((.*)\)", self.take())
        assert match
        self.scope = {}
        return Function(match[1], self.binds(match[2]), self.block("return"), match[1])

    def block(self, word: str) -> Block:
        found: list[Stmt] = []
        while self.line.split()[0] != word:
            found.append(self.statement())
        return Block(tuple(found), self.atoms(self.take()[len(word) :]))

    def statement(self) -> Stmt:
        line = self.take()
        if line.startswith("check "):
            condition, _, what = line[6:].partition(" : ")
            return Check(self.atom(condition), what)
        match = _LET.fullmatch(line)
        text = match[2] if match else line
        rhs = self.rhs(text)
        return Let(self.binds(match[1]) if match else (), rhs)

    def rhs(self, text: str) -> Rhs:
        word, _, rest = text.partition(" ")
        match word:
            case "load" | "view":
                name, _, index = rest.partition("[")
                return (Load if word == "load" else View)(self.array(name), self.atoms(index[:-1]))
            case "reshape":
                name, _, extents = rest.partition(" to ")
                return Reshape(self.array(name), self.vector(extents))
            case "array":
                type_, _, elements = rest.partition(" of ")
                base, _, extents = type_.partition("[")
                return Cons(base, tuple(int(e) for e in extents[:-1].split(",")), self.atoms(elements))
            case "update":
                place, _, value = rest.partition(" with ")
                name, _, index = place.partition("[")
                return Update(self.array(name), self.atoms(index[:-1]), self.atom(value))
            case "call":
                name, _, args = rest.partition("(")
                return Call(name, self.atoms(args[:-1]))
            case "if":
                condition = self.atom(rest)
                then = self.block("give")
                assert self.take() == "else"
                return If(condition, then, self.block("give"))
            case "loop" | "do":
                params, initial = self.carried(rest)
                assert self.take() == "while"
                test = self.block("test")
                assert self.take() == "round"
                return Loop(params, initial, test, self.block("next"), word == "do")
            case "for":
                match = re.fullmatch(r"(\S+) from (\S+) to (\S+) step (\S+)( few)?( associative)?(?: with (.*))?", rest)
                assert match, rest
                lower, upper = self.atom(match[2]), self.atom(match[3])
                counter = self.index(match[1])
                params, initial = self.carried(match[7] or "")
                step, few, associative = int(match[4]), bool(match[5]), bool(match[6])
                return For(counter, lower, upper, step, params, initial, self.block("next"), few, associative)
            case "with":
                return self.with_loop(rest)
        if not rest:
            return self.atom(text)
        return Op(word.rstrip("!"), self.atoms(rest), word.endswith("!"))

    def carried(self, text: str) -> tuple[tuple[Var, ...], tuple[Atom, ...]]:
        pairs = [part.split(" := ") for part in _LIST.split(text)] if text.strip() else []
        initial = tuple(self.atom(i) for _, i in pairs)
        return tuple(self.bind(p) for p, _ in pairs), initial

    def with_loop(self, text: str) -> WithLoop:
        words = text.split()
        frame = self.vector(words[0]) if words and words[0].startswith("[") else None
        operators: list[Operator] = []
        partitions: list[Partition] = []
        while self.at < len(self.lines) and self.line.split()[0] in ("genarray", "modarray", "propagate", "fold"):
            operators.append(self.operator())
        while self.at < len(self.lines) and self.line.startswith("part "):
            partitions.append(self.partition())
        return WithLoop(frame, tuple(partitions), tuple(operators), "disjoint" in words, "complete" in words)

    def operator(self) -> Operator:
        word, _, rest = self.take().partition(" ")
        match word:
            case "genarray":
                match = re.fullmatch(r"(\w+)(?: cell (\S+))? default (\S+)", rest)
                assert match, rest
                return Genarray(match[1], self.vector(match[2]) if match[2] else (), self.atom(match[3]))
            case "modarray":
                return Modarray(self.array(rest))
            case "propagate":
                params, initial = self.carried(rest)
                return Propagate(initial, params)
        match = re.fullmatch(r"from (.*?)(?: until (.*?))?( in order| in any order)? by \((.*)\), \((.*)\)", rest)
        assert match, rest
        neutrals, stop = self.atoms(match[1]), None if match[2] is None else self.atoms(match[2])
        accumulators, values = self.binds(match[4]), self.binds(match[5])
        return Fold(
            neutrals,
            accumulators,
            values,
            self.block("give"),
            stop,
            {None: None, " in order": False, " in any order": True}[match[3]],
        )

    def partition(self) -> Partition:
        match = re.fullmatch(r"part (\S+) <= (\S+) < (\S+)(?: step (\S+) width (\S+))?", self.take())
        assert match
        lower, upper = self.vector(match[1]), self.vector(match[3])
        step, width = (self.vector(match[4]), self.vector(match[5])) if match[4] else (None, None)
        index = tuple(map(self.index, match[2][1:-1].split(","))) if match[2] != "[]" else ()
        return Partition(lower, upper, step, width, index, self.block("yield"))
