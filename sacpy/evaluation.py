"""`sacpy eval`: an expression as a program of its own, with the library in scope."""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.diagnostics import SacError
from sacpy.lang.elaborate.interactive import LIBRARY
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.modules import Loader, module_info
from sacpy.lang.parser import parse_expression
from sacpy.lang.source import NOWHERE, Source


def expression_program(source: Source, loader: Loader) -> ElaboratedProgram:
    """A program that prints the value of the expression, or evaluates it where it has none. Raises `SacError`."""
    parsed = parse_expression(source)
    if any(d.severity == "error" for d in parsed.diagnostics) or parsed.expr is None:
        raise SacError(*parsed.diagnostics)
    expr = parsed.expr
    shown = ast.Call(ast.QName(None, "print", NOWHERE), (expr,), expr.span)
    problems: SacError | None = None
    for statement in (ast.CallStmt(shown, expr.span), ast.CallStmt(expr, expr.span)):
        program = elaborate(module_info(_module(statement)), loader)
        found = [d for d in program.check() if d.severity == "error"]
        if not found:
            return program
        problems = problems or SacError(*found)
        if not any(d.code == "E0401" for d in found):
            break
    assert problems is not None
    raise problems


def _module(statement: ast.Stmt) -> ast.Module:
    integer = ast.TypeExpr(ast.QName(None, "int", NOWHERE), None, False, NOWHERE)
    zero = ast.Literal("int", 0, "0", NOWHERE)
    main = ast.FunDef((), "", "", (integer,), False, "main", (), False, (), (statement, ast.Return((zero,), NOWHERE)), (), "", NOWHERE, NOWHERE)
    uses = tuple(ast.Interface("use", name, True, (), NOWHERE, NOWHERE) for name in LIBRARY)
    return ast.Module("program", "", None, None, (*uses, main), (), (), NOWHERE)
