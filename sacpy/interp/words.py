"""The words of a command line as the arguments of `main`.

In: a program whose `main` has parameters, the world with the words, and what evaluates. Out: a value for each component
of each parameter. A word is a file of data, known by its ending (`picture.png`, `weights.npz:w`); for a parameter of
type string the text itself; and otherwise an expression, which may call the program's functions. Numbers become those
of the parameter's type where that changes none of them, but for reals that are rounded to float. What stands in .npy
files and in files of bare elements (.bin, .raw) is mapped, not read; the shape of the latter is the parameter's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.interp.errors import Fault
from sacpy.interp.values import DTYPES, Value, dtype_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.core import Signature, Slot
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import expression_function
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.parser import parse_expression
from sacpy.lang.printf_formats import STRING
from sacpy.lang.source import Source

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

CODE = "E0785"
_FILE = re.compile(r"[^()\[\]{}]+")  # what looks like the name of a file
_WAYS = (
    "a word is an expression, or a file: .npy, .npz:NAME, .csv, .png, .ppm, .wav, or .bin and .raw for elements alone"
)


def arguments(program: ElaboratedProgram, signature: Signature, evaluator: Evaluator, world: World) -> list[Value]:
    """The arguments. Raises `SacError` (E0785) where the words do not fit."""
    words = [word.decode("utf-8", "surrogateescape") for word in world.argv[1:]]
    groups: dict[str, list[Slot]] = {}
    for slot in signature.params:  # the fields of a struct belong together
        groups.setdefault(slot.bind.source.partition(".")[0], []).append(slot)
    parameters = list(groups.values())
    rest = _takes_the_rest(parameters[-1])
    if len(words) < len(parameters) - rest or (len(words) > len(parameters) and not rest):
        wanted = " ".join(name.upper() + (" .." if rest and name == list(groups)[-1] else "") for name in groups)
        message = f"main{signature.text[signature.text.find('(') :]} cannot be called with {_counted(len(words))}"
        raise SacError(
            Diagnostic(CODE, message, signature.span, help=f"call the program with {wanted}", notes=(_WAYS,))
        )
    values: list[Value] = []
    for number, (name, slots) in enumerate(groups.items()):
        if rest and number == len(groups) - 1:
            array = np.empty(len(words) - number, object)
            array[:] = [word.encode("utf-8", "surrogateescape") for word in words[number:]]
            values.append(array)
            continue
        try:
            values += _values(program, slots, words[number], number + 1, evaluator, world)
        except Fault as fault:
            message = f"{words[number]!r} cannot be {name} of main: {fault.message}"
            help = fault.help or _WAYS
            raise SacError(Diagnostic(fault.code, message, slots[0].bind.span, help=help)) from None
    return values


def _counted(count: int) -> str:
    return f"{count} word{'s' * (count != 1)}" if count else "no words"


def _takes_the_rest(slots: list[Slot]) -> bool:
    """Whether a parameter is a vector of strings: behind it there can be no other."""
    pattern = slots[0].pattern
    return slots[0].base == STRING and pattern is not None and len(pattern) == 1


def _values(
    program: ElaboratedProgram, slots: list[Slot], word: str, number: int, evaluator: Evaluator, world: World
) -> list[Value]:
    """What a word means. Raises `Fault`, and `SacError` for an expression with mistakes."""
    if slots[0].base == STRING and slots[0].pattern is None and len(slots) == 1:
        return [word.encode("utf-8", "surrogateescape")]
    path, _, which = word.partition(":")
    read = _READERS.get(Path(path).suffix.lower())
    if read is not None and len(slots) == 1 and Path(path).exists():
        return [_fitting(read(world, path.encode("utf-8", "surrogateescape"), which, slots[0]), slots[0])]
    if read is not None and _FILE.fullmatch(path):
        raise Fault("E0664", f"cannot read {path}: there is no such file", help=_WAYS)
    parsed = parse_expression(Source(f"<word {number}>", word))
    if parsed.expr is None or any(d.severity == "error" for d in parsed.diagnostics):
        raise SacError(*parsed.diagnostics)
    key = f"word {number}"
    made = expression_function(program, parsed.expr, {}, key)
    components = [c for type in made.results for c in type.components]
    found = evaluator.call_once(key)
    del program.initials[key]
    if len(components) != len(slots):
        shown = ", ".join(type.shown for type in made.results) or "no value"
        raise Fault(CODE, f"it is {shown}", help=f"give a value of type {slots[0].text}")
    for component, slot in zip(components, slots):
        if component.base != slot.base and not {component.base, slot.base} <= DTYPES.keys():
            raise Fault(CODE, f"it is {component.base}", help=f"give a value of type {slot.text}")
    return [_fitting(value, slot) for value, slot in zip(found, slots)]


def _fitting(value: Value, slot: Slot) -> Value:
    """A value with elements of the parameter's type. Raises `Fault` where that changes any, or the rank is wrong."""
    if slot.base not in DTYPES:
        return value
    array, wanted = np.asarray(value), dtype_of(slot.base)
    fixed = [f for f in slot.pattern or () if isinstance(f, ast.FixedExtent | ast.AnyExtent | ast.NamedExtent)]
    open = len(fixed) < len(slot.pattern or ())
    rank = len(fixed) + len(slot.cell)
    if array.ndim < rank or (array.ndim > rank and not open):
        shape = f"the shape [{','.join(map(str, array.shape))}]" if array.ndim else "no axes"
        raise Fault(CODE, f"it has {shape}", help=f"give a value of type {slot.text}")
    if array.dtype != wanted and not _can_be(array, wanted):
        raise Fault(
            CODE,
            f"it has elements of type {array.dtype.name}, of which not all can be {slot.base}",
            help=f"convert it before, or let the parameter be of another type than {slot.text}",
        )
    with np.errstate(over="ignore"):
        array = array if array.dtype == wanted else array.astype(wanted)
    return array if array.ndim else array.item()


