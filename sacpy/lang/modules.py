"""Modules: from a module's name to its definitions.

In: a name, and where to look (beside the program, `-L` folders, the standard library). Out: a `ModuleInfo`, whose
function definitions are decoded one at a time. What has been parsed of the standard library is kept in one file in the
cache folder, so that start-up does not grow with it.
"""

from __future__ import annotations

import functools
import marshal
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sacpy.base import kept
from sacpy.base.plain import Packing
from sacpy.base.spelling import closest
from sacpy.lang import ast, ast_expressions
from sacpy.lang.diagnostics import Diagnostic, Edit, Label, SacError
from sacpy.lang.files import file_bytes, is_there, sources_digest
from sacpy.lang.image import IMAGE, joined, parts, read_image, write_image
from sacpy.lang.source import NOWHERE, STDLIB, Source, Span, library_place, library_source
from sacpy.nodes import Record, field


class ModuleInfo(Record, repr=False):
    """A parsed module. `functions` has, per name, the definitions in order, each an AST or what it was packed to."""

    name: str
    kind: str
    deprecated: str | None
    classtype: ast.TypeExpr | None
    interfaces: tuple[ast.Interface, ...]
    typedefs: dict[str, ast.TypeDef]
    structs: dict[str, ast.StructDef]
    objects: dict[str, ast.ObjDef]
    functions: dict[str, list[ast.FunDef | bytes]]
    span: Span
    library: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()

    def definitions(self, name: str) -> list[ast.FunDef]:
        """The functions of that name, in order of definition."""
        entries = self.functions.get(name, [])
        for i, entry in enumerate(entries):
            if isinstance(entry, bytes):
                entries[i] = packing().unpacked(entry)
        return entries  # type: ignore[return-value]


def module_info(module: ast.Module, library: bool = False, diagnostics: tuple[Diagnostic, ...] = ()) -> ModuleInfo:
    """Sorts a module's definitions into tables."""
    info = ModuleInfo(
        module.name,
        module.kind,
        module.deprecated,
        module.classtype,
        (),
        {},
        {},
        {},
        {},
        module.span,
        library,
        diagnostics,
    )
    interfaces: list[ast.Interface] = []
    problems: list[Diagnostic] = []
    for definition in module.definitions:
        match definition:
            case ast.Interface():
                interfaces.append(definition)
            case ast.FunDef():
                info.functions.setdefault(definition.name, []).append(definition)
            case ast.TypeDef():
                _define(info.typedefs, definition.name, definition, problems)
            case ast.StructDef():
                _define(info.structs, definition.name, definition, problems)
            case ast.ObjDef():
                _define(info.objects, definition.name, definition, problems)
    info.interfaces = tuple(interfaces)
    info.diagnostics = (*diagnostics, *problems)
    return info


def _define(
    table: dict[str, ast.TypeDef] | dict[str, ast.StructDef] | dict[str, ast.ObjDef],
    name: str,
    definition: ast.TypeDef | ast.StructDef | ast.ObjDef,
    problems: list[Diagnostic],
) -> None:
    earlier = table.get(name)
    if earlier is None:
        table[name] = definition  # type: ignore[assignment]
    else:
        help = "rename one of the two, or remove it"
        problems.append(
            Diagnostic(
                "E0304",
                f"{name} is defined twice",
                definition.span,
                "defined again",
                (Label(earlier.span, "first defined here"),),
                help=help,
            )
        )


