"""Classes of nodes: what `dataclasses` does, for hundreds of classes that must be there before the first program runs.

In: a class with annotated fields. Out: the class with slots, a constructor, comparison, a hash and a representation. A
`Node` is a value that nobody changes (of syntax trees, core, graphs, kernel programs); a `Record` changes while
somebody works on it, and has no hash.

A dataclass has all of its methods compiled when its module is imported: a third of a millisecond and more for each
class, together a good part of what sacpy's start took. Here the constructor is compiled when the first instance is
made, comparison and hash when they are first asked for; what is never used costs nothing. A `Node` is made faster too,
since its slots are set by their descriptors and not by `object.__setattr__`. Type checkers take the classes for
dataclasses, and `dataclasses.field` says what is special about a field. A copy or pickle holds what the constructor
takes: fields with `init=False` are found anew.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, dataclass_transform


class NodeType(type):
    """Makes slots of a class's annotations, and notes the defaults. `eq=False`: an instance is equal to itself only;
    `repr=False`: it is shown by its address; `weak=True`: there may be weak references to it."""

    __match_args__: tuple[str, ...]
    _frozen: bool
    _specs: dict[str, Any]  # of each field, in order, its default, `MISSING`, or what `dataclasses.field` gave

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        eq: bool = True,
        repr: bool = True,
        weak: bool = False,
    ) -> NodeType:
        inherited: dict[str, Any] = {}
        for base in bases:
            inherited |= getattr(base, "_specs", {})
        own = {
            n: namespace.pop(n, MISSING)
            for n, kind in namespace.get("__annotations__", {}).items()
            if not str(kind).startswith("ClassVar")
        }
        specs = inherited | own
        frozen = namespace.setdefault("_frozen", any(getattr(base, "_frozen", False) for base in bases))
        namespace["__slots__"] = [*(n for n in own if n not in inherited), *(("__weakref__",) if weak else ())]
        namespace["__match_args__"] = tuple(
            [n for n, spec in specs.items() if not isinstance(spec, Field) or spec.init]
        )
        namespace["_specs"] = specs
        namespace["__init__"] = _init
        if "__eq__" not in namespace:
            namespace["__eq__"] = _eq if eq else object.__eq__
            namespace["__hash__"] = object.__hash__ if not eq else _hash if frozen else None
        if not repr:
            namespace["__repr__"] = object.__repr__
        return super().__new__(mcs, name, bases, namespace)

    @property
    def __signature__(cls) -> Any:
        """What `help` and editors show: the constructor's parameters."""
        from inspect import signature

        shown = signature(_constructor(cls))
        return shown.replace(parameters=list(shown.parameters.values())[1:])


def _init(self: _Fields, *args: Any, **named: Any) -> None:
    """Stands for the constructor of a class until the first instance is made."""
    _kept(type(self), _constructor(type(self)))(self, *args, **named)


def _eq(self: _Fields, other: object) -> Any:
    return _kept(type(self), _comparison(type(self)))(self, other)


def _hash(self: _Fields) -> int:
    found: int = _kept(type(self), _hashing(type(self)))(self)
    return found


