"""Writes basic blocks: their instructions one after the other, then where they go on."""

from __future__ import annotations

from tests.ptx.bits import Bits
from tests.ptx.calculations import Calculations
from tests.ptx.launch import EXIT
from tests.ptx.moves import Moves
from tests.ptx.operands import ENDS, is_barrier
from tests.ptx.parse import Instr, PtxError
from tests.ptx.together import Together


class Writer(Moves, Calculations, Bits, Together):
    """Each instruction has a method: "do_" and the first part of its opcode."""

    def write(self, piece: list[Instr], number: int, targets: dict[str, int], blocks: int) -> None:
        after = number + 1 if number + 1 < blocks else EXIT
        for i in piece:
            self.pc += 1
            if i.op in ENDS or is_barrier(i):
                self.leave(i, targets, after)
                return
            self.instruction(i)
        self.flush()
        self.say(f"return {after if after != EXIT else 'EXIT'}")

    def flush(self) -> None:
        for r in self.changed:
            if r in self.outer:
                v, _ = self.env[r]
                self.say(f"kept(F, {self.c.number[r]}, {v}, m)")

    def leave(self, i: Instr, targets: dict[str, int], after: int) -> None:
        guard = self.guard(i)
        if i.op == "brx":
            index = self.use(i.args[0], "u4")
            self.say(f"to = np.array({[targets[t] for t in self.c.function.tables[i.args[1]]]})[{index}]")
        self.flush()
        match i.op:
            case "bra":
                to = targets[i.args[0]]
                self.say(f"return br({guard}, {to}, {after})" if guard else f"return {to}")
            case "brx":
                self.say("return to if np.ndim(to) else int(to)")
            case "ret" | "exit":
                self.say(f"return br({guard}, EXIT, {after})" if guard else "return EXIT")
            case "trap":
                self.say(f"if {f'np.any({guard})' if guard else 'True'}: S.trap({i.text!r}, lanes)")
                self.say(f"return {after}")
            case _:
                if guard or "red" in i.mods or "arrive" in i.mods or len(i.args) > 1 or (i.args and i.args[0] != "0"):
                    raise PtxError(f"barrier: {i.text}")
                self.say(f"return {after}")

    def instruction(self, i: Instr) -> None:
        """One instruction that goes on to the next."""
        guard = self.guard(i)
        made = getattr(self, "do_" + i.op, None)
        if made is None:
            raise PtxError(f"instruction: {i.text}")
        self.where = repr(f"{self.c.function.name}: {i.text}")
        self.id = id(i)
        made(i, guard)
