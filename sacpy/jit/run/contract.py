"""What a compiler is given (`CompileContext`), and what it gives (`Compiled`). When it is asked: `judgement`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options, cores
from sacpy.jit.run.report import Report
from sacpy.lang import core
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.device.context import Device
    from sacpy.jit.device.program import DeviceProgram
    from sacpy.jit.host.gates import Gate
    from sacpy.jit.host.native import Context
    from sacpy.jit.specialise import Specialiser


class Native(Protocol):
    """A compiled function, ready to be called with the values of its arguments. Raises `NativeFailure`."""

    def __call__(self, args: tuple[Any, ...], /) -> tuple[Any, ...]: ...


class Compiled(Node):
    """A compiled unit: how to call it, and what became of it on the way. `owned`: whether the arrays that it gives are
    nobody else's; `device`: the same as a program of a device, if it is one; `recursive`: whether it may call itself;
    `direct`: what calls it with contiguous arguments like some others (`NativeFunction.like`); `giving`: what calls it
    with arguments that the caller gives away, if it takes any (`NativeFunction`); `gate`: `NativeFunction.gate`."""

    call: Native
    report: Report
    owned: bool = True
    device: DeviceProgram | None = None
    recursive: bool = False
    direct: Callable[[Sequence[Any]], Callable[..., tuple[Any, ...] | None]] | None = None
    giving: Callable[[tuple[Any, ...], tuple[bool, ...]], tuple[Any, ...]] | None = None
    gate: Callable[[Sequence[Any], Sequence[Any], object], Gate | None] | None = None


def compile_context(
    *,
    threads: int | None = None,
    strict_fp: bool = False,
    opt_level: int = 3,
    verify: bool = False,
    strategy: str = "auto",
    device: str = "",
    split_borders: bool = True,
    short_circuit: bool = True,
    eager: bool = False,
    cache: Cache | None = None,
    check: bool = False,
) -> CompileContext:
    """What the settings of an engine come to. `threads`: how many a loop may use, None for one per core; `opt_level`:
    how hard LLVM tries; `eager`: everything is compiled when it is first called; `cache`: the folder of compiled code,
    None for the user's; `check`: the emulator looks at every access. The others: see `Options`."""
    options = Options(
        threads=threads or cores(),
        strict_fp=strict_fp,
        opt_level=opt_level,
        verify=verify,
        strategy=strategy,
        device=device,
        split_borders=split_borders,
        short_circuit=short_circuit,
    )
    return CompileContext(options, Cache(native_folder()) if cache is None else cache, eager, check)


class CompileContext:
    """What compiling takes besides a function: options, the cache, and what running code shares with Python."""

    def __init__(self, options: Options, cache: Cache, eager: bool = False, check: bool = False) -> None:
        self.options = options
        self.cache = cache
        self.eager = eager
        self.check = check  # of the emulator: every access to memory
        self.device: Device | None = None
        self.gpu: bool | None = None  # whether there is one; None: nobody has looked
        self.memory = 0
        self.limited = False
        self.delivered: dict[str, bytes] = {}  # what other processes have made, by name
        self._context: Context | None = None
        self._latest: tuple[core.Program, Specialiser] | None = None

    def specialiser(self, program: core.Program) -> Specialiser:
        """What makes graphs of a program's functions."""
        if self._latest is None or self._latest[0] is not program:
            from sacpy.jit.specialise import Specialiser

            self._latest = program, Specialiser(program)
        return self._latest[1]

    @property
    def context(self) -> Context:
        """What all native code of an engine shares with Python: the stop flag, the number of threads."""
        if self._context is None:
            from sacpy.jit.host.native import Context

            self._context = Context(self.options.threads, self.memory)
        return self._context

    def stop(self, stop: bool) -> None:
        """Ends what runs, or lets things run again."""
        if self._context is not None:
            self._context.stop = stop
        if self.device is not None:
            self.device.stop(stop)

    def limit(self, memory: int) -> None:
        """How many bytes a call may take; 0: any."""
        self.memory = memory
        if self._context is not None:
            self._context.memory = memory
        if self.device is not None:
            self.device.limit(memory)


class Compiler(Protocol):
    """What the engine asks of a compiler. `name` is the digest that the code is kept under. Raises `Unsupported`."""

    def __call__(
        self, program: core.Program, key: str, kind: Kind, name: str, tools: CompileContext, /
    ) -> Compiled: ...
