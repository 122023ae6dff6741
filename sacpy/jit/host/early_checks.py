"""The code of checks that are made for many rounds of a counting loop beforehand (`schedule/checks_ahead`)."""

from __future__ import annotations

from sacpy.jit.host import layout
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.writer import Writer
from sacpy.jit.llvm.legal import Module
from sacpy.jit.schedule.checks_ahead import CheckedAhead

UNROLLED = 4


def write_checks(lowering: Writer, v: CheckedAhead, start: str, end: str) -> None:
    """Code that leaves the function unless the checks of all rounds from `start` to before `end` hold."""
    code, r = lowering.code, v.rounds
    towards = code.op(f"add nsw i64 {code.difference(end, start)}, {r.step - 1 if r.step > 0 else r.step + 1}")
    rounds = code.op(f"sdiv i64 {towards}, {r.step}")
    bad = code.slot("i32")
    code.store("i32", "0", bad)
    largest = [code.slot("i32") for _ in v.within]
    for slot in largest:
        code.store("i32", "0", slot)
    code.module.declare("llvm.umax", "declare i32 @llvm.umax.i32(i32, i32)")

    def body(k: str) -> None:
        i = code.sum(start, code.product(k, str(r.step)))
        lowering.bind_scalar(r.index, code.op(f"trunc i64 {i} to i32"), i)
        lowering.block(v.ahead)
        for slot, (number, _) in zip(largest, v.within):
            code.store(
                "i32",
                code.op(f"call i32 @llvm.umax.i32(i32 {code.load('i32', slot)}, i32 {lowering.text(number)})"),
                slot,
            )
        for a in v.conditions:
            failing = code.op(f"sext i1 {code.op(f'xor i1 {lowering.text(a)}, true')} to i32")
            code.store("i32", code.op(f"or i32 {code.load('i32', bad)}, {failing}"), bad)

    count_loop(lowering, "0", rounds, "1", body)
    fine = code.op(f"icmp eq i32 {code.load('i32', bad)}, 0")
    for slot, (_, limit) in zip(largest, v.within):
        inside = code.op(f"icmp ult i32 {code.load('i32', slot)}, {lowering.text(limit)}")
        positive = code.op(f"icmp sgt i32 {lowering.text(limit)}, 0")
        fine = code.op(f"and i1 {fine}, {code.op(f'and i1 {inside}, {positive}')}")
    none = code.op(f"icmp sle i64 {rounds}, 0")
    lowering.unless(code.op(f"or i1 {none}, {fine}"), layout.CHECK_FAILED, lowering.unit.site(v.first))


def unrolled_note(module: Module) -> str:
    """The metadata of a loop whose rounds are short, and depend on one another."""
    part = module.node(f'!{{!"llvm.loop.unroll.count", i32 {UNROLLED}}}')
    return ", !llvm.loop " + module.node("!{{self}, " + part + "}", distinct=True)
