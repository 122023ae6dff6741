"""Tracing: a Python function is run once with values that note what is done to them, and becomes what was done.

In: any Python function, and the types of its arguments with all extents. Out: a captured function without loops, calls
or conditions of the host: these have been run. What was noted is written as a typed Python function, one line for each
value, equal ones once and those of no use not at all; `Captured` takes that as it takes any other. So a metaprogram may
use all of Python, its dictionaries and classes, as long as it asks no traced value what it is.

Traced values take part in NumPy's own functions by NumPy's protocols (`__array_ufunc__`, `__array_function__`), and
name NumPy for the array API's namespace. Their shapes and types are those of NumPy on arrays of zeros that take no
memory.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from sacpy.capture import heads
from sacpy.capture.calls import METHODS, NUMPY
from sacpy.capture.function import Captured
from sacpy.capture.heads import Shaped
from sacpy.capture.places import DIFFER, TRACED, UNTYPED, refusal
from sacpy.interp.values import DTYPES
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.session import Session

LARGEST = 4096  # elements of an array that is a constant
_OWN = str(Path(__file__).resolve().parents[1])
_NUMBERS = itertools.count(1)
_REDUCE = {
    np.add: np.sum, np.multiply: np.prod, np.minimum: np.min, np.maximum: np.max, np.logical_and: np.all,
    np.logical_or: np.any,
}  # fmt: skip
_OPERATORS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/", np.floor_divide: "//", np.remainder: "%",
    np.power: "**", np.matmul: "@", np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^", np.left_shift: "<<",
    np.right_shift: ">>", np.less: "<", np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.equal: "==",
    np.not_equal: "!=",
}  # fmt: skip
_PREFIX = {np.negative: "-", np.positive: "+", np.invert: "~"}
_LINE = re.compile(r"\bt\d+\b")
_OWN_NAME = re.compile(r"[tc]\d+|np|inf|nan")  # what the text of a trace means by itself


class Trace:
    """What has been noted so far. `lines`: of each value the text that makes it, by its name; `constants`: what they
    take from outside."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self.constants: dict[str, Any] = {"np": np, "inf": math.inf, "nan": math.nan}
        self._names: dict[str, Traced] = {}

    def value(self, text: str, like: Any) -> Traced:
        """The value that a text makes; the one that has been made if it is the same."""
        found = self._names.get(text)
        if found is None:
            name = f"t{len(self.lines) + 1}"
            self.lines[name] = text
            found = self._names[text] = Traced(self, name, like)
        return found

    def text(self, value: Any) -> str:
        """How a value is written. Raises `SacError` for what is none."""
        if isinstance(value, np.float32 | np.int32 | np.uint8):
            return f"np.{value.dtype.name}({self.text(value.item())})"
        if isinstance(value, np.generic):
            value = value.item()
        match value:
            case Traced():
                if value._trace is not self:
                    raise _refused("this value is that of another trace", "return what is needed later, and pass it")
                return value._name
            case bool() | None | str():
                return repr(value)
            case int() | float():
                return repr(value)
            case complex():
                return self._constant(value)
            case tuple() | list():
                items = ", ".join(map(self.text, value))
                mark = "," if len(value) == 1 and isinstance(value, tuple) else ""
                return f"({items}{mark})" if isinstance(value, tuple) else f"[{items}]"
        if isinstance(value, type | np.dtype):
            return f"np.{np.dtype(value).name}"
        if isinstance(value, np.ndarray):
            return self.text(value[()]) if value.ndim == 0 else self._constant(value.copy())
        raise _refused(f"{type(value).__name__} is no value that can be traced", "use numbers, arrays and tuples")

    def _constant(self, value: Any) -> str:
        if np.size(value) > LARGEST:
            help = "make it a parameter"
            raise _refused(f"an array of {np.size(value)} elements is too large for a constant", help)
        own = [n for n in self.constants if n[0] == "c"]
        name = next((n for n in own if _same(self.constants[n], value)), f"c{len(own) + 1}")
        self.constants[name] = value
        return name

    def index(self, value: Any) -> str:
        """How an index is written."""
        if isinstance(value, slice):
            parts = ["" if p is None else self.text(p) for p in (value.start, value.stop, value.step)]
            return ":".join(parts if value.step is not None else parts[:2])
        return "..." if value is Ellipsis else self.text(value)


