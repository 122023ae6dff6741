"""What `sacpy doc` says: about functions, modules, types, words of the language, words of other languages, messages.

In: the library's documentation, and a name or words. Out: text for a terminal; `paged` shows it there. Of a name
everything is said that it stands for: `genarray` is a word of the language and a function.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from sacpy.base.spelling import closest
from sacpy.base.terminal import is_terminal
from sacpy.documents.library import Entry, Library, examples_text, first_sentence
from sacpy.documents.pages import PAGES, Section, section, sections
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node

_WIDEST = 100  # columns of a text on a terminal
_SHORTEST_STEM = 4  # letters of a word that is looked for without its ending
MOST = 25  # findings of a search that are shown
_CODE = re.compile(r"[EWN]0\d{3}")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def describe(library: Library, name: str) -> str | None:
    """What `sacpy doc NAME` prints: NAME is a code such as E0506, a word of the language, a module, a function,
    `Module::function`, a type, or a word of another language. None where there is nothing of that name. Raises
    `SacError` for a module with mistakes."""
    module, _, function = name.rpartition("::")
    if module:
        return "\n".join(_entry_text(library, entry) for entry in library.qualified(module, function)) or None
    explained = section(name)
    parts = [_section_text(explained)] if explained is not None else []
    if name in library.modules:
        parts.append(_module_text(library, name))
    else:
        parts += [f"{definition}   in {where}\n" for where, definition in library.with_type(name)]
    parts += [_entry_text(library, entry) for entry in library.defining(name)]
    if not parts and any((folder / f"{name}.sac").is_file() for folder in library.search):
        library.info(name)  # says what is wrong with it
    if not parts and (foreign := _foreign(name)):
        parts.append(foreign)
    return "\n".join(parts) if parts else None


def unknown(library: Library, name: str) -> str:
    """What to say where there is nothing of that name."""
    module, _, function = name.rpartition("::")
    start = f"there is nothing called {name} in the library"
    if module in library.modules:
        inside = closest(function, library.world.scope(module, NOWHERE).exported_names("functions"))
        meant = ", ".join(f"{module}::{n}" for n in inside)
        return start + (f"; did you mean {meant}?" if inside else f"; sacpy doc {module} lists what it has")
    near = closest(function, [*library.names(), *(n for p in PAGES for s in sections(p) for n in s.names)])
    return start + (f"; did you mean {', '.join(near)}?" if near else "")


def overview(library: Library) -> str:
    """All modules, with the first sentence about each."""
    return _listed((m, first_sentence(library.about(m))) for m in library.modules)


# ---------------------------------------------------------------- searching


class Finding(Node):
    """Something that mentions what was looked for; `worth` is less where it does so more prominently."""

    worth: int
    name: str
    where: str
    sentence: str
    lacks: tuple[str, ...] = ()


def search(library: Library, words: Sequence[str]) -> list[Finding]:
    """What mentions all of these words, in its name, heading or text, the most prominent first; where nothing does,
    what mentions most of them, if that is at least half. Words count as the same in singular and plural, and with other
    endings."""
    wanted = {_stem(w.lower()): w.lower() for w in words if w}
    found: list[Finding] = []
    for name, where, sentence, text in _texts(library):
        heads = f"{name} {sentence}".lower()
        body = text.lower()
        lacks = tuple(w for stem, w in wanted.items() if stem not in heads and stem not in body)
        if lacks and 2 * len(lacks) == len(wanted):  # half of the words: where they are what it is about
            lacks = tuple(w for stem, w in wanted.items() if stem not in heads)
        if 2 * len(lacks) <= len(wanted) and len(lacks) < len(wanted):
            exact = sum(w == name.lower() for w in wanted.values())
            named = sum(stem in name.lower() for stem in wanted)
            headed = sum(stem in heads for stem in wanted)
            found.append(Finding(-(4 * exact + 2 * named + headed), name, where, sentence, lacks))
    fewest = min((len(f.lacks) for f in found), default=0)
    return sorted((f for f in found if len(f.lacks) == fewest), key=lambda f: (f.worth, len(f.name), f.name, f.where))


def _stem(word: str) -> str:
    """A word without the endings of English that change with its use: as many letters as all its forms share."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def findings(found: Sequence[Finding], words: Sequence[str]) -> str:
    """The findings of a search as text."""
    nothing = f"nothing mentions {' and '.join(' '.join(words).split())}"
    if not found:
        return f"{nothing}\n"
    most = f"{nothing} together; some of these words:\n" if found[0].lacks else ""
    shown = _listed((f"{f.name}   {f.where}", f.sentence) for f in found[:MOST])
    more = f"and {len(found) - MOST} more\n" if len(found) > MOST else ""
    return f"{most}{shown}{more}"


def _texts(library: Library) -> Iterator[tuple[str, str, str, str]]:
    """All that can be found: name, what it is, its first sentence, its text."""
    for module in library.modules:
        about = library.about(module)
        yield module, "a module", first_sentence(about), about
        for entry in library.own(module):
            text = "\n".join(o.text for o in entry.overloads)
            yield entry.name, f"in {module}", first_sentence(entry.overloads[0].text), text
    for page in PAGES:
        for one in sections(page):
            name, where = (one.names[0], "a message") if page == "errors" else (one.title, "a word of the language")
            sentence = one.title.partition(": ")[2] if page == "errors" else first_sentence(_plain(one.body))
            yield name, where, sentence, one.body
    for row in _rows():
        yield row[0], f"of {row[1]}", f"in SaC: {row[2]}", row[2]


