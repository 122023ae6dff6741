"""What there is to say about a name: Markdown for an editor's pop-ups, and where it is defined.

In: an `Analysis` and one of its occurrences. Out: texts and spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacpy.documents.library import head_comment, kind_in_words, split_comment
from sacpy.documents.pages import section
from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.functions import head_text
from sacpy.lang.elaborate.scope import Entry, Scope
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.modules import ModuleInfo
from sacpy.lang.printer import print_definition, print_expr, print_type
from sacpy.lang.source import Span
from sacpy.lang.vocabulary import BASE_TYPES
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.symbols import Occurrence, Symbol
from sacpy.lsp.types import Known

_HEADS = 8  # overloads that are shown in full


def hover(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """What stands at a place, with the stretch that it is about."""
    macro = macro_at(analysis, offset)
    if macro is not None:
        found, span = macro
        return code(macro_text(found)), span
    here = analysis.at(offset)
    if here is None:
        return _word_text(analysis, offset)
    text = about(analysis, here)
    return (text, here.span) if text else None


def _word_text(analysis: Analysis, offset: int) -> tuple[str, Span] | None:
    """What a word of the language is for."""
    inside = (t for t in analysis.tokens.tokens if t.span.source is analysis.source and t.span.macro is None)
    token = next((t for t in inside if t.kind == "name" and t.span.start <= offset <= t.span.end), None)
    try:
        found = section(token.text) if token is not None else None
    except OSError:  # the page is not there
        return None
    return None if found is None or token is None else (f"**{found.title}**\n\n{found.body}", token.span)


def about(analysis: Analysis, here: Occurrence) -> str:
    """What there is to say about a name; "" for nothing."""
    symbol = here.symbol
    if symbol.kind == "variable":
        return variable_text(analysis, here)
    if symbol.kind == "function":
        entries = analysis.entries(symbol, here.whole)
        if entries or not symbol.module:
            return functions_text(entries)
        return type_text(analysis, symbol)  # a type in the list of a use line
    if symbol.kind == "module":
        return module_text(analysis, symbol.name)
    if symbol.kind == "type":
        return type_text(analysis, symbol)
    if symbol.kind == "field":
        fields = [f"{print_field(f)}   in struct {s.name}" for s, f in fields_called(analysis, symbol.name)]
        return code("\n".join(fields)) if fields else ""
    found = object_called(analysis, symbol)
    return code(print_definition(found)) if found else ""


def code(text: str) -> str:
    """SaC in Markdown."""
    return f"```sac\n{text}\n```"


# ---------------------------------------------------------------- variables


@dataclass(frozen=True, slots=True)
class VariableType:
    """The type of a variable, and its value where that is known; for a struct the fields with theirs, and `type` ""
    where it has no name."""

    type: str
    value: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def short(self) -> str:
        """On one line."""
        return self.type or ", ".join(f".{field} {type}" for field, type in self.fields)


def variable_type(analysis: Analysis, here: Occurrence) -> VariableType | None:
    """What is known of a variable at a place."""
    name, span = here.symbol.name, here.span
    for function, variables in analysis.functions:
        if not _holds(analysis, function.signature.span, here):
            continue
        found = variables.at(name, span)
        if found and not found[0].field:
            return VariableType(found[0].type, found[0].value)
        if found:
            return _struct_type(analysis, found)
        constant = variables.constants.get((span.start, span.end)) or _assigned_constant(
            analysis, here, variables.constants
        )
        if constant:
            return VariableType(constant)
    declared = _declared(analysis, here)
    return VariableType(declared) if declared else None


def _struct_type(analysis: Analysis, found: list[Known]) -> VariableType:
    """A struct with all its fields: those that are constants have no variable in core."""
    types = {k.field: k.type for k in found}
    wholes = {k.whole for k in found}
    outermost = {field.partition(".")[0] for field in types}
    structs = [
        s for scope in scopes(analysis) for s in scope.info.structs.values() if outermost <= {f[1] for f in s.fields}
    ]
    if len(structs) == 1 and outermost == types.keys():
        fields = tuple((name, types.get(name, print_type(type))) for type, name, _ in structs[0].fields)
    else:
        fields = tuple(types.items())
    whole = wholes.pop() if len(wholes) == 1 else ""
    if whole.removeprefix("struct ").partition("[")[0] in {s.name for s in structs}:
        return VariableType(whole, fields=fields)
    plain = (
        {name for type, name, _ in structs[0].fields if type.pattern is None and type.base.name in BASE_TYPES}
        if len(structs) == 1
        else set()
    )
    if not plain:
        return VariableType("", fields=fields)
    # one number for each struct: it has the shape of the array of structs
    sample = next((k for k in found if k.field in plain), None)
    extents = sample.type.partition("[")[1:] if sample else ("", "")  # a constant: a single struct
    return VariableType(f"struct {structs[0].name}{''.join(extents)}", fields=fields)


def _holds(analysis: Analysis, head: Span, here: Occurrence) -> bool:
    """Whether a place is in the function with this head."""
    definition = analysis.function_at(here.span.start)
    return (
        definition is not None
        and head.source is analysis.source
        and definition.span.start <= head.start <= definition.span.end
    )


def _assigned_constant(analysis: Analysis, here: Occurrence, constants: dict[tuple[int, int], str]) -> str:
    """The type of `x` in `x = 3`, which core does not keep as a variable."""
    definition = analysis.function_at(here.span.start)
    found = ""
    for statement in _statements(definition.body or ()) if definition else ():
        if (
            isinstance(statement, ast.Assign)
            and statement.operator is None
            and len(statement.targets) == 1
            and statement.targets[0].name == here.symbol.name
            and not statement.targets[0].path
        ):
            if statement.span.start > here.span.start:
                break
            value = statement.value
            found = _literal_type(value) or constants.get((value.span.start, value.span.end), "")
    return found


def _literal_type(value: ast.Expr) -> str:
    """The type of a literal, "" for anything else."""
    extents: list[int] = []
    while isinstance(value, ast.ArrayLiteral) and value.elements:
        extents.append(len(value.elements))
        value = value.elements[0]
    if isinstance(value, ast.EmptyArray) and all(isinstance(f, ast.FixedExtent) for f in value.type.pattern or ()):
        cell = [f.value for f in value.type.pattern or () if isinstance(f, ast.FixedExtent)]
        return f"{value.type.base}[{','.join(map(str, (*extents, 0, *cell)))}]"
    if not isinstance(value, ast.Literal):
        return ""
    return f"{value.base}[{','.join(map(str, extents))}]" if extents else value.base


def _statements(statements: Sequence[ast.Stmt]) -> list[ast.Stmt]:
    """Statements with those in branches and loops."""
    out: list[ast.Stmt] = []
    for s in statements:
        out.append(s)
        match s:
            case ast.If(_, then, otherwise):
                out += _statements(then) + _statements(otherwise)
            case ast.While(body=body) | ast.DoWhile(body=body):
                out += _statements(body)
            case ast.For(init, _, update, body):
                out += [*_statements(init), *_statements(body), *_statements(update)]
    return out


def _declared(analysis: Analysis, here: Occurrence) -> str:
    """The type of a parameter, or what a name in a type pattern is, from the head alone."""
    definition = analysis.function_at(here.span.start)
    for param in definition.params if definition else ():
        if param.name == here.symbol.name:
            return param.type.span.text
    for type in (*definition.results, *(p.type for p in definition.params)) if definition else ():
        for feature in type.pattern or ():
            if isinstance(feature, ast.NamedExtent) and feature.name == here.symbol.name:
                return "int"
            if isinstance(feature, ast.RankSlice) and here.symbol.name in (feature.rank, feature.shape):
                return "int" if here.symbol.name == feature.rank else "int[.]"
    return ""


def variable_text(analysis: Analysis, here: Occurrence) -> str:
    """The name of a variable with its type and, where it is known, its value."""
    name = here.symbol.name
    found = variable_type(analysis, here)
    if found is None:
        return code(f"{name}   (a variable)")
    head = f"{name}: {found.type}" if found.type else name
    value = f" = {found.value}" if found.value else ""
    return code("\n".join([head + value, *(f"  .{field}: {type}" for field, type in found.fields)]))


# ---------------------------------------------------------------- functions


def functions_text(entries: Sequence[Entry]) -> str:
    """Heads and documentation of a function's definitions."""
    if not entries:
        return ""
    parts: list[str] = []
    heads: list[str] = []
    said: set[str] = set()
    for entry in entries[:_HEADS]:
        text = documentation(entry)
        if text and text not in said and heads:
            parts.append(code("\n".join(heads)))
            heads = []
        heads.append(entry_head(entry))
        if text and text not in said:
            said.add(text)
            parts += [code("\n".join(heads)), text]
            heads = []
    if heads:
        parts.append(code("\n".join(heads)))
    more = len(entries) - _HEADS
    if more > 0:
        parts.append(f"and {more} more")
    modules = list(dict.fromkeys(e.module for e in entries if e.scope.info.library))
    if modules:
        parts.append(f"*from {', '.join(modules)}*")
    return "\n\n".join(parts)


