"""A workspace: programs loaded, checked and run, with the settings they share.

In: files or texts, and settings (where modules and includes are, macros, limits). Out: checked programs, run statuses,
and `SacError` with everything that is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sacpy.base.forking  # noqa: F401  (from here on a fork waits for what threads must not leave half done)
from sacpy.base.collection import without_collection
from sacpy.base.digests import new_digest
from sacpy.base.kept import cache_folder
from sacpy.interp.errors import Stopped
from sacpy.interp.limits import Limits, Watchdog
from sacpy.interp.memory import physical
from sacpy.lang import core
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import Source, Span
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.interp.evaluation import Evaluation
    from sacpy.interp.evaluator import Bindings, Evaluator
    from sacpy.interp.kept_code import KeptCode
    from sacpy.interp.values import Value
    from sacpy.interp.world import World
    from sacpy.jit.options import Options
    from sacpy.jit.run.making import FirstCall
    from sacpy.jit.run.on_demand import OnDemand
    from sacpy.lang import ast
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.lang.modules import Library, Loader
    from sacpy.withloop.devices import DeviceLimits

T = TypeVar("T")
DEPTH_LIMIT = 100_000


class Workspace(Record):
    """`search`: further folders of modules; `include_path`: further folders of included files; `defines`: macros;
    `limits`: what a run may use. `target`: "interp", "cpu", or "auto" (interpreted until something is hot); `threads`:
    how many a compiled loop may use, None for one per core; `strict_fp`: floating point in the order that the program
    says; `verify`: the compiler checks its own steps; `split_borders`: interiors of with-loops are cut apart from their
    borders; `short_circuit`: what ends up inside another array is computed there; `eager`: whatever can be compiled is;
    `views`: results that Python gets may be parts of larger arrays. `strategy`: who lays out with-loops without a
    pragma on a GPU; `device`: the GPU generation ("sm_90") that programs are checked and laid out for, "" for that of
    the machine, and no check."""

    search: Sequence[Path] = ()
    include_path: Sequence[Path] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits(depth=DEPTH_LIMIT))
    target: str = "interp"
    threads: int | None = None
    strict_fp: bool = False
    verify: bool = False
    eager: bool = False
    strategy: str = "auto"
    device: str = ""
    split_borders: bool = True
    short_circuit: bool = True
    views: bool = False
    first_call: FirstCall | None = None  # of the program that comes next, if it is known
    _library: Library | None = None
    _engine: OnDemand | None = None

    @without_collection("a program")
    def check(self, path: Path) -> tuple[ElaboratedProgram, list[Diagnostic]]:
        """The program in a file, with everything there is to say about it."""
        from sacpy.lang.elaborate.program import elaborate
        from sacpy.lang.modules import parse_file

        return self._advised(
            lambda texts: elaborate(
                parse_file(path, self.include_path, self.defines, search=self.search, texts=texts),
                self.loader(path.parent, texts),
            )
        )

    def load(self, path: Path) -> tuple[ElaboratedProgram, list[Diagnostic]]:
        """The program in a file, ready to run, with its warnings and notes. Raises `SacError` with everything that is
        wrong."""
        return _checked(*self.check(path))

    def load_text(self, text: str, name: str = "<text>") -> tuple[ElaboratedProgram, list[Diagnostic]]:
        """The same for a program in a string."""
        return _checked(*self.check_text(text, name))

    @without_collection("a program")
    def check_text(
        self, text: str | ast.Module, name: str = "<text>", home: Path | None = Path()
    ) -> tuple[ElaboratedProgram, list[Diagnostic]]:
        """The program in a string, or one that somebody else has made a tree, with everything there is to say about it.
        `home`: the folder of its modules."""
        from sacpy.lang.elaborate.program import elaborate
        from sacpy.lang.modules import module_info

        if not isinstance(text, str):
            program = elaborate(module_info(text), self.loader(home))
            if self._engine is not None and home is None:
                self._engine.tell(program, text, self.first_call)
            return program, program.check(self.limits_of_device)
        return self._advised(lambda texts: self.elaborated(Source(name, texts.get(name, text)), home, texts))

    def elaborated(
        self, source: Source, home: Path | None, texts: Mapping[str, str] | None = None
    ) -> ElaboratedProgram:
        """The program of a text, unchecked. `home`: the folder of its modules; `texts`: what stands for those of files.
        Raises `SacError`."""
        from sacpy.lang.elaborate.program import elaborate
        from sacpy.lang.modules import parse_source

        parsed = parse_source(source, self.include_path, self.defines, search=self.search)
        return elaborate(parsed, self.loader(home, texts))

    def expect(self, path: str) -> None:
        """Trees of programs will come that stand in a file, of Python, most likely with something to compile: where the
        cache is not known to have that, the process that compiles may begin to load what it takes."""
        if self.engine is None or self.limits.memory is not None:
            return
        try:
            stat = os.stat(path)
        except OSError:
            return

        def read(tree: ast.Module) -> ElaboratedProgram:
            from sacpy.lang.elaborate.program import elaborate
            from sacpy.lang.modules import module_info

            return elaborate(module_info(tree), self.loader(None))

        self.preload()
        digest = new_digest(f"{path} {stat.st_mtime_ns} {stat.st_size}".encode(errors="surrogateescape")).hexdigest()
        self.engine.expect(f"expected-{digest[:40]}", read)

    def _advised(
        self, read: Callable[[Mapping[str, str]], ElaboratedProgram]
    ) -> tuple[ElaboratedProgram, list[Diagnostic]]:
        """A program, with everything there is to say about it. `read` takes texts that stand for those of files. Raises
        `SacError` where there is no program."""

        def problems(texts: Mapping[str, str]) -> list[Diagnostic]:
            return read(texts).check(self.limits_of_device)

        try:
            program = read({})
        except SacError as error:
            from sacpy.lang.advice import advised_error

            raise advised_error(error, problems) from None
        found = program.check(self.limits_of_device)
        if found:
            from sacpy.lang.advice import advised

            found = advised(found, problems)
        return program, found

    def kept_name(self, source: Source, home: Path | None, what: str) -> str:
        """What is kept of a text goes by this name, which has a digest of all that says what it means. `home`: the
        folder of its modules; `what`: which of several things. Raises `OSError` where a folder that something is
        relative to is gone."""
        from sacpy.lang.files import kept_name

        places = (*([] if home is None else [home]), *self.search, *self.include_path)
        settings = what, source.name, home is None, len(self.search), sorted(self.defines.items()), self.device
        return kept_name(source.text, places, settings)

    @property
    def limits_of_device(self) -> DeviceLimits | None:
        """The limits that pragmas must keep; None: none, as on the CPU and in the interpreter."""
        if not self.device:
            return None
        from sacpy.withloop.devices import DEVICES

        return DEVICES[self.device]

    def expression(self, text: str) -> Evaluation:
        """An expression, ready to be evaluated with the library in scope. Raises `SacError`."""
        from sacpy.interp.evaluation import evaluation

        return evaluation(Source("<expression>", text), self.loader(Path()))

    def run(
        self,
        program: core.CheckedProgram,
        world: World,
        found: Sequence[Diagnostic] = (),
        code: KeptCode | None = None,
    ) -> int:
        """Runs `main` within the limits and gives the exit status. `found`: what `load` had to say; `code`: Python that
        earlier runs have generated. Raises `SacError`."""
        evaluator = self.evaluator(program, world, code=code)
        return self.guard(Watchdog(), lambda: execute(program, evaluator, found), settle=False)

    def evaluator(
        self,
        program: core.Program,
        world: World,
        bindings: Bindings | None = None,
        code: KeptCode | None = None,
    ) -> Evaluator:
        """What runs the functions of a program as the settings say. `bindings`: finds Python functions for external
        ones; `code`: what earlier runs have generated."""
        from sacpy.interp.evaluator import Evaluator, no_binding

        return Evaluator(
            program,
            world,
            depth_limit=self.limits.depth,
            bindings=bindings or no_binding,
            engine=self.engine,
            strict_fp=self.strict_fp,
            code=code,
        )

    @property
    def engine(self) -> OnDemand | None:
        """What decides which functions run natively, one for all programs; None: all are interpreted."""
        if self._engine is None and self.target != "interp":
            from sacpy.jit.run.on_demand import OnDemand

            self._engine = OnDemand(self.target, **self.engine_settings)
        return self._engine

    @property
    def engine_settings(self) -> dict[str, Any]:
        """What an engine is told besides its target."""
        return {
            "threads": self.threads, "strict_fp": self.strict_fp, "verify": self.verify, "strategy": self.strategy,
            "device": self.device, "split_borders": self.split_borders, "short_circuit": self.short_circuit,
            "eager": self.eager,
        }  # fmt: skip

    def use(self, engine: OnDemand) -> None:
        """Takes this engine."""
        self._engine = engine

    @property
    def options(self) -> Options:
        """The settings as the compiler takes them."""
        from sacpy.jit.options import Options

        return Options(
            threads=self.threads or 1,
            strict_fp=self.strict_fp,
            verify=self.verify,
            strategy=self.strategy,
            device=self.device,
            split_borders=self.split_borders,
            short_circuit=self.short_circuit,
        )

    def guard(self, watchdog: Watchdog, action: Callable[[], T], *, settle: bool = True) -> T:
        """Does something that runs a program within the limits; Ctrl-C ends native code too. `settle`: the program may
        be changed afterwards. Raises `SacError`."""
        try:
            return self._guard(watchdog, action, settle)
        except Stopped as stopped:  # where no function of the program was running
            from sacpy.interp.faults import to_sac_error

            raise to_sac_error(stopped.fault(), {}) from None

    def _guard(self, watchdog: Watchdog, action: Callable[[], T], settle: bool) -> T:
        engine = self.engine
        if engine is None:
            return watchdog.guard(self.limits, action)
        from sacpy.jit.run.interrupts import listening

        engine.begin(self.limits.memory or physical(), self.limits.memory is not None)
        with listening(engine.stop):
            try:
                return watchdog.guard(self.limits, action, engine.stop)
            finally:
                if settle:
                    engine.settle()
                engine.keep()

    def foresee(self, program: core.CheckedProgram, name: str = "") -> None:
        """A program is about to run: where nobody knows it from an earlier time, the process that compiles may begin to
        load what it takes. `name`: what it is called where it is a module, of which the cache remembers that."""
        if self.engine is None or self.limits.memory is not None:
            return
        text = f"{name}\n{program.text()}".encode(errors="surrogateescape")
        self.engine.foresee(program, f"foreseen-{new_digest(text).hexdigest()[:40]}" if name else "")

    def loader(self, home: Path | None, texts: Mapping[str, str] | None = None) -> Loader:
        """Finds modules beside a program in the folder `home`, if it has one, then where the settings say, then in the
        library. `texts`: what stands for those of files."""
        from sacpy.lang.modules import Loader

        return Loader(
            (*([] if home is None else [home]), *self.search),
            self.include_path,
            self.defines,
            cache_folder(),
            library=self._library,
            texts=texts or {},
        )

    def preload(self) -> None:
        """Opens the library, once for all programs to come. Where time or memory is limited it is parsed now, as far as
        that has never happened: no program is to be charged for it."""
        if self._library is None:
            from sacpy.lang.modules import load_library

            self._library = load_library(cache_folder())
            if self.limits.seconds is not None or self.limits.memory is not None:
                self._library.complete()


def execute(program: core.CheckedProgram, evaluator: Evaluator, found: Sequence[Diagnostic] = ()) -> int:
    """Calls `main` and gives the exit status. The errors in `found` are reported when the run reaches them, with the
    others that `main` is certain to come to. Raises `SacError`."""
    from sacpy.interp.errors import Exit

    key = program.main_key()
    certain = [d for d in found if d.severity == "error"]
    try:
        results = call_main(program, evaluator, key)
    except Exit as stop:
        return stop.status & 0xFF
    except SacError as error:
        if not certain:
            raise
        own = [d for d in error.diagnostics if not any(_overlap(c, d) for c in certain)]
        raise SacError(
            *own, *(c for c in certain if _is_reached(program, c) or any(_overlap(c, d) for d in error.diagnostics))
        ) from None
    return int(results[0]) & 0xFF if results else 0


def call_main(program: core.CheckedProgram, evaluator: Evaluator, key: str) -> tuple[Value, ...]:
    """Calls `main`; its arguments, if it has any, are the words of the world's command line. Raises `SacError`."""
    signature = program.signature(key)
    if not signature.params:
        return evaluator.call(key, ())
    from sacpy.interp.words import arguments

    given = arguments(program.whole(), signature, evaluator, evaluator.world)
    return evaluator.call_giving(key, given, [True] * len(given))[0]


