"""Instructions that calculate."""

from __future__ import annotations

import numpy as np

from tests.ptx.conversions import TESTP
from tests.ptx.operands import ROUNDINGS, Operands
from tests.ptx.parse import Instr


class Calculations(Operands):
    """Of a block's writer."""

    def do_add(self, i: Instr, g: str, sign: str = "+") -> None:
        if {"s16x2", "u16x2"} & set(i.mods):
            self.halves(i, g, f"({{a}} {sign} {{b}})", "u2")
            return
        t = self.type_of(i)
        if "f32x2" in i.mods:
            self.pairs(i, g, f"o.fadd({{a}}, {'-' if sign == '-' else ''}{{b}}, {{mode}})")
        elif "cc" in i.mods:
            self.chained(i, g, "carry" if sign == "+" else "borrow", self.constant(np.bool_(False)))
        elif "sat" in i.mods and t == "i4":
            self.plain(i, g, f"np.clip({{a}}.astype(Ti8) {sign} {{b}}, -2**31, 2**31 - 1).astype(Ti4)")
        else:
            self.plain(
                i,
                g,
                (
                    f"o.fadd({{a}}, {'-' if sign == '-' else ''}{{b}}, {{mode}})"
                    if t[0] == "f"
                    else f"({{a}} {sign} {{b}})"
                ),
            )

    def do_sub(self, i: Instr, g: str) -> None:
        self.do_add(i, g, "-")

    def do_addc(self, i: Instr, g: str) -> None:
        self.chained(i, g, "carry", self.use("%CC", "p"))

    def do_subc(self, i: Instr, g: str) -> None:
        self.chained(i, g, "borrow", self.use("%CC", "p"))

    def chained(self, i: Instr, g: str, f: str, carry: str, a: str = "", b: str = "") -> None:
        t = self.type_of(i)
        v, w = self.new(), self.new()
        a, b = a or self.use(i.args[1], f"u{t[1]}"), b or self.use(i.args[2], f"u{t[1]}")
        self.say(f"{v}, {w} = o.{f}({a}, {b}, {carry}, {t!r})")
        self.set(i.args[0], v, f"u{t[1]}", g)
        if "cc" in i.mods:
            self.set("%CC", w, "p", g)

    def pairs(self, i: Instr, g: str, form: str) -> None:
        """Two floats in 64 bits."""
        mode = repr(next((m for m in i.mods if m in ROUNDINGS), "rn"))
        args = [self.use(a, "u8") for a in i.args[1:]]
        halves = []
        for shift in (0, 32):
            typed = [f"(np.asarray({a}) >> Tu8({shift})).astype(Tu4).view(Tf4)" for a in args]
            halves.append(form.format(**dict(zip("abc", typed)), mode=mode))
        v = [self.new(), self.new()]
        for name, h in zip(v, halves):
            self.say(f"{name} = np.asarray({h}).view(Tu4).astype(Tu8)")
        self.set(i.args[0], f"{v[0]} | ({v[1]} << Tu8(32))", "u8", g)

    def halves(self, i: Instr, g: str, form: str, t: str) -> None:
        """Two integers of 16 bits in 32."""
        args = [self.use(a, "u4") for a in i.args[1:]]
        parts = []
        for shift in (0, 16):
            typed = [f"(np.asarray({a}) >> Tu4({shift})).astype(Tu2).view(T{t})" for a in args]
            parts.append(
                f"(np.asarray({form.format(**dict(zip('abc', typed)))}).view(Tu2).astype(Tu4) << Tu4({shift}))"
            )
        self.set(i.args[0], " | ".join(parts), "u4", g)

    def product(self, i: Instr, a: str, b: str) -> tuple[str, str]:
        """The product of integers, in the part that the instruction names, and its type."""
        t = self.type_of(i)
        if "wide" in i.mods:
            return f"o.wide({a}, {b}, {t!r})", t[0] + str(2 * int(t[1]))
        return (f"o.mulhi({a}, {b}, {t!r})" if "hi" in i.mods else f"({a} * {b})"), t

    def do_mul(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        if "f32x2" in i.mods:
            self.pairs(i, g, "o.fmul({a}, {b}, {mode})")
        elif t[0] == "f":
            self.plain(i, g, "o.fmul({a}, {b}, {mode})")
        else:
            self.set(i.args[0], *self.product(i, self.use(i.args[1], t), self.use(i.args[2], t)), g)

    def do_mul24(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        low = [f"(({self.use(a, t)} << T{t}(8)) >> T{t}(8))" for a in i.args[1:3]]
        shift = 16 if "hi" in i.mods else 0
        self.set(i.args[0], f"(({low[0]}.astype(Ti8) * {low[1]}) >> Ti8({shift})).astype(T{t})", t, g)

    def do_mad(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        if t[0] == "f":
            self.do_fma(i, g)
            return
        a, b = self.use(i.args[1], t), self.use(i.args[2], t)
        text, wide = self.product(i, a, b)
        if "cc" in i.mods or i.op == "madc":
            v = self.new()
            self.say(f"{v} = {text}")
            carry = self.use("%CC", "p") if i.op == "madc" else self.constant(np.bool_(False))
            self.chained(i, g, "carry", carry, f"{v}.view(Tu{t[1]})", self.use(i.args[3], f"u{t[1]}"))
        else:
            self.set(i.args[0], f"({text} + {self.use(i.args[3], wide)})", wide, g)

    do_madc = do_mad

    def do_fma(self, i: Instr, g: str) -> None:
        if "f32x2" in i.mods:
            self.pairs(i, g, "o.fma({a}, {b}, {c}, {mode})")
        else:
            self.plain(i, g, "o.fma({a}, {b}, {c}, {mode})")

    def do_sad(self, i: Instr, g: str) -> None:
        self.plain(i, g, "({c} + np.where({a} > {b}, {a} - {b}, {b} - {a}))")

    def do_div(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        if t[0] == "f":
            self.plain(i, g, "o.fdiv({a}, {b}, {mode})")
            return
        b = self.use(i.args[2], t)
        self.say(f"S.divides({b}, lanes, {g or None}, {self.where})")
        self.plain(i, g, f"o.i{i.op}({{a}}, {{b}}, {{t}})")

    do_rem = do_div

    def do_neg(self, i: Instr, g: str) -> None:
        self.plain(i, g, "(-{a})" if self.type_of(i)[0] == "f" else "(T" + self.type_of(i) + "(0) - {a})")

    def do_abs(self, i: Instr, g: str) -> None:
        self.plain(i, g, "np.abs({a})")

    def do_min(self, i: Instr, g: str) -> None:
        self.extreme(i, g, "least", "np.minimum")

    def do_max(self, i: Instr, g: str) -> None:
        self.extreme(i, g, "greatest", "np.maximum")

    def extreme(self, i: Instr, g: str, real_one: str, whole: str) -> None:
        if packed := next((m[0] for m in i.mods if m in ("s16x2", "u16x2")), ""):
            t = {"s": "i2", "u": "u2"}[packed]
            self.halves(i, g, self.not_below_zero(i, f"{whole}({{a}}, {{b}})", t), t)
        elif self.type_of(i)[0] == "f":
            form = f"o.{real_one}({{a}}, {{b}}, {'NaN' in i.mods})"
            self.plain(i, g, form if len(i.args) == 3 else f"o.{real_one}({form}, {{c}}, {'NaN' in i.mods})")
        else:
            assert len(i.args) == 3, i
            self.plain(i, g, self.not_below_zero(i, f"{whole}({{a}}, {{b}})", self.type_of(i)))

    def not_below_zero(self, i: Instr, form: str, t: str) -> str:
        """What `.relu` makes of a signed extreme, from sm_90 on."""
        return f"np.maximum({form}, T{t}(0))" if "relu" in i.mods else form

    def do_rcp(self, i: Instr, g: str) -> None:
        if "approx" in i.mods:
            self.plain(
                i, g, "o.gross(lambda x: 1 / x, {a})" if self.type_of(i) == "f8" else "o.single(lambda x: 1 / x, {a})"
            )
        else:
            self.plain(i, g, f"o.fdiv(T{self.type_of(i)}(1), {{a}}, {{mode}})")

    def do_sqrt(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.fsqrt({a}, {mode})")

    def do_rsqrt(self, i: Instr, g: str) -> None:
        self.plain(
            i,
            g,
            "o.gross(lambda x: 1 / np.sqrt(x), {a})"
            if self.type_of(i) == "f8" and "ftz" in i.mods
            else "1 / np.sqrt({a})"
            if self.type_of(i) == "f8"
            else "o.single(lambda x: 1 / np.sqrt(x), {a})",
        )

    def do_ex2(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.single(np.exp2, {a})")

    def do_lg2(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.single(np.log2, {a})")

    def do_sin(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.single(np.sin, {a})")

    def do_cos(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.single(np.cos, {a})")

    def do_tanh(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.single(np.tanh, {a})")

    def do_copysign(self, i: Instr, g: str) -> None:
        self.plain(i, g, "np.copysign({b}, {a})")

    def do_testp(self, i: Instr, g: str) -> None:
        self.plain(i, g, TESTP[i.mods[0]], "p")
