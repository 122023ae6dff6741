"""Names in a text, and what each stands for.

In: a tree and its tokens. Out: `Occurrence`s: a span and the `Symbol` that is named there. Variables belong to a
function, and those that a generator binds, or that only a with-loop's body sets, to that part alone. Names that come
out of a macro's body have no place in the text and are left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sacpy.lang import ast
from sacpy.lang.elaborate.freenames import nodes
from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Token, Tokens
from sacpy.lang.vocabulary import BASE_TYPES
from sacpy.nodes import Node, field_names


@dataclass(frozen=True, slots=True)
class Symbol:
    """`kind`: "variable", "function", "type", "field", "module", "object". `owner`: for variables where their scope
    begins in the text; `module`: the module before `::`, or that a list of symbols belongs to."""

    kind: str
    name: str
    owner: int = 0
    module: str = ""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text. `sets`: it is defined or assigned here. `whole`: for functions the call."""

    span: Span
    symbol: Symbol
    sets: bool = False
    whole: Span | None = None


def occurrences(module: ast.Module, tokens: Tokens, source: Source) -> list[Occurrence]:
    """All names of a text, in order."""
    finder = _Finder(module, tokens, source)
    for definition in module.definitions:
        finder.definition(definition)
    unique = {(o.span.start, o.span.end): o for o in finder.found}
    return sorted(unique.values(), key=lambda o: o.span.start)


@dataclass(slots=True)
class _Scope:
    """Variables: those of a function, and within it those of parts of with-loops."""

    owner: int
    names: set[str]
    outer: _Scope | None = None

    def owner_of(self, name: str) -> int | None:
        """Where the scope begins that has the variable."""
        if name in self.names:
            return self.owner
        return self.outer.owner_of(name) if self.outer else None


