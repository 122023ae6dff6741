"""Writes the Python of a basic block: registers, constants, addresses, guards.

A value is an array of NumPy with the type that its last instruction gave it; registers keep unsigned ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.ptx.kinds import TYPES, kind
from tests.ptx.parse import SIZES, Instr, PtxError, integer, real

if TYPE_CHECKING:
    from tests.ptx.program import Compiled, Program

ENDS = ("bra", "ret", "exit", "trap", "brx")
ROUNDINGS = ("rn", "rz", "rm", "rp")


def is_barrier(i: Instr) -> bool:
    return i.op in ("bar", "barrier") and "warp" not in i.mods


def names_in(text: str) -> list[str]:
    return [n.strip() for n in text.strip("{}[]() ").replace("|", ",").replace("+", ",").split(",")]


class Operands:
    """Writes the Python of one block. `env`: the name and type of each register's value."""

    def __init__(self, c: Compiled, program: Program, name: str, outer: set[str]) -> None:
        self.c, self.program, self.name, self.outer = c, program, name, outer
        self.lines: list[str] = []
        self.env: dict[str, tuple[str, str]] = {}
        self.views: dict[tuple[str, str], str] = {}
        self.ins: dict[str, str] = {}
        self.changed: dict[str, None] = {}
        self.constants: dict[str, Any] = {}
        self.count = 0
        self.where, self.id = "", 0  # the instruction: as text in quotes, and by a number of its own
        self.pc = 0

    def text(self) -> str:
        head = [f"def {self.name}(S, F, m, lanes):"]
        if self.ins:
            head += [
                " R = F.R",
                " if m is None:",
                *[f"  {v} = R[{self.c.number[r]}]" for r, v in self.ins.items()],
                " else:",
                *[f"  {v} = R[{self.c.number[r]}][m]" for r, v in self.ins.items()],
            ]
        return "\n".join(head + [" " + line for line in self.lines]) + "\n"

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def say(self, line: str) -> None:
        self.lines.append(line)

    # ---- operands

    def value(self, register: str) -> tuple[str, str]:
        if register not in self.env:
            name = f"r{self.c.number[register]}"
            self.ins[register] = name
            t = (
                "p"
                if register == "%CC" or self.c.function.registers[register] == "pred"
                else f"u{SIZES[self.c.function.registers[register]]}"
            )
            self.env[register] = (name, t)
        return self.env[register]

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def use(self, a: str, t: str) -> str:
        """An operand as a value of a type."""
        a = a.strip()
        if a.startswith("!"):
            return f"~({self.use(a[1:], 'p')})"
        if a in self.c.number:
            name, had = self.value(a)
            return self.seen(name, had, t)
        if a.startswith("-") and a[1:] in self.c.number:
            return f"(-{self.use(a[1:], t)})"
        if a == "WARP_SZ":
            a = "32"
        n, r = integer(a), real(a)
        if t == "p" and n is not None:
            return self.constant(np.bool_(n))
        if t[0] == "f" and (r is not None or n is not None):
            return self.constant(TYPES[t](r if r is not None else n))
        if r is not None:
            bits = np.float32(r).view(np.uint32) if t[1] == "4" else np.float64(r).view(np.uint64)
            return self.constant(np.array(bits).view(TYPES[t])[()])
        if n is not None:
            return self.constant(np.array(n & ((1 << 8 * int(t[1])) - 1), TYPES["u" + t[1]]).view(TYPES[t])[()])
        if a.startswith("%"):
            return self.seen(f"S.special[{a!r}][lanes]", "u8" if a in ("%clock64", "%globaltimer") else "u4", t)
        return self.address_of(a, t)

    def address_of(self, name: str, t: str) -> str:
        name, _, more = name.partition("+")
        if name in self.c.locals:
            return f"T{t}(F.depot + {self.c.locals[name] + int(more or 0)})"
        if name in self.program.addresses:
            return self.constant(TYPES[t](self.program.addresses[name][1] + int(more or 0)))
        place = 0
        for v in self.program.entry.params:
            place += -place % v.align
            if v.name == name:
                return self.constant(TYPES[t](place + int(more or 0)))
            place += v.size
        raise PtxError(f"operand {name!r}")

    def seen(self, name: str, had: str, t: str) -> str:
        if had == t:
            return name
        if (name, t) in self.views:
            return self.views[name, t]
        v = self.new()
        if "p" in (had, t):
            self.say(f"{v} = np.asarray({name}) != 0" if t == "p" else f"{v} = np.asarray({name}).astype(T{t})")
        elif had[1] == t[1]:
            self.say(f"{v} = {name}.view(T{t})")
        elif int(t[1]) < int(had[1]):
            raw = name if had[0] in "ui" else f"{name}.view(Tu{had[1]})"
            self.say(f"{v} = {raw}.astype(Tu{t[1]}).view(T{t})")
        else:
            self.say(f"{v} = {name}.view(Tu{had[1]}).astype(Tu{t[1]}).view(T{t})")
        self.views[name, t] = v
        return v

    def set(self, register: str, text: str, t: str, guard: str = "") -> None:
        """A register gets a value of a type, which a larger register extends."""
        if register == "_":
            return
        full = "pred" if register == "%CC" else self.c.function.registers[register]
        v = self.new()
        if t != "p" and full != "pred" and SIZES[full] > int(t[1]):
            wide = ("i" if t[0] == "i" else "u") + str(SIZES[full])
            text, t = f"np.asarray({text}).astype(T{wide})", wide
        elif t != "p" and full != "pred" and SIZES[full] < int(t[1]):
            text, t = f"np.asarray({text}).astype(Tu{SIZES[full]})", f"u{SIZES[full]}"
        self.say(f"{v} = {text}")
        if guard:
            old = self.use(register, t)
            w = self.new()
            self.say(f"{w} = np.where({guard}, {v}, {old})")
            v = w
        self.env[register] = (v, t)
        self.changed[register] = None

    def address(self, text: str) -> str:
        """What stands in brackets, as 64 bits."""
        inner = text.strip().strip("[]").strip()
        base, sign, more = inner.partition("+")
        base = base.strip()
        offset = int(more.strip() or "0", 0)
        if not sign and base not in self.c.number and "-" in base[1:]:
            base, _, less = base.partition("-")
            offset = -int(less)
        if base in self.c.number:
            name, had = self.value(base)
            raw = self.seen(name, had, f"u{had[1]}")
            v = self.new()
            if offset:
                added = self.constant(TYPES["u" + had[1]](offset & ((1 << 8 * int(had[1])) - 1)))
                self.say(f"{v} = ({raw} + {added}).astype(Tu8)")
            else:
                self.say(f"{v} = np.asarray({raw}).astype(Tu8)")
            return v
        n = integer(base)
        if n is not None:
            return self.constant(np.uint64(n + offset))
        if base in self.c.locals:
            return f"Tu8(F.depot + {self.c.locals[base] + offset})"
        return self.constant(np.uint64(self.program.addresses[base][1] + offset))

    def space_of(self, i: Instr) -> str:
        for s in ("global", "shared", "local", "const", "param"):
            if s in i.mods or any(m.startswith(s + "__") for m in i.mods):
                return s
        return "generic"

    def guard(self, i: Instr) -> str:
        if not i.guard:
            return ""
        v = self.new()
        self.say(f"{v} = {self.use(i.guard, 'p')}")
        return v

    def type_of(self, i: Instr) -> str:
        for m in reversed(i.mods):
            if m in SIZES:
                return kind(m)
        raise PtxError(f"type of {i.text}")

    def plain(self, i: Instr, g: str, form: str, result: str = "", *types: str) -> None:
        """A value from operands a, b, c of the instruction's type, or of `types`."""
        t = self.type_of(i)
        args = [self.use(a, types[k] if k < len(types) and types[k] else t) for k, a in enumerate(i.args[1:])]
        zeroing = "ftz" in i.mods and t == "f4"
        if zeroing:
            args = [f"o.ftz({a})" for a in args]
        mode = next((m for m in i.mods if m in ROUNDINGS), "rn")
        text = form.format(*args, **dict(zip("abcd", args)), t=repr(t), mode=repr(mode))
        if zeroing:
            text = f"o.ftz({text})"
        if "sat" in i.mods and t[0] == "f":
            text = f"o.cvt({text}, {t!r}, {t!r}, ['sat'])"
        self.set(i.args[0], text, result or t, g)
