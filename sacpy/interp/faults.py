"""From a Python exception inside generated code to a `SacError` with place and SaC call stack.

In: an exception with its traceback, and the generated functions by file name. Out: the error. Nothing is kept while a
program runs: the frames of generated functions carry file names like "<sac:KEY>", and each of their lines has a span.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from sacpy.interp.errors import CallFault, Fault
from sacpy.interp.links import Place
from sacpy.interp.runtime.structure import out_of_range
from sacpy.interp.values import shape_of
from sacpy.lang.diagnostics import Diagnostic, Frame, SacError
from sacpy.lang.source import NOWHERE, Span

PREFIX = "<sac:"
PART = "__part"  # in the names of generated functions that hold a part of another one
LIBRARY = str(Path(__file__).parent.parent / "stdlib")
LONGEST = 50  # frames of a call stack that a diagnostic keeps at either end


def to_sac_error(error: BaseException, places: Mapping[str, Place]) -> SacError:
    """The diagnostic of any exception that ended a run."""
    frames: list[Frame] = []
    innermost: tuple[Any, Place, int] | None = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = places.get(code.co_filename) if code.co_filename.startswith(PREFIX) else None
        if place is not None:
            line = trace.tb_lineno
            span = place.spans[line - 1] if 0 < line <= len(place.spans) else NOWHERE
            if PART in code.co_name and frames:
                frames.pop()  # a part of the function whose frame is the one before
            frames.append(Frame(place.function, span))
            innermost = (trace.tb_frame, place, line)
        trace = trace.tb_next
    frames.reverse()
    fault = _fault(error, innermost)
    span = _primary(frames, 1 if isinstance(error, CallFault) else 0)
    kept = frames if len(frames) <= 2 * LONGEST else frames[:LONGEST] + frames[-LONGEST:]
    dropped = len(frames) - len(kept)
    notes = fault.notes + ((f"{dropped} more calls in between are left out",) if dropped else ())
    return SacError(Diagnostic(fault.code, fault.message, span, notes=notes, help=fault.help, stack=tuple(kept)))


def _primary(frames: list[Frame], skipped: int) -> Span:
    """The place to show: the innermost one in the user's own text, if there is one; for a wrong call, the call."""
    inner = frames[skipped:] or frames
    own = next((f.span for f in inner if not f.span.source.name.startswith(LIBRARY)), None)
    return own or (inner[0].span if inner else NOWHERE)


def _fault(error: BaseException, innermost: tuple[Any, Place, int] | None) -> Fault:
    """The fault that an exception stands for."""
    match error:
        case Fault():
            return error
        case IndexError() if innermost is not None and innermost[2] in innermost[1].guarded:
            array, indices = innermost[1].guarded[innermost[2]]
            local = {**innermost[0].f_globals, **innermost[0].f_locals}
            values = tuple(local[i] if i in local else _number(i, local) for i in indices)
            return out_of_range(shape_of(local[array]), values)
        case RecursionError():
            return Fault("E0701", "the recursion is too deep", help="give the recursion an end, or allow more depth")
        case KeyboardInterrupt():
            return Fault("E0702", "the run was interrupted")
        case MemoryError():
            return Fault("E0703", "out of memory", notes=(str(error),) if str(error) else (), help="use smaller arrays")
        case ValueError() if (
            "too large" in str(error) or "too big" in str(error) or "Maximum allowed dimension" in str(error)
        ):
            note = "of an array without elements all extents but the zeros count"
            return Fault(
                "E0703", "out of memory: an array is larger than any memory", notes=(note,), help="use smaller arrays"
            )
    return Fault(
        "E0699",
        f"internal error of the interpreter: {type(error).__name__}: {error}",
        help="please report this with the program",
    )


def _number(text: str, local: dict[str, Any]) -> int:
    """The value of an index that is no plain variable: a literal, or an extent."""
    return int(eval(text, local))
