"""Diagnostics with advice: what was meant, and changes that have been tried.

In: diagnostics, and a way to check a changed text. Out: diagnostics. What follows from something of another language,
on the same lines, is not said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sacpy.lang.advice.elsewhere import elsewhere
from sacpy.lang.advice.foreign import ANOTHER_LANGUAGE, Change, Meant, meant
from sacpy.lang.advice.slips import misspelt
from sacpy.lang.advice.vetting import MOST, Vetting, changed
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.nodes import replace

_SYNTAX = re.compile(r"E0[12]")
OPEN_STRING = "E0102"
TUPLE = "E0245"  # with a change, where it is known what the parenthesis is for
NO_END = "E0202"  # of a statement; with a change, where a new line or a `}` says that it ends there


def advise(found: Sequence[Diagnostic], check: Callable[[Mapping[str, str]], Sequence[Diagnostic]]) -> list[Diagnostic]:
    """The diagnostics with advice."""

    def problems(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        try:
            return check(texts)
        except SacError as error:
            return error.diagnostics

    understood = [_with_modules(_understood(d)) for d in found]
    vetting = Vetting(found, problems, _changes)
    for i in [i for i, u in enumerate(understood) if _wants_end(found[i]) and u.diagnostic.code != NO_END][:MOST]:
        if _ends_there(found[i], problems):
            understood[i] = _own(found[i])
    chosen = vetting.choose([(i, u.changes) for i, u in enumerate(understood)])
    again = [i for i, (u, right) in enumerate(zip(understood, chosen)) if right is None and u.sure_only]
    for i in again:  # not what was thought of first
        other = meant(found[i], sure_only=False)
        understood[i] = _own(found[i]) if other is None or other.sure_only else other
    for i, right in zip(again, vetting.choose([(i, understood[i].changes) for i in again])):
        chosen[i] = right
    made = []
    for i, (u, right) in enumerate(zip(understood, chosen)):
        blamed = any(
            other is not None and j != i and i in other.cured and found[j].code != understood[j].diagnostic.code
            for j, other in enumerate(chosen)
        )
        change = None if right is None else right.change
        if not blamed or found[i].code != u.diagnostic.code:  # else it was a consequence
            help = u.diagnostic.help if change is None else change.help
            made.append((replace(u.diagnostic, help=help, edit=None if change is None else change.edit), u))
    return _without_consequences(made)


def _understood(diagnostic: Diagnostic) -> Meant:
    """What a diagnostic is about: something of another language, a misspelt word, or what it says."""
    if diagnostic.severity != "error" or (diagnostic.code == TUPLE and diagnostic.edit is not None):
        return _own(diagnostic)
    found = meant(diagnostic)
    if found is not None and not found.sure_only:
        return found
    return found or misspelt(diagnostic) or _own(diagnostic)


def _with_modules(understood: Meant) -> Meant:
    """The same; where there is nothing to be tried but another module, with those whose functions may take the
    arguments."""
    if any(not c.edit.text.startswith("use ") for c in understood.changes):
        return understood
    others = elsewhere(understood.diagnostic)
    if others is None:
        return understood
    known = {c.edit.text for c in understood.changes}
    return replace(others, changes=(*understood.changes, *(c for c in others.changes if c.edit.text not in known)))


def _own(diagnostic: Diagnostic) -> Meant:
    changes = () if diagnostic.edit is None else (Change(diagnostic.help, diagnostic.edit),)
    return Meant(diagnostic, changes, False, diagnostic.span)


def _wants_end(diagnostic: Diagnostic) -> bool:
    """Whether a statement lacks its end for sure, and what follows is no comment to us that another language divides
    by."""
    span = diagnostic.span
    return (
        diagnostic.code == NO_END
        and diagnostic.edit is not None
        and not span.source.text[span.end :].lstrip(" ").startswith("//")
    )


def _ends_there(diagnostic: Diagnostic, problems: Callable[[Mapping[str, str]], Sequence[Diagnostic]]) -> bool:
    """Whether nothing is wrong with its line any more once a statement ends there: then nobody need think of another
    language."""
    assert diagnostic.edit is not None
    name, line = diagnostic.span.source.name, diagnostic.span.line
    after = problems(changed([diagnostic.edit]))
    return all(d.severity != "error" or (d.span.source.name, d.span.line) != (name, line) for d in after)


def _changes(diagnostic: Diagnostic) -> Sequence[Change]:
    """The changes in question for a diagnostic of a program that is being tried."""
    return _understood(diagnostic).changes


def _without_consequences(made: Sequence[tuple[Diagnostic, Meant]]) -> list[Diagnostic]:
    """Leaves out what the parser could not read because of something of another language: on the lines of that, and
    behind the head of a block that is indented and not in braces, up to the next line that stands no farther in."""
    kept: list[Diagnostic] = []
    covered: list[tuple[str, int, int]] = []
    for d, u in made:
        if d.code == ANOTHER_LANGUAGE:
            source = u.span.source
            first, last = u.span.line, source.position(u.span.end)[0]
            if u.span.text.rstrip().endswith(":"):
                last = _block_end(source.text.split("\n"), last)
            covered.append((source.name, first, last))
        elif d.code == OPEN_STRING:
            covered.append((d.span.source.name, d.span.line, d.span.line))
    said: set[tuple[object, ...]] = set()
    for d, _ in made:
        line = d.span.line
        hidden = any(name == d.span.source.name and first <= line <= last for name, first, last in covered)
        if hidden and d.code not in (ANOTHER_LANGUAGE, OPEN_STRING) and _SYNTAX.match(d.code):
            continue
        place = (d.span.source.name, d.span.start) if d.code == ANOTHER_LANGUAGE or d.edit is None else d.edit
        if (d.code, d.message, place) in said and (d.code == ANOTHER_LANGUAGE or d.edit is not None):
            continue  # the same change mends both
        said.add((d.code, d.message, place))
        kept.append(d)
    return kept


def _block_end(lines: Sequence[str], head: int) -> int:
    """The last line of what is indented below a line; lines count from 1."""

    def depth(line: str) -> int:
        return len(line) - len(line.lstrip())

    last = head
    while last < len(lines) and (not lines[last].strip() or depth(lines[last]) > depth(lines[head - 1])):
        last += 1
    return last
