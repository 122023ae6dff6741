"""What there is to know about the library's functions, from the comments above their definitions.

In: module names, function names. Out: `Entry` (a function of a module: definitions, documentation, examples), and pages
in Markdown (`python -m sacpy.documents.library FOLDER`); `manual` makes texts for the terminal of it.

A comment right above a definition is its documentation: the first sentence says what the function does. A line that
begins with `>>>` is an example: statements that end in `;`, then, if a value is to be shown, expressions separated by
commas. Below it stands what it prints and then the values, up to the next example or a blank line; `...` in it stands
for anything. The variables of earlier examples of the same comment are known. A line that begins with `<<<` above an
example is a line of standard input for it. An overload without a comment shares that of the one before it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.scope import World
from sacpy.lang.modules import Loader, ModuleInfo
from sacpy.lang.printer import print_definition
from sacpy.lang.source import NOWHERE, STDLIB
from sacpy.nodes import replace

KINDS_IN_WORDS = {
    "num": "any number type",
    "int": "any integer type",
    "real": "float, double",
    "signed": "any signed number type",
    "builtin": "any built-in type",
    "any": "any type",
    "unsigned": "any unsigned type",
}

PROMPT, INPUT = ">>>", "<<<"


def kind_in_words(kind: str) -> str:
    """What a type variable of a kind stands for, as "any number type"; of several kinds what each has."""
    return ", ".join(KINDS_IN_WORDS.get(part, part) for part in kind.replace(" ", "").split("+"))


@dataclass(frozen=True, slots=True)
class Example:
    """One `>>>` line, what it prints, line by line, and the lines of standard input that it needs."""

    code: str
    output: tuple[str, ...] = ()
    input: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overload:
    """One definition: its head, and its documentation without the examples; "" where that of the overload before it
    holds."""

    definition: ast.FunDef
    text: str
    examples: tuple[Example, ...]

    @property
    def head(self) -> str:
        """The definition's head on one line, and what its type variables stand for."""
        variables = ", ".join(f"{v.name}: {kind_in_words(v.kind)}" for v in self.definition.typevars)
        return head_text(self.definition) + (f"   for {variables}" if variables else "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A function as a module defines it: all its overloads."""

    module: str
    name: str
    overloads: tuple[Overload, ...]

    @property
    def examples(self) -> tuple[tuple[Example, ...], ...]:
        """The examples, per comment."""
        return tuple(o.examples for o in self.overloads if o.examples)


def split_comment(doc: str) -> tuple[str, tuple[Example, ...]]:
    """The text and the examples of a comment."""
    text: list[str] = []
    examples: list[Example] = []
    input: list[str] = []
    output: list[str] | None = None
    for line in map(str.strip, doc.split("\n")):
        if line.startswith(INPUT):
            input.append(line.removeprefix(INPUT).strip())
            output = None
        elif line.startswith(PROMPT):
            examples.append(Example(line.removeprefix(PROMPT).strip(), (), tuple(input)))
            input, output = [], []
        elif output is not None and line:
            output.append(line)
            examples[-1] = replace(examples[-1], output=tuple(output))
        else:
            output = None
            text.append(line)
    return "\n".join(text).strip(), tuple(examples)


def head_comment(info: ModuleInfo) -> str:
    """The comment at the head of a module's file."""
    text = info.span.source.text.lstrip()
    if text.startswith("//"):
        lines = text.split("\n")
        count = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
        return "\n".join(line.removeprefix("//").strip() for line in lines[:count])
    comment = text[2:].partition("*/")[0] if text.startswith("/*") else ""
    return "\n".join(line.strip().removeprefix("*").strip() for line in comment.split("\n")).strip()


@dataclass(slots=True)
class Library:
    """The documentation of the standard library, and of the modules in the folders in `search`."""

    search: Sequence[Path] = ()
    cache: Path | None = None
    loader: Loader = field(init=False)
    world: World = field(init=False)
    modules: list[str] = field(init=False)
    """The names of all modules; those beside the program that cannot be read are left out."""

    def __post_init__(self) -> None:
        self.loader = Loader(tuple(self.search), cache=self.cache)
        self.world = World(self.loader)
        beside = {p.stem for folder in self.search for p in folder.glob("*.sac") if self._is_module(p)}
        self.modules = sorted({p.stem for p in STDLIB.glob("*.sac")} | beside)

    def _is_module(self, path: Path) -> bool:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False  # a folder called so, or a file that may not be read
        if f"module {path.stem}" not in text and f"class {path.stem}" not in text:
            return False  # a program: not read any further
        try:
            self.info(path.stem)
        except SacError:
            return False
        return True

    def info(self, module: str) -> ModuleInfo:
        """A parsed module. Raises `SacError` where there is none."""
        return self.loader.load(module)

    def about(self, module: str) -> str:
        """The comment at the head of a module's file."""
        return head_comment(self.info(module))

    def own(self, module: str) -> list[Entry]:
        """The functions that a module defines and exports, in order of definition."""
        scope = self.world.scope(module, NOWHERE)
        return [
            entry
            for name in self.info(module).functions
            if scope.exported(name) and (entry := self.entry(module, name)) is not None
        ]

    def entry(self, module: str, name: str) -> Entry | None:
        """A function that a module defines."""
        definitions = [d for d in self.info(module).definitions(name) if d.linkage != "specialize"]
        return (
            Entry(module, name, tuple(Overload(d, *split_comment(d.doc)) for d in definitions)) if definitions else None
        )

    def gathered(self, module: str) -> list[str]:
        """The modules whose functions a module hands on."""
        return [clause.module for clause in self.info(module).interfaces if clause.kind == "import"]

    def types(self, module: str) -> list[str]:
        """The types and structs that a module defines, as text."""
        info = self.info(module)
        class_ = [f"class {info.name}"] if info.kind == "class" else []
        return (
            class_
            + [print_definition(d) for d in info.typedefs.values()]
            + [print_definition(d) for d in info.structs.values()]
        )

    def objects(self, module: str) -> list[str]:
        """The global objects that a module defines and exports."""
        scope = self.world.scope(module, NOWHERE)
        return [
            f"{o.type.base.name} {name}" for name, o in self.info(module).objects.items() if scope.exported_object(name)
        ]

    def qualified(self, module: str, name: str) -> list[Entry]:
        """What `module::name` means: the function of that name that the module defines, or those that it hands on."""
        if module not in self.modules:
            return []
        own = self.entry(module, name)
        sources = (
            [module]
            if own is not None
            else dict.fromkeys(e.module for e in self.world.scope(module, NOWHERE).exported(name))
        )
        return [entry for source in sources if (entry := self.entry(source, name)) is not None]

    def defining(self, name: str) -> list[Entry]:
        """A function in every module that defines and exports it."""
        found = []
        for module in self.modules:
            if name in self.info(module).functions and self.world.scope(module, NOWHERE).exported(name):
                found.append(self.entry(module, name))
        return [entry for entry in found if entry is not None]

    def with_type(self, name: str) -> list[tuple[str, str]]:
        """Modules that define a type of that name, with the definition."""
        found = []
        for module in self.modules:
            info = self.info(module)
            definition = info.typedefs.get(name) or info.structs.get(name)
            if definition is not None:
                found.append((module, print_definition(definition)))
        return found

    def through(self, entry: Entry) -> list[str]:
        """The other modules that hand a function on."""
        own = set(self.world.scope(entry.module, NOWHERE).exported(entry.name))
        return [
            m
            for m in self.modules
            if m != entry.module and own & set(self.world.scope(m, NOWHERE).exported(entry.name))
        ]

    def names(self) -> list[str]:
        """Everything that `sacpy doc` knows."""
        found = dict.fromkeys(self.modules)
        for module in self.modules:
            info = self.info(module)
            scope = self.world.scope(module, NOWHERE)
            found |= (
                dict.fromkeys([n for n in info.functions if scope.exported(n)])
                | dict.fromkeys(info.typedefs)
                | dict.fromkeys(info.structs)
            )
        return list(found)


def first_sentence(text: str) -> str:
    """A text up to its first full stop, question mark or line end."""
    line = text.replace("\n", " ")
    ends = [at + 1 for mark in (". ", "? ") if (at := line.find(mark)) >= 0]
    return line[: min(ends)] if ends else line


def examples_text(examples: Sequence[Example], margin: str) -> Iterator[str]:
    """The lines of examples as they are written in comments."""
    for example in examples:
        for line in example.input:
            yield f"{margin}{INPUT} {line}"
        yield f"{margin}{PROMPT} {example.code}"
        for line in example.output:
            yield margin + line


# ---------------------------------------------------------------- pages


@dataclass(frozen=True)
class Pages:
    """The library as Markdown: one page per module, and a table of contents."""

    library: Library

    @cached_property
    def all(self) -> dict[str, str]:
        """File name -> text."""
        return {"README.md": self._contents()} | {f"{m}.md": self._page(m) for m in self.library.modules}

    def _contents(self) -> str:
        lines = [
            "# The standard library",
            "",
            "Made from the library's own comments by `make docs`. `sacpy doc NAME` shows the same on the terminal.",
            "",
            "| module | |",
            "|---|---|",
        ]
        lines += [f"| [{m}]({m}.md) | {_cell(first_sentence(self.library.about(m)))} |" for m in self.library.modules]
        return "\n".join(lines) + "\n"

    def _page(self, module: str) -> str:
        library = self.library
        lines = [f"# {module}", "", library.about(module), ""]
        types = [*library.types(module), *library.objects(module)]
        lines += ["```sac", *types, "```", ""] if types else []
        gathered = library.gathered(module)
        lines += (
            ["Hands on functions of " + ", ".join(f"[{m}]({m}.md)" for m in gathered) + ".", ""] if gathered else []
        )
        for entry in library.own(module):
            lines += [f"## `{entry.name}`", ""]
            for group in _shared(entry.overloads):
                lines += ["```sac", *(o.head for o in group), "```", "", group[0].text, ""]
                if group[0].examples:
                    lines += ["```", *examples_text(group[0].examples, ""), "```", ""]
        return "\n".join(lines)


def _shared(overloads: Sequence[Overload]) -> list[list[Overload]]:
    """Overloads that share a comment, together."""
    groups: list[list[Overload]] = []
    for overload in overloads:
        if overload.text or overload.examples or not groups:
            groups.append([overload])
        else:
            groups[-1].append(overload)
    return groups


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Writes the pages into a folder, and removes those of modules that are gone."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m sacpy.documents.library FOLDER\n")
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    pages = Pages(Library()).all
    for old in folder.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
