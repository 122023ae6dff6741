"""Every native function, twin and primitive asks for room before it makes something large: all of them are listed, and
each is watched while it works on large arguments."""

from __future__ import annotations

import io
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.interp import memory, natives
from sacpy.interp.errors import Exit, Fault
from sacpy.interp.natives.clocks import Interval, Timer
from sacpy.interp.natives.filesystem import Directory
from sacpy.interp.natives.pictures import Display
from sacpy.interp.natives.string_arrays import StringArray
from sacpy.interp.packed_rows import lengths_of
from sacpy.interp.png import encode
from sacpy.interp.runtime import structure, withloops
from sacpy.interp.runtime.calls import copy
from sacpy.interp.runtime.primitives import EVALUATION, STRUCTURAL, evaluate
from sacpy.interp.streams import Stream
from sacpy.interp.twins import TWINS
from sacpy.interp.values import DTYPES, dtype_of
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.modules import Library
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import REAL

SIZE = 3 << 17  # bytes of a large argument
SMALL = 1 << 17  # bytes that nobody asks about, here
PIECES = 3 << 16  # what is made in pieces
MOST_WRITTEN = 1 << 16
ROOM = 1 << 28


class Watched:
    """Takes the place of `memory.reserve`: from one call to the next, no more may come into being than was asked
    for."""

    def __init__(self) -> None:
        self.slack = memory.SMALL + PIECES
        self.allowed = tracemalloc.get_traced_memory()[0] + self.slack
        self.excess = 0

    def __call__(self, size: int, shape: tuple[int, ...] | None = None) -> None:
        self.look()
        if size > ROOM:
            raise Fault("E0703", "out of memory")
        self.allowed = max(self.allowed, tracemalloc.get_traced_memory()[0] + size + self.slack)

    def look(self) -> None:
        """Sees what there was at most since the last time."""
        self.excess = max(self.excess, tracemalloc.get_traced_memory()[1] - self.allowed)
        tracemalloc.reset_peak()


