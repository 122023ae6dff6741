"""SaC for Pygments: one lexer for the prompt, notebooks and documentation pages.

In: any text, a broken or half-typed one too. Out: Pygments tokens whose texts together are the input. The lexer never
looks further than a line ahead, and carries nothing from line to line but its stack of states, so that the prompt can
colour line by line.
"""

from __future__ import annotations

import re

from pygments.lexer import ExtendedRegexLexer, bygroups, include, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from sacpy.lang.vocabulary import BASE_TYPES, DEFINES, INTERFACES, STATEMENTS
from sacpy.withloop.combinators import COMBINATORS
from sacpy.withloop.pragmas import WORDS as MAPPING_WORDS

WITHLOOP_WORDS = ("genarray", "modarray", "fold", "foldfix", "scan", "exscan", "into", "propagate")
_NAME = r"[A-Za-z_]\w*"
_EXPONENT = r"[eE][+-]?\d+"


class SacLexer(ExtendedRegexLexer):  # type: ignore[misc]
    """SaC (Single Assignment C)."""

    name = "SaC"
    url = "https://www.sac-home.org"
    aliases = ["sac"]  # noqa: RUF012  (Pygments' own form)
    filenames = ["*.sac"]  # noqa: RUF012
    mimetypes = ["text/x-sac"]  # noqa: RUF012
    flags = re.MULTILINE | re.ASCII

    tokens = {  # noqa: RUF012
        "root": [
            (r"\A#!.*", Comment.Hashbang),
            (
                r"^([ \t]*#[ \t]*include\b)([ \t]*)(<[^>\n]*>?|\"[^\"\n]*\"?)",
                bygroups(Comment.Preproc, Whitespace, Comment.PreprocFile),
            ),
            (
                rf"^([ \t]*#[ \t]*(?:define|undef|ifdef|ifndef)\b)([ \t]*)({_NAME})?",
                bygroups(Comment.Preproc, Whitespace, Name.Constant),
            ),
            (r"(#[ \t]*pragma\b)([ \t]*)", bygroups(Comment.Preproc, Whitespace), "pragma"),
            (r"#[ \t]*(?:[a-z]+\b|#)?", Comment.Preproc),
            (r"\b(?:export|provide)\b", Keyword.Namespace, "listed"),
            (
                rf"\b(use|import|module|class)(?:([ \t]+)({_NAME}))?(?!\w)",
                bygroups(Keyword.Namespace, Whitespace, Name.Namespace),
                "listed",
            ),
            include("code"),
        ],
        "code": [
            (r"\s+", Whitespace),
            (r"//.*", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r"/\*", Comment.Multiline, "comment"),
            (r'"(?:[^"\\\n]|\\.)*"', String),
            (r"'(?:[^'\\\n]|\\.)*'", String.Char),
            (r"[\"'].*", Error),
            (r"0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+)?\w*", Number.Hex),
            (
                rf"(?:\d+\.(?!\.)\d*(?:{_EXPONENT})?|\.\d+(?:{_EXPONENT})?|\d+{_EXPONENT}|\d+(?=[fFdD]\b))\w*",
                Number.Float,
            ),
            (r"\d\w*", Number.Integer),
            (words(sorted(BASE_TYPES | {"void"}), prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(("true", "false"), prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (rf"(struct\b)(\s*)({_NAME})?", bygroups(Keyword.Declaration, Whitespace, Name.Class)),
            (words(sorted((DEFINES - INTERFACES) | STATEMENTS | {"with"}), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(WITHLOOP_WORDS, prefix=r"\b", suffix=r"(?=\s*\()"), Keyword),
            (r"\b(?:step|width)(?=\s+[\w\[])", Keyword),
            (rf"({_NAME})(\s*)(::)", bygroups(Name.Namespace, Whitespace, Punctuation)),
            (rf"(?<=[\w\])])(\.)({_NAME})", bygroups(Operator, Name.Attribute)),
            (rf"{_NAME}(?=\s*\()", Name.Function),
            (_NAME, Name),
            (r"[()\[\]{},;]", Punctuation),
            (r"/(?![*/])|[-+*%<>=!&|^~@$?:\\`.]+", Operator),
            (r"[^\x00-\x7f]+", Operator),  # an operator's name may have any character that is not ASCII
            (r"[\x00-\x1f\x7f]+", Text),
        ],
        "comment": [
            (r"[^*]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
        "listed": [
            (r";", Punctuation, "#pop"),
            (words(("all", "except"), prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            include("code"),
        ],
        "pragma": [
            (r"\\[ \t]*\n", Whitespace),
            (r"\n", Whitespace, "#pop"),
            (r"[ \t\r\f\v]+", Whitespace),
            (words(MAPPING_WORDS, prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            (words(("GridBlock", "Gen", *COMBINATORS), prefix=r"\b", suffix=r"\b"), Name.Builtin),
            include("code"),
        ],
    }
