"""What a prompt remembers, and what it does with an input; it knows nothing of terminals.

In: texts: definitions, statements and expressions in any order. Out: effects on the world (the values of expressions are shown on its standard output), and diagnostics. Definitions are kept as a module that grows, names as values; each statement or expression
becomes a function of core whose parameters are the names it uses and whose results are the names it sets. An error leaves everything as it was before the statement that failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.values import Value, shape_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import Expression, Named, expression_function, extended, library_in_scope
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.infer import infer
from sacpy.lang.lattice import brackets
from sacpy.lang.modules import ModuleInfo, module_info
from sacpy.lang.parser import ParsedInput, parse_input
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.lang.types import Shape, known
from sacpy.repl.display import show, type_text
from sacpy.workspace import Workspace

LATER = ("E0307", "E0310")  # an unknown function or type: at a prompt it may be defined later
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.*)$", re.MULTILINE)
WORDS = {"quit": ":quit leaves the prompt", "exit": ":quit leaves the prompt", "help": ":help lists the commands"}
Problem = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Variable:
    """A named value: its base type, and one run-time value per component."""

    type: BaseType
    values: tuple[Value, ...]

    @property
    def type_text(self) -> str:
        """The type with the shape."""
        return type_text(self.type, self.values)

    @property
    def text(self) -> str:
        """Type and elements."""
        return show(self.type, self.values)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an input: everything there is to say about it, and the status to end with where the program asked for that."""

    diagnostics: tuple[Diagnostic, ...] = ()
    status: int | None = None

    @property
    def failed(self) -> bool:
        """Whether something was wrong."""
        return any(d.severity == "error" for d in self.diagnostics)


def _with_command(found: Diagnostic, text: str) -> Diagnostic:
    """A diagnostic about a word that is a command of other prompts, with the command here."""
    help = WORDS.get(text.strip().rstrip("; ").removesuffix("()"))
    return found if help is None or found.code not in ("E0305", "E0307") else replace(found, help=help, edit=None)


