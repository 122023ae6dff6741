"""`--emit`: what the stages of the compiler make of functions, as text.

In: a program, and which functions: by name, or by a line of the program's file. Out: the text of a stage for each. A
function that cannot be compiled whole brings its regions. Without a run there are no arguments to look at: parameters
have the extents that they declare, and where the rank is open too it is taken as 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sacpy.interp.engine import is_region, owner
from sacpy.interp.runtime.calls import shown
from sacpy.jit.failures import Unsupported
from sacpy.jit.kinds import Kind, kind_text
from sacpy.jit.options import Options
from sacpy.jit.reports.statistics import lines, title
from sacpy.jit.run.compiler import STAGES, emitted
from sacpy.jit.run.regions import Regions
from sacpy.lang.core import Call, Function, Let, Signature
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.patterns import declared_shapes
from sacpy.lang.source import NOWHERE
from sacpy.lang.walk import statements

if TYPE_CHECKING:
    from sacpy.jit.host.memory_plan import Layout


def emission(
    program: ElaboratedProgram, stage: str, which: str, options: Options, seen: Sequence[tuple[str, Kind]] = ()
) -> str:
    """What a stage makes of the functions that `which` says: a name ("blur", "Array::sum"), a line ("12"), or "" for
    all of the user's. `seen`: kinds of arguments that functions have been called with. Raises `SacError` if there is no
    such function, `ValueError` if there is no such stage."""
    if stage not in STAGES:
        raise ValueError(f"there is no stage {stage!r}; there is {', '.join(STAGES)}")
    regions = Regions(program)
    return "\n".join(_text(regions, key, kind, options, stage) for key, kind in versions(program, regions, which, seen))


def memory(program: ElaboratedProgram, which: str, options: Options) -> list[tuple[str, list[Layout]]]:
    """Where the arrays of the functions lie that `which` says, with the titles of these; of those that stay interpreted
    nothing. Raises `SacError` if there is no such function."""
    from sacpy.jit.host.memory_plan import layouts
    from sacpy.jit.run.compiler import compiled_unit

    regions, found = Regions(program), []
    for key, kind in versions(program, regions, which, ()):
        with suppress(Unsupported):
            name, place = title(regions.function(key))
            told = f"{name}({kind_text(kind, regions.signature(key))}){place}"
            found.append((told, layouts(compiled_unit(regions, key, kind, options), options)))
    return found


def versions(
    program: ElaboratedProgram, regions: Regions, which: str, seen: Sequence[tuple[str, Kind]]
) -> list[tuple[str, Kind]]:
    """The functions that `which` says, for each kind of arguments that is known. Raises `SacError` if there is none."""
    found = [
        (key, kind) for key in _chosen(program, regions, which) for kind in _kinds(regions.signature(key), key, seen)
    ]
    if not found:
        what = f"no function on line {which}" if which.isdigit() else f"no function {which}"
        raise SacError(
            Diagnostic(
                "E0781",
                f"there is {what} in this program",
                NOWHERE,
                help="name a function that the program defines or calls, or a line in one",
            )
        )
    return found


def emission_of(program: ElaboratedProgram, stage: str, key: str, options: Options) -> str:
    """What a stage makes of one function, and of its regions where it cannot be compiled whole."""
    regions = Regions(program)
    keys = [key, *_regions(regions, key)]
    kinds = [(k, kind) for k in keys for kind in _kinds(regions.signature(k), k, ())]
    return "\n".join(_text(regions, k, kind, options, stage) for k, kind in kinds)


def has_function(program: ElaboratedProgram, name: str) -> bool:
    """Whether a program has a function of that name, or calls one."""
    program.user_keys([])
    return any(_is_called(program.signature(k), name) for k in program.instances)


def _chosen(program: ElaboratedProgram, regions: Regions, which: str) -> Iterator[str]:
    """The keys of the functions, each followed by those of its regions."""
    users = program.user_keys([])
    keys = (
        users
        if not which or which.isdigit()
        else [k for k in program.instances if _is_called(program.signature(k), which)]
    )
    for key in keys:
        if program.signature(key).native is not None:
            continue
        of_key = list(_regions(regions, key))
        if not which.isdigit():
            yield from (key, *of_key)
        elif _covers(program.function(key), int(which)):
            inner = [r for r in of_key if _covers(regions.function(r), int(which))]
            yield from inner or [key]


def _is_called(signature: Signature, name: str) -> bool:
    return name in (signature.name, shown(signature), signature.name.rpartition("::")[2])


def _covers(function: Function, line: int) -> bool:
    """Whether a function's text has that line of its file."""
    first, last = lines(function)
    return first <= line <= last


def _regions(regions: Regions, key: str) -> Iterator[str]:
    for statement in statements(regions.function(key).body):
        if isinstance(statement, Let) and isinstance(statement.rhs, Call):
            yield from (k for k in statement.rhs.candidates if is_region(k) and owner(k) == key)


def _kinds(signature: Signature, key: str, seen: Sequence[tuple[str, Kind]]) -> list[Kind]:
    """The kinds of arguments that a function was called with; otherwise what it declares."""
    found = [kind for k, kind in seen if k == key]
    return found or [
        tuple(
            () if s.rank == 0 else s.extents if s.extents is not None else (None,) * max(s.min_rank, 1)
            for s in declared_shapes(signature.params)
        )
    ]


def _text(regions: Regions, key: str, kind: Kind, options: Options, stage: str) -> str:
    signature = regions.signature(key)
    name, place = title(regions.function(key))
    mark = ";" if stage in ("llvm", "nvvm") else "#" if stage == "asm" else "//"
    try:
        text = emitted(regions, key, kind, options, stage)
    except Unsupported as refusal:
        text = f"{mark} stays interpreted: {refusal.reason}\n"
    return f"{mark} {name}({kind_text(kind, signature)}){place}\n{text}"
