"""Instructions that threads execute together: barriers of warps, votes, shuffles, atomics."""

from __future__ import annotations

from tests.ptx.operands import Operands, names_in
from tests.ptx.parse import SIZES, Instr


class Together(Operands):
    """Of a block's writer."""

    def do_bar(self, i: Instr, g: str) -> None:  # bar.warp.sync
        self.say(f"S.vote('active', True, {self.use(i.args[0], 'u4')}, lanes, {g or None}, {self.where})")

    do_barrier = do_bar

    def do_membar(self, i: Instr, g: str) -> None:
        if not {"cta", "cluster"} & set(i.mods):
            self.say(f"S.fence(lanes, {g or None})")

    do_fence = do_membar

    def do_activemask(self, i: Instr, g: str) -> None:
        self.set(i.args[0], f"S.vote('active', True, None, lanes, {g or None}, {self.where})", "u4", g)

    def do_vote(self, i: Instr, g: str) -> None:
        mode = next(m for m in i.mods if m in ("all", "any", "uni", "ballot"))
        mask = self.use(i.args[2], "u4") if "sync" in i.mods else "None"
        self.set(
            i.args[0],
            f"S.vote({mode!r}, {self.use(i.args[1], 'p')}, {mask}, lanes, {g or None}, {self.where})",
            "u4" if mode == "ballot" else "p",
            g,
        )

    def do_redux(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        f = {
            "add": "np.add",
            "min": "np.minimum",
            "max": "np.maximum",
            "and": "np.bitwise_and",
            "or": "np.bitwise_or",
            "xor": "np.bitwise_xor",
        }[next(m for m in i.mods if m != "sync" and m not in SIZES)]
        self.set(
            i.args[0],
            f"S.redux({f}, {self.use(i.args[1], t)}, {self.use(i.args[2], 'u4')}, lanes, {g or None}, {self.where})",
            t,
            g,
        )

    def do_shfl(self, i: Instr, g: str) -> None:
        mode = next(m for m in i.mods if m in ("up", "down", "bfly", "idx"))
        first, _, second = i.args[0].partition("|")
        v, w = self.new(), self.new()
        mask = self.use(i.args[4], "u4") if "sync" in i.mods else "None"
        self.say(
            f"{v}, {w} = S.shfl({mode!r}, {self.use(i.args[1], 'u4')}, {self.use(i.args[2], 'u4')}, "
            f"{self.use(i.args[3], 'u4')}, "
            f"{mask}, lanes, {g or None}, {self.where})"
        )
        self.set(first, v, "u4", g)
        if second:
            self.set(second, w, "p", g)

    def do_mma(self, i: Instr, g: str) -> None:
        form = next(m for m in ("tf32", "f64") if m in i.mods)
        result, operand = ("f8", "f8") if form == "f64" else ("f4", "u4")
        d, *given = (names_in(a) for a in i.args)
        a, b, c = ([self.use(n, t) for n in names] for names, t in zip(given, (operand, operand, result)))
        v = self.new()
        lists = ", ".join(f"[{', '.join(part)}]" for part in (a, b, c))
        self.say(f"{v} = S.mma({form!r}, {lists}, lanes, {g or None}, {self.where})")
        for k, n in enumerate(d):
            self.set(n, f"{v}[{k}]", result, g)

    def do_atom(self, i: Instr, g: str) -> None:
        t = self.type_of(i)
        size = int(t[1])
        has_result = i.op == "atom"
        where, *operands = i.args[1:] if has_result else i.args
        code = next(m for m in i.mods if m in ("add", "min", "max", "inc", "dec", "cas", "exch", "and", "or", "xor"))
        raw = "np.asarray({}).view(T" + t + ")"
        old, x = raw.format("x"), raw.format("y")
        form = {
            "add": f"{old} + {x}",
            "min": f"np.minimum({old}, {x})",
            "max": f"np.maximum({old}, {x})",
            "and": "x & y",
            "or": "x | y",
            "xor": "x ^ y",
            "exch": "y",
            "cas": "np.where(x == y, z, x)",
            "inc": "np.where(x >= y, x * 0, x + 1)",
            "dec": "np.where((x == 0) | (x > y), y, x - 1)",
        }[code]
        names = "x, y, z" if code == "cas" else "x, y"
        v = self.new()
        given = ", ".join(self.use(a, f"u{size}") for a in operands)
        self.program.grain = min(self.program.grain, size)
        self.say(
            f"{v} = S.atomic({self.space_of(i)!r}, {self.address(where)}, "
            f"lambda {names}: np.asarray({form}).view(Tu{size}), "
            f"{size}, lanes, {g or None}, {self.where}, {self.id}, {given})"
        )
        if has_result:
            self.set(i.args[0], f"{v}.view(T{t})", t, g)

    do_red = do_atom

    def do_nanosleep(self, i: Instr, g: str) -> None:
        pass

    do_prefetch = do_prefetchu = do_nanosleep
    do_griddepcontrol = do_nanosleep
