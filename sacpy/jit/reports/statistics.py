"""What ran where: the tables of `--stats` and `--explain`, and of `Session.stats` and `Session.explain`.

In: an engine after, or during, a run. Out: rows as data, and as text. Times of functions include those that they call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.interp.engine import is_region, owner
from sacpy.interp.memory import in_words
from sacpy.interp.runtime.calls import shown
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.regions import Regions
from sacpy.jit.run.report import Report
from sacpy.jit.run.versions import Version, Versions
from sacpy.lang.core import Function
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.source import Span
from sacpy.lang.walk import statements
from sacpy.nodes import Node, field

if TYPE_CHECKING:
    from sacpy.jit.emission.assemble import Resources
    from sacpy.jit.ir.kernel import Kernel

LITTLE = "too little work so far"
LEFT = "until its loops went on natively"


class Row(Node):
    """One function, or one of its versions. `where`: "native" or "interpreted"; `seconds` spent in `calls` calls;
    `reason`: why it is interpreted; `report`: how it was compiled; `rerun`: native calls that were run again
    interpreted, since a check had failed. Calls of a function are no longer counted once it is clear that it stays
    interpreted."""

    function: str
    arguments: str
    place: str
    where: str
    calls: int
    seconds: float
    reason: str = ""
    report: Report | None = None
    rerun: int = 0


class Stats(Node):
    """What ran where: `rows`, those that took longest first; seconds spent on compiling. As text, a table."""

    rows: tuple[Row, ...]
    compiling: float
    units: int = field(init=False)
    cached: int = field(init=False)

    def __post_init__(self) -> None:
        reports = [r.report for r in self.rows if r.report is not None]
        object.__setattr__(self, "units", len(reports))
        object.__setattr__(self, "cached", sum(r.cached for r in reports))

    def __str__(self) -> str:
        if not self.rows:
            return "nothing in this program was work for the compiler\n"
        head = ("function", "arguments", "runs", "calls", "seconds", "compiled in")
        cells = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(c[i]) for c in cells) for i in range(len(head))]
        lines = [
            "  ".join(c.rjust(w) if i in (3, 4) else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
            for row in cells
        ]
        cached = f", {self.cached} of them out of the cache" if self.cached else ""
        lines += [
            f"{row.function}{row.place}: {note}"
            for row in self.rows
            if row.report is not None
            for note in row.report.notes
        ]
        return (
            "\n".join(
                [
                    *lines,
                    f"{self.units} unit{'s' * (self.units != 1)} compiled{cached}; {_ms(self.compiling)} spent on that",
                ]
            )
            + "\n"
        )


def _cells(row: Row) -> tuple[str, ...]:
    made = "" if row.report is None else f"{_ms(row.report.seconds)}{' (cache)' if row.report.cached else ''}"
    made += f"; {row.rerun} calls again, interpreted" if row.rerun else ""
    counted = row.calls > 0 or row.report is not None
    return (
        row.function + row.place,
        row.arguments,
        row.where,
        str(row.calls) if counted else "",
        f"{row.seconds:.4f}" if counted else "",
        made or row.reason,
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def stats(engine: Engine | None) -> Stats:
    """What an engine has done so far."""
    rows: list[Row] = []
    left = set() if engine is None else {u.key.rpartition("@")[0] for u in engine.units if u.versions}
    for site in () if engine is None else engine.entered():
        rows += [_native(site, version) for version in site.versions.values()]
        if site.calls or not site.versions:
            rows.append(_interpreted(site, LEFT if site.key in left else LITTLE))
    return Stats(tuple(sorted(rows, key=lambda r: -r.seconds)), 0.0 if engine is None else engine.compiling)


def _native(site: Versions, version: Version) -> Row:
    version.count()
    name, place = title(site.function)
    return Row(
        name,
        site.kind_text(version.kind),
        place,
        "native",
        version.calls,
        version.seconds,
        "",
        version.report,
        version.failed,
    )


def _interpreted(site: Versions, otherwise: str) -> Row:
    """The calls that were interpreted; `otherwise`: why, where no kind of arguments was refused."""
    name, place = title(site.function)
    reasons = list(dict.fromkeys(r.reason for r in site.refused.values()))
    return Row(name, "", place, "interpreted", site.calls, site.seconds, "; ".join(reasons) or otherwise)


def title(function: Function) -> tuple[str, str]:
    """A function's name; and for a region where it is."""
    name = owner(shown(function.signature))
    if not is_region(function.signature.key):
        return name, ""
    first, last = lines(function)
    return name, f", line {first}" if first == last else f", lines {first} to {last}"


def lines(function: Function) -> tuple[int, int]:
    """The first and the last line of a function's text."""
    source = function.signature.span.source
    spans = [function.signature.span, *(s.span for s in statements(function.body) if s.span.source is source)]
    return min(s.line for s in spans), max(s.line + s.text.count("\n") for s in spans)


def home(site: Versions, span: Span) -> str:
    """The name of the function whose text a span stands in: of one that was inlined into the site's, not the site's
    own."""
    program = site.room.program
    elaborated = program.program if isinstance(program, Regions) else program
    found = site.function
    if isinstance(elaborated, ElaboratedProgram):
        made = [i.function for i in elaborated.instances.values() if i.function is not None]
        inside = [
            f for f in (*made, found) if _same_file(f.signature.span, span) and lines(f)[0] <= span.line <= lines(f)[1]
        ]
        found = min(inside, key=lambda f: lines(f)[1] - lines(f)[0], default=found)
    return owner(found.signature.name)


