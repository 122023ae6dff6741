"""Modules that are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.tools import ROOT

CASES = {
    "what compiles loads nothing for archives": """
        defer()
        import llvmlite.binding as llvm
        llvm.initialize_native_target()
        assert llvm.parse_assembly("define i32 @f() { ret i32 1 }")
        assert not {"shutil", "random", "bz2", "lzma"} & set(sys.modules)
    """,
    "they are there for whoever uses them": """
        defer()
        import tempfile, zipfile, io
        with tempfile.TemporaryFile() as file:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("name", "text")
            assert zipfile.ZipFile(file).read("name") == b"text"
        import tempfile as loaded
        assert type(loaded) is type(sys) and loaded.TemporaryFile is tempfile.TemporaryFile
    """,
    "what is loaded stays": """
        import zipfile as before
        defer()
        import zipfile
        assert zipfile is before
    """,
    "what a module has not is an error as ever": """
        defer()
        import tempfile
        assert not hasattr(tempfile, "nothing_of_this_name") and hasattr(tempfile, "gettempdir")
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_deferring(case: str) -> None:
    text = "import sys\nfrom sacpy.base.deferring import defer\n" + textwrap.dedent(CASES[case])
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
