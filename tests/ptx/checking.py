"""SaC on the interpreter of PTX, compared with the interpreter of SaC.

In: cases, seeds of random programs, whole programs; paths: pairs of an architecture and a front end. Out: `Verdict`:
what differed, what was found, and how much was run.
"""

from __future__ import annotations

import shlex
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from tests.fuzz.differential import compare
from tests.fuzz.seeds import case as random_case
from tests.ptx.cases import Case
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import engine, on_demand, session
from tests.test_programs import beside
from tests.tools import first_directive, read_directives

PATHS = [(arch, front) for arch in ("sm_80", "sm_90", "sm_100") for front in ("libnvvm", "nvptx")]


@dataclass
class Verdict:
    """`wrong`: in words, everything that should not be; `told`: how often what happened."""

    wrong: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)

    def gpu(self, gpu: PtxCuda, what: str) -> None:
        """What a GPU found, and how much it ran."""
        self.told["launches"] += gpu.launches
        self.told["kernels"] += len(gpu.programs)
        self.wrong += [f"{what} [{gpu.path}]: {line}" for line in gpu.findings.lines()]


def cases(
    chosen: Iterable[Case],
    paths: Sequence[tuple[str, str]],
    *,
    strict: bool = False,
    races: bool = True,
    strategy: str = "auto",
    until: float = float("inf"),
) -> Verdict:
    """With-loops. `until`: of the monotonic clock, when to begin no other."""
    verdict = Verdict()
    for c in chosen:
        if monotonic() > until:
            verdict.told["not reached"] += 1
            continue
        plain = Session(target="interp", strict_fp=strict).compile(c.source)
        wanted = [outcome(plain, f, a) for f, a in c.calls]
        for arch, front in paths:
            gpu = PtxCuda(arch, front, strict=strict, races=races)
            on = session(gpu, strategy=strategy).compile(c.source)
            for (f, a), w in zip(c.calls, wanted):
                got = outcome(on, f, a)
                verdict.told["calls"] += 1
                if not same(w, got, strict, "float" in c.name):
                    verdict.wrong.append(f"{c.name}, {f} [{gpu.path}]: {shown(w, got)}")
            verdict.gpu(gpu, c.name)
            verdict.told["without a launch"] += not gpu.launches
    return verdict


def fuzz(
    seeds: Iterable[int],
    paths: Sequence[tuple[str, str]],
    *,
    strict: bool = False,
    races: bool = True,
    until: float = float("inf"),
) -> Verdict:
    """Random programs, each on one path by turns."""
    verdict = Verdict()
    for at, seed in enumerate(seeds):
        if monotonic() > until:
            verdict.told["not reached"] += 1
            continue
        arch, front = paths[at % len(paths)]
        gpu = PtxCuda(arch, front, strict=strict, races=races)
        o = compare(random_case(seed), {"ptx": lambda gpu=gpu: engine(gpu)}, exact=False)  # type: ignore[misc]
        verdict.told["programs"] += 1
        if o.different:
            verdict.wrong.append(f"seed {seed} [{gpu.path}]: {str(o.different)[:300]} for {str(o.expected)[:300]}")
        verdict.gpu(gpu, f"seed {seed}")
    return verdict


class _Late(BaseException):
    """A program takes too long. Who catches everything makes a failure of his own of it: so it is noted, too."""


def programs(
    files: Iterable[Path],
    paths: Sequence[tuple[str, str]],
    *,
    races: bool = True,
    each: int = 60,
    until: float = float("inf"),
) -> Verdict:
    """Whole programs with what they print, each on one path by turns. `each`: the most seconds that one may take;
    such a program counts as "too long", not as wrong. Only where there are signals."""
    verdict = Verdict()
    found = [path.resolve() for path in files]
    fired: list[bool] = []

    def late(*_: Any) -> None:
        fired.append(True)
        raise _Late

    before = signal.signal(signal.SIGALRM, late)
    try:
        for at, path in enumerate(found):
            if monotonic() > until:
                verdict.told["not reached"] += 1
                continue
            arch, front = paths[at % len(paths)]
            gpu = PtxCuda(arch, front, strict=not _in_corpus(path), races=races, memory=1 << 28)
            fired.clear()
            signal.alarm(each)
            try:
                with TemporaryDirectory() as folder, chdir(folder):  # some programs write files
                    wrong = _program(path, gpu)
            except _Late:
                wrong = []
            finally:
                signal.alarm(0)
            verdict.told["too long" if fired else "programs"] += 1
            verdict.told["programs with launches"] += bool(gpu.launches)
            verdict.wrong += [] if fired else wrong
            verdict.gpu(gpu, path.name)
    finally:
        signal.signal(signal.SIGALRM, before)
    return verdict


