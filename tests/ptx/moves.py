"""Instructions that move: between registers, to and from memory, into functions; conversions."""

from __future__ import annotations

from tests.ptx.kinds import kind
from tests.ptx.memory import LOCAL_WINDOW, SHARED_WINDOW
from tests.ptx.operands import Operands, names_in
from tests.ptx.parse import SIZES, Instr, PtxError


class Moves(Operands):
    """Of a block's writer."""

    def do_mov(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        to, of = i.args
        if of.startswith("{"):
            parts = names_in(of)
            each = int(t[1]) // len(parts)
            self.set(
                to,
                " | ".join(
                    f"(np.asarray({self.use(p, f'u{each}')}).astype(Tu{t[1]}) << Tu{t[1]}({8 * each * k}))"
                    for k, p in enumerate(parts)
                ),
                f"u{t[1]}",
                g,
            )
        elif to.startswith("{"):
            parts = names_in(to)
            each = int(t[1]) // len(parts)
            whole = self.use(of, f"u{t[1]}")
            for k, p in enumerate(parts):
                self.set(p, f"(np.asarray({whole}) >> Tu{t[1]}({8 * each * k})).astype(Tu{each})", f"u{each}", g)
        else:
            self.set(to, self.use(of, t), t, g)

    def do_cvta(self, i: Instr, g: str) -> None:
        space = self.space_of(i)
        window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
        a = self.use(i.args[1], self.type_of(i))
        self.set(i.args[0], f"({a} {'-' if 'to' in i.mods else '+'} Tu8({window}))", "u8", g)

    def do_isspacep(self, i: Instr, g: str) -> None:
        a = self.use(i.args[1], "u8")
        top = {"shared": 3, "local": 1, "global": 0, "const": 0}[self.space_of(i)]
        self.set(i.args[0], f"(({a} >> Tu8(60)) == {top})", "p", g)

    def do_ld(self, i: Instr, g: str) -> None:
        t, space = self.type_of(i), self.space_of(i)
        if space == "param":
            name, _, offset = i.args[1].strip("[]").partition("+")
            names = names_in(i.args[0])
            if name.startswith("%"):  # of several parameters one, by its place
                for k, n in enumerate(names):
                    at = f"{self.use(name, 'u8')} + Tu8({int(offset or 0) + k * int(t[1])})"
                    self.set(n, f"S.load_param_at({at}, {t[1]}).view(T{t})", t, g)
                return
            for k, n in enumerate(names):
                self.set(
                    n, f"S.load_param(F, {name!r}, {int(offset or 0) + k * int(t[1])}, {t[1]}, m).view(T{t})", t, g
                )
            return
        names = names_in(i.args[0])
        self.program.grain = min(self.program.grain, int(t[1]))
        v = self.new()
        self.say(
            f"{v} = S.load({space!r}, {self.address(i.args[1])}, {t[1]}, {len(names)}, lanes, "
            f"{g or None}, {'nc' in i.mods}, {self.where}, {self.id})"
        )
        for k, n in enumerate(names):
            self.set(n, f"{v}{f'[{k}]' if len(names) > 1 else ''}.view(T{t})", t, g)

    do_ldu = do_ld

    def do_st(self, i: Instr, g: str) -> None:
        t, space = self.type_of(i), self.space_of(i)
        values = [self.use(n, f"u{t[1]}") for n in names_in(i.args[1])]
        if space == "param":
            name, _, offset = i.args[0].strip("[]").partition("+")
            total = next((v.size for v in [*self.c.function.variables, *self.c.function.results] if v.name == name), 8)
            for k, v in enumerate(values):
                self.say(f"S.store_param(F, {name!r}, {int(offset or 0) + k * int(t[1])}, {total}, {v}, m)")
            return
        self.program.grain = min(self.program.grain, int(t[1]))
        self.say(
            f"S.store({space!r}, {self.address(i.args[0])}, [{', '.join(values)}], {t[1]}, lanes, "
            f"{g or None}, {self.where}, {self.id})"
        )

    def do_call(self, i: Instr, g: str) -> None:
        if g:
            raise PtxError("a call under a guard")
        args = list(i.args)
        results = names_in(args.pop(0)) if args[0].startswith("(") else []
        name = args.pop(0)
        if name not in self.program.module.functions:
            raise PtxError(f"call of {name}")
        given = names_in(args.pop(0)) if args and args[0].startswith("(") else []
        self.say(f"S.call(F, m, lanes, {name!r}, {[x for x in given if x]!r}, {[x for x in results if x]!r})")

    def do_cvt(self, i: Instr, g: str) -> None:
        if "tf32" in i.mods:
            self.set(i.args[0], f"o.to_tf32({self.use(i.args[1], 'u4')}, {i.mods!r})", "u4", g)
            return
        to, of = [kind(m) for m in i.mods if m in SIZES]
        self.set(i.args[0], f"o.cvt({self.use(i.args[1], of)}, {to!r}, {of!r}, {i.mods!r})", to, g)
