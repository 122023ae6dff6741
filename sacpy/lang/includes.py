"""`#include`: files put in the place of a line.

In: the directive. Out: the tokens of the file that it names; or what is wrong with it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.files import file_bytes, is_there
from sacpy.lang.macros import Overflow
from sacpy.lang.preprocessor import CONFINED
from sacpy.lang.scanner import scan
from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Token

if TYPE_CHECKING:
    from sacpy.lang.preprocessor import _Preprocessor

LIBRARY = Path(__file__).resolve().parent.parent / "stdlib" / "include"
NESTED_INCLUDES = 60
INCLUDES = 2000
C_HEADERS = {"stdio.h": "StdIO", "math.h": "Math", "string.h": "String", "ctype.h": "Char", "limits.h": "Constants"}
_INCLUDED = re.compile(r'\s*include\s*(?:"([^"\n]+)"|<([^>\n]+)>)')


def include(work: _Preprocessor, directive: Token, line: list[Token]) -> None:
    """Obeys an `#include`: the tokens of its file come next. Raises `SacError`."""
    name, span = included_name(work, directive, line)
    path, text = find(work, name, span)
    if str(path) in work._once:
        return
    work._includes += 1
    if len(work._nesting) >= NESTED_INCLUDES or work._includes > INCLUDES:
        again = path in work._nesting
        message = f"`{name}` includes itself, directly or by way of others" if again else "too many files are included"
        raise Overflow(
            Diagnostic(
                "E0124",
                message,
                span,
                "included again and again" if again else f"more than {NESTED_INCLUDES} deep, or {INCLUDES} in all",
                help="put the file between `#ifndef NAME_H`, `#define NAME_H` and `#endif`, or begin it with "
                "`#pragma once`",
            )
        )
    if path not in work._scanned:
        work._scanned[path] = scan(Source(str(path), text)).tokens
    work.included[path] = None
    work._nesting.append(path)
    work._file(work._scanned[path])
    work._nesting.pop()


def included_name(work: _Preprocessor, directive: Token, line: list[Token]) -> tuple[str, Span]:
    """The name of the file that a directive names, and where it stands. Raises `SacError`."""
    if match := _INCLUDED.match(directive.text):
        return match.group(1) or match.group(2), line[1].span.to(line[-1].span)
    expanded = work._expander.expand_all(line[1:])
    if len(expanded) == 1 and expanded[0].kind == "string" and len(expanded[0].text) > 2:
        return expanded[0].text[1:-1], line[1].span.to(line[-1].span)
    span = line[1].span.to(line[-1].span) if len(line) > 1 else directive.span
    raise SacError(
        Diagnostic(
            "E0111",
            "`#include` without a file's name",
            span,
            "a name in quotes or angle brackets belongs here",
            help='write `#include "file.h"` or `#include <file.h>`',
        )
    )


def find(work: _Preprocessor, name: str, span: Span) -> tuple[Path, str]:
    """The file of a name, and its text. Raises `SacError` where there is none, or it may not be read."""
    beside = Path(span.source.name)
    folders = [beside.parent, *work.include_path, LIBRARY]
    if CONFINED.get():
        folders = folders if beside.is_file() else folders[1:]
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise SacError(
                Diagnostic(
                    "E0750",
                    f"this session has no access to files, so the program cannot include `{name[:80]}`",
                    span,
                    "not in a folder for included files",
                    help="name a file within the session's include_path, or open the session with access to files",
                )
            )
    for folder in folders:
        path = folder / name
        try:
            if is_there(path):
                return path, file_bytes(path).decode("utf-8", "surrogateescape")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SacError(
                Diagnostic(
                    "E0113",
                    f"`{name[:80]}` cannot be read: {reason}",
                    span,
                    "included here",
                    help="check the file's name and permissions",
                )
            ) from None
    searched = tuple(dict.fromkeys(f"looked in {folder}" for folder in folders))
    module = C_HEADERS.get(name)
    help = (
        f"SaC uses modules in place of C's headers: `use {module}: all;`"
        if module
        else "check the name, or add the file's folder with `-I FOLDER`"
    )
    raise SacError(
        Diagnostic("E0113", f"there is no file `{name[:80]}` to include", span, "not found", notes=searched, help=help)
    )
