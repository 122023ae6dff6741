"""The parser's hold on its tokens: looking, advancing, reporting, skipping.

In: the tokens of one file. Out: the base class of the grammar's parts (`parse_types`, `parse_expressions`,
`parse_withloops`, `parse_statements`, `parse_definitions`). A mistake is reported once and raises `Abandon`, which the
nearest statement or definition catches; it skips to a place where a new one can begin. So one mistake gives one
diagnostic, and several mistakes several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from sacpy.lang.diagnostics import Diagnostic, Edit, Label
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.tokens import Token
from sacpy.lang.vocabulary import (
    ASSIGNMENT,
    BASE_TYPES,
    CLOSER,
    DEFINES,
    OPERAND_WORDS,
    PRECEDENCE,
    PUNCTUATION,
    RESERVED,
    STATEMENTS,
    USER_OPERATOR,
)

MAX_DEPTH = 500  # of nested expressions and blocks; later passes recurse over the tree
MAX_CHAIN = 10_000  # of operators, selections or fields in a row: a chain leans to the left, one level each


class Abandon(Exception):
    """What was being parsed cannot be finished; the diagnostic is already recorded."""


class GiveUp(Exception):
    """Nothing that follows can be parsed sensibly; the diagnostic is already recorded."""


class Cursor:
    """The tokens, as parallel lists that are fast to look at, and the position in them."""

    def __init__(self, tokens: Sequence[Token], variables: Sequence[str] = ()) -> None:
        self.tokens = list(tokens)
        if not self.tokens or self.tokens[-1].kind != "end":
            last = self.tokens[-1].span if self.tokens else NOWHERE
            self.tokens.append(Token("end", "", Span(last.source, last.end, last.end)))
        self.pos = 0
        self.depth = 0
        self.stops = 0
        self.tuple_at = -1
        self.dots_at = -1
        self.diagnostics: list[Diagnostic] = []
        self.reported_at = -1
        self.locals: set[str] = set(variables)  # variables of the function so far
        self.gives = False  # whether it has results
        self.laid_out: set[int] = set()  # the pragmas that belong to with-loops
        self.spans = [t.span for t in self.tokens]
        self.kinds = [t.kind for t in self.tokens] + ["end", "end", "end"]
        self.keys = [t.text if t.kind in ("name", "op") else "#" + t.kind for t in self.tokens] + [
            "#end",
            "#end",
            "#end",
        ]
        self.level = self._levels()
        self.infix = [self._infix_of(i) for i in range(len(self.tokens))] + [0, 0, 0]
        self.types: set[str] = set()
        self.objects: set[str] = set()
        self.operators: set[str] = set()
        self._scan_names()

    def _levels(self) -> list[int]:
        """How many braces are open before each token."""
        depth, levels = 0, []
        for key in self.keys:
            levels.append(depth)
            if key == "{":
                depth += 1
            elif key == "}" and depth:
                depth -= 1
        return levels

    def _infix_of(self, i: int) -> int:
        """The precedence of the infix operator that starts at token i; 0 if none does. `M::+` starts at `M`."""
        kind, key = self.kinds[i], self.keys[i]
        if kind == "op":
            return PRECEDENCE.get(key) or (0 if key in PUNCTUATION else USER_OPERATOR)
        if kind == "name" and self.keys[i + 1] == "::" and self.kinds[i + 2] == "op":
            return self._infix_of(i + 2)
        return 0

    def _scan_names(self) -> None:
        """Collects the types, objects and operators that the file defines, wherever it does: a cast may come before the
        typedef."""
        keys, kinds = self.keys, self.kinds
        for i, key in enumerate(keys):
            if kinds[i] == "op":
                if key == "(" and i and self.infix[i - 1] and kinds[i - 1] == "op" and not self.level[i]:
                    self.operators.add(keys[i - 1])
            elif key == "typedef":
                j = i + 1
                while kinds[j] != "end" and keys[j] not in (";", "{", "}"):
                    j += 1
                if kinds[j - 1] == "name":
                    self.types.add(keys[j - 1])
            elif key in ("class", "struct") and kinds[i + 1] == "name" and keys[i + 2] in (";", "{", "deprecated"):
                self.types.add(keys[i + 1])
            elif key == "objdef":
                j = self.skip_type(i + 1)
                if j > 0 and kinds[j] == "name":
                    self.objects.add(keys[j])

    # ------------------------------------------------------------ looking

    def skip_type(self, i: int) -> int:
        """The index behind the type that starts at token i; -1 if none does."""
        keys, kinds = self.keys, self.kinds
        if keys[i] == "struct":
            i += 1
        if kinds[i] != "name" or (keys[i] in RESERVED and keys[i] not in BASE_TYPES):
            return -1
        first = i
        i += 1
        if keys[i] == "::":
            if kinds[i + 1] != "name":
                return -1
            i += 2
        if keys[i] != "[":
            return i
        i += 1
        while kinds[i] in ("name", "number") or keys[i] in (".", "*", "+", ",", ":", ">"):
            i += 1
        if keys[i] == "<" and keys[first] in BASE_TYPES:  # positions: what follows are expressions
            depth = 1
            while depth and kinds[i] != "end" and keys[i] not in (";", "{", "}"):
                depth += (keys[i] in ("[", "(")) - (keys[i] in ("]", ")"))
                i += 1
            return -1 if depth else i
        return i + 1 if keys[i] == "]" else -1

    def parameters_ahead(self, i: int) -> bool:
        """Whether a parameter list starts at token i, as opposed to arguments of a call."""
        if self.keys[i] != "(":
            return False
        if self.keys[i + 1] in (")", "...", "void") or self.kinds[i + 1] == "end":
            return True
        j = self.skip_type(i + 1)
        return j > 0 and (self.kinds[j] == "name" or self.keys[j] == "&")

    def definition_ahead(self, i: int) -> bool:
        """Whether a definition starts at token i, as opposed to a statement or an expression."""
        keys, kinds = self.keys, self.kinds
        key = keys[i]
        if key in DEFINES:
            return kinds[i + 1] in ("name", "end") or keys[i + 1] in ("<", "{", "...")
        if key == "struct" and keys[i + 2] == "{":
            return kinds[i + 1] == "name"
        if key == "<" and kinds[i + 1] == "name" and keys[i + 2] == ":":
            return True
        if key == "void":
            i += 1
        else:
            if kinds[i] != "name":
                return False
            i = self.skip_type(i)
            while i > 0 and keys[i] == ",":
                i = self.skip_type(i + 1)
            if i < 0:
                return False
        while kinds[i] == "op" and self.infix[i] and kinds[i + 1] == "op" and keys[i + 1] != "(":
            i += 1
        return (kinds[i] == "name" or self.infix[i] > 0) and self.parameters_ahead(i + 1)

    def starts_operand(self, i: int) -> bool:
        """Whether token i can only begin an operand: it is no infix operator."""
        kind, key = self.kinds[i], self.keys[i]
        if kind == "name":
            return not self.infix[i] and (key not in RESERVED or key in OPERAND_WORDS)
        return kind in ("number", "char", "string") or key in ("(", "[", "{")

    def describe(self, i: int) -> str:
        """Token i in words, for a message."""
        token = self.tokens[min(i, len(self.tokens) - 1)]
        if token.kind == "end":
            return "the end of the input"
        if token.kind == "pragma":
            return "a pragma"
        text = token.text.split("\n")[0]
        return f"`{text if len(text) <= 40 else text[:37] + '...'}`"

    # ------------------------------------------------------------ spans

    def span(self, start: int) -> Span:
        """From token `start` to the token before the position."""
        first, last = self.spans[start], self.spans[self.pos - 1]
        if first is last or self.pos <= start:
            return first
        if first.source is not last.source:
            return first
        return Span(first.source, first.start, last.end, first.macro if first.macro is last.macro else None)

    def behind(self, i: int | None = None) -> Span:
        """The empty place right behind the token before token i (default: the current one)."""
        i = self.pos if i is None else i
        if not i:
            return self.spans[0]
        last = self.spans[i - 1]
        return Span(last.source, last.end, last.end, last.macro)

    def without(self, start: int, end: int) -> Edit:
        """The change that takes the tokens from `start` to `end` out; with their line, where nothing else stands on
        it."""
        span = self.spans[start].to(self.spans[end])
        text, low, high = span.source.text, span.start, span.end
        while low and text[low - 1] in " \t":
            low -= 1
        while high < len(text) and text[high] in " \t":
            high += 1
        alone = (not low or text[low - 1] == "\n") and high < len(text) and text[high] == "\n"
        return Edit(Span(span.source, low, high + 1, span.macro) if alone else span, "")

    def on_new_line(self, i: int) -> bool:
        """Whether token i stands on a later line than the token before it."""
        if not 0 < i < len(self.tokens):
            return True
        before, here = self.spans[i - 1], self.spans[i]
        return here.source is not before.source or "\n" in here.source.text[before.end : here.start]

    # ------------------------------------------------------------ reporting

    def report(
        self, code: str, message: str, span: Span | None = None, *, label: str = "", labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (), help: str = "", edit: Edit | None = None,
    ) -> None:  # fmt: skip
        """Records a diagnostic at `span` (default: the current token), unless one is recorded for this very place: a
        second one would be its consequence."""
        if self.reported_at == self.pos and self.diagnostics:
            return
        self.reported_at = self.pos
        span = span or self.spans[self.pos]
        self.diagnostics.append(
            Diagnostic(code, message, span, label, labels, notes, help, edit, incomplete=self.kinds[self.pos] == "end")
        )

    def fail(
        self, code: str, message: str, span: Span | None = None, *, label: str = "", labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (), help: str = "", edit: Edit | None = None,
    ) -> NoReturn:  # fmt: skip
        """Records a diagnostic and gives up what is being parsed."""
        self.report(code, message, span, label=label, labels=labels, notes=notes, help=help, edit=edit)
        raise Abandon

    def expect(self, key: str, what: str = "", help: str = "") -> int:
        """Steps over the token `key` and returns its index, or fails."""
        if self.keys[self.pos] == key:
            self.pos += 1
            return self.pos - 1
        where = f" {what}" if what else ""
        if self.kinds[self.pos] == "end" or self.on_new_line(self.pos):
            self.fail(
                "E0201",
                f"expected `{key}`{where}, found {self.describe(self.pos)}",
                self.behind(),
                label=f"expected `{key}`",
                help=help or f"write `{key}` here",
            )
        self.fail(
            "E0201",
            f"expected `{key}`{where}, found {self.describe(self.pos)}",
            label=f"expected `{key}`",
            help=help or f"write `{key}` here",
        )

    def expect_name(self, what: str) -> str:
        """Steps over a name that is not reserved and returns it, or fails."""
        key = self.keys[self.pos]
        if self.kinds[self.pos] == "name" and key not in RESERVED:
            self.pos += 1
            return key
        if self.kinds[self.pos] == "name":
            self.fail(
                "E0228",
                f"`{key}` is a word of the language and cannot be the name of {what}",
                label="reserved word",
                help=f"choose another name, for instance `{key}_`",
            )
        self.fail(
            "E0201",
            f"expected the name of {what}, found {self.describe(self.pos)}",
            label="expected a name",
            help="a name is made of letters, digits and `_`, and begins with no digit",
        )

    def matching(self, opening: int) -> int:
        """The index of the bracket that closes the one at token `opening`; -1 if the brackets between do not match."""
        awaited: list[str] = []
        for i in range(opening, len(self.tokens)):
            key = self.keys[i]
            if key in CLOSER:
                awaited.append(CLOSER[key])
            elif key in (")", "]", "}"):
                if awaited.pop() != key:
                    return -1
                if not awaited:
                    return i
        return -1

    def close(self, opening: int, more: str = "", *, operands: bool = True, condition: bool = False) -> None:
        """Steps over the bracket that closes the one at index `opening`, or fails; `more` names what else might have
        come. `operands`: expressions stand between the brackets; `condition`: a truth value does."""
        key = self.keys[self.pos]
        closing = CLOSER[self.keys[opening]]
        if key == closing:
            self.pos += 1
            return
        self.refuse_assignment(condition)
        opened = Label(self.spans[opening], "opened here")
        expected = f"{more}`{closing}`"
        if operands and self.starts_operand(self.pos) and not self.on_new_line(self.pos) and key != "{":
            self.missing_operator(expected, opened)
        edit = (
            Edit(self.behind(), closing) if key in (";", "{", "}", ")", "]") or self.kinds[self.pos] == "end" else None
        )
        help = f"write `{closing}` here, or look for a mistake between the `{self.keys[opening]}` and this place"
        if key == ":" and closing == "]":
            help = (
                "SaC has no slices: `take([n], a)` and `drop([n], a)` are its ends, and `tile(shape, offset, a)` "
                "is any part of it"
            )
        self.fail(
            "E0203", f"expected {expected}, found {self.describe(self.pos)}", self.behind(),
            label=f"expected {expected}", labels=(opened,),
            help=help, edit=edit,
        )  # fmt: skip

    def missing_operator(self, expected: str, *labels: Label) -> NoReturn:
        """Two operands side by side."""
        help = "put an operator or a comma between the two"
        if expected == "`;`":
            help = "put an operator between the two, or a `;` if a statement ends here"
        wanted = f"an operator{',' if ' or ' in expected else ' or'} {expected}"
        self.fail(
            "E0206",
            f"expected {wanted}, found {self.describe(self.pos)}",
            label=f"expected {wanted}",
            labels=labels,
            help=help,
        )

    def refuse_assignment(self, condition: bool = False) -> None:
        """Fails if an assignment operator stands where an expression should go on."""
        key = self.keys[self.pos]
        if key in ("++", "--"):
            self.fail(
                "E0216",
                f"`{key}` changes a variable and is not an expression",
                label="a statement of its own",
                help="write it as a statement before or behind this one",
            )
        if key == "=":
            self.fail(
                "E0216", "an assignment is not an expression", label="`=` assigns",
                edit=Edit(self.spans[self.pos], "==") if condition else None,
                help="`==` compares; to assign, write a statement of its own",
            )  # fmt: skip
        if key in ASSIGNMENT:
            self.fail(
                "E0216",
                f"`{key}` assigns, and an assignment is not an expression",
                label="assignment",
                help="write the assignment as a statement of its own",
            )

    def deeper(self) -> None:
        """Counts one more level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()

    def too_deep(self) -> NoReturn:
        """The program nests beyond what the passes over the tree can follow; nothing after this place is parsed."""
        self.report(
            "E0223",
            f"this is nested more than {MAX_DEPTH} levels deep",
            label="too deep",
            help="name intermediate results, or move the inner part to a function of its own",
        )
        raise GiveUp

    # ------------------------------------------------------------ skipping

    def skip_statement(self, level: int) -> None:
        """Moves behind the `;` that ends a broken statement at brace depth `level`, or to the `}` that ends its block,
        or to a definition at the start of a line."""
        keys, kinds, levels = self.keys, self.kinds, self.level
        while kinds[self.pos] != "end":
            key, here = keys[self.pos], levels[self.pos]
            if here <= level:
                # A `;` amid a line may belong to the head of a loop, so what is left of the line goes too.
                if key == ";" and here == level and (self.on_new_line(self.pos + 1) or keys[self.pos + 1] == "}"):
                    self.pos += 1
                    return
                if key == "}" and (here < level or self.level[self.pos + 1] < level):
                    return
                if here == level and key in STATEMENTS and key not in ("else", "return") and self.on_new_line(self.pos):
                    return
            if key == "}" and here == level + 1 and not self._continues(self.pos + 1):
                self.pos += 1
                return
            if here and self.on_margin(self.pos) and self.definition_ahead(self.pos):
                return
            self.pos += 1

    def _continues(self, i: int) -> bool:
        """Whether what stands behind a closing brace goes on with the same statement."""
        return self.keys[i] in (":", ";", ")", "]", ",", "else", "while", ".") or self.infix[i] > 0

    def skip_definition(self) -> None:
        """Moves to the next place at brace depth 0 where a definition starts."""
        while self.kinds[self.pos] != "end":
            if (
                (not self.level[self.pos] or self.on_margin(self.pos))
                and self.definition_ahead(self.pos)
                and self.begins_line(self.pos)
            ):
                return
            self.pos += 1

    def begins_line(self, i: int) -> bool:
        """Whether token i is the first of its line, or follows the end of a definition."""
        return self.on_new_line(i) or self.keys[i - 1] in (";", "}")

    def ends_line(self, i: int) -> bool:
        """Whether what stands before token i is the last of its line, or of its block."""
        return self.keys[i] == "}" or self.on_new_line(i) or self.kinds[i] == "end"

    def on_margin(self, i: int) -> bool:
        """Whether token i stands at the very start of its line."""
        at = self.spans[i]
        return at.macro is None and (at.start == 0 or at.source.text[at.start - 1 : at.start] == "\n")
