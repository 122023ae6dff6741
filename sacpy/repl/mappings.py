"""How the with-loops that an expression comes to would be laid out on a GPU.

In: partitions with their index spaces (`lang.infer_spaces`). Out: their mappings, by the pragma that the program gives,
else by a strategy, and drawings of them in characters.
"""

from __future__ import annotations

from dataclasses import dataclass

from sacpy.lang.check_mappings import asked
from sacpy.lang.diagnostics import SacError
from sacpy.lang.infer_spaces import Found
from sacpy.repl.diagnostics import THE_INPUT
from sacpy.repl.inputs import PREFIX
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pictures import steps
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

MOST = 8  # with-loops that are looked at


# ---------------------------------------------------------------- drawings


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The mapping of a partition, and why it is this one."""

    mapping: Mapping
    reasons: tuple[str, ...]


def laid_out(found: Found, strategy: str, device: DeviceLimits) -> LaidOut | str:
    """The mapping of a partition by its pragma, else by the strategy; or why it has none."""
    if found.space is None:
        return "its bounds are known only when it runs"
    try:
        wanted = asked(found.shared, found.own)
        if wanted.block is not None:
            return wanted.block.words
        own = wanted.chain
        chain, reasons = (own, ("the program's pragma",)) if own is not None else _chosen(found.space, strategy, device)
        return LaidOut(chain.map(found.space, device), reasons)
    except SacError as error:
        return error.diagnostics[0].message
    except MappingError as error:
        return error.message


def drawing(found: Found, strategy: str, device: DeviceLimits, columns: int) -> str:
    """A partition: where it stands, its index space, the mapping with the reasons for it, and what each step makes of
    the space."""
    place = f"{THE_INPUT if found.function.startswith(PREFIX) else found.function}, line {found.span.line}"
    made = laid_out(found, strategy, device)
    if isinstance(made, str):
        return f"{place}: {made}"
    mapping = made.mapping
    lines = [f"{place}: {mapping.space}", f"{mapping.chain}", *(f"  {reason}" for reason in made.reasons)]
    lines.append(f"grid {mapping.grid}, block {mapping.block}: {mapping.threads} threads, {mapping.idle} of them idle")
    text = steps(mapping.chain, mapping.space, columns)
    return "\n".join(
        [*lines, "", *(line if len(line) <= columns else f"{line[: columns - 4]} ..." for line in text.split("\n"))]
    )


def _chosen(space: IndexSpace, strategy: str, device: DeviceLimits) -> tuple[Chain, tuple[str, ...]]:
    choice = choose(strategy, space, device)
    return choice.chain, choice.reasons