# ---------------------------------------------------------------- texts


def _foreign(name: str) -> str:
    """What SaC has for a word of other languages; "" where nothing is known of it."""
    rows = [row for row in _rows() if row[0] == name]
    if not rows:
        return ""
    lines = [f"{name}   of {', '.join(dict.fromkeys(n for r in rows for n in r[1].split(', ')))}", ""]
    lines += [f"    {r[3]:<24}  in SaC  {r[2]}" for r in rows]
    remarks = dict.fromkeys(r[4] for r in rows if r[4])
    return "\n".join([*lines, *(["", *(f"    {remark}" for remark in remarks)] if remarks else [])]) + "\n"


def _rows() -> list[tuple[str, str, str, str, str]]:
    """Words of other languages: word, languages, SaC, as it is written there, remark."""
    from sacpy.lang.advice.table import rows

    return [
        (r.word, ", ".join(r.languages), r.templates[0].text, r.pattern.text.replace("\\", ""), r.remark)
        for r in rows()
        if r.word and r.templates and r.section != "modules"
    ]


def _section_text(found: Section) -> str:
    """A section of a page: its heading, its text and its examples, as they look on a terminal."""
    head = found.title if found.page == "errors" else f"{found.title}   words of the language"
    if len(found.names) == 1 and found.page != "errors":
        head = f"{found.title}   a word of the language"
    return f"{head}\n\n{_plain(found.body)}\n"


def _plain(markdown: str) -> str:
    """Markdown without its marks, each paragraph on a line; what stands between fences is indented."""
    lines: list[str] = [""]
    fenced = False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append(f"    {line}".rstrip())
        elif line and lines[-1] and not line.startswith(("- ", "|")) and not lines[-1].startswith("    "):
            lines[-1] += " " + _unmarked(line)
        else:
            lines.append(_unmarked(line))
    return "\n".join(lines).strip("\n")


def _unmarked(line: str) -> str:
    return _LINK.sub(r"\1", line).replace("`", "")


def _entry_text(library: Library, entry: Entry) -> str:
    lines = [f"{entry.name}   in {entry.module}", ""]
    for overload in entry.overloads:
        lines.append(f"    {overload.head}")
        lines += [f"        {line}".rstrip() for line in overload.text.split("\n")] if overload.text else []
        lines += examples_text(overload.examples, "        ")
    through = library.through(entry)
    lines += ["", f"Also through {', '.join(through)}."] if through else []
    return "\n".join(lines) + "\n"


def _module_text(library: Library, module: str) -> str:
    info = library.info(module)
    lines = [f"{'class' if info.kind == 'class' else 'module'} {module}", "", *library.about(module).split("\n"), ""]
    lines += [f"    {line}" for definition in library.types(module) for line in definition.split("\n")]
    lines += [f"    {line}" for line in library.objects(module)]
    lines += [""] if lines[-1] else []
    gathered = library.gathered(module)
    lines += [f"Hands on functions of {', '.join(gathered)}.", ""] if gathered else []
    entries = library.own(module)
    lines += [f"    {line}" for line in _functions(entries)]
    shown = entries
    for source in _sources(library, module):
        if own := library.own(source):
            lines += [""] * bool(lines[-1]) + [f"{source}: {first_sentence(library.about(source))}", ""]
            lines += [f"    {line}" for line in _functions(own)]
            shown = shown or own
    lines += ["", f"sacpy doc {shown[0].name} shows a function."] if shown else []
    return "\n".join(lines) + "\n"


def _sources(library: Library, module: str) -> list[str]:
    """The modules whose functions a module hands on, those through others included, each once."""
    found: list[str] = []
    for source in library.gathered(module):
        found += [s for s in (source, *_sources(library, source)) if s not in found]
    return found


def _functions(entries: Sequence[Entry]) -> list[str]:
    return _listed((e.name, first_sentence(e.overloads[0].text)) for e in entries).splitlines()


def _listed(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns."""
    all_rows = list(rows)
    width = min(max((len(name) for name, _ in all_rows), default=0), 40)
    return "".join(f"{name:<{width}}  {text}".rstrip() + "\n" for name, text in all_rows)


# ---------------------------------------------------------------- the screen


def paged(text: str) -> None:
    """Writes a text to standard output. On a terminal, its lines are broken to the width, and one that is longer than
    the screen goes through a pager: that of `PAGER`, or else `less`, and without one at once."""
    if not is_terminal(sys.stdout):
        sys.stdout.write(text)
        return
    columns, rows = shutil.get_terminal_size((80, 24))
    text = _broken(text, min(columns, _WIDEST))
    words = shlex.split(os.environ.get("PAGER", "less"))
    if text.count("\n") < rows or not words or shutil.which(words[0]) is None:
        sys.stdout.write(text)
        return
    environment = {"LESS": "FRX"} | dict(os.environ)
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run(words, input=text, text=True, env=environment, check=False, errors="surrogateescape")


def _broken(text: str, columns: int) -> str:
    """Long lines broken between words; what follows stands below where the text of the line begins."""
    lines: list[str] = []
    for line in text.split("\n"):
        row = re.match(r" *\S.*? {2,}| *", line)
        margin = row.end() if row is not None and row.end() < columns // 2 else 4
        lines += textwrap.wrap(line, columns, subsequent_indent=" " * margin, break_long_words=False) or [""]
    return "\n".join(lines)


__all__ = ["describe", "findings", "overview", "paged", "search", "unknown"]
