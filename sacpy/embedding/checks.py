"""What a session refuses at once, where the mistake is.

In: an argument, or a name. Out: nothing, or an error of Python; whether SaC takes something for a name or an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sacpy.lang.modules import ModuleInfo
from sacpy.lang.vocabulary import PUNCTUATION, RESERVED

if TYPE_CHECKING:
    pass


NO_OPERATOR = frozenset(" \t\r\n\f\v_\"'(),;[]{}#@$\\`")  # what stands in no operator's name


def expect(value: object, type: Any, what: str) -> None:
    """Refuses an argument of another type at once, where the mistake is."""
    if not isinstance(value, type):
        wanted = getattr(type, "__name__", None) or str(type).replace("sacpy.embedding.grants.", "sacpy.").replace(
            "sacpy.interp.limits.", "sacpy."
        )
        raise TypeError(f"{what} must be {wanted}, not {value.__class__.__name__}")


def is_name(name: str) -> bool:
    """Whether SaC takes something for a name."""
    return name.isidentifier() and name.isascii() and name not in RESERVED and name != "_"


def is_operator(name: str) -> bool:
    """Whether a function may have that operator for its name."""
    return bool(name) and name not in PUNCTUATION and not any(c.isalnum() or c in NO_OPERATOR for c in name)


def operators_of(definitions: ModuleInfo) -> frozenset[str]:
    """The operators that the session's definitions have made."""
    return frozenset(name for name in definitions.functions if not (name[0].isalnum() or name[0] == "_"))
