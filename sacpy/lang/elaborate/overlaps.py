"""Definitions that get in each other's way: told apart by nothing, hidden by another, or reached from two modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sacpy.lang import core
from sacpy.lang.diagnostics import Diagnostic, Label
from sacpy.lang.dispatch import shape_class
from sacpy.lang.elaborate.scope import Entry, Scope

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram


def replaced(program: ElaboratedProgram, scope: Scope) -> Iterator[Diagnostic]:
    """Instances that a later one with the same base types and shape classes replaces (W0301)."""
    for name in scope.info.functions:
        entries = [e for e in scope.own(name) if not e.definition.typevars]
        last: dict[tuple[object, ...], Entry] = {}
        for entry in entries:
            kind = _kind(program, entry)
            earlier = last.get(kind)
            if earlier is not None:
                where = earlier.definition.name_span
                labels = (Label(entry.definition.name_span, "this one is called instead"),)
                notes = (
                    "calls look at base types and shape classes only, not at the names in patterns or at conditions",
                )
                yield Diagnostic(
                    "W0301",
                    f"this instance of {name} is never called: a later one takes the same types",
                    where,
                    "replaced",
                    labels,
                    notes,
                    "remove one of the two, or let their types differ",
                )
            last[kind] = entry


def hiding(program: ElaboratedProgram, scope: Scope) -> Iterator[Diagnostic]:
    """Own definitions that win over used ones of the same types (N0301)."""
    for name in scope.info.functions:
        _, used = scope.tiers(name)
        others = {program.parameter_types(e): e for e in used if not e.definition.typevars}
        for entry in scope.own(name):
            other = others.get(program.parameter_types(entry))
            if other is not None:
                yield Diagnostic(
                    "N0301",
                    f"{name} is used from {other.module} as well; this definition wins",
                    entry.definition.name_span,
                    "defined here",
                    help=f"leave {name} out: use {other.module}: all except {{ {name} }};",
                )


def rivals(
    program: ElaboratedProgram, scope: Scope, entries: Sequence[tuple[Entry, str]]
) -> tuple[Entry, Entry] | None:
    """Two definitions from different modules, neither the present one nor the library, that nothing tells apart; each
    entry with its key."""
    seen: dict[tuple[object, ...], Entry] = {}
    for entry, key in entries:
        if entry.scope is scope or entry.scope.info.library or entry.definition.typevars:
            continue
        kind = tuple(shape_class(s) for s in program.signature(key).params)
        other = seen.setdefault(kind, entry)
        if other.scope is not entry.scope:
            return other, entry
    return None


def _kind(program: ElaboratedProgram, entry: Entry) -> tuple[object, ...]:
    signature: core.Signature = program.signature(program.declared_key(entry))
    return (*(program.parameter_types(entry)), *(shape_class(s) for s in signature.params))
