"""What a prompt remembers, and what it does with an input; it knows nothing of terminals.

In: texts: definitions, statements and expressions in any order. Out: effects on the world (the values of expressions
are shown on its standard output), and diagnostics. Definitions are kept as a module that grows, names as values; each
statement or expression becomes a function of core whose parameters are the names it uses and whose results are the
names it sets. An error leaves everything as it was before the statement that failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.runtime.calls import known_shape
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import Expression, Named, expression_function, library_in_scope
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.infer import infer
from sacpy.lang.lattice import brackets
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.modules import ModuleInfo, used_operators
from sacpy.lang.parser import ParsedInput, parse_input
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.lang.types import Shape, known
from sacpy.nodes import replace
from sacpy.repl.definitions import define, evaluate_with, forget_macros, restore, state_of, use
from sacpy.repl.diagnostics import as_said_here
from sacpy.repl.display import PAGE
from sacpy.repl.holding import handed_over
from sacpy.repl.inputs import PREFIX
from sacpy.repl.outcomes import Failure, Outcome, Paused, Step, Timing, Variable, gist, made_of
from sacpy.repl.page import Page
from sacpy.repl.redefinitions import Problem, groups, replaced, without_files
from sacpy.repl.settings import Settings
from sacpy.repl.written import closing, is_closed, printed
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from sacpy.jit.run.engine import Engine as Compiler
    from sacpy.repl.debugging import Debugging

AGAIN = "W0123"  # a macro that is defined again: at a prompt that is no mistake
MODULE_ALONE = re.compile(r"\s*(?:use|import)\s+\w+\s*")  # the rest is on no second line: it has been forgotten
ANSWER = "ans"


class Engine:
    """The state of a prompt. `variables` are the named values (`ans` the last value shown), `definitions` the module of
    everything that was defined, `macros` those of the preprocessor, `steps` what has been done, `loaded` the files that
    were read, each with those that it includes. `present` gets each value that is to be shown (a notebook shows
    pictures and tables); by default it is written to the world's standard output."""

    definitions: ModuleInfo
    program: ElaboratedProgram
    evaluator: Evaluator

    def __init__(self, workspace: Workspace, world: World, present: Callable[[Variable], None] | None = None) -> None:
        self.workspace = workspace
        self.world = world
        self.present = self._write if present is None else present
        self.settings = Settings()
        self.settings.values |= {"strategy": workspace.strategy, "strict-fp": "on" if workspace.strict_fp else "off"}
        self.debugging: Debugging | None = None  # once somebody asks for it
        self.failed: Failure | None = None  # what the last input ended with
        self.protocol: str | None = None  # how the terminal shows pictures, once that is known
        self.saved: set[Path] = set()  # files that were written from here
        self.loader = workspace.loader(Path())
        self._watchdog = Watchdog()
        self._inputs = 0  # texts so far
        self._named = 0  # of them those that got a number for a name
        self._entries = 0  # statements and expressions since the last input began
        self.clear()

    def clear(self) -> None:
        """Forgets all names and definitions."""
        self.variables: dict[str, Variable] = {}
        self.steps: list[Step] = []
        self.loaded: dict[Path, tuple[Path, ...]] = {}
        self.last_input = ""
        self.macros: Mapping[str, Macro | None] = tokenize(
            Source("<command line>", ""), defines=self.workspace.defines
        ).macros
        self._known_problems: set[Problem] = set()
        use(self, library_in_scope(), {})

    @property
    def page(self) -> Page:
        """How much room there is for values."""
        return self.settings.page(PAGE, terminal=self.world.stdout.by_line)

    def incomplete(self, text: str) -> bool:
        """Whether nothing is wrong with the text but that it ends too early."""
        return MODULE_ALONE.fullmatch(text) is None and self._parse(Source("<input>", text)).incomplete

    def well_formed(self, text: str) -> bool:
        """Whether the parser takes the text; what its names mean is another matter."""
        return not any(d.severity == "error" for d in self._parse(Source("<input>", text)).diagnostics)

    def tree_of(self, text: str, like: ast.Definition | ast.Stmt | ast.Expr) -> str:
        """What the parser makes of a text now, printed; "" if that is no definition, statement or expression as `like`
        is."""
        text = text if isinstance(like, ast.Expr) or is_closed(like) else f"{text};"
        nodes = self._parse(Source("<input>", text)).nodes
        if len(nodes) != 1:
            return ""
        node = nodes[0].call if isinstance(like, ast.Expr) and isinstance(nodes[0], ast.CallStmt) else nodes[0]
        return printed(node)

    def enter(self, text: str, name: str = "") -> Outcome:
        """Obeys an input. What stands before a mistake is done. `name`: how messages call the text; by default inputs
        are numbered."""
        self._inputs, self._entries = self._inputs + 1, 0
        outcome = self._obey(Source(name or self.next_name(), text))
        self.last_input = text if text.strip() else self.last_input
        return outcome

    def next_name(self) -> str:
        """How messages call the next text."""
        self._named += 1
        return f"<input {self._named}>"

    def load(self, path: Path) -> Outcome:
        """Obeys what stands in a file; a module is used. Files and modules beside it are found from here on."""
        from sacpy.repl.files import read_source

        try:
            source = read_source(path)
        except SacError as error:
            return Outcome(error.diagnostics)
        folder = path.resolve().parent
        if folder not in [Path(f).resolve() for f in self.loader.search]:
            self.loader.search = (*self.loader.search, folder)
        forget_macros(self, (path, *self.loaded.get(path, ())))
        self.loaded[path] = ()
        return self._obey(source, path)

    def reload(self) -> Outcome:
        """Reads the loaded files again, and the modules that are in use. If something is wrong in them, everything
        stays as it was."""
        before = state_of(self)
        # their arrays may be wanted again
        self.variables = {n: replace(v, alone=()) for n, v in self.variables.items()}
        for name in [
            n for n, info in self.loader.modules.items() if not info.library and info is not self.program.main.info
        ]:
            del self.loader.modules[name]
        said: list[Diagnostic] = []
        try:
            files = {*self.loaded, *(f for included in self.loaded.values() for f in included)}
            forget_macros(self, files)
            use(self, without_files(self.definitions, files), self.evaluator.globals)
            for path in list(self.loaded):
                said += self.load(path).diagnostics
            if not self.loaded:
                said += define(self, ())
        except SacError as error:
            said += error.diagnostics
        except BaseException:  # Ctrl-C
            restore(self, before)
            raise
        if any(d.severity == "error" for d in said):
            restore(self, before)
        return Outcome(tuple(said))

    def type_of(self, text: str) -> str:
        """The types of an expression's values, as far as they are known without evaluating it. Raises `SacError`."""
        entered = self._entered(self.expression(text, ":type"))
        shapes = [_shape(v) for n in entered.parameters for v in self.variables[n].values]
        inference = infer(self.program.function(entered.key), shapes, self.program)
        if errors := [d for d in inference.diagnostics if d.severity == "error"]:
            raise SacError(*errors)
        results = inference.results
        texts: list[str] = []
        for type in entered.results:
            first, results = results[0], results[len(type.components) :]
            texts.append(type.shown + brackets(_outer(type, first)))
        return ", ".join(texts) or "void"

    def expression(self, text: str, command: str) -> ast.Expr:
        """The tree of a command's expression. Raises `SacError`."""
        source = Source("<input>", text)
        parsed = self._parse(source)
        if any(d.severity == "error" for d in parsed.diagnostics):
            raise SacError(*parsed.diagnostics)
        node = parsed.nodes[0] if len(parsed.nodes) == 1 else None
        if isinstance(node, ast.CallStmt):
            return node.call
        if not isinstance(node, ast.Expr):
            raise SacError(
                Diagnostic(
                    "E0730",
                    f"{command} wants one expression",
                    Span(source, 0, len(text)),
                    help=f"write it behind the word, as in {command} iota(3) + 1",
                )
            )
        return node

    def values_of(self, text: str, command: str) -> tuple[Variable, ...]:
        """The values of a command's expression. Raises `SacError`."""
        results, changed = self._run(self.expression(text, command))
        self.variables.update(changed)
        return results

    def function_of(self, text: str, command: str) -> tuple[Expression, list[Shape]]:
        """A command's expression as a function of core, and the shapes of its arguments, with small values. Raises
        `SacError`."""
        entered = self._entered(self.expression(text, command))
        return entered, [known_shape(v) for v in self._arguments(entered)]

    def measure(self, text: str, command: str, rounds: int) -> tuple[tuple[Variable, ...], Timing]:
        """The values of an expression, and the seconds that it took; of the runs all. Raises `SacError`."""
        start = perf_counter()
        node = self.expression(text, command)
        parse = perf_counter() - start
        start = perf_counter()
        entered = self._entered(node)
        arguments = self._arguments(entered)
        self._refuse_certain(entered, arguments)
        check = perf_counter() - start
        before = self._compiling()
        self.evaluator.compiled(entered.key)
        runs: list[float] = []
        results: tuple[Variable, ...] = ()
        for _ in range(rounds):
            start, generated = perf_counter(), self._compiling()
            results, changed = self._call(entered, arguments, [False] * len(arguments))
            runs.append(perf_counter() - start - (self._compiling() - generated))
            self.variables.update(changed)
        del self.program.initials[entered.key]
        return results, Timing(parse, check, self._compiling() - before, tuple(runs))

    @property
    def compiler(self) -> Compiler | None:
        """The compiler, if there has been work for it."""
        engine = self.workspace.engine
        return None if engine is None else engine.started

    def renew(self) -> None:
        """Forgets what has been prepared; names, definitions and global objects stay."""
        use(self, self.definitions, self.evaluator.globals)

    def run_on(self, **settings: Any) -> None:
        """Changes how functions run: `target`, `threads`, `strict_fp` of the workspace. All names and definitions
        stay."""
        self.settle(replace(self.workspace, **settings, _engine=None))

    def settle(self, workspace: Workspace) -> None:
        """Makes other settings hold. All names and definitions stay; macros and folders are added to those there
        are."""
        if workspace is self.workspace:
            return
        if workspace.defines != self.workspace.defines:
            self.macros = {**self.macros, **tokenize(Source("<command line>", ""), defines=workspace.defines).macros}
        more = [folder for folder in workspace.search if folder not in self.workspace.search]
        self.workspace = workspace
        self.loader.search = (*self.loader.search, *more)
        self.loader.include_path, self.loader.defines = workspace.include_path, workspace.defines
        self.renew()

    @contextmanager
    def another_compiler(self) -> Iterator[None]:
        """Inside, expressions are evaluated with a compiler that has not seen anything yet."""
        before = self.workspace, self.evaluator
        self.workspace = replace(self.workspace, _engine=None)
        evaluate_with(self, before[1].globals)
        try:
            yield
        finally:
            before[1].globals.update(self.evaluator.globals)
            self.workspace, self.evaluator = before

    def defined(self, name: str) -> list[ast.FunDef | ast.TypeDef | ast.StructDef | ast.ObjDef]:
        """The definitions of a name that were made here, in order of their kinds."""
        info = self.definitions
        others = info.typedefs.get(name), info.structs.get(name), info.objects.get(name)
        return [*info.definitions(name), *(d for d in others if d is not None)]

    # ------------------------------------------------------------ inside

    def _obey(self, source: Source, file: Path | None = None) -> Outcome:
        """Obeys a text; that of a file, if it is one."""
        parsed = self._parse(source)
        if file is not None:
            self.loaded[file] = parsed.included
        if any(d.severity == "error" for d in parsed.diagnostics):
            return Outcome(tuple(self.advised(source, parsed.diagnostics)))
        self.macros = parsed.macros
        closed = closing(source) if file is None and "/" in source.text else ()
        said = [d for d in parsed.diagnostics if d.code != AGAIN]
        remarks = [
            f"{d.message.split('`')[1]} replaces the macro of {d.labels[0].span.source.name.strip('<>')}"
            for d in parsed.diagnostics
            if d.code == AGAIN
        ]
        status: int | None = None
        try:
            for group in groups(parsed.nodes):
                if isinstance(group, tuple):
                    lines = replaced(self.definitions, group)
                    said += define(self, group)
                    remarks += lines
                else:
                    self._do(group)
            if closed:
                self.steps.append(Step(None, comments=closed))
        except SacError as error:
            said += [as_said_here(d, source.text) for d in self.advised(source, error.diagnostics)]
        except KeyboardInterrupt:  # before or after the program itself ran, which deals with it by itself
            said.append(Diagnostic("E0702", "the run was interrupted", NOWHERE))
        except Exit as stop:
            status = stop.status & 0xFF
        except Paused as paused:
            remarks += paused.lines
        finally:
            self.world.flush()
        return Outcome(tuple(said), status, tuple(remarks))

    def advised(self, source: Source, found: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Diagnostics of a text with advice."""
        from sacpy.lang.advice import advised
        from sacpy.lang.elaborate.tentative import Around, problems

        def tried(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
            parsed = self._parse(Source(source.name, texts.get(source.name, source.text)))
            errors = [d for d in parsed.diagnostics if d.severity == "error"]
            return errors or problems(parsed.nodes, Around(self.definitions, self.loader, named))

        named = {
            n: (Named(v.type, tuple(len(shape_of(value)) for value in v.values)), tuple(map(known_shape, v.values)))
            for n, v in self.variables.items()
        }
        return advised(found, tried)

    def _parse(self, source: Source) -> ParsedInput:
        scopes = [self.definitions, *(s.info for s in self.program.world.scopes.values() if not s.info.library)]
        operators = {
            name for info in scopes for name in info.functions if not (name[0].isalnum() or name[0] == "_")
        } | used_operators(source, self.loader.search)
        return parse_input(
            source,
            include_path=tuple(self.workspace.include_path),
            operators=operators,
            variables=tuple(self.variables),
            macros=self.macros,
        )

    def _do(self, node: ast.Expr | ast.Stmt) -> None:
        """Runs a statement, or an expression, whose values are shown unless a `;` stands behind it."""
        expr = node.call if isinstance(node, ast.CallStmt) else node if isinstance(node, ast.Expr) else None
        try:
            results, changed = self._run(node if expr is None else expr)
        except SacError as error:
            self.failed = node, gist(error)
            raise
        self.done(node, results, changed)

    def done(self, node: ast.Expr | ast.Stmt, results: tuple[Variable, ...], changed: Mapping[str, Variable]) -> None:
        """A statement or expression has been obeyed: takes up what came of it, and shows the values of an
        expression."""
        expr = node.call if isinstance(node, ast.CallStmt) else node
        self.failed = None
        self.variables.update({**changed, **({ANSWER: results[-1]} if results else {})})
        self.steps.append(Step(expr, bool(results)))
        for shown in results if isinstance(node, ast.Expr) else ():
            self.present(shown)

    def _run(self, node: ast.Expr | ast.Stmt) -> tuple[tuple[Variable, ...], dict[str, Variable]]:
        """The values of an expression, and the names that an expression or statement sets."""
        if self.debugging is not None and self.debugging.breakpoints and not self.debugging.stands_still:
            return self.debugging.run(node)
        entered = self._entered(node)
        try:
            arguments = self._arguments(entered)
            self._refuse_certain(entered, arguments)
            given = handed_over(self.program.function(entered.key), entered, self.variables, self.evaluator.globals)
            return self._call(entered, arguments, given)
        finally:
            del self.program.initials[entered.key]

    def _compiling(self) -> float:
        """Seconds spent on making code, Python and native, so far."""
        return self.evaluator.generating + (0.0 if self.compiler is None else self.compiler.compiling)

    def _entered(self, node: ast.Expr | ast.Stmt) -> Expression:
        named = {n: Named(v.type, tuple(len(shape_of(value)) for value in v.values)) for n, v in self.variables.items()}
        self._entries += 1
        more = f"_{self._entries}" if self._entries > 1 else ""
        return expression_function(self.program, node, named, f"{PREFIX}{self._inputs}{more}")

    def _arguments(self, entered: Expression) -> list[Value]:
        return [value for name in entered.parameters for value in self.variables[name].values]

    def _refuse_certain(self, entered: Expression, arguments: Sequence[Value]) -> None:
        """Raises `SacError` if it is certain to fail with these arguments."""
        certain = [
            d
            for d in infer(self.program.function(entered.key), [_shape(a) for a in arguments], self.program).diagnostics
            if d.severity == "error"
        ]
        if certain:
            raise SacError(*certain)

    def _call(
        self, entered: Expression, arguments: Sequence[Value], given: Sequence[bool]
    ) -> tuple[tuple[Variable, ...], dict[str, Variable]]:
        values, alone = self.workspace.guard(
            self._watchdog, lambda: self.evaluator.call_giving(entered.key, arguments, given)
        )
        return made_of(entered, values, alone)

    def _write(self, shown: Variable) -> None:
        self.world.stdout.write((shown.shown(self.page) + "\n").encode("utf-8", "surrogateescape"))


def _shape(value: Value) -> Shape:
    return known(shape_of(value))


def _outer(type: BaseType, shape: Shape) -> Shape:
    """The shape without the axes that belong to one element."""
    inner = 0 if type.any_cell else len(type.components[0].cell)
    if shape.rank is None or shape.extents is None:
        return Shape(min_rank=max(shape.min_rank - inner, 0))
    return known(shape.extents[: shape.rank - inner])


__all__ = ["Engine", "Outcome", "Variable"]