def _checked(program: ElaboratedProgram, found: list[Diagnostic]) -> tuple[ElaboratedProgram, list[Diagnostic]]:
    if any(d.severity == "error" and not _may_wait(program, d) for d in found):
        raise SacError(*found)
    return program, found


def _may_wait(program: ElaboratedProgram, error: Diagnostic) -> bool:
    """Whether a program with this error is run all the same. Only an error of shapes or values may wait (and no
    definition that means nothing, E0526): one in a branch or loop, which the run may never come to, or in the straight
    line of `main`, where what is printed before is not lost. A function that fails whenever it is called is refused."""
    if not error.code.startswith("E05") or error.code == "E0526" or not program.main.own("main"):
        return False
    main = program.main_key()
    return not any(_in_straight_line(program, key, error) for key in program.user_keys([]) if key != main)


def _is_reached(program: core.CheckedProgram, error: Diagnostic) -> bool:
    """Whether a wrong shape or value stands in the straight line of `main`."""
    return _in_straight_line(program, program.main_key(), error)


def _in_straight_line(program: core.CheckedProgram, key: str, error: Diagnostic) -> bool:
    """Whether an error stands in a statement that every call of the function comes to."""
    plain = (s for s in program.function(key).body.statements if isinstance(s, core.Let | core.Check))
    return any(
        _within(error.span, s.span) and not (isinstance(s, core.Let) and isinstance(s.rhs, core.WithLoop))
        for s in plain
    )


def _overlap(a: Diagnostic, b: Diagnostic) -> bool:
    return _within(a.span, b.span) or _within(b.span, a.span)


def _within(inner: Span, outer: Span) -> bool:
    return inner.source.name == outer.source.name and outer.start <= inner.start and inner.end <= outer.end
