"""The words and marks of the language, and how tightly its operators bind.

In: nothing. Out: tables, which the parser, editors and the prompt share.
"""

from __future__ import annotations

from sacpy.lang.types import BUILTIN

PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "++": 8, "<<": 9,
    ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}  # fmt: skip
USER_OPERATOR = 12
PREFIX = 13
POSTFIX = 14
ASSIGNMENT = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
PUNCTUATION = {
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "::",
    ".",
    "..",
    "...",
    "?",
    "->",
    "=",
    "#",
    "@",
    "$",
    "\\",
    "`",
} | ASSIGNMENT
BASE_TYPES = frozenset(BUILTIN)
INTERFACES = frozenset({"use", "import", "export", "provide"})
ATTRIBUTES = frozenset({"inline", "noinline", "external", "specialize", "thread"})
DEFINES = INTERFACES | ATTRIBUTES | {"typedef", "objdef", "module", "class"}
STATEMENTS = frozenset({"if", "else", "while", "do", "for", "return"})
RESERVED = DEFINES | STATEMENTS | BASE_TYPES | {"struct", "void", "with", "true", "false"}
OPERAND_WORDS = frozenset({"with", "true", "false"})
CLOSER = {"(": ")", "[": "]", "{": "}"}