def entry_head(entry: Entry) -> str:
    """The head of a definition on one line."""
    variables = ", ".join(f"{v.name}: {kind_in_words(v.kind)}" for v in entry.definition.typevars)
    return head_text(entry.definition) + (f"   for {variables}" if variables else "")


def documentation(entry: Entry) -> str:
    """The comment above a definition, examples set as such."""
    text, examples = split_comment(entry.definition.doc)
    shown = "\n".join(line for example in examples[:4] for line in (f">>> {example.code}", *example.output))
    return "\n\n".join(part for part in (text, f"```\n{shown}\n```" if shown else "") if part)


# ---------------------------------------------------------------- modules, types, objects, macros


def module_info_of(analysis: Analysis, name: str) -> ModuleInfo | None:
    """A module that the text can use."""
    if analysis.program is None:
        return None
    try:
        return analysis.program.world.loader.load(name)
    except SacError:
        return None


def module_text(analysis: Analysis, name: str) -> str:
    """A module and the comment at the head of its file."""
    info = module_info_of(analysis, name)
    return "" if info is None else f"{code(f'{info.kind} {name}')}\n\n{head_comment(info)}"


def scopes(analysis: Analysis) -> list[Scope]:
    """The text's own names, and those of the modules that it knows."""
    if analysis.program is None or analysis.scope is None:
        return []
    return [analysis.scope, *(s for s in analysis.program.world.scopes.values() if s is not analysis.scope)]