class Loader(Record, repr=False):
    """Finds, parses and remembers modules."""

    search: Sequence[Path] = ()
    include_path: Sequence[Path] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    cache: Path | None = None
    modules: dict[str, ModuleInfo] = field(default_factory=dict)
    library: Library | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    texts: Mapping[str, str] = field(
        default_factory=dict
    )  # what stands for these files, by name: changes that are being tried

    def load(self, name: str, wanted_by: Span = NOWHERE) -> ModuleInfo:
        """The module of that name. Raises `SacError` (E0301) when there is none."""
        info = self.modules.get(name)
        if info is None:
            info = self._find(name, wanted_by)
            self.modules[name] = info
        return info

    def _find(self, name: str, wanted_by: Span) -> ModuleInfo:
        for folder in self.search:
            path = folder / f"{name}.sac"
            if is_there(path):
                info = parse_file(path, self.include_path, self.defines, search=self.search, texts=self.texts)
                if info.kind == "program" or info.name != name:
                    raise SacError(_not_that_module(name, path, info, wanted_by))
                self.diagnostics += info.diagnostics
                return info
        library = self.read_library()
        if name in library:
            return library.module(name)
        raise SacError(self._missing(name, wanted_by))

    def read_library(self) -> Library:
        """The modules of the standard library, packed; read when they are first asked for."""
        if self.library is None:
            self.library = load_library(self.cache)
        return self.library

    def _missing(self, name: str, span: Span) -> Diagnostic:
        known = sorted({*(self.library or {}), *(p.stem for folder in self.search for p in folder.glob("*.sac"))})
        near = closest(name, known)
        searched = ", ".join(str(folder) for folder in self.search)
        return Diagnostic(
            "E0301",
            f"there is no module {name}",
            span,
            "no such module",
            notes=(f"searched: {searched or 'no folder'}, then the standard library",),
            help=f"did you mean {near[0]}?"
            if near
            else "put the module beside the program, or name its folder with -L DIR",
            edit=Edit(span, near[0]) if near else None,
        )


def _not_that_module(name: str, path: Path, info: ModuleInfo, span: Span) -> Diagnostic:
    what = "a program" if info.kind == "program" else f"the {info.kind} {info.name}"
    return Diagnostic(
        "E0302",
        f"{path} is {what}, not the module {name}",
        span,
        "wanted here",
        help=f"begin that file with 'module {name};' or rename it",
    )


def parse_file(
    path: Path,
    include_path: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    library: bool = False,
    search: Sequence[Path] = (),
    texts: Mapping[str, str] | None = None,
) -> ModuleInfo:
    """Parses a file into a `ModuleInfo`; `search`: further folders with modules whose operators it may use; `texts`:
    what stands for files, by name. Raises `SacError` with what the parser found, or if the file cannot be read
    (E0303)."""
    try:
        text = (texts or {}).get(str(path)) or file_bytes(path).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SacError(
            Diagnostic("E0303", f"cannot read {path}: {error.strerror}", NOWHERE, help=other_file(path))
        ) from None
    return parse_source(Source(str(path), text), include_path, defines, library, search)


def other_file(path: Path) -> str:
    """What to do about a file that cannot be read."""
    try:
        here = [] if path.exists() else [p.name for p in path.parent.glob("*.sac")]
    except (OSError, ValueError):
        here = []
    near = [f"{path.name}.sac"] if f"{path.name}.sac" in here else closest(path.name, here)
    return f"did you mean {path.parent / near[0]}?" if near else "check the file's name and its permissions"


def parse_source(
    source: Source,
    include_path: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
    library: bool = False,
    search: Sequence[Path] = (),
) -> ModuleInfo:
    """Parses a source into a `ModuleInfo`. Raises `SacError` with the errors that the parser found."""
    from sacpy.lang.parser import parse_module

    parsed = parse_module(
        source, defines=defines or {}, include_path=tuple(include_path), operators=used_operators(source, search)
    )
    if any(d.severity == "error" for d in parsed.diagnostics):
        raise SacError(*parsed.diagnostics)
    return module_info(parsed.module, library, parsed.diagnostics)


_MENTIONED = re.compile(r"\b(?:use|import)\s+(\w+)|\b(\w+)\s*::")


@functools.lru_cache(maxsize=256)
def _operators(path: str, changed: int) -> frozenset[str]:
    """The operators of its own that a file defines. `changed`: when it last was."""
    from sacpy.lang.preprocessor import defined_operators

    try:
        text = file_bytes(Path(path)).decode("utf-8", "surrogateescape")
    except OSError:
        return frozenset()  # whoever uses the module is told
    return frozenset(defined_operators(Source(path, text)))


def used_operators(source: Source, folders: Sequence[Path]) -> frozenset[str]:
    """Operators that the modules beside the program define: they may be used here, so the lexer must know them."""
    names = {a or b for a, b in _MENTIONED.findall(source.text)}
    home = Path(source.name).parent
    paths = [folder / f"{name}.sac" for folder in {*folders, home} for name in sorted(names)]
    return frozenset(op for path in paths if is_there(path) for op in _operators(str(path), path.stat().st_mtime_ns))


# ---------------------------------------------------------------- the standard library, parsed once


KEPT = 8  # parsed libraries in the cache
EFFECTS = "/effects"  # beside the modules in an image: which functions have no effects


