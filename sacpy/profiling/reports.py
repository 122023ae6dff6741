"""A profile as text for a terminal, and as a page.

In: a profile. Out: tables of lines, functions and with-loops; or HTML with the program's text, its lines coloured by
the time that they took.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sacpy.interp.memory import in_words
from sacpy.lang.source import Source
from sacpy.profiling.profiler import Line, Part, Profile, Spent

FEW = 10  # rows of a table
LONGEST = 60  # characters of a line
STYLE = """body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .1em .8em; text-align: right; }
td.text, th.text { text-align: left; } pre, td.code { font: 13px/1.45 ui-monospace, monospace; white-space: pre; }
tr.line td { border: 0; padding: 0 .8em; }
@media (prefers-color-scheme: dark) { body { background: #16181d; color: #dfe2e8; } }"""


def report(profile: Profile, rows: int = FEW) -> str:
    """Tables of the lines, functions and with-loops that took longest."""
    lines = [(f"{_file(x.source)}:{x.number}", x.spent, _clipped(x.text)) for x in profile.lines[:rows]]
    parts = [f"{_whole(profile)}; lines of the program took\n{_table('line', lines, profile.running)}"]
    if profile.functions:
        named = [(x.place, x.spent, x.name) for x in profile.functions[:rows]]
        parts.append(f"functions, without those that they call\n{_table('function', named, profile.running)}")
    if profile.loops:
        named = [(x.place, x.spent, f"in {x.name}") for x in profile.loops[:rows]]
        parts.append(f"cells of with-loops\n{_table('with-loop', named, profile.running)}")
    return "\n".join(parts)


def _whole(profile: Profile) -> str:
    """How long it took, and what of that counts for no line."""
    others = f", {profile.elsewhere:.3f} s while other programs ran" if profile.elsewhere >= 0.001 else ""
    return f"{profile.seconds:.3f} s, {profile.preparing:.3f} s of them making code{others}"


def _file(source: Source) -> str:
    return source.name.rpartition("/")[2]


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _table(head: str, rows: Sequence[tuple[str, Spent, str]], total: float) -> str:
    cells = [(head, "time", "", "count", "arrays", "", "runs", "")]
    cells += [(place, *_numbers(spent, total), spent.target, text) for place, spent, text in rows]
    widths = [max(len(c[i]) for c in cells) for i in range(8)]
    return "".join(
        "  ".join(c.ljust(w) if i in (0, 6, 7) else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
        + "\n"
        for row in cells
    )


def _numbers(spent: Spent, total: float) -> tuple[str, str, str, str, str]:
    return (
        f"{spent.seconds:.4f} s",
        f"{100 * spent.seconds / total if total else 0:.1f} %",
        str(spent.count) if spent.count else "",
        str(spent.arrays) if spent.arrays else "",
        in_words(spent.bytes) if spent.arrays else "",
    )


# ---------------------------------------------------------------- the page


def page(profile: Profile, title: str) -> str:
    """A page that needs nothing else."""
    by_file: dict[str, list[Line]] = {}
    for line in profile.lines:
        by_file.setdefault(line.source.name, []).append(line)
    texts = "".join(_text(lines, profile.running) for lines in by_file.values())
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>\n'
        f"<h1>{escape(title)}</h1>\n<p>{_whole(profile)}</p>\n"
        f"{_parts('Functions, without those that they call', profile.functions, profile.running)}"
        f"{_parts('Cells of with-loops', profile.loops, profile.running)}{texts}</html>\n"
    )


def _parts(title: str, parts: Sequence[Part], total: float) -> str:
    if not parts:
        return ""
    rows = "".join(
        f'<tr><td class="text">{escape(p.name)}</td><td class="text">{escape(p.place)}</td>'
        f'{_cells(p.spent, total)}<td class="text">{p.spent.target}</td></tr>\n'
        for p in parts
    )
    head = '<tr><th class="text"><th class="text">place<th>time<th><th>count<th>arrays<th><th class="text">runs</tr>\n'
    return f"<h2>{escape(title)}</h2>\n<table>\n{head}{rows}</table>\n"


def _cells(spent: Spent, total: float) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in _numbers(spent, total))


def _text(lines: Sequence[Line], total: float) -> str:
    source, known = lines[0].source, {line.number: line.spent for line in lines}
    rows: list[str] = []
    for number, text in enumerate(source.text.split("\n"), 1):
        spent = known.get(number)
        share = 0.0 if spent is None or not total else min(spent.seconds / total, 1.0)
        colour = f' style="background: rgba(255, 110, 0, {0.05 + 0.75 * share:.3f})"' if spent is not None else ""
        told = "<td></td>" * 5 + "<td></td>" if spent is None else f"{_cells(spent, total)}<td>{spent.target}</td>"
        rows.append(f'<tr class="line"{colour}>{told}<td>{number}</td><td class="text code">{escape(text)}</td></tr>\n')
    return f"<h2>{escape(_file(source))}</h2>\n<table>\n{''.join(rows)}</table>\n"


__all__ = ["page", "report"]
