"""External functions in shared libraries, called through ctypes.

In: the signature of an external function whose pragmas name a library (`linkobj "libm.so.6"`, `linkwith "m"`) and
perhaps a symbol (`linkname "cos"`). Out: a Python function over interpreter values; or None where the program names no
library. A scalar goes as the C scalar, an array as a pointer to its elements, a string as `char *`; the result is the C
function's, a scalar or a string. A reference parameter goes as a pointer, to a copy, which is handed back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from sacpy.interp.errors import Fault
from sacpy.interp.runtime.calls import shown
from sacpy.interp.values import DTYPES, Value
from sacpy.lang.core import Signature

C_TYPES: dict[str, Any] = {
    "byte": ctypes.c_int8, "short": ctypes.c_int16, "int": ctypes.c_int32, "long": ctypes.c_int64,
    "longlong": ctypes.c_int64, "ubyte": ctypes.c_uint8, "ushort": ctypes.c_uint16, "uint": ctypes.c_uint32,
    "ulong": ctypes.c_uint64, "ulonglong": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double,
    "bool": ctypes.c_bool, "char": ctypes.c_uint8,
}  # fmt: skip
STRING = "String::string"
loaded: list[str] = []  # the libraries of programs that this process has opened


class _World(Protocol):
    def allow_library(self, name: str) -> None: ...


def find(signature: Signature, world: _World) -> Callable[..., Any] | None:
    """The function behind an external declaration. Raises a Fault where the world allows no libraries, or the library
    or symbol is not there."""
    libraries = list(_libraries(signature))
    if not libraries or signature.native is None or signature.native.varargs or signature.native.varresults:
        return None
    world.allow_library(libraries[0])
    symbol = signature.native.linkname or signature.name.rpartition("::")[2]
    problems: list[str] = []
    for name in libraries:
        try:
            library = ctypes.CDLL(name)
            loaded.append(name)
            return _wrapped(getattr(library, symbol), signature)
        except (OSError, AttributeError) as error:
            problems.append(str(error))
    raise Fault(
        "E0714",
        f"{shown(signature)} cannot be linked: no function {symbol} in {', '.join(libraries)}",
        notes=tuple(problems),
        help="check the pragmas linkobj, linkwith and linkname, and where the library is installed",
    )


def _libraries(signature: Signature) -> Iterator[str]:
    """The libraries that the pragmas name, as `dlopen` takes them. Object files (`.o`) can only be linked by a
    compiler."""
    for pragma in signature.native.pragmas if signature.native else ():
        word, _, rest = pragma.text.partition(" ")
        if word not in ("linkobj", "linkwith"):
            continue
        for name in (part.strip().strip('"') for part in rest.replace('" "', '","').split(",")):
            if name.startswith("-l") or (word == "linkwith" and name.isidentifier()):
                import ctypes.util

                plain = name.removeprefix("-l")
                yield ctypes.util.find_library(plain) or f"lib{plain}.so"
            elif name and not name.endswith(".o") and not name.startswith("-"):
                yield name


def _wrapped(symbol: Any, signature: Signature) -> Callable[..., Any]:
    by_reference = {p.bind.name for p in signature.params}
    results = [r for r in signature.results if r.bind.name not in by_reference]
    if len(results) > 1 or any(
        r.pattern is not None or r.cell or (r.base not in C_TYPES and r.base != STRING) for r in results
    ):
        raise Fault(
            "E0714",
            f"{shown(signature)} cannot be called in a library: its result must be one scalar or string",
            help="hand arrays back through reference parameters, or bind a Python function",
        )
    for p in signature.params:
        if p.base not in C_TYPES and p.base != STRING:
            raise Fault(
                "E0714",
                f"{shown(signature)} cannot be called in a library: C knows nothing of {p.base}",
                help="bind a Python function",
            )
    base = results[0].base if results else ""
    symbol.restype = ctypes.c_char_p if base == STRING else C_TYPES.get(base)
    changed = [i for i, p in enumerate(signature.params) if any(r.bind.name == p.bind.name for r in signature.results)]
    bases = [p.base for p in signature.params]

    def call(world: _World, *args: Value) -> Any:
        copies = {i: np.array(args[i], DTYPES[bases[i]]) for i in changed}
        passed = [_passed(base, copies.get(i, value)) for i, (base, value) in enumerate(zip(bases, args))]
        result = symbol(*passed)
        if base == STRING:
            result = result or b""
        back = [copies[i] if copies[i].shape else copies[i].item() for i in changed]
        values = ([result] if results else []) + back
        return values[0] if len(values) == 1 else tuple(values) if values else None

    return call


def _passed(base: str, value: Value) -> Any:
    if type(value) is np.ndarray:
        return value.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_char_p(value) if base == STRING else C_TYPES[base](value)
