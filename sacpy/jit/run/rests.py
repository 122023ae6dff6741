"""What is left of a loop or with-loop as a function of its own, which is compiled when interpreted code goes on
natively.

In: a statement of core, prepared as the interpreter runs it. Out: functions of what it reads. The rest of a loop is the
same loop, beginning with the values that its carried variables have between two rounds; a stretch of it is at most so
many rounds, after which the interpreter can go on. Keys are the owner's with a digest of the text, so that compiled
code is found again in another run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sacpy.base.digests import new_digest
from sacpy.lang.ast import AnyShape
from sacpy.lang.core import Atom, Bind, Block, Carried, Const, Function, Let, Loop, Prim, Signature, Slot, Stmt, Var
from sacpy.lang.core_printer import print_block
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.walk import Renamer, defined, free_of
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.interp.engine import Asking

_LEFT, _GOING = "rounds left", "going on"  # no names that a program could have


def reads(statement: Let | Loop) -> list[str]:
    """The variables that the rest of a statement is a function of, in order: of a loop, those that it carries too."""
    if not isinstance(statement, Loop):
        return sorted(free_of(statement))
    own = {c.target.name: Var(c.target.name, statement.span) for c in statement.carried}
    return sorted(
        free_of(replace(statement, carried=tuple(replace(c, initial=own[c.target.name]) for c in statement.carried)))
    )


def rest_of(owner: str, asking: Asking) -> Function:
    """The rest of a statement; its parameters are the variables that it asks about, its results what it sets."""
    statement = asking.statement
    if isinstance(statement, Loop):
        statement = _from_here(statement)
    results = tuple(Var(b.name, statement.span) for b in defined(statement))
    return _function(owner, (statement,), _binds(statement, asking.bases), defined(statement), results)


def stretch_of(owner: str, asking: Asking) -> Function:
    """At most so many rounds of a loop: one parameter more, an int of at least 1, and one result more, whether there is
    another round."""
    loop = asking.statement
    assert isinstance(loop, Loop)
    span = loop.span
    left = Bind(_LEFT, "int", "", span)
    fewer, some, both = (Bind(f"{_LEFT}~{n}", base, "", span) for n, base in enumerate(("int", "bool", "bool")))
    body = Block((*loop.body.statements, Let((fewer,), Prim("sub", (_var(left), _int(1, span))), span)))
    test: tuple[Stmt, ...] = (
        Let((some,), Prim("gt", (_var(left), _int(0, span))), span),
        Let((both,), Prim("and", (loop.test, _var(some))), span),
    )
    condition = Block((*loop.condition.statements, *test))
    begin = Bind(f"{_LEFT}@0", "int", "", span)
    started = _from_here(loop)
    carried = (*started.carried, Carried(left, _var(begin), _var(fewer)))
    limited = replace(started, carried=carried, condition=condition, test=_var(both), body=body)
    suffix = "%"
    inner = {b.name for s in loop.condition.statements for b in defined(s)}

    def atom(a: Atom) -> Atom:
        return Var(a.name + suffix, a.span) if isinstance(a, Var) and a.name in inner else a

    def bind(b: Bind) -> Bind:
        inner.add(b.name)
        return replace(b, name=b.name + suffix)

    again = Renamer(atom, bind)
    tested = again.block(loop.condition)
    going = Bind(_GOING, "bool", "", span)
    statements = (limited, *tested.statements, Let((going,), again.atom(loop.test), span))
    targets = tuple(c.target for c in loop.carried)
    binds = [*_binds(loop, asking.bases), begin]
    return _function(owner, statements, binds, (*targets, going), (*map(_var, targets), _var(going)))


def _from_here(loop: Loop) -> Loop:
    """A loop that begins with parameters: its own variables, by other names, since it sets these itself."""
    return replace(loop, carried=tuple(replace(c, initial=Var(_begin(c.target.name), loop.span)) for c in loop.carried))


def _begin(name: str) -> str:
    return f"{name}@0"


def _binds(statement: Let | Loop, bases: Mapping[str, str]) -> list[Bind]:
    """The parameters of a rest."""
    own = {c.target.name for c in statement.carried} if isinstance(statement, Loop) else set()
    return [Bind(_begin(name) if name in own else name, base, name, statement.span) for name, base in bases.items()]


def _function(
    owner: str, statements: tuple[Stmt, ...], params: Sequence[Bind], targets: Sequence[Bind], results: tuple[Atom, ...]
) -> Function:
    body = Block(statements)
    digest = int(new_digest(print_block(body).encode("utf-8", "surrogateescape")).hexdigest()[:12], 16)
    name = owner.partition("/")[0]
    span = statements[0].span
    slots, given = tuple(map(_slot, params)), tuple(map(_slot, targets))
    head = Signature(f"{owner}@{digest}", name, slots, given, (), "", None, owner, span)
    return Function(head, (), body, results)


def _slot(bind: Bind) -> Slot:
    """A parameter or result, of any rank: the unit is made for those that come."""
    return Slot(bind, (AnyShape(NOWHERE),), (), bind.base)


def _var(bind: Bind) -> Var:
    return Var(bind.name, bind.span)


def _int(value: int, span: Span) -> Const:
    return Const("int", (), (value,), span)
