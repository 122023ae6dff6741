"""A whole program: function instances by key, elaborated when first asked for.

In: a loader and the parsed main module. Out: `ElaboratedProgram`, a `core.Program`. `check` elaborates everything the
user wrote and runs the inference over it; library functions are elaborated when something calls them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import proxy, ref

from sacpy.base.spelling import closest
from sacpy.lang import ast, core
from sacpy.lang.deep import deeply
from sacpy.lang.diagnostics import Diagnostic, Edit, SacError
from sacpy.lang.elaborate import expressions, selections, tensors, withloops  # noqa: F401 - they register themselves
from sacpy.lang.elaborate.context import Context, Failed
from sacpy.lang.elaborate.functions import Head, function, head, head_text
from sacpy.lang.elaborate.overlaps import hiding, replaced
from sacpy.lang.elaborate.scope import KINDS, Entry, Scope, World, words
from sacpy.lang.elaborate.usertypes import BaseType, FunctionParameter
from sacpy.lang.infer import Inference, Inferrer
from sacpy.lang.modules import Loader, ModuleInfo
from sacpy.lang.source import Span
from sacpy.lang.types import BUILTIN
from sacpy.nodes import Record, field, replace

if TYPE_CHECKING:
    from sacpy.withloop.devices import DeviceLimits

Typevars = tuple[tuple[str, BaseType], ...]
Parameter = BaseType | ast.TypeVar | FunctionParameter


class Instance(Record, repr=False):
    """A function instance: its definition and what its type variables stand for; what has been elaborated of it.
    `partial`: what could be understood of one in which something is wrong."""

    entry: Entry
    typevars: Typevars
    made: Head | None = None
    function: core.Function | None = None
    failure: SacError | None = None
    partial: core.Function | None = None


class ElaboratedProgram(Record, repr=False, weak=True):
    """All that is known of a program. `main` is the scope of the file that was given."""

    world: World
    main: Scope
    instances: dict[str, Instance] = field(default_factory=dict)
    globals: dict[str, core.Global] = field(default_factory=dict)
    initials: dict[str, core.Function] = field(default_factory=dict)
    _parameters: dict[int, tuple[Parameter, ...]] = field(default_factory=dict)
    _results: dict[tuple[int, Typevars], list[BaseType]] = field(default_factory=dict)
    _entries: dict[int, Entry] = field(default_factory=dict)
    declared_functions: dict[str, Entry] = field(default_factory=dict)  # of parameters of which no more is known
    pragmas: bool = False  # some with-loop that was elaborated has one
    device: DeviceLimits | None = None
    traced: bool = False  # somebody looks on: variables that are constants are variables all the same
    # of who elaborates: an interpreter and a compiler may ask at the same time
    lock: Any = field(default_factory=RLock)
    inferrer: Inferrer = field(init=False)

    def __post_init__(self) -> None:
        self.inferrer = Inferrer(proxy(self))  # which is gone when this is

    # ------------------------------------------------------------ core.Program

    def signature(self, key: str) -> core.Signature:
        """The head of an instance. Raises `SacError`."""
        if key in self.initials:
            return self.initials[key].signature
        instance = self.instances[key]
        if instance.made is None:
            with self.lock:
                return self._head(instance, key).signature
        return instance.made.signature

    def function(self, key: str) -> core.Function:
        """An instance with its body. Raises `SacError` with all that is wrong in it."""
        if key in self.initials:
            return self.initials[key]
        instance = self.instances[key]
        if instance.failure is None and instance.function is None:
            with self.lock:
                self._elaborate(key, instance)
        if instance.failure is not None:
            raise instance.failure
        assert instance.function is not None
        return instance.function

    def _elaborate(self, key: str, instance: Instance) -> None:
        """Fills in the body of an instance, or what is wrong with it."""
        if instance.failure is None and instance.function is None:
            cx = self._context(instance)
            try:
                made = function(cx, self._head(instance, key), instance.entry)
            except Failed:
                made = None
            if cx.diagnostics:
                instance.failure = SacError(*cx.diagnostics)
                instance.partial = made
            else:
                instance.function = made

    def understood(self, key: str) -> core.Function | None:
        """An instance as far as it can be understood: statements with mistakes are left out, and where a result is
        wrong, all results. None where nothing can."""
        try:
            return self.function(key)
        except SacError:
            partial = self.instances[key].partial
        if partial is None or len(partial.returns) == len(partial.signature.results):
            return partial
        return replace(partial, signature=replace(partial.signature, results=()), returns=(), conditions=())

    def global_object(self, name: str) -> core.Global:
        """A global object by key."""
        return self.globals[name]

    # ------------------------------------------------------------ for elaboration

    def key(self, entry: Entry, typevars: Typevars) -> str:
        """The key of an instance."""
        self._entries[id(entry)] = entry
        suffix = f"<{','.join(t.key for _, t in typevars)}>" if typevars else ""
        key = f"{entry.qualified}/{entry.number}{suffix}"
        if key not in self.instances:
            self.instances[key] = Instance(entry, typevars)
        return key

    def declared_key(self, entry: Entry) -> str:
        """The key of the instance that stands for a definition without type variables: where parameters are functions,
        for such as their declarations say."""
        if not entry.definition.is_generic:
            return self.key(entry, ())
        from sacpy.lang.elaborate.function_parameters import declared

        return self.key(entry, declared(self, entry))

    def parameter_types(self, entry: Entry) -> tuple[Parameter, ...]:
        """The base types of a definition's parameters; type variables as such, and what is asked of functions."""
        found = self._parameters.get(id(entry))
        if found is None:
            self._entries[id(entry)] = entry
            variables = {v.name: v for v in entry.definition.typevars}

            def declared_type(t: ast.TypeExpr) -> BaseType | ast.TypeVar:
                variable = variables.get(t.base.name) if t.base.module is None else None
                return variable or entry.scope.type_of(t)

            found = tuple(
                declared_type(p.type)
                if p.takes is None
                else FunctionParameter(
                    p.name, tuple(map(declared_type, p.takes)), declared_type(p.type), (p.type, *p.takes)
                )
                for p in entry.definition.params
            )
            self._parameters[id(entry)] = found
        return found

    def result_types(self, entry: Entry, typevars: Typevars) -> list[BaseType]:
        """The base types of an instance's declared results."""
        at = (id(entry), typevars)
        if at not in self._results:
            bound = dict(typevars)
            self._results[at] = [
                bound[t.base.name] if t.base.module is None and t.base.name in bound else entry.scope.type_of(t)
                for t in entry.definition.results
            ]
        return self._results[at]

    def head(self, entry: Entry) -> str:
        """The head of a definition on one line."""
        variables = ", ".join(f"{v.name}: {v.kind}" for v in entry.definition.typevars)
        return (
            (f"<{variables}> " if variables else "")
            + head_text(entry.definition)
            + (f"   in {entry.module}" if entry.scope.info.library else "")
        )

    def global_key(self, scope: Scope, definition: ast.ObjDef) -> tuple[str, BaseType]:
        """The key and type of a global object; its initial value becomes a function without parameters."""
        key = f"{scope.info.name}::{definition.name}"
        type = scope.type_of(definition.type)
        if type.kind == "packed":
            from sacpy.lang.elaborate.extents import refuse

            message = f"the object {definition.name} cannot be an array whose extents depend on positions"
            help = "keep its elements, a vector, and cast them where they are used; or make it a function"
            refuse("E0453", message, definition.type.span, "a packed array", help)
        if key not in self.globals:
            initial = f"{key}!"
            self.globals[key] = core.Global(key, type.core, initial, definition.span)
            self.initials[initial] = self._initial(scope, definition, initial, type)
        return key, type

    def modules_with(self, name: str) -> list[str]:
        """Modules, loaded or in the library, that export a function of that name; umbrellas too."""
        loader = self.world.loader
        names = [*self.world.scopes, *(n for n in loader.read_library() if n not in self.world.scopes)]
        found: list[str] = []
        for module in names:
            try:
                if module != self.main.info.name and self.world.scope(module, self.main.info.span).exported(name):
                    found.append(module)
            except SacError:
                continue
        return found

    def known_pure(self, key: str) -> bool | None:
        """Whether a function of the library has no effects, where that is known without looking at it; None elsewhere,
        and where a module of the program's may have taken the place of the library's."""
        library = self.world.loader.read_library()
        if any(name in library and not scope.info.library for name, scope in self.world.scopes.items()):
            return None
        name, bracket, type = key.rpartition("<") if key.endswith(">") else (key, "", "")
        return library.pure.get(key) if not bracket or type[:-1] not in BUILTIN else library.pure.get(f"{name}<>")

    def whole(self) -> ElaboratedProgram:
        """This: it is all that is known."""
        return self

    def main_key(self) -> str:
        """The key of `main`. Raises `SacError` (E0309) if there is none to run."""
        from sacpy.lang.elaborate.entry_point import main_key

        return main_key(self)

    def text(self) -> str:
        """The text of the file that was given; "" if there is none."""
        return self.main.info.span.source.text

    def reads_words(self) -> bool:
        """Whether the program looks at the words of its command line, itself or through a module."""
        readers = {"CommandLine", "GetOpt"} & self.world.scopes.keys()
        return bool(readers) or any(entry.definition.params for entry in self.main.own("main"))

    def elaborated(self) -> Iterator[core.Function]:
        """The user's functions that have been elaborated so far."""
        own = (i for i in self.instances.values() if not i.entry.scope.info.library)
        return (i.function for i in own if i.function is not None)

    # ------------------------------------------------------------ checking

    def check(self, device: DeviceLimits | None = None) -> list[Diagnostic]:
        """Elaborates and infers everything that the user wrote, uncalled functions included. Gives all diagnostics.
        `device`: a GPU that the program is meant for, whose limits its pragmas must keep."""
        self.device = device
        return deeply(self._check)

    def _check(self) -> list[Diagnostic]:
        found: list[Diagnostic] = list(self.main.info.diagnostics)
        found += self.interface_problems(self.main)
        if any(d.code in ("E0301", "E0302", "E0308") for d in found):
            return found
        for key in self.user_keys(found):
            try:
                self.function(key)
            except SacError as error:
                found += error.diagnostics
        if not any(d.severity == "error" for d in found):
            for scope in [s for s in self.world.scopes.values() if not s.info.library]:
                found += [*replaced(self, scope), *hiding(self, scope)]
            for key in self.user_keys(found):
                found += self.inference(key).diagnostics
                if self.pragmas:
                    from sacpy.lang.check_mappings import problems

                    found += problems(self.function(key), self.inference(key), self.device, self)
        return _unique(found)

    def user_keys(self, problems: list[Diagnostic]) -> list[str]:
        """The instances of everything defined outside the library, generic functions left out; heads that are wrong go
        to `problems`."""
        keys: list[str] = []
        for scope in [s for s in self.world.scopes.values() if not s.info.library]:
            for name in list(scope.info.functions):
                for entry in scope.own(name):
                    if entry.definition.typevars:
                        continue
                    key = self.declared_key(entry)
                    try:
                        if self.signature(key).native is None:
                            keys.append(key)
                    except SacError as error:
                        problems += error.diagnostics
            for definition in scope.info.objects.values():
                try:
                    self.global_key(scope, definition)
                except SacError as error:
                    problems += error.diagnostics
            for type in (*scope.info.typedefs, *scope.info.structs):
                try:
                    scope.own_type(type)
                except SacError as error:
                    problems += error.diagnostics
        return keys

    def inference(self, key: str) -> Inference:
        """What the declared types say about an instance's variables."""
        function = self.function(key)
        return self.inferrer.declared.setdefault(key, self.inferrer.infer(function))

    def interface_problems(self, scope: Scope) -> list[Diagnostic]:
        """Modules and symbols in `use`, `import` and `export` lines that are not there."""
        problems: list[Diagnostic] = []
        for clause in scope.info.interfaces:
            if clause.kind in ("use", "import"):
                try:
                    other = self.world.scope(clause.module, clause.module_span)
                except SacError as error:
                    problems += error.diagnostics
                    continue
                if not other.info.library:
                    problems += other.info.diagnostics
                problems += [self._unknown_symbol(clause, other, n, s) for n, s in clause.symbols if not _has(other, n)]
                if other.info.deprecated is not None:
                    problems.append(
                        Diagnostic(
                            "W0302",
                            f"the module {clause.module} is deprecated: {other.info.deprecated}",
                            clause.module_span,
                            "used here",
                            help="use what it names instead",
                        )
                    )
        return problems

    def _unknown_symbol(self, clause: ast.Interface, other: Scope, name: str, span: Span) -> Diagnostic:
        near = closest(name, words(n for what in KINDS for n in other.exported_names(what)))
        help = f"did you mean {near[0]}?" if near else f"see what {clause.module} exports"
        return Diagnostic(
            "E0308",
            f"{clause.module} has nothing called {name}",
            span,
            "unknown symbol",
            help=help,
            edit=Edit(span, near[0]) if near else None,
        )

    # ------------------------------------------------------------ inside

    def _context(self, instance: Instance) -> Context:
        return Context(self, instance.entry.scope, dict(instance.typevars), [])

    def _head(self, instance: Instance, key: str) -> Head:
        if instance.made is None:
            instance.made = head(self._context(instance), key, instance.entry)
        return instance.made

    def _initial(self, scope: Scope, definition: ast.ObjDef, key: str, type: BaseType) -> core.Function:
        cx = Context(self, scope, {}, [])
        atoms: list[core.Atom] = []

        def fill() -> None:
            value = cx.value(definition.value)
            if value.type != type:
                cx.fail(
                    "E0402",
                    f"the object {definition.name} must be {type.shown}, not {value.type.shown}",
                    value.span,
                    f"this is {value.type.shown}",
                    help=f"give a value of type {type.shown}",
                )
            atoms.extend(value.atoms)

        blocks: list[core.Block] = []
        if not cx.guarded(lambda: blocks.append(cx.block(fill))):
            raise SacError(*cx.diagnostics)
        slots = tuple(
            core.Slot(
                core.Bind("result0", c.base, "", definition.span), (ast.AnyShape(definition.span),), (), type.shown
            )
            for c in type.components
        )
        signature = core.Signature(
            key, f"{scope.info.name}::{definition.name}", (), slots, (), "", None, definition.name, definition.span
        )
        return core.Function(signature, (), blocks[0], tuple(atoms))


def _has(scope: Scope, name: str) -> bool:
    return (
        bool(scope.exported(name)) or scope.exported_type(name) is not None or scope.exported_object(name) is not None
    )


def _unique(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    kept: dict[tuple[str, int, int, str], Diagnostic] = {}
    for d in diagnostics:
        kept.setdefault((d.code, d.span.start, d.span.end, d.span.source.name), d)
    return sorted(kept.values(), key=lambda d: (d.span.source.name, d.span.start))


def elaborate(info: ModuleInfo, loader: Loader) -> ElaboratedProgram:
    """The program of a parsed main module."""
    world = World(loader)
    name = info.name or "_MAIN"
    info.name = name
    scope = world.scopes[name] = Scope(info, ref(world))
    loader.modules[name] = info
    return ElaboratedProgram(world, scope)


__all__ = ["ElaboratedProgram", "elaborate"]
