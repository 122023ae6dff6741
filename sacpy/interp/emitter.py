"""Text and names of a generated function: lines with their places, expressions that wait for their use, local
variables.

In: pieces of Python text, from the modules `codegen_*`. Out: the source text of one function; for each of its lines,
the span of the SaC source it came from; and what the global names in it stand for, as data (`links`), so that a
function can be kept and loaded again in another process. A part of an expression that may raise stands on a line of its
own (`mark`), so that a traceback's line number alone leads back to the operator or index that failed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sacpy.interp.intervals import Interval, Known
from sacpy.interp.links import Later, Need, Place
from sacpy.interp.values import DTYPES
from sacpy.lang.core import Atom, Bind, Const, Var
from sacpy.lang.source import Span
from sacpy.lang.types import BITS, Scalar, Shape
from sacpy.nodes import Node, Record, replace

if TYPE_CHECKING:
    from sacpy.interp.facts import Facts
    from sacpy.interp.ownership import Ownership

DEEPEST = 30  # nesting of expressions; Python's own limit is 200 parentheses


class Ex(Node):
    """A Python expression. `rank` where known; `atomic`: a name or literal, which may be repeated; `parts`: the
    components of an int vector whose length is known; `tuple_text`: the vector as a tuple of ints; `value` of a
    constant scalar; `bounds`: what an integer lies in, where that is less than its whole type; `fresh`: an array that
    it makes is a new one, which nobody else holds."""

    text: str
    base: str
    rank: int | None = None
    atomic: bool = False
    parts: tuple[Ex, ...] | None = None
    tuple_text: str = ""
    value: Scalar | None = None
    depth: int = 0
    bounds: Interval | None = None
    fresh: bool = False

    @property
    def natural(self) -> bool:
        """Whether it is certainly not negative."""
        return self.bounds is not None and self.bounds[0] >= 0


class Generated(Node):
    """The Python of one function: its text, the places of its lines, and what its global names need to be."""

    source: str
    place: Place
    needs: dict[str, Need]


class Line(Record):
    indent: int
    text: str
    span: Span
    guard: tuple[str, tuple[str, ...]] | None = None


_MARK = re.compile("\x01(\\d+)\x02|\x03")


class Emitter:
    """One function being generated. `needs`: what the global names in it stand for. `selections`: by mark, the array
    and the indices of a direct access; `guarded`: the same by line, so that the fault can name them. `parts`: Python
    functions split off this one; `temporaries`: names of local variables that stand for no core
    variable."""

    ownership: Ownership

    def __init__(self, facts: Facts, prefix: str) -> None:
        self.facts = facts
        self.needs: dict[str, Need] = {}
        self.prefix = prefix
        self.lines: list[Line] = []
        self.indent = 1
        self.pending: dict[str, tuple[Ex, Span]] = {}
        self.virtual: dict[str, Ex] = {}
        self.locals: dict[str, str] = {}
        self.spans: list[Span] = []
        self.loops = 0
        self.counter = 0
        self.selections: dict[int, tuple[str, tuple[str, ...]]] = {}
        self.guarded: dict[int, tuple[str, tuple[str, ...]]] = {}
        self.parts: list[list[Line]] = []
        self.temporaries: set[str] = set()
        self.known = Known()

    # ---- names

    def name(self, core: str) -> str:
        """The local variable of a core variable."""
        known = self.locals.get(core)
        if known is None:
            known = f"{re.sub(r'[^0-9A-Za-z]', '_', core) or 'v'}_{len(self.locals)}"
            if known[0] in "_0123456789":
                known = "v" + known
            self.locals[core] = known
        return known

    def flag_name(self, core: str) -> str:
        """The local variable for the flag of a core variable."""
        return "o_" + self.name(core)

    def fresh(self, hint: str) -> str:
        """A new local variable."""
        self.counter += 1
        name = f"_{hint}{self.counter}"
        self.temporaries.add(name)
        return name

    def constant(self, kind: str, *what: Any) -> str:
        """A global name for something that every call shares (see `links`)."""
        return self.need(f"_k_{self.prefix}_{len(self.needs)}", kind, *what)

    def need(self, name: str, kind: str, *what: Any) -> str:
        """A global name that all functions know by this name."""
        self.needs[name] = (kind, *what)
        return name

    # ---- atoms

    def literal(self, const: Const) -> Ex:
        """A constant."""
        if const.shape:
            whole = self.constant("array", const.value, const.base, const.shape)
            if len(const.shape) == 1 and const.base in DTYPES:
                parts = tuple(self.scalar_literal(v, const.base) for v in const.value)
                return Ex(whole, const.base, 1, True, parts, f"({''.join(p.text + ', ' for p in parts)})")
            return Ex(whole, const.base, len(const.shape), True)
        if const.undefined:
            return Ex("None", const.base, None, True)
        value = const.value[0]
        if isinstance(value, bytes):
            return Ex(self.constant("plain", value), const.base, 0, True)
        return self.scalar_literal(value, const.base)

    @staticmethod
    def scalar_literal(value: Any, base: str) -> Ex:
        """A scalar constant of a built-in type."""
        text = repr(value)
        if base in ("float", "double"):
            text = repr(float(value))
            text = {"inf": "_inf", "-inf": "(-_inf)", "nan": "_nan"}.get(text, text)
        elif base != "bool":
            text = repr(int(value))
        return Ex(
            f"({text})" if text.startswith("-") else text,
            base,
            0,
            True,
            value=value,
            bounds=(value, value) if isinstance(value, int) and base in BITS else None,
        )

    def use(self, atom: Atom) -> Ex:
        """The expression of an atom; one that has waited for this use is taken."""
        if isinstance(atom, Const):
            return self.literal(atom)
        waiting = self.pending.pop(atom.name, None)
        if waiting is not None:
            return waiting[0]
        shape = self.facts.shape(atom.name)
        bounds = self.known.bounds.get(atom.name)
        virtual = self.virtual.get(atom.name)
        if virtual is not None:
            return virtual if bounds is None else replace(virtual, bounds=bounds)
        return Ex(self.name(atom.name), self.facts.base(atom.name), shape.rank, True, bounds=bounds)

    def peek(self, atom: Atom) -> Ex | None:
        """The expression of a constant, or of a variable that waits or is virtual."""
        if isinstance(atom, Const):
            return self.literal(atom)
        waiting = self.pending.get(atom.name)
        return waiting[0] if waiting is not None else self.virtual.get(atom.name)

    def stable(self, atom: Atom) -> Ex:
        """The expression of an atom in a form that may be repeated."""
        ex = self.use(atom)
        return ex if ex.atomic else self.local(ex, atom.span)

    def local(self, ex: Ex, span: Span, hint: str = "t") -> Ex:
        """The expression in a local variable."""
        if ex.atomic:
            return ex
        name = self.fresh(hint)
        self.emit(f"{name} = {ex.text}", span)
        return Ex(name, ex.base, ex.rank, True, bounds=ex.bounds)

    def shape(self, atom: Atom) -> Shape:
        """What is known of an atom's shape."""
        return self.facts.atom_shape(atom)

    # ---- lines

    def emit(self, text: str, span: Span, guard: tuple[str, tuple[str, ...]] | None = None) -> None:
        """Adds a line; `guard`: the array and indices of an access that NumPy checks."""
        self.lines.append(Line(self.indent, text, span, guard))

    def mark(self, text: str, span: Span) -> str:
        """An expression that may raise, with its place."""
        self.spans.append(span)
        return f"(\x01{len(self.spans) - 1}\x02{text}\x03)"

    def flush(self) -> None:
        """Computes all expressions that wait, before something that must come after them."""
        for core in list(self.pending):
            ex, span = self.pending.pop(core)
            self.emit(f"{self.name(core)} = {ex.text}", span)

    def capture(self) -> tuple[list[Line], dict[str, tuple[Ex, Span]]]:
        """Starts a block: what is emitted from now on is kept apart until `release`."""
        saved = self.lines, self.pending
        self.lines, self.pending = [], {}
        self.indent += 1
        return saved

    def release(
        self, saved: tuple[list[Line], dict[str, tuple[Ex, Span]]]
    ) -> tuple[list[Line], dict[str, tuple[Ex, Span]]]:
        """Ends the block: its lines and the expressions still waiting."""
        block = self.lines, self.pending
        self.lines, self.pending = saved
        self.indent -= 1
        return block

    def define_flag(self, target: Bind, source: str, span: Span) -> None:
        """Sets the flag of a variable, where that is a local variable."""
        if self.ownership.is_dynamic(target.name):
            self.emit(f"{self.flag_name(target.name)} = {source}", span)

    def clear_flag(self, core: str | None, span: Span) -> None:
        """The variable is from now on not the only holder of its array."""
        if core is not None and self.ownership.is_dynamic(core):
            self.emit(f"{self.flag_name(core)} = False", span)

    def generated(self, owner: str, header: str, span: Span) -> Generated:
        """The whole function. `owner`: the name that the call stack shows."""
        source, spans = self._assembled(header, span)
        return Generated(source, Place(owner, Later(spans), self.guarded), self.needs)

    def _assembled(self, header: str, span: Span) -> tuple[str, list[Span]]:
        """The source text, and the span of each of its lines."""
        rows: list[str] = []
        places: list[Span] = []
        for line in [*(row for part in self.parts for row in part), Line(0, header, span), *self.lines]:
            stack, at = [line.span], 0
            current = " " * line.indent
            if line.guard is not None:
                self.guarded[len(rows) + 1] = line.guard
            for match in _MARK.finditer(line.text):
                current += line.text[at : match.start()]
                rows.append(current)
                places.append(stack[-1])
                if match.group(1) is not None:
                    number = int(match.group(1))
                    stack.append(self.spans[number])
                    if number in self.selections:
                        self.guarded[len(rows) + 1] = self.selections[number]
                else:
                    stack.pop()
                current, at = "", match.end()
            rows.append(current + line.text[at:])
            places.append(stack[-1])
        return "\n".join(rows) + "\n", places


def reads(text: str) -> set[str]:
    """The identifiers in a Python text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


__all__ = ["DEEPEST", "Emitter", "Ex", "Generated", "Line", "Var", "reads"]