def _in_corpus(path: Path) -> bool:
    return path.with_suffix(".out").exists()


def _program(path: Path, gpu: PtxCuda) -> list[str]:
    """Runs a program; what it does that it should not."""
    corpus = _in_corpus(path)
    directives = read_directives(path) if corpus else []
    flags = [f.replace("{here}", str(path.parent)) for f in shlex.split(first_directive(directives, "flags"))]
    args = shlex.split(first_directive(directives, "args"))
    given = path.parent / first_directive(directives, "stdin") if corpus else beside(path, ".stdin")
    stdin = given.read_bytes() if given.is_file() else b""
    expected = path.with_suffix(".out") if corpus else beside(path, ".expected")
    wanted = expected.read_text(encoding="latin-1" if corpus else "utf-8")
    strict = [] if corpus else ["--strict-fp"]
    parsed = parse(["run", *flags, "--target", "cuda", *strict, str(path.resolve()), *args])
    world = World.captured(stdin, tuple(a.encode() for a in (str(path), *args)))
    workspace = workspace_of(parsed)
    workspace.use(on_demand(gpu))
    wrong: list[str] = []
    try:
        program, found = workspace.load(parsed.file)
        workspace.run(program, world, found)
    except SacError as error:
        if not corpus:
            wrong.append(f"{path.name} [{gpu.path}]: {error.diagnostics[0].code} {error.diagnostics[0].message}")
    world.finish()
    got = world.out().decode("latin-1" if corpus else "utf-8", "replace")
    if got != wanted:
        lines = zip(got.splitlines(), wanted.splitlines())
        first = next(((k, x, y) for k, (x, y) in enumerate(lines) if x != y), None)
        wrong.append(f"{path.name} [{gpu.path}]: {first or 'of another length'}")
    return wrong


def outcome(module: Any, function: str, args: tuple[Any, ...]) -> Any:
    """What a call gives: results, or the error in words."""
    try:
        return getattr(module, function)(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])
    except SacError as error:
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"


def same(x: Any, y: Any, strict: bool, single: bool = False) -> bool:
    """Whether two outcomes agree. Folds have an order of their own, libdevice's functions a few units of the last
    place, so reals need only be near; `single`: singles are among what was computed."""
    if isinstance(x, str) or isinstance(y, str):
        return isinstance(x, str) and isinstance(y, str) and x == y
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(same(a, b, strict, single) for a, b in zip(x, y))
    a, b = np.asarray(x), np.asarray(y)
    if a.shape != b.shape or (isinstance(x, np.ndarray) and a.dtype != b.dtype):
        return False
    if a.dtype.kind != "f":
        return bool((a == b).all())
    if strict:
        near = 1e-6 if a.dtype == np.float32 else 1e-14
    else:
        near = 1e-4 if single or a.dtype == np.float32 else 1e-11
    return bool(np.allclose(a, b, rtol=near, atol=near, equal_nan=True)) if a.size else True


def shown(w: Any, g: Any) -> str:
    """Two outcomes that differ, in words."""
    if isinstance(w, tuple) and isinstance(g, tuple):
        w, g = next(((a, b) for a, b in zip(w, g) if not same(a, b, False)), (w, g))
    if isinstance(w, np.ndarray) and isinstance(g, np.ndarray) and w.shape == g.shape:
        at = np.argwhere(~((w == g) | ((w != w) & (g != g))))
        first = tuple(at[0]) if len(at) else ()
        many = f"{len(at)} of {w.size} elements"
        return f"{many}, first at {[int(k) for k in first]}: {g[first]!r} for {w[first]!r}"
    return f"{str(g)[:150]} for {str(w)[:150]}"