def library_digest() -> str:
    """A digest of the library's files (names, sizes, times) and of the front end's own version."""
    return sources_digest()[:24]


class Library(Mapping[str, bytes]):
    """The standard library: module name -> packed `ModuleInfo`. What has been parsed is kept in the cache file (written
    atomically), which another time begins with; the first time begins with the image that the installer left. What
    neither has is parsed when it is first asked for, together with the modules that it mentions."""

    def __init__(self, path: Path | None, image: Path = IMAGE) -> None:
        self._path = path
        self._modules: dict[str, ModuleInfo] = {}
        self._names = sorted(p.stem for p in STDLIB.glob("*.sac"))
        self._parsed = {} if path is None else _kept(path)
        if not self._parsed:
            self._parsed = read_image(image)
            self._keep()

    def __getitem__(self, name: str) -> bytes:
        if name not in self._parsed:
            if name not in self._names:
                raise KeyError(name)
            self._parse(self._mentioned(name))
        return self._parsed[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def module(self, name: str) -> ModuleInfo:
        """A module, the same for all programs: what one has decoded of it, the next finds."""
        found = self._modules.get(name)
        if found is None:
            found = self._modules[name] = packing().unpacked(self[name])
        return found

    @functools.cached_property
    def pure(self) -> Mapping[str, bool]:
        """By key, whether a function of the library has no effects, as far as the installer has found that out."""
        return dict(marshal.loads(self._parsed.get(EFFECTS, marshal.dumps(()))))

    def complete(self) -> dict[str, bytes]:
        """All of it; what has not been parsed yet is."""
        self._parse([name for name in self._names if name not in self._parsed])
        return self._parsed

    def _parse(self, names: Sequence[str]) -> None:
        if not names:
            return
        for name in names:
            self._parsed[name] = _packed(parse_file(STDLIB / f"{name}.sac", (STDLIB / "include",), library=True))
        self._keep()

    def _keep(self) -> None:
        if self._parsed and self._path is not None:
            kept.write(self._path, self._path.name, joined(self._parsed))
            _drop_old(self._path.parent)

    def _mentioned(self, name: str) -> list[str]:
        """The modules that have yet to be parsed for this one."""
        found, waiting = [], [name]
        while waiting:
            name = waiting.pop()
            if name in self._names and name not in self._parsed and name not in found:
                found.append(name)
                waiting += [a or b for a, b in _MENTIONED.findall((STDLIB / f"{name}.sac").read_text(encoding="utf-8"))]
        return found


def load_library(cache: Path | None, image: Path = IMAGE) -> Library:
    """The standard library, as far as it has been parsed before, where the cache file or the image is whole and
    current."""
    return Library(parsed_library(cache) if cache else None, image)


def parsed_library(cache: Path) -> Path:
    """Where what has been parsed of the library is kept."""
    return cache / f"stdlib-{library_digest()}.parsed"


def install_library(pure: Callable[[Library], Mapping[str, bool]], image: Path = IMAGE) -> None:
    """Leaves the whole library, parsed, in the package: what its installer does. `pure`: by key, whether functions have
    no effects."""
    library = Library(None, image)
    parsed = library.complete()
    write_image(parsed | {EFFECTS: marshal.dumps(tuple(pure(library).items()))}, image)


def _kept(path: Path) -> dict[str, bytes]:
    """What a cache file holds; nothing if it is not there yet, or damaged."""
    data = kept.read(path, path.name)
    return {} if data is None else parts(data)


def _drop_old(cache: Path) -> None:
    """Removes all but the newest libraries: each installation that is in use has one, and must find it again."""
    for left in kept.unfinished(cache, kept.ABANDONED):
        kept.remove(left)
    try:
        files = sorted(cache.glob("stdlib-*"), key=lambda path: path.stat().st_mtime)
        for old in files[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        pass  # another process was faster


def _packed(info: ModuleInfo) -> bytes:
    pack = packing().packed
    info.functions = {name: [pack(d) for d in definitions] for name, definitions in info.functions.items()}
    return pack(info)


@functools.cache
def packing() -> Packing:
    """What packs parsed modules. A text of the library is named by its place there, so that sacpy may lie elsewhere
    when it is read again."""
    import sys

    from sacpy.lang import diagnostics, source

    texts = {Source: ("text", library_place, library_source)}
    return Packing(ast, ast_expressions, diagnostics, source, sys.modules[__name__], special=texts, merged=True)
