"""What names mean in a module.

A `Scope` belongs to one module. Functions come in two tiers: the module's own together with the imported ones, then the
used ones; an own definition that takes the arguments wins over a used one. The same function reached through two
umbrellas is one function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal
from weakref import ref

from sacpy.base.spelling import closest
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, Edit, Label, SacError
from sacpy.lang.elaborate.usertypes import BUILTINS, STRING, BaseType, opaque, struct, wrap
from sacpy.lang.modules import Loader, ModuleInfo
from sacpy.lang.printer import print_param, print_type
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.suggest import use_line
from sacpy.nodes import Node, Record, field, replace

Kind = Literal["functions", "types", "objects"]
KINDS: tuple[Kind, ...] = ("functions", "types", "objects")


def words(names: Iterable[str]) -> list[str]:
    """Those of some names that are words, in order: neither operators nor what begins with `_`."""
    return sorted(n for n in names if n[:1].isalpha())


class Entry(Node, eq=False, repr=False):
    """One function definition of a module, by its position among those of its name. `of`: the module's scope, which
    lives as long as the program does."""

    of: ref[Scope]
    definition: ast.FunDef
    number: int

    @property
    def scope(self) -> Scope:
        """That of the defining module."""
        scope = self.of()
        assert scope is not None, "a definition was used longer than its program"
        return scope

    @property
    def module(self) -> str:
        """The defining module's name."""
        return self.scope.info.name

    @property
    def qualified(self) -> str:
        """`Module::name`."""
        return f"{self.module}::{self.definition.name}"