def _same(a: Any, b: Any) -> bool:
    """Whether two constants are the same, bit by bit."""
    x, y = np.asarray(a), np.asarray(b)
    return type(a) is type(b) and (x.dtype, x.shape) == (y.dtype, y.shape) and x.tobytes() == y.tobytes()


def _here() -> Span:
    """The line of the program that is traced."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith((_OWN, str(Path(np.__file__).parent), "<__array_function__")):
            text = "".join(linecache.getlines(path))
            lines = text.splitlines(keepends=True)
            if frame.f_lineno > len(lines):
                return NOWHERE
            start = sum(map(len, lines[: frame.f_lineno - 1]))
            line = lines[frame.f_lineno - 1]
            return Span(Source(path, text), start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        frame = frame.f_back
    return NOWHERE


def _refused(message: str, help: str, code: str = TRACED) -> Exception:
    return refusal(_here(), message, help, code)


class Traced:
    """A value of which a trace notes what is done to it. It has a shape and a type, and no elements."""

    __slots__ = ("_like", "_name", "_trace")
    __array_priority__ = 1000

    def __init__(self, trace: Trace, name: str, like: Any) -> None:
        self._trace, self._name = trace, name
        self._like = np.broadcast_to(np.zeros((), like.dtype), like.shape)

    # ------------------------------------------------------------ what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, which are those of every call."""
        return self._like.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._like.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._like.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._like.size

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a traced number has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Traced]:
        return (self[i] for i in range(len(self)))

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """NumPy, whose functions take traced values."""
        return np

    def __repr__(self) -> str:
        return f"<traced {self.dtype.name}{list(self.shape)}>"

    # ------------------------------------------------------------ what is done to it

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Traced:
        if method == "reduce" and ufunc in _REDUCE:
            axis = named.pop("axis", 0)
            named = {"axis": axis, **_said(named)}
            found: Traced = self.__array_function__(_REDUCE[ufunc], (), inputs, named)
            return found
        if method != "__call__":
            raise _refused(f"np.{ufunc.__name__}.{method} cannot be traced", "use np.sum and the like")
        if _said(named):
            help = "set a variable to what it gives, and use np.where to choose"
            raise _refused(f"np.{ufunc.__name__} takes no {', '.join(_said(named))} in a trace", help)
        if ufunc not in NUMPY and ufunc not in _OPERATORS and ufunc not in _PREFIX:
            raise _unknown(f"np.{ufunc.__name__}")
        texts = [self._trace.text(_plain(i)) for i in inputs]
        if ufunc in _OPERATORS:
            text = f" {_OPERATORS[ufunc]} ".join(f"({t})" if t.startswith("-") else t for t in texts)
        elif ufunc in _PREFIX:
            text = f"{_PREFIX[ufunc]}{texts[0]}"
        else:
            text = f"np.{ufunc.__name__}({', '.join(texts)})"
        return self._trace.value(text, _meta(ufunc, inputs, {}))

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        shown = f"np.{'linalg.' if 'linalg' in function.__module__ else ''}{function.__name__}"
        if function in _ASKED:
            return function(*(_shown(a) for a in args), **named)
        if function not in NUMPY:
            raise _unknown(shown)
        named = _said(named)
        texts = [self._trace.text(_plain(a)) for a in args]
        texts += [f"{k}={self._trace.text(_plain(v))}" for k, v in named.items()]
        return self._trace.value(f"{shown}({', '.join(texts)})", _meta(function, args, named))

    def __getattr__(self, name: str) -> Any:
        if name in ("T", "real", "imag"):
            return self._trace.value(f"{self._name}.{name}", getattr(self._like, name))
        if name in METHODS:
            return lambda *args, **named: self._method(name, args, named)
        if name in _WRITES:
            help = "make a new array of it: np.where, np.concatenate, np.sort"
            raise _refused(f"a traced array is not changed, and {name} would change it", help)
        if name in _READS:
            raise _refused(f"{name} asks for elements, and a traced value has none", "compute with arrays of NumPy")
        raise AttributeError(f"a traced value has no attribute {name}")

    def _method(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Traced:
        texts = [self._trace.text(a) for a in args] + [f"{k}={self._trace.text(v)}" for k, v in named.items()]
        like = _meta(lambda of, *rest, **more: getattr(of, name)(*rest, **more), (self, *args), named)
        return self._trace.value(f"{self._name}.{name}({', '.join(texts)})", like)

    def __getitem__(self, index: Any) -> Traced:
        parts = index if isinstance(index, tuple) else (index,)
        text = ", ".join(map(self._trace.index, parts))
        like = _meta(lambda of, *rest: of[rest], (self, *parts), {})
        return self._trace.value(f"{self._name}[{text}]", like)

    # ------------------------------------------------------------ what cannot be told

    def __bool__(self) -> NoReturn:
        help = "write np.where(c, a, b); or decorate the function with @sacpy.function, which takes 'if' and 'while'"
        raise _refused("whether a traced value is true is not known while it is traced", help)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        help = "make a new array: np.where(mask, x, a), np.concatenate; or use @sacpy.function, which takes a[i] = x"
        raise _refused("a traced array is not changed", help)

    def _number(self) -> NoReturn:
        help = "use it as it is; for a number of Python's, make it a constant of the function that is traced"
        raise _refused("what number a traced value is is not known while it is traced", help)

    __int__ = __float__ = __complex__ = __index__ = _number

    def __array__(self, *args: Any, **named: Any) -> NoReturn:
        help = "use the functions of NumPy on the traced values themselves: np.stack([a, b])"
        raise _refused("a traced value does not become an array of NumPy", help)

    __hash__ = object.__hash__


def _binary(ufunc: np.ufunc) -> tuple[Any, Any]:
    return lambda a, b: ufunc(a, b), lambda a, b: ufunc(b, a)


for _ufunc, _names in {
    np.add: "add radd", np.subtract: "sub rsub", np.multiply: "mul rmul", np.divide: "truediv rtruediv",
    np.floor_divide: "floordiv rfloordiv", np.remainder: "mod rmod", np.power: "pow rpow", np.matmul: "matmul rmatmul",
    np.bitwise_and: "and rand", np.bitwise_or: "or ror", np.bitwise_xor: "xor rxor", np.left_shift: "lshift rlshift",
    np.right_shift: "rshift rrshift", np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge",
    np.equal: "eq", np.not_equal: "ne",
}.items():  # fmt: skip
    for _name, _made in zip(_names.split(), _binary(_ufunc)):
        setattr(Traced, f"__{_name}__", _made)
for _ufunc, _name in {np.negative: "neg", np.positive: "pos", np.invert: "invert", np.absolute: "abs"}.items():
    setattr(Traced, f"__{_name}__", lambda a, f=_ufunc: f(a))

_WRITES = frozenset(("fill", "put", "partition", "resize", "itemset", "setflags"))
_READS = frozenset(("item", "tolist", "tobytes", "data"))
_ASKED = frozenset((np.shape, np.ndim, np.size))


def _said(named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name that say something."""
    return {k: v for k, v in named.items() if v is not None and v is not np._NoValue}


def _plain(value: Any) -> Any:
    """An array of no axes, as a number."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _shown(value: Any) -> Any:
    """An argument with zeros in the place of traced values."""
    if isinstance(value, Traced):
        return value._like
    if isinstance(value, tuple | list):
        return type(value)([_shown(v) for v in value])
    if isinstance(value, slice):
        return slice(*(None if p is None else _shown(p) for p in (value.start, value.stop, value.step)))
    return value


def _meta(function: Callable[..., Any], args: Sequence[Any], named: dict[str, Any]) -> Any:
    """An array like the one that a function of NumPy gives. Raises `SacError` where it gives none."""
    given = [_shown(a) for a in args]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if isinstance(function, np.ufunc) and function.signature is None:  # of elements: one of them tells the type
                shape = np.broadcast_shapes(*map(np.shape, given))
                one = [np.zeros((1,) * a.ndim, a.dtype) if isinstance(a, np.ndarray) else a for a in given]
                return np.broadcast_to(np.zeros((), np.asarray(function(*one)).dtype), shape)
            if function in (np.matmul, np.dot):
                return _product(function, *map(np.asarray, given))
            return np.asarray(function(*given, **{k: _shown(v) for k, v in named.items()}))
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise _refused(f"NumPy refuses this: {error}", "correct it as for NumPy", DIFFER) from None


def _product(function: Callable[..., Any], a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Any:
    """An array like a product, for which nothing is added up."""
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        return function(a, b)  # which refuses it, or scales
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
    if function is np.dot:
        shape = (*a.shape[:-1], *b.shape[:-2], *columns)
    else:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *rows, *columns)
    return np.broadcast_to(np.zeros((), np.result_type(a, b)), shape)


def _unknown(shown: str) -> Exception:
    help = "compute it outside, and pass the result; docs/capture.md lists what there is"
    return _refused(f"{shown} is not among the functions that are captured", help)


# ---------------------------------------------------------------- the whole


class TracedFunction(Captured):
    """What a trace has become: a captured function. `traced` is the function that was run, `text` what was noted, as
    Python, and `python` that text as a function."""

    def __init__(self, function: Any, traced: Callable[..., Any], types: tuple[Any, ...], text: str,
                 session: Session | None, target: str) -> None:  # fmt: skip
        super().__init__(function, session, target)
        self.traced, self.types, self.text = traced, types, text
        self.__doc__ = traced.__doc__

    def __reduce__(self) -> tuple[Any, ...]:
        """It is traced again where it is unpickled."""
        return trace, (self.traced, *self.types)


def trace(
    function: Callable[..., Any], *types: Any, session: Session | None = None, target: str = "auto"
) -> TracedFunction:
    """A captured function of what a Python function does to arguments of these types: loops, conditions and calls of
    Python are run while it is traced, and gone. `types`: `float`, `int`, `bool`, `complex`, `Double[8, 8]` and the
    like, or a tuple of extents for `Double`; each with all extents. Arguments come by position. Raises `SacError`
    (E0909) for what needs to know a traced value: `if`, `int(..)`, items that are set."""
    made = Trace()
    names = _parameters(function, len(types))
    args, annotations = [], []
    for name, type in zip(names, types):
        shaped = _shaped(type)
        dtype = np.dtype(np.complex128) if shaped.base == "complex" else DTYPES[shaped.base]
        args.append(Traced(made, name, np.broadcast_to(np.zeros((), dtype), tuple(_extents(shaped)))))
        annotations.append(shaped)
    result = function(*args)
    items = list(result) if isinstance(result, tuple | list) else [result]
    if not items or any(i is None for i in items):
        raise refusal(_here(), f"{_name_of(function)} gives nothing that was traced", "return what it computes", TRACED)
    returned = ", ".join(made.text(_plain(i)) for i in items)
    lines = _needed(made.lines, returned)
    typed = ", ".join(f"{n}: _{n}" for n in names)
    title = _name_of(function)
    text = "".join((
        f"def {title}({typed}):\n", *(f"    {n} = {made.lines[n]}\n" for n in lines),
        f"    return {returned}\n",
    ))  # fmt: skip
    path = f"<trace {next(_NUMBERS)} of {title}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    space = made.constants | {f"_{n}": _annotation(a) for n, a in zip(names, annotations)}
    exec(compile(text, path, "exec"), space)
    written: FunctionType = space[title]
    written.__qualname__ = getattr(function, "__qualname__", title)
    written.__module__ = getattr(function, "__module__", "__main__")
    return TracedFunction(written, function, types, text, session, target)


def _name_of(function: Callable[..., Any]) -> str:
    """The name of what is traced; a lambda has none."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() and not _OWN_NAME.fullmatch(name) else "traced"


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    """Names for the parameters: those of the function, as far as it has them, and the trace writes no such itself."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = [p.name for p in inspect.signature(function).parameters.values() if p.kind in kinds]
    names = [*own, *(f"a{i}" for i in range(len(own), count))][:count]
    return [f"{n}_" if _OWN_NAME.fullmatch(n) else n for n in names]


def _shaped(type: Any) -> Shaped:
    given = heads.Double[type] if isinstance(type, tuple) and all(isinstance(n, int) for n in type) else type
    found = heads.read(given)
    if not found or len(found) != 1:
        help = "write float, int, bool, complex, Double[8, 8] and the like, or (8, 8)"
        raise refusal(_here(), f"{type!r} is no type", help, UNTYPED)
    return found[0]


def _extents(shaped: Shaped) -> Iterator[int]:
    for axis in shaped.axes if shaped.axes is not None else (None,):
        if not isinstance(axis, int):
            help = "write each extent: Double[8, 8]"
            raise refusal(_here(), "a function is traced for arrays of one shape, which must be known", help, UNTYPED)
        yield axis


def _annotation(shaped: Shaped) -> Any:
    return shaped if shaped.axes else {"double": float, "long": int, "bool": bool, "complex": complex}[shaped.base]


def _needed(lines: dict[str, str], returned: str) -> list[str]:
    """The lines that the result depends on, in their order."""
    wanted, found = set(_LINE.findall(returned)), []
    for name in reversed(lines):
        if name in wanted:
            found.append(name)
            wanted |= set(_LINE.findall(lines[name]))
    return found[::-1]


__all__ = ["Traced", "TracedFunction", "trace"]
