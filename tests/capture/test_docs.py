"""The examples of the guide to captured functions, run as they stand, one after the other."""

import contextlib
import io
import linecache
import re
from typing import Any

from tests.tools import ROOT

GUIDE = (ROOT / "docs" / "capture.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", GUIDE, re.DOTALL)


def test_every_example_prints_what_stands_below_it() -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    for number, (code, expected) in enumerate(EXAMPLES):
        name = f"<example {number}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), names)
        assert printed.getvalue() == expected


def test_functions_that_are_named_are_there() -> None:
    import numpy as np

    from sacpy.capture.calls import NUMPY
    from sacpy.capture.unit import Program  # noqa: F401 - it fills the tables

    rows = re.findall(r"^\| (?:elements|reductions|made|moved|products) \| (.*) \|$", GUIDE, re.MULTILINE)
    words = [w for row in rows for part in re.findall(r"`([a-z0-9_ ]+)`", row) for w in part.split()]
    named = [w for w in words if hasattr(np, w) and w != "astype"]  # that is a method
    assert len(named) > 60
    assert [w for w in named if getattr(np, w) not in NUMPY] == []
