"""Trees to SaC text: `print_module`, `print_definition`, `print_stmt`, `print_expr`, `print_type`.

What is printed parses to the same tree. Parentheses stand where the tree has `Paren` and, for trees made by hand, where
the text would mean something else without them. Comments are not printed: they are kept beside the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sacpy.lang import ast
from sacpy.lang.literals import codes
from sacpy.lang.parse_expressions import COMPARISONS
from sacpy.lang.vocabulary import POSTFIX, PRECEDENCE, PREFIX, USER_OPERATOR

INDENT = "    "


# ---------------------------------------------------------------- types


def print_type(type: ast.TypeExpr) -> str:
    """`struct M::S[n,.]`"""
    pattern = "" if type.pattern is None else f"[{','.join(print_feature(f) for f in type.pattern)}]"
    return f"{'struct ' if type.struct else ''}{type.base}{pattern}"


def print_param(p: ast.Param, type: Callable[[ast.TypeExpr], str] = print_type) -> str:
    """`int &a`, `bool before(double, double)`. `type`: how types are written."""
    takes = "" if p.takes is None else f"({', '.join(map(type, p.takes))})"
    return f"{type(p.type)} {'&' if p.by_reference else ''}{p.name}{takes}".rstrip()


def print_feature(feature: ast.Feature) -> str:
    """One feature of a type's pattern."""
    match feature:
        case ast.AnyExtent():
            return "."
        case ast.FixedExtent(value):
            return str(value)
        case ast.NamedExtent(name):
            return name
        case ast.AnyShape():
            return "*"
        case ast.SomeShape():
            return "+"
        case ast.RankSlice(rank, shape, None):
            return f"{rank}:{shape}"
        case ast.RankSlice(rank, shape, minimum):
            return f"{rank}>{minimum}:{shape}"
        case ast.PositionExtent(name, extent):
            return f"{name}<{print_expr(extent)}"
        case ast.ComputedExtent(extent):
            return print_expr(extent)


# ---------------------------------------------------------------- expressions


def print_expr(expr: ast.Expr) -> str:
    """An expression on one line, blocks of its with-loops excepted."""
    return _Printer().expr(expr, 0)


