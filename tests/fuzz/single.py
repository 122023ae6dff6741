"""Programs of one thing each: a with-loop, a loop, an update, a selection, or one function as people write it; over
every base type.

In: a seed. Out: a `Case`, as `programs` makes them. Long programs have much of what is common; these come to what is
rare as often, and take a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from sacpy.lang.types import BITS, BUILTIN, REAL
from tests.fuzz.choices import COMPLEX, LARGE, SMALL, TINY, Name, Shape, brackets, literal, value
from tests.fuzz.programs import HEAD, Case, Generator
from tests.fuzz.templates import TEMPLATES

NUMBERS = (*BITS, *REAL)


class Single(Generator):
    """Makes a program of one thing."""

    def __init__(self, seed: int, number: int) -> None:
        super().__init__(seed, TINY)
        self.number = number  # which thing

    def case(self) -> Case:
        """The program."""
        kinds = (
            [self.of_template] * len(TEMPLATES)
            + [partial(self.of_value, make) for make in self.values()]
            + [partial(self.of_statements, make) for make in self.all_statements()]
        )
        return kinds[self.number % len(kinds)]()

    def of_template(self) -> Case:
        """A function of the templates, called once or with several extents."""
        self.profile = self.r.choice((TINY, SMALL, LARGE))
        made = TEMPLATES[self.number % len(TEMPLATES)](self.r, "t")
        self.templates.append(made)
        return Case(self.seed, HEAD + made.text, tuple(self.direct()))

    def values(self) -> list[Callable[[], tuple[str, Shape, str]]]:
        """What makes a base type, a shape, and an expression of these."""

        def of(
            make: Callable[[str, Shape, int], str],
            bases: tuple[str, ...] = (*BUILTIN, COMPLEX),
            least: int = 1,
            most: int = 5,
        ) -> Callable[[], tuple[str, Shape, str]]:
            def made() -> tuple[str, Shape, str]:
                base, shape = self.r.choice(bases), self.shape(most)
                while len(shape) < least:
                    shape = (*shape, self.r.choice((1, 2, 3, 5)))
                self.parameters(base, shape)
                return base, shape, make(base, shape, 2)

            return made

        return [
            of(self.genarray), of(self.genarray), of(self.modarray), of(self.modarray), of(self.comprehension),
            of(self.restructured), of(self.restructured), of(self.selection), of(self.selection),
            of(lambda base, shape, d: self.dotted(base, shape) or self.genarray(base, shape, d)),
            of(self.reshaped), of(self.reshaped), of(self.reshaped), of(self.reshaped),
            of(lambda base, _, d: self.fold(base, d), NUMBERS, 0, 0),
            of(lambda base, _, d: self.in_order(base, d), NUMBERS, 0, 0),
            of(lambda base, _, d: self.in_order(base, d), NUMBERS, 0, 0),
            of(lambda base, _, d: self.stopping(base, d), NUMBERS, 0, 0),
            of(lambda base, _, d: self.logical(d), ("bool",), 0, 0), of(self.operation, (*NUMBERS, COMPLEX)),
            of(self.compared_all, ("bool",), 0, 0), of(self.of_folded_rows, NUMBERS, 1, 2),
            of(lambda _, shape, d: self.complexes()[self.r.randrange(len(self.complexes()))][1](d), (COMPLEX,), 0, 0),
        ]  # fmt: skip

    def all_statements(self) -> list[Callable[[], list[str]]]:
        """What makes statements."""
        return [
            self.loop,
            self.loop,
            self.body_first,
            self.body_first,
            self.update,
            self.several,
            self.struct,
            self.condition,
            self.propagated,
            self.propagated,
        ]

    def parameters(self, base: str, shape: Shape) -> None:
        """What the function takes: an array of that base type and shape, one of more axes, a scalar."""
        rows = (*(self.r.choice((1, 2, 3)) for _ in range(self.r.randint(1, 2))), *shape)
        self.names = [Name("p0", base, shape), Name("p1", base, rows[-5:]), Name("p2", base, ())]
        self.heads = [f"{self.declared(n.base, n.shape)} {n.text}" for n in self.names]
        self.args = [value(self.r, n.base, n.shape) for n in self.names]

    def of_value(self, make: Callable[[], tuple[str, Shape, str]]) -> Case:
        """A function that gives one expression."""
        base, shape, text = make()
        return self.whole(self.declared(base, shape), f"  return {text};\n")

    def of_statements(self, make: Callable[[], list[str]]) -> Case:
        """A function of some statements, which gives what they set last."""
        self.parameters(self.r.choice((*BUILTIN, COMPLEX)), self.shape(2) or (3,))
        before = len(self.names)
        lines = make()
        last = self.names[-1] if len(self.names) > before else self.names[0]
        return self.whole(
            self.declared(last.base, last.shape), "".join(f"  {line}\n" for line in lines) + f"  return {last.text};\n"
        )

    def whole(self, head: str, body: str) -> Case:
        """The program: a function of the parameters, and those made on the way."""
        given = self.given or []
        params = ", ".join([*self.heads, *(text for text, _ in given)])
        return Case(
            self.seed,
            f"{HEAD}{''.join(self.structs)}{head} run({params})\n{{\n{body}}}\n",
            (("run", (*self.args, *(number for _, number in given))),),
        )

    # ---- what is rare in programs

    def reshaped(self, base: str, shape: Shape, _: int) -> str:
        """The first parameter, which has as many elements, under other extents."""
        flat: Shape = (prod(shape),) if self.r.random() < 0.5 else (*shape[::-1], 1)
        self.names[0] = Name("p0", base, flat)
        self.heads[0] = f"{self.declared(base, flat)} p0"
        self.args[0] = value(self.r, base, flat)
        return f"reshape({self.vector(shape)}, p0)"

    def in_order(self, base: str, d: int) -> str:
        """A fold that is not to be regrouped."""
        return self.fold(base, d).replace("with {", "with { #pragma noncommutative\n", 1)

    def logical(self, d: int) -> str:
        """A fold over bools."""
        op, neutral = self.r.choice((("&", "true"), ("|", "false")))
        frame = self.shape(2)
        return (
            f"with {{ {self.partitions(frame, lambda: self.expression('bool', (), d), bounded=True)} }} : "
            f"fold({op}, {neutral})"
        )

    def compared_all(self, _: str, __: Shape, d: int) -> str:
        """Whether all, or any, elements compare so."""
        return f"{self.r.choice(('all', 'any'))}({self.compared(self.shape(2) or (2,), d)})"

    def of_folded_rows(self, base: str, shape: Shape, d: int) -> str:
        """An array of which each element is a fold over another axis."""
        index = [self.fresh("i") for _ in shape]
        body = (
            f"with {{ ([0] <= [k] < [{self.r.choice((0, 1, 3, 9))}]) : {self.names[0].text}[{', '.join(index)}]; "
            f"}} : fold({self.r.choice(('+', '*', 'max', 'min'))}, {self.names[2].text})"
        )
        return f"{{ [{', '.join(index)}] -> {body} | [{', '.join(index)}] < {self.vector(shape)} }}"

    def body_first(self) -> list[str]:
        """A loop that tests at its end, by something else than a counter."""
        base = self.r.choice(("int", "long", "double", "ushort"))
        name, rounds, start = self.fresh("c"), self.fresh("k"), self.expression(base, (), 1)
        one, two, most, end = (literal(base, k) for k in (1, 2, 31, self.r.choice((1, 5, 40, 1000))))
        step = f"abs({name}) * 1.5 + 1.0" if base == "double" else f"({name} & {most}) + {name} / {two} + {one}"
        self.names += [Name(name, base, ()), Name(rounds, "int", ())]
        return [
            f"{name} = {start};",
            f"{rounds} = 0;",
            f"do {{ {name} = {step}; {rounds} += 1; }} while ({name} < {end} && {rounds} < 9);",
        ]

    def propagated(self) -> list[str]:
        """A value that goes through all iterations, with an array of what it was."""
        base = self.r.choice(NUMBERS)
        shape = self.shape(2) or (4,)
        state, array = self.fresh("s"), self.fresh("w")
        index = [self.fresh("i") for _ in shape]
        start = self.expression(base, (), 1)
        step = f"{state} {self.r.choice('+-*')} {self.expression(base, (), 0)}"
        self.names += [Name(array, base, shape), Name(state, base, ())]
        zeros, frame = brackets([0] * len(shape)), brackets(shape)
        return [
            f"{state} = {start};",
            f"{array}, {state} = with {{ ({zeros} <= {brackets(index)} < {frame}) {{ {state} = {step}; }} : ({state}, "
            f"{state}); }} : (genarray({frame}), propagate({state}));",
        ]


def single(seed: int, number: int) -> Case:
    """The program of a seed about one thing: numbers in turn go through all things."""
    return Single(seed, number).case()
