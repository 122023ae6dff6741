"""SaC in notebooks of Python: `%load_ext sacpy`, then cells that begin with `%%sac`, and `%sac` in front of a line.

In: SaC text, and the Python names of the notebook. Out: values on the page, names for Python, and for a mistake the
message with its carets in the place of Python's traceback. Python's names are the truth: a cell sees what they are when
it begins, and what it sets is a Python name when it ends. Between cells SaC keeps the definitions, and the types of
what it set, so that a `float` that Python has only looked at is a `float` again.

Functions that cells define are Python names, too, which call what is defined by then.

Arrays go to SaC without a copy, which SaC never writes to; what comes out is a copy of its own, to be changed at will.
"""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from IPython.core.magic import no_var_expand

from sacpy.commands.options import prompt_workspace, with_options
from sacpy.embedding.arguments import Misfit, converter
from sacpy.embedding.evaluations import Evaluation
from sacpy.embedding.functions import Function
from sacpy.embedding.named import NamedValue, keep
from sacpy.embedding.records import components
from sacpy.embedding.results import presenter
from sacpy.embedding.runner import plain_error
from sacpy.lang.ast import QName
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.usertypes import BaseType
from sacpy.lang.modules import ModuleInfo
from sacpy.lang.source import NOWHERE
from sacpy.lang.vocabulary import RESERVED
from sacpy.nodes import replace
from sacpy.notebook.calls import Lines, PageRunner
from sacpy.notebook.cells import Cells, remarks, report
from sacpy.notebook.display import PLAIN, PNG, Bundle, encoded
from sacpy.notebook.matcher import matcher
from sacpy.notebook.streams import Page, open_world
from sacpy.repl.completion import Completions, complete
from sacpy.repl.diagnostics import as_said_here
from sacpy.repl.engine import ANSWER, Engine, Outcome, Variable
from sacpy.repl.parts import is_command

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
UNKNOWN = ("E0305", "E0307")


class SacCellError(Exception):
    """A mistake in a SaC cell: a notebook shows the messages, and stops running the cells behind it. `diagnostics` has
    them as data."""

    def __init__(self, diagnostics: Sequence[Diagnostic], text: str) -> None:
        super().__init__(next((d.message for d in diagnostics if d.severity == "error"), text))
        self.diagnostics = tuple(diagnostics)
        self._text = text

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in the place of a traceback."""
        return self._text.split("\n")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What SaC set: the Python object it became, and its SaC type."""

    object: Any
    type: BaseType