def excess(action: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes that an action took without asking."""
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        watched = Watched()
        monkeypatch.setattr(memory, "reserve", watched)
        with suppress(Fault, Exit):  # these arguments may be wrong for it
            _ = action()
        watched.look()
    finally:
        tracemalloc.stop()
    return watched.excess


# ---------------------------------------------------------------- natives

PACKED = "double[i<n, i + 1]"
for _module in sorted(set(natives.MODULES.values())):
    import_module(f"sacpy.interp.natives.{_module}")
lengths_of(PACKED, [1])  # what reads such types is loaded

TEXTS = (
    b"a" * SIZE, b"1" * SIZE, b" " * SIZE, b"  12 a\n" * (SIZE // 8), b"%" + b"1" * 30 + b"d" * SIZE,
    b"[0,%d:" % (SIZE // 8 - 1) + b" 1.5   1" * (SIZE // 16) + b"]",
    b"[0,%d:" % (SIZE // 16 - 1) + b' "a"' * (SIZE // 16) + b"]",
    b"%s%5000000d", b"x",
)  # fmt: skip
PPM = (b"P6 1000 300 255\n" + bytes(900_000), b"P3 1000 90 7\n" + b"1 2 3 " * 90_000)
NUMBERS: dict[str, tuple[Any, ...]] = {
    "int": (0, 3, SIZE),
    "char": (97,),
    "bool": (True,),
    "double": (1.5,),
    "float": (1.5,),
}
KINDS = {
    "num": ("int", "double"),
    "int": ("int",),
    "signed": ("int", "double"),
    "real": ("double",),
    "builtin": ("int", "double", "char"),
    "any": ("int", "double", "char"),
}
NULL = Stream(open("/dev/null", "wb", buffering=0), "null", writable=True)  # noqa: SIM115
MORE = ((b"a" * SIZE, "String::string"), (7, "int"), (1.5, "double"))  # further arguments of printf and its kin
NO_MEMORY = {
    "Clock::sleep/1": "it only takes time",
    "Process::system/1": "it starts a process",
    "Process::popen/2": "it starts a process",
}
Argument = tuple[str, Any]  # its base type, and the value


def array(base: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """An array of ones."""
    return np.ones(shape, dtype_of(base))


def opaque(name: str, shaped: bool, folder: Path) -> tuple[Any, ...]:
    """Large values of a type that the library defines."""
    match name:
        case "String::string":
            return (*TEXTS, str(folder / "picture.png").encode(), str(folder / "new").encode())
        case "stringArray":
            return StringArray((SIZE // 8,), (b"x",) * (SIZE // 8)), StringArray((), (b"x",))
        case "list":
            cells: Any = None
            for _ in range(SIZE // 64):
                cells = (1, cells)
            return (cells,)
        case "TermFile" | "File" | "BinFile":
            return NULL, *(Stream(io.BytesIO(text), "text", readable=True) for text in (*TEXTS[:3], *TEXTS[5:7], *PPM))
        case "complex":
            return (array("double", (SIZE // 16, 2) if shaped else (2,)),)
        case "color":
            return (array("int", (400, 300, 3) if shaped else (3,)),)
        case "time" | "syserr":
            return (0,)
        case "Interval":
            return (Interval(b"x", 1),)
        case "RTimer":
            return (Timer(),)
        case "Dir":
            return (Directory(b".", [b"x"]),)
        case "SDLdisplay":
            return (Display(1, (600, 500), np.zeros((600, 500, 3), np.uint8)),)
    return (World.captured(),)


def arguments(
    name: str, pattern: tuple[ast.Feature, ...] | None, kinds: dict[str, str], folder: Path
) -> tuple[Argument, ...]:
    """Values for a parameter of a type."""
    bases = KINDS[kinds[name]] if name in kinds else (name,)
    if bases[0] not in DTYPES:
        name = "String::string" if name == "string" else name
        return tuple((name, v) for v in opaque(name, pattern is not None, folder))
    if pattern is None:
        return tuple((b, v) for b in bases for v in NUMBERS.get(b, (3,)))
    match pattern:
        case (ast.FixedExtent(value=n),):
            return ((name, np.array([300, *[200] * (n - 1)], np.int32)),)
        case (ast.AnyExtent(), ast.AnyExtent(), ast.FixedExtent(value=n)):
            return ((name, array(name, (400, 300, n))),)
        case (ast.AnyExtent(),) if name == "int":
            return (name, np.array([1], np.int32)), (name, np.array([100, 1000], np.int32))
    vectors = [(SIZE // 8,), (SIZE // 16, 2)] if len(bases) > 1 else [(SIZE // dtype_of(name).itemsize,)]
    return tuple((b, array(b, shape)) for b in bases for shape in vectors)


def declared() -> Iterator[tuple[str, ast.FunDef]]:
    """The external functions of the library, by the names of their natives."""
    library = Library(None)
    for module in library:
        info = library.module(module)
        for name in info.functions:
            for d in info.definitions(name):
                if d.linkage == "external":
                    yield f"{module}::{name}/{len(d.params)}{'...' if d.varargs or d.varresults else ''}", d


DECLARED: dict[str, list[ast.FunDef]] = {}
for _name, _definition in declared():
    DECLARED.setdefault(_name, []).append(_definition)


def calls(name: str, folder: Path) -> Iterator[tuple[str, Callable[[World], Any]]]:
    """Calls of a native, each with words for it: every parameter goes through its values, all of them at once."""
    function = natives.TABLE[name]
    for d in DECLARED[name]:
        choices = [
            arguments(p.type.base.name, p.type.pattern, {t.name: t.kind for t in d.typevars}, folder) for p in d.params
        ]
        rounds = max((len(c) for c in choices), default=1)
        for k, turn in product(range(rounds), range(2 if len(choices) > 1 else 1)):
            chosen = [c[(k + turn * at) % len(c)] for at, c in enumerate(choices)]
            if name == "ArrayIO::printRows/3":  # nobody but `print` calls it: its text is a packed type
                rows = 300 + 100 * k
                triangle = array("double", (rows * (rows + 1) // 2,))
                known = np.array([rows], np.int32)
                chosen = [("String::string", PACKED.encode()), ("int", known), ("double", triangle)]
            if d.varargs:
                chosen += [(base, value) for value, base in MORE]
            options: dict[str, Any] = (
                {"bases": tuple(b for b, _ in chosen)}
                if function.wants_bases
                else {"result_bases": ("",)}
                if function.wants_result_bases
                else {}
            )
            args = [v for _, v in chosen]
            yield (
                ", ".join(b if b == "list" else repr(v)[:40] for b, v in chosen),
                lambda world, args=args, options=options: function(world, *args, **options),
            )


def world() -> World:
    """One that reads much, writes nowhere, and starts no processes."""
    null = open("/dev/null", "wb", buffering=0)  # noqa: SIM115
    NULL.renew_limit(MOST_WRITTEN)
    return World(io.BytesIO(TEXTS[5]), null, null, processes=False, output_limit=MOST_WRITTEN)


# which is made for each type of elements by one function: of them two are tried
FAMILIES = re.compile(r"(NPY|NPZ|Raw)::(read|map)[A-Z]\w+?(Byte|Short|Int|Long|Ubyte|Ushort|Uint|Ulong|Float)/\d")


# whose texts take long to be made
LONG = {"ComplexIO::print/3", "FibreIO::FibrePrint/2", "String::tos/2"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in LONG))
        for name in sorted(natives.TABLE)
        if not FAMILIES.fullmatch(name)
    ],
)
@pytest.mark.sample(4)
def test_a_native_asks_for_room(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in NO_MEMORY:
        pytest.skip(NO_MEMORY[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "SMALL", SMALL)
    (tmp_path / "picture.png").write_bytes(encode(np.zeros((600, 500, 3), np.uint8)))
    for words, call in calls(name, tmp_path) if name in DECLARED else ():
        outside = world()
        assert excess(lambda: call(outside), monkeypatch) <= 0, words  # noqa: B023


def test_every_native_is_declared_by_the_library() -> None:
    # which runs examples of comments
    of_the_library = {name for name in natives.TABLE if not name.startswith("Example::")}
    assert of_the_library - set(DECLARED) <= {"RTClock::touch/0", "FibreIO::FibreScanString/1"}


# ---------------------------------------------------------------- twins and primitives

# functions whose first argument is a vector of ints
INDEX_FIRST = {"take", "drop", "take_apl", "drop_apl", "rotate", "shift", "genarray"}


def shapes_for(module: str, name: str, arity: int, base: str, cell: int) -> Iterator[tuple[Any, ...]]:
    """Arguments of a twin or primitive, large arrays among them."""
    n = SIZE // dtype_of(base).itemsize
    a = array(base, (n // 2, 2)) if cell or n % 2 == 0 else array(base, (n,))
    scalar: Any = True if base == "bool" else 1.0 if base in REAL else 1
    few = np.array([n // 4], np.int32)
    match name, arity:
        case ("iota", 1):
            yield from ((n,), (np.array([n // 4, 3], np.int32),))
        case ("genarray", 2):
            yield from ((np.array([n], np.int32), scalar), (np.array([2], np.int32), a))
        case ("tile" | "tile_apl", 3):
            yield few, np.array([1], np.int32), a
        case ("rsum", 2):
            yield from ((0, a), (1, a))
        case ("reverse", 2):
            yield 0, a
        case ("rotate", 3):
            yield 0, 3, a
        case ("shift", 3):
            yield few, scalar, a
        case ("shift", 4):
            yield 0, 3, scalar, a
        case ("where" | "mask", 3):
            p = np.arange(a.size).reshape(a.shape) % 2 == 0
            yield from ((p, a, a), (p, a, scalar), (p, scalar, scalar), (True, a, a), (True, scalar, a))
        case ("ldexp", 2):
            yield (a, np.ones(a.shape, np.int32)) if module == "MathArray" else (1.5, 3)
        case ("frexp", 1) if module == "Math":
            yield (1.5,)
        case _ if module == "ComplexScalarArith":
            yield (array(base, (2,)),) * arity
        case _ if name in INDEX_FIRST and arity == 2:
            yield from ((few, a), (-few, a), (np.array([2 * len(a)], np.int32), a))
        case (_, 1):
            yield (a,)
        case _:
            yield from ((a, a), (a, scalar if not cell else a), (scalar if not cell else a, a))


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_twin_asks_for_room(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, rest = name.partition("::")
    short, _, arity = rest.rpartition("/")
    cell = int(name.startswith("Complex"))
    monkeypatch.setattr(memory, "SMALL", SMALL)
    for base in (
        ("double",) if cell or name.startswith("Math") else ("bool",) if short == "!" else ("int", "double", "ubyte")
    ):
        if not is_defined(
            lambda base=base: TWINS[name]((base,) * int(arity), cell)(*[np.ones((2, 2), dtype_of(base))] * int(arity))
        ):
            continue
        twin = TWINS[name]((base,) * int(arity), cell)
        for args in shapes_for(module, short, int(arity), base, cell):
            with np.errstate(all="ignore"):
                assert excess(lambda: twin(*args), monkeypatch) <= 0, (base, [np.shape(a) for a in args])  # noqa: B023


@pytest.mark.parametrize("op", sorted(EVALUATION))
def test_a_primitive_asks_for_room(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attrs = {"slice": (("*i",)), "place": ((".i",)), "like": (("",))}.get(op, ())
    monkeypatch.setattr(memory, "SMALL", SMALL)
    for base in ("bool",) if op in ("not", "and", "or") else ("int", "double", "ubyte"):
        if op not in STRUCTURAL and not is_defined(
            lambda base=base: evaluate(op, base)(*[np.ones(2, dtype_of(base))] * len(PRIMITIVES[op].args))
        ):
            continue
        function = evaluate(op, base, 0, attrs)
        for args in primitive_arguments(op, base):
            with np.errstate(all="ignore"):
                assert excess(lambda: function(*args), monkeypatch) <= 0, (base, [np.shape(a) for a in args])  # noqa: B023


def is_defined(action: Callable[[], Any]) -> bool:
    """Whether there is such an operation on a type."""
    try:
        action()
    except (KeyError, TypeError):
        return False
    except Exception:
        return True  # only the arguments do not fit
    return True


def primitive_arguments(op: str, base: str) -> Iterator[tuple[Any, ...]]:
    """Arguments of a primitive."""
    n = SIZE // dtype_of(base).itemsize
    a = array(base, (2, n // 2))
    scalar: Any = True if base == "bool" else 1.0 if base in REAL else 1
    match op:
        case "sel":
            yield (np.array([1], np.int32), a)
        case "modarray":
            yield a, (1, 2), scalar
        case "reshape":
            yield from (((n // 2, 2), a), ((1, 1), scalar))
        case "cat":
            yield a, a
        case "take" | "drop":
            yield from ((1, a), (-1, a))
        case "mask":
            yield from ((a != 0, a, a), (a != 0, a, scalar), (True, a, a), (a != 0, scalar, scalar))
        case "slice":
            yield a, 1
        case "place":
            yield (a,)
        case "like":
            yield a, a
        case "require":
            yield 1, 2, True
        case "ravel":
            yield (a.reshape(-1),)
        case "row" | "column":
            yield 7, 1, 1, 5
        case _ if op in STRUCTURAL:
            yield (a,) if op not in ("hideValue", "hideShape", "hideDim") else (0, a)
        case _ if len(PRIMITIVES[op].args) == 1:
            yield (a,)
        case _:
            yield from ((a, a), (a, scalar), (scalar, a))


def test_what_generated_code_calls_asks_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SMALL", SMALL)
    a = array("double", (SIZE // 16, 2))
    actions: list[Callable[[], Any]] = [
        lambda: copy(a), lambda: structure.stack([a, a, a], "double"), lambda: structure.filled((SIZE,), 1, "ubyte"),
        lambda: withloops.new((SIZE // 4,), "int", 3), lambda: withloops.new((SIZE // 4,), "int", None),
        lambda: withloops.overlapping([((0,), (5,)), ((3,), (8,))], (SIZE,)),
        lambda: withloops.Cells((SIZE // 16,), "double", 0.0, True, None).put(0, a[0]),
        lambda: next(iter(withloops.indices(range(1 << 40), range(2)))),
    ]  # fmt: skip
    for action in actions:
        assert excess(action, monkeypatch) <= 0


def test_what_is_watched_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SMALL", SMALL)
    assert excess(lambda: bytes(2 * SIZE), monkeypatch) > 0
    assert excess(lambda: (memory.room(2 * SIZE), bytes(2 * SIZE)), monkeypatch) <= 0
