"""Programs that are run again and again: what an earlier run has found out about one is kept, and taken where its files
are as they were.

In: a workspace and the file of a program. Out: the checked program; and after its run, when its output is out, what the
next one begins with: to write that takes some ten milliseconds, and saves the next run several times as many. What only
a next run without an engine needs is generated in a process that nobody waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.base.collection import without_collection
from sacpy.jit.cache import Cache, native_folder
from sacpy.lang.files import noting
from sacpy.lang.source import Source

if TYPE_CHECKING:
    from sacpy.interp.kept_code import KeptCode
    from sacpy.lang.core import CheckedProgram
    from sacpy.lang.diagnostics import Diagnostic
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.lang.kept_programs import Contents, KeptProgram
    from sacpy.workspace import Workspace


class Opening:
    """One program file on its way through a run."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        self.workspace = workspace
        self._path = path
        self._cache = Cache(native_folder())
        self._name = ""  # "": it is not kept
        self.code: KeptCode | None = None  # Python that is generated for it
        self._program: CheckedProgram | None = None
        self._variant = ""  # which Python would be generated
        self._found: Sequence[Diagnostic] = ()
        self._noted: dict[str, str] = {}

    @contextmanager
    def during(self) -> Iterator[None]:
        """Around opening and running: files that are read are noted."""
        with noting() as self._noted:
            yield

    def program(self) -> tuple[CheckedProgram, Sequence[Diagnostic]]:
        """The program, ready to run, and what there is to say about it. Raises `SacError`."""
        kept = self._kept()
        self._program, self._found = self.workspace.load(self._path) if kept is None else (kept, kept.found)
        self.code = self._kept_code(kept)
        if self.workspace.engine is not None:
            self.workspace.engine.rest(*((0.0, False) if kept is None else (kept.idle_for, kept.has_rested)))
        return self._program, self._found

    @without_collection("a kept program")
    def _kept(self) -> KeptProgram | None:
        """The program as an earlier run has kept it."""
        workspace, path = self.workspace, self._path
        if self._cache.folder is None or not path.is_file():  # what is no file can be read but once
            return None
        from sacpy.base.plain import Unpacked
        from sacpy.lang.kept_programs import KeptProgram

        try:
            source = Source(str(path), path.read_bytes().decode("utf-8", "surrogateescape"))
            self._name = workspace.kept_name(source, path.parent, "run")
        except OSError:
            return None
        data = self._cache.read(self._name)
        if data is None:
            return None

        def read() -> ElaboratedProgram:
            return workspace.elaborated(source, path.parent)

        try:
            return KeptProgram(data, source, read)
        except Unpacked:
            return None

    def keep(self, alone: bool) -> None:
        """After the run, when all that it has printed is out: leaves what the next one begins with. `alone`: there is
        nothing else in this process."""
        if not self._name or self._program is None:
            return
        from sacpy.lang.deep import deeply
        from sacpy.lang.kept_programs import bytes_of

        kept = deeply(self._contents)
        if kept is None:
            return
        data = bytes_of(kept)
        self._cache.write(self._name, data)
        if alone and kept["idle_for"] and self.code is not None and not self.code.is_complete:
            from sacpy.jit.run.fork import detach

            detach(lambda: deeply(lambda: self._complete(kept, data)))

    def _complete(self, kept: Contents, data: bytes) -> None:
        """In a process that nobody waits for: generates functions as they are written, for the next run, which is one
        without an engine. `data`: what has been kept."""
        from sacpy.lang.kept_programs import bytes_of

        assert self.code is not None
        self.code.complete()
        code = {**kept["code"], **self._code(kept["files"])}
        if self._cache.read(self._name) == data:  # else the next run has been faster
            self._cache.write(self._name, bytes_of({**kept, "code": code, "has_rested": True}))

    def _contents(self) -> Contents | None:
        """What is to be kept of the program, if that is another than what is."""
        from sacpy.lang.kept_programs import KeptProgram, contents

        program = self._program
        assert program is not None
        engine = self.workspace.engine
        idle_for = None if engine is None else engine.idle_for
        if isinstance(program, KeptProgram):
            code = self._code({**program.files, **self._noted})
            return program.grown(self._noted, code, idle_for, engine is not None and engine.has_rested)
        made = contents(program.whole(), self._found, self._noted, self._code(self._noted))
        return made if made is None else {**made, "idle_for": idle_for or 0.0}

    def _code(self, files: Mapping[str, str]) -> dict[str, bytes]:
        """What Python there is to keep, if there is more of it than was. `files`: what the program was made of."""
        from sacpy.lang.kept_programs import packing_of

        packed = None if self.code is None else self.code.packed(packing_of(files))
        return {} if packed is None else {self._variant: packed}

    def _kept_code(self, kept: KeptProgram | None) -> KeptCode | None:
        """Python that an earlier run has generated, and room for what this one does."""
        from sacpy.interp.kept_code import KeptCode, variant_of

        if not self._name:
            return None
        self._variant = variant_of(self.workspace.target, self.workspace.strict_fp)
        data = b"" if kept is None else kept.code.get(self._variant, b"")
        try:
            return KeptCode(data, None if kept is None else kept.packing)
        except (ValueError, TypeError, EOFError):  # it is none that was written here
            return KeptCode()


__all__ = ["Opening"]