class Scope(Record, eq=False, repr=False, weak=True):
    """The names of one module. `of`: the world that all scopes of a program share, which has them, and which lives as
    long as the program does; so a program that nobody needs any more is gone at once."""

    info: ModuleInfo
    of: ref[World]
    _own: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    _exported: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    _tiers: dict[str, tuple[tuple[Entry, ...], tuple[Entry, ...]]] = field(default_factory=dict)
    _types: dict[str, BaseType | None] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)
    _listed: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def world(self) -> World:
        """All modules of the program."""
        world = self.of()
        assert world is not None, "a scope was used longer than its program"
        return world

    # ------------------------------------------------------------ lists of names

    def names(self, what: Kind) -> frozenset[str]:
        """All names of functions, types or objects that can be used in this module without naming another. Raises
        `SacError` for a used module that cannot be read."""
        return self._own_names(what) | self._handed_on(("use", "import"), what)

    def exported_names(self, what: Kind) -> frozenset[str]:
        """All names of functions, types or objects that other modules see. Raises `SacError` as `names` does."""
        found = self._listed.get(what)
        if found is None:
            self._listed[what] = frozenset()  # for modules that import each other
            all = self._own_names(what) | self._handed_on(("import",), what)
            found = self._listed[what] = frozenset(
                n for n in all if self._exports(n) or (what == "types" and n == self.info.name)
            )
        return found

    def _own_names(self, what: Kind) -> frozenset[str]:
        info = self.info
        if what == "functions":
            return frozenset(info.functions)
        if what == "objects":
            return frozenset(info.objects)
        return frozenset((*info.typedefs, *info.structs, *((info.name,) if info.kind == "class" else ())))

    def _handed_on(self, kinds: tuple[str, ...], what: Kind) -> frozenset[str]:
        clauses = [c for c in self.info.interfaces if c.kind in kinds]
        return frozenset(
            n for c in clauses for n in self.world.scope(c.module, c.module_span).exported_names(what) if _admits(c, n)
        )

    # ------------------------------------------------------------ functions

    def own(self, name: str) -> tuple[Entry, ...]:
        """Functions of that name defined in this module; `specialize` hints and the prototypes of functions that have a
        body are left out."""
        if name not in self.info.functions:  # what is nowhere is not remembered: there may be any number of such names
            return ()
        if name not in self._own:
            definitions = [d for d in self.info.definitions(name) if d.linkage != "specialize"]
            bodies = {_parameters(d) for d in definitions if d.body is not None}
            definitions = [d for d in definitions if d.body is not None or d.linkage or _parameters(d) not in bodies]
            self._own[name] = tuple(Entry(ref(self), d, i) for i, d in enumerate(definitions))
        return self._own[name]

    def tiers(self, name: str) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """Own and imported functions of that name; used ones."""
        if name not in self._tiers:
            found = _unique((*self.own(name), *self._through("import", name))), _unique(self._through("use", name))
            if found == ((), ()):
                return found
            self._tiers[name] = found
        return self._tiers[name]

    def exported(self, name: str) -> tuple[Entry, ...]:
        """Functions of that name that other modules see."""
        if name not in self._exported:
            if name in self._busy:
                return ()
            self._busy.add(name)
            visible = _unique((*self.own(name), *self._through("import", name))) if self._exports(name) else ()
            self._busy.discard(name)
            if not visible:
                return ()
            self._exported[name] = visible
        return self._exported[name]

    def qualified(self, module: str, name: str, span: Span) -> tuple[Entry, ...]:
        """Functions called `module::name`."""
        if module == self.info.name:
            return self.own(name)
        return self.world.scope(module, span).exported(name)

    def _exports(self, name: str) -> bool:
        clauses = [i for i in self.info.interfaces if i.kind in ("export", "provide")]
        return any(_admits(clause, name) for clause in clauses)

    def _through(self, kind: str, name: str) -> tuple[Entry, ...]:
        found: list[Entry] = []
        for clause in self.info.interfaces:
            if clause.kind == kind and _admits(clause, name):
                found += self.world.scope(clause.module, clause.module_span).exported(name)
        return tuple(found)

    # ------------------------------------------------------------ objects

    def global_object(self, name: ast.QName) -> tuple[Scope, ast.ObjDef] | None:
        """The object definition that a name stands for, with the scope it is in."""
        if name.module is not None and name.module != self.info.name:
            return self.world.scope(name.module, name.span).exported_object(name.name)
        if name.name in self.info.objects:
            return self, self.info.objects[name.name]
        for clause in self.info.interfaces:
            if clause.kind in ("use", "import") and _admits(clause, name.name):
                found = self.world.scope(clause.module, clause.module_span).exported_object(name.name)
                if found is not None:
                    return found
        return None

    def exported_object(self, name: str) -> tuple[Scope, ast.ObjDef] | None:
        """The object of that name that other modules see."""
        key = f"object {name}"
        if key in self._busy or not self._exports(name):
            return None
        if name in self.info.objects:
            return self, self.info.objects[name]
        self._busy.add(key)
        try:
            for clause in self.info.interfaces:
                if clause.kind == "import" and _admits(clause, name):
                    found = self.world.scope(clause.module, clause.module_span).exported_object(name)
                    if found is not None:
                        return found
        finally:
            self._busy.discard(key)
        return None

    # ------------------------------------------------------------ types

    def base_type(self, name: ast.QName, is_struct: bool = False) -> BaseType:
        """The base type that a name stands for. Raises `SacError` (E0310)."""
        if name.module is None and not is_struct and name.name in BUILTINS:
            return BUILTINS[name.name]
        found = (
            self.world.scope(name.module, name.span).own_type(name.name) if name.module else self.find_type(name.name)
        )
        if found is None and name.module:
            found = self.world.scope(name.module, name.span).exported_type(name.name)
        if found is None or (is_struct and found.kind != "struct"):
            raise SacError(self._unknown_type(name, is_struct))
        return found

    def type_of(self, type: ast.TypeExpr) -> BaseType:
        """The base type that is written there; where extents depend on positions, that of the packed array. Raises
        `SacError`."""
        base = self.base_type(type.base, type.struct)
        if any(isinstance(f, ast.PositionExtent) for f in type.pattern or ()):
            from sacpy.lang.elaborate.extents import written  # loaded where a program has such types

            return written(type, base).type
        return base

    def find_type(self, name: str) -> BaseType | None:
        """The type of that name visible in this module."""
        own = self.own_type(name)
        if own is not None:
            return own
        for clause in self.info.interfaces:
            if clause.kind in ("use", "import") and _admits(clause, name):
                found = self.world.scope(clause.module, clause.module_span).exported_type(name)
                if found is not None:
                    return found
        return None

    def exported_type(self, name: str) -> BaseType | None:
        """The type of that name that other modules see; a class's own type always is."""
        key = f"type {name}"
        if key in self._busy or not (self._exports(name) or name == self.info.name):
            return None
        own = self.own_type(name)
        if own is not None:
            return own
        self._busy.add(key)
        try:
            for clause in self.info.interfaces:
                if clause.kind == "import" and _admits(clause, name):
                    found = self.world.scope(clause.module, clause.module_span).exported_type(name)
                    if found is not None:
                        return found
        finally:
            self._busy.discard(key)
        return None

    def own_type(self, name: str) -> BaseType | None:
        """The type of that name defined in this module."""
        if name not in self._types:
            if name in self._busy:
                span = (self.info.structs.get(name) or self.info.typedefs[name]).span
                raise SacError(
                    Diagnostic(
                        "E0311",
                        f"the type {name} contains itself",
                        span,
                        "defined here",
                        help="a SaC value has a fixed layout; keep an index instead of a nested value",
                    )
                )
            self._busy.add(name)
            try:
                self._types[name] = self._define_type(name)
            finally:
                self._busy.discard(name)
        return self._types[name]

    def _define_type(self, name: str) -> BaseType | None:
        info = self.info
        key = f"{info.name}::{name}"
        if info.kind == "class" and name == info.name:
            return opaque(key, "class") if info.classtype is None else self._wrap(key, "class", info.classtype)
        if name in info.typedefs:
            definition = info.typedefs[name]
            if definition.type is None:
                return STRING if key == STRING.key else opaque(key)
            return self._wrap(key, "typedef", definition.type)
        if name in info.structs:
            return self._struct(key, info.structs[name])
        return None

    def _wrap(self, key: str, kind: str, type: ast.TypeExpr) -> BaseType:
        base = self.type_of(type)
        if base.kind == "packed":
            from sacpy.lang.elaborate.extents import refuse

            what = f"the {kind} {key.rpartition('::')[2]} cannot stand for"
            help = "write the type where it is used, or make it the field of a struct"
            refuse("E0453", f"{what} an array whose extents depend on positions", type.span, "a packed array", help)
        if type.pattern is not None and any(
            isinstance(f, ast.AnyShape | ast.SomeShape | ast.RankSlice) for f in type.pattern
        ):
            if kind == "typedef":
                raise SacError(
                    Diagnostic(
                        "E0312",
                        f"the type {key.rpartition('::')[2]} needs a fixed shape",
                        type.span,
                        "its rank is open",
                        help="write the extents, as in 'typedef double[2] complex;'",
                    )
                )
            return wrap(key, kind, base, (), any_cell=True)
        return wrap(key, kind, base, extents(type))

    def _struct(self, key: str, definition: ast.StructDef) -> BaseType:
        fields: list[tuple[str, BaseType, tuple[int | None, ...]]] = []
        seen: dict[str, Span] = {}
        for type, name, span in definition.fields:
            if name in seen:
                raise SacError(
                    Diagnostic(
                        "E0313",
                        f"the struct has two fields {name}",
                        span,
                        "again",
                        (Label(seen[name], "first here"),),
                        help="rename one of them",
                    )
                )
            seen[name] = span
            if type.pattern is not None and any(
                isinstance(f, ast.AnyShape | ast.SomeShape | ast.RankSlice) for f in type.pattern
            ):
                raise SacError(
                    Diagnostic(
                        "E0312",
                        f"the field {name} needs a known rank",
                        type.span,
                        "its rank is open",
                        help="write the extents, or dots",
                    )
                )
            fields.append((name, self.type_of(type), extents(type)))
        return struct(key, tuple(fields))

    def _unknown_type(self, name: ast.QName, is_struct: bool) -> Diagnostic:
        what = "struct" if is_struct else "type"
        names = [*BUILTINS, *self.info.typedefs, *self.info.structs]
        near = closest(name.name, names)
        owners = [owner for owner in self.world.modules_with_type(name.name) if owner != self.info.name]
        edit: Edit | None = None
        if owners and name.module is None:
            help = f"it is in the module {owners[0]}: add 'use {owners[0]}: all;'"
            edit = use_line(self.info.span.source, owners[0])
        else:
            help = (
                f"did you mean {near[0]}?"
                if near
                else f"define it: {'struct' if is_struct else 'typedef'} ... {name.name}"
            )
            edit = Edit(name.span, near[0]) if near else None
        return Diagnostic("E0310", f"there is no {what} {name}", name.span, "unknown type", help=help, edit=edit)


