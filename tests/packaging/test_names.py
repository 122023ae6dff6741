"""What the distribution is called, wherever it is called something; and what happens beside the one that has our
name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import sacpy
from sacpy.base.distribution import NAME, OTHER, extra
from tests.tools import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXTS = sorted(
    path
    for pattern in ("*.md", "*.toml", "docs/**/*", "editors/**/*", "sacpy/**/*.py", "programs/**/*", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix in (".md", ".toml", ".py", ".js", ".json", ".ipynb", ".sac")
)
THEIRS = '"""A repaid analysis tool for climate data."""\nfrom .LinReg import LinReg\n'


def test_the_project_has_the_name_and_the_parts_that_messages_advise_to_install() -> None:
    assert PROJECT["name"] == NAME
    assert PROJECT["scripts"] == {"sacpy": "sac_lang:main"}
    for part in ("cuda", "lsp", "notebook", "plot"):
        assert part in PROJECT["optional-dependencies"] and extra(part) == f"pip install 'sac-lang[{part}]'"


def test_nobody_is_told_to_install_the_distribution_of_others() -> None:
    wrong = []
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        wrong += [(path, found) for found in re.findall(rf"pip install (?:-\S+ )*['\"]?{OTHER}\b.*", text)]
        parts = re.findall(r"pip install '(?:sac-lang|\.)\[(\w+)\]'", text)
        wrong += [(path, part) for part in parts if part not in PROJECT["optional-dependencies"]]
    assert len(TEXTS) > 300 and wrong == []


def test_one_version_everywhere() -> None:
    version = sacpy.__version__
    assert "version" in PROJECT["dynamic"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == version
    assert json.loads((ROOT / "editors/vscode/package.json").read_text(encoding="utf-8"))["version"] == version
    assert f"sacpy-{version}.vsix" in (ROOT / "editors/README.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- beside the other distribution


def run(code: str, *first: Path) -> tuple[int, str, str]:
    """Runs Python where these folders come before the project."""
    path = os.pathsep.join(map(str, (*first, ROOT)))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


def installed(folder: Path, init: str) -> Path:
    """The other distribution, as an installer leaves it."""
    (folder / "sacpy").mkdir()
    (folder / "sacpy/__init__.py").write_text(init, encoding="utf-8")
    info = folder / f"{OTHER}-0.0.24.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {OTHER}\nVersion: 0.0.24\n", encoding="utf-8")
    (info / "RECORD").write_text("sacpy/__init__.py,,\n", encoding="utf-8")
    return folder


def test_the_command_says_what_to_do_where_the_other_package_is_found(tmp_path: Path) -> None:
    code = "import sac_lang, sys; sys.exit(sac_lang.main())"
    status, out, err = run(code, installed(tmp_path, THEIRS))
    assert (status, out) == (1, "") and "Traceback" not in err
    assert f"the package sacpy in {tmp_path / 'sacpy'} is not that of SaC" in err
    assert "pip uninstall -y sacpy; pip install --force-reinstall --no-deps sac-lang" in err


def test_the_command_runs_where_ours_is_found() -> None:
    code = "import sac_lang, sys; sys.argv[1:] = ['eval', '1+1']; sys.exit(sac_lang.main())"
    assert run(code) == (0, "2\n", "")


def test_doctor_and_missing_names_tell_of_the_other_distribution(tmp_path: Path) -> None:
    folder = installed(tmp_path, (ROOT / "sacpy/__init__.py").read_text(encoding="utf-8"))
    (folder / "sacpy/base").mkdir()
    for name in ("__init__", "distribution"):
        text = (ROOT / f"sacpy/base/{name}.py").read_text(encoding="utf-8")
        (folder / f"sacpy/base/{name}.py").write_text(text)
    status, _, err = run("import sacpy; sacpy.LinReg", folder)
    assert status == 1 and "this is sacpy of sac-lang (SaC), whose files have overwritten those" in err
    code = f"import sys; sys.path.append({str(folder)!r}); from sacpy.commands import doctor; print(*doctor._names())"
    assert "the distribution sacpy 0.0.24 (climate data) is installed here" in run(code)[1]
    assert run("import sacpy; print(hasattr(sacpy, '_nothing'), hasattr(sacpy, 'nothing'))") == (0, "False False\n", "")


def test_an_older_checkout_of_our_own_is_no_other_distribution(tmp_path: Path) -> None:
    info = installed(tmp_path, "") / f"{OTHER}-0.0.24.dist-info"
    (info / "RECORD").write_text("_editable_impl_sacpy.pth,,\n", encoding="utf-8")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from sacpy.commands import doctor; print(*doctor._names())"
    assert run(code)[1] == "\n"
