"""Modules that are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.tools import ROOT

CASES = {
    "what compiles loads nothing for archives": """
        load("llvmlite.binding")
        import llvmlite.binding as llvm
        llvm.initialize_native_target()
        assert llvm.parse_assembly("define i32 @f() { ret i32 1 }")
        assert not {"shutil", "random", "bz2", "lzma"} & set(sys.modules)
    """,
    "they are there for whoever uses them": """
        load("llvmlite.binding")
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
        load("llvmlite.binding")
        import zipfile
        assert zipfile is before
    """,
    "NumPy is without documentation, and works": """
        load("numpy")
        import numpy as np
        assert not {"_ast", "dis", "tokenize", "_pickle", "numpy._typing._array_like"} & set(sys.modules)
        assert "numpy.linalg._linalg" not in sys.modules
        assert np.sum(np.arange(5)).tolist() == 10 and np.linalg.inv(np.eye(2)).tolist() == [[1, 0], [0, 1]]
        assert np.add(1, 2) == 3 and (np.ones(3) @ np.ones(3)) == 3 and np.einsum("ij->j", np.ones((2, 3)))[0] == 2
        assert repr(np.array([1.5, 2])) == "array([1.5, 2. ])"
    """,
    "matrices and polynomials of NumPy": """
        load("numpy")
        import numpy as np
        assert (np.matrix([[1, 1], [0, 1]]) ** 3).tolist() == [[1, 3], [0, 1]]
        assert sorted(np.roots([1, -3, 2]).tolist()) == [1.0, 2.0]
        from numpy import linalg
        import numpy.linalg as again
        assert linalg is again is np.linalg and type(linalg) is type(sys) and linalg.norm([3, 4]) == 5
    """,
    "what NumPy asked for is as ever behind that": """
        load("numpy")
        import inspect, pickle, platform
        import numpy as np
        assert pickle.loads(pickle.dumps(np.arange(3))).tolist() == [0, 1, 2]
        assert list(inspect.signature(load).parameters) == ["library"] and inspect.cleandoc("  a") == "a"
        assert list(inspect.signature(np.sum).parameters)[:2] == ["a", "axis"]
        assert platform.python_implementation()
        import numpy.typing
        import numpy._typing._nested_sequence
        assert numpy.typing.NDArray[np.int32]
        assert np.arange(3).ctypes.data
        import inspect as loaded
        assert inspect.ismodule(loaded) and loaded.signature is inspect.signature
    """,
    "paths become addresses": """
        load("pathlib")
        from pathlib import Path
        assert "ipaddress" not in sys.modules
        assert Path("/a b/ü").as_uri() == "file:///a%20b/%C3%BC"
        from urllib.parse import quote, urlparse
        assert quote("a b") == "a%20b" and urlparse("http://a/b").path == "/b"
        import urllib.parse
        assert urllib.parse.quote is quote
    """,
    "parts of a package are found before it is loaded": """
        import sacpy.base.deferring as deferring
        deferring.UNUSED = {"json.tool": {"json": {"dumps": None}}}
        sys.modules.pop("json", None)
        load("json.tool")
        import json
        from json import decoder
        assert json.dumps([decoder.JSONDecoder().decode("1")]) == "[1]"
    """,
    "NumPy that is there stays as it is": """
        import inspect, numpy
        signature = inspect.signature
        load("numpy")
        assert inspect.signature is signature and "numpy.linalg" in sys.modules
    """,
    "what a module has not is an error as ever": """
        load("llvmlite.binding")
        import tempfile
        assert not hasattr(tempfile, "nothing_of_this_name") and hasattr(tempfile, "gettempdir")
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_deferring(case: str) -> None:
    text = "import sys\nfrom sacpy.base.deferring import load\n" + textwrap.dedent(CASES[case])
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
