"""Primitives, selections and array constructions as Python expressions.

In: a primitive of core. Out: an `Ex`: written-out scalar arithmetic where all operands are scalars, a direct
`a.item(i, j)` where rank and index are known, else a call of the function that evaluates the primitive on values of any
rank.
"""

from __future__ import annotations

from sacpy.interp import arithmetic, scalar_text
from sacpy.interp.arithmetic import limits
from sacpy.interp.emitter import DEEPEST, Emitter, Ex
from sacpy.interp.intervals import NATURAL, Interval, hull, result, within
from sacpy.interp.runtime.elementwise import REAL_REUSING, reusing
from sacpy.lang.core import ArrayCons, Atom, Prim, Var
from sacpy.lang.primitives import CONVERSIONS, PRIMITIVES
from sacpy.lang.source import Span
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import replace

SHORT = 8  # vectors up to this length are followed by component
BRIEF = 60  # characters of an index that may be written once more, where an error names it


class Expressions(Emitter):
    """The part of the generator that makes expressions."""

    def primitive(self, prim: Prim, base: str, span: Span) -> Ex:
        """The expression of a primitive (all but `modarray`). `base`: of the result."""
        if prim.op == "sel":
            return self.selection(prim, base, span)
        if prim.op == "shape":
            return self.shape_vector(prim, span)
        if prim.op == "device":
            return self.scalar_literal(False, "bool")
        if prim.op == "dim":
            return self.dimension(prim)
        if prim.op == "ravel" and self.shape(prim.args[0]).rank == 0:
            return self.vector_of((self.use(prim.args[0]),), base)
        operand_base = self.operand_base(prim)
        args = [self.formed(prim, i, span) for i in range(len(prim.args))]
        if prim.op in ("zero", "one", "minval", "maxval"):
            return self.scalar_literal(eval(arithmetic.constant_of(prim.op, operand_base)), operand_base)
        vector = self.small_vector(prim.op, operand_base, base, args, span)
        if vector is not None:
            return vector
        if not PRIMITIVES[prim.op].structural and all(a.rank == 0 for a in args):
            return self.scalar_operation(prim.op, operand_base, base, args, span)
        new = prim.op in REAL_REUSING
        function = (self.reusing(prim.op, operand_base, args) if new else None) or self.evaluator(prim, operand_base)
        texts = [
            (a.tuple_text or a.text) if a.parts is not None and prim.op == "reshape" and i == 0 else a.text
            for i, a in enumerate(args)
        ]
        made = self.made(self.mark(f"{function}({', '.join(texts)})", span), base, args, self.result_rank(prim, args))
        return replace(made, fresh=new)

    def made(self, text: str, base: str, args: list[Ex], rank: int | None) -> Ex:
        """An expression made of others."""
        return Ex(text, base, rank, depth=1 + max((a.depth for a in args), default=0))

    def operand_base(self, prim: Prim) -> str:
        """The base type that the primitive's typed arguments share."""
        kinds = PRIMITIVES[prim.op].args
        at = next((i for i, kind in enumerate(kinds) if kind == "T"), 0)
        return self.base_of(prim.args[at])

    def base_of(self, atom: Atom) -> str:
        """The base type of an atom."""
        return self.facts.base(atom.name) if isinstance(atom, Var) else atom.base

    def formed(self, prim: Prim, at: int, span: Span) -> Ex:
        """An operand, with the check of the rank that the primitive's form demands of it."""
        ex = self.use(prim.args[at])
        letter = prim.form[at] if at < len(prim.form) else "A"
        cell = (
            prim.cell
            if PRIMITIVES[prim.op].structural
            and not ((prim.op in ("sel", "reshape", "take", "drop") and at == 0) or (prim.op == "modarray" and at == 1))
            else 0
        )
        wanted = {"S": cell, "V": 1 + cell}.get(letter)
        if wanted is None or ex.rank == wanted:
            return ex
        name = f"_{prim.op}_{'x'.join(prim.form)}_"
        return Ex(
            self.mark(f"_need_rank({ex.text}, {wanted}, {name!r}, {at + 1})", span), ex.base, wanted, depth=ex.depth + 1
        )

    def evaluator(self, prim: Prim, base: str) -> str:
        """The global name of the function that evaluates a primitive."""
        name = f"_p_{prim.op}_{base.replace('::', '_')}_{prim.cell}"
        if prim.attrs:
            text = "".join(map(str, prim.attrs))
            name += "_" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in text)
        return self.need(name, "primitive", prim.op, base, prim.cell, prim.attrs)

    def reusing(self, op: str, base: str, args: list[Ex]) -> str | None:
        """The global name of the version of an element-wise primitive that writes into an operand, where one is a new
        array."""
        at = next((i for i, a in enumerate(args) if a.fresh), None)
        if at is None or reusing(op, base, at) is None:
            return None
        return self.need(f"_p_{op}_{base}_into_{at}", "reusing", op, base, at)

    def result_rank(self, prim: Prim, args: list[Ex]) -> int | None:
        """The rank of an element-wise result, where the operands tell."""
        if PRIMITIVES[prim.op].structural or any(a.rank is None for a in args):
            return None
        return max(a.rank or 0 for a in args) if prim.op not in ("all", "any") else 0

    def scalar_operation(self, op: str, operand_base: str, base: str, args: list[Ex], span: Span) -> Ex:
        """Arithmetic on scalars, written out."""
        if op == "mask":
            chosen = self.made(f"({args[1].text} if {args[0].text} else {args[2].text})", base, args, 0)
            return replace(chosen, bounds=either(args[1], args[2]))
        if op in ("all", "any"):
            return args[0]
        ranges = [a.bounds or limits(operand_base) for a in args]
        text = scalar_text.scalar(op, operand_base, [a.text for a in args], ranges)
        assert text is not None
        if op in scalar_text.FAULTY and operand_base in BITS and not text.startswith("("):
            text = self.mark(text, span)
        found = ranges[0] if op in CONVERSIONS else result(op, ranges)
        tells = operand_base in BITS and base in BITS and found is not None and within(found, limits(base))
        return replace(self.made(text, base, args, 0), bounds=found if tells else None)

    def small_vector(self, op: str, operand_base: str, base: str, args: list[Ex], span: Span) -> Ex | None:
        """Element-wise integer arithmetic on short vectors whose components are at hand, component by component."""
        if (
            op not in ("add", "sub", "mul", "min", "max", "div", "mod", "aplmod", "neg")
            or operand_base not in BITS
            or base != operand_base
        ):
            return None
        vectors = [a.parts for a in args if a.parts is not None]
        if (
            not vectors
            or len({len(v) for v in vectors}) > 1
            or any(a.parts is None and (a.rank != 0 or not a.atomic) for a in args)
        ):
            return None
        if op in ("div", "mod") and not all(p.value for p in args[1].parts or (args[1],)):
            return None
        if any(p.depth > 3 or (not p.atomic and op in ("min", "max")) for v in vectors for p in v):
            return None
        rows = [[a] * len(vectors[0]) if a.parts is None else list(a.parts) for a in args]
        return self.vector_of(
            tuple(self.scalar_operation(op, operand_base, base, list(column), span) for column in zip(*rows)), base
        )

    # ---- vectors

    def vector_of(self, parts: tuple[Ex, ...], base: str) -> Ex:
        """A short vector of scalars: by component, as a tuple, and as an array."""
        inner = ", ".join(p.text for p in parts)
        tuple_text = f"({inner},)" if parts else "()"
        dtype = self.need(f"_dtype_{base}", "dtype", base)
        return Ex(
            f"_array({tuple_text}, {dtype})",
            base,
            1,
            False,
            parts,
            tuple_text,
            depth=1 + max((p.depth for p in parts), default=0),
        )

    def array_construction(self, cons: ArrayCons, base: str, span: Span) -> Ex:
        """`[a, b, c]`."""
        args = [self.use(a) for a in cons.elements]
        if all(a.rank == 0 for a in args) and base in arithmetic_bases():
            return self.vector_of(tuple(args), base) if len(args) <= 64 else self._long_vector(args, base)
        texts = ", ".join(a.text for a in args)
        ranks = {a.rank for a in args}
        rank = None if len(ranks) != 1 or None in ranks else 1 + (args[0].rank or 0)
        return self.made(self.mark(f"_stack([{texts}], {base!r})", span), base, args, rank)

    def _long_vector(self, args: list[Ex], base: str) -> Ex:
        dtype = self.need(f"_dtype_{base}", "dtype", base)
        return self.made(f"_array(({', '.join(a.text for a in args)},), {dtype})", base, args, 1)

    def shape_vector(self, prim: Prim, span: Span) -> Ex:
        """`shape(a)`; by component where the rank is known."""
        known = self.shape(prim.args[-1])
        a = self.stable(prim.args[-1])
        rank = known.rank if known.rank is not None else a.rank
        if rank is not None and rank - prim.cell <= SHORT:
            extents = known.extents or (None,) * rank
            parts = tuple(
                self.scalar_literal(n, "int")
                if n is not None
                else Ex(f"{a.text}.shape[{k}]", "int", 0, True, bounds=NATURAL)
                for k, n in enumerate(extents[: rank - prim.cell])
            )
            return self.vector_of(parts, "int")
        cell = f"[:-{prim.cell}]" if prim.cell else ""
        return Ex(f"_shape({a.text}, {prim.cell})", "int", 1, tuple_text=f"_shape_of({a.text}){cell}", depth=1)

    def dimension(self, prim: Prim) -> Ex:
        """`dim(a)`."""
        known = self.shape(prim.args[0])
        a = self.use(prim.args[0])
        if known.rank is not None:
            return self.scalar_literal(known.rank - prim.cell, "int")
        return self.made(f"_dim({a.text}, {prim.cell})", "int", [a], 0)

    def index_tuple(self, ex: Ex) -> str:
        """An index vector as something that helpers accept: a tuple where possible."""
        return ex.tuple_text or ex.text

    # ---- selection

    def selection(self, prim: Prim, base: str, span: Span) -> Ex:
        """`a[iv]`."""
        iv_atom, a_atom = prim.args
        known = self.shape(a_atom)
        iv = self.use(iv_atom)
        parts = iv.parts if iv.parts is not None else (iv,) if iv.rank == 0 else self.known_length(iv, iv_atom, span)
        if parts is not None and isinstance(a_atom, Var):
            component = self._component(a_atom, parts, prim.cell)
            if component is not None:
                return component
        a = self.stable(a_atom) if parts is not None and not self._simple(parts) else self.use(a_atom)
        rank = known.rank if known.rank is not None else a.rank
        if parts is not None and rank is not None and len(parts) == rank and prim.cell == 0 and rank > 0:
            return self._element(a if a.atomic else self.local(a, span), parts, base, span)
        if parts and rank is None and prim.cell == 0 and a.atomic and self._simple(parts):
            return self._guess(a, parts, base, span)
        length = len(parts) if parts is not None else None
        result = rank - length if rank is not None and length is not None and rank >= length else None
        cell = f", {prim.cell}" if prim.cell else ""
        index = (
            f"({', '.join(p.text for p in parts)}{',' if parts else ''})" if parts is not None else self.index_tuple(iv)
        )
        return self.made(self.mark(f"_sel({index}, {a.text}{cell})", span), base, [iv, a], result)

    @staticmethod
    def _simple(parts: tuple[Ex, ...]) -> bool:
        return all(p.atomic for p in parts)

    def known_length(self, iv: Ex, atom: Atom, span: Span) -> tuple[Ex, ...] | None:
        """The components of an index vector that is an array of known, short length."""
        extents = self.shape(atom).extents
        if (
            extents is None
            or len(extents) != 1
            or extents[0] is None
            or extents[0] > SHORT
            or not isinstance(atom, Var)
        ):
            return None
        vector = self.local(iv, span, "iv")
        return tuple(Ex(f"{vector.text}.item({k})", "int", 0) for k in range(extents[0]))

    def _component(self, a: Var, parts: tuple[Ex, ...], cell: int) -> Ex | None:
        """A constant component of a vector that is at hand by component."""
        waiting = self.pending.get(a.name)
        vector = waiting[0] if waiting is not None else self.virtual.get(a.name)
        if cell or vector is None or vector.parts is None or len(parts) != 1 or not isinstance(parts[0].value, int):
            return None
        if not 0 <= parts[0].value < len(vector.parts):
            return None
        self.pending.pop(a.name, None)
        return vector.parts[parts[0].value]

    def _guess(self, a: Ex, parts: tuple[Ex, ...], base: str, span: Span) -> Ex:
        """A selection from an array of unknown rank: most often the index is as long as the rank, and then it is one
        element."""
        names = tuple(p.text for p in parts)
        index = ", ".join(names)
        tests = [f"type({a.text}) is ndarray and {a.text}.ndim == {len(parts)}"]
        tests += (
            [" | ".join(p.text for p in parts if not p.natural) + " >= 0"] if not all(p.natural for p in parts) else []
        )
        self.selections[len(self.spans)] = (a.text, names)
        return self.made(
            self.mark(f"{a.text}.item({index}) if {' and '.join(tests)} else _sel(({index},), {a.text})", span),
            base,
            [a, *parts],
            None,
        )

    def _element(self, a: Ex, parts: tuple[Ex, ...], base: str, span: Span) -> Ex:
        """One element of an array of known rank. NumPy refuses indices that are too large; negative ones are refused
        here."""
        names, tests = [], []
        for part in parts:
            text = part.text
            if not part.atomic and not (part.natural and len(text) <= BRIEF and "\x01" not in text):
                name = self.fresh("i")
                tests.append(f"({name} := {text})")
                names.append(name)
                continue
            names.append(text)
            if not part.natural:
                tests.append(text)
        item = f"{a.text}.item({', '.join(names)})"
        if tests:
            condition = " | ".join(tests) + " >= 0"  # an or of ints is negative if one of them is
            item = f"{item} if {condition} else _bad_index({a.text}, {', '.join(names)})"
        self.selections[len(self.spans)] = (a.text, tuple(names))
        return self.made(self.mark(item, span), base, [a, *parts], 0)


def either(a: Ex, b: Ex) -> Interval | None:
    """What one of two integers lies in."""
    return None if a.bounds is None or b.bounds is None else hull(a.bounds, b.bounds)


def arithmetic_bases() -> tuple[str, ...]:
    """The built-in base types."""
    return (*BITS, *REAL, "bool", "char")


__all__ = ["DEEPEST", "Expressions"]
