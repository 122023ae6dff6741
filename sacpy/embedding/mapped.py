"""How the with-loops of a program are laid out on a GPU, to be looked at: `sacpy picture`, `Session.picture`.

In: a program, and which of its functions; or the engine behind a run. Out: `Drawn` mappings with their titles, and
pictures of them as text, SVG or PNG. Without a run only those index spaces are known whose bounds inference knows;
behind a run on a device it is what was launched, pieces of partitions included.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from sacpy.embedding.drawing import Drawing
from sacpy.lang.check_mappings import asked, placed
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.infer_spaces import Found, partitions
from sacpy.lang.source import NOWHERE, STDLIB
from sacpy.nodes import Node
from sacpy.withloop.chains import Mapping
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.strategies import choose

if TYPE_CHECKING:
    from sacpy.jit.run.engine import Engine
    from sacpy.withloop.scenes import Scene

MOST = 24  # mappings in one picture
EMULATED = "sm_90"  # the device that things are laid out for unless told


class Drawn(Node):
    """A mapping to be drawn: where its with-loop stands, what it is for, and why it is this one. `mapping` None: there
    is none, and `reasons` say why, or how it is done instead."""

    title: str
    mapping: Mapping | None
    reasons: tuple[str, ...]


# ---------------------------------------------------------------- what there is to draw


def known(program: ElaboratedProgram, which: str, strategy: str, device: str) -> list[Drawn]:
    """The mappings of the partitions in the user's functions (those called `which`, or with that line in them), those
    of the library left out unless they are named, of which inference knows the bounds; of the others why it does not.
    Raises `SacError` on the text of a pragma that does not fit, E0781 where there is no such function."""
    found = _of_functions(program, which)
    return _or_why([_laid_out(f, strategy, device) for f in found[:MOST]], which)


def _or_why(drawn: list[Drawn], which: str) -> list[Drawn]:
    """What there is to draw; of a function without anything, where to look."""
    if drawn or not which or which.isdigit():
        return drawn
    return [Drawn(which, None, ("no with-loop of its own is laid out; without --function those of what it calls are",))]


def _of_functions(program: ElaboratedProgram, which: str) -> list[Found]:

    if not which and program.main.own("main"):
        reached = partitions(program, program.function(program.main_key()), None, 4 * MOST)
        return [f for f in reached if not f.span.source.name.startswith(str(STDLIB))]
    found: list[Found] = []
    named = False
    for key in (
        program.user_keys([])
        if not which or which.isdigit()
        else [k for k in program.instances if _called(program.signature(k).name, which)]
    ):
        function = program.function(key)
        own = [
            f
            for f in partitions(program, function, None, MOST)
            if not which.isdigit() or _on_line(function.signature.name, f, int(which))
        ]
        named = named or bool(own) or not which.isdigit()
        found += own
    if not named:
        what = (
            f"no with-loop on line {which}" if which.isdigit() else f"no function {which}" if which else "no function"
        )
        raise SacError(
            Diagnostic(
                "E0781",
                f"there is {what} in this program",
                NOWHERE,
                help="name a function that the program defines or calls, or a line of a with-loop",
            )
        )
    return found


def _called(name: str, which: str) -> bool:
    return which in (name, name.removeprefix("_MAIN::"), name.rpartition("::")[2])


def _on_line(function: str, found: Found, line: int) -> bool:
    """Whether a partition stands on a line, and in the function itself."""
    return found.function == function.removeprefix(
        "_MAIN::"
    ) and found.span.line <= line <= found.span.line + found.span.text.count("\n")


def _laid_out(found: Found, strategy: str, device: str) -> Drawn:
    title = f"{found.function}, line {found.span.line}"
    limits = DEVICES[device or EMULATED]
    if found.space is None:
        return Drawn(title, None, ("its bounds are known only when it runs: draw it with --run",))
    title += f": {found.space}"
    block = asked(found.shared, found.own).block
    if block is not None:
        return Drawn(title, None, (block.words,))
    mapping = placed(found.shared, found.own, found.space, limits)
    if mapping is not None:
        return Drawn(title, mapping, ("the program's pragma", *filter(None, (mapping.placement.note,))))
    choice = choose(strategy, found.space, limits)
    return Drawn(title, choice.chain.map(found.space, limits), choice.reasons)


def launched(engine: Engine | None, which: str = "") -> list[Drawn]:
    """What was launched in a run on a device: each launch that has a mapping, once for each shape."""
    return _or_why(list(_launched(engine, which))[:MOST], which)


def _launched(engine: Engine | None, which: str) -> Iterator[Drawn]:
    from sacpy.jit.ir.rewrite import place_of
    from sacpy.jit.reports.statistics import home

    for site in () if engine is None else engine.entered():
        for version in site.versions.values():
            for loop in version.device.runtime.loops if version.device is not None else ():
                span = place_of(loop.placed.let)
                if which.isdigit() and not span.line <= int(which) <= span.line + span.text.count("\n"):
                    continue
                name = home(site, span)
                if (
                    which
                    and not which.isdigit()
                    and not _called(name, which)
                    and not _called(site.function.signature.name, which)
                ):
                    continue
                for prepared in loop.prepared.values():
                    for launch in prepared.plan.launches:
                        if launch.mapping is not None:
                            what = (
                                launch.purpose
                                if launch.partition is None
                                else f"{launch.purpose} {launch.partition + 1}"
                            )
                            title = f"{name.removeprefix('_MAIN::')}, line {span.line}, {what}: {launch.mapping.space}"
                            yield Drawn(title, launch.laid_out, launch.reasons)


# ---------------------------------------------------------------- pictures


def _threads(m: Mapping) -> str:
    """How many threads there are, and how many have no index, in words."""
    each = prod(m.placement.each)
    threads = m.threads // each
    cells = f" with {each} cells each, {m.idle} cells idle" if each > 1 else f", {m.idle} of them idle"
    return f"{threads} thread{'s' * (threads != 1)}{cells}"


class Picture(Drawing):
    """The mappings of with-loops, drawn. `step`: of each only the combinator with this number, counted from the
    innermost, 1. As text (`str`) in characters; notebooks show the SVG."""

    drawn: tuple[Drawn, ...]
    step: int | None = None

    def __post_init__(self) -> None:
        if self.step is not None and not any(
            d.mapping is not None and 1 <= self.step <= len(d.mapping.stages) for d in self.drawn
        ):
            most = max((len(d.mapping.stages) for d in self.drawn if d.mapping is not None), default=0)
            help = f"the steps are 1 to {most}; leave it out to see all of them" if most else "leave it out"
            raise SacError(Diagnostic("E0783", f"no mapping here has a step {self.step}", NOWHERE, help=help))

    def text(self, columns: int) -> str:
        """In characters; of spaces too large for that, their numbers."""
        from sacpy.withloop.pictures import steps

        texts = []
        for d in self._chosen:
            m = d.mapping
            if m is None:
                texts.append(f"{d.title}: {'; '.join(d.reasons)}\n")
                continue
            head = [
                d.title,
                str(m.chain),
                *(f"  {reason}" for reason in d.reasons),
                f"grid {m.grid}, block {m.block}: {_threads(m)}",
                "",
            ]
            body = [
                line if len(line) <= columns else f"{line[: columns - 4]} ..."
                for line in steps(m.chain, m.space, columns, self.step).split("\n")
            ]
            texts.append("\n".join([*head, *body]) + "\n")
        return "\n".join(texts) or "no with-loop\n"

    @property
    def _chosen(self) -> list[Drawn]:
        return [d for d in self.drawn if self.step is None or d.mapping is None or self.step <= len(d.mapping.stages)]

    def scene(self) -> Scene:
        from sacpy.withloop.drawings import scene
        from sacpy.withloop.scenes import Scene, Text, stacked

        parts = []
        for d in self._chosen:
            if d.mapping is not None:
                parts.append(scene(d.mapping, self.step, d.title))
            else:
                lines = Text(0, 14, d.title, 13, bold=True), Text(0, 32, "; ".join(d.reasons), 11.5)
                parts.append(Scene(max(t.width for t in lines), 40, lines))
        nothing = Text(0, 14, "no with-loop")
        return stacked(parts or [Scene(nothing.width, 20, (nothing,))])


__all__ = ["Drawn", "Picture", "known", "launched"]
