"""`sacpy test`: tests found in SaC files, run on one target or several, and reported. And for tests in Python:
`assert_equal_on_all_targets`, of captured functions, which are loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sacpy.testing.captured import assert_equal_on_all_targets


def __getattr__(name: str) -> Any:
    if name == "assert_equal_on_all_targets":
        from sacpy.testing.captured import assert_equal_on_all_targets

        return assert_equal_on_all_targets
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["assert_equal_on_all_targets"]