class Magic:
    """The two magics of one notebook, and what their cells have defined."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._shared: dict[str, _Shared] = {}
        self._count = 0
        world = open_world(_ask, Page(_clear))
        world.screen = self._screen
        self._handles: dict[str, Any] = {}
        self._cells = Cells(Engine(prompt_workspace(), world), _display, _display)
        self._runner = PageRunner(self.engine)
        self._lines = Lines(self.engine, self._runner)
        self._functions: dict[str, Function] = {}

    @property
    def engine(self) -> Engine:
        """What the cells have defined so far."""
        return self._cells.engine

    @no_var_expand  # IPython would put Python's values in the place of SaC's braces
    def cell(self, line: str, cell: str) -> None:
        """`%%sac [OPTIONS]`: statements, definitions, expressions and commands. The values of expressions are shown.
        Options are those of the prompt (`%%sac --help`); they hold from this cell on. Raises `SacCellError`."""
        if line.lstrip().startswith("-"):
            self._set(line)
            line = ""
        self._run(f"{line}\n{cell}" if line.strip() else cell)

    @no_var_expand
    def line(self, line: str) -> Any:
        """`%sac EXPR` gives the value of an expression, for Python: `total = %sac sum(a)`. Of a statement, definition
        or command None."""
        if is_command(line):
            return self._run(line)
        if not line.rstrip().endswith(";"):
            names = self._named(line)
            ready = self._lines.ready(line, names) or self._prepared(line, names)
            if ready is not None:
                return self._evaluated(ready, line, names)
        caught: list[Variable] = []
        before, self.engine.present = self.engine.present, caught.append
        try:
            self._run(line)
        finally:
            self.engine.present = before
        values = [_python(v) for v in caught]
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    def _prepared(self, line: str, names: dict[str, NamedValue]) -> Evaluation | None:
        """An expression that has not been read yet, or cannot be."""
        self._take(line)
        return self._lines.prepared(line, names)

    def _evaluated(self, ready: Evaluation, line: str, names: dict[str, NamedValue]) -> Any:
        """The value of an expression. Raises `SacCellError`."""
        try:
            return ready.finish(ready.run(self._runner, names))
        except SacError as error:
            found = [as_said_here(d, line) for d in error.diagnostics]
        except KeyboardInterrupt:
            found = [Diagnostic("E0702", "the run was interrupted", NOWHERE)]
        raise SacCellError(found, report(Outcome(tuple(found)), color=True)) from None

    def _set(self, line: str) -> None:
        """Makes options hold. Raises `SacCellError`."""
        try:
            workspace = with_options(self.engine.workspace, shlex.split(line))
        except ValueError as error:
            raise SacCellError((), f"%%sac: {error}") from None
        self.engine.settle(workspace)

    def _run(self, text: str) -> None:
        """Obeys a text with Python's names, and hands back what it set; also where it stops in the middle."""
        self._count += 1
        refused = self._take(text)
        before, defined = dict(self.engine.variables), self.engine.definitions
        outcome = self._cells.run(text, f"<sac {self._count}>")
        self._give(before)
        self._give_functions(defined)
        if remarks(outcome, color=True):
            _say(remarks(outcome, color=True))
        if outcome.failed:
            found = [_explained(d, refused) for d in outcome.diagnostics]
            raise SacCellError(found, report(type(outcome)(tuple(found)), color=True)) from None
        if outcome.status:
            raise SacCellError((), f"the program ended itself with status {outcome.status}")

    def _screen(self, number: int, picture: bytes) -> None:
        """A picture of a program's display; each takes the place of the one before in the same cell."""
        from IPython.display import DisplayHandle

        _flush()
        name = f"sac {self._count} display {number}"
        data = {PNG: encoded(picture), PLAIN: f"<display {number}>"}
        if name in self._handles:
            self._handles[name].update(data, raw=True)
        else:
            self._handles[name] = cast(Any, DisplayHandle)(name)
            self._handles[name].display(data, raw=True)

    def complete(self, text: str, cursor: int) -> Completions:
        """What could stand at the cursor of a SaC text; Python's names count."""
        self._take(text)
        return complete(self.engine, text, cursor)

    # ------------------------------------------------------------ names

    def _take(self, text: str) -> dict[str, str]:
        """Makes SaC's names what Python's are, as far as the text mentions them. Gives the names whose values SaC
        cannot take, and why."""
        refused: dict[str, str] = {}
        taken: dict[str, Variable] = {}
        hidden = self._shell.user_ns_hidden
        self._shared = {n: s for n, s in self._shared.items() if self._shell.user_ns.get(n, _ABSENT) is s.object}
        for name in dict.fromkeys((*NAME.findall(text), *self._shared)):
            value = self._shell.user_ns.get(name, _ABSENT)
            if value is _ABSENT or name in RESERVED or _is_python_s(name, value, hidden):
                continue
            try:
                taken[name] = self._variable(name, value)
            except SacError as error:
                refused[name] = error.diagnostics[0].message
        self.engine.variables = {**{n: v for n, v in self.engine.variables.items() if n == ANSWER}, **taken}
        return refused

    def _named(self, text: str) -> dict[str, NamedValue]:
        """The values of Python's names in a text, those left out that SaC cannot take."""
        found: dict[str, NamedValue] = {}
        hidden = self._shell.user_ns_hidden
        for name in _mentioned(text):
            value = self._shell.user_ns.get(name, _ABSENT)
            if value is not _ABSENT and not _is_python_s(name, value, hidden):
                with suppress(SacError):
                    found[name] = self._value(name, value)
        return found

    def _variable(self, name: str, value: Any) -> Variable:
        """A Python value in SaC, whose arrays Python holds too, so that SaC writes to none of them."""
        found = self._value(name, value)
        return Variable(found.type, found.parts, (False,) * len(found.parts))

    def _value(self, name: str, value: Any) -> NamedValue:
        """A Python value in SaC: of the type it had when SaC set it, if it is still that object. Raises `SacError`."""
        shared = self._shared.get(name)
        if shared is not None and shared.object is value and _is_current(self.engine, shared.type):
            return _of_type(shared.type, value)
        return keep(self.engine.program, name, value, copy=False)

    def _give(self, before: dict[str, Variable]) -> None:
        """Makes Python's names what SaC has set."""
        for name, variable in self.engine.variables.items():
            if variable is before.get(name) or name == ANSWER:
                continue
            self._shell.user_ns[name] = value = _python(variable)
            self._shared[name] = _Shared(value, variable.type)

    def _give_functions(self, before: ModuleInfo) -> None:
        """Makes the functions that have been defined Python names, those left out that are words of Python's own."""
        after = self.engine.definitions
        for name in after.functions if after is not before else ():
            taken = keyword.iskeyword(name) or hasattr(builtins, name) or name in self._shell.user_ns_hidden
            if after.functions[name] != before.functions.get(name) and name.isidentifier() and not taken:
                function = self._functions.setdefault(name, Function(self._runner, QName(None, name, NOWHERE)))
                self._shell.user_ns[name] = function