def _can_be(array: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> bool:
    """Whether numbers of another type are as large in this one; reals may be rounded to float."""
    if "b" in (array.dtype.kind, wanted.kind):
        return False
    if wanted.kind == "f" and array.dtype.kind == "f":
        return True
    if wanted.kind in "iu" and array.size:
        low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
        if not bool(np.isfinite(array).all()) or not low <= int(array.min()) <= int(array.max()) <= high:
            return False
    return bool(np.array_equal(array.astype(wanted).astype(array.dtype), array))


# ---------------------------------------------------------------- files, by their endings


def _npy(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.npy import mapped

    return mapped(world, path)


def _npz(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.datafiles import read_all
    from sacpy.interp.natives.npz import array_in, names_in

    data, name = read_all(world, path), path.decode("utf-8", "replace")
    names = names_in(data, name)
    if not which and len(names) != 1:
        there = ", ".join(names) or "there is none"
        raise Fault("E0668", f"{name} has {len(names)} arrays", help=f"say which: {there}")
    return array_in(data, which or names[0], name)


def _csv(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.datafiles import read_all
    from sacpy.interp.natives.npy import table_of

    return table_of(read_all(world, path), path.decode("utf-8", "replace"))


def _png(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.pictures import read_png

    return read_png(world, path)


def _ppm(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.pictures import read_ppm

    stream = world.open(path, b"r")
    try:
        return read_ppm(world, stream)[0]
    finally:
        world.close(stream)


def _wav(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.datafiles import read_all
    from sacpy.interp.natives.wav import sound

    return sound(read_all(world, path), path.decode("utf-8", "replace"))[1]


def _raw(world: World, path: bytes, which: str, slot: Slot) -> Value:
    from sacpy.interp.natives.datafiles import NUMBERS
    from sacpy.interp.natives.raw import mapped

    kind, size = dtype_of(slot.base), Path(path.decode("utf-8", "surrogateescape")).stat().st_size
    known = [f.value if isinstance(f, ast.FixedExtent) else None for f in slot.pattern or ()]
    simple = all(isinstance(f, ast.FixedExtent | ast.AnyExtent | ast.NamedExtent) for f in slot.pattern or ())
    if not simple or known.count(None) > 1 or slot.base not in NUMBERS:
        raise Fault(
            CODE,
            f"a file of elements alone does not tell the shape of {slot.text}",
            help="let one extent at most be open: double[.,3]; or take a .npy file",
        )
    each = kind.itemsize * prod([*(n for n in known if n is not None), *(n or 0 for n in slot.cell)])
    shape = tuple(n if n is not None else size // each if each else 0 for n in (*known, *slot.cell))
    if prod(shape) * kind.itemsize != size:
        raise Fault(
            CODE, f"it has {size} bytes, and {slot.text} needs a multiple of {each}", help="give a file of that type"
        )
    return mapped(world, path, kind, 0, shape)


_Reader = Callable[[World, bytes, str, Slot], Value]
_READERS: dict[str, _Reader] = {
    ".npy": _npy, ".npz": _npz, ".csv": _csv, ".tsv": _csv, ".png": _png, ".ppm": _ppm, ".wav": _wav, ".bin": _raw,
    ".raw": _raw,
}  # fmt: skip

__all__ = ["arguments"]