class _Printer:
    """Holds the depth of indentation."""

    def __init__(self) -> None:
        self.depth = 0

    @property
    def margin(self) -> str:
        return INDENT * self.depth

    def expr(self, expr: ast.Expr, minimum: int) -> str:
        """The expression, in parentheses if it binds more loosely than `minimum`."""
        text = self._expr(expr)
        return f"({text})" if _binding(expr) < minimum else text

    def all(self, exprs: Iterable[ast.Expr]) -> str:
        """Expressions, separated by commas."""
        return ", ".join(self.expr(e, 0) for e in exprs)

    def _expr(self, expr: ast.Expr) -> str:
        match expr:
            case ast.Literal():
                return expr.text
            case ast.StringLiteral():
                return _string(expr)
            case ast.Name(name):
                return str(name)
            case ast.Dot():
                return "."
            case ast.Dots():
                return "..."
            case ast.ArrayLiteral(elements):
                return f"[{self.all(elements)}]"
            case ast.EmptyArray(type):
                return f"[:{print_type(type)}]"
            case ast.Call(function, args):
                return f"{function}({self.all(args)})"
            case ast.Binary(operator, left, right):
                return self._infix(str(operator), _precedence(operator.name), left, right)
            case ast.Logical(word, left, right):
                return self._infix(word, PRECEDENCE[word], left, right)
            case ast.Unary():
                return self._prefix(expr)
            case ast.Conditional(condition, then, otherwise):
                return f"{self.expr(condition, 1)} ? {self.expr(then, 0)} : {self.expr(otherwise, 0)}"
            case ast.Cast(type, operand):
                return f"({print_type(type)}) {self.expr(operand, PREFIX)}"
            case ast.Paren(inner):
                return f"({self.expr(inner, 0)})"
            case ast.Select(array, indices):
                return f"{self.expr(array, POSTFIX)}[{self.all(indices)}]"
            case ast.Field(value, name):
                text = self.expr(value, POSTFIX)
                return f"({text}).{name}" if isinstance(value, ast.Literal) else f"{text}.{name}"
            case ast.StructLiteral(name, positional, named):
                values = (
                    self.all(positional)
                    if positional
                    else ", ".join(f".{field} = {self.expr(value, 0)}" for field, value in named)
                )
                return f"{name}{{{values}}}"
            case ast.With():
                return self._with(expr)
            case ast.Tensor(parts):
                return f"{{ {'; '.join(self._tensor_part(p) for p in parts)} }}"
            case ast.BadExpr():
                return "<error>"

    def _infix(self, operator: str, precedence: int, left: ast.Expr, right: ast.Expr) -> str:
        return f"{self.expr(left, precedence)} {operator} {self.expr(right, precedence + 1)}"

    def _prefix(self, expr: ast.Unary) -> str:
        """A prefix operator. An operand in parentheses needs no space; `-(a)[0]` would be the index of `-(a)`."""
        operator, operand = str(expr.operator), expr.operand
        text = self.expr(operand, PREFIX)
        if isinstance(operand, ast.Select | ast.Field) and text.startswith("("):
            text = f"({text})"
        # A Paren around several operands cannot occur, so a prefix operator before one is read as such. Operators must
        # not run together.
        tight = text[0].isalnum() or text[0] in "_([{\"'"
        return f"{operator}{text}" if tight and not expr.operator.module else f"{operator} {text}"

    def _with(self, loop: ast.With) -> str:
        lines = ["with {"]
        self.depth += 1
        lines += [self.margin + _pragma(p) for p in loop.pragmas]
        lines += [self.margin + self._part(p) for p in loop.parts]
        self.depth -= 1
        operators = [self._operator(op) for op in loop.operators]
        made = "void" if not operators else operators[0] if len(operators) == 1 else f"({', '.join(operators)})"
        return "\n".join(lines) + f"\n{self.margin}}} : {made}"

    def _part(self, part: ast.Part) -> str:
        text = f"({self._generator(part.generator)})"
        for pragma in part.pragmas:
            text += f"\n{self.margin}{_pragma(pragma)}\n{self.margin}"
        if part.body:
            text += f" {self.block(part.body)}"
        if part.results is not None:
            text += f" : {self._results(part.results)}"
        return text + ";"

    def _results(self, values: tuple[ast.Expr, ...]) -> str:
        return self.expr(values[0], 0) if len(values) == 1 else f"({self.all(values)})"

    def _generator(self, generator: ast.Generator) -> str:
        index = generator.vector or ""
        if generator.scalars is not None:
            index += f"{'=' if index else ''}[{','.join(generator.scalars)}]"
        lower = "." if generator.lower is None else self._no_less(generator.lower)
        upper = "." if generator.upper is None else self.expr(generator.upper, 0)
        first, last = "<=" if generator.lower_inclusive else "<", "<=" if generator.upper_inclusive else "<"
        return f"{lower} {first} {index} {last} {upper}{self._filter(generator.step, generator.width)}"

    def _filter(self, step: ast.Expr | None, width: ast.Expr | None) -> str:
        text = "" if step is None else f" step {self.expr(step, 0)}"
        return text if width is None else f"{text} width {self.expr(width, 0)}"

    def _no_less(self, bound: ast.Expr) -> str:
        """A bound on the left of `<`, which must not hold another `<` itself."""
        return self.expr(bound, 0 if not _exposes(bound, COMPARISONS) else POSTFIX)

    def _operator(self, operator: ast.WithOp) -> str:
        match operator:
            case ast.GenarrayOp(shape, default):
                return f"genarray({self.expr(shape, 0)}{'' if default is None else ', ' + self.expr(default, 0)})"
            case ast.ModarrayOp(array):
                return f"modarray({self.expr(array, 0)})"
            case ast.PropagateOp(object):
                return f"propagate({self.expr(object, 0)})"
            case ast.ScanOp(function, args, neutral, exclusive):
                return f"{'exscan' if exclusive else 'scan'}({self._applied(function, args)}, {self.expr(neutral, 0)})"
            case ast.IntoOp(array, function, args):
                return f"into({self.expr(array, 0)}, {self._applied(function, args)})"
            case ast.FoldOp(function, args, neutral, stop):
                end = "" if stop is None else f", {self.expr(stop, 0)}"
                return (
                    f"{'fold' if stop is None else 'foldfix'}({self._applied(function, args)}, "
                    f"{self.expr(neutral, 0)}{end})"
                )

    def _applied(self, function: ast.QName, args: tuple[ast.Expr, ...]) -> str:
        """The function of an operator, with the arguments that come before its own."""
        return f"{function}({self.all(args)})" if args else str(function)

    def _tensor_part(self, part: ast.TensorPart) -> str:
        index = part.vector if part.vector is not None else f"[{','.join(_item(i) for i in part.items)}]"
        value = self.expr(part.value, 0 if not _exposes(part.value, ("|",)) else POSTFIX)
        if part.range is None:
            return f"{index} -> {value}"
        names = part.vector or f"[{','.join(i for i in part.items if isinstance(i, str))}]"
        return f"{index} -> {value} | {self._range(part.range, names)}"

    def _range(self, range: ast.TensorRange, index: str) -> str:
        first, last = "<=" if range.lower_inclusive else "<", "<=" if range.upper_inclusive else "<"
        lower = "" if range.lower is None else f"{self._no_less(range.lower)} {first} "
        if not lower and (range.upper is None or not range.lower_inclusive):
            lower = f". {first} "
        upper = "" if range.upper is None else f" {last} {self.expr(range.upper, 0)}"
        if range.upper is None and range.upper_inclusive:
            upper = " <= ."
        return f"{lower}{index}{upper}{self._filter(range.step, range.width)}"

    # ------------------------------------------------------------ statements

    def block(self, statements: tuple[ast.Stmt, ...]) -> str:
        """Statements in braces."""
        if not statements:
            return "{ }"
        self.depth += 1
        lines = [self.margin + self.stmt(s) for s in statements]
        self.depth -= 1
        return "{\n" + "\n".join(lines) + f"\n{self.margin}}}"

    def stmt(self, statement: ast.Stmt) -> str:
        """A statement; its first line has no margin."""
        match statement:
            case ast.VarDecl(type, names):
                return f"{print_type(type)} {', '.join(name for name, _ in names)};"
            case ast.If(condition, then, otherwise):
                text = f"if ({self.expr(condition, 0)}) {self.block(then)}"
                if len(otherwise) == 1 and isinstance(otherwise[0], ast.If):
                    return f"{text} else {self.stmt(otherwise[0])}"
                return f"{text} else {self.block(otherwise)}" if otherwise else text
            case ast.While(condition, body):
                return f"while ({self.expr(condition, 0)}) {self.block(body)}"
            case ast.DoWhile(body, condition):
                return f"do {self.block(body)} while ({self.expr(condition, 0)});"
            case ast.For(init, condition, update, body):
                head = (
                    f"{', '.join(map(self._simple, init))}; {self.expr(condition, 0)}; "
                    f"{', '.join(map(self._simple, update))}"
                )
                return f"for ({head}) {self.block(body)}"
            case ast.Return(values):
                return f"return {self._results(values)};" if values else "return;"
            case _:
                return self._simple(statement) + ";"

    def _simple(self, statement: ast.Stmt) -> str:
        """A statement that can stand in the head of a for loop."""
        match statement:
            case ast.Assign(targets, operator, value):
                return f"{', '.join(map(self._target, targets))} {operator or ''}= {self.expr(value, 0)}"
            case ast.Step(target, operator):
                return f"{self._target(target)}{operator}"
            case ast.CallStmt(call):
                return self.expr(call, 0)
        raise TypeError(f"{type(statement).__name__} is no simple statement")

    def _target(self, target: ast.Target) -> str:
        return target.name + "".join(
            f"[{self.all(step.indices)}]" if isinstance(step, ast.IndexStep) else f".{step.name}"
            for step in target.path
        )

    # ------------------------------------------------------------ definitions

    def definition(self, definition: ast.Definition) -> str:
        """A definition with its pragmas."""
        match definition:
            case ast.Interface():
                return _interface(definition)
            case ast.TypeDef(name, type, pragmas):
                head = f"external typedef {name};" if type is None else f"typedef {print_type(type)} {name};"
                return "\n".join([head, *map(_pragma, pragmas)])
            case ast.StructDef(name, fields):
                lines = [f"{INDENT}{print_type(type)} {field};" for type, field, _ in fields]
                return "\n".join([f"struct {name} {{", *lines, "};"])
            case ast.ObjDef(type, name, value):
                return f"objdef {print_type(type)} {name} = {self.expr(value, 0)};"
            case ast.FunDef():
                return self._function(definition)

    def _function(self, function: ast.FunDef) -> str:
        words = [function.linkage, function.inlining]
        if function.typevars:
            words.append(f"<{', '.join(f'{v.name}: {v.kind}' for v in function.typevars)}>")
        results = [print_type(t) for t in function.results] + (["..."] if function.varresults else [])
        params = [print_param(p) for p in function.params] + (["..."] if function.varargs else [])
        head = " ".join(filter(None, [*words, ", ".join(results) or "void", f"{function.name}({', '.join(params)})"]))
        if function.conditions:
            head += f"\n{INDENT}| {self.all(function.conditions)}"
        text = f"{head};" if function.body is None else f"{head}\n{self.block(function.body)}"
        return "\n".join([text, *map(_pragma, function.pragmas)])


