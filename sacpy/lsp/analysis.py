"""What is known of one text: its tree, its names, the checked program, and the types of its variables.

In: a text with its place, and the settings that programs share. Out: an `Analysis`. There always is one: of a text with
mistakes, what can be understood of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sacpy.lang import ast, core
from sacpy.lang.advice import advised
from sacpy.lang.deep import deeply
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.elaborate.scope import Entry, Scope
from sacpy.lang.infer import infer
from sacpy.lang.modules import Library, Loader, module_info, used_operators
from sacpy.lang.parser import parse_tokens
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Tokens
from sacpy.lsp.symbols import Occurrence, Symbol, occurrences
from sacpy.lsp.types import Variables, variables_of


@dataclass(slots=True)
class Settings:
    """What programs share: where modules and included files are, macros, and the library once it has been read."""

    search: Sequence[Path] = ()
    include_path: Sequence[Path] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    library: Library | None = None

    def loader(self, home: Path, texts: Mapping[str, str] | None = None) -> Loader:
        """Finds the modules of a program in the folder `home`. `texts`: what stands for those of files, by name."""
        from sacpy.base.kept import cache_folder
        from sacpy.lang.modules import load_library

        if self.library is None:
            self.library = load_library(cache_folder())
        return Loader((home, *self.search), self.include_path, self.defines, library=self.library, texts=texts or {})


@dataclass
class Analysis:
    """`program` is None where the text could not be elaborated at all; `found` is all that the front end says; `check`
    says what it says of a changed text."""

    source: Source
    tokens: Tokens
    module: ast.Module
    program: ElaboratedProgram | None
    found: Sequence[Diagnostic]
    check: Callable[[Mapping[str, str]], Sequence[Diagnostic]] = field(repr=False)

    @cached_property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """All that there is to say, with advice."""
        return advised(self.found, self.check)

    @property
    def scope(self) -> Scope | None:
        """The names of the text's module."""
        return self.program.main if self.program else None

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """Where the text names something, in order."""
        return deeply(lambda: occurrences(self.module, self.tokens, self.source))

    @cached_property
    def functions(self) -> list[tuple[core.Function, Variables]]:
        """The functions of the text, with the types of their variables; of those in which something is wrong, of what
        can be understood."""
        return list(self._functions())

    def _functions(self) -> Iterator[tuple[core.Function, Variables]]:
        if self.program is None:
            return
        for name in self.program.main.info.functions:
            for entry in self.program.main.own(name):
                if entry.definition.typevars or entry.definition.body is None:
                    continue
                function = self.program.understood(self.program.declared_key(entry))
                if function is not None:
                    yield function, variables_of(self.program, function, infer(function, None, self.program))

    def at(self, offset: int) -> Occurrence | None:
        """What is named at a place of the text."""
        return next((o for o in self.occurrences if o.span.start <= offset <= o.span.end), None)

    def same(self, symbol: Symbol) -> list[Occurrence]:
        """Where the text names this."""
        return [o for o in self.occurrences if o.symbol == symbol]

    def entries(self, symbol: Symbol, call: Span | None = None) -> list[Entry]:
        """The definitions of a function; with the place of a call those that it may take."""
        scope = self.scope
        if scope is None or self.program is None:
            return []
        if call is not None:
            exact = [key for _, variables in self.functions for key in variables.calls.get((call.start, call.end), ())]
            if exact:
                return list(
                    dict.fromkeys(self.program.instances[key].entry for key in exact if key in self.program.instances)
                )
        try:
            if symbol.module:
                return list(scope.qualified(symbol.module, symbol.name, scope.info.span))
            near, used = scope.tiers(symbol.name)
        except SacError:
            return []
        return [*near, *used]

    def function_at(self, offset: int) -> ast.FunDef | None:
        """The function definition that a place is in."""
        found = (
            d for d in self.module.definitions if isinstance(d, ast.FunDef) and d.span.start <= offset <= d.span.end
        )
        return next(found, None)


def analyse(text: str, path: Path, settings: Settings) -> Analysis:
    """Reads and checks a text that stands, or will stand, in the file `path`."""

    def check(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        return _analyse(texts.get(str(path), text), path, settings, texts).found

    return _analyse(text, path, settings, {}, check)


def _analyse(
    text: str,
    path: Path,
    settings: Settings,
    texts: Mapping[str, str],
    check: Callable[[Mapping[str, str]], Sequence[Diagnostic]] = lambda texts: (),
) -> Analysis:
    """The analysis of a text, with others in the place of those of these files."""
    source = Source(str(path), text)
    tokens = tokenize(
        source,
        defines=settings.defines,
        include_path=settings.include_path,
        operators=used_operators(source, settings.search),
    )
    parsed = parse_tokens(tokens)
    broken = any(d.severity == "error" for d in parsed.diagnostics)
    found: list[Diagnostic] = list(parsed.diagnostics)
    program: ElaboratedProgram | None = None
    try:
        program = elaborate(
            module_info(parsed.module, False, () if broken else parsed.diagnostics), settings.loader(path.parent, texts)
        )
        checked = program.check()
        if not broken:  # else what is said about the rest may be a consequence
            found = checked
    except SacError as error:
        found += error.diagnostics
    return Analysis(source, tokens, parsed.module, program, found, check)
