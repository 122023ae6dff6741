"""Statements of random programs: assignments, conditionals, loops of every kind, updates of elements and sub-arrays,
structs, with-loops of several operators."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from tests.fuzz.choices import COMPLEX, Index, Name, literal
from tests.fuzz.withloops import WithLoops


class Statements(WithLoops):
    """Makes statements; what they set is in scope afterwards."""

    structs: list[str]

    def statements(self, count: int) -> list[str]:
        """Some statements."""
        return [line for _ in range(count) for line in self.statement()]

    def statement(self) -> list[str]:
        kinds: list[tuple[float, Callable[[], list[str]]]] = [
            (6, self.assignment), (1, self.condition), (1.2, self.loop), (1.2, self.update), (0.6, self.several),
            (0.5, self.struct),
        ]  # fmt: skip
        return self.r.choices([k for _, k in kinds], [w for w, _ in kinds])[0]()

    def local(self) -> list[str]:
        """A few statements in the body of a with-loop."""
        kinds = [self.assignment, self.condition, self.loop, self.update]
        return self.r.choices(kinds, (6, 1, 1, 1))[0]()

    def assignment(self) -> list[str]:
        base, shape = self.base(), self.shape(5 if self.around == 1 else 1)
        text = self.expression(base, shape, self.profile.depth if self.around == 1 else 2)
        name = self.fresh("v")
        self.names.append(Name(name, base, shape))
        return [f"{name} = {text};"]

    def condition(self) -> list[str]:
        base, shape = self.base(), self.shape(3 if self.around == 1 else 1)
        test = self.expression("bool", (), 2)
        name = self.fresh("v")
        branches = []
        for _ in range(2):
            before = list(self.names)
            extra = self.assignment() if self.r.random() < 0.4 else []
            branches.append([*extra, f"{name} = {self.expression(base, shape, 2)};"])
            self.names = before
        self.names.append(Name(name, base, shape))
        return [f"if ({test}) {{ {' '.join(branches[0])} }} else {{ {' '.join(branches[1])} }}"]

    def loop(self) -> list[str]:
        """A loop that carries one or two values, and perhaps updates an array; perhaps another loop inside."""
        carried = [
            (self.fresh("c"), self.base(), self.shape(2 if self.around == 1 else 1))
            for _ in range(self.r.randint(1, 2))
        ]
        lines = [f"{n} = {self.expression(b, s, 1)};" for n, b, s in carried]
        counter = self.fresh("k")
        rounds = self.r.randint(0, 4) if self.r.random() < 0.8 else self.r.randint(5, 12)
        before, indices, around = list(self.names), list(self.indices), self.around
        self.around *= max(rounds, 2)
        self.names += [Name(n, b, s) for n, b, s in carried]
        self.indices = [*self.indices, Index(counter, 0, rounds)] if rounds else self.indices
        body = self.statement() if self.r.random() < 0.2 and around < 20 else []
        for n, b, s in carried:
            if s and prod(s) > 0 and self.r.random() < 0.5:
                depth = self.r.randint(1, len(s))
                body.append(
                    f"{n}[{', '.join(self.inside_index(e) for e in s[:depth])}] = {self.expression(b, s[depth:], 2)};"
                )
            else:
                body.append(f"{n} = {self.expression(b, s, 2)};")
        self.names, self.indices, self.around = before, indices, around
        self.names += [Name(n, b, s) for n, b, s in carried]
        kind = self.r.random()
        text = " ".join(body)
        end = self.integer(rounds)
        if kind < 0.45:
            return [*lines, f"for ({counter} = 0; {counter} < {end}; {counter}++) {{ {text} }}"]
        if kind < 0.6:
            return [*lines, f"for ({counter} = {literal('int', rounds - 1)}; {counter} >= 0; {counter}--) {{ {text} }}"]
        if kind < 0.8:
            return [*lines, f"{counter} = 0;", f"while ({counter} < {end}) {{ {text} {counter} += 1; }}"]
        if rounds == 0:
            return lines
        return [*lines, f"{counter} = 0;", f"do {{ {text} {counter} += 1; }} while ({counter} < {end});"]

    def update(self) -> list[str]:
        """Elements and sub-arrays replaced; the old array stays in use."""
        arrays = [n for n in self.names if n.shape and prod(n.shape) > 0]
        if not arrays:
            return self.assignment()
        old = self.r.choice(arrays)
        name = self.fresh("u")
        self.names.append(Name(name, old.base, old.shape))
        lines = [f"{name} = {old.text};"]
        for _ in range(self.r.randint(1, 2)):
            depth = self.r.randint(1, len(old.shape))
            index = ", ".join(self.inside_index(e) for e in old.shape[:depth])
            if old.base in ("int", "double", COMPLEX) and depth == len(old.shape) and self.r.random() < 0.3:
                lines.append(f"{name}[{index}] += {self.expression(old.base, (), 2)};")
            else:
                lines.append(f"{name}[{index}] = {self.expression(old.base, old.shape[depth:], 2)};")
        return lines

    def several(self) -> list[str]:
        """A with-loop of several operators."""
        shape = self.shape(3 if self.around == 1 else 1)
        one, two, three = self.base(), self.r.choice(("int", "double")), self.base()
        names = [self.fresh("w") for _ in range(3)]
        parts = self.partitions(
            shape,
            lambda: f"({self.expression(one, (), 2)}, {self.expression(two, (), 1)}, {self.expression(three, (), 1)})",
            bounded=True,
        )
        self.names += [Name(names[0], one, shape), Name(names[1], two, ()), Name(names[2], three, shape)]
        return [
            f"{', '.join(names)} = with {{ {parts} }} : (genarray({self.vector(shape) if shape else '[]'}, "
            f"{self.constant(one, ())}), fold(+, {literal(two, 0)}), "
            f"genarray({self.vector(shape) if shape else '[]'}, {self.constant(three, ())}));"
        ]

    def struct(self) -> list[str]:
        """A struct whose fields are variables from then on; some are replaced."""
        kind, name = self.fresh("S"), self.fresh("s")
        fields = [(f"f{k}", self.base(), self.shape(2 if self.around == 1 else 1)) for k in range(self.r.randint(1, 3))]
        types = " ".join(f"{b}{'[' + ','.join('.' for _ in s) + ']' if s else ''} {f};" for f, b, s in fields)
        self.structs.append(f"struct {kind} {{ {types} }};\n\n")
        lines = [f"{name} = {kind}{{{', '.join(self.expression(b, s, 2) for _, b, s in fields)}}};"]
        made = [Name(f"{name}.{f}", b, s) for f, b, s in fields]
        self.names += made
        for n in made:
            if self.r.random() < 0.4:
                lines.append(f"{n.text} = {self.expression(n.base, n.shape, 2)};")
        return lines