def _precedence(operator: str) -> int:
    return PRECEDENCE.get(operator, USER_OPERATOR)


def _binding(expr: ast.Expr) -> int:
    """How tightly an expression holds together."""
    match expr:
        case ast.Conditional():
            return 0
        case ast.Binary(operator):
            return _precedence(operator.name)
        case ast.Logical(word):
            return PRECEDENCE[word]
        case ast.Unary() | ast.Cast():
            return PREFIX
        case ast.Literal(_, _, text) if text.startswith("-"):
            return PREFIX
        case _:
            return POSTFIX


def _exposes(expr: ast.Expr, operators: tuple[str, ...]) -> bool:
    """Whether one of the (unqualified) operators would stand in the expression's text outside all brackets."""
    match expr:
        case ast.Binary(operator, left, right):
            return (
                (operator.module is None and operator.name in operators)
                or _exposes(left, operators)
                or _exposes(right, operators)
            )
        case ast.Logical(_, left, right):
            return _exposes(left, operators) or _exposes(right, operators)
        case ast.Conditional(condition, then, otherwise):
            return any(_exposes(e, operators) for e in (condition, then, otherwise))
        case ast.Unary(_, operand) | ast.Cast(_, operand):
            return _exposes(operand, operators)
        case ast.Select(inner) | ast.Field(inner):
            return _exposes(inner, operators)
        case _:
            return False


