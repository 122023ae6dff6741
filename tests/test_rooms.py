"""The house: which file imports which. No circle of files is large, packages and the compiler's rooms stand above one
another, and no file is too long to read."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.tools import ROOT

LARGEST_CIRCLE = 5  # files that cannot be read without one another
LONGEST = 450  # lines of a file
ROOMS = (
    "failures", "options", "kinds", "beside", "cache",  # what every room may use
    "ir", "analysis", "specialise", "passes", "llvm", "schedule", "fingerprint", "host", "kernels", "emission",
    "device", "run", "reports",
)  # fmt: skip
Edge = tuple[str, str]  # who imports, and what


def modules() -> dict[str, Path]:
    """The files of sacpy by the names of their modules."""
    found = {}
    for path in sorted((ROOT / "sacpy").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def imports(node: ast.AST, typing: bool = False) -> Iterator[tuple[str, bool]]:
    """The modules of sacpy that code imports, at whatever place; and whether that is for type checking only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for statement in child.body:
                yield from imports(ast.Module([statement], []), True)
            for statement in child.orelse:
                yield from imports(ast.Module([statement], []), typing)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, typing) for alias in child.names if alias.name in MODULES)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "relative imports are not used here"
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                if whole in MODULES or child.module in MODULES:
                    yield (whole if whole in MODULES else str(child.module)), typing
        else:
            yield from imports(child, typing)


@cache
def every_import() -> list[tuple[str, str, bool]]:
    return [
        (name, *found)
        for name, path in MODULES.items()
        for found in imports(ast.parse(path.read_text(encoding="utf-8")))
    ]


def edges(*, typing: bool) -> set[Edge]:
    """Who imports whom. `typing`: what only a type checker sees counts as well."""
    return {(name, target) for name, target, only_typing in every_import() if typing or not only_typing}


def circles(found: Iterable[Edge]) -> list[list[str]]:
    """The sets of nodes that reach one another (Tarjan, Depth-first search and linear graph algorithms, 1972)."""
    next_to = defaultdict(set)
    for a, b in found:
        next_to[a].add(b)
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(next_to[node]):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                circles.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(next_to):
        if node not in number:
            visit(node)
    return circles


def between(part: Callable[[str], str], found: Iterable[Edge]) -> set[Edge]:
    """The same imports, of larger parts."""
    return {(part(a), part(b)) for a, b in found if part(a) != part(b)}


def package(name: str) -> str:
    """What stands at the top of sacpy: a package, or a file of its own; the face of all is one of them."""
    return name.split(".")[1] if "." in name else name


def room(name: str) -> str:
    return name.split(".")[2]


def in_compiler(found: Iterable[Edge]) -> list[Edge]:
    """Imports within the compiler, but for its own face, which imports nothing."""
    return [edge for edge in found if all(name.startswith("sacpy.jit.") for name in edge)]


def test_no_circle_of_files_is_large() -> None:
    assert [circle for circle in circles(edges(typing=False)) if len(circle) > LARGEST_CIRCLE] == []


@pytest.mark.parametrize("typing", [False, True])
def test_packages_stand_above_one_another(typing: bool) -> None:
    assert circles(between(package, edges(typing=typing))) == []


def test_every_room_of_the_compiler_has_its_place() -> None:
    assert {room(name) for name in MODULES if name.startswith("sacpy.jit.")} == set(ROOMS)


@pytest.mark.parametrize("typing", [False, True])
def test_a_room_of_the_compiler_imports_what_stands_before_it(typing: bool) -> None:
    wrong = [(a, b) for a, b in in_compiler(edges(typing=typing)) if ROOMS.index(room(a)) < ROOMS.index(room(b))]
    assert wrong == []


def test_what_changes_graphs_knows_of_no_target() -> None:
    below = {"ir", "analysis", "specialise", "passes"}
    targets = {"llvm", "schedule", "host", "kernels", "emission", "device", "run", "reports"}
    assert [(a, b) for a, b in in_compiler(edges(typing=True)) if room(a) in below and room(b) in targets] == []


def test_circles_are_found() -> None:
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "a")]) == [
        ["d", "e"],
        ["a", "b", "c"],
    ]
    assert circles([("a", "b"), ("b", "c"), ("a", "c")]) == []
    code = (
        "import sacpy.cli\nif TYPE_CHECKING:\n    from sacpy.jit import kinds\nelse:\n"
        "    from sacpy.nodes import Node\ndef f():\n    from sacpy import session\n"
    )
    assert set(imports(ast.parse(code))) == {
        ("sacpy.cli", False),
        ("sacpy.jit.kinds", True),
        ("sacpy.nodes", False),
        ("sacpy.session", False),
    }


def test_files_can_be_read_in_one_go() -> None:
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


DEEPEST = 3  # classes of the compiler that inherit from one another: a pass holds what is known, it does not inherit it


def parents() -> dict[str, list[str]]:
    """The classes of the compiler with those of it that they inherit from."""
    found = {}
    for module, path in MODULES.items():
        if not module.startswith("sacpy.jit"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        known |= {c.name: f"{module}.{c.name}" for c in classes}
        for c in classes:
            bases = [known.get(b.id, "") for b in c.bases if isinstance(b, ast.Name)]
            found[f"{module}.{c.name}"] = [b for b in bases if b.startswith("sacpy.jit")]
    return found


def depth(name: str, of: dict[str, list[str]]) -> int:
    """How many classes stand above one another, the class itself included."""
    return 1 + max((depth(parent, of) for parent in of.get(name, ())), default=0)


def test_no_inheritance_is_deep() -> None:
    of = parents()
    deep = {name: depth(name, of) for name in of if depth(name, of) > DEEPEST}
    assert len(of) > 300 and not deep
    assert depth("a", {"a": ["b"], "b": ["c", "d"], "c": ["e"], "d": [], "e": []}) == 4
