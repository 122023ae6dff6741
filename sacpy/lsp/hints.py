"""What an editor shows between the words: the shapes of variables, and how with-loops would be mapped to a GPU.

In: an `Analysis`, a strategy and a device. Out: `Hint`s by offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sacpy.lang import ast, core
from sacpy.lang.deep import deeply
from sacpy.lang.infer import Inference
from sacpy.lang.infer_spaces import index_space, outline
from sacpy.lsp.analysis import Analysis
from sacpy.lsp.knowledge import variable_type
from sacpy.nodes import Node, field_names
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

_LARGEST = 2**40  # no mapping is worked out for spaces beyond


@dataclass(frozen=True, slots=True)
class Hint:
    """A text to be shown at an offset. `kind`: "type" or "mapping"."""

    offset: int
    kind: str
    label: str
    tooltip: str


def hints(analysis: Analysis, strategy: str = "auto", device: str = "sm_90") -> list[Hint]:
    """All hints of a text, in order."""
    found = [*_types(analysis), *_mappings(analysis, strategy, device)]
    return sorted(found, key=lambda h: h.offset)


# ---------------------------------------------------------------- types


def _types(analysis: Analysis) -> Iterator[Hint]:
    """The types of variables where they are set, but for those that are written there or were said before."""
    said: dict[tuple[int, str], str] = {}
    literal = _plain_targets(analysis.module)
    for here in analysis.occurrences:
        symbol = here.symbol
        if symbol.kind != "variable" or not here.sets or here.span.start in literal:
            continue
        found = variable_type(analysis, here)
        at = (symbol.owner, symbol.name)
        if found is not None and said.get(at) != found.short:
            said[at] = found.short
            yield Hint(
                here.span.end, "type", f": {found.short}", f"{symbol.name} = {found.value}" if found.value else ""
            )


def _plain_targets(module: ast.Module) -> set[int]:
    """Where names stand whose type is written beside them: parameters, declarations, index names, and what a literal is
    assigned to."""
    found: set[int] = set()

    def look(node: object) -> None:
        if isinstance(node, tuple):
            for item in node:
                look(item)
        elif isinstance(node, ast.FunDef):
            head = node.span.start
            end = min((s.span.start for s in node.body or ()), default=node.span.end)
            found.update(range(head, end))
            look(node.body or ())
        elif isinstance(node, ast.Assign):
            if isinstance(node.value, ast.Literal | ast.StringLiteral) or any(t.path for t in node.targets):
                found.update(t.name_span.start for t in node.targets)
            look(node.value)
        elif isinstance(node, ast.Step):
            found.add(node.target.name_span.start)
        elif isinstance(node, ast.VarDecl):
            found.update(span.start for _, span in node.names)
        elif isinstance(node, ast.Generator):
            found.update(range(node.index_span.start, node.index_span.end))
        elif isinstance(node, ast.TensorPart):
            found.update(range(node.lhs_span.start, node.lhs_span.end))
            if node.range is not None:
                found.update(range(node.value.span.end, node.span.end))
            look(node.value)
        elif isinstance(node, Node):
            for name in field_names(node):
                look(getattr(node, name))

    deeply(lambda: look(module.definitions))
    return found


# ---------------------------------------------------------------- mappings


def _mappings(analysis: Analysis, strategy: str, device: str) -> Iterator[Hint]:
    for _, variables in analysis.functions:
        for let in variables.loops:
            loop = let.rhs
            assert isinstance(loop, core.WithLoop)
            if let.span.source is not analysis.source or let.span.macro is not None:
                continue
            # the others say themselves
            unmapped = [
                p
                for p in loop.partitions
                if not any("gpukernel" in pragma.text for pragma in (*loop.pragmas, *p.pragmas))
            ]
            spaces = [(p, index_space(variables.inference, loop, p)) for p in unmapped]
            for partition, space in spaces:
                if space is not None:
                    yield _mapping(partition.span.end, space, strategy, device)
            if spaces and all(space is None for _, space in spaces):
                yield _unknown(loop, unmapped[0], variables.inference)


def _unknown(loop: core.WithLoop, first: core.Partition, inference: Inference) -> Hint:
    rank, count = outline(inference, loop, first).rank, len(loop.partitions)
    parts = [
        *([] if rank is None else [f"rank {rank}"]),
        *([] if count == 1 else [f"{count} partitions"]),
        "extents at run time",
    ]
    return Hint(first.span.end, "mapping", ", ".join(parts), "The mapping is chosen when the with-loop is first run.")


def _mapping(offset: int, space: IndexSpace, strategy: str, device: str) -> Hint:
    size = f"{space.size} {'index' if space.size == 1 else 'indices'}"
    if space.empty or space.size > _LARGEST:
        return Hint(offset, "mapping", size, "")
    choice = choose(strategy, space, DEVICES[device])
    mapping = choice.chain.map(space, DEVICES[device])
    numbers = (
        f"grid {list(mapping.grid)}, block {list(mapping.block)}, {mapping.threads} threads of which "
        f"{mapping.idle} idle"
    )
    return Hint(
        offset,
        "mapping",
        f"{size}: {choice.chain}",
        f"{strategy} on {device}: {'; '.join(choice.reasons)}\n\n{numbers}",
    )
