"""Whether a body of a with-loop folds something, for those who ask how threads are to fold it.

In: a body with what inference knows of it, and the program whose functions it calls. Out: yes or no; yes where only the
kernel will know.
"""

from __future__ import annotations

from sacpy.lang.core import Block, Call, Fold, Let, Loop, Program, WithLoop
from sacpy.lang.dispatch import Certain, Possible
from sacpy.lang.infer import Inference
from sacpy.lang.walk import statements


def may_fold(body: Block, known: Inference, program: Program | None) -> bool:
    """Whether something is folded in a body, or may be in what it calls; what a loop does, only its kernel knows."""
    seen: set[str] = set()

    def within(block: Block, of: Inference | None) -> bool:
        for s in statements(block):
            match s:
                case Loop():
                    return True
                case Let(rhs=WithLoop() as w) if _is_fold(w) or any(within(p.body, of) for p in w.partitions):
                    return True
                case Let(rhs=Call() as c) if any(map(called, _keys(c, of))):
                    return True
        return False

    def called(key: str) -> bool:
        if program is None:
            return True
        if key in seen or program.signature(key).native is not None:
            return False
        seen.add(key)
        return within(program.function(key).body, None)

    return within(body, known)


def _is_fold(w: WithLoop) -> bool:
    return any(isinstance(o, Fold) for o in w.operators)


def _keys(call: Call, known: Inference | None) -> tuple[str, ...]:
    """The functions that a call may take."""
    match known and known.resolution(call):
        case Certain(signature=found):
            return (found.key,)
        case Possible(signatures=several):
            return tuple(s.key for s in several)
    return call.candidates
