"""Instructions on bits, and those that compare and choose."""

from __future__ import annotations

from tests.ptx.conversions import COMPARE, FLOAT_NE
from tests.ptx.kinds import kind
from tests.ptx.operands import Operands
from tests.ptx.parse import SIZES, Instr


class Bits(Operands):
    """Of a block's writer."""

    def do_and(self, i: Instr, g: str) -> None:
        self.plain(i, g, "({a} & {b})")

    def do_or(self, i: Instr, g: str) -> None:
        self.plain(i, g, "({a} | {b})")

    def do_xor(self, i: Instr, g: str) -> None:
        self.plain(i, g, "({a} ^ {b})")

    def do_not(self, i: Instr, g: str) -> None:
        self.plain(i, g, "(~{a})")

    def do_cnot(self, i: Instr, g: str) -> None:
        self.plain(i, g, "np.where({a} == 0, T" + self.type_of(i) + "(1), T" + self.type_of(i) + "(0))")

    def do_shl(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.shift({a}, {b}, False)", "", "", "u4")

    def do_shr(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.shift({a}, {b}, True)", "", "", "u4")

    def do_shf(self, i: Instr, g: str) -> None:
        self.plain(i, g, f"o.funnel({{a}}, {{b}}, {{c}}, {'l' in i.mods}, {'clamp' in i.mods})")

    def do_bfe(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.bfe({a}, {b}, {c}, {t})", "", "", "u4", "u4")

    def do_bfi(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.bfi({a}, {b}, {c}, {d})", "", "", "", "u4", "u4")

    def do_bfind(self, i: Instr, g: str) -> None:
        self.plain(i, g, f"o.bfind({{a}}, {{t}}, {'shiftamt' in i.mods})", "u4")

    def do_brev(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.brev({a})")

    def do_popc(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.popc({a})", "u4")

    def do_clz(self, i: Instr, g: str) -> None:
        self.plain(i, g, "o.clz({a})", "u4")

    def do_prmt(self, i: Instr, g: str) -> None:
        mode = next((m for m in i.mods if m != "b32"), "")
        self.plain(i, g, f"o.prmt({{a}}, {{b}}, {{c}}, {mode!r})")

    def do_lop3(self, i: Instr, g: str) -> None:
        *rest, table = i.args
        self.plain(Instr(i.op, i.mods, rest), g, f"o.lop3({{a}}, {{b}}, {{c}}, {int(table, 0)})")

    # ---- choosing

    def compared(self, i: Instr) -> str:
        t = self.type_of(i)
        test = next(m for m in i.mods if m in COMPARE)
        a, b = self.use(i.args[1], t), self.use(i.args[2], t)
        if "ftz" in i.mods and t == "f4":
            a, b = f"o.ftz({a})", f"o.ftz({b})"
        form = FLOAT_NE if test == "ne" and t[0] == "f" else COMPARE[test]
        return form.format(a=a, b=b)

    def do_setp(self, i: Instr, g: str) -> None:
        v = self.new()
        self.say(f"{v} = {self.compared(i)}")
        first, _, second = i.args[0].partition("|")
        combine = next((m for m in i.mods if m in ("and", "or", "xor")), "")
        other = f" {dict(zip(('and', 'or', 'xor'), '&|^'))[combine]} {self.use(i.args[3], 'p')}" if combine else ""
        if second:
            w = self.new()
            self.say(f"{w} = (~{v}){other}")
        self.set(first, f"{v}{other}", "p", g)
        if second:
            self.set(second, w, "p", g)

    def do_set(self, i: Instr, g: str) -> None:
        to = kind(next(m for m in i.mods if m in SIZES))
        yes = "Tf4(1), Tf4(0)" if to == "f4" else f"~T{to}(0), T{to}(0)" if to[0] == "u" else f"T{to}(-1), T{to}(0)"
        self.set(i.args[0], f"np.where({self.compared(i)}, {yes})", to, g)

    def do_selp(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        a, b, p = self.use(i.args[1], t), self.use(i.args[2], t), self.use(i.args[3], "p")
        self.set(i.args[0], f"np.where({p}, {a}, {b})", t, g)

    def do_slct(self, i: Instr, g: str) -> None:
        to, by = [kind(m) for m in i.mods if m in SIZES]
        self.set(
            i.args[0],
            f"np.where({self.use(i.args[3], by)} >= 0, {self.use(i.args[1], to)}, {self.use(i.args[2], to)})",
            to,
            g,
        )
