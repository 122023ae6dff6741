"""What a message proposes: near names, for "did you mean", and lines that let a program use a module."""

from __future__ import annotations

import re

from sacpy.lang.diagnostics import Edit
from sacpy.lang.source import Source, Span

USUAL = ("Array", "StdIO", "Math", "MathArray", "String", "Char")
"""Where a function that several library modules have is most likely meant to come from."""
_FIRST_USE = r"^(?:use|import)\b"
_MACRO = r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(?)"
_HEADER = r"^(?:module|class)\b[^;]*;[ \t]*\n?"


def use_line(source: Source, module: str) -> Edit:
    """The change that lets a text use a module: before its other `use` lines, or else behind the head of a module, or
    else in front of everything."""
    text = source.text
    first, header = re.search(_FIRST_USE, text, re.MULTILINE), re.search(_HEADER, text, re.MULTILINE)
    at = first.start() if first else header.end() if header else 0
    line = f"use {module}: all;\n"
    return Edit(Span(source, at, at), line if at == 0 or text[at - 1] == "\n" else "\n" + line)


def macros(source: Source, with_arguments: bool) -> list[str]:
    """The macros that a text defines, those with parameters or those without."""
    return [name for name, bracket in re.findall(_MACRO, source.text, re.MULTILINE) if bool(bracket) == with_arguments]
