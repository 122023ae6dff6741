"""What is said to those who come from other languages, and which changes are proposed to anybody.

In: diagnostics as the front end makes them, and a way to check a changed text. Out: the same, where something of
another language was meant with what SaC has for it, and with such changes only as mend what they are proposed for.

- `words.txt` is the table: what other languages write, and how SaC does;
- `pieces` cuts a text into words and signs, those of other languages too; `patterns` matches them, and fills in
  templates; `table` reads the table;
- `foreign` finds the row that a diagnostic is about; `slips` finds misspelt words of the language, `elsewhere` modules
  whose functions take what those in use do not;
- `vetting` tries changes out; `advise` puts all together.

Nothing of this is loaded before something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sacpy.lang.diagnostics import Diagnostic, SacError

if TYPE_CHECKING:
    Check = Callable[[Mapping[str, str]], Sequence[Diagnostic]]
    """All that is wrong with a program, with other texts in the place of those of these sources, by name. What it
    raises as `SacError` counts as well."""


def advised(found: Sequence[Diagnostic], check: Check) -> list[Diagnostic]:
    """The diagnostics with advice. `check` is used only where a change is to be proposed."""
    if not any(d.severity == "error" or d.edit is not None for d in found):
        return list(found)
    from sacpy.lang.advice.advise import advise

    return advise(found, check)


def advised_error(error: SacError, check: Check) -> SacError:
    """The error with advice, and what caused it."""
    made = SacError(*advised(error.diagnostics, check))
    made.__cause__, made.__suppress_context__ = error.__cause__, True
    return made


def problems(action: Callable[[], Sequence[Diagnostic]]) -> Sequence[Diagnostic]:
    """What an action gives, or raises as `SacError`."""
    try:
        return action()
    except SacError as error:
        return error.diagnostics


__all__ = ["advised", "advised_error", "problems"]
