"""Kernel programs as text, the same for the same kernel: for tests and `--emit kernel`.

In: a kernel program. Out: text, one statement a line.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.ir.graph import Atom, Load, Op, Var
from sacpy.jit.ir.graph_printer import INDENT, atom_text, type_text
from sacpy.jit.ir.kernel import (
    Allocate,
    Atomic,
    Barrier,
    BlockFor,
    BlockIf,
    BlockStmt,
    Carried,
    Check,
    Divide,
    ForAll,
    If,
    Kernel,
    LastBlock,
    Let,
    MultiplyAdd,
    SeqFor,
    Shuffle,
    Store,
    ThreadStmt,
    Uniform,
    While,
)


def print_kernel(k: Kernel) -> str:
    """One kernel."""
    params = ", ".join(f"{type_text(p.type)} {p.name}" for p in k.params)
    head = [
        f"kernel {k.name}({params})    // {k.bits} bits{'; aligned' if k.aligned else ''}"
        f"{f'; {k.resident} blocks at a time' if k.resident else ''}; parameter "
        f"block: {_names(k.slots) or 'none'}; writes "
        f"{', '.join(w.array.name + ('' if w.once else ' (not once)') for w in k.writes)}"
    ]
    head += [f"multiples: {', '.join(f'{v.name} of {of}' for v, of in k.multiples)}"] if k.multiples else []
    head.append(f"grid [{_names(k.block_index)}] of {_vector(k.grid)}, block of {_vector(k.block)}")
    return "\n".join([*head, *_indent(_block(k.body))]) + "\n"


def statement_text(s: ThreadStmt | Shuffle | MultiplyAdd) -> str:
    """The first line of a thread's statement, or of one of its warp."""
    return (_block_statement(s) if isinstance(s, Shuffle | MultiplyAdd) else _thread_statement(s))[0]


def _names(many: Iterable[Var]) -> str:
    return ", ".join(v.name for v in many)


def _vector(many: Iterable[Atom]) -> str:
    return f"[{', '.join(map(atom_text, many))}]"


def _indent(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _block(statements: Iterable[BlockStmt]) -> list[str]:
    return [line for s in statements for line in _block_statement(s)]


def _block_statement(s: BlockStmt) -> list[str]:
    match s:
        case ForAll():
            return [f"forall [{_names(s.index)}] < {_vector(s.extents)}", *_indent(_thread(s.body))]
        case Barrier():
            return ["barrier"]
        case Shuffle():
            return [f"{s.target.name} := {s.source.name} of the thread {s.distance} further in the warp"]
        case MultiplyAdd():
            return [f"{s.target.name} += {s.left.name} * {s.right.name} of a warp, by {s.form}"]
        case Allocate():
            return [f"{s.space} {type_text(s.array.type)} {s.array.name}"]
        case Uniform():
            return [f"uniform {type_text(s.target.type)} {s.target.name} = {_rhs(s.rhs)}"]
        case BlockFor():
            return [
                f"for {s.index.name} from {atom_text(s.lower)} to {atom_text(s.upper)} step {atom_text(s.step)}",
                *_indent(_block(s.body)),
            ]
        case BlockIf():
            return [f"if {atom_text(s.condition)}", *_indent(_block(s.then))]
        case LastBlock():
            return [f"last block, told by {s.flag.name}", *_indent(_block(s.body))]


def _thread(statements: Iterable[ThreadStmt]) -> list[str]:
    return [line for s in statements for line in _thread_statement(s)]


def _thread_statement(s: ThreadStmt) -> list[str]:
    match s:
        case Let():
            return [f"{type_text(s.target.type)} {s.target.name} = {_rhs(s.rhs)}"]
        case Store():
            return [f"{s.array.name}{_vector(s.index)} := {atom_text(s.value)}"]
        case Atomic():
            before = "" if s.old is None else f"{type_text(s.old.type)} {s.old.name} = "
            return [f"{before}atomic {s.code} {s.array.name}{_vector(s.index)} with {atom_text(s.value)}"]
        case Check():
            return [f"check {atom_text(s.condition)} : {s.what}"]
        case If():
            lines = [f"if {atom_text(s.condition)}", *_indent(_thread(s.then))]
            lines += ["else", *_indent(_thread(s.otherwise))] if s.otherwise else []
            return lines + [
                f"{type_text(m.target.type)} {m.target.name} = {atom_text(m.then)} or {atom_text(m.otherwise)}"
                for m in s.merges
            ]
        case SeqFor():
            return [
                f"for {s.index.name} from {atom_text(s.lower)} to {atom_text(s.upper)} step "
                f"{s.step}{', rolled' if s.rolled else ''}{_carried(s.carried)}",
                *_indent(_thread(s.body)),
                *_updates(s.carried),
            ]
        case While():
            head = "do" if s.body_first else "while"
            return [
                f"{head}{_carried(s.carried)}",
                *_indent(_thread(s.condition)),
                f"{INDENT}test {atom_text(s.test)}",
                *_indent(_thread(s.body)),
                *_updates(s.carried),
            ]


def _carried(carried: Iterable[Carried]) -> str:
    text = ", ".join(f"{type_text(c.target.type)} {c.target.name} := {atom_text(c.initial)}" for c in carried)
    return f" with {text}" if text else ""


def _updates(carried: tuple[Carried, ...]) -> list[str]:
    return [f"{INDENT}next {', '.join(atom_text(c.update) for c in carried)}"] if carried else []


def _rhs(rhs: Atom | Op | Load | Divide) -> str:
    match rhs:
        case Op(code=code, args=args, exact=exact):
            return f"{code}{'!' if exact else ''} {', '.join(map(atom_text, args))}"
        case Load():
            return f"load {rhs.array.name}{_vector(rhs.index)}"
        case Divide():
            return (
                f"divide {atom_text(rhs.dividend)} by {atom_text(rhs.divisor)} ({atom_text(rhs.multiplier)}, "
                f"{atom_text(rhs.shift)})"
            )
        case _:
            return atom_text(rhs)
