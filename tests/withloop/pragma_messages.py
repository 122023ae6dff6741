"""The messages of pragmas that violate a requirement of the table of combinators, each once, as
`sacpy check --device sm_90` prints them.

In: the cases of `test_mapping_errors`. Out: their texts. `pragma_messages.txt` holds what they were;
`python -m tests.withloop.pragma_messages` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from sacpy.lang.diagnostics import render_text
from sacpy.withloop.spaces import IndexSpace
from sacpy.workspace import Workspace
from tests.withloop.test_mapping_errors import REQUIREMENTS

KEPT = Path(__file__).with_suffix(".txt")


def program(pragma: str, space: IndexSpace) -> str:
    """A with-loop over the space, with the pragma."""
    if space.growth:
        rows = f"[{space.upper[0]}, i + {space.upper[1]}]"
        return (
            f"int[i<n, i+1] f()\n{{\n  return with {{\n    #pragma gpukernel {pragma}\n"
            f"    ([0, 0] <= [i, j] < {rows}) : 1;\n  }} : genarray({rows});\n}}\n"
        )
    bounds = f"{list(space.lower)} <= iv < {list(space.upper)}" + ("" if space.dense else f" step {list(space.step)}")
    return (
        f"int[*] f()\n{{\n  return with {{\n    #pragma gpukernel {pragma}\n    ({bounds}) : 1;\n"
        f"  }} : genarray({list(space.upper)}, 0);\n}}\n"
    )


def messages() -> str:
    """All of them."""
    texts = []
    for pragma, space, *_ in REQUIREMENTS:
        _, found = Workspace(device="sm_90").check_text(program(pragma, space), "loop.sac")
        texts.append(render_text(found))
    return "\n\n".join(texts) + "\n"


if __name__ == "__main__":
    KEPT.write_text(messages(), encoding="utf-8")