class _Finder:
    def __init__(self, module: ast.Module, tokens: Tokens, source: Source) -> None:
        self.source = source
        self.words: list[Token] = [
            t for t in tokens.tokens if t.span.source is source and t.span.macro is None and t.kind in ("name", "op")
        ]
        self.starts = [t.span.start for t in self.words]
        self.objects = {d.name for d in module.definitions if isinstance(d, ast.ObjDef)}
        self.found: list[Occurrence] = []

    # ------------------------------------------------------------ noting

    def note(
        self,
        kind: str,
        name: str,
        span: Span,
        sets: bool = False,
        owner: int = 0,
        module: str = "",
        whole: Span | None = None,
    ) -> None:
        """Notes a name whose exact span is known."""
        if span.source is self.source and span.macro is None and span.text == name:
            self.found.append(Occurrence(span, Symbol(kind, name, owner, module), sets, whole))

    def within(self, span: Span, name: str, last: bool = False) -> Span:
        """Where a name stands within a span; the last place if asked for."""
        if span.source is not self.source:
            return span
        inside = [t.span for t in self.tokens(span) if t.text == name]
        return span if not inside else inside[-1 if last else 0]

    def tokens(self, span: Span) -> Iterator[Token]:
        """The words and operators of a span."""
        at = bisect_left(self.starts, span.start)
        while at < len(self.words) and self.words[at].span.end <= span.end:
            yield self.words[at]
            at += 1

    def function(self, name: ast.QName, whole: Span) -> None:
        """A function that is called or named."""
        if name.module:
            self.note("module", name.module, self.within(name.span, name.module))
        self.note(
            "function", name.name, self.within(name.span, name.name, last=True), module=name.module or "", whole=whole
        )

    def variable(self, name: str, span: Span, scope: _Scope, sets: bool = False) -> None:
        """A variable, or an object of the program."""
        owner = scope.owner_of(name)
        if owner is None:
            self.note("object", name, span, sets)
        else:
            self.note("variable", name, span, sets, owner)

    # ------------------------------------------------------------ definitions

    def definition(self, definition: ast.Definition) -> None:
        match definition:
            case ast.Interface():
                if definition.module:
                    self.note("module", definition.module, definition.module_span)
                for name, span in definition.symbols:
                    self.note("function", name, span, module=definition.module)
            case ast.TypeDef(name, type):
                if type is not None:
                    self.type(type, _Scope(0, set()))
                self.note("type", name, self.within(definition.span, name, last=True), True)
            case ast.StructDef(name, members):
                self.note("type", name, self.within(definition.span, name), True)
                for type, field, span in members:
                    self.type(type, _Scope(0, set()))
                    self.note("field", field, self.within(span, field, last=True), True)
            case ast.ObjDef(type, name, value):
                self.type(type, _Scope(0, set()))
                self.note("object", name, self.within(definition.span, name), True)
                self.expr(value, _Scope(definition.span.start, set()))
            case ast.FunDef():
                self.fundef(definition)

    def fundef(self, definition: ast.FunDef) -> None:
        names = {p.name for p in definition.params} | {
            n for t in (*definition.results, *(p.type for p in definition.params)) for n in _pattern_names(t)
        }
        scope = _Scope(definition.span.start, names | _assigned(definition.body or ()))
        self.note("function", definition.name, definition.name_span, True, whole=definition.span)
        for type in definition.results:
            self.type(type, scope)
        for param in definition.params:
            self.type(param.type, scope)
            self.variable(param.name, self.within(param.span, param.name, last=True), scope, True)
        for condition in definition.conditions:
            self.expr(condition, scope)
        self.block(definition.body or (), scope)

    def type(self, type: ast.TypeExpr, scope: _Scope) -> None:
        if type.base.name not in BASE_TYPES:
            self.note(
                "type",
                type.base.name,
                self.within(type.base.span, type.base.name, last=True),
                module=type.base.module or "",
            )
        if type.base.module:
            self.note("module", type.base.module, self.within(type.base.span, type.base.module))
        for feature in type.pattern or ():
            for name in _feature_names(feature):
                if scope.owner_of(name) is not None:
                    self.variable(name, self.within(feature.span, name), scope, True)
        for name, span in _sizes(type):
            if scope.owner_of(name) is not None:
                self.variable(name, span, scope, True)

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[ast.Stmt], scope: _Scope) -> None:
        for statement in statements:
            self.statement(statement, scope)

    def statement(self, statement: ast.Stmt, scope: _Scope) -> None:
        match statement:
            case ast.Assign(targets, operator, value):
                for target in targets:
                    self.target(target, scope)
                if operator is not None:
                    self.function(operator, statement.span)
                self.expr(value, scope)
            case ast.Step(target):
                self.target(target, scope)
            case ast.VarDecl(type, names):
                self.type(type, scope)
                for name, span in names:
                    self.variable(name, span, scope, True)
            case _:
                self.inside(statement, scope)

    def target(self, target: ast.Target, scope: _Scope) -> None:
        self.variable(target.name, target.name_span, scope, True)
        for step in target.path:
            if isinstance(step, ast.FieldStep):
                self.note("field", step.name, self.within(step.span, step.name, last=True))
            else:
                for index in step.indices:
                    self.expr(index, scope)

    def inside(self, node: object, scope: _Scope) -> None:
        """Everything in a node that has no names of its own."""
        if isinstance(node, tuple):
            for item in node:
                self.inside(item, scope)
        elif isinstance(node, ast.Assign | ast.Step | ast.VarDecl):
            self.statement(node, scope)
        elif isinstance(node, Span) or not isinstance(node, Node):
            return
        elif isinstance(
            node,
            ast.If
            | ast.While
            | ast.DoWhile
            | ast.For
            | ast.Return
            | ast.CallStmt
            | ast.GenarrayOp
            | ast.ModarrayOp
            | ast.PropagateOp
            | ast.TensorRange,
        ):
            for field in field_names(node):
                self.inside(getattr(node, field), scope)
        else:
            self.expr(node, scope)

    # ------------------------------------------------------------ expressions

    def expr(self, node: object, scope: _Scope) -> None:
        match node:
            case ast.Name(name) if name.module is None:
                self.variable(name.name, node.span, scope)
            case ast.Name(name):
                self.note("object", name.name, self.within(name.span, name.name, last=True), module=name.module or "")
            case ast.Call(function, args):
                self.function(function, node.span)
                self.inside(args, scope)
            case ast.Binary(operator) | ast.Unary(operator):
                self.function(operator, node.span)
                self.children(node, scope)
            case ast.Field(value, name, name_span):
                self.expr(value, scope)
                self.note("field", name, name_span)
            case ast.Cast(type, operand):
                self.type(type, _Scope(0, set()))
                self.expr(operand, scope)
            case ast.EmptyArray(type):
                self.type(type, _Scope(0, set()))
            case ast.StructLiteral(name, positional, named):
                self.note("type", name.name, self.within(name.span, name.name, last=True), module=name.module or "")
                self.inside(positional, scope)
                for field, value in named:
                    self.note("field", field, self.within(node.span, field))
                    self.expr(value, scope)
            case ast.With(_, parts, operators):
                for part in parts:
                    self.part(part, scope)
                for op in operators:
                    if isinstance(op, ast.FoldOp):
                        self.function(op.function, op.span)
                        self.inside((op.args, op.neutral, op.stop), scope)
                    elif isinstance(op, ast.ScanOp | ast.IntoOp):
                        self.function(op.function, op.span)
                        self.inside((op.args, op.neutral if isinstance(op, ast.ScanOp) else op.array), scope)
                    else:
                        self.inside(op, scope)
            case ast.Tensor(parts):
                for tensor in parts:
                    names = {tensor.vector} if tensor.vector else {i for i in tensor.items if isinstance(i, str)}
                    inner = _Scope(tensor.span.start, names, scope)
                    for name in sorted(names):
                        self.variable(name, self.within(tensor.lhs_span, name), inner, True)
                    self.expr(tensor.value, inner)
                    self.inside(tensor.range, scope)
                    for name in sorted(names) if tensor.range else ():
                        # the names are said again in the range
                        for token in self.tokens(Span(self.source, tensor.value.span.end, tensor.span.end)):
                            if token.text == name:
                                self.variable(name, token.span, inner)
            case _:
                self.children(node, scope)

    def children(self, node: object, scope: _Scope) -> None:
        if isinstance(node, Node) and not isinstance(node, Span | ast.QName):
            for field in field_names(node):
                self.inside(getattr(node, field), scope)

    def part(self, part: ast.Part, scope: _Scope) -> None:
        """A partition: its generator's names and what its body sets are its own."""
        generator = part.generator
        bound = {*([generator.vector] if generator.vector else []), *(generator.scalars or ())}
        inner = _Scope(part.span.start, bound | {n for n in _assigned(part.body) if scope.owner_of(n) is None}, scope)
        self.inside((generator.lower, generator.upper, generator.step, generator.width), scope)
        for name in sorted(bound):
            self.variable(name, self.within(generator.index_span, name), inner, True)
        self.block(part.body, inner)
        self.inside(part.results or (), inner)


