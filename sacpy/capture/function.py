"""Captured functions as they are called.

In: a typed Python function, and a session that runs it. Out: `Captured`, which takes and gives what the Python function
does. The head is read when the function is decorated; the body is captured at the first use, when all that it names is
there. Constants from outside are those of that moment.
"""

from __future__ import annotations

import ast as py
import functools
import inspect
import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sacpy.capture.places import ARGUMENTS, refusal
from sacpy.capture.signatures import head
from sacpy.capture.unit import Program
from sacpy.embedding.functions import Function, Module
from sacpy.embedding.runner import MISSED
from sacpy.lang.printer import print_module
from sacpy.nodes import replace
from sacpy.session import Session

if TYPE_CHECKING:
    from sacpy.capture.frame import Frame, Val
    from sacpy.capture.unit import Work

_LOCK = threading.Lock()
_SESSIONS: dict[str, Session] = {}


def default_session(target: str) -> Session:
    """The session of functions that name none, one for each target."""
    with _LOCK:
        if target not in _SESSIONS:
            _SESSIONS[target] = Session(target)
        return _SESSIONS[target]


class Captured:
    """A typed Python function as SaC. Call it as the Python function; `python` is that function."""

    def __init__(self, function: Callable[..., Any], session: Session | None = None, target: str = "auto") -> None:
        """Raises `SacError` where the head says no types; `TypeError` for what is no Python function."""
        if not inspect.isfunction(function):
            raise TypeError(f"{function!r} is no Python function: decorate a 'def'")
        self.python = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.head = head(function)
        self._session = session
        self._target = target
        self._run: Function | None = None
        self._program: Program | None = None
        self._interpreted: Captured | None = None
        self._name = ""
        self._plain = not any(
            p.default is not p.empty or p.kind is p.KEYWORD_ONLY
            for p in inspect.signature(function).parameters.values()
        )
        functools.update_wrapper(self, function)
        if session is not None or target == "auto":
            with self.session._host.lock:
                self.session._workspace.expect(function.__code__.co_filename)

    @property
    def session(self) -> Session:
        """The session that runs it."""
        if self._session is None:
            self._session = default_session(self._target)
        return self._session

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Calls it. `out`: an array, or a tuple of them, that is filled with what it gives; it may be an argument as
        well. Raises `SacError` for what cannot be captured, arguments that do not fit, and errors of the run."""
        run = self._run
        if not named and run is not None:
            found = run.gate(*args)
            if found is not MISSED:
                return found
        if named or not self._plain:
            if "out" in named and "out" not in self.head.parameters:
                return filled(self, named.pop("out"), self(*args, **named))
            args = self._in_order(args, named)
        return self._called(args)

    def _called(self, args: tuple[Any, ...]) -> Any:
        """A call with all arguments in their order."""
        return (self._run or self._ready(args))(*args)

    def on(self, session: Session) -> Captured:
        """The same function, run by another session."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._session = session
        made._forget()
        return made

    def _forget(self) -> None:
        """Drops what was made for a session."""
        self._run = self._program = self._interpreted = None

    def _ready(self, args: tuple[Any, ...] | None = None) -> Function:
        if self._run is None:
            self._run = self._loaded(self.session, args)
        return self._run

    def _loaded(self, session: Session, args: tuple[Any, ...] | None = None) -> Function:
        """It, run by a session. `args`: of its first call."""
        tree, workspace = self.program.tree(), session._workspace
        with session._host.lock:
            workspace.first_call = None if args is None else _first_call(self._name, args)
            try:
                module: Module = session.compile(tree, self.__name__)
            finally:
                workspace.first_call = None
        return module[self._name]

    @property
    def program(self) -> Program:
        """The SaC program. Raises `SacError` for what cannot be captured."""
        if self._program is None:
            library = self.session._module
            program = Program(lambda name: name in library)
            self._name = program.add(self).name
            self._program = program
        return self._program

    def check(self) -> None:
        """Captures and checks it without running it. Raises `SacError` with what is wrong."""
        self._ready()

    def _in_order(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        bound = inspect.signature(self.python).bind(*args, **named)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    @property
    def sac_name(self) -> str:
        """Its name in the SaC program. Raises `SacError` for what cannot be captured."""
        return self._name if self.program else ""

    @property
    def sac(self) -> str:
        """The SaC program that it becomes, without what is brought along."""
        program = self.program
        tree = program.tree()
        own = {m.name for m in program.made.values()}
        from sacpy.lang import ast

        kept = tuple(d for d in tree.definitions if not isinstance(d, ast.FunDef) or d.name in own)
        return print_module(replace(tree, definitions=kept))

    def explain(self) -> str:
        """What was compiled of it so far, and why not where it was not."""
        return self.session.explain(self._name or self.__name__)

    def interpreted(self, *args: Any, **named: Any) -> Any:
        """The same call, interpreted: nothing is compiled. Raises `SacError`."""
        if self._interpreted is None:
            self._interpreted = self.on(default_session("interp"))
        return self._interpreted(*args, **named)

    def called(self, work: Work, frame: Frame, node: py.Call) -> Val:
        """Its call within another captured function."""
        return work.plain_call(frame, node, self)

    def __repr__(self) -> str:
        return f"<captured function {self.__qualname__}{inspect.signature(self.python)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """A captured function is pickled by name, as Python functions are."""
        return _found, (self.__module__, self.__qualname__)


def _first_call(name: str, args: tuple[Any, ...]) -> tuple[str, tuple[tuple[int, ...], ...]] | None:
    """What will be called, if its arguments are numbers and arrays of them, without complex ones."""
    shapes = []
    for value in args:
        if type(value) is np.ndarray and value.dtype.kind in "biuf":
            shapes.append(value.shape)
        elif isinstance(value, bool | int | float):
            shapes.append(())
        else:
            return None
    return name, tuple(shapes)


def filled(function: Captured, out: Any, found: Any) -> Any:
    """Puts results into arrays of their shapes and types. Raises `SacError` for others, before any is changed."""

    def refused(message: str, help: str) -> Exception:
        return refusal(function.head.places.span(function.head.node), message, help, ARGUMENTS)

    arrays, values = (v if isinstance(v, tuple) else (v,) for v in (out, found))
    if len(arrays) != len(values):
        message = f"out has {len(arrays)} arrays, and {function.__name__} gives {len(values)} results"
        raise refused(message, "pass a tuple with an array for each")
    for array, value in zip(arrays, values):
        wanted = np.asarray(value)
        if not isinstance(array, np.ndarray) or array.shape != wanted.shape or array.dtype != wanted.dtype:
            given = f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else type(array).__name__
            message = f"out is {given}, and {function.__name__} gives {wanted.dtype}{list(wanted.shape)}"
            raise refused(message, "pass such an array")
        if not array.flags.writeable:
            raise refused("out cannot be written", "pass an array that can be, or a copy")
    for k, array in enumerate(arrays):
        if any(np.shares_memory(array, other) for other in arrays[:k]):
            raise refused("two arrays of out share memory, so one result would overwrite another", "pass a copy of one")
    for array, value in zip(arrays, values):
        array[...] = value
    return out


def _found(module: str, name: str) -> Captured:
    value: Any = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    if not isinstance(value, Captured):
        raise TypeError(f"{module}.{name} is no captured function")
    return value


@overload
def function(function: Callable[..., Any], /) -> Captured: ...
@overload
def function(*, target: str = "auto") -> Callable[[Callable[..., Any]], Captured]: ...
def function(function: Callable[..., Any] | None = None, /, *, target: str = "auto") -> Any:
    """A decorator: a typed Python function captured as SaC. `target`: how it runs, as for `Session`."""
    if function is None:
        return lambda f: Captured(f, None, target)
    return Captured(function, None, target)
