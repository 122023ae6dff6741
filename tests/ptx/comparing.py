"""What kernels of a form give, compared with the interpreter of SaC. The GPUs here have one multiprocessor, so that
small arrays are laid out as large ones are."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sacpy.session import Session
from sacpy.withloop.placement import GridBlock
from tests.ptx.checking import outcome, same, shown
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import emulated, session

RANDOM = np.random.default_rng(17)
HEAD = "use Array: all;\nuse Math: all;\n"


def reals(*shape: int, t: Any = np.float32) -> Any:
    return RANDOM.standard_normal(shape).astype(t)


def ints(*shape: int) -> Any:
    return RANDOM.integers(-50, 50, shape).astype(np.int32)


def compared(source: str, args: tuple[Any, ...], word: str, front: str, *, emulator: bool, strict: bool = True) -> None:
    """The function f on arguments: what GPUs give is what the interpreter gives, to the last bit where operations keep
    their order. `word`: in the name of a kernel that is to be among those that ran."""
    wanted = outcome(Session(target="interp", strict_fp=strict).compile(HEAD + source), "f", args)
    gpu = PtxCuda("sm_90", front, strict=strict, processors=1)
    got = outcome(session(gpu, verify=True).compile(HEAD + source), "f", args)
    assert gpu.findings.lines() == []
    assert any(word in code.decode() for code in gpu.programs), [p.entry.name for p in gpu.programs.values()]
    assert exactly(wanted, got) if strict else same(wanted, got, strict, True), shown(wanted, got)
    if emulator:
        on = outcome(emulated(1, strict=strict).compile(HEAD + source), "f", args)
        assert same(wanted, on, strict, True), shown(wanted, on)


def exactly(wanted: Any, got: Any) -> bool:
    """Whether two results are equal to the last bit."""
    if isinstance(wanted, tuple):
        return all(exactly(w, g) for w, g in zip(wanted, got, strict=True))
    return (
        wanted == got
        if isinstance(wanted, str)
        else np.array_equal(wanted, np.asarray(got), equal_nan=np.asarray(wanted).dtype.kind == "f")
    )


def few_blocks(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """The mappings that a module makes launch one block, which does the work of all."""

    def one(*given: Any, **named: Any) -> GridBlock:
        return GridBlock(*given, **(named | {"most_blocks": 1}))

    monkeypatch.setattr(module, "GridBlock", one)
