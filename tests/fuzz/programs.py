"""Random SaC programs that are well typed, with arguments for them.

In: a seed and a profile. Out: a `Case`: the text of a program with a function `run`, and calls of it, or of others. The
same seed gives the same case. Every expression is made for a base type and an actual shape, so programs run; now and
then an index or divisor is left unguarded, so that some fail, and have to fail alike everywhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.fuzz.choices import Name, Profile, Shape, value
from tests.fuzz.statements import Statements
from tests.fuzz.template import Template, at
from tests.fuzz.templates import template

HEAD = "use Array: all;\nuse Math: all;\nuse MathArray: all;\nuse Complex: all;\n\n"


@dataclass(frozen=True)
class Case:
    """A program and calls of its functions, each with the arguments."""

    seed: int
    source: str
    calls: tuple[tuple[str, tuple[Any, ...]], ...]


class Generator(Statements):
    """Makes one program."""

    def __init__(self, seed: int, profile: Profile) -> None:
        super().__init__(random.Random(seed), profile)
        self.seed = seed
        self.functions: list[str] = []
        self.structs = []
        self.callable = []
        self.recursive = set()
        self.templates: list[Template] = []

    def case(self) -> Case:
        """The program."""
        for _ in range(self.r.choice((0, 1, 1, 1, 2))):
            made = template(self.r, self.fresh("t"))
            self.templates.append(made)
            self.functions.append(made.text)
        for _ in range(self.r.randint(0, 2)):
            self.helper()
        params, args = [], []
        for k in range(self.r.randint(1, 4)):
            base, shape = self.base(), self.shape()
            params.append(f"{self.declared(base, shape)} p{k}")
            args.append(value(self.r, base, shape))
            self.names.append(Name(f"p{k}", base, shape))
        self.given = []
        body = self.statements(self.r.randint(1, 5))
        results = (
            [self.r.choice(self.names) for _ in range(self.r.randint(1, 3))]
            if self.r.random() < 0.4
            else [self.names[-1]]
        )
        heads = ", ".join(self.declared(n.base, n.shape) for n in results)
        back = results[0].text if len(results) == 1 else f"({', '.join(n.text for n in results)})"
        params += [text for text, _ in self.given]
        args += [number for _, number in self.given]
        lines = "".join(f"  {line}\n" for line in body)
        text = (
            f"{HEAD}{''.join(self.structs)}{''.join(self.functions)}{heads} run({', '.join(params)})\n{{\n"
            f"{lines}  return {back};\n}}\n"
        )
        return Case(self.seed, text, (("run", tuple(args)), *self.direct()))

    def direct(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Calls of the templates themselves: with many extents, so that versions run out; sometimes with extents that
        do not agree."""
        calls = []
        for t in self.templates:
            for _ in range(self.r.choice((1, 2, 7))):
                extents = self.profile.extents[min(len(t.letters()), len(self.profile.extents)) - 1]
                chosen = {letter: max(t.least, min(self.r.choice(extents), 150)) for letter in t.letters()}
                shapes: list[Shape] = [at(s, chosen) for _, s in t.params]
                if self.r.random() < 0.1:
                    shapes = [tuple(e + self.r.randint(0, 1) for e in s) for s in shapes]
                calls.append((t.name, tuple(value(self.r, b, s) for (b, _), s in zip(t.params, shapes))))
        return calls

    def helper(self) -> None:
        """A function of its own; sometimes recursive."""
        outer = self.names, self.indices, self.given, self.budget
        self.names, self.indices, self.given, self.budget = [], [], None, 20
        name = self.fresh("f")
        params = [(self.base(), self.shape(2)) for _ in range(self.r.randint(1, 3))]
        self.names = [Name(f"x{k}", base, shape) for k, (base, shape) in enumerate(params)]
        result = (self.base(), self.shape(2))
        inline = "inline " if self.r.random() < 0.5 else ""
        if self.r.random() < 0.3:
            self.recursive.add(name)
            body = self.recursion(name, params, result)
            params = [("int", ()), *params]
            inline = ""
        else:
            body = "".join(f"  {line}\n" for line in self.statements(self.r.randint(0, 2)))
            body += f"  return {self.expression(*result, self.profile.depth - 1)};\n"
        head = ", ".join(f"{self.declared(b, s)} x{k}" for k, (b, s) in enumerate(params))
        self.functions.append(f"{inline}{self.declared(*result)} {name}({head})\n{{\n{body}}}\n\n")
        self.callable.append((name, params, result))
        self.names, self.indices, self.given, self.budget = outer

    def recursion(self, name: str, params: list[tuple[str, Shape]], result: tuple[str, Shape]) -> str:
        """A body that calls itself `x0` times."""
        self.names = [Name(f"x{k + 1}", base, shape) for k, (base, shape) in enumerate(params)]
        base, shape = result
        basis = self.expression(base, shape, 2)
        passed = ", ".join(self.expression(b, s, 1) for b, s in params)
        self.names.append(Name("again", base, shape))
        step = self.expression(base, shape, 2)
        return (
            f"  if (x0 <= 0) {{\n    r = {basis};\n  }} else {{\n    again = {name}(x0 - 1, {passed});\n"
            f"    r = {step};\n  }}\n  return r;\n"
        )