def _item(item: str | ast.Dot | ast.Dots) -> str:
    return item if isinstance(item, str) else "." if isinstance(item, ast.Dot) else "..."


def _pragma(pragma: ast.Pragma) -> str:
    return f"#pragma {pragma.text}"


def _interface(interface: ast.Interface) -> str:
    module = f" {interface.module}:" if interface.module else ""
    symbols = f"{{{', '.join(name for name, _ in interface.symbols)}}}"
    what = f"all except {symbols}" if interface.all and interface.symbols else "all" if interface.all else symbols
    return f"{interface.kind}{module} {what};"


# ---------------------------------------------------------------- whole texts


def print_stmt(statement: ast.Stmt) -> str:
    """A statement with its semicolon."""
    return _Printer().stmt(statement)


def print_definition(definition: ast.Definition) -> str:
    """A definition."""
    return _Printer().definition(definition)


def print_module(module: ast.Module) -> str:
    """A whole file; functions stand apart by an empty line."""
    pragmas = [_pragma(p) for p in module.pragmas]
    lines = pragmas if module.kind != "class" else []
    if module.kind != "program":
        deprecated = f' deprecated "{_escaped(module.deprecated)}"' if module.deprecated is not None else ""
        lines.append(f"{module.kind} {module.name}{deprecated};")
        if module.kind == "class":
            lines.append(
                "external classtype;" if module.classtype is None else f"classtype {print_type(module.classtype)};"
            )
            lines += pragmas
    for before, definition in zip((None, *module.definitions), module.definitions, strict=False):
        if lines and (isinstance(definition, ast.FunDef) or type(before) is not type(definition)):
            lines.append("")
        lines.append(print_definition(definition))
    return "\n".join(lines) + "\n"


def _string(literal: ast.StringLiteral) -> str:
    """The literal as it was spelled, or, if it was put together from several, anew."""
    if codes(literal.text[1:-1])[0] == literal.value:
        return literal.text
    return f'"{_escaped(literal.value)}"'


def _escaped(text: str) -> str:
    """The text between quotes."""
    return "".join("\\n" if c == "\n" else c if " " <= c <= "~" and c not in '"\\' else f"\\{ord(c):03o}" for c in text)
