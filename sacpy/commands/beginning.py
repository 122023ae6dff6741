"""`sacpy new`: a folder to begin with, for a program, a module, or a Python package that embeds SaC.

In: what it is to be, and its name. Out: files with something that runs, and tests that pass.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.lang.vocabulary import RESERVED

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

PROGRAM = {
    "{name}.sac": """use StdIO: all;
use Array: all;
use Assert: all;

/* The mean of each element and its neighbours; the ends stay as they are.
   >>> smooth([1.0, 4.0, 1.0])
   [1.0, 2.0, 1.0] */
double[n] smooth(double[n] v)
{
  return { [i] -> (v[i - 1] + v[i] + v[i + 1]) / 3.0 | [1] <= [i] < [n - 1];
           [i] -> v[i] | [i] < [n] };
}

void test_constants_stay(int n) | (n >= 0 && n < 50)
{
  v = genarray([n], 2.5);
  close(smooth(v), v, 0.000001);
}

double bench_smooth(int n)
{
  return sum(smooth(tod(iota(n))));
}

int main()
{
  v = smooth([0.0, 0.0, 9.0, 0.0, 0.0]);
  printf("%g %g %g\\n", v[1], v[2], v[3]);
  return 0;
}
""",
    "{name}.expected": "3 3 3\n",
    "README.md": """# {name}

    sacpy {name}.sac             runs it
    sacpy test .                 its examples, its tests, and what it prints
    sacpy bench {name}.sac       how long smooth takes
    sacpy watch {name}.sac       runs it again after each change
""",
}
MODULE = {
    "{Name}.sac": """/* Things to do with vectors. */
module {Name};

use Array: all;

export all;

/* The differences of neighbours; of n numbers there are n - 1.
   >>> differences([1, 4, 9])
   [3, 5] */
int[m] differences(int[n] v) | (n > 0)
{
  return drop([1], v) - drop([-1], v);
}
""",
    "test_{name}.sac": """use Array: all;
use Assert: all;
use {Name}: all;

void test_of_one()
{
  equal(shape(differences([7])), [0]);
}

void test_they_add_up(int[n] v) | (n > 0)
{
  equal(sum(differences(v)), v[n - 1] - v[0]);
}
""",
    "README.md": """# {Name}

    use {Name}: all;             in a program beside it, or with sacpy run -L FOLDER
    sacpy test .                 its examples and tests
    sacpy doc -L . {Name}        what it has
""",
}
PYTHON = {
    "pyproject.toml": """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["sac-lang", "numpy"]

[project.optional-dependencies]
test = ["pytest"]

[tool.hatch.build.targets.wheel]
packages = ["src/{name}"]

[tool.pytest.ini_options]
pythonpath = ["src"]
""",
    "src/{name}/__init__.py": """\"\"\"Kernels in SaC, called from Python.\"\"\"

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sacpy


@cache
def _kernels() -> Any:
    \"\"\"The functions of kernels.sac, loaded once.\"\"\"
    return sacpy.Session().load(Path(__file__).with_name("kernels.sac"))


def smooth(values: np.ndarray) -> np.ndarray:
    \"\"\"The mean of each element and its neighbours; the ends stay as they are.\"\"\"
    return _kernels().smooth(np.asarray(values, np.float64))
""",
    "src/{name}/kernels.sac": """use Array: all;

/* The mean of each element and its neighbours; the ends stay as they are.
   >>> smooth([1.0, 4.0, 1.0])
   [1.0, 2.0, 1.0] */
double[n] smooth(double[n] v)
{
  return { [i] -> (v[i - 1] + v[i] + v[i + 1]) / 3.0 | [1] <= [i] < [n - 1];
           [i] -> v[i] | [i] < [n] };
}
""",
    "tests/test_{name}.py": """import numpy as np

from {name} import smooth


def test_smooth() -> None:
    assert smooth([0.0, 0.0, 9.0, 0.0, 0.0]).tolist() == [0.0, 3.0, 3.0, 3.0, 0.0]
    assert smooth(np.zeros(0)).shape == (0,)
""",
    "README.md": """# {name}

    pip install -e '.[test]'     installs it in place
    python -m pytest             its tests in Python
    sacpy test src               those of its kernels
""",
}
KINDS = {"program": PROGRAM, "module": MODULE, "python": PYTHON}


def run(parsed: argparse.Namespace, started: Callable[[], None]) -> int:
    """The command. Raises `SacError`."""
    started()
    folder: Path = parsed.folder
    name = folder.name
    words = {"name": name if parsed.kind != "module" else name.lower(), "Name": name[:1].upper() + name[1:]}
    if not _NAME.fullmatch(name) or RESERVED & {name, words["name"], words["Name"]}:
        _refuse("E0723", f"{name} can be no name", "choose a letter, then letters, digits and underscores")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        _refuse("E0722", f"{folder} is there already", "choose another name, or remove what is there")
    for path, text in KINDS[parsed.kind].items():
        file = folder / _filled(path, words)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_filled(text, words), encoding="utf-8")
        except OSError as error:
            _refuse("E0720", f"cannot write {file}: {error.strerror}", "check the folder's permissions")
        sys.stdout.write(f"{file}\n")
    sys.stdout.write(f"next: sacpy test {folder}\n")
    return 0


def _filled(text: str, words: dict[str, str]) -> str:
    return text.replace("{name}", words["name"]).replace("{Name}", words["Name"])


def _refuse(code: str, message: str, help: str) -> None:
    raise SacError(Diagnostic(code, message, NOWHERE, help=help))
