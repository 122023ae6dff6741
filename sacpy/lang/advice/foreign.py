"""Which row of the table a diagnostic is about.

In: a diagnostic. Out: `Meant`: the diagnostic as it is to be, and the changes to be tried. A row counts where its
pattern covers the place of the diagnostic, and the section it stands in is one for diagnostics of that code (`_CODES`);
of several the one with most words and signs of its own. What is written as a method,
or behind the name of another language's module, is read as a call of a function first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sacpy.lang.advice.patterns import PLAIN, REST, Captured, filled, match, starts
from sacpy.lang.advice.pieces import WORDS, Piece, closing, pieces, primary_ends, unmatched
from sacpy.lang.advice.table import Row, Template, known_words, rows
from sacpy.lang.diagnostics import Diagnostic, Edit
from sacpy.lang.source import Span
from sacpy.lang.suggest import use_line
from sacpy.nodes import Node, replace

ANOTHER_LANGUAGE = "E0214"
# What functions of other languages stand behind.
PREFIXES = frozenset(("np", "numpy", "jnp", "cp", "cupy", "math", "Math", "torch", "tf", "la", "linalg", "scipy"))
_SYNTAX = re.compile(r"E0[12]")
# What says no more than that something is not understood: a row says it better. Of all others the message stays, with
# the row's help.
_VAGUE = re.compile(r"E0(?:103|104|108|110|20[1-9]|22[125]|230|235|244)")
# About declarations, which a first word of another language looks like.
_WORDS = re.compile(r"E021[023]|E0228|E0234|E0241|E0243")
_CODES = {
    "functions": re.compile(r"E0(?:30[57]|403|415|20[1236]|216|245)"),
    "arguments": re.compile(r"E0(?:40[2348]|41[59]|50[1-9]|20[1236]|216|245)"),
    "names": re.compile(r"E0(?:30[57]|229)"),
    "members": re.compile(r"E0(?:20[1236]|305|307|411)"),
    "operators": re.compile(rf"{_VAGUE.pattern}|E0(?:216|218|232|245|30[57]|403|415)"),
    "statements": re.compile(rf"{_VAGUE.pattern}|{_WORDS.pattern}|E0(?:21[468]|23[238]|245|30[57]|310|419)"),
    "types": re.compile(r"E0310"),
    "modules": re.compile(r"E0301"),
}
_OWN = ("E0110", "E0201", "E0222", "E0501")  # a change that these propose is better than any of the table
_ARROW = "E0230"  # with a change: a `:` stands where a comprehension has `->`
_OTHERS = ("E0403", "E0415")  # another function of that name is there, and takes other arguments
_WITH_TYPES = ("E0403",)  # whose labels tell the arguments' types
_TYPES = {"s": "string", "t": "string", "b": "bool"}  # of what the letters of a pattern stand for
_DECLARED = "E0212"  # a declaration with a value
_INDEX = "E0419"  # whose place is that of the index alone
_LONG = 60  # characters of a program's text that a message repeats
_FARTHEST = 1000  # characters of a line in which something of another language is looked for


class Change(Node):
    """A change to be tried, with the help that goes with it."""

    help: str
    edit: Edit


class Meant(Node):
    """What a diagnostic turned out to be about. `changes`: to be tried in this order; `sure_only`: without one that
    mends the program, nothing is to be said. `span`: what is foreign."""

    diagnostic: Diagnostic
    changes: tuple[Change, ...]
    sure_only: bool
    span: Span


class _Found(Node):
    row: Row
    at: int
    end: int
    captured: Captured


def meant(diagnostic: Diagnostic, sure_only: bool = True) -> Meant | None:
    """What of another language a diagnostic is about; None where it is about nothing of the table. `sure_only`: with
    the rows that count only if they mend the program."""
    span = diagnostic.span
    if span.macro is not None or not span.source.text or (diagnostic.code in _OWN and diagnostic.edit is not None):
        return None
    text = span.source.text
    low = text.rfind("\n", 0, span.start) + 1
    high = text.find("\n", max(span.end, span.start))
    high = len(text) if high < 0 else high
    if high - low > _FARTHEST:
        return None
    syntax = _SYNTAX.match(diagnostic.code) is not None
    lacking = syntax and _lacks_partner(diagnostic, low, high)
    for comments in (False, True):
        found = pieces(text, low, high, comments)
        slip = lacking or (syntax and not comments and any(p.text == '"' for p in found))
        best = _best(diagnostic, found, comments, sure_only)
        if slip and (best is None or not found[best.at].opens_line or best.row.section != "statements"):
            return None  # a bracket or quote lacks its partner here, which says enough
        if best is not None:
            return _meant(diagnostic, best, text, found)
        if not comments and (member := _member(diagnostic, text, found)) is not None:
            return member
        if "//" not in text[low:high]:
            break
    return _known_word(diagnostic)


def _puts_in(edit: Edit) -> bool:
    """Whether a change only puts something in, such as a `use` line."""
    return edit.span.start == edit.span.end


# ---------------------------------------------------------------- looking


def _lacks_partner(diagnostic: Diagnostic, low: int, high: int) -> bool:
    """Whether a bracket lacks its partner on the line of a diagnostic, from `low` to `high`, or where one of its labels
    stands."""
    source = diagnostic.span.source
    labels = {label.span.start for label in diagnostic.labels if label.span.source is source}
    return any(low <= at < high or at in labels for at in unmatched(source.text))


def _best(diagnostic: Diagnostic, found: Sequence[Piece], comments: bool, sure_only: bool) -> _Found | None:
    texts = {p.text for p in found}
    best: _Found | None = None
    for row in rows():
        if (
            _CODES[row.section].match(diagnostic.code)
            and (sure_only or not row.sure_only)
            and row.pattern.words <= texts
            and (not comments or "//" in row.pattern.words or "//=" in row.pattern.words)
        ):
            for at in starts(row.pattern, found, 0, len(found)):
                matched = match(row.pattern, found, at)
                if matched is None:
                    continue
                here = _Found(row, at, *matched)
                if _about(diagnostic, here, found) and (
                    best is None
                    or (row.pattern.weight, here.end - here.at) > (best.row.pattern.weight, best.end - best.at)
                ):
                    best = here
                    break
    return best


def _about(diagnostic: Diagnostic, here: _Found, found: Sequence[Piece]) -> bool:
    """Whether a match is what a diagnostic is about."""
    span, row = diagnostic.span, here.row
    if diagnostic.code == _ARROW and diagnostic.edit is not None and row.pattern.weight == 1:
        return False  # no range
    if diagnostic.code == _DECLARED and row.pattern.items[0] == ("f",):
        return False  # it begins with a type, which no pattern knows from a name
    if row.section == "statements" and len(row.pattern.items) == 1 and not _stands_alone(found, here.at):
        return False  # a variable has that name
    if row.section == "statements" and found[here.at].text == "[" and _ends_value(found, here.at - 1):
        return False  # it selects, and begins no statement
    if row.section == "operators" and found[here.at].text in ("(", "{") and _ends_value(found, here.at - 1):
        return False  # it holds the arguments of a call, or the values of a struct, and is no value itself
    start, end = found[here.at].start, found[here.end - 1].end
    own = [
        p
        for i, p in enumerate(found[here.at : here.end], here.at)
        if not any(a <= i < b for a, b in here.captured.values())
    ]
    reach = span.end if span.end > span.start else next((p.end for p in found if p.end > span.start), span.start)
    before = max((p for p in found if p.end <= span.start), key=lambda p: p.end, default=None)
    if _SYNTAX.match(diagnostic.code):
        behind = before in own
    else:  # a function or name: what it is applied by
        behind = before in own and any(
            n in PLAIN and found[a].start == span.start for n, (a, _) in here.captured.items()
        )
    touched = behind or any(p.start < reach and span.start < p.end for p in own)
    if not start <= span.start or not (span.start <= end or before is found[here.end - 1]):
        return False
    match row.section:
        case "functions" if diagnostic.code == "E0305":  # a function as an argument
            return any(item == "f" and found[a].start == span.start for item, (a, _) in here.captured.items())
        case "functions" if diagnostic.code in _OTHERS:
            return span.start == start and span.end == end
        case "functions" | "names" if not _SYNTAX.match(diagnostic.code):
            word = next((p for p in own if p.text == row.word), found[here.at])
            return span.start <= word.start < max(span.end, span.start + 1)
        case "arguments" if diagnostic.code == _INDEX:
            places = [(found[a].start, found[b - 1].end) for a, b in here.captured.values() if b > a]
            return (span.start, span.end) in places and _typed(diagnostic, row)
        case "arguments" if not _SYNTAX.match(diagnostic.code):
            return span.start == start and span.end == end and _typed(diagnostic, row)
        case "functions" | "arguments":
            return any(
                p.start < reach and span.start < p.end for p in own if p.kind == "sign" and p.text not in ("(", ")")
            )
        case "operators":
            return touched or (diagnostic.code == "E0206" and row.pattern.side_by_side)
        case "statements":
            return (
                row.pattern.weight > 1
                or touched
                or span.start in (start, end)
                or any(name in REST for name in here.captured)
            )
    return touched


def _stands_alone(found: Sequence[Piece], at: int) -> bool:
    """Whether a word is all of a statement."""
    before, behind = found[at - 1 : at] if at else [], found[at + 1 : at + 2]
    return (found[at].opens_line or before[0].text in (";", "{", "}", ")")) and (
        not behind or behind[0].opens_line or behind[0].text in (";", "}")
    )


def _ends_value(found: Sequence[Piece], at: int) -> bool:
    """Whether there may be a value that ends with a piece."""
    return at >= 0 and ((found[at].kind == "name" and found[at].text not in WORDS) or found[at].text in (")", "]"))


def _typed(diagnostic: Diagnostic, row: Row) -> bool:
    """Whether the arguments may have the types that a row is for: `s` and `t` stand for strings, `b` for truth
    values."""
    wanted = [_TYPES.get(item[0]) for item in row.pattern.items if not isinstance(item, str)]
    if diagnostic.code not in _WITH_TYPES:
        return all(w is None or f"::{w}" in diagnostic.message or f"not {w}" in diagnostic.message for w in wanted)
    types = diagnostic.label.partition("(")[2].removesuffix(")").split(", ")
    return len(types) == len(wanted) and all(w is None or w == t for w, t in zip(wanted, types))


def _member(diagnostic: Diagnostic, text: str, found: Sequence[Piece]) -> Meant | None:
    """`v.f(x)`, `v.f` and `np.f(x)` as calls of f."""
    if not _CODES["members"].match(diagnostic.code):
        return None
    for at in range(len(found)):
        if found[at].kind == "sign" and found[at].text != "(" and found[at].text != "[":
            continue
        if at and found[at - 1].text == "." and found[at].glued:
            continue
        dot = _last_dot(found, at)
        if dot < 0:
            continue
        end = dot + 2
        called = end < len(found) and found[end].text == "(" and found[end].glued
        behind = closing(found, end) + 1 if called else end
        span, syntax = diagnostic.span, _SYNTAX.match(diagnostic.code)  # which fields of structs are no matter of
        if not behind or (
            not found[dot].start <= span.start <= found[behind - 1].end and (syntax or span.start != found[at].start)
        ):
            continue
        head = [p.text for p in found[at:dot]]
        inside = text[found[end].end : found[behind - 1].start].strip() if called else ""
        name = found[dot + 1].text
        module = head[0] in PREFIXES
        if module:
            call = f"{name}({inside})" if called else name
        else:
            call = f"{name}({', '.join(filter(None, (text[found[at].start : found[dot].start], inside)))})"
        span = Span(diagnostic.span.source, found[at].start, found[behind - 1].end)
        return _rewritten(diagnostic, span, call, module)
    return None


def _last_dot(found: Sequence[Piece], at: int) -> int:
    """The index of the dot before the last name of the chain `a.b.c` that begins at `at`; -1 where there is none."""
    dot, i = -1, at + 1
    if found[at].text in ("(", "["):
        i = closing(found, at) + 1 or len(found)
    while i + 1 < len(found):
        if found[i].text == "." and found[i].glued and found[i + 1].kind == "name":
            dot, i = i, i + 2
        elif found[i].text == "[" and found[i].glued and primary_ends(found, at)[:1] > [i]:
            i = closing(found, i) + 1
        else:
            break
    return dot


def _rewritten(diagnostic: Diagnostic, span: Span, call: str, module: bool) -> Meant | None:
    """What a call stands for that was written another way."""
    found = pieces(call)
    shown = span.text if len(span.text) <= _LONG else found[0].text
    what = (
        f"`{shown}` is no expression of SaC: functions have no module's name with a dot before them"
        if module
        else f"`{shown}` is no expression of SaC: arrays have no methods and no fields"
    )
    say = "in SaC: {}"
    plain = next(_changes(span, call, Template(call, "change"), say, ""))
    changes: list[Change] = []
    for row in rows():
        if row.word == found[0].text and row.section in ("functions", "names", "arguments"):
            matched = match(row.pattern, found, 0)
            if matched is not None and matched[0] == len(found):
                if row.section == "arguments" and plain not in changes:
                    changes.append(plain)  # a function of SaC, with arguments as it takes them, perhaps
                changes += [
                    change
                    for t in row.templates
                    if t.kind != "shown"
                    for change in _changes(span, filled(t.text, call, found, matched[1]), t, say, row.remark)
                ]
    changes += [] if plain in changes else [plain]
    if not _SYNTAX.match(diagnostic.code):
        return Meant(replace(diagnostic, help=changes[0].help, edit=None), tuple(changes), changes[0] == plain, span)
    return Meant(Diagnostic(ANOTHER_LANGUAGE, what, span, "not SaC", help=changes[0].help), tuple(changes), False, span)


def _known_word(diagnostic: Diagnostic) -> Meant | None:
    """A function or name of another language, in a use that no row has."""
    known = diagnostic.edit is not None and _puts_in(diagnostic.edit)  # the library has it
    row = known_words().get(diagnostic.span.text) if diagnostic.code in ("E0305", "E0307") and not known else None
    if row is None or row.sure_only:
        return None
    help = f"`{row.word}` of {listed(row.languages)} is in SaC, for example, `{row.templates[0].text}`"
    return Meant(replace(diagnostic, help=help + _behind(row.remark), edit=None), (), False, diagnostic.span)


# ---------------------------------------------------------------- saying


def _meant(diagnostic: Diagnostic, here: _Found, text: str, found: Sequence[Piece]) -> Meant:
    row = here.row
    at = here.at
    while row.section == "functions" and at > 1 and found[at - 1].text == "." and found[at - 2].text in PREFIXES:
        at -= 2
    span = Span(diagnostic.span.source, found[at].start, found[here.end - 1].end)
    written = span.text if len(span.text) <= _LONG and "\n" not in span.text else row.pattern.text
    syntax = _SYNTAX.match(diagnostic.code) is not None or row.section in ("operators", "statements")
    vague = (
        _VAGUE.match(diagnostic.code)
        or _WORDS.match(diagnostic.code)
        or (syntax and not _SYNTAX.match(diagnostic.code))
    )
    named = row.word if row.section in ("functions", "types", "names") and not syntax else written
    named = named.replace("{", "{{").replace("}", "}}")  # braces that are written are no place to fill
    say = "in SaC: {}" if syntax else f"`{named}` of {listed(row.languages)} is {{}} in SaC"
    texts = [(t, filled(t.text, text, found, here.captured, t.kind == "shown")) for t in row.templates]
    changes = tuple(
        change
        for t, filled_text in texts
        if t.kind != "shown"
        for change in _changes(span, filled_text, t, say, row.remark)
    )
    help = say.format(f"`{texts[0][1]}`") + _behind(row.remark) if texts else ""
    only_shown = all(t.kind == "shown" for t in row.templates)
    by_itself = row.section == "arguments" and not only_shown
    if diagnostic.edit is not None and (by_itself or (not syntax and _puts_in(diagnostic.edit))):
        changes = (*changes, Change(diagnostic.help, diagnostic.edit))  # none for a name that merely looks alike
    changes = (*changes, *filter(None, map(_by_name, changes)))
    made = replace(diagnostic, help=help, edit=None)
    if vague:
        made = Diagnostic(
            ANOTHER_LANGUAGE, f"`{written}` is {listed(row.languages)}, not SaC", span, "not SaC", help=help
        )
    hints = not any(t.kind == "shown" for t in row.templates) or row.section == "functions"
    perhaps = row.sure_only or (hints and (row.section == "arguments" or diagnostic.code in _OTHERS))
    return Meant(made, changes, perhaps, span)


def _changes(span: Span, text: str, template: Template, say: str, remark: str) -> Iterator[Change]:
    """What makes `text` of a span: as it is, and with the line that its module needs."""
    yield Change(say.format(f"`{text}`") + _behind(remark), Edit(span, text))
    if template.module:
        needs = f", with `use {template.module}: all;`"
        also = (use_line(span.source, template.module),)
        yield Change(say.format(f"`{text}`") + needs + _behind(remark), Edit(span, text, also))


_USE = re.compile(r"\s*use (\w+): all;\s*")


def _by_name(change: Change) -> Change | None:
    """What does without the line that a module needs: an expression by itself has no place for that."""
    used = _USE.fullmatch(change.edit.also[0].text) if change.edit.also else None
    if used is None:  # it goes together with something else
        return None
    module = used[1]
    named = f"{module}::{change.edit.text}"
    help = change.help.replace(f", with `use {module}: all;`", "").replace(f"`{change.edit.text}`", f"`{named}`")
    return Change(help, Edit(change.edit.span, named))


def _behind(remark: str) -> str:
    return f"; {remark}" if remark else ""


def listed(languages: Sequence[str]) -> str:
    """`NumPy`, `NumPy and Julia`, `NumPy, Julia and others`."""
    if len(languages) > 3:
        languages = (*languages[:2], "others")
    return " and ".join(filter(None, (", ".join(languages[:-1]), languages[-1])))