_ABSENT = object()


def _python(variable: Variable) -> Any:
    """The value for Python, its arrays its own."""
    return presenter(variable.type)(tuple(v.copy() if isinstance(v, np.ndarray) else v for v in variable.values))


def _of_type(type: BaseType, value: Any) -> NamedValue:
    """A Python value as a value of a SaC type. Raises `SacError` where it has become something else."""
    try:
        return NamedValue(type, components(type)(value) if type.has_parts else (converter(type)(value),))
    except Misfit as misfit:
        raise plain_error(misfit.code, misfit.reason, misfit.help) from None


@lru_cache(maxsize=256)
def _mentioned(text: str) -> tuple[str, ...]:
    """The names in a text that could be those of values."""
    return tuple(name for name in dict.fromkeys(NAME.findall(text)) if name not in RESERVED)


def _is_python_s(name: str, value: Any, hidden: Mapping[str, Any]) -> bool:
    """Whether a name is one of Python's or IPython's own words, or stands for a function of SaC."""
    own = name in hidden and hidden[name] is value
    return own or value is getattr(builtins, name, _ABSENT) or isinstance(value, Function)


def _is_current(engine: Engine, type: BaseType) -> bool:
    """Whether a type of the notebook's own is still defined as it was."""
    module, _, name = type.key.rpartition("::")
    if module != engine.program.main.info.name:
        return True
    now = engine.program.main.own_type(name)
    return now is not None and (now.components, now.fields) == (type.components, type.fields)


def _explained(found: Diagnostic, refused: dict[str, str]) -> Diagnostic:
    """A message about an unknown name that Python knows, with what is in the way."""
    name = found.span.text if found.code in UNKNOWN else ""
    return (
        found
        if name not in refused
        else replace(found, notes=(*found.notes, f"in Python {refused[name]}"), help="", edit=None)
    )


# ---------------------------------------------------------------- the page


def _display(data: Bundle) -> None:
    from IPython.display import display

    _flush()
    cast(Any, display)(dict(data), raw=True)


def _clear() -> None:
    from IPython.display import clear_output

    cast(Any, clear_output)(wait=True)


def _ask() -> str | None:
    try:
        return input()
    except (EOFError, NotImplementedError):
        return None


def _say(text: str) -> None:
    sys.stderr.write(text)


def _flush() -> None:
    sys.stdout.flush()


# ---------------------------------------------------------------- loading


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Makes `%sac` and `%%sac` known; `%load_ext sacpy` calls it."""
    magic = Magic(ipython)
    cast(Any, ipython).register_magic_function(magic.cell, "cell", "sac")
    cast(Any, ipython).register_magic_function(magic.line, "line", "sac")
    matchers = getattr(ipython.Completer, "custom_matchers", [])
    matchers[:] = [*_others(matchers), matcher(magic.complete)]


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Takes the magics away again."""
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("sac", None)
    matchers = getattr(ipython.Completer, "custom_matchers", [])
    matchers[:] = _others(matchers)


def _others(matchers: list[Any]) -> list[Any]:
    """The matchers that are not this extension's."""
    return [m for m in matchers if getattr(m, "matcher_identifier", "") != "sac"]