def _parameters(definition: ast.FunDef) -> tuple[str, ...]:
    """The types of the parameters as written, without the spaces."""
    return tuple(print_type(p.type) if p.takes is None else print_param(replace(p, name="")) for p in definition.params)


def extents(type: ast.TypeExpr) -> tuple[int | None, ...]:
    """The extents of a type of known rank; names and dots are unknown. A packed array is one element."""
    if any(isinstance(f, ast.PositionExtent) for f in type.pattern or ()):
        return ()
    return tuple(f.value if isinstance(f, ast.FixedExtent) else None for f in type.pattern or ())


def _admits(clause: ast.Interface, name: str) -> bool:
    named = any(symbol == name for symbol, _ in clause.symbols)
    return not named if clause.all else named


def _unique(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple({(id(e.scope), e.definition.name, e.number): e for e in entries}.values())


class World(Record, repr=False, weak=True):
    """All modules of a program."""

    loader: Loader
    scopes: dict[str, Scope] = field(default_factory=dict)

    def scope(self, module: str, span: Span) -> Scope:
        """The scope of a module, loaded if need be. Raises `SacError` (E0301)."""
        found = self.scopes.get(module)
        if found is None:
            found = self.scopes[module] = Scope(self.loader.load(module, span), ref(self))
        return found

    def modules_with_type(self, name: str) -> list[str]:
        """Modules, loaded or in the library, that others have a type of that name from; that which is called like the
        type first, then those that define it."""
        found: list[str] = []
        for module in (*self.scopes, *(n for n in self.loader.read_library() if n not in self.scopes)):
            try:
                if self.scope(module, NOWHERE).exported_type(name) is not None:
                    found.append(module)
            except SacError:
                continue
        return sorted(found, key=lambda m: (m.lower() != name.lower(), self.scopes[m].own_type(name) is None, m))