def type_definition(analysis: Analysis, symbol: Symbol) -> ast.TypeDef | ast.StructDef | ModuleInfo | None:
    """The typedef, struct or class that a name stands for."""
    for scope in scopes(analysis):
        if symbol.module in ("", scope.info.name) or scope is analysis.scope:
            found = scope.info.typedefs.get(symbol.name) or scope.info.structs.get(symbol.name)
            if found is not None:
                return found
            if scope.info.kind == "class" and scope.info.name == symbol.name:
                return scope.info
    return module_info_of(analysis, symbol.name) if symbol.module else None


def type_text(analysis: Analysis, symbol: Symbol) -> str:
    """A type's definition."""
    found = type_definition(analysis, symbol)
    if isinstance(found, ModuleInfo):
        return f"{code(f'{found.kind} {found.name}')}\n\n{head_comment(found)}"
    return code(print_definition(found)) if found is not None else ""


Member = tuple[ast.TypeExpr, str, Span]


def fields_called(analysis: Analysis, name: str) -> list[tuple[ast.StructDef, Member]]:
    """The fields of that name, with their structs."""
    return [(s, f) for scope in scopes(analysis) for s in scope.info.structs.values() for f in s.fields if f[1] == name]


def print_field(field: Member) -> str:
    """`double[3] pos`"""
    return f"{print_type(field[0])} {field[1]}"


def object_called(analysis: Analysis, symbol: Symbol) -> ast.ObjDef | None:
    """The definition of a global object."""
    if analysis.scope is None:
        return None
    try:
        found = analysis.scope.global_object(ast.QName(symbol.module or None, symbol.name, analysis.scope.info.span))
    except SacError:
        return None
    return found[1] if found else None


def macro_at(analysis: Analysis, offset: int) -> tuple[Macro, Span] | None:
    """The macro whose name stands at a place."""
    text = analysis.source.text
    start = end = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    macro = analysis.tokens.macros.get(text[start:end])
    if macro is None or any(o.span.start == start and o.span.end == end for o in analysis.occurrences):
        return None
    return macro, Span(analysis.source, start, end)


def macro_text(macro: Macro) -> str:
    """A macro's definition."""
    params = "" if macro.params is None else f"({', '.join(macro.params)})"
    body = "".join((" " if token.spaced or not i else "") + token.text for i, token in enumerate(macro.body))
    return f"#define {macro.name}{params}{body}"


# ---------------------------------------------------------------- where


def definitions(analysis: Analysis, offset: int) -> list[Span]:
    """Where what stands at a place is defined."""
    macro = macro_at(analysis, offset)
    if macro is not None:
        return [macro[0].span]
    here = analysis.at(offset)
    if here is None:
        return []
    symbol = here.symbol
    match symbol.kind:
        case "variable":
            return [o.span for o in analysis.same(symbol) if o.sets][:1]
        case "function":
            spans = [e.definition.name_span for e in analysis.entries(symbol, here.whole)]
            return spans or _type_spans(analysis, symbol)
        case "module":
            info = module_info_of(analysis, symbol.name)
            return [] if info is None else [Span(info.span.source, 0, 0)]
        case "type":
            return _type_spans(analysis, symbol)
        case "field":
            return [field[2] for _, field in fields_called(analysis, symbol.name)]
    found = object_called(analysis, symbol)
    return [found.span] if found else []


def _type_spans(analysis: Analysis, symbol: Symbol) -> list[Span]:
    found = type_definition(analysis, symbol)
    if found is None:
        return []
    return [Span(found.span.source, 0, 0)] if isinstance(found, ModuleInfo) else [found.span]


def parameters(entry: Entry) -> list[str]:
    """The parameters of a definition, as its head shows them."""
    head = head_text(entry.definition).removesuffix(
        " | " + ", ".join(print_expr(c) for c in entry.definition.conditions)
    )
    inside = head[head.index(f" {entry.definition.name}(") + len(entry.definition.name) + 2 : head.rindex(")")]
    out, depth, start = [], 0, 0
    for i, letter in enumerate(inside):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            out.append(inside[start:i].strip())
            start = i + 1
    return [*out, inside[start:].strip()] if inside.strip() else []