def _assigned(statements: Sequence[ast.Stmt]) -> set[str]:
    """The variables that statements set, those of with-loops within not counted."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(targets):
                found |= {t.name for t in targets}
            case ast.Step(target):
                found.add(target.name)
            case ast.VarDecl(_, names):
                found |= {name for name, _ in names}
            case ast.If(_, then, otherwise):
                found |= _assigned(then) | _assigned(otherwise)
            case ast.While(body=body) | ast.DoWhile(body=body):
                found |= _assigned(body)
            case ast.For(init, _, update, body):
                found |= _assigned(init) | _assigned(update) | _assigned(body)
    return found


def _pattern_names(type: ast.TypeExpr) -> set[str]:
    named = {name for feature in type.pattern or () for name in _feature_names(feature)}
    return named | {name for name, _ in _sizes(type)}


def _sizes(type: ast.TypeExpr) -> list[tuple[str, Span]]:
    """The names in extents that depend on positions, the positions themselves left out."""
    features = [f for f in type.pattern or () if isinstance(f, ast.PositionExtent | ast.ComputedExtent)]
    positions = {f.name for f in features if isinstance(f, ast.PositionExtent)}
    return [
        (n.name.name, n.span)
        for feature in features
        for n in nodes(feature.extent)
        if isinstance(n, ast.Name) and n.name.module is None and n.name.name not in positions
    ]


def _feature_names(feature: ast.Feature) -> list[str]:
    match feature:
        case ast.NamedExtent(name) if name != "_":
            return [name]
        case ast.RankSlice(rank, shape):
            return [n for n in ([rank, shape] if isinstance(rank, str) else [shape]) if n != "_"]
    return []
