"""Checked programs as they are kept between runs, so that the next one neither parses, elaborates nor checks.

In: an elaborated program after a run, the files that it was made of, and what there is to say about it. Out: bytes; and
from the bytes, while those files are as they were, a program that runs the same (`KeptProgram`): its functions are
unpacked one by one, when they are first called. Whatever is asked of it that no earlier run has asked is found out from
the texts as ever.

Spans keep the names of their texts. Where something of the program came from no file, a macro of the command line, its
text is kept too.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any, TypedDict
from weakref import proxy

from sacpy.base.plain import VERSION, Packing, Unpacked
from sacpy.lang import core
from sacpy.lang.core_data import CLASSES
from sacpy.lang.diagnostics import Diagnostic, Edit, Frame, Label
from sacpy.lang.files import CHANGING, are_as_noted
from sacpy.lang.source import BUILTIN, Source, Span, library_place, library_source
from sacpy.lang.types import Shape

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.lang.infer import Inferrer
    from sacpy.lang.infer_calls import Key, Outcome

MOST = 2000  # outcomes of calls
Place = str | tuple[str, str]  # of a text: where it stands; or its name, and it itself
PlainSpan = tuple[Place, int, int, Any]  # the place of its text, where it starts and ends, and that of the macro


class Contents(TypedDict):
    """What is kept of a program: the files that it was made of, each with a digest; the key of its `main`; whether it
    looks at the words of its command line; what there is to say about it. By key, what is packed of its functions,
    heads of others, and global objects; which functions of the library have no effects. `outcomes`: what inference has
    found out about calls; `code`: Python that was generated for it, by variant (`interp/kept_code`); `idle_for`: the
    seconds of a short run in which there was nothing to compile, else 0; `has_rested`: whether a run since had no
    engine."""

    files: dict[str, str]
    main: str
    reads_words: bool
    found: bytes
    functions: dict[str, bytes]
    heads: dict[str, bytes]
    globals: dict[str, bytes]
    pure: dict[str, bool]
    outcomes: bytes
    code: dict[str, bytes]
    idle_for: float
    has_rested: bool


class KeptProgram:
    """A `CheckedProgram` that was kept. `read`: makes it of its texts."""

    def __init__(self, data: bytes, source: Source, read: Callable[[], ElaboratedProgram]) -> None:
        """Raises `Unpacked` where the bytes are none that `bytes_of` gave, or files have changed."""
        try:
            self._kept: Contents = marshal.loads(data)
            files = self._kept["files"]
            # seconds of an earlier run that was short, and in which there was nothing to compile; 0 otherwise
            self.idle_for, self.has_rested = self._kept["idle_for"], self._kept["has_rested"]
            self._code: dict[str, bytes] = self._kept["code"]
        except (ValueError, TypeError, EOFError, KeyError) as error:
            raise Unpacked(str(error)) from error
        if not are_as_noted(files):
            raise Unpacked("a file has changed")
        self._source = source
        self.packing = packing_of(files, source)
        self._read = read
        self._whole: ElaboratedProgram | None = None
        self._made: dict[str, core.Function] = {}
        self._signatures: dict[str, core.Signature] = {}
        self._lock = RLock()  # an interpreter and a compiler may ask at the same time
        self._inferrer: Inferrer | None = None
        self._known = 0  # outcomes of calls that were
        self.found: list[Diagnostic] = self.packing.unpacked(self._kept["found"]) if self._kept["found"] else []

    @property
    def inferrer(self) -> Inferrer:
        """What infers shapes in it, and knows what it has found out in earlier runs."""
        if self._inferrer is None:
            from sacpy.lang.infer import Inferrer

            with self._lock:
                outcomes = _outcomes().unpacked(self._kept["outcomes"])
                if self._inferrer is None:
                    self._known = len(outcomes)
                    self._inferrer = Inferrer(proxy(self), outcomes=outcomes)
        return self._inferrer

    @property
    def files(self) -> dict[str, str]:
        """The files that it was made of, each with a digest."""
        return self._kept["files"]

    @property
    def code(self) -> dict[str, bytes]:
        """Python that was generated for it, by variant."""
        return self._code

    def signature(self, key: str) -> core.Signature:
        """The head of an instance. Raises `SacError`."""
        found = self._signatures.get(key)
        if found is None:
            with self._lock:
                data = self._kept["heads"].get(key)
                if key in self._kept["functions"]:
                    made: core.Signature = self.function(key).signature
                else:
                    made = self.whole().signature(key) if data is None else self.packing.unpacked(data)
                found = self._signatures.setdefault(key, made)
        return found

    def function(self, key: str) -> core.Function:
        """An instance with its body. Raises `SacError` with all that is wrong in it."""
        found = self._made.get(key)
        if found is None:
            with self._lock:
                data = self._kept["functions"].get(key)
                made = self.whole().function(key) if data is None else self.packing.unpacked(data)
                found = self._made.setdefault(key, made)
        return found

    def global_object(self, name: str) -> core.Global:
        """A global object by key."""
        data = self._kept["globals"].get(name)
        found: core.Global = self.whole().global_object(name) if data is None else self.packing.unpacked(data)
        return found

    def whole(self) -> ElaboratedProgram:
        """All that is known of the program: it is made of its texts now."""
        with self._lock:
            if self._whole is None:
                self._whole = self._read()
                self._whole.user_keys([])
                # an instance is known from when something that calls it has been elaborated: in the order of then, but
                # for what only the words of a command line have called
                for key in self._kept["functions"]:
                    if key in self._whole.instances:
                        self._whole.function(key)
            return self._whole

    def main_key(self) -> str:
        """The key of `main`."""
        return self._kept["main"]

    def text(self) -> str:
        """The text of its file."""
        return self._source.text

    def reads_words(self) -> bool:
        """Whether it looks at the words of its command line."""
        return self._kept["reads_words"]

    def elaborated(self) -> Sequence[core.Function]:
        """None: what is asked for now is for a run that knows what to do."""
        return ()

    def known_pure(self, key: str) -> bool | None:
        """Whether a function of the library has no effects, where that was known."""
        return self._kept["pure"].get(key)

    def grown(
        self,
        files: Mapping[str, str],
        code: Mapping[str, bytes],
        idle_for: float | None = None,
        has_rested: bool = False,
    ) -> Contents | None:
        """The same with what has come about since; None if that is nothing, or a file has changed meanwhile. `files`:
        those that have been read since; `code`: of variants of which there is more than was kept; `idle_for`,
        `has_rested`: of this run, as far as that is known."""
        whole, found = self._whole, {} if self._inferrer is None else lasting(self._inferrer.outcomes)
        more = {**self._code, **code}
        if idle_for is None or (bool(idle_for) == bool(self.idle_for) and idle_for <= 2 * self.idle_for):
            idle_for = self.idle_for  # about as before
        has_rested = has_rested or self.has_rested
        if whole is None:
            is_more = self._known < len(found) <= MOST
            if not is_more and not code and (idle_for, has_rested) == (self.idle_for, self.has_rested):
                return None
            outcomes = _outcomes().packed(found) if is_more else self._kept["outcomes"]
            changed: Contents = {**self._kept, "outcomes": outcomes, "code": more}
            return {**changed, "idle_for": idle_for, "has_rested": has_rested}
        before = self._kept["files"]
        if any(before.get(path, noted) != noted for path, noted in files.items()):
            return None
        grown = contents(whole, self.found, {**before, **files}, more, self._kept)
        if grown is None:
            return None
        found = lasting({**whole.inferrer.outcomes, **self.inferrer.outcomes})
        grown["idle_for"], grown["has_rested"] = idle_for, has_rested
        if len(found) <= self._known and {**grown, "outcomes": self._kept["outcomes"]} == self._kept:
            return None
        grown["outcomes"] = _outcomes().packed(found)
        return grown


def contents(
    program: ElaboratedProgram,
    found: Sequence[Diagnostic],
    files: Mapping[str, str],
    code: Mapping[str, bytes],
    before: Contents | None = None,
) -> Contents | None:
    """What is to be kept of a program, as far as it has come about, of which there is this to say; None if nothing is,
    since something that it was made of may be another the next time. `files`: what it was made of; `code`: Python that
    was generated for it, by variant; `before`: what was kept. Raises `SacError` where it has no `main`."""
    if CHANGING in files.values():
        return None
    pack = packing_of(files).packed
    functions, heads = (dict(before["functions"]), dict(before["heads"])) if before is not None else ({}, {})
    pure = {}
    for key, instance in tuple(program.instances.items()):
        if instance.function is not None and key not in functions:
            functions[key] = pack(instance.function)
        elif instance.made is not None and key not in functions and key not in heads:
            heads[key] = pack(instance.made.signature)
        known = program.known_pure(key)
        if known is not None:
            pure[key] = known
    for key, initial in program.initials.items():
        functions.setdefault(key, pack(initial))
    return {
        "files": dict(files),
        "main": program.main_key(),
        "reads_words": program.reads_words(),
        "found": pack(list(found)) if found else b"",
        "functions": functions,
        "heads": heads,
        "globals": {name: pack(one) for name, one in program.globals.items()},
        "pure": pure,
        "outcomes": _outcomes().packed(lasting(program.inferrer.outcomes)),
        "code": dict(code),
        "idle_for": 0.0,
        "has_rested": False,
    }


def bytes_of(contents: Contents) -> bytes:
    """What is kept, as bytes."""
    return marshal.dumps(dict(contents), VERSION)


def lasting(outcomes: Mapping[Key, Outcome]) -> dict[Key, Outcome]:
    """What inference has found out about calls, so that it is found again: what is wrong with some is left out, it has
    places; and calls with values that equal nothing."""
    found = tuple(outcomes.items())  # at once: somebody may still be compiling
    right = {key: o for key, o in found if not o.violated and o.failure is None and not _has_nan(key)}
    return dict(islice(right.items(), MOST))


def _has_nan(key: Key) -> bool:
    return any("nan" in argument[1] for argument in key[1] if isinstance(argument, tuple))


@cache
def _outcomes() -> Packing:
    from sacpy.lang.infer_calls import Outcome

    return Packing(Shape, Outcome, merged=True)


def packing_of(files: Mapping[str, str], source: Source | None = None) -> Packing:
    """Packs what is kept of a program that was made of these files, and unpacks it. `source`: the program's, for who
    unpacks."""
    texts: dict[Place, Source] = {BUILTIN.name: BUILTIN}
    if source is not None:
        texts[source.name] = source

    def text(place: Place) -> Source:
        known = texts.get(place)
        if known is None:
            known = texts[place] = library_source(place) if isinstance(place, str) else Source(*place)
        return known

    @cache
    def place(source: Source) -> Place:
        where = library_place(source)
        in_file = where != source.name or where in files or source is BUILTIN
        return where if in_file else (source.name, source.text)

    def plain(span: Span) -> PlainSpan:
        return place(span.source), span.start, span.end, None if span.macro is None else plain(span.macro)

    def made(parts: PlainSpan) -> Span:
        where, start, end, macro = parts
        return Span(text(where), start, end, None if macro is None else made(macro))

    # there are as many spans as everything else: by themselves they take half the time
    return Packing(core, *CLASSES, Diagnostic, Edit, Frame, Label, special={Span: ("span", plain, made)})


__all__ = ["KeptProgram", "bytes_of", "contents", "packing_of"]