class Engine:
    """The state of a prompt. `variables` are the named values, `definitions` the module of everything that was defined. `present` gets each value that is to be shown (a notebook shows pictures and tables); by default it is written to the world's standard output."""

    def __init__(self, workspace: Workspace, world: World, present: Callable[[Variable], None] | None = None) -> None:
        self.workspace = workspace
        self.world = world
        self.present = self._write if present is None else present
        self.loader = workspace.loader(Path())
        self._watchdog = Watchdog()
        self._inputs = 0  # texts so far
        self._entries = 0  # statements and expressions so far
        self.clear()

    def clear(self) -> None:
        """Forgets all names and definitions."""
        self.variables: dict[str, Variable] = {}
        self._defines = dict(self.workspace.defines)
        self._known_problems: set[Problem] = set()
        self._use(library_in_scope(), {})

    def incomplete(self, text: str) -> bool:
        """Whether nothing is wrong with the text but that it ends too early."""
        return self._parse(Source("<input>", text)).incomplete

    def well_formed(self, text: str) -> bool:
        """Whether the parser takes the text; what its names mean is another matter."""
        return not any(d.severity == "error" for d in self._parse(Source("<input>", text)).diagnostics)

    def enter(self, text: str, name: str = "") -> Outcome:
        """Obeys an input. What stands before a mistake is done. `name`: how messages call the text; by default inputs are numbered."""
        self._inputs += 1
        source = Source(name or f"<input {self._inputs}>", text)
        parsed = self._parse(source)
        if any(d.severity == "error" for d in parsed.diagnostics):
            return Outcome(parsed.diagnostics)
        self._defines |= dict(MACRO.findall(text))
        said = list(parsed.diagnostics)
        try:
            for group in _groups(parsed.nodes):
                if isinstance(group, tuple):
                    said += self._define(group)
                else:
                    self._do(group)
        except SacError as error:
            said += [_with_command(d, text) for d in error.diagnostics]
        except KeyboardInterrupt:  # before or after the program itself ran, which deals with it by itself
            said.append(Diagnostic("E0702", "the run was interrupted", NOWHERE))
        except Exit as stop:
            return Outcome(tuple(said), stop.status & 0xFF)
        finally:
            self.world.flush()
        return Outcome(tuple(said))

    def type_of(self, text: str) -> str:
        """The types of an expression's values, as far as they are known without evaluating it. Raises `SacError`."""
        source = Source("<input>", text)
        parsed = self._parse(source)
        if any(d.severity == "error" for d in parsed.diagnostics):
            raise SacError(*parsed.diagnostics)
        if len(parsed.nodes) != 1 or not isinstance(parsed.nodes[0], ast.Expr | ast.CallStmt):
            raise SacError(Diagnostic("E0730", ":type wants one expression", Span(source, 0, len(text)), help="write it behind the word, as in :type iota(3) + 1"))
        node = parsed.nodes[0]
        entered = self._entered(node.call if isinstance(node, ast.CallStmt) else node)
        results = infer(self.program.function(entered.key), [_shape(v) for n in entered.parameters for v in self.variables[n].values], self.program).results
        texts: list[str] = []
        for type in entered.results:
            first, results = results[0], results[len(type.components) :]
            texts.append(type.shown + brackets(_outer(type, first)))
        return ", ".join(texts) or "void"

    # ------------------------------------------------------------ inside

    def _parse(self, source: Source) -> ParsedInput:
        operators = {name for name in self.definitions.functions if not (name[0].isalnum() or name[0] == "_")}
        return parse_input(source, defines=self._defines, include_path=tuple(self.workspace.include_path), operators=operators, variables=tuple(self.variables))

    def _use(self, definitions: ModuleInfo, objects: Mapping[str, Value]) -> None:
        """Makes these the definitions, with a program and an evaluator of their own; global objects keep their values."""
        self.definitions: ModuleInfo = definitions
        self.program: ElaboratedProgram = elaborate(replace(definitions), self.loader)
        self.evaluator: Evaluator = Evaluator(self.program, self.world, depth_limit=self.workspace.limits.depth)
        self.evaluator.globals.update(objects)

    def _define(self, definitions: Sequence[ast.Definition]) -> list[Diagnostic]:
        """Takes definitions up. Raises `SacError`, and leaves everything as it was, if they are wrong; what they lack may be defined later."""
        added = module_info(ast.Module("program", "", None, None, tuple(definitions), (), (), NOWHERE))
        old = self.definitions, self.program, self.evaluator
        source = definitions[0].span.source
        self._use(extended(self.definitions, added), self.evaluator.globals)
        try:
            found = self.program.check()
        except BaseException:  # Ctrl-C
            self.definitions, self.program, self.evaluator = old
            raise
        new = [d for d in found if d.span.source is source or _identity(d) not in self._known_problems]
        if any(d.severity == "error" and d.span.source is source and d.code not in LATER for d in new):
            self.definitions, self.program, self.evaluator = old
            raise SacError(*(d for d in new if d.span.source is source))
        for name in added.objects:
            self.evaluator.globals.pop(f"{self.program.main.info.name}::{name}", None)
        self._known_problems = {_identity(d) for d in found}
        return [*(_postponed(d) if d.severity == "error" else d for d in new), *self._drop_outdated(definitions[-1].span)]

    def _drop_outdated(self, span: Span) -> list[Diagnostic]:
        """Forgets named values of types that are defined otherwise by now."""
        said: list[Diagnostic] = []
        for name, variable in list(self.variables.items()):
            module, _, own = variable.type.key.rpartition("::")
            if module != self.program.main.info.name:
                continue
            now = self.program.main.own_type(own)
            if now is None or (now.components, now.fields) != (variable.type.components, variable.type.fields):
                del self.variables[name]
                said.append(Diagnostic("W0731", f"{name} is forgotten: {variable.type.shown} is another type now", span, "because of this", help="make it anew"))
        return said

    def _entered(self, node: ast.Expr | ast.Stmt) -> Expression:
        named = {n: Named(v.type, tuple(len(shape_of(value)) for value in v.values)) for n, v in self.variables.items()}
        self._entries += 1
        return expression_function(self.program, node, named, f"entry {self._entries}")

    def _do(self, node: ast.Expr | ast.Stmt) -> None:
        """Runs a statement, or shows an expression's values."""
        entered = self._entered(node)
        arguments = [value for name in entered.parameters for value in self.variables[name].values]
        certain = [d for d in infer(self.program.function(entered.key), [_shape(a) for a in arguments], self.program).diagnostics if d.severity == "error"]
        if certain:
            raise SacError(*certain)
        values = self._watchdog.guard(self.workspace.limits, lambda: self.evaluator.call(entered.key, arguments))
        del self.program.initials[entered.key]
        at = 0
        given: list[Variable] = []
        for type in (*entered.results, *entered.changed_types):
            given.append(Variable(type, values[at : at + len(type.components)]))
            at += len(type.components)
        for shown in given[: len(entered.results)]:
            self.present(shown)
        self.variables |= dict(zip(entered.changed, given[len(entered.results) :], strict=True))

    def _write(self, shown: Variable) -> None:
        self.world.stdout.write((shown.text + "\n").encode("utf-8", "surrogateescape"))


def _groups(nodes: Sequence[ast.Definition | ast.Stmt | ast.Expr]) -> list[tuple[ast.Definition, ...] | ast.Stmt | ast.Expr]:
    """Definitions that stand side by side belong together: they may need each other."""
    groups: list[tuple[ast.Definition, ...] | ast.Stmt | ast.Expr] = []
    for node in nodes:
        if not isinstance(node, ast.Definition):
            groups.append(node)
        elif groups and isinstance(groups[-1], tuple):
            groups[-1] = (*groups[-1], node)
        else:
            groups.append((node,))
    return groups


def _identity(diagnostic: Diagnostic) -> Problem:
    return diagnostic.code, diagnostic.span.source.name, diagnostic.span.start


def _postponed(error: Diagnostic) -> Diagnostic:
    """An error in a definition that is kept all the same: using the definition gives the error, unless it is mended by then."""
    return replace(error, code="W0732", notes=(*error.notes, "the definition is kept; using it fails until this is mended"), edit=None)


def _shape(value: Value) -> Shape:
    return known(shape_of(value))


def _outer(type: BaseType, shape: Shape) -> Shape:
    """The shape without the axes that belong to one element."""
    inner = 0 if type.any_cell else len(type.components[0].cell)
    if shape.rank is None or shape.extents is None:
        return Shape(min_rank=max(shape.min_rank - inner, 0))
    return known(shape.extents[: shape.rank - inner])
