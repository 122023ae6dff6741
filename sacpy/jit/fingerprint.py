"""The name under which compiled code is kept: a digest of all that it depends on, found before anything is compiled.

In: a function, the kind of its arguments, options. Out: a hexadecimal digest. It covers the text of the function's core
and of all functions that it may call; a function of the library is named by its key, since a digest of the library's
and the compiler's files is part of it as well; so are the processor with its features, and the versions of Python,
NumPy and llvmlite. Redefining a function changes the digest; nothing else has to be forgotten.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options
from sacpy.lang.ast import Feature
from sacpy.lang.core import Block, Call, Fold, Function, If, Let, Loop, Program, Signature, Slot, Stmt, WithLoop
from sacpy.lang.core_printer import print_function
from sacpy.lang.diagnostics import SacError
from sacpy.lang.files import files_in, folder_digest, stamps
from sacpy.lang.modules import library_digest
from sacpy.lang.source import STDLIB
from sacpy.nodes import field_names

_LIBRARY = str(STDLIB)


class Fingerprints:
    """Digests of the functions of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._texts: dict[str, tuple[str, frozenset[str]]] = {}

    def digest(self, key: str, kind: Kind, options: Options, border: object = None) -> str:
        """The name of a function's version. `border`: where arrays are not all dense that go in and out."""
        found = new_digest(f"{platform_digest()}\n{options.key}\n{kind!r}\n{key}\n{border or ''}".encode())
        seen = {key}
        waiting = [key]
        while waiting:
            text, called = self._function(waiting.pop())
            found.update(text.encode("utf-8", "surrogateescape"))
            new = sorted(called - seen)
            seen.update(new)
            waiting += new
        return found.hexdigest()[:40]

    def _function(self, key: str) -> tuple[str, frozenset[str]]:
        """What stands for a function in a digest, and the functions it may call."""
        known = self._texts.get(key)
        if known is None:
            known = self._texts[key] = self._described(key)
        return known

    def _described(self, key: str) -> tuple[str, frozenset[str]]:
        try:
            signature = self.program.signature(key)
            if signature.native is not None or (
                signature.span.source.name.startswith(_LIBRARY) and "_MAIN::" not in key
            ):
                return _head(signature), frozenset()
            function = self.program.function(key)
        except SacError as error:  # a candidate that is wrong in itself: reported by whoever calls it
            return f"{key} {error}\n", frozenset()
        return _head(signature) + print_function(function), callees(function)


def _head(signature: Signature) -> str:
    """A signature with all that its text leaves out."""
    slots = "; ".join(map(_slot, (*signature.params, *signature.results)))
    return f"{signature.key} {signature.text} {signature.inlining} {slots}\n"


def _slot(slot: Slot) -> str:
    pattern = "scalar" if slot.pattern is None else ",".join(map(_feature, slot.pattern))
    return f"{slot.base} {slot.bind.name} {pattern} {slot.cell}"


def _feature(feature: Feature) -> str:
    return (
        f"{type(feature).__name__}("
        f"{','.join(str(getattr(feature, name)) for name in field_names(feature) if not name.endswith('span'))})"
    )


def callees(function: Function) -> frozenset[str]:
    """The functions that a function may call, by key."""
    blocks = [*(condition.block for condition in function.conditions), function.body]
    return frozenset(key for block in blocks for key in _in_block(block))


def _in_block(block: Block) -> Iterator[str]:
    for statement in block.statements:
        yield from _in_statement(statement)


def _in_statement(statement: Stmt) -> Iterator[str]:
    match statement:
        case Let(rhs=Call(candidates=candidates)):
            yield from candidates
        case Let(rhs=WithLoop() as loop):
            for operator in loop.operators:
                if isinstance(operator, Fold):
                    yield from _in_block(operator.combine.body)
            for partition in loop.partitions:
                yield from _in_block(partition.body)
        case If():
            yield from _in_block(statement.then)
            yield from _in_block(statement.otherwise)
        case Loop():
            yield from _in_block(statement.condition)
            yield from _in_block(statement.body)


def _version(package: str) -> Iterator[str]:
    """What tells one version of a package from another without loading it: its files."""
    spec = find_spec(package)
    if spec is not None and spec.origin is not None:
        yield from stamps(files_in(Path(spec.origin).parent, (".py",), deep=False))


@cache
def platform_digest() -> str:
    """A digest of the machine, of the compiler, and of the library."""
    from sacpy.jit.llvm.processor import identity

    parts = [identity(), sys.platform, sys.version, library_digest(), *_version("numpy"), *_version("llvmlite")]
    parts += map(folder_digest, ("jit", "withloop", "interp"))
    return new_digest("\n".join(parts).encode()).hexdigest()