def _kept(cls: NodeType, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method, from now on that of the class."""
    setattr(cls, method.__name__, method)
    return method


def _constructor(cls: NodeType) -> Callable[..., None]:
    if hasattr(cls, "__post_init__") or any(isinstance(spec, Field) for spec in cls._specs.values()):
        return _special_constructor(cls)
    names = cls.__match_args__
    code = _plain_constructor(len(names), cls._frozen).replace(co_varnames=("self", *names))
    setters = {}
    if cls._frozen:
        setters = {f"set{i}": getattr(cls, n).__set__ for i, n in enumerate(names)}
    else:
        code = code.replace(co_names=names)
    return _named(
        cls, FunctionType(code, setters, "__init__", tuple([d for d in cls._specs.values() if d is not MISSING]))
    )


@functools.cache
def _plain_constructor(count: int, frozen: bool) -> CodeType:
    """The code of a constructor that sets so many fields, whatever their names are: most classes have such a one."""
    names = [f"value{i}" for i in range(count)]
    sets = [f"set{i}(self, {n})" if frozen else f"self.{n} = {n}" for i, n in enumerate(names)]
    scope: dict[str, Any] = {}
    exec("\n ".join([f"def __init__({', '.join(['self', *names])}):", *sets, "pass"]), scope)
    code: CodeType = scope["__init__"].__code__
    return code


def _special_constructor(cls: NodeType) -> Callable[..., None]:
    scope: dict[str, Any] = {"_MADE": object()}
    params, lines = ["self"], []
    for n, spec in cls._specs.items():
        special = isinstance(spec, Field)
        default = spec.default if special else spec
        value = n
        if special and spec.default_factory is not MISSING:
            scope[f"_make_{n}"] = spec.default_factory
            value = f"_make_{n}() if {n} is _MADE else {n}" if spec.init else f"_make_{n}()"
            param = f"{n}=_MADE"
        elif default is not MISSING:
            scope[f"_default_{n}"] = default
            value = n if not special or spec.init else f"_default_{n}"
            param = f"{n}=_default_{n}"
        else:
            param = n
        if not special or spec.init:
            params.append(param)
        elif value == n:
            continue  # `__post_init__` sees to it
        scope[f"_set_{n}"] = getattr(cls, n).__set__
        lines.append(f"_set_{n}(self, {value})" if cls._frozen else f"self.{n} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return _compiled(cls, f"def __init__({', '.join(params)}):", lines or ["pass"], scope)


def _comparison(cls: NodeType) -> Callable[..., bool]:
    mine, others = (_listed(cls, who) for who in ("self", "other"))
    return _compiled(
        cls,
        "def __eq__(self, other):",
        [
            "if other is self: return True",
            "if other.__class__ is not self.__class__: return NotImplemented",
            f"return {mine} == {others}",
        ],
        {},
    )


def _hashing(cls: NodeType) -> Callable[..., int]:
    return _compiled(cls, "def __hash__(self):", [f"return hash({_listed(cls, 'self')})"], {})


def _listed(cls: NodeType, who: str) -> str:
    """A tuple of the fields that count when instances are compared."""
    return (
        f"({''.join(f'{who}.{n}, ' for n, spec in cls._specs.items() if not isinstance(spec, Field) or spec.compare)})"
    )


def _compiled(cls: NodeType, head: str, lines: list[str], scope: dict[str, Any]) -> Callable[..., Any]:
    exec("\n ".join([head, *lines]), scope)
    return _named(cls, scope[head[4 : head.index("(")]])


def _named(cls: NodeType, method: FunctionType) -> FunctionType:
    """A method, with the name that errors call it by."""
    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    method.__module__ = cls.__module__
    return method


class _Fields(metaclass=NodeType):
    """What both have in common."""

    def __repr__(self) -> str:
        shown = (n for n, spec in type(self)._specs.items() if not isinstance(spec, Field) or spec.repr)
        return f"{type(self).__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in shown)})"

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), tuple([getattr(self, n) for n in type(self).__match_args__])


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Node(_Fields):
    """A value with named fields. Setting one raises `dataclasses.FrozenInstanceError`."""

    _frozen = True

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


@dataclass_transform(field_specifiers=(field,))
class Record(_Fields):
    """Something with named fields that may be set."""


def field_names(node: Node | Record) -> tuple[str, ...]:
    """The names of the fields, in order."""
    return tuple(type(node)._specs)


if TYPE_CHECKING:
    from dataclasses import replace as replace  # so that the names and types of the fields are checked
else:

    def replace(node, /, **changes):
        """The same node, or instance of a dataclass, but for some fields. Raises `TypeError` for a field that there is
        not."""
        if not isinstance(node, _Fields):
            return dataclasses.replace(node, **changes)
        cls = node.__class__
        values = [changes.pop(n) if n in changes else getattr(node, n) for n in cls.__match_args__]
        return cls(*values, **changes)


__all__ = ["Node", "Record", "field", "field_names", "replace"]