def _same_file(a: Span, b: Span) -> bool:
    """Whether two spans are in the same file, which the cache may know by another path."""
    return a.source is b.source or Path(a.source.name).name == Path(b.source.name).name


# ---------------------------------------------------------------- explanations


def explain(engine: Engine | None, name: str = "") -> str:
    """For each function that was called (or those called `name`): what was compiled, what the passes made of it, how
    its with-loops are laid out on a device; or why it is interpreted. Of a function that was inlined into others: its
    with-loops there."""
    rows = stats(engine).rows
    own = [r for r in rows if not name or _is_called(r.function, name)]
    lines = [
        line
        for row in sorted(own, key=lambda r: (r.function, r.place, r.where))
        for line in (*_explained(row), *_mapped(engine, row))
    ]
    if not own:
        lines = [line for row in rows for line in _mapped(engine, row, name)]
    if lines and engine is not None and engine.device is not None:
        moved = engine.device.account.transfers
        lines.append(
            f"to {engine.device.machine.name} so far: {in_words(moved.bytes_in)} in {moved.times_in} transfers, back: "
            f"{in_words(moved.bytes_out)} in {moved.times_out}"
        )
        lines += engine.device.account.notes
    if not lines:
        return (
            f"no function {name} has been called that could be compiled\n"
            if name
            else "nothing in this program was work for the compiler\n"
        )
    return "\n".join(lines) + "\n"


def _is_called(function: str, name: str) -> bool:
    return function in (name, f"_MAIN::{name}") or function.rpartition("::")[2] == name


def _mapped(engine: Engine | None, row: Row, name: str = "") -> Iterator[str]:
    """How the with-loops of a version are laid out on the device, where the target is one; those in the function `name`
    or on that line only, if one is given."""
    if engine is None or row.report is None or engine.device is None:
        return
    from sacpy.jit.kernels import KernelOptions
    from sacpy.jit.reports import mapping_report
    from sacpy.jit.run.compiler import Clock, optimised, specialised

    report = row.report
    found = next(((s, v) for s in engine.entered() for v in s.versions.values() if v.report is report), None)
    if found is None:  # its module was let go while others were explained
        return
    site, version = found
    reports = (
        []
        if version.device is None
        else mapping_report.of_program(version.device, _assembler(engine), engine.options.strict_fp)
    )
    if _is_known(site):
        program = site.room.program
        before = specialised(
            engine.tools.specialiser(program), program, site.key, version.kind, engine.options, Clock(), device=True
        )
        unit = optimised(before, engine.options, Clock(), device=True)
        if version.device is None:
            reports = mapping_report.of_unit(unit, KernelOptions(engine.device.machine.limits, engine.options.strategy))
        reports += mapping_report.gone(before, unit)
    if name:
        reports = [
            r for r in reports if (r.span.line == int(name) if name.isdigit() else _is_called(home(site, r.span), name))
        ]
    if reports:
        yield f"  on {engine.device.machine.name}, laid out by {engine.options.strategy}:"
        yield from mapping_report.lines(reports, lambda span: home(site, span))


def _is_known(site: Versions) -> bool:
    """Whether the program still has the function: a prompt forgets expressions."""
    program = site.room.program
    elaborated = program.program if isinstance(program, Regions) else program
    return (
        not isinstance(elaborated, ElaboratedProgram)
        or owner(site.key) in elaborated.instances
        or owner(site.key) in elaborated.initials
    )


def _assembler(engine: Engine) -> Callable[[Kernel], Resources | str]:
    """What tells of a kernel's needs on the engine's device."""
    from sacpy.jit.emission.assemble import cubin
    from sacpy.jit.failures import Unsupported

    assert engine.device is not None
    architecture = engine.device.machine.limits.name
    known: dict[Kernel, Resources | str] = {}

    def needs(kernel: Kernel) -> Resources | str:
        if kernel not in known:
            try:
                known[kernel] = cubin(kernel, architecture, strict=engine.options.strict_fp).resources
            except Unsupported as refusal:
                known[kernel] = refusal.reason
        return known[kernel]

    return needs


def _explained(row: Row) -> Sequence[str]:
    head = f"{row.function}({row.arguments}){row.place}" if row.report is not None else f"{row.function}{row.place}"
    calls = f"{row.calls} call{'s' * (row.calls != 1)} in {row.seconds:.4f} s"
    if row.report is None:
        return [head, f"  interpreted: {row.reason}", *([f"  {calls}"] if row.calls else [])]
    report = row.report
    before, after = report.before, report.after
    stages = ", ".join(f"{name} {seconds * 1000:.1f}" for name, seconds in report.stages)
    lines = [
        head,
        f"  native, {'out of the cache' if report.cached else 'compiled'} in {_ms(report.seconds)} ({stages}); "
        f"{report.size / 1000:.1f} kB of code",
        f"  with-loops {_change(before.with_loops, after.with_loops)} with {after.partitions} "
        f"partition{'s' * (after.partitions != 1)}, other loops {_change(before.loops, after.loops)}, "
        f"arrays made {_change(before.arrays, after.arrays)}, checks {_change(before.checks, after.checks)}, calls "
        f"{_change(before.calls, after.calls)}",
        f"  {report.parallel or 'no'} loop{'s' * (report.parallel != 1)} may be spread over threads",
        *(f"  {note}" for note in (*report.cuts, *report.loops, *report.notes)),
        f"  {calls}",
    ]
    if row.rerun:
        lines.append(f"  {row.rerun} of them run again interpreted, since a check had failed")
    return lines


def _change(before: int, after: int) -> str:
    return str(after) if before == after else f"{before} -> {after}"
