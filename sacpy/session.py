"""A session: SaC from Python.

In: programs, definitions, expressions, Python values. Out: Python values; or `SacError` with everything that is wrong.
A session owns what it knows: definitions, named values, bound functions, limits, and what its programs may touch. It
may be used from several threads: one call runs at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload
from weakref import ref

from sacpy.embedding.functions import Module
from sacpy.embedding.grants import World
from sacpy.embedding.kept_checks import checked_file, checked_text
from sacpy.embedding.named import NamedValue, expect, is_name, is_operator, keep, operators_of
from sacpy.embedding.runner import Host, Runner, plain_error
from sacpy.interp.limits import Limits
from sacpy.jit.options import GENERATIONS, STRATEGIES, TARGETS
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import extended, library_in_scope
from sacpy.lang.elaborate.program import elaborate
from sacpy.lang.modules import module_info
from sacpy.lang.parser import ParsedInput, parse_expression, parse_input, parse_module
from sacpy.lang.preprocessor import CONFINED
from sacpy.lang.source import Source
from sacpy.nodes import replace
from sacpy.workspace import Workspace, execute

if TYPE_CHECKING:
    from sacpy.embedding.evaluations import Evaluation
    from sacpy.embedding.kept_checks import Checked
    from sacpy.embedding.mapped import Picture
    from sacpy.jit.reports.statistics import Stats
    from sacpy.jit.run.engine import Engine

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
REMEMBERED = 256  # expressions that stay elaborated
NO_INSTANCE = "E0619"  # a call at run time that no instance takes


class Session:
    """Runs SaC programs, functions and expressions for Python.

    `target`: how to run: "auto" (interpreted, and compiled once it is hot, for the CPU and for the GPU if there is
    one), "cpu" (compiled at once where there is some work), "cuda" (with-loops on the GPU), "emulator" (the same
    kernels on the CPU), "interp" (never compiled). `world`: what programs may touch; by default they print, and nothing
    else. `limits`: what one call may use. `search`: folders of modules. `include_path`: folders of included files.
    `defines`: macros. `threads`: how many a compiled loop may use, by default one per core. `strict_fp`: floating-point
    numbers are added in the order that the program says, and give the same to the last bit on every target. `strategy`:
    who lays out with-loops without a pragma on a GPU: "auto", "jing", "jing_ext", "jing_printed", "foldall". `device`:
    the GPU generation that the emulator stands for, by default "sm_90". `views`: large results may be strided views."""

    def __init__(
        self,
        target: str = "auto",
        world: World | None = None,
        limits: Limits | None = None,
        search: Sequence[str | os.PathLike[str]] = (),
        include_path: Sequence[str | os.PathLike[str]] = (),
        defines: Mapping[str, str] | None = None,
        threads: int | None = None,
        strict_fp: bool = False,
        strategy: str = "auto",
        device: str = "",
        views: bool = False,
    ) -> None:
        if target not in TARGETS:
            raise ValueError(f"there is no target {target!r}; there is {', '.join(TARGETS)}")
        expect(world, World | None, "world")
        expect(limits, Limits | None, "limits")
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise ValueError(f"threads must be a number from 1 on, not {threads!r}")
        if strategy not in STRATEGIES:
            raise ValueError(f"there is no strategy {strategy!r}; there is {', '.join(STRATEGIES)}")
        if device not in ("", *GENERATIONS):
            raise ValueError(f"there is no device {device!r}; there is {', '.join(GENERATIONS)}")
        self._grants = World() if world is None else world
        self._limits = Limits() if limits is None else limits
        self._workspace = Workspace(
            tuple(map(Path, search)),
            tuple(map(Path, include_path)),
            dict(defines or {}),
            self._limits,
            target,
            threads,
            strict_fp,
            strategy=strategy,
            device=device,
            views=bool(views),
        )
        self._host = Host(self._grants.open((b"sacpy",), self._limits.output), self._workspace)
        self._loader = self._workspace.loader(None)
        self._definitions = library_in_scope()
        self._runner = Runner(self._host, lambda: elaborate(self._definitions, self._loader))
        self._module = Module(self._runner, "session")
        self._modules: list[ref[Module]] = []  # what was loaded, oldest first
        self._names: dict[str, NamedValue] = {}
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"<sacpy.Session with {len(self._names)} named values>"

    # ------------------------------------------------------------ programs

    def run(self, path: str | os.PathLike[str], args: Sequence[str] = ()) -> int:
        """Runs a program file with command-line arguments, and gives its exit status. Raises `SacError`."""
        if isinstance(args, str | bytes):
            raise TypeError(f"args must be a sequence of strings, not one: [{args!r}]")
        for argument in args:
            expect(argument, str, "each of args")
        program, found = self._read(lambda: self._workspace.load(Path(path)))
        argv = tuple(a.encode(errors="surrogateescape") for a in (str(path), *args))
        with self._host.lock:
            host = Host(self._grants.open(argv, self._limits.output), self._workspace, self._host)
            runner = Runner(host, lambda: program)
            try:
                return host.run(lambda: execute(program, runner.evaluator, found))
            except SacError as error:
                if error.__cause__ is not None and not isinstance(error.__cause__, Exception):
                    raise error.__cause__ from None
                raise
            finally:
                host.world.finish()

    def load(self, path: str | os.PathLike[str]) -> Module:
        """A program or module file, its functions ready to be called. Raises `SacError` with all that is wrong."""
        return self._loaded(lambda: checked_file(self._workspace, Path(path)), Path(path).name)

    def compile(self, source: str | ast.Module, name: str = "<source>") -> Module:
        """The same for a program or module in a string, or one that is a tree already."""
        expect("" if isinstance(source, ast.Module) else source, str, "source")
        return self._loaded(lambda: checked_text(self._workspace, source, name), name)

    def _loaded(self, check: Callable[[], Checked], title: str) -> Module:
        with self._host.lock:
            program, found = self._read(check)
            errors = [d for d in found if d.severity == "error"]
            if errors:
                raise SacError(*found)
            info, loader = program.main.info, program.world.loader
            self._workspace.foresee(program, title)
            made = [program]
            runner = Runner(self._host, lambda: made.pop() if made else elaborate(info, loader))
            module = Module(runner, f"{info.kind} {title}", found)
            self._modules = [*(m for m in self._modules if m() is not None), ref(module)]
            return module

    def _read(self, action: Callable[[], T]) -> T:
        """Does something that reads SaC text: within the limits, and no files but those it may include."""
        self._preload()
        context = copy_context()
        context.run(CONFINED.set, not self._grants.files)
        return self._host.run(lambda: context.run(action))

    def _preload(self) -> None:
        """Has the library at hand, outside the limits: it is no fault of the program."""
        self._workspace.preload()
        if self._loader.library is None:
            self._loader = self._workspace.loader(None)

    # ------------------------------------------------------------ the compiler

    def stats(self) -> Stats:
        """What ran where so far, how often, how long, and why it was not compiled: rows (`stats().rows`), as text a
        table. Times are in seconds."""
        from sacpy.jit.reports.statistics import stats

        with self._host.lock:
            return stats(self._started_engine)

    def explain(self, name: str = "") -> str:
        """What was compiled so far, what the compiler made of it, and why it did not where it did not; of the functions
        called `name` only, if one is given."""
        from sacpy.jit.reports.statistics import explain

        expect(name, str, "name")
        with self._host.lock:
            return explain(self._started_engine, name)

    def picture(self, name: str = "", source: str | None = None, step: int | None = None) -> Picture:
        """How with-loops are laid out on a GPU, drawn: what was launched of them so far, if the target is one; else
        those whose bounds are known before they run. `name`: those of a function, or of a line of the source; `source`:
        the program to draw, by default the session's definitions; `step`: of each mapping only this combinator, counted
        from the innermost, 1. `str` gives it in characters, `.svg` and `.png` are files, `.save(path)` writes one;
        notebooks show it. Raises `SacError`."""
        from sacpy.embedding.mapped import Picture, known, launched

        expect(name, str, "name")
        with self._host.lock:
            drawn = launched(self._started_engine, name) if source is None else []
            if not drawn:
                program = self._runner.program if source is None else self.compile(source)._runner.program
                workspace = self._workspace
                drawn = self._host.run(lambda: known(program, name, workspace.strategy, workspace.device))
            return Picture(tuple(drawn), step)

    def emit(self, stage: str, name: str = "", source: str | None = None) -> str:
        """What a stage of the compiler ("core", "graph", "memory", "schedule", "llvm", "asm"; for a GPU "kernel",
        "nvvm", "ptx", "sass") makes of a function: one that has been defined, or loaded (and is still held), or one of
        the program in `source`. `name`: "f", "Module::f", or a line of the source; by default all functions. The graph
        is the one after all passes. A function is shown for the arguments that it has been called with; otherwise its
        parameters have the extents that they declare. Raises `SacError`."""
        from sacpy.jit.reports.stages import emission, has_function

        expect(stage, str, "stage")
        expect(name, str, "name")
        with self._host.lock:
            own = self._module if source is None else self.compile(source)
            among = reversed(self._modules) if source is None and name and not name.isdigit() else ()
            loaded = [m for held in among if (m := held()) is not None]
            program = next(
                (m._runner.program for m in (own, *loaded) if has_function(m._runner.program, name)),
                own._runner.program,
            )
            engine = self._started_engine
            seen = [] if engine is None else [(site.key, kind) for site in engine.entered() for kind in site.versions]
            return self._host.run(lambda: emission(program, stage, name, self._workspace.options, seen))

    @property
    def _started_engine(self) -> Engine | None:
        engine = self._workspace.engine
        return None if engine is None else engine.started

    # ------------------------------------------------------------ definitions and expressions

    def define(self, source: str) -> Module:
        """Adds definitions (functions, types, objects, `use` lines) to those that `eval` sees. A function with the name
        and parameter types of an earlier one takes its place. Gives all functions defined so far. Raises `SacError`,
        and then nothing has changed."""
        expect(source, str, "source")
        text = Source("<definition>", source)
        workspace = self._workspace
        parsed = self._read(
            lambda: parse_module(
                text,
                defines=workspace.defines,
                include_path=tuple(workspace.include_path),
                operators=operators_of(self._definitions),
            )
        )
        if any(d.severity == "error" for d in parsed.diagnostics):
            raise SacError(*self._advised(text, self._read(lambda: self._elsewhere(text, parsed.diagnostics))))
        new = module_info(parsed.module, diagnostics=parsed.diagnostics)
        if new.kind != "program":
            raise plain_error(
                "E0715",
                f"this is the {new.kind} {new.name}, not definitions",
                "put a module into a file in one of the session's search folders, and define 'use ...: all;'; or use "
                "session.compile",
            )
        with self._host.lock:
            definitions = extended(self._definitions, new)
            program = elaborate(definitions, self._loader)
            found = self._read(program.check)
            if any(d.severity == "error" for d in found):
                raise SacError(*self._advised(text, found))
            self._module.warnings = tuple(found)
            self._definitions = definitions
            changed = {f"_MAIN::{name}" for name in new.objects}
            self._runner.renew(program, lambda name: name not in changed)
        return self._module

    def eval(self, source: str, /, **values: Any) -> Any:
        """The value of an expression; None where it has none, a tuple where it has several. It sees the session's
        definitions and named values, and `values`. Raises `SacError`."""
        expect(source, str, "source")
        with self._host.lock:
            program = self._runner.program
            names = (
                self._names
                if not values
                else self._names | {n: keep(program, n, v, copy=False) for n, v in values.items()}
            )
            key = ("eval", source, tuple((n, v.kind) for n, v in names.items() if n in source))
            known: Evaluation | None = self._runner.plans.get(key)
            if known is not None:
                return self._evaluated(known, source, names, values)
            self._preload()

            def first() -> Any:
                try:
                    made = self._read(lambda: self._evaluation(source, names))
                except SacError as error:
                    raise SacError(*self._advised(Source("<expression>", source), error.diagnostics, names)) from None
                self._runner.plans[key] = made
                return self._evaluated(made, source, names, values)

            return self._runner.prepared(first)

    def _evaluated(
        self, known: Evaluation, source: str, names: Mapping[str, NamedValue], values: Mapping[str, Any]
    ) -> Any:
        """The value of an expression. `values`: those that are for this time only."""
        try:
            raw = known.run(self._runner, names)
        except SacError as error:
            if error.diagnostics[0].code != NO_INSTANCE:
                raise
            # a call that no shapes can make right is explained as the checker explains it
            text = Source("<expression>", source)
            seen = self._read(lambda: self._tried(text, names)) or error.diagnostics
            raise SacError(*self._advised(text, seen, names)) from None
        for name, value in zip(known.expression.changed, known.changed(raw)):
            if name not in values:
                self._names[name] = value
        return known.finish(raw)

    def _evaluation(self, source: str, names: Mapping[str, NamedValue]) -> Evaluation:
        """An expression, ready to be evaluated with named values of these types."""
        if sum(isinstance(k, tuple) and k[0] == "eval" for k in self._runner.plans) >= REMEMBERED:
            self._runner.renew()
        workspace = self._workspace
        text = Source("<expression>", source)
        parsed = parse_expression(
            text,
            defines=workspace.defines,
            include_path=tuple(workspace.include_path),
            operators=operators_of(self._definitions),
            variables=tuple(names),
        )
        if parsed.expr is None or any(d.severity == "error" for d in parsed.diagnostics):
            raise SacError(*self._elsewhere(text, parsed.diagnostics))
        from sacpy.embedding.evaluations import evaluation

        return evaluation(self._runner, parsed.expr, names, f"<expression {next(self._numbers)}>")

    def _advised(
        self, text: Source, found: Sequence[Diagnostic], names: Mapping[str, NamedValue] | None = None
    ) -> Sequence[Diagnostic]:
        """Diagnostics of an expression, or of definitions, with advice."""
        from sacpy.lang.advice import advised

        return self._read(
            lambda: advised(found, lambda texts: self._tried(Source(text.name, texts.get(text.name, text.text)), names))
        )

    def _typed(self, text: Source, variables: Sequence[str] = ()) -> ParsedInput:
        """A text as what is typed at a prompt is read, which may be anything."""
        workspace = self._workspace
        return parse_input(
            text,
            defines=workspace.defines,
            include_path=tuple(workspace.include_path),
            operators=operators_of(self._definitions),
            variables=tuple(variables),
        )

    def _tried(self, text: Source, names: Mapping[str, NamedValue] | None) -> Sequence[Diagnostic]:
        """The errors that an expression, or definitions, would have: nothing is evaluated and nothing added."""
        from sacpy.lang.elaborate.tentative import Around, problems, ranks_only

        around = Around(self._definitions, self._loader, {n: ranks_only(v.named) for n, v in (names or {}).items()})
        typed = self._typed(text, tuple(names or ()))
        errors = [d for d in typed.diagnostics if d.severity == "error"]
        if names is not None and len(typed.nodes) > 1:  # where one expression is wanted
            return errors or plain_error("E0205", "expected the end").diagnostics
        return errors or problems(typed.nodes, around)

    def _elsewhere(self, text: Source, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
        """What is wrong with a text; where it is right for another method than the one it was given to, with that
        method for a help."""
        typed = self._typed(text)
        wrong = [d for d in typed.diagnostics if d.severity == "error"]
        if wrong or not typed.nodes:  # statements are known there, so what is wrong with one is
            return wrong or found
        if all(isinstance(node, ast.Definition) for node in typed.nodes):
            help = "eval takes an expression; session.define takes definitions"
        elif isinstance(typed.nodes[0], ast.Assign):
            help = (
                "a session keeps values that Python gives it: session[name] = session.eval(expression); statements "
                "stand in functions"
            )
        elif len(typed.nodes) == 1 and isinstance(typed.nodes[0], ast.Expr | ast.CallStmt):
            help = "define takes definitions; session.eval takes an expression"
        else:
            help = "statements stand in functions: session.define a function, and call it"
        return [replace(found[0], help=help, edit=None), *found[1:]]

    # ------------------------------------------------------------ named values

    def __setitem__(self, name: str, value: Any) -> None:
        """Keeps a value under a name that expressions may use. An array is copied."""
        expect(name, str, "a name")
        if not is_name(name):
            raise plain_error(
                "E0717", f"{name!r} cannot be the name of a value", "use a name that SaC takes for a variable"
            )
        with self._host.lock:
            self._names[name] = keep(self._runner.program, name, value, copy=True)

    def __getitem__(self, name: str) -> Any:
        """The value of that name; an array is read-only. Raises `KeyError`."""
        with self._host.lock:
            return self._names[name].present()

    def __delitem__(self, name: str) -> None:
        with self._host.lock:
            del self._names[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._names))

    def __len__(self) -> int:
        return len(self._names)

    # ------------------------------------------------------------ Python functions

    def function(self, function: Callable[..., Any]) -> Any:
        """A decorator: a typed Python function captured as SaC. Raises `SacError` for a head without types."""
        return import_module("sacpy.capture.function").Captured(function, self)  # a room above

    @overload
    def bind(self, name: str) -> Callable[[F], F]: ...

    @overload
    def bind(self, name: str, function: F) -> F: ...

    def bind(self, name: str, function: Callable[..., Any] | None = None) -> Any:
        """Lets a Python function stand for the external function of that name ("Mod::f"; "f" in a program). Without a
        function: a decorator. Programs loaded before see it too. Raises `SacError` (E0717) for what cannot be the name
        of a function."""
        expect(name, str, "a name")
        *modules, own = name.split("::")
        if not (all(map(is_name, modules)) and (is_name(own) or is_operator(own))):
            help = "it is the name in the external declaration: 'f', or 'Mod::f' in a module"
            raise plain_error("E0717", f"{name!r} cannot be the name of an external function", help)
        if function is None:
            return lambda f: self.bind(name, f)
        if not callable(function):
            raise TypeError(f"{function!r} is no function")
        with self._host.lock:
            self._host.bound[name] = function
            for runner in tuple(self._host.runners):
                runner.renew()
        return function


__all__ = ["Session"]
